"""Kernels of guides, whose question and answer are numbers in an array.

Preconditions: a table that `fst.machines.guide.table.GuideTable.prove` accepts. Each kernel returns `DONE`, or `WRONG_STATE`.
"""

from __future__ import annotations

from fst.core.jit import inlined, kernel
from fst.machines.guide.arguments import ENDED, FIRST, NO_STATE
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.machines.guide.kernels import masks as kernels

DONE, WRONG_STATE = U0, U1
COPIED = kernels.DONE
AFTER = ENDED + 1  # the number of states after those of the automaton


@inlined
def is_state(state, automaton):
    """Whether a number is a state."""
    return NO_STATE <= state < len(automaton.finals) + AFTER


@kernel
def describe(numbers, automaton, tokens):
    """Write the start, the number of ids, the id of the token that ends a text or -1, and the number of states.

    Args:
        numbers: int64[4], the output.
        automaton: `fst.machines.guide.arguments.Automaton`.
        tokens: `fst.machines.guide.arguments.Tokens`.
    """
    states = len(automaton.finals)
    numbers[0] = states + FIRST if len(tokens.first_ends) else 0
    numbers[1], numbers[2], numbers[3] = len(tokens.token_ends), tokens.end_id[0], states + AFTER
    return DONE


@kernel
def write_mask(numbers, masks, mask):
    """Write the mask of the state ``numbers[0]``.

    Args:
        numbers: int64[4].
        masks: `fst.machines.guide.arguments.Masks`.
        mask: uint32[1, words], the output.
    """
    return DONE if kernels.copy_masks(numbers[:1], masks, mask) == COPIED else WRONG_STATE


@kernel
def step(numbers, automaton, tokens, masks):
    """Replace the state ``numbers[0]`` by the state after the id ``numbers[1]``, or by -1 if the id is not allowed.

    Args:
        numbers, automaton, tokens, masks: as in the other kernels.
    """
    if not is_state(numbers[0], automaton):
        return WRONG_STATE
    numbers[0] = kernels.follow(automaton, tokens, masks, numbers[0], numbers[1:2])
    return DONE


@kernel
def check_final(numbers, automaton):
    """Write to ``numbers[1]`` whether a text may end in the state ``numbers[0]``.

    Args:
        numbers, automaton: as in the other kernels.
    """
    state, states = numbers[0], len(automaton.finals)
    if not is_state(state, automaton):
        return WRONG_STATE
    if state == NO_STATE or state == states + ENDED:
        numbers[1] = state != NO_STATE
    else:
        numbers[1] = automaton.finals[0 if state == states + FIRST else state]
    return DONE
