"""Calls of a tokenizer: each argument and each result follows one rule."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from typing import Any

import numpy as np
import pytest
from support.kept import wordpiece
from support.runtime.calls import ids, tok

import fst


def test_members_are_what_a_model_takes() -> None:
    """By default, a call returns input_ids, token_type_ids and attention_mask, in this order."""
    assert dict(tok()("a b")) == {"input_ids": [2, 5, 6, 3], "token_type_ids": [0, 0, 0, 0], "attention_mask": [1, 1, 1, 1]}


def test_each_member_can_be_asked_for() -> None:
    """With every option, the keys of a result are in the same order as in `transformers`."""
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
    """One text gives lists of numbers, a batch gives lists of lists, and arrays always have an axis for rows."""
    assert ids("a") == [2, 5, 3]
    assert ids(["a"]) == [[2, 5, 3]]
    assert ids("a", return_tensors="np").tolist() == [[2, 5, 3]]
    assert ids("a", return_overflowing_tokens=True) == [[2, 5, 3]]


def test_the_second_text_has_type_1() -> None:
    """A pair gives one row of ids, in which the ids of the second text have the type 1."""
    found = tok()("a b", "c")
    assert found["input_ids"] == [2, 5, 6, 3, 7, 3]
    assert found["token_type_ids"] == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("given", [(["a", "b"], ["c", ""]), ([("a", "c"), ["b", ""]],), ((("a", "c"), ("b", "")),)])
def test_pairs_come_in_two_lists_or_in_one(given: tuple[Any, ...]) -> None:
    """Pairs are passed as two lists, or as one list of tuples of a first and a second text."""
    assert ids(*given) == [[2, 5, 3, 7, 3], [2, 6, 3, 3]]


def test_a_batch_may_mix_texts_and_pairs() -> None:
    """A batch may contain both texts and pairs."""
    assert ids(["a", ("b", "c"), "d"]) == [[2, 5, 3], [2, 6, 3, 7, 3], [2, 8, 3]]


def test_one_empty_second_text_is_none() -> None:
    """A single text with an empty second text is not a pair, as in `transformers`."""
    assert ids("a", "") == ids("a")


def test_words_are_texts_in_parts() -> None:
    """With `is_split_into_words`, a text is a list of words, and the word number of a token is the position of its word in the list."""
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
    """Rows are padded on either side, to the longest row, to `max_length` or to a multiple; with padding alone, `max_length` does not
    truncate.
    """
    assert ids(["a", "a b c"], **options) == expected


def test_padding_is_masked() -> None:
    """Padding has attention 0 and type 0, and the special tokens mask is 1."""
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
    """With `max_length`, a text is truncated so that the row with its special tokens has at most this length."""
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
    """The truncation strategy determines which text of a pair loses ids."""
    assert ids("a b c d", "e f", **options) == expected


def test_windows_overlap_and_say_whose_they_are() -> None:
    """With `return_overflowing_tokens`, truncated ids follow in more rows, and each row begins with the last `stride` ids of the previous
    row.
    """
    found = tok()(["a", "a b c d e"], max_length=5, stride=1, return_overflowing_tokens=True)
    assert found["input_ids"] == [[2, 5, 3], [2, 5, 6, 7, 3], [2, 7, 8, 9, 3]]
    assert found["overflow_to_sample_mapping"] == [0, 1, 1]


def test_windows_from_the_left() -> None:
    """With truncation on the left, windows begin at the end of the text."""
    found = ids("a b c d e", max_length=5, stride=1, truncation_side="left", return_overflowing_tokens=True)
    assert found == [[2, 7, 8, 9, 3], [2, 5, 6, 7, 3]]


def test_windows_of_both_texts_are_combined() -> None:
    """Windows of a pair: first each window of the first text with the second, then the first window with the rest of the second text."""
    found = ids("a b c", "d e f", truncation=True, max_length=4, add_special_tokens=False, return_overflowing_tokens=True)
    assert found == [[5, 6, 8, 9], [7, 8, 9], [7, 10], [5, 6, 10]]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("a b",), {"max_length": 1}, "max_length is 1; expected at least 2, the number of special tokens"),
        (("a", "b"), {"max_length": 2, "truncation": True}, "max_length is 2; expected at least 3"),
        (("a b",), {"max_length": -1}, "max_length is -1; expected a whole number from 0 to 9,223"),
        (("a b",), {"max_length": 2.0}, "max_length is 2.0; expected a whole number"),
        (("a b c",), {"max_length": 4, "stride": 2}, "row 0 has 3 ids; expected at most 2; stride is 2"),
        (("a b c",), {"max_length": 4, "stride": 3}, "stride is 3; expected at most 2, the number of ids of a text"),
        (("a b c",), {"max_length": 4, "stride": -1}, "stride is -1; expected a whole number from 0"),
        (("a b c",), {"max_length": 4, "truncation": "only_second"}, "at most 2; truncation is 'only_second', and the row has no second"),
        ((["a", "b"], ["c", "d e f"]), {"max_length": 6, "truncation": "only_first"}, "row 1 has 1 and 3 ids; expected at most 3; tr"),
        (("a",), {"truncation": "first"}, "truncation is 'first'; expected False, 'do_not_truncate', True"),
        (("a",), {"padding": None}, "padding is None; expected False, 'do_not_pad', True"),
        (("a",), {"padding_side": "up"}, "padding_side is 'up'; expected 'right' or 'left'"),
        (("a",), {"truncation_side": "up"}, "truncation_side is 'up'; expected 'right' or 'left'"),
        (("a",), {"return_tensors": "tf"}, "return_tensors is 'tf'; expected 'np', 'pt' or None"),
        (("a",), {"max_length": 9, "truncation": True, "padding": True, "pad_to_multiple_of": 4}, "max_length is 9; expected a multiple"),
        (("a",), {"padding": True, "pad_to_multiple_of": -4}, "pad_to_multiple_of is -4; expected a whole number from 0"),
        ((["a"], "b"), {}, "text_pair is str; expected a list of 1 text"),
        ((["a"], ["b", "c"]), {}, "text_pair is a list of 2; expected a list of 1 text, as many as in text"),
    ],
)
def test_refusals(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    """Arguments that contradict each other are refused, and the message contains their names and values."""
    with pytest.raises(ValueError, match=message):
        tok()(*arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((5,), {}, "row 0 is int, 5; expected a str, or a pair of them"),
        ((b"a",), {}, "row 0 is bytes, b'a'; expected a str"),
        ((["a", None],), {}, "row 1 is NoneType, None; expected a str"),
        ((["a", ["b"]],), {}, "row 1 is list, "),
        (("a", ["b"]), {}, "row 0 is tuple, "),
        (("a b",), {"is_split_into_words": True}, "row 0 is str, 'a b'; expected a list of words, or a pair of such lists"),
        ((["a\ud800"],), {}, "row 0, position 1: a lone surrogate"),
        ((["a", "b"], ["c", "de\udc00"]), {}, "row 1, position 2: a lone surrogate"),
        (([["a", "b", "c"], ["d", "\ud800"]],), {"is_split_into_words": True}, "row 1, position 0: a lone surrogate"),
    ],
)
def test_what_is_not_text_is_refused(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    """If an input is not text, the error contains the row, and for a lone surrogate also the position."""
    with pytest.raises(fst.TextError, match=message):
        tok()(*arguments, **options)


def test_padding_needs_a_token() -> None:
    """Padding is refused if the vocabulary has no padding token."""
    tokenizer = fst.Tokenizer(wordpiece(["[UNK]", "a"]))
    assert tokenizer(["a"])["input_ids"] == [[1]]
    with pytest.raises(ValueError, match="padding is True; expected False, because the vocabulary has no padding token"):
        tokenizer(["a"], padding=True)


def test_no_texts_give_no_rows() -> None:
    """An empty batch, for which `transformers` fails, gives empty results."""
    assert dict(tok()([], padding=True)) == {"input_ids": [], "token_type_ids": [], "attention_mask": []}
    assert ids([], return_tensors="np").shape == (0, 0)


def test_arrays_are_int64_and_in_one_piece() -> None:
    """Arrays are contiguous, writeable and int64, so a model's library accepts them without a copy."""
    found = tok()(["a b", "c"], padding=True, return_tensors="np")
    for array in found.values():
        assert (array.dtype, array.shape, array.flags.c_contiguous, array.flags.writeable) == (np.int64, (2, 4), True, True)


