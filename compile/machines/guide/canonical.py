"""Compile an automaton over bytes and a segmenter into the arrays of canonical masks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from fst.automata.rows import Array
from fst.automata.segmenter import NOWHERE, Segmenter
from fst.compile.machines.guide.automaton import ByteAutomaton
from fst.compile.machines.guide.languages import Language, intersection
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.canonical import Machine

MAX_PRODUCT = 1 << 20  # the largest number of states of an automaton without the names of added tokens
MAX_ADDED = 1 << 16
KERNELS = "fst.compile.machines.guide.kernels.canonical"

find_witnesses, find_live = (Deferred(KERNELS, name) for name in ("find_witnesses", "find_live"))


def machine_of(source: ByteAutomaton, segmenter: Segmenter, added: Collection[str]) -> Machine:
    """The arrays for the texts of an automaton.

    Args:
        source: the automaton.
        segmenter: the segmenter of the tokenizer.
        added: the added tokens that the tokenizer finds in texts. A text that contains one of them is not the text of other tokens.

    Raises:
        UnsupportedError: there is no room for the automaton.
    """
    targets, finals = _without(_written(source, segmenter), [content.encode() for content in added])
    if segmenter.begins_with_space:  # decoding removes the space of the first token, so it is put before the text
        row = targets[:1].copy()
        row[0, ord(" ")] = 0
        targets, finals = np.concatenate([targets, row]), np.append(finals, finals[0])
    start = len(finals) - 1 if segmenter.begins_with_space else 0
    order, next_bytes = _witnesses(targets, finals)
    states, cuts = len(finals), len(segmenter.ends)
    numbers = np.full(states, NOWHERE, np.int32), np.zeros(states, np.int32), np.zeros((states, cuts), np.int32)
    is_path = len(segmenter.trie) > 0
    params = np.array([segmenter.limit, is_path, start, is_path and _are_exact(np.append(segmenter.scores, segmenter.unknown))])
    shared = {name: getattr(segmenter, name) for name in Machine._fields if hasattr(segmenter, name) and name != "unknown"}
    machine = Machine(targets, finals, next_bytes, *numbers, **shared, params=params, unknown=np.array([segmenter.unknown]))
    find_live.call(machine, order)
    return machine


def _written(source: ByteAutomaton, segmenter: Segmenter) -> ByteAutomaton:
    """The automaton of the texts whose characters are all in tokens; if there is none, a state that accepts nothing."""
    is_written = (segmenter.cuts != NOWHERE).any(axis=(0, 1))
    if is_written.all():
        return source
    found = segmenter.characters
    targets = np.where(found > 0, found, np.where((found < 0) & is_written[-1 - np.minimum(found, -1)], 0, NOWHERE)).astype(np.int32)
    each_byte = np.arange(256, dtype=np.uint8)
    written = Language(each_byte, targets, np.arange(len(targets)) == 0)
    both = intersection(Language(source.classes, source.by_class, source.is_final), written)
    nothing = ByteAutomaton(np.zeros(256, np.uint8), np.full((1, 1), NOWHERE, np.int32), np.zeros(1, np.bool_))
    return nothing if both.is_empty else both.over_bytes()


def _are_exact(scores: Array) -> bool:
    """Whether sums of at most `MAX_ADDED` scores, and their differences, are not rounded."""
    mantissas, exponents = np.frexp(scores[scores != 0])
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest = np.log2(whole & -whole) + exponents - 53  # the exponent of the lowest bit of each score
    return bool(np.abs(scores).max(initial=0) * MAX_ADDED < 2.0 ** (53 + lowest.min(initial=0)))


def _witnesses(targets: Array, finals: Array) -> tuple[Array, Array]:
    """The states with a text, by its length, and the first byte of the text; transitions to other states are removed from `targets`."""
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


def _without(source: ByteAutomaton, strings: list[bytes]) -> tuple[Array, Array]:
    """The automaton of the texts that contain none of some strings: the product with the automaton of Aho and Corasick.

    Raises:
        UnsupportedError: there are too many states.
    """
    if not strings:
        return source.targets.astype(np.int32), source.is_final.astype(np.uint8)
    steps, is_found = _aho_corasick(strings)
    nodes = len(steps)
    keys, rows = np.zeros(1, np.int64), []  # keys of all states found so far: ``state * nodes + node``
    known, done = {0: 0}, 0
    while done < len(keys):
        state, node = keys[done:] // nodes, keys[done:] % nodes
        to, after = source.targets[state].astype(np.int64), steps[node]
        found = np.where((to == NOWHERE) | is_found[after], NOWHERE, to * nodes + after)
        fresh = [key for key in np.unique(found).tolist() if key != NOWHERE and key not in known]
        known.update(zip(fresh, range(len(keys), len(keys) + len(fresh)), strict=True))
        rows.append(found)
        done = len(keys)
        keys = np.append(keys, np.array(fresh, np.int64))
        if len(keys) > MAX_PRODUCT:
            raise UnsupportedError(f"without added tokens in texts, the pattern has more than {MAX_PRODUCT:,} states; use canonical=False")
    whole = np.concatenate(rows)
    sorter = np.argsort(keys)
    places = np.searchsorted(keys, whole, sorter=sorter)
    targets = np.where(whole == NOWHERE, NOWHERE, sorter[np.minimum(places, len(keys) - 1)]).astype(np.int32)
    return targets, source.is_final[keys // nodes].astype(np.uint8)


def _aho_corasick(strings: list[bytes]) -> tuple[Array, Array]:
    """The next node of each node for each byte, and whether one of the strings ends at each node."""
    children: list[dict[int, int]] = [{}]
    ends = [False]
    for string in strings:
        node = 0
        for byte in string:
            if byte not in children[node]:
                children[node][byte] = len(children)
                children.append({})
                ends.append(False)
            node = children[node][byte]
        ends[node] = True
    steps = np.zeros((len(children), 256), np.int64)
    level = [(0, 0)]  # nodes, each with its failure link
    while level:
        below = []
        for node, link in level:
            if node:
                steps[node] = steps[link]
                ends[node] = ends[node] or ends[link]
            for byte, child in children[node].items():
                below.append((child, int(steps[node, byte]) if node else 0))
        for node, _ in level:
            for byte, child in children[node].items():
                steps[node, byte] = child
        level = below
    return steps, np.array(ends)
