"""The call: every argument and every result against transformers, the kernels against slow twins, and each rule by itself."""

from __future__ import annotations

import functools
import json
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kept import wordpiece
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, thinned

import fst
from fst.runtime.model_inputs.kernel import lay_out, plan_rows

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", "##x", "!"]
VOCABULARIES = ("bert-base-uncased", "bert-base-multilingual-cased", "all-minilm-l6-v2", "bert-base-chinese")


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


@examples(1000)
@given(
    samples=st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=4),
    strategy=st.sampled_from(STRATEGIES),
    room=st.integers(0, 12),
    stride=st.integers(0, 4),
    from_left=st.booleans(),
    every=st.booleans(),
    reverse=st.booleans(),
)
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
    count, found_longest, least, most, found_wrong = plan_rows(splits, table.reshape(-1, 5), cut, plan)
    assert found_wrong == wrong
    if wrong < 0:
        assert (count, found_longest) == (len(expected), longest)
        for row, (first, second, paired, sample) in zip(plan.tolist(), expected, strict=False):
            assert (list(range(*row[:2])), list(range(*row[2:4])), row[4], row[5]) == (first, second, paired, sample)
            assert row[6] == len(first) + len(second) + 2 + paired
        if expected:
            assert [least, most] == [pick(plan[:count, 6]) for pick in (min, max)]


PIECE = st.sampled_from([-1, 0, 1])


@examples(300)
@given(
    pieces=st.tuples(st.lists(PIECE, max_size=5), st.lists(PIECE, max_size=5)),
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(0, 6), st.integers(0, 5), st.booleans()), max_size=4),
    planes=st.integers(1, 4),
    width=st.integers(0, 20),
    from_left=st.booleans(),
)
def test_the_layout_is_that_of_its_slow_twin(
    pieces: tuple[list[int], list[int]], rows: list[tuple[int, int, int, int, bool]], planes: int, width: int, from_left: bool
) -> None:
    """Each row has the pieces of its template one after the other, and is padded on the side that is asked for."""
    values = np.arange(100, 112, dtype=np.int32)
    templates = [
        np.array([[piece, *(1000 * plane + 10 * number for plane in range(planes))] for number, piece in enumerate([*some, -1])], np.int64)
        for some in pieces
    ]
    plan: list[list[int]] = []
    expected: list[list[int]] = [[] for _ in range(planes)]
    for first, first_count, second, second_count, paired in rows:
        template = templates[paired].tolist()
        spans = [values[first : first + first_count].tolist(), values[second : second + second_count].tolist()]
        length = sum(1 if piece < 0 else len(spans[piece]) for piece, *_ in template[:-1])
        plan.append([first, first + first_count, second, second + second_count, paired, 0, length])
        for plane in range(planes):
            row: list[int] = []
            for piece, *constants in template[:-1]:
                row += [constants[plane]] if piece < 0 else spans[piece] if plane == 0 else [constants[plane]] * len(spans[piece])
            padding = [template[-1][1 + plane]] * (width - length)
            expected[plane] += padding + row if from_left else row + padding
    out = np.full((planes, len(expected[0])), -7, np.int64)
    lay_out(values, np.array(plan, np.int64).reshape(-1, 7), templates[0], templates[1], width, from_left, out)
    assert out.tolist() == expected


# Against transformers.


@functools.cache
def ours(name: str) -> fst.Tokenizer:
    """Compile a folder."""
    return fst.Tokenizer(wordpiece(SHARED / "vocab" / name))


@functools.cache
def loaded(name: str) -> Any:
    """Load the reference from a folder."""
    transformers = pytest.importorskip("transformers", reason="the reference")
    return transformers.BertTokenizerFast.from_pretrained(SHARED / "vocab" / name)