def test_tensors_have_the_memory_of_arrays() -> None:
    """PyTorch's tensors are int64 and share the memory of the arrays."""
    torch = pytest.importorskip("torch", reason="tensors")
    found = tok()(["a b", "c"], padding=True, return_tensors="pt")
    assert all(value.dtype == torch.int64 and value.is_contiguous() for value in found.values())
    memory = {value.untyped_storage().data_ptr() for value in found.values()}
    assert len(memory) == 1
    again = tok()(["a b", "c"], padding=True, return_tensors="np").convert_to_tensors("pt")
    assert all(torch.equal(again[name], found[name]) for name in found)
    assert again.to("cpu") is again


def test_rows_of_different_lengths_are_arrays_of_arrays() -> None:
    """For rows of different lengths, "np" gives an array of arrays, and "pt" is refused."""
    found = ids(["a", "b c"], return_tensors="np")
    assert found.dtype == object
    assert [row.tolist() for row in found] == [[2, 5, 3], [2, 6, 7, 3]]
    pytest.importorskip("torch", reason="tensors")
    with pytest.raises(ValueError, match="the rows of 'input_ids' differ in length"):
        ids(["a", "b c"], return_tensors="pt")


def test_enumerations_count_by_their_value() -> None:
    """An argument may be a member of an enumeration, and then means the same as the member's value."""
    names = Enum("names", {"LONGEST": "longest", "ONLY_FIRST": "only_first", "NUMPY": "np"})
    found = tok()(["a", "a b c"], padding=names.LONGEST, truncation=names.ONLY_FIRST, max_length=4, return_tensors=names.NUMPY)
    assert found["input_ids"].tolist() == [[2, 5, 3, 0], [2, 5, 6, 3]]


