"""Learn the merges of byte-pair encoding from words spelled in symbols. BPE, WordPiece by frequency and `extend` share this loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.train.merges import merging
from fst.compile.train.merges.merging import NEVER, NONE, Merging, Text, merge_pairs
from fst.compile.train.merges.proof import longest_word, prove
from fst.errors import VocabularyError
from fst.machines.bpe.merge_list import insert_pairs, pairs_for
from fst.train import result
from fst.train.control import Control, Round
from fst.train.symbols import Symbols

NO_LIMIT = 1 << 62
STEPS = 1 << 21  # number of positions that a round of about 0.1 s reads
REASONS = {
    merging.AT_SIZE: result.SIZE,
    merging.NO_PAIR_LEFT: result.NO_PAIR,
    merging.TOO_RARE: result.MIN_FREQUENCY,
    merging.OUT_OF_STEPS: result.DEADLINE,
}


class Merged(NamedTuple):
    """The result of a run."""

    names: list[str]  # the token of each id
    counts: NDArray[np.int64]  # int64[ids], the number of occurrences of each id directly after its merge
    merges: list[tuple[str, str]]  # the left and the right token of each merge, in the order of merges
    stopped: str  # as in `fst.train.result.Trained`


class TwoWaysError(VocabularyError):
    """Two different merges make the same string in a run that is not careful. In a careful run, the cause is a damaged checkpoint."""

    def __init__(self) -> None:
        super().__init__("one string has two ids in the checkpoint; the file is damaged; remove it and start again")


class Names:
    """The token of each id, extended after merges. `prefix`: the string that is removed from the right part of a merge. `is_allowed`:
    whether a merge may make a string.
    """

    def __init__(self, symbols: Symbols, prefix: str, is_allowed: Callable[[str], bool] | None) -> None:
        self.by_id = [*symbols.names]
        self.ids = {name: number for number, name in enumerate(self.by_id)}
        self._prefix, self._is_allowed = prefix, is_allowed
        self._read = 0  # the number of merges whose tokens have been added
        # the ids of all tokens that occur in words, or occurred before a merge
        self._exist = {*np.flatnonzero(np.bincount(symbols.cells[symbols.cells >= 0])).tolist()}
        self._longest = longest_word(symbols.cells) * max((len(symbols.names[number]) for number in self._exist), default=0)

    def joined(self, left: int, right: int) -> str:
        """The string of the token that a merge makes."""
        return self.by_id[left] + self.by_id[right].removeprefix(self._prefix)

    def follow(self, merges: NDArray[np.int32]) -> None:
        """Add the tokens of new merges. `merges`: int32[n, 3], all merges of the run, old and new."""
        by_id, prefix, longest = self.by_id, self._prefix, self._longest  # local names, since this loop is a twentieth of training
        before, new = len(by_id), merges[self._read :]
        highest = np.maximum.accumulate(np.append(before - 1, new[:, 2]))
        for left, right in new[highest[1:] > highest[:-1], :2].tolist():  # the merges into new ids
            name = by_id[left] + (by_id[right].removeprefix(prefix) if prefix else by_id[right])
            if len(name) > longest:
                raise VocabularyError("a merge of the checkpoint makes a token longer than all words; the file is damaged; remove it")
            by_id.append(name)
        self.ids.update(zip(by_id[before:], range(before, len(by_id)), strict=True))
        self._exist.update(new[:, 2].tolist())
        self._read = len(merges)

    def next_id(self, state: Merging) -> int:
        """The id of the string that the next merge makes (of the pair at the top of the heap); `NONE` if the string has no id yet; `NEVER`
        if no merge may make it.
        """
        self.follow(_merges(state))
        key = int(state.keys[state.heap_records[0]])
        token = self.joined(key >> 32, key & 0xFFFFFFFF)
        if self._is_allowed is not None and not self._is_allowed(token):
            return NEVER
        found = self.ids.get(token, NONE)
        if found in self._exist and not state.numbers[merging.CAREFUL] and state.numbers[merging.TIES] != merging.BY_TEXT:
            raise TwoWaysError
        return found


def need_size(vocab_size: int, tokens: int) -> None:
    """Raise an error if `vocab_size` is less than the number of special tokens and characters."""
    if vocab_size < tokens:
        raise VocabularyError(
            f"vocab_size is {vocab_size:,}; expected at least {tokens:,}, the special tokens and the alphabet; "
            "raise it, or limit the alphabet"
        )


def merged(
    symbols: Symbols,
    *,
    prefix: str,
    vocab_size: int,
    min_frequency: int,
    max_token_length: int | None,
    control: Control,
    digest: str,
    careful: bool = False,
    text: Text | None = None,
    by_place: bool = False,
    is_allowed: Callable[[str], bool] | None = None,
) -> Merged:
    """Learn merges from words spelled in symbols.

    Args:
        symbols: the words spelled in symbols; the array of cells is changed.
        prefix: the prefix of symbols that continue a word.
        vocab_size: the maximum number of ids.
        min_frequency: pairs rarer than this are not merged.
        max_token_length: pairs with this number of symbols or more are not merged, except pairs of two single symbols; None: no limit.
        control: progress in ids, deadline and checkpoint.
        digest: the digest of words and options.
        careful: if True, the run is careful even if `symbols.is_careful` is False.
        text: properties of the first symbols, for the rules of SentencePiece; None: the rules of `tokenizers`.
        by_place: whether, of equally frequent pairs, the pair that occurs first is merged. In this case, the run is never careful.
        is_allowed: whether a merge may make a string; None: all strings are allowed.
    """
    tokens = len(symbols.names)
    need_size(vocab_size, tokens)
    known = pairs_for(len(symbols.known))
    insert_pairs.call(np.array([first << 32 | size for first, size in symbols.known], np.uint64), known)
    names = Names(symbols, prefix, is_allowed)

    def advance(state: Merging) -> Round:
        numbers = state.numbers
        numbers[merging.STEPS] = STEPS
        if not numbers[merging.HAS_PAIRS]:
            state = merging.with_pairs(state)
        while True:
            reason = merge_pairs.call(state)
            if reason == merging.OUT_OF_CAPACITY:
                state = merging.enlarge(state)
            elif reason == merging.TO_RECOUNT:
                state = merging.recounted(state)
            elif reason == merging.NEW_STRING:
                numbers[merging.KNOWN] = names.next_id(state)
            else:
                numbers[merging.REASON] = reason
                return Round(state, int(numbers[merging.TOKENS]) - tokens, reason != merging.OUT_OF_STEPS)

    def begin(careful: bool) -> Merging:
        return merging.begin(
            symbols.cells,
            symbols.words,
            symbols.counts_of_words,
            tokens,
            size=vocab_size,
            least=min_frequency,
            longest=NO_LIMIT if max_token_length is None else max_token_length,
            careful=careful,
            suspects=known if is_allowed is None else known[:0],
            text=text,
            by_place=by_place,
        )

    def prove_stored(state: Merging) -> None:
        prove(state, begin(is_careful or bool(state.numbers[merging.CAREFUL :][:1].any())))

    is_careful = careful or symbols.is_careful
    state, _ = control.run(begin(is_careful), advance, total=vocab_size - tokens, digest=digest, prove=prove_stored)
    return _named(state, names, symbols.counts)


def merged_in_either_way(symbols: Callable[[], Symbols], **options: Any) -> Merged:
    """Learn merges. If two different merges make the same string, start again with a careful run. `symbols`: a function that returns the
    words spelled in symbols. This function is called before each run, because a run changes the symbols. `options`: arguments of `merged`.
    """
    try:
        return merged(symbols(), **options)
    except TwoWaysError:
        options["control"].remove()
        return merged(symbols(), careful=True, **options)


def _named(state: Merging, names: Names, counts: NDArray[np.int64]) -> Merged:
    """Convert the last state of a run to a `Merged`. `counts`: int64[n], the number of occurrences of each of the first n ids."""
    merges, numbers = _merges(state), state.numbers
    names.follow(merges)
    if len(names.ids) != numbers[merging.TOKENS]:
        raise TwoWaysError
    sums = state.made[: len(names.by_id)].copy()
    sums[: len(counts)] += counts
    lefts, rights = (map(names.by_id.__getitem__, part) for part in _last(state).T.tolist())
    return Merged(names.by_id, sums, [*zip(lefts, rights, strict=True)], REASONS[int(numbers[merging.REASON])])


def _merges(state: Merging) -> NDArray[np.int32]:
    """int32[n, 3]: the left id, the right id and the id of the merged token for each merge."""
    merges: NDArray[np.int32] = state.merges[: 3 * state.numbers[merging.MERGES]].reshape(-1, 3)
    return merges


def _last(state: Merging) -> NDArray[np.int32]:
    """int32[n, 2]: the left and the right id of each merge.

    In careful runs, a pair may be merged several times; the pair is listed once, at its last position.
    """
    merges: NDArray[np.int32] = _merges(state)[:, :2]
    if not state.numbers[merging.CAREFUL]:
        return merges
    last = {(left, right): place for place, (left, right) in enumerate(merges.tolist())}
    return merges[sorted(last.values())]
