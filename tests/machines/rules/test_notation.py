"""The notation of other programs and of books is recognized in rules."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import fst
from fst.compile import rewrite, rules

CASES = [tuple(line.split("\t")) for line in Path(__file__).with_name("notations.tsv").read_text(encoding="utf-8").splitlines()]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("kind", "rule", "definitions", "sign", "advice"), CASES)
def test_signs_of_other_notations(kind: str, rule: str, definitions: str, sign: str, advice: str) -> None:
    """A sign of another notation is an error, or a warning if it has a meaning in this notation; both contain the rule in this notation,
    and right rules cause neither.
    """
    names = json.loads(definitions or "{}")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            rewrite(rule, definitions=names)
            errors = []
        except fst.VocabularyError as error:
            errors = [str(error)]
    messages = [str(warning.message) for warning in found]
    assert bool(errors) == (kind == "error"), (errors, messages)
    assert bool(messages) == (kind == "warning"), messages
    assert kind == "fine" or any(sign in each for each in errors + messages)
    assert kind == "fine" or any(advice in each for each in errors + messages), (errors, messages)
    assert all(warning.category is fst.FstWarning and warning.filename == __file__ for warning in found)


def test_advice_is_a_rule() -> None:
    """The rule that a message proposes compiles without a message."""
    advised = [(advice.strip("'"), definitions) for _, _, definitions, _, advice in CASES if " -> " in advice and advice.count("'") == 2]
    assert len(advised) > 25
    for rule, definitions in advised:
        known = {} if "[[" in rule or "[^[" in rule else json.loads(definitions or "{}")
        rewrite(rule, definitions=known)


@pytest.mark.parametrize("side", ["left", "right"])
def test_contexts_of_mappings(side: str) -> None:
    """The contexts of a mapping are checked like those of rules."""
    lefts, rights = (("#", "V") if side == "left" else ("", "")), (("", "") if side == "left" else ("#", "V"))
    with pytest.raises(fst.VocabularyError, match=rf"the {side} context '#' has '#'.*write '\\b'"):
        rewrite({"a": "b"}, left=lefts[0], right=rights[0])
    with pytest.warns(fst.FstWarning, match="has 'V', which is characters here"):
        rewrite({"a": "b"}, left=lefts[1], right=rights[1])


def test_messages_of_files_have_lines(tmp_path: Path) -> None:
    """A warning about a rule or a definition in a file is emitted once, with the file and the line."""
    path = tmp_path / "own.rules"
    path.write_text("V = [aeiou]\nC = [^V]\na -> b / C _\na -> 0 / V _\n", encoding="utf-8")
    with pytest.warns(fst.FstWarning) as found:
        rules(path)
    assert [str(warning.message).partition(": ")[0] for warning in found] == [f"{path}, line 2", f"{path}, line 4"]
    path.write_text("a -> b\na -> b || c _\n", encoding="utf-8")
    with pytest.raises(fst.VocabularyError, match=r"own\.rules, line 2: the rule .*write 'a -> b / c _'"):
        rules(path)
