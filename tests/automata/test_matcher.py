"""The kernel that finds the longest of many strings at each position of a text, in linear time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fst.automata import matcher
from fst.automata.matcher import Matcher, trie
from fst.compile.text.classes import _special_trie
from fst.runtime.kernels import tries, unicode
from fst.text.reading_arguments import special_trie

STRINGS = st.lists(st.text("ab\U0001f600", min_size=1, max_size=6), min_size=1, max_size=8, unique=True)
TEXTS = st.text("ab\U0001f600", max_size=30)
OVERLAPPING = ["[" * 300, "ab" * 100 + "c", "ab" * 50 + "d", "aab"]


def longest(strings: Sequence[str], text: str, at: int, end: int) -> int:
    """The length of the longest string that begins at a position, by trying all strings; 0 if no string begins there."""
    return max((len(string) for string in strings if text.startswith(string, at, end)), default=0)


def is_open(strings: Sequence[str], text: str, at: int) -> bool:
    """Whether more text could make a longer string match at a position."""
    return any(len(string) > len(text) - at and string.startswith(text[at:]) for string in strings)


def plain(name: str, **parts: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel function as plain Python, in which some of the functions that it calls are replaced."""
    function = getattr(tries, name)
    function = getattr(function, "py_func", function)
    return FunctionType(function.__code__, {**function.__globals__, **parts})


child_of = plain("child_of")
label_at = FunctionType(unicode.label_at.py_func.__code__, vars(unicode)) if hasattr(unicode.label_at, "py_func") else unicode.label_at


def found(
    of: Matcher, items: Any, pair: np.uint64, more: bool, places: Sequence[int], step: Callable[..., Any] = child_of
) -> list[tuple[int, bool]]:
    """The kernel's results at ascending positions: the length of the longest string, and whether more text could make a longer string
    match.
    """
    memo, end = np.zeros(3, np.uint64), np.uint64(len(items))
    walk = plain("match_at", child_of=step, label_at=label_at)
    with np.errstate(over="ignore"):
        nodes = [walk(items, pair, np.uint64(place), end, np.uint64(more), of, memo) for place in places]
    return [(int(of.nodes[int(node), matcher.LENGTH]), bool(is_open)) for node, is_open in nodes]


def leftmost(strings: Sequence[str], text: str) -> list[int]:
    """The positions at which a search from left to right looks for a string: the start, and the ends of all matches and unmatched
    characters.
    """
    places, at = [], 0
    while at < len(text):
        places.append(at)
        at += longest(strings, text, at, len(text)) or 1
    return places


@pytest.mark.slow
@given(STRINGS, TEXTS, st.booleans(), st.data())
def test_longest_string_at_each_place(strings: list[str], text: str, overlapping: bool, data: st.DataObject) -> None:
    """At ascending positions, the kernel finds the longest string, and determines whether more text could make a longer string match."""
    of = trie(((list(map(ord, string)), number) for number, string in enumerate(strings)), overlapping=overlapping)
    asked = list(range(len(text))) if overlapping else leftmost(strings, text)
    places = [at for at in asked if data.draw(st.booleans())]
    items = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    for more in (False, True):
        expected = [(longest(strings, text, at, len(text)), more and is_open(strings, text, at)) for at in places]
        assert found(of, items, unicode.ITEMS, more, places) == expected


@pytest.mark.slow
@given(STRINGS, TEXTS)
def test_special_tokens_in_utf_16(strings: list[str], text: str) -> None:
    """The trie of special tokens finds the longest string in UTF-16, in which a character beyond U+FFFF has two units."""
    of = special_trie(_special_trie({string: number for number, string in enumerate(strings)}))
    units = np.frombuffer(text.encode("utf-16-le"), np.uint16)
    places = leftmost(strings, text)
    lengths = [longest(strings, text, at, len(text)) for at in places]
    expected = [sum(1 + (char > "\uffff") for char in text[at : at + length]) for at, length in zip(places, lengths, strict=True)]
    in_units = [sum(1 + (char > "\uffff") for char in text[:at]) for at in places]
    assert [length for length, _ in found(of, units, unicode.UTF_16, False, in_units)] == expected


@pytest.mark.mostly_slow
@pytest.mark.parametrize("text", ["[" * 299 + "x", "ab" * 100 + "x", "ab" * 50 + "a", "aab" * 40], ids=lambda text: text[:3])
def test_walks_take_linear_time(text: str) -> None:
    """If a text consists of long prefixes of the strings, the search takes at most four steps per character, whatever the positions."""
    of = trie((list(map(ord, string)), number) for number, string in enumerate(OVERLAPPING))
    items = np.frombuffer((text * 20).encode("utf-32-le"), np.uint32)
    steps = 0

    def counted(*arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        return child_of(*arguments)

    found(of, items, unicode.ITEMS, False, range(len(items)), counted)
    assert steps <= 4 * len(items)


@pytest.mark.slow
@given(STRINGS, st.booleans())
def test_kernel_links_as_plain_python(strings: list[str], overlapping: bool) -> None:
    """The kernel that links the nodes of a large trie makes the same links as the plain Python function that links a small trie."""
    some = [(list(map(ord, string)), number) for number, string in enumerate(strings)]
    by_python = trie(some, overlapping=overlapping)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher, "FEW_NODES", -1)
        by_kernel = trie(some, overlapping=overlapping)
    np.testing.assert_array_equal(by_kernel.nodes, by_python.nodes)
    np.testing.assert_array_equal(by_kernel.edges, by_python.edges)


def meet(one: str, other: str) -> bool:
    """Whether one string contains the other, or begins with an end of the other."""
    ends = any(one[-size:] == other[:size] or other[-size:] == one[:size] for size in range(1, min(len(one), len(other))))
    return one in other or other in one or ends


@given(STRINGS, STRINGS, st.booleans())
def test_strings_that_can_share_a_character(strings: list[str], known: list[str], are_many: bool) -> None:
    """From any list of strings, `overlapping` selects those whose matches can share a character with a match of a given string."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher, "FEW_STRINGS", 0 if are_many else len(strings))
        assert [*matcher.overlapping(strings, known)] == [string for string in strings if any(meet(string, other) for other in known)]
