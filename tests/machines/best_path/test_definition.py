"""Best paths: walk and kernel are compared with all paths of small random machines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from typing import Any

import numpy as np
import pytest
from support.machines.transducers import rewritten, rows_of, walked
from support.naive.best_path import least_weight

from fst.compile.algebra.machine import Fst
from fst.compile.machines.best_path.compiler import best_path
from fst.errors import TextError, VocabularyError
from fst.machines.best_path import arguments
from fst.machines.best_path.table import BestPathTable
from fst.runtime.machines.best_path.running import MORE, NO_MORE, BestPaths
from fst.runtime.rewriting.rows import Rows

LABELS = ("a", "b", "é", "ab", "")
WEIGHTS = (0, 0, 0.25, 0.5, 1)
MACHINES = 150


def drawn_machine(draw: random.Random, weights: tuple[float, ...] = WEIGHTS) -> Fst:
    """A small machine, often with ε-arcs and cycles, over characters and the symbol "ab"."""
    states = draw.randint(1, 6)
    arcs = [
        (draw.randrange(states), draw.randrange(states), draw.choice(LABELS), draw.choice([*LABELS, "世"]), draw.choice(weights))
        for _ in range(draw.randint(1, 14))
    ]
    return Fst.from_arcs(arcs, {draw.randrange(states): draw.choice(weights) for _ in range(2)} | {states - 1: 0})


def drawn_texts(draw: random.Random, count: int, size: int = 6) -> list[str]:
    """Short texts over the letters of the machines."""
    return ["".join(draw.choice("aabé") for _ in range(draw.randrange(size))) for _ in range(count)]


def drawn(seed: str, count: int = MACHINES) -> Iterator[tuple[random.Random, Fst]]:
    """Random machines, each with its source of random numbers."""
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        yield draw, drawn_machine(draw)


@pytest.fixture
def small_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make working arrays so small that a few layers fill them."""
    for name, size in (("MIN_LAYERS", 8), ("MIN_ITEMS", 8), ("MIN_BACKS", 8), ("MIN_TRAIL", 4)):
        monkeypatch.setattr(arguments, name, size)


@pytest.mark.slow
def test_walk_finds_the_least_weight() -> None:
    """The walk finds a path if and only if one exists; its weight is the least of all paths, and the least of the paths with its output."""
    for draw, machine in drawn("walk"):
        table = best_path(machine)
        table.prove()
        for text in drawn_texts(draw, 4):
            path, expected = table.path(text.encode()), least_weight(machine, text)
            assert (path is None) == (expected == inf)
            if path:
                assert table.weight_of(path.weight) == expected == least_weight(machine, text, table.output(path).decode())


@pytest.mark.slow
def test_kernel_equals_walk() -> None:
    """Kernel and walk write the same texts, and copy texts without a path on request."""
    for draw, machine in drawn("kernel"):
        table, texts = best_path(machine, unknown="copy"), drawn_texts(draw, 12, 10)
        assert rewritten(table, texts) == [walked(table, text) for text in texts]


@pytest.mark.slow
@pytest.mark.usefixtures("small_arrays")
def test_full_arrays() -> None:
    """If arrays are full, the kernel writes the output that is certain, drops layers, and lets arrays grow, with the same result."""
    for draw, machine in drawn("full"):
        table, texts = best_path(machine, unknown="copy"), drawn_texts(draw, 4, 60)
        assert rewritten(table, texts) == [walked(table, text) for text in texts]


@pytest.mark.slow
def test_spans_equal_those_of_the_walk() -> None:
    """Each new character has the span that the walk finds."""
    for draw, machine in drawn("spans"):
        table, texts = best_path(machine, unknown="copy"), drawn_texts(draw, 6)
        runner, rows = BestPaths(table), rows_of(texts)
        numbers = [number for text in texts for number, char in enumerate(text) for _ in char.encode()]
        spans = np.array([*((number, number + 1) for number in numbers), (0, 0)], np.int32).ravel()
        new = runner.run(rows._replace(spans=spans), runner.buffers())
        begins = new.text & 0xC0 != 0x80
        expected = [[written.start, written.end] for text in texts for written in table.written(text)]
        assert new.spans.reshape(-1, 2)[:-1][begins].tolist() == expected


