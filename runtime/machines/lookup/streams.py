"""Texts with their analyses in Apertium's stream format, as lt-proc writes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.lookup.layout import MAX_ANALYSES, POSTBLANK, PREBLANK
from fst.runtime.machines.lookup.spelling import Strings
from fst.runtime.machines.lookup.text import SOFT_HYPHEN, Token
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import PAST_END, Bytes, Ints

SPECIAL = r"\^$@/<>[]{}"  # characters with a meaning in the format; a backslash escapes them
ESCAPED = re.compile(f"[{re.escape(SPECIAL)}]")
MARK = re.compile(r"\[\[.*?\]\]|\[(?:[^\]\\]|\\.)*\]|\\(.)", re.DOTALL)  # a superblank, or a character whose meaning a backslash removes
Blanks = Mapping[int, str]  # the position of a space → the superblank that is read as this space
NO_BLANKS: Blanks = {}
MOST_COPIES = 4  # maximum number of bytes of a word and its copy, with backslashes, per byte of the word
LETTERS = 1 << 16
UPPER = 1 << 16  # the bit of an upper-case letter in `Pieces.cases`

measure, write_streams = (Deferred("fst.runtime.machines.lookup.kernels.streams", name) for name in ("measure", "write_streams"))


class Pieces(NamedTuple):
    """The pieces of a table, and tables of characters.

    Attributes:
        data, starts: uint8[bytes] and int64[pieces + 1], the pieces.
        weights: uint64[1], 1 if a weight follows each analysis, otherwise 0.
        cases: uint32[65536], the upper case of each character; the bit `UPPER` is set for upper-case letters.
        escapes: bool[256], whether a byte is a character of `SPECIAL`.
    """

    data: Bytes
    starts: Ints
    weights: Array
    cases: Array
    escapes: Array


def stream_of(text: str, found: Iterable[Token], superblanks: Blanks = NO_BLANKS) -> str:
    """The stream of a text, from its tokens. This is the specification of the kernel, which reads no superblanks."""
    parts, before = list[str](), 0
    for token in found:
        word = escaped(text[token.start : token.end])
        analyses = "/".join(token.analyses) if token.section else f"*{word}"
        blanks = (" " if token.section == PREBLANK else ""), (" " if token.section == POSTBLANK else "")
        inside = [superblanks[place] for place in range(token.start, token.end) if place in superblanks]
        parts += _between(text, before, token.start, superblanks), f"{blanks[0]}^{word}/{analyses}$", *inside, blanks[1]
        before = token.end
    return "".join([*parts, _between(text, before, len(text), superblanks)])


def _between(text: str, start: int, end: int, superblanks: Blanks) -> str:
    """The stream of characters that belong to no token."""
    if not superblanks:
        return escaped(text[start:end])
    return "".join([superblanks.get(place) or escaped(text[place]) for place in range(start, end)])


def parsed_rows(texts: Sequence[str]) -> tuple[list[str], dict[int, Blanks]]:
    """Read texts of a deformatter.

    Returns:
        The texts, with a space for each superblank; and the superblanks of each row that has superblanks.
    """
    rows = [_parsed(text) for text in texts]
    return [text for text, _ in rows], {row: blanks for row, (_, blanks) in enumerate(rows) if blanks}


def _parsed(text: str) -> tuple[str, Blanks]:
    """Read a text of a deformatter; return the text, and its superblanks, by the position of the space in place of each."""
    plain, blanks, before = "", dict[int, str](), 0
    for mark in MARK.finditer(text):
        plain += text[before : mark.start()].replace(SOFT_HYPHEN, "")
        if mark[1] is None:
            blanks[len(plain)] = mark[0]
        plain += " " if mark[1] is None else mark[1].replace(SOFT_HYPHEN, "")
        before = mark.end()
    return plain + text[before:].replace(SOFT_HYPHEN, ""), blanks


def streams(texts: Sequence[str], batch: Batch, data: Strings, *, weighted: bool) -> list[str]:
    """The streams of texts, from their tokens and the pieces of the table; `weighted`: whether a weight follows each analysis."""
    pieces = Pieces(*data, np.array([weighted], np.uint64), _cases(), escapes())
    rows = [text.encode() for text in texts]
    text, starts = np.frombuffer(b"".join(rows), np.uint8), np.cumsum([0, *map(len, rows)])
    size, longest = measure.call(batch.ids, pieces)
    scratch, begins = np.empty(longest + PAST_END, np.uint8), np.empty(MAX_ANALYSES + 2, np.int64)
    out, ends = np.empty(MOST_COPIES * len(text) + size + PAST_END, np.uint8), np.empty(len(rows), np.int64)
    write_streams.call(batch.ids, batch.row_splits, text, starts, pieces, scratch, begins, out, ends)
    written = out[: ends.max(initial=0)].tobytes()
    return [written[start:end].decode() for start, end in pairwise([0, *ends.tolist()])]


@cache
def _cases() -> Array:
    """See `Pieces.cases`."""
    cases = np.arange(LETTERS, dtype=np.uint32)
    for code in range(LETTERS):
        upper = chr(code).upper()
        if len(upper) == 1 and ord(upper) < LETTERS:
            cases[code] = ord(upper)
        cases[code] |= UPPER * chr(code).isupper()
    return cases


@cache
def escapes() -> Array:
    """See `Pieces.escapes`."""
    found = np.zeros(256, np.bool_)
    found[[*SPECIAL.encode()]] = True
    return found


def escaped(text: str) -> str:
    """A text with a backslash before each character that has a meaning in the format."""
    return ESCAPED.sub(r"\\\g<0>", text)
