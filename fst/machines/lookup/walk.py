"""The slow walk of look-up, which specifies the kernel. Its time does not depend on the number of paths.

A *configuration* is a state with the registers of features, after a number of symbols. The walk goes depth first, in the order of the
table, from each configuration once for each string that is written before it: a second time would give the same analyses.

Few registers matter to the rest of a path. Values that all operations of the table treat alike are one value
(`fst.automata.flags.Alike`). After all paths from a configuration are followed, it is known on which features these paths depend:
the features that a path tests before it sets them. If no path reaches an end, one failing test for each path suffices. Configurations that
differ only in other features are one *node*, so most combinations of features are never followed. A node is a number, or `DEAD` if no path
from it reaches an end.

Some tables still have exponentially many nodes, because flag diacritics can express any puzzle of logic; so the number of steps is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key
from typing import Any, NamedTuple

import numpy as np

from fst.automata import flags
from fst.errors import TextError, quoted
from fst.machines.lookup.arcs import Registers, arcs_of, finals_of
from fst.machines.lookup.layout import BEGINS, CUT, END, END_FOLDED, EPSILON, MAX_ANALYSES, MAX_STEPS, NODE_SHIFT, ROOTS, SYMBOL_STEPS

BITS = np.dtype(np.int32)
PLACE_STEPS = 6  # number of moves that take as long as reaching a place for the first time
DEAD, ENDS = -1, -2  # instead of the number of a node: no path from the node reaches an end; the move is a final

Written = tuple[int, bool]  # the number of a string in `Strings`, and whether a symbol was read in lower case
Place = tuple[int, int, bool]  # number of symbols, state, whether a symbol was read in lower case
Pauses = tuple[int, Any]  # the pauses after the last symbol, and the `Pauses` before this symbol, or None
Key = tuple[np.float32, Pauses | None]  # the key by which analyses are sorted: the weight and, in running text, the pauses


class Symbol(NamedTuple):
    """A symbol of a text: its class, its class in lower case or `EPSILON`, and its end in units."""

    number: int
    lower: int
    end: int


class Move(NamedTuple):
    """An arc or a final: its piece, weight and pauses, whether it is a pause, its operations, and the place after it (None: a final)."""

    piece: int
    weight: np.float32
    pauses: int
    is_pause: bool
    operations: Sequence[int]
    to: Place | None


def analyses(table: Any, text: str, *, inverse: bool = False, limit: int = MAX_ANALYSES) -> list[int]:
    """The ids of the analyses of a word; with `inverse`, of the forms that it generates."""
    units, symbols, at = units_of(text), list[Symbol](), 0
    while at < len(units):
        symbols.append(symbol_at(table, units, at, inverse=inverse)._replace(lower=EPSILON))
        at = symbols[-1].end
    if any(symbol.number == EPSILON for symbol in symbols):
        return []
    with Steps(text) as steps:
        return ids_of(table, symbols, steps, inverse=inverse, limit=limit, in_text=False)


def ids_of(table: Any, symbols: Sequence[Symbol], steps: Steps, *, inverse: bool, limit: int, in_text: bool) -> list[int]:
    """The ids of the analyses of some symbols; `in_text` sorts analyses as in running text. For other arguments, see `analyses`."""
    is_sorted = in_text or table.is_weighted
    steps.add(len(symbols))
    walk = Walk(table, symbols, steps, MAX_ANALYSES if is_sorted else limit, is_sorted=is_sorted)
    walk.follow((0, int(table.begin(inverse=inverse)[0]), False))
    found, is_cut = [*walk.found], walk.is_cut or len(walk.found) > limit
    keys = walk.keys(in_text=in_text) if is_sorted else {}
    rows = sorted(found, key=lambda written: _ORDER(keys[written])) if is_sorted else found
    ids = list[int]()
    for written in rows[:limit]:
        ids += [*walk.found[written], END_FOLDED if written[1] else END]
        ids += [int(keys[written][0].view(BITS))] if table.is_weighted else []
    return [*ids, CUT] if is_cut else ids


def units_of(text: str) -> list[int]:
    """The UTF-16 units of a text."""
    units: list[int] = np.frombuffer(text.encode("utf-16-le"), "<u2").tolist()
    return units


def symbol_at(table: Any, units: Sequence[int], at: int, *, inverse: bool = False) -> Symbol:
    """The longest symbol that begins at a position. Only a symbol of one unit may be read in lower case."""
    record = int(table.units[units[at]])
    found, end = record & BEGINS - 1, at + 1
    node, place = int(inverse), at
    while record & BEGINS and place < len(units):
        key = node << NODE_SHIFT | units[place]
        edge = int(np.searchsorted(table.symbol_keys, np.uint64(key)))
        if edge == len(table.symbol_keys) or int(table.symbol_keys[edge]) != key:
            break
        node, place = ROOTS + edge, place + 1
        if table.symbol_classes[edge]:
            found, end = int(table.symbol_classes[edge]), place
    lower = int(table.lower_units[units[at]])
    return Symbol(found, int(table.units[lower]) & BEGINS - 1 if lower and end == at + 1 else EPSILON, end)


def moves_of(table: Any, symbols: Sequence[Symbol], place: Place) -> Iterator[Move]:
    """Yield the finals and the arcs of a place, in the order of the table."""
    at, state, is_folded = place
    if at == len(symbols):
        for final in finals_of(table, state):
            yield Move(final.piece, final.weight, final.pauses, False, final.operations, None)
    labels = [(at, EPSILON, is_folded)]
    if at < len(symbols):
        labels += [(at + 1, symbols[at].number, is_folded), (at + 1, symbols[at].lower, True)]
    for number, (after, label, folds) in enumerate(labels):
        for arc in arcs_of(table, state, label) if label != EPSILON or number == 0 else ():
            yield Move(arc.piece, arc.weight, arc.pauses, number == 0, arc.operations, (after, arc.target, folds))


class SpentError(Exception):
    """All steps that the walk may take are taken."""


class Steps:
    """The steps that a walk may still take. As a context, it raises an error if the look-up of the word `text` takes more steps."""

    def __init__(self, text: str) -> None:
        self._text, self._left = text, MAX_STEPS

    def add(self, symbols: int) -> None:
        """Allow the steps for some symbols, so that any word with few paths is looked up."""
        self._left += SYMBOL_STEPS * symbols

    def take(self, count: int) -> None:
        """Take some steps."""
        self._left -= count
        if self._left < 0:
            raise SpentError

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, SpentError):
            raise TextError(
                f"the look-up of {quoted(self._text)} takes more than {MAX_STEPS:,} steps; expected at most as many; remove flags that "
                "are set in many combinations from the transducer, or ask for fewer analyses with limit"
            ) from None


class Strings:
    """Strings as numbers, so that equal strings are equal numbers; 0 is the empty string."""

    def __init__(self, table: Any, steps: Steps) -> None:
        self._pieces, self._steps = table.pieces, steps
        self._numbers, self._characters = dict[tuple[int, int], int](), dict[tuple[int, str], int]()

    def number(self, before: int, piece: int) -> int:
        """The number of the concatenation of a string and a piece."""
        if not piece:
            return before
        if (before, piece) not in self._numbers:
            number, text = before, self._pieces[piece]
            self._steps.take(len(text))
            for character in text:
                number = self._characters.setdefault((number, character), len(self._characters) + 1)
            self._numbers[before, piece] = number
        return self._numbers[before, piece]


_Moves = Iterable[tuple[Move, "int | None"]]


class _Frame:
    """A configuration or a node on the current path.

    Attributes:
        place, registers: the configuration; without registers, the place of the node.
        prefix, piece: the number of the string that is written before the configuration, and the last piece of this string.
        visit: the number of the pair of node and prefix.
        moves: the moves that are not taken yet, each with the node after it, or None if the node is not known.
        followed: the moves that reach an end, each with the node after it.
        mask: the features on whose values the moves depend.
        taken, outcome: the current move, and the outcome of its condition.
    """

    __slots__ = ("followed", "mask", "moves", "outcome", "piece", "place", "prefix", "registers", "taken", "visit")

    def __init__(self, place: Place, registers: Registers | None, written: tuple[int, int], visit: int, moves: _Moves) -> None:
        self.place, self.registers, (self.prefix, self.piece), self.visit, self.moves = place, registers, written, visit, iter(moves)
        self.followed, self.mask = list[tuple[Move, int]](), 0
        self.taken: Move
        self.outcome: flags.Outcome


class Walk:
    """The paths that read some symbols, with at most `most` analyses; if `is_sorted`, in the order of `keys`.

    Attributes:
        found: the pieces of each analysis, by the number of the analysis's string and whether a symbol was read in lower case; in the order
            of paths.
        is_cut: whether there may be more analyses.
    """

    def __init__(self, table: Any, symbols: Sequence[Symbol], steps: Steps, most: int, *, is_sorted: bool) -> None:
        self._table, self._symbols, self._steps, self._most, self._is_sorted = table, symbols, steps, most, is_sorted
        self._strings, self._alike, self._cost = Strings(table, steps), table.alike, 1 + (table.metadata.settings.features >> 6)
        self.found, self.is_cut = dict[Written, list[int]](), False
        self._moves, self._stack = dict[Place, list[tuple[Move, int | None]]](), list[_Frame]()
        self._known = dict[Place, dict[int, dict[Registers, int]]]()  # place → mask of features → their registers → node
        self._nodes = list[list[tuple[Move, int]]]()  # the moves of each node that reach an end, each with the node after it
        self._visits = dict[tuple[int, int], int]()  # node and prefix → their number
        self._visit_count, self._finished = 0, list[int]()  # the finished visits, each after the visits that follow it on a path. For
        # sorted analyses: the visits before each visit, and before each analysis
        self._before, self._ends = dict[int, list[tuple[int, Move]]](), dict[Written, list[tuple[int, Move]]]()

    def follow(self, root: Place) -> None:
        """Follow all paths from a place."""
        self._stack = [self._configuration(root, (0,) * self._table.metadata.settings.features, (0, 0))]
        try:
            while self._stack and not self.is_cut:
                self._advance(self._stack[-1])
        except SpentError:
            if self._is_sorted or len(self.found) < self._most:
                raise
            self.is_cut = True
        self._finished += [frame.visit for frame in reversed(self._stack)]

    def keys(self, *, in_text: bool) -> dict[Written, Key]:
        """The smallest key of all paths of each analysis; keys contain pauses if `in_text`."""
        fronts = dict[int, list[Key]]()
        start: Key = np.float32(0), (0, None) if in_text else None
        for visit in reversed(self._finished):
            before = [_after(key, move) for source, move in self._before.get(visit, ()) for key in fronts[source]]
            self._steps.take(len(before))
            fronts[visit] = _smallest(before) if before else [start]
        return {
            written: min((_after(key, move) for source, move in sources for key in fronts[source]), key=_ORDER)
            for written, sources in self._ends.items()
        }

    def _configuration(self, place: Place, registers: Registers, written: tuple[int, int]) -> _Frame:
        """Begin to follow a configuration."""
        self._steps.take(self._cost)
        if place not in self._moves:
            self._steps.take(PLACE_STEPS)
            self._moves[place] = [(move, None) for move in moves_of(self._table, self._symbols, place)]
        return self._frame(place, registers, written, self._moves[place])

    def _frame(self, place: Place, registers: Registers | None, written: tuple[int, int], moves: _Moves) -> _Frame:
        self._visit_count += 1
        return _Frame(place, registers, written, self._visit_count, moves)

    def _advance(self, frame: _Frame) -> None:
        """Take the next move of the last frame; if none is left, close the frame."""
        self._steps.take(1)
        move, node = next(frame.moves, (None, None))
        if move is None:
            self._close(self._stack.pop())
        elif node is None:
            self._try(frame, move)
        else:
            self._enter(frame, move, node)

    def _try(self, frame: _Frame, move: Move) -> None:
        """Take a move of a configuration, if its condition holds."""
        assert frame.registers is not None
        self._steps.take(self._cost if move.operations else 0)
        frame.taken, frame.outcome = move, flags.applied(move.operations, frame.registers)
        registers = frame.outcome.registers
        if registers is None:
            frame.mask |= frame.outcome.decided
        elif move.to is None:
            self._decide(frame, 0, ENDS)
        else:
            registers = self._alike.registers(registers, frame.outcome.fixed)
            mask, node = self._node_of(move.to, registers)
            if node is None:
                written = self._strings.number(frame.prefix, move.piece), move.piece
                self._stack.append(self._configuration(move.to, registers, written))
                self._precede(frame, move, self._stack[-1].visit)
            else:
                self._decide(frame, mask, node)

    def _node_of(self, place: Place, registers: Registers) -> tuple[int, int | None]:
        """The features on which a configuration depends, and its node; None if the configuration has not been followed yet."""
        for count, (mask, nodes) in enumerate(self._known.get(place, {}).items()):
            self._steps.take(count and 1)
            node = nodes.get(_chosen(registers, mask))
            if node is not None:
                return mask, node
        return 0, None

    def _decide(self, frame: _Frame, mask: int, node: int) -> None:
        """Note the node after the current move of a configuration, and the features on which this node depends; and go there."""
        frame.mask |= mask & ~frame.outcome.fixed
        if node != DEAD:
            frame.mask |= frame.outcome.decided
            frame.followed.append((frame.taken, node))
            self._enter(frame, frame.taken, node)

    def _enter(self, frame: _Frame, move: Move, node: int) -> None:
        """Go to a node, unless the walk has been there with the same string written; after a final, add an analysis."""
        prefix = self._strings.number(frame.prefix, move.piece)
        if move.to is None:
            self._add(frame, move, (prefix, frame.place[2]))
            return
        visit = self._visits.get((node, prefix))
        if visit is None:
            self._stack.append(self._frame(move.to, None, (prefix, move.piece), self._nodes[node]))
            visit = self._visits[node, prefix] = self._stack[-1].visit
        self._precede(frame, move, visit)

    def _precede(self, frame: _Frame, move: Move, visit: int) -> None:
        if self._is_sorted:
            self._before.setdefault(visit, []).append((frame.visit, move))

    def _add(self, frame: _Frame, move: Move, written: Written) -> None:
        """Add the analysis of the current path."""
        if written not in self.found:
            if len(self.found) == self._most:
                self.is_cut = True
                return
            self._steps.take(len(self._stack))
            self.found[written] = [piece for piece in (*(each.piece for each in self._stack), move.piece) if piece]
        if self._is_sorted:
            self._ends.setdefault(written, []).append((frame.visit, move))

    def _close(self, frame: _Frame) -> None:
        """Make a node of a configuration whose moves have all been taken."""
        self._finished.append(frame.visit)
        if frame.registers is None:
            return
        node = len(self._nodes) if frame.followed else DEAD
        self._known.setdefault(frame.place, {}).setdefault(frame.mask, {})[_chosen(frame.registers, frame.mask)] = node
        if node != DEAD:
            self._nodes.append(frame.followed)
            self._visits[node, frame.prefix] = frame.visit
        if self._stack:
            before = self._stack[-1]
            before.mask |= frame.mask & ~before.outcome.fixed
            if node != DEAD:
                before.mask |= before.outcome.decided
                before.followed.append((before.taken, node))


def _chosen(registers: Registers, mask: int) -> Registers:
    """The registers of the features in a mask."""
    return tuple([registers[feature] for feature in flags.members(mask)])


def _after(key: Key, move: Move) -> Key:
    """The key of a path after a move."""
    weight, pauses = key[0] + move.weight, key[1]
    if pauses is None:
        return weight, None
    pauses = pauses[0] + move.pauses + move.is_pause, pauses[1]
    return weight, pauses if move.is_pause or move.to is None else (0, pauses)


def _compared(one: Key, other: Key) -> int:
    """-1, 0 or 1 if the first key is less than, equal to or greater than the second. The smaller weight comes first; then fewer pauses at
    the end, then fewer pauses before the last symbol …
    """
    if one[0] != other[0]:
        return -1 if one[0] < other[0] else 1
    first, second = one[1], other[1]
    while first is not second and first is not None and second is not None:
        if first[0] != second[0]:
            return -1 if first[0] < second[0] else 1
        first, second = first[1], second[1]
    return 0


_ORDER = cmp_to_key(_compared)


def _smallest(keys: Iterable[Key]) -> list[Key]:
    """The keys that may be the smallest after further moves: a sum may round a difference away, so that pauses count."""
    kept = list[Key]()
    for key in sorted(keys, key=_ORDER):
        if not kept or _compared((kept[-1][0], key[1]), kept[-1]) < 0:
            kept.append(key)
    return kept
