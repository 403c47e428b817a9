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

from itertools import accumulate
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
LETTER, CONVERTED, SYMBOL = 1 << 15, 1 << 14, (1 << 14) - 1  # bits of `units`, and the mask of the symbol
WORDS, TEXTS, CANDIDATES, COMPOUNDS, CAPITALIZED, NOT_FORBIDDEN, STEMS = range(7)  # modes; those after TEXTS are for suggestions and stems
MOST_DERIVATIONS = 64  # maximum number of derivations of a word that are searched for stems
PLAIN, PLAIN_IN_LOWER = 1, 2  # bits of `Arguments.plain`
MASK_BITS = 64

# The options that are symbols, and their characters.
SIGNS = {
    "sign_dot": ".",
    "sign_comma": ",",
    "sign_hyphen": "-",
    "sign_space": " ",
    "sign_apostrophe": "'",
    "sign_zero": "0",
    "lower_s": "s",
    "upper_s": "S",
    "letter_sharp_s": "ß",
    "letter_dotted_i": "İ",
    "caret": "^",
    "dollar": "$",
}

# The kinds of symbols.
IGNORED, VOWEL, BEGINS_CONVERSION, IS_BYTE = 1, 2, 4, 8  # IS_BYTE: one byte in the encoding of the dictionary

# The bits of a set of flags.
NEEDS_AFFIX, FORBIDDEN, KEEPS_CASE, CIRCUMFIX, ONLY_IN_COMPOUND = (1 << bit for bit in range(5))
COMPOUND, BEGIN, MIDDLE, END, PERMITS, FORBIDS, ROOT, UPPER_CASE = (1 << bit for bit in range(5, 13))
NO_SUGGESTION, WARNS, HIDDEN, NOT_EMPTY = (1 << bit for bit in range(13, 17))
HU_FIRST, HU_I, HU_J, HU_SUFFIX = (1 << bit for bit in range(17, 21))  # flags of the Hungarian dictionary: F, G, H; I; J; x, %
SUBSTANDARD = 1 << 21
ALL_BITS = (1 << 22) - 1

# The columns of an affix.
FLAG, STRIP, CONDITION, CONDITION_SIZE, SET, KIND, SYLLABLES = range(7)
COLUMNS = 7
SUFFIX_LISTS = 2  # the first list of suffixes that add something
# The bits of KIND. IS_SECOND: a set of an affix has the flag, so the affix may follow another one. MAY_LACK_LAST: the word may end before
# the last part of the condition of a prefix.
CROSSES, IS_SECOND, IS_EXTRA, MAY_LACK_LAST = 1, 2, 4, 8

# The items of a compound rule that are not flags.
ANY_NUMBER, OPTIONAL = 0, -1

MAX_BYTES, MAX_CHARACTERS = 255, 99  # the longest word in UTF-8, and in an encoding of one byte for each character
LIMIT = 1 << 9  # maximum number of symbols of a word after conversion, and of an affix
SCRATCH, FIRST_FREE = LIMIT + 1, 3 * LIMIT + 2
ROWS = 256
MOST_PARTS = 100
MAX_RULE = 250
MAX_NUMBER = 1 << 20  # maximum of COMPOUNDWORDMAX and of the syllables of COMPOUNDSYLLABLE
STEPS = 1 << 23  # number of affixes that are tried for a word
MOST_COMPOUND_STEPS = 1 << 21  # number of steps of the search for a compound
COMPOUND_STEPS = 64  # number of steps of a boundary of a compound
FORBIDDEN_INFO, CAPITALS = 1, 2  # bits of `Registers.info`: a form is forbidden; the word has capitals


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
    has_free_capitals: Scalar  # whether no stem that may be refused and no affix has a capital: no word is wrong because of a capital
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


POOLED = (  # the arrays of a table that are parts of `Arguments.pool`
    *("lower", "upper", "kinds", "set_bits", "set_masks", "set_ends", "set_flags", "affixes", "affix_ends", "conditions", "parts"),
    *("strings", "string_ends", "pattern_flags", "compound_rules", "rule_ends"),
)


