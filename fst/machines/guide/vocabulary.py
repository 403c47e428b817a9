"""The vocabulary of a tokenizer for token masks: the bytes of each token, and tries of these bytes.

A trie has its nodes in depth-first order: a node comes before its children, and a scan that leaves out a subtree goes on at `Trie.skips`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.automata.trie import Ints
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import GROUPS, MARK, TWIN_MARK, Tokens
from fst.machines.guide.written import written_by
from fst.tables.strings import order_of, stored_bytes, taken
from fst.tables.table import Table

Made = TypeVar("Made")

WORD_BITS = 32
LABEL_BITS = 8

count_nodes, build = (Deferred("fst.machines.guide.kernels.trie", name) for name in ("count_nodes", "build_trie"))


class Trie(NamedTuple):
    """The trie of the bytes of tokens.

    Attributes:
        labels: uint32[nodes], ``depth << 8 | byte``: the number of bytes before the node, and the last byte of its path. There is no node
            for the empty path.
        skips: uint32[nodes], the node after the subtree of each node.
        roots: int32[256], the node of each byte that begins a token, else -1.
        tokens: uint32[nodes], the id of the token that ends at each node; the number of bits of a mask if there is none.
        longest_below: uint32[nodes], the number of bytes of the longest token in the subtree of each node.
        groups_below: uint64[nodes], the groups of the bytes below each node, see `fst.machines.guide.arguments.GROUPS`.
        by_length: uint32[tokens], the tokens in the trie, sorted by number of bytes; length_ends: int64[longest + 1], for each length, the
            number of tokens of at most this length.
        twins: uint32[n, 2], ids with the same bytes as another token, and the id of this other token, which is in the trie.
    """

    labels: Array
    skips: Array
    roots: Array
    tokens: Array
    longest_below: Array
    groups_below: Array
    by_length: Array
    length_ends: Array
    twins: Array

    @property
    def longest(self) -> int:
        """The number of bytes of the longest token."""
        return len(self.length_ends) - 1


class Vocabulary(NamedTuple):
    """The vocabulary of a tokenizer.

    Attributes:
        tokens: the bytes of each token.
        trie: the trie of the tokens at any position but the first.
        first: the trie of the tokens at the first position; equal to `trie` if there is no difference.
        silent: int64[n], the tokens that write nothing at the first position.
        kept: what other modules compute once from the vocabulary, by name; see `once`.
    """

    tokens: Tokens
    trie: Trie
    first: Trie
    silent: Array
    kept: dict[str, Any]

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What a function makes from the vocabulary; it is made at the first call with a name."""
        if name not in self.kept:
            self.kept[name] = make()
        found: Made = self.kept[name]
        return found

    @property
    def size(self) -> int:
        """1 more than the highest id."""
        return len(self.tokens.token_ends)

    @property
    def words(self) -> int:
        """The number of 32-bit words of a mask."""
        return words_of(self.size)

    @property
    def end_id(self) -> int | None:
        """The id of the token that ends a text."""
        return None if self.tokens.end_id[0] < 0 else int(self.tokens.end_id[0])

    def ending_with(self, end_id: int | None) -> Vocabulary:
        """The vocabulary with another token that ends texts; None: the vocabulary itself.

        Raises:
            UnsupportedError: the number is not an id, or its token writes text.
        """
        if end_id is None or end_id == self.end_id:
            return self
        if not 0 <= end_id < self.size or len(self.content(end_id)):
            raise UnsupportedError(f"end_id is {end_id}; expected the id of a special token, which writes no text")
        return self._replace(tokens=self.tokens._replace(end_id=np.array([end_id])))

    def content(self, number: int, *, is_first: bool = False) -> bytes:
        """The bytes of a token."""
        tokens = self.tokens
        has_own = is_first and len(tokens.first_ends)
        data, ends = (tokens.first_bytes, tokens.first_ends) if has_own else (tokens.token_bytes, tokens.token_ends)
        return data[ends[number - 1] if number else 0 : ends[number]].tobytes()


_vocabularies: WeakKeyDictionary[Table, Vocabulary] = WeakKeyDictionary()


