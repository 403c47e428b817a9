"""Recognise the pending text of byte-level BPE and Unigram: an unfinished pre-token, which may have a million letters; see
`fst.runtime.front_end.Pending`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import Deferred
from fst.pretokens.arguments import Arguments
from fst.runtime.rows.texts import UNIT_TYPES, Units, units_or_none
from fst.text.splitter import START

read_on = Deferred("fst.runtime.pretokens.kernels.pending", "read_on")
UTF_8 = UNIT_TYPES["utf-8"]


class OpenPretoken:
    """A reader of an unfinished pre-token, which reads each byte once.

    Args:
        machine: the arguments of the machine's kernels.
    """

    def __init__(self, machine: Arguments) -> None:
        self._machine = machine
        self._memo, self._reached = np.zeros(3, np.uint64), np.zeros(2, np.uint64)
        self.restart()

    def restart(self) -> None:
        """Begin to read a new pre-token."""
        self._reached[:] = 0, START

    def goes_on_in(self, text: Units) -> bool:
        """Whether the first pre-token of a text continues to the end of the text. Text that earlier calls have read is not read again."""
        return bool(read_on.call(text, self._machine, self._memo, self._reached))

    def drop_read(self) -> int:
        """Forget the text that was read, and return the size of this text. The next text must begin with the unread bytes."""
        size, self._reached[0] = int(self._reached[0]), 0
        return size


class PendingPretoken:
    """A test for pending text of byte-level BPE and Unigram: an unfinished pre-token.

    Args:
        machine: the arguments of the machine's kernels.
    """

    def __init__(self, machine: Arguments) -> None:
        self._piece, self._rest = OpenPretoken(machine), ""

    def begins(self, text: str) -> bool:
        """Whether the text is an unfinished pre-token."""
        self._piece.restart()
        self._rest = ""
        return self.go_on(text)

    def go_on(self, text: str) -> bool:
        """Whether the pre-token continues to the end of `text`."""
        data = units_or_none(self._rest + text, UTF_8)
        if data is None or not self._piece.goes_on_in(data):
            return False
        self._rest = str(data[self._piece.drop_read() :].data, "utf-8")
        return True
