"""Near words: the distance of a word from another word, and the arrays with which a kernel finds the nearest words.

The distance is the least sum of the costs of edits that turn the word, a misspelling, into the other word, its correction:

============ ===== =====================================================================================
edit         cost  example
============ ===== =====================================================================================
`EDIT`       10    insert, delete or replace a character: "helo" → "help"
`KEY`        8     replace a character by one next to it on the keyboard (option KEY): "heklo" → "hello"
`SWAP`       7     exchange two neighbours: "hlelo" → "hello"
`DOUBLE`     6     insert or delete a character next to an equal one: "helo" → "hello"
`REPLACEMENT` 5    replace a string as in the option REP: "fone" → "phone"
`JOIN`       4     for each boundary of a compound
`SIMILAR`    3     replace a character by one of the same class (option MAP): "Hute" → "Hüte"
`CASE`       2     replace a letter by the same letter in another case: "paris" → "Paris"
============ ===== =====================================================================================

Edits do not overlap: no character that an edit wrote is edited again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.tables.proof import need, need_none
from fst.tables.strings import prove_strings
from fst.text.reading_arguments import borrowable

EDIT, KEY, SWAP, DOUBLE, REPLACEMENT, JOIN, SIMILAR, CASE = 10, 8, 7, 6, 5, 4, 3, 2
BUDGETS = 10, 20  # the distances up to which words are searched, one after another
ARRAYS: tuple[tuple[str, type[np.generic]], ...] = (("starts", np.uint32), ("labels", np.uint16), ("targets", np.uint32))
MAX_SYMBOLS = 100  # maximum number of characters of a misspelling
FIRST_LABEL, JOIN_LABEL = 2, 1  # labels: 0 reads nothing, `JOIN_LABEL` is the boundary of a compound, then characters follow
END = 0xFFFF  # label after the transitions of a state, in the arrays of the kernel
MAX_FOUND = 1 << 14  # capacity for words of a search
MAX_ROUNDS = 1 << 9  # of `reach_of`; after it, all labels follow each state
MAX_STEPS = 1 << 22  # maximum number of transitions of a search
MAX_ROWS = 1 << 14  # capacity for different rows of a search
CELLS = 1 << 20  # capacity for the cells of all rows
LEVELS = BUDGETS[-1] // EDIT + 1  # the numbers of characters that can be edited


class NearArguments(NamedTuple):
    """The automaton of words, and costs.

    Attributes:
        root: uint32[1], the main root.
        states: uint64[2 * states], for each state `reach_of` it; and the number of its first transition, times 2, plus 1 if a word ends in
            it. Its transitions end with an element whose label is `END`.
        transitions: uint64[transitions + states], the target of each, times 2¹⁶, plus its label.
        pair_starts: int64[labels + 1]; pair_labels, pair_costs: int32[pairs], for each label, the labels by which it is cheaper to replace
            it.
    """

    root: Array
    states: Array
    transitions: Array
    pair_starts: Array
    pair_labels: Array
    pair_costs: Array


class NearWord(NamedTuple):
    """A misspelling.

    Attributes:
        labels: int64[n], the label of each character; characters that no word has have numbers after the last label.
        rule_ends: int64[rules], the end in the misspelling of each place where a replacement is possible.
        rule_sizes: int64[rules], the number of characters of this place.
        rule_starts: int64[rules + 1], the bounds in `rule_labels` of the labels that are written.
        rule_labels: int64[m].
    """

    labels: Array
    rule_ends: Array
    rule_sizes: Array
    rule_starts: Array
    rule_labels: Array


class Near(NamedTuple):
    """A word near a misspelling, and its distance."""

    distance: int
    text: str


class NearWork(NamedTuple):
    """Working arrays. A row is a row of the table of distances, see `fst.runtime.machines.speller.suggest.kernels.nearest`.

    Attributes:
        sizes: int64[4], the number of rows, of kinds of labels, of cells of a row, and the capacity for rows.
        kinds: int32[labels], the kind of each label; replace: int32[kinds * n], the cost of replacing each character by each kind.
        read, deleted: int64[n], the kind of each character, and the cost of deleting it.
        related: uint64[n], for each character its label and similar ones, as bits ``label % 64``; all, if it may cost less than `EDIT`.
        cheaper: uint64[n], for each character the kinds that begin a cheaper edit of it, as bits ``kind % 64``.
        words, cells: uint64[CELLS / 8], the cells of rows, and the same memory as uint8[CELLS].
        low, high: int32[rows], the first and the last beginning of the misspelling that may be within the budget after the next label.
        useful: uint64[rows], the kinds whose next row may differ from that of labels without a kind of their own, as bits ``kind % 64``.
        after: int32[rows * kinds * 2], the row after each row and kind, if the label before is another one; if it is the same.
        rests: uint64[rows * LEVELS]; for a row and m, the characters of the misspelling that remain at each cell whose budget allows m
            more edits, as bits of their places from the end.
        slots, slot_of: int32[slots], int32[rows], hash table of rows, the slot of each.
        path: int64[depths], the labels of the word.
        frames: int64[3 * 8 * depths], for each state of the path the next transition, the number of characters, the row.
        found: int64[3 * MAX_FOUND], the begin and the end in `text` of each word, and its distance.
        text: uint16[m], labels of words that were found.
    """

    sizes: Array
    kinds: Array
    replace: Array
    read: Array
    deleted: Array
    related: Array
    cheaper: Array
    words: Array
    cells: Array
    low: Array
    high: Array
    useful: Array
    after: Array
    rests: Array
    slots: Array
    slot_of: Array
    path: Array
    frames: Array
    found: Array
    text: Array


def work_of(labels: int) -> NearWork:
    """Working arrays for a number of labels."""
    depths, size, words = 2 * MAX_SYMBOLS + BUDGETS[-1] // DOUBLE + 2, MAX_SYMBOLS, np.empty(CELLS // 8, np.uint64)
    return NearWork(
        sizes=np.zeros(4, np.int64),
        kinds=np.empty(labels, np.int32),
        replace=np.empty((labels + 2) * size, np.int32),
        read=np.empty(size, np.int64),
        deleted=np.empty(size, np.int64),
        related=np.empty(size, np.uint64),
        cheaper=np.empty(size, np.uint64),
        words=words,
        cells=words.view(np.uint8),
        low=np.empty(MAX_ROWS, np.int32),
        high=np.empty(MAX_ROWS, np.int32),
        useful=np.empty(MAX_ROWS, np.uint64),
        after=np.empty(MAX_ROWS * 64, np.int32),
        rests=np.empty(MAX_ROWS * LEVELS, np.uint64),
        slots=np.zeros(2 * MAX_ROWS, np.int32),
        slot_of=np.empty(MAX_ROWS, np.int32),
        path=np.empty(depths, np.int64),
        frames=np.empty(3 * 8 * depths, np.int64),
        found=np.empty(3 * MAX_FOUND, np.int64),
        text=np.empty(MAX_FOUND * 16, np.uint16),
    )


def reach_of(starts: Array, labels: Array, targets: Array) -> Array:
    """uint64[states], the labels that follow each state at any distance, as bits ``label % 64``."""
    bits = np.where(labels > JOIN_LABEL, np.uint64(1) << (labels.astype(np.uint64) & np.uint64(63)), np.uint64(0))
    filled = np.flatnonzero(np.diff(starts.astype(np.int64)))
    found = np.zeros(len(starts) - 1, np.uint64)
    for _ in range(MAX_ROUNDS if len(filled) else 0):
        after = found.copy()
        after[filled] = np.bitwise_or.reduceat(bits | found[targets], starts[filled].astype(np.int64))
        if (after == found).all():
            return found
        found = after
    return np.full(len(found), ~np.uint64(0) if len(filled) else 0, np.uint64)


def arguments_of(table: Any) -> NearArguments:
    """The arrays of a `fst.machines.speller.table.SpellerTable`, in the form that the kernel reads."""
    starts, labels, targets = (borrowable(getattr(table, f"near_{name}"), dtype) for name, dtype in ARRAYS)
    finals = borrowable(table.near_finals, np.uint8) > 0
    pairs = table.near_pairs.astype(np.int32).reshape(-1, 3)
    count = FIRST_LABEL + len(table.near_letters)
    begins = starts[:-1].astype(np.int64) + np.arange(len(starts) - 1)
    transitions = np.insert(targets.astype(np.uint64) << np.uint64(16) | labels, starts[1:].astype(np.int64), END)
    return NearArguments(
        root=borrowable(table.near_root, np.uint32),
        states=np.stack([reach_of(starts, labels, targets), begins.astype(np.uint64) << np.uint64(1) | finals], axis=1).ravel(),
        transitions=transitions,
        pair_starts=np.searchsorted(pairs[:, 0], np.arange(count + 1)).astype(np.int64),
        pair_labels=np.ascontiguousarray(pairs[:, 1]),
        pair_costs=np.ascontiguousarray(pairs[:, 2]),
    )


def prove(table: Any) -> None:
    """Prove that the kernel is safe on a table's automaton of words, if it has one."""
    starts, labels, targets = (getattr(table, f"near_{name}") for name, _ in ARRAYS)
    states, count = len(table.near_finals), FIRST_LABEL + len(table.near_letters)
    if not states:
        return
    need(len(table.near_root) == 1 and int(table.near_root[0]) < states, "near_root is not the number of a state")
    starts = starts.astype(np.int64)
    need(len(starts) == states + 1 and starts[0] == 0 and starts[-1] == len(labels), "near_starts does not partition the transitions")
    need_none(np.diff(starts) < 0, lambda state: f"the transitions of state {state} of near words end before they begin")
    need(count <= END, f"near words have {count} labels; expected at most {END}")
    need(len(targets) == len(labels), f"near words have {len(labels)} labels, {len(targets)} targets")
    need_none(targets >= states, lambda at: f"transition {at} of near words leads to state {targets[at]} of {states}")
    need_none(labels >= count, lambda at: f"transition {at} of near words has the label {labels[at]} of {count}")
    letters = table.near_letters
    is_none = (letters > 0x10FFFF) | ((letters >= 0xD800) & (letters < 0xE000))
    need_none(is_none, lambda at: f"near_letters has {letters[at]}, which is no character")
    need(len(table.near_pairs) % 3 == 0, f"near_pairs has {len(table.near_pairs)} elements; expected a multiple of 3")
    pairs = table.near_pairs.reshape(-1, 3)
    outside = (pairs < 0).any(1) | (pairs[:, :2] >= count).any(1)
    need_none(outside, lambda at: f"pair {at} of near words has a label that is not below {count}")
    need_none(~np.isin(pairs[:, 2], (KEY, SIMILAR, CASE)), lambda at: f"pair {at} of near words has the cost {pairs[at, 2]}")
    need_none(np.diff(pairs[:, 0]) < 0, lambda at: f"pair {at + 1} of near words is not in the order of labels")
    ends = table.near_ends
    need(len(ends) % 2 == 0, f"near_ends has {len(ends)} elements; expected pairs")
    if len(ends):
        prove_strings(table.near_bytes, ends, len(ends), "strings of replacements")
        need_none(np.diff(ends, prepend=0) == 0, lambda at: f"string {at} of replacements is empty")
    need(len(ends) or not len(table.near_bytes), "near_bytes has strings without an end")


