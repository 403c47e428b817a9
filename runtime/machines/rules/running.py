"""Run the stages of a table of rewrite rules on rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.machines.rules.table import RulesTable
from fst.runtime.machines.rules.stages import START, Buffers, Ends, KeyStage, PassStage, mirrored
from fst.runtime.rewriting.rows import Rows
from fst.runtime.rows.texts import UTF_16, units

CODES = f"utf-32-{UTF_16[-2:]}"


class Place(NamedTuple):
    """The place in a text that arrives in parts: for each stage, the row of the set and the row of the state, both at the start of the next
    part.

    Attributes:
        is_first, is_last: whether the next part is the first part of its text, and whether it is the last part.
        sets, states: the rows.
    """

    is_first: bool
    is_last: bool
    sets: Sequence[Any]
    states: Sequence[Any]


class Stages:
    """The stages of a table, replaced by compositions where the table has them. Spans need the stages themselves."""

    def __init__(self, table: RulesTable) -> None:
        self._table = table
        stages = [_stage(table, number) for number in range(len(table.arguments()))]
        self._single = [*zip(stages, table.are_mirrored, strict=False)]
        self._path = [(stages[number], is_mirrored) for number, is_mirrored in table.path]

    def buffers(self) -> Buffers:
        """Return the arrays of a thread."""
        return Buffers()

    def parts(self) -> RuleParts:
        """Begin a text that is rewritten in parts."""
        return RuleParts(self, self._table.cuts)

    def start(self) -> Place:
        """Return the place before the first part of a text, which is not the last part."""
        nothing = [START] * len(self._single)
        return Place(True, False, nothing, nothing)

    def run(self, rows: Rows, buffers: Buffers) -> Rows:
        """Rewrite complete rows. The result is `rows` if nothing changes, or uses the arrays of `buffers`."""
        for stage, is_mirrored in self._single if len(rows.spans) else self._path:
            given, buffers.kept = mirrored(rows, buffers, "mirrored") if is_mirrored else rows, rows.text
            new = stage.run(given, buffers)
            if new is not given:
                rows = mirrored(new, buffers, "turned") if is_mirrored else new
        return rows

    def run_part(self, part: Rows, place: Place, buffers: Buffers) -> tuple[Rows, Place]:
        """Rewrite a part of a text, which ends after a character of `fst.machines.rules.table.RulesTable.cuts` or is the last.

        Returns:
            The new part, which uses the arrays of `buffers`; and the place of the next part.
        """
        sets, states = list[Any](), list[Any]()
        for number, (stage, is_mirrored) in enumerate(self._path):
            given = mirrored(part, buffers, "mirrored") if is_mirrored else part
            ends = Ends(place.sets[number], place.states[number], place.is_first if is_mirrored else place.is_last)
            part, left, right = stage.run_part(given, ends, buffers)
            part = mirrored(part, buffers, "turned") if is_mirrored else part
            sets.append(left if is_mirrored else START)
            states.append(START if is_mirrored else right)
        return part, Place(False, False, sets, states)


def _stage(table: RulesTable, number: int) -> PassStage | KeyStage:
    """A stage, or a composition."""
    keys = table.keys[number] if number < len(table.keys) else None
    if keys and keys.texts:
        return KeyStage(keys.arguments(*table.string_arrays))
    return PassStage(table, number)


class RuleParts:
    """A text that is rewritten in parts. Each part ends after a cut; the text after the last cut is stored."""

    def __init__(self, stages: Stages, cuts: NDArray[np.bool_]) -> None:
        self._stages, self._cuts = stages, cuts
        self._place, self._buffers = stages.start(), stages.buffers()
        self._unread: list[str] = []  # text after the last cut

    def write(self, text: str) -> str:
        """Append text; return the new text up to the last cut."""
        cuts = np.flatnonzero(self._cuts[np.frombuffer(text.encode(CODES), np.uint32)])
        end = int(cuts[-1]) + 1 if len(cuts) else 0
        new = ""
        if end:
            new = self._run("".join([*self._unread, text[:end]]), is_last=False)
            self._unread = []
        self._unread += [text[end:]] if end < len(text) else []
        return new

    def close(self) -> str:
        """Return the rest of the new text."""
        return self._run("".join(self._unread), is_last=True)

    def _run(self, text: str, is_last: bool) -> str:
        """Rewrite a part of the text."""
        data = units(text, np.dtype(np.uint8))
        rows, place = Rows(data, np.array([0, len(data)])), self._place._replace(is_last=is_last)
        part, self._place = self._stages.run_part(rows, place, self._buffers)
        return str(part.text.data, "utf-8")
