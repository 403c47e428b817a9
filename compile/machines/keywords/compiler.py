"""Compile keywords into a table of `fst.machines.keywords.table`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.links import BEFORE, END, TOKEN, Nodes, longest, suffixes
from fst.automata.rows import BYTE_ROW, BYTES, ROOT
from fst.automata.trie import NULL, Ints
from fst.compile.dictionary_words import MAX_MATCHES, read_words, spelled_words
from fst.compile.layout.rows import placed
from fst.compile.machines.keywords.text import keyword_text, spelled
from fst.errors import UnsupportedError, VocabularyError, not_one_of
from fst.machines.keywords.overlapping import OverlappingTable
from fst.machines.keywords.table import COLUMNS, ENTRY, FIRST, KINDS, LONGEST, OVERLAPPING, OWN, STANDARD, KeywordTable, header
from fst.machines.keywords.text import PLAIN
from fst.tables.npz import MAX_FILE_BYTES

BYTE_BITS = 8
MAX_SLOTS = MAX_FILE_BYTES // 12  # maximum number of slots of the automaton; each slot has an entry and a depth
CHUNK = 1 << 20  # number of entries that are packed together, to limit memory
EXCESS = "the keywords have more than {:,} matches inside other keywords; expected fewer; leave out keywords that many others contain"


class Rows(NamedTuple):
    """The slots of the rows of a trie."""

    slots: NDArray[np.int32]  # int32[nodes], the slot of each node; for leaves, the slot of an empty row
    is_leaf: NDArray[np.bool_]  # bool[nodes], whether each node is a leaf
    edges: NDArray[np.int32]  # int32[edges], the slot of each edge, in the order of target nodes
    size: int  # the number of slots, without the empty row


class Outputs(NamedTuple):
    """The failure links of a trie's nodes, and the matches that are reported at them."""

    links: NDArray[np.int32]  # int32[nodes], the link of each node
    # int32[nodes], the node from which the search continues after each node: the node itself, unless a match ends there or the node is a
    # leaf
    goes_on: NDArray[np.int32]
    lasts: NDArray[np.int32]  # int32[nodes], the output of each node: a row of `matches`, or 0
    is_hit: NDArray[np.bool_]  # bool[nodes], whether the transition to each node reports the matches of this node
    matches: NDArray[np.uint32]  # uint32[n, columns], the matches of the outputs


class Automaton(NamedTuple):
    """The number of states, and the arrays of the automaton in `fst.machines.keywords.table.KeywordTable`."""

    states: int
    entries: NDArray[np.uint64]
    depths: NDArray[np.uint32]
    matches: NDArray[np.uint32]