def theirs(name: str, truncation_side: str = "right") -> Any:
    """Give the reference, for which the side is state and no argument."""
    reference = loaded(name)
    reference.truncation_side = truncation_side
    return reference


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the error as text; a panic of Rust is a BaseException."""
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
    """Compare a result with the reference: keys and their order, values, types and offsets."""
    assert list(found) == list(expected)
    for name in expected:
        assert plain(found[name]) == plain(expected[name]), name
    assert found.n_sequences == expected.n_sequences
    assert len(found.encodings) == len(expected.encodings)
    for row, (mine, its) in enumerate(zip(found.encodings, expected.encodings, strict=True)):
        assert found.tokens(row) == expected.tokens(row)
        assert found.word_ids(row) == expected.word_ids(row)
        assert found.sequence_ids(row) == expected.sequence_ids(row)
        for name in ("ids", "type_ids", "attention_mask", "special_tokens_mask", "sequence_ids", "word_ids", "offsets", "n_sequences"):
            assert getattr(mine, name) == getattr(its, name), name
        same_tracing(mine, its)


def same_tracing(mine: Any, its: Any) -> None:
    """Compare the look-ups by token, character and word of a row with the reference."""
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
    """Compare a call with the reference."""
    text, pair, split = given
    reference = theirs(name, options.get("truncation_side", "right"))
    asked = {key: value for key, value in options.items() if key != "truncation_side"}
    expected = outcome(lambda: reference(text, pair, is_split_into_words=split, **asked))
    found = outcome(lambda: ours(name)(text, pair, is_split_into_words=split, **options))
    if isinstance(expected, str):
        assert isinstance(found, str), expected
    elif isinstance(found, str) and options.get("return_tensors") == "pt" and expected["input_ids"].numel() == 0:
        assert "not of one length" in found, found  # PyTorch makes nothing of rows of which the first is empty
    elif isinstance(found, str):
        assert "special tokens" in found, found  # the reference's number for what is left wraps around
        assert options["max_length"] < 3
    else:
        same(found, expected)


@examples(80)
@needs_shared
@pytest.mark.parametrize("name", thinned(VOCABULARIES, 4))
@given(given=inputs(), options=OPTIONS)
def test_calls_are_those_of_the_reference(name: str, given: tuple[Any, Any, bool], options: dict[str, Any]) -> None:
    """A call gives what the reference gives, for any combination of arguments."""
    compare(name, given, options)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
@settings(max_examples=200)
@given(given=inputs(), options=OPTIONS)
def test_many_calls_are_those_of_the_reference(name: str, given: tuple[Any, Any, bool], options: dict[str, Any]) -> None:
    """The same, thousands of times."""
    compare(name, given, options)


def edited(name: str, **parts: Any) -> dict[str, Any]:
    """Read a tokenizer.json, with other parts."""
    source: dict[str, Any] = json.loads((SHARED / "vocab" / name / "tokenizer.json").read_text(encoding="utf-8"))
    return {**source, **parts}


SPECIAL_TOKENS = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in (("[CLS]", 101), ("[SEP]", 102))}


def pieces(template: str) -> list[dict[str, Any]]:
    """Write a template as JSON has it, from such as "[CLS]:0 A:0"."""
    found = (piece.split(":") for piece in template.split())
    return [{"Sequence" if name in "AB" else "SpecialToken": {"id": name, "type_id": int(number)}} for name, number in found]


POST_PROCESSORS = {
    "none": None,
    "BertProcessing": {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]},
    "RobertaProcessing": {
        "type": "RobertaProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101], "trim_offsets": True, "add_prefix_space": False,
    },
    "second text first": {
        "type": "TemplateProcessing",
        "single": pieces("A:0 [SEP]:0"),
        "pair": pieces("[CLS]:3 B:1 [SEP]:1 [SEP]:0 A:0"),
        "special_tokens": SPECIAL_TOKENS,
    },
}


@needs_shared
@pytest.mark.parametrize("post_processor", thinned(POST_PROCESSORS, 2))
def test_windows_of_pairs_are_those_of_the_reference_in_any_template(post_processor: str, tmp_path: Any) -> None:
    """The text that stands first has the outer windows, and every window has the special tokens of its template."""
    transformers = pytest.importorskip("transformers", reason="the reference")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(edited("bert-base-uncased", post_processor=POST_PROCESSORS[post_processor])), encoding="utf-8")
    reference = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), pad_token="[PAD]")
    tokenizer = fst.Tokenizer(wordpiece(path))
    for special, side, size, stride in ((True, "right", 11, 1), (True, "left", 12, 2), (False, "right", 7, 0), (False, "left", 8, 1)):
        if post_processor == "RobertaProcessing" and not special:
            continue  # the reference forgets the type ids of all windows but the first
        reference.truncation_side = side
        options: dict[str, Any] = {
            "add_special_tokens": special, "max_length": size, "stride": stride, "truncation": True, "padding": True,
            "return_overflowing_tokens": True, "return_token_type_ids": True, "return_offsets_mapping": True,
        }
        for text, pair in (("a b c d e f g h i j k", None), ("a b c d e f g", "h i j k l m n o"), ("a b c d e f g h", "i j k")):
            same(tokenizer(text, pair, truncation_side=side, **options), reference(text, pair, **options))


@needs_shared
@pytest.mark.parametrize("text", ["word " * 600, "a"])
def test_the_longest_input_of_the_model_is_the_default(text: str) -> None:
    """Without max_length, truncation and padding go by what the model takes."""
    for options in ({"truncation": True}, {"padding": "max_length"}, {"truncation": True, "padding": "max_length"}, {}):
        same(ours("bert-base-uncased")(text, **options), theirs("bert-base-uncased")(text, **options))


@needs_shared
def test_sides_and_the_padding_token_are_those_of_the_source(tmp_path: Any) -> None:
    """Where the source truncates or pads on the left, or with another token, that is the default; that it does, is not."""
    transformers = pytest.importorskip("transformers", reason="the reference")
    truncation = {"direction": "Left", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    padding: dict[str, Any] = {"direction": "Left", "strategy": "BatchLongest", "pad_to_multiple_of": None}
    padding = {**padding, "pad_id": 103, "pad_type_id": 0, "pad_token": "[MASK]"}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(edited("bert-base-uncased", truncation=truncation, padding=padding)), encoding="utf-8")
    reference = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    tokenizer = fst.Tokenizer(wordpiece(path))
    for options in ({}, {"padding": True}, {"max_length": 4}, {"padding": True, "padding_side": "right"}):
        given: dict[str, Any] = {"return_token_type_ids": True, **options}
        same(tokenizer(["a b c", "d e f g"], **given), reference(["a b c", "d e f g"], **given))


# Each rule by itself.


def tok(**more: Any) -> fst.Tokenizer:
    """Make a tokenizer of a few letters: a is 5, b is 6, and so on."""
    tables = wordpiece(TOKENS)
    return fst.Tokenizer(replace(tables, about={**tables.about, **more}))


def ids(*arguments: Any, **options: Any) -> Any:
    """Tell the ids of a call."""
    return tok()(*arguments, **options)["input_ids"]


def test_members_are_what_a_model_takes() -> None:
    """Without being asked, a call gives ids, type ids and the mask, in this order."""
    assert dict(tok()("a b")) == {"input_ids": [2, 5, 6, 3], "token_type_ids": [0, 0, 0, 0], "attention_mask": [1, 1, 1, 1]}


def test_each_member_can_be_asked_for() -> None:
    """The keys of a result have the order of the reference for all options."""
    found = tok()(
        ["a", "a b"], padding=True, return_length=True, return_offsets_mapping=True, return_special_tokens_mask=True,
        return_attention_mask=False, return_overflowing_tokens=True,
    )
    assert dict(found) == {
        "input_ids": [[2, 5, 3, 0], [2, 5, 6, 3]],
        "token_type_ids": [[0] * 4, [0] * 4],
        "special_tokens_mask": [[1, 0, 1, 1], [1, 0, 0, 1]],
        "offset_mapping": [[(0, 0), (0, 1), (0, 0), (0, 0)], [(0, 0), (0, 1), (2, 3), (0, 0)]],
        "length": [4, 4],
        "overflow_to_sample_mapping": [0, 1],
    }
    assert list(found) == list(dict(found))


def test_one_text_gives_one_row() -> None:
    """One text gives lists of numbers, a batch lists of lists, arrays always have an axis for rows."""
    assert ids("a") == [2, 5, 3]
    assert ids(["a"]) == [[2, 5, 3]]
    assert ids("a", return_tensors="np").tolist() == [[2, 5, 3]]
    assert ids("a", return_overflowing_tokens=True) == [[2, 5, 3]]


def test_the_second_text_has_type_1() -> None:
    """A pair is two texts in one row."""
    found = tok()("a b", "c")
    assert found["input_ids"] == [2, 5, 6, 3, 7, 3]
    assert found["token_type_ids"] == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("given", [(["a", "b"], ["c", ""]), ([("a", "c"), ["b", ""]],), ((("a", "c"), ("b", "")),)])
def test_pairs_come_in_two_lists_or_in_one(given: tuple[Any, ...]) -> None:
    """Second texts come as a second argument, or in tuples with the first ones."""
    assert ids(*given) == [[2, 5, 3, 7, 3], [2, 6, 3, 3]]


def test_a_batch_may_mix_texts_and_pairs() -> None:
    """Each sample of a batch is a text or a pair."""
    assert ids(["a", ("b", "c"), "d"]) == [[2, 5, 3], [2, 6, 3, 7, 3], [2, 8, 3]]


def test_one_empty_second_text_is_none() -> None:
    """A single text with an empty second one is not a pair, as in the reference."""
    assert ids("a", "") == ids("a")


def test_words_are_texts_in_parts() -> None:
    """Texts may come split; their words are numbered as they come."""
    found = tok()(["a b", "", "cx"], is_split_into_words=True, return_offsets_mapping=True)
    assert found["input_ids"] == [2, 5, 6, 7, 13, 3]
    assert found.word_ids() == [None, 0, 0, 2, 2, None]
    assert found["offset_mapping"] == [(0, 0), (0, 1), (2, 3), (0, 1), (1, 2), (0, 0)]
    assert ids([["a"], []], [["b", "c"], ["d"]], is_split_into_words=True) == [[2, 5, 3, 6, 7, 3], [2, 3, 8, 3]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"padding": True}, [[2, 5, 3, 0, 0], [2, 5, 6, 7, 3]]),
        ({"padding": "longest", "pad_to_multiple_of": 4}, [[2, 5, 3, 0, 0, 0, 0, 0], [2, 5, 6, 7, 3, 0, 0, 0]]),
        ({"padding": True, "padding_side": "left"}, [[0, 0, 2, 5, 3], [2, 5, 6, 7, 3]]),
        ({"padding": "max_length", "max_length": 4}, [[2, 5, 3, 0], [2, 5, 6, 7, 3]]),
        ({"padding": "max_length", "max_length": 4, "truncation": True}, [[2, 5, 3, 0], [2, 5, 6, 3]]),
        ({"padding": "max_length"}, [[2, 5, 3], [2, 5, 6, 7, 3]]),
        ({"padding": "do_not_pad", "pad_to_multiple_of": 4}, [[2, 5, 3], [2, 5, 6, 7, 3]]),
        ({"padding": True, "max_length": 4}, [[2, 5, 3, 0, 0], [2, 5, 6, 7, 3]]),
    ],
)
def test_padding(options: dict[str, Any], expected: list[list[int]]) -> None:
    """Rows are padded to the longest, or to max_length, to a multiple, on a side; max_length alone does not truncate what is padded."""
    assert ids(["a", "a b c"], **options) == expected


def test_padding_is_masked() -> None:
    """Padding has attention 0 and type 0, and counts as special."""
    found = tok()([("a", "b"), "c"], padding=True, return_special_tokens_mask=True)
    assert found["attention_mask"][1] == [1, 1, 1, 0, 0]
    assert found["token_type_ids"][1] == [0] * 5
    assert found["special_tokens_mask"][1] == [1, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"max_length": 4}, [2, 5, 6, 3]),
        ({"max_length": 4, "truncation": False}, [2, 5, 6, 7, 8, 3]),
        ({"max_length": 4, "truncation": "do_not_truncate"}, [2, 5, 6, 7, 8, 3]),
        ({"max_length": 4, "truncation_side": "left"}, [2, 7, 8, 3]),
        ({"max_length": 3, "add_special_tokens": False}, [5, 6, 7]),
        ({"max_length": 2}, [2, 3]),
        ({"truncation": True}, [2, 5, 6, 7, 8, 3]),
    ],
)
def test_truncation(options: dict[str, Any], expected: list[int]) -> None:
    """A text is cut so that it fits with its special tokens; where nothing says how much fits, it is left."""
    assert ids("a b c d", **options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"truncation": "longest_first", "max_length": 8}, [2, 5, 6, 7, 3, 9, 10, 3]),
        ({"truncation": "longest_first", "max_length": 7}, [2, 5, 6, 3, 9, 10, 3]),
        ({"truncation": "only_first", "max_length": 7}, [2, 5, 6, 3, 9, 10, 3]),
        ({"truncation": "only_second", "max_length": 8}, [2, 5, 6, 7, 8, 3, 9, 3]),
    ],
)
def test_truncation_of_pairs(options: dict[str, Any], expected: list[int]) -> None:
    """The strategy says from which text of a pair ids are taken."""
    assert ids("a b c d", "e f", **options) == expected


def test_windows_overlap_and_say_whose_they_are() -> None:
    """With return_overflowing_tokens, what is cut off is in further rows, each with the last ids of the one before."""
    found = tok()(["a", "a b c d e"], max_length=5, stride=1, return_overflowing_tokens=True)
    assert found["input_ids"] == [[2, 5, 3], [2, 5, 6, 7, 3], [2, 7, 8, 9, 3]]
    assert found["overflow_to_sample_mapping"] == [0, 1, 1]


def test_windows_from_the_left() -> None:
    """Where ids are cut off on the left, windows go from the end to the beginning."""
    found = ids("a b c d e", max_length=5, stride=1, truncation_side="left", return_overflowing_tokens=True)
    assert found == [[2, 7, 8, 9, 3], [2, 5, 6, 7, 3]]


def test_windows_of_both_texts_are_combined() -> None:
    """Windows of a pair: each of the first text with all of the second, then the first one with the others of the second."""
    found = ids("a b c", "d e f", truncation=True, max_length=4, add_special_tokens=False, return_overflowing_tokens=True)
    assert found == [[5, 6, 8, 9], [7, 8, 9], [7, 10], [5, 6, 10]]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("a b",), {"max_length": 1}, "max_length=1 is less than the 2 special tokens"),
        (("a", "b"), {"max_length": 2, "truncation": True}, "max_length=2 is less than the 3 special tokens"),
        (("a b",), {"max_length": -1}, "max_length=-1 is below 0"),
        (("a b",), {"max_length": 2.0}, "max_length=2.0 is no whole number"),
        (("a b c",), {"max_length": 4, "stride": 2}, "stride=2: row 0 has 3 ids"),
        (("a b c",), {"max_length": 4, "stride": 3}, "stride=3: with max_length=4 a row has 2 ids of a text"),
        (("a b c",), {"max_length": 4, "stride": -1}, "stride=-1 is below 0"),
        (("a b c",), {"max_length": 4, "truncation": "only_second"}, "row 0 has 3 ids, and there is room for 2, but there is no second"),
        ((["a", "b"], ["c", "d e f"]), {"max_length": 6, "truncation": "only_first"}, "row 1 has 1 and 3 ids, and there is room for 3"),
        (("a",), {"truncation": "first"}, "truncation='first': there are"),
        (("a",), {"padding": None}, "padding=None: there are"),
        (("a",), {"padding_side": "up"}, "padding_side='up': there are"),
        (("a",), {"truncation_side": "up"}, "truncation_side='up': there are"),
        (("a",), {"return_tensors": "tf"}, "return_tensors='tf': there are 'np', 'pt'"),
        (("a",), {"max_length": 9, "truncation": True, "padding": True, "pad_to_multiple_of": 4}, "max_length=9 is no multiple"),
        (("a",), {"padding": True, "pad_to_multiple_of": -4}, "pad_to_multiple_of=-4 is below 0"),
        ((["a"], "b"), {}, "text_pair must be a list of as many; it is str"),
        ((["a"], ["b", "c"]), {}, "text is a list of 1, so text_pair must be a list of as many; it is a list of 2"),
    ],
)
def test_refusals(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    """Arguments that contradict each other are refused, and the message says which."""
    with pytest.raises(ValueError, match=message):
        tok()(*arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((5,), {}, "row 0 must be a str, or a pair of them, and is int: 5"),
        ((b"a",), {}, "row 0 must be a str, or a pair of them, and is bytes"),
        ((["a", None],), {}, "row 1 must be a str"),
        ((["a", ["b"]],), {}, "row 1 must be a str, or a pair of them, and is list"),
        (("a", ["b"]), {}, "row 0 must be a str, or a pair of them, and is tuple"),
        (("a b",), {"is_split_into_words": True}, "row 0 must be a list of words, or a pair of such lists, and is str"),
        ((["a\ud800"],), {}, "row 0, position 1: a lone surrogate"),
        ((["a", "b"], ["c", "de\udc00"]), {}, "row 1, position 2: a lone surrogate"),
        (([["a", "b", "c"], ["d", "\ud800"]],), {"is_split_into_words": True}, "row 1, position 0: a lone surrogate"),
    ],
)
def test_what_is_not_text_is_refused(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    """An input that is not text is refused, and the message says where it is."""
    with pytest.raises(fst.TextError, match=message):
        tok()(*arguments, **options)


def test_padding_needs_a_token() -> None:
    """Without a token for padding nothing is padded."""
    tokenizer = fst.Tokenizer(wordpiece(["[UNK]", "a"]))
    assert tokenizer(["a"])["input_ids"] == [[1]]
    with pytest.raises(ValueError, match="padding=True: the vocabulary's source names no token for it"):
        tokenizer(["a"], padding=True)


def test_no_texts_give_no_rows() -> None:
    """An empty batch, on which the reference fails, gives empty members."""
    assert dict(tok()([], padding=True)) == {"input_ids": [], "token_type_ids": [], "attention_mask": []}
    assert ids([], return_tensors="np").shape == (0, 0)


def test_arrays_are_int64_and_in_one_piece() -> None:
    """Arrays are those that were filled: contiguous, int64, and a model's library takes them without a copy."""
    found = tok()(["a b", "c"], padding=True, return_tensors="np")
    for array in found.values():
        assert (array.dtype, array.shape, array.flags.c_contiguous, array.flags.writeable) == (np.int64, (2, 4), True, True)


