"""The layout of tables for look-up, and the arrays that their kernels read; see `fst.machines.lookup.table`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array, RowFormat
from fst.tables.kernel_call import State

EPSILON = 0  # the class of arcs that read nothing; also the class of symbols that no arc reads
UNITS = 1 << 16
BEGINS = 1 << 16  # the bit of a unit with which a symbol of several units may begin
LETTER = 1 << 17  # the bit of a unit that is a letter, a mark or a number: no token of a standard section ends before it
ROOTS = 2  # the first nodes of the tree of symbols: for analysis and for generation
NODE_SHIFT = 16  # a key of the tree of symbols: ``node << 16 | unit``
ENTRY = RowFormat(label_bits=16, target_bits=26, value_bits=22, dtype=np.uint64, labels=UNITS - 1, own=UNITS - 1, free=2**64 - 1)
# The value of a transition with one arc that has no condition and no weight: ``piece 18 | pauses 2 | whether arcs of the target read
# nothing 1 | ALONE``; its target is the state. The value of any other transition is its number of arcs, and its target is the first arc.
ALONE, ALONE_EPSILON, ALONE_PAUSES, MAX_ALONE_PAUSES, MAX_ALONE_PIECE = 1 << 21, 20, 18, 3, (1 << 18) - 1
MAX_CLASSES = UNITS - 2
HAS_EPSILON, OUTPUT_SHIFT = 31, 32  # an arc, with sizes in bits: ``target 31 | whether arcs of the target read nothing 1 | piece 32``

# Ids that are no pieces. SLOW: the kernel leaves the row to the slow walk. `END_FOLDED` and `UNKNOWN` occur in running text only.
END, CUT, SLOW, END_FOLDED, UNKNOWN = -1, -2, -3, -4, -5
SECTIONS = STANDARD, PREBLANK, POSTBLANK, INCONDITIONAL = "standard", "preblank", "postblank", "inconditional"  # the last has priority
FIRST_SECTION = UNKNOWN - len(SECTIONS)  # the ids of a token with analyses begin with ``FIRST_SECTION + section``
MAX_FOLDED = 255  # the highest number of pauses that a table stores; more count as this number
MAX_ANALYSES = 4096  # maximum number of analyses of a word
STEPS = 1 << 10  # maximum number of arcs that the kernel reads per symbol, before it leaves the word to the slow walk
SPARE = 16  # number of symbols that are added to the length of a word before `STEPS` is multiplied by it
MAX_STEPS = 1 << 20  # maximum number of steps of the slow walk for one word, or one token; a step takes 2 to 6 µs
SYMBOL_STEPS = 16  # number of steps that each symbol adds to `MAX_STEPS`
MAX_SYMBOLS, MAX_ARCS, MAX_FOUND, MAX_REGISTERS = 1 << 12, 1 << 14, 1 << 18, 1 << 16  # capacities of the kernel for one word
MAX_RANKS = 1 << 18  # capacity for the ranks of the analyses of a token
WORDS_ALONE = 12  # the number of fields of `Work`; kernels that get only these fields do not sort analyses as in running text
MAX_PAUSES = 256  # maximum number of arcs in a row that read nothing
UNIT_FACTOR = 8  # expected number of ids per unit of text


class Arguments(NamedTuple):
    """The arrays that `fst.runtime.machines.lookup.kernels.rows` reads.

    Attributes:
        begin: uint64[4], the root, whether arcs of the root read nothing, the root of the tree of symbols, and the maximum number of
            analyses of a word.
        features: uint64[1], the number of features.
        units … operations: the arrays of the table.
        piece_starts: int64[pieces + 1], the start of each piece in `piece_bytes`, and the end of the last piece.
        hashes, powers: uint64[pieces], see `hashed`.
    """

    begin: Array
    features: Array
    units: Array
    lower_units: Array
    letters: Array
    symbol_keys: Array
    symbol_classes: Array
    entries: Array
    arcs: Array
    arc_conditions: Array
    arc_weights: Array
    arc_pauses: Array
    final_pauses: Array
    final_sections: Array
    final_pieces: Array
    final_conditions: Array
    final_weights: Array
    condition_ends: Array
    operations: Array
    piece_bytes: Array
    piece_starts: Array
    hashes: Array
    powers: Array


class Work(NamedTuple):
    """The working arrays of one thread. For `state`, see `fst.tables.kernel_call.Work`; `symbols` is empty.

    Attributes:
        classes: uint32[MAX_SYMBOLS], the classes of a word.
        stack: uint64[4 * MAX_ARCS], the slices of arcs that are not read yet.
        sums: float32[MAX_ARCS], the weight of the path before each slice in `stack`.
        path: uint32[MAX_ARCS], the pieces of the current path.
        registers: uint16[MAX_REGISTERS], the registers of features, for each change on the current path.
        found: int32[MAX_FOUND], the pieces of the analyses of a word, each with its end mark.
        starts: int64[MAX_ANALYSES + 1], the start of each analysis in `found`, and the end of the last.
        order: int64[MAX_ANALYSES], the analyses in the order of their weights.
        marks: uint64[MAX_ANALYSES + 1], the hash of each analysis, and of the analysis that may be added next.
        weights: float32[MAX_ANALYSES], the weight of each analysis.
    """

    state: State
    symbols: Array
    classes: Array
    stack: Array
    sums: Array
    path: Array
    registers: Array
    found: Array
    starts: Array
    order: Array
    marks: Array
    weights: Array


class TextWork(NamedTuple):
    """The working arrays of one thread for running text: the arrays of `Work`, and the following.

    Attributes:
        lower_classes: uint32[MAX_SYMBOLS], the class of each symbol in lower case; `EPSILON` if the symbol is not upper case.
        ends: uint64[MAX_SYMBOLS + 1], the position in the text of each symbol, and the end of the last symbol that was read.
        pauses: uint32[MAX_SYMBOLS + 1], the number of arcs on the current path that read nothing, before each symbol and at the end.
        ranks: uint32[MAX_RANKS], the pauses of each analysis, which determine the order of analyses.
    """

    state: State
    symbols: Array
    classes: Array
    stack: Array
    sums: Array
    path: Array
    registers: Array
    found: Array
    starts: Array
    order: Array
    marks: Array
    weights: Array
    lower_classes: Array
    ends: Array
    pauses: Array
    ranks: Array


def new_work() -> Work:
    """Allocate the working arrays of one thread."""
    return Work(
        state=State(),
        symbols=np.empty(0, np.uint16),
        classes=np.empty(MAX_SYMBOLS, np.uint32),
        stack=np.empty(4 * MAX_ARCS, np.uint64),
        sums=np.empty(MAX_ARCS, np.float32),
        path=np.empty(MAX_ARCS, np.uint32),
        registers=np.zeros(MAX_REGISTERS, np.uint16),
        found=np.empty(MAX_FOUND, np.int32),
        starts=np.zeros(MAX_ANALYSES + 1, np.int64),
        order=np.empty(MAX_ANALYSES, np.int64),
        marks=np.empty(MAX_ANALYSES + 1, np.uint64),
        weights=np.empty(MAX_ANALYSES, np.float32),
    )


def new_text_work() -> TextWork:
    """Allocate the working arrays of one thread for running text."""
    return TextWork(
        *new_work(),
        lower_classes=np.empty(MAX_SYMBOLS, np.uint32),
        ends=np.empty(MAX_SYMBOLS + 1, np.uint64),
        pauses=np.zeros(MAX_SYMBOLS + 1, np.uint32),
        ranks=np.empty(MAX_RANKS, np.uint32),
    )


def hashed(data: Array, ends: Array) -> tuple[Array, Array]:
    """The polynomial hash of each string, and the power of the base that moves a hash to the left by the length of the string. The hash of
    a concatenation of a and b is ``hash(a) * power(b) + hash(b)``, modulo 2^64.

    Examples:
        >>> hashes, powers = hashed(np.frombuffer(b"abab", np.uint8), np.array([1, 2, 4]))
        >>> hashes[:1] * powers[1:2] + hashes[1:2] == hashes[2:]
        array([ True])
    """
    base = np.uint64(0x9E3779B185EBCA87)
    lengths = np.diff(ends, prepend=0)
    powers = np.cumprod(np.append(np.uint64(1), np.full(int(lengths.max(initial=0)), base)))
    places = np.arange(len(data)) - np.repeat(ends - lengths, lengths)
    terms = (data.astype(np.uint64) + np.uint64(1)) * powers[np.repeat(lengths, lengths) - 1 - places]
    sums = np.append(np.uint64(0), np.cumsum(terms, dtype=np.uint64))
    return sums[ends] - sums[ends - lengths], powers[lengths]
