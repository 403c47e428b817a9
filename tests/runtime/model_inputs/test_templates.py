"""Post-processors: their templates give the same ids and type ids as `tokenizers`, for texts and for pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.tiers import examples
from tokenizers import Tokenizer

import fst

TOKENS = ("[UNK]", "<s>", "</s>", "a", "##b", "Ab", "!", "x")
TEXTS = ("ab", "a! ab x", "", "q ! a")
Part = dict[str, Any]


def document(post_processor: Any, tokens: Sequence[str] = TOKENS) -> Part:
    """A tokenizer.json with a post-processor."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": post_processor,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: number for number, token in enumerate(tokens)},
        },
    }


def processing(kind: str, **more: Any) -> Part:
    """A BertProcessing or a RobertaProcessing."""
    return {"type": kind, "sep": ["</s>", 2], "cls": ["<s>", 1], **more}


def roberta(*, trim_offsets: Any = True, add_prefix_space: Any = True) -> Part:
    """A RobertaProcessing."""
    return processing("RobertaProcessing", trim_offsets=trim_offsets, add_prefix_space=add_prefix_space)


def byte_level(*, trim_offsets: Any = True) -> Part:
    """A ByteLevel."""
    return {"type": "ByteLevel", "trim_offsets": trim_offsets, "add_prefix_space": True}


def text(name: str, type_id: Any = 0) -> Part:
    """The piece of a template that a text replaces."""
    return {"Sequence": {"id": name, "type_id": type_id}}


def special(name: str, type_id: Any = 0) -> Part:
    """The piece of a template that inserts a special token."""
    return {"SpecialToken": {"id": name, "type_id": type_id}}


SPECIAL = {
    name: {"id": name, "ids": numbers, "tokens": [TOKENS[number] for number in numbers]}
    for name, numbers in {"one": [1], "two": [2], "many": [1, 7, 2], "none": []}.items()
}


def template(single: Any, pair: Any = None, special_tokens: Any = None) -> Part:
    """A TemplateProcessing."""
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [text("A"), text("B")] if pair is None else pair,
        "special_tokens": SPECIAL if special_tokens is None else special_tokens,
    }


def sequence(*processors: Any) -> Part:
    """A Sequence of post-processors."""
    return {"type": "Sequence", "processors": list(processors)}


Around = list[tuple[int, int]]


def applied(pieces: Any, texts: Sequence[list[int]], *, framed: bool) -> Around:
    """The ids that a template gives for texts, each with its type id."""
    found: Around = []
    for content, type_id in pieces:
        if content in ("A", "B"):
            found += [(number, type_id) for number in texts["AB".index(content)]]
        elif framed:
            found += [(number, type_id) for number in content]
    return found


def said_by(reference: Tokenizer, text: str, pair: str | None = None, *, framed: bool) -> Around:
    """The ids that `tokenizers` returns, each with its type id."""
    encoding = reference.encode(text, pair, add_special_tokens=framed)
    return list(zip(encoding.ids, encoding.type_ids, strict=True))


def same_around(post_processor: Any, path: Path, tokens: Sequence[str] = TOKENS) -> None:
    """Check that the ids around texts and pairs match `tokenizers` after the table is saved and loaded."""
    source = json.dumps(document(post_processor, tokens))
    path.write_text(source, encoding="utf-8")
    reference = Tokenizer.from_str(source)
    wordpiece(path).save(path.with_suffix(".npz"))
    tokenizer = fst.Tokenizer.load(path.with_suffix(".npz"))
    ids = {row: tokenizer.encode(row, add_special_tokens=False).tolist() for row in TEXTS}
    for framed in (False, True):
        for first in TEXTS:
            expected = said_by(reference, first, framed=framed)
            assert applied(tokenizer.header["single"], [ids[first]], framed=framed) == expected
            assert tokenizer.encode(first, add_special_tokens=framed).tolist() == [number for number, _ in expected]
            for second in TEXTS:
                expected = said_by(reference, first, second, framed=framed)
                assert applied(tokenizer.header["pair"], [ids[first], ids[second]], framed=framed) == expected