def words_of(size: int) -> int:
    """The number of 32-bit words of a mask for ids below `size`."""
    return -(-size // WORD_BITS)


def vocabulary_of(table: Table) -> Vocabulary:
    """The vocabulary of a tokenizer's table; it is made once."""
    found = _vocabularies.get(table)
    if found is None:
        found = _vocabularies[table] = _vocabulary_of(table)
    return found


def _vocabulary_of(table: Table) -> Vocabulary:
    later, first, keeps_first, end_id = written_by(table)
    is_same = first is later or all(map(np.array_equal, first, later))
    firsts = stored_bytes([]) if is_same else first
    tokens = Tokens(*later, *firsts, np.array([-1 if end_id is None else end_id]), np.array([keeps_first]))
    silent = np.flatnonzero((np.diff(later.ends, prepend=0) > 0) & (np.diff(first.ends, prepend=0) == 0))
    trie = trie_of(*later)
    return Vocabulary(tokens, trie, trie if is_same else trie_of(*first), silent, {})


def ids_of(mask: Array) -> NDArray[np.int64]:
    """The ids of a mask, uint32[words], in ascending order: int64[n]."""
    bits = np.unpackbits(mask.astype("<u4", copy=False).view(np.uint8), bitorder="little")
    found: NDArray[np.int64] = np.flatnonzero(bits.view(np.bool_))  # a fraction of the time that NumPy takes for uint8
    return found


def marked(vocabulary: Vocabulary) -> tuple[Array, Array]:
    """The bytes of the tokens of a canonical guide, so that no token's bytes begin with another token's bytes.

    A mark, `MARK`, follows each token. Before `MARK`, a `TWIN_MARK` is added for each earlier token with the same bytes.

    Returns:
        uint8[n], the bytes of all tokens, concatenated; int64[ids], the end of each token.
    """
    contents, seen = list[bytes](), dict[bytes, int]()
    for content in map(vocabulary.content, range(vocabulary.size)):
        earlier = seen[content] = seen.get(content, -1) + 1
        contents.append(content and content + bytes([TWIN_MARK] * earlier + [MARK]))
    return stored_bytes(contents)


def trie_of(data: Array, ends: Array, kept: Ints | None = None) -> Trie:
    """The trie of tokens.

    Args:
        data: uint8[n], the bytes of all tokens, concatenated.
        ends: int64[ids], the end of each token; empty tokens are left out.
        kept: the ids of the tokens in the trie, ascending; None: all.

    Examples:
        >>> trie_of(*stored_bytes([b"a", b"ab", b"b"]), np.array([1, 2])).labels & 0xFF
        array([97, 98, 98], dtype=uint32)
    """
    none = np.uint32(words_of(len(ends)) * WORD_BITS)
    if kept is not None:
        data, ends = taken(data, ends, kept)
    order, begins = order_of(data, ends)
    empty = int((np.diff(ends, prepend=0) == 0).sum())  # empty tokens are the first in `order`
    order, is_new = order[empty:], begins[empty:] > 0
    data, ends = taken(data, ends, order[is_new])
    numbers = order if kept is None else kept[order]
    ids, sizes = numbers[is_new].astype(np.uint32), np.diff(ends, prepend=0)
    longest = int(sizes.max(initial=0))
    labels, skips, tokens, below, groups = nodes_of(data, ends, ids, longest, none)
    by_length = ids[np.argsort(sizes.astype(np.min_scalar_type(longest)), kind="stable")]  # NumPy sorts short numbers by their digits
    length_ends = np.cumsum(np.bincount(sizes, minlength=longest + 1))
    return Trie(labels, skips, _roots(labels), tokens, below, groups, by_length, length_ends, _twins(numbers, is_new))


def nodes_of(data: Array, ends: Array, ids: Array, longest: int, none: np.uint32) -> tuple[Array, Array, Array, Array, Array]:
    """The fields `labels`, `skips`, `tokens`, `longest_below` and `groups_below` of a trie.

    Args:
        data: uint8[n], strings, concatenated: in ascending order, each once, and none of them empty.
        ends: int64[strings], the end of each string.
        ids: uint32[strings], the id of each string.
        longest: the number of bytes of the longest string.
        none: the value in `tokens` of a node where no string ends.
    """
    nodes = int(count_nodes.call(data, ends))
    labels, skips, tokens, below = (np.empty(nodes, np.uint32) for _ in range(4))
    groups = np.empty(nodes, np.uint64)
    build.call(data, ends, ids, labels, skips, tokens, none, below, groups, GROUPS, np.empty(longest, np.int64))
    return labels, skips, tokens, below, groups


def _roots(labels: Array) -> Array:
    """The field `roots` of a trie."""
    roots, nodes = np.full(256, -1, np.int32), np.flatnonzero(labels < 1 << LABEL_BITS)
    roots[labels[nodes]] = nodes
    return roots


def _twins(numbers: Ints, is_new: NDArray[np.bool_]) -> Array:
    """The field `twins` of a trie, from sorted tokens, and whether each differs from the one before it."""
    twins = np.flatnonzero(~is_new)
    firsts = np.flatnonzero(is_new)[twins - np.arange(len(twins)) - 1]  # `twins - arange` is the number of tokens before that are new
    pairs = np.stack([numbers[twins], numbers[firsts]], axis=1)
    return pairs[np.argsort(pairs[:, 0])].astype(np.uint32)
