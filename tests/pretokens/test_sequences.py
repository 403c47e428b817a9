"""Splits with gaps, dropped text or several steps are compiled to a single automaton, which gives the same pre-tokens as the walk and as
`tokenizers`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as some
from support.core.interpreted import printed, steps
from support.kept import assemble
from support.machines.bpe import ENGLISH_MERGES, SPECIAL, ids_of, mixed
from support.machines.documents import byte_level
from support.pretokens.sequences import Json, alternatives, byte_level_last, small_texts, split, splitters
from support.pretokens.splitters import PATTERNS, representatives, texts_over
from support.tiers import examples, sample, thinned
from tokenizers import Tokenizer, pre_tokenizers

import fst
from fst.cli.commands.explain.command import explained
from fst.compile.patterns import budget
from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.automata import Automaton, whole
from fst.compile.pretokens.gaps import JOINED_WITH_GAP_AFTER, total
from fst.compile.pretokens.sequences import BEHAVIORS as NAMES_OF_BEHAVIORS
from fst.compile.pretokens.sequences import chained, in_sequence
from fst.compile.pretokens.splits import BYTES, components
from fst.compile.pretokens.splitter import splitter
from fst.compile.sources.tokenizer_json import of_document
from fst.errors import UnsupportedError
from fst.machines.bpe.table import BpeTable
from fst.runtime.compat.transformers.bpe_document import document as document_of
from fst.runtime.text.kernels import search
from fst.tables.kernel_call import CHUNK
from fst.text.splitter import BEHAVIORS, START, Span, Splitter

PUNCTUATION = {behavior: {"type": "Punctuation", "behavior": behavior} for behavior in ("Removed", "MergedWithPrevious", "MergedWithNext")}
KANA = "[一-龥぀-ゟ゠-ヿ]+"
PRE_TOKENIZERS: dict[str, Json] = {
    "clip": byte_level_last(split(PATTERNS["clip"], "Removed", True), use_regex=True),
    "deepseek": byte_level_last(split(r"\p{N}{1,3}"), split(KANA), split(PATTERNS["deepseek"])),
    "deepseek llm": byte_level_last(
        *map(split, ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")), {"type": "Digits", "individual_digits": True}
    ),
    "bloom": byte_level_last(split(r" ?[^(\s|[.,!?…。，、।۔،])]+")),
    "starcoder": byte_level_last({"type": "Digits", "individual_digits": True}, use_regex=True),
    "whole": byte_level_last(),
    "runs of digits": byte_level_last({"type": "Digits", "individual_digits": False}, split(PATTERNS["o200k"])),
    "whitespace": byte_level_last({"type": "Whitespace"}, use_regex=True),
    "words": byte_level_last({"type": "WhitespaceSplit"}, {"type": "Digits", "individual_digits": False}),
    "bert": byte_level_last({"type": "BertPreTokenizer"}),
    **{f"punctuation {name}": byte_level_last(part, use_regex=name != "Removed") for name, part in PUNCTUATION.items()},
    "blank": byte_level_last(split(" ", "MergedWithNext", form="String"), {"type": "Punctuation", "behavior": "Contiguous"}),
}
each_pre_tokenizer = pytest.mark.parametrize("name", PRE_TOKENIZERS)


def splits_of(name: str) -> list[Any]:
    """Return the splits of the pre-tokenizers with the given names."""
    return [part for part in components(PRE_TOKENIZERS[name]) if part != BYTES]


@cache
def compiled(name: str) -> Splitter:
    """Compile the splitter of the pre-tokenizers with the given names."""
    return in_sequence(splits_of(name), absent=SPECIAL_OF_CLIP)


SPECIAL_OF_CLIP = ("<|startoftext|>", "<|endoftext|>")


# The automata


def cut(splits: Sequence[Splitter], text: str) -> list[Span]:
    """Cut a text by a list of splitters, each of which cuts the parts of the preceding splitter."""
    spans = [(0, len(text))]
    for each in splits:
        spans = [(begin + first, begin + last) for begin, end in spans for first, last in each.pretokens(text[begin:end])]
    return [(begin, end) for begin, end in spans if begin < end]


def leaves_gaps(found: Splitter) -> bool:
    """Whether a search may end without a match."""
    automaton = Automaton.of(found.moves)
    return not automaton.surely_ends()[automaton.targets[START, :-1]].all()


@examples(1_000)
@given(splitters, small_texts)
def test_total_splitters_have_the_same_pieces(found: Splitter, texts: list[str]) -> None:
    """With any pattern and behavior, a splitter that is compiled without gaps gives the same pre-tokens as the original splitter, or the
    split is refused.
    """
    try:
        ours = total(found)
    except UnsupportedError:
        reject()
    assert not leaves_gaps(ours)
    assert [ours.pretokens(text) for text in texts] == [found.pretokens(text) for text in texts]


def has_total(found: Splitter) -> bool:
    """Whether a splitter can be replaced by a splitter without gaps."""
    try:
        total(found)
    except UnsupportedError:
        return False
    return True


@examples(300)
@given(some.lists(splitters.filter(has_total), min_size=2, max_size=2), small_texts)
def test_composed_splitters_cut_one_after_the_other(found: list[Splitter], texts: list[str]) -> None:
    """A splitter that is composed of several splitters gives the same pre-tokens as these splitters in sequence, or the splits are
    refused.
    """
    try:
        ours = chained([*map(total, found)], Budget())
    except UnsupportedError:
        reject()
    assert not leaves_gaps(ours)
    assert [ours.pretokens(text) for text in texts] == [cut(found, text) for text in texts]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("pattern", ["[ab]", "a+|b", "a[ab]?"])
def test_every_behavior_compiles(pattern: str, invert: bool, behavior: str) -> None:
    """If a single character determines whether a match begins, every behavior compiles, except that some splits cannot join matches with
    gaps.
    """
    found = splitter(pattern, behavior, invert)
    if pattern == "a[ab]?" and (behavior == "contiguous" or (behavior, invert) in JOINED_WITH_GAP_AFTER):
        with pytest.raises(UnsupportedError, match="joins matches with the text after them"):
            total(found)
    else:
        texts, ours = [*texts_over("abc", 800)], total(found)
        assert [ours.pretokens(text) for text in texts] == [found.pretokens(text) for text in texts]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", [name for name in BEHAVIORS if name != "removed"])
@pytest.mark.parametrize("string", ["ab", "aa", "aba", "<n>", " ", "\n\n"])
def test_strings_are_cut_as_by_the_reference(string: str, behavior: Any, invert: bool) -> None:
    """A split at a literal string gives the same pre-tokens as in `tokenizers`, with every behavior except "removed"."""
    ours, reference = total(splitter(string, behavior, invert, literal=True)), pre_tokenizers.Split(string, behavior, invert)
    draw = random.Random(string)
    parts = (string, string, string[:-1], string[-1], "x")
    for text in ("", *("".join(draw.choices(parts, k=draw.randint(1, 9))) for _ in range(80))):
        assert ours.pretokens(text) == [span for _, span in reference.pre_tokenize_str(text)], text


@pytest.mark.parametrize("pattern", ["ab|acc", "a+b", "b|ab", "ab(?!c)"])
def test_gaps_with_behaviors_need_one_character(pattern: str) -> None:
    """If several characters decide whether a match of a pattern begins, the split compiles only with the behavior "isolated"."""
    for behavior in set(BEHAVIORS) - {"isolated"}:
        with pytest.raises(UnsupportedError, match="more than one character decides whether a match begins"):
            total(splitter(pattern, behavior))


def test_gaps_between_matches_of_several_characters() -> None:
    """A split compiles unless a match may begin inside the text that a failed search has read."""
    assert total(splitter("ab|b")).pretokens("aabcab") == [(0, 1), (1, 3), (3, 4), (4, 6)]
    with pytest.raises(UnsupportedError, match="more than one character decides whether a match begins"):
        total(splitter("aab"))


@pytest.mark.parametrize(("string", "behavior"), [("aab", "merged_with_next"), ("aab", "contiguous"), ("ab", "removed")])
def test_strings_that_are_refused(string: str, behavior: str) -> None:
    """A split at a literal string is refused if it drops text, or if it joins text with matches that may begin inside the text of a
    failed search.
    """
    with pytest.raises(UnsupportedError, match="more than one character decides whether a match begins"):
        total(splitter(string, behavior, literal=True))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[0-9]{1,3}", "[0-9]"),  # the first split would count again from each cut of the second split
        (r"<\|x\|>|[a-z]+|[^a-z]+", "[a-z]+|[^a-z]+"),  # |> ends with a match of the first split, but alone is not cut at its end
        ("ab+c|[ab]|c", "[ab]|c"),  # a, b and c are one match of the first split only if a c follows
        (r"\s?[a-z]+", "\\s?[!\u3000]+"),  # after ! and two spaces, the next letter decides whether a match of the first includes a space
    ],
)
def test_entangled_splits_are_refused(first: str, second: str) -> None:
    """Two splits in sequence are refused if the second cuts a match of the first, and a new search of the first from this cut would end
    elsewhere.
    """
    with pytest.raises(UnsupportedError, match="splits in sequence that no automaton can run"):
        in_sequence([split(first), split(second)])


def test_splits_share_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps for compiling all splits and all atomic groups are added up and compared with the limit of the compiler."""
    monkeypatch.setattr(budget, "MAX_STEPS", 20_000)
    pattern = "(?>[ab]{1,99})x"
    assert in_sequence([split(pattern + "|[a-c]"), split("[d-f]{1,9}")]).pretokens("abxc") == [(0, 3), (3, 4)]
    for splits in ([split(f"{pattern}|[ab]|{letter}") for letter in "defghijkl"], [split("|".join([pattern] * 40))]):
        with pytest.raises(UnsupportedError, match="take more than 20,000 steps to compile"):
            in_sequence(splits)


