"""The options of keyword search (overlapping matches, case folding, whole words, normalizers, empty keywords) have the same results as
the naive implementation.
"""

from __future__ import annotations

import json
import random
import weakref
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.naive.search import keyword_matches
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, sample, thinned

import fst
from fst.compile import keywords
from fst.machines.keywords.table import ENTRY, KINDS, OWN
from fst.runtime import run

each_kind = pytest.mark.parametrize("kind", KINDS)
LETTERS = "aAbſsK-_ é世カー\u0301"
OPTIONS: list[dict[str, Any]] = [{}, {"ignore_case": True}, {"whole_words": True}, {"ignore_case": True, "whole_words": True}]


def found_by(searcher: fst.Searcher, texts: Sequence[Any], **options: Any) -> list[list[tuple[int, int, int]]]:
    """Return the matches in each text."""
    return [[(match.id, match.start, match.end) for match in row] for row in searcher.find_batch(texts, **options)]


def in_bytes(text: str, matches: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Convert the positions of matches from characters to bytes."""
    return [(number, len(text[:start].encode()), len(text[:end].encode())) for number, start, end in matches]


def streamed(searcher: fst.Searcher, text: Any, cuts: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the matches of a text that is streamed in parts."""
    stream, parts = searcher._matcher.stream(offsets=True), list[Any]()
    for begin, end in pairwise([0, *cuts, len(text)]):
        stream.write(text[begin:end])
        parts.append(stream.read())
    parts.append(stream.close())
    return [(number, *span) for part in parts for number, span in zip(part.ids.tolist(), part.offsets.tolist(), strict=True)]


@pytest.mark.mostly_slow
@each_kind
@examples(600)
@given(
    options=some.sampled_from(OPTIONS),
    listed=some.lists(some.text(LETTERS, max_size=4), min_size=1, max_size=6),
    texts=some.lists(some.text(LETTERS, max_size=14), max_size=6),
    cuts=some.lists(some.integers(0, 14), max_size=5),
)
def test_definition(kind: str, options: dict[str, Any], listed: list[str], texts: list[str], cuts: list[int]) -> None:
    """Walk, kernel and streams find the same matches as the naive implementation, both in characters and in bytes."""
    table = keywords(listed, match_kind=kind, allow_empty=True, **options)
    table.prove()
    searcher, expected = fst.Searcher(table), [keyword_matches(listed, text, kind, **options) for text in texts]
    assert found_by(searcher, texts) == expected
    assert [[*map(tuple, searcher.find_iter(text))] for text in texts] == expected
    bytewise = [in_bytes(*row) for row in zip(texts, expected, strict=True)]
    assert found_by(searcher, [text.encode() for text in texts], offsets="bytes") == bytewise
    walked = [[*map(tuple, table.walk(text.encode()))] for text in texts]
    assert walked == [[match for match in row if match[0] not in table.empty] for row in bytewise]
    assert searcher.count(texts).tolist() == [*map(len, expected)]
    for text, row in zip(texts, expected, strict=True):
        assert streamed(searcher, text, sorted(min(cut, len(text)) for cut in cuts)) == row


NORMALIZERS: list[dict[str, Any]] = [
    {"type": "NFKC"},
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]},
    {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "ab"}, "content": "K-"}, {"type": "NFC"}]},
    {"type": "Lowercase"},
]


@pytest.mark.slow
@pytest.mark.parametrize("normalizer", thinned([(normalizer,) for normalizer in NORMALIZERS], 8))
@examples(100)
@given(
    kind=some.sampled_from(KINDS),
    options=some.sampled_from(OPTIONS),
    listed=some.lists(some.text("aAb½ﬁ-é1fi\u0301", min_size=1, max_size=4), min_size=1, max_size=6),
    text=some.text("aAb½ﬁ-é1fi\u0301K 世", max_size=14),
    cuts=some.lists(some.integers(0, 14), max_size=5),
)
def test_normalizers(
    normalizer: dict[str, Any], kind: str, options: dict[str, Any], listed: list[str], text: str, cuts: list[int]
) -> None:
    """Normalized keywords are found in the normalized text, and a match covers complete characters of the raw text, plus the characters
    after them that normalization drops.
    """
    by = keywords(["b"], normalizer=normalizer).metadata.text.normalizer
    assert by
    listed = [keyword for keyword in listed if by.normalized(keyword)[0]] or ["b"]
    table = keywords(listed, match_kind=kind, normalizer=normalizer, **options)
    table.prove()
    normal, places = by.normalized(text)
    behind = [*(begin for begin, _ in places[1:]), len(text)]  # the position at which the next character begins
    found = keyword_matches([by.normalized(keyword)[0] for keyword in listed], normal, kind, **options)
    expected = [(number, places[start][0], max(places[end - 1][1], behind[end - 1])) for number, start, end in found]
    assert found_by(fst.Searcher(table), [text, "", text]) == [expected, [], expected]
    assert [*map(tuple, fst.Searcher(table).find_iter(text))] == expected
    assert [*map(tuple, table.walk(text.encode()))] == in_bytes(text, expected)
    assert streamed(fst.Searcher(table), text, sorted(min(cut, len(text)) for cut in cuts)) == expected


