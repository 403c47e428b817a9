"""Look-aheads that count the characters of a run, such as the digits of a number in SuperBPE's files, cut texts as in `tokenizers`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as some
from support.kept import assemble
from support.machines.bpe import ENGLISH_MERGES, hold_every_way, hold_in_pieces, ids_of, mixed
from support.machines.documents import byte_level
from support.pretokens.sequences import Json, byte_level_last, split
from support.tiers import examples, sample
from tokenizers import Regex, Tokenizer, pre_tokenizers

import fst
from fst.compile.pretokens.sequences import BEHAVIORS, in_sequence
from fst.compile.sources.tokenizer_json import of_document
from fst.errors import UnsupportedError
from fst.text.counted_runs import CountedRuns
from fst.text.splitter import Splitter

THOUSANDS, GROUPS, NUMBERS = r"(?=(\d{3})+(?!\d))", r"\d{1,3}(?=(\d{3})*\b)", r"\p{N}+"
GPT2 = r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = (
    *(THOUSANDS, GROUPS, r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))", r"(?=(\d{2})+$)", r"\B(?=(\d{3})+(?!\d))", r"(?=(?:\d\d\d)++\b)"),
    *(r"\s?\d{1,3}(?=(\d{3})*\b)", r" ?\d{1,2}(?=(\d{2})*(?!\d))|\s+|[a-z]+", r"(?<=\d)(?=(\d{3})+(?!\d))", r"(?!(\d{3})+(?!\d))\d"),
    *(r"[0-9]{1,3}(?=([0-9]{3})*(?![0-9]))| ?\p{L}+|\s+(?!\S)|\s+|[^\s\p{L}0-9]+", r"(?=\d+a)", r"\d(?=\d*a)", r"\d+?(?=(\d{3})*(?!\d))"),
    *(r"(?=(\d{3})+(?!\d))\d{3}", r"(?=\d(\d{3})*(?!\d))", r"\b", r"(?=\p{Lu})", r"(?<=\s)(?=\S)"),
)
SEQUENCES = (
    *([NUMBERS, THOUSANDS], [THOUSANDS, NUMBERS], [THOUSANDS, GPT2], [GPT2, THOUSANDS], [THOUSANDS, CL100K], [GROUPS, CL100K]),
    *([r"\s", THOUSANDS, GPT2], [NUMBERS, THOUSANDS, CL100K], [r"\s", GROUPS], [r" ?[^\s\p{L}\p{N}]{2,}| +(?!\S)", THOUSANDS]),
)


def parts_of(patterns: Sequence[str]) -> list[Json]:
    """A Split for each pattern."""
    return [split(pattern) for pattern in patterns]


def reference_of(parts: Sequence[Json]) -> Callable[[str], list[tuple[int, int]]]:
    """A function that cuts a text by Splits as `tokenizers` does."""
    own = [pre_tokenizers.Split(Regex(part["pattern"]["Regex"]), BEHAVIORS[part["behavior"]], part["invert"]) for part in parts]
    together = pre_tokenizers.Sequence(own)
    return lambda text: [span for _, span in together.pre_tokenize_str(text)]


def hold_on_all(parts: Sequence[Json], texts: Sequence[str]) -> None:
    """Check that Splits cut texts as in `tokenizers`."""
    ours, reference = in_sequence(parts), reference_of(parts)
    for text in texts:
        assert ours.pretokens(text) == reference(text), text


def texts_over(letters: str, size: int) -> list[str]:
    """All texts of some letters, up to a size."""
    return ["".join(chosen) for count in range(size + 1) for chosen in product(letters, repeat=count)]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_short_texts_are_cut_as_by_the_reference(pattern: str) -> None:
    """Every text of digits, letters, spaces and other characters, up to a length, is cut as by the reference."""
    hold_on_all([split(pattern)], [*texts_over("1a .", 6), *sample(texts_over("1٣²A_\n", 5), 2_000)])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("patterns", SEQUENCES)
def test_splits_in_sequence_are_those_of_the_reference(patterns: Sequence[str]) -> None:
    """A Split that counts may follow other Splits, and other Splits may follow it."""
    hold_on_all(parts_of(patterns), [*texts_over("1a .", 6), *sample(texts_over("1٣²a_\n", 5), 2_000)])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("pattern", [THOUSANDS, GROUPS, r"\b"])
def test_behaviors_are_those_of_the_reference(pattern: str, behavior: str, invert: bool) -> None:
    """With every behavior, matches without characters only cut, except that the text between them may not be removed."""
    parts = [split(pattern, behavior, invert)]
    if (behavior, invert) == ("Removed", True) and pattern != GROUPS:
        with pytest.raises(UnsupportedError, match="the pattern"):
            in_sequence(parts)
        return
    hold_on_all(parts, texts_over("1a ", 6))


MANY_MEMBERS = f"a(?=[一-龥]+b)|[一-龥]|{'|'.join(f'[一-龥]{chr(code)}' for code in range(0x4E00, 0x4F2C))}"
digits = some.sampled_from([r"\d", r"\p{N}", "[0-9]", "[a1]"])
counts = some.builds(
    lambda digit, count, sign, before, end: f"{digit * before}(?:{digit}{{{count}}}){sign}{end.replace('D', digit)}",
    digits,
    some.integers(1, 4),
    some.sampled_from("+*"),
    some.integers(0, 2),
    some.sampled_from([r"(?!D)", r"\b", "$", " ", r"(?!D|a)", r"\B"]),
)
patterns = some.builds(
    "{}(?{}{}){}".format,
    some.sampled_from(["", r"\d", r"\d{1,3}", r"\s?\d{1,2}", r"\B", "a|"]),
    some.sampled_from("==!"),
    counts,
    some.sampled_from(["", r"\d", r"|\p{L}+|\s+"]),
)


sequences = some.lists(patterns | some.sampled_from([NUMBERS, r"\s", GPT2]), min_size=1, max_size=2)


@examples(300)
@given(sequences, some.lists(some.text("12a ²_.", max_size=12)))
def test_any_look_ahead_cuts_as_by_the_reference(chosen: list[str], texts: list[str]) -> None:
    """Splits with look-aheads over any runs cut texts as by the reference, or are refused."""
    try:
        hold_on_all(parts_of(chosen), texts)
    except UnsupportedError:
        reject()


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ([CL100K, THOUSANDS], "the second of which counts characters in runs that the first one cuts"),
        ([NUMBERS, GROUPS], "the second of which counts characters in runs that the first one cuts"),
        ([THOUSANDS, r"(?=(\d{2})+(?!\d))"], "several look-aheads that count different characters"),
        ([r"(?=(\d{3})+(?!\d))\d|(?=(\d{2})+(?!\d))\d"], "several look-aheads that count different characters"),
        ([r"(?=(((?:\d{1000}){1000}){1000})+(?!\d))"], "counts characters by more than 4096 different ends"),
        pytest.param([r"(?=((?:\d{200}){20})+(?!\d))"], "more than 2,000,000 steps", marks=pytest.mark.slow),
        pytest.param([MANY_MEMBERS], "too many kinds of ends", marks=pytest.mark.slow),
        ([r"\d(?=(\d{3})+\s+x)"], "look-ahead that depends on more than one character"),
    ],
)
def test_refused_splits(patterns: Sequence[str], message: str) -> None:
    """Splits that count are refused if they depend on more than a run and the next character, or on different runs."""
    with pytest.raises(UnsupportedError, match=message):
        in_sequence(parts_of(patterns))


def test_models_over_characters_are_refused() -> None:
    """Only byte-level BPE supports a Split that counts."""
    model = {"type": "Unigram", "vocab": [["a", 0.0], ["1", -1.0]], "unk_id": None}
    with pytest.raises(UnsupportedError, match="a Split that counts characters, with a model over characters"):
        assemble(of_document({"model": model, "pre_tokenizer": split(THOUSANDS)}, Path("tokenizer.json")), "auto")


SUPERWORDS = [*ENGLISH_MERGES, (b" the", b" the"), (b"12", b"3"), (b"'s", b" the"), (b"3", b" "), (b"a", b"1"), (b"4", b"5")]
PRE_TOKENIZERS = {
    "superbpe": byte_level_last(split(NUMBERS), split(THOUSANDS)),
    "thousands first": byte_level_last(split(THOUSANDS), use_regex=True),
    "groups": byte_level_last(split(GROUPS), split(CL100K)),
}


@cache
def document(name: str) -> Json:
    """A tokenizer.json whose merges go across spaces and digits."""
    parts = byte_level("a", SUPERWORDS, special=("<s>", "1<", "</s>"))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    parts["added_tokens"] = [{**token, **flags} for token in parts["added_tokens"]]
    decoder = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    return {**parts, "pre_tokenizer": PRE_TOKENIZERS[name], "decoder": decoder}


@cache
def machine(name: str) -> tuple[Any, fst.Tokenizer, Tokenizer]:
    """A table, its tokenizer, and the reference."""
    table = assemble(of_document(document(name), Path("tokenizer.json")), "auto")
    return table, fst.Tokenizer(table), Tokenizer.from_str(json.dumps({"version": "1.0", **document(name)}))


def drawn(draw: random.Random) -> str:
    """A text with many numbers."""
    units = ("1", "12", "123456789", "٣٤٥٦", "²", " ", "a", "_", " the", "it's", "\n", ".", "½", "世", "<s>", "1<", "x" * 70)
    return "".join(draw.choices(units, k=draw.randint(0, 20))) if draw.random() < 0.7 else mixed(draw, 6)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_encodings_are_those_of_the_reference(name: str) -> None:
    """Ids, offsets, words and decoded texts equal those of `tokenizers`, in every way to encode, and the walk gives the same ids."""
    table, tokenizer, reference = machine(name)
    draw = random.Random(name)
    texts = ["", "1" * 5_000, "é" + "12a" * 3_000, *(drawn(draw) for _ in range(300))]
    expected = reference.encode_batch(texts, add_special_tokens=False)
    found = tokenizer.encode_batch(texts, offsets=True)
    assert found.offsets is not None
    assert found.words is not None
    assert ids_of(found) == [encoding.ids for encoding in expected] == [table.run(text) for text in texts]
    assert found.offsets.tolist() == [[*span] for encoding in expected for span in encoding.offsets]
    assert found.words.tolist() == [word for encoding in expected for word in encoding.word_ids]
    assert [tokenizer.decode(encoding.ids) for encoding in expected] == [reference.decode(encoding.ids) for encoding in expected]
    hold_every_way(tokenizer, texts[:40], [encoding.ids for encoding in expected[:40]], draw)


def test_texts_that_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is read in pieces gets the same ids, because no piece ends before the text does."""
    draw = random.Random(3)
    for _ in range(20):
        hold_in_pieces(machine("superbpe")[1], drawn(draw), draw.choice((4, 16, 64)), monkeypatch)


