"""Parts by their definition: the set of all walks, each with its own stack, after every byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from fst.machines.guide.parts import CALL, COUNT, ENTER, EXIT, FINAL, MISS, SKIP, UNLIMITED, USE, Part

MAX_STACK = 200  # maximum number of frames of a walk: more come from a part that calls itself without reading


class Tally(NamedTuple):
    """A frame between `ENTER` and `EXIT`."""

    least: int
    most: int
    counted: int = 0
    missing: int = 0
    used: frozenset[int] = frozenset()


class Return(NamedTuple):
    """A frame of a call: where the walk goes on after the called part."""

    part: int
    state: int


Stack = tuple[Tally | Return, ...]
Walk = tuple[int, int, Stack]  # a part, its state, and the frames


class Parts:
    """The walks through parts.

    Args:
        part_of: returns a part for its number; number 0 reads whole texts.
    """

    def __init__(self, part_of: Callable[[int], Part]) -> None:
        self._part_of = part_of

    def after(self, text: bytes) -> set[Walk]:
        """All walks that read a text, with the moves after it."""
        walks = self._moved([(0, 0, ())])
        for byte in text:
            walks = self.step(walks, byte)
        return walks

    def step(self, walks: set[Walk], byte: int) -> set[Walk]:
        """The walks after another byte."""
        return self._moved(
            (part, end, stack)
            for part, state, stack in walks
            for before, first, last, end in self._part_of(part).arcs.tolist()
            if before == state and first <= byte <= last
        )

    def is_end(self, walks: set[Walk]) -> bool:
        """Whether the text may end after these walks."""
        return any(not stack and self._part_of(part).flags[state] & FINAL for part, state, stack in walks)

    def reads(self, text: bytes) -> tuple[bool, bool]:
        """Whether a text is the beginning of a text of the parts, and whether it is a text of the parts."""
        walks = self.after(text)
        return bool(walks), self.is_end(walks)

    def _moved(self, walks: Iterable[Walk]) -> set[Walk]:
        found = {*walks}
        work = [*found]
        while work:
            part, state, stack = work.pop()
            assert len(stack) <= MAX_STACK, "a part calls itself without reading"
            new: list[Walk] = []
            if self._part_of(part).flags[state] & FINAL and stack:
                frame = stack[-1]
                assert isinstance(frame, Return), "a tally is open at the end of a part"
                new.append((frame.part, frame.state, stack[:-1]))
            for before, kind, first, second, end in self._part_of(part).moves.tolist():
                if before == state:
                    new += self._move(part, stack, (kind, first, second, end))
            work += {*new} - found
            found.update(new)
        return found

    @staticmethod
    def _move(part: int, stack: Stack, move: tuple[int, int, int, int]) -> list[Walk]:
        kind, first, second, end = move
        if kind == SKIP:
            return [(part, end, stack)]
        if kind == CALL:
            return [(first, 0, (*stack, Return(part, end)))]
        if kind == ENTER:
            return [(part, end, (*stack, Tally(first, second)))]
        frame: Any = stack[-1]
        rest = stack[:-1]
        if kind == EXIT:
            return [(part, end, rest)] if frame.counted >= frame.least and not frame.missing else []
        if kind == MISS:
            return [(part, end, (*rest, frame._replace(missing=first)))]
        if kind == USE:
            used = frame._replace(used=frame.used | {first}, missing=frame.missing - second)
            return [] if first in frame.used else [(part, end, (*rest, used))]
        assert kind == COUNT
        is_limited = frame.most != UNLIMITED
        count = frame.counted + 1 if is_limited else min(frame.counted + 1, frame.least)
        return [] if is_limited and count > frame.most - frame.missing else [(part, end, (*rest, frame._replace(counted=count)))]


def finals_of(part: Part) -> set[int]:
    """The states where a part may end."""
    return {state for state, flags in enumerate(part.flags) if flags & FINAL}


def assert_sound(part: Part, may_be_empty: bool = False) -> None:
    """Assert that nothing leads to the start, that all states are on a path to an end, and that the part has no empty text."""
    edges = part.arcs[:, [0, 3]].tolist() + part.moves[:, [0, 4]].tolist()
    assert 0 not in {after for _, after in edges}
    reached, ending = {0}, {*finals_of(part)}
    for _ in range(part.states):
        reached |= {after for before, after in edges if before in reached}
        ending |= {before for before, after in edges if after in ending}
    assert reached == ending == {*range(part.states)}
    assert may_be_empty or 0 not in _skipped(part), "a part has an empty text"


def _skipped(part: Part) -> set[int]:
    """The states from which only skips lead to an end."""
    found = finals_of(part)
    for _ in range(part.states):
        found |= {move[0] for move in part.moves.tolist() if move[1] == SKIP and move[4] in found}
    return found
