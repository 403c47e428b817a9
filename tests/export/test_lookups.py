"""Exported look-up in C and in JavaScript finds the analyses of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.conformance.samples import SAMPLES
from support.hosts import FstError, LookingUp, folder_of, needs_c, needs_node, node

import fst
from fst.compile import lookup

pytestmark = pytest.mark.slow

OTHER, MISSING = -6, -7  # errors of fst.h
ODD = ("", " ", "\0", "😀" * 9, "b" * 3000, "ab" * 20)


class Machine(NamedTuple):
    """A look-up, the folder of its export, and words."""

    words: fst.Lookup
    folder: Path
    texts: list[str]


@pytest.fixture(scope="module", params=["lookup", "lookup generating", "lookup flags", "lookup weights", "many"])
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A look-up and its export."""
    folder, draw = tmp_path_factory.mktemp("lookup"), random.Random(50)
    if request.param == "many":  # more analyses than the limit
        many = lookup({"a": [f"{number}" for number in range(5000)]})
        return Machine(fst.Lookup(many), folder_of(many, folder / "export"), ["a", "b", "a" * 3])
    sample = SAMPLES[request.param]
    table = sample.make(folder)
    parts = ["".join(draw.choices(sample.parts, k=draw.randrange(12))) for _ in range(300)]
    return Machine(fst.Lookup(table), folder_of(table, folder / "export"), [*ODD, *parts])


def expected_of(words: fst.Lookup, text: str) -> dict[str, Any]:
    """The analyses of a word, their weights, and whether there are no more."""
    found = words.lookup_batch([text])
    weights = None if found.weights is None else found.weights.tolist()
    return {"analyses": found[0], "weights": weights, "isComplete": bool(found.is_complete[0])}


def directions(words: fst.Lookup) -> Sequence[fst.Lookup]:
    """The look-up in each direction of its table."""
    try:
        return words, words.inverted()
    except fst.UnsupportedError:
        return (words,)


@needs_node
def test_javascript_has_the_analyses_of_python(machine: Machine) -> None:
    """In JavaScript, the analyses of words, their weights and the words of analyses are those of Python."""
    ways = directions(machine.words)
    for way, each in enumerate(ways):
        found = node(machine.folder, [["analyses", text, {"generate": bool(way)}] for text in machine.texts], "lookup")
        assert found == [expected_of(each, text) for text in machine.texts]
    assert node(machine.folder, [["lookup", text] for text in machine.texts], "lookup") == [machine.words(text) for text in machine.texts]
    if len(ways) == 1:
        assert node(machine.folder, [["generate", "a"]], "lookup")[0].startswith("RangeError: the table has no generation")


@needs_c
def test_c_has_the_analyses_of_python(machine: Machine) -> None:
    """In C, the analyses of words, their weights and the words of analyses are those of Python; a missing direction is an error."""
    host, ways = LookingUp(machine.folder), directions(machine.words)
    for way, each in enumerate(ways):
        for text in machine.texts:
            expected = expected_of(each, text)
            weights = expected["weights"] or [0.0] * len(expected["analyses"])
            assert host.look_up(text.encode(), way) == (expected["analyses"], weights, expected["isComplete"])
    if len(ways) == 1:
        with pytest.raises(FstError, match=str(MISSING)):
            host.look_up(b"a", 1)


@needs_c
@needs_node
def test_words_that_take_too_many_steps_are_errors(machine: Machine) -> None:
    """A word for which Python takes its slow walk is an error, and the next word is looked up."""
    host = LookingUp(machine.folder)
    with pytest.raises(FstError, match=str(OTHER)):
        host.look_up(b"a" * 5000, 0)
    assert host.look_up(b"a", 0)[0] == machine.words("a")
    error, found = node(machine.folder, [["lookup", "a" * 5000], ["lookup", "a"]], "lookup")
    assert error.startswith("RangeError: the word takes so many steps")
    assert found == machine.words("a")
