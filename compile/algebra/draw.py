"""Pictures of small machines: the language DOT, and SVG by graphviz where it is installed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from itertools import groupby
from shutil import which

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, Arcs
from fst.compile.algebra.symbols import text_of
from fst.errors import UnsupportedError

MAX_DRAWN = 2_000  # states or edges
MAX_LABELS = 12  # of an edge; the others are counted
SHORTEST_RANGE = 4  # characters in a row that are drawn as a range
TIMEOUT = 60  # seconds


def dot(arcs: Arcs, drawn: NDArray[np.bool_] | None = None) -> str:
    """A machine in the language DOT. Arcs between the same states are one edge.

    Args:
        arcs: the machine.
        drawn: bool[arcs], the arcs that are drawn, with their states; None: the whole machine.

    Raises:
        UnsupportedError: more than `MAX_DRAWN` states or edges would be drawn.
    """
    chosen = np.arange(arcs.arcs) if drawn is None else np.flatnonzero(drawn)
    pairs = arcs.sources[chosen].astype(np.int64) << 32 | arcs.target[chosen]
    edges, edge_of = np.unique(pairs, return_inverse=True)
    states = np.arange(arcs.states) if drawn is None else np.unique([arcs.start, *(edges >> 32), *(edges & 0xFFFFFFFF)])
    if max(len(edges), len(states)) > MAX_DRAWN:
        raise UnsupportedError(f"the picture has {len(states):,} states and {len(edges):,} edges; expected at most {MAX_DRAWN:,}")
    lines = ["digraph {", "rankdir=LR", 'node [shape=circle, fontname="Helvetica"]', 'edge [fontname="Helvetica"]']
    lines += [_state(arcs, state) for state in states.tolist()]
    by_edge = np.split(chosen[np.argsort(edge_of, kind="stable")], np.cumsum(np.bincount(edge_of))[:-1])
    for edge, row in zip(edges.tolist(), by_edge, strict=False):
        lines.append(f'{edge >> 32} -> {edge & 0xFFFFFFFF} [label="{_escaped(_edge(arcs, row))}"]')
    return "\n".join([*lines, "}", ""])


def _state(arcs: Arcs, state: int) -> str:
    """The line of a state: bold if it is the start, a double circle if it is final."""
    weight = float(arcs.final[state])
    label = f"{state}" if weight in (0, np.inf) else f"{state}/{weight:.4g}"
    shape = ", shape=doublecircle" if np.isfinite(weight) else ""
    return f'{state} [label="{label}"{shape}{", style=bold" if state == arcs.start else ""}]'


def _edge(arcs: Arcs, chosen: NDArray[np.int64]) -> str:
    """The labels of all arcs of an edge."""
    is_copy = (arcs.ilabel[chosen] == arcs.olabel[chosen]) & (arcs.weights[chosen] == 0)
    names, others = _ranges(arcs, arcs.ilabel[chosen[is_copy]].tolist()), chosen[~is_copy]
    more = len(names) + len(others) - MAX_LABELS
    names += [_name(arcs, int(arcs.ilabel[arc]), int(arcs.olabel[arc]), float(arcs.weights[arc])) for arc in others[:MAX_LABELS]]
    return ", ".join([*names[:MAX_LABELS], *([f"… {more:,} more"] if more > 0 else [])])


def _ranges(arcs: Arcs, labels: Sequence[int]) -> list[str]:
    """The names of ascending labels; long runs of characters become ranges."""
    names = []
    for _, group in groupby(enumerate(sorted(set(labels))), key=lambda pair: pair[1] - pair[0]):
        run = [label for _, label in group]
        if len(run) >= SHORTEST_RANGE and run[0] and run[-1] < FIRST_SYMBOL:
            names.append(f"{_shown(arcs, run[0])}–{_shown(arcs, run[-1])}")
        else:
            names += [_shown(arcs, label) for label in run]
    return names


def _name(arcs: Arcs, read: int, written: int, weight: float) -> str:
    pair = _shown(arcs, read) if read == written else f"{_shown(arcs, read)}:{_shown(arcs, written)}"
    return f"{pair}/{weight:.4g}" if weight else pair


def _shown(arcs: Arcs, label: int) -> str:
    """A label as visible text."""
    if not label:
        return "ε"
    if arcs.unit == "utf-8" and 0x7F < label < FIRST_SYMBOL:
        return f"{label:02X}"
    text = text_of([label], arcs.symbols)
    return "␣" if text == " " else text if text.isprintable() else repr(text)[1:-1]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def svg(source: str) -> str | None:
    """The picture of a text in DOT; None if graphviz is not installed, or takes longer than a minute."""
    program = which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run([program, "-Tsvg"], input=source.encode(), capture_output=True, check=True, timeout=TIMEOUT)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout.decode()


def around(arcs: Arcs, labels: Iterable[int]) -> NDArray[np.bool_]:
    """bool[arcs], the arcs that reading a text passes: those that read its labels, one after the other, and ε-arcs in between."""
    used, here = np.zeros(arcs.arcs, np.bool_), _closed(arcs, np.array([arcs.start] if arcs.states else [], np.int64))
    for label in labels:
        taken = _taken(arcs, here, label)
        used[taken] = used[_taken(arcs, here, EPSILON)] = True
        here = _closed(arcs, np.unique(arcs.target[taken]).astype(np.int64))
    used[_taken(arcs, here, EPSILON)] = True
    return used


def _taken(arcs: Arcs, states: NDArray[np.int64], label: int) -> NDArray[np.int64]:
    """The arcs of some states that read a label."""
    first, end = arcs.row_start[states], arcs.row_start[states + 1]
    rows = np.repeat(first - np.concatenate([[0], np.cumsum(end - first)[:-1]]), end - first) + np.arange((end - first).sum())
    taken: NDArray[np.int64] = rows[arcs.ilabel[rows] == label]
    return taken


def _closed(arcs: Arcs, states: NDArray[np.int64]) -> NDArray[np.int64]:
    """The states, and those that follow by arcs that read nothing."""
    while True:
        more = np.union1d(states, arcs.target[_taken(arcs, states, EPSILON)])
        if len(more) == len(states):
            return states
        states = more
