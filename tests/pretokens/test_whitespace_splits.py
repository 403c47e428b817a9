"""If a splitter drops whitespace, the whitespace only separates pre-tokens. Normalizers may therefore replace whitespace, and each space
that a normalizer inserts is a cut.
"""

from __future__ import annotations

import random
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.bpe import ENGLISH_MERGES
from support.machines.documents import byte_level
from support.pretokens.sequences import byte_level_last, small_texts, split, splitters
from support.text.normalizers import CLIP_PATTERN, LOWER, NFC, built, hold, in_turn, replaced, to, token
from support.tiers import examples, sample

from fst.compile.pretokens.gaps import total
from fst.compile.pretokens.sequences import in_sequence
from fst.compile.pretokens.whitespace_splits import are_separators
from fst.compile.sources.tokenizer_json import of_document
from fst.errors import UnsupportedError
from fst.text.splitter import Splitter

Json = dict[str, Any]

WORDS = byte_level_last({"type": "WhitespaceSplit"}, use_regex=True)
CLIP = byte_level_last(split(CLIP_PATTERN, "Removed", True), use_regex=True)
TOKENS = [token("<|endoftext|>"), token("<|startoftext|>"), token("<|pad|>")]  # the literal strings in the pattern


def pretokens(split: Splitter, text: str) -> list[str]:
    """Return the pre-tokens of a text."""
    return [text[begin:end] for begin, end in split.pretokens(text)]


@given(splitters, some.sets(some.sampled_from("abcd"), min_size=1), small_texts)
@examples(300)
def test_runs_of_separators_are_all_alike(pattern: Splitter, chars: set[str], texts: list[str]) -> None:
    """If characters are separators, any run of them can be replaced by any other run without a change of the pre-tokens."""
    try:
        whole = total(pattern)
    except UnsupportedError:
        return
    if are_separators(chars, whole):
        for text in texts:
            runs = [(is_run, [*run]) for is_run, run in groupby(text, chars.__contains__)]
            for other in (max(chars), min(chars) * 2):
                assert pretokens(whole, "".join(other if is_run else "".join(run) for is_run, run in runs)) == pretokens(whole, text)


@pytest.mark.parametrize(("pre_tokenizer", "are"), [(CLIP, True), (WORDS, True), (byte_level_last(use_regex=True), False)])
def test_white_space_separates_where_it_is_dropped(pre_tokenizer: Json, are: bool) -> None:
    """Whitespace is a separator if and only if the splitter drops it, and no other character is a separator."""
    parts = of_document(document(None, pre_tokenizer), Path("tokenizer.json")).text.pre_tokenizers
    whole = in_sequence(parts[:-1], ["<|"])
    assert are_separators(" \n\u3000", whole) is are
    assert not are_separators(" a", whole)
    assert not are_separators("\u200b", whole)


def document(normalizer: Json | None, pre_tokenizer: Json, *added: Json) -> Json:
    """Make a tokenizer.json with the given normalizer and pre-tokenizers."""
    parts = byte_level("", [*ENGLISH_MERGES, (b"|", b">"), (b"|>", b"!")])
    tokens = [{"id": len(parts["model"]["vocab"]) + place, **part} for place, part in enumerate(added)]
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    stages = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": last, "decoder": last}
    return {**parts, **stages, "added_tokens": tokens}


REPLACED = [
    (in_turn(NFC, replaced(" ", r"\s+"), LOWER), CLIP),
    (in_turn(replaced("\n \u3000", r"[ \t]{2,}(?!x)|\n"), to("\n", " ")), WORDS),
    (in_turn(to(" ", "  "), replaced("\t", " +")), WORDS),
]
BITS = [*"aA!|'", " ", "  ", "\n", "\t", "\u3000", "\x85", "x", "e", "\u0301", "\u00a8", "<t>", "LATE", "<|PAD|>", "<|pad|>", "|>"]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), REPLACED)
def test_white_space_may_become_other_white_space(normalizer: Json, pre_tokenizer: Json) -> None:
    """If whitespace is dropped, a `Replace` of whitespace by whitespace has no effect, as in `tokenizers`."""
    made = built(document(normalizer, pre_tokenizer, token("<t>", "lstrip", "rstrip"), token("late", "normalized"), *TOKENS))
    draw = random.Random(1)
    hold(made, ["".join(draw.choices(BITS, k=draw.randint(0, 9))) for _ in sample(range(3_000), 300)])


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "added"),
    [
        (replaced(" ", r"\s+"), byte_level_last(use_regex=True), ()),
        (in_turn(replaced(" ", r"\s+"), to("_", " ")), WORDS, ()),
        (in_turn(replaced("\n", r"\s+"), to("", "\n")), WORDS, ()),
        (replaced(" ", r"\s+"), WORDS, [token("a b", "normalized")]),
        (replaced(" ", r"\s+"), WORDS, [token("late", "normalized", "lstrip")]),
        (replaced("", r"\s+"), WORDS, ()),
        (replaced(" ", "[_ ]+"), WORDS, ()),
        (replaced("_", r"\s+"), WORDS, ()),
    ],
)
def test_white_space_that_counts_is_replaced(normalizer: Json, pre_tokenizer: Json, added: list[Json]) -> None:
    """If a later step distinguishes kinds of whitespace, a `Replace` of whitespace is an edit, and ids equal those of `tokenizers`."""
    made = built(document(normalizer, pre_tokenizer, *added))
    by = made[0].metadata.text.normalizer
    assert by
    assert by.edits
    hold(made, ["a  b", "a b", "a \n", " \n", "x\n \ny_", "late a\tb", "\t late", "_ _a \u3000"])


REST = r"|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"


def test_spelled_token_is_cut_behind() -> None:
    """A token that is part of the pattern ends a pre-token, even if a normalizer makes it from other text."""
    made = built(document(LOWER, byte_level_last(split("<s>" + REST, "Removed", True), use_regex=True), token("<s>")))
    hold(made, ["<S>!", "!<S>!", "<S><S>|", "a<S><s>!<S>!", " <S>.<S>.", "<S", "<S>"])


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    "first",
    [
        split("[<]s?|<s>" + REST, "Removed", True),
        split("<s>" + REST, "MergedWithPrevious"),
        split("<s>|<s>!" + REST, "Removed", True),
        split(r"<s>|\s" + REST),
        split("<s>" + REST + "|!<s>", "Removed", True),
    ],
)
def test_spelled_tokens_that_are_not_cut_behind(first: Json) -> None:
    """If the pattern contains a token otherwise than CLIP's, or spaces are kept, splits that would need a cut
    after the token are refused.
    """
    with pytest.raises(UnsupportedError, match=r"splits in sequence|Split that"):
        built(document(LOWER, byte_level_last(first, use_regex=True), token("<s>")))
