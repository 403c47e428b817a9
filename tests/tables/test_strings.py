"""Strings in two arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fst.automata.rows import Array
from fst.errors import TableError
from fst.tables.strings import enclosed, equal_to, opened, order_of, prove_strings, stored, stored_bytes, taken

LONG = ["a" * 8, "a" * 9, "a" * 23 + "b", "a" * 24, "a" * 24 + "é", "a" * 24 + "\0"]
FEW = st.lists(st.text("ab\0é世", max_size=4) | st.sampled_from(LONG), max_size=40)


def listed(data: Array, ends: Array) -> list[bytes]:
    """The strings in two arrays."""
    return [data.tobytes()[begin:end] for begin, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)]


def test_ends_far_apart_are_refused() -> None:
    """Ends whose differences are too large for int64 are refused."""
    with pytest.raises(TableError, match="number 1 of the words ends before it begins"):
        prove_strings(np.zeros(5, np.uint8), np.array([(1 << 63) - 1, -2, 5]), 3, "words")


@given(FEW)
def test_order(strings: list[str]) -> None:
    """Strings are sorted by bytes, equal strings by index; the first of equal strings is marked."""
    contents = [string.encode() for string in strings]
    order, begins = order_of(*stored_bytes(contents))
    assert order.tolist() == sorted(range(len(contents)), key=contents.__getitem__)
    in_order = [contents[number] for number in order]
    assert begins.tolist() == [int(not place or in_order[place - 1] != content) for place, content in enumerate(in_order)]


@given(FEW, st.lists(st.integers(0, 39), max_size=40))
def test_taken(strings: list[str], drawn: list[int]) -> None:
    """Strings are taken in any order, any number of times."""
    contents = [string.encode() for string in strings]
    chosen = [number for number in drawn if number < len(contents)]
    assert listed(*taken(*stored_bytes(contents), np.array(chosen, np.int64))) == [contents[number] for number in chosen]


@given(FEW)
def test_equal_strings(strings: list[str]) -> None:
    """The strings that are equal to one are found."""
    for wanted in {*strings, "", "b", "éa"}:
        expected = [number for number, string in enumerate(strings) if string == wanted]
        assert equal_to(wanted.encode(), *stored(strings)).tolist() == expected


@given(FEW)
def test_enclosed_strings(strings: list[str]) -> None:
    """A change of enclosed strings changes each string alone."""
    changed = enclosed(*stored(strings)).replace(b"ab", b"").replace(b"a", "世".encode())
    assert listed(*opened(changed)) == [string.replace("ab", "").replace("a", "世").encode() for string in strings]
