"""Proofs that tables of several kinds share: tokens, ids, and rows of transitions.

Kernels check no bounds. Before one runs, everything that it takes from a table is proven to be in range, in a few passes over the arrays,
and so is the bound that output buffers are sized by: **a text has at most one id for each symbol and each special token.**

The proof of that bound: let the depth of a state be what its finish entry says. The root has depth 0. An explicit transition from s
to t that emits k ids has k + depth(t) ≤ depth(s) + 1, and a failure link, which reads no symbol, k + depth(t) ≤ depth(s) > depth(t);
finishing s emits at most depth(s) ids, and leads to a state of depth at most 1.
By induction, the ids emitted since the start of a word and the depth together never exceed the symbols read, and a word that fails,
of one symbol or more, is rolled back to one id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from fst.automata.rows import (
    FAIL,
    FINISH,
    KIND_BITS,
    KIND_SHIFT,
    LABEL_SHIFT,
    LAST_OUTPUT,
    LINK,
    MANY,
    MAX_LABEL,
    MAX_NEXT,
    MAX_OUTPUT,
    MULTIPLIERS,
    NONE,
    ONE,
    ROOT,
    Array,
    field_label,
    field_next,
    pack,
)
from fst.errors import TableError, quoted
from fst.tables.header import LINKED, AddedTokens, Automaton, Templates

CHUNK = 1 << 16  # entries that are proven at a time; what is computed of them stays in a cache
SHARE = 8  # chunks that a thread takes at a time; to wait for another thread takes as long as a tenth of a chunk
ONE_LABEL = np.uint64(1 << LABEL_SHIFT)  # what makes the label of an entry 1 more
MARGIN = MAX_LABEL
HASH_FACTORS = np.array(MULTIPLIERS, np.uint64)

Each = Callable[..., Iterable[Any]]


def need(condition: Any, fault: str) -> None:
    """Refuse the table unless a condition holds.

    Raises:
        TableError: it does not; the message is the fault.
    """
    if not condition:
        raise TableError(fault)


def need_none(wrong: Array, fault: Callable[[int], str]) -> None:
    """Refuse the table if any element is wrong.

    Args:
        wrong: bool[n].
        fault: states the fault of the first of them, given its place.

    Raises:
        TableError: an element is wrong.
    """
    if wrong.any():
        raise TableError(fault(int(wrong.argmax())))


def are_named(ids: Array, named: Array) -> Array:
    """Whether each of some numbers from 0 on is the id of a token."""
    found: Array = np.append(named, False).take(ids, mode="clip")
    return found


def need_ids(numbers: Iterable[int], named: Array, name: str) -> None:
    """Refuse the table unless some whole numbers from 0 on are ids of tokens."""
    for number in numbers:
        need(number < len(named) and named[number], f"{name}: no token has the id {number}")


def prove_around(added: AddedTokens, templates: Templates, named: Array) -> None:
    """Prove that the ids that templates put around texts, and those in lists of added tokens, are ids of tokens."""
    need_ids(added.skipped, named, "skipped")
    need({*added.normalized} <= {*added.specials.values()}, "normalized_specials has the id of a token that specials does not have")
    for name, template in (("single", templates.single), ("pair", templates.pair)):
        for content, _ in template:
            need_ids(() if isinstance(content, str) else content, named, name)


class Tokens:
    """The tokens of a table, proven: whole characters, all different, each with an id.

    Args:
        data: uint8[n], their UTF-8 bytes.
        ends: int64[tokens], where each ends in them.
        ids: int32[tokens].

    Attributes:
        named: bool[numbers], whether each number is an id.

    Raises:
        TableError: they are not.
    """

    def __init__(self, data: Array, ends: Array, ids: Array) -> None:
        self._data, self._ends, self._ids = data, ends, ids
        need(len(ids), "there are no tokens")
        need(len(ends) == len(ids), f"token_ends has {len(ends)} elements, token_ids {len(ids)}")
        need_none((ids < 0) | (ids > MAX_OUTPUT), lambda token: f"token {token} has the id {ids[token]}; ids are 0 to {MAX_OUTPUT}")
        starts = np.append(0, ends[:-1])
        need_none(ends < starts, lambda token: f"token {token} ends at byte {ends[token]}, before it begins")
        need(ends[-1] == len(data), f"the last token ends at byte {ends[-1]} of {len(data)}")
        try:
            str(data.data, "utf-8")
        except UnicodeDecodeError as error:
            raise TableError(f"token_bytes is not UTF-8 at byte {error.start}") from None
        self._prove_distinct(starts)
        self._token_of = np.full(int(ids.max()) + 1, -1, np.int32)
        self._token_of[ids] = np.arange(len(ids), dtype=np.int32)
        self.named: Array = self._token_of >= 0

    def name(self, token: int) -> str:
        """The token of a number, which counts tokens from 0."""
        begin = int(self._ends[token - 1]) if token else 0
        return self._data[begin : int(self._ends[token])].tobytes().decode()

    def of_id(self, number: int, name: str) -> int:
        """Prove that a token of some name, perhaps among others, has an id; the number of the token."""
        token = int(self._token_of[number])
        if self.name(token) == name:
            return token
        found = [other for other in np.flatnonzero(self._ids == number).tolist() if self.name(other) == name]
        need(found, f"token {quoted(name)} has the id {number}, which is that of {quoted(self.name(token))}")
        return found[0]

    def _prove_distinct(self, starts: Array) -> None:
        """Prove that tokens are whole characters, and no two are the same. Only tokens with equal hashes are compared.

        The hash covers the length, the first and the last eight bytes, and eight bytes in the middle of a long token.
        """
        data, ends = np.append(self._data, np.zeros(8, np.uint8)), self._ends
        sizes = ends - starts
        eight_from = np.ndarray(len(data) - 7, "<u8", data.data, strides=(1,))
        masks = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
        first = eight_from[starts]
        need_none(first & np.uint64(0xC0) == np.uint64(0x80), lambda token: f"token {token} begins within a character")
        hashes = (first & masks.take(sizes, mode="clip")) * HASH_FACTORS[0] + sizes.view(np.uint64)
        long = np.flatnonzero(sizes > 8)
        hashes[long] += eight_from[ends[long] - 8] * HASH_FACTORS[1]
        longer = long[sizes[long] > 16]
        hashes[longer] += eight_from[starts[longer] + (sizes[longer] >> 1) - 4] * HASH_FACTORS[2]
        hashes = (hashes >> np.uint64(32)).astype(np.uint32)  # half as wide, sorted in half the time
        ascending = np.sort(hashes)
        twice = ascending[1:][ascending[1:] == ascending[:-1]]
        if len(twice):
            shares = np.zeros(1 << 16, np.bool_)  # the upper half of a hash with one of these; few others have such a half
            shares[twice >> 16] = True
            suspects = np.flatnonzero(shares.take(hashes >> 16))
            self._need_different(suspects[np.isin(hashes[suspects], twice)].tolist())

    def _need_different(self, tokens: list[int]) -> None:
        seen: dict[str, int] = {}
        for token in tokens:
            name = self.name(token)
            need(name not in seen, f"tokens {seen.get(name)} and {token} are both {quoted(name)}")
            seen[name] = token


def depths_of(entries: Array, pool: Array, named: Array, automaton: Automaton, each: Each) -> Array:
    """Prove every row.

    Args:
        entries, pool: of the table.
        named: whether each number is an id.
        automaton: what the metadata says of the rows.
        each: `map`, or the `map` of an executor.

    Returns:
        For each number that the bits of a next state can be, the depth of that state plus 1; 0 where no state is.
    """
    size, states, columns, dead = len(entries), automaton.states, automaton.columns, automaton.dead
    need(columns <= size <= MAX_NEXT, f"there are {size} entries; {columns} columns take that many at least, and states {MAX_NEXT} at most")
    need(dead < size, f"the dead state is {dead}; there are {size} entries")
    found, finish = map(np.concatenate, zip(*by_chunks(each, partial(_finish_entries, entries), size), strict=True))
    need(len(found) == states > 0, f"there are {len(found)} states; about says {states}")
    need(found[0] == ROOT, f"the first state is {found[0]}, not the root")
    need(found[-1] + columns <= size, f"the row of state {found[-1]} ends at slot {found[-1] + columns} of {size}")
    need(entries[ROOT] == pack(0, FINISH, 0, NONE), f"the finish entry of the root is {int(entries[ROOT]):#x}, not empty")
    need_none(field_label(entries[1:columns]) != np.arange(1, columns), lambda slot: f"the root has no transition for label {slot + 1}")
    need_none(outputs(entries[1:columns]) != 0, lambda slot: f"the transition of the root for label {slot + 1} has an output")
    need(entries[dead] == pack(0, FINISH, 0, FAIL), f"state {dead} is the dead state, and does not fail")

    own, ids = field_next(finish), outputs(finish)
    deepest = int(own.max())
    # A place for every number that the bits of a next state can be, so that none needs a test, and before them a margin for slots less a
    # label that are below 0. What is not written takes no memory. The type holds all sums of `_prove_transitions`.
    with_margin = np.zeros(MARGIN + MAX_NEXT + 1, np.min_scalar_type(2 * deepest + 3))
    depths = with_margin[MARGIN:]
    depths[found] = own + 1
    emits = _emits(pool, named, deepest + 2, depths.dtype)
    owed = (emits.take(ids, mode="clip") <= own) | (ids == FAIL)
    need_none(~owed, lambda state: f"state {found[state]} emits unknown ids, or more than the {own[state]} symbols that it has read")
    places = np.arange(MARGIN + 1, MARGIN + 1 + CHUNK, dtype=np.uint64)
    by_chunks(each, partial(_prove_transitions, entries, places, with_margin, emits, automaton.layout == LINKED), size)
    return depths


def by_chunks(each: Each, of_chunk: Callable[[int], Any], length: int) -> list[Any]:
    """The results for all chunks of entries, by the slot at which each begins; one thread takes several at a time."""
    chunks = range(0, length, CHUNK)
    shares = [chunks[first : first + SHARE] for first in range(0, len(chunks), SHARE)]
    return [result for results in each(lambda share: [of_chunk(first) for first in share], shares) for result in results]


def _finish_entries(entries: Array, first: int) -> tuple[Array, Array]:
    """The finish entries of a chunk: their slots, which are the states, and the entries themselves."""
    chunk = entries[first : first + CHUNK]
    # With 1 added to its label, FINISH becomes 0. Of all entries with that label, a hole is the highest.
    found = np.flatnonzero(chunk + ONE_LABEL < ONE_LABEL - np.uint64(1))
    return first + found, chunk[found]


def _prove_transitions(entries: Array, places: Array, with_margin: Array, emits: Array, is_linked: bool, first: int) -> None:
    """Prove the transitions of a chunk: each leads from a state to a state, and emits known ids, no more than its source owes. A failure
    link reads no symbol, and leads to less depth.

    Finish entries and holes are computed like the others and then left out, which takes less time than to leave them out first. Labels
    past the columns may stand in entries: no class has them, so they are compared with, and never equal.
    """
    chunk = entries[first : first + CHUNK]
    label = chunk + ONE_LABEL >> np.uint64(LABEL_SHIFT)  # 1 more than it is, and 0 for FINISH
    source = places[: len(chunk)] - label
    before = with_margin[first:].take(source.view(np.int64), mode="clip")
    after = with_margin[MARGIN:].take((chunk & np.uint64(MAX_NEXT)).view(np.int64), mode="clip")
    emitted = emits.take(outputs(chunk), mode="clip")  # what is past the end is taken for the last, and no transition may emit that
    # Both are states; ids emitted + depth after ≤ depth before + 1, where `before` and `after` are 1 more than the depths.
    sound = np.logical_and(before, after)
    sound &= emitted + after <= before + before.dtype.type(1)
    sound |= label == 0
    if is_linked:
        # The root has a transition for every label, so its link is never taken.
        links = np.flatnonzero((label == LINK + 1) & (np.arange(first, first + len(chunk)) != ROOT + LINK))
        sound[links] &= (emitted[links] + after[links] <= before[links]) & (after[links] < before[links])
    if not sound.all():
        slot = int(sound.argmin())
        fault = "belongs to no state" if not before[slot] else "leads to no state" if not after[slot] else "emits unknown ids, or too many"
        raise TableError(f"the transition at slot {first + slot} {fault}")


def outputs(entries: Array) -> Array:
    """The output and the kind of entries as one number, ``output << 2 | kind``."""
    found: Array = (entries >> np.uint64(KIND_SHIFT) & np.uint64(MAX_OUTPUT << KIND_BITS | 3)).view(np.int64)
    return found


def _emits(pool: Array, named: Array, too_many: int, dtype: Any) -> Array:
    """How many ids each of the `outputs` has; `too_many` stands for more, for ids that are not known, and for whatever else is not allowed.

    Every list of the pool is proven to end, and to have ids that are named.
    """
    need(len(pool) <= MAX_OUTPUT + 1, f"the pool has {len(pool)} elements; outputs reach {MAX_OUTPUT + 1}")
    last = np.flatnonzero(pool >= LAST_OUTPUT).astype(np.int32)
    need(not len(pool) or (len(last) and last[-1] == len(pool) - 1), "the last list of the pool has no end")
    ids = pool & np.uint32(LAST_OUTPUT - 1)
    need_none(~are_named(ids, named), lambda place: f"no token has the id {ids[place]} in the pool")
    pooled = np.repeat(last + 1, np.diff(last, prepend=np.int32(-1))) - np.arange(len(pool), dtype=np.int32)
    emits = np.full((max(len(pool), len(named)), 1 << KIND_BITS), too_many, dtype)
    emits[0, NONE] = 0
    emits[: len(named), ONE] = np.where(named, 1, too_many)
    emits[: len(pool), MANY] = np.minimum(pooled, too_many)
    return emits.ravel()
