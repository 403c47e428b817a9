"""The slow walk of spellers with an error model, the specification of the kernel: all paths in the order of their weights."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fst.automata import flags
from fst.errors import TextError, counted
from fst.machines.speller.zhfst.arguments import MAX_NODES, MAX_WORD, Lexicon, Model


class Suggestion(NamedTuple):
    """A string that the lexicon reads, and its weight."""

    weight: np.float32
    text: str


class _Node(NamedTuple):
    """A part of a path: its weight, the string, the position in the word, the states, and the registers; -1 as states: complete."""

    weight: np.float32
    text: str
    position: int
    model: int
    lexicon: int
    registers: tuple[int, ...]


def labels_of(text: str, symbols: Mapping[str, int], other: int) -> list[int]:
    """Split a text into symbols, from left to right, each the longest that fits; return their labels, and `other` for other characters.

    Raises:
        TextError: the text has more than `MAX_WORD` symbols.
    """
    longest, found, at = max(map(len, symbols), default=1), list[int](), 0
    while at < len(text):
        size = next((size for size in range(min(longest, len(text) - at), 1, -1) if text[at : at + size] in symbols), 1)
        found.append(symbols.get(text[at : at + size], other))
        at += size
    if len(found) > MAX_WORD:
        raise TextError(f"the word has {counted(len(found), 'symbol')}; expected at most {MAX_WORD:,}")
    return found


def suggestions(lexicon: Lexicon, model: Model, word: Sequence[int], limit: int) -> list[Suggestion]:
    """The strings of least weight for a word, given by its labels."""
    start = _Node(np.float32(0), "", 0, 0, 0, (0,) * int(lexicon.features[0]))
    heap, seen, found = [start], set[_Node](), dict[str, np.float32]()
    while heap:
        node = heapq.heappop(heap)
        if len(found) >= limit and node.weight > sorted(found.values())[limit - 1]:
            break
        key = node._replace(weight=np.float32(0))
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > MAX_NODES:
            raise too_long()
        if node.model < 0:
            found[node.text] = node.weight
        else:
            for after in _moves(lexicon, model, word, node):
                heapq.heappush(heap, after)
    return sorted((Suggestion(weight, text) for text, weight in found.items()), key=lambda one: (one.weight, one.text))[:limit]


def too_long() -> TextError:
    """The error for a search without an end."""
    return TextError(f"the search takes more than {MAX_NODES:,} steps; expected at most as many; ask for fewer suggestions with limit")


def _moves(lexicon: Lexicon, model: Model, word: Sequence[int], node: _Node) -> Iterator[_Node]:
    """Yield the nodes after a node."""
    arcs = range(lexicon.starts[node.lexicon], lexicon.starts[node.lexicon + 1])
    for arc in arcs:
        label = int(lexicon.labels[arc])
        if label < len(lexicon.operations):
            outcome = flags.applied([int(lexicon.operations[label])] if label else [], node.registers)
            if outcome.registers is not None:
                weight = node.weight + lexicon.weights[arc]
                yield node._replace(weight=weight, lexicon=int(lexicon.targets[arc]), registers=outcome.registers)
    for error in range(model.starts[node.model], model.starts[node.model + 1]):
        label, written = int(model.reads[error]), int(model.writes[error])
        position, after = node.position + (label != 0), int(model.targets[error])
        if label and (node.position == len(word) or word[node.position] != label):
            continue
        if not written:
            yield node._replace(weight=node.weight + model.weights[error], position=position, model=after)
        for arc in arcs if written else ():
            if lexicon.labels[arc] == written:
                weight = node.weight + (lexicon.weights[arc] + model.weights[error])
                text = node.text + _characters(lexicon, written)
                yield _Node(weight, text, position, after, int(lexicon.targets[arc]), node.registers)
    whole = node.weight + lexicon.finals[node.lexicon] + model.finals[node.model]
    if node.position == len(word) and np.isfinite(whole):
        yield _Node(whole, node.text, node.position, -1, -1, ())


def _characters(lexicon: Lexicon, label: int) -> str:
    begin, end = lexicon.character_starts[label : label + 2]
    return "".join(map(chr, lexicon.characters[begin:end]))
