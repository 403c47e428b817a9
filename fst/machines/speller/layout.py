"""The arrays of a speller: formats, options, and the working arrays of kernels.

**Symbols.** A character of the dictionary, of its affixes or of its options has a symbol from 1, in the order of code points; so has every
character with the same letter in another case. All other characters have the symbol 0, which no transition reads.

**Rows.** Three sets of strings have one root each: the stems, the additions of suffixes in reverse, and the additions of prefixes. Equal
ends of strings share states. A transition has the number of strings of its state's set that come before all strings through it (`skip`),
and whether a string ends (`final`). So the sum of the skips on a path is the number of the string, in the order of symbols.

**Flags.** A flag that an affix or a rule names has a number from 1. A flag with a meaning of its own, such as FORBIDDENWORD, is a bit of
`set_bits`. A set of flags has both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array, RowFormat
from fst.core.fields import Fields, Scalar
from fst.tables.kernel_call import State

LABEL_BITS, TARGET_BITS, VALUE_BITS = 15, 24, 25
FREE = (1 << LABEL_BITS) - 1
MAX_SYMBOLS = 1 << LABEL_BITS - 1  # so that an entry with a label is positive as int64
ENTRY = RowFormat(
    label_bits=LABEL_BITS,
    target_bits=TARGET_BITS,
    value_bits=VALUE_BITS,
    dtype=np.uint64,
    labels=MAX_SYMBOLS,
    own=FREE - 1,
    free=(1 << 64) - 1,
)
PAGE_BITS = 7
PAGES = 1 << 16 - PAGE_BITS
LETTER, SYMBOL = 1 << 15, (1 << 15) - 1  # a bit of `units`, and the mask of the symbol
WORDS, TEXTS = 0, 1  # modes
MASK_BITS = 64

# The kinds of symbols.
IGNORED, VOWEL, BEGINS_CONVERSION = 1, 2, 4

# The bits of a set of flags.
NEEDS_AFFIX, FORBIDDEN, KEEPS_CASE, CIRCUMFIX, ONLY_IN_COMPOUND = (1 << bit for bit in range(5))
COMPOUND, BEGIN, MIDDLE, END, PERMITS, FORBIDS, ROOT, UPPER_CASE = (1 << bit for bit in range(5, 13))
NO_SUGGESTION, WARNS, HIDDEN, NOT_EMPTY = (1 << bit for bit in range(13, 17))
HU_FIRST, HU_I, HU_J, HU_SUFFIX = (1 << bit for bit in range(17, 21))  # flags of the Hungarian dictionary: F, G, H; I; J; x, %
ALL_BITS = (1 << 21) - 1

# The columns of an affix.
FLAG, STRIP, CONDITION, CONDITION_SIZE, SET, KIND, SYLLABLES = range(7)
COLUMNS = 7
SUFFIX_LISTS = 2  # the first list of suffixes that add something
# The bits of KIND. IS_SECOND: a set of an affix has the flag, so the affix may follow another one. MAY_LACK_LAST: the word may end before
# the last part of the condition of a prefix.
CROSSES, IS_SECOND, IS_EXTRA, MAY_LACK_LAST = 1, 2, 4, 8

# The items of a compound rule that are no flags.
ANY_NUMBER, OPTIONAL = 0, -1

MAX_BYTES, MAX_CHARACTERS = 255, 99  # the longest word in UTF-8, and in an encoding of one byte for each character
LIMIT = 1 << 9  # maximum number of symbols of a word after conversion, and of an affix
SCRATCH, FIRST_FREE = LIMIT + 1, 3 * LIMIT + 2
MAIN, TEXT = 1 << 14, 1 << 14
ROWS = 256
MOST_PARTS = 100
MAX_RULE = 250
STEPS = 1 << 23  # number of affixes that are tried for a word
MOST_COMPOUND_STEPS = 1 << 21  # number of steps of the search for a compound
COMPOUND_STEPS = 64  # number of steps of a boundary of a compound
FOUND, FORBIDDEN_INFO, INITIAL, CAPITALS = -1, 1, 2, 4


class Options(Fields, dtype=np.int64):
    """The options of a dictionary.

    Ranges such as `breaks` to `breaks_end` are numbers of strings. A conversion (ICONV) is five strings: the pattern, and its replacements
    in the middle, at the beginning, at the end, and of a whole word. A replacement (REP) is two strings, and a pattern of compounds three.
    """

    symbols: Scalar  # number of symbols, including 0
    is_utf_8: Scalar
    suffix_root: Scalar  # the states from which suffixes and prefixes are read; stems are read from state 0
    prefix_root: Scalar
    prefix_lists: Scalar  # the first list of prefixes that add something
    defined: Scalar  # the bits of flags that the dictionary defines
    full_strip: Scalar
    complex_prefixes: Scalar
    sharp_s: Scalar  # CHECKSHARPS
    forbid_warn: Scalar
    has_second: Scalar  # whether a set of an affix has the flag of an affix
    compound_min: Scalar
    compound_most: Scalar  # COMPOUNDWORDMAX; -1 without
    most_syllables: Scalar
    has_syllable_flags: Scalar
    has_second_in_compounds: Scalar  # COMPOUNDMORESUFFIXES
    forbids_repeated: Scalar  # CHECKCOMPOUNDDUP, and so on
    forbids_replaced: Scalar
    forbids_case: Scalar
    forbids_triple: Scalar
    simplifies_triple: Scalar
    is_hungarian: Scalar
    is_turkic: Scalar
    hu_c: Scalar  # the numbers of flags of the Hungarian dictionary
    hu_i: Scalar
    hu_j: Scalar
    breaks: Scalar
    breaks_end: Scalar
    conversions: Scalar
    conversions_end: Scalar
    replacements: Scalar
    replacements_end: Scalar
    patterns: Scalar
    patterns_end: Scalar
    simplifies_patterns: Scalar
    compound_rules: Scalar  # number of compound rules
    space_string: Scalar  # the string of a space
    has_spaces: Scalar  # whether a stem or an affix has a space
    sign_dot: Scalar  # symbols
    sign_comma: Scalar
    sign_hyphen: Scalar
    sign_space: Scalar
    sign_apostrophe: Scalar
    sign_zero: Scalar
    lower_s: Scalar
    upper_s: Scalar
    letter_sharp_s: Scalar
    letter_dotted_i: Scalar
    caret: Scalar
    dollar: Scalar


class Arguments(NamedTuple):
    """The arrays that kernels read; see `fst.machines.speller.table.SpellerTable`.

    Attributes:
        mode: int64[1], `WORDS` if each row is a word, or `TEXTS` if rows are running text.
        units: uint16[65536], the symbol of each UTF-16 unit, and `LETTER` for letters of words in running text.
        entries, parts, set_masks: int64, the same bits as in the table.
        set_masks: int64[sets], the bit ``flag & 63`` for each flag of the set.
        plain: uint8[words], whether a stem is correct as it is.
    """

    mode: Array
    options: Options
    units: Array
    lower: Array
    upper: Array
    kinds: Array
    entries: Array
    word_lists: Array
    plain: Array
    homonyms: Array
    set_bits: Array
    set_masks: Array
    set_ends: Array
    set_flags: Array
    affixes: Array
    affix_ends: Array
    conditions: Array
    parts: Array
    strings: Array
    string_ends: Array
    pattern_flags: Array
    compound_rules: Array
    rule_ends: Array


class Registers(Fields, dtype=np.int64):
    """The values that kernels return besides their result. Names of Hunspell are in brackets."""

    steps: Scalar  # number of remaining steps
    stamp: Scalar  # changes with each word, so that no walk of an earlier word is read
    info: Scalar  # bits: `FORBIDDEN_INFO`, `INITIAL`, `CAPITALS`
    word: Scalar  # number of the stem that the last look-up found
    suffix: Scalar  # the last suffix [sfx], and prefix [pfx]; -1: none
    prefix: Scalar
    suffix_flag: Scalar  # [sfxflag]
    plain_suffix: Scalar  # the last suffix without flags [sfxappnd]; -1: none
    extra: Scalar  # [sfxextra]
    by_rule: Scalar  # whether the parts of the compound must fit a rule [words]
    is_affixed: Scalar  # whether the first part has the needed flag because of an affix [checked_prefix]
    top: Scalar  # the end of the used part of `main`
    length: Scalar  # number of symbols of the word that is checked
    depth: Scalar  # number of words that are being broken


class Work(NamedTuple):
    """The working arrays of one thread. `state` and `symbols` are as in `fst.tables.kernel_call.Work`; `symbols` is empty.

    Attributes:
        main: int32[MAIN], the word that is checked, from 0; the word without a prefix, from `SCRATCH`; and compounds in which a pattern is
            replaced, from `FIRST_FREE`. Each ends with the symbol 0.
        tags: int64[ROWS], the word and the start of the walk in each row.
        live: int32[ROWS], number of symbols of this walk.
        nodes, numbers: int32 and int64[ROWS * (LIMIT + 1)], the state after each symbol; and twice the number of the
            stem, plus 1 if a stem ends.
        text: int32[TEXT], the words that are asked for, one after another.
        parts: int64[MOST_PARTS + 10], the entry of each part of a compound; -1: none.
        marks: int64[3 * (MAX_RULE + 2)], the positions from which a rule is tried again.
    """

    state: State
    symbols: Array
    registers: Registers
    main: Array
    tags: Array
    live: Array
    nodes: Array
    numbers: Array
    text: Array
    parts: Array
    marks: Array


def new_work() -> Work:
    """Allocate the working arrays of one thread."""
    return Work(
        state=State(),
        symbols=np.empty(0, np.uint16),
        registers=Registers(),
        main=np.zeros(MAIN, np.int32),
        tags=np.full(ROWS, -1, np.int64),
        live=np.zeros(ROWS, np.int32),
        nodes=np.zeros(ROWS * (LIMIT + 1), np.int32),
        numbers=np.zeros(ROWS * (LIMIT + 1), np.int64),
        text=np.zeros(TEXT, np.int32),
        parts=np.full(MOST_PARTS + 10, -1, np.int64),
        marks=np.zeros(3 * (MAX_RULE + 2), np.int64),
    )
