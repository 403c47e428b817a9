"""The stems that Hunspell compares with a misspelling: the arrays for suggestions by similarity.

Stems are in the order of Hunspell's hash table: if several stems are equally similar, the first ones are suggested. These arrays are:

- root_units: uint16[n], the UTF-16 units of the stems, one after another. No stem has a character after U+FFFF.
- root_ends: uint32[stems + 1], the bounds of each stem.
- root_sets: uint32[stems], twice the set of flags of each stem, plus 1 if the stem begins with its only capital.
- affix_order: uint32[affixes], the place of each affix in the dictionary: prefixes, then suffixes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.tables.proof import need, need_none


def prove(table: Any) -> None:
    """Prove that the arrays of a `fst.machines.speller.table.SpellerTable` are in range, if it has suggestions."""
    ends = table.root_ends.astype(np.int64)
    if table.metadata.dictionary.hints is None:
        need(not len(ends), f"root_ends has {len(ends)} elements; expected none without the options of suggestions")
        return
    need(len(ends) > 0 and ends[0] == 0 and ends[-1] == len(table.root_units), "root_ends does not partition root_units")
    need_none(np.diff(ends) <= 0, lambda at: f"stem {at} for suggestions is empty")
    need(len(table.root_sets) == len(ends) - 1, f"there are {len(table.root_sets)} sets for {len(ends) - 1} stems for suggestions")
    sets, last = table.root_sets >> 1, len(table.set_bits)
    need_none(sets >= last, lambda at: f"stem {at} for suggestions has the set {sets[at]} of {last}")
    count = len(table.affixes)
    need(len(table.affix_order) == count, f"there are {len(table.affix_order)} places of {count} affixes")
    need_none(table.affix_order >= count, lambda at: f"affix {at} has the place {table.affix_order[at]} of {count}")
