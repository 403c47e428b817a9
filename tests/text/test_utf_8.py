"""The kernels for UTF-8 give the same bytes as Python's codec, and find malformed text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tiers import examples

from fst.errors import TextError
from fst.runtime.rows.texts import CAPACITY, MAX_GATHERED, PAST_END, Column, Limits, of_utf_8, rows_of, units

UTF_8 = np.dtype(np.uint8)
LIMITS = Limits(MAX_GATHERED, MAX_GATHERED)
# The first and last characters of each length in UTF-8, str of each width, and bytes that never occur in UTF-8.
CHARACTERS = "a\x7f\x80é\xff\u0100\u07ff\u0800世\ud7ff\ue000\uffff\U00010000\U0001f600\U0010ffff"
PIECES = ("abcdefgh", "a", "\x80", "\xc2", "\xe4\xb8", "世", "\xf0\x9f\x98", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\xff")
STRINGS = st.lists(st.one_of(st.text(st.sampled_from(CHARACTERS)), st.text(st.sampled_from("abc"), max_size=40)), min_size=1, max_size=9)


def gathered(rows: Sequence[str] | Sequence[bytes], errors: str = "strict") -> list[bytes]:
    """Return the rows as the kernel copies them to one array."""
    text, starts = rows_of(rows).gather(0, len(rows), LIMITS, np.empty(CAPACITY["utf-8"], UTF_8), errors)
    assert len(starts) == len(rows) + 1
    return [text[begin:end].tobytes() for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]


@given(rows=STRINGS)
@examples(1000)
def test_strings_are_laid_out_as_utf_8(rows: list[str]) -> None:
    """The kernel copies any str, in lists of any length, as the same bytes that Python's codec gives."""
    assert gathered(rows) == [row.encode() for row in rows]


@given(rows=STRINGS)
@examples(500)
def test_bytes_and_columns_are_copied(rows: list[str]) -> None:
    """Rows of UTF-8 bytes are copied from a list or a column."""
    encoded = [row.encode() for row in rows]
    assert gathered(encoded) == encoded
    ends = np.cumsum([0, *map(len, encoded)])
    column = Column(np.frombuffer(b"".join(encoded), UTF_8), ends)
    text, starts = column.gather(0, len(rows), LIMITS, np.empty(CAPACITY["utf-8"], UTF_8), "strict")
    assert text.tobytes() == b"".join(encoded)
    assert starts.tolist() == ends.tolist()


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12))
@examples(2000)
def test_malformed_bytes_are_found(pieces: list[str]) -> None:
    """Malformed bytes are refused at the same position as by Python's codec."""
    data = "".join(pieces).encode("latin-1", "ignore")
    text, place = np.empty(len(data) + PAST_END, UTF_8), None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        place = error.start
    if place is None:
        assert of_utf_8(np.frombuffer(data, UTF_8), np.array([0, len(data)]), text)[0].tobytes() == data
        assert gathered([data]) == [data]
    else:
        with pytest.raises(UnicodeError):
            of_utf_8(np.frombuffer(data, UTF_8), np.array([0, len(data)]), text)
        with pytest.raises(TextError, match=f"row 0, position {place}: not UTF-8"):
            gathered([data])
        assert gathered([data], "replace") == [data.decode(errors="replace").encode()]


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "世\ud800", "\U0001f600\udc00"], ids=ascii)
def test_lone_surrogates_are_refused(text: str) -> None:
    """A lone surrogate is refused, or becomes U+FFFD with errors="replace"."""
    with pytest.raises(TextError, match="a lone surrogate"):
        gathered(["a", text])
    assert gathered(["a", text], "replace")[1].decode() == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_kernels_may_read_behind_a_text() -> None:
    """The array of a text ends with padding, because kernels may read a few bytes after the text."""
    for text in ("", "a", "世" * 40):
        laid_out = units(text, UTF_8)
        assert laid_out.tobytes() == text.encode()
        base = laid_out.base
        assert isinstance(base, np.ndarray)
        assert len(base) == len(laid_out) + PAST_END
