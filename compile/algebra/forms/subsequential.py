"""Determinization by input: no state of the result has two arcs that read the same label.

A state of the result is a set of states of the machine, each with its *delay* (the labels still to be written) and a weight still to be
added. An arc writes the longest common prefix of all delays after it, and has the smallest of their weights; the rest stays in the set. At
the end of an input, arcs that read nothing write the rest of the output.

Example: with ``ab → x`` and ``ac → y``, the arc that reads a writes nothing, and the next arc writes x or y.

Source: Mohri 1997, *Finite-state transducers in language and speech processing*, Section 4 (p-subsequential transducers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fst.compile.algebra.arcs import EPSILON, Arcs, empty
from fst.compile.algebra.build.chains import Chains
from fst.compile.algebra.connect import connect
from fst.compile.algebra.forms.determinize import need_twins
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.algebra.kernels.room import SizeError
from fst.compile.algebra.other import need_closed

MAX_SIZE = 1 << 22  # maximum number of members of all sets, plus the labels of their delays; a member takes some 300 bytes
SIZE, SIZE_FACTOR = 1 << 18, 256  # maximum of both in small machines: `SIZE`, plus this number for each state
MAX_CLOSED = 1 << 20  # members that follow one set by arcs that read nothing, plus the labels of their delays
STEPS, STEPS_FACTOR = 1 << 22, 1024  # arcs that are followed: `STEPS`, plus this number for each state
MANY_SETS, SETS_FACTOR = 1 << 10, 16  # a weighted machine is tested when it has this many sets and this many for each of its states
DIGITS = 6  # decimals of compared weights

Labels = tuple[int, ...]
Member = tuple[int, Labels]  # a state, or `END` for the end of a path; and the labels that are still to be written
Members = dict[Member, float]  # a member, with the weight that is still to be added
END = -1
REFUSED = "use a machine whose outputs and weights are determined by a bounded part of the input, or fst.compile.lookup"


def determinize_input(arcs: Arcs) -> Arcs:
    """A machine with the same pairs and weights in which no state has two arcs that read the same label. Strings of several labels, and the
    rest of an output at the end of an input, are written by arcs that read nothing. An input with n outputs has n ends.
    """
    need_closed(arcs, "determinization by input")
    arcs = connect(arcs)
    if not arcs.states:
        return empty(arcs.symbols, arcs.unit)
    sets, chains = _Sets(arcs), Chains()
    states = [chains.state()]  # of the sets
    for source, members in enumerate(sets):
        for read, following in sorted(sets.following(members).items()):
            written, weight, rest = _split(following)
            number = sets.number(rest)
            if number == len(states):
                states.append(chains.state())
            chains.add(states[source], read, written, states[number], weight)
        for (state, delay), weight in members.items():
            if state == END and delay:
                chains.add(states[source], EPSILON, delay, chains.state(weight))
            elif state == END:
                chains.end(states[source], weight)
    return connect(chains.machine(arcs.symbols, arcs.unit))


class _Sets:
    """The sets that are found so far, in the order of their numbers. Iteration includes sets that are found during the iteration."""

    def __init__(self, arcs: Arcs) -> None:
        self._arcs, self._rows, self._final = arcs, [[*arcs.arcs_of(state)] for state in range(arcs.states)], arcs.final
        self._size, self._most = 0, min(MAX_SIZE, SIZE + SIZE_FACTOR * arcs.states)
        self._steps = STEPS + STEPS_FACTOR * arcs.states
        self._sets, self._numbers = list[Members](), dict[frozenset[tuple[Member, float]], int]()
        self.number(self._closed({(arcs.start, ()): 0.0}))

    def __iter__(self) -> Iterator[Members]:
        return iter(self._sets)

    def number(self, members: Members) -> int:
        """The number of a set."""
        number = self._numbers.setdefault(frozenset((key, round(weight, DIGITS)) for key, weight in members.items()), len(self._sets))
        if number == len(self._sets):
            self._sets.append(members)
            self._size += sum(1 + len(delay) for _, delay in members)
            if self._size > self._most:
                raise _fault(f"has more than {self._most:,} states and delayed labels in {len(self._sets):,} sets; expected fewer")
            if number == max(MANY_SETS, SETS_FACTOR * self._arcs.states) and self._arcs.is_weighted:
                read = remove_epsilon(replace(self._arcs, olabel=self._arcs.ilabel))
                need_twins(read, read.ilabel)
        return number

    def following(self, members: Members) -> dict[int, Members]:
        """The members after each label that can be read next."""
        found = dict[int, Members]()
        for (state, delay), before in members.items():
            self._take(len(self._rows[state]) if state != END else 0)
            for read, written, target, weight in self._rows[state] if state != END else ():
                if read != EPSILON:
                    _put(found.setdefault(read, {}), (target, _longer(delay, written)), before + weight)
        return {read: self._closed(targets) for read, targets in found.items()}

    def _closed(self, members: Members) -> Members:
        """The given members, and the members that follow by arcs that read nothing: those that read something, and the ends of paths."""
        waiting, size = [*members], 0
        while waiting:
            state, delay = waiting.pop()
            size += 1 + len(delay)
            if size > MAX_CLOSED:
                raise _fault(f"follows arcs that read nothing and write more than {MAX_CLOSED:,} labels; expected fewer")
            self._take(len(self._rows[state]))
            for read, written, target, weight in self._rows[state]:
                following = target, _longer(delay, written)
                if read == EPSILON and _put(members, following, members[state, delay] + weight):
                    waiting.append(following)
        kept: Members = {}
        for (state, delay), weight in members.items():
            if any(read != EPSILON for read, _, _, _ in self._rows[state]):
                kept[state, delay] = weight
            if np.isfinite(self._final[state]):
                _put(kept, (END, delay), weight + float(self._final[state]))
        return kept

    def _take(self, steps: int) -> None:
        """Follow some arcs."""
        self._steps -= steps
        if self._steps < 0:
            raise _fault(f"follows too many arcs for its {len(self._sets):,} sets of states; expected fewer")


def _fault(found: str) -> SizeError:
    return SizeError(f"determinization by input {found}", REFUSED)


def _put(members: Members, key: Member, weight: float) -> bool:
    """Keep the smaller weight of a member; return whether the member is new or lighter."""
    is_better = weight < members.get(key, np.inf)
    if is_better:
        members[key] = weight
    return is_better


def _longer(delay: Labels, written: int) -> Labels:
    return (*delay, written) if written != EPSILON else delay


def _split(members: Members) -> tuple[Labels, float, Members]:
    """The longest common prefix of all delays, the smallest weight, and the members without this prefix and weight.

    Examples:
        >>> _split({(1, (97, 98)): 1.0, (2, (97,)): 3.0})
        ((97,), 1.0, {(1, (98,)): 0.0, (2, ()): 2.0})
    """
    delays, least = [delay for _, delay in members], min(members.values(), default=0.0)
    size = next((at for at, labels in enumerate(zip(*delays, strict=False)) if len({*labels}) > 1), min(map(len, delays), default=0))
    rest = {(state, delay[size:]): weight - least for (state, delay), weight in members.items()}
    return delays[0][:size] if delays else (), least, rest
