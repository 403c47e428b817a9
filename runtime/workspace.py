"""Workspaces, which contain the working arrays of kernels. Each thread has its own workspace, and reuses this workspace for each text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.runtime.front_end import TextBuffers
from fst.runtime.rows.texts import CAPACITY, UNIT_TYPES

Ids = NDArray[np.int32]
SpecialIds = tuple[Ids, Ids]  # the ids before and after a text
NO_SPECIAL_IDS: SpecialIds = np.empty(0, np.int32), np.empty(0, np.int32)


class Workspace:
    """The working arrays of one thread.

    Args:
        work: the kernels' argument ``work``, see `fst.tables.kernel_call.Work`.
        unit: the unit of text that the machine reads, "utf-16" or "utf-8".
        short: the maximum number of ids of a short text.

    Attributes:
        work: the kernels' argument; `state` is one of the arrays in `work`, or in the first field of `work`.
        symbols: the maximum number of symbols that are stored from one call to the next.
        stored: the array whose first `kept` elements are these symbols, unless normalized text is stored.
        memo: uint64[3], temporary values of the kernels that examine a text before it is encoded.
        text: uint16[n] or uint8[n], a buffer for texts; `fst.runtime.rows.texts.CAPACITY` contains its size.
        short_ids, short_starts, short_ends: the ids, the bounds and the number of ids of one short text.
    """

    def __init__(self, work: Any, unit: str, short: int) -> None:
        self.work, shared = work, work
        while isinstance(shared[0], tuple):  # the arrays that machines share come before a machine's own arrays
            shared = shared[0]
        self.state, self.symbols, self.stored = shared.state, len(shared.symbols), shared.symbols
        self.memo = np.zeros(3, np.uint64)
        self.text = np.empty(CAPACITY[unit], UNIT_TYPES[unit])  # the operating system commits only memory that is written
        self.short_ids = np.empty(short, np.int32)
        self.short_starts, self.short_ends = np.zeros(2, np.int64), np.zeros(1, np.int64)

    @property
    def kept(self) -> int:
        """The number of symbols, or of bytes of normalized text, that the last call has stored for the next call."""
        return int(self.state.kept)

    @Lazy
    def text_buffers(self) -> TextBuffers:
        """The arrays for normalized texts."""
        return TextBuffers()

    def start_anew(self, count: int) -> None:
        """Drop the unfinished text; the kernel writes the next ids after the first `count` ids."""
        self.state.fill(0)
        self.state.count = count


class Workspaces:
    """A pool of unused workspaces, without a lock, because ``list.pop`` and ``list.append`` are atomic."""

    def __init__(self, make: Callable[[], Workspace]) -> None:
        self._make = make
        self._idle: list[Workspace] = []

    def take(self) -> Workspace:
        """Take a workspace out of the pool, or make a workspace; reset its state. A workspace that is not given back is garbage
        collected.
        """
        try:
            workspace = self._idle.pop()
        except IndexError:
            workspace = self._make()
        workspace.state.fill(0)
        return workspace

    def give_back(self, workspace: Workspace) -> None:
        """Put a workspace back into the pool."""
        self._idle.append(workspace)
