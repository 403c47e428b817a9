"""Numbers of characters in the texts of automata over UTF-8, for tallies that count characters without dead positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.guide.languages import Language

Edge = tuple[int, int, int]  # a state, the next state, and the number of characters that begin between them: 0 or 1
Graph = dict[int, list[tuple[int, int]]]  # for each state, its neighbours and the numbers of characters between them


def edges_of(language: Language) -> list[Edge]:
    """The edges of a language of texts in UTF-8."""
    before, columns = np.nonzero(language.targets >= 0)
    pairs = np.unique(np.stack([before, language.targets[before, columns]], axis=1), axis=0)
    inside = is_inside(language)
    return [(before, after, int(not inside[before])) for before, after in pairs.tolist()]


def is_inside(language: Language) -> NDArray[np.bool_]:
    """bool[states]: whether a state of a language of texts in UTF-8 is inside a character."""
    return np.asarray((language.targets[:, np.unique(language.classes[0x80:0xC0])] >= 0).any(axis=1), np.bool_)


def remaining(edges: list[Edge], start: int, ends: Collection[int], least: int, most: int | None) -> dict[int, int] | None:
    """The smallest number of characters from each state up to an end.

    Args:
        edges: the edges of an automaton.
        start: its start.
        ends: its ends.
        least: the least number of characters of a text.
        most: the largest number; None: no bound.

    Returns:
        The number for each state that leads to an end; None if a tally might reach a dead end: a state and a count from which `most` still
        allows an end, but no text has `least` characters.
    """
    forward, backward = _graph(edges), _graph((after, before, count) for before, after, count in edges)
    shortest = _distances(backward, dict.fromkeys(ends, 0))
    read = _distances(forward, {start: 0})
    early = {state for state, count in shortest.items() if count + read.get(state, least) < least}
    # an endless path of steps along which `shortest` does not rise: from there, a text can have every larger number of characters
    steps = [(before, after) for before, after, _ in edges if after in shortest and (most is None or shortest[after] <= shortest[before])]
    return shortest if not early or early <= _endless(steps) else None


def _graph(edges: Iterable[Edge]) -> Graph:
    found: Graph = {}
    for before, after, count in edges:
        found.setdefault(before, []).append((after, count))
    return found


def _distances(graph: Graph, seeds: dict[int, int]) -> dict[int, int]:
    """The smallest number of characters between each state and a seed, plus the number of the seed."""
    found = dict(seeds)
    by_count: dict[int, list[int]] = {}
    for state, count in seeds.items():
        by_count.setdefault(count, []).append(state)
    while by_count:
        count = min(by_count)
        queue = by_count.pop(count)
        for state in queue:  # the loop appends to `queue`
            if found[state] < count:
                continue
            for other, more in graph.get(state, ()):
                if count + more < found.get(other, count + more + 1):
                    found[other] = count + more
                    (by_count.setdefault(count + 1, []) if more else queue).append(other)
    return found


def _endless(steps: list[tuple[int, int]]) -> set[int]:
    """The states from which steps lead on without end."""
    left = Counter(before for before, _ in steps)
    backward: dict[int, list[int]] = {}
    for before, after in steps:
        backward.setdefault(after, []).append(before)
    work = [state for state in backward if not left[state]]
    for state in work:  # the loop appends to `work`
        for before in backward.get(state, ()):
            left[before] -= 1
            if not left[before]:
                work.append(before)
    return {state for state, count in left.items() if count}