def test_the_result_is_a_dictionary_with_attributes() -> None:
    """The members of a result are both keys and attributes, and can be removed and added."""
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
    """The mapping between tokens, characters and words is available without an option."""
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
    """A pickled result contains the ids and masks, but neither the texts nor the tokenizer."""
    found = pickle.loads(pickle.dumps(tok()(["a"], return_tensors="np")))
    assert found["input_ids"].tolist() == [[2, 5, 3]]
    with pytest.raises(ValueError, match="pickles do not contain them"):
        found.tokens()


def test_nothing_sticks() -> None:
    """The options of a call do not affect later calls."""
    tokenizer = tok()
    before = tokenizer("a b c d")["input_ids"]
    tokenizer("a b c d", max_length=3, padding="max_length", truncation_side="left")
    assert tokenizer("a b c d")["input_ids"] == before


def test_threads_ask_for_different_things() -> None:
    """Threads that call one tokenizer with different lengths get the same results as without other threads."""
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
    """Truncation of a long text keeps the first or the last ids of the text without truncation."""
    text = " ".join("abcdefgh"[place % 7] for place in range(50_000))
    whole = tok()(text, add_special_tokens=False)["input_ids"]
    for size in (3, 130):
        kept = whole[: size - 2] if side == "right" else whole[2 - size :]
        assert ids([text, "a"], truncation=True, max_length=size, truncation_side=side) == [[2, *kept, 3], [2, 5, 3]]


@pytest.mark.parametrize("count", [1, 100, 3000])
def test_many_texts_are_as_each_alone(count: int) -> None:
    """A batch of any size gives the same rows as calls with its texts one by one."""
    tokenizer = tok()
    texts = [" ".join("abcdefgh"[: number % 9]) + "\U0001d538" * (number % 500 == 250) for number in range(count)]
    assert tokenizer(texts)["input_ids"] == [tokenizer.encode(text).tolist() for text in texts]
