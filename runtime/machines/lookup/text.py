"""Look-up over running text: tokens with their analyses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.core.lazy import Lazy
from fst.machines.lookup.layout import (
    END,
    END_FOLDED,
    FIRST_SECTION,
    MAX_ANALYSES,
    SECTIONS,
    SLOW,
    UNKNOWN,
    new_text_work,
)
from fst.machines.lookup.text_walk import tokens
from fst.runtime.encoder import Encoder
from fst.runtime.machines.lookup.encoder import walked, with_rows
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import MOST_UNITS, Source, replaced, whole, wrong_at
from fst.runtime.run import Kernel, Runner, capacity_for
from fst.runtime.workspace import NO_SPECIAL_IDS, Workspace, Workspaces
from fst.tables.kernel_call import SHORT

KERNEL = "fst.runtime.machines.lookup.kernels.text"
SOFT_HYPHEN = "\u00ad"  # lt-proc ignores it
TAG = re.compile("(<[^>]*>)")


class Token(NamedTuple):
    """A token of running text.

    Attributes:
        start, end: the position of the token's first character, and one past its last character.
        analyses: the analyses; empty for an unknown word.
        section: the kind of the section that accepts the token, as in `fst.compile.lookup`; None for an unknown word.
    """

    start: int
    end: int
    analyses: list[str]
    section: str | None


class TextEncoder(Encoder):
    """The encoder of running text: rows of ids, see `fst.machines.lookup.text_walk`."""

    def __init__(self, table: Any, arguments: Any, limit: int | None) -> None:
        super().__init__(table)
        self._limit = limit or MAX_ANALYSES
        self._arguments = arguments._replace(begin=table.begin(limit=self._limit))

    @Lazy
    def _workspaces(self) -> Workspaces:
        table = self._table
        short = capacity_for(table.ids_per_unit, SHORT * MOST_UNITS[table.unit], 1, NO_SPECIAL_IDS)
        return Workspaces(lambda: Workspace(new_text_work(), table.unit, short))

    @Lazy
    def _ids_runner(self) -> Runner:
        table = self._table
        kernel = Kernel(table.kind, table.unit, KERNEL, table.ids_per_unit, has_bounded_ids=False, has_tokens=False)
        return Runner(kernel, self._arguments, self._workspaces)

    def analyse(self, source: Source, threads: int | None, errors: str) -> Batch:
        """Analyse rows. Read the rows that the kernel leaves to the slow walk."""
        batch = self._encode(source, special_ids=NO_SPECIAL_IDS, threads=threads, errors=errors)
        places = np.flatnonzero(batch.ids == SLOW)
        rows = np.unique(np.searchsorted(batch.row_splits, places, "right") - 1)
        if not len(rows):
            return batch

        def walk(row: int) -> list[int]:
            return [number for token in tokens(self._table, whole(source, row, errors), limit=self._limit) for number in token]

        return with_rows(batch, rows, *walked(walk, rows.tolist()))


def without_hyphens(text: Any, errors: str) -> Any:
    """A str or bytes without soft hyphens; the same object if it has no soft hyphens or is not text."""
    has_hyphens = SOFT_HYPHEN in text if isinstance(text, str) else isinstance(text, bytes) and SOFT_HYPHEN.encode() in text
    if not has_hyphens:
        return text
    if errors == "strict" and wrong_at(text) is not None:
        return text
    bare = replaced(text).replace(SOFT_HYPHEN, "")
    return bare if isinstance(text, str) else bare.encode()


def with_hyphens(found: Iterable[Token], text: str) -> Iterator[Token]:
    """Yield the tokens of a text without its soft hyphens, with positions in `text`."""
    places = [place for place, char in enumerate(text) if char != SOFT_HYPHEN]
    return (token._replace(start=places[token.start], end=places[token.end - 1] + 1) for token in found)


def tokens_of(text: str, ids: Sequence[int], pieces: Sequence[str], *, weighted: bool) -> Iterator[Token]:
    """Yield the tokens of a text, from its ids."""
    at = 0
    while at < len(ids):
        kind, start, end = ids[at : at + 3]
        at = begin = at + 3
        analyses = list[str]()
        while at < len(ids) and ids[at] > UNKNOWN:
            if ids[at] in (END, END_FOLDED):
                written = "".join([pieces[piece] for piece in ids[begin:at]])
                written = _cased(written, text[start:end]) if ids[at] == END_FOLDED else written
                analyses += [] if written in analyses else [written]
                at += weighted
                begin = at + 1
            at += 1
        yield Token(start, end, analyses, None if kind == UNKNOWN else SECTIONS[kind - FIRST_SECTION])


def _cased(analysis: str, word: str) -> str:
    """Change the analysis of a word that was read in lower case: transfer the upper case of the word to the analysis."""
    if not word[:1].isupper():
        return analysis
    if len(word) > 1 and word[-1].isupper():
        return "".join([part if part.startswith("<") else "".join(map(_upper, part)) for part in TAG.split(analysis)])
    return _upper(analysis[:1]) + analysis[1:]


def _upper(character: str) -> str:
    """The upper case of a character, if this is one character of Unicode's first plane."""
    upper = character.upper()
    return upper if len(upper) == 1 and max(character, upper) < "\U00010000" else character
