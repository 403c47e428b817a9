"""Combine pre-tokenizers into one map, in which characters become spaces, words of one character, or letters between fences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns.code_points import members, union
from fst.compile.text import pattern_splits
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import Map, closed_up
from fst.compile.text.components import COUNT, FLAG, STRING_OR_NULL, Component, Fields, flat
from fst.errors import UnsupportedError, quoted
from fst.text.alphabet import BREAK, ISOLATED

KNOWN: Fields = {
    "BertPreTokenizer": {},
    "Whitespace": {},
    "WhitespaceSplit": {},
    "Punctuation": {"behavior": STRING_OR_NULL},
    "Digits": {"individual_digits": FLAG},
}
SCRIPTS, FIXED = "UnicodeScripts", "FixedLength"
BY_PATTERNS: Fields = {**KNOWN, **pattern_splits.KNOWN, FIXED: {"length": COUNT}, SCRIPTS: {}}
BEHAVIORS = ("Removed", "Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext")


def components(component: Component | None) -> tuple[dict[str, Any], ...]:
    """The pre-tokenizers of a ``tokenizer.json``, in order."""
    parts = flat(component, "pre_tokenizer", "pretokenizers", BY_PATTERNS)
    for part in parts:
        if part.get("behavior") not in (None, *BEHAVIORS):
            raise ValueError(f"pre_tokenizer {part['type']} has {quoted(part['behavior'])} for its behavior")
    return parts


class Splits:
    """The effect of a sequence of pre-tokenizers at each normalized character.

    Each pre-tokenizer splits the words of the previous one. Whether a word ends between two adjacent characters depends only on these
    characters, so the result is the union of the word ends of all pre-tokenizers.

    Attributes:
        removed: bool[0x110000], whether the character separates words and is part of no word.
        before, after: bool[0x110000], whether a word ends before or after the character.
        groups: int64[0x110000], the group of the character: a word ends between adjacent characters of different groups.
    """

    def __init__(self, parts: Sequence[Component]) -> None:
        self.removed, self.before, self.after = np.zeros((3, CODE_POINTS), bool)
        self.groups = np.zeros(CODE_POINTS, np.int64)
        for part in parts:
            self._split(part)

    def _split(self, part: Component) -> None:
        kind = part["type"]
        if kind in (SCRIPTS, FIXED):
            raise UnsupportedError(f"pre_tokenizer {kind} in a map of characters")
        if pattern_splits.is_pattern(part):
            self._split_by_pattern(part)
        if kind in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit"):
            self._split_at(reference.those("white"), "Removed")
        if kind == "BertPreTokenizer":
            self._split_at(reference.those("punctuation"), "Isolated")
        if kind == "Whitespace":
            self._split_at(reference.those("word"), "Contiguous")
        if kind == "Punctuation":
            self._split_at(reference.those("punctuation"), part["behavior"] or "Isolated")
        if kind == "Digits":
            self._split_at(reference.those("numeric"), "Isolated" if part["individual_digits"] else "Contiguous")

    def _split_by_pattern(self, part: Component) -> None:
        split = pattern_splits.as_split(part)
        cuts, behavior = pattern_splits.cuts_of(split["pattern"]), split["behavior"]
        matched, kept = members(union(cuts.singles, *cuts.runs)), np.ones(CODE_POINTS, bool)
        kept[matched] = False
        if behavior == "Removed":
            self.removed[np.flatnonzero(kept) if split["invert"] else matched] = True
        elif behavior == "Contiguous":
            self._group(matched)
        elif behavior != "Isolated" and (cuts.runs or split["invert"]):
            raise UnsupportedError(f"pre_tokenizer Split with {behavior} by {quoted(split['pattern'])} before a model of words")
        else:
            self._split_at(members(cuts.singles), behavior)
        if behavior in ("Isolated", "Removed"):
            self._split_at(members(cuts.singles), "Isolated")
            for run in cuts.runs:
                self._group(members(run))

    def _group(self, found: NDArray[np.int64]) -> None:
        """Divide each group of characters into those of a set, and the others."""
        groups = self.groups.copy()
        groups[found] += 1 + groups.max()
        numbers = np.cumsum(np.bincount(groups) > 0) - 1  # without gaps, in the same order
        self.groups = numbers[groups]

    def _split_at(self, found: NDArray[np.int64], behavior: str) -> None:
        if behavior == "Removed":
            self.removed[found] = True
        elif behavior == "Contiguous":
            self._group(found)
        if behavior in ("Isolated", "MergedWithNext"):
            self.before[found] = True
        if behavior in ("Isolated", "MergedWithPrevious"):
            self.after[found] = True

    def map(self) -> Map:
        """The symbols of each normalized character; see `fst.text.alphabet.Alphabet`."""
        fences = self._fences()
        changed = np.flatnonzero(self.removed | self.before | self.after | (fences >= 0))
        removed, before, after = (array[changed] for array in (self.removed, self.before, self.after))
        left, right = (np.where(side, BREAK, fences[changed]) for side in (before, after))
        alone = before & after & ~removed
        inside = np.select([removed, alone], [BREAK, changed + ISOLATED], changed)
        images = np.column_stack([np.where(removed | alone, -1, left), inside, np.where(removed | alone, -1, right)])
        return Map.of(changed, *closed_up(images))

    def _fences(self) -> NDArray[np.int64]:
        """The fence of each character, which separates it from other groups; -1 for the group of letters."""
        letters = self.groups[ord("a")]
        found = np.flatnonzero(np.bincount(self.groups))
        others = found[found != letters]
        symbols = np.full(1 + found[-1], -1)
        symbols[others] = BREAK + 1 + np.arange(len(others))
        return symbols[self.groups]
