"""Kernels of WordPiece by score: merge the pair with the greatest ``f(ab) / (f(a) f(b))`` until the vocabulary is full.

All words are in one array of cells, in the order of their first occurrence, with `GAP` before, between and after them. The first and the
last cell of a token contain the token's id; the cells between them contain `INNER`. So the token after the token at cell i begins at ``i +
lengths[id]``, and cell ``i - 1`` contains the id of the previous token. Example: the word h ##u ##g consists of the tokens 0, 1 and 2.
Merging ##u and ##g into token 9 changes the cells:

    GAP 0 1 2 GAP   →   GAP 0 9 9 GAP

A pair of tokens occurs at the cells where its left token begins. The cells of a pair are in ascending order in ``pool[START:END]`` of its
row in `pairs`. A merge creates a token and, at the same time, all pairs with this token, so the cells of a pair are written only once.
Later merges make some of these cells stale: ``cells[i] ≠ left`` or ``cells[i + lengths[left]] ≠ right``. Rows with the same left token form
a list, and rows with the same right token form a list. A merge of a and b changes f(a) and f(b), and therefore the scores of all pairs in
the four lists of a and b. No other scores change.

A merge calls these functions in this order:

    the pair's cells ─→ join ─→ live cells ─→ gather ─→ counts by neighbour ─→ rescore lists ─→ add pairs ─→ scatter cells

See `fst.compile.train.scores.state.Index` for the arrays. Kernels do not check their arguments. Kernels require that each word consists of
whole tokens, and that the sum of all counts of symbols is below 2**63. `is_tiled` proves the first requirement for cells from a file.
"""

from __future__ import annotations

import numpy as np

from fst.compile.train.scores.heap import change, push, remove, score_of, sink
from fst.compile.train.scores.numbers import (
    COUNT,
    DONE,
    END,
    FREE,
    GAP,
    HALF_OUT,
    HEAP_SIZE,
    INNER,
    LEAST,
    LEFT,
    NEIGHBOURS,
    NEXT_OF_LEFT,
    NEXT_OF_RIGHT,
    NONE,
    PAIRS,
    POOL_END,
    RIGHT,
    START,
    STEPS,
    USED,
)
from fst.core.jit import inlined, kernel, part

ROOT = 0  # index in the heap for the pair with the greatest score


@kernel
def is_tiled(cells, lengths):
    """Whether each word consists of whole tokens; if so, no kernel reads outside the array of cells. `cells`: int32[n]. `lengths`:
    int32[tokens]; 0 for tokens that no merge has made yet.
    """
    if len(cells) == 0 or cells[0] != GAP:
        return False
    cell = 0
    while cell < len(cells):
        token = cells[cell]
        size = 1
        if token >= len(lengths) or token < GAP:
            return False
        if token != GAP:
            size = np.int64(lengths[token])
            if size < 1 or cell + size >= len(cells) or cells[cell + size - 1] != token:
                return False
        for inner in range(cell + 1, cell + size - 1):
            if cells[inner] != INNER:
                return False
        cell += size
    return cells[len(cells) - 1] == GAP


@inlined
def weight_at(index, cell):
    """The count of the word that contains a cell."""
    return index.counts[index.words[cell]]


@part
def new_row(index, left, right, count, size):
    """Add a row for a pair of tokens, with `size` elements of `pool` for the pair's cells. The row is added to the lists of both tokens."""
    pairs, numbers = index.pairs, index.numbers
    row = numbers[FREE]
    if row != NONE:
        numbers[FREE] = pairs[row, NEXT_OF_LEFT]
    else:
        row = numbers[USED]
        numbers[USED] = row + 1
    begin = numbers[POOL_END]
    numbers[POOL_END] = begin + size
    pairs[row, LEFT], pairs[row, RIGHT], pairs[row, COUNT] = left, right, count
    pairs[row, START], pairs[row, END] = begin, begin
    pairs[row, NEXT_OF_LEFT], pairs[row, NEXT_OF_RIGHT] = index.lefts[left], index.rights[right]
    index.lefts[left], index.rights[right] = row, row
    return row


@inlined
def add_cell(index, row, cell):
    """Append a cell to the occurrences of a pair."""
    index.pool[index.pairs[row, END]] = cell
    index.pairs[row, END] += 1


@inlined
def enter(index, row):
    """Compute the score of a pair, and add the pair to the heap."""
    pairs = index.pairs
    score = score_of(pairs[row, COUNT], index.frequencies[pairs[row, LEFT]], index.frequencies[pairs[row, RIGHT]])
    push(index, score, index.pool[pairs[row, START]], row)


@part
def sort_cells(cells, index, begin, end, out, shift):
    """Sort the cells ``pool[begin:end]`` stably to ``pool[out:]``, by the left token of their pairs or, with `shift`, by the right token.

    All elements of `index.sizes` are 0 before and after the call.
    """
    pool, sizes, lengths = index.pool, index.sizes, index.lengths
    for place in range(begin, end):
        cell = pool[place]
        sizes[cells[cell + lengths[cells[cell]] * shift]] += 1
    total = out
    for token in range(len(sizes)):
        size = sizes[token]
        sizes[token] = total
        total += size
    for place in range(begin, end):
        cell = pool[place]
        token = cells[cell + lengths[cells[cell]] * shift]
        pool[sizes[token]] = cell
        sizes[token] += 1
    sizes[:] = 0


