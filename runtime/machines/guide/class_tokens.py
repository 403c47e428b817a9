"""The tokens of a vocabulary whose characters are all in a class, such as letters and digits; they are found once for all guides."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.guide.arguments import GROUPS
from fst.machines.guide.item_arguments import MAX_CHAIN
from fst.machines.guide.vocabulary import Vocabulary
from fst.runtime.machines.guide.string_tokens import mask_of

KEPT = 64  # maximum number of classes with a mask

sign_tokens, fill_class = (Deferred("fst.runtime.machines.guide.kernels.classes", name) for name in ("sign_tokens", "fill_class"))


class ClassMasks(NamedTuple):
    """The masks of classes.

    Attributes:
        made: int64[1], the number of classes.
        keys: uint64[KEPT, 4], for each class, the set of the first bytes of its characters. A key that contains the byte 0xFF is of tokens
            that begin with a space: the characters after it are in the class.
        rows: uint32[KEPT, words + 1], for each class, the mask of the tokens whose characters are all in it; the last may be incomplete.
        short: uint32[MAX_CHAIN + 2, words + 1]; row n is the mask of the tokens of at most n bytes.
        groups: uint64[256], the group of each byte, see `fst.machines.guide.arguments.GROUPS`.
    """

    made: Array
    keys: Array
    rows: Array
    short: Array
    groups: Array


class ClassTokens:
    """The masks of the classes that guides of a vocabulary have met. Threads read `masks` without a lock: a row is complete in the first
    `masks` that count it, and is not changed.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        data, ends = vocabulary.tokens[:2]
        self._signatures, self._lock = np.empty((2, vocabulary.size, 4), np.uint64), Lock()  # of tokens, and of what follows a space
        for is_spaced, signatures in enumerate(self._signatures):
            sign_tokens.call(data, ends, is_spaced, signatures)
        self._signatures[:, vocabulary.trie.twins[:, 0]] = ~np.uint64(0)  # twins are in no class: they get their bits last, by `add_twins`
        sizes = np.diff(ends, prepend=0)
        short = np.stack([mask_of(vocabulary, sizes <= most) for most in range(MAX_CHAIN + 2)])
        self.masks = self._with_room(short)

    def _with_room(self, short: Array) -> ClassMasks:
        return ClassMasks(np.zeros(1, np.int64), np.zeros((KEPT, 4), np.uint64), np.empty((KEPT, short.shape[1]), np.uint32), short, GROUPS)

    def add(self, key: Array) -> None:
        """Make the mask of a class, given by its key, uint64[4]; if `KEPT` are made, drop them first."""
        with self._lock:
            masks = self.masks if self.masks.made[0] < KEPT else self._with_room(self.masks.short)
            row = int(masks.made[0])
            fill_class.call(key, self._signatures[int(key[3] >> np.uint64(63))], masks.rows[row])
            masks.keys[row] = key
            self.masks = masks._replace(made=np.array([row + 1]))


def class_tokens(vocabulary: Vocabulary) -> ClassTokens:
    """The masks of classes of a vocabulary."""
    return vocabulary.once("class tokens", lambda: ClassTokens(vocabulary))