@pytest.mark.parametrize("length", [0, -5, True])
def test_lengths_that_are_refused(length: int) -> None:
    """The length of a FixedLength is a positive integer."""
    with pytest.raises(ValueError, match="length of pre_tokenizer FixedLength"):
        components(byte_level_last({"type": "FixedLength", "length": length}))


def test_no_splits() -> None:
    """If there is no split, a text is a single pre-token."""
    assert in_sequence([]).pretokens("a b\n c") == whole().pretokens("a b\n c") == [(0, 6)]
    assert in_sequence([]).pretokens("") == []


def test_dropped_by_the_first() -> None:
    """The second split does not get the text that the first split drops, and may drop more text."""
    whitespace, digits = split(r"\s", "Removed"), split("[0-9]+", "Removed")
    assert in_sequence([whitespace, digits]).pretokens("a1 2b c3") == [(0, 1), (4, 5), (6, 7)]
    assert in_sequence([whitespace, split(r"\s+|\S+")]).pretokens("a1  b ") == [(0, 2), (4, 5)]


def test_absent_strings() -> None:
    """Alternatives for strings that no text contains are omitted from patterns, without which the splits of CLIP would be refused."""
    assert in_sequence([split(r"<\|x\|>|x+|[^x]+"), split("<|x+|[^<x]+")], absent=["x|"]).pretokens("<|x") == [(0, 1), (1, 2), (2, 3)]
    with pytest.raises(UnsupportedError, match="splits in sequence"):
        in_sequence(splits_of("clip"))
    with pytest.raises(UnsupportedError, match="splits in sequence"):
        in_sequence(splits_of("clip"), absent=["<|endoftext|>"])


