"""The call: every argument and every result against transformers, the kernels against slow twins, and each rule by itself."""

from __future__ import annotations

import functools
import json
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import SHARED, needs_shared

import fst
from fst.compile import wordpiece
from fst.runtime.kernels import lay_out, plan_rows

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", "##x", "!"]
VOCABULARIES = ("bert-base-uncased", "bert-base-multilingual-cased", "all-minilm-l6-v2", "bert-base-chinese")
UNLIMITED = int(1e30)


# The slow twins: truncation and windows as tokenizers defines them, one id after the other.


def slow_windows(ids: list[int], size: int, stride: int, from_left: bool) -> list[list[int]]:
    """Cut ids into windows of a size, each with the last ones of the one before it."""
    if size >= len(ids):
        return [ids]
    if size == 0:
        return [[], ids]
    if stride >= size:
        raise ValueError("stride")
    found = []
    if from_left:
        for stop in range(len(ids), 0, stride - size):
            found.append(ids[max(stop - size, 0) : stop])
            if stop <= size:
                break
    else:
        for start in range(0, len(ids), size - stride):
            found.append(ids[start : start + size])
            if start + size >= len(ids):
                break
    return found


def slow_lengths(first: int, second: int | None, strategy: str, room: int) -> tuple[int, int]:
    """Tell how many ids of two texts are kept."""
    total = first + (second or 0)
    if strategy == "do_not_truncate" or total <= room:
        return first, second or 0
    if room == 0:
        return 0, 0
    if strategy == "longest_first":
        if second is None:
            return room, 0
        swap = first > second
        low, high = sorted((first, second))
        high = low if low > room else max(low, room - low)
        if low + high > room:
            low = room // 2
            high = low + room % 2
        return (high, low) if swap else (low, high)
    kept = [first, second or 0]
    place = int(strategy == "only_second")
    if place and second is None:
        raise ValueError("no second text")
    if kept[place] <= total - room:
        raise ValueError("too short")
    kept[place] -= total - room
    return kept[0], kept[1]


def slow_rows(
    first: list[int], second: list[int] | None, strategy: str, room: int, stride: int, from_left: bool, every: bool, reverse: bool
) -> list[tuple[list[int], list[int]]]:
    """Tell the ids of both texts in each row that a sample becomes."""
    size, second_size = slow_lengths(len(first), None if second is None else len(second), strategy, room)
    a, b = slow_windows(first, size, stride, from_left), slow_windows(second or [], second_size, stride, from_left)
    outer, inner = (b, a) if reverse else (a, b)
    found = [(outer[0], inner[0])]
    if every:
        found += [(one, other) for one in outer[1:] for other in inner]
        found += [(outer[0], other) for other in inner[1:]]
    return [(other, one) if reverse else (one, other) for one, other in found]


STRATEGIES = ("do_not_truncate", "longest_first", "only_first", "only_second")


@given(
    samples=st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=4),
    strategy=st.sampled_from(STRATEGIES),
    room=st.integers(0, 12),
    stride=st.integers(0, 4),
    from_left=st.booleans(),
    every=st.booleans(),
    reverse=st.booleans(),
)
@settings(max_examples=1000)
def test_the_plan_is_that_of_its_slow_twin(
    samples: list[tuple[int, int | None]], strategy: str, room: int, stride: int, from_left: bool, every: bool, reverse: bool
) -> None:
    """Rows, their order, their lengths and refusals are those of truncation by definition."""
    lengths = [length or 0 for sample in samples for length in sample]
    splits = np.cumsum([0, *lengths])
    table = np.array([[2 * n, 2 * n + 1, 2 * n + 1, 2 * n + 2, pair is not None] for n, (_, pair) in enumerate(samples)], np.int64)
    cut = np.array([STRATEGIES.index(strategy), room, room, stride, from_left, every, 2, 3, reverse], np.int64)
    plan = np.empty((1000, 7), np.int64)
    expected: list[tuple[list[int], list[int], int, int]] = []
    longest, wrong = 0, -1
    for number, (_, pair) in enumerate(samples):
        ids = [list(range(splits[place], splits[place + 1])) for place in (2 * number, 2 * number + 1)]
        try:
            rows = slow_rows(ids[0], None if pair is None else ids[1], strategy, room, stride, from_left, every, reverse)
        except ValueError:
            wrong = number
            break
        expected += [(*row, int(pair is not None), number) for row in rows]
        longest = max(longest, sum(map(len, rows[0])) + (2 if pair is None else 3))
    count, found_longest, found_wrong = plan_rows(splits, table.reshape(-1, 5), cut, plan)
    assert found_wrong == wrong
    if wrong < 0:
        assert (count, found_longest) == (len(expected), longest)
        for row, (first, second, paired, sample) in zip(plan.tolist(), expected, strict=False):
            assert (list(range(*row[:2])), list(range(*row[2:4])), row[4], row[5]) == (first, second, paired, sample)
            assert row[6] == len(first) + len(second) + 2 + paired


