"""Recursive transition networks: automata that call each other, for texts whose single automaton would have too many states.

An arc of a *part* reads a byte, or it *calls* another part and reads a whole text of this part. No text of a called part is the beginning
of another text of it, so the part ends as soon as its final state is reached. No part calls itself, directly or through other parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.guide.builder import BYTES
from fst.compile.machines.guide.languages import ByteAutomaton, Language
from fst.machines.guide.arguments import NO_STATE


class Part(NamedTuple):
    """An automaton that may call others.

    Attributes:
        automaton: the automaton, over bytes and calls.
        callees: for each call, the called part; all callees are different.
    """

    automaton: Language
    callees: list[int]

    def after(self, states: NDArray[Any] | slice, symbols: NDArray[np.int64]) -> NDArray[np.int32]:
        """int32[n, symbols], the next state for each of the given states and bytes."""
        return self.automaton.targets[states][:, self.automaton.classes[symbols]]

    def calls(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The states with the call of a given number, and the states after the call."""
        after = self.automaton.targets[:, self.automaton.classes[BYTES + number]]
        callers = np.flatnonzero(after >= 0)
        return callers, after[callers]


Parts = Sequence[Part]  # the first part reads the texts, and each part calls only later parts


def conflicts(part: Part, callees: Sequence[Part]) -> list[int]:
    """The calls at states where a text of the call and another arc may begin with the same byte."""
    symbols = np.arange(BYTES)
    firsts = np.concatenate([callee.after(slice(1), symbols) >= 0 for callee in callees])
    classes = part.automaton.classes
    _, kinds = np.unique(np.vstack([classes[:BYTES], firsts]), axis=1, return_index=True)  # one byte for all bytes that are alike
    is_called = part.automaton.targets[:, classes[BYTES:]] >= 0
    callers = np.flatnonzero(is_called.any(axis=1))
    is_called, first_kinds = is_called[callers].astype(np.int32), firsts[:, kinds].astype(np.int32)
    readers = (part.after(callers, kinds) >= 0) + is_called @ first_kinds
    found: list[int] = np.flatnonzero(((readers > 1) @ first_kinds.T * is_called).any(axis=0)).tolist()
    return found


def states_of(parts: Parts) -> int:
    """The number of states of the automaton in which each call is replaced by the called part."""
    copies, count = [1] + [0] * (len(parts) - 1), 0
    for number, part in enumerate(parts):
        count += copies[number] * len(_own(part, is_called=number > 0))
        for call, callee in enumerate(part.callees):
            copies[callee] += copies[number] * len(np.unique(part.calls(call)[1]))
    return count


def expanded(parts: Parts) -> ByteAutomaton:
    """The automaton in which each call is replaced by a copy of the called part; calls that lead to the same state share a copy."""
    classes, firsts = _common_classes(parts)
    targets = np.full((states_of(parts), len(firsts)), NO_STATE, np.int32)
    is_final = np.zeros(len(targets), np.bool_)
    none = np.empty(0, np.int64)
    sites: list[list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = [[(none, none)] for _ in parts]  # callers, states after calls
    count = 0
    for number, part in enumerate(parts):
        callers, after = (np.concatenate(each) for each in zip(*sites[number], strict=True))
        ends, copies = np.unique(after, return_inverse=True)
        ends = ends if number else np.array([NO_STATE])
        own, rows = _own(part, is_called=number > 0), part.after(slice(None), firsts)
        numbers = np.full((len(ends), len(rows) + 1), NO_STATE)  # number of each state in each copy; the last column is for no state
        numbers[:, :-1][:, part.automaton.is_final] = ends[:, None]
        numbers[:, own] = count + np.arange(len(ends) * len(own)).reshape(len(ends), len(own))
        count += len(ends) * len(own)
        targets[numbers[:, own]] = numbers[:, rows[own]]
        if number:
            begun = numbers[:, rows[0]][copies]
            targets[callers] = np.where(begun >= 0, begun, targets[callers])
        else:
            is_final[: len(own)] = part.automaton.is_final
        for call, callee in enumerate(part.callees):
            callers, after = part.calls(call)
            sites[callee].append((numbers[:, callers].ravel(), numbers[:, after].ravel()))
    return ByteAutomaton(classes, targets[:count], is_final[:count])


def _own(part: Part, *, is_called: bool) -> NDArray[np.int64]:
    """The states that are copied for each call: all except the start, and the final state, where the caller continues."""
    is_own = ~part.automaton.is_final if is_called else np.ones(len(part.automaton.is_final), np.bool_)
    is_own[0] = not is_called
    return np.flatnonzero(is_own)


def _common_classes(parts: Parts) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """uint8[256], the class of each byte: all parts read the bytes of a class alike; and int64[classes], the first byte of each class."""
    each = np.stack([part.automaton.classes[:BYTES] for part in parts])
    _, firsts, classes = np.unique(each, axis=1, return_index=True, return_inverse=True)
    return classes.ravel().astype(np.uint8), firsts
