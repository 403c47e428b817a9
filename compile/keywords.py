"""Compile keywords: from strings to a table of `fst.machines.keywords`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.byte_rows import ROW, placed
from fst.compile.sources.words import Words, read_words
from fst.errors import UnsupportedError, VocabularyError, quoted, reason
from fst.jit import Deferred
from fst.machines.keywords import (
    COLUMNS,
    END,
    FIRST,
    FREE,
    KEYWORD,
    KINDS,
    LABEL_SHIFT,
    LONGEST,
    MAX_STATE,
    OWN,
    ROOT,
    STANDARD,
    START,
    KeywordTables,
    about,
    pack,
)
from fst.trie import NULL, Ints, Strings, Trie, build

MAX_BYTES = 1 << 16  # of a keyword: the compiler visits a trie level by level
MAX_MATCHES = 1 << 24  # that the outputs of a table list
link_longest, link_standard = (Deferred("fst.compile.keyword_links", f"link_{kind}") for kind in ("longest", "standard"))


class Rows(NamedTuple):
    """The rows of a trie.

    Attributes:
        slots: int64[nodes], the slot of each node; that of an empty row for leaves.
        is_leaf: bool[nodes].
        edges, edge_bytes: int64[edges], the slot and the byte of each edge, in the order of the trie.
        size: the number of slots, without the empty row.
    """

    slots: Ints
    is_leaf: NDArray[np.bool_]
    edges: Ints
    edge_bytes: Ints
    size: int


class Links(NamedTuple):
    """What the kernels of `fst.compile.keyword_links` find: for each node its link and its output, and the matches."""

    links: Ints
    outputs: Ints
    matches: Ints


class Automaton(NamedTuple):
    """The number of states, and the arrays of `fst.machines.keywords.KeywordTables` that make the automaton."""

    states: int
    entries: NDArray[np.uint64]
    depths: NDArray[np.uint32]
    matches: NDArray[np.uint32]


def keywords(
    source: str | Path | Iterable[str | bytes] | Any,
    *,
    match_kind: str = LONGEST,
    format: str | None = None,  # noqa: A002 - the word for it
    column: str | None = None,
) -> KeywordTables:
    """Compile keywords for search.

    The time of a search does not depend on the keywords: it takes at most two look-ups for each byte of text.

    Args:
        source: the keywords, str or bytes of UTF-8; the number of each in matches is its place. Of equal ones, the first is found. Or a
            column of them, of pyarrow or of what Arrow can import; or the path of a file.
        match_kind: "leftmost-longest": of the matches that begin first, the longest; "leftmost-first": of these, the keyword that is listed
            first; "standard": the match that ends first, and of these the longest. In all three, the search goes on after the match.
        format: of a file: "lines", a keyword a line; "jieba", ``word frequency part-of-speech``; "csv", "tsv", "parquet" or "arrow". None:
            by the ending of its name; "lines" if this says nothing. All but the last two may be packed with gzip.
        column: of a file with columns, the name of the one that holds the keywords. None: the first field of each record of a CSV, which
            then has no line of names; the only column of Parquet and Arrow.

    Raises:
        VocabularyError: there are no keywords, or one is empty or no text; or the file is not of its format; the message says where.
        UnsupportedError: a keyword has more than 65,536 bytes, or the keywords have too many matches in each other; or `format` or
            `column` does not go with the source.
        ValueError: `match_kind` has another value.
        OSError: the file cannot be read.

    Example:
        >>> found = keywords(["he", "she", "hers"])
        >>> found.run("ushers"), [found.keywords[number] for number in keywords(["he", "she", "hers"], match_kind="standard").run("ushers")]
        ([1], ['she'])

    Source: Aho and Corasick 1975, *Efficient string matching*; Song et al. 2021, *Fast WordPiece Tokenization*, Section 3.6.
    """
    if match_kind not in KINDS:
        raise ValueError(f"match_kind={match_kind!r}: there are {', '.join(map(repr, KINDS))}")
    given = read_words(source, form=format, column=column, noun="keyword")
    spelled = spelled_words(given)
    if not spelled:
        raise VocabularyError("there are no keywords" + (f" in {source}" if isinstance(source, str | Path) else ""))
    trie = trie_of(numbered(spelled))
    if match_kind == FIRST:
        trie = trie_of({spelled[number]: number for number in _reachable(trie)})
    lengths = lengths_of(spelled)
    laid_out = lay_out(trie, lengths, match_kind)
    return KeywordTables(
        about(match_kind, laid_out.states),
        entries=laid_out.entries,
        depths=laid_out.depths,
        matches=laid_out.matches,
        keyword_bytes=np.frombuffer(b"".join(spelled), np.uint8),
        keyword_ends=np.cumsum(lengths),
    )


def spelled_words(given: Words, noun: str = "keyword") -> list[bytes]:
    """Words in UTF-8; `noun` is what messages call one.

    Raises:
        VocabularyError, UnsupportedError: as for `keywords`.
    """
    return [_utf_8(keyword, given, number, noun) for number, keyword in enumerate(given.words)]


def numbered(spelled: Sequence[bytes]) -> dict[bytes, int]:
    """The number of each keyword; of equal ones, that of the first."""
    numbers: dict[bytes, int] = {}
    for number, keyword in enumerate(spelled):
        numbers.setdefault(keyword, number)
    return numbers


def lengths_of(spelled: Sequence[bytes]) -> Ints:
    """The number of bytes of each keyword."""
    return np.fromiter(map(len, spelled), np.int64, len(spelled))


def _utf_8(keyword: object, given: Words, number: int, noun: str) -> bytes:
    """A keyword in UTF-8."""
    if not isinstance(keyword, str | bytes):
        raise VocabularyError(f"{given.place(number)} is {type(keyword).__name__}, not str or bytes")
    try:
        data = keyword.encode() if isinstance(keyword, str) else keyword
        data.decode()
    except UnicodeError as error:
        raise VocabularyError(f"{given.place(number)}: {quoted(keyword)} is not text: {reason(error)}") from None
    if not data:
        raise VocabularyError(f"{given.place(number)}: the {noun} is empty; leave it out")
    if len(data) > MAX_BYTES:
        raise UnsupportedError(f"{given.place(number)}: {quoted(keyword)} has {len(data):,} bytes; at most {MAX_BYTES:,} are possible")
    return data


def trie_of(numbers: dict[bytes, int]) -> Trie:
    """The trie of keywords; their numbers are its tokens."""
    symbols = np.frombuffer(b"".join(numbers), np.uint8).astype(np.int64)
    lengths = np.fromiter(map(len, numbers), np.int64, len(numbers))
    strings = Strings(symbols, np.cumsum(lengths) - lengths, lengths)
    return build(("",), strings, np.zeros(len(numbers), np.int64), np.fromiter(numbers.values(), np.int64, len(numbers)))


def _reachable(trie: Trie) -> Sequence[int]:
    """The keywords that no earlier one begins."""
    never = np.iinfo(np.int64).max
    own = np.where(trie.token == NULL, never, trie.token)
    first = own.copy()  # the first keyword on the way to each node
    for level in range(1, int(trie.level[-1]) + 1):
        nodes = np.arange(*np.searchsorted(trie.level, [level, level + 1]))
        first[nodes] = np.minimum(own[nodes], first[trie.parent[nodes]])
    found: list[int] = np.sort(own[(own == first) & (own < never)]).tolist()
    return found


def lay_out(trie: Trie, lengths: Ints, match_kind: str) -> Automaton:
    """Lay out the automaton of a trie. Leaves are no states: the transition to one leads to the root, and the match is certain.

    Args:
        trie: of keywords; its tokens are their numbers.
        lengths: the number of bytes of each keyword.
        match_kind: as in `keywords`.
    """
    rows = _rows(trie)
    linked = _linked(trie, rows, lengths, match_kind)
    is_hit = linked.outputs > 0 if match_kind == STANDARD else rows.is_leaf
    inner = np.flatnonzero(~rows.is_leaf)
    entries = np.full(rows.size, FREE << LABEL_SHIFT, np.uint64)
    slots = np.where(rows.is_leaf, ROOT, rows.slots)
    on_the_way = np.zeros(len(inner), np.int64) if match_kind == STANDARD else linked.outputs[inner]
    entries[slots[inner]] = pack(slots[linked.links[inner]], on_the_way, OWN)
    children = trie.edge_children
    states, outputs = np.where(is_hit, ROOT, slots)[children], np.where(is_hit, linked.outputs, 0)[children]
    entries[rows.edges] = pack(states, outputs, rows.edge_bytes)
    depths = np.zeros(rows.size, np.uint32)
    depths[slots[inner]] = trie.level[inner]
    return Automaton(len(inner), entries, depths, linked.matches.astype(np.uint32))


def _rows(trie: Trie) -> Rows:
    """Place the rows of a trie, those of its first levels first, since searches visit these most."""
    parents, labels = np.divmod(trie.edge_keys, len(trie.letters))
    bytes_read = trie.letters[labels]
    starts = np.searchsorted(parents, np.arange(len(trie) + 1))
    is_leaf = starts[1:] == starts[:-1]
    inner = np.flatnonzero(~is_leaf)
    order = np.lexsort((-np.diff(starts)[inner], trie.level[inner]))
    slots = np.empty(len(trie), np.int64)
    slots[inner] = placed(np.append(starts[inner], len(bytes_read)), bytes_read, order)
    size = int(slots[inner].max()) + ROW
    if size > MAX_STATE:
        raise UnsupportedError(f"the automaton of these keywords takes {size:,} slots; a table has room for {MAX_STATE:,}")
    slots[is_leaf] = size  # a row without edges behind all others
    return Rows(slots, is_leaf, slots[parents] + 1 + bytes_read, bytes_read, size)


def _linked(trie: Trie, rows: Rows, lengths: Ints, match_kind: str) -> Links:
    """Link the nodes of a trie.

    Raises:
        UnsupportedError: there are too many matches to list.
    """
    children, labels = np.zeros(rows.size + ROW, np.int32), np.full(rows.size + ROW, FREE, np.int16)
    children[rows.edges], labels[rows.edges] = trie.edge_children, rows.edge_bytes
    links, outputs = np.empty(len(trie), np.int64), np.empty(len(trie), np.int64)
    tree = trie.parent, trie.letters[trie.label], trie.level, trie.token
    room = 2 * len(trie) + 1
    while True:
        matches = np.zeros((room, len(COLUMNS)), np.int64)
        if match_kind == STANDARD:
            count = link_standard.call(*tree, lengths, rows.slots, children, labels, links, outputs, matches)
        else:
            count = link_longest.call(*tree, rows.is_leaf, rows.slots, children, labels, links, outputs, matches)
        if count:
            matches[1:count, END] = matches[1:count, START] + lengths[matches[1:count, KEYWORD]]
            return Links(links, outputs, matches[:count])
        room *= 4
        if room > MAX_MATCHES:
            raise UnsupportedError(f"the keywords have more than {room // 4:,} matches in each other: leave out some of those in long ones")
