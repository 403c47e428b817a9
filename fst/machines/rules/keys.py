"""A stage that replaces many strings without contexts: its *keys*, the longest at each position from left to right.

The two passes of such a stage would have as many states as the keys have characters. So a trie over UTF-8 finds the longest key at each
position; see `fst.automata.matcher`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fst.automata.matcher import Matcher, linked
from fst.automata.rows import CODE_POINTS, Array
from fst.automata.trie import Strings, build
from fst.core.lazy import Lazy
from fst.text.stops import stops

MAX_KEYS = 1 << 24
MAX_KEY_BYTES = 1 << 12  # maximum number of bytes of a key
MAX_KEYS_BYTES = 1 << 26  # maximum number of bytes of all keys


class KeyArguments(NamedTuple):
    """The arrays of a stage with keys, which kernels read.

    Attributes:
        trie: the keys in UTF-8; their values are numbers of strings.
        stops: uint8[512], the positions where a key may begin, see `fst.text.stops`.
        string_bytes: uint8[n]; string_ends: int64[strings], see `fst.machines.rules.arguments.Stage`.
    """

    trie: Matcher
    stops: Array
    string_bytes: Array
    string_ends: Array


class Keys:
    """The keys of a stage.

    Args:
        texts: the keys.
        strings: uint32[keys], the number of the string that replaces each key.
    """

    def __init__(self, texts: Sequence[str], strings: Array) -> None:
        self.texts, self.strings = texts, strings

    @Lazy
    def _numbers(self) -> Mapping[str, int]:
        return dict(zip(reversed(self.texts), reversed(self.strings.tolist()), strict=True))

    @Lazy
    def _sizes(self) -> Sequence[int]:
        return sorted({*map(len, self.texts)}, reverse=True)

    def longest(self, text: str, at: int) -> tuple[int, int]:
        """The number of characters of the longest key at a position, and the number of the key's string; zeros if there is no key."""
        found = (size for size in self._sizes if at + size <= len(text) and text[at : at + size] in self._numbers)
        size = next(found, 0)
        return size, self._numbers[text[at : at + size]] if size else 0

    def arguments(self, string_bytes: Array, string_ends: Array) -> KeyArguments:
        """The arrays for kernels; the arguments are as in `KeyArguments`."""
        spelled = [text.encode() for text in self.texts]
        symbols, lengths = np.frombuffer(b"".join(spelled), np.uint8).astype(np.int64), np.array([*map(len, spelled)], np.int64)
        strings = Strings(symbols, np.cumsum(lengths) - lengths, lengths)
        made = build(("",), strings, np.zeros(len(spelled), np.int64), self.strings.astype(np.int64))
        trie = linked(np.maximum(made.parent, 0), made.letters[made.label], np.ones(len(made), np.int64), made.token, overlapping=False)
        first = stops(np.zeros(CODE_POINTS, np.bool_), {data[:2] for data in spelled})
        return KeyArguments(trie, first, string_bytes, string_ends)
