"""The kernel of near words: a walk over the automaton of all words, with a row of the table of distances for each character.

    automaton:  root ─ h ─ e ─ l ─ p ─ …        path     h e l
    row 0 ──────→ row 1 → row 2 → row 3         rows     distances of "", "h", "he", "hel" from each beginning of the misspelling

`fst.machines.speller.nearest.distance` is the specification of the rows. A transition is followed if a word through it may be near enough:

- the *mask* of a path has the labels that may follow. If no edit is within the budget, only characters of the misspelling may follow;
- from a cell on, each character of the rest of the misspelling is deleted or replaced if neither it nor a similar one occurs after the
  state. These costs are added to the cell.

Preconditions: the automaton is proven (`fst.machines.speller.nearest.prove`); `work` is made for the misspelling, which is not empty.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.speller import nearest

EDIT, SWAP, DOUBLE, REPLACEMENT, JOIN = nearest.EDIT, nearest.SWAP, nearest.DOUBLE, nearest.REPLACEMENT, nearest.JOIN
CHEAPEST = min(nearest.CASE, nearest.SIMILAR, REPLACEMENT, DOUBLE, SWAP)
JOIN_LABEL, FAR, NO_LABEL = nearest.JOIN_LABEL, 1 << 20, -1
CURSOR, LAST, DEPTH, EXTRA = 0, 1, 2, 3
FOUND, TEXT, STEPS = 0, 1, 2
U1, BITS, NO_LABELS, ALL_LABELS = np.uint64(1), 63, np.uint64(0), np.uint64((1 << 64) - 1)


@inlined
def bit(label):
    """The bit of a label in a mask."""
    return U1 << np.uint64(label & BITS)


@part
def fill_costs(word, table, work):
    """Fill the arrays of `work` that depend on the misspelling only."""
    size, labels = len(word.labels), len(table.pair_starts) - 1
    work.exact[size] = work.similar[size] = NO_LABELS
    for label in range(labels):
        for place in range(size):
            work.replace[label * size + place] = EDIT
    for place in range(size):
        label = word.labels[place]
        near = bit(label)
        work.exact[place] = near
        if label < labels:
            for pair in range(table.pair_starts[label], table.pair_starts[label + 1]):
                work.replace[table.pair_labels[pair] * size + place] = table.pair_costs[pair]
                near |= bit(table.pair_labels[pair])
            work.replace[label * size + place] = 0
        work.related[place] = near
        work.without[place] = DOUBLE if place > 0 and word.labels[place - 1] == label else EDIT
        work.similar[place] = near | (bit(word.labels[place + 1]) if place + 1 < size else NO_LABELS)
    for rule in range(len(word.rule_ends)):
        start = word.rule_ends[rule] - word.rule_sizes[rule]
        work.similar[start] |= bit(word.rule_labels[word.rule_starts[rule]])
        for place in range(start, word.rule_ends[rule]):
            work.without[place] = 0
    work.rows[0] = 0
    for place in range(size):
        is_double = place > 0 and word.labels[place - 1] == word.labels[place]
        work.rows[place + 1] = work.rows[place] + (DOUBLE if is_double else EDIT)


@inlined
def ends_with(path, depth, word, rule, size):
    """Whether a path ends with the first `size` labels that a replacement writes."""
    first = word.rule_starts[rule]
    if size > depth:
        return False
    equal = 0
    while equal < size and path[depth - size + equal] == word.rule_labels[first + equal]:
        equal += 1
    return equal == size


@part
def replace_strings(depth, word, work):
    """Begin a row with the replacements that end with the path."""
    width = len(word.labels) + 1
    for place in range(width):
        work.rows[depth * width + place] = FAR
    for rule in range(len(word.rule_ends)):
        size = word.rule_starts[rule + 1] - word.rule_starts[rule]
        if ends_with(work.path, depth, word, rule, size):
            at, end = (depth - size) * width, word.rule_ends[rule]
            cost = work.rows[at + end - word.rule_sizes[rule]] + REPLACEMENT
            work.rows[depth * width + end] = min(np.int64(work.rows[depth * width + end]), cost)


@part
def fill_row(depth, word, work):
    """Compute the row of a path with `depth` labels."""
    rows, labels, replace, has_rules = work.rows, word.labels, work.replace, len(word.rule_ends) > 0
    if has_rules:
        replace_strings(depth, word, work)
    size = np.uint64(len(labels))
    at = np.uint64(depth) * (size + U1)
    above = at - size - U1
    label, before = work.path[depth - 1], work.path[depth - 2] if depth > 1 else NO_LABEL
    inserted, costs = DOUBLE if before == label else EDIT, np.uint64(label) * size
    left, diagonal = np.int64(rows[above]) + inserted, np.int64(rows[above])
    if has_rules:
        left = min(left, np.int64(rows[at]))
    rows[at] = left
    previous = NO_LABEL
    for number in range(size):
        place = np.uint64(number)
        read, over = labels[place], np.int64(rows[above + place + U1])
        best = min(diagonal + replace[costs + place], over + inserted)
        best = min(best, left + (DOUBLE if previous == read else EDIT))
        if previous == label and before == read and read != label:
            best = min(best, np.int64(rows[above - size - U1 + place - U1]) + SWAP)
        if has_rules:
            best = min(best, np.int64(rows[at + place + U1]))
        rows[at + place + U1] = left = best
        previous, diagonal = read, over


@part
def begun_mask(depth, budget, word, work):
    """The labels that may complete an edit over several labels that has begun with the path."""
    labels, width = word.labels, len(word.labels) + 1
    label, mask, above = work.path[depth - 1], NO_LABELS, (depth - 1) * width
    for place in range(1, len(labels)):
        if labels[place] == label and labels[place - 1] != label and work.rows[above + place - 1] + SWAP <= budget:
            mask |= bit(labels[place - 1])
    for rule in range(len(word.rule_ends)):
        start, first = word.rule_ends[rule] - word.rule_sizes[rule], word.rule_starts[rule]
        for size in range(1, word.rule_starts[rule + 1] - first):
            if ends_with(work.path, depth, word, rule, size) and work.rows[(depth - size) * width + start] + REPLACEMENT <= budget:
                mask |= bit(word.rule_labels[first + size])
    return mask


@part
def next_mask(state, depth, budget, word, table, work):
    """The labels that may follow a path to a state; 0: no longer word is within the budget."""
    size, reach = len(word.labels), table.reach[state]
    mask = begun_mask(depth, budget, word, work) if depth else NO_LABELS
    row, missing, last = depth * (size + 1), 0, work.path[depth - 1] if depth else NO_LABEL
    for back in range(size + 1):
        place, rest = size - back, missing
        if back and work.related[place] & reach == NO_LABELS:
            missing += work.without[place]
        left = budget - work.rows[row + place]
        if left >= missing:
            left -= rest  # an edit at this place may pay for its character
            if left >= EDIT:
                return ALL_LABELS
            mask |= work.exact[place] if left < CHEAPEST else work.similar[place]
            if left >= DOUBLE and depth:
                mask |= bit(last)
    return mask


@part
def add(depth, cost, counts, work):
    """Add the word of the path."""
    begin, count = counts[TEXT], counts[FOUND]
    if count == len(work.found) // 3 or begin + depth > len(work.text):
        counts[STEPS] = 0
        return
    for at in range(depth):
        work.text[begin + at] = work.path[at]
    work.found[3 * count], work.found[3 * count + 1], work.found[3 * count + 2] = begin, begin + depth, cost
    counts[TEXT], counts[FOUND] = begin + depth, count + 1


@part
def enter(state, height, depth, extra, budget, counts, word, table, work):
    """Add the word that ends in a state, and push the transitions of the state, if any may be followed; return the number of frames."""
    cost = work.rows[depth * (len(word.labels) + 1) + len(word.labels)] + extra
    if table.finals[state] and cost <= budget:
        add(depth, cost, counts, work)
    mask = next_mask(state, depth, budget - extra, word, table, work)
    if mask == NO_LABELS and cost > budget:  # otherwise, a transition that reads nothing may end a word
        return height
    if height == len(work.masks):
        counts[STEPS] = 0
        return height
    frame = 4 * height
    work.frames[frame + CURSOR], work.frames[frame + LAST] = table.starts[state], table.starts[state + 1]
    work.frames[frame + DEPTH], work.frames[frame + EXTRA] = depth, extra
    work.masks[height] = mask
    return height + 1


@kernel
def find_near(budget, counts, word, table, work):
    """Find the words within a distance of a misspelling, each possibly several times.

    Args:
        budget: int64, the largest distance.
        counts: int64[3], 0 words and 0 labels; and the number of transitions that may be read. If it is 0 at the end, the search is not
            complete.
        word, table, work: see `fst.machines.speller.nearest`.
    """
    fill_costs(word, table, work)
    depths = len(work.path)
    height = enter(np.int64(table.root[0]), 0, 0, 0, budget, counts, word, table, work)
    while height > 0 and counts[STEPS] > 0:
        frame = 4 * (height - 1)
        cursor, last, depth, extra = (
            work.frames[frame + CURSOR],
            work.frames[frame + LAST],
            work.frames[frame + DEPTH],
            work.frames[frame + EXTRA],
        )
        mask, label = work.masks[height - 1], 0
        while cursor < last:
            label = np.int64(table.labels[cursor])
            if label <= JOIN_LABEL or mask & bit(label):
                break
            cursor += 1
        counts[STEPS] -= 1
        work.frames[frame + CURSOR] = cursor + 1
        if cursor == last:
            height -= 1
        elif label == 0:
            height = enter(np.int64(table.targets[cursor]), height, depth, extra, budget, counts, word, table, work)
        elif label == JOIN_LABEL:
            if depth > 0 and extra + JOIN <= budget:
                height = enter(np.int64(table.targets[cursor]), height, depth, extra + JOIN, budget, counts, word, table, work)
        elif depth + 1 < depths:
            work.path[depth] = label
            fill_row(depth + 1, word, work)
            height = enter(np.int64(table.targets[cursor]), height, depth + 1, extra, budget, counts, word, table, work)
