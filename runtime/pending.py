"""Pending text: what a stream holds back although it is long, since it has no end yet, such as a piece of a million letters.

A kernel would read it from its beginning with each call, in quadratic time. So a stream asks, with the new text alone, whether the pending
text surely goes on, and calls no kernel then. `fst.runtime.stream.Runs` does this for WordPiece.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fst.jit import Deferred
from fst.machines.jieba import LETTER
from fst.machines.rewriting_arguments import LONGEST, REACH, Rewriter
from fst.machines.unit_trie import KIND_SHIFT
from fst.rows import Array
from fst.runtime.texts import PAST_END, UNIT_TYPES, Units, units
from fst.splitting import START

read_on, has_border, has_lag = (Deferred("fst.runtime.kernels.pending", name) for name in ("read_on", "has_border", "has_lag"))
UTF_8, UTF_16 = UNIT_TYPES["utf-8"], UNIT_TYPES["utf-16"]


class Pending(Protocol):
    """Recognises pending text that goes on. Neither method needs to recognise all of it."""

    def begins(self, text: str) -> bool:
        """Whether a text is pending and goes on to its end. If so, `go_on` takes the texts that follow."""

    def go_on(self, text: str) -> bool:
        """Whether pending text goes on to the end of the next text. If not, a kernel must read it all."""


class OpenPiece:
    """Reads on in a piece of a machine over bytes.

    Args:
        machine: `fst.machines.bpe_arguments.Arguments`.
    """

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self._memo, self._reached = np.zeros(3, np.uint64), np.zeros(2, np.uint64)
        self.restart()

    def restart(self) -> None:
        """Begin a piece."""
        self._reached[:] = 0, START

    def goes_on_in(self, text: Units) -> bool:
        """Whether the piece with which a text begins goes on to its end. The text that was given before is not read again."""
        return bool(read_on.call(text, self._machine, self._memo, self._reached))

    def drop_read(self) -> int:
        """Forget the text that is read, and return its size. The next one begins with what is left."""
        size, self._reached[0] = int(self._reached[0]), 0
        return size


class PendingPiece:
    """Pending text of a machine over bytes: a piece.

    Args:
        machine: `fst.machines.bpe_arguments.Arguments`.
    """

    def __init__(self, machine: Any) -> None:
        self._piece, self._rest = OpenPiece(machine), ""

    def begins(self, text: str) -> bool:
        """Whether the text is a piece that goes on."""
        self._piece.restart()
        self._rest = ""
        return self.go_on(text)

    def go_on(self, text: str) -> bool:
        """Whether the piece goes on."""
        data = _units(self._rest + text)
        if data is None or not self._piece.goes_on_in(data):
            return False
        self._rest = str(data[self._piece.drop_read() :].data, "utf-8")
        return True


class PendingBorder:
    """Pending text that is to be rewritten: it has no border.

    Args:
        rewriter: the arguments by which texts are rewritten.
    """

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter, self._memo, self._noted = rewriter, np.zeros(3, np.uint64), np.zeros(3, np.uint64)
        self._reach = 2 * int(rewriter.params[REACH] + rewriter.params[LONGEST]) + 16  # more bytes than decide about a border
        self._before, self._has_lag = b"", False

    def begins(self, text: str) -> bool:
        """Always, since the text is left because no border is known after it. None ever is if spans lag behind or a splitter cuts it."""
        data = units(text, UTF_8)
        self._has_lag = len(self._rewriter.splitter.moves) > 0 or bool(has_lag.call(data, self._rewriter))
        self._before, self._noted[:] = b"", 0
        self._has_border(data)
        return True

    def go_on(self, text: str) -> bool:
        """Whether no border appears."""
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
        numbers: `fst.machines.jieba.Arguments.units`.
    """

    def __init__(self, numbers: Array) -> None:
        self._is_inside = numbers >> KIND_SHIFT >= LETTER

    def begins(self, text: str) -> bool:
        """Whether the text is a part of a block."""
        return self.go_on(text)

    def go_on(self, text: str) -> bool:
        """Whether the block goes on."""
        data = _units(text, UTF_16)
        return data is not None and bool(self._is_inside[data].all())


def _units(text: str, unit: Any = UTF_8) -> Units | None:
    """The units of a text; None if it has a lone surrogate, which a kernel's caller refuses."""
    try:
        return units(text, unit)
    except UnicodeEncodeError:
        return None
