"""Arrays of both BPE and Unigram tables: the arrays of the splitter, and the hash table of pre-tokens that become a single token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import Ints
from fst.compile.pretokens.boundaries import windows
from fst.compile.text.classes import paged
from fst.compile.text.word_table import LOAD, hashed
from fst.errors import UnsupportedError
from fst.pretokens.arguments import KEY_PARTS
from fst.pretokens.table import WORD_BYTES, PretokenTable
from fst.pretokens.tuned_words import MOST_BYTES, PADDING, Tuning, numbers_of
from fst.text.splitter import Splitter

SLOT, LAST = KEY_PARTS + 1, KEY_PARTS  # number of elements of a slot of the table of words; the element after the key
LOW_HALF = np.uint64((1 << 32) - 1)
Tunable = TypeVar("Tunable", bound=PretokenTable)

WINDOWS = ("symbols", "decisions", "products")  # the arrays of `fst.compile.pretokens.boundaries.Windows`


def splitter_arrays(split: Splitter, known: PretokenTable | None = None) -> tuple[dict[str, NDArray[Any]], int]:
    """The arrays by which a `fst.pretokens.table.PretokenTable` cuts texts into pre-tokens, by name; and the number of bits of a symbol in
    windows. The windows of the table `known` are copied if the splitter is the same, because computing windows is the slowest step.
    """
    if split.runs:
        raise UnsupportedError("a Split that counts characters, with a model over characters; only byte-level BPE supports such a Split")
    pages, blocks = paged(split.classes)
    drops = np.isin(np.arange(split.moves.shape[1] - 1), [*split.dropped]).astype(np.uint8)
    arrays = {"pages": pages, "blocks": blocks, "moves": split.moves, "drops": drops}
    if known is not None and all(np.array_equal(array, getattr(known, name)) for name, array in arrays.items()):
        return {**arrays, **{name: getattr(known, name) for name in WINDOWS}}, known.metadata.automaton.window_bits
    found = windows(split)
    return {**arrays, **{name: getattr(found, name) for name in WINDOWS}}, found.bits


def more_tokens(table: PretokenTable, added: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """The arrays that contain the tokens of a table, by name, after added tokens that are not yet in the table are appended."""
    known = {name for name in table.tokens if name in added}
    more = {name: number for name, number in added.items() if name not in known}
    encoded, end = [name.encode() for name in more], int(table.token_ends[-1])
    return {
        "token_bytes": np.append(table.token_bytes, np.frombuffer(b"".join(encoded), np.uint8)),
        "token_ends": np.append(table.token_ends, end + np.cumsum([len(name) for name in encoded], dtype=np.int64)),
        "token_ids": np.append(table.token_ids, np.array([*more.values()], np.int32)),
    }


def with_tuned_words(table: Tunable, words: Mapping[bytes, Sequence[int]], texts: str) -> Tunable:
    """A copy of a table with tuned words, see `fst.pretokens.tuned_words`; the same table if no word finds a slot.

    Args:
        table: a table without tuned words.
        words: the ids of each word, the most useful word first. Words without room are left out.
        texts: the SHA-256 of the texts that the words come from.
    """
    own = table.words.reshape(-1, SLOT)[table.words[LAST::SLOT] > 0]
    own = own[np.argsort(own[:, LAST] & LOW_HALF, kind="stable")]
    chosen = [*words][: _room(len(table.words) // SLOT, len(own), sum(map(len, words.values())))]
    while chosen:
        counts = np.array([len(words[word]) for word in chosen])
        keys = np.frombuffer(b"".join(word.ljust(WORD_BYTES, b"\0") for word in chosen), np.uint64).reshape(-1, KEY_PARTS)
        values = np.array([*map(len, chosen)], np.uint64) << np.uint64(32) | numbers_of(counts)
        slots = np.concatenate([np.zeros((1, SLOT), np.uint64), own, np.column_stack([keys, values])])
        found, displacements = hashed(slots[:, :LAST], slots[:, LAST])
        # A token that no merges make may have no other entry than its slot, so no word of the vocabulary may lose it.
        if not np.isin(own[:, LAST], found[LAST::SLOT]).all():
            chosen = chosen[: len(chosen) // 2]
            continue
        placed = np.isin(values, found[LAST::SLOT])
        if placed.all():
            ids = np.array([*chain.from_iterable(words[word] for word in chosen), *[0] * PADDING], np.int32)
            model = replace(table.metadata.model, tuning=Tuning(len(chosen), texts))
            header = replace(table.metadata, model=model).to_json()
            return replace(table, header=header, words=found, displacements=displacements, tuned=ids)
        chosen = [word for word, is_placed in zip(chosen, placed.tolist(), strict=True) if is_placed]
    return table


def _room(slots: int, used: int, ids: int) -> int:
    """The number of words that a table of words can take in if it grows by at most `MOST_BYTES`, together with the ids of the words.

    Args:
        slots, used: the number of slots, a power of two, and the number of words in the table.
        ids: the number of ids of all words.
    """
    most = slots
    while 8 * SLOT * (2 * most - slots) + 4 * (ids + PADDING) <= MOST_BYTES:
        most *= 2
    return max(int(LOAD * most) - used - 1, 0)


def word_table(symbols: NDArray[np.uint8], starts: Ints, lengths: Ints, ids: Ints) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The arrays ``words`` and ``displacements`` of a `fst.pretokens.table.PretokenTable`, from the spans in `symbols` and the ids of the
    pre-tokens that become a single token. Pre-tokens of more than `WORD_BYTES` bytes are left out.
    """
    chosen = np.flatnonzero(lengths <= WORD_BYTES)
    chosen = chosen[np.argsort(ids[chosen], kind="stable")]
    starts, lengths, ids = starts[chosen], lengths[chosen], ids[chosen]
    columns = np.arange(WORD_BYTES)
    bytes_at = np.append(symbols, np.zeros(WORD_BYTES, np.uint8))[starts[:, None] + columns]
    keys = np.zeros((1 + len(chosen), WORD_BYTES), np.uint8)
    keys[1:] = np.where(columns < lengths[:, None], bytes_at, 0)
    values = np.append(0, lengths << 32 | ids).astype(np.uint64)
    return hashed(keys.view(np.uint64), values)