@kernel
def index_pairs(cells, index):
    """Count tokens and pairs, and put the pairs into the heap. `cells`: int32[n], checked by `is_tiled`. `index`: output, an `Index` whose
    `frequencies`, `sizes` and `sums` are initially 0, and whose `lefts` and `rights` are initially `NONE`. Returns `DONE`, or `PAIRS` if
    the index has too few rows.
    """
    pool, lengths, numbers, pairs = index.pool, index.lengths, index.numbers, index.pairs
    size, cell = 0, 0
    while cell < len(cells):
        token = cells[cell]
        if token == GAP:
            cell += 1
            continue
        index.frequencies[token] += weight_at(index, cell)
        if cells[cell + lengths[token]] != GAP:
            pool[size] = cell
            size += 1
        cell += lengths[token]
    numbers[NEIGHBOURS] = size
    sort_cells(cells, index, 0, size, size, 1)
    sort_cells(cells, index, size, 2 * size, 0, 0)
    numbers[POOL_END] = size
    begin = 0
    while begin < size:
        left = cells[pool[begin]]
        right = cells[pool[begin] + lengths[left]]
        count, end = 0, begin
        while end < size and cells[pool[end]] == left and cells[pool[end] + lengths[left]] == right:
            count += weight_at(index, pool[end])
            end += 1
        if count >= numbers[LEAST]:
            if numbers[USED] == len(pairs):
                return PAIRS
            row = new_row(index, left, right, count, 0)
            pairs[row, START], pairs[row, END] = begin, end
            enter(index, row)
        begin = end
    return DONE


@part
def best_pair(cells, index):
    """The row of the pair with the greatest score, or `NONE`. A stale first cell is corrected when its pair reaches the top of the heap."""
    pool, pairs = index.pool, index.pairs
    while index.numbers[HEAP_SIZE] > 0:
        row = index.heap[ROOT]
        left, right, place = pairs[row, LEFT], pairs[row, RIGHT], pairs[row, START]
        while cells[pool[place]] != left or cells[pool[place] + index.lengths[left]] != right:
            place += 1
        pairs[row, START] = place
        if pool[place] == index.firsts[ROOT]:
            return row
        sink(index, ROOT, index.scores[ROOT], pool[place], row)
    return NONE


@part
def join(cells, index, row, new):
    """Write the new token over the cells of a pair, from left to right, and drop stale cells. Returns the number of occurrences of the new
    token.
    """
    pool, pairs = index.pool, index.pairs
    left, right = pairs[row, LEFT], pairs[row, RIGHT]
    size = np.int64(index.lengths[left])
    whole = size + index.lengths[right]
    index.lengths[new] = whole
    kept, total = pairs[row, START], 0
    for place in range(pairs[row, START], pairs[row, END]):
        cell = np.int64(pool[place])
        if cells[cell] == left and cells[cell + size] == right:
            pool[kept] = cell
            kept += 1
            total += weight_at(index, cell)
            cells[cell + size - 1], cells[cell + size] = INNER, INNER
            cells[cell], cells[cell + whole - 1] = new, new
    pairs[row, END] = kept
    index.numbers[NEIGHBOURS] -= kept - pairs[row, START]
    return total


@part
def gather(cells, index, row, new):
    """Count the tokens before and after all occurrences of the new token in `sums` and `sizes`, and list these tokens in `touched`.

    In `sums` and `sizes`, the index is ``id`` for a token before the new token, and ``tokens + id`` for a token after the new token. If two
    new tokens are adjacent, only the second token is counted, as the token after the first.

    Returns:
        The number of tokens in `touched`.
    """
    pool, pairs, sums, sizes, touched = index.pool, index.pairs, index.sums, index.sizes, index.touched
    whole, tokens, count = np.int64(index.lengths[new]), len(index.lengths), 0
    for place in range(pairs[row, START], pairs[row, END]):
        cell = np.int64(pool[place])
        weight = weight_at(index, cell)
        before, after = cells[cell - 1], cells[cell + whole]
        if before != GAP and before != new:
            touched[count] = before
            count += sizes[before] == 0
            sizes[before] += 1
            sums[before] += weight
        if after != GAP:
            other = tokens + after
            touched[count] = other
            count += sizes[other] == 0
            sizes[other] += 1
            sums[other] += weight
    return count


