"""The arguments of the kernels of byte-level BPE: the arrays of a table in addition to the arrays of `fst.pretokens.arguments`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.bpe import merge_list
from fst.pretokens import arguments as pretokens
from fst.pretokens.arguments import Arguments
from fst.pretokens.characters import Alphabet
from fst.text.reading_arguments import borrowable

POWERS = 32  # number of powers of the dropout probability; a pre-token has fewer than 2 ** POWERS positions


class BpeArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.bpe.kernels.encode` reads.

    Attributes:
        shared: the arrays for splitting a text into pre-tokens, and for looking up pre-tokens.
        entries: see `fst.machines.bpe.table.BpeTable`.
    """

    shared: Arguments
    entries: Array


class Pairs(NamedTuple):
    """The pairs of a merge list.

    Attributes:
        slots: uint32[slots], the hash table of pairs, see `fst.machines.bpe.merge_list.slots_of`.
        merges: int32[merges, 3], see `fst.machines.bpe.table.BpeTable`.
    """

    slots: Array
    merges: Array


class MergeArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.bpe.kernels.merge_queue` reads.

    Attributes:
        shared: the arrays for splitting a text into pre-tokens, and for looking up pre-tokens.
        pairs: the pairs that merge.
        atoms: int32[CODES], the id that each byte becomes, by the byte's code, see `fst.machines.bpe.affixes`; -1 if the byte is removed.
        fused: int32[1], the id whose runs become a single id; `fst.pretokens.characters.NOT_FUSED` if there is no such id.
        alphabet: the characters with tokens; `NO_ALPHABET` if symbols are bytes.
        ids_of_subwords: int32[n], the id that each number of a merge becomes, see `fst.machines.bpe.subwords`; empty if numbers are ids.
    """

    shared: Arguments
    pairs: Pairs
    atoms: Array
    fused: Array
    alphabet: Alphabet
    ids_of_subwords: Array


class DropoutArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.bpe.kernels.dropout` reads.

    Attributes:
        merging: the merge arguments of the table, which a table with an automaton also has.
        powers: float64[POWERS], ``p ** 1``, ``p ** 2``, ``p ** 4`` … for the probability p of skipping a merge.
        seed: uint64[1].
    """

    merging: MergeArguments
    powers: Array
    seed: Array


def arguments(table: Any, specials: Mapping[bytes, int]) -> BpeArguments:
    """The arguments for a `fst.machines.bpe.table.BpeTable`; for `specials`, see `fst.pretokens.arguments.arguments`."""
    return BpeArguments(pretokens.arguments(table, specials), borrowable(table.entries, np.uint32))


def merge_arguments(table: Any, shared: Arguments) -> MergeArguments:
    """The arguments of a table for the kernels that run the list of merges."""
    merges = borrowable(table.merges, np.int32)
    pairs = Pairs(merge_list.slots_of(merges), merges)
    return MergeArguments(shared, pairs, table.atoms, np.array([table.fused], np.int32), table.alphabet, table.ids_of_subwords)
