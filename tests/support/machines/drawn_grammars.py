"""Grammars that `hypothesis` draws."""

from __future__ import annotations

from hypothesis import strategies as st

from fst.compile.machines.guide.grammar.tree import Call, Grammar, Place, Rule, Text
from fst.compile.patterns.code_points import of_text
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence

PLACE = Place(1, 1)
NAMES = ["p", "q", "r"]
COUNTS = [(0, 1), (0, None), (1, None), (2, 2), (0, 3), (5, 6), (2, 6), (5, None)]
LEAVES: st.SearchStrategy[Node] = st.one_of(
    st.sampled_from([b"a", b"b", b"ab"]).map(Text),
    st.sampled_from(NAMES).map(lambda name: Call(name, PLACE)),
    st.sampled_from([Sequence(()), Characters(of_text("ab")), Characters(of_text(""))]),
)


def _grown(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    lists = st.lists(inner, min_size=1, max_size=3).map(tuple)
    repeats = st.builds(lambda body, count: Repeat(body, *count), inner, st.sampled_from(COUNTS))
    return st.one_of(lists.map(Sequence), lists.map(Choice), repeats)


TREES = st.recursive(LEAVES, _grown, max_leaves=6)
RULES = st.builds(lambda tree, text: Rule(Choice((tree, Text(text))), PLACE), TREES, st.sampled_from([b"a", b"b", b"ba"]))
GRAMMARS = st.tuples(RULES, RULES, RULES).map(lambda rules: Grammar(dict(zip(NAMES, rules, strict=True)), "p"))
