"""Strings of automata whose characters a tally counts."""

from __future__ import annotations

import json
from itertools import product
from random import Random

import pytest
from support.naive.parts import Parts, assert_sound
from support.tiers import sample

from fst.compile.machines.guide.lengths import Edge, remaining
from fst.compile.machines.guide.schema import string_sets
from fst.compile.machines.guide.schema.string_parts import string_part
from fst.compile.machines.guide.schema.string_sets import Strings, counted, pattern_of

PATTERNS = ["a", "^a", "b$", r"a[\s\S]b", 'é|"', "^[ab]*$", "^[^a]*$", "^(ab)*$", "^(a|bé)*$", r"^[\s\S]{2}$", "^(b|a{3})$", "^a*b{2}"]
TEXTS = ["".join(chars) for count in range(5) for chars in product('abé"x', repeat=count)]
CASES, GRAPHS, STATES = 400, 400, 5


def drawn_term(random: Random) -> Strings:
    """Two to four patterns, some of which are excluded, and bounds of the length up to 4."""
    patterns = [pattern_of(each) for each in random.sample(PATTERNS, random.randint(2, 4))]
    count = random.randint(0, 2)
    least = random.choice([0, 0, 1, 2, 3])
    most = random.choice([None, *range(least, 5)])
    without = random.sample(TEXTS[:20], random.randint(0, 2))
    return Strings(None, tuple(patterns[count:]), tuple(patterns[:count]), least, most).but(without)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", sample(range(CASES), 8))
def test_counted_strings_are_those_of_the_term(seed: int) -> None:
    """The part, the automaton and the definition of a term contain the same strings, and the beginnings of the part's strings."""
    term = drawn_term(Random(seed))
    part, inside = string_part(term), [text for text in TEXTS if term.has(text)]
    assert inside == [text for text in TEXTS if text.encode() in term.language]
    if part is None:
        assert (term.is_empty, term.language.is_empty, inside) == (True, True, [])
        return
    assert_sound(part)
    parts = Parts(lambda _: part)
    texts = {text: json.dumps(text, ensure_ascii=False).encode() for text in TEXTS}
    assert inside == [text for text in TEXTS if parts.reads(texts[text])[1]]
    if term.most is not None:  # then no string is longer than these; every other character is like one of theirs
        begun = {text[:end] for text in inside for end in range(len(text) + 1)}
        assert begun == {text for text in TEXTS if parts.reads(texts[text][:-1])[0]}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", sample(range(CASES), 20))
def test_joined_terms_are_the_same_strings(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many terms become an automaton, an intersection and a complement contain the same strings."""
    random = Random(seed)
    one, other = (tuple(drawn_term(random) for _ in range(3)) for _ in range(2))
    for terms, bounds in ((256, 256), (1, 256), (1, 1)):
        monkeypatch.setattr(string_sets, "MAX_TERMS", terms)
        monkeypatch.setattr(string_sets, "MAX_BOUNDS", bounds)
        common, rest = string_sets.both(one, other), string_sets.complement(one)
        for text in TEXTS[::5]:
            is_inside = string_sets.has(one, text)
            assert string_sets.has(common, text) == (is_inside and string_sets.has(other, text))
            assert string_sets.has(rest, text) != is_inside


@pytest.mark.parametrize("seed", sample(range(GRAPHS), 40))
def test_no_position_is_dead(seed: int) -> None:
    """If the remaining characters are known, a text with a bound can be completed wherever the largest number of characters allows it."""
    random = Random(seed)
    edges: list[Edge] = [(random.randrange(STATES), random.randrange(STATES), 1) for _ in range(random.randint(2, 9))]
    ends, least, most = [random.randrange(STATES)], random.randint(0, 4), random.choice([None, 4, 6])
    shortest = remaining(edges, 0, ends, least, most)
    limit = 20 if most is None else most
    lengths = {(state, 0) for state in ends}  # states, and numbers of characters from them to an end
    for count in range(limit):
        lengths |= {(before, count + 1) for before, after, _ in edges if (after, count) in lengths}
    reached = {(0, 0)}
    for count in range(limit):
        reached |= {(after, count + 1) for before, after, _ in edges if (before, count) in reached}
    for state, count in reached if shortest is not None else ():
        assert shortest is not None
        left = [more for other, more in lengths if other == state]
        if state in shortest and (most is None or count + shortest[state] <= most):
            assert shortest[state] == min(left)
            assert any(least <= count + more for more in left if most is None or count + more <= most)


def test_counts_need_no_copies() -> None:
    """A largest length adds no state to the automaton of several patterns."""
    term = Strings(None, (pattern_of("a1.*z"),), (pattern_of("b[0-9]"),))
    assert counted(term._replace(least=10, most=100_000)).language is counted(term).language


@pytest.mark.parametrize("pattern", ["\ud800", "[\ud800-\udfff]", r"\ud800", "a\udc80+$"])
def test_patterns_of_lone_surrogates_have_no_strings(pattern: str) -> None:
    """UTF-8 encodes no lone surrogate, so a pattern that needs one has no strings, as its automaton."""
    found = pattern_of(pattern)
    assert not found.has_strings
    assert found.language.is_empty
    assert pattern_of(f"{pattern}|b").has_strings
