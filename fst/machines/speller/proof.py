"""The proof that kernels are safe on a table of a speller."""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.machines.speller import layout
from fst.machines.speller.layout import ENTRY, LIMIT, MAX_NUMBER, MAX_RULE, MAX_SYMBOLS, PAGE_BITS, PAGES, SIGNS, SYMBOL, Options
from fst.tables.proof import Each, need, need_none, prove_states, prove_transitions

RANGES = {"breaks": 1, "conversions": 5, "replacements": 2, "patterns": 3}  # options that are ranges, and strings of an element
SWITCHES = (
    *("is_utf_8", "full_strip", "complex_prefixes", "sharp_s", "forbid_warn", "has_second", "has_second_in_compounds"),
    *("forbids_repeated", "forbids_replaced", "forbids_case", "forbids_triple", "simplifies_triple", "is_hungarian", "is_turkic"),
    *("simplifies_patterns", "has_spaces", "has_free_capitals", "has_syllable_flags"),
)
FLAGS = ("hu_c", "hu_i", "hu_j")


def prove(table: Any, each: Each) -> None:
    """Prove a `fst.machines.speller.table.SpellerTable`; see `fst.tables.table.Table.prove`."""
    need(len(table.options) == len(Options.names), f"there are {len(table.options)} options; expected {len(Options.names)}")
    options = table.named_options
    _prove_options(table, options)
    _prove_symbols(table, int(options.symbols))
    _prove_sets(table)
    _prove_affixes(table)
    _prove_rows(table, options, each)


def _prove_options(table: Any, options: Options) -> None:
    """Prove that options are in range."""
    strings = len(table.string_ends) - 1
    _prove_ends(table.string_ends, len(table.strings), "strings")
    sizes = np.diff(table.string_ends.astype(np.int64))
    need_none(sizes > LIMIT, lambda at: f"string {at} has {sizes[at]} symbols; expected at most {LIMIT}")
    limits = {"symbols": (1, MAX_SYMBOLS - 1), "defined": (0, layout.ALL_BITS)}
    limits |= {"compound_min": (1, LIMIT), "compound_most": (-1, MAX_NUMBER)}
    limits |= {"most_syllables": (0, MAX_NUMBER), "space_string": (0, strings - 1), "compound_rules": (len(table.rule_ends) - 1,) * 2}
    limits["prefix_lists"] = layout.SUFFIX_LISTS, len(table.affix_ends) - 1
    limits |= dict.fromkeys(SWITCHES, (0, 1)) | dict.fromkeys(FLAGS, (0, (1 << 16) - 1))
    limits |= {name: (0, int(options.symbols) - 1) for name in SIGNS}
    for name, (low, high) in limits.items():
        number = int(getattr(options, name))
        need(low <= number <= high, f"the option {name} is {number}; expected {low} to {high}")
    for name, size in RANGES.items():
        first, end = int(getattr(options, name)), int(getattr(options, f"{name}_end"))
        need(0 <= first <= end <= strings, f"the option {name} is {first} to {end}; there are {strings} strings")
        need((end - first) % size == 0, f"the option {name} has {end - first} strings; expected a multiple of {size}")
        need(name in ("patterns", "replacements") or sizes[first:end:size].all(), f"the option {name} has an empty string")
    patterns = (int(options.patterns_end) - int(options.patterns)) // 3
    need(len(table.pattern_flags) == 2 * patterns, f"there are {len(table.pattern_flags)} flags of {patterns} patterns")
    _prove_ends(table.rule_ends, len(table.compound_rules), "compound_rules")
    lengths = np.diff(table.rule_ends.astype(np.int64))
    need_none(lengths > MAX_RULE, lambda at: f"rule {at} has {lengths[at]} flags; expected at most {MAX_RULE}")
    rules = table.compound_rules
    need_none((rules < layout.OPTIONAL) | (rules >= 1 << 16), lambda at: f"element {at} of the rules is {rules[at]}")


def _prove_ends(ends: Array, size: int, name: str) -> None:
    """Prove that the bounds of parts of an array are in order."""
    need(len(ends) and ends[0] == 0 and ends[-1] == size, f"the bounds of {name} are not 0 to {size}")
    need_none(ends[1:] < ends[:-1], lambda at: f"number {at} of the {name} ends before it begins")


