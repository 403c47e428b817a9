"""Decide windows of symbols: simulate the searches of a splitter over each window, from every state that is possible before the window.

The kernel decides windows by their last two symbols; if these do not suffice, each possible symbol is added before them, and so on::

    for each symbol before the position, and each one after it:
        decide the window; if it is undecided and may be longer, add a symbol before it, depth first; otherwise write the decision
    decide: run all searches over the window, depth first; two different answers end the simulation, and the window stays undecided

A search is a stack item: its state, the index of the next symbol, the index at which it began (`NONE`: before the window), and the end of
its latest match (`NONE`: no match, or a match that ends before the window).

Preconditions, which `fst.compile.pretokens.boundaries` ensures: the stack is large enough for all items of a simulation, and no match of
the splitter is empty, so the next search begins after the start of the last one.
"""

from __future__ import annotations

from fst.core.jit import kernel, part
from fst.pretokens.boundaries import BEGINS, INSIDE, UNDECIDED
from fst.text.splitter import DEAD, START

NONE = -1
ANSWER = -1  # in place of a state: the item is an answer; INSIDE or BEGINS is in place of the index of the next symbol
BOTH = 3  # the set of both answers, as bits


@part
def push(stack, top, state, at, begin, end):
    """Put an item on the stack; return the new number of items."""
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = state, at, begin, end
    return top + 1


@part
def push_search(stack, top, begin, asked, size):
    """Put a search from its first symbol on the stack; or put the answer, if the search begins at the position or after it."""
    if begin >= asked or begin >= size:
        return push(stack, top, ANSWER, BEGINS if begin == asked else INSIDE, NONE, NONE)
    return push(stack, top, START, begin, begin, NONE)


@part
def push_next(stack, top, begin, end, asked, size):
    """Put the next search on the stack: it begins at the end of the match or, without a match, one symbol after the start of the last
    search. If the search ends before the window, put nothing: the simulation also begins with all searches that reach the window.
    """
    if begin != NONE:
        return push_search(stack, top, begin + 1 if end == NONE else end, asked, size)
    return push_search(stack, top, end, asked, size) if end > 0 else top


@part
def decide(text, size, is_first, splitter, stack, steps):
    """Decide whether a pre-token begins before the second to last symbol of a window.

    Args:
        text: int64[n], the window, without BEGIN; elements from `size` on are unused.
        size: the number of symbols.
        is_first: whether BEGIN is before the window, so that no earlier search reaches it.
    """
    asked, answers, top = size - 2, 0, 0
    if not is_first:
        begin, end = splitter.reached_ends[text[0]], splitter.reached_ends[text[0] + 1]
        for place in range(end - 1, begin - 1, -1):
            top = push(stack, top, splitter.reached[place], 1, NONE, NONE)
    top = push_search(stack, top, 0, asked, size)
    symbols = len(splitter.reached_ends) - 1
    while top:
        top -= 1
        state, at, begin, end = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if state == ANSWER:
            answers |= 1 << at
        elif steps[0] == 0:
            return UNDECIDED
        else:
            steps[0] -= 1
            if at == size:
                answers |= 1 << INSIDE  # the search may find a match that ends after the window
                if not splitter.surely_ends[state]:
                    top = push_next(stack, top, begin, end, asked, size)
            else:
                cell = state * symbols + text[at]
                for place in range(splitter.move_ends[cell + 1] - 1, splitter.move_ends[cell] - 1, -1):
                    move = splitter.moves[place]
                    match = at if move & 1 else end
                    if move >> 1 == DEAD:
                        top = push_next(stack, top, begin, match, asked, size)
                    else:
                        top = push(stack, top, move >> 1, at + 1, begin, match)
        if answers == BOTH:
            return UNDECIDED
    return BEGINS if answers == 1 << BEGINS else INSIDE


@part
def write(table, window, first, bits, decision):
    """Write the decision of all windows that end with the symbols ``window[first:]``."""
    ending = 0
    for place in range(first, len(window)):
        ending = ending << bits | window[place]
    step = 1 << bits * (len(window) - first)
    for cell in range(ending, len(table), step):
        table[cell] = decision


@kernel
def decide_windows(splitter, end, begin, bits, window, text, stack, steps, table):
    """Decide all windows.

    Args:
        splitter: a `fst.compile.pretokens.boundaries.Simulated`.
        end, begin: the symbols END and BEGIN, which are the two highest.
        bits: the number of bits of a symbol.
        window, text: int64[symbols of a window], scratch.
        stack: int64[n, 4], scratch.
        steps: int64[1], the number of remaining steps; if it is 0, windows stay undecided.
        table: uint8[1 << bits * width], the decisions, initially `INSIDE`; windows that no text contains are not written.
    """
    last = len(window) - 1
    for asked in range(end):
        for following in range(begin):
            window[last - 1], window[last] = asked, following
            first, is_new = last - 1, True
            while first < last:
                if is_new:
                    is_first = window[first] == begin
                    skipped = first + is_first
                    for place in range(skipped, last + 1):
                        text[place - skipped] = window[place]
                    decision = decide(text, last + 1 - skipped, is_first, splitter, stack, steps)
                    if decision == UNDECIDED and first > 0 and not is_first and steps[0] > 0:
                        first -= 1
                        window[first] = 0
                        continue
                    write(table, window, first, bits, decision)
                if first == last - 1:
                    break
                window[first] += 1 if window[first] + 1 != end else 2  # END is not before any other symbol
                is_new = window[first] <= begin
                first += 0 if is_new else 1