def test_normalizers_of_tokenizers() -> None:
    """A normalizer of `tokenizers` is accepted, but any other object is refused."""
    tokenizers = pytest.importorskip("tokenizers.normalizers")
    lower = keywords(["É"], normalizer=tokenizers.Sequence([tokenizers.NFC(), tokenizers.Lowercase()]))
    assert found_by(fst.Searcher(lower), ["e\u0301É"]) == [[(0, 0, 2), (0, 2, 3)]]
    assert fst.Searcher(lower).replace("xe\u0301É", "*") == "x**"
    with pytest.raises(ValueError, match="normalizer is"):
        keywords(["a"], normalizer="NFC")
    with pytest.raises(fst.UnsupportedError, match="Prepend"):
        keywords(["a"], normalizer={"type": "Prepend", "prepend": "_"})
    with pytest.raises(fst.VocabularyError, match="keyword 1, '\u0301': the normalizer leaves nothing of it"):
        keywords(["a", "\u0301"], normalizer={"type": "StripAccents"})


def test_empty_keywords_among_characters_that_become_several() -> None:
    """If normalization replaces a character by several characters, empty keywords match before and after the raw character, but not
    between its replacements.
    """
    searcher = fst.Searcher(keywords(["i", ""], normalizer={"type": "NFKC"}, allow_empty=True))
    assert found_by(searcher, ["aﬁ½b"]) == [[(1, 0, 0), (0, 1, 2), (1, 3, 3), (1, 4, 4)]]
    assert searcher.replace("aﬁ½b", "*") == "*a*½*b*"
    both = fst.Searcher(keywords(["f", "i"], normalizer={"type": "NFKC"}))
    assert found_by(both, ["ﬁ"]) == [[(0, 0, 1), (1, 0, 1)]]
    assert both.replace("ﬁ", ["X", "Y"]) == "XY"


REPEATED = ["a" * size for size in range(1, 1_001)]


@pytest.mark.slow
def test_overlapping_tables_grow_with_their_keywords() -> None:
    """A table for overlapping search has only one row per keyword, although all keywords may match at the same position of a text."""
    table = keywords(REPEATED, match_kind="overlapping")
    assert table.matches.shape == (1_001, 2)
    assert len(table.entries) < 3_000
    searcher = fst.Searcher(table)
    assert searcher.count(["a" * 5_000, "", "ba"], threads=1).tolist() == [500_500 + 4_000 * 1_000, 0, 1]
    found = searcher.find_batch(["a" * 1_500, "b", "aa"])
    assert len(found[0]) == 500_500 + 500 * 1_000
    assert found[2] == [(0, 0, 1), (1, 0, 2), (0, 1, 2)]
    assert (found.ends - found.starts == found.ids + 1).all()


