"""The automaton of the texts that a composing normalizer, such as NFC, leaves alone.

Decoding the tokens of a text gives the normalized text. So a text that the normalizer changes is not the text of canonical tokens.

A state is the latest letter, by the set of the characters that change it, and the rank of the mark before the next character. A character
changes a text if it is changed alone; if it is a mark of a lower rank than the mark before it; or if it changes the latest letter, and no
mark of the same or a higher rank is between them. See The Unicode Standard, 3.11.
"""

from __future__ import annotations

import numpy as np

from fst.automata.last_tokens import NOWHERE
from fst.automata.rows import CODE_POINTS, Array
from fst.errors import UnsupportedError
from fst.text.composition import HANGUL, LEADING, SYLLABLES, TRAILING, TRAILING_COUNT, VOWEL_COUNT, VOWELS, Composition

Group = frozenset[int]  # the characters that change a letter
NOTHING: Group = frozenset()
# Of characters: whether they are changed alone; their rank; the character, or 0 if it changes no letter; the characters that change them.
Kind = tuple[bool, int, int, Group]
MAX_STATES = 1 << 14
LEADING_COUNT = SYLLABLES // (VOWEL_COUNT * TRAILING_COUNT)


def composed_texts(by: Composition) -> tuple[Array, Array]:
    """The automaton over classes of characters.

    Returns:
        int32[0x110000], the class of each code point: 0 for characters that change nothing and are not changed. int16[states, classes], the
        next state; -1 if the text changes. State 0 is the beginning of a text.
    """
    kinds, classes = _kinds(by)
    states: dict[tuple[Group, int], int] = {(NOTHING, 0): 0}
    queue, rows = [(NOTHING, 0)], list[list[int]]()
    for group, rank in queue:  # the loop appends to `queue`
        row = []
        for changes, order, code, own in kinds:
            is_blocked = rank >= order if order else rank > 0
            if changes or (order and rank > order) or (code in group and not (rank and is_blocked)):
                row.append(NOWHERE)
                continue
            after = (group, order) if order else (own, 0)
            if max(len(kinds), len(queue)) > MAX_STATES:
                raise UnsupportedError(f"the normalizer composes in more than {MAX_STATES:,} ways; use canonical=False")
            if after not in states:
                states[after] = len(queue)
                queue.append(after)
            row.append(states[after])
        rows.append(row)
    return classes, np.array(rows, np.int16)


def _kinds(by: Composition) -> tuple[dict[Kind, int], Array]:
    """The class of each kind of characters, in ascending order; int32[0x110000], the class of each code point."""
    groups = _groups(by)
    seconds = {code for group in groups.values() for code in group}
    kinds: dict[Kind, int] = {(False, 0, 0, NOTHING): 0}
    classes = np.zeros(CODE_POINTS, np.int32)
    for code in sorted({*by.suspects, *by.orders, *groups, *seconds}):
        kind = False, by.orders.get(code, 0), code if code in seconds else 0, groups.get(code, NOTHING)
        classes[code] = kinds.setdefault((True, 0, 0, NOTHING) if _is_changed(by, chr(code)) else kind, len(kinds))
    return kinds, classes


def _is_changed(by: Composition, text: str) -> bool:
    return by.apply(text)[0] != text


def _groups(by: Composition) -> dict[int, Group]:
    """For each letter, the characters that change it if they follow; letters that none changes are left out."""
    followers: dict[int, set[int]] = {}
    for first, second in by.pairs:
        followers.setdefault(by.decompositions.get(first, [first])[0], set()).add(second)
    letters = {*followers, *(code for code, parts in by.decompositions.items() if parts[0] in followers)}
    found = {}
    for code in letters - {*by.orders}:
        base = by.decompositions.get(code, [code])[0]
        found[code] = frozenset(second for second in followers[base] if _is_changed(by, chr(code) + chr(second)))
    if by.pairs:
        vowels, trailing = frozenset(range(VOWELS, VOWELS + VOWEL_COUNT)), frozenset(range(TRAILING + 1, TRAILING + TRAILING_COUNT))
        found |= dict.fromkeys(range(LEADING, LEADING + LEADING_COUNT), vowels)
        found |= dict.fromkeys(range(HANGUL, HANGUL + SYLLABLES, TRAILING_COUNT), trailing)
    return {code: group for code, group in found.items() if group}
