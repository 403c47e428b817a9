"""The shortest texts that complete a text of a late guide, for budgets of tokens.

The *completion* of a set of items is its shortest text to the end, in bytes; of equally short texts, the first one in alphabetical order.
What remains of a completion after some bytes is the completion there. So a model that keeps enough tokens for the completion can follow it
to the end, whatever it has written before.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from fst.machines.guide.item_arguments import ACCEPT, DEAD, FRAME_BITS, OUTERMOST
from fst.machines.guide.part_store import PartStore
from fst.machines.guide.parts import CALL, COUNT, ENTER, EXIT, FINAL, MISS, SKIP
from fst.machines.guide.vocabulary import Vocabulary
from fst.runtime.machines.guide.walker import Walker

ENDLESS = 1 << 60  # the length of a text that is not known yet


class Tally(NamedTuple):
    """A count that is open, see `fst.machines.guide.parts.Part`."""

    least: int
    most: int
    missing: int
    used: tuple[int, ...]

    def after(self, kind: int, first: int, second: int) -> Tally | None:
        """The tally after a move; None if it does not allow the move."""
        if kind == MISS:
            return self._replace(missing=first)
        if kind == COUNT:
            most = self.most - (self.most >= 0)
            return None if self.most >= 0 and most < self.missing else self._replace(least=max(self.least - 1, 0), most=most)
        if first in self.used:  # USE
            return None
        return self._replace(missing=self.missing - second, used=tuple(sorted((*self.used, first))))


Tallies = tuple[Tally, ...]  # the innermost one is the last
Place = tuple[int, Tallies]  # a position in a part, and the tallies that the part has opened


class Completions:
    """The completions of sets of items.

    Args:
        store: the parts.
        walker: the sets.
        vocabulary: the vocabulary of the tokenizer.
    """

    def __init__(self, store: PartStore, walker: Walker, vocabulary: Vocabulary) -> None:
        self._store, self._walker, self._vocabulary = store, walker, vocabulary
        self._of_parts: dict[int, int] = {}  # the length of the shortest text of each part
        self._of_places: dict[Place, int] = {}  # the length of the shortest text to the end of the part
        self._of_sets = {DEAD: 0, OUTERMOST: 0}
        self._tokens: dict[int, int] = {}
        self._seen = set[int]()  # positions after which the lengths of all called parts are known
        self._longest = max(len(vocabulary.trie.length_ends) - 1, 1)

    def tokens(self, number: int) -> int:
        """The smallest number of tokens of the completion of a set; `ENDLESS` if the vocabulary cannot write it."""
        if number not in self._tokens:
            self._tokens[number] = self._fewest(self.text(number))
        return self._tokens[number]

    def text(self, number: int) -> bytes:
        """The completion of a set."""
        found = bytearray()
        for left in range(self._length(number) - 1, -1, -1):
            targets = self._walker.targets(number)
            begins = np.flatnonzero(np.diff(targets, prepend=-1))
            byte = next(byte for byte in begins.tolist() if targets[byte] > 0 and self._length(int(targets[byte])) == left)
            found.append(byte)
            number = int(targets[byte])
        return bytes(found)

    def _fewest(self, text: bytes) -> int:
        """The smallest number of tokens whose bytes are a text."""
        known = self._vocabulary.once("contents", self._contents)
        fewest = [0, *[ENDLESS] * len(text)]
        for end in range(1, len(text) + 1):
            starts = range(max(end - self._longest, 0), end)
            fewest[end] = min((fewest[start] + 1 for start in starts if text[start:end] in known), default=ENDLESS)
        return min(fewest[-1], ENDLESS)

    def _contents(self) -> frozenset[bytes]:
        """The bytes of all tokens."""
        return frozenset(map(self._vocabulary.content, range(self._vocabulary.size))) - {b""}

    # Lengths in bytes.

    def _length(self, number: int) -> int:
        """The length of the completion of a set."""
        waiting = [number]
        while waiting:  # a set is finished after the frames of its items, when it is on top again
            each = waiting[-1]
            places = [(position, *self._tallies(frame)) for position, frame in self._items(each)]
            frames = [base for *_, base in places if base not in self._of_sets]
            waiting += frames
            if not frames:
                waiting.pop()
                if each not in self._of_sets:
                    self._of_sets[each] = min(self._to_end(place[:2]) + self._of_sets[place[2]] for place in places)
        return self._of_sets[number]

    def _items(self, number: int) -> Iterator[tuple[int, int]]:
        """The items of a set: positions and frames."""
        for item in self._walker.cells(number):
            yield item >> FRAME_BITS, item & (1 << FRAME_BITS) - 1

    def _tallies(self, frame: int) -> tuple[Tallies, int]:
        """The tallies around an item, and the frame around them."""
        found = list[Tally]()
        while (cells := self._walker.cells(frame)) and cells[0] < 0:
            frame, least, most, missing, *used = ~cells[0], *cells[1:]
            found.append(Tally(least, most, missing, tuple(used)))
        return tuple(reversed(found)), frame

    def _to_end(self, place: Place) -> int:
        """The length of the shortest text from a place to the end of its part."""
        if place[0] == ACCEPT:
            return 0
        if place not in self._of_places:
            self._solve(self._called(place[0]))
            self._search(place)
        return self._of_places[place]

    def _solve(self, parts: list[int]) -> None:
        """Find the lengths of parts that call each other: each round finds at least one more, until none becomes smaller."""
        self._of_parts |= dict.fromkeys(parts, ENDLESS)
        is_smaller = bool(parts)
        while is_smaller:
            self._of_places = {}
            found = {part: self._search((self._store.start_of(part), ())) for part in parts}
            is_smaller = any(found[part] < self._of_parts[part] for part in parts)
            self._of_parts |= found

    def _called(self, start: int) -> list[int]:
        """The parts, among those whose lengths are not known, that are called after a position, directly or by other parts."""
        positions, found = [start], dict[int, None]()
        for position in positions:  # the loop appends to `positions`
            if position in self._seen:
                continue
            self._seen.add(position)
            arcs, moves = self._leaving(position)
            positions += (target for _, target in arcs)
            positions += (move[3] for move in moves)
            for kind, part, *_ in moves:
                if kind == CALL and part not in self._of_parts and part not in found:
                    found[part] = None
                    positions.append(self._store.start_of(part))
        return [*found]

    def _leaving(self, position: int) -> tuple[list[tuple[int, int]], list[list[int]]]:
        """The arcs that leave a position, as first bytes and targets, and its moves."""
        parts = self._store.parts
        (first_arc, first_move, _), (last_arc, last_move, _) = parts.positions[position : position + 2].tolist()
        return [(first, target) for first, _, target in parts.arcs[first_arc:last_arc].tolist()], parts.moves[first_move:last_move].tolist()

    def _search(self, start: Place) -> int:
        """Dijkstra's search for the shortest text to the end of a part; the lengths from all places on its path are kept."""
        best, before, waiting = {start: 0}, dict[Place, Place](), [(0, start)]
        while waiting:
            length, place = heappop(waiting)
            if length > best[place]:
                continue
            known = self._of_places.get(place)
            if known is None and not place[1] and self._store.parts.positions[place[0], 2] & FINAL:
                known = 0
            if known is not None:
                return self._keep(place, length + known, best, before)
            for added, after in self._following(place):
                if length + added < best.get(after, ENDLESS):
                    best[after], before[after] = length + added, place
                    heappush(waiting, (length + added, after))
        return ENDLESS

    def _keep(self, place: Place, total: int, best: dict[Place, int], before: dict[Place, Place]) -> int:
        """Keep the lengths from all places before a place, on the path of a search."""
        while True:
            self._of_places[place] = total - best[place]
            if place not in before:
                return total
            place = before[place]

    def _following(self, place: Place) -> Iterator[tuple[int, Place]]:
        """The places after a place, and the bytes to them."""
        position, tallies = place
        arcs, moves = self._leaving(position)
        for _, target in arcs:
            yield 1, (target, tallies)
        for kind, first, second, target in moves:
            if kind == SKIP:
                yield 0, (target, tallies)
            elif kind == CALL:
                yield self._of_parts[first], (target, tallies)
            elif kind == ENTER:
                yield 0, (target, (*tallies, Tally(first, second, 0, ())))
            elif kind == EXIT:
                if not tallies[-1].least and not tallies[-1].missing:
                    yield 0, (target, tallies[:-1])
            elif (tally := tallies[-1].after(kind, first, second)) is not None:
                yield 0, (target, (*tallies[:-1], tally))


def need_tokens(needed: int, left: int) -> None:
    """Raise an error if a text needs more tokens than are left."""
    if needed >= ENDLESS:
        raise ValueError("the vocabulary cannot write the shortest text; expected tokens for its characters")
    if left < needed:
        raise ValueError(f"max_tokens is {left}; expected at least {needed}, the number of tokens that the shortest text needs")