@pytest.mark.slow
def test_parts_equal_the_whole() -> None:
    """A text that is read in parts, each from the position at which the last call stopped, is rewritten as in one call."""
    for draw, machine in drawn("parts"):
        table, runner = best_path(machine), BestPaths(best_path(machine))
        for text in drawn_texts(draw, 3, 30):
            path = table.path(text.encode())
            if path is None:
                continue
            buffers, place, data, found = runner.buffers(), runner.start(), b"", b""
            for byte in text.encode():
                data += bytes([byte])
                found, data = found + _part(runner, data, MORE, place, buffers), data[int(place[arguments.AT]) :]
            assert found + _part(runner, data, NO_MORE, place, buffers) == table.output(path)


def _part(runner: BestPaths, data: bytes, more: Any, place: Any, buffers: Any) -> bytes:
    """The new text of a part of a row."""
    place[[arguments.ROW, arguments.AT, arguments.FILLED]] = 0
    rows = Rows(np.frombuffer(data, np.uint8), np.array([0, len(data)]))
    return runner.run_part(rows, more, place, buffers).text.tobytes()


@pytest.mark.slow
def test_negative_weights() -> None:
    """Negative weights also give paths of least weight, unless a path has a cycle of ε-arcs of negative weight, which is refused."""
    tables = list[BestPathTable]()
    for number in range(MACHINES):
        draw = random.Random(f"negative {number}")
        machine = drawn_machine(draw, (*WEIGHTS, -0.5))
        with suppress(VocabularyError):
            table, texts = best_path(machine, unknown="copy"), drawn_texts(draw, 3)
            tables.append(table)
            for text in texts:
                path = table.path(text.encode())
                assert (table.weight_of(path.weight) if path else inf) == least_weight(machine, text)
            assert rewritten(table, texts) == [walked(table, text) for text in texts]
    assert 0 < len(tables) < MACHINES


@pytest.mark.slow
def test_equal_weights() -> None:
    """Of paths with equal weights, the choice does not depend on texts that were rewritten before."""
    for draw, machine in drawn("ties"):
        table, texts = best_path(machine, unknown="copy"), drawn_texts(draw, 10, 8)
        expected = rewritten(table, texts)
        assert rewritten(table, texts[::-1])[::-1] == expected


def test_text_without_a_path() -> None:
    """A text without a path is an error that contains the row, and the byte after which no path continues."""
    table = best_path(Fst.from_strings([("ab", "x"), ("abcd", "y")]))
    for text, place in (("abx", 2), ("abc", 3), ("", 0)):
        with pytest.raises(TextError, match=f"row 1: no path through the transducer goes on after byte {place}") as caught:
            rewritten(table, ["ab", text])
        assert (caught.value.row, caught.value.place) == (1, place)
        with pytest.raises(TextError, match="no path"):
            table.run(text)


@pytest.mark.usefixtures("small_arrays")
def test_open_paths_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text whose first output depends on its last byte, and that has more bytes than the arrays have room for, is refused."""
    monkeypatch.setattr("fst.runtime.machines.best_path.running.MAX_GROWTH", 4)
    many = Fst.from_strings(["a"]).closure()
    table = best_path(Fst.from_strings([("", "x")]) + many + Fst.from_strings(["b"]) | Fst.from_strings([("", "y")]) + many)
    assert rewritten(table, ["aaab", "aa"]) == ["xaaab", "yaa"]
    with pytest.raises(TextError, match="row 1: there are too many open paths after byte"):
        rewritten(table, ["a", "a" * 1000])


@pytest.mark.slow
def test_weights_out_of_range() -> None:
    """Weights of paths that differ by more than numbers can express are refused."""
    steps = [(step, (step + 1) % 200, "" if step else "a", "" if step else "y", 1e30) for step in range(200)]
    dear, cheap = Fst.from_arcs(steps, [0]), Fst.from_arcs([(0, 0, "a", "x")], [0])
    table = best_path(dear + Fst.from_strings(["b"]) | cheap)
    assert rewritten(table, ["aab", "aa"]) == ["yyb", "xx"]
    with pytest.raises(TextError, match="row 0: weights of paths differ too much"):
        rewritten(table, ["a" * 200_000])


def test_incomplete_characters_are_refused() -> None:
    """A new text that is not UTF-8 is refused with its row, by kernel and walk."""
    table = best_path(Fst.from_arcs([(0, 1, "a", 0xC3), (1, 2, "b", 0xA9)], final=[1, 2], unit="utf-8"))
    assert rewritten(table, ["ab"]) == ["é"]
    with pytest.raises(TextError, match="row 1: the new text is not UTF-8"):
        rewritten(table, ["ab", "a"])
    with pytest.raises(TextError, match="not UTF-8"):
        table.run("a")