class Places(Fields, dtype=np.int64):
    """The place of each array of `POOLED` in `Arguments.pool`."""

    lower: Scalar
    upper: Scalar
    kinds: Scalar
    set_bits: Scalar
    set_masks: Scalar  # the bit ``flag & 63`` for each flag of a set
    set_ends: Scalar
    set_flags: Scalar
    affixes: Scalar
    affix_ends: Scalar
    conditions: Scalar
    parts: Scalar
    strings: Scalar
    string_ends: Scalar
    pattern_flags: Scalar
    compound_rules: Scalar
    rule_ends: Scalar
    last_list: Scalar  # the last list of affixes
    rule_items: Scalar  # number of elements of `compound_rules`


class Arguments(NamedTuple):
    """The arrays that kernels read. Functions of kernels pass all of them to each other, so there are few.

    Attributes:
        mode: int64[1], `WORDS` if each row is a word, `TEXTS` if rows are running text, or a mode of
            `fst.machines.speller.kernels.candidates.is_candidate`; ``STEMS + n`` for the stem of derivation n of each word, from 0.
        options: see `Options`.
        units: uint16[65536], the symbol of each UTF-16 unit; `LETTER` for letters of words in running text, and for the apostrophe if it
            may be inside of words; and `CONVERTED` if a string of ICONV begins with the unit.
        entries, word_lists, homonyms: the arrays of the table; `entries` as int64.
        plain: uint8[words], `PLAIN` if a stem is correct as it is, and `PLAIN_IN_LOWER` if it is also correct in another case.
        pool: int64[n], the arrays `POOLED`, one after another; places: the place of each.
    """

    mode: Array
    options: Options
    places: Places
    units: Array
    entries: Array
    word_lists: Array
    homonyms: Array
    plain: Array
    pool: Array


class Registers(Fields, dtype=np.int64):
    """The values that kernels return besides their result. Names of Hunspell are in brackets."""

    steps: Scalar  # number of remaining steps
    stamp: Scalar  # changes with each word, so that no walk of an earlier word is read
    info: Scalar  # bits: `FORBIDDEN_INFO`, `CAPITALS`
    unwanted: Scalar  # bits that exclude an entry from compounds: `NO_SUGGESTION` for suggestions, else 0
    word: Scalar  # number of the stem that the last look-up found
    passed: Scalar  # number of entries that fit and are passed over, before an entry is taken
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
        memory: int64[n], with these parts:
            main: the word that is checked, from 0; the word without a prefix, from `SCRATCH`; and compounds in which a pattern is replaced,
                from `FIRST_FREE`. Each ends with the symbol 0.
            tags: the word and the start of the walk in each row.
            live: number of symbols of this walk.
            nodes, numbers: for each row, the state after each symbol; and twice the number of the stem, plus 1 if a stem ends.
            text: the words that are checked, one after another.
            parts: the entry of each part of a compound; -1: none.
            marks: the positions from which a rule is tried again.
        memo: uint64[n], words with their answers, in slots of four numbers from `FIRST_SLOT`; see
            `fst.runtime.machines.speller.kernels.memo`. The masks for the units of a word of n units are the four numbers from ``4 * n``.
    """

    state: State
    symbols: Array
    registers: Registers
    memory: Array
    memo: Array


SIZES = {
    "main": 1 << 14,
    "tags": ROWS,
    "live": ROWS,
    "nodes": ROWS * (LIMIT + 1),
    "numbers": ROWS * (LIMIT + 1),
    "text": 1 << 14,
    "parts": MOST_PARTS + 10,
    "marks": 3 * (MAX_RULE + 2),
}
MEMORY = dict(zip(SIZES, accumulate(SIZES.values(), initial=0), strict=False))  # the place of each part
KEY_UNITS = 12  # maximum number of units of a word in the memo
UNITS_READ = 16  # number of units that the memo's look-up reads from the start of a word
SHORT = 6  # maximum number of units of a word that is looked up in the memo before the stems
KEY_MASKS = [[*((1 << 16 * min(max(units - 4 * part, 0), 4)) - 1 for part in range(3)), 0] for units in range(KEY_UNITS + 1)]
FIRST_SLOT = 64
MEMO_BITS = 14  # log2 of the number of slots: 512 KiB


def new_work() -> Work:
    """Allocate the working arrays of one thread."""
    memory = np.zeros(sum(SIZES.values()), np.int64)
    memory[MEMORY["tags"] : MEMORY["live"]] = -1
    memo = np.zeros(FIRST_SLOT + (4 << MEMO_BITS), np.uint64)
    memo[: 4 * len(KEY_MASKS)] = np.array(KEY_MASKS, np.uint64).ravel()
    return Work(State(), np.empty(0, np.uint16), Registers(), memory, memo)
