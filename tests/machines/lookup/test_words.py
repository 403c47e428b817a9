"""Kernels make the strings of one word, and the lines of many words, as the specifications do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.lookup import machines
from support.tiers import examples

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import Fst
from fst.machines.lookup.layout import MAX_ANALYSES, MAX_SYMBOLS
from fst.machines.lookup.walk import analyses
from fst.runtime.machines.lookup.lines import LINES, line_of
from fst.runtime.machines.lookup.spelling import MOST_ANALYSES, MOST_BYTES, spelled

WORDS = [*map("".join, (word for length in range(3) for word in product(("a", "b", "<n>", "É", "/"), repeat=length)))]


@given(machines())
@examples(40)
def test_one_word(machine: Fst) -> None:
    """The analyses of a single word are those of the slow walk, in its order, in both directions."""
    table = lookup(machine, inverse=True)
    m = fst.Lookup(table)
    for inverse, direction in enumerate((m, m.inverted())):
        ids = [analyses(table, word, inverse=bool(inverse)) for word in WORDS]
        assert [direction(word) for word in WORDS] == [spelled(row, table.pieces, weighted=table.is_weighted) for row in ids]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    "word",
    [
        pytest.param("<n>" * 3_000, id="many characters"),
        pytest.param("a" * (MAX_SYMBOLS + 1), id="many symbols"),
        pytest.param("m", id="many analyses"),
        pytest.param("l", id="long analysis"),
        pytest.param("d" * 40, id="slow walk"),
    ],
)
def test_word_that_needs_a_batch(word: str) -> None:
    """A word that does not fit into the arrays for one word has the analyses of a batch."""
    arcs = [(0, 0, "a", "b"), (0, 0, "<n>", "n"), (0, 1, "m", ""), (0, 1, "l", "x" * (MOST_BYTES + 1))]
    many = [(1, 2, "", f"{number}.") for number in range(MOST_ANALYSES + 1)]
    dead = [(0, 3, "d", ""), (0, 4, "d", ""), *((source, target, "d", "") for source in (3, 4) for target in (3, 4))]
    m = fst.Lookup(lookup(Fst.from_arcs([*arcs, *many, *dead, (3, 2, "e", "x"), (4, 2, "e", "y")], final=[0, 1, 2])))
    assert m._find(word) is None
    assert m(word) == m.lookup_batch([word])[0]


def test_options_of_one_word() -> None:
    """Options, bytes and subclasses of str have the results of a batch, and a lone surrogate is an error."""

    class Word(str):
        __slots__ = ()

    m = fst.Lookup(lookup([("é", "x", 2.0), ("é", "y", 1.0)]))
    assert (m("é"), m(Word("é")), m("é".encode()), m("é", limit=1), m("É", case="fold")) == (["y", "x"],) * 3 + (["y"], ["y", "x"])
    assert (m("É"), m("É", unknown="copy"), m("")) == ([], ["É"], [])
    with pytest.raises(fst.TextError, match="row 0, position 1: a lone surrogate"):
        m("é\ud800")


def test_words_in_threads() -> None:
    """Threads that look up words at the same time get their own analyses."""
    words = [f"{number:0600}" for number in range(20)]  # so long that the kernel releases the interpreter's lock
    m = fst.Lookup(lookup({word: [f"{word}é", "x"] for word in words}))
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: [m(word) for word in words * 10], range(4)):
            assert found == [[f"{word}é", "x"] for word in words * 10]


@given(machines(), some.lists(some.sampled_from([*WORDS, None, "$", "\\", "ab世"]), max_size=9))
@examples(100)
def test_lines(machine: Fst, words: list[str | None]) -> None:
    """The lines of words follow the specification, and a null has the lines of an empty word without analyses."""
    m = fst.Lookup(lookup(machine))
    found = m.lookup_batch([word or "" for word in words])
    rows = [[] if word is None else row for word, row in zip(words, found, strict=True)]
    splits, weights = found.row_splits.tolist(), found.weights
    for form in LINES:
        expected = [
            line_of(form, word or "", row, None if weights is None else weights[begin:][: len(row)].tolist())
            for word, row, begin in zip(words, rows, splits[:-1], strict=True)
        ]
        given = [None if word is None else word.encode() for word in words]
        assert found.lines(given, form).tobytes().decode() == "".join(expected)


def test_lists_of_a_large_batch() -> None:
    """Lists are made in parts, and iteration gives the same lists as single rows."""
    m = fst.Lookup(lookup({"a": ["x", "é"], "b": ["世"], "c": []}))
    words = np.random.default_rng(0).choice([*"abcd"], 5_000).tolist()
    found = m.lookup_batch(words, unknown="copy")
    assert [*found] == [found[row] for row in range(len(found))]
    assert found[-1] == m(words[-1], unknown="copy")


def test_all_analyses_of_one_word() -> None:
    """A word has at most as many analyses as a batch returns."""
    m = fst.Lookup(lookup(Fst.from_arcs([(0, 0, "a", "x"), (0, 0, "a", "y")], final=[0])))
    assert len(m("a" * 13)) == MAX_ANALYSES