# Splits whose matches are certain only when a search reaches the end of the match

FAR_ENDS = (r"a+b|[\s\S]", r" *\n|[\s\S]", r"[\s\S]*?x|[\s\S]", r"(?:aaa)*b|[\s\S]", r"a(?:[ab]{3})*c|(?:aa)*x|b+|[\s\S]")


def far_ended(pattern: str) -> Json:
    """Make a tokenizer.json whose ids show where pre-tokens begin."""
    return {**byte_level(pattern, [(b"a", b"a"), (b"a", b"b"), (b" ", b" ")]), "decoder": None}


def tokenizer_of(source: Json) -> fst.Tokenizer:
    """Compile the tokenizer of a tokenizer.json."""
    return fst.Tokenizer(assemble(of_document(source, Path("tokenizer.json")), "auto"))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pattern", FAR_ENDS)
def test_searches_that_fail_far_away_are_the_reference_s(pattern: str) -> None:
    """If searches read far beyond their matches, over several chunks, the ids equal those of `tokenizers`."""
    source, draw = far_ended(pattern), random.Random(pattern)
    ours, reference = tokenizer_of(source), Tokenizer.from_str(json.dumps(source))
    for _ in sample(range(400), 20):
        letters = draw.choice(("a", "aab", "a b\n", "abx", "é a", " \n", "abcx"))
        runs = [draw.choice(letters) * draw.choice((1, 1, 2, 30, 99, 200, 1500)) for _ in range(draw.randint(1, 9))]
        text = "".join(runs) + draw.choice(("", "b", "x", "\n", "c"))
        assert ours.encode(text).tolist() == reference.encode(text).ids, ascii(text)


