"""The alphabet: what each character of raw text is to the automaton.

A raw code point becomes none, one or several *symbols*, the characters that are left after normalisation, and each symbol is part of a
word, a word of its own, or a blank between words. Almost all of that is a map per code point. The one thing that is not is canonical
ordering: combining marks that normalisation keeps are sorted within a run of marks, by a rank that stands for their combining class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fst.tables import CODE_POINTS

WORD, ALONE, BLANK = 0, 1, 2  # kinds of a symbol: part of a word; a word of its own; between words
MAX_SYMBOLS = 3  # of one code point
ISOLATED = 1 << 21  # added to a symbol that is a word of its own because of the code point it came from, not by its own kind


@dataclass(frozen=True, eq=False)
class Alphabet:
    """What every code point becomes.

    Attributes:
        symbols: int32[0x110000, 3], the symbols of each code point, -1 where there are fewer.
        kinds: uint8[0x110000], WORD, ALONE or BLANK for each symbol.
        ranks: uint8[0x110000], place of each symbol in canonical ordering; 0 never moves, and stops others from moving past it.
        passes: bool[0x110000], whether a run of marks goes on through a code point: it is a mark, or was no longer there.
        specials: strings that are cut out of the raw text first, longest at the leftmost place, with their token ids.
    """

    symbols: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    ranks: NDArray[np.uint8]
    passes: NDArray[np.bool_]
    specials: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def plain(cls) -> Alphabet:
        """Every code point is itself, and part of a word."""
        symbols = np.full((CODE_POINTS, MAX_SYMBOLS), -1, np.int32)
        symbols[:, 0] = np.arange(CODE_POINTS)
        zeros = np.zeros(CODE_POINTS, np.uint8)
        return cls(symbols, zeros, zeros, zeros.astype(bool))

    def kind(self, symbol: int) -> int:
        """WORD, ALONE or BLANK."""
        return ALONE if symbol & ISOLATED else int(self.kinds[symbol])

    def readable(self) -> NDArray[np.bool_]:
        """bool[0x110000]: the symbols that some text puts into a word."""
        seen = np.zeros(CODE_POINTS, bool)
        seen[self.symbols[(self.symbols >= 0) & (self.symbols < ISOLATED)]] = True
        seen &= self.kinds == WORD
        return seen

    def run(self, text: str) -> list[str | int]:
        """The words of a text, normalised, and the ids of the special tokens between them.

        >>> Alphabet.plain().run("any text is one word")
        ['any text is one word']
        """
        pieces: list[str | int] = []
        for piece in self._cut_specials(text):
            pieces.extend([piece] if isinstance(piece, int) else self._words(self._normalise(piece)))
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
        run: list[int] = []
        for code_point in map(ord, text):
            if not self.passes[code_point]:
                yield from self._in_order(run)
                run = []
            run.extend(int(symbol) for symbol in self.symbols[code_point] if symbol >= 0)
        yield from self._in_order(run)

    def _in_order(self, run: list[int]) -> list[int]:
        return sorted(run, key=lambda symbol: 0 if symbol & ISOLATED else int(self.ranks[symbol]))

    def _words(self, symbols: Iterator[int]) -> Iterator[str]:
        word = ""
        for symbol in symbols:
            kind = self.kind(symbol)
            if kind == WORD:
                word += chr(symbol)
                continue
            if word:
                yield word
            if kind == ALONE:
                yield chr(symbol & ~ISOLATED)
            word = ""
        if word:
            yield word


