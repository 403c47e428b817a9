"""Normalize texts before they are split. `fst.text.normalizer.Normalizer.stretches` specifies the result.

The requirements of `fst.runtime.text.kernels.composition` apply.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LENGTH, VALUE
from fst.core.jit import inlined, kernel, part
from fst.runtime.kernels.constants import U0, U1, U3
from fst.runtime.kernels.spans import join_spans, span_of
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import CONTINUATION, ITEMS
from fst.runtime.kernels.utf_8 import LOW_6, copy_run, count_characters
from fst.runtime.text.kernels.charsmap import are_apart
from fst.runtime.text.kernels.composition import code_at, normalise, put_place, start_before
from fst.runtime.text.kernels.edits import normalise_and_edit
from fst.runtime.text.kernels.pretokens import put_pretokens
from fst.runtime.text.kernels.stops import next_stop
from fst.runtime.text.kernels.unchanged import copy_row, may_begin, may_copy
from fst.runtime.text.kernels.whitespace import SPACE_BYTE, copy_place, put_byte, put_words, takes_prefix
from fst.text import arguments as of
from fst.text import marks

PLACE, COVERED, STAYS = 0, 1, 2  # indices into `noted`
CHANGES, WORD, WHITE, INSIDE, DROPS = (np.uint8(kind) for kind in (of.CHANGES, of.WORD, of.WHITE, of.INSIDE, of.DROPS))
CHANGES_OR_WHITE = CHANGES | WHITE
SINGLE_WORD, LSTRIP, RSTRIP = np.uint8(of.SINGLE_WORD), np.uint8(of.LSTRIP), np.uint8(of.RSTRIP)
CUT, ENDS = np.uint8(of.CUT), np.uint8(of.ENDS)
KEEPS_FIRST = np.uint64(of.KEEPS_FIRST)
MARK, MARK_BITS, DIGITS = np.uint8(marks.MARK), np.uint64(marks.MARK_BITS), np.uint64(marks.MARK_BYTES - 1)
FOUND_ALONE, NO_SYMBOL = np.int32(of.FOUND_ALONE), np.uint64(of.NO_SYMBOL)
NONE = np.uint64(1 << 32)  # in place of the row of a token: no token is found
OF_TOKENS, OF_DROPS = np.uint64(of.OF_TOKENS), np.uint64(of.OF_DROPS)
GOES_ON = ~U0  # the value of `row` for a text that continues from the last call
NEAR = np.uint64(1 << 7)  # the search for a border begins with this number of bytes at the end of a text, and then takes 8 times as many


@inlined
def put_mark(number, into, filled):
    """Write the mark of an added token, see `fst.text.marks`; return the new number of bytes."""
    into[filled] = MARK
    for index in range(DIGITS):
        digit = DIGITS - U1 - np.uint64(index)
        into[filled + U1 + np.uint64(index)] = CONTINUATION | number >> digit * MARK_BITS & LOW_6
    return filled + U1 + DIGITS


@inlined
def is_word_at(text, at, kinds):
    """Whether the character at a position is a word character, for the flag `SINGLE_WORD`."""
    code, _ = code_at(text, at)
    return kinds[code] & WORD > 0


@part
def next_token(text, start, at, begun, white, end, trie, normalizer, memo):
    """Find the next added token in a text.

    Args:
        text, start, end: the text to search.
        at: the position where the search begins.
        begun: the end of the last token, with the whitespace that the token includes.
        white: the end of the whitespace that the last token with `RSTRIP` includes.
        trie: the trie of the tokens.
        normalizer, memo: as in `rewrite`.

    Returns:
        The start and the end of the token with its whitespace; the start and the end of the token without whitespace; the new `white`; and
        the token's row, or `NONE`. The next search begins at the end without whitespace.
    """
    kinds, nodes, tokens = normalizer.kinds, trie.nodes, normalizer.tokens
    at = next_stop(text, at, end, normalizer.stops, OF_TOKENS) if len(nodes) > 1 else end
    while at < end:
        node, _ = match_at(text, ITEMS, at, end, U0, trie, memo)
        if not nodes[node, LENGTH]:
            at = next_stop(text, at + U1, end, normalizer.stops, OF_TOKENS)
            continue
        first, begin, last = at, at, at + np.uint64(nodes[node, LENGTH])
        number = np.uint64(nodes[node, VALUE])
        flags, at = tokens[number], last
        if flags & SINGLE_WORD and (
            (first > start and is_word_at(text, start_before(text, first), kinds)) or (last < end and is_word_at(text, last, kinds))
        ):
            continue
        while flags & LSTRIP and first > begun and kinds[code_at(text, start_before(text, first))[0]] & WHITE:
            first = start_before(text, first)
        if flags & RSTRIP:
            last = max(last, white)
            while last < end and kinds[code_at(text, last)[0]] & WHITE:
                _, last = code_at(text, last)
            white = last
        return first, last, begin, at, white, number
    return end, end, end, end, white, NONE


@inlined
def without_spaces(text, first, start, end, last, left, right, is_first, normalizer):
    """Compute the span of a token in characters: without the token's whitespace if spans are trimmed, otherwise with this whitespace.

    Args:
        text, first, last: the token with its whitespace.
        start, end: the token without whitespace.
        left, right: the span of the token with whitespace.
        is_first: whether the text begins with the token, or the token is the first id of the text.
        normalizer: as in `rewrite`.
    """
    trims = normalizer.scalars.trims
    if not trims:
        return left, right
    before, after = count_characters(text, first, start), count_characters(text, end, last)
    before = U0 if trims == KEEPS_FIRST and is_first and before == U1 else before
    left = min(left + before, right)
    return left, max(right - min(after, right), left)


@part
def next_cut(text, start, end, normalizer, memo):
    """Find the next position where the splitter must begin a new pre-token, see `fst.text.normalizer.Cuts`.

    Args:
        text, start, end: the text to search, which begins after the last position found.
        normalizer, memo: as in `rewrite`.

    Returns:
        The position, and True; or `end` and False if there is no such position. At the position, the caller writes a space.
    """
    nodes, at = normalizer.cuts.nodes, start if len(normalizer.cuts.nodes) > 1 else end
    while at < end:
        if normalizer.bytes[text[at]] & CUT:
            node, _ = match_at(text, ITEMS, at, end, U0, normalizer.cuts, memo)
            length = np.uint64(nodes[node, LENGTH])
            if length and (at == start or not normalizer.kinds[code_at(text, start_before(text, at))[0]] & INSIDE):
                return at + length, True
        at += U1
    return end, False


@part
def put_part(text, own, start, stop, index, goes_on, normalizer, work, into, filled, places, written):
    """Write the text between two added tokens of a normalized stretch.

    Args:
        text, own, start, stop: the stretch, the spans of its characters, and the bounds of the part to write.
        index: the index of the part's first character in the stretch.
        goes_on: whether text, not a token, directly precedes the part.
        normalizer, work: as in `rewrite`.
        into, filled, places, written: as in `normalise`.
    """
    if len(normalizer.splitter.moves):
        return put_pretokens(text, own, start, stop, index, normalizer, work, into, filled, places, written)
    if normalizer.scalars.symbol != NO_SYMBOL:
        return put_words(text, own, start, stop, index, goes_on, normalizer, into, filled, places, written)
    if not goes_on and text[start] != SPACE_BYTE and takes_prefix(index, own, normalizer):
        filled, written = put_byte(SPACE_BYTE, own, index, into, filled, places, written)
    reset(start, work.cut_memo)
    while start < stop:
        end, is_cut = next_cut(text, start, stop, normalizer, work.cut_memo)
        filled = copy_run(text, start, end, into, filled)
        if len(places):
            for _ in range(count_characters(text, start, end)):
                written = copy_place(own, index, index, places, written)
                index += U1
        if is_cut:
            filled, written = put_byte(SPACE_BYTE, own, index - U1, into, filled, places, written)
        start = end
    return filled, written


@part
def put_stretch(text, begin, stop, origin, is_inside, more, row, normalizer, work, into, filled, places, written):
    """Normalize and write a stretch, the text between two added tokens of the raw text.

    Args:
        text, begin, stop: the stretch.
        origin: the index of the stretch's first character in the raw text.
        is_inside, more: whether text, not a token, directly precedes the stretch, and whether text directly follows it.
        row: the number of characters that were written before the present text; `GOES_ON` for a text that continues from the last call.
        normalizer, work, into, filled, places, written: as in `normalise`.
    """
    if not normalizer.scalars.longest and not normalizer.scalars.prefix and not normalizer.scalars.has_edits:
        return normalise(text, begin, stop, origin, normalizer, work, into, filled, places, written)
    stretch, own = work.stretch, work.stretch_places
    end, is_spare = normalise_and_edit(text, begin, stop, origin, is_inside, more, normalizer, work)
    if is_spare:
        stretch, own = work.spare, work.spare_places
    reset(U0, work.normalized_memo)
    at = begun = white = index = number = U0
    while number != NONE:
        first, last, start, at, white, number = next_token(
            stretch, U0, at, begun, white, end, normalizer.normalized_tokens, normalizer, work.normalized_memo
        )
        if begun < first:
            goes_on = is_inside and begun == U0
            filled, written = put_part(stretch, own, begun, first, index, goes_on, normalizer, work, into, filled, places, written)
            index += count_characters(stretch, begun, first)
        elif first < begun:  # the new token overlaps the whitespace of the previous token
            index -= count_characters(stretch, first, begun)
        if number != NONE:
            after = index + count_characters(stretch, first, last)
            left, right = span_of(join_spans(own[index], own[after - U1])) if len(own) else (U0, U0)
            is_first = left == U0 or written == row
            left, right = without_spaces(stretch, first, start, at, last, left, right, is_first, normalizer)
            filled, written = put_mark(number, into, filled), put_place(left, right, places, written)
            begun, index = last, after
    return filled, written


@inlined
def is_at(text, at, string):
    """Whether a string begins at a position of a text, before which the string fits."""
    found = True
    for index in range(len(string)):
        found = found and text[at + np.uint64(index)] == string[index]
    return found


@part
def leading_code(text, start, end, normalizer, memo):
    """Find the code at the start of a stretch, see `fst.tables.leading_codes.LeadingCodes`.

    Args:
        text, start, end: the stretch.
        normalizer: as in `rewrite`.
        memo: uint64[3], scratch.

    Returns:
        The end of the code, or `start` if there is none; and the number in its mark.
    """
    codes, nodes = normalizer.codes, normalizer.codes.known.nodes
    last = np.uint64(len(codes.end))
    if start + len(codes.begin) > end or not is_at(text, start, codes.begin):
        return start, NONE
    at = start
    while at + last <= end and not is_at(text, at, codes.end):
        at += U1
    if at + last > end:
        return start, NONE
    at += last
    reset(start, memo)
    node, _ = match_at(text, ITEMS, start, at, U0, codes.known, memo)
    is_known = start + np.uint64(nodes[node, LENGTH]) == at
    return at, np.uint64(nodes[node, VALUE]) if is_known else normalizer.scalars.unknown_code


@inlined
def rewrite_row(text, begin, end, origin, is_inside, more, normalizer, work, into, filled, places, written):
    """Normalize and write a text. The arguments are as in `put_stretch`; `is_inside` means that a border precedes the text, `more` that a
    border follows the text.

    Inlined, because a call would pass about 45 arrays of `normalizer` and `work`, and take longer than the normalization of a short text.
    """
    reset(begin, work.memo)
    row = GOES_ON if is_inside else written
    at = begun = white = begin
    number = U0 if begin < end else NONE
    while number != NONE:
        first, last, start, at, white, number = next_token(
            text, begin, at, begun, white, end, normalizer.raw_tokens, normalizer, work.memo
        )
        if begun < first and normalizer.scalars.has_codes:
            after, code = leading_code(text, begun, first, normalizer, work.cut_memo)
            if begun < after:
                right = origin + count_characters(text, begun, after)
                filled, written = put_mark(code, into, filled), put_place(origin, right, places, written)
                begun, origin = after, right
        if begun < first:
            inside, goes_on = is_inside and begun == begin, more and number == NONE
            filled, written = put_stretch(text, begun, first, origin, inside, goes_on, row, normalizer, work, into, filled, places, written)
            origin += count_characters(text, begun, first)
        elif first < begun:  # the new token overlaps the whitespace of the previous token
            origin -= count_characters(text, first, begun)
        if number != NONE:
            after = origin + count_characters(text, first, last)
            is_first = origin == U0 or written == row
            left, right = without_spaces(text, first, start, at, last, origin, after, is_first, normalizer)
            filled, written = put_mark(number, into, filled), put_place(left, right, places, written)
            begun, origin = last, after
    return filled, written


@kernel
def rewrite(text, starts, origin, is_inside, more, kept, kept_characters, normalizer, work, rewritten):
    """Normalize texts.

    Args:
        text: uint8[n], all texts in UTF-8.
        starts: int64[rows + 1], the start of each text, and the end of the last text.
        origin: uint64, the index of the first character of `text` in its complete text, which may have begun in an earlier call.
        is_inside, more: uint64; `is_inside` is 1 if the first text begins at a border inside a text, and `more` is 1 if the last text ends
            at such a border; see `last_border`.
        kept, kept_characters: uint64, the number of bytes and of characters of the first text that `rewritten` already contains.
        normalizer, work, rewritten: see `fst.text.arguments`. `rewritten` receives the result.
    """
    into, places, filled, written = rewritten.text, rewritten.places, kept, kept_characters
    rewritten.starts[0] = rewritten.firsts[0] = 0
    for row in range(len(starts) - 1):
        start, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        if may_copy(text, start, end, normalizer, work.memo):
            filled, written = copy_row(text, start, end, origin, is_inside > U0, normalizer, into, filled, places, written)
        else:
            is_last = row + 2 == len(starts)
            goes_on = more > U0 and is_last
            filled, written = rewrite_row(
                text, start, end, origin, is_inside > U0, goes_on, normalizer, work, into, filled, places, written
            )
        rewritten.starts[row + 1], rewritten.firsts[row + 1] = filled, written
        origin = is_inside = U0


@kernel
def restore(output, start, end, rewritten):
    """Convert the spans of ids from positions in normalized texts to positions in raw texts.

    Args:
        output: `fst.tables.kernel_call.SpansOutput`.
        start, end: the index of the first id of the normalized texts, and one past the last id.
        rewritten: the normalized texts.
    """
    offsets, words, ends, places, firsts = output.offsets, output.words, output.ends, rewritten.places, rewritten.firsts
    row = U0
    for index in range(start, end):
        at = np.uint64(index)
        while row < np.uint64(len(ends)) and at >= np.uint64(ends[row]):
            row += U1
        if words[at] >= 0:
            first = np.uint64(firsts[row]) + np.uint64(offsets[at + at])
            last = np.uint64(firsts[row]) + np.uint64(offsets[at + at + U1])
            offsets[at + at], offsets[at + at + U1] = span_of(join_spans(places[first], places[last - U1]))


@kernel
def restore_all(output, state, rewritten):
    """Convert the spans of all ids, as `restore` does. `state` is the state of the kernel that wrote the spans."""
    restore(output, U0, state.count, rewritten)


@kernel
def last_border(text, start, end, normalizer, memo):
    """Find the last border of a text that continues: a position such that the text on each side is normalized independently of the other
    side.

    No token contains or touches a border. On both sides, normalization changes no character within the length of the longest token of
    normalized text, and the characters next to the border are not whitespace. With edits, text that a token or an edit may match counts as
    changed, together with the whitespace after it. If `normalizer` has a splitter, no position is a border, because the start of a
    pre-token may depend on all text before it; nor if it has codes, because a code at the start may end anywhere.

    Returns:
        The border; `start` if no border is found.
    """
    if normalizer.scalars.lags and not len(normalizer.splitter.moves):
        end = first_lag(text, start, end, normalizer)
    return border_before(text, start, end, normalizer, memo)


@part
def border_before(text, start, end, normalizer, memo):
    """Find the last border of a text whose spans do not lag, or are not requested, see `last_border`."""
    if len(normalizer.splitter.moves) or normalizer.scalars.has_codes:
        return start
    reach = normalizer.scalars.reach
    near = border = end
    size = NEAR
    while near > start and border == near:
        near = end - min(size + reach, end - start)
        while near > start and np.uint64(text[near]) & ~LOW_6 == CONTINUATION:
            near -= U1
        covered = near + reach if near > start else start
        border, _, _, _ = border_between(text, near, end, covered, U0, end, normalizer, memo)
        size <<= U3
    return border


@part
def has_drops(text, at, end, normalizer):
    """Whether a text contains a character with `DROPS`."""
    at = next_stop(text, at, end, normalizer.stops, OF_DROPS)
    while at < end and not normalizer.kinds[code_at(text, at)[0]] & DROPS:
        at = next_stop(text, at + U1, end, normalizer.stops, OF_DROPS)
    return at < end


@part
def first_lag(text, start, end, normalizer):
    """Find the first character that may be removed at the start of a stretch; after this character, spans may lag, see
    `fst.text.charsmap`.
    """
    at, is_first = start if has_drops(text, start, end, normalizer) else end, True
    while at < end:
        code, after = code_at(text, at)
        kind = normalizer.kinds[code]
        if is_first and kind & DROPS:
            return at
        is_first = normalizer.bytes[text[after - U1]] & ENDS > 0 or (is_first and kind & CHANGES_OR_WHITE > 0)
        at = after
    return end


@part
def border_between(text, start, end, covered, stays, limit, normalizer, memo):
    """Find the last border between two positions.

    Args:
        text, normalizer, memo: as in `rewrite`.
        start, end: the positions.
        covered: the maximum end of tokens that begin before `start`.
        stays: the number of bytes directly before `start` that are certain not to change.
        limit: the maximum position where the next search may continue.

    Returns:
        The border, or `start` if there is none; the position where the next search may continue, and the arguments `covered` and `stays` of
        that search.
    """
    kinds, nodes, longest = normalizer.kinds, normalizer.every.nodes, normalizer.scalars.longest
    has_edits = normalizer.scalars.has_edits > U0
    reset(start, memo)
    border = waiting = at = same = start  # `same`: the end of the last character that changes
    noted, covered_there, stays_there = start, covered, stays
    is_open, is_after_letter = False, False
    while at < end and not is_open:
        if at <= limit:
            noted, covered_there, stays_there = at, covered, at - same + stays
        code, after = code_at(text, at)
        is_free = at > covered
        if may_begin(text, at, end, normalizer):
            node, is_open = match_at(text, ITEMS, at, end, U1, normalizer.every, memo)
            is_free = is_free and not nodes[node, LENGTH] and not is_open
            covered = max(covered, at + np.uint64(nodes[node, LENGTH]))
        if kinds[code] & CHANGES or (has_edits and (at < covered or (at == same and not stays and kinds[code] & WHITE))):
            waiting, same, stays, is_after_letter = start, after, U0, False
        else:
            is_letter = not kinds[code] & WHITE
            is_free = is_free and (at == start or are_apart(text, at, code, normalizer.charsmap))
            if is_free and is_letter and is_after_letter and at - same + stays >= longest and waiting == start:
                waiting = at
            is_after_letter = is_letter
            # Read one character more than `longest`, since a mark may follow the last character read.
            if waiting > start and (not longest or after - waiting > longest + U3):
                border, waiting = waiting, start
        at = after
    return border, noted, covered_there, stays_there


@kernel
def has_border(text, limit, normalizer, memo, noted):
    """Whether a text that continues has a border, see `last_border`.

    Args:
        text: uint8[n], UTF-8.
        limit, normalizer, memo: as in `border_between`.
        noted: uint64[3], the state of the search, updated. ``noted[PLACE]`` is the position where the next search may continue;
            ``noted[COVERED]`` and ``noted[STAYS]`` are the arguments of `border_between` at this position.
    """
    found = border_between(text, U0, np.uint64(len(text)), noted[COVERED], noted[STAYS], limit, normalizer, memo)
    border, noted[PLACE], noted[COVERED], noted[STAYS] = found
    return border > U0


@kernel
def has_lag(text, normalizer):
    """Whether spans may lag at some position of a text; after this position, no border is searched."""
    return first_lag(text, U0, np.uint64(len(text)), normalizer) < np.uint64(len(text))