def test_tensors_have_the_memory_of_arrays() -> None:
    """PyTorch's tensors are int64, and nothing is copied for them."""
    torch = pytest.importorskip("torch", reason="tensors")
    found = tok()(["a b", "c"], padding=True, return_tensors="pt")
    assert all(value.dtype == torch.int64 and value.is_contiguous() for value in found.values())
    memory = {value.untyped_storage().data_ptr() for value in found.values()}
    assert len(memory) == 1
    again = tok()(["a b", "c"], padding=True, return_tensors="np").convert_to_tensors("pt")
    assert all(torch.equal(again[name], found[name]) for name in found)
    assert again.to("cpu") is again


def test_rows_of_different_lengths_are_arrays_of_arrays() -> None:
    """Without padding, "np" gives an array of rows, and "pt" has nothing to give."""
    found = ids(["a", "b c"], return_tensors="np")
    assert found.dtype == object
    assert [row.tolist() for row in found] == [[2, 5, 3], [2, 6, 7, 3]]
    pytest.importorskip("torch", reason="tensors")
    with pytest.raises(ValueError, match="the rows of 'input_ids' are not of one length"):
        ids(["a", "b c"], return_tensors="pt")


def test_enumerations_count_by_their_value() -> None:
    """An enumeration's member stands for its value."""
    names = Enum("names", {"LONGEST": "longest", "ONLY_FIRST": "only_first", "NUMPY": "np"})
    found = tok()(["a", "a b c"], padding=names.LONGEST, truncation=names.ONLY_FIRST, max_length=4, return_tensors=names.NUMPY)
    assert found["input_ids"].tolist() == [[2, 5, 3, 0], [2, 5, 6, 3]]


