"""Automata that call each other, for the texts of guides: a part is a value of a schema or a rule of a grammar.

A part is made when a walk first enters it. Its arcs read bytes; its *moves* read nothing: they skip, call other parts, and count.

Example: the texts ``()``, ``(())``, ``((()))`` and so on are one part, which calls itself::

    state   arcs and moves
    0       reads "(" → 1
    1       calls the part → 2; skips → 2
    2       reads ")" → 3, the end
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from fst.automata.rows import Array

SKIP, CALL, ENTER, COUNT, EXIT, MISS, USE = range(7)  # kinds of moves
UNLIMITED = -1  # as `most` of a count
FINAL, RETURNS, FREE, OPEN = 1, 2, 4, 8  # flags of states; `RETURNS`: final, without arcs and moves


class Part(NamedTuple):
    """An automaton that is entered by calls. State 0 is the start.

    The texts of a part are not empty, except for the part that reads whole texts: a caller that allows an empty text skips the call. No arc
    or move leads to the start. A final state is reachable from every state, and every called part has a text. Without reading a byte, no
    part calls itself, directly or through others (left recursion).

    Moves, with their two numbers:

    ======= ================ ================================================================================================
    `SKIP`  0, 0             go on without reading
    `CALL`  part, 0          read a text of a part
    `ENTER` least, most      begin a *tally*, with a count of 0, no missing keys and no used keys. At least `least` and at most `most`
                             are counted; `UNLIMITED`: any number
    `COUNT` 0, 0             add 1 to the count of the innermost tally, if the count is then at most `most` less the missing keys
    `EXIT`  0, 0             end the innermost tally, if its count is at least `least`, and no key is missing
    `MISS`  number, 0        set the number of missing keys in the innermost tally
    `USE`   key, is_missing  use a key that the innermost tally has not used; 1 for `is_missing`: one missing key fewer
    ======= ================ ================================================================================================

    Between `ENTER` and `EXIT`, a tally belongs to the part: calls from there see tallies of their own.

    Attributes:
        arcs: int32[n, 4], sorted by their states: a state, the first and the last byte of a range, and the next state.
        moves: int32[n, 5], sorted by their states: a state, the kind of the move, two numbers that depend on the kind, and the next state.
        flags: uint8[states]. `FINAL`: the part may end, where no tally is open. `FREE`: before each character of a string of JSON in which
            every character, unescaped or escaped, leads back to the state, perhaps counted by a `COUNT` before it, and a quotation mark
            leads on, perhaps after an `EXIT`. `OPEN`: before characters of other strings of JSON, from which every sequence of unescaped
            characters, of any length, is the beginning of a text; for example, before a name that is not one of two names.
    """

    arcs: Array
    moves: Array
    flags: Array

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.flags)


class Texts(Protocol):
    """The texts of a guide, as parts. Part 0 reads whole texts, and may be empty."""

    def part(self, number: int) -> Part:
        """Part 0, or a part that is called by a part made before. Each number is requested once, when the part is first needed."""
        ...