def keywords(
    source: str | Path | Iterable[str | bytes] | Any,
    *,
    match_kind: str = LONGEST,
    ignore_case: bool = False,
    whole_words: bool = False,
    normalizer: Any = None,
    allow_empty: bool = False,
    format: str | None = None,  # noqa: A002 - the word for it
    column: str | None = None,
) -> KeywordTable:
    """Compile keywords for search.

    The time of a search does not depend on the number of keywords, because each byte of text takes at most two look-ups, plus the time to
    report matches.

    Args:
        source: the keywords: str or UTF-8 bytes, a pyarrow column (or an object that Arrow can import), or the path of a file. The number
            of a keyword in matches is its position. Of equal keywords, only the first is found.
        match_kind: "leftmost-longest": the longest of the matches that begin first. "leftmost-first": the match that begins first; in a
            tie, the keyword that is listed first. "standard": the match that ends first; in a tie, the longest. With these three kinds, the
            search continues after the end of each match. "overlapping": all matches, including those of equal keywords, sorted by end, the
            longest first.
        ignore_case: whether case is ignored, by Unicode's simple case folding, which maps one character to one character, so ß does not
            match ss.
        whole_words: whether a keyword that begins with a word character must be at the start of a word, and a keyword that ends with a word
            character at the end of a word. Word characters are letters, marks, digits and connectors like ``_``, but not ideographs and
            kana.
        normalizer: a normalizer that is applied first to texts and keywords: a component of a ``tokenizer.json``, or a normalizer of
            ``tokenizers``. A match covers whole characters of the text, even if only a part of a normalized character matches.
        allow_empty: whether a keyword may be empty. An empty keyword matches at each character and at the end of a text, unless another
            match begins, covers or ends there; in an overlapping search, it matches at all positions. In a standard search, only the empty
            keyword is ever found; in a leftmost-first search, keywords that are listed after it are never found.
        format: the format of a file: "lines" (one keyword per line), "jieba" (``word frequency part-of-speech``), "csv", "tsv", "parquet"
            or "arrow". None: the extension of the file name determines the format; for unknown extensions, it is "lines". All formats
            except the last two may be compressed with gzip.
        column: the name of the column with the keywords, for a file with columns. None: the first field of each record of a CSV, which then
            has no header line; the only column of Parquet and Arrow.

    Raises:
        VocabularyError: there are no keywords; a keyword is empty, is not text, or is empty after the normalizer; or the file does not
            follow its format. The message gives the position.
        UnsupportedError: a keyword has more than 65,536 bytes; all keywords together have more than 134,217,728 bytes (compiling takes up
            to 100 bytes of memory per byte); keywords have too many matches in each other; the automaton or the normalizer does not fit
            into a table; or `format` or `column` does not match the source.
        ValueError: `match_kind` has an invalid value, or `normalizer` is not a normalizer.
        OSError: the file cannot be read.

    Examples:
        >>> found = keywords(["he", "she", "hers"])
        >>> found.run("ushers"), [found.keywords[number] for number in keywords(["he", "she", "hers"], match_kind="standard").run("ushers")]
        ([1], ['she'])
        >>> keywords(["he", "she", "hers"], match_kind="overlapping").run("ushers")
        [1, 0, 2]
        >>> keywords(["C++", "net"], ignore_case=True, whole_words=True).run("Internet in c++, .NET")
        [0, 1]

    Source: Aho and Corasick 1975, *Efficient string matching*; Song et al. 2021, *Fast WordPiece Tokenization*, Section 3.6.
    """
    if match_kind not in KINDS:
        raise ValueError(not_one_of("match_kind", match_kind, KINDS))
    text = keyword_text(normalizer, ignore_case, whole_words)
    listed = spelled_words(read_words(source, form=format, column=column, noun="keyword"), "keyword", allow_empty=allow_empty)
    if not listed:
        raise VocabularyError("there are no keywords" + (f" in {source}" if isinstance(source, str | Path) else ""))
    read = listed if text == PLAIN else spelled([keyword.decode() for keyword in listed], text)
    trie = trie_of(numbered(_possible(read, match_kind)))
    if match_kind == FIRST:
        trie = trie_of({read[number]: number for number in _reachable(trie)})
    automaton = lay_out(trie, read, match_kind)
    make = OverlappingTable if match_kind == OVERLAPPING else KeywordTable
    return make(
        header(make.kind, match_kind, automaton.states, text),
        entries=automaton.entries,
        depths=automaton.depths,
        matches=automaton.matches,
        keyword_bytes=np.frombuffer(b"".join(listed), np.uint8),
        keyword_ends=np.cumsum(lengths_of(listed)),
        keyword_lengths=(_characters(read) if match_kind == OVERLAPPING else lengths_of(read)).astype(np.uint32),
    )


def numbered(read: Sequence[bytes]) -> dict[bytes, int]:
    """Non-empty keyword → its number; for equal keywords, the number of the first."""
    numbers: dict[bytes, int] = {}
    for number, keyword in enumerate(read):
        if keyword:
            numbers.setdefault(keyword, number)
    return numbers


def lengths_of(strings: Sequence[bytes]) -> Ints:
    """The number of bytes of each string."""
    return np.fromiter(map(len, strings), np.int64, len(strings))


def _characters(strings: Sequence[bytes]) -> Ints:
    """The number of characters of each string, including inserted word borders."""
    begins = np.frombuffer(b"".join(strings), np.uint8) & 0xC0 != 0x80
    return np.diff(np.append(0, np.cumsum(begins))[np.cumsum(lengths_of(strings))], prepend=0)


def _possible(read: Sequence[bytes], match_kind: str) -> Sequence[bytes]:
    """The keywords that a search can find.

    If the empty keyword is listed, a standard search never finds another keyword, and a leftmost-first search never finds a later keyword.
    """
    if match_kind not in (FIRST, STANDARD) or b"" not in read:
        return read
    return read[: read.index(b"")] if match_kind == FIRST else []


