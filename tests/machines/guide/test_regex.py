"""Automata over bytes from regular expressions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.machines.byte_automata import accepts, state_after

from fst.compile.machines.guide.languages import ByteAutomaton
from fst.compile.machines.guide.regex import from_regex
from fst.compile.machines.guide.utf_8 import fragment, sequences
from fst.compile.patterns.code_points import of_runs
from fst.errors import UnsupportedError

LETTERS = "abc\n\0é߿ࠀ€𐀀\U0010ffff"
TEXTS = st.text(LETTERS, max_size=6)
ATOMS = st.one_of(
    st.sampled_from([".", "[^a]", "[a-é]", "[߿-€]", "(?s:.)", "[b-\U0010ffff]", "()"]), st.sampled_from(LETTERS).map(re.escape)
)
REPEATS = st.sampled_from(["?", "{2}", "{1,3}", "{0,2}"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(inner, min_size=1, max_size=3)
    starred = inner.filter(lambda part: re.fullmatch(part, "") is None).map(lambda part: f"(?:{part})*")
    return st.one_of(
        parts.map("".join), parts.map(lambda each: f"({'|'.join(each)})"), starred, st.builds("(?:{}){}".format, inner, REPEATS)
    )


PATTERNS = st.recursive(ATOMS, _grown, max_leaves=8)


def _is_trimmed_and_minimal(automaton: ByteAutomaton) -> bool:
    """Whether all states are reachable, reach a final state, and accept different sets of texts."""
    targets, final = automaton.targets, automaton.is_final
    reached, ends = {0}, {*np.flatnonzero(final).tolist()}
    for _ in range(len(targets)):
        reached |= {int(target) for state in reached for target in set(targets[state]) - {-1}}
        ends |= {state for state in range(len(targets)) if ends & set(targets[state].tolist())}
    blocks = final.astype(np.int64)
    for _ in range(len(targets)):
        rows = np.column_stack([blocks, np.where(targets < 0, -1, blocks[targets])])
        blocks = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return len(reached) == len(ends) == len(set(blocks.tolist())) == len(targets)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(PATTERNS, st.lists(TEXTS, max_size=8))
def test_an_automaton_accepts_the_texts_that_python_matches(pattern: str, texts: list[str]) -> None:
    """A text is accepted if and only if Python's `re` matches it as a whole."""
    automaton = from_regex(pattern)
    for text in texts:
        assert accepts(automaton, text.encode()) == (re.fullmatch(pattern, text) is not None)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(PATTERNS)
def test_an_automaton_is_trimmed_and_minimal(pattern: str) -> None:
    """Every state is reachable, reaches a final state, and accepts other texts than any other state."""
    assert _is_trimmed_and_minimal(from_regex(pattern))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([0x61, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0x80, 0x8F, 0x9F, 0xA0, 0xBF, 0xC1, 0xFF]), max_size=5).map(bytes))
def test_bytes_that_are_not_utf_8_are_refused(data: bytes) -> None:
    """The automaton of a pattern that matches every text accepts exactly the bytes that are UTF-8, and every beginning of UTF-8 leads to a
    state.
    """
    automaton = from_regex("(?s:.)*")
    reason = "nothing"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        reason = error.reason
    assert accepts(automaton, data) == (reason == "nothing")
    assert (state_after(automaton, data) >= 0) == (reason in ("nothing", "unexpected end of data"))


@pytest.mark.parametrize("run", [(0, 0x10FFFF), (0x7F, 0x80), (0x7FF, 0x800), (0xD7FE, 0xE001), (0xFFFF, 0x10000), (0x12345, 0x23456)])
def test_sequences_of_bytes_cover_each_character_of_a_run_once(run: tuple[int, int]) -> None:
    """The byte sequences of a run of characters contain as many strings as the run has characters, including the first and the last
    character.
    """
    found = [*sequences(*run)]
    sizes = [np.prod([last - first + 1 for first, last in ranges], dtype=np.int64) for ranges in found]
    surrogates = len(range(max(run[0], 0xD800), min(run[1], 0xDFFF) + 1))
    assert sum(sizes) == run[1] - run[0] + 1 - surrogates
    assert bytes(first for first, _ in found[0]).decode() == chr(run[0])
    assert bytes(last for _, last in found[-1]).decode() == chr(run[1])


def test_characters_that_end_alike_share_states() -> None:
    """Characters of a set that have the same last bytes share the states before these bytes."""
    assert fragment(of_runs([(0, 0x10FFFF)])).states == 2 + 7


ANCHORED = ["^a|b$", r"\Aab\z|c", "^(a|b)$", "^^a$$|b$|^$", "(^a$)|b", "^a|", "$", "^"]


@pytest.mark.parametrize("pattern", ANCHORED)
def test_anchors_at_the_ends_change_nothing(pattern: str) -> None:
    """Anchors at the beginning or the end of a pattern or of an alternative have no effect."""
    automaton = from_regex(pattern)
    same = from_regex(re.sub(r"\\[Az]|[$^]", "", pattern))
    assert automaton.targets.tolist() == same.targets.tolist()
    assert automaton.is_final.tolist() == same.is_final.tolist()


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a$|b$c", r"has a look-ahead, '\$' at character 4,"),
        ("a$|^b(^c|d)", r"has a look-behind, '\^' at character 6,"),
        ("(?m)^a", r"has a look-behind, '\^' at character 4,"),
        ("ab(?=c)", r"has a look-ahead, '\(\?=c\)' at character 2,"),
        (r"x\bc", r"has a look-ahead, '\\\\b' at character 1,|has a look-behind, '\\\\b' at character 1,"),
        ("é(?<!c)c", r"has a look-behind, '\(\?<!c\)' at character 1,"),
        ("a++b", r"has an atomic group or possessive repetition, 'a\+\+' at character 0,"),
        ("a[^\0-\U0010ffff]", "matches no text"),
        ("xy((a|b)*a(a|b){20})z", r"more than 131,072 states, in '\(a\|b\)\*a\(a\|b\)\{20\}' at character 3"),
        ("abc(x{1000}){1000}", r"more than 131,072 states, in '\(x\{1000\}\)\{1000\}' at character 3"),
        ("a|b(c|(d{900}){900})", r"more than 131,072 states, in '\(d\{900\}\)\{900\}' at character 6"),
    ],
)
def test_a_pattern_is_refused_by_the_part_that_is_not_supported(pattern: str, message: str) -> None:
    """The error for a pattern contains the part that has no automaton, or too large an automaton, and the position of this part."""
    with pytest.raises(UnsupportedError, match=message):
        from_regex(pattern)