@pytest.mark.parametrize("width", [1, 3])
def test_search_that_fails_far_away_is_read_once(width: int) -> None:
    """A run over many chunks is a single pre-token if its end completes a match; otherwise, each of its characters is a pre-token."""
    ours = tokenizer_of(far_ended(f"(?:{'a' * width})*b|[\\s\\S]"))
    one, two, c = (int(ours.encode(text)[0]) for text in ("a", "aaab", "c"))
    for size in (60_000, 60_000 + width - 1):
        alone = size % width
        whole = ours.encode("a" * (size - alone) + "b").tolist()
        assert whole[0] == two
        assert ours.encode("a" * size + "c" + "a" * size + "b").tolist() == [one] * size + [c] + [one] * alone + whole


@pytest.mark.slow
def test_steps_of_searches_are_linear() -> None:
    """If a text becomes twice as long, searches that fail far beyond their start take at most 2.5 times as many steps."""
    few, more, most = json.loads(printed(print_steps))
    assert more < 2.5 * few
    assert most < 2.5 * more


def print_steps() -> None:
    """Print how many lines the interpreted kernel executes for searches in runs of three lengths."""
    ours = tokenizer_of(far_ended(FAR_ENDS[3]))
    print(json.dumps([steps(partial(ours.encode, "a" * size), search) for size in (100, 200, 400)]))


# Comparisons with `tokenizers`

MORE_MERGES = [*ENGLISH_MERGES, (b"i", b"t"), (b"'", b"\xe4")]
QUICK = ("clip", "deepseek")
each_machine = pytest.mark.parametrize(
    "name", [*QUICK, *thinned([pytest.param(name, marks=pytest.mark.slow) for name in PRE_TOKENIZERS if name not in QUICK], 3)]
)


@cache
def document(name: str) -> Json:
    """Make a tokenizer.json with the given pre-tokenizers, whose offsets are not trimmed."""
    parts = byte_level("a", MORE_MERGES, special=(*SPECIAL, SPECIAL_OF_CLIP[0]))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    parts["added_tokens"] = [{**token, **flags} for token in parts["added_tokens"]]
    return {**parts, "pre_tokenizer": PRE_TOKENIZERS[name], "decoder": {"type": "ByteLevel", **dict.fromkeys(BYTE_LEVEL_FLAGS, True)}}


BYTE_LEVEL_FLAGS = ("add_prefix_space", "trim_offsets", "use_regex")


@cache
def machine(name: str) -> tuple[BpeTable, fst.Tokenizer, Tokenizer]:
    """Return a table, its tokenizer, and the same tokenizer in the reference library."""
    table: BpeTable = assemble(of_document(document(name), Path("tokenizer.json")), "auto")
    return table, fst.Tokenizer(table), Tokenizer.from_str(json.dumps({"version": "1.0", **document(name)}))


@pytest.mark.mostly_slow
@each_pre_tokenizer
def test_pieces_are_those_of_the_reference(name: str) -> None:
    """A sequence of pre-tokenizers splits short texts over one character of each class as in `tokenizers`."""
    ours, reference = compiled(name), Tokenizer.from_str(json.dumps({"version": "1.0", **document(name)})).pre_tokenizer
    characters = "".join(sorted({*representatives(ours), *"a "}))
    for text in sample([*texts_over(characters, 20_000)], 120):
        assert ours.pretokens(text) == [span for _, span in reference.pre_tokenize_str(text)], text