def _reachable(trie: Nodes) -> Sequence[int]:
    """The keywords that do not begin with an earlier keyword, for a leftmost-first search."""
    never = np.iinfo(np.int32).max
    own = np.where(trie.tokens == NULL, never, trie.tokens)
    first = own.copy()  # the first keyword on the path to each node
    for level in range(1, int(trie.levels[-1]) + 1):
        nodes = slice(*np.searchsorted(trie.levels, [level, level + 1]))
        first[nodes] = np.minimum(own[nodes], first[trie.parents[nodes]])
    found: list[int] = np.sort(own[(own == first) & (own < never)]).tolist()
    return found


def lay_out(trie: Nodes, read: Sequence[bytes], match_kind: str) -> Automaton:
    """Lay out the automaton of a trie. Leaves are not states, so a transition to a leaf leads directly to the state from which the search
    continues. `trie`: the trie of the keywords, in which tokens are the numbers of keywords. `read`: the keywords in the spelling that the
    automaton reads. `match_kind`: as in `keywords`.
    """
    rows = _rows(trie)
    linked = _linked(trie, rows.is_leaf, read, match_kind)
    inner = np.flatnonzero(~rows.is_leaf)
    entries = np.full(rows.size, ENTRY.free, np.uint64)
    slots = np.where(rows.is_leaf, ROOT, rows.slots)
    on_the_way = linked.lasts[inner] if match_kind in (LONGEST, FIRST) else np.zeros(len(inner), np.int64)
    entries[slots[inner]] = ENTRY.pack(OWN, slots[linked.links[inner]], on_the_way)
    for first in range(1, len(trie.parents), CHUNK):
        some = slice(first, first + CHUNK)
        outputs = np.where(linked.is_hit[some], linked.lasts[some], 0)
        entries[rows.edges[first - 1 : first - 1 + CHUNK]] = ENTRY.pack(trie.labels[some], slots[linked.goes_on[some]], outputs)
    depths = np.zeros(rows.size, np.uint32)
    depths[slots[inner]] = trie.levels[inner]
    return Automaton(len(inner), entries, depths, linked.matches)


def _rows(trie: Nodes) -> Rows:
    """Place the rows of a trie, level by level, because searches visit the first levels most often."""
    _need_slots(len(trie.parents))
    starts, is_leaf = trie.firsts, trie.are_leaves
    is_leaf[ROOT] = False
    inner = np.flatnonzero(~is_leaf)
    order = np.lexsort((-np.diff(starts)[inner], trie.levels[inner]))
    slots = np.empty(len(trie.parents), np.int32)
    slots[inner] = placed(ENTRY, np.append(starts[inner], starts[-1]), trie.labels[1:].astype(np.int64), order)
    size = int(slots[inner].max()) + BYTE_ROW
    _need_slots(size)
    slots[is_leaf] = size  # the row of all leaves, without edges, after all other rows
    return Rows(slots, is_leaf, slots[trie.parents[1:]] + 1 + trie.labels[1:], size)


def _need_slots(count: int) -> None:
    if count > MAX_SLOTS:
        reason = f"the automaton of these keywords takes {count:,} slots or more; a table file has room for {MAX_SLOTS:,}"
        raise UnsupportedError(f"{reason}: split the keywords between several tables")


def _linked(trie: Nodes, is_leaf: NDArray[np.bool_], read: Sequence[bytes], match_kind: str) -> Outputs:
    if match_kind == OVERLAPPING:
        return _overlapping(trie, is_leaf, read)
    if match_kind == STANDARD:
        return _standard(trie, read)
    links, lasts, pops = longest(trie, np.zeros(BYTES, np.int64), MAX_MATCHES, EXCESS, with_leaves=True)
    matches = _matches(pops[1:, TOKEN], pops[1:, END], pops[1:, BEFORE], read)
    return Outputs(links, np.where(is_leaf, ROOT, np.arange(len(links), dtype=np.int32)), lasts, is_leaf, matches)


