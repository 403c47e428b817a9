"""The kernel of MeCab's segmentation. `fst.machines.segmentation.mecab` describes the segmentation, and its slow walk specifies the words.

`fst.runtime.machines.segmentation.kernels.lattice` contains the lattice. If a text continues, the kernel stops after the last word that
later text cannot change, and stores the right id of this word. The caller passes the units after the word again.

Kernels check nothing, and require a table that has passed `Table.prove`, text in UTF-16, and an output array with a capacity of one id for
each unit.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.segmentation import mecab
from fst.runtime.kernels.constants import U0, U1, U2
from fst.runtime.kernels.unicode import HIGH_SURROGATE, SURROGATE, pairs
from fst.runtime.machines.segmentation.kernels.lattice import (
    CERTAIN,
    END,
    NEXT,
    NODE_SHIFT,
    NONE,
    RIGHT,
    add_words,
    begin,
    best_for,
    field,
    gather,
    node_of,
    settle,
    write,
)
from fst.runtime.machines.segmentation.kernels.unit_trie import LEAF, ROOT, kind_of, label_of, leads, state_of, value_of

CATEGORIES, MASK_FIRST, MASK_LENGTH = np.uint64((1 << mecab.FIRST_SHIFT) - 1), np.uint64(31), np.uint64(mecab.MAX_CHARACTERS)
FIRST_SHIFT, LENGTH_SHIFT, GROUP_SHIFT, INVOKE_SHIFT, SPACE_SHIFT = (
    np.uint64(shift) for shift in (mecab.FIRST_SHIFT, mecab.LENGTH_SHIFT, mecab.GROUP_SHIFT, mecab.INVOKE_SHIFT, mecab.SPACE_SHIFT)
)
SOFT_NODES, MOST_KEPT = np.uint64(mecab.SOFT_NODES), np.uint64(mecab.MOST_NODES // 2)
END_OF_TEXT = U0  # the left id of the end of a text


@inlined
def kind_at(text, at, table):
    """Look up the kind of the character at a position, see `fst.machines.segmentation.mecab`."""
    return np.uint64(table.kinds[kind_of(table, text[at])])


@inlined
def after(text, at, end):
    """Return the position after a character of one or two units."""
    return at + U1 + np.uint64(np.uint64(text[at]) & SURROGATE == HIGH_SURROGATE and at + U1 < end)


@inlined
def is_space(kind):
    """Whether a kind of characters belongs to the category SPACE, whose characters the segmenter skips."""
    return kind >> SPACE_SHIFT & U1 != U0


@part
def end_of_run(text, at, end, table):
    """Find the end of a run of characters in which all pairs of adjacent characters share a category."""
    categories = kind_at(text, at, table) & CATEGORIES
    at = after(text, at, end)
    while at < end:
        following = kind_at(text, at, table) & CATEGORIES
        if following & categories == U0:
            break
        categories, at = following, after(text, at, end)
    return at


@part
def end_of_spaces(text, at, end, table):
    """Find the end of a run of spaces."""
    while at < end and is_space(kind_at(text, at, table)):
        at += U1
    return at


@inlined
def move(at, is_at_end, work):
    """Skip a space by moving the list of nodes that end before the space to the position after it. At the end of a text, the list is
    dropped if the next position already has a list.
    """
    heads, nodes, mask = work.heads, work.nodes, np.uint64(len(work.heads) - 1)
    head, following = np.uint64(heads[at & mask]), np.uint64(heads[at + U1 & mask])
    heads[at & mask] = NONE
    if following != NONE and is_at_end:
        return
    last = head
    while field(nodes, last, NEXT) != NONE:
        last = field(nodes, last, NEXT)
    nodes[last << NODE_SHIFT | NEXT] = following
    heads[at + U1 & mask] = head


@inlined
def clear(heads):
    """Make the lists of all positions empty."""
    for index in range(len(heads)):
        heads[np.uint64(index)] = NONE


@inlined
def add_known(text, at, stop, slots, count, table, work):
    """Add nodes for the words of the dictionary that begin at a position; return the number of nodes."""
    state, end = ROOT, at
    while end < stop and state != LEAF:
        label = label_of(table, text[end])
        entry = table.entries[state + label]
        if not leads(entry, label):
            break
        end += U1
        if value_of(entry):
            count = add_words(value_of(entry) - U1, at, end, slots, count, table, work)
        state = state_of(entry)
    return count


@inlined
def unknown_words(kind, table):
    """Return the index in `lists` of the unknown words for a kind of characters."""
    return np.uint64(table.unknowns[kind >> FIRST_SHIFT & MASK_FIRST])


@part
def add_unknown(text, at, stop, run_end, kind, slots, count, table, work):
    """Add nodes for the unknown words that begin at a position, by the rules for the first character's kind.

    Args:
        run_end: the latest result of `end_of_run`.
        kind: the kind of the character at the position.

    Returns:
        The number of nodes, and the new `run_end`.
    """
    words, categories, end = unknown_words(kind, table), kind & CATEGORIES, after(text, at, stop)
    is_grouped, most = kind >> GROUP_SHIFT & U1 != U0, table.scalars.max_group
    if is_grouped:
        if at >= run_end:
            run_end = end_of_run(text, at, stop, table)
        if run_end - end <= U2 * most and run_end - end - pairs(text, end, run_end) <= most:
            count = add_words(words, at, run_end, slots, count, table, work)
    for _ in range(kind >> LENGTH_SHIFT & MASK_LENGTH):
        if is_grouped and end == run_end:
            break
        count = add_words(words, at, end, slots, count, table, work)
        if end >= stop or kind_at(text, end, table) & categories == U0:
            break
        end = after(text, end, stop)
    return count, run_end


@part
def finish(text, end, table, output, work, place, counted, characters):
    """Write the words of the best path that ends at the end of a text; return the output index after the last word."""
    heads, last = work.heads, end & np.uint64(len(work.heads) - 1)
    slots = gather(heads[last], work)
    heads[last] = NONE
    key = best_for(END_OF_TEXT, slots, table, work)
    place, _, _ = write(text, node_of(key), table, output, work, place, counted, characters)
    return place


@kernel
def run_rows(text, starts, more, table, output, work):
    """Segment texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.segmentation.mecab.Arguments`, and `work`, which is `fst.machines.segmentation.mecab.Work`. If too many nodes remain, the
    result is one past the end of `text`.
    """
    call, heads, rows, mask = work.state, work.heads, np.uint64(len(starts)) - U1, np.uint64(len(work.heads) - 1)
    place, at, characters = call.count, np.uint64(starts[0]), call.before if call.is_open else U0
    right = call.last_right if call.is_open else U0
    call.is_open = more
    spaces_end = run_end = at
    for index in range(rows):
        row = np.uint64(index)
        end, is_open = np.uint64(starts[row + U1]), more and row + U1 == rows
        horizon = max(end, at + table.scalars.reach) - table.scalars.reach if is_open else end
        counted, count, limit = at, begin(right, at, work), SOFT_NODES
        while at < horizon:
            head = np.uint64(heads[at & mask])
            if head == NONE:
                at += U1
                continue
            kind = kind_at(text, at, table)
            if is_space(kind):
                if at >= spaces_end:
                    spaces_end = end_of_spaces(text, at, end, table)
                if is_open and spaces_end == end:
                    break
                move(at, spaces_end == end, work)
                at += U1
                continue
            if count > limit:
                count, place, counted, characters = settle(text, count, table, output, work, place, counted, characters)
                limit = max(SOFT_NODES, U2 * count)
                if count > MOST_KEPT:
                    break
                head = np.uint64(heads[at & mask])
            heads[at & mask] = NONE
            slots = gather(head, work)
            invoke = kind >> INVOKE_SHIFT & U1 != U0
            before = count
            if invoke:
                count, run_end = add_unknown(text, at, end, run_end, kind, slots, count, table, work)
            count = add_known(text, at, end, slots, count, table, work)
            if count == before:
                count, run_end = add_unknown(text, at, end, run_end, kind, slots, count, table, work)
            if count == before:
                count = add_words(unknown_words(kind, table), at, after(text, at, end), slots, count, table, work)
            at += U1
        if count > MOST_KEPT:
            clear(heads)
            return np.uint64(len(text)) + U1
        if is_open:
            count, place, counted, characters = settle(text, count, table, output, work, place, counted, characters)
            right, at = field(work.nodes, CERTAIN, RIGHT), field(work.nodes, CERTAIN, END)
            clear(heads)
        else:
            place = finish(text, end, table, output, work, place, counted, characters)
            output.ends[row] = place
            characters, right = U0, U0
    call.count, call.before, call.last_right = place, characters, right
    return at