POST_PROCESSORS: dict[str, Any] = {
    "none": None,
    "BERT's": processing("BertProcessing"),
    "RoBERTa's": roberta(),
    "RoBERTa's that trims nothing": roberta(trim_offsets=False),
    "RoBERTa's without a blank before": roberta(add_prefix_space=False),
    "a Sequence of nothing": sequence(),
    "a Sequence of one": sequence(processing("BertProcessing")),
    "a Sequence in a Sequence": sequence(sequence(roberta())),
    "ByteLevel, which adds nothing": byte_level(),
    "Sequences of ByteLevels": sequence(byte_level(trim_offsets=False), sequence(byte_level()), sequence()),
    "ByteLevel before a template": sequence(
        byte_level(), template([special("one"), text("A", 2)], [special("one"), text("A", 3), special("two", 1), text("B", 1)])
    ),
    "ByteLevel after RoBERTa's": sequence(roberta(trim_offsets=False), byte_level(trim_offsets=False)),
    "BERT's template": template(
        [special("one"), text("A"), special("two")],
        [special("one"), text("A"), special("two"), text("B", 1), special("two", 1)],
    ),
    "tokens of many ids and of none": template(
        [special("none"), special("many", 3), text("A", 2), special("many", 1)],
        [text("A"), special("many", 2), special("none"), special("many"), text("B"), special("none", 9)],
    ),
    "the second text first": template([text("A")], [special("one"), text("B"), special("two", 5), text("A", 1)]),
    "a type id for the text alone": template([text("A", 7)], [text("A", 2), text("B", 3)]),
    "the largest type id": template([text("A"), special("two", 2**31 - 1)], [text("A", 2**31 - 1), text("B")]),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("post_processor", POST_PROCESSORS.values(), ids=POST_PROCESSORS.keys())
def test_what_stands_around_texts_is_the_reference_s(post_processor: Any, tmp_path: Path) -> None:
    """Every supported post-processor gives the same ids and type ids as `tokenizers`, with and without special tokens."""
    same_around(post_processor, tmp_path / "tokenizer.json")


TYPES = st.integers(0, 3)
SPECIALS = st.lists(st.builds(special, st.sampled_from([*SPECIAL]), TYPES), max_size=3)
A_TEXT, B_TEXT = st.builds(text, st.just("A"), TYPES), st.builds(text, st.just("B"), TYPES)


@pytest.mark.slow
@given(
    single=st.tuples(SPECIALS, A_TEXT, SPECIALS),
    pair=st.tuples(SPECIALS, A_TEXT, SPECIALS, B_TEXT, SPECIALS),
    swapped=st.booleans(),
)
@examples(800, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_template_is_the_reference_s(single: Any, pair: Any, swapped: bool, tmp_path: Path) -> None:
    """Any template that contains each text once gives the same ids and type ids as `tokenizers`."""
    before, first, between, second, after = pair
    if swapped:
        first, second = second, first
    post_processor = template([*single[0], single[1], *single[2]], [*before, first, *between, second, *after])
    same_around(post_processor, tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    "post_processor",
    [template([special("one"), text("A")]), processing("BertProcessing"), roberta(), byte_level(), sequence(processing("BertProcessing"))],
    ids=lambda part: part["type"],
)
def test_fields_that_the_reference_ignores_are_ignored(post_processor: Part, tmp_path: Path) -> None:
    """A field that no post-processor has, such as `add_bos_token` in the files of Command R, changes nothing."""
    same_around(post_processor | {"add_bos_token": True, "add_eos_token": False}, tmp_path / "tokenizer.json")


ONCE, EACH = "'single' does not have its text exactly once", "'pair' does not have each of its texts exactly once"


@pytest.mark.parametrize(
    ("post_processor", "message"),
    [
        ({"type": "Other"}, "post_processor Other: only TemplateProcessing, BertProcessing"),
        (sequence({"type": "Other"}), "post_processor Other"),
        (sequence(processing("BertProcessing"), processing("BertProcessing")), "post_processor Sequence of 2 that add ids: only one"),
        (sequence(byte_level(), roberta()), "post_processor Sequence with trim_offsets twice"),
        (sequence(processing("BertProcessing"), byte_level()), "Sequence with trim_offsets twice, or after a processor that adds ids"),
        (processing("BertProcessing", trim_offsets=True), "BertProcessing has 'trim_offsets'"),
        (template([text("A")]) | {"sep": ["</s>", 2]}, "TemplateProcessing has 'sep'"),
        (template([special("one")]), ONCE),
        (template([text("A"), text("A")]), ONCE),
        (template([text("B")]), ONCE),
        (template([text("A"), text("B")]), ONCE),
        (template([text("A")], [text("A")]), EACH),
        (template([text("A")], [text("B"), special("two")]), EACH),
        (template([text("A")], [text("A"), text("B"), text("A")]), EACH),
        (template([text("A")], []), EACH),
    ],
)
def test_what_is_no_template_is_refused_by_name(post_processor: Any, message: str, tmp_path: Path) -> None:
    """If no template can represent a post-processor, the error names the post-processor."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document(post_processor)), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match=message):
        wordpiece(path)


@pytest.mark.parametrize(
    "post_processor",
    [
        [],
        {},
        {"type": "BertProcessing"},
        {"type": "BertProcessing", "sep": ["</s>", 2, 3], "cls": ["<s>", 1]},
        processing("RobertaProcessing"),
        roberta(trim_offsets=1),
        roberta(add_prefix_space=None),
        {"type": "Sequence"},
        {"type": "Sequence", "processors": 1},
        {"type": "TemplateProcessing", "single": [text("A")], "special_tokens": {}},
        template([text("A"), special("three")]),
        template([text("A"), special("one", -1)]),
        template([text("A"), special("one", 2**31)]),
        template([text("A", True)]),
        template([text("A", 0.0)]),
        template([text("A", None)]),
        template([{"Sequence": {"id": "A"}}]),
        template([{**text("A"), **special("one")}]),
        template(["A"]),
        template([text("A"), special("one")], special_tokens={"one": {"id": "one"}}),
        template([text("A"), special("one")], special_tokens={"one": {"ids": [99]}}),
        template([text("A"), special("one")], special_tokens={"one": {"ids": [None]}}),
        template([text("A")], [text("A"), special("one"), text("B")], special_tokens={"one": {"ids": [99]}}),
    ],
    ids=lambda part: repr(part)[:80],
)
def test_what_is_not_laid_out_as_a_post_processor_is_refused(post_processor: Any, tmp_path: Path) -> None:
    """A malformed post-processor is refused, and the message contains the file."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document(post_processor)), encoding="utf-8")
    with pytest.raises(fst.VocabularyError) as error:
        wordpiece(path)
    assert str(path) in str(error.value)


def test_nested_sequences_are_refused_or_read(tmp_path: Path) -> None:
    """Deeply nested sequences are read, or refused with an error of this package."""
    post_processor = sequence()
    for _ in range(300):
        post_processor = sequence(post_processor)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document(post_processor)), encoding="utf-8")
    try:
        found = wordpiece(path).header["single"]
    except fst.VocabularyError:
        return
    assert found == [["A", 0]]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("token", ["Ġa", "##Ġ", "Ġ", " a", "b ", "##\u3000", "x\u2003", "\x85", "\tq"], ids=ascii)