def test_a_million_digits_are_cut_once() -> None:
    """A run of a million digits is cut into groups of three; its length alone determines the first group."""
    merges = [(b"1", b"1"), (b"11", b"1"), (b"111", b"1")]
    spec = {**byte_level("a", merges), "pre_tokenizer": PRE_TOKENIZERS["superbpe"]}
    tokenizer = fst.Tokenizer(assemble(of_document(spec, Path("tokenizer.json")), "auto"))
    ids = tokenizer.encode("1" * 1_000_000).tolist()
    assert ids == tokenizer.encode("1").tolist() + tokenizer.encode("111").tolist() * 333_333


def splitter() -> Splitter:
    """The splitter of SuperBPE's files."""
    return in_sequence(parts_of([NUMBERS, THOUSANDS]))


def test_stored_splitters_are_the_same() -> None:
    """A splitter with counted runs that is stored as JSON and read again cuts the same pre-tokens."""
    ours = splitter()
    again = Splitter.from_stored(json.loads(json.dumps(ours.stored())))
    assert [again.pretokens(text) for text in texts_over("1٣a", 5)] == [ours.pretokens(text) for text in texts_over("1٣a", 5)]


HARMS: list[tuple[Callable[[Json], Json], str]] = [
    (lambda runs: {**runs, "more": 1}, "other keys than"),
    (lambda runs: {**runs, "period": 0}, "the period 0"),
    (lambda runs: {**runs, "members": 0}, "counted runs have 0 members"),
    (lambda runs: {**runs, "period": "3"}, "expected integers"),
    (lambda runs: {**runs, "kinds": True}, "expected integers"),
    (lambda runs: {**runs, "end": 99}, "the end 99"),
    (lambda runs: {**runs, "marks": [99] * len(runs["marks"])}, "lists of integers below"),
    (lambda runs: {**runs, "marks": runs["marks"][1:]}, "no code point each"),
    (lambda runs: {**runs, "starts": [1 << 30, *runs["starts"][1:]]}, "lists of integers below"),
    (lambda runs: {**runs, "starts": runs["starts"][::-1]}, "do not ascend"),
]


@pytest.mark.parametrize(("harm", "message"), HARMS)
def test_damaged_runs_are_refused(harm: Callable[[Json], Json], message: str) -> None:
    """Counted runs with wrong sizes or marks are refused when a table is loaded."""
    stored = splitter().stored()
    with pytest.raises(ValueError, match=message):
        Splitter.from_stored({**stored, "runs": harm(stored["runs"])})


def test_damaged_tables_are_refused() -> None:
    """A table whose splitter has no classes for virtual codes, or too many, is refused when it is loaded."""
    table = machine("superbpe")[0]
    stored = json.loads(json.dumps(table.header))
    stored["rewriting"]["splitter"]["runs"]["marks"] = []
    with pytest.raises(fst.TableError, match="counted runs"):
        fst.Tokenizer(replace(table, header=stored))


def test_codes_count_to_the_end_of_a_run() -> None:
    """The virtual code of a member contains the number of members up to the end of its run, modulo the period."""
    runs = splitter().runs
    assert isinstance(runs, CountedRuns)
    digit = [code - 0x110000 for code in runs.codes("12345a1") if code >= 0x110000]
    assert [code % 3 for code in digit] == [2, 1, 0, 2, 1, 1]
