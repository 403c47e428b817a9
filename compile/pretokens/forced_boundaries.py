"""Splitters derived from tokens. If no token contains two characters next to each other, every segmentation has a boundary between these
characters.

Characters that are adjacent in a token are *joined*. The classes of two characters determine whether they may be joined.

- For merges, each of the largest groups of joined characters is a class; all smaller groups together are one class. Most groups consist
  of the letters of a script, or of signs. A space is joined to the character after it, and rarely to the character before it.
- For paths, each group of letters has a class, because nearly all pairs of letters of a script occur in some token. Each ASCII sign and
  punctuation mark has a class, so a word and a comma after it are two pre-tokens. Two unknown characters have no boundary between them,
  because a run of unknown characters becomes one id.

Example: the results of merges ab, ␣ab and xy, and the known characters a, b, x, y, z, the space and the full stop. The groups of joined
characters are {a, b} and {x, y}. z and the full stop are alone, and ! and ? are unknown. So "abxy ab.z!?" becomes ab, xy, ␣ab, ., z and !?.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.automata import Step, explored, reduced
from fst.text.splitter import Splitter
from fst.text.whitespace import SPACE

GROUPS = 3  # the number of groups of joined characters that are a class each
NOT_KNOWN, OF_SPACE, ALONE, BEHIND, OTHERS = range(5)  # kinds of classes; BEHIND: joined to a space before it; OTHERS and above: groups
SINGLE = (range(0x80), range(0x2010, 0x2040))  # ranges in which each sign is a class
UNKNOWN = "unknown"  # the class of characters that are in no token
# The bytes of incomplete characters, decoded as lone surrogates; and such bytes next to a whole character, or at the start of another one.
PARTS = re.compile("[\udc80-\udcff]+")
PARTIAL = re.compile("[\udc80-\udcff][^\udc80-\udcbf]|[^\udc80-\udcff][\udcc0-\udcff]")

Pair = tuple[str, str]


def between_merges(tokens: Iterable[str], known: Collection[str]) -> Splitter:
    """Build a splitter for BPE whose boundaries no merge crosses, from the results of merges and the characters that are tokens. It does
    not cut between two characters that are not tokens.
    """
    pairs = {pair for token in tokens for pair in pairwise(token)}
    behind, before = {after for char, after in pairs if char == SPACE}, {char for char, after in pairs if after == SPACE}
    classes = np.full(CODE_POINTS, NOT_KNOWN, np.uint8)
    classes[[ord(char) for char in known]] = ALONE
    classes[[ord(char) for char in behind & {*known}]] = BEHIND
    for number, group in enumerate(_groups(pair for pair in pairs if SPACE not in pair)):
        classes[[ord(char) for char in group]] = OTHERS + 1 + number if number < GROUPS else OTHERS
    classes[ord(SPACE)] = OF_SPACE
    follow, lead = ({int(classes[ord(char)]) for char in chars - {SPACE}} for chars in (behind, before))
    spaces_join = (SPACE, SPACE) in pairs

    def joins(left: int, right: int) -> bool:
        if OF_SPACE in (left, right):
            return (right in follow or (right == OF_SPACE and spaces_join)) if left == OF_SPACE else left in lead
        return left == right not in (ALONE, BEHIND)

    return _splitter(classes, OTHERS + GROUPS + 1, joins)


def between_paths(tokens: Iterable[str], known: Collection[str], *, before_spaces: bool) -> Splitter:
    """Build a splitter for Unigram whose boundaries no token of a path crosses, from the tokens, spelled as in texts, and the characters
    that are tokens. It does not cut between two characters that are not tokens; with `before_spaces`, it also cuts before each space.
    """
    pairs = {pair for token in tokens for pair in pairwise(token)}
    keys = _keys({*known, *(char for pair in pairs for char in pair), *SPACE * before_spaces}, pairs, known)
    numbers = {key: number for number, key in enumerate(dict.fromkeys([(UNKNOWN, False), *keys.values()]))}
    classes = np.zeros(CODE_POINTS, np.uint8)
    for char, key in keys.items():
        classes[ord(char)] = numbers[key]
    joined = {(numbers[keys[left]], numbers[keys[right]]) for left, right in pairs}
    loose = {number for (_, is_known), number in numbers.items() if not is_known}
    whitespace = {numbers[keys[SPACE]]} if before_spaces else set[int]()

    def joins(left: int, right: int) -> bool:
        return right not in whitespace and ((left, right) in joined or {left, right} <= loose)

    return _splitter(classes, len(numbers), joins)


def between_bytes(tokens: Iterable[bytes]) -> Splitter | None:
    """Build a splitter for a longest match over bytes whose boundaries no token crosses; None if a token has a whole character next to a
    part of another character, because such parts have no classes.
    """
    texts = [token.decode(errors="surrogateescape") for token in tokens]
    if any(PARTIAL.search(text) for text in texts):
        return None
    whole = [part for text in texts for part in PARTS.split(text)]
    return between_paths(whole, {*"".join(whole)}, before_spaces=False)


def _splitter(classes: NDArray[np.uint8], count: int, joins: Callable[[int, int], bool]) -> Splitter:
    """The splitter that cuts between two characters unless their classes may be joined. Classes are numbers below `count`."""
    over, budget = -1, Budget()

    def step(now: int, symbol: int) -> Step:
        return (over, True) if symbol == count or not joins(now, symbol) else (symbol, False)

    found = explored(lambda symbol: (over if symbol == count else symbol, False), step, over, count + 1, budget)
    return reduced(classes, found, np.zeros(count, np.bool_))


def _keys(characters: Iterable[str], pairs: Collection[Pair], known: Collection[str]) -> Mapping[str, tuple[Hashable, bool]]:
    """The key of each character's class: the kind of the character, and whether it is a token."""
    letters = _groups(pair for pair in pairs if pair[0].isalpha() and pair[1].isalpha())
    group = {char: number for number, chars in enumerate(letters[:GROUPS], 1) for char in chars}
    known = {*known}

    def kind(char: str) -> Hashable:
        if char.isalpha() or unicodedata.category(char)[0] == "M":
            return "letters", group.get(char, 0)
        is_single = char == SPACE or any(ord(char) in block for block in SINGLE)
        return "digits" if char.isnumeric() else char if is_single else "signs"

    return {char: (kind(char), char in known) for char in sorted(characters)}


def _groups(pairs: Iterable[Pair]) -> list[set[str]]:
    """The groups of joined characters, sorted by the number of ASCII characters and then by size, both descending."""
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