def test_tokens_that_trim_offsets_would_shorten_are_refused(token: str, tmp_path: Path) -> None:
    """With trim_offsets, a token with whitespace or Ġ at an end is refused, because `tokenizers` would shorten its offsets."""
    path, tokens = tmp_path / "tokenizer.json", [*TOKENS, token]
    path.write_text(json.dumps(document(sequence(roberta()), tokens)), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match="trim_offsets, which would shorten the token"):
        wordpiece(path)
    same_around(roberta(trim_offsets=False), path, tokens)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("token", ["a b", "\x1c", "\x1ca", "\u200ba", "aĠb", "ġ"], ids=ascii)
def test_tokens_that_trim_offsets_leaves_alone_are_read(token: str, tmp_path: Path) -> None:
    """With trim_offsets, a token without whitespace at its ends is accepted, and has its full offsets, as in `tokenizers`."""
    tokens = [*TOKENS, token]
    plain = Tokenizer.from_str(json.dumps(document(None, tokens) | {"pre_tokenizer": None}))
    trimming = Tokenizer.from_str(json.dumps(document(roberta(), tokens) | {"pre_tokenizer": None}))
    assert trimming.encode(token, add_special_tokens=False).offsets == plain.encode(token).offsets
    same_around(roberta(), tmp_path / "tokenizer.json", tokens)
