"""The tree of chunks is a sequence, and sessions share all chunks that a change does not touch."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from support.conformance.ways import table_of

import fst
from fst.runtime.sessions import chunks as trees
from fst.runtime.sessions import edits
from fst.runtime.sessions.chunks import Chunk, Chunks
from fst.runtime.sessions.reading import START


def chunk(draw: random.Random) -> Chunk:
    """Make a chunk of a few characters and ids."""
    return Chunk("x" * draw.randint(0, 4), np.zeros(draw.randint(0, 3), np.int32), 0, START)


@pytest.mark.parametrize("most", [2, 3, 16])
def test_a_tree_is_a_sequence(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree has the chunks, the totals and the positions of a list with the same replacements."""
    monkeypatch.setattr(trees, "MOST", most)
    draw, tree, known = random.Random(most), Chunks(), list[Chunk]()
    for _ in range(400):
        begin = draw.randint(0, len(known))
        old, new = known[begin : begin + draw.choice([0, 0, 1, 5])], [chunk(draw) for _ in range(draw.choice([0, 1, 2, 9]))]
        tree, known = tree.replaced(begin, old, new), [*known[:begin], *new, *known[begin + len(old) :]]
        assert [*tree] == known
        assert (tree.chunks, tree.characters, tree.count) == trees.measured(known)
        if known:
            index, place = draw.randrange(len(known)), draw.randint(0, tree.characters)
            begin = draw.randint(0, index)
            assert tree[index] is known[index]
            assert [*tree.between(begin, index)] == known[begin:index]
            assert tree.find(place) == found(known, place)


def found(known: list[Chunk], place: int) -> tuple[int, int, int]:
    """The result of `Chunks.find` for a list."""
    start = count = 0
    for index, each in enumerate(known):
        if start + each.characters > place:
            return index, start, count
        start, count = start + each.characters, count + each.count
    return len(known), start, count


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bpe automaton", "the abba is 12 "),
        ("bpe normalized", "the abba is 12 "),
        ("bpe characters and bytes", "ab 日本 é a "),
        ("unigram", "ab 日本 é a "),
        ("wordpiece auto", "un a! "),
        ("wordpiece auto", "世界" * 4),
        ("wordpiece composed", "un a! "),
    ],
)
def test_an_edit_reads_little(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit in the middle of a text, or in its fork, replaces a few chunks, and shares all others."""
    for size in ("BLOCK", "TURN"):
        monkeypatch.setattr(edits, size, 100)
    tok: Any = fst.Tokenizer(table_of(name))
    session = tok.session(text * 600)
    before = [*session._version.all_chunks]
    assert len(before) > 30
    for begin, end, new in ((1000, 1001, "b"), (1200, 1200, "e\u0301"), (1100, 1180, ""), (0, 0, "a"), (1500, 1500, text * 20)):
        other = session.fork()
        other.edit(begin, end, new)
        assert other.ids.tolist() == tok.encode(other.text, add_special_tokens=False).tolist()
        replaced = {*before}.difference(other._version.all_chunks)
        assert len(replaced) <= 8
        assert [*session._version.all_chunks] == before


def test_small_parts_are_merged() -> None:
    """A text that is appended in parts of one character has few chunks."""
    session = fst.Tokenizer(table_of("bpe automaton")).session()
    for character in "the abba is 12 " * 100:
        session.append(character)
    assert session._version.all_chunks.chunks == 1