def test_the_result_is_a_dictionary_with_attributes() -> None:
    """Members are keys and attributes, and may be taken out and added."""
    found = tok()("a")
    assert found.input_ids is found["input_ids"]
    assert list(found) == list(found.keys()) == ["input_ids", "token_type_ids", "attention_mask"]
    assert len(found) == 3
    assert "input_ids" in found
    assert not hasattr(found, "labels")
    found["labels"] = [1]
    assert found.pop("attention_mask") == [1, 1, 1]
    assert {**found} == {"input_ids": [2, 5, 3], "token_type_ids": [0, 0, 0], "labels": [1]}
    with pytest.raises(KeyError, match="attention_mask"):
        found["attention_mask"]


def test_tokens_can_be_traced() -> None:
    """Which token stands for which characters and words is known without having been asked for."""
    found = tok()([("a cx", "b"), "d"], padding=True)
    assert (found.is_fast, found.n_sequences, len(found.encodings), len(found[0])) == (True, 2, 2, 7)
    assert found.tokens() == ["[CLS]", "a", "c", "##x", "[SEP]", "b", "[SEP]"]
    assert found.word_ids() == [None, 0, 1, 1, None, 0, None]
    assert found.sequence_ids(1) == [None, 0, None, None, None, None, None]
    assert found.char_to_token(0, 3) == 3
    assert found.char_to_token(0, 1) is None
    assert found.char_to_word(0, 3) == 1
    span = found.token_to_chars(0, 3)
    assert span
    assert (span.start, span.end) == span == (3, 4)
    assert found.token_to_word(0, 5) == 0
    assert found.token_to_sequence(0, 5) == 1
    assert found.word_to_tokens(0, 1) == (2, 4)
    assert found.word_to_chars(0, 1) == (2, 4)
    assert found.word_to_tokens(0, 0, sequence_index=1) == (5, 6)
    assert tok()("a cx").char_to_token(2) == 2
    assert found.char_to_token(1, 0, sequence_index=1) is not None


