"""Arrays of both BPE and Unigram tables: the arrays of the splitter, and the hash table of pre-tokens that become a single token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import Ints
from fst.compile.pretokens.boundaries import windows
from fst.compile.text.classes import paged
from fst.compile.text.word_table import hashed
from fst.pretokens.table import WORD_BYTES, PretokenTable
from fst.text.splitter import Splitter

WINDOWS = ("symbols", "decisions", "products")  # the arrays of `fst.compile.pretokens.boundaries.Windows`


def splitter_arrays(split: Splitter, known: PretokenTable | None = None) -> tuple[dict[str, NDArray[Any]], int]:
    """The arrays by which a `fst.pretokens.table.PretokenTable` cuts texts into pre-tokens, by name; and the number of bits of a symbol in
    windows. The windows of the table `known` are copied if the splitter is the same, because computing windows is the slowest step.
    """
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
