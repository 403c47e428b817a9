"""Constants of the kernels: numbers of `fst.machines.speller.layout` as int64.

A plain int in an argument would make numba compile a function again for each value, and an unsigned number would turn int64 into floats.
"""

from __future__ import annotations

import numpy as np

from fst.machines.speller import layout

I0, I1 = np.int64(0), np.int64(1)
NONE = DEAD = np.int64(-1)  # no entry, affix or word; no state
LABEL_SHIFT, TARGET_BITS = np.int64(layout.ENTRY.label_shift), np.int64(layout.TARGET_BITS)
TARGET, VALUE, WIDTH, STAMP_SHIFT = (np.int64(n) for n in (layout.ENTRY.max_target, layout.ENTRY.max_value, layout.LIMIT + 1, 20))
ALONE, FIRST_PART, LAST_PART, OTHER_PART = (np.int64(n) for n in range(4))  # where in a compound a string is [in_compound]
PATTERN_PLACE, WORD_PLACE, COUNT = (np.int64(n) for n in range(3))  # the columns of `marks`
STOP, SKIP = np.int64(-2), np.int64(-3)  # instead of an entry: no compound at all; no compound at this boundary
LOWER, INITIAL_CAPITAL, ALL_CAPITALS, MIXED, MIXED_INITIAL = (np.int64(n) for n in range(5))  # kinds of words
AS_IT_IS, IN_LOWER, IN_TITLE, IN_DOTTED_TITLE = (np.int64(n) for n in range(4))  # forms of words
WRONG, RIGHT, UNKNOWN = (np.int64(n) for n in range(3))
MOST_SHARPS, MOST_BREAKS = np.int64(5), np.int64(9)
MOVED = np.int64(-5)  # number of words before a compound with the Hungarian rule for hyphens
MOST_DEPTH = np.int64(300)  # maximum depth of recursion for words that are broken

FLAG, STRIP, CONDITION, CONDITION_SIZE, SET, KIND, SYLLABLES, COLUMNS = (
    np.int64(number)
    for number in (
        layout.FLAG,
        layout.STRIP,
        layout.CONDITION,
        layout.CONDITION_SIZE,
        layout.SET,
        layout.KIND,
        layout.SYLLABLES,
        layout.COLUMNS,
    )
)
CROSSES, IS_SECOND, IS_EXTRA, MAY_LACK_LAST = (
    np.int64(number)
    for number in (
        layout.CROSSES,
        layout.IS_SECOND,
        layout.IS_EXTRA,
        layout.MAY_LACK_LAST,
    )
)
IGNORED, VOWEL, BEGINS_CONVERSION, IS_BYTE = (
    np.int64(n) for n in (layout.IGNORED, layout.VOWEL, layout.BEGINS_CONVERSION, layout.IS_BYTE)
)
NEEDS_AFFIX, FORBIDDEN, KEEPS_CASE, CIRCUMFIX, ONLY_IN_COMPOUND = (
    np.int64(number)
    for number in (
        layout.NEEDS_AFFIX,
        layout.FORBIDDEN,
        layout.KEEPS_CASE,
        layout.CIRCUMFIX,
        layout.ONLY_IN_COMPOUND,
    )
)
COMPOUND, BEGIN, MIDDLE, END, PERMITS, FORBIDS, ROOT, UPPER_CASE = (
    np.int64(number)
    for number in (
        layout.COMPOUND,
        layout.BEGIN,
        layout.MIDDLE,
        layout.END,
        layout.PERMITS,
        layout.FORBIDS,
        layout.ROOT,
        layout.UPPER_CASE,
    )
)
WARNS, HIDDEN, NOT_EMPTY = (np.int64(n) for n in (layout.WARNS, layout.HIDDEN, layout.NOT_EMPTY))
NO_SUGGESTION, SUBSTANDARD = np.int64(layout.NO_SUGGESTION), np.int64(layout.SUBSTANDARD)
HU_FIRST, HU_I, HU_J, HU_SUFFIX = (np.int64(n) for n in (layout.HU_FIRST, layout.HU_I, layout.HU_J, layout.HU_SUFFIX))
OPTIONAL = np.int64(layout.OPTIONAL)
FORBIDDEN_INFO, CAPITALS = np.int64(layout.FORBIDDEN_INFO), np.int64(layout.CAPITALS)
ROWS, LIMIT, SCRATCH, FIRST_FREE, MASK_BITS, SUFFIX_LISTS = (
    np.int64(number)
    for number in (
        layout.ROWS,
        layout.LIMIT,
        layout.SCRATCH,
        layout.FIRST_FREE,
        layout.MASK_BITS,
        layout.SUFFIX_LISTS,
    )
)
MOST_PARTS, STEPS, COMPOUND_STEPS, MOST_COMPOUND_STEPS = (
    np.int64(number)
    for number in (
        layout.MOST_PARTS,
        layout.STEPS,
        layout.COMPOUND_STEPS,
        layout.MOST_COMPOUND_STEPS,
    )
)
MAX_BYTES, MAX_CHARACTERS = (np.int64(n) for n in (layout.MAX_BYTES, layout.MAX_CHARACTERS))
PLAIN_IN_LOWER = np.int64(layout.PLAIN_IN_LOWER)
SYMBOL, CONVERTED, LETTER = (np.int64(n) for n in (layout.SYMBOL, layout.CONVERTED, layout.LETTER))
WORDS, TEXTS, CANDIDATES, COMPOUNDS, CAPITALIZED, STEMS = (
    np.int64(n) for n in (layout.WORDS, layout.TEXTS, layout.CANDIDATES, layout.COMPOUNDS, layout.CAPITALIZED, layout.STEMS)
)
MAIN, TAGS, LIVE, NODES, NUMBERS, TEXT, PARTS, MARKS = (np.int64(number) for number in layout.MEMORY.values())
MAIN_SIZE, TEXT_SIZE, PARTS_SIZE = (np.int64(layout.SIZES[name]) for name in ("main", "text", "parts"))
