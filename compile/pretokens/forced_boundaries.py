"""Splitters by the tokens of Unigram: if no token contains two characters next to each other, no path crosses the boundary between them.

The classes of two characters determine whether a token may contain them side by side. Letters have a class for each script, since nearly
all pairs of letters of a script occur in some token. Signs of ASCII and punctuation have a class each, so a word and the comma after it are
two pre-tokens. There is no boundary between two unknown characters, because a run of them becomes one id.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import pairwise

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.automata import Step, explored, reduced
from fst.text.splitter import Splitter
from fst.text.whitespace import BLANK

GROUPS = 3  # groups of letters with a class of their own
SINGLE = (range(0x80), range(0x2010, 0x2040))  # characters that have a class each, if they are signs
UNKNOWN = "unknown"  # the class of characters that are in no token

Pair = tuple[str, str]


def between_tokens(tokens: Iterable[str], known: Collection[str], *, before_blanks: bool) -> Splitter:
    """A splitter that cuts only between characters that are adjacent in no token.

    Args:
        tokens: the tokens as texts have them.
        known: the characters that are tokens. The splitter does not cut between two other characters.
        before_blanks: whether the splitter also cuts before each space.
    """
    pairs = {pair for token in tokens for pair in pairwise(token)}
    keys = _keys({*known, *(char for pair in pairs for char in pair), *BLANK * before_blanks}, pairs, known)
    numbers = {key: number for number, key in enumerate(dict.fromkeys([(UNKNOWN, False), *keys.values()]))}
    classes, count = np.zeros(CODE_POINTS, np.uint8), len(numbers)
    for char, key in keys.items():
        classes[ord(char)] = numbers[key]
    joined = {(numbers[keys[left]], numbers[keys[right]]) for left, right in pairs}
    loose = {number for (_, is_known), number in numbers.items() if not is_known}
    blanks = {numbers[keys[BLANK]]} if before_blanks else set[int]()
    over, end, budget = -1, count, Budget()

    def step(now: int, symbol: int) -> Step:
        is_over = symbol == end or symbol in blanks or not ((now, symbol) in joined or {now, symbol} <= loose)
        return (over, True) if is_over else (symbol, False)

    found = explored(lambda symbol: (over if symbol == end else symbol, False), step, over, end + 1, budget)
    return reduced(classes, found, np.zeros(end, np.bool_), budget)


def _keys(characters: Iterable[str], pairs: Collection[Pair], known: Collection[str]) -> Mapping[str, tuple[Hashable, bool]]:
    """The key of a character's class: its kind, and whether it is a token."""
    group = _groups(pair for pair in pairs if pair[0].isalpha() and pair[1].isalpha())
    known = {*known}

    def kind(char: str) -> Hashable:
        if char.isalpha() or unicodedata.category(char)[0] == "M":
            return "letters", group.get(char, 0)
        is_single = char == BLANK or any(ord(char) in block for block in SINGLE)
        return "digits" if char.isnumeric() else char if is_single else "signs"

    return {char: (kind(char), char in known) for char in sorted(characters)}


def _groups(pairs: Iterable[Pair]) -> Mapping[str, int]:
    """The group number of each letter that is adjacent to others in tokens: 1 and more for the largest groups, 0 for all others."""
    first: dict[str, str] = {}

    def root(char: str) -> str:
        while (above := first.setdefault(char, char)) != char:
            first[char] = first[above]
            char = above
        return char

    for left, right in sorted(pairs):
        first[root(left)] = root(right)
    groups = defaultdict[str, set[str]](set)
    for char in first:
        groups[root(char)].add(char)
    ascii_of = Counter(root(char) for char in first if char.isascii())
    order = sorted(groups, key=lambda name: (-ascii_of[name], -len(groups[name]), name))
    return {char: place + 1 if place < GROUPS else 0 for place, name in enumerate(order) for char in groups[name]}
