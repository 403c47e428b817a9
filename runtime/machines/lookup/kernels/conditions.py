"""Evaluate conditions: operations on the registers of features, see `fst.machines.lookup.flags`."""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.machines.lookup import flags
from fst.runtime.kernels.constants import U0, U1

POSITIVE, NEGATIVE, REQUIRE = np.uint64(flags.POSITIVE), np.uint64(flags.NEGATIVE), np.uint64(flags.REQUIRE)
DISALLOW, CLEAR = np.uint64(flags.DISALLOW), np.uint64(flags.CLEAR)
KIND, FEATURE = np.uint64((1 << flags.FEATURE_SHIFT) - 1), np.uint64(flags.MAX_FEATURES - 1)
FEATURE_SHIFT, VALUE_SHIFT, NEGATED = np.uint64(flags.FEATURE_SHIFT), np.uint64(flags.VALUE_SHIFT), np.uint64(flags.NEGATED)


@part
def holds(condition, frame, table, registers):
    """Whether a condition holds. If so, frame ``frame + 1`` contains the registers after it.

    Args:
        condition: the number of the condition, at least 1.
        frame: the number of the frame with the registers before the condition.
        registers: the frames; each has a register for each feature.
    """
    features = table.features[0]
    start = frame * features
    after = start + features
    for feature in range(features):
        registers[after + np.uint64(feature)] = registers[start + np.uint64(feature)]
    at, end = np.uint64(table.condition_ends[condition - U1]), np.uint64(table.condition_ends[condition])
    while at < end:
        operation = np.uint64(table.operations[at])
        kind, value = operation & KIND, operation >> VALUE_SHIFT
        place = after + (operation >> FEATURE_SHIFT & FEATURE)
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
        at += U1
    return True