def hold(name: str, texts: Sequence[str]) -> None:
    """Check that ids, offsets and words equal those of `tokenizers`, and that the walk gives the same ids."""
    table, tokenizer, reference = machine(name)
    found = tokenizer.encode_batch(texts, offsets=True)
    expected = reference.encode_batch(texts, add_special_tokens=False)
    assert ids_of(found) == [encoding.ids for encoding in expected] == [table.run(text) for text in texts]
    assert found.offsets is not None
    assert found.words is not None
    assert found.offsets.tolist() == [[*span] for encoding in expected for span in encoding.offsets]
    assert found.words.tolist() == [word for encoding in expected for word in encoding.word_ids]


@pytest.mark.mostly_slow
@each_machine
def test_encodings_are_those_of_the_reference(name: str) -> None:
    """Texts mixed with special tokens get the same ids, offsets and words as in `tokenizers`, and the walk gives the same ids."""
    draw = random.Random(name)
    hold(name, ["", " ", "  <s>  ", *(mixed(draw, draw.choice((1, 3, 9))) for _ in sample(range(2_500), 100))])


@pytest.mark.slow
@each_machine
def test_long_stretches(name: str) -> None:
    """A part of a text that is longer than a chunk, dropped or not, gets the same ids, offsets and words as in `tokenizers`."""
    runs = [unit * (CHUNK // len(unit) + by) for unit in sample((" ", "1", "a", "\n", "ab ", "é"), 4, name) for by in (-1, 0, 1)]
    hold(name, [f"{around}{run}{around}" for run in runs for around in ("", "it's")])


parts_of_splits = some.builds(
    lambda parts, behavior, invert: split("|".join(parts), behavior, invert),
    some.lists(alternatives, min_size=1, max_size=2),
    some.sampled_from([*NAMES_OF_BEHAVIORS, "Removed", "Isolated"]),
    some.booleans(),
)


@pytest.mark.slow
@examples(100)
@given(some.lists(parts_of_splits, min_size=1, max_size=2), some.lists(some.text("abcd <é", max_size=40), min_size=10, max_size=10))
def test_kernels_cut_as_the_reference(parts: list[Json], texts: list[str]) -> None:
    """With random splits, the kernel gives the same ids as the walk and as `tokenizers`."""
    described = {**document("whole"), "pre_tokenizer": byte_level_last(*parts)}
    try:
        table: BpeTable = assemble(of_document(described, Path("tokenizer.json")), "auto")
    except UnsupportedError:
        reject()
    found = fst.Tokenizer(table).encode_batch(texts, offsets=True)
    expected = Tokenizer.from_str(json.dumps({"version": "1.0", **described})).encode_batch(texts, add_special_tokens=False)
    assert ids_of(found) == [encoding.ids for encoding in expected] == [table.run(text) for text in texts]
    assert found.offsets is not None
    assert found.offsets.tolist() == [[*span] for encoding in expected for span in encoding.offsets]


@pytest.mark.slow
def test_saved_tables_drop_the_same() -> None:
    """A table that drops text still drops the same text after it is saved and loaded."""
    table, _, _ = machine("clip")
    assert table.drops.any()
    other = BpeTable.loads(table.dumps())
    assert other.run(" it's  12 ") == table.run(" it's  12 ") == table.run("it's12")


def test_dropped_text_is_not_explained() -> None:
    """The explanation of a text does not contain dropped parts of the text."""
    table, _, _ = machine("clip")
    lines = [line for line in explained(table, " it \n</s> \n") if not line.startswith("  ")]
    assert lines == ["pre-token it", "", f"</s>: a special token, id {table.run('</s>')[0]}"]


# Splits of bytes

DIGITS = {individual: {"type": "Digits", "individual_digits": individual} for individual in (False, True)}
BARE = byte_level_last()["pretokenizers"][0]
BEHIND: dict[str, list[Json]] = {
    "falcon": [{"type": "Punctuation", "behavior": "Contiguous"}, {**BARE, "use_regex": True}, DIGITS[False], split("[0-9][0-9][0-9]")],
    "individual": [{**BARE, "use_regex": True}, DIGITS[True]],
    "blank": [{**BARE, "use_regex": True, "add_prefix_space": True}, DIGITS[False]],
    "whole": [BARE, split("b", "MergedWithPrevious", form="String"), DIGITS[False]],
    "twice": [DIGITS[True], BARE, split("b", "Removed"), DIGITS[False], DIGITS[True]],
}
MERGES_ACROSS = [(b"1", b"2"), (b"\xc3", b"\xb2"), (b"\xb2", b"1"), (b"a", b"b"), (b" ", b"1"), (b"12", b"3"), (b"\xb2", b"\xbe")]
UNITS_OF_BYTES = (*"123òé世²³¼½ab !籲粲ɲ😀💲", "123", "...", "粲粳", "\n", "'s")


def behind_bytes(parts: Sequence[Json], **model: Any) -> Json:
    """Make a tokenizer.json with the given pre-tokenizers, and with merges across some of the boundaries that they set."""
    decoder = {"type": "ByteLevel", **dict.fromkeys(BYTE_LEVEL_FLAGS, True)}
    pre_tokenizer = {"type": "Sequence", "pretokenizers": [*parts]}
    return {**byte_level("a", MERGES_ACROSS, **model), "version": "1.0", "decoder": decoder, "pre_tokenizer": pre_tokenizer}


def table_of(parts: Json) -> BpeTable:
    """Compile a tokenizer.json to a table."""
    table: BpeTable = assemble(of_document(parts, Path("tokenizer.json")), "auto")
    return table


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", BEHIND)
def test_digits_among_bytes(name: str) -> None:
    """If Digits follows ByteLevel, it splits at those letters for bytes that are numeric, even inside a character of the text, as in
    `tokenizers`.
    """
    parts, draw = behind_bytes(BEHIND[name]), random.Random(name)
    table = table_of(parts)
    texts = ["".join(draw.choices(UNITS_OF_BYTES, k=draw.randint(0, 12))) for _ in range(100)]
    found = Tokenizer.from_str(json.dumps(parts)).encode_batch(texts)
    batch = fst.Tokenizer(table).encode_batch(texts, offsets=True)
    assert batch.offsets is not None
    assert batch.words is not None
    assert ids_of(batch) == [table.run(text) for text in texts] == [encoding.ids for encoding in found]
    assert [*map(tuple, batch.offsets.tolist())] == [span for encoding in found for span in encoding.offsets]
    assert batch.words.tolist() == [word for encoding in found for word in encoding.word_ids]
    assert table_of(document_of(table)).metadata == table.metadata


@pytest.mark.parametrize(
    ("behind", "model", "message"),
    [
        ([split(r"\d")], {}, "unless it is of ASCII characters alone"),
        ([split("(?=a)b")], {}, "unless it is of ASCII characters alone"),
        ([DIGITS[False], split("1a", form="String")], {}, "its matches may be cut"),
        ([DIGITS[True], split("[0-9][0-9]", "Removed")], {}, "its matches may be cut"),
        ([DIGITS[False]], {"ignore_merges": True}, "Digits after ByteLevel, where it splits bytes, and ignore_merges"),
    ],
)
def test_splits_of_bytes_that_are_refused(behind: list[Json], model: Json, message: str) -> None:
    """A split after ByteLevel is refused if it may differ from a split of the text, and the message gives the reason."""
    with pytest.raises(UnsupportedError, match=message):
        table_of(behind_bytes([BARE, *behind], **model))


def test_no_dropout_among_cut_bytes() -> None:
    """If pre-tokens are cut between bytes, dropout is refused, because it would skip merges as if they were not cut."""
    tokenizer = fst.Tokenizer(table_of(behind_bytes(BEHIND["individual"])))
    with pytest.raises(UnsupportedError, match="dropout with a pre_tokenizer Digits after ByteLevel"):
        tokenizer.encode("a1", randomness=fst.Dropout(0.5))
