"""The arguments of the kernels that rewrite texts, and their working arrays. `fst.text.normalizer` specifies the result.

A rewritten text is UTF-8, except that an added token becomes a *mark*: the byte 0xFF, and four bytes with six bits each of the token's
number. UTF-8 has no byte 0xFF, so nothing else looks like a mark. The splitter's kernel finds marks in the same way as special tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import FIRST, SECOND, Matcher, trie
from fst.automata.rows import CODE_POINTS, WHITE_SPACE, Array
from fst.core.fields import Fields, Scalar
from fst.tables.header import AddedTokens, ContextualToken
from fst.tables.proof import need
from fst.text.added_tokens import MAX_OVERLAPS
from fst.text.charsmap import LONGEST as LONGEST_STRINGS
from fst.text.charsmap import Charsmap
from fst.text.charsmap_arguments import CharsmapArguments, charsmap_arguments
from fst.text.code_arguments import CodeArguments, code_arguments
from fst.text.composition import NO_ASCII, NOT_COMPOSED, Composition, Images, ascii_of, joining_of, lists_of, pairs_of, ranks_of
from fst.text.edits import ALL_KINDS, PREPEND, REPLACE, RUNS, SPACES, STRIP, Edit, charsmap_of, edits_before_charsmap
from fst.text.marks import MARK_BITS, MARK_BYTES, mark
from fst.text.normalizer import Normalizer, normalized_tokens, raw_tokens, without_context
from fst.text.splitter import SplitterArguments, splitter_arguments
from fst.text.stops import SIZE as STOPS_SIZE
from fst.text.stops import stops
from fst.text.whitespace import BREAK, BREAKS, JOINS, KEEPS, NEVER, NO_WHITESPACE, PREFIXES, SEPARATORS, SPACE, Whitespace

# Kinds of a code point, as bits. `CHANGES`: the code point may change, or may change the text before it. `WORD`: the code point is a word
# character. `WHITE`: the code point is whitespace. `INSIDE`: see `fst.text.normalizer.Cuts`. `DROPS`: a charsmap may remove the code point.
CHANGES, WORD, WHITE, INSIDE, DROPS = 1, 2, 4, 8, 16
SINGLE_WORD, LSTRIP, RSTRIP = 1, 2, 4  # flags of a token
CUT, ENDS = 8, 16  # bits of a byte above the bits of `fst.automata.matcher`, see `NormalizerArguments.bytes`
# The tables in `NormalizerArguments.stops`.
IF_FOUND_ALONE, IF_FOUND_ANYWAY, OF_TOKENS, OF_WORDS, OF_DROPS = range(0, 5 * STOPS_SIZE, STOPS_SIZE)
FOUND_ALONE, FOUND_ANYWAY = 0, 1  # values in `NormalizerArguments.every`: found only by rewriting, or found in raw text, too
NO_SYMBOL = 1 << 32
KIND, LEFT, RIGHT, LEAST, CONTENT, CONTENT_END, STRING, STRING_END, RUN, RUN_END = range(10)  # the columns of `EditArguments.rows`
MAX_EXPANSION = 1 << 9
TRIMS_ALL, KEEPS_FIRST = 1, 2
RANKS = 256


class EditArguments(NamedTuple):
    """Edits, see `fst.text.edits`.

    Attributes:
        rows: uint64[edits, 10]. `KIND`: the index into `fst.text.edits.ALL_KINDS`; `LEFT`, `RIGHT`, `LEAST`: the fields of `Edit`. All
            other columns contain the start and the end of the edit's content and string in `strings`, and of its runs in `runs`.
        strings: uint8[n], UTF-8; runs: uint64[n, 2], code points.
        stops: uint8[512 * edits], a table of `fst.text.stops` for each edit: the positions where a replaced string may begin.
    """

    rows: Array
    strings: Array
    runs: Array
    stops: Array


class NormalizerScalars(Fields):
    """The scalars of `NormalizerArguments`."""

    prefix: Scalar  # the index into `fst.text.whitespace.PREFIXES`
    composes: Scalar  # 1 if characters compose
    decomposes: Scalar  # 1 if Hangul syllables decompose
    longest: Scalar  # maximum number of bytes of a token of normalised text or of a string of cuts, plus the reach of all edits
    reach: Scalar  # maximum number of bytes of a string in `every`
    trims: Scalar  # `TRIMS_ALL`: spans of tokens exclude whitespace at their ends; `KEEPS_FIRST`: except the first space of a text
    strips: Scalar  # 1 if an edit or `fst.text.whitespace` strips whitespace
    puts: Scalar  # 1 if an edit adds text before or after a text
    has_edits: Scalar  # 1 if there are edits, a symbol for spaces or a splitter
    edits_before: Scalar  # number of edits before the mappings of characters
    edits: Scalar  # number of all edits
    symbol: Scalar  # the code point of the symbol for a space, or `NO_SYMBOL`
    separator: Scalar  # the index into `fst.text.whitespace.SEPARATORS`
    lags: Scalar  # 1 if removing a character with `DROPS` at the start of a stretch makes all later spans lag, see `fst.text.charsmap`
    has_maps: Scalar  # 1 if there are mappings of characters, or characters compose
    copies: Scalar  # 1 if a text without tokens is *copied*: each character stays or is `mapped`, after `lead` and a space by `prefix`
    leads: Scalar  # 1 if the span of each character of `lead` is the first character of the text; 0 if this span is empty
    puts_behind: Scalar  # 1 if an edit adds text after a text
    has_codes: Scalar  # 1 if there are codes at the start of texts
    unknown_code: Scalar  # the number in the mark of an unknown code


class NormalizerArguments(NamedTuple):
    """The arrays for rewriting texts.

    Attributes:
        kinds: uint8[0x110000], the bits `CHANGES`, `WORD`, `WHITE`, `INSIDE` and `DROPS` of each code point.
        bytes: uint8[256], bits: `FIRST` if a string of `every` begins with the byte; `SECOND` if the byte is the second byte of a string of
            `every`, or if a string of `every` has only one byte; `CUT` if a string of cuts begins with the byte; `ENDS` if a stretch may
            begin after the byte.
        stops: tables of `fst.text.stops`. `IF_FOUND_ANYWAY`: characters with `CHANGES`, except characters whose result is in `mapped`; and
            all strings of `every`. `IF_FOUND_ALONE`: all characters with `CHANGES`, and the strings with the value `FOUND_ALONE`.
            `OF_TOKENS`: all tokens. `OF_WORDS`: whitespace, and symbols for a space. `OF_DROPS`: characters with `DROPS`.
        mapped: uint8[256], the result for each byte of a text that is copied, see `copies`; empty if each byte maps to itself.
        numbers: uint16[0x110000], the number of the list that a character becomes, from 1 on; 0 for an unchanged character.
        list_ends: uint32[lists + 1], the end of each list in `lists`, by the number of the list; the first element is 0.
        lists: uint32[n], the parts of characters, ``code point | FIRST_PART``; `ITSELF` means the character itself.
        ranks: uint8[0x110000], the rank of each mark in canonical ordering; 0 for all other characters.
        pairs: uint32[2 ** n, 3], the composite of two characters, in the form of `fst.automata.matcher.Matcher.edges`.
        ascii: uint8[128], the ASCII character that each ASCII character becomes whatever the characters next to it are; `NO_ASCII` if there
            is no such character.
        last_numbers, last_ends, last_lists: the mapping that is applied to characters after composition, in the form of `numbers`,
            `list_ends` and `lists`.
        raw_tokens, normalized_tokens: the tokens of raw and of normalized text in UTF-8; the value of each token is its row in `tokens`.
        tokens: uint8[tokens], the flags of each token. The row of a token is the number in the token's mark.
        every: all tokens, and strings that edits change. A walk finds overlapping strings, too. The value of a string is `FOUND_ALONE` or
            `FOUND_ANYWAY`.
        cuts: the strings of cuts. A walk finds overlapping strings, too.
        edits: the arrays of the edits.
        charsmap: the arrays of the edit that is a charsmap.
        lead: uint8[n], ASCII, the text that an edit prepends.
        space: uint8[n], UTF-8, the character written for a space.
        splitter: the splitter that cuts a text before spaces are added to each pre-token.
        codes: the codes at the start of texts.
    """

    scalars: NormalizerScalars
    kinds: Array
    bytes: Array
    stops: Array
    mapped: Array
    numbers: Array
    list_ends: Array
    lists: Array
    ranks: Array
    pairs: Array
    ascii: Array
    last_numbers: Array
    last_ends: Array
    last_lists: Array
    raw_tokens: Matcher
    normalized_tokens: Matcher
    tokens: Array
    every: Matcher
    cuts: Matcher
    edits: EditArguments
    charsmap: CharsmapArguments
    lead: Array
    space: Array
    splitter: SplitterArguments
    codes: CodeArguments


class NormalizerWork(NamedTuple):
    """The working arrays of one thread for rewriting.

    Attributes:
        items: uint64[capacity], parts of characters, ``code point | number of raw characters replaced << 32``.
        sorted_items: uint64[capacity], counts: uint64[257], scratch for sorting marks.
        origins: uint32[capacity], the index in the raw text of each replaced character.
        stretch: uint8[capacity + 64], a normalised stretch; the last 64 bytes are read, but not written.
        stretch_places: uint64[capacity], the span of each character of `stretch`; empty if spans are not needed.
        spare, spare_places: like `stretch` and `stretch_places`, for a stretch before its edits.
        symbols: uint8[capacity], the symbols of a part that a splitter cuts.
        memo, normalized_memo: uint64[3], see `fst.runtime.kernels.tries.match_at`; cut_memo: see `memo` of `fst.pretokens.arguments.Work`.
    """

    items: Array
    sorted_items: Array
    counts: Array
    origins: Array
    stretch: Array
    stretch_places: Array
    spare: Array
    spare_places: Array
    symbols: Array
    memo: Array
    normalized_memo: Array
    cut_memo: Array


class Normalized(NamedTuple):
    """Normalized texts.

    Attributes:
        text: uint8[capacity], UTF-8 with marks.
        starts: int64[rows + 1], the start of each text in `text`, and the end of the last text.
        places: uint64[capacity], the span of each character in its raw text, ``first | one past the last << 32``; empty if spans are not
            needed.
        firsts: int64[rows + 1], the start of each text in `places`, and the end of the last text.
    """

    text: Array
    starts: Array
    places: Array
    firsts: Array


def all_normalizer_arguments(steps: Sequence[Normalizer], added: AddedTokens, trimming: bool | None = None) -> list[NormalizerArguments]:
    """The arguments for a sequence of normalizers, see `fst.text.normalizer.NormalizerSteps`; `trimming` is as in `normalizer_arguments`.

    The first normalizer finds the tokens of raw text; the last, or the first with a splitter, those of normalised text. Others find marks.
    """
    raw, both = len(raw_tokens(added)), [*raw_tokens(added).values(), *normalized_tokens(added).values()]
    last = next((number for number, by in enumerate(steps) if by.splitter), len(steps) - 1)
    found = []
    for number, by in enumerate(steps):
        marked = {mark(row).decode(errors="surrogateescape"): token.id for row, token in enumerate(both[: None if number > last else raw])}
        contextual = {content: token for content, token in added.contextual.items() if number == (last if token.normalized else 0)}
        known = replace(added, specials=marked if number else added.specials, contextual=contextual)
        found.append(normalizer_arguments(by, known, trimming))
    for one in found[1:]:
        one.scalars.copies = 0  # a text that begins with a mark must not be copied
    return found


def border_arguments(steps: Sequence[Normalizer], added: AddedTokens) -> NormalizerArguments:
    """The arguments for finding borders in a text with a sequence of normalizers. A character counts as changed if one of the normalizers
    changes it.

    If there is a single normalizer, and it only composes and maps characters, `CHANGES` is set only for characters that may affect the text
    before them.
    """
    edits = tuple(edit for by in steps for edit in by.edits)
    splitter = next((by.splitter for by in steps if by.splitter), None)  # then no position is a border
    every = normalizer_arguments(Normalizer(None, Images([]), NO_WHITESPACE, before=edits, splitter=splitter), added, None)
    for one in all_normalizer_arguments(steps, added):
        np.bitwise_or(every.kinds, one.kinds, out=every.kinds)
    if len(steps) == 1 and not edits and not normalized_tokens(added):
        every.kinds[:] = every.kinds & ~np.uint8(CHANGES) | np.uint8(CHANGES) * joining_of(steps[0].composition or NOT_COMPOSED)
    return every


def normalizer_arguments(by: Normalizer, added: AddedTokens, trimming: bool | None) -> NormalizerArguments:
    """The arguments for a normalizer and its added tokens; `trimming` is as in `fst.pretokens.header.PretokenText`."""
    composition = by.composition or NOT_COMPOSED
    raw, normalized = raw_tokens(added), normalized_tokens(added)
    every, kinds = _every(added, by), _kinds(by, composition, added)
    longest = _longest([*normalized, *by.cuts.strings]) + sum(edit.reach for edit in by.edits)
    symbol = by.whitespace.symbol
    scalars = NormalizerScalars(
        prefix=PREFIXES.index(by.whitespace.prefix),
        composes=len(composition.pairs) > 0,
        decomposes=by.composition is not None,
        longest=longest,
        reach=_longest(every),
        trims=0 if trimming is None else KEEPS_FIRST if trimming else TRIMS_ALL,
        strips=_strips(by),
        puts=any(map(_puts, by.edits)),
        has_edits=len(by.edits) > 0 or symbol != "" or by.splitter is not None,
        edits_before=len(by.before),
        edits=len(by.edits),
        symbol=ord(symbol) if symbol else NO_SYMBOL,
        separator=SEPARATORS.index(by.whitespace.separator),
        lags=np.any(kinds & DROPS),
        has_maps=by.composition is not None or len(by.last.runs) > 0,
        copies=_copies(by, added),
        leads=not any(edit.kind == SPACES for edit in by.edits),
        puts_behind=any(map(_puts_behind, by.edits)),
        has_codes=added.leading is not None,
        unknown_code=len(raw) + len(normalized) + len(added.leading.ids if added.leading else ()),
    )
    ascii_ = ascii_of(by.last, composition)
    mapped = _mapped(ascii_, kinds, [*normalized, *(string for edit in by.edits for string in edit.triggers or ())])
    _change(kinds, by.last.runs)
    return NormalizerArguments(
        scalars,
        kinds,
        _bytes(every, by),
        _stops(every, [*raw, *normalized], kinds, mapped, by.whitespace),
        mapped if (mapped != np.arange(256)).any() else mapped[:0],
        *lists_of(composition.first, composition.decompositions),
        ranks_of(composition),
        pairs_of(composition),
        ascii_,
        *lists_of(by.last, {}),
        trie((_utf_8(spelling), row) for row, spelling in enumerate(raw)),
        trie((spelling.encode(), row) for row, spelling in enumerate(normalized, len(raw))),
        np.array([_flags(token) for token in (*raw.values(), *normalized.values())], np.uint8),
        trie(((_utf_8(spelling), alone) for spelling, alone in every.items()), overlapping=True),
        trie(((string.encode(), 0) for string in by.cuts.strings), overlapping=True),
        _edits(by),
        charsmap_arguments(charsmap_of(by.edits)),
        np.frombuffer(_lead(by).encode(), np.uint8),
        np.frombuffer(by.whitespace.character.encode(), np.uint8),
        splitter_arguments(by.splitter),
        code_arguments(added.leading, len(raw) + len(normalized)),
    )


def _edits(by: Normalizer) -> EditArguments:
    rows, strings, runs = np.zeros((len(by.edits), 10), np.uint64), bytearray(), list[Sequence[int]]()
    for row, edit in zip(rows, by.edits, strict=True):
        if isinstance(edit, Charsmap):
            row[KIND] = ALL_KINDS.index(edit.kind)
            continue
        ends = [len(strings)]
        for string in (edit.content, edit.string):
            strings += string.encode()
            ends.append(len(strings))
        row[:] = ALL_KINDS.index(edit.kind), edit.left, edit.right, edit.least, *ends[:2], *ends[1:], len(runs), len(runs) + len(edit.runs)
        runs += edit.runs
    found = np.array([_stops_of_edit(edit) for edit in by.edits], np.uint8).ravel()
    return EditArguments(rows, np.array([*strings], np.uint8), np.array(runs, np.uint64).reshape(-1, 2), found)


def _stops_of_edit(edit: Edit | Charsmap) -> NDArray[np.bool_]:
    """The table of an edit in `EditArguments.stops`."""
    firsts, seconds = found = np.zeros((2, 256), np.bool_)
    if isinstance(edit, Edit) and edit.kind == REPLACE:
        first, *others = edit.string.encode()
        firsts[first] = True
        seconds[others[:1] or range(256)] = True
    if isinstance(edit, Edit) and edit.kind == RUNS:
        for first, last in edit.runs:
            firsts[chr(first).encode()[0] : chr(last).encode()[0] + 1] = True
        seconds[firsts | (edit.least == 1) | (np.arange(256) & 0xC0 == 0x80)] = True
    return found


def expansion_bound(by: Normalizer) -> int:
    """The maximum number of rewritten bytes per byte of text. A token of one byte becomes a mark and a space."""
    return max(ceil(by.expansion_bound), MARK_BYTES + 1)


def prove_normalizer(by: Normalizer | None, added: AddedTokens) -> None:
    """Prove that a normalizer finds contextual tokens, that the expansion bound is at most `MAX_EXPANSION`, and that loading is fast."""
    need(by or not added.contextual, "there are contextual added tokens, and no normalizer finds them")
    need(by or not added.leading, "there are codes at the start of texts, and no normalizer finds them")
    if by is None:
        return
    bound = expansion_bound(by)
    need(bound <= MAX_EXPANSION, f"the normalizer may make {bound} bytes of one; at most {MAX_EXPANSION} are possible")
    need(not (by.earlier and added.leading), "there are codes at the start of texts, and earlier normalizers")
    for one in by.earlier:
        prove_normalizer(one, added)
    need(all(token.decoded for token in added.contextual.values()), "a contextual token is empty once it is normalised")
    product = sum(map(len, raw_tokens(added))) * sum(map(len, normalized_tokens(added)))
    need(product <= MAX_OVERLAPS, f"the tokens in raw and in normalised text are too long together: {product} > {MAX_OVERLAPS}")
    marked = len(added.ids) + len(added.leading.ids if added.leading else ())
    need(marked < 1 << MARK_BITS * (MARK_BYTES - 1), f"there are {marked} added tokens and codes")


def _lead(by: Normalizer) -> str:
    """The text that edits prepend, after its spaces are written."""
    prepended = "".join(edit.content or SPACE for edit in reversed(by.edits) if isinstance(edit, Edit) and _puts_before(edit))
    return by.whitespace.replaced(prepended)


def _puts_before(edit: Edit | Charsmap) -> bool:
    """Whether any edit adds characters before a text."""
    return isinstance(edit, Edit) and (edit.kind == PREPEND or (edit.kind == SPACES and edit.left))


def _puts_behind(edit: Edit | Charsmap) -> bool:
    """Whether any edit adds characters after a text."""
    return isinstance(edit, Edit) and edit.kind == SPACES and edit.content != ""


def _puts(edit: Edit | Charsmap) -> bool:
    """Whether any edit adds characters before or after a text."""
    return _puts_before(edit) or _puts_behind(edit)


def _copies(by: Normalizer, added: AddedTokens) -> bool:
    """Whether a text without tokens is copied if all its characters stay or are `mapped`, see `copies` of `NormalizerArguments`.

    Other rules could change prepended text, or find a token in it. So if an edit prepends text, a text is copied only if there are no other
    rules.
    """
    edits = len(by.edits) > 1 and not (by.edits[-1].kind == SPACES and not any(map(_puts_before, by.edits[:-1])))
    maps = by.composition is not None or len(by.last.runs) > 0 or edits or by.whitespace.prefix != NEVER
    does_more = not _lead(by).isascii() or maps or len(normalized_tokens(added)) > 0 or by.whitespace.separator != KEEPS
    puts_behind = any(map(_puts_behind, by.edits))
    writes = by.whitespace.separator == BREAKS or by.whitespace.keeps_symbol or puts_behind or by.splitter is not None
    return len(by.cuts.strings) == 0 and not writes and not (_lead(by) and does_more)


def _strips_ends(edit: Edit | Charsmap) -> bool:
    return isinstance(edit, Edit) and (edit.kind == STRIP or (edit.kind == SPACES and edit.right))


def _strips(by: Normalizer) -> bool:
    """Whether rewriting removes whitespace at the ends of stretches."""
    return any(map(_strips_ends, by.edits)) or by.whitespace.separator != KEEPS


def _every(added: AddedTokens, by: Normalizer) -> dict[str, int]:
    """The strings of `NormalizerArguments.every` and their values: the spellings of tokens, and the strings that edits change.

    A token is `FOUND_ANYWAY` only if no rule changes whitespace next to tokens.
    """
    every = {string: FOUND_ALONE for edit in by.edits for string in edit.triggers or ()}
    if by.whitespace.separator != KEEPS:  # rewriting removes one of two adjacent separators
        every[2 * (SPACE if by.whitespace.separator == JOINS else BREAK)] = FOUND_ALONE
    puts = any(map(_puts, by.edits))
    known = without_context(added) if by.whitespace.prefix == NEVER and not puts and not _strips(by) else {}
    for spelling, token in (*raw_tokens(added).items(), *normalized_tokens(added).items()):
        found = FOUND_ANYWAY if known.get(spelling) == token.id else FOUND_ALONE
        every[spelling] = min(every.get(spelling, found), found)
    if added.leading:
        every[added.leading.begin] = FOUND_ALONE
    return every


def _longest(spellings: Iterable[str]) -> int:
    """The maximum number of bytes of a spelling; 0 if there are no spellings."""
    return max((len(_utf_8(spelling)) for spelling in spellings), default=0)


def _utf_8(spelling: str) -> bytes:
    """The bytes of a spelling, which may be a mark."""
    return spelling.encode(errors="surrogateescape")


def _flags(token: ContextualToken) -> int:
    return SINGLE_WORD * token.single_word | LSTRIP * token.lstrip | RSTRIP * token.rstrip


def _bytes(every: Iterable[str], by: Normalizer) -> NDArray[np.uint8]:
    bits = np.zeros(256, np.uint8)
    for spelling in every:
        first, *others = _utf_8(spelling)
        bits[first] |= FIRST
        bits[others[:1] or range(256)] |= SECOND
        bits[_utf_8(spelling)[-1]] |= ENDS
    bits[[string.encode()[0] for string in by.cuts.strings]] |= CUT
    bits |= ENDS * any(edit.kind in (REPLACE, RUNS) and not edit.content for edit in edits_before_charsmap(by.edits))
    return bits


def _stops(every: Mapping[str, int], tokens: Iterable[str], kinds: Array, mapped: Array, whitespace: Whitespace) -> NDArray[np.uint8]:
    changes, nothing = kinds & CHANGES > 0, np.zeros(CODE_POINTS, np.bool_)
    alone = stops(changes, (_utf_8(spelling) for spelling, found in every.items() if found == FOUND_ALONE))
    changes[np.flatnonzero(mapped != np.arange(256))] = False
    words = stops(kinds & WHITE > 0, (char.encode() for char in SPACE + whitespace.symbol))
    drops = stops(kinds & DROPS > 0, ())
    return np.concatenate([alone, stops(changes, map(_utf_8, every)), stops(nothing, map(_utf_8, tokens)), words, drops])


def _mapped(ascii_: NDArray[np.uint8], kinds: NDArray[np.uint8], strings: Iterable[str]) -> NDArray[np.uint8]:
    """Compute the field `mapped` of a `NormalizerArguments`, the result for each byte.

    The last mapping alone determines the result for an ASCII character, except if the character or its image is whitespace, may change for
    a different reason, or is in one of `strings`.

    Args:
        ascii_, kinds: the fields of `NormalizerArguments`, but `kinds` excludes the changes by the last mapping.
        strings: strings that edits change, and tokens of normalised text.
    """
    taken = {*np.flatnonzero(kinds[: len(ascii_)] & (CHANGES | WHITE)).tolist(), *map(ord, "".join(strings))}
    mapped = np.arange(256, dtype=np.uint8)
    for code, image in enumerate(ascii_.tolist()):
        if image != NO_ASCII and taken.isdisjoint((code, image)):
            mapped[code] = image
    return mapped


def _kinds(by: Normalizer, composition: Composition, added: AddedTokens) -> NDArray[np.uint8]:
    """Compute the field `kinds` of a `NormalizerArguments`, without the changes by the last mapping."""
    kinds = np.zeros(CODE_POINTS, np.uint8)
    word = added.context.word if added.context else ()
    for first, last in zip(word[0::2], word[1::2], strict=True):
        kinds[first : last + 1] |= WORD
    kinds[[ord(char) for char in WHITE_SPACE]] |= WHITE
    kinds[[*composition.suspects, *map(ord, _whitespace(by.whitespace))]] |= CHANGES
    singles = [run for edit in by.edits for run in edit.singles]
    _change(kinds, [*composition.first.runs, *singles])
    for first, last in by.cuts.inside:
        kinds[first : last + 1] |= INSIDE
    kinds[_vanishing(by, composition)] |= DROPS
    return kinds


def _change(kinds: NDArray[np.uint8], runs: Iterable[Sequence[int]]) -> None:
    """Set the bit `CHANGES` for runs of characters."""
    for first, last, *_ in runs:
        kinds[first : last + 1] |= CHANGES


def _vanishing(by: Normalizer, composition: Composition) -> NDArray[np.bool_]:
    """bool[0x110000], the characters with the bit `DROPS`: a charsmap may remove a part of such a character, and spans may then lag."""
    charsmap, found = charsmap_of(by.edits), np.zeros(CODE_POINTS, np.bool_)
    if charsmap is None or charsmap.manner == LONGEST_STRINGS or not charsmap.drops.any():
        return found
    if any(charsmap.drops[ord(char)] for edit in edits_before_charsmap(by.edits) for char in edit.content):
        return ~found
    dropped = {*np.flatnonzero(charsmap.drops).tolist()}
    for code in (code for code, parts in composition.decompositions.items() if not dropped.isdisjoint(parts)):
        dropped.add(code)
    found[[*dropped]] = True
    for first, last, *image in (*composition.first.runs, *by.last.runs):
        found[first : last + 1] |= not dropped.isdisjoint(image)
    return found


def _whitespace(whitespace: Whitespace) -> str:
    """The characters that change when spaces are written."""
    kept = {KEEPS: WHITE_SPACE, JOINS: SPACE, BREAKS: BREAK}[whitespace.separator]
    written = whitespace.symbol + SPACE * whitespace.keeps_symbol
    return "".join(char for char in WHITE_SPACE + whitespace.symbol if char not in kept or char in written)
