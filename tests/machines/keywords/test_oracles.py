"""Keyword search: the naive implementation, the walk and the kernel find the matches that were recorded from other projects."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.naive.search import keyword_matches
from support.tables.damage import survivors
from support.tiers import examples, sample

import fst
from fst.compile import keywords
from fst.machines.keywords.table import ENTRY, KINDS, OWN, KeywordTable

each_kind = pytest.mark.parametrize("kind", KINDS)
SETS = [
    *(["a", "a" * 9 + "b"], ["ab", "bab", "b"], ["abab", "ba", "a"], ["b", "abc", "bcd", "bc"]),
    *(["é", "世é", "éa", "世"], ["aab", "ab", "abaab"]),
]
TEXTS = some.lists(some.text("abc", max_size=14), max_size=8)


def found_by(searcher: fst.Searcher, texts: Sequence[str], **options: Any) -> list[list[tuple[int, int, int]]]:
    """Return the matches in each text."""
    return [[(match.id, match.start, match.end) for match in row] for row in searcher.find_batch(texts, **options)]


def in_bytes(text: str, matches: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Convert the positions of matches from characters to bytes."""
    return [(number, len(text[:start].encode()), len(text[:end].encode())) for number, start, end in matches]


@pytest.mark.mostly_slow
@each_kind
@examples(600)
@given(listed=some.lists(some.text("ab", min_size=1, max_size=5), min_size=1, max_size=8), texts=TEXTS)
def test_definition(kind: str, listed: list[str], texts: list[str]) -> None:
    """With any keywords, walk and kernel find the same matches as the naive implementation."""
    table = keywords(listed, match_kind=kind)
    table.prove()
    expected = [keyword_matches(listed, text, kind) for text in texts]
    assert found_by(fst.Searcher(table), texts) == expected
    assert [[*map(tuple, table.walk(text.encode()))] for text in texts] == [in_bytes(*row) for row in zip(texts, expected, strict=True)]


@each_kind
@examples(200)
@given(listed=some.lists(some.text("aé世", min_size=1, max_size=4), min_size=1, max_size=6), text=some.text("aé世😀二", max_size=20))
def test_characters_of_several_bytes(kind: str, listed: list[str], text: str) -> None:
    """The positions of matches count characters, or bytes on request."""
    searcher, expected = fst.Searcher(keywords(listed, match_kind=kind)), keyword_matches(listed, text, kind)
    assert found_by(searcher, [text]) == [expected]
    assert found_by(searcher, [text], offsets="bytes") == [in_bytes(text, expected)]
    assert [tuple(match) for match in searcher.find_iter(text)] == expected
    assert [tuple(match) for match in searcher.find_iter(text.encode())] == in_bytes(text, expected)


@pytest.mark.mostly_slow
@each_kind
def test_streams(kind: str) -> None:
    """A text that is streamed in parts, cut anywhere, has the same matches as in a single call."""
    draw = random.Random(kind)
    for listed in SETS:
        searcher = fst.Searcher(keywords(listed, match_kind=kind))
        for _ in range(30):
            text = "".join(draw.choices("abcé世 ", k=draw.randint(0, 40)))
            cuts = [0, *sorted(draw.randint(0, len(text)) for _ in range(draw.randint(0, 9))), len(text)]
            stream, parts = searcher._matcher.stream(offsets=True), list[Any]()
            for begin, end in pairwise(cuts):
                stream.write(text[begin:end])
                parts.append(stream.read())
            parts.append(stream.close())
            found = [(number, *span) for part in parts for number, span in zip(part.ids.tolist(), part.offsets.tolist(), strict=True)]
            assert found == keyword_matches(listed, text, kind)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("letters", ["ab\n", "ab"])
