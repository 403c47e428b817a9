"""The alphabet: the symbols that each character of raw text becomes.

A raw code point becomes zero or more *symbols*: characters after normalization, and boundaries of words. Nearly all characters become the
same symbols in every text. Only two rules depend on adjacent characters:

- The marks of a run of combining marks are sorted by rank. Ranks are in the order of Unicode's combining classes.
- A word may end between two characters of different kinds. If so, each character of one kind becomes a symbol between two *fences*.
  Two equal adjacent fences cancel out, so in a run of such characters, only the fences at the two ends remain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.text.composition import Composition

BREAK = CODE_POINTS  # the symbol between two words; symbols between `BREAK` and `ISOLATED` are fences
ISOLATED = 1 << 21  # this number is added to a symbol that is a word by itself


@dataclass(frozen=True, eq=False)
class Alphabet:
    """A mapping of every code point to its symbols. A code point that is not listed maps to itself and is part of a word.

    Attributes:
        codes: int64[n], the listed code points, ascending. The arrays below have a row for each listed code point.
        symbols: int32[n, width], the symbols of the code point, padded with -1: code points that are part of a word, `BREAK`, fences, or
            symbols with `ISOLATED`.
        ranks: uint8[n, width], the rank of each symbol in canonical ordering. A symbol of rank 0 never moves, and no symbol moves past it.
        passes: bool[n], whether the code point may be inside a run of marks, because it is a mark, or has no symbols.
        hidden: uint8[n]. If the code point begins with a mark that has no symbol, the rank of this mark; otherwise 0. This mark shifts the
            offsets of later marks in its run.
        specials: the id of each special token. Special tokens are cut out of the raw text first. If several tokens overlap, the leftmost is
            cut out; if several begin at one position, the longest is cut out.
        composition: the composition that rewrites each stretch (the text between two special tokens) that contains suspects, before the
            mapping is applied; None if no characters compose.
        placed: runs of characters, by first and last code point. Only normalization step by step finds the offsets of such characters.
    """

    codes: NDArray[np.int64]
    symbols: NDArray[np.int32]
    ranks: NDArray[np.uint8]
    passes: NDArray[np.bool_]
    hidden: NDArray[np.uint8]
    specials: Mapping[str, int] = field(default_factory=dict)
    composition: Composition | None = None
    placed: Sequence[Sequence[int]] = ()

    @classmethod
    def plain(cls) -> Alphabet:
        """The alphabet in which every code point maps to itself and is part of a word."""
        none = np.empty(0, np.uint8)
        return cls(none.astype(np.int64), np.empty((0, 1), np.int32), np.empty((0, 1), np.uint8), none.astype(bool), none)

    @property
    def fences(self) -> int:
        """The number of different fences."""
        return max(0, int(self.symbols[self.symbols < ISOLATED].max(initial=0)) - BREAK)

    def readable(self) -> NDArray[np.bool_]:
        """bool[0x110000]: whether each symbol can be part of a word."""
        seen = np.ones(CODE_POINTS, bool)
        seen[self.codes] = False
        seen[self.symbols[(self.symbols >= 0) & (self.symbols < CODE_POINTS)]] = True
        return seen

    def listing(self, code_points: NDArray[np.int64]) -> Alphabet:
        """The same alphabet, but with rows for all `code_points`."""
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
        """The normalized words of a text, and the ids of the special tokens between them.

        >>> Alphabet.plain().run("any text is one word")
        ['any text is one word']
        """
        pieces: list[str | int] = []
        for piece in self._cut_specials(text):
            pieces.extend([piece] if isinstance(piece, int) else _words(_without_pairs(self._normalise(piece))))
        return pieces

    def _cut_specials(self, text: str) -> Iterator[str | int]:
        """The stretches between special tokens, and the ids of these tokens."""
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
        """Whether a code point may be inside a run of marks; and the code point's symbols, as pairs of rank and symbol."""
        row = int(np.searchsorted(self.codes, code_point))
        if row == len(self.codes) or self.codes[row] != code_point:
            return False, [(0, code_point)]
        ranked = zip(self.ranks[row].tolist(), self.symbols[row].tolist(), strict=True)
        return bool(self.passes[row]), [(rank, symbol) for rank, symbol in ranked if symbol >= 0]


def _in_order(run: list[tuple[int, int]]) -> list[int]:
    return [symbol for _, symbol in sorted(run, key=lambda ranked: ranked[0])]


def _without_pairs(symbols: Iterable[int]) -> list[int]:
    """Remove pairs of equal adjacent fences from symbols."""
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
