"""Trees of paths, and what follows each path, as arcs."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import Strings, build
from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.errors import UnsupportedError

END = -1
LAST = 0x10FFFF
MAX_PATHS, MAX_SYMBOLS = 1 << 22, 1 << 26


class Paths:
    """Trees of paths. A path is a string with a character for each pair of labels; a character that is copied represents itself.

    Examples:
        >>> paths = Paths()
        >>> root = paths.root()
        >>> paths.add(root, "a" + paths.pairs("b", "c"), END)
        >>> machine = paths.machine()
        >>> [machine.ilabel.tolist(), machine.olabel.tolist()]
        [[97, 98], [97, 99]]
    """

    def __init__(self) -> None:
        self._trees: list[dict[str, int]] = []
        self._path, self._following = list[int](), list[int]()
        self._count = self._symbols = 0
        self._pairs: dict[tuple[str, str], str] = {}

    def root(self) -> int:
        """Add a tree; return its number, which is the state of its root."""
        self._trees.append({})
        return len(self._trees) - 1

    def pairs(self, read: str, write: str) -> str:
        """The path that reads and writes strings, from their first characters on. It is no copy, so all its pairs get characters."""
        pairs = zip_longest(read, write, fillvalue="")
        return "".join([self._pairs.setdefault(pair, chr(LAST - len(self._pairs))) for pair in pairs])

    def add(self, root: int, path: str, following: int) -> None:
        """Add a path from a root to another root, or to the end."""
        number = self._trees[root].setdefault(path, self._count)
        if number == self._count:
            self._count += 1
            self._symbols += len(path)
            if self._count > MAX_PATHS or self._symbols > MAX_SYMBOLS:
                raise UnsupportedError(f"the words and endings have more than {MAX_PATHS:,} parts; expected fewer; split the dictionary")
        self._path.append(number)
        self._following.append(following)

    def machine(self) -> Arcs:
        """The machine of all paths. The first root is the start."""
        roots = len(self._trees)
        end_of = np.empty(self._count, np.int64)
        texts, root_of, numbers = list[str](), list[int](), list[int]()
        for root, tree in enumerate(self._trees):
            for path, number in tree.items():
                if path:
                    texts.append(path)
                    root_of.append(root)
                    numbers.append(number)
                else:
                    end_of[number] = root
        trie = build(("",) * roots, Strings.of(texts), np.array(root_of), np.array(numbers))
        is_end = trie.token >= 0
        end_of[trie.token[is_end]] = np.flatnonzero(is_end)
        pairs = np.unique(np.stack([end_of[self._path], np.array(self._following)]), axis=1)
        ends, jumps = pairs[0, pairs[1] == END], pairs[:, pairs[1] != END]
        read, write = self._labels(trie.letters)
        final = np.full(len(trie), np.inf, np.float32)
        final[ends] = 0
        nothing = np.full(jumps.shape[1], EPSILON)
        labels = trie.label[roots:]
        return make(
            np.concatenate([trie.parent[roots:], jumps[0]]),
            np.concatenate([read[labels], nothing]),
            np.concatenate([write[labels], nothing]),
            np.concatenate([np.arange(roots, len(trie)), jumps[1]]),
            None,
            final,
            0,
        )

    def _labels(self, letters: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What each letter of the tree reads, and what it writes."""
        read, write = letters.copy(), letters.copy()
        named = {ord(letter): pair for pair, letter in self._pairs.items()}
        for place, letter in enumerate(letters.tolist()):
            if letter in named:
                read[place], write[place] = (ord(char) if char else EPSILON for char in named[letter])
        return read, write