def test_long_texts_and_threads(letters: str) -> None:
    """A long text has the same matches on one thread and on two, whether or not it contains positions at which it can be cut."""
    searcher = fst.Searcher(keywords(["ab", "bab", "aabb"]))
    text = "".join(random.Random(1).choices(letters, k=600_000))
    one, two = (searcher.find_batch([text], threads=threads) for threads in (1, 2))
    for name in ("ids", "starts", "ends", "row_splits"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    expected = [*map(tuple, searcher._table.walk(text[:3_000].encode()))][:-3]
    assert [tuple(match) for match in one[0][: len(expected)]] == expected


def test_look_ups_do_not_depend_on_the_keywords() -> None:
    """With any keywords, the walk takes at most two look-ups per byte, because a failure link decreases the depth and a byte increases
    it by only one.
    """
    for length in (10, 1_000):
        table = keywords(["a", "a" * length + "b"])
        assert list(map(tuple, table.walk(b"a" * 300 + b"c"))) == [(0, place, place + 1) for place in range(300)]


def test_replacements() -> None:
    """A replacement is a single text, an item of a list, a value of a mapping, or the result of a function, and the rest of the text is
    unchanged.
    """
    searcher = fst.Searcher(keywords(["he", "she", "世"]))
    assert searcher.replace(["ushers", "", "he世"], "*") == ["u*rs", "", "**"]
    assert searcher.replace("ushers 世", ["1", "2", "3"]) == "u2rs 3"
    assert searcher.replace("ushers 世", {"she": "X"}) == "uXrs 世"
    assert searcher.replace("a世b", lambda match, text: f"{match.id}{text}") == "a2世b"
    with pytest.raises(ValueError, match="by has 1 replacements; expected 3"):
        searcher.replace("he", ["x"])


@each_kind
def test_short_texts(kind: str) -> None:
    """`find_iter` yields each `Match` of short texts, even while other searches run, and refuses a lone surrogate."""
    searcher = fst.Searcher(keywords(["ab", "b", "é", "世a", "😀"], match_kind=kind))
    texts = ["", "xab", "éab" * 40, "xé" + "y" * 31, "世ab" * 9, "😀世ab" * 9, "ab" * 4_096, "世a" * 4_096]
    assert [[*matches] for matches in [searcher.find_iter(text) for text in texts]] == [*searcher.find_batch(texts)]
    assert [type(searcher.find(text)) for text in texts[1:]] == [fst.Match] * (len(texts) - 1)
    for wrong in ("\ud800", "ab\udfff", "😀\ud83d\ude00"):
        with pytest.raises(fst.TextError, match="a lone surrogate"):
            searcher.find_iter(wrong)
        assert [*searcher.find_iter(wrong, errors="replace")] == searcher.find_batch([wrong], errors="replace")[0]


@pytest.mark.mostly_slow
@each_kind
def test_long_texts_are_read_as_far_as_asked(kind: str) -> None:
    """`find_iter` yields the first matches of a long text before it reads the rest, and in total yields the same matches as a batch."""
    searcher, text = fst.Searcher(keywords(["ab", "b", "世a"], match_kind=kind)), "xab世" * 30_000
    assert [*searcher.find_iter(text)] == searcher.find_batch([text])[0]
    wrong = text + "\ud800"
    first = next(searcher.find_iter(text))
    assert next(searcher.find_iter(wrong)) == first
    assert searcher.is_match(wrong if kind != "overlapping" else text)
    with pytest.raises(fst.TextError):
        [*searcher.find_iter(wrong)]


def test_matches_are_columns_and_rows() -> None:
    """Matches are stored as columns with row splits, and each row is converted to a list of tuples when it is accessed."""
    found = fst.Searcher(keywords(["a"])).find_batch(["ba", "", "aa"])
    assert (found.ids.tolist(), found.starts.tolist(), found.ends.tolist()) == ([0, 0, 0], [1, 0, 1], [2, 1, 2])
    assert found.row_splits.tolist() == [0, 1, 1, 3]
    assert (len(found), found[-1], [*found][1]) == (3, [fst.Match(0, 0, 1), fst.Match(0, 1, 2)], [])
    with pytest.raises(IndexError, match="row 3 of 3"):
        found[3]
    alone = fst.Searcher(keywords(["a"])).find_batch(["ba", "", "aa"], offsets=None)
    assert (alone.ids.tolist(), alone.row_splits.tolist(), len(alone.starts)) == ([0, 0, 0], [0, 1, 1, 3], 0)
    with pytest.raises(ValueError, match="these matches have no spans; pass offsets='characters' or 'bytes'"):
        alone[0]


def test_what_is_no_text_is_refused_by_its_type() -> None:
    """A search in an object that is neither str nor bytes raises a `TextError` that contains the object's type."""
    searcher: Any = fst.Searcher(keywords(["a"]))
    for search in (searcher.find_iter, searcher.find, searcher.is_match):
        with pytest.raises(fst.TextError, match="the text is int; expected str or bytes"):
            search(5)


def test_representation() -> None:
    """The representation of a searcher contains its kind of matches and its number of keywords."""
    assert repr(fst.Searcher(keywords(["a", "b"]))) == "<fst.Searcher leftmost-longest, 2 keywords>"


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ([], {}, fst.VocabularyError, "there are no keywords"),
    (["a", ""], {}, fst.VocabularyError, "keyword 1: the keyword is empty"),
    (["a", 3], {}, fst.VocabularyError, "keyword 1 is int, not str or bytes"),
    (["\ud800"], {}, fst.VocabularyError, "keyword 0: .* is not text"),
    ([b"\xff"], {}, fst.VocabularyError, "keyword 0: .* is not text"),
    (["a" * 70_000], {}, fst.UnsupportedError, "keyword 0: .* has 70,000 bytes"),
    (["a"], {"match_kind": "longest"}, ValueError, "match_kind is 'longest'"),
]


