"""Recognition of pending text of WordPiece: an unfinished run of combining marks, see `fst.runtime.front_end.Pending`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CONTINUES_RUN, HAS_MARKS
from fst.machines.wordpiece.table import WordPieceTable


class Runs:
    """A test for pending text of WordPiece: an unfinished run of combining marks. A kernel reads a run only after it has found the run's
    end.

    Args:
        tables: the tables of the stream's tokenizer.
        with_spans: whether spans are requested. With spans, a run may also begin with a mark that is mapped to no symbol.
    """

    def __init__(self, tables: WordPieceTable, with_spans: bool) -> None:
        self._tables = tables
        self._begins = HAS_MARKS | CONTINUES_RUN if with_spans else HAS_MARKS
        self._end = ""  # the last characters of the run, in which a special token may begin

    def begins(self, text: str) -> bool:
        """Whether the whole text is an unfinished run of marks. If the result is True, call `go_on` with each following text."""
        self._end = text[0]
        return bool(self._flags(text[0])[0] & self._begins) and self.go_on(text[1:])

    def go_on(self, text: str) -> bool:
        """Whether the run covers the whole next text: the text contains only marks, and no special token ends in the text."""
        if not (self._flags(text) & CONTINUES_RUN).all():
            return False
        specials = self._tables.specials_in_runs
        known = self._end + text
        self._end = known[-max(map(len, specials), default=1) :]
        return not any(special in known for special in specials)

    def _flags(self, text: str) -> NDArray[np.uint8]:
        """Return the flags of each character: 0 for a character whose record is not a list of symbols."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return self._tables.flags[self._tables.classes_of(codes)]
