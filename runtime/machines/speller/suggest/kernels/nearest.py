"""The kernel of near words: a walk over the automaton of all words, with a row of the table of distances for each character.

    automaton:  root ─ h ─ e ─ l ─ p ─ …        path     h e l
    row 0 ──────→ row 1 → row 2 → row 3         rows     distances of "", "h", "he", "hel" from each beginning of the misspelling

`fst.machines.speller.nearest.distance` is the specification of the rows. Thousands of paths have a few hundred different rows, so the
rows are the states of a second automaton, which is made during the search: `follow` computes the row after a row and a *kind* of label
once. Labels that cost the same at each place of the misspelling are of one kind. A row has a cell for

- each beginning of the misspelling, of n characters: n + 1;
- each pair of neighbours of which the second was read, as the first of a swap: n - 1;
- each beginning of the string that a replacement writes, except the empty one and the whole.

A transition is not followed if all cells of its row are over the budget. The same holds if they are over the budget after the edits that
the rest of the misspelling needs: each of its characters costs at least `EDIT` if neither it nor a similar one occurs after the state.

Preconditions: the automaton is proven (`fst.machines.speller.nearest.prove`); `work` is made for its labels; the misspelling has 1 to
`MAX_SYMBOLS` characters.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import folded, mixed
from fst.core.jit import inlined, kernel, part
from fst.machines.speller import nearest
from fst.runtime.kernels.constants import U1

EDIT, SWAP, DOUBLE, REPLACEMENT, JOIN = nearest.EDIT, nearest.SWAP, nearest.DOUBLE, nearest.REPLACEMENT, nearest.JOIN
JOIN_LABEL, OVER = nearest.JOIN_LABEL, 255
CHEAPEST = min(nearest.CASE, nearest.SIMILAR, REPLACEMENT, DOUBLE, SWAP)
FRAME, CURSOR, DEPTH, ROW = 3, 0, 1, 2
FOUND, TEXT, STEPS = 0, 1, 2
OTHER, JOINED, FIRST_KIND = 0, 1, 2  # kinds: labels without a kind of their own; the boundary of a compound
NONE, UNKNOWN, DEAD = -1, -1, -2  # no kind; rows that follow: not computed yet; over the budget
ROWS, KINDS, WIDTH, CAPACITY = 0, 1, 2, 3  # of `work.sizes`
LEVELS, END, LABEL_BITS = nearest.LEVELS, nearest.END, 16
BITS, NOTHING = 63, np.uint64(0)


@inlined
def bit(label):
    """The bit of a label in a mask."""
    return U1 << np.uint64(label & BITS)


@part
def add_kind(label, size, work):
    """Give a label a kind of its own, which has the costs of other labels at first; return the kind."""
    if work.kinds[label] == OTHER:
        kind = work.kinds[label] = work.sizes[KINDS]
        work.sizes[KINDS] += 1
        for place in range(size):
            work.replace[kind * size + place] = EDIT
    return work.kinds[label]


@part
def fill_costs(word, table, work):
    """Fill the arrays of `work` that depend on the misspelling only."""
    size, labels, sizes = len(word.labels), len(table.pair_starts) - 1, work.sizes
    sizes[ROWS], sizes[KINDS], sizes[WIDTH] = 0, FIRST_KIND, (2 * size + len(word.rule_labels) - len(word.rule_ends) + 7) & ~7
    work.kinds[:labels] = OTHER
    work.replace[: FIRST_KIND * size] = EDIT
    for place in range(size):
        label = word.labels[place]
        near, cheaper, is_double = bit(label), NOTHING, place > 0 and word.labels[place - 1] == label
        work.read[place] = NONE
        if label < labels:
            for pair in range(table.pair_starts[label], table.pair_starts[label + 1]):
                kind = add_kind(table.pair_labels[pair], size, work)
                work.replace[kind * size + place] = table.pair_costs[pair]
                cheaper |= bit(kind)
                near |= bit(table.pair_labels[pair])
            work.read[place] = add_kind(label, size, work)
            work.replace[work.read[place] * size + place] = 0
        work.related[place] = ~NOTHING if is_double else near
        work.deleted[place] = DOUBLE if is_double else EDIT
        work.cheaper[place] = cheaper
    for rule in range(len(word.rule_ends)):
        for at in range(word.rule_starts[rule], word.rule_starts[rule + 1]):
            add_kind(word.rule_labels[at], size, work)
        start = word.rule_ends[rule] - word.rule_sizes[rule]
        work.cheaper[start] |= bit(work.kinds[word.rule_labels[word.rule_starts[rule]]])
        for place in range(start, word.rule_ends[rule]):
            work.related[place] = ~NOTHING
    for place in range(size - 1):
        work.cheaper[place] |= bit(work.read[place + 1])
    sizes[CAPACITY] = min(len(work.useful), len(work.cells) // sizes[WIDTH], len(work.after) // (2 * sizes[KINDS])) - 1


@part
def read_label(row, new, kind, inserted, budget, word, work):
    """Fill the row `new` with the cells after a row and a kind of label, without deletions and replacements of strings."""
    cells, size, read, width = work.cells, len(word.labels), work.read, work.sizes[WIDTH]
    costs, swaps, old, at = kind * size - 1, size + 1, row * width, new * width
    for place in range(work.low[row], min(work.high[row], size) + 1):
        before, cost = np.int64(cells[old + place]), np.int64(cells[old + place]) + inserted
        if place > 0:
            cost = min(cost, np.int64(cells[old + place - 1]) + work.replace[costs + place])
        if place > 1 and read[place - 2] == kind:
            cost = min(cost, np.int64(cells[old + swaps + place - 2]))
        if cost <= budget:
            cells[at + place] = cost
        if place + 1 < size and read[place + 1] == kind and before + SWAP <= budget and read[place] != kind and read[place] != NONE:
            cells[at + swaps + place] = before + SWAP
    work.low[new], work.high[new] = work.low[row], work.high[row]


@part
def replace_strings(row, new, kind, budget, word, work):
    """Lower the cells of the row `new` by replacements of strings."""
    cells, width, size = work.cells, work.sizes[WIDTH], len(word.labels)
    old, begin = row * width, new * width
    at = 2 * size
    for rule in range(len(word.rule_ends)):
        end, last = word.rule_ends[rule], word.rule_starts[rule + 1] - 1
        cost = np.int64(cells[old + end - word.rule_sizes[rule]]) + REPLACEMENT
        for label in range(word.rule_starts[rule], last + 1):
            is_read = work.kinds[word.rule_labels[label]] == kind and cost <= budget
            if label < last:
                if is_read:
                    cells[begin + at] = cost
                cost = np.int64(cells[old + at])
                at += 1
            elif is_read and cost < cells[begin + end]:
                cells[begin + end] = cost
                work.low[new], work.high[new] = min(work.low[new], end), max(work.high[new], end)


@inlined
def note_cell(row, rest, left, useful, work):
    """Note a cell in `rests` and `useful` of its row.

    Args:
        rest: number of characters of the misspelling that remain at the cell.
        left: the budget that remains at the cell.
        useful: the kinds that are useful to the cell, as bits.
    """
    for level in range(min(left // EDIT + 1, LEVELS)):
        work.rests[LEVELS * row + level] &= bit(rest) - U1 if rest <= BITS else ~NOTHING
    work.useful[row] |= useful


@part
def delete_characters(row, budget, word, work):
    """Lower the cells of a row by deletions, and note what the row needs; return whether a cell is within the budget."""
    cells, size, at, read = work.cells, len(word.labels), row * work.sizes[WIDTH], work.read
    work.rests[LEVELS * row : LEVELS * (row + 1)] = ~NOTHING
    place, last, cost, low, high = work.low[row], work.high[row], OVER, size + 1, NONE
    work.useful[row] = NOTHING
    while place <= size and (place <= last or cost <= budget):
        cost = min(np.int64(cells[at + place]), cost + work.deleted[place - 1] if place > 0 else OVER)
        if cost <= budget:
            cells[at + place] = cost
            useful = bit(read[place]) | (work.cheaper[place] if budget - cost >= CHEAPEST else NOTHING) if place < size else NOTHING
            note_cell(row, size - place, budget - cost, useful, work)
            low, high = min(low, place), max(high, place + 1)
        swap = np.int64(cells[at + size + 1 + place]) if place + 1 < size else OVER
        if swap <= budget:
            note_cell(row, size - place - 2, budget - swap, bit(read[place]), work)
            low, high = min(low, place + 2), max(high, place + 2)
        place += 1
    work.low[row], work.high[row] = low, high
    return high != NONE


@part
def note_strings(row, budget, word, work):
    """Note the cells of replacements that a row has begun; return whether there are any."""
    size, is_begun = len(word.labels), False
    at = row * work.sizes[WIDTH] + 2 * size
    for rule in range(len(word.rule_ends)):
        for label in range(word.rule_starts[rule] + 1, word.rule_starts[rule + 1]):
            cost = np.int64(work.cells[at])
            if cost <= budget:
                is_begun = True
                note_cell(row, size - word.rule_ends[rule], budget - cost, bit(work.kinds[word.rule_labels[label]]), work)
            at += 1
    return is_begun


@part
def same_row(row, work):
    """The number of the row with the same cells as a row after all rows. If there is none, the row is kept, and its own number returned."""
    width, words, slots = work.sizes[WIDTH] >> 3, work.words, len(work.slots)
    found = NOTHING
    for at in range(row * width, (row + 1) * width):
        found = mixed(found ^ words[at])
    slot = np.int64(folded(found) & np.uint64(slots - 1))
    while True:
        other = np.int64(work.slots[slot])
        if not (0 <= other < row and work.slot_of[other] == slot):
            break
        at = 0
        while at < width and words[other * width + at] == words[row * width + at]:
            at += 1
        if at == width:
            return other
        slot = (slot + 1) & (slots - 1)
    work.slots[slot], work.slot_of[row] = row, slot
    work.sizes[ROWS] = row + 1
    kinds = 2 * work.sizes[KINDS]
    work.after[row * kinds : (row + 1) * kinds] = UNKNOWN
    return row


@part
def finish_row(row, budget, word, work):
    """Complete a row after all rows; return the number of the row with its cells, or `DEAD` if all of them are over the budget."""
    is_live = delete_characters(row, budget, word, work)
    if len(word.rule_ends) > 0:
        is_live |= note_strings(row, budget, word, work)
    return np.int64(same_row(row, work)) if is_live else np.int64(DEAD)


@part
def follow(row, kind, is_again, budget, counts, word, work):
    """The row after a row and a kind of label; `is_again`: the label before it is equal."""
    width, new = work.sizes[WIDTH], work.sizes[ROWS]
    if new == work.sizes[CAPACITY]:
        counts[STEPS] = 0
        return np.int64(DEAD)
    work.words[new * (width >> 3) : (new + 1) * (width >> 3)] = ~NOTHING
    if kind == JOINED:
        work.low[new], work.high[new] = work.low[row], work.high[row]
        for at in range(width):
            cost = np.int64(work.cells[row * width + at]) + JOIN
            if cost <= budget:
                work.cells[new * width + at] = cost
    else:
        read_label(row, new, kind, DOUBLE if is_again else EDIT, budget, word, work)
        if len(word.rule_ends) > 0:
            replace_strings(row, new, kind, budget, word, work)
    return finish_row(new, budget, word, work)


@inlined
def row_after(row, kind, is_again, budget, counts, word, work):
    """The row after a row and a kind of label; all kinds without use for the row are alike."""
    first = 2 * row * work.sizes[KINDS]
    at = first + 2 * kind + is_again
    found = np.int64(work.after[at])
    if found == UNKNOWN:
        if kind != JOINED and work.useful[row] & bit(kind) == NOTHING:
            kind = OTHER
        same = first + 2 * kind + is_again
        found = np.int64(work.after[same])
        if found == UNKNOWN:
            found = follow(row, kind, is_again, budget, counts, word, work)
        work.after[same] = work.after[at] = found
    return found


@part
def first_row(budget, word, work):
    """Make the row of the empty path, number 0."""
    work.words[: work.sizes[WIDTH] >> 3] = ~NOTHING
    work.cells[0] = work.low[0] = work.high[0] = 0
    finish_row(0, budget, word, work)


@inlined
def is_near(row, reach, size, work):
    """Whether a cell of a row is within the budget, if characters that do not occur are edited."""
    rests = LEVELS * row
    if work.rests[rests] == NOTHING:
        return True
    missing, one = NOTHING, U1
    for back in range(min(size, BITS + 1)):
        if work.related[size - 1 - back] & reach == NOTHING:
            missing |= one
        one <<= U1
    for level in range(LEVELS):
        left = missing & work.rests[rests + level]
        for _ in range(level):
            left &= left - U1
        if left == NOTHING:
            return True
    return False


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


@inlined
def enter(state, height, depth, row, counts, word, table, work):
    """Add the word that ends in a state, and push the transitions of the state, if any may be followed; return the number of frames."""
    size, begin = len(word.labels), np.int64(table.states[2 * state + 1])
    if begin & 1:
        cost = np.int64(work.cells[row * work.sizes[WIDTH] + size])
        if cost != OVER:
            add(depth, cost, counts, work)
    if not is_near(row, table.states[2 * state], size, work):
        return height
    frame = FRAME * height
    if frame == len(work.frames):
        counts[STEPS] = 0
        return height
    work.frames[frame + CURSOR], work.frames[frame + DEPTH], work.frames[frame + ROW] = begin >> 1, depth, row
    return height + 1


@kernel
def find_near(budget, counts, word, table, work):
    """Find the words within a distance of a misspelling, each possibly several times.

    Args:
        budget: int64, the largest distance.
        counts: int64[3], 0 words and 0 labels; and the number of steps that may be taken. If it is 0 at the end, the search is not
            complete.
        word, table, work: see `fst.machines.speller.nearest`.
    """
    fill_costs(word, table, work)
    if work.sizes[CAPACITY] > 0:
        first_row(budget, word, work)
    else:
        counts[STEPS] = 0
    depths, state, height, depth, row = len(work.path), np.int64(table.root[0]), 0, 0, 0
    while state != NONE and counts[STEPS] > 0:
        height = enter(state, height, depth, row, counts, word, table, work)
        state = NONE
        while height > 0 and state == NONE:
            frame = FRAME * (height - 1)
            cursor, depth, above = work.frames[frame + CURSOR], work.frames[frame + DEPTH], work.frames[frame + ROW]
            before = work.path[depth - 1] if depth > 0 else NONE
            row, label, target = DEAD, 0, 0
            while row == DEAD and label != END:
                transition = np.int64(table.transitions[cursor])
                label, target = transition & END, transition >> LABEL_BITS
                if label == 0:
                    row = above
                elif label != END:
                    kind = JOINED if label == JOIN_LABEL else np.int64(work.kinds[label])
                    row = row_after(above, kind, label == before, budget, counts, word, work)
                cursor += 1
            work.frames[frame + CURSOR] = cursor
            counts[STEPS] = max(counts[STEPS] - 1, 0)
            if label == END:
                height -= 1
            elif label > JOIN_LABEL:
                if depth < depths:
                    work.path[depth] = label
                    state, depth = target, depth + 1
            elif label == 0 or depth > 0:
                state = target
