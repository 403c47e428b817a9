"""A functional transducer becomes two passes, and any other transducer is refused with a text that has two outputs."""

from __future__ import annotations

import random
from functools import cache, partial
from itertools import product
from typing import Any

import pytest
from support.naive.rules import Replacement, rewritten
from support.tiers import sample

import fst
from fst.compile import cascade, rewrite
from fst.compile.algebra.machine import Fst
from fst.machines.rules.header import DIRECTIONS

TEXTS = ["".join(letters) for size in range(6) for letters in product("abc", repeat=size)]
LEFTS, RIGHTS = ("", "a", "b|x", "^", "^|a", r"\b", "[^a]"), ("", "b", "c|a", "$", "c*$", r"\b", "[^c]")


def outputs(machine: Fst, text: str) -> list[str]:
    """The outputs of a text, by the paths of text ∘ machine."""
    return [output for _, output, _ in (Fst.from_strings([text]) @ machine).paths()]


def first_output(machine: Fst, text: str) -> str | None:
    """The output of a text, or None."""
    return next(iter(outputs(machine, text)), None)


def drawn(draw: random.Random) -> Fst:
    """A random transducer, with arcs that read or write nothing, and outputs that depend on the end of the text."""
    states = draw.randint(1, 4)
    arcs = [
        (draw.randrange(states), draw.randrange(states), draw.choice(["a", "b", "c", "a", "b", ""]), draw.choice(["a", "b", "x", "", "é"]))
        for _ in range(draw.randint(1, 7))
    ]
    return Fst.from_arcs(arcs, final=[draw.randrange(states)])


@pytest.mark.slow
def test_functional_machines_give_their_outputs() -> None:
    """Every text that a functional machine accepts becomes its output, and any other text is copied; other machines are refused."""
    draw, functional = random.Random(0), 0
    for _ in range(60):
        machine = drawn(draw)
        if machine.find_ambiguity():
            with pytest.raises(fst.UnsupportedError, match="not functional"):
                rewrite(machine)
            continue
        functional += 1
        texts = draw.sample(TEXTS, 40)
        assert fst.Rewriter(rewrite(machine)).apply_batch(texts) == [(outputs(machine, text) or [text])[0] for text in texts]
    assert functional > 20


@pytest.mark.slow
def test_machines_over_bytes() -> None:
    """A machine over the bytes of UTF-8 gives the texts of the machine over characters, whatever part of a character an arc writes."""
    draw = random.Random(1)
    for _ in range(40):
        pairs = [[draw.choices("aéß世😀", k=draw.randint(1, 3)), draw.choices("aé世😀x", k=draw.randint(0, 3))] for _ in range(5)]
        entries = {"".join(read): "".join(written) for read, written in pairs}
        characters, over_bytes = Fst.from_strings(entries.items()), Fst.from_strings(entries.items(), unit="utf-8").optimize()
        texts = [*entries, *("".join(draw.choices("aéß世😀", k=draw.randint(0, 4))) for _ in range(20))]
        assert fst.Rewriter(rewrite(over_bytes)).apply_batch(texts) == fst.Rewriter(rewrite(characters)).apply_batch(texts)
    assert fst.Rewriter(rewrite(Fst.from_strings([("é", "世"), ("世", "")], unit="utf-8").closure())).apply("é世é") == "世世"