def test_matches_are_counted_before_there_is_room_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search with more matches than its limit is refused before memory is allocated, but `count` and `is_match` still work."""
    monkeypatch.setattr(run, "MOST_IDS", 1_000_000)
    searcher, text = fst.Searcher(keywords(REPEATED, match_kind="overlapping")), "a" * 3_000
    with pytest.raises(fst.TextError, match="more than 1,000,000 matches"):
        searcher.find_batch([text])
    assert searcher.count([text] * 3).tolist() == [2_500_500] * 3
    assert searcher.is_match(text)


def test_equal_keywords() -> None:
    """If several keywords are equal, or become equal by case folding, a search finds the first of them, and an overlapping search finds
    all of them in their order.
    """
    listed = ["a", "ba", "A", "a"]
    for kind in KINDS[:3]:
        assert found_by(fst.Searcher(keywords(listed, match_kind=kind, ignore_case=True)), ["aAxBa"])[0][:2] == [(0, 0, 1), (0, 1, 2)]
    both = fst.Searcher(keywords(listed, match_kind="overlapping", ignore_case=True))
    assert found_by(both, ["xBa"]) == [[(1, 1, 3), (0, 2, 3), (2, 2, 3), (3, 2, 3)]]


def test_words() -> None:
    """With `whole_words`, a match that begins or ends with a letter, mark, digit or connector needs a word boundary there, except at
    ideographs and kana.
    """
    searcher = fst.Searcher(keywords(["C++", ".NET", "研究", "カー", "café", "x_1"], whole_words=True))
    text = "C++17 aC++ ASP.NET .NETs 研究所 スカート cafés café cafe\u0301 x_1 x_12 ax_1"
    assert [text[match.start : match.end] for match in searcher.find_iter(text)] == ["C++", ".NET", "研究", "カー", "café", "x_1"]
    longest = fst.Searcher(keywords(["New", "New York", "York"], whole_words=True))
    assert found_by(longest, ["New Yorkers in New York"]) == [[(0, 0, 3), (1, 15, 23)]]


def test_case() -> None:
    """Case folding maps each character to a single character, even if their numbers of bytes in UTF-8 differ."""
    searcher = fst.Searcher(keywords(["Kſ", "ß", "ⱥb"], ignore_case=True))
    assert found_by(searcher, ["KS ks \u212as ẞ ss ȺB"]) == [[(0, 0, 2), (0, 3, 5), (0, 6, 8), (1, 9, 10), (2, 14, 16)]]
    assert found_by(searcher, ["\u212as ȺB"], offsets="bytes") == [[(0, 0, 4), (2, 5, 8)]]
    assert searcher.keywords == ("Kſ", "ß", "ⱥb")


def test_replacing_overlapping_matches_is_refused() -> None:
    """A searcher for overlapping matches refuses `replace`."""
    with pytest.raises(ValueError, match="replace: matches overlap; compile the keywords with another match_kind"):
        fst.Searcher(keywords(["a"], match_kind="overlapping")).replace("a", "b")


@each_kind
def test_keywords_in_any_form(kind: str) -> None:
    """Keywords may be str or UTF-8 bytes, may contain NUL, and may come from any iterable."""
    listed: list[str | bytes] = ["a\0", "世".encode(), "\0", "a"]
    found = found_by(fst.Searcher(keywords(iter(listed), match_kind=kind)), ["a\0世\0a"])
    assert found == [keyword_matches(["a\0", "世", "\0", "a"], "a\0世\0a", kind)]


def test_keywords_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a keyword is too long, or there are too many keywords, an error contains the position, and the rest of the keywords is not
    read.
    """
    with pytest.raises(fst.UnsupportedError, match=r"keyword 1: 'b+\.\.\. has 10,000,000 bytes; at most 65,536 are possible"):
        keywords(["a", "b" * 10_000_000], match_kind="overlapping")
    with pytest.raises(fst.VocabularyError, match="keyword 1: the keyword is empty; leave it out, or allow it with allow_empty "):
        keywords(["a", ""], match_kind="overlapping")
    with pytest.raises(fst.VocabularyError, match=r"keyword 0: .* is not text"):
        keywords(["\ud800"], ignore_case=True)
    monkeypatch.setattr(import_module("fst.compile.dictionary_words"), "MAX_TOTAL", 1_000)
    with pytest.raises(fst.UnsupportedError, match="keyword 43: up to here there are 1,012 bytes; at most 1,000 are possible"):
        keywords(("a" * 23 for _ in count()), match_kind="overlapping")


def test_calls_of_first_searches_are_kept() -> None:
    """If several threads make the first search at the same time, the prepared calls of all threads exist as long as the searcher."""
    searcher = fst.Searcher(keywords(["he"]))
    first = searcher._find_short
    calls = []
    for _ in range(2):
        assert first("she") in ([(0, 1, 3)], None)
        calls += [weakref.ref(call) for short in searcher._shorts for call in short._calls]
    assert None not in [call() for call in calls]


