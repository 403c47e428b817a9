"""Pending text: unfinished text that a stream holds back even if it is long, such as a piece of a million letters.

A kernel would read it from its beginning with each call, in quadratic time. A stream therefore first examines the new text alone, and
calls no kernel while the pending text certainly continues. `fst.runtime.stream.Runs` does this for WordPiece.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.segmentation.jieba import LETTER
from fst.machines.segmentation.unit_trie import KIND_SHIFT
from fst.pretokens.splitter import START
from fst.runtime.rows.texts import PAST_END, UNIT_TYPES, Units, units
from fst.text.arguments import LONGEST, REACH, Rewriter

read_on, has_border, has_lag = (Deferred("fst.runtime.text.kernels.pending", name) for name in ("read_on", "has_border", "has_lag"))
UTF_8, UTF_16 = UNIT_TYPES["utf-8"], UNIT_TYPES["utf-16"]


class OpenPiece:
    """Continues to read a piece of a machine over bytes.

    Args:
        machine: `fst.machines.bpe.arguments.Arguments`.
    """

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self._memo, self._reached = np.zeros(3, np.uint64), np.zeros(2, np.uint64)
        self.restart()

    def restart(self) -> None:
        """Begin a piece."""
        self._reached[:] = 0, START

    def goes_on_in(self, text: Units) -> bool:
        """Whether the piece at the beginning of a text continues to the end of the text. Text of earlier calls is not read again."""
        return bool(read_on.call(text, self._machine, self._memo, self._reached))

    def drop_read(self) -> int:
        """Forget the text that was read, and return its size. The next text must begin with the unread rest."""
        size, self._reached[0] = int(self._reached[0]), 0
        return size


class PendingPiece:
    """Pending text of a machine over bytes: a piece.

    Args:
        machine: `fst.machines.bpe.arguments.Arguments`.
    """

    def __init__(self, machine: Any) -> None:
        self._piece, self._rest = OpenPiece(machine), ""

    def begins(self, text: str) -> bool:
        """Whether the text is an unfinished piece."""
        self._piece.restart()
        self._rest = ""
        return self.go_on(text)

    def go_on(self, text: str) -> bool:
        """Whether the piece continues."""
        data = _units(self._rest + text)
        if data is None or not self._piece.goes_on_in(data):
            return False
        self._rest = str(data[self._piece.drop_read() :].data, "utf-8")
        return True


class PendingBorder:
    """Pending text before rewriting: text without a border.

    Args:
        rewriter: the arguments by which texts are rewritten.
    """

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter, self._memo, self._noted = rewriter, np.zeros(3, np.uint64), np.zeros(3, np.uint64)
        self._reach = 2 * int(rewriter.params[REACH] + rewriter.params[LONGEST]) + 16  # more bytes than a border depends on
        self._before, self._has_lag = b"", False

    def begins(self, text: str) -> bool:
        """Always true: the rewriter only leaves text without a border. If spans lag behind or a splitter cuts it, none follows."""
        data = units(text, UTF_8)
        self._has_lag = len(self._rewriter.splitter.moves) > 0 or bool(has_lag.call(data, self._rewriter))
        self._before, self._noted[:] = b"", 0
        self._has_border(data)
        return True

    def go_on(self, text: str) -> bool:
        """Whether the next text has no border."""
        data = _units(text)
        return data is not None and (self._has_lag or not self._has_border(data))

    def _has_border(self, more: Units) -> bool:
        """Whether there is a border in or shortly before new text."""
        size = len(self._before) + len(more)
        data = np.frombuffer(self._before + more.tobytes() + bytes(PAST_END), np.uint8)[:size]
        found = bool(has_border.call(data, np.uint64(max(size - self._reach, 0)), self._rewriter, self._memo, self._noted))
        place, covered, _ = self._noted.tolist()
        self._before, self._noted[1] = data[place:].tobytes(), max(covered - place, 0)
        return found


class PendingBlock:
    """Pending text of jieba: a block.

    Args:
        numbers: `fst.machines.segmentation.jieba.Arguments.units`.
    """

    def __init__(self, numbers: Array) -> None:
        self._is_inside = numbers >> KIND_SHIFT >= LETTER

    def begins(self, text: str) -> bool:
        """Whether the text is part of a block."""
        return self.go_on(text)

    def go_on(self, text: str) -> bool:
        """Whether the block continues."""
        data = _units(text, UTF_16)
        return data is not None and bool(self._is_inside[data].all())


def _units(text: str, unit: Any = UTF_8) -> Units | None:
    """The units of a text; None if it has a lone surrogate, since the caller of a kernel refuses it."""
    try:
        return units(text, unit)
    except UnicodeEncodeError:
        return None
