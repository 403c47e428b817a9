"""Read a text in steps, each from a checkpoint: the state in which a kernel stops, as bytes that can be compared and resumed.

A stream keeps this state in its workspace. A checkpoint is the same state outside of a workspace, so several texts can continue from it. If
two texts have equal checkpoints at two positions, and the same text after these positions, they have the same ids from there on. So an edit
need not be followed to the end of the text, see `fst.runtime.sessions.edits`.

A kernel that normalizes its text stores the unread end of the normalized text. This end depends on how the text is cut into calls, so equal
texts could have different checkpoints. `Reader.read` therefore stops at a position of the raw text where the kernel can begin with nothing
stored. It finds such a position by a trial: from there on, the kernel must give the same ids, and end in the same state, as if it had read
all text before. If no position is found in a long text, the checkpoint contains the stored text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.runtime.rows.texts import MAX_GATHERED, ONE_TEXT, Ints, Strings, Units, characters, units
from fst.runtime.run import MORE, NO_MORE, NOTHING, Buffers, Runner
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids, Workspace
from fst.tables.kernel_call import State

Arrays = Sequence[NDArray[Any]]
TRIED = 1 << 6  # number of characters for the trial of a position
LONG = 1 << 14  # number of characters; in a longer text, a checkpoint may contain normalized text
LEAST_GATHERED = 1 << 10  # number of characters; the units of a longer text are written to a workspace
FEW_UNITS = 1 << 10  # units of a text for whose ids `Workspace.short_ids` has room, if kernels store no symbols
NO_ENDS: Ints = np.empty(0, np.int64)  # the ends of rows of a text that continues


class Checkpoint(NamedTuple):
    """The state of a kernel between two parts of a text.

    Attributes:
        state: the bytes of `fst.tables.kernel_call.State`, without counts of ids, characters and words, which no later id depends on.
        kept: the bytes of the symbols, or of the normalized text, that are stored for the next part.
        carried: the bytes of the other arrays of the machine that the next part depends on.
        special: a special token that is read before the next part, and whose id is dropped; empty if there is none.
    """

    state: bytes
    kept: bytes = b""
    carried: bytes = b""
    special: str = ""


START = Checkpoint(State().tobytes())


class Step(NamedTuple):
    """The result of reading a part of a text.

    Attributes:
        ids: int32[n], the ids that no later text can change.
        read: the number of characters that need not be read again.
        after: the checkpoint after these characters.
        certain: the number of leading ids of `rest` that no later text can change.
        rest: int32[n], the ids after `ids` if the text ends; complete only if they are requested.
    """

    ids: Ids
    read: int
    after: Checkpoint
    certain: int = 0
    rest: Ids = NOTHING


class Reader:
    """A reader of the texts of one tokenizer. Threads can share it.

    Args:
        runner: a runner for ids.
        carried: returns the arrays of a workspace on which the next part of a text depends, apart from the state and the stored text.
    """

    def __init__(self, runner: Runner, carried: Callable[[Workspace], Arrays]) -> None:
        self._runner, self._carried = runner, carried

    def read(self, start: Checkpoint, text: str, *, ends: bool = False) -> Step:
        """Read a text that continues: return the certain ids.

        Args:
            start: the checkpoint before the text.
            text: the text.
            ends: whether also to return the ids after the certain ids for the case that the text ends.
        """
        workspace = self._runner.workspaces.take()
        try:
            whole = start.special + text
            found, left = self._read(workspace, start, whole)
            if ends:
                found = Step(*found[:3], 0, self._run(workspace, left, NO_MORE)[0])
            if found.after.kept and self._runner.keeps_text and len(whole) <= LONG:
                found = self._settled(workspace, start, whole, found)
            return _without_special(found, start) if start.special else found
        finally:
            self._runner.workspaces.give_back(workspace)

    def _read(self, workspace: Workspace, start: Checkpoint, text: str, *, in_place: bool = True) -> tuple[Step, Units]:
        """Read a text that continues; return also its units that are not read yet."""
        self._resume(workspace, start)
        data = self._units(workspace, text)
        ids, stopped = self._run(workspace, data, MORE, in_place)
        left = data[stopped:]
        read = len(text) - (len(left) if len(text) == len(data) else characters(left))
        return Step(ids, read, self._checkpoint(workspace)), left

    def _settled(self, workspace: Workspace, start: Checkpoint, text: str, found: Step) -> Step:
        """Find a position before the last `TRIED` characters, after which a kernel gives the same ids if it begins to read there.

        Args:
            start, text: as in `read`.
            found: the step over the whole text.

        Returns:
            The step to this position; if it is not found, a step that reads nothing.
        """
        ids = np.concatenate([found.ids, found.rest])
        step, _ = self._read(workspace, start, text[:-TRIED])
        if step.after.kept:
            state = np.frombuffer(step.after.state, np.uint64).copy().view(State)
            read = step.read - int(state.kept_characters)
            state.kept = state.kept_characters = 0
            clean = step.after._replace(state=state.tobytes(), kept=b"")
            is_same = 0 < read < step.read and self._trial(workspace, step.after, text[step.read :], clean, text[read:])
            step = Step(step.ids, read, clean) if is_same else Step(NOTHING, 0, start)
        return step._replace(certain=len(found.ids) - len(step.ids), rest=ids[len(step.ids) :])

    def _trial(self, workspace: Workspace, start: Checkpoint, text: str, other_start: Checkpoint, other_text: str) -> bool:
        """Whether two texts with the same end give the same ids, and end in the same state."""
        (step, left), (other, other_left) = (
            self._read(workspace, at, rest, in_place=False) for at, rest in ((start, text), (other_start, other_text))
        )
        return len(left) == len(other_left) and step.after == other.after and np.array_equal(step.ids, other.ids)

    def _run(self, workspace: Workspace, data: Units, more: Any, in_place: bool = True) -> tuple[Ids, int]:
        """Call the kernel; return the ids, and the position where reading stopped."""
        runner, buffers = self._runner, Buffers(False)
        workspace.short_starts[1] = len(data)
        if len(data) <= FEW_UNITS and not workspace.symbols:
            buffers.ids = workspace.short_ids
        else:
            buffers.reserve(runner.capacity_after(workspace, len(data), 1, NO_SPECIAL_IDS), 0)
        output = runner.output(NO_SPECIAL_IDS, buffers, NO_ENDS if more else workspace.short_ends)
        stopped = runner.encode(data, workspace.short_starts, more, output, workspace, buffers, rewrites=True, in_place=in_place)
        ids = buffers.ids[: int(workspace.state.count)].copy()
        ids.flags.writeable = False  # versions share it, and changes contain parts of it
        return ids, stopped

    def _units(self, workspace: Workspace, text: str) -> Units:
        """The units of a text without lone surrogates. For a long text, a kernel is faster than a codec."""
        if LEAST_GATHERED < len(text) <= MAX_GATHERED and workspace.text.dtype == self._runner.rewritten_type:
            return Strings([text]).gather(0, 1, ONE_TEXT, workspace.text, "strict")[0]
        return units(text, self._runner.rewritten_type)

    def _resume(self, workspace: Workspace, start: Checkpoint) -> None:
        """Put a workspace in the state of a checkpoint."""
        workspace.state.data.cast("B")[:] = start.state
        if start.kept:
            self._runner.restore_kept(workspace, start.kept)
        at = 0
        for array in self._carried(workspace):
            array[:] = np.frombuffer(start.carried[at : at + array.nbytes], array.dtype) if start.carried else 0
            at += array.nbytes

    def _checkpoint(self, workspace: Workspace) -> Checkpoint:
        """The state of a workspace."""
        state = workspace.state
        state.count = state.row = state.before = state.word = 0
        kept = self._runner.kept(workspace).tobytes() if state.kept else b""
        return Checkpoint(state.tobytes(), kept, b"".join(array.tobytes() for array in self._carried(workspace)))


def _without_special(found: Step, start: Checkpoint) -> Step:
    """Remove the special token of the checkpoint `start` from a step."""
    read = found.read - len(start.special)
    if len(found.ids) and read >= 0:
        return found._replace(ids=found.ids[1:], read=read)
    certain = max(len(found.ids) + found.certain - 1, 0)
    return Step(NOTHING, 0, start, certain, np.concatenate([found.ids, found.rest])[1:])
