"""The table of a canonical guide: all its states are computed, equal states are merged, and steps become an automaton over marked
tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.hashing import Pool
from fst.automata.refinement import classes_of
from fst.automata.rows import Array
from fst.compile.algebra.build.paths import Open
from fst.compile.algebra.connect import leads_to
from fst.compile.machines.guide.mask_store import Masks
from fst.core.jit import Deferred
from fst.errors import UnsupportedError, quoted
from fst.machines.guide.canonical import Machine
from fst.machines.guide.canonical_states import CanonicalStates, Exploration
from fst.machines.guide.table import GuideTable, header
from fst.machines.guide.vocabulary import WORD_BITS, Vocabulary, marked

MAX_STATES, MAX_STEPS = 1 << 15, 1 << 24  # maximum numbers for a guide, before equal states are merged
FIRST_NODES, MAX_NODES = 1 << 4, 1 << 19  # nodes between states: the initial capacity, and the maximum
LATE = "make masks late with fst.Guide(tok, …, canonical=True)"

add_steps = Deferred("fst.compile.machines.guide.kernels.canonical_table", "add_steps")


class Graph(NamedTuple):
    """The steps of all states. State 0 is the start.

    Attributes:
        row_start: int64[states + 1], the first step of each state.
        tokens: int64[n], the token of each step, in ascending order for each state; targets: int32[n], the state after each step.
        is_final: bool[states].
    """

    row_start: Array
    tokens: Array
    targets: Array
    is_final: Array


def compile_canonical(vocabulary: Vocabulary, machine: Machine, pattern: str | None = None) -> GuideTable:
    """Compile the canonical masks of all states. The pattern, or the schema, of the texts is stored for information only."""
    states = CanonicalStates(machine, vocabulary)
    states.need_text()
    graph = _merged(_alive(_explored(states, vocabulary)))
    token_bytes, token_ends = marked(vocabulary)
    targets, classes = _automaton(graph, vocabulary, token_bytes, token_ends)
    finals = np.zeros(len(targets), np.uint8)
    finals[: len(graph.is_final)] = graph.is_final
    mask_of, masks = _masks(graph, vocabulary, len(targets))
    return GuideTable(
        header(pattern, vocabulary.end_id, keeps_first=False, canonical=True),
        **{"targets": targets, "classes": classes, "finals": finals, "mask_of": mask_of, **masks},
        token_bytes=token_bytes,
        token_ends=token_ends,
        first_bytes=np.empty(0, np.uint8),
        first_ends=np.empty(0, np.int64),
    )


def _explored(states: CanonicalStates, vocabulary: Vocabulary) -> Graph:
    """The steps of all states that can be reached."""
    found, parts, is_final, count = Exploration(states, states.start), [], [], 0
    for number, state in enumerate(found.states):  # the loop appends to the states
        parts.append(found.steps(number))
        is_final.append(states.is_final(state))
        count += len(parts[-1].tokens)
        for size, most, names in ((len(found.states), MAX_STATES, "states"), (count, MAX_STEPS, "steps")):
            if size > most:
                at = _latest_text(found, vocabulary)
                raise UnsupportedError(f"the guide is found to have {size:,} {names} or more, at {at}; expected at most {most:,}; {LATE}")
    row_start = np.append(0, np.cumsum([len(part.tokens) for part in parts]))
    tokens, targets = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
    return Graph(row_start, tokens, targets.astype(np.int32), np.array(is_final, np.bool_))


def _latest_text(found: Exploration, vocabulary: Vocabulary) -> str:
    """The text before the latest state, for an error message."""
    tokens = [found.parents[one][1] for one in found.path(len(found.states) - 1)[-2::-1]]
    return quoted(b"".join(map(vocabulary.content, tokens)).decode(errors="backslashreplace"))


def _alive(graph: Graph) -> Graph:
    """The graph of the states from which a final state can be reached."""
    kept = leads_to(graph.row_start, graph.targets, graph.is_final)
    return _chosen(graph, np.flatnonzero(kept), np.where(kept, np.cumsum(kept) - 1, -1))


def _merged(graph: Graph) -> Graph:
    """The graph with the same masks and steps and the fewest states: states with equal masks whose steps lead to equal states are
    merged.
    """
    sources = np.repeat(np.arange(len(graph.is_final), dtype=np.int32), np.diff(graph.row_start))
    return _chosen(graph, *classes_of(graph.is_final.astype(np.int32), sources, graph.tokens.astype(np.int32), graph.targets))


def _chosen(graph: Graph, states: Array, numbers: Array) -> Graph:
    """The graph of some states; `numbers` contains the new number of each old state, or -1, which removes the steps to this state."""
    sizes = np.diff(graph.row_start)
    is_chosen = np.zeros(len(sizes), np.bool_)
    is_chosen[states] = True
    targets = numbers[graph.targets]
    kept = np.repeat(is_chosen, sizes) & (targets >= 0)
    counts = np.add.reduceat(np.append(kept, False), graph.row_start[:-1], dtype=np.int64) * (sizes > 0)
    row_start = np.append(0, np.cumsum(counts[states]))
    return Graph(row_start, graph.tokens[kept], targets[kept].astype(np.int32), graph.is_final[states])


def _automaton(graph: Graph, vocabulary: Vocabulary, token_bytes: Array, token_ends: Array) -> tuple[Array, Array]:
    """int32[states, classes], the transitions of the states of the graph, then of the states inside tokens; uint8[256], the classes."""
    rows, nodes = _nodes(graph, vocabulary, token_bytes, token_ends)
    states, (starts, arcs) = len(rows), nodes.rows()
    node_count = len(starts) - 1
    sources, labels = np.nonzero(rows >= 0)
    inner = np.repeat(np.arange(node_count), np.diff(starts)) + states
    targets = np.concatenate([rows[sources, labels], arcs.astype(np.uint32).astype(np.int32)])
    sources, labels = np.concatenate([sources, inner]), np.concatenate([labels, (arcs >> np.uint64(32)).astype(np.uint8)])
    classes, columns = np.empty(256, np.uint8), dict[bytes, int]()
    for byte in range(256):
        own = labels == byte
        classes[byte] = columns.setdefault(sources[own].tobytes() + targets[own].tobytes(), len(columns))
    found = np.full((states + node_count, len(columns)), -1, np.int32)
    found[sources, classes[labels]] = targets
    return found, classes


def _nodes(graph: Graph, vocabulary: Vocabulary, token_bytes: Array, token_ends: Array) -> tuple[Array, Pool]:
    """int32[states, 256], the transitions of the states of the graph; and the nodes inside tokens."""
    states, longest = len(graph.is_final), vocabulary.trie.longest + len(vocabulary.trie.twins) + 1
    ranks, rows, nodes = _ranks(vocabulary), np.full((states, 256), -1, np.int32), Pool.of(FIRST_NODES, 4 * FIRST_NODES, np.uint64)
    open_nodes = Open.of(longest, 1 + int(np.diff(graph.row_start).max(initial=0)))
    for state in range(states):
        steps = slice(graph.row_start[state], graph.row_start[state + 1])
        order = np.argsort(ranks[graph.tokens[steps]])
        of_state = graph.tokens[steps][order], graph.targets[steps][order].astype(np.int64)
        while not add_steps.call(token_bytes, token_ends, *of_state, states, open_nodes, nodes, rows[state]):
            if nodes.room >= MAX_NODES:
                raise UnsupportedError(f"the tokens of the guide have more than {MAX_NODES:,} beginnings; expected at most as many; {LATE}")
            nodes = nodes.larger()
    return rows, nodes


def _ranks(vocabulary: Vocabulary) -> Array:
    """int64[ids], the position of each token in the order of token bytes; tokens with the same bytes follow each other."""
    trie = vocabulary.trie
    found, tokens = np.zeros(vocabulary.size, np.int64), trie.tokens[trie.tokens < vocabulary.size]
    found[tokens] = np.arange(len(tokens)) * (len(trie.twins) + 1)
    found[trie.twins[:, 0]] = found[trie.twins[:, 1]] + np.arange(1, len(trie.twins) + 1)
    return found


def _masks(graph: Graph, vocabulary: Vocabulary, states: int) -> tuple[Array, dict[str, Array]]:
    """uint32[states + 2], the number of each state's mask; and the masks. States inside tokens have empty masks."""
    masks, size = Masks(vocabulary.words), vocabulary.words * WORD_BITS
    numbers = np.empty(states + 2, np.uint32)
    ended = [] if vocabulary.end_id is None else [vocabulary.end_id]
    for state, is_final in enumerate(graph.is_final):
        tokens = graph.tokens[graph.row_start[state] : graph.row_start[state + 1]]
        numbers[state] = masks.add(_bits([*tokens, *(ended if is_final else [])], size))
    numbers[len(graph.is_final) :] = masks.add(_bits([], size))
    numbers[-1] = masks.add(_bits(ended, size))
    return numbers, masks.arrays()


def _bits(tokens: list[int], size: int) -> Array:
    bits = np.zeros(size, np.bool_)
    bits[tokens] = True
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)
