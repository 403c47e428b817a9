"""The operations of flag diacritics (`fst.automata.flags`) on registers."""

from __future__ import annotations

import numpy as np

from fst.automata import flags
from fst.core.jit import inlined
from fst.runtime.kernels.constants import U0

POSITIVE, NEGATIVE, REQUIRE = np.uint64(flags.POSITIVE), np.uint64(flags.NEGATIVE), np.uint64(flags.REQUIRE)
DISALLOW, CLEAR = np.uint64(flags.DISALLOW), np.uint64(flags.CLEAR)
KIND, FEATURE = np.uint64((1 << flags.FEATURE_SHIFT) - 1), np.uint64(flags.MAX_FEATURES - 1)
FEATURE_SHIFT, OPERAND_SHIFT, NEGATED = np.uint64(flags.FEATURE_SHIFT), np.uint64(flags.VALUE_SHIFT), np.uint64(flags.NEGATED)


@inlined
def is_applied(operation, first, registers):
    """Apply a packed operation, a uint64, to the registers from index `first` on; return whether it succeeds."""
    kind, value = operation & KIND, operation >> OPERAND_SHIFT
    place = first + (operation >> FEATURE_SHIFT & FEATURE)
    held = np.uint64(registers[place])
    if kind == POSITIVE:
        registers[place] = value
    elif kind == NEGATIVE:
        registers[place] = NEGATED | value
    elif kind == CLEAR:
        registers[place] = 0
    elif kind == REQUIRE:
        if (held != value) if value else (held == U0):
            return False
    elif kind == DISALLOW:
        if (held == value) if value else (held != U0):
            return False
    else:
        if held != U0 and held != value and not (held & NEGATED and held != NEGATED | value):
            return False
        registers[place] = value
    return True
