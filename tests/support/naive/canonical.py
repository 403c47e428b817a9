"""Canonical token masks by their definition: all texts of a finite set are encoded, and kept if the ids decode to the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

import fst
from fst.compile.machines.guide.languages import ByteAutomaton

Path = tuple[int, ...]


def texts_of(automaton: ByteAutomaton) -> Iterator[str]:
    """All texts of an automaton without cycles."""
    stack = [(0, b"")]
    while stack:
        state, text = stack.pop()
        if automaton.is_final[state]:
            yield text.decode()
        row = automaton.targets[state]
        stack += [(int(row[byte]), text + bytes([byte])) for byte in np.flatnonzero(row >= 0).tolist()]


def encodings(tok: fst.Tokenizer, texts: Iterable[str]) -> set[Path]:
    """The ids of each text, for texts to which their ids decode."""
    found = set()
    for text in texts:
        ids = tok.encode(text, add_special_tokens=False)
        if tok.decode(ids) == text:
            found.add(tuple(ids.tolist()))
    return found


def masks(paths: Iterable[Path]) -> dict[Path, set[int]]:
    """The ids that follow each beginning of some paths."""
    found: dict[Path, set[int]] = {(): set()}
    for path in paths:
        for end in range(len(path)):
            found.setdefault(path[:end], set()).add(path[end])
        found.setdefault(path, set())
    return found