ALL: dict[str, Any] = {"normalizer": {"type": "Lowercase"}, "whole_words": True, "allow_empty": True}
LONG: list[dict[str, Any]] = [*OPTIONS, {"allow_empty": True}, ALL]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("kind", "options"), thinned([(kind, options) for kind in KINDS for options in LONG], 16))
def test_long_texts(kind: str, options: dict[str, Any]) -> None:
    """A long text has the same matches on one thread, on two threads, as a stream of parts, and as separate lines."""
    draw = random.Random(kind)
    listed = ["ab", "Ba", "b", "a-b", "世a", "aab", *([""] if "allow_empty" in options else [])]
    lines = ["".join(draw.choices("aAb-世 ", k=draw.randint(0, 300))) for _ in range(1_000)]
    searcher, text = fst.Searcher(keywords(listed, match_kind=kind, **options)), "\n".join(lines)
    found = searcher.find_batch(lines)
    starts = np.cumsum([0, *(len(line) + 1 for line in lines)])[:-1]
    rows = np.repeat(starts, np.diff(found.row_splits))
    for threads in (1, 2):
        whole = searcher.find_batch([text, "b"], threads=threads)
        first = slice(0, whole.row_splits[1])
        assert whole.ids[first].tolist() == found.ids.tolist()
        assert whole.starts[first].tolist() == (found.starts + rows).tolist()
        assert whole.ends[first].tolist() == (found.ends + rows).tolist()
    cuts = sorted(draw.randint(0, len(text)) for _ in range(9))
    assert streamed(searcher, text, cuts) == [*map(tuple, whole[0])]


@each_kind
def test_same_matches_as_ahocorasick_rs(kind: str) -> None:
    """Searches find the same matches as the library `ahocorasick_rs`."""
    ahocorasick_rs = pytest.importorskip("ahocorasick_rs")
    names = {"leftmost-longest": "LeftmostLongest", "leftmost-first": "LeftmostFirst"}
    draw = random.Random(kind)
    for _ in range(100):
        listed = ["".join(draw.choices("abé世", k=draw.randint(1, 5))) for _ in range(draw.randint(1, 30))]
        text = "".join(draw.choices("abé世", k=200))
        peer = ahocorasick_rs.AhoCorasick(listed, matchkind=getattr(ahocorasick_rs.MatchKind, names.get(kind, "Standard")))
        found = peer.find_matches_as_indexes(text, overlapping=kind == "overlapping")
        assert found_by(fst.Searcher(keywords(listed, match_kind=kind)), [text]) == [found]


C = ord("c")
D = ord("d")
HARM: dict[str, tuple[str, Any, Any, str]] = {
    "rows for other keywords": ("matches", slice(0, 7), 0, "match 1 does not count one more than match 0"),
    "a first row": ("matches", (0, 0), 1, "row 0 of matches is not empty; expected zeros"),
    "a row past all": ("matches", (1, 0), 8, "match 1 leads to match 8 of 7"),
    "a wrong count": ("matches", (1, 1), 7, "match 1 does not count one more"),
    "a circle": ("matches", (2, 0), 2, "match 2 does not count one more than match 2"),
    "an empty keyword behind another": ("matches", (4, slice(None)), (6, 2), "match 4 leads to match 6, of an empty keyword"),
    "an output past all": ("entries", 1 + C, ENTRY.pack(C, 0, 9), "has the output 9; there are 7"),
    "an empty output": ("entries", 1 + C, ENTRY.pack(C, 0, 6), "has the output 6, of an empty keyword"),
    "an output of a state": ("entries", 0, ENTRY.pack(OWN, 0, 1), "slot 0 has an output, and is not a transition"),
    "an empty keyword with a length": ("keyword_lengths", 5, 1, "keyword 5 has 0 bytes, and the length 1"),
    "a state of two strings": ("entries", 3 + D, ENTRY.pack(D, 8), "state 8 represents 2 strings; expected 1"),
    "a link to another string": ("entries", 8, ENTRY.pack(OWN, 4), "the link of state 8 does not lead to the end of its string"),
    "a byte to another string": ("entries", 104, ENTRY.pack(D, 4, 5), "leads from state [0-9]+ to another string"),
    "a match of more than was read": ("keyword_lengths", 3, 2, "slot 100 has a match of 2 characters, and 1 were read"),
    "a longer match after another": ("keyword_lengths", 6, 3, "match 1 has 2 characters, and leads to match 7, of more"),
    "a keyword without a length": ("keyword_lengths", 0, 0, "keyword 0 has 2 bytes, and the length 0"),
}