@pytest.mark.parametrize(("listed", "options", "error", "message"), REFUSED)
def test_keywords_that_are_refused(listed: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    """An invalid keyword is refused, and the message contains its position."""
    with pytest.raises(error, match=message):
        keywords(listed, **options)


def test_keywords_with_too_many_matches_in_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler counts the matches of keywords inside other keywords before it allocates memory for them."""
    monkeypatch.setattr(import_module("fst.compile.machines.keywords.compiler"), "MAX_MATCHES", 100)
    listed = ["a", *(f"b{'a' * 20}{letter}z" for letter in "bcdefgh"), "a" * 20 + "x"]
    with pytest.raises(fst.UnsupportedError, match="matches inside other keywords"):
        keywords(listed)


def test_keywords_that_need_too_many_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """An automaton that is too large for a file is refused before its states are placed in the array of slots."""
    module = import_module("fst.compile.machines.keywords.compiler")
    monkeypatch.setattr(module, "MAX_SLOTS", 6)
    monkeypatch.setattr(module, "placed", None)
    with pytest.raises(fst.UnsupportedError, match="takes 7 slots or more; a table file has room for 6: split the keywords"):
        keywords(["abc", "xyz"])


def test_memory_of_the_compiler() -> None:
    """The compiler of keywords allocates at most 120 bytes of memory per byte of the keywords."""
    draw = random.Random(2)
    listed = [*{"".join(draw.choices("etaoinshrdlucm", k=draw.randint(8, 24))) for _ in range(20_000)}]
    keywords(["a"])
    tracemalloc.start()
    try:
        keywords(listed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 120 * sum(map(len, listed))


def sound() -> KeywordTable:
    """Return a table with all kinds of states, failure links and outputs."""
    return keywords(["ab", "bab", "abcab", "c", "cabd"])


HARM = {
    "a root that is no state": ("entries", 0, ENTRY.free, "the first slot of entries is not a state"),
    "a label that is none": ("entries", -1, ENTRY.pack(300, 0), "has the label 300"),
    "a state more": ("entries", -1, ENTRY.pack(OWN, 0), "the row of state .* ends at slot"),
    "a transition to no state": ("entries", 1 + ord("a"), ENTRY.pack(ord("a"), 1), "leads to no state"),
    "an output past all": ("entries", 1 + ord("a"), ENTRY.pack(ord("a"), 0, 9999), "has the output 9999"),
    "a match of no keyword": ("matches", (1, 0), 99, "match 1 is of keyword 99"),
    "a match before itself": ("matches", (1, 3), 1, "match 1 comes after match 1"),
    "a match of a wrong length": ("matches", (1, 2), 9, "match 1 is not as long as its keyword"),
    "a match that begins too late": ("matches", (1, slice(1, 3)), (900, 901), "has a match outside the bytes|does not follow"),
    "keywords of no bytes": ("keyword_ends", 0, 0, "keyword 0 has 0 bytes"),
    "keywords that are not UTF-8": ("keyword_bytes", 0, 0xFF, "keyword_bytes is not UTF-8 at byte 0"),
    "a root with a depth": ("depths", 0, 1, "the root has a link, or a depth"),
    "a depth of no state": ("depths", -1, 1, "is not a state, and has a depth"),
}


@pytest.mark.parametrize("name", HARM)
def test_damaged_tables_are_refused(name: str) -> None:
    """A table that violates a precondition of the kernels is refused, and the message gives the reason."""
    member, place, value, message = HARM[name]
    array = getattr(sound(), member).copy()
    array[place] = value
    with pytest.raises(fst.TableError, match=message):
        replace(sound(), **{member: array}).prove()


def test_any_bit_changed_is_refused_or_safe() -> None:
    """A table with one changed bit is refused, or walk and kernel still find the same matches with it."""
    texts, draw = ["abcabd cabab", "bababcab", "abcabcabcabd", "xabcx"], random.Random(1)
    for damaged in survivors(sound(), draw, len(sample(range(1_500), 30))):
        found = fst.Searcher(damaged).find_batch([text.encode() for text in texts], offsets="bytes")
        assert [[tuple(match) for match in row] for row in found] == [[*map(tuple, damaged.walk(text.encode()))] for text in texts]