PIECE = st.sampled_from([-1, 0, 1])


@given(
    pieces=st.tuples(st.lists(PIECE, max_size=5), st.lists(PIECE, max_size=5)),
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(0, 6), st.integers(0, 5), st.booleans()), max_size=4),
    planes=st.integers(1, 4),
    width=st.integers(0, 20),
    from_left=st.booleans(),
)
@settings(max_examples=300)
def test_the_layout_is_that_of_its_slow_twin(
    pieces: tuple[list[int], list[int]], rows: list[tuple[int, int, int, int, bool]], planes: int, width: int, from_left: bool
) -> None:
    """Each row has the pieces of its template one after the other, and is padded on the side that is asked for."""
    values = np.arange(100, 112, dtype=np.int32)
    templates = [
        np.array([[piece, *(1000 * plane + 10 * number for plane in range(planes))] for number, piece in enumerate([*some, -1])], np.int64)
        for some in pieces
    ]
    plan, expected = [], [[] for _ in range(planes)]  # type: ignore[var-annotated]
    for first, first_count, second, second_count, paired in rows:
        template = templates[paired].tolist()
        spans = [values[first : first + first_count].tolist(), values[second : second + second_count].tolist()]
        length = sum(1 if piece < 0 else len(spans[piece]) for piece, *_ in template[:-1])
        plan.append([first, first + first_count, second, second + second_count, paired, 0, length])
        for plane in range(planes):
            row = []
            for piece, *constants in template[:-1]:
                row += [constants[plane]] if piece < 0 else spans[piece] if plane == 0 else [constants[plane]] * len(spans[piece])
            padding = [template[-1][1 + plane]] * (width - length)
            expected[plane] += padding + row if from_left else row + padding
    out = np.full((planes, len(expected[0])), -7, np.int64)
    lay_out(values, np.array(plan, np.int64).reshape(-1, 7), *templates, width, from_left, out)
    assert out.tolist() == expected


# Against transformers.


@functools.cache
def ours(name: str, **more: Any) -> fst.Tokenizer:
    """Compile a vocabulary, with more said of it."""
    tables = wordpiece(SHARED / "vocab" / name / "tokenizer.json")
    return fst.Tokenizer(replace(tables, about={**tables.about, **more}))


@functools.cache
def theirs(name: str) -> Any:
    """Load the reference for a vocabulary, without a longest input."""
    transformers = pytest.importorskip("transformers", reason="the reference")
    return transformers.BertTokenizerFast.from_pretrained(SHARED / "vocab" / name, model_max_length=UNLIMITED)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or that it raises; a panic of Rust's is no Exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return f"{type(error).__name__}: {error}"


def plain(value: Any) -> Any:
    """A member as something that compares, types included."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        # The reference has rows of floating point where there are no ids, since it does not say what they are.
        return "rows", [plain(row) if row.size else None for row in value]
    if isinstance(value, list):
        return value, list(map(type, value))
    return type(value), value.dtype, tuple(value.shape), value.tolist()


def same(found: Any, expected: Any) -> None:
    """Hold a result against the reference's: keys and their order, values, types, and where tokens come from."""
    assert list(found) == list(expected)
    for name in expected:
        assert plain(found[name]) == plain(expected[name]), name
    assert found.n_sequences == expected.n_sequences
    assert len(found.encodings) == len(expected.encodings)
    for row, (mine, its) in enumerate(zip(found.encodings, expected.encodings, strict=True)):
        assert found.tokens(row) == expected.tokens(row)
        assert found.word_ids(row) == expected.word_ids(row)
        assert found.sequence_ids(row) == expected.sequence_ids(row)
        for name in ("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask", "word_ids", "sequence_ids", "n_sequences"):
            assert getattr(mine, name) == getattr(its, name), name
        same_tracing(mine, its)


