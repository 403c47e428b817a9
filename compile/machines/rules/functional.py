"""Make the two passes of a functional transducer, see `fst.machines.rules.table`.

In the pass to the left, the set at a boundary contains the states from which the rest of the text is accepted. The pass to the right takes
the first arc on the next character that leads to a state in the set after this character. One such path is enough, because all paths of a
text write the same string.

A text that the transducer does not accept is copied.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fst.compile.algebra.forms.characters import over_characters
from fst.compile.algebra.kernels.room import SizeError
from fst.compile.algebra.machine import Fst
from fst.compile.algebra.other import need_closed
from fst.compile.machines.rules.folding import Machine, folded_arcs
from fst.compile.machines.rules.passes import Numbering, Passes, Strings, merged_passes
from fst.compile.machines.rules.positions import Alphabet, bits
from fst.compile.patterns.code_points import of_text
from fst.errors import UnsupportedError, quoted
from fst.machines.rules.entries import COPY, MAX_ENTRIES, NOTHING

MAX_STEPS = 1 << 22  # maximum number of arcs that are read
MAX_BITS = 1 << 30  # maximum number of bits of all sets of states
TOO_LARGE = f"the passes of the transducer need more than {MAX_ENTRIES:,} transitions; expected at most as many; use fst.compile.lookup"
COPYING = -1  # the state of the pass to the right while it copies a text that is not accepted
START = -2  # the state before the first character


def passes(machine: Fst, strings: Strings) -> Passes:
    """Make both passes."""
    folded = folded_machine(machine)
    characters = sorted({char for arcs in folded.arcs for char in arcs})
    alphabet = Alphabet([of_text(char) for char in characters])
    names = dict(zip(alphabet.of_text("".join(characters)), characters, strict=True))
    targets = [_targets(folded, names.get(read, "")) for read in range(alphabet.size)]
    sources = [_sources(folded, names.get(read, "")) for read in range(alphabet.size)]
    columns = Numbering[tuple[int, int]](1, fault=TOO_LARGE)
    sets, rows = Numbering(alphabet.size, _mask(folded.finals), fault=TOO_LARGE), list[tuple[int, int]]()
    steps = _Steps(len(folded.arcs))
    for accepted in sets.listed:
        for read in range(alphabet.size):
            live = accepted & targets[read]
            steps.take(sum(len(sources[read][target]) for target in bits(live)), len(sets.listed) + len(columns.listed))
            before = _mask(source for target in bits(live) for source in sources[read][target])
            rows.append((sets.number(before), columns.number((read, live))))
    states, entries, finals = Numbering(len(columns.listed), START, fault=TOO_LARGE), list[tuple[int, int, int]](), list[int]()
    for state in states.listed:
        for read, live in columns.listed:
            steps.take(1, 0)
            target, string, copies = _step(folded, state, names.get(read, ""), live, strings)
            entries.append((states.number(target), string, copies))
        text = folded.finals.get(folded.start if state == START else state, "")
        finals.append(strings.number(text) if text else NOTHING)
    made = np.array(entries, np.int64).reshape(len(finals), len(columns.listed), 3)
    return merged_passes(alphabet, rows, made, finals)


def folded_machine(machine: Fst, is_mirrored: bool = False) -> Machine:
    """The transducer, or its reverse, with arcs that read one character each."""
    _check(machine)
    over = Fst.of(over_characters(machine.connect()))
    return folded_arcs(over.reverse(), -1) if is_mirrored else folded_arcs(over)


class _Steps:
    """A limit on the time and the memory for a transducer with a given number of states."""

    def __init__(self, states: int) -> None:
        self._left, self._most_sets = MAX_STEPS, MAX_BITS // (states + 1)

    def take(self, steps: int, sets: int) -> None:
        """Count arcs that are read, and check the number of sets."""
        self._left -= steps
        if self._left < 0 or sets > self._most_sets:
            raise UnsupportedError(
                "the passes of the transducer have too many sets of states; expected a transducer whose states are determined by a shorter "
                "part of the text after them; use fst.compile.lookup"
            )


def _step(machine: Machine, state: int, char: str, live: int, strings: Strings) -> tuple[int, int, int]:
    """Read a character to the right: the new state, the number of the string to write, and `COPY` or 0."""
    arcs = machine.arcs[machine.start if state == START else state].get(char, []) if state != COPYING else []
    arc = next((arc for arc in arcs if live >> arc.target & 1), None)
    if arc is None:  # the text is not accepted, or no text reaches this entry
        return COPYING, NOTHING, COPY
    if arc.text.endswith(char):
        before = arc.text.removesuffix(char)
        return arc.target, strings.number(before) if before else NOTHING, COPY
    return arc.target, strings.number(arc.text) if arc.text else NOTHING, 0


def _check(machine: Fst) -> None:
    need_closed(machine, "a rewriter")
    if machine.is_weighted:
        raise UnsupportedError("the transducer has weights; expected none; compile it with fst.compile.best_path")
    for symbol in machine.alphabet:
        if len(symbol) > 1:
            raise UnsupportedError(f"the transducer reads the symbol {quoted(symbol)}; expected single characters; use fst.compile.lookup")
    try:
        found = machine.find_ambiguity()
    except SizeError as error:
        raise UnsupportedError(f"the transducer may not be functional: {error.fault}; use fst.compile.lookup") from None
    if found:
        text, first, second = map(quoted, found)
        raise UnsupportedError(f"the transducer is not functional: {text} becomes {first} and {second}; use fst.compile.lookup")


def _mask(states: Iterable[int]) -> int:
    found = 0
    for state in states:
        found |= 1 << state
    return found


def _targets(machine: Machine, char: str) -> int:
    """The mask of the targets of arcs on a character."""
    return _mask(arc.target for arcs in machine.arcs for arc in arcs.get(char, []))


def _sources(machine: Machine, char: str) -> dict[int, list[int]]:
    """For each target of arcs on a character, the mask of the states before it."""
    found: dict[int, list[int]] = {}
    for state, arcs in enumerate(machine.arcs):
        for arc in arcs.get(char, []):
            found.setdefault(arc.target, []).append(state)
    return found
