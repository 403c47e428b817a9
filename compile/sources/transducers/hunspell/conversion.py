"""Conversions of words before look-up (ICONV), and characters that words may contain anywhere (IGNORE)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.compose import compose
from fst.compile.algebra.connect import connect
from fst.errors import UnsupportedError

MAX_LENGTH, MAX_ARCS = 16, 1 << 20


def converted(arcs: Arcs, conversions: Sequence[tuple[str, str]], ignored: str) -> Arcs:
    """The machine that reads a word as `arcs` reads the converted word without ignored characters."""
    if not (conversions or ignored):
        return arcs
    read = map(chr, np.unique(arcs.ilabel[arcs.ilabel != EPSILON]).tolist())
    alphabet = {*read, *ignored, *"".join(pattern for pattern, _ in conversions)}
    return connect(compose(_converter(dict(reversed(conversions)), ignored, sorted(alphabet)), arcs))


def _converter(conversions: Mapping[str, str], ignored: str, alphabet: Sequence[str]) -> Arcs:
    """The transducer that replaces at each position the longest pattern, and removes ignored characters from what it writes.

    A state is the begin of a pattern that is read and not yet written.
    """
    longest = max(map(len, [*conversions, *conversions.values()]), default=0)
    if longest > MAX_LENGTH:
        raise UnsupportedError(f"a conversion (ICONV) has {longest:,} characters; expected at most {MAX_LENGTH}; remove it")
    unfinished = {pattern[:end] for pattern in conversions for end in range(1, len(pattern))}
    if (1 + len(unfinished)) * len(alphabet) > MAX_ARCS:
        raise UnsupportedError(f"the conversions (ICONV) take more than {MAX_ARCS:,} arcs; expected fewer; remove some")
    states = {"": 0}
    waiting = [""]
    columns: list[tuple[int, str, str, int]] = []
    while waiting:
        pending = waiting.pop()
        for char in alphabet:
            output, rest = _replaced(pending + char, conversions, unfinished)
            if rest not in states:
                states[rest] = len(states)
                waiting.append(rest)
            columns.append((states[pending], char, output, states[rest]))
    end = len(states)
    columns += [(state, "", _replaced(pending, conversions)[0], end) for pending, state in states.items()]
    removed = dict.fromkeys(map(ord, ignored))
    return _machine([(source, read, write.translate(removed), target) for source, read, write, target in columns], end)


def _replaced(text: str, conversions: Mapping[str, str], unfinished: Collection[str] = ()) -> tuple[str, str]:
    """Convert a text from the left, until the rest is one of `unfinished`; return the output, and this rest."""
    output = ""
    while text and text not in unfinished:
        size = max((end for end in range(1, len(text) + 1) if text[:end] in conversions), default=0)
        output += conversions[text[:size]] if size else text[0]
        text = text[max(size, 1) :]
    return output, text


def _machine(columns: Sequence[tuple[int, str, str, int]], end: int) -> Arcs:
    """The machine of arcs that read at most one character and write a string."""
    states = end + 1
    arcs: list[tuple[int, int, int, int]] = []
    for source, read, write, target in columns:
        path = [source, *range(states, states + max(len(write) - 1, 0)), target]
        states += len(path) - 2
        for place, (begin, following) in enumerate(pairwise(path)):
            arcs.append((begin, ord(read) if read and not place else EPSILON, ord(write[place]) if write else EPSILON, following))
    final = np.full(states, np.inf)
    final[end] = 0
    source_states, reads, writes, targets = zip(*arcs, strict=True)
    return make(source_states, reads, writes, targets, None, final, 0)
