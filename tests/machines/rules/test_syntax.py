"""Rules are read from text, and wrong rules are refused with the wrong part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import fst
from fst.compile import cascade, keywords, rewrite, rules

WARNED = pytest.mark.filterwarnings("ignore:.*is characters, not the definition:fst.FstWarning")
CASES: tuple[Any, ...] = (
    ("a->b", {}, "aa", "bb"),
    (" a  b -> c d ", {}, "ab a b", "c d a b"),
    (r"a\ b -> [ ]", {}, "a b", "[ ]"),
    ("[ ] -> _", {}, "a b", "a_b"),
    (r"\-> -> \/", {}, "a->", "a/"),
    (r"\_ -> x / _ \_", {}, "__", "x_"),
    ("/ -> x", {}, "/", "x"),
    (r"[-_/>] -> \n\t\u{2C8}", {}, "_", "\n\tˈ"),
    ("a -> / b _", {}, "aba", "ab"),
    ("a{2} -> b", {}, "aaa", "ba"),
    (r"\(\?P<a[(?P<]> -> b", {}, "(?P<a<>", "b"),
    ("(?i)ß|é -> x", {}, "É", "x"),
    (r"\p{Lu}\d -> x", {}, "É4é4", "xé4"),
    ("(?:ab)+ -> x", {}, "ababa", "xa"),
    ("a -> b / ^ _ $", {}, "a", "b"),
    ("a -> b / (^|c) _ (c|$)", {}, "acaa", "bcaa"),
    pytest.param("V -> x / C _ C", {"definitions": {"V": "[ae]", "C": "[^V]"}}, "baVab bab", "baVab bxb", marks=WARNED),
    ("VV -> x", {"definitions": {"A": "a | á", "V": "A|e"}}, "aá e", "x e"),
    pytest.param("[V]Vx -> y", {"definitions": {"V": "a", "Vx": "b"}}, "Vb", "y", marks=WARNED),
    ({"a.b": "(", "->": "_"}, {}, "a.b axb ->", "( axb _"),
    (r"a -> \-> / _ \->", {}, "a->a", "->->a"),
    ({"a": "b"}, {"left": "C", "right": "[cd]", "definitions": {"C": "c"}}, "cac aad", "cbc aad"),
    (["a -> b", "b -> a"], {}, "abab", "baba"),
    (r"a -> b / \b _ \b", {}, "a aa é-a aé", "b aa é-b aé"),
    ({"a": "b"}, {"left": r"\b"}, "aa a", "ba b"),
)
REFUSED: tuple[Any, ...] = (
    ("a b", {}, "no '->'"),
    ("a -> -> b", {}, "two '->'"),
    ("a -> b\nc -> d", {}, r"'a -> b', 'c -> d' with cascade, for rules in turn"),
    ("a -> b / c", {}, "no '_'"),
    ("a -> b / c _ d _ e", {}, "two '_'"),
    ([], {}, "there are no rules"),
    ([3], {}, "expected a str"),
    ({"a": None}, {}, "expected a str"),
    ("a -> \ud800", {}, "lone surrogate"),
    ("V -> b", {"definitions": {"2": "a"}}, "the name of a definition is '2'"),
    ("a*? -> b", {}, "lazy"),
    ("a++ -> b", {}, "possessive"),
    ("(?>a|ab) -> b", {}, "atomic"),
    (r"(a)\1 -> b", {}, "back-reference"),
    (r"(a) -> \1", {}, "to a group"),
    ("(?P<n>a) -> b", {}, "a capture"),
    ("a -> b / (?<n>a) _", {}, "a capture"),
    (r"a -> \q", {}, "escape"),
    ("a(?=b) -> c", {}, "look-around"),
    ("(?<!b)a -> c", {}, "look-around"),
    (r"\ba -> c", {}, "in contexts only"),
    (r"a -> c / \B _", {}, "look-around"),
    (r"a -> c / \b^ _", {}, "before '\\^'"),
    (r"a -> c / _ (?:$|b)\b", {}, "after '\\$'"),
    ("^a -> b", {}, "left context only"),
    ("a -> b / _ ^", {}, "left context only"),
    ("a -> b / $ _", {}, "right context only"),
    ("(a -> b", {}, r"\( without \)"),
    ("[a -> b", {}, "without"),
    ("(?:[ab]{1000}){1000} -> b", {}, "steps to compile"),
)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("rules", "options", "text", "expected"), CASES)
def test_text_of_rules(rules: Any, options: Mapping[str, Any], text: str, expected: str) -> None:
    """Whitespace, escapes, brackets, definitions, lists and mappings have the documented meaning."""
    assert fst.Rewriter(rewrite(rules, **options)).apply(text) == expected


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("rules", "options", "message"), REFUSED)
def test_wrong_rules_are_refused(rules: Any, options: Mapping[str, Any], message: str) -> None:
    """A text that is not a rule, a construct without meaning in rules, and rules with too many states are refused by name."""
    with pytest.raises((fst.VocabularyError, fst.UnsupportedError), match=message):
        rewrite(rules, **options)


def test_wrong_arguments_are_refused() -> None:
    """An unknown direction, context arguments for rules that contain contexts, and stages that are not rules are refused."""
    with pytest.raises(ValueError, match="direction is 'up'"):
        rewrite("a -> b", direction="up")
    with pytest.raises(ValueError, match="contexts of a mapping"):
        rewrite("a -> b", left="c")
    with pytest.raises(fst.VocabularyError, match="no stages"):
        cascade()
    stage: Any = keywords(["a"])
    with pytest.raises(fst.VocabularyError, match="a stage of the cascade is KeywordTable"):
        cascade(rewrite("a -> b"), stage)
    with pytest.raises(fst.UnsupportedError, match="1,025 stages"):
        cascade(*[rewrite("a -> b")] * 1025)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "options"),
    [
        ("c -> b / a[ab]{20} _", {}),
        ("c -> b / _ (a|b){25}a", {}),
        ("[ab]*a[ab]{20} -> x", {}),
        ("c -> a / a[abc]{20} _", {"direction": "ltr"}),
        ([f"{chr(0x4E00 + number)} -> b / a[ab]{{9}} _" for number in range(200)], {}),
        (fst.Fst.from_strings([("c", "d")]), {"left": "a[ab]{20}"}),
    ],
    ids=["left", "right", "phi", "written", "many", "transducer"],
)
def test_contexts_of_too_many_states_are_refused(rules: Any, options: Mapping[str, Any]) -> None:
    """Contexts with exponentially many sets of positions are refused within a short time."""
    with pytest.raises(fst.UnsupportedError, match=r"take more than 2,000,000 steps to compile|need more than 2,097,152 transitions"):
        rewrite(rules, **options)


def test_large_stages_are_not_composed() -> None:
    """A stage beyond the maximum size of a composition is a separate stage, and the cascade writes the same texts as its stages in turn."""
    many = [f"{chr(0x4E00 + number)} -> b / {chr(0x5E00 + number)} _" for number in range(200)]
    table = cascade(rewrite(many), rewrite("b -> x"), rewrite("x -> y"))
    assert table.metadata.settings.composed == [[1, 3]]
    assert fst.Rewriter(table).apply("\u5e07\u4e07 \u5e07\u4e08") == "\u5e07y \u5e07\u4e08"


@pytest.mark.parametrize("given", ["a -> b", "a" * 300 + " -> b", ["a -> b"], {"a": "b"}])
def test_rules_in_place_of_a_file_are_refused(given: Any) -> None:
    """If rules are passed to the function for files, they are refused, and the message contains the function that compiles rules."""
    with pytest.raises(fst.VocabularyError, match=r"expected a path; compile a rule .* with fst.compile.rewrite"):
        rules(given)
