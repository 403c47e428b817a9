"""Late tokens: added tokens that depend on normalised text, or on what stands around them; see `fst.compile.added`.

Those in normalised text that take no white space as a part of themselves, and in which no word ends, are found by a kernel, word by word.
Where another may stand, where it takes the text itself to tell whether one counts, and where a word is too long for a kernel, a kernel
notes the text, and it is read again here, with all others, by the reference's own rules: of the tokens that begin leftmost the longest
counts, first in the raw text, and then in what is normalised between those that were found. A kernel then encodes the symbols.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.composition import Placing
from fst.once import Once
from fst.runtime.machine import BLANK_CLASS, BORDERS, FILLER, GRAMS, HAS_BORDERS, INSIDE, NUMBERS, SHORTEST, Machine
from fst.runtime.second import Read, Suspects
from fst.runtime.texts import Ints, Units
from fst.tables import (
    BLANK,
    CODE_POINTS,
    CONTINUES_RUN,
    LIST,
    MULTIPLIERS,
    ONE,
    WHITE_SPACE,
    Tables,
    are_left,
    are_parts,
    field_kind,
    field_next,
    field_output,
)

IN_GRAM = 8  # items, at most, by which most places are passed over
HASH_BITS = 20
MASK = (1 << 64) - 1
GRAM_MULTIPLIER, *_ = MULTIPLIERS  # as in `fst.runtime.kernels`, and what follows
OWN, BEGINNING, BORDER = (kind << 10 for kind in range(3))
ENDS, BEGINS, IN_WORD, CLEAR = 1, 2, 4, 8
NO_NODE = (1 << 32) - 1
SEPARATOR = "\ud800"  # which no text holds
UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


class Token(NamedTuple):
    """An added token as it is looked for.

    Attributes:
        number: the class of its symbol.
        single_word, lstrip, rstrip: as in `fst.compile.added.LateToken`.
    """

    number: int
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False


class Trie:
    """Strings of code points or of classes, and what is at their ends; of equal strings the first counts, for a kernel's trie."""

    def __init__(self, tokens: Iterable[tuple[Sequence[int], Token]]) -> None:
        self._children: list[dict[int, int]] = [{}]
        self._ends: dict[int, Token] = {}
        known = list(tokens)
        self._longest = max((len(string) for string, _ in known), default=0)
        self._may_begin: dict[int, NDArray[np.bool_]] = {}  # of so many first items, by their hash, whether a string begins so
        for string, token in known:
            self._ends.setdefault(self._add(string), token)
            width = min(len(string), IN_GRAM)
            begin = np.array(string[:width], np.uint64)
            self._may_begin.setdefault(width, np.zeros(1 << HASH_BITS, bool))[_hashed(begin, width)] = True

    def _add(self, string: Sequence[int]) -> int:
        node = 0
        for item in string:
            node = self._children[node].setdefault(item, len(self._children))
            if node == len(self._children):
                self._children.append({})
        return node

    def matches(self, items: NDArray[Any]) -> Iterator[tuple[int, int, Token]]:
        """Leftmost-longest matches that do not overlap: where each begins and ends, and the token."""
        last = 0
        may_begin = np.zeros(len(items), bool)
        for width, known in self._may_begin.items():
            found_here = known[_hashed(items.astype(np.uint64), width)]
            may_begin[: len(found_here)] |= found_here
        for at in np.flatnonzero(may_begin).tolist():
            found = self._match(items[at : at + self._longest].tolist()) if at >= last else None
            if found:
                last = at + found[0]
                yield at, last, found[1]

    def _match(self, items: Sequence[int]) -> tuple[int, Token] | None:
        """The length of the longest string that some items begin with, and what is at its end."""
        node, found = 0, None
        for index, item in enumerate(items):
            node = self._children[node].get(item, 0)
            if not node:
                break
            if node in self._ends:
                found = index + 1, self._ends[node]
        return found

    def nodes(self) -> NDArray[np.uint32]:
        """The trie as kernels walk it, by `fst.runtime.kernels.child_of`; what they are to know of a string's end is its token's number."""
        size = 2 << len(self._children).bit_length()  # at most half of it is filled
        nodes, name = np.full((size, 3), NO_NODE, np.uint32), np.zeros(len(self._children), np.int64)
        taken = bytearray(size)
        for node, children in enumerate(self._children):  # children come after their parents
            for item, child in children.items():
                parent = int(name[node])
                slot = ((parent << 16 | item) * GRAM_MULTIPLIER & MASK) >> 32 & size - 1
                while taken[slot]:
                    slot = slot + 1 & size - 1
                taken[slot] = True
                name[child] = slot + 1
                nodes[slot, :2] = parent, item
        for node, token in self._ends.items():
            nodes[name[node] - 1, 2] = token.number
        return nodes


