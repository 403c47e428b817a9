"""The state of byte-pair encoding in training: words as cells, pairs with their positions, and a heap of pairs.

All words are in one array of cells, with `WORD_END` before, between and after them. A token of n symbols takes n cells. The first and the
last cell of a token contain its symbol, so the next token begins at ``cell + length``, and the cell before a token contains the previous
token. When two tokens merge, the first cell of the right token becomes `INSIDE` or, if it is the last cell of the merged token, contains
its symbol. A recorded position of a pair is stale if one of its two tokens has been merged since.

**Symbols and ids.** A symbol is an index into `lengths`. In nearly all corpora, a token's symbol equals its id. Different merges can make
the same string, with different numbers of cells, only if the words themselves contain the prefix of continuing tokens or the suffix of
words. The state is then *careful*: each string has one id, and an id has one symbol for each length in cells (`ids`, `heads`, `others`).

**Rare pairs.** Most pairs are too rare to be merged at any time. Therefore, in a run that is not careful, pairs rarer than `LEAST` have no
record. When no other pairs remain, all pairs are counted again with a lower `LEAST`; the lowest value of `LEAST` is `FLOOR`.

**Records.** Each new pair of ids gets a record, whose positions are one ascending block of `pool`. The count of each pair is in the hash
table `pairs`. The queue has one entry for each record that is not merged yet, with its count at the time of the push. The entries with a
count of at least `NEAR` are a heap; the others follow it (`fst.compile.train.merges.heap`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import Deferred
from fst.machines.bpe.merge_list import EMPTY, pairs_for

RARE = 4  # the first value of `LEAST` is cells / (RARE × ids)
LOWER = 3  # each recount divides `LEAST` by this number
WORD_END, INSIDE = -1, -2  # values of cells that are not symbols
NONE = -1
FACTOR = np.uint64(MULTIPLIERS[1])  # factor of the polynomial in `joined_hash`
ASK, NEVER = -2, -3  # values of `KNOWN`: the string of the next merge is not looked up yet; the string must not become a token

NUMBERS = 24
TOKENS, SIZE, SYMBOLS, RECORDS, POOL, HEAP, QUEUED, USED, MERGES, NEAR, ADJACENT, LEAST, LONGEST, CAREFUL, KNOWN, STEPS = range(16)
REASON, NEED_POOL, NEED_RECORDS, NEED_SYMBOLS, HAS_PAIRS, TIES, SPACE, FLOOR = range(16, NUMBERS)
OUT_OF_STEPS, OUT_OF_CAPACITY, NEW_STRING, AT_SIZE, NO_PAIR_LEFT, TOO_RARE, TO_RECOUNT = range(7)  # values of `REASON`
BY_ID, BY_TEXT, BY_PLACE = range(3)  # values of `TIES`


class Text(NamedTuple):
    """Properties of the first symbols, for the rules of SentencePiece."""

    kinds: NDArray[np.int32]  # int32[ids], the script of each symbol; 0: the symbol may be in tokens of any script
    space: int  # the id of the symbol ▁; `NONE`: no word contains it


class Merging(NamedTuple):
    """The arrays of a run. A cell is int32, a count int64.

    Attributes:
        cells: int32[n], the symbol of each cell.
        words: int32[n], the word of each cell.
        word_starts: int32[words], the first cell of each word.
        counts: int64[words].
        ids: int32[symbols], the id of each symbol.
        lengths: int32[symbols], in cells.
        heads: int32[ids], the first symbol of each id; `NONE`: the id has no symbol yet.
        others: int32[symbols], the next symbol of the same id, or `NONE`.
        firsts: int32[symbols], the id of the first of the single symbols that the string consists of.
        kinds: int32[symbols], only with `BY_TEXT`: two tokens merge if their kinds are equal, or if one kind is 0.
        letters: int32[cells], only with `BY_TEXT`: the symbol of each cell before the first merge, to compare strings; these symbols are in
            the order of code points.
        hashes: uint64[symbols], only with `BY_TEXT`: the hash of each symbol's string.
        pool: int32[n], positions: indices into `cells`.
        records: int64[2 * n], the bounds of the block of each record in `pool`.
        keys: uint64[n], the pair of each record, see `fst.machines.bpe.pairs.key_of`.
        pairs: uint64[2 * slots], the count of each pair, see `fst.machines.bpe.pairs`.
        heap_counts, heap_records: int64[n], int32[n], the count and the record of each entry of the queue; the heap is at the beginning.
        left, right: int64[2 * ids], two numbers for each left or right neighbour in the current merge. The first number is the neighbour's
            count. The second number is the number of the neighbour's occurrences, and is later replaced by the index in `pool` for the next
            position. All 0 between merges.
        touched: int32[2 * ids], the ids of left neighbours, from index 0, and of right neighbours, from the middle.
        merges: int32[3 * n], the left, right and merged id of each merge.
        made: int64[ids], the number of occurrences of each id directly after its merge.
        suspects: uint64[2 * slots], a filter for merges into strings that may already have an id. Pairs (first id, length) of strings that
            have an id before training; with `BY_TEXT`, the hashes of all merged strings. Empty: every string is looked up.
        numbers: int64[NUMBERS], indexed by the names above.

            - Entries in use: `TOKENS` ids (at most `SIZE`), `SYMBOLS`, `RECORDS`, `POOL`, `MERGES`; `QUEUED` entries of the queue, the
              first `HEAP` of them in the heap, with counts of at least `NEAR`; `USED` slots of `pairs`.
            - `ADJACENT`: the number of pairs of adjacent tokens that remain in the words.
            - `FLOOR`: rarer pairs are never merged. `LEAST`: rarer pairs are not merged for now. `LONGEST`: pairs of this length or longer
              are not merged, except pairs of two single symbols.
            - `CAREFUL`: different merges may make the same string. `TIES`: of equally frequent pairs, the pair with the smallest ids is
              merged (`BY_ID`), or the pair that occurs first (`BY_PLACE`); or the rules of SentencePiece apply (`BY_TEXT`), so the symbol
              `SPACE` is only at the left end of tokens.
            - `KNOWN`: the id of the next merge's string; `NONE`: the string is new; or `ASK` or `NEVER`.
            - `STEPS`: the steps left in this round. `REASON`: the reason why the last round ended. `HAS_PAIRS`: `with_pairs` was called.
            - `NEED_…`: the additional entries needed after `OUT_OF_CAPACITY`.
    """

    cells: Any
    words: Any
    word_starts: Any
    counts: Any
    ids: Any
    lengths: Any
    heads: Any
    others: Any
    firsts: Any
    kinds: Any
    letters: Any
    hashes: Any
    pool: Any
    records: Any
    keys: Any
    pairs: Any
    heap_counts: Any
    heap_records: Any
    left: Any
    right: Any
    touched: Any
    merges: Any
    made: Any
    suspects: Any
    numbers: Any


START, LOOP = "fst.compile.train.merges.start", "fst.compile.train.merges.loop"
count_pairs, record_pairs, move_pairs = (Deferred(START, name) for name in ("count_pairs", "record_pairs", "move_pairs"))
merge_pairs = Deferred(LOOP, "merge_pairs")


def begin(
    cells: NDArray[np.int32],
    words: NDArray[np.int32],
    counts: NDArray[np.int64],
    tokens: int,
    *,
    size: int,
    least: int,
    longest: int,
    careful: bool,
    suspects: NDArray[np.uint64],
    text: Text | None = None,
    by_place: bool = False,
) -> Merging:
    """The state before the first merge. The pairs are missing until `with_pairs` is called.

    Args:
        cells: int32[n], ids of single symbols; `WORD_END` before, between and after words.
        words: int32[n], the word of each cell.
        counts: int64[words]; the sum of ``count × cells`` over all words is below 2^63.
        tokens: the number of ids before the first merge.
        size: the maximum number of ids.
        least: pairs rarer than this are never merged.
        longest: pairs of this length or longer are not merged, except pairs of two single symbols.
        careful: whether different merges may make the same string.
        suspects: the strings that have an id before training, as pairs (first id, length). Before a merge into one of these strings, the
            kernel returns `NEW_STRING`; if the array is empty, before every merge.
        text: for the rules of SentencePiece; None: the rules of `tokenizers`.
        by_place: whether, of equally frequent pairs, the pair that occurs first is merged. The run is not careful.
    """
    capacity = tokens + min(max(size - tokens, 0), 4 * len(cells)) + 1  # a merge of two tokens makes at most three new pairs
    numbers = np.zeros(NUMBERS, np.int64)
    numbers[[TOKENS, SIZE, SYMBOLS, FLOOR]] = tokens, min(size, capacity - 1), tokens, max(least, 0 if text else 1)
    numbers[LEAST] = numbers[FLOOR] if careful or text else max(len(cells) // (RARE * size + 1), numbers[FLOOR])
    numbers[[LONGEST, CAREFUL, KNOWN]] = longest, careful, ASK
    numbers[[TIES, SPACE]] = BY_TEXT if text else BY_PLACE if by_place else BY_ID, text.space if text else NONE
    of_single = np.arange(capacity, dtype=np.int32)
    starts = np.flatnonzero(cells[:-1] == WORD_END).astype(np.int32) + np.int32(1)
    return Merging(
        cells=cells,
        words=words,
        word_starts=starts[: len(counts)] if careful else starts[:0],
        counts=counts,
        ids=of_single,
        lengths=np.ones(capacity, np.int32),
        heads=np.where(of_single < tokens, of_single, np.int32(NONE)),
        others=np.full(capacity if careful else 0, NONE, np.int32),
        firsts=of_single.copy(),
        kinds=np.append(text.kinds, np.zeros(capacity - tokens, np.int32)) if text else np.empty(0, np.int32),
        letters=cells.copy() if text else cells[:0],
        hashes=np.arange(1, capacity + 1, dtype=np.uint64) * FACTOR if text else np.empty(0, np.uint64),
        pool=np.empty(0, np.int32),
        records=np.empty(0, np.int64),
        keys=np.empty(0, np.uint64),
        pairs=np.empty(0, np.uint64),
        heap_counts=np.empty(0, np.int64),
        heap_records=np.empty(0, np.int32),
        left=np.zeros(2 * capacity, np.int64),
        right=np.zeros(2 * capacity, np.int64),
        touched=np.empty(2 * capacity, np.int32),
        merges=np.empty(3 * (capacity - tokens), np.int32),
        made=np.zeros(capacity, np.int64),
        suspects=pairs_for(capacity) if text else suspects,
        numbers=numbers,
    )


def recounted(state: Merging) -> Merging:
    """The state after `TO_RECOUNT`: `LEAST` is lower, and all pairs are counted again."""
    state.numbers[LEAST] = max(state.numbers[LEAST] // LOWER, state.numbers[FLOOR])
    return with_pairs(state)


def with_pairs(state: Merging) -> Merging:
    """The state with the pairs of all words, their counts and their positions."""
    table = pairs_for(max(len(state.cells) >> 5, int(state.numbers[ADJACENT]) >> 1, 64))
    state = state._replace(pairs=table if len(table) > len(state.pairs) else np.full_like(state.pairs, EMPTY))
    while not count_pairs.call(state, sizes := np.zeros(len(state.pairs) // 2, np.int64)):
        state = state._replace(pairs=np.full(4 * len(state.pairs), EMPTY))
    total, pairs = int(sizes.sum()), int(state.numbers[USED])
    capacity = 4 * pairs + 64
    state = state._replace(
        pool=np.empty(2 * total + 64, np.int32),
        records=np.empty(2 * capacity, np.int64),
        keys=np.empty(capacity, np.uint64),
        heap_counts=np.empty(capacity, np.int64),
        heap_records=np.empty(capacity, np.int32),
    )
    record_pairs.call(state, sizes)
    state.numbers[HAS_PAIRS] = True
    return state


def enlarge(state: Merging) -> Merging:
    """The state with longer arrays, after `OUT_OF_CAPACITY`. All arrays except the hash table grow in place."""
    numbers = state.numbers
    _grow(int(numbers[POOL] + numbers[NEED_POOL]), state.pool)
    _grow(int(numbers[RECORDS] + numbers[NEED_RECORDS]), state.keys, state.heap_counts, state.heap_records)
    _grow(2 * len(state.keys), state.records)
    _grow(3 * int(numbers[MERGES] + 1), state.merges)
    if numbers[CAREFUL]:
        _grow(int(numbers[SYMBOLS] + numbers[NEED_SYMBOLS]), state.ids, state.lengths, state.others, state.firsts)
    used = int(numbers[USED] + numbers[NEED_RECORDS])
    if 4 * used < len(state.pairs):
        return state
    move_pairs.call(state.pairs, pairs := pairs_for(used))
    return state._replace(pairs=pairs)


def _grow(size: int, *arrays: NDArray[Any]) -> None:
    """Resize arrays that are shorter than `size`. The new length is `size` or 1.25 times the old length, whichever is more."""
    for array in arrays:
        if len(array) < size:
            array.resize(max(size, len(array) + len(array) // 4), refcheck=False)
