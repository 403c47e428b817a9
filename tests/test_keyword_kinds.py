"""Kinds of keyword search: overlapping matches, folded case, whole words, normalizers and empty keywords, all against their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from naive import keyword_matches
from tiers import examples

import fst
from fst.compile import keywords
from fst.machines.keywords import KINDS

each_kind = pytest.mark.parametrize("kind", KINDS)
LETTERS = "aAbſsK-_ é世カー\u0301"
OPTIONS = [{"ignore_case": True}, {"whole_words": True}, {"ignore_case": True, "whole_words": True}]
each_option = pytest.mark.parametrize("options", OPTIONS, ids=["ignore_case", "whole_words", "both"])


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
    listed=some.lists(some.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=6),
    texts=some.lists(some.text(LETTERS, max_size=14), max_size=6),
    cuts=some.lists(some.integers(0, 14), max_size=5),
)
def test_definition(kind: str, options: dict[str, bool], listed: list[str], texts: list[str], cuts: list[int]) -> None:
    """Walk, kernel and streams find the matches of the definition, in characters and in bytes."""
    table = keywords(listed, match_kind=kind, **options)
    table.prove()
    searcher, expected = fst.Searcher(table), [keyword_matches(listed, text, kind, **options) for text in texts]
    assert found_by(searcher, texts) == expected
    bytewise = [in_bytes(*row) for row in zip(texts, expected, strict=True)]
    assert found_by(searcher, [text.encode() for text in texts], offsets="bytes") == bytewise
    assert [[*map(tuple, table.walk(text.encode()))] for text in texts] == bytewise
    assert searcher.count(texts).tolist() == [*map(len, expected)]
    for text, row in zip(texts, expected, strict=True):
        assert streamed(searcher, text, sorted(min(cut, len(text)) for cut in cuts)) == row
