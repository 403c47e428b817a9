"""Pictures of weighted transducers: the paths of a text, and the best of them."""

from __future__ import annotations

import numpy as np

from fst.automata.dot import need_few
from fst.automata.graph import leading_to
from fst.automata.picture import Arc, Picture, byte_label, labelled
from fst.machines.best_path.table import EPSILON, NOT_FINAL, BestPathTable


def picture_of(table: BestPathTable, text: str | None) -> Picture:
    """The states have their numbers, and an arc has its byte, its string and its weight. Around a text, only arcs on paths that read the
    whole text are shown; if there is no such path, all arcs on paths that read a beginning of the text.
    """
    if text is None:
        need_few(len(table.finals), len(table.labels))
        arcs, taken = [*range(len(table.labels))], set[int]()
    else:
        best = table.path(text.encode())
        taken = set() if best is None else {arc for arc, _ in best.arcs}
        arcs = _around(table, text.encode())
    sources = np.searchsorted(table.row_start, arcs, "right") - 1
    shown = [_arc(table, int(source), arc, arc in taken) for source, arc in zip(sources, arcs, strict=True)]
    start = table.metadata.settings.start
    states = sorted({start, *(int(state) for arc in shown for state in (arc.source, arc.target))})  # type: ignore[call-overload]
    names = {state: _name(table, state) for state in states}
    return Picture(names, shown, [start], [state for state in states if table.finals[state] != NOT_FINAL])


def _name(table: BestPathTable, state: int) -> str:
    """The number of a state, and its final weight."""
    final = int(table.finals[state])
    return f"{state}" if final in (0, NOT_FINAL) else f"{state}/{table.weight_of(final):.4g}"


def _arc(table: BestPathTable, source: int, arc: int, is_taken: bool) -> Arc:
    label, written = int(table.labels[arc]), table.strings[table.outputs[arc]].decode(errors="backslashreplace")
    read, weight = "ε" if label == EPSILON else byte_label(label), table.weight_of(int(table.weights[arc]))
    return Arc(source, int(table.targets[arc]), labelled(read, [written] if written else [], weight), is_taken)


def _around(table: BestPathTable, text: bytes) -> list[int]:
    """The arcs on paths that read a whole text; if there are none, all arcs on paths that read a beginning of the text."""
    layer = {(0, table.metadata.settings.start)}
    seen, steps = {*layer}, list[tuple[tuple[int, int], int, tuple[int, int]]]()
    while layer:
        following = set[tuple[int, int]]()
        for at, state in layer:
            for arc in range(table.row_start[state], table.row_start[state + 1]):
                label = int(table.labels[arc])
                if label == EPSILON or (at < len(text) and label == text[at]):
                    to = at + (label != EPSILON), int(table.targets[arc])
                    steps.append(((at, state), arc, to))
                    following.add(to)
        layer = following - seen
        seen |= layer
    ends = [(at, state) for at, state in seen if at == len(text) and table.finals[state] != NOT_FINAL]
    live = leading_to(ends, ((source, target) for source, _, target in steps))
    return sorted({arc for _, arc, target in steps if target in live or not live})