@pytest.mark.parametrize("name", HARM)
def test_damaged_tables_are_refused(name: str) -> None:
    """A table that violates a precondition of the kernels is refused, and the message gives the reason."""
    member, place, value, message = HARM[name]
    table = keywords(["ab", "bab", "abcab", "c", "cabd", "", "b"], match_kind="overlapping", allow_empty=True)
    array = getattr(table, member).copy()
    array[place] = value
    with pytest.raises(fst.TableError, match=message):
        replace(table, **{member: array}).prove()


METADATA: dict[str, tuple[dict[str, Any], str]] = {
    "another kind of match": ({"match_kind": "standard"}, "match_kind is 'standard' in a table for overlapping"),
    "folds that are no list": ({"folds": 3}, "folds is 3; expected null or a list of runs"),
    "folds of three numbers": ({"folds": [[65, 66]]}, "folds: a run of characters does not have 3 code points"),
    "folds out of order": ({"folds": [[66, 65, 97]]}, "folds: a run of characters does not have 3 code points, or is out of order"),
    "folds that overlap": ({"folds": [[65, 90, 97], [66, 66, 98]]}, "folds: a run of characters does not begin after the one before"),
    "folds of surrogates": ({"folds": [[65, 65, 0xD800]]}, "folds: .* not code points of characters"),
    "ASCII that is no ASCII": ({"folds": [[65, 65, 0x1F600]]}, "ASCII is not folded to lower case"),
    "words of one number": ({"words": [[65]]}, "words: "),
    "text without words": ({"words": None, "rewriting": None, "folds": None, "more": 1}, "about has 'more'"),
}


@pytest.mark.parametrize("name", METADATA)
def test_damaged_metadata_is_refused(name: str) -> None:
    """A table is refused if its metadata contains normalization steps that the kernels cannot run, and the message gives the reason."""
    changes, message = METADATA[name]
    table = keywords(["ab"], match_kind="overlapping")
    with pytest.raises(fst.TableError, match=message):
        replace(table, header={**table.header, **changes}).prove()


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of recorded matches that have keywords and are not anchored, with their options."""
    path = SHARED / "oracles" / ("keyword_search.jsonl" if name == "first" else f"toolkit/keyword_search_{name}.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["patterns"] and not row.get("anchored") and "ANCHORED" not in row.get("group", "")]


def kinds_of(row: dict[str, Any]) -> list[str]:
    """Return the kinds of matches with which a row is tested; a row from the crate aho-corasick contains the name of a group of kinds."""
    group = row.get("group")
    if group is None:
        return [row["match_kind"]]
    if group in ("OVERLAPPING", "ASCII_CASE_INSENSITIVE_OVERLAPPING"):
        return ["overlapping"]
    if group in ("STANDARD", "LEFTMOST_FIRST", "LEFTMOST_LONGEST"):
        return [group.lower().replace("_", "-")]
    return ["leftmost-first", "leftmost-longest", *(["standard"] if group not in ("LEFTMOST", "REGRESSION") else [])]


@needs_shared
@pytest.mark.parametrize("name", ["aho_corasick", "others", "random", "first"])
def test_oracles(name: str) -> None:
    """Matches equal those recorded from other projects: in batches, in single calls, on two threads, in streams, in characters and in
    bytes.
    """
    rows = rows_of(name)
    assert rows
    for row in sample(rows, 32) if name == "random" else rows:
        text = row["haystack"]
        ignore_case = bool(row.get("ascii_case_insensitive") or row.get("ignore_case") or "CASE" in row.get("group", ""))
        for kind in kinds_of(row):
            options: dict[str, Any] = {"ignore_case": ignore_case, "whole_words": "whole_words" in row, "allow_empty": True}
            searcher = fst.Searcher(keywords(row["patterns"], match_kind=kind, **options))
            found = found_by(searcher, [text])[0]
            if "names" in row:
                assert [row["names"][number] for number, _, _ in found] == row["expected_names"], row
            else:
                assert found == [*map(tuple, row["matches"])], (kind, row)
            assert found_by(searcher, [text] * 3, threads=2) == [found] * 3
            assert found_by(searcher, [text.encode()], offsets="bytes") == [in_bytes(text, found)]
            assert [*map(tuple, searcher.find_iter(text))] == found
            assert streamed(searcher, text, range(0, len(text), 3)) == found
