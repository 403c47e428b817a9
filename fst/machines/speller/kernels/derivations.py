"""The stems of a word: the entries from which affixes derive it, one after another in the order of a check.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.machines.speller.kernels.asking import asked
from fst.machines.speller.kernels.constants import FORBIDDEN_INFO, I0, MAX_BYTES, NONE, RIGHT, STEMS, STEPS, SYMBOL, TEXT
from fst.machines.speller.kernels.text import is_too_long


@part
def stem_of(text, start, end, table, work):
    """The number of the stem of a derivation of the word in a part of a text in UTF-16; the mode contains the number of the derivation.

    Returns `NONE` if the word has no such derivation, or is a forbidden word; and the number of stems if the derivation is excluded, for
    example by the case of the word, but the word may have others.
    """
    registers, size, number = work.registers, end - start, table.mode[0] - STEMS
    if size > MAX_BYTES or is_too_long(text, start, end, table):
        return NONE
    for place in range(size):
        work.memory[TEXT + place] = table.units[text[start + place]] & SYMBOL
    registers.steps, registers.depth, registers.info = STEPS, 0, 0
    registers.word, registers.passed = NONE, number
    verdict, _, _, _ = asked(I0, size, size, table, work)
    is_found, registers.passed = registers.passed < 0, 0
    if not is_found or (number == 0 and registers.info & FORBIDDEN_INFO):
        return NONE
    return registers.word if verdict == RIGHT else np.int64(len(table.word_lists))
