"""Workspaces: the memory that one thread lends to kernels, kept for the next text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fst.machines.kernel_call import COUNT
from fst.runtime.texts import ROOM, UNIT_TYPES


class Workspace:
    """What one thread works with.

    Args:
        work: the arrays of its kernel, see `fst.machines.kernel_call.Work`.
        unit: of text, "utf-16" or "utf-8".
        short: ids that a short text may have.

    Attributes:
        work: as given; `state` is one of its arrays.
        room: the symbols that it may hold back from one call to the next.
        text: uint16[ROOM], for texts in UTF-16; empty for UTF-8, which is read where it is.
        short_ids, short_starts, short_ends: arrays for one short text.
    """

    def __init__(self, work: Any, unit: str, short: int) -> None:
        self.work, self.state = work, work.state
        self.room = len(work.symbols)
        self.text = np.empty(ROOM if unit == "utf-16" else 0, UNIT_TYPES[unit])  # memory that is not written is not taken
        self.short_ids = np.empty(short, np.int32)
        self.short_starts, self.short_ends = np.zeros(2, np.int64), np.zeros(1, np.int64)

    def start_anew(self, count: int) -> None:
        """Drop what is left of a text; so many ids were written."""
        self.state.fill(0)
        self.state[COUNT] = count


class Workspaces:
    """Idle workspaces. ``list.pop`` and ``list.append`` are atomic, so no lock is needed.

    Args:
        make: makes another one.
    """

    def __init__(self, make: Callable[[], Workspace]) -> None:
        self._make = make
        self._idle: list[Workspace] = []

    def take(self) -> Workspace:
        """A workspace that no other thread has, as if new. One that is not given back is lost, and does no harm."""
        try:
            workspace = self._idle.pop()
        except IndexError:
            workspace = self._make()
        workspace.state.fill(0)
        return workspace

    def give_back(self, workspace: Workspace) -> None:
        """Let others have it."""
        self._idle.append(workspace)
