"""The kernel arguments for contextual added tokens, which kernels find among symbols, see `fst.machines.wordpiece.arguments.AddedTokens`.

The kernels find tokens of normalized text that are within a word and have neither ``lstrip`` nor ``rstrip``. A text is a *suspect* if it
may contain a different contextual token, if symbols alone do not determine whether a token is recognized, or if a word is too long.
Suspects are encoded a second time: they are first normalized, and `fst.text.normalizer.NormalizerSteps` finds the added tokens in them.

**Example.** The classes are a 2, space 6, b 4 and - 11; classes above 5 end words. The added tokens, which are all found in normalized
text, are:

    token   symbols     kind        grams                                  value in the trie
    bab     4 2 4       inside      OWN and BEGINNING: 4 2 4               its class << 1
    a-b     2 11 4      bordered    OWN: 2 11 4; BORDER: 2 11 4            0: the text is a suspect
    -a      11 2        bordered    OWN: 11 2                              0: the text is a suspect

``sides[11]`` is ``ENDS | BEGINS``, since - is the first border of a-b, and the first symbol of -a. ``shortest`` is 3. The kernels find bab
in "ababa", and encode it as a, bab, a. The text "ab-ab" contains the symbols 11 2, so it is a suspect.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import trie
from fst.automata.rows import CODE_POINTS, ENTRY, LIST, MULTIPLIERS, are_parts, field_kind
from fst.machines.wordpiece.arguments import (
    BEGINNING,
    BEGINS,
    BORDER,
    CLEAR,
    ENDS,
    IN_WORD,
    OWN,
    AddedTokens,
    Arguments,
    whitespace_class,
)
from fst.machines.wordpiece.table import WordPieceTable
from fst.tables.header import Context, ContextualToken
from fst.text.added_tokens import pattern_of

IN_GRAM = 8  # maximum number of symbols in a gram, see `fst.machines.wordpiece.arguments.AddedTokens`
MASK = (1 << 64) - 1
# The kinds of a code point, as bits: its first normalized character is part of a word; its last normalized character is part of a word;
# normalization adds spaces around the code point; only some of its normalized characters are parts of words.
BEGINS_WORD, ENDS_WORD, SPACED, MIXED = (1 << kind for kind in range(4))


def with_contextual(of: Arguments, table: WordPieceTable) -> Arguments:
    """Add contextual tokens to the kernel arguments. Kernels then find inside tokens, and report texts that may contain a different
    contextual token.
    """
    tokens, a = table.metadata.added_tokens.contextual, table.classes[0::2]
    parts = int(np.count_nonzero(are_parts(a)))
    patterns = {content: tuple(pattern_of(table, content)) for content in tokens}
    inside = {content: pattern for content, pattern in patterns.items() if max(pattern) <= parts}
    scalars, grams, sides = of.added.scalars.copy(), np.zeros(3 << 10, np.uint64), _sides(table)
    lengths = [min(len(pattern), IN_GRAM) for pattern in inside.values()]
    scalars.inside_widths = sum({1 << length for length in lengths})
    for pattern in inside.values():
        _note(grams, pattern[:IN_GRAM], OWN)
        _note(grams, pattern[: min(lengths)], BEGINNING)
    bordered = {pattern for content, pattern in patterns.items() if content not in inside}
    borders = {pattern: next(place for place, number in enumerate(pattern) if number > parts) for pattern in bordered}
    around = {pattern[place - 1 :][:IN_GRAM] for pattern, place in borders.items() if place}
    for pattern, place in borders.items():
        _note(grams, pattern[:IN_GRAM], OWN)
        sides[pattern[place]] |= ENDS if place else BEGINS
    for gram in around:
        _note(grams, gram, BORDER)
    scalars.gram_widths = sum({1 << min(len(pattern), IN_GRAM) for pattern in bordered})
    scalars.border_widths = sum({1 << len(gram) for gram in around})
    scalars.has_borders = len(bordered) > 0
    scalars.filler = whitespace_class(a)
    if inside:
        scalars.shortest = min(lengths)
    # If two tokens have the same symbols, the trie contains the value of the first token, so tokens are sorted by kind: first the tokens
    # that make a text a suspect, then the tokens that are recognized anywhere.
    kinds = {content: _kind(token, content in inside, table.class_of_id[token.id]) for content, token in tokens.items()}
    found = trie(((patterns[content], kinds[content]) for content in sorted(kinds, key=kinds.__getitem__)), overlapping=True)
    of_words = of.scalars.copy()
    if bordered:  # no space may be skipped, because a token may begin with a space
        of_words.whitespace_class = 0
    return of._replace(scalars=of_words, added=AddedTokens(scalars, grams, sides, found))


def _kind(token: ContextualToken, is_inside: bool, number: int) -> int:
    """The value of a token in `fst.machines.wordpiece.arguments.AddedTokens.trie`; `number` is the class of the token."""
    # A text that may contain a bordered token or a token of raw text must be a suspect, even if this token overlaps an inside token.
    # Normalization may remove the character between a token of raw text and the next letter.
    if not is_inside or not token.normalized:
        return 0
    return (0 if token.lstrip or token.rstrip else number) << 1 | int(token.single_word)


def _sides(table: WordPieceTable) -> NDArray[np.uint8]:
    """uint8[classes + 1], the bits `IN_WORD` and `CLEAR` of each class. A bit is set only if it is true of all characters that become the
    class.
    """
    a, context = table.classes[0::2], table.metadata.added_tokens.context
    if context is None:
        return np.zeros(len(a) + 1, np.uint8)
    codes = np.delete(np.arange(CODE_POINTS), slice(0xD800, 0xE000))
    own, kinds = table.classes_of(codes).astype(np.int64), _kinds(context)[codes]
    listed = np.flatnonzero(field_kind(a[own]) == LIST)
    first = ENTRY.targets_of(a[own[listed]])
    sizes = table.symbols[first].astype(np.int64)
    places = np.repeat(first + 1 - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    numbers = np.append(np.delete(own, listed), table.symbols[places].astype(np.int64) & 0xFFFF)
    kinds = np.append(np.delete(kinds, listed), np.repeat(kinds[listed], sizes))
    numbers, kinds = numbers[numbers > 0], kinds[numbers > 0]  # class 0 is not a symbol; kernels use it for the position before a text
    sides = kinds & (BEGINS_WORD | ENDS_WORD | SPACED)
    always, never = np.ones((2, len(a) + 1), bool)
    always[numbers[(sides != BEGINS_WORD | ENDS_WORD) | (kinds & MIXED > 0)]] = False
    never[numbers[(sides & SPACED == 0) & (sides > 0) | (kinds & MIXED > 0)]] = False
    specials = table.specials[:, 3]
    always[specials[specials >= 0]] = False
    always &= ~never  # above, `always` and `never` are both set for a class that no character becomes
    found: NDArray[np.uint8] = (IN_WORD * always + CLEAR * never).astype(np.uint8)
    return found


def _kinds(context: Context) -> NDArray[np.uint8]:
    """uint8[0x110000], the kinds of each code point."""
    kinds = np.zeros(CODE_POINTS, np.uint8)
    for name, kind in (("begins_word", BEGINS_WORD), ("ends_word", ENDS_WORD), ("spaced", SPACED)):
        runs = np.array(getattr(context, name), np.int64)
        for start, last in runs.reshape(-1, 2).tolist():
            kinds[start : last + 1] |= kind
    kinds[np.array(context.mixed, np.int64)[0::2]] |= MIXED
    return kinds


def _note(grams: NDArray[np.uint64], symbols: tuple[int, ...], kind: int) -> None:
    """Add a gram to the Bloom filter of its kind; `fst.runtime.machines.wordpiece.kernels.added_tokens.is_gram` computes the same hash."""
    four = min(len(symbols), 4)
    ends = symbols[:four], symbols[-four:]
    first, last = (sum(number << 64 - 16 * (four - place) for place, number in enumerate(part)) for part in ends)
    hashed = (first ^ last << 8) * MULTIPLIERS[0] & MASK
    grams[kind | hashed >> 54] |= np.uint64(1 << (hashed >> 48 & 63) | 1 << (hashed >> 42 & 63))