def test_a_pickle_has_members_alone() -> None:
    """Members go into a pickle; texts, and the tokenizer, do not."""
    found = pickle.loads(pickle.dumps(tok()(["a"], return_tensors="np")))
    assert found["input_ids"].tolist() == [[2, 5, 3]]
    with pytest.raises(ValueError, match="do not go into a pickle"):
        found.tokens()


def test_nothing_sticks() -> None:
    """The options of a call do not outlast it."""
    tokenizer = tok()
    before = tokenizer("a b c d")["input_ids"]
    tokenizer("a b c d", max_length=3, padding="max_length", truncation_side="left")
    assert tokenizer("a b c d")["input_ids"] == before


def test_threads_ask_for_different_things() -> None:
    """64 threads that share a tokenizer, each with a length of its own, get what each gets alone."""
    tokenizer = tok()
    text = ["a b c d e f g h " * 12, "a b c " * 30] * 4

    def call(size: int) -> list[list[int]]:
        rows = tokenizer(text, truncation=True, padding="max_length", max_length=size, return_tensors="np")["input_ids"]
        found: list[list[int]] = rows.tolist()
        return found

    alone = [call(size) for size in range(3, 67)]
    with ThreadPoolExecutor(64) as pool:
        for _ in range(5):
            assert list(pool.map(call, range(3, 67))) == alone


@pytest.mark.parametrize("side", ["left", "right"])
def test_long_texts_are_cut_where_short_ones_are(side: str) -> None:
    """A truncated text has the ids that it has when the whole text is read."""
    text = " ".join("abcdefgh"[place % 7] for place in range(50_000))
    whole = tok()(text, add_special_tokens=False)["input_ids"]
    for size in (3, 130):
        kept = whole[: size - 2] if side == "right" else whole[2 - size :]
        assert ids([text, "a"], truncation=True, max_length=size, truncation_side=side) == [[2, *kept, 3], [2, 5, 3]]


@pytest.mark.parametrize("count", [1, 100, 3000])
def test_many_texts_are_as_each_alone(count: int) -> None:
    """A batch of any size gives the rows that its texts give one by one."""
    tokenizer = tok()
    texts = [" ".join("abcdefgh"[: number % 9]) + "\U0001d538" * (number % 500 == 250) for number in range(count)]
    assert tokenizer(texts)["input_ids"] == [tokenizer.encode(text).tolist() for text in texts]
