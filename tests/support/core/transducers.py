"""The part of the fuzzer that applies operations to transducers, looks words up, and finds best paths."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import fst
from fst.compile import best_path, lookup
from fst.compile.algebra.build.paths import END, Paths
from fst.machines.best_path import arguments
from fst.machines.best_path.table import COPY, UNKNOWN
from fst.runtime.machines.lookup.lines import LINES
from fst.runtime.rows.texts import rows_of
from fst.runtime.workspace import NO_SPECIAL_IDS

LABELS = ("", "a", "b", "é", "<n>", "ab", " ", "世")
FLAGS = ("@P.F.1@", "@N.F.1@", "@R.F.1@", "@D.F@", "@C.F@", "@U.F.2@")
TWICE = fst.Fst.from_arcs([(0, 1, "a", "x"), (1, 3, "b", "yz"), (0, 2, "a", "xy"), (2, 3, "b", "z")], final=[3])  # one analysis, two paths
SMALL = {"MIN_LAYERS": 8, "MIN_ITEMS": 8, "MIN_BACKS": 8, "MIN_TRAIL": 4}  # sizes of arrays, so that they are often full
FLAGGED = fst.Fst.from_arcs(
    [(0, 1, flag, "") for flag in ("", *FLAGS)] + [(1, 2, "a", "a")] + [(2, 3, flag, "x") for flag in FLAGS], final=[3]
)
WORDS = ("a", "ab", "aab b", "<n>", "é世", "A", "aB", "-")


def drive_transducers(draw: random.Random, texts: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """Draw transducers, pass them to every operation and machine, and compare the results of kernels with those of walks."""
    some = [*WORDS, *(text[:9] for text in texts[:9])]
    drive_algebra(draw)
    drive_trees(draw)
    drive_lookup(draw, some)
    for name, size in SMALL.items():
        patch.setattr(arguments, name, size)
    drive_best_path(draw, [*some, "a" * 30, "ab" * 20])


def drawn(draw: random.Random, labels: Sequence[str], weights: Sequence[float] = (0, 0, 0.5, 2)) -> fst.Fst:
    """A small machine, often with cycles, ambiguous paths and arcs that read nothing."""
    states = draw.randint(2, 5)
    arcs = [
        (draw.randrange(states), draw.randrange(states), draw.choice(labels), draw.choice(LABELS), draw.choice(weights))
        for _ in range(draw.randint(4, 14))
    ]
    return fst.Fst.from_arcs(arcs, {draw.randrange(states): draw.choice(weights), states - 1: 0})


def drive_algebra(draw: random.Random) -> None:
    """Apply the operations, and check that machines that must have the same paths are equivalent."""
    first, second = drawn(draw, LABELS), drawn(draw, LABELS)
    for machine in (first @ second, first | second, first + second, first.closure(), first.connect(), first.reverse()):
        with suppress(fst.UnsupportedError):  # weights for which determinization has no result
            machine.optimize().determinize().minimize()
    first.push().shortest_path(3).shortest_distance(reverse=True)
    with suppress(fst.UnsupportedError):  # sums without a finite value
        second.shortest_distance(semiring="log")
    first.remove_epsilon().find_ambiguity()
    one, other = (drawn(draw, LABELS, (0,)).project("input") for _ in range(2))
    assert (one & other).is_equivalent(other - (other - one))
    assert one.minimize().is_equivalent(one.remove_epsilon().determinize())


def drive_trees(draw: random.Random) -> None:
    """Store words in a tree with shared equal subtrees, and check that it is equivalent to the tree without sharing."""
    trees, words = Paths(), [*draw.choices(["".join(word) for word in product("ab", repeat=3)], k=9), *WORDS]
    root = trees.root()
    for word in words:
        trees.add(root, trees.copy(word), END, 0.0)
    assert fst.Fst.of(trees.machine(root)).is_equivalent(fst.Fst.from_strings(words))


def drive_lookup(draw: random.Random, words: Sequence[str]) -> None:
    """Look up words, and analyze texts, in both directions."""
    for machine in (drawn(draw, LABELS), drawn(draw, (*LABELS, *FLAGS)), FLAGGED, TWICE):
        try:
            table = lookup(machine, inverse=True)
        except fst.FstError:  # a cycle reads and writes nothing
            continue
        words_of = fst.Lookup(table)
        for m in (words_of, words_of.inverted()):
            found = m.lookup_batch(words, threads=2)
            assert [m(word) for word in words] == [*found]
            assert m.lookup_arrow(pa.array(words)).to_pylist() == [*found]
            assert [m(word) for word in words] == [*found]
            for form in LINES:
                found.lines([word.encode() for word in words], form)
            m.lookup_batch([word.upper() for word in words], case="fold").strings()
            located = m._encoder._encode(rows_of([*words]), special_ids=NO_SPECIAL_IDS, with_spans=True)
            assert located.offsets is not None
            assert located.offsets[:, 1].tolist() == np.repeat([*map(len, words)], np.diff(located.row_splits)).tolist()
        assert [*words_of.analyze_batch(words)] == [words_of.analyze_text(word) for word in words]
        assert len(words_of.to_apertium(words)) == len(words)


def drive_best_path(draw: random.Random, texts: Sequence[str]) -> None:
    """Rewrite texts by best paths, at once and in streams, and compare the results with those of the walk."""
    for unknown in UNKNOWN:
        with suppress(fst.VocabularyError, fst.UnsupportedError):  # raised if no text has a best path
            table = best_path(drawn(draw, LABELS), unknown=unknown)
            rewriter = fst.Rewriter(table)
            for text in texts:
                with suppress(fst.TextError):  # raised if no path reads the text
                    expected = "".join(map(chr, table.run(text)))
                    assert rewriter.apply(text) == rewriter.align_batch([text]).texts[0] == expected
                    assert unknown == COPY or streamed(rewriter, text) == expected


def streamed(rewriter: fst.Rewriter, text: str) -> str:
    """The new text of a stream that receives one character after the other."""
    stream = rewriter.stream()
    for char in text:
        stream.write(char)
    return stream.close()