@part
def rescore(index, heads, token, side, lost, chained, extra):
    """Update the scores of the pairs in one of a token's two lists, and remove pairs that have become too rare.

    Args:
        heads, side: `index.lefts` and 0, for the pairs with `token` on the left; or `index.rights` and 1.
        lost: the offset in `sums` at which the numbers of lost occurrences begin, indexed by the other token of the pair; `NONE`: the pairs
            lose no occurrences.
        chained, extra: the pair whose other token is `chained` loses `extra` more occurrences.

    Returns:
        The number of pairs in the list, for the budget.
    """
    pairs, frequencies, least = index.pairs, index.frequencies, index.numbers[LEAST]
    own, visited, before, row = frequencies[token], 0, NONE, heads[token]
    while row != NONE:
        visited += 1
        other, count, following = pairs[row, RIGHT - side], pairs[row, COUNT], pairs[row, NEXT_OF_LEFT + side]
        loss = extra if other == chained else 0
        if lost != NONE:
            loss += index.sums[lost + other]
        if count - loss >= least:
            pairs[row, COUNT] = count - loss
            change(index, row, score_of(count - loss, own, frequencies[other]))
            before = row
        else:
            if before == NONE:
                heads[token] = following
            else:
                pairs[before, NEXT_OF_LEFT + side] = following
            if count == HALF_OUT:
                pairs[row, NEXT_OF_LEFT] = index.numbers[FREE]
                index.numbers[FREE] = row
            else:
                remove(index, row)
                pairs[row, COUNT] = HALF_OUT
        row = following
    return visited


@part
def add_pairs(index, new, count):
    """Add rows for the pairs of the new token and the tokens before and after it.

    Afterwards, `sizes` contains the row of each pair, or `NONE` if the pair is too rare.
    """
    sums, sizes, touched, tokens = index.sums, index.sizes, index.touched, len(index.lengths)
    for place in range(count):
        other = touched[place]
        size, total = sizes[other], sums[other]
        sizes[other] = NONE
        if total >= index.numbers[LEAST]:
            left, right = (other, new) if other < tokens else (new, other - tokens)
            sizes[other] = new_row(index, left, right, total, size)


@part
def scatter(cells, index, start, end, new, count):
    """Write the cells of the new pairs, add the pairs to the heap, and reset `sums` and `sizes` to 0."""
    pool, sums, sizes, touched, lengths = index.pool, index.sums, index.sizes, index.touched, index.lengths
    whole, tokens = np.int64(lengths[new]), len(lengths)
    for place in range(start, end):
        cell = np.int64(pool[place])
        before, after = cells[cell - 1], cells[cell + whole]
        if before != GAP and before != new and sizes[before] != NONE:
            add_cell(index, sizes[before], cell - lengths[before])
        if after != GAP and sizes[tokens + after] != NONE:
            add_cell(index, sizes[tokens + after], cell)
    for place in range(count):
        other = touched[place]
        if sizes[other] != NONE:
            enter(index, sizes[other])
        sums[other], sizes[other] = 0, 0


@part
def merge(cells, index, row, new):
    """Merge all occurrences of a pair. Returns the number of occurrences of the new token, and the number of cells and rows visited."""
    pairs, frequencies, tokens = index.pairs, index.frequencies, len(index.lengths)
    left, right, work = pairs[row, LEFT], pairs[row, RIGHT], pairs[row, END] - pairs[row, START]
    total = join(cells, index, row, new)
    start, end = pairs[row, START], pairs[row, END]  # read here, because the row is freed before `scatter` is called
    frequencies[new] = total
    frequencies[left] -= total
    frequencies[right] -= total
    count = gather(cells, index, row, new)
    pairs[row, COUNT] = 0
    if left == right:
        work += rescore(index, index.lefts, left, 0, tokens, NONE, 0)
        work += rescore(index, index.rights, left, 1, 0, NONE, 0)
    else:  # decrease counts first, that of (right, left) in one step, so that no pair is ever counted more often than its tokens
        both = index.sums[right]
        work += rescore(index, index.lefts, right, 0, tokens, left, both + index.sums[tokens + new])
        work += rescore(index, index.rights, left, 1, 0, right, -both)
        work += rescore(index, index.lefts, left, 0, NONE, NONE, 0)
        work += rescore(index, index.rights, right, 1, NONE, NONE, 0)
    add_pairs(index, new, count)
    scatter(cells, index, start, end, new, count)
    return total, work


@kernel
def learn(state, index, most, budget):
    """Repeatedly merge the best pair.

    Args:
        state: a `State` with capacity for `most` merges.
        index: an `Index`.
        most: the maximum number of merges.
        budget: the approximate number of cells and rows to visit before stopping.

    Returns:
        `DONE`: no pair is left. `STEPS`: `most` merges are made, or the budget is used up. `PAIRS`: `index` needs more rows, namely two for
        each cell of the best pair, but at most two for each token.
    """
    made, atoms, work = state.made[0], len(index.lengths) - len(state.lefts), 0
    while made < most and work < budget:
        row = best_pair(state.cells, index)
        if row == NONE:
            return DONE
        new, pairs, numbers = atoms + made, index.pairs, index.numbers
        needed = 2 * min(pairs[row, END] - pairs[row, START], new + 1)
        if needed > len(pairs) - numbers[USED]:
            return PAIRS
        state.lefts[made], state.rights[made] = pairs[row, LEFT], pairs[row, RIGHT]
        state.counts[made], spent = merge(state.cells, index, row, new)
        made, work = made + 1, work + spent
        state.made[0] = made
    return STEPS
