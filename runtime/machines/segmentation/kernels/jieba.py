"""The kernel of jieba's segmentation. `fst.machines.segmentation.jieba` describes the segmentation, and its slow walk specifies the tokens.

At the start of a block, and often in the whole block, no word contains two adjacent characters, so each character is a token. The rest of
the block is read twice: from right to left for the best word at each position, and from left to right for the tokens. The best words are
stored in the output array, where tokens overwrite them. No word is empty, so each best word is read before a token overwrites it. Scores
are stored only for as many positions as the longest word has units. So a block of any length needs no other memory.

The kernel stores nothing between calls. If a text continues, the kernel stops before an unfinished block or character at the end, and the
caller passes the units of this block or character again.

The kernel checks nothing, and requires a table that has passed `Table.prove`, text in UTF-16, and an output array with a capacity of
`ids_per_unit` ids for each unit.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.core.prefetch import prefetch
from fst.machines.segmentation import jieba
from fst.runtime.kernels.constants import U0, U1, U2
from fst.runtime.kernels.unicode import HIGH_SURROGATE, SURROGATE
from fst.runtime.machines.segmentation.kernels.jieba_model import put_words_and_unknown
from fst.runtime.machines.segmentation.kernels.jieba_tokens import NO_WORD, SEARCH, put, put_whole, word_between
from fst.runtime.machines.segmentation.kernels.unit_trie import KIND_SHIFT, LABEL, LEAF, ROOT, kind_of, label_of, leads, state_of, value_of

SPACE, LETTER = np.uint64(jieba.SPACE), np.uint64(jieba.LETTER)
ALL = jieba.MODES.index(jieba.ALL)
CR, LF = np.uint64(jieba.CR), np.uint64(jieba.LF)
LENGTH_BITS, LENGTH, SLOT = np.uint64(jieba.LENGTH_BITS), np.uint64(jieba.MAX_LENGTH), np.uint64(jieba.MAX_SLOT)
FIRST_IN_BLOCK = LETTER << KIND_SHIFT  # the smallest element of ``table.units`` for units in blocks
LEAST = -np.inf


@inlined
def choose_longer(at, slot, best, choice, table, scores, labels):
    """Choose the best word at a position: one character, or one of the longer words.

    Args:
        slot: the slot in the trie of the first two characters.
        best, choice: the score and the choice for one character. If the character is not a word, any longer word replaces the choice.

    Returns:
        The best score, and the choice, see `find_best`.
    """
    entries, values, mask = table.entries, table.scores, np.uint64(len(scores)) - U1
    end, single = at + U2, best
    best = LEAST if choice == U1 else best
    while True:
        value, state = value_of(entries[slot]), state_of(entries[slot])
        score = values[value] + scores[end & mask]
        if value != U0 and score >= best:
            best, choice = score, slot << LENGTH_BITS | end - at
        label = np.uint64(labels[end & mask])
        slot = state + label
        if state == LEAF or not leads(entries[slot], label):
            break
        end += U1
    return (single if choice == U1 else best), choice


@inlined
def find_best(text, start, end, table, output, place, scores, labels):
    """Find the best word at each position of a block, from right to left.

    Args:
        output, place: ``output.ids[place + n]`` becomes the choice at ``start + n``: ``slot << LENGTH_BITS | length`` of the best word.
            Slot 0 represents a single character that is not a word.
        scores, labels: ring buffers of the scores and of the units' labels at the latest positions.
    """
    entries, values, mask = table.entries, table.scores, np.uint64(len(scores)) - U1
    after, following, at = 0.0, U0, end
    labels[end & mask] = 0  # a label that no entry has
    while at > start:
        scores[at & mask] = after
        at -= U1
        label = label_of(table, text[at])
        labels[at & mask] = label
        entry = entries[label]
        best, choice = values[U0] + after, U1
        if leads(entry, label):
            if value_of(entry) != U0:
                best, choice = values[value_of(entry)] + after, label << LENGTH_BITS | U1
            slot = state_of(entry) + following
            if state_of(entry) != LEAF and leads(entries[slot], following):
                best, choice = choose_longer(at, slot, best, choice, table, scores, labels)
        after, following = best, label
        output.ids[place + (at - start)] = np.uint32(choice)


@inlined
def put_words(text, start, end, table, output, place, best, row, characters):
    """Write the words of a block's best path; adjacent single letters become one token.

    Args:
        best: the index in `output.ids` of the first choice from `find_best`.
        row, characters: as in `put`.

    Returns:
        The index after the last token.
    """
    at = start
    while at < end:
        choice = np.uint64(output.ids[best + (at - start)])
        stop, word = at + (choice & LENGTH), np.int64(table.numbers[choice >> LENGTH_BITS & SLOT])
        if kind_of(table, text[at]) == LETTER and stop == at + U1:
            while (
                stop < end
                and np.uint64(output.ids[best + (stop - start)]) & LENGTH == U1
                and kind_of(table, text[stop]) == LETTER
            ):
                stop += U1
            if stop > at + U1:
                word = word_between(text, at, stop, table)
        place = put_whole(text, at, stop, word, table, output, place, row, characters)
        at = stop
    return place


@inlined
def put_letters(output, place, word, start, end, row, characters):
    """Write the letters from `start` to `end`, if any, as one token; `word` is the word number of the last letter."""
    if start < end:
        place = put(output, place, word if end == start + U1 else NO_WORD, start, end, row, characters)
    return place


@inlined
def put_single(text, start, end, table, output, place, characters):
    """Write the tokens of a block, which are the same in all modes, before the first character that may begin a word of two characters.

    Returns:
        The position of this character, or the end of the block or text; the start of the letters directly before this position, which are
        not written yet; the index after the last token; and the word number of the last letter.
    """
    at = letters = start
    word = own = NO_WORD
    while at < end:
        unit = np.uint64(table.units[text[at]])
        if unit < FIRST_IN_BLOCK:
            break
        label = unit & LABEL
        entry = table.entries[label]
        own = NO_WORD
        if leads(entry, label):
            if at + U1 < end and state_of(entry) != LEAF:
                following = label_of(table, text[at + U1])
                if leads(table.entries[state_of(entry) + following], following):
                    break
            own = np.int64(table.numbers[label])
        if unit >> KIND_SHIFT != LETTER:
            place = put_letters(output, place, word, letters, at, start, characters)
            place = put(output, place, own, at, at + U1, start, characters)
            letters = at + U1
        word = own
        at += U1
    return at, letters, place, word


@part
def put_all(text, start, end, table, output, place, row, characters):
    """Write all words of a block, for the mode "all". Arguments and result are as in `put_words`."""
    beyond = start  # the end of the words that were written
    letters, letters_end = end, end  # the bounds of the letters to join; at first, no letters
    at = start
    while at < end:
        is_letter = kind_of(table, text[at]) == LETTER
        if letters < end and not is_letter:
            word = word_between(text, letters, letters_end, table)
            place = put(output, place, word, letters, letters_end, row, characters)
            letters = end
        count, first, first_stop, longer = U0, NO_WORD, at + U1, place
        state, stop = ROOT, at
        while stop < end and state != LEAF:
            label = label_of(table, text[stop])
            entry = table.entries[state + label]
            if not leads(entry, label):
                break
            stop += U1
            if value_of(entry):
                word = np.int64(table.numbers[state + label])
                if count == U0:
                    first, first_stop = word, stop
                count += U1
                if stop > at + U1:
                    longer = put(output, longer, word, at, stop, row, characters)
                    last = stop
            state = state_of(entry)
        if count < U2 and at >= beyond:
            beyond = first_stop
            if is_letter:
                letters, letters_end = (letters if letters < end else at), first_stop
            if letters == end:
                place = put(output, place, first, at, first_stop, row, characters)
        elif longer > place:
            place, beyond = longer, last
        at += U1
    if letters < end:
        word = word_between(text, letters, letters_end, table)
        place = put(output, place, word, letters, letters_end, row, characters)
    return place


@inlined
def put_outside(text, start, end, is_open, table, output, place, characters):
    """Write the tokens of a text from a position up to the next block.

    Args:
        end, is_open: the end of the text in this call, and whether the text continues in the next call.
        characters: the number of characters before `start`.

    Returns:
        A position: the start of the next block, the end of the text, or a carriage return at the end of the text, because a line feed may
        follow; the index after the last token; and the number of characters before the position.
    """
    is_all = table.mode[0] == ALL
    at, begun = start, characters
    while at < end:
        unit = np.uint64(text[at])
        kind = kind_of(table, unit)
        if kind >= LETTER:
            break
        after, size = at + U1, U1
        if unit == CR:
            if after < end and np.uint64(text[after]) == LF:
                after, size = at + U2, U2
            elif after == end and is_open:
                break
        elif unit & SURROGATE == HIGH_SURROGATE and after < end:
            after = at + U2
        if is_all and kind == SPACE:
            place = put(output, place, NO_WORD, U0, characters - begun, U0, begun)
        if kind == SPACE or not is_all:
            place = put(output, place, NO_WORD, U0, size, U0, characters)
            begun = characters + size
        characters += size
        at = after
    if is_all:
        place = put(output, place, NO_WORD, U0, characters - begun, U0, begun)
    return at, place, characters


@inlined
def end_of_block(text, at, end, table):
    """Find the end of the block that contains a position, and prefetch the entries that `find_best` will read."""
    state = LEAF
    while at < end:
        unit = np.uint64(table.units[text[at]])
        if unit < FIRST_IN_BLOCK:
            break
        if state != LEAF:
            prefetch(table.entries, state + (unit & LABEL))
        state = state_of(table.entries[unit & LABEL])
        at += U1
    return at


@kernel
def run_rows(text, starts, more, table, output, work):
    """Segment texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.segmentation.jieba.Arguments`, and `work`, which is `fst.machines.segmentation.jieba.Work`.
    """
    call, rows = work.state, np.uint64(len(starts)) - U1
    place, at, characters = call.count, np.uint64(starts[0]), call.before if call.is_open else U0
    mode = table.mode[0]
    has_model = len(table.chances) > 0 and mode != ALL
    for index in range(rows):
        row = np.uint64(index)
        stop, is_open = np.uint64(starts[row + U1]), more and row + U1 == rows
        while at < stop:
            if kind_of(table, text[at]) < LETTER:
                end, after, count = put_outside(text, at, stop, is_open, table, output, place, characters)
                if end == at or (is_open and mode == ALL and end + U1 >= stop):
                    break
                at, place, characters = end, after, count
                continue
            reached, first, after, word = at, at, place, np.int64(NO_WORD)
            if not has_model:  # with a model, all single characters must be passed to the model
                reached, first, after, word = put_single(text, at, stop, table, output, place, characters)
            end = end_of_block(text, reached, stop, table)
            if is_open and end == stop:
                break
            if reached == end:
                place = put_letters(output, after, word, first, end, at, characters)
            elif mode == ALL:
                place = put_all(text, first, end, table, output, after, at, characters)
            else:
                best = after + (end - first if mode == SEARCH else U0)
                find_best(text, first, end, table, output, best, work.scores, work.labels)
                if has_model:
                    place = put_words_and_unknown(text, first, end, table, output, after, best, at, characters)
                else:
                    place = put_words(text, first, end, table, output, after, best, at, characters)
            characters += end - at
            at = end
        if not is_open:
            output.ends[row] = place
            characters = U0
    call.count, call.before, call.is_open = place, characters, more
    return at
