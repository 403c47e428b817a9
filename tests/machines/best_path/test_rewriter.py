"""A rewriter with a table of the best path."""

from __future__ import annotations

import random

import pytest

import fst
from fst.compile import best_path
from fst.compile.algebra.machine import Fst

NUMBERS = Fst.from_strings([("2 m", "two meters", 1.0), ("2", "two", 1.0), (" m", " em", 1.0), ("é", "e", 1.0), ("a", "a", 1.0)]).closure()


def test_texts() -> None:
    """The result is the best path of the whole text, offsets are spans of the characters that arcs read, and `explain` is refused."""
    rewriter = fst.Rewriter(best_path(NUMBERS))
    assert repr(rewriter).startswith("<fst.Rewriter of best-path: ")
    assert rewriter.apply_batch(["2 m2", "a", ""]) == ["two meterstwo", "a", ""]
    with pytest.raises(fst.UnsupportedError, match="expected a table of rewrite rules"):
        rewriter.explain("a")
    assert rewriter.align_batch(["éa", "a"]).offsets.tolist() == [[0, 1], [1, 2], [0, 1]]


def test_row_without_a_path() -> None:
    """An error contains the row number in the whole batch, on any number of threads."""
    rewriter = fst.Rewriter(best_path(NUMBERS))
    texts = ["a" * 600] * 2000
    texts[1500] += "x"
    for threads in (1, 3):
        with pytest.raises(fst.TextError, match="row 1500: no path through the transducer goes on after byte 600") as caught:
            rewriter.apply_batch(texts, threads=threads)
        assert caught.value.row == 1500


def test_streams() -> None:
    """A stream returns the output that is certain, and the rest at the end; a text without a path is an error."""
    stream = fst.Rewriter(best_path(NUMBERS)).stream()
    stream.write("éa2")
    assert stream.read() == "ea"
    stream.write(" m")
    assert stream.close() == "two meters"
    text = "".join(random.Random(0).choices(["2 m", "2", "a", "é"], k=1000))
    stream = fst.Rewriter(best_path(NUMBERS)).stream()
    for letter in text:
        stream.write(letter)
    assert stream.close() == fst.Rewriter(best_path(NUMBERS)).apply(text)
    stream = fst.Rewriter(best_path(NUMBERS)).stream()
    with pytest.raises(fst.TextError, match="no path"):
        stream.write("ax")


def test_streams_that_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text whose output depends on its end is read again only after it has grown."""
    monkeypatch.setattr("fst.runtime.machines.best_path.running.MUCH", 100)
    many = Fst.from_strings(["a"]).closure()
    late = Fst.from_strings([("", "x")]) + many + Fst.from_strings(["b"]) | Fst.from_strings([("", "y")]) + many
    stream = fst.Rewriter(best_path(late)).stream()
    for _ in range(1000):
        stream.write("a")
        assert stream.read() == ""
    stream.write("b")
    assert stream.close() == "x" + "a" * 1000 + "b"


def test_streams_cannot_copy() -> None:
    """A stream is refused if texts without a path are copied, because nothing is certain before the end of a text."""
    rewriter = fst.Rewriter(best_path(NUMBERS, unknown="copy"))
    assert rewriter.apply("2 m!") == "2 m!"
    with pytest.raises(fst.UnsupportedError, match="unknown='error'"):
        rewriter.stream()
