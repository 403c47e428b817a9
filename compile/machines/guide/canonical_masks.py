"""Compile an automaton over bytes and a last-token automaton into the arrays of canonical masks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from fst.automata.last_tokens import NOWHERE, LastTokens
from fst.automata.rows import Array
from fst.compile.machines.guide.builder import Builder
from fst.compile.machines.guide.languages import ByteAutomaton, Language, difference, intersection, of_builder
from fst.core.jit import Deferred
from fst.machines.guide.canonical import Machine, Scalars

MAX_PRODUCT = 1 << 20  # maximum number of states of the automaton of the texts that contain no added token
MAX_ADDED = 1 << 16
KERNELS = "fst.compile.machines.guide.kernels.canonical_masks"

NOTHING = Language(np.zeros(256, np.uint8), np.full((1, 1), NOWHERE, np.int32), np.zeros(1, np.bool_))  # a single state that is not final

find_witnesses, find_live = (Deferred(KERNELS, name) for name in ("find_witnesses", "find_live"))


def machine_of(source: ByteAutomaton, last_tokens: LastTokens, added: Collection[str]) -> Machine:
    """The arrays for the texts of an automaton. `added` are the added tokens that the tokenizer finds in texts; a text that contains one of
    them is not the text of any other tokens.
    """
    texts = _without(added, _written(Language(source.classes, source.by_class, source.is_final), last_tokens))
    automaton = (NOTHING if texts.is_empty else texts).over_bytes()
    targets, finals = automaton.targets, automaton.is_final.astype(np.uint8)
    if last_tokens.begins_with_space:  # decoding removes the space of the first token, so this space is put before the text
        row = targets[:1].copy()
        row[0, ord(" ")] = 0
        targets, finals = np.concatenate([targets, row]), np.append(finals, finals[0])
    start = len(finals) - 1 if last_tokens.begins_with_space else 0
    order, next_bytes = _witnesses(targets, finals)
    states, cuts = len(finals), len(last_tokens.ends)
    numbers = np.full(states, NOWHERE, np.int32), np.zeros(states, np.int32), np.zeros((states, cuts), np.int32)
    is_path = len(last_tokens.trie) > 0
    is_exact = is_path and _are_exact(np.append(last_tokens.scores, last_tokens.unknown))
    scalars = Scalars(limit=last_tokens.limit, is_path=is_path, start=start, is_exact=is_exact)
    shared = {name: getattr(last_tokens, name) for name in Machine._fields if hasattr(last_tokens, name) and name != "unknown"}
    machine = Machine(targets, finals, next_bytes, *numbers, **shared, scalars=scalars, unknown=np.array([last_tokens.unknown]))
    find_live.call(machine, order)
    return machine


def _without(strings: Collection[str], texts: Language) -> Language:
    """The texts that contain none of the strings."""
    if not strings:
        return texts
    builder = Builder()
    start, end = builder.state(), builder.state()
    for state in (start, end):
        builder.read(state, 0, 255, state)
    for string in strings:
        builder.text(start, string.encode(), end)
    return difference(texts, of_builder(builder, start, end), MAX_PRODUCT)


def _written(texts: Language, last_tokens: LastTokens) -> Language:
    """The texts that consist of characters that tokens can write."""
    is_written = (last_tokens.cuts != NOWHERE).any(axis=(0, 1))
    if is_written.all():
        return texts
    found = last_tokens.characters
    targets = np.where(found > 0, found, np.where((found < 0) & is_written[-1 - np.minimum(found, -1)], 0, NOWHERE)).astype(np.int32)
    each_byte = np.arange(256, dtype=np.uint8)
    return intersection(texts, Language(each_byte, targets, np.arange(len(targets)) == 0), MAX_PRODUCT)


def _are_exact(scores: Array) -> bool:
    """Whether sums of at most `MAX_ADDED` scores, and their differences, are not rounded."""
    mantissas, exponents = np.frexp(scores[scores != 0])
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest = np.log2(whole & -whole) + exponents - 53  # the exponent of the lowest bit of each score
    return bool(np.abs(scores).max(initial=0) * MAX_ADDED < 2.0 ** (53 + lowest.min(initial=0)))


def _witnesses(targets: Array, finals: Array) -> tuple[Array, Array]:
    """The states from which a final state can be reached, by the lengths of their shortest texts; and the first bytes of these texts.
    Transitions to other states are removed from `targets`.
    """
    sources, labels = np.nonzero(targets != NOWHERE)
    to = targets[sources, labels]
    by_target = np.argsort(to, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(to, minlength=len(finals))))
    order, next_bytes = np.empty(len(finals), np.int32), np.zeros(len(finals), np.uint8)
    of_sources = sources[by_target].astype(np.int32), labels[by_target].astype(np.uint8)
    count = find_witnesses.call(finals, *of_sources, starts, order, next_bytes)
    has_text = np.append(np.zeros(len(finals), np.bool_), False)  # the last element is for NOWHERE
    has_text[order[:count]] = True
    targets[~has_text[targets]] = NOWHERE
    return order[:count].copy(), next_bytes
