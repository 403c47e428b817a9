"""Decisions: whether each input of a transducer has one output, and whether two machines are equivalent.

Two paths that read the same input are a path of the square, the pairs of states of the machine. The delay of a path is the part of its
output that the other path has not written yet. A functional machine has exactly one delay at each state of the square, and an empty one at
the end (Béal et al. 2003).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import OTHER, TOLERANCE, Arcs
from fst.compile.algebra.compose import products
from fst.compile.algebra.connect import connect, leads_to
from fst.compile.algebra.forms.determinize import determinize, is_deterministic
from fst.compile.algebra.kernels.room import Rows, SizeError
from fst.compile.algebra.other import sampled
from fst.compile.algebra.rational import project, union
from fst.compile.algebra.sets import of_pairs
from fst.compile.algebra.shortest import Labels, paths, push
from fst.compile.algebra.symbols import with_shared_symbols
from fst.core.jit import Deferred
from fst.errors import UnsupportedError

Delay = tuple[Labels, Labels] | None  # the outputs that only the first and only the second path has written; None: they differ
MAX_COMPARED = 1 << 21  # maximum number of arcs of the square that are followed
MOST_DELAYS = 2  # two delays of a state suffice as a proof, because no continuation makes both empty

agree = Deferred("fst.compile.algebra.kernels.equivalence", "agree")


class Ambiguity(NamedTuple):
    """An input and two of its outputs, as labels."""

    read: Labels
    first: Labels
    second: Labels


class _Step(NamedTuple):
    """A state of the square with a delay, the step before it, and the arc of each path that led here, or -1."""

    state: int
    delay: Delay
    before: int
    arcs: tuple[int, int]


def is_functional(arcs: Arcs) -> bool:
    """Whether each input has one output."""
    return find_ambiguity(arcs) is None


def find_ambiguity(arcs: Arcs) -> Ambiguity | None:
    """A shortest input that has two outputs, and both; None if the machine is functional.

    States of the square are visited in the order of the number of labels read.
    """
    arcs = connect(arcs)
    if not arcs.states:
        return None
    square, ends = _square(arcs)
    steps = [_Step(0, ((), ()), -1, (-1, -1))]
    delays: dict[int, set[Delay]] = {}
    queue = deque([0])
    while queue:
        number = queue.popleft()
        state, delay, _, _ = steps[number]
        known = delays.setdefault(state, set())
        if delay in known or len(known) == MOST_DELAYS:
            continue
        known.add(delay)
        if ends[state] and delay != ((), ()):
            return _ambiguity(arcs, steps, number)
        for arc in range(square.row_start[state], square.row_start[state + 1]):
            if len(steps) > MAX_COMPARED:
                fault = f"the comparison of paths that read the same takes more than {MAX_COMPARED:,} steps; expected at most as many"
                raise SizeError(fault, "determinize the machine by determinize_input() first, or use fst.compile.lookup")
            taken = int(square.ilabel[arc]) - 1, int(square.olabel[arc]) - 1
            steps.append(_Step(int(square.target[arc]), _delayed(delay, *(_written(arcs, each) for each in taken)), number, taken))
            reads = any(each >= 0 and arcs.ilabel[each] for each in taken)
            (queue.append if reads else queue.appendleft)(len(steps) - 1)
    return None


def _square(arcs: Arcs) -> tuple[Rows, list[bool]]:
    """Pairs of states that read the same input: their rows, and whether both states of each pair are final. Pair 0 is the start.

    The labels of an arc of the square are 1 + the numbers of two arcs of the machine, or 0.
    """
    numbers = np.arange(1, arcs.arcs + 1, dtype=np.int32)
    first = Rows(arcs.row_start, numbers, arcs.ilabel, arcs.target, arcs.weights)
    second = Rows(arcs.row_start, arcs.ilabel, numbers, arcs.target, arcs.weights)
    keys, rows = products(first, second, np.isfinite(arcs.final), (arcs.start, arcs.start), "comparison of paths")
    is_final = np.isfinite(arcs.final)
    ends = is_final[keys >> 32] & is_final[(keys & 0xFFFFFFFF) >> 1]
    return _trimmed(rows, leads_to(rows.row_start, rows.target, ends)), ends.tolist()


def _trimmed(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """The rows without arcs to removed states; states keep their numbers."""
    arcs = kept[rows.target]
    row_start = np.concatenate([[0], np.cumsum(arcs)])[rows.row_start]
    return Rows._make([row_start, *(column[arcs] for column in rows[1:])])


def _written(arcs: Arcs, arc: int) -> Labels:
    label = int(arcs.olabel[arc]) if arc >= 0 else 0
    return (label,) if label else ()


def _delayed(delay: Delay, first: Labels, second: Labels) -> Delay:
    """The delay after both paths have written more.

    Examples:
        >>> _delayed(((), (97,)), (97, 98), ()), _delayed(((), (97,)), (98,), ())
        (((98,), ()), None)
    """
    if delay is None:
        return None
    first, second = delay[0] + first, delay[1] + second
    common = min(len(first), len(second))
    return (first[common:], second[common:]) if first[:common] == second[:common] else None


def _ambiguity(arcs: Arcs, steps: list[_Step], number: int) -> Ambiguity:
    """The labels on the way to a step."""
    taken = []
    while number > 0:
        taken.append(steps[number].arcs)
        number = steps[number].before
    taken.reverse()
    first, second = ([pair[side] for pair in taken if pair[side] >= 0] for side in (0, 1))
    columns = (arcs.ilabel[first], arcs.olabel[first], arcs.olabel[second])
    return Ambiguity(*(tuple(column[column != 0].tolist()) for column in columns))


MAX_PAIRS = 1 << 10  # pairs of input and output that are compared one by one


def is_equivalent(first: Arcs, second: Arcs) -> bool:
    """Whether two machines have the same pairs of input and output, with the same weights (up to 2⁻¹⁰).

    In functional transducers, the input determines the output. So they are equivalent if their inputs have the same weights, and their
    union is functional. The equivalence of other transducers is undecidable in general. Transducers with few pairs are compared pair by
    pair; others are equivalent if they are equivalent as acceptors of pairs of labels.
    """
    first, second = with_shared_symbols([first, second])
    if first.is_acceptor and second.is_acceptor:
        return _accept_the_same(first, second)
    is_open = OTHER in first.symbols
    first, second = sampled(first), sampled(second)
    functional = [is_functional(machine) for machine in (first, second)]
    if functional[0] != functional[1]:
        return False
    if all(functional):
        inputs = [project(machine, "input") for machine in (first, second)]
        return _accept_the_same(*inputs) and is_functional(union([first, second]))
    if is_open:
        raise UnsupportedError("the transducers have several outputs for an input, and arcs for any other symbol; close() them first")
    return _have_the_same_pairs(first, second)


def _have_the_same_pairs(first: Arcs, second: Arcs) -> bool:
    """Whether two transducers have the same pairs, where this can be decided; see `is_equivalent`."""
    listed, others = _listed(first), _listed(second)
    if len(listed) != len(others):
        return False
    if len(listed) <= MAX_PAIRS:
        return listed.keys() == others.keys() and all(abs(weight - others[pair]) <= TOLERANCE for pair, weight in listed.items())
    if _accept_the_same(*of_pairs(first, second)[0]):
        return True
    raise UnsupportedError(
        "the transducers have several outputs for an input, and many pairs; their equivalence is undecidable; compare acceptors, or "
        "transducers with one output for each input"
    )


def _listed(arcs: Arcs) -> dict[tuple[Labels, Labels], float]:
    """The pairs of a machine with their weights; at most `MAX_PAIRS` + 1 pairs."""
    return {(read, written): weight for read, written, weight in paths(arcs, MAX_PAIRS + 1)}


class _Rows(NamedTuple):
    row_start: NDArray[np.int64]
    label: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.float32]


def _accept_the_same(first: Arcs, second: Arcs) -> bool:
    first, second = (push(connect(machine) if is_deterministic(machine) else determinize(machine)) for machine in (first, second))
    if not first.states or not second.states:
        return first.states == second.states
    rows, others = (_Rows(machine.row_start, machine.ilabel, machine.target, machine.weights) for machine in (first, second))
    states = first.states + second.states
    parents, queue = np.arange(states, dtype=np.int32), np.empty(2 * states, np.int32)
    final = np.concatenate([first.final, second.final])
    return bool(agree.call(rows, others, final, np.array([first.start, second.start]), parents, queue))
