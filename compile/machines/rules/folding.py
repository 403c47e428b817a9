"""Transducers whose arcs read one character each: arcs that read nothing are folded, and arcs over bytes are joined to characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.algebra.machine import Fst
from fst.errors import UnsupportedError

MAX_ARCS = 1 << 20  # maximum number of arcs without ε
LATIN = "latin-1"  # the encoding in which characters are bytes
LONGEST = 4  # maximum number of bytes of a character


class Arc(NamedTuple):
    """An arc that reads one character, and writes a string."""

    text: str
    target: int


class Machine(NamedTuple):
    """A transducer whose arcs read one character each.

    Attributes:
        arcs: for each state, the arcs on each character.
        finals: the string that each final state writes.
        start: the first state.
    """

    arcs: Sequence[dict[str, list[Arc]]]
    finals: dict[int, str]
    start: int


def folded_arcs(machine: Fst) -> Machine:
    """Fold the arcs of a transducer over characters."""
    return _folded(machine, lambda label: machine.text_of([label]))


def characters_of(machine: Fst) -> Machine:
    """Fold the arcs of a transducer over the bytes of UTF-8, and join arcs that read a character one after the other.

    An arc may write a part of a character. Then the bytes are added to those of the next arc, so a state of the result is a state of the
    transducer, with bytes that are not yet written.

    Raises:
        UnsupportedError: the result has too many arcs.
    """
    return _Joined(_folded(machine, lambda label: _bytes_of(machine, label))).machine()


def _bytes_of(machine: Fst, label: int) -> str:
    """What a label over bytes writes, with a character for each byte."""
    return machine.text_of([label]).encode().decode(LATIN) if label >= CODE_POINTS else chr(label) if label else ""


class _Joined:
    """The states of a transducer over bytes, with bytes that are not yet written."""

    def __init__(self, machine: Machine) -> None:
        self._machine, start = machine, (machine.start, "")
        self._numbers, self._listed, self._count = {start: 0}, [start], 0

    def machine(self) -> Machine:
        """The transducer over characters."""
        arcs, finals = list[dict[str, list[Arc]]](), dict[int, str]()
        for number, (state, held) in enumerate(self._listed):
            arcs.append({})
            for char, written, target in self._characters(state, held):
                arcs[-1].setdefault(char, []).append(self._arc(written, target))
            text, rest = _decoded(held + self._machine.finals.get(state, ""))
            if state in self._machine.finals and not rest:
                finals[number] = text
        return Machine(arcs, finals, 0)

    def _characters(self, state: int, held: str) -> Iterator[tuple[str, str, int]]:
        """The characters that can be read in a state, with the bytes to write, and the state of the transducer after them."""
        waiting = [("", held, state)]
        while waiting:
            read, written, reached = waiting.pop()
            for byte, arcs in self._machine.arcs[reached].items():
                if not _may_follow(read, byte):
                    continue
                char, rest = _decoded(read + byte)
                for arc in arcs:
                    if char:
                        yield char, written + arc.text, arc.target
                    elif len(rest) < LONGEST:
                        waiting.append((rest, written + arc.text, arc.target))

    def _arc(self, written: str, target: int) -> Arc:
        self._count += 1
        if self._count > MAX_ARCS:
            raise UnsupportedError(f"the transducer reads too many characters: more than {MAX_ARCS:,} arcs; restrict its alphabet")
        text, rest = _decoded(written)
        state = target, rest
        if len(rest) >= LONGEST:
            raise UnsupportedError(f"the transducer writes the bytes {rest.encode(LATIN)!r}; expected UTF-8")
        number = self._numbers.setdefault(state, len(self._listed))
        if number == len(self._listed):
            self._listed.append(state)
        return Arc(text, number)


def _may_follow(read: str, byte: str) -> bool:
    """Whether a byte may follow the bytes of an incomplete character; a character begins with ASCII or with a lead byte."""
    return "\x80" <= byte < "\xc0" if read else byte < "\x80" or "\xc2" <= byte < "\xf5"


def _decoded(data: str) -> tuple[str, str]:
    """The characters of bytes, and the bytes of an incomplete character at their end; nothing for other bytes."""
    content = data.encode(LATIN)
    for size in range(min(len(content), 3) + 1):
        with suppress(UnicodeDecodeError):
            return content[: len(content) - size].decode(), data[len(data) - size :]
    return "", data


def _folded(machine: Fst, spell: Callable[[int], str]) -> Machine:
    """Fold the arcs that read nothing into the arcs after them, and into finals. `spell` returns what a label writes."""
    if not machine.states:
        return Machine([{}], {}, 0)
    arcs: list[dict[str, list[Arc]]] = [{} for _ in range(machine.states)]
    finals, count = dict[int, str](), 0
    for state in range(machine.states):
        for reached, before in _closure(machine, state, spell).items():
            if np.isfinite(machine.final[reached]):
                finals[state] = before
            for read, written, target, _ in machine.arcs_of(reached):
                if read:
                    arcs[state].setdefault(chr(read), []).append(Arc(before + spell(written), target))
                    count += 1
        if count > MAX_ARCS:
            raise UnsupportedError(f"the transducer has more than {MAX_ARCS:,} arcs without those that read nothing")
    return Machine(arcs, finals, machine.start)


def _closure(machine: Fst, state: int, spell: Callable[[int], str]) -> dict[int, str]:
    """The states that can be reached without reading, each with the string that is written; it is unique in a functional machine."""
    found, waiting = {state: ""}, [state]
    while waiting:
        reached = waiting.pop()
        for read, written, target, _ in machine.arcs_of(reached):
            if not read and target not in found:
                found[target] = found[reached] + spell(written)
                waiting.append(target)
    return found