def distance(word: str, other: str, costs: Mapping[tuple[str, str], int], replacements: Sequence[tuple[str, str]], joins: int = 0) -> int:
    """The distance of a word from another word with a number of boundaries, by the table of distances of all beginnings.

    Args:
        costs: the cost of replacing a character by another one, if it is less than `EDIT`.
        replacements: the pairs of the option REP.
    """
    table = np.full((len(other) + 1, len(word) + 1), len(word) * EDIT + len(other) * EDIT)
    for done, read in np.ndindex(*table.shape):
        ways = [0] if done == read == 0 else []
        if done:
            ways.append(table[done - 1, read] + (DOUBLE if other[done - 2 : done - 1] == other[done - 1] else EDIT))
        if read:
            ways.append(table[done, read - 1] + (DOUBLE if word[read - 2 : read - 1] == word[read - 1] else EDIT))
        if done and read:
            same = word[read - 1] == other[done - 1]
            ways.append(table[done - 1, read - 1] + (0 if same else costs.get((word[read - 1], other[done - 1]), EDIT)))
        if done > 1 and read > 1 and word[read - 2 : read] == other[done - 1] + other[done - 2] and word[read - 1] != word[read - 2]:
            ways.append(table[done - 2, read - 2] + SWAP)
        for found, correction in replacements:
            if word[:read].endswith(found) and other[:done].endswith(correction):
                ways.append(table[done - len(correction), read - len(found)] + REPLACEMENT)
        table[done, read] = min(ways)
    return int(table[-1, -1]) + joins * JOIN
