"""Proofs that several kinds of tables share: about tokens, ids and rows of transitions.

Kernels check no bounds. Before kernels run, a proof checks that all values in a table are in range, in a few passes over the arrays.

**Depths.** A table contains a *depth* for each state, a lower bound on the number of symbols on each path from the root to the state. The
root has depth 0, and a transition leads at most one level deeper, so the bound holds by induction. A further proof compares this bound with
the length of each token that ends in the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import MAX_OUTPUT, MULTIPLIERS, ROOT, Array, RowFormat
from fst.errors import TableError, quoted
from fst.tables.header import AddedTokens, Templates

CHUNK = 1 << 16  # number of entries that are proven at a time, so that intermediate results fit into a cache
SHARE = 8  # number of chunks per task of a thread; starting a task takes as long as a tenth of a chunk
HASH_FACTORS = np.array(MULTIPLIERS, np.uint64)

Each = Callable[..., Iterable[Any]]


def need(condition: Any, fault: str) -> None:
    """Refuse the table unless a condition holds."""
    if not condition:
        raise TableError(fault)


def need_none(wrong: Array, fault: Callable[[int], str]) -> None:
    """Refuse the table if any element is wrong.

    Args:
        wrong: bool[n].
        fault: a function that returns the message for the first wrong element, given the index of this element.
    """
    if wrong.any():
        raise TableError(fault(int(wrong.argmax())))


def are_named(ids: Array, named: Array) -> Array:
    """Whether each number of `ids`, at least 0, is the id of a token."""
    found: Array = np.append(named, False).take(ids, mode="clip")
    return found


def need_ids(numbers: Iterable[int], named: Array, name: str) -> None:
    """Refuse the table unless all `numbers`, at least 0, are ids of tokens."""
    for number in numbers:
        need(number < len(named) and named[number], f"{name}: no token has the id {number}")


def prove_around(added: AddedTokens, templates: Templates, named: Array) -> None:
    """Prove that the ids in templates and in lists of added tokens are ids of tokens."""
    need_ids(added.skipped, named, "skipped")
    codes = added.leading
    need_ids((*codes.ids.values(), codes.unknown) if codes else (), named, "leading")
    need({*added.normalized} <= {*added.specials.values()}, "normalized_specials has the id of a token that specials does not have")
    for name, template in (("single", templates.single), ("pair", templates.pair)):
        for content, _ in template:
            need_ids(() if isinstance(content, str) else content, named, name)


class Tokens:
    """The tokens of a table. The constructor proves that tokens consist of complete characters, are distinct, and have ids.

    Args:
        data: uint8[n], the UTF-8 bytes of all tokens, concatenated.
        ends: int64[tokens], the end of each token in `data`.
        ids: int32[tokens], the id of each token.

    Attributes:
        named: bool[numbers], whether each number is the id of a token.
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
        """The name of a token, given by its index."""
        begin = int(self._ends[token - 1]) if token else 0
        return self._data[begin : int(self._ends[token])].tobytes().decode()

    def of_id(self, number: int, name: str) -> int:
        """Prove that a token has the id `number` and the name `name`, and return the index of this token. Other tokens may have the same
        id.
        """
        token = int(self._token_of[number])
        if self.name(token) == name:
            return token
        found = [other for other in np.flatnonzero(self._ids == number).tolist() if self.name(other) == name]
        need(found, f"token {quoted(name)} has the id {number}, which is that of {quoted(self.name(token))}")
        return found[0]

    def _prove_distinct(self, starts: Array) -> None:
        """Prove that tokens consist of whole characters and are distinct. Only tokens with equal hashes are compared.

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
        hashes = (hashes >> np.uint64(32)).astype(np.uint32)  # sorting 32-bit numbers takes half the time
        ascending = np.sort(hashes)
        twice = ascending[1:][ascending[1:] == ascending[:-1]]
        if len(twice):
            shares = np.zeros(1 << 16, np.bool_)  # for each upper half of a hash, whether a repeated hash has it; few other hashes do
            shares[twice >> 16] = True
            suspects = np.flatnonzero(shares.take(hashes >> 16))
            self._need_different(suspects[np.isin(hashes[suspects], twice)].tolist())

    def _need_different(self, tokens: list[int]) -> None:
        seen: dict[str, int] = {}
        for token in tokens:
            name = self.name(token)
            need(name not in seen, f"tokens {seen.get(name)} and {token} are both {quoted(name)}")
            seen[name] = token


class Transitions(NamedTuple):
    """A slice of the entries of a table, with the depths of the states of the transitions in it.

    Attributes:
        first: the slot of the first entry.
        entries: the entries.
        are_held: whether each entry is a transition.
        before, after: for each transition, 1 more than the depth of the state before it, and 1 more than the depth of the state after it.
    """

    first: int
    entries: Array
    are_held: Array
    before: Array
    after: Array

    def need_none(self, wrong: Array, fault: Callable[[int], str]) -> None:
        """Refuse the table if any entry is wrong, like the function `need_none`, but ignore entries that are not transitions."""
        need_none(wrong & self.are_held, fault)


def prove_states(rows: RowFormat, entries: Array, width: int, name: str, each: Each) -> Array:
    """Prove that the first slot is a state, the root, and that the row of each state is inside the table.

    Args:
        rows: the format of the entries.
        width: the number of slots that look-ups in a row can reach.
        name: the name of the entries, for messages.
        each: `map`, or the `map` of an executor.

    Returns:
        int64[states], the slots of the states.
    """
    size = len(entries)
    limits = f"a row takes {width}, and states can name {rows.max_target + 1}"
    need(width <= size <= rows.max_target + 1, f"{name} has {size} slots; {limits}")
    states = np.concatenate(by_chunks(each, lambda some: some.start + np.flatnonzero(rows.are_states(entries[some])), size))
    need(len(states) and states[0] == ROOT, f"the first slot of {name} is not a state; it must be the root")
    need(states[-1] + width <= size, f"the row of state {states[-1]} of {name} ends at slot {states[-1] + width} of {size}")
    return states


def prove_transitions(
    rows: RowFormat,
    entries: Array,
    states: Array,
    depths: Array,
    name: str,
    each: Each,
    prove: Callable[[Transitions], None] = lambda _: None,
) -> Array:
    """Prove that each transition belongs to a state, and leads to a state that is at most one level deeper.

    Args:
        rows, entries, name, each: see `prove_states`.
        states: the slots of the states.
        depths: the depth of each state.
        prove: a function that proves further properties of a slice of transitions.

    Returns:
        1 more than the depth of the state at each slot; 0 for slots that are not states, and for one additional slot.
    """
    marks = np.zeros(len(entries) + 2, np.min_scalar_type(int(depths.max()) + 2))  # one element for each slot, from slot -1 on
    one = marks.dtype.type(1)
    marks[1 + states] = depths.astype(marks.dtype) + one

    def prove_some(some: slice) -> None:
        chunk, first = entries[some], some.start
        labels = rows.labels_of(chunk)
        before = marks.take(np.arange(first + 1 - rows.first, first + 1 - rows.first + len(chunk)) - labels, mode="clip")
        after = marks[1:].take(rows.targets_of(chunk), mode="clip")
        held = Transitions(first, chunk, labels < rows.labels, before, after)
        wrong = (before == 0) | (after - one > before)  # if `after` is 0, ``after - one`` wraps around
        if (wrong & held.are_held).any():
            held.need_none(before == 0, lambda at: f"the transition at slot {first + at} of {name} belongs to no state")
            held.need_none(after == 0, lambda at: f"the transition at slot {first + at} of {name} leads to no state")
            held.need_none(wrong, lambda at: f"the transition at slot {first + at} of {name} leads more than one deeper than its state")
        prove(held)

    by_chunks(each, prove_some, len(entries))
    return marks[1:]


def by_chunks(each: Each, of_chunk: Callable[[slice], Any], length: int) -> list[Any]:
    """Apply a function to all chunks of entries, and return the results. Each task of a thread contains several chunks."""
    chunks = [slice(first, first + CHUNK) for first in range(0, length, CHUNK)]
    shares = [chunks[first : first + SHARE] for first in range(0, len(chunks), SHARE)]
    return [result for results in each(lambda share: [of_chunk(some) for some in share], shares) for result in results]
