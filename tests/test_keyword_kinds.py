"""Kinds of keyword search: overlapping matches, folded case, whole words, normalizers and empty keywords, all against their definitions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from naive import keyword_matches
from shared_data import SHARED, needs_shared
from tiers import examples

import fst
from fst.compile import keywords
from fst.compile.text import normalizers
from fst.compile.text.rewriting import rewriting
from fst.machines.keywords import KINDS
from fst.rewriting import Rewriting

each_kind = pytest.mark.parametrize("kind", KINDS)
LETTERS = "aAbſsK-_ é世カー\u0301"
OPTIONS: list[dict[str, bool]] = [{}, {"ignore_case": True}, {"whole_words": True}, {"ignore_case": True, "whole_words": True}]
each_option = pytest.mark.parametrize("options", OPTIONS, ids=["plain", "ignore_case", "whole_words", "both"])


def found_by(searcher: fst.Searcher, texts: Sequence[Any], **options: Any) -> list[list[tuple[int, int, int]]]:
    """The matches in each text."""
    return [[*map(tuple, row)] for row in searcher.find_batch(texts, **options)]


def in_bytes(text: str, matches: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Matches in the bytes of a text."""
    return [(number, len(text[:start].encode()), len(text[:end].encode())) for number, start, end in matches]


def streamed(searcher: fst.Searcher, text: Any, cuts: Sequence[int]) -> list[tuple[int, int, int]]:
    """The matches of a text that comes in pieces."""
    stream, parts = searcher._matcher.stream(offsets=True), list[Any]()
    for begin, end in pairwise([0, *cuts, len(text)]):
        stream.write(text[begin:end])
        parts.append(stream.read())
    parts.append(stream.close())
    return [(number, *span) for part in parts for number, span in zip(part.ids.tolist(), part.offsets.tolist(), strict=True)]


@each_option
@each_kind
@examples(600)
@given(
    listed=some.lists(some.text(LETTERS, max_size=4), min_size=1, max_size=6),
    texts=some.lists(some.text(LETTERS, max_size=14), max_size=6),
    cuts=some.lists(some.integers(0, 14), max_size=5),
)
def test_definition(kind: str, options: dict[str, bool], listed: list[str], texts: list[str], cuts: list[int]) -> None:
    """Walk, kernel and streams find the matches of the definition, in characters and in bytes."""
    table = keywords(listed, match_kind=kind, allow_empty=True, **options)
    table.prove()
    searcher, expected = fst.Searcher(table), [keyword_matches(listed, text, kind, **options) for text in texts]
    assert found_by(searcher, texts) == expected
    bytewise = [in_bytes(*row) for row in zip(texts, expected, strict=True)]
    assert found_by(searcher, [text.encode() for text in texts], offsets="bytes") == bytewise
    walked = [[*map(tuple, table.walk(text.encode()))] for text in texts]
    assert walked == [[match for match in row if match[1] < match[2]] for row in bytewise]
    assert searcher.count(texts).tolist() == [*map(len, expected)]
    for text, row in zip(texts, expected, strict=True):
        assert streamed(searcher, text, sorted(min(cut, len(text)) for cut in cuts)) == row


NORMALIZERS: list[dict[str, Any]] = [
    {"type": "NFKC"},
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]},
    {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "ab"}, "content": "K-"}, {"type": "NFC"}]},
    {"type": "Lowercase"},
]


@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=["nfkc", "bare", "edited", "lowercase"])
@examples(200)
@given(
    kind=some.sampled_from(KINDS),
    options=some.sampled_from(OPTIONS),
    listed=some.lists(some.text("aAb½ﬁ-é1fi\u0301", min_size=1, max_size=4), min_size=1, max_size=6),
    text=some.text("aAb½ﬁ-é1fi\u0301K 世", max_size=14),
    cuts=some.lists(some.integers(0, 14), max_size=5),
)
def test_normalizers(
    normalizer: dict[str, Any], kind: str, options: dict[str, bool], listed: list[str], text: str, cuts: list[int]
) -> None:
    """A normalised text has the matches of its normalised keywords; each covers the characters whole that its own come from."""
    by = read(normalizer)
    listed = [keyword for keyword in listed if by.normalized(keyword)[0]] or ["b"]
    table = keywords(listed, match_kind=kind, normalizer=normalizer, **options)
    table.prove()
    normal, places = by.normalized(text)
    found = keyword_matches([by.normalized(keyword)[0] for keyword in listed], normal, kind, **options)
    expected = [(number, places[start][0], places[end - 1][1]) for number, start, end in found]
    assert found_by(fst.Searcher(table), [text, "", text]) == [expected, [], expected]
    assert [*map(tuple, table.walk(text.encode()))] == in_bytes(text, expected)
    assert streamed(fst.Searcher(table), text, sorted(min(cut, len(text)) for cut in cuts)) == expected


def read(normalizer: dict[str, Any]) -> Rewriting:
    """A normalizer in slow and plain Python."""
    return rewriting(normalizers.components(normalizer), prefix_space=False)


def test_normalizers_of_tokenizers() -> None:
    """A normalizer of tokenizers is taken as it is; anything else is refused."""
    tokenizers = pytest.importorskip("tokenizers.normalizers")
    lower = keywords(["É"], normalizer=tokenizers.Sequence([tokenizers.NFC(), tokenizers.Lowercase()]))
    assert found_by(fst.Searcher(lower), ["e\u0301É"]) == [[(0, 0, 2), (0, 2, 3)]]
    with pytest.raises(ValueError, match="normalizer="):
        keywords(["a"], normalizer="NFC")
    with pytest.raises(fst.UnsupportedError, match="Prepend"):
        keywords(["a"], normalizer={"type": "Prepend", "prepend": "_"})
    with pytest.raises(fst.VocabularyError, match="keyword 1, '\u0301': the normalizer leaves nothing of it"):
        keywords(["a", "\u0301"], normalizer={"type": "StripAccents"})


def test_empty_keywords_among_characters_that_become_several() -> None:
    """Empty keywords match at characters of the raw text, not at those that they become."""
    searcher = fst.Searcher(keywords(["i", ""], normalizer={"type": "NFKC"}, allow_empty=True))
    assert found_by(searcher, ["aﬁ½b"]) == [[(1, 0, 0), (0, 1, 2), (1, 3, 3), (1, 4, 4)]]
    assert searcher.replace("aﬁ½b", "*") == "*a*½*b*"
    both = fst.Searcher(keywords(["f", "i"], normalizer={"type": "NFKC"}))
    assert found_by(both, ["ﬁ"]) == [[(0, 0, 1), (1, 0, 1)]]
    assert both.replace("ﬁ", ["X", "Y"]) == "XY"


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of an oracle that are not anchored and have keywords, with the options that they ask for."""
    path = SHARED / "oracles" / ("keyword_search.jsonl" if name == "first" else f"toolkit/keyword_search_{name}.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["patterns"] and not row.get("anchored") and "ANCHORED" not in row.get("group", "")]


def kinds_of(row: dict[str, Any]) -> list[str]:
    """The kinds of matches that a row asks for. The rows of one oracle name a collection, which is for one kind or for several."""
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
    """Other projects find the same matches: in a batch and alone, on one thread and on two, in pieces, in characters and in bytes."""
    rows = rows_of(name)
    assert rows
    for row in rows:
        text = row["haystack"]
        ignore_case = bool(row.get("ascii_case_insensitive") or row.get("ignore_case") or "CASE" in row.get("group", ""))
        for kind in kinds_of(row):
            options = {"ignore_case": ignore_case, "whole_words": "whole_words" in row, "allow_empty": True}
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