def test_output_that_depends_on_the_end() -> None:
    """A transducer that writes the last character first is functional, and can be a stage of a cascade."""
    last = Fst.from_strings([("ab", "ba"), ("ac", "ca")]).closure()
    rewriter = fst.Rewriter(cascade(rewrite(last), rewrite("b -> x")))
    assert rewriter.apply_batch(["abacab", "aba", "", "zé"]) == ["xacaxa", "axa", "", "zé"]
    with pytest.raises(fst.UnsupportedError, match="stage 0 is a transducer"):
        rewriter.explain("ab")


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (Fst.from_strings([("ab", "x"), ("ab", "y"), ("abc", "z")]), "'ab' becomes 'x' and 'y'"),
        (Fst.from_strings([("a", "b", 0.5)]), "weights"),
        (Fst.from_strings([("<n>", "b")], symbols=["<n>"]), "the symbol '<n>'"),
        (Fst.from_arcs([(0, 0, 0x61, 0xFF)], [0], unit="utf-8"), "writes the bytes"),
    ],
)
def test_other_machines_are_refused(machine: Fst, message: str) -> None:
    """A machine with two outputs for a text is refused with a shortest such text; weights, symbols and wrong bytes are refused by name."""
    with pytest.raises(fst.UnsupportedError, match=message):
        rewrite(machine)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_transducers_inside_texts(direction: str) -> None:
    """Between two contexts, the leftmost and longest strings that a functional machine accepts become its outputs, in each direction."""
    functional = 0
    for seed in sample(range(200), 16):
        draw = random.Random(f"{direction} {seed}")
        machine, contexts = drawn(draw), (draw.choice(LEFTS), draw.choice(RIGHTS))
        if machine.find_ambiguity():
            continue
        functional += 1
        known = cache(partial(first_output, machine))
        rewriter = fst.Rewriter(rewrite(machine, left=contexts[0], right=contexts[1], direction=direction))
        texts = draw.sample(TEXTS, 15)
        expected = [rewritten([Replacement(known, *contexts)], text, direction) for text in texts]
        assert rewriter.apply_batch(texts) == expected, (seed, contexts)
    assert functional > 3


def test_longest_outputs_that_begin_equally() -> None:
    """The first output of a match may depend on the match's end, at any distance, and an empty context holds everywhere."""
    machine = Fst.from_strings([("ab", "1"), ("abab", "2"), ("ababab", "3"), ("b", ""), ("", "+")])
    rewriter = fst.Rewriter(rewrite(machine, left=""))
    assert rewriter.apply_batch(["ababababc", "ab", "", "bc"]) == ["31+c+", "1+", "+", "+c+"]
    found = rewriter.align_batch(["xababab"])
    assert (found.texts, found.offsets.tolist()) == (["+x3+"], [[0, 0], [0, 1], [1, 2], [7, 7]])
    stream = rewriter.stream()
    for char in "abababx":
        stream.write(char)
    assert stream.close() == "3+x+"


def test_numbers_between_words() -> None:
    """A transducer between two edges of words replaces only whole words, and can be a stage of a cascade."""
    numbers = Fst.from_strings([("1", "uno"), ("12", "doce")])
    table = cascade(rewrite(numbers, left=r"\b", right=r"\b"), rewrite("o -> u"))
    assert fst.Rewriter(table).apply("1 12 121 1a, 12.") == "unu duce 121 1a, duce."
    letters = rewrite(Fst.from_strings([("é", "世")], unit="utf-8"), left="V", definitions={"V": "[aé]"}, direction="ltr")
    assert fst.Rewriter(letters).apply("ééaé") == "é世a世"
    with pytest.raises(fst.UnsupportedError, match="not functional"):
        rewrite(numbers | Fst.from_strings([("1", "ein")]), left="")
    with pytest.raises(fst.VocabularyError, match="the left context '#' has '#'"):
        rewrite(numbers, left="#")


def test_options_of_rules_are_refused() -> None:
    """For a transducer without a context, directions and definitions are refused, because only rules use them."""
    for options in ({"direction": "ltr"}, {"definitions": {"V": "a"}}):
        given: Any = options
        with pytest.raises(ValueError, match="are for rules"):
            rewrite(Fst.from_strings(["a"]), **given)


def test_large_transducers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A functional transducer that takes too many steps to compare or to convert is refused, and the message offers look-up."""
    arcs = [(0, 0, "a", "a"), (0, 0, "b", "b"), (0, 1, "a", "a"), *((at, at + 1, "b", "b") for at in range(1, 9))]
    machine = Fst.from_arcs(arcs, [9])
    for name, limit, message in (
        ("machines.rules.functional.MAX_STEPS", 16, "the passes of the transducer have too many sets of .*; use fst.compile.lookup"),
        ("machines.rules.functional.MAX_BITS", 16, "the passes of the transducer have too many sets of .*; use fst.compile.lookup"),
        ("algebra.decisions.MAX_COMPARED", 4, "the transducer may not be functional: the comparison .*; use fst.compile.lookup"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(f"fst.compile.{name}", limit)
            with pytest.raises(fst.UnsupportedError, match=message):
                rewrite(machine)