def _standard(trie: Nodes, read: Sequence[bytes]) -> Outputs:
    """Link the nodes for a standard search, which restarts after each match. The longest keyword that ends at a node is the match."""
    links, ends = suffixes(trie)
    is_hit = ends > ROOT
    hits = np.flatnonzero(is_hit)
    matches = _matches(trie.tokens[ends[hits]], trie.levels[hits], np.zeros(len(hits), np.int64), read)
    lasts, goes_on = np.zeros(len(links), np.int32), np.arange(len(links), dtype=np.int32)
    lasts[hits], goes_on[hits] = np.arange(1, len(hits) + 1), ROOT
    return Outputs(links, goes_on, lasts, is_hit, matches)


def _matches(keywords: Ints, ends: Ints, before: Ints, read: Sequence[bytes]) -> NDArray[np.uint32]:
    """The rows of `matches`, from row 1; row 0 is not used."""
    matches = np.zeros((1 + len(keywords), len(COLUMNS)), np.uint32)
    for column, numbers in zip(COLUMNS, (keywords, ends - lengths_of(read)[keywords], ends, before), strict=True):
        matches[1:, column] = numbers
    return matches


def _overlapping(trie: Nodes, is_leaf: NDArray[np.bool_], read: Sequence[bytes]) -> Outputs:
    """Link the nodes for an overlapping search: at its end, each keyword is reported, longer keywords first, equal keywords in order."""
    links, ends = suffixes(trie)
    goes_on, leaves = np.arange(len(links), dtype=np.int32), np.flatnonzero(is_leaf)
    while len(leaves):
        goes_on[leaves] = links[goes_on[leaves]]
        leaves = leaves[is_leaf[goes_on[leaves]]]
    rows = np.where(ends > ROOT, trie.tokens[ends] + 1, 0)
    nodes = np.flatnonzero(trie.tokens != NULL)
    last, before = _equal(read)
    later = np.flatnonzero(before != NULL)
    following = np.zeros(len(read) + 1, np.int64)
    following[1 + before[later]] = 1 + later
    following[1 + last[trie.tokens[nodes]]] = rows[links[nodes]]
    counts, at = np.append(0, np.ones(len(read), np.int64)), following
    while at.any():
        counts += counts[at]
        at = at[at]
    matches = np.stack([following, counts], axis=1).astype(np.uint32)
    return Outputs(goes_on[links], goes_on, rows.astype(np.int32), np.ones(len(links), np.bool_), matches)


def _equal(read: Sequence[bytes]) -> tuple[Ints, Ints]:
    """Link equal keywords as lists, so that an overlapping search reports all of them.

    Returns the last keyword of each list, at the index of the list's first keyword; and for each keyword, the previous equal keyword or
    `NULL`.
    """
    last, before = np.arange(len(read)), np.full(len(read), NULL)
    first: dict[bytes, int] = {}
    for number, keyword in enumerate(read):
        known = first.setdefault(keyword, number) if keyword else number
        if known != number:
            before[number], last[known] = last[known], number
    return last, before


def trie_of(numbers: Mapping[bytes, int]) -> Nodes:
    """Build the trie of distinct, non-empty keywords; its tokens are the numbers of the keywords.

    The nodes of a level are the distinct pairs (parent, byte) of the keywords that reach this level.
    """
    data, lengths = np.frombuffer(b"".join(numbers), np.uint8), np.fromiter(map(len, numbers), np.int32, len(numbers))
    at, values = np.cumsum(lengths, dtype=np.int64) - lengths, np.fromiter(numbers.values(), np.int32, len(numbers))
    node, first = np.zeros(len(numbers), np.int64), 1
    parents, labels, tokens = [np.full(1, NULL, np.int32)], [np.zeros(1, np.uint8)], [np.full(1, NULL, np.int32)]
    while len(node):
        pairs, place = np.unique(node << BYTE_BITS | data[at], return_inverse=True)
        parents.append((pairs >> BYTE_BITS).astype(np.int32))
        labels.append(pairs.astype(np.uint8))
        tokens.append(np.full(len(pairs), NULL, np.int32))
        is_end = lengths == len(parents) - 1
        tokens[-1][place[is_end]] = values[is_end]
        goes_on = ~is_end
        node, at, lengths, values = first + place[goes_on], at[goes_on] + 1, lengths[goes_on], values[goes_on]
        first += len(pairs)
    levels = np.repeat(np.arange(len(parents), dtype=np.int32), [*map(len, parents)])
    return Nodes.of(np.concatenate(parents), np.concatenate(labels), levels, np.concatenate(tokens))
