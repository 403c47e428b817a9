"""The alphabet: the symbols that each character of raw text becomes.

A raw code point becomes none, one or several *symbols*: characters after normalisation, and boundaries of words. Almost all of this is a
map per code point. Two rules look further. Combining marks are sorted within a run of marks, by a rank that stands for their combining
class. And words may end where characters of two kinds meet: then each character of the one kind stands between two *fences*, and two equal
fences side by side cancel out, so that one is left at each end of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fst.composition import Composition, Placing
from fst.rows import CODE_POINTS

BREAK = CODE_POINTS  # the symbol between two words; symbols above it, up to `ISOLATED`, are fences
ISOLATED = 1 << 21  # added to a symbol that is a word by itself


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The symbols of every code point. A code point that is not listed is itself, and part of a word.

    Attributes:
        codes: int64[n], the listed code points, ascending. The arrays below have a row for each.
        symbols: int32[n, width], the symbols of the code point, padded with -1: code points that are part of a word, `BREAK`, fences, or
            `ISOLATED` ones.
        ranks: uint8[n, width], place of each symbol in canonical ordering; 0 never moves, and no symbol moves past it.
        passes: bool[n], whether a run of marks goes on through the code point: it is a mark, or leaves no symbol.
        hidden: uint8[n], the rank of a mark without a symbol that the code point begins with; else 0. It shifts the offsets of the marks
            after it.
        specials: strings that are cut out of the raw text first, leftmost and longest first, with their token ids.
        composition: the rewriting of texts with suspects, between special tokens and before they are read; None if nothing composes.
        placing: the steps by which offsets are found, where one ordering does not give them.
    """

    codes: NDArray[np.int64]
    symbols: NDArray[np.int32]
    ranks: NDArray[np.uint8]
    passes: NDArray[np.bool_]
    hidden: NDArray[np.uint8]
    specials: Mapping[str, int] = field(default_factory=dict)
    composition: Composition | None = None
    placing: Placing | None = None

    @classmethod
    def plain(cls) -> Alphabet:
        """Every code point is itself, and part of a word."""
        none = np.empty(0, np.uint8)
        return cls(none.astype(np.int64), np.empty((0, 1), np.int32), np.empty((0, 1), np.uint8), none.astype(bool), none)

    @property
    def fences(self) -> int:
        """How many different fences there are."""
        return max(0, int(self.symbols[self.symbols < ISOLATED].max(initial=0)) - BREAK)

    def readable(self) -> NDArray[np.bool_]:
        """bool[0x110000]: the symbols that can be part of a word."""
        seen = np.ones(CODE_POINTS, bool)
        seen[self.codes] = False
        seen[self.symbols[(self.symbols >= 0) & (self.symbols < CODE_POINTS)]] = True
        return seen

    def listing(self, code_points: NDArray[np.int64]) -> Alphabet:
        """The same alphabet with these code points listed too."""
        missing = np.unique(code_points[~np.isin(code_points, self.codes)])
        if not len(missing):
            return self
        rows = np.searchsorted(self.codes, missing)
        symbols = np.insert(self.symbols, rows, -1, axis=0)
        symbols[rows + np.arange(len(missing)), 0] = missing
        return replace(
            self,
            codes=np.insert(self.codes, rows, missing),
            symbols=symbols,
            ranks=np.insert(self.ranks, rows, 0, axis=0),
            passes=np.insert(self.passes, rows, False),
            hidden=np.insert(self.hidden, rows, 0),
        )

    def symbols_of(self, code_points: NDArray[np.int64]) -> NDArray[np.int32]:
        """int32[len(code_points), width]: the symbols of code points in any order, padded with -1."""
        alphabet = self.listing(code_points)
        return alphabet.symbols[np.searchsorted(alphabet.codes, code_points)]

    def run(self, text: str) -> list[str | int]:
        """The words of a text, normalised, and the ids of the special tokens between them.

        >>> Alphabet.plain().run("any text is one word")
        ['any text is one word']
        """
        pieces: list[str | int] = []
        for piece in self._cut_specials(text):
            pieces.extend([piece] if isinstance(piece, int) else _words(_without_pairs(self._normalise(piece))))
        return pieces

    def _cut_specials(self, text: str) -> Iterator[str | int]:
        """The stretches between special tokens, and the special tokens."""
        longest_first = sorted(self.specials, key=len, reverse=True)
        start = position = 0
        while position < len(text):
            found = next((special for special in longest_first if text.startswith(special, position)), None)
            if found is None:
                position += 1
                continue
            yield text[start:position]
            yield self.specials[found]
            start = position = position + len(found)
        yield text[start:]

    def _normalise(self, text: str) -> Iterator[int]:
        """The symbols of a text, with runs of marks in canonical order."""
        run: list[tuple[int, int]] = []
        if self.composition and not self.composition.suspects.isdisjoint(map(ord, text)):
            text, _ = self.composition.apply(text)
        for code_point in map(ord, text):
            passes, ranked = self._row(code_point)
            if not passes:
                yield from _in_order(run)
                run = []
            run.extend(ranked)
        yield from _in_order(run)

    def _row(self, code_point: int) -> tuple[bool, list[tuple[int, int]]]:
        """Whether a run of marks goes on through a code point, and its symbols, each after its rank."""
        row = int(np.searchsorted(self.codes, code_point))
        if row == len(self.codes) or self.codes[row] != code_point:
            return False, [(0, code_point)]
        ranked = zip(self.ranks[row].tolist(), self.symbols[row].tolist(), strict=True)
        return bool(self.passes[row]), [(rank, symbol) for rank, symbol in ranked if symbol >= 0]


def _in_order(run: list[tuple[int, int]]) -> list[int]:
    return [symbol for _, symbol in sorted(run, key=lambda ranked: ranked[0])]


def _without_pairs(symbols: Iterable[int]) -> list[int]:
    """The symbols without pairs of equal fences side by side."""
    left: list[int] = []
    for symbol in symbols:
        if left and left[-1] == symbol and BREAK < symbol < ISOLATED:
            left.pop()
        else:
            left.append(symbol)
    return left


def _words(symbols: Iterable[int]) -> Iterator[str]:
    word = ""
    for symbol in symbols:
        if symbol < BREAK:
            word += chr(symbol)
            continue
        if word:
            yield word
        if symbol >= ISOLATED:
            yield chr(symbol - ISOLATED)
        word = ""
    if word:
        yield word
