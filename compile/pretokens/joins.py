"""Splitters by the tokens of BPE: if no token contains two characters next to each other, a cut between them changes no merge.

Characters that are adjacent in a token are *joined*. Most joined characters are letters of one script, or signs. The largest groups of
joined characters have a class each; all others share one, as if they were joined. A space is joined to the character after it, and rarely
to the one before it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from itertools import pairwise

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.automata import Step, explored, reduced
from fst.text.splitter import Splitter
from fst.text.whitespace import BLANK

GROUPS = 3  # groups of joined characters with a class of their own
UNKNOWN, BLANKS, ALONE, BEHIND, OTHERS = range(5)  # ALONE: joined to no others; BEHIND: to a space before it; from OTHERS on: groups


def between_tokens(tokens: Iterable[str], known: Collection[str]) -> Splitter:
    """A splitter that cuts only between characters that are adjacent in no token.

    Args:
        tokens: all that merges make.
        known: the characters that are tokens. The splitter does not cut between two other characters.
    """
    pairs = {pair for token in tokens for pair in pairwise(token)}
    behind, before = {after for char, after in pairs if char == BLANK}, {char for char, after in pairs if after == BLANK}
    classes, count = np.full(CODE_POINTS, UNKNOWN, np.uint8), OTHERS + GROUPS + 1
    classes[[ord(char) for char in known]] = ALONE
    classes[[ord(char) for char in behind & {*known}]] = BEHIND
    for number, group in enumerate(_groups(pair for pair in pairs if BLANK not in pair)):
        classes[[ord(char) for char in group]] = OTHERS + 1 + number if number < GROUPS else OTHERS
    classes[ord(BLANK)] = BLANKS
    follow, lead = ({int(classes[ord(char)]) for char in chars - {BLANK}} for chars in (behind, before))
    blanks_join = (BLANK, BLANK) in pairs

    def joins(left: int, right: int) -> bool:
        if BLANKS in (left, right):
            return (right in follow or (right == BLANKS and blanks_join)) if left == BLANKS else left in lead
        return left == right not in (ALONE, BEHIND)

    over, end, budget = -1, count, Budget()

    def step(now: int, symbol: int) -> Step:
        return (over, True) if symbol == end or not joins(now, symbol) else (symbol, False)

    found = explored(lambda symbol: (over if symbol == end else symbol, False), step, over, end + 1, budget)
    return reduced(classes, found, np.zeros(end, np.bool_), budget)


def _groups(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
    """The groups of joined characters, those with the most ASCII first, and then the largest."""
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
    return [groups[name] for name in sorted(groups, key=lambda name: (-ascii_of[name], -len(groups[name]), name))]