def _prove_below(array: Array, limit: int, name: str) -> None:
    need_none(array >= limit, lambda at: f"element {at} of {name} is {array[at]}; expected less than {limit}")


def _prove_symbols(table: Any, symbols: int) -> None:
    """Prove that units, cases and strings have symbols."""
    need(len(table.pages) == PAGES, f"there are {len(table.pages)} pages; expected {PAGES}")
    need(len(table.blocks) % (1 << PAGE_BITS) == 0, f"blocks has {len(table.blocks)} elements; expected whole blocks")
    _prove_below(table.pages, len(table.blocks) >> PAGE_BITS, "pages")
    _prove_below(table.blocks & SYMBOL, symbols, "blocks")
    for name in ("lower", "upper", "kinds"):
        array = getattr(table, name)
        need(len(array) == symbols, f"{name} has {len(array)} elements; expected {symbols}")
        if name != "kinds":
            _prove_below(array, symbols, name)
    _prove_below(table.strings, symbols, "strings")
    words = -(-symbols // layout.MASK_BITS)
    need(table.parts.shape[1] == words, f"parts of conditions have {table.parts.shape[1]} words; expected {words}")


def _prove_sets(table: Any) -> None:
    """Prove that entries have sets of flags."""
    sets, entries = len(table.set_bits), len(table.homonyms)
    need(sets and table.set_bits[0] == 0, "set 0 of flags is not empty")
    need(len(table.set_ends) == sets + 1, f"there are {len(table.set_ends)} bounds of {sets} sets")
    _prove_ends(table.set_ends, len(table.set_flags), "sets")
    _prove_below(table.homonyms >> 1, sets, "homonyms")
    need(not entries or table.homonyms[-1] & 1 == 0, "the last entry has a next one")
    _prove_below(table.word_lists, entries, "word_lists")


def _prove_affixes(table: Any) -> None:
    """Prove that affixes have strings, conditions and sets of flags."""
    affixes = table.affixes
    need(affixes.shape[1] == layout.COLUMNS, f"affixes have {affixes.shape[1]} columns; expected {layout.COLUMNS}")
    need(len(table.affix_ends) >= 3, f"there are {len(table.affix_ends)} bounds of lists of affixes; expected at least 3")
    _prove_ends(table.affix_ends, len(affixes), "lists of affixes")
    limits = {
        layout.FLAG: 1 << 16,
        layout.STRIP: len(table.string_ends) - 1,
        layout.SET: len(table.set_bits),
        layout.KIND: 16,
        layout.SYLLABLES: LIMIT + 1,
    }
    for column, limit in limits.items():
        wrong = (affixes[:, column] < 0) | (affixes[:, column] >= limit)
        need_none(wrong, lambda at: f"column {column} of affix {at} is {affixes[at, column]}; expected less than {limit}")  # noqa: B023
    first, size = (affixes[:, column].astype(np.int64) for column in (layout.CONDITION, layout.CONDITION_SIZE))
    wrong = (first < 0) | (size < 0) | (first + size > len(table.conditions))
    need_none(wrong, lambda at: f"the condition of affix {at} ends at {first[at] + size[at]} of {len(table.conditions)}")
    _prove_below(table.conditions, len(table.parts), "conditions")


def _prove_rows(table: Any, options: Options, each: Each) -> None:
    """Prove that look-ups stay inside of `entries`, and that transitions belong to states and lead to states."""
    entries, symbols = table.entries, int(options.symbols)
    states = prove_states(ENTRY, entries, ENTRY.first + symbols, "entries", each)
    prove_transitions(ENTRY, entries, states, np.zeros(len(states), np.int64), "entries", each)
    labels = ENTRY.labels_of(entries)
    need_none((labels >= symbols) & (labels < ENTRY.own), lambda slot: f"slot {slot} has the symbol {labels[slot]} of {symbols}")
    need_none(labels == 0, lambda slot: f"slot {slot} has the symbol 0, which no string has")
    is_state = np.zeros(len(entries), np.bool_)
    is_state[states] = True
    for name in ("suffix_root", "prefix_root"):
        root = int(getattr(options, name))
        need(0 <= root < len(entries) and is_state[root], f"the option {name} is {root}, which is not a state")
