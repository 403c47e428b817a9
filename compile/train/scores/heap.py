"""The heap of WordPiece by score, which orders pairs by score, and pairs with equal scores by their first occurrence.

The heap is an indexed 4-ary heap: `pairs[pair, PLACE]` is the index of a pair in the heap, so the pair can be moved as soon as its score
changes. Scores rise and fall during training, so a heap that keeps outdated scores would need a new entry for each change.

Example: the pairs 0 to 5 with the scores ¼, ½, ½, ⅛, ¼, ⅕; the first occurrences of pairs 1 and 2, whose scores are equal, are 4 and 2. The
children of place p are the places 4p + 1 to 4p + 4::

    heap (pairs)     scores                   after
    2 0 1 3 4 5      ½  ¼  ½  ⅛  ¼  ⅕         push of all pairs; pair 2 precedes pair 1
    4 0 1 3 2 5      ¾  ¼  ½  ⅛  ½  ⅕         change of pair 4 to ¾: it rises from place 4 to place 0, and pair 2 takes place 4
    2 0 1 3 5        ½  ¼  ½  ⅛  ⅕            remove of pair 4: pair 5 fills place 0, and sinks to place 4, from which pair 2 rises
"""

from __future__ import annotations

import numpy as np

from fst.compile.train.scores.numbers import HEAP_SIZE, PLACE
from fst.core.jit import inlined, part

EXACT = 2.0**53  # all integers below are exact in float64
LOW_HALF, HALF, TOP, U0, U1 = (np.uint64(number) for number in ((1 << 32) - 1, 32, 63, 0, 1))


@inlined
def score_of(count, left, right):
    """``count / (left * right)``, rounded once, as in Python's division of integers."""
    product = np.float64(left) * np.float64(right)
    return np.float64(count) / product if product < EXACT else long_quotient(np.uint64(count), np.uint64(left), np.uint64(right))


@part
def long_quotient(count, left, right):
    """``count / (left * right)``, divided bit by bit and rounded once, half to even. `count`: uint64 from 1 to 2**63 - 1, at most `left` *
    `right`. `left`, `right`: uint64 from 1 to 2**63 - 1.
    """
    low = (left & LOW_HALF) * (right & LOW_HALF)
    middle = (left >> HALF) * (right & LOW_HALF) + (low >> HALF)
    other = (left & LOW_HALF) * (right >> HALF) + (middle & LOW_HALF)
    high = (left >> HALF) * (right >> HALF) + (middle >> HALF) + (other >> HALF)
    low = other << HALF | low & LOW_HALF
    rest_high, rest, scale = U0, count, 1.0
    while rest_high < high or (rest_high == high and rest < low):
        rest_high, rest, scale = rest_high << U1 | rest >> TOP, rest << U1, scale * 0.5
    quotient = U0
    for _ in range(54):  # 53 bits of a float64's significand, and one bit for rounding
        quotient <<= U1
        if rest_high > high or (rest_high == high and rest >= low):
            rest_high, rest, quotient = rest_high - high - np.uint64(rest < low), rest - low, quotient | U1
        rest_high, rest = rest_high << U1 | rest >> TOP, rest << U1
    half, quotient = quotient & U1, quotient >> U1
    if half and (quotient & U1 or rest_high or rest):
        quotient += U1
    return np.float64(quotient) * scale * 2.0**-52


@inlined
def put(index, place, score, first, pair):
    """Write an entry of the heap."""
    index.scores[place], index.firsts[place], index.heap[place] = score, first, pair
    index.pairs[pair, PLACE] = place


@part
def rise(index, place, score, first, pair):
    """Put a pair at a position in the heap, and sift it up."""
    scores, firsts = index.scores, index.firsts
    while place > 0:
        above = place - 1 >> 2
        if scores[above] > score or (scores[above] == score and firsts[above] < first):
            break
        put(index, place, scores[above], firsts[above], index.heap[above])
        place = above
    put(index, place, score, first, pair)


@part
def sink(index, place, score, first, pair):
    """Put a pair at a position in the heap, and sift it down."""
    scores, firsts, size = index.scores, index.firsts, index.numbers[HEAP_SIZE]
    while True:
        child = (place << 2) + 1
        if child >= size:
            break
        best = child
        for other in range(child + 1, min(child + 4, size)):
            if scores[other] > scores[best] or (scores[other] == scores[best] and firsts[other] < firsts[best]):
                best = other
        if score > scores[best] or (score == scores[best] and first < firsts[best]):
            break
        put(index, place, scores[best], firsts[best], index.heap[best])
        place = best
    put(index, place, score, first, pair)


@inlined
def push(index, score, first, pair):
    """Add a pair to the heap."""
    place = index.numbers[HEAP_SIZE]
    index.numbers[HEAP_SIZE] = place + 1
    rise(index, place, score, first, pair)


@inlined
def change(index, pair, score):
    """Set the score of a pair, and move it."""
    place = index.pairs[pair, PLACE]
    if score > index.scores[place]:
        rise(index, place, score, index.firsts[place], pair)
    elif score < index.scores[place]:
        sink(index, place, score, index.firsts[place], pair)


@part
def remove(index, pair):
    """Remove a pair from the heap: the last entry replaces it, and is sifted up or down."""
    place, last = index.pairs[pair, PLACE], index.numbers[HEAP_SIZE] - 1
    index.numbers[HEAP_SIZE] = last
    if place == last:
        return
    score, first, moved = index.scores[last], index.firsts[last], index.heap[last]
    if score > index.scores[place] or (score == index.scores[place] and first < index.firsts[place]):
        rise(index, place, score, first, moved)
    else:
        sink(index, place, score, first, moved)
