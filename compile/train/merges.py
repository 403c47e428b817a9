"""The merges of byte-pair encoding, learned from words in symbols: the run that BPE and WordPiece by frequency share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.train import merge_state, result
from fst.compile.train.control import Control, Round
from fst.compile.train.merge_proof import prove
from fst.compile.train.merge_state import NONE, Merging, merge_pairs
from fst.compile.train.symbols import Symbols
from fst.errors import VocabularyError
from fst.merge_list import insert_pairs, room_for

NO_LIMIT = 1 << 62
STEPS = 1 << 21  # positions that a round reads, some 0.1 s
REASONS = {
    merge_state.AT_SIZE: result.SIZE,
    merge_state.NO_PAIR_LEFT: result.NO_PAIR,
    merge_state.TOO_RARE: result.MIN_FREQUENCY,
    merge_state.OUT_OF_STEPS: result.DEADLINE,
}


class Merged(NamedTuple):
    """The result of a run.

    Attributes:
        names: the token of each id.
        counts: int64[ids], how often each id occurred when it was made.
        merges: the left, the right and the made id of each merge, the first one first.
        stopped: as `fst.compile.train.result.Trained` has it.
    """

    names: list[str]
    counts: NDArray[np.int64]
    merges: list[tuple[int, int, int]]
    stopped: str


class _TwoWaysError(Exception):
    """One string was made in two ways, in a run that is not careful."""


class Names:
    """The token of each id, as merges make them.

    Args:
        symbols: the first ids.
        prefix: the right part of a merge loses it.
    """

    def __init__(self, symbols: Symbols, prefix: str) -> None:
        self.by_id = [*symbols.names]
        self.ids = {name: number for number, name in enumerate(self.by_id)}
        self._prefix = prefix
        self._read = 0  # merges

    def joined(self, left: int, right: int) -> str:
        """The string of a merge."""
        return self.by_id[left] + self.by_id[right].removeprefix(self._prefix)

    def follow(self, state: Merging) -> None:
        """Add the tokens of new merges."""
        end = int(state.numbers[merge_state.MERGES])
        for left, right, made in state.merges[3 * self._read : 3 * end].reshape(-1, 3).tolist():
            if made == len(self.by_id):
                self.by_id.append(self.joined(left, right))
                self.ids[self.by_id[-1]] = made
        self._read = end

    def next_id(self, state: Merging) -> int:
        """The id of the heap's top, `NONE` if its string is new."""
        self.follow(state)
        key = int(state.keys[state.heap_records[0]])
        found = self.ids.get(self.joined(key >> 32, key & 0xFFFFFFFF), NONE)
        if found != NONE and state.made[found] and not state.numbers[merge_state.CAREFUL]:
            raise _TwoWaysError
        return found


def need_size(vocab_size: int, tokens: int) -> None:
    """Refuse a size below that of the special tokens and the alphabet.

    Raises:
        VocabularyError: the message has both numbers.
    """
    if vocab_size < tokens:
        raise VocabularyError(
            f"vocab_size is {vocab_size:,}; expected at least {tokens:,}, the special tokens and the alphabet; "
            "raise it, or lower limit_alphabet"
        )


def merged(
    symbols: Symbols, *, prefix: str, vocab_size: int, min_frequency: int, max_token_length: int | None, control: Control, digest: str
) -> Merged:
    """Learn merges from words in symbols.

    Args:
        symbols: the words.
        prefix: of symbols that continue a word.
        vocab_size: the number of ids at which training stops.
        min_frequency: pairs rarer than this are not merged.
        max_token_length: new pairs are shorter than this, in symbols; None: no limit.
        control: progress in ids, deadline and checkpoint.
        digest: of words and options.

    Raises:
        VocabularyError: `vocab_size` is less than the number of ids before the first merge.
    """
    tokens = len(symbols.names)
    need_size(vocab_size, tokens)
    settings = {"size": vocab_size, "least": min_frequency, "longest": NO_LIMIT if max_token_length is None else max_token_length}
    known = room_for(len(symbols.known))
    keys = np.array([first << 32 | size for first, size in symbols.known], np.uint64)
    insert_pairs.call(keys, known)
    try:
        return _run(symbols, prefix, settings, known, symbols.is_careful, control, digest)
    except _TwoWaysError:
        return _run(symbols, prefix, settings, known, True, control, digest)


def _run(
    symbols: Symbols, prefix: str, settings: dict[str, int], known: NDArray[np.uint64], careful: bool, control: Control, digest: str
) -> Merged:
    """Learn merges, carefully or not."""
    tokens, names = len(symbols.names), Names(symbols, prefix)

    def advance(state: Merging) -> Round:
        numbers = state.numbers
        numbers[merge_state.STEPS] = STEPS
        while True:
            reason = merge_pairs.call(state)
            if reason == merge_state.OUT_OF_ROOM:
                state = merge_state.enlarge(state)
            elif reason == merge_state.NEW_STRING:
                numbers[merge_state.KNOWN] = names.next_id(state)
            else:
                numbers[merge_state.REASON] = reason
                return Round(state, int(numbers[merge_state.TOKENS]) - tokens, reason != merge_state.OUT_OF_STEPS)

    first = merge_state.begin(
        symbols.cells.copy(), symbols.words, symbols.counts_of_words, tokens, careful=careful, suspects=known, **settings
    )
    total = settings["size"] - tokens
    state, _ = control.run(first, advance, total=total, digest=digest, prove=prove)
    names.follow(state)
    numbers = state.numbers
    if len(names.ids) != numbers[merge_state.TOKENS]:
        raise _TwoWaysError
    counts = state.made[: len(names.by_id)].copy()
    counts[:tokens] += symbols.counts
    merges = [(left, right, made) for left, right, made in state.merges[: 3 * numbers[merge_state.MERGES]].reshape(-1, 3).tolist()]
    return Merged(names.by_id, counts, merges, REASONS[int(numbers[merge_state.REASON])])
