"""Conversions of words before look-up (ICONV), and characters that words may contain anywhere (IGNORE)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from fst.compile.algebra.arcs import EPSILON, Arcs
from fst.compile.algebra.build.chains import Chains
from fst.compile.algebra.compose import compose
from fst.compile.algebra.connect import connect
from fst.compile.algebra.kernels.room import SizeError

MAX_LENGTH, MAX_ARCS = 16, 1 << 17  # of Debian's dictionaries, French has the most arcs, 2,640


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
        raise SizeError(f"a conversion (ICONV) has {longest:,} characters; expected at most {MAX_LENGTH}", "remove it")
    unfinished = {pattern[:end] for pattern in conversions for end in range(1, len(pattern))}
    if (1 + len(unfinished)) * len(alphabet) > MAX_ARCS:
        raise SizeError(f"the conversions (ICONV) take more than {MAX_ARCS:,} arcs; expected fewer", "remove some")
    removed, chains = dict.fromkeys(map(ord, ignored)), Chains()
    states = {"": chains.state()}
    waiting = [""]
    while waiting:
        pending = waiting.pop()
        for char in alphabet:
            output, rest = _replaced(pending + char, conversions, unfinished)
            if rest not in states:
                states[rest] = chains.state()
                waiting.append(rest)
            chains.add(states[pending], ord(char), [*map(ord, output.translate(removed))], states[rest])
    end = chains.state(0.0)
    for pending, state in states.items():
        chains.add(state, EPSILON, [*map(ord, _replaced(pending, conversions)[0].translate(removed))], end)
    return chains.machine()


def _replaced(text: str, conversions: Mapping[str, str], unfinished: Collection[str] = ()) -> tuple[str, str]:
    """Convert a text from the left, until the rest is one of `unfinished`; return the output, and this rest."""
    output = ""
    while text and text not in unfinished:
        size = max((end for end in range(1, len(text) + 1) if text[:end] in conversions), default=0)
        output += conversions[text[:size]] if size else text[0]
        text = text[max(size, 1) :]
    return output, text
