"""Remove ε-arcs: fold chains of arcs, and break cycles of ε-arcs, so that each state has a lower number than the targets of its ε-arcs.

A nonfinal state with a single arc needs no node at run time: if this arc or the arc before it reads nothing, both become one arc. A cycle
of ε-arcs with a negative weight is refused, because then no path is the best; other cycles are on no best path. So each state of a cycle is
split in two: the second half has the arcs that leave the cycle; the first half has one ε-arc to each second half, for the best path to it.

Example (read:written/weight → target)::

    state   arcs                      folded                    without cycles
    0       a:ε/0 → 1                 a:x/1 → 2                 the same
    1       ε:x/1 → 2                 none                      none
    2       ε:ε/2 → 3   c:c/0 → 4     the same                  ε:ε/0 → 6   ε:ε/2 → 5
    3       ε:y/3 → 2   b:z/0 → 4     the same                  ε:ε/0 → 5   ε:y/3 → 6
    5, 6                                                        b:z/0 → 4 and c:c/0 → 4
"""

from __future__ import annotations

from collections.abc import Sequence

from fst.compile.algebra.connect import components
from fst.compile.machines.best_path.rows import Arc, Machine
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.best_path.table import EPSILON

MAX_CYCLE = 1 << 8  # maximum number of states of a cycle of ε-arcs
MAX_SPLIT = 1 << 22  # maximum number of arcs that replace all cycles of a machine
MAX_WRITTEN = 1 << 12  # maximum number of bytes that a path inside a cycle writes
MAX_JOINED = 128  # arcs are not joined if an output has this many bytes or more, so that outputs of shared chains stay small


def folded(machine: Machine) -> Machine:
    """Join arcs into and out of states that have a single arc. Of arcs that read the same byte and have the same target, keep the arcs of
    least weight, one for each output.
    """
    following = [row[0] if len(row) == 1 and state not in machine.finals else None for state, row in enumerate(machine.rows)]
    rows: list[list[Arc]] = [[] for _ in machine.rows]
    waiting, found = [machine.start], {machine.start}
    while waiting:
        state = waiting.pop()
        best: dict[tuple[int, int], dict[bytes, Arc]] = {}
        for arc in machine.rows[state]:
            joined = _joined(arc, following)
            tied = best.setdefault((joined.byte, joined.target), {})
            weight = min((each.weight for each in tied.values()), default=joined.weight)
            if joined.weight < weight:
                tied.clear()
            if joined.weight <= weight:
                tied.setdefault(joined.output, joined)
        rows[state] = [arc for tied in best.values() for arc in tied.values()]
        new = {arc.target for arc in rows[state]} - found
        found |= new
        waiting += new
    return machine._replace(rows=rows, finals={state: weight for state, weight in machine.finals.items() if state in found})


def _joined(arc: Arc, following: Sequence[Arc | None]) -> Arc:
    """Join an arc with the arcs after it, as long as they are single arcs and at most one arc reads a byte.

    At most `MAX_JOINED` arcs that write nothing are joined, too.
    """
    after = following[arc.target]
    for _ in range(MAX_JOINED):
        if not after or EPSILON not in (arc.byte, after.byte) or len(arc.output) >= MAX_JOINED:
            break
        arc = arc.then(after)
        after = following[arc.target]
    return arc


def without_cycles(machine: Machine) -> Machine:
    """Break the cycles of ε-arcs."""
    silent = [[arc for arc in row if arc.byte == EPSILON] for row in machine.rows]
    rows, finals = [*machine.rows], dict(machine.finals)
    found = components([[arc.target for arc in row] for row in silent])
    cycles = [states for states in found if len(states) > 1 or any(arc.target == states[0] for arc in silent[states[0]])]
    if sum(len(states) ** 2 for states in cycles) > MAX_SPLIT:
        raise UnsupportedError("there are too many cycles of arcs that read nothing; remove ε-arcs first")
    for states in cycles:
        _split(states, rows, finals)
    return machine._replace(rows=rows, finals=finals)


def _split(states: Sequence[int], rows: list[list[Arc]], finals: dict[int, int]) -> None:
    """Break the cycles among some states."""
    if len(states) > MAX_CYCLE:
        raise UnsupportedError(f"a cycle of {len(states):,} states reads nothing; expected at most {MAX_CYCLE:,}; remove ε-arcs first")
    among = {*states}
    inner = {state: [arc for arc in rows[state] if arc.byte == EPSILON and arc.target in among] for state in states}
    halves = {state: len(rows) + number for number, state in enumerate(states)}
    for state in states:
        rows.append([arc for arc in rows[state] if arc.byte != EPSILON or arc.target not in among])
        if state in finals:
            finals[halves[state]] = finals.pop(state)
    for state in states:
        rows[state] = [arc._replace(target=halves[arc.target]) for arc in _best(state, inner)]


def _best(start: int, inner: dict[int, list[Arc]]) -> list[Arc]:
    """For each state of a cycle, the arc for the best path to it from `start`; of equal paths, a path with the fewest arcs."""
    found = {start: Arc(EPSILON, b"", 0, start)}
    before: dict[int, int] = {}
    improved = [start]
    for _ in range(len(inner) + 1):
        changed: dict[int, None] = {}
        for state in improved:
            for arc in inner[state]:
                joined = found[state].then(arc)
                if len(joined.output) > MAX_WRITTEN:
                    raise UnsupportedError(f"a cycle of arcs that read nothing writes more than {MAX_WRITTEN:,} bytes; shorten its outputs")
                if arc.target not in found or joined.weight < found[arc.target].weight:
                    found[arc.target], before[arc.target] = joined, state
                    changed[arc.target] = None
        improved = [*changed]
        if not improved:
            return [*found.values()]
    cycle = _cycle(improved[0], before)
    raise VocabularyError(f"the arcs {cycle} read nothing and have a negative weight together; expected no such cycle")


def _cycle(state: int, before: dict[int, int]) -> str:
    """The states of a cycle that leads to a state, as text for a message."""
    for _ in before:
        state = before[state]
    states = [state]
    while before[states[-1]] != state:
        states.append(before[states[-1]])
    return " → ".join(map(str, [state, *reversed(states)]))


def in_order(machine: Machine) -> list[int]:
    """The states on paths, such that each state comes before the targets of its ε-arcs."""
    silent = [[arc.target for arc in row if arc.byte == EPSILON] for row in machine.rows]
    used = {machine.start, *machine.finals, *(arc.target for row in machine.rows for arc in row)}
    return [states[0] for states in reversed(components(silent)) if states[0] in used]