@dataclass
class Items:
    """Characters or symbols of texts.

    Attributes:
        numbers: uint16[n], the class of each.
        source: int64[n], the character of the joined texts that each comes from.
        begin, end: int64[n], the characters that it is said to come from.
        is_edge: bool[n], whether it is an added token, or the end of a text: no token goes on beyond it.
    """

    numbers: NDArray[np.uint16]
    source: Ints
    begin: Ints
    end: Ints
    is_edge: NDArray[np.bool_]

    @Once
    def ordinal(self) -> Ints:
        """int64[n], how many that come from the same character stand before each."""
        order = np.argsort(self.source, kind="stable")
        in_order = self.source[order]
        ordinal = np.empty(len(order), np.int64)
        ordinal[order] = np.arange(len(order)) - np.searchsorted(in_order, in_order)
        return ordinal

    def at(self, which: NDArray[Any]) -> Items:
        """Some of them."""
        return Items(self.numbers[which], self.source[which], self.begin[which], self.end[which], self.is_edge[which])

    def replaced(self, found: Iterable[tuple[int, int, int, int, int]]) -> Items:
        """With one in the place of each run of some: from, before; what it is then: class, first character, one past the last."""
        kept = np.ones(len(self.numbers), bool)
        for first, stop, number, begin, end in found:
            kept[first + 1 : stop] = False
            self.numbers[first], self.begin[first], self.end[first], self.is_edge[first] = number, begin, end, True
        return self.at(kept)


