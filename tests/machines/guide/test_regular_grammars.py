"""Grammars as automata for tables."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.machines.byte_automata import accepts
from support.naive.earley import Earley

from fst.compile.machines.guide.grammar.lark import read_lark
from fst.compile.machines.guide.languages import ByteAutomaton
from fst.compile.machines.guide.regex import from_regex
from fst.compile.machines.guide.texts import automaton_of
from fst.errors import UnsupportedError, VocabularyError

TEXTS = [b"".join(each) for length in range(6) for each in product((b"a", b"b"), repeat=length)]
BODIES = ['"a"', '"b" P', '"ab" Q', 'R "a"', 'Q "b"', '"a"? P "b"*', '(P | "b")~2..3', "Q", '""', '"b" (P | Q)', '("a" | R "ab")']


def _automaton(grammar: str) -> ByteAutomaton:
    return automaton_of(grammar=grammar, syntax="lark")[0]


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.sampled_from(BODIES), min_size=1, max_size=2), min_size=3, max_size=3))
def test_an_automaton_reads_the_texts_of_a_grammar(bodies: list[list[str]]) -> None:
    """The automaton of a grammar reads exactly the texts that Earley's algorithm reads; a grammar without an automaton is refused."""
    rules = (f'{name}: {" | ".join(body)} | "{end}"' for name, body, end in zip("pqr", bodies, ("a", "b", "bb"), strict=True))
    text = "start: p\n" + "\n".join(re.sub("[PQR]", lambda found: found.group().lower(), rule) for rule in rules)
    grammar = read_lark(text)
    try:
        automaton = _automaton(text)
    except UnsupportedError as error:
        refused = str(error)
    except VocabularyError:
        return
    else:
        earley = Earley(grammar)
        assert [accepts(automaton, each) for each in TEXTS] == [earley.reads(each)[1] for each in TEXTS]
        return
    assert "other than at one end of its text" in refused


EQUAL = {
    'start: "a" start | "b"': "a*b",
    'start: start "a" | "b"': "ba*",
    'start: "a" x\nx: "b" y | "c"\ny: "d" x': "a(bd)*c",
    'start: x "a"\nx: y "b" | "c"\ny: x "d"': "c(db)*a",
    'start: x+\nx: "a" x | "b"': "(a*b)+",
    'start: list "!" list\nlist: list "," N | N\nN: /[0-9]+/': "[0-9]+(,[0-9]+)*![0-9]+(,[0-9]+)*",
    '%ignore " "\nstart: "a" start | "b"': "(a *)*b *",
    'start: %json {"type": "boolean"} "!"': "(true|false)!",
    'start: start | "a" | start': "a",
    'start: "a" start "" | "b"': "a*b",
    'start: "a" start? | "b"': "a*b|a+",
    'start: start? "a" | "b"': "ba*|a+",
    'start: "a" x | y\nx: start | y ""\ny: x | "b"': "a*b",
}


@pytest.mark.parametrize(("grammar", "pattern"), EQUAL.items())
def test_recursion_at_one_end_is_a_loop(grammar: str, pattern: str) -> None:
    """A grammar whose rules call themselves at one end of their texts has the automaton of a regular expression."""
    assert (_automaton(grammar).targets == from_regex(pattern).targets).all()


REFUSED = [
    ('start: "(" start ")" | "a"', "line 1, column 12: rule 'start' calls 'start', and so itself, other than at one end"),
    ('start: x\nx: "a" y "b" | "c"\ny: x', "line 2, column 8: rule 'x' calls 'y', and so itself, other than at one end"),
    ('start: start "a" | "b" start | "c"', "other than at one end of its text"),
    ('start: ("a" start?)* "b"', "line 1, column 13: rule 'start' calls 'start'"),
    ('start: "a"~10000000', "line 1, column 1: rule 'start': the automaton has more than"),
]


@pytest.mark.parametrize(("grammar", "message"), REFUSED)
def test_a_table_refuses_other_recursion(grammar: str, message: str) -> None:
    """A rule that calls itself inside its text has no finite automaton, and is named; so is a rule with too many states."""
    with pytest.raises(UnsupportedError, match=re.escape(message)):
        _automaton(grammar)


def test_a_guide_of_a_table_reads_a_grammar() -> None:
    """`fst.compile.guide` takes grammars; their rules are checked as for late guides."""
    automaton, pattern = automaton_of(grammar='root ::= "a" root | "b"', syntax="gbnf")
    assert (automaton.targets == from_regex("a*b").targets).all()
    assert pattern == 'root ::= "a" root | "b"'
    with pytest.raises(VocabularyError, match="rule 'x' is not defined"):
        automaton_of(grammar="root ::= x", syntax="ebnf")
