"""The definition of the best path: the least weight of all paths that read a text, by relaxing until nothing changes."""

from __future__ import annotations

from math import inf

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.symbols import text_of


def least_weight(machine: Arcs, text: str, output: str | None = None) -> float:
    """The least weight of the paths that read a text and, if `output` is not None, write `output`; infinity if there are no such paths,
    minus infinity if weights have no lower bound.
    """
    read, written = text.encode(), None if output is None else output.encode()
    spelled = [(_bytes(machine, ilabel), _bytes(machine, olabel)) for ilabel, olabel in zip(machine.ilabel, machine.olabel, strict=True)]
    arcs = [*zip(machine.sources.tolist(), spelled, machine.target.tolist(), machine.weights.tolist(), strict=True)]
    found = {(machine.start, 0, 0): 0.0}
    for _ in range(machine.states * (len(read) + 1) * (len(written or b"") + 1) + 1):
        is_changed = False
        for source, (reads, writes), target, weight in arcs:
            for (state, at, place), total in [*found.items()]:
                if state != source or not read.startswith(reads, at) or not (written is None or written.startswith(writes, place)):
                    continue
                reached = (target, at + len(reads), 0 if written is None else place + len(writes))
                if total + weight < found.get(reached, inf):
                    found[reached], is_changed = total + weight, True
        if not is_changed:
            end = 0 if written is None else len(written)
            return min((found.get((state, len(read), end), inf) + float(weight) for state, weight in enumerate(machine.final)), default=inf)
    return -inf


def _bytes(machine: Arcs, label: int) -> bytes:
    return text_of([int(label)], machine.symbols, machine.unit).encode("utf-8", "surrogateescape")