def same_tracing(mine: Any, its: Any) -> None:
    """Hold what is found for tokens, characters and words of a row against the reference's."""
    for token in range(len(its) + 2):
        for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
            assert getattr(mine, name)(token) == getattr(its, name)(token), (name, token)
    for sequence in range(3):
        for place in range(max((end for _, end in its.offsets), default=0) + 1):
            for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
                assert getattr(mine, name)(place, sequence) == getattr(its, name)(place, sequence), (name, place, sequence)


@functools.cache
def lines() -> list[str]:
    """Texts of many languages, and hostile ones; short, so that many can be tried."""
    hostile = json.loads((SHARED / "hostile" / "blns.json").read_text(encoding="utf-8"))
    records = (SHARED / "corpora" / "multi_sentences_500.jsonl").read_text(encoding="utf-8").split("\n")[::997]
    found = [*hostile, *(json.loads(record)["text"] for record in records if record)]
    return ["", " ", "[MASK]", "a [SEP] b", "un[MASK]able", *(line[:60] for line in found)]


def texts() -> st.SearchStrategy[str]:
    """Texts of our own, of the data, and of no sense."""
    words = st.lists(st.sampled_from(["a", "unaffable", "Éa", "中文", "x!", "[MASK]", "ﷺ"]), max_size=8).map(" ".join)
    return words | st.sampled_from(lines()) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Any, Any, bool]:
    """Every form that texts come in: one or a batch, alone or in pairs, whole or split."""
    split = draw(st.booleans())
    unit: st.SearchStrategy[Any] = st.lists(texts(), max_size=5) if split else texts()
    form = draw(st.sampled_from(["one", "pair", "batch", "batch of pairs", "pairs in a batch"]))
    if form == "one":
        return draw(unit), None, split
    if form == "pair":
        return draw(unit), draw(unit), split
    size = draw(st.integers(1, 4))
    batch = st.lists(unit, min_size=size, max_size=size)
    if form == "batch":
        return draw(batch), None, split
    if form == "batch of pairs":
        return draw(batch), draw(batch), split
    return draw(st.lists(unit | st.tuples(unit, unit), min_size=size, max_size=size)), None, split


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([False, True, "longest", "max_length", "do_not_pad"]),
        "truncation": st.sampled_from([None, False, True, *STRATEGIES]),
        "max_length": st.none() | st.integers(0, 24),
        "stride": st.integers(0, 5),
        "pad_to_multiple_of": st.sampled_from([None, 1, 4, 8]),
        "padding_side": st.sampled_from([None, "left", "right"]),
        "truncation_side": st.sampled_from(["left", "right"]),
        "return_tensors": st.sampled_from([None, "np", "pt"]),
        "return_token_type_ids": st.sampled_from([None, True, False]),
        "return_attention_mask": st.sampled_from([None, True, False]),
        "return_overflowing_tokens": st.booleans(),
        "return_special_tokens_mask": st.booleans(),
        "return_offsets_mapping": st.booleans(),
        "return_length": st.booleans(),
    },
)


def compare(name: str, given: tuple[Any, Any, bool], options: dict[str, Any]) -> None:
    """Hold a call against the reference's."""
    text, pair, split = given
    reference = theirs(name)
    reference.truncation_side = options.get("truncation_side", "right")
    asked = {key: value for key, value in options.items() if key != "truncation_side"}
    expected = outcome(lambda: reference(text, pair, is_split_into_words=split, **asked))
    found = outcome(lambda: ours(name)(text, pair, is_split_into_words=split, **options))
    if isinstance(expected, str):
        assert isinstance(found, str), expected
    elif isinstance(found, str):
        assert found.startswith("ValueError: max_length=")
        assert "special tokens" in found, found
        assert options["max_length"] < 3
    else:
        same(found, expected)


@needs_shared
@pytest.mark.parametrize("name", VOCABULARIES)
@settings(max_examples=150)
@given(given=inputs(), options=OPTIONS)
def test_calls_are_those_of_the_reference(name: str, given: tuple[Any, Any, bool], options: dict[str, Any]) -> None:
    """A call gives what the reference gives, for any combination of arguments."""
    compare(name, given, options)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
@settings(max_examples=3000)
@given(given=inputs(), options=OPTIONS)
def test_many_calls_are_those_of_the_reference(name: str, given: tuple[Any, Any, bool], options: dict[str, Any]) -> None:
    """The same, thousands of times."""
    compare(name, given, options)
