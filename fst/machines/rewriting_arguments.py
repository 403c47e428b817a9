"""The arguments of the kernels that rewrite texts, and the arrays in which they work. `fst.rewriting` specifies the result.

A rewritten text is UTF-8, with one addition: an added token is a *mark*, the byte 0xFF and four bytes with six bits each of the token's
number. UTF-8 has no byte 0xFF, so nothing else looks like a mark, and the splitter's kernel finds marks as it finds special tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.composition import ITSELF, Composition, Images
from fst.edits import KINDS, PREPEND, STRIP, Edits
from fst.machines.added_tokens import MAX_OVERLAPS
from fst.matching import NO_NODE, Trie, hashed_edges, trie
from fst.metadata import AddedTokens, ContextualToken
from fst.proof import need
from fst.rewriting import Rewriting, early, late, without_context
from fst.rows import CODE_POINTS, WHITE_SPACE, Array

# Kinds of a code point, as bits: it or the text before it may change; it is of a word; it is white space; as in `fst.rewriting.Cuts`.
CHANGES, WORD, WHITE, INSIDE = 1, 2, 4, 8
SINGLE_WORD, LSTRIP, RSTRIP = 1, 2, 4  # flags of a token
FIRST, SECOND, ALONE, STOPS, CUT = 1, 2, 4, 8, 16  # bits of a byte, see `Rewriter.bytes`
FOUND_ALONE, FOUND_ANYWAY = 0, 1  # values in `Rewriter.every`: only rewriting finds the token; or it is found without rewriting, too
PREFIX_SPACE, COMPOSES, DECOMPOSES, LONGEST, REACH, TRIMS, STRIPS, PREPENDS, EDITS = range(9)  # indices into `Rewriter.params`
KIND, LEFT, RIGHT, LEAST, CONTENT, CONTENT_END, STRING, STRING_END, RUN, RUN_END = range(10)  # indices into a row of `EditArguments.rows`
FIRST_PART = 1 << 21  # the bit above a code point: the part is the first of its character
MOST_OF_SYLLABLE = 3  # most parts of a Hangul syllable
MARK, MARK_BYTES, MARK_BITS = 0xFF, 5, 6
MAX_GROWTH = 1 << 8
TRIMS_ALL, KEEPS_FIRST = 1, 2
RANKS = 256


class EditArguments(NamedTuple):
    """Edits, see `fst.edits`.

    Attributes:
        rows: uint64[edits, 10]. `KIND`, the index into `fst.edits.KINDS`; `LEFT`, `RIGHT`, `LEAST`; and where the content, the string and
            the runs begin and end in the other arrays.
        strings: uint8[n], UTF-8; runs: uint64[n, 2], code points.
        counts: uint64[2], how many of the edits come before the maps of characters, and of all.
    """

    rows: Array
    strings: Array
    runs: Array
    counts: Array


class Rewriter(NamedTuple):
    """The arrays by which kernels rewrite texts.

    Attributes:
        params: uint64[9]. `PREFIX_SPACE`, `COMPOSES`, `DECOMPOSES`: 1 if stretches get a leading blank, if characters compose, and if
            Hangul syllables decompose. `STRIPS`, `PREPENDS`, `EDITS`: 1 if an edit strips, if one prepends, and if there are edits.
            `LONGEST`: the most bytes of a token of normalised text or of a string of cuts, plus the reach of all edits; 0 if there are
            none. `REACH`: the most bytes in `every`. `TRIMS`: 0 if spans of tokens include the white space that they take;
            `TRIMS_ALL` if they do not; `KEEPS_FIRST` if they include only the first blank of a text.
        kinds: uint8[0x110000], the bits `CHANGES`, `WORD`, `WHITE` and `INSIDE` of each code point.
        bytes: uint8[256], bits: `FIRST` if a token begins with the byte; `ALONE` if a token that only rewriting finds does; `SECOND` if
            the byte is the second of a token, or a token has only one byte; `STOPS` unless the byte is an ASCII character that stays
            as it is, and has no bit `ALONE`; `CUT` if a string of cuts begins with the byte.
        numbers: uint16[0x110000], the number of the list that a character becomes, from 1 on; 0 for a character that stays as it is.
        list_ends: uint32[lists + 1], where each list ends in `lists`, by its number; the first element is 0.
        lists: uint32[n], the parts of characters, ``code point | FIRST_PART``; `ITSELF` stands for the character.
        ranks: uint8[0x110000], the rank of each mark in canonical ordering; 0 for all other characters.
        pairs: uint32[2 ** n, 3], the composite of two characters, in the form of `fst.matching.Trie.edges`.
        last_numbers, last_ends, last_lists: the map of characters after composition, in the form of `numbers`, `list_ends` and `lists`.
        early, late: the tokens of raw and of normalised text in UTF-8; the value of each is its row in `tokens`.
        tokens: uint8[tokens], the flags of each token; its row is the number in its mark.
        every: all tokens, and strings that edits change, as overlapping strings; the value is `FOUND_ALONE` or `FOUND_ANYWAY`.
        cuts: the strings of cuts, overlapping.
        edits: the edits.
    """

    params: Array
    kinds: Array
    bytes: Array
    numbers: Array
    list_ends: Array
    lists: Array
    ranks: Array
    pairs: Array
    last_numbers: Array
    last_ends: Array
    last_lists: Array
    early: Trie
    late: Trie
    tokens: Array
    every: Trie
    cuts: Trie
    edits: EditArguments


class RewritingWork(NamedTuple):
    """The working arrays for rewriting in one thread.

    Attributes:
        items: uint64[room], parts of characters, ``code point | number of raw characters that it takes << 32``.
        sorted_items: uint64[room], counts: uint64[257], for sorting.
        origins: uint32[room], the index in the raw text of each character that the items take.
        stretch: uint8[room], a normalised stretch; stretch_places: uint64[room], the span of each of its characters; empty without spans.
        spare, spare_places: the same, for a stretch that is not yet edited.
        memo, late_memo, cut_memo: uint64[3], see `fst.runtime.kernels.tries.match_at`.
    """

    items: Array
    sorted_items: Array
    counts: Array
    origins: Array
    stretch: Array
    stretch_places: Array
    spare: Array
    spare_places: Array
    memo: Array
    late_memo: Array
    cut_memo: Array


class Rewritten(NamedTuple):
    """Rewritten texts.

    Attributes:
        text: uint8[room], UTF-8 with marks.
        starts: int64[rows + 1], where each text begins in `text`, and where the last one ends.
        places: uint64[room], the span of each character in its raw text, ``first | one past the last << 32``; empty without spans.
        firsts: int64[rows + 1], where each text begins in `places`, and where the last one ends.
    """

    text: Array
    starts: Array
    places: Array
    firsts: Array


def rewriter(by: Rewriting, added: AddedTokens, trimming: bool | None) -> Rewriter:
    """The arguments for a rewriting and its added tokens; `trimming` is as in `fst.machines.bpe_metadata.BpeText`."""
    composition = by.composition or Composition(Images([]), {}, {}, {}, frozenset())
    raw, normalized = early(added), late(added)
    every, kinds = _every(added, by.edits), _kinds(by, composition, added)
    longest = _longest([*normalized, *by.cuts.strings]) + sum(edit.reach for edit in by.edits)
    params = by.prefix_space, len(composition.pairs) > 0, by.composition is not None, longest, _longest(every)
    edits = (*(any(edit.kind == kind for edit in by.edits) for kind in (STRIP, PREPEND)), len(by.edits) > 0)
    trims = 0 if trimming is None else KEEPS_FIRST if trimming else TRIMS_ALL
    return Rewriter(
        np.array([*params, trims, *edits], np.uint64),
        kinds,
        _bytes(every, kinds, by.cuts.strings),
        *_lists(composition.first, composition.decompositions),
        _ranks(composition),
        _pairs(composition),
        *_lists(by.last, {}),
        trie((spelling.encode(), row) for row, spelling in enumerate(raw)),
        trie((spelling.encode(), row) for row, spelling in enumerate(normalized, len(raw))),
        np.array([_flags(token) for token in (*raw.values(), *normalized.values())], np.uint8),
        trie(((spelling.encode(), alone) for spelling, alone in every.items()), overlapping=True),
        trie(((string.encode(), 0) for string in by.cuts.strings), overlapping=True),
        _edits(by),
    )


def _edits(by: Rewriting) -> EditArguments:
    rows, strings, runs = np.zeros((len(by.edits), 10), np.uint64), bytearray(), list[Sequence[int]]()
    for row, edit in zip(rows, by.edits, strict=True):
        ends = [len(strings)]
        for string in (edit.content, edit.string):
            strings += string.encode()
            ends.append(len(strings))
        row[:] = KINDS.index(edit.kind), edit.left, edit.right, edit.least, *ends[:2], *ends[1:], len(runs), len(runs) + len(edit.runs)
        runs += edit.runs
    counts = np.array([len(by.before), len(by.edits)], np.uint64)
    return EditArguments(rows, np.array([*strings], np.uint8), np.array(runs, np.uint64).reshape(-1, 2), counts)


def marks(added: AddedTokens) -> dict[bytes, int]:
    """The mark of each token in a rewritten text, and its id."""
    return {mark(number): token.id for number, token in enumerate((*early(added).values(), *late(added).values()))}


def mark(number: int) -> bytes:
    """The mark of a token.

    >>> mark(65).hex()
    'ff80808181'
    """
    shifts = range(MARK_BITS * (MARK_BYTES - 2), -1, -MARK_BITS)
    return bytes([MARK, *(0x80 | number >> shift & (1 << MARK_BITS) - 1 for shift in shifts)])


def growth(by: Rewriting) -> int:
    """The most bytes that rewriting makes of one byte: of a character, or of a token of one byte and a blank after it.

    Each character may take four. A string of cuts has one that takes less, so that there is room for the blank after it; edits may take
    that room.
    """
    composition = by.composition or Composition(Images([]), {}, {}, {}, frozenset())
    parts = max(MOST_OF_SYLLABLE, *map(len, composition.decompositions.values()), 1)
    edited = prod(edit.growth for edit in by.edits) * (2 if by.edits and by.cuts.strings else 1)
    return max(4 * _most(composition.first) * parts * _most(by.last) * edited, MARK_BYTES + 1)


def prove_rewriting(by: Rewriting | None, added: AddedTokens) -> None:
    """Prove that contextual tokens come with a rewriting, that it makes texts grow little, and that loading the table takes little time."""
    need(by or not added.contextual, "there are contextual added tokens, and no rewriting finds them")
    if by is None:
        return
    need(growth(by) <= MAX_GROWTH, f"rewriting may make {growth(by)} bytes of one; at most {MAX_GROWTH} are possible")
    need(all(token.decoded for token in added.contextual.values()), "a contextual token is empty once it is normalised")
    product = sum(map(len, early(added))) * sum(map(len, late(added)))
    need(product <= MAX_OVERLAPS, f"the tokens in raw and in normalised text are too long together: {product} > {MAX_OVERLAPS}")
    need(len(added.ids) < 1 << MARK_BITS * (MARK_BYTES - 1), f"there are {len(added.ids)} added tokens")


def _most(images: Images) -> int:
    """The most characters that a map makes of one, at least 1."""
    return max((len(run) - 2 for run in images.runs), default=1) or 1


def _every(added: AddedTokens, edits: Edits) -> dict[str, int]:
    """Each spelling of a token, with `FOUND_ALONE` or `FOUND_ANYWAY`, and what edits change. They may strip white space beside tokens."""
    every = {string: FOUND_ALONE for edit in edits for string in edit.triggers or ()}
    known = without_context(added) if not any(edit.kind == STRIP for edit in edits) else {}
    for spelling, token in (*early(added).items(), *late(added).items()):
        found = FOUND_ANYWAY if known.get(spelling) == token.id else FOUND_ALONE
        every[spelling] = min(every.get(spelling, found), found)
    return every


def _longest(spellings: Iterable[str]) -> int:
    """The most bytes of a spelling; 0 if there is none."""
    return max((len(spelling.encode()) for spelling in spellings), default=0)


def _flags(token: ContextualToken) -> int:
    return SINGLE_WORD * token.single_word | LSTRIP * token.lstrip | RSTRIP * token.rstrip


def _bytes(every: Mapping[str, int], kinds: NDArray[np.uint8], cuts: Iterable[str]) -> NDArray[np.uint8]:
    bits = np.zeros(256, np.uint8)
    for spelling, found in every.items():
        first, *others = spelling.encode()
        bits[first] |= FIRST | ALONE * (found == FOUND_ALONE)
        bits[others[:1] or range(256)] |= SECOND
    bits[128:] |= STOPS
    bits[:128][(kinds[:128] & CHANGES > 0) | (bits[:128] & ALONE > 0)] |= STOPS
    bits[[string.encode()[0] for string in cuts]] |= CUT
    return bits


def _kinds(by: Rewriting, composition: Composition, added: AddedTokens) -> NDArray[np.uint8]:
    kinds = np.zeros(CODE_POINTS, np.uint8)
    word = added.context.word if added.context else ()
    for first, last in zip(word[0::2], word[1::2], strict=True):
        kinds[first : last + 1] |= WORD
    kinds[[ord(char) for char in WHITE_SPACE]] |= WHITE
    kinds[[*composition.suspects]] |= CHANGES
    singles = [run for edit in by.edits for run in edit.singles]
    for first, last, *_ in (*composition.first.runs, *by.last.runs, *singles):
        kinds[first : last + 1] |= CHANGES
    for first, last in by.cuts.inside:
        kinds[first : last + 1] |= INSIDE
    return kinds


def _lists(images: Images, decompositions: Mapping[int, Sequence[int]]) -> tuple[Array, Array, Array]:
    """A map of characters, followed by a decomposition: `numbers`, `list_ends` and `lists` of a `Rewriter`."""
    numbers, lists = np.zeros(CODE_POINTS, np.uint16), list[list[int]]([[]])
    known: dict[tuple[int, ...], int] = {}

    def number_of(parts: Sequence[int]) -> int:
        listed = [part | FIRST_PART * (not index) for code in parts for index, part in enumerate(_parts(code, decompositions))]
        number = known.setdefault(tuple(listed), len(lists))
        if number == len(lists):
            lists.append(listed)
        return number

    for code in decompositions:
        numbers[code] = number_of([code])
    for first, last, *image in images.runs:
        numbers[first : last + 1] = number_of(image)
        if ITSELF in image:
            for code in [code for code in decompositions if first <= code <= last]:
                numbers[code] = number_of([code if part == ITSELF else part for part in image])
    flat = [part for listed in lists for part in listed]
    return numbers, np.cumsum([len(listed) for listed in lists], dtype=np.uint32), np.array(flat, np.uint32)


def _parts(code: int, decompositions: Mapping[int, Sequence[int]]) -> Sequence[int]:
    return decompositions.get(code, (code,))


def _ranks(composition: Composition) -> NDArray[np.uint8]:
    ranks = np.zeros(CODE_POINTS, np.uint8)
    ranks[[*composition.orders]] = [*composition.orders.values()]
    return ranks


def _pairs(composition: Composition) -> NDArray[np.uint32]:
    firsts, seconds = np.array([(0, 0), *composition.pairs], np.int64).T
    edges = hashed_edges(firsts, seconds)
    filled = edges[:, 0] != NO_NODE
    edges[filled, 2] = np.array([0, *composition.pairs.values()])[edges[filled, 2]]
    return edges
