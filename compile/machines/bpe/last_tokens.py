"""The last-token automaton of a byte-level BPE table: its automaton of merges, an automaton of cuts from its splitter, and an automaton of
the texts that a composing normalizer, such as NFC, does not change.

Decoding the tokens of a text gives the normalized text. So no canonical tokens decode to a text that the normalizer changes. A state
of the third automaton is a pair: the set of the characters that change the latest letter, and the rank of the mark before the next
character. A character changes a text if the normalizer changes it alone; if it is a mark of a lower rank than the mark before it; or if it
changes the latest letter, and no mark of the same or a higher rank is between them. See The Unicode Standard, 3.11.
"""

from __future__ import annotations

import numpy as np

from fst.automata.last_tokens import NOWHERE, LastTokens, characters_of, unchanged, walked
from fst.automata.rows import CODE_POINTS, Array
from fst.errors import UnsupportedError
from fst.machines.bpe.table import BpeTable
from fst.text.composition import HANGUL, LEADING, SYLLABLES, TRAILING, TRAILING_COUNT, VOWEL_COUNT, VOWELS, Composition, Images
from fst.text.normalizer import Normalizer
from fst.text.splitter import DEAD, START, Splitter
from fst.text.whitespace import NO_WHITESPACE

Group = frozenset[int]  # the characters that change a certain letter
NOTHING: Group = frozenset()
# Of a character: whether it is changed alone; its rank; its code point, or 0 if it changes no letter; and the characters that change it.
Kind = tuple[bool, int, int, Group]
MAX_STATES = 1 << 14
LEADING_COUNT = SYLLABLES // (VOWEL_COUNT * TRAILING_COUNT)


def composed_texts(by: Composition) -> tuple[Array, Array]:
    """int32[0x110000], the class of each code point; class 0 is for characters that change nothing and are not changed. int16[states,
    classes], the next state of the automaton over classes; -1 if the text changes. State 0 is the beginning of a text.
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
    """The class of each kind of character, in ascending order; and int32[0x110000], the class of each code point."""
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
    """For each letter, the characters that change it if they follow it; letters that no character changes are left out."""
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


NORM_BITS = 16  # number of bits of the classes of `composed_texts`
Cut = tuple[int, frozenset[int]]  # the state of the current search, and the states of earlier searches that must not find a longer match
BEGIN: Cut = (DEAD, frozenset())  # the beginning of a text, where no search has begun


def last_tokens(table: BpeTable) -> LastTokens:
    """The last-token automaton of a table."""
    _need_plain(table)
    splitter = table.splitter
    cuts, ends = cuts_of(splitter)
    known = table.metadata.model.model_tokens
    sizes = table.lengths.astype(np.int32)
    if table.metadata.model.ignore_merges:
        ids, tokens = table.token_ids[:known], table.contents[:known]
        used = [place for place, token in enumerate(tokens) if token and max(token) < 0xF8]
        wrong = np.flatnonzero(walked(table.entries, [tokens[place] for place in used]) != ids[used])
        if len(wrong):
            raise UnsupportedError(f"{len(wrong)} tokens are not what merges make, and ignore_merges is set; use canonical=False")
    none = np.empty(0, np.uint64), np.empty(0, np.float64), 0.0
    by, classes = table.metadata.text.normalizer, splitter.classes.astype(np.int64)
    norm_classes, norms = unchanged(cuts.shape[2])
    if by and by.composition:
        of_norms, norms = composed_texts(by.composition)
        pairs, classes = np.unique(classes << NORM_BITS | of_norms, return_inverse=True)
        cuts, norm_classes = np.ascontiguousarray(cuts[:, :, pairs >> NORM_BITS]), (pairs & (1 << NORM_BITS) - 1).astype(np.int32)
    risky = np.any(norms < 0, axis=0)[norm_classes].astype(np.uint8)
    arrays = characters_of(classes), cuts, ends, risky, norm_classes, norms, table.entries, np.empty(0, np.int32)
    return LastTokens(*arrays, 0, sizes, *none, begins_with_space=False)


def cuts_of(splitter: Splitter) -> tuple[Array, Array]:
    """The fields `cuts` and `ends` of a `LastTokens`, for a splitter whose matches cover every text.

    A word is cut correctly if its search finds a match that ends there, and no longer match. So the automaton runs the search of the
    current word, and continues the searches of earlier words until they end without another match.
    """
    moves = splitter.moves
    _need_matches(moves)
    classes = moves.shape[1] - 1
    numbers, queue = {BEGIN: 0}, [BEGIN]
    rows, ends = [], []
    for cut in queue:  # the loop appends to `queue`
        row = np.full((2, classes), NOWHERE, np.int16)
        for begins in (0, 1):
            for number in range(classes):
                after = _after(moves, cut, number, begins == 1)
                if after is not None:
                    if after not in numbers:
                        numbers[after] = len(queue)
                        queue.append(after)
                    row[begins, number] = numbers[after]
        rows.append(row)
        ends.append(cut == BEGIN or _may_end(moves, cut))
    return np.array(rows), np.array(ends, np.uint8)


def _after(moves: Array, cut: Cut, number: int, begins: bool) -> Cut | None:
    """The searches after a character of a class; `begins`: a word begins before this character. None if the cuts are wrong."""
    state, earlier = cut
    if any(moves[other, number] & 1 for other in earlier):
        return None
    left, move = {int(moves[other, number]) >> 1 for other in earlier}, int(moves[state, number])
    if not begins:
        return None if move >> 1 == DEAD else (move >> 1, frozenset(left - {DEAD}))
    if cut != BEGIN and not move & 1:
        return None
    return int(moves[START, number]) >> 1, frozenset({*left, move >> 1} - {DEAD})


def _may_end(moves: Array, cut: Cut) -> bool:
    state, earlier = cut
    return bool(moves[state, -1] & 1) and not any(moves[other, -1] & 1 for other in earlier)


def _need_matches(moves: Array) -> None:
    """Refuse a splitter if a search may end without a match."""
    seen, stack = {START}, [START]  # states that a search reaches before its match ends
    while stack:
        state = stack.pop()
        for place, move in enumerate(moves[state].tolist()):
            if move & 1 or (state == START and place == moves.shape[1] - 1):
                continue
            if move >> 1 == DEAD:
                raise UnsupportedError("the splitter leaves characters between its matches; use canonical=False")
            if move >> 1 not in seen:
                seen.add(move >> 1)
                stack.append(move >> 1)


def _only_composes(by: Normalizer | None) -> bool:
    return by is None or by == Normalizer(by.composition, Images([]), NO_WHITESPACE)


def _need_plain(table: BpeTable) -> None:
    model, text = table.metadata.model, table.metadata.text
    found = {
        "a normalizer that does more than compose, or add_prefix_space": not _only_composes(text.normalizer),
        "symbols that are characters": not model.letters.are_bytes,
        "bytes without tokens": model.missing_bytes > 0,
        "merges without an automaton": not table.has_automaton,
        "a prefix or suffix in the names of tokens": bool(table.affixes),
        "pre-tokens that are dropped": bool(table.drops.any()),
        "splits between bytes": len(table.byte_kinds) > 0,
    }
    names = [name for name, is_there in found.items() if is_there]
    if names:
        raise UnsupportedError(f"canonical masks do not cover this BPE: it has {' and '.join(names)}; use canonical=False")
