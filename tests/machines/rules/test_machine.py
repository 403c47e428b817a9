"""Rules as transducers of the algebra have the function of compiled rules."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from support.machines.rules import EDGES, TEXTS, expression, rule, spelled
from support.tiers import sample

import fst
from fst.compile import cascade, rewrite
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.rules.header import DIRECTIONS
from fst.machines.rules.table import RulesTable

ALPHABET = "abcx-?"


def outputs(machine: fst.Fst, text: str) -> list[str]:
    """What a transducer writes for a text."""
    return [written for _, written, _ in (fst.Fst.from_strings([text]) @ machine).paths()]


def check(table: RulesTable, texts: Sequence[str], alphabet: str | None = None) -> None:
    """Compare the transducer of a table with its rewriter."""
    machine, rewriter = fst.Fst.from_rule(table, alphabet=alphabet), fst.Rewriter(table)
    for text in texts:
        assert outputs(machine, text) == [rewriter.apply(text)], text


@pytest.mark.mostly_slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_transducer_writes_what_the_rules_write(direction: str) -> None:
    """The transducer of parallel rules writes for each text only the text of the rewriter, also for characters that no rule names."""
    for seed in sample(range(120), 6):
        draw = random.Random(f"{direction} {seed}")
        rules = [spelled(rule(draw)) for _ in range(draw.choice((1, 1, 2)))]
        texts = [*draw.sample(TEXTS, 20), *("".join(draw.choices("abcx?", k=6)) for _ in range(10))]
        check(rewrite(rules, direction=direction), texts)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_edges_of_words(direction: str) -> None:
    """Over an alphabet, rules with edges of words have small transducers with the same function."""
    for seed in sample(range(60), 4):
        draw = random.Random(f"{direction} {seed}")
        text = f"{expression(draw).replace('c', '-')} -> {draw.choice(('x', '', 'ab'))} / {draw.choice(EDGES)} _ {draw.choice(EDGES)}"
        check(rewrite(text, direction=direction), ["".join(draw.choices("ab-?", k=draw.randint(0, 6))) for _ in range(15)], ALPHABET)


@pytest.mark.slow
def test_stages_are_composed() -> None:
    """The transducer of a cascade, of stages in any directions and with keys, has the function of all stages in turn."""
    for seed in sample(range(40), 4):
        draw = random.Random(seed)
        stages = [rewrite(spelled(rule(draw)), direction=draw.choice(DIRECTIONS)) for _ in range(3)]
        keys = {text: draw.choice(("", "b", "xa")) for text in draw.sample(TEXTS, 60) if text}
        stages.insert(draw.randint(0, 3), rewrite(keys, direction=draw.choice(DIRECTIONS)))
        check(cascade(*stages), draw.sample(TEXTS, 8))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_many_strings(monkeypatch: pytest.MonkeyPatch, direction: str) -> None:
    """The transducer of a mapping of many strings, which overlap in many ways, has the function of the rewriter."""
    monkeypatch.setattr("fst.compile.machines.rules.compiler.FEW_CHARACTERS", 40)
    for seed in sample(range(100), 6):
        draw = random.Random(f"{direction} {seed}")
        keys = {"".join(draw.choices("abc", k=draw.randint(1, 5))): "".join(draw.choices("abxy", k=draw.randint(0, 3))) for _ in range(60)}
        table = rewrite(keys, direction=direction)
        assert table.stages[0]["keys"]
        check(table, ["".join(draw.choices("aabbccx?", k=draw.randint(0, 12))) for _ in range(8)])
        check(table, ["".join(draw.choices("abx", k=5)) for _ in range(4)], "abx")


def test_lexicon_is_composed_with_rules() -> None:
    """A symbol of several characters passes through rules, which may also have a larger alphabet than the lexicon."""
    entries = [("bake+V+Ing", "bake^ing"), ("be+V+Ing", "be^ing"), ("cat+N", "cat<n>")]
    lexicon = fst.Fst.from_strings(entries, symbols=["+V", "+N", "+Ing", "<n>"])
    spelling = fst.Fst.from_rule(r"e -> / [^aeiou] _ \^ [aeiou]") @ fst.Fst.from_rule(r"\^ -> ")
    expected = [("be+V+Ing", "bing"), ("cat+N", "cat<n>"), ("bake+V+Ing", "baking")]
    assert sorted((read, written) for read, written, _ in (lexicon @ spelling).paths()) == sorted(expected)
    closed = fst.Fst.from_rule("n -> m", alphabet=lexicon.project("output").alphabet)
    assert [written for _, written, _ in (lexicon @ closed).paths()] == ["cat<n>", "be^img", "bake^img"]
    assert not (fst.Fst.from_strings(["dog"]) @ closed).states


def test_arguments_are_those_of_rewrite() -> None:
    """Definitions, contexts of mappings and functional transducers are taken as by `fst.compile.rewrite`."""
    assert outputs(fst.Fst.from_rule("r -> ɾ / V _ V", definitions={"V": "[aeiou]"}), "raro") == ["raɾo"]
    assert outputs(fst.Fst.from_rule({"a": "b"}, left="c", direction="ltr"), "caaé") == ["cbaé"]
    numbers = fst.Fst.from_strings([("1", "uno"), ("12", "doce")])
    assert outputs(fst.Fst.from_rule(numbers, left="", right=""), "112x") == ["unodocex"]
    assert outputs(fst.Fst.from_rule(numbers), "12") == ["doce"]


def test_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments with a compiled table, other objects, a written U+0000 and a transducer that is too large are refused."""
    table = rewrite("a -> b")
    with pytest.raises(ValueError, match="expected none of them with a compiled table"):
        fst.Fst.from_rule(table, left="a")
    for wrong, message in ((7, "the rules are 7; expected a rule"), ({7: "a"}, "a part of a rule is 7; expected a str")):
        with pytest.raises(VocabularyError, match=message):
            fst.Fst.from_rule(wrong)
    with pytest.raises(VocabularyError, match="a rule writes U"):
        fst.Fst.from_rule({"a": "\0"})
    monkeypatch.setattr("fst.compile.machines.rules.key_machine.MAX_ARCS", 100)
    with pytest.raises(UnsupportedError, match="the strings need more than 100 arcs"):
        fst.Fst.from_rule({f"{number:b}": "x" for number in range(100)})
    with pytest.raises(UnsupportedError, match="pass the characters of your texts as `alphabet`"):
        fst.Fst.from_rule(r"a -> b / (\b.{3}){4} _")
