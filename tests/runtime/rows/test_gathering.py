"""Gathering writes texts of any types and lengths one after the other into a buffer."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tiers import examples

import fst
from fst.runtime.rows import batch as batches
from fst.runtime.rows.texts import CAPACITY, MAX_GATHERED, UTF_16, Limits
from fst.runtime.rows.texts import rows_of as batch_rows

UNWRITTEN = 0xD8D8
CHARACTERS = ("a", "z", "\0", "é", "\xff", "\u0100", "世", "\ue000", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff")
SIZES = (0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200)


def fitting(lengths: list[int], limits: Limits) -> int:
    """The number of rows that fit the limits."""
    found = 0
    while found < len(lengths) and sum(lengths[: found + 1]) <= limits.total and lengths[found] <= limits.longest:
        found += 1
    return found if found >= limits.least else 0


def check_gathered(rows: list[Any], limits: Limits, errors: str = "strict") -> None:
    """Gather rows, and check that the buffer contains the first rows that fit the limits, in UTF-16."""
    texts = [row if isinstance(row, str) else row.decode() for row in rows]
    taken = texts[: fitting(list(map(len, rows)), limits)]
    units = np.full(CAPACITY["utf-16"], UNWRITTEN, np.uint16)
    text, starts = batch_rows(rows).gather(0, len(rows), limits, units, errors)
    assert text.tobytes() == "".join(taken).encode(UTF_16)
    assert starts.tolist() == [len("".join(taken[:row]).encode(UTF_16)) // 2 for row in range(len(taken) + 1)]
    assert (text.dtype.name, starts.dtype.name) == ("uint16", "int64")
    if isinstance(rows[0], str):
        assert np.all(units[len(text) :] == UNWRITTEN)


@examples(400)
@given(
    rows=st.lists(
        st.text(max_size=8) | st.builds(str.__mul__, st.sampled_from(CHARACTERS), st.sampled_from(SIZES)), min_size=1, max_size=9
    ),
    limits=st.builds(
        Limits, st.sampled_from([0, 1, 33, 64, 100, MAX_GATHERED]), st.sampled_from([0, 16, 33, 64, MAX_GATHERED]), st.integers(1, 4)
    ),
    kind=st.sampled_from([str, bytes]),
)
def test_rows_are_laid_out_one_after_the_other(rows: list[str], limits: Limits, kind: type) -> None:
    """Rows are gathered as UTF-16 up to the limits, and nothing is written after rows of str."""
    check_gathered(rows if kind is str else [row.encode() for row in rows], limits)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", [str, bytes], ids=["str", "bytes"])
@pytest.mark.parametrize("last", CHARACTERS, ids=ascii)
def test_rows_of_all_lengths_and_kinds_are_laid_out(last: str, kind: type) -> None:
    """A row of any length is gathered completely, whatever the position of the character with the highest code point."""
    rows = [("ab世é"[number % 4 :: 4] * size)[:size] + last * more for size in range(70) for number in range(4) for more in (0, 1)]
    check_gathered(rows if kind is str else [row.encode() for row in rows], Limits(MAX_GATHERED, MAX_GATHERED))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("wrong", [None, 3, b"", [], "\ud800", "\udfff\U0001f600", "a" * 40 + "\udc00"], ids=ascii)
@pytest.mark.parametrize("others", ["a", "é", "世", "\U0001f600", ""], ids=ascii)
def test_row_that_is_no_text_is_named_among_rows_of_any_kind(others: str, wrong: Any, tokenizer: fst.Tokenizer) -> None:
    """The error for a row that is not str, or that has a lone surrogate, contains its number, whatever the other rows contain."""
    for row in range(40):
        rows = [others * number for number in range(40)]
        rows[row] = wrong
        is_bytes = row == 0 and isinstance(wrong, bytes)  # if the first row is bytes, rows of str are errors
        named = "row 1 is str" if is_bytes else f"row {row} is {type(wrong).__name__}|row {row}, position \\d+: a lone surrogate"
        with pytest.raises(fst.TextError, match=named):
            tokenizer.encode_batch(rows)


class Liar(str):
    """A subclass of str whose methods return another text."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1 << 40

    def __str__(self) -> str:
        return "another"

    def __getitem__(self, _place: Any) -> str:
        return "another"

    __hash__ = str.__hash__


class Swindler(list[str]):
    """A subclass of list whose slices have more rows."""

    def __getitem__(self, _place: Any) -> Any:
        return ["ab"] * 5000


@pytest.mark.parametrize("times", [1, 100, 300_000])
def test_texts_are_what_they_are_whatever_they_say(times: int, tokenizer: fst.Tokenizer) -> None:
    """Ids follow the characters stored in a str and the rows stored in a list, not the methods of a subclass."""
    plain = "ab " * times
    expected = tokenizer.encode(plain).tolist()
    assert tokenizer.encode(Liar(plain)).tolist() == expected
    for threads in (1, 2):
        assert [row.tolist() for row in tokenizer.encode_batch([Liar(plain), "", Liar(plain)], threads=threads)][::2] == [expected] * 2
        assert [row.tolist() for row in tokenizer.encode_batch(Swindler([plain] * 3), threads=threads)] == [expected] * 3


GATHER = """
import ast, hashlib, sys
import numpy as np
from fst.runtime.rows.texts import MAX_GATHERED, CAPACITY, Limits, rows_of
shown = []
for rows in ast.literal_eval(sys.stdin.read()):
    try:
        text, starts = rows_of(rows).gather(0, len(rows), Limits(MAX_GATHERED, 70, 2), np.empty(CAPACITY["utf-16"], np.uint16), "strict")
        shown.append((text.tolist(), starts.tolist()))
    except Exception as error:
        shown.append(str(error))
print(hashlib.sha256(repr(shown).encode()).hexdigest())
"""


@pytest.mark.slow
def test_rows_are_laid_out_without_the_compiler_as_with_it() -> None:
    """Kernels that read Python objects give the same results compiled and as plain Python."""
    rows = [[char * size, "a" * size, char, "é世"] for char in (*CHARACTERS, "\ud800") for size in (1, 31, 33, 71)]
    batches = [*rows, *([text.encode("utf-8", "surrogatepass") for text in row] for row in rows), ["a", 3], ["a", b"a"], [b"a", "a"]]
    shown = [
        subprocess.run(
            [sys.executable, "-W", "ignore:overflow encountered:RuntimeWarning", "-c", GATHER],
            input=ascii(batches), env={**os.environ, "NUMBA_DISABLE_JIT": disabled}, capture_output=True, text=True, check=True,
        ).stdout
        for disabled in "01"
    ]  # fmt: skip
    assert shown[0] == shown[1] != ""


def test_block_fits() -> None:
    """The limit for gathered text is at least the size of the largest block."""
    assert 2 * batches.BLOCK <= MAX_GATHERED