class Added:
    """The late tokens of tables.

    Args:
        tables: such as have any.
        placing: what says where symbols come from, if more is to be known of that than the characters that they are made of.
    """

    is_noted = True

    def __init__(self, tables: Tables, placing: Placing | None = None) -> None:
        self._tables, self._placing = tables, placing
        self._suspects = Suspects(placing.suspects if placing else ())
        about, a = tables.about, tables.classes[0::2]
        self._end = len(a)
        self._parts = int(np.count_nonzero(are_parts(a)))
        self._blank = 1 + int(np.flatnonzero(a[1:] == BLANK)[0])
        is_list = field_kind(a) == LIST
        self._starts = np.append(np.where(is_list, field_next(a), -1), -1)
        self._lists = np.append(tables.symbols, 0).astype(np.int64)
        self._goes_on = np.append(is_list & (field_output(a) & CONTINUES_RUN > 0), False)
        ones = np.flatnonzero(field_kind(a) == ONE)[::-1]  # of several classes with one id the first, which no pattern has
        class_of_id = dict(zip(field_output(a[ones]).tolist(), ones.tolist(), strict=True))
        late = {
            content: Token(class_of_id[token["id"]], token["single_word"], token["lstrip"], token["rstrip"])
            for content, token in about["late"].items()
        }
        self._patterns = {content: tuple(self._symbols(self._characters(content)).numbers.tolist()) for content in late}
        normalized = [content for content in late if about["late"][content]["normalized"]]
        raw = {content: Token(class_of_id[number]) for content, number in about["specials"].items()}
        raw |= {content: token for content, token in late.items() if content not in normalized}
        self._late = late
        self._raw = Trie((list(map(ord, content)), token) for content, token in raw.items())
        self._normalized = Trie((self._patterns[content], late[content]) for content in normalized)
        sets = (_membership(about["context"].get(name, [])) for name in ("word", "begins_word", "ends_word", "spaced"))
        self._is_word, self._begins_word, self._ends_word, self._is_spaced = sets
        self._mixed = np.array(about["context"].get("mixed", []), np.int64).reshape(-1, 2)
        self._parts_of_mixed = frozenset(map(tuple, self._mixed.tolist()))

    def machine(self, of: Machine) -> Machine:
        """The machine with what it takes to find late tokens, or to note texts in which one may stand."""
        inside = {content: pattern for content, pattern in self._patterns.items() if max(pattern) <= self._parts}
        numbers, grams, sides = of[NUMBERS].copy(), np.zeros(3 << 10, np.uint64), self._sides()
        lengths = [min(len(pattern), IN_GRAM) for pattern in inside.values()]
        numbers[INSIDE] = sum({1 << length for length in lengths})
        for pattern in inside.values():
            _note(grams, pattern[:IN_GRAM], OWN)
            _note(grams, pattern[: min(lengths)], BEGINNING)
        bordered = {pattern for content, pattern in self._patterns.items() if content not in inside}
        borders = {pattern: next(place for place, number in enumerate(pattern) if number > self._parts) for pattern in bordered}
        around = {pattern[place - 1 :][:IN_GRAM] for pattern, place in borders.items() if place}
        for pattern, place in borders.items():
            _note(grams, pattern[:IN_GRAM], OWN)
            sides[pattern[place]] |= ENDS if place else BEGINS
        for gram in around:
            _note(grams, gram, BORDER)
        numbers[GRAMS] = sum({1 << min(len(pattern), IN_GRAM) for pattern in bordered})
        numbers[BORDERS] = sum({1 << len(gram) for gram in around})
        numbers[HAS_BORDERS] = len(bordered) > 0
        numbers[FILLER] = self._blank
        if bordered:  # no blank is left out: a token may begin with it
            numbers[BLANK_CLASS] = 0
        if inside:
            numbers[SHORTEST] = min(lengths)
        # Of equal patterns the one that takes a second reading stays, and of those the one that counts anywhere.
        kinds = {content: self._kind(content, content in inside) for content in self._late}
        in_order = sorted(kinds, key=kinds.__getitem__)
        nodes = Trie((self._patterns[content], Token(kinds[content])) for content in in_order).nodes()
        for array in (numbers, grams, nodes, sides):
            array.flags.writeable = False
        return (*of[:NUMBERS], numbers, *of[NUMBERS + 1 : -3], grams, nodes, sides)

    def _kind(self, content: str, is_inside: bool) -> int:
        """What a kernel is to do where a token stands, see `fst.runtime.kernels.encode_rows`."""
        number, single_word, lstrip, rstrip = self._late[content]
        # In raw text, what keeps a token from the next letter may be dropped; and who reads one again needs to know of all that overlap.
        if not is_inside or not self._tables.about["late"][content]["normalized"]:
            return 0
        return int(single_word) if lstrip or rstrip else number << 1 | single_word

    def _sides(self) -> NDArray[np.uint8]:
        """uint8[classes + 1], whether a token that counts only as a whole word counts beside a class, whatever that comes from."""
        context, codes = self._tables.about["context"], np.arange(CODE_POINTS)
        if not context:
            return np.zeros(self._end + 1, np.uint8)
        begins, ends, spaced = (
            np.searchsorted(_edges(context[name]), codes, "right") % 2 == 1 for name in ("begins_word", "ends_word", "spaced")
        )
        symbols = self._symbols(Items(self._tables.classes_of(codes), codes, codes, codes, np.zeros(len(codes), bool)))
        always, never = np.ones((2, self._end + 1), bool)
        is_mixed = np.isin(codes, self._mixed[:, 0])
        always[symbols.numbers[(~(begins & ends & ~spaced) | is_mixed)[symbols.source]]] = False
        never[symbols.numbers[((begins | ends) & ~spaced | is_mixed)[symbols.source]]] = False
        specials = self._tables.specials[:, 3]
        always[specials[specials >= 0]] = False
        always &= ~never  # of what no character becomes
        sides: NDArray[np.uint8] = (IN_WORD * always + CLEAR * never).astype(np.uint8)
        return sides

    def suspected(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Those that a kernel has noted, and those with other places than it has found."""
        return noted | self._suspects.are_in(text, starts) if self._placing else noted

    def read(self, texts: Sequence[str]) -> Read:
        """The symbols of texts, added tokens among them."""
        joined = "".join(text + SEPARATOR for text in texts)
        characters = self._characters(joined)
        text_ends = np.flatnonzero(characters.is_edge)
        symbols = self._symbols(characters.replaced(list(self._in_raw(joined))))
        if self._placing:
            self._place(joined, symbols, self._placing)
        symbols = symbols.replaced(list(self._in_normalized(joined, symbols)))
        text_starts = np.append(0, text_ends + 1)[np.searchsorted(text_ends, symbols.begin)]
        begin, end = ((places - text_starts).astype(np.uint64) for places in (symbols.begin, symbols.end))
        return symbols.numbers, begin | end << np.uint64(32)

    def _characters(self, joined: str) -> Items:
        """The characters of texts, each with the class that it has by itself."""
        codes = np.frombuffer(joined.encode(UTF_32, "surrogatepass"), np.uint32)
        numbers = self._tables.classes_of(codes)
        is_end = codes == ord(SEPARATOR)
        numbers[is_end] = self._end
        begin = np.arange(len(codes))
        return Items(numbers, begin, begin, begin + 1, is_end)

    def _symbols(self, characters: Items) -> Items:
        """The symbols of characters, with runs of marks in canonical order."""
        starts = self._starts[characters.numbers]
        counts = np.where(starts < 0, 1, self._lists[starts])
        of = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        is_plain = starts[of] < 0
        listed = self._lists[np.where(is_plain, -1, starts[of] + 1 + within)]
        symbols = characters.at(of)
        ranks = np.where(is_plain, 0, listed >> 16)
        symbols.numbers = np.where(is_plain, symbols.numbers, listed & 0xFFFF).astype(np.uint16)
        if not ranks.any():
            return symbols
        run = np.cumsum(~self._goes_on[characters.numbers])[of]
        order = np.lexsort((ranks, run))
        # Places stay: the first symbol of each character takes the next place that one had, and others that of the one before them.
        place = np.flatnonzero(within == 0)[np.cumsum(within[order] == 0) - 1]
        moved = symbols.at(order)
        moved.begin, moved.end = symbols.begin[place], symbols.end[place]
        return moved.at(moved.numbers > 0)

    def _place(self, joined: str, symbols: Items, placing: Placing) -> None:
        """Say where the symbols between edges come from."""
        is_left = np.append(are_left(self._tables.classes[0::2]), False)
        first = start = 0
        for edge in np.flatnonzero(symbols.is_edge).tolist():
            left = first + np.flatnonzero(is_left[symbols.numbers[first:edge]])
            places = list(islice(placing.places(joined[start : symbols.begin[edge]]), len(left)))
            left = left[: len(places)]  # there are as many, unless a table was made to harm
            symbols.begin[left], symbols.end[left] = start + np.array(places, np.int64).reshape(-1, 2).T
            first, start = edge + 1, int(symbols.end[edge])

    def _in_raw(self, text: str) -> Iterator[tuple[int, int, int, int, int]]:
        """The added tokens in raw texts, for `Items.replaced`."""
        last = 0
        for begin, end, token in self._raw.matches(np.frombuffer(text.encode(UTF_32, "surrogatepass"), np.uint32)):
            if token.single_word and any(map(self._is_word, text[max(begin - 1, 0) : begin] + text[end])):
                continue
            while token.lstrip and begin > last and text[begin - 1] in WHITE_SPACE:
                begin -= 1
            while token.rstrip and text[end] in WHITE_SPACE:
                end += 1
            yield begin, end, token.number, begin, end
            last = end

    def _in_normalized(self, text: str, symbols: Items) -> Iterator[tuple[int, int, int, int, int]]:
        """The added tokens in normalised texts, likewise."""
        last = 0
        for first, stop, token in self._normalized.matches(symbols.numbers):
            if token.single_word and self._is_in_word(text, symbols, first, stop):
                continue
            begin, end = int(symbols.begin[first]), int(symbols.end[stop - 1])
            while token.lstrip and first > last and symbols.numbers[first - 1] == self._blank:
                first -= 1
                begin = int(symbols.begin[first])
            if token.lstrip and first > last and self._is_before_blank(text, symbols, first - 1):
                begin = int(symbols.begin[first - 1])
            while token.rstrip and symbols.numbers[stop] == self._blank:
                end = int(symbols.end[stop])
                stop += 1
            if token.rstrip and self._is_before_blank(text, symbols, stop):
                end = int(symbols.end[stop])
            yield first, stop, token.number, begin, end
            last = stop

    def _is_in_word(self, text: str, symbols: Items, first: int, stop: int) -> bool:
        """Whether a word goes on before or after some symbols; in a character that normalisation puts blanks around, none does."""
        sides = ((first - 1, self._ends_word), (stop, self._begins_word))
        beside = [(index, is_part) for index, is_part in sides if index >= 0 and not symbols.is_edge[index]]
        return any(self._is_part(text, symbols, index, is_part) for index, is_part in beside)

    def _is_part(self, text: str, symbols: Items, index: int, is_part: Callable[[str], bool]) -> bool:
        """Whether a symbol is a part of a word: where a character becomes symbols that are and others that are not, by its number."""
        source = int(symbols.source[index])
        if ord(text[source]) in self._mixed[:, 0]:
            return (ord(text[source]), int(symbols.ordinal[index])) in self._parts_of_mixed
        return is_part(text[source]) and not self._is_spaced(text[source])

    def _is_before_blank(self, text: str, symbols: Items, index: int) -> bool:
        """Whether normalisation puts blanks around a symbol."""
        return not symbols.is_edge[index] and self._is_spaced(text[symbols.source[index]])


def _hashed(items: NDArray[np.uint64], width: int) -> Ints:
    """Of each place, a hash of so many items from there on."""
    places = max(len(items) - width + 1, 0)
    grams = np.zeros(places, np.uint64)
    for index in range(width):
        grams = grams * np.uint64(GRAM_MULTIPLIER) + items[index : index + places]
    return (grams * np.uint64(GRAM_MULTIPLIER) >> np.uint64(64 - HASH_BITS)).astype(np.int64)


def _note(grams: NDArray[np.uint64], symbols: Sequence[int], kind: int) -> None:
    """Add a gram to the set of a kind, as `fst.runtime.kernels` looks it up."""
    four = min(len(symbols), 4)
    ends = symbols[:four], symbols[-four:]
    first, last = (sum(number << 64 - 16 * (four - place) for place, number in enumerate(part)) for part in ends)
    hashed = (first ^ last << 8) * GRAM_MULTIPLIER & MASK
    grams[kind | hashed >> 54] |= np.uint64(1 << (hashed >> 48 & 63) | 1 << (hashed >> 42 & 63))


def _edges(runs: list[int]) -> list[int]:
    """Where runs of code points begin, and where they have ended, in turns."""
    return [code + place % 2 for place, code in enumerate(runs)]


def _membership(runs: list[int]) -> Callable[[str], bool]:
    """Whether a character is in one of some runs of code points."""
    edges = _edges(runs)
    return lambda char: bisect_right(edges, ord(char)) % 2 == 1
