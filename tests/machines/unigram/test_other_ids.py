"""Unigram with other ids for the pieces of `sentencepiece`: some pieces have no id, and some runs of unknown characters are tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.unigram_text import model_of, reference, tables_of
from support.naive.sentencepiece import NORMAL, UNKNOWN, Piece
from support.tiers import examples

import fst
from fst.errors import TableError
from fst.machines.unigram.table import UnigramTable
from fst.machines.unigram.viterbi import RUN

pytest.importorskip("sentencepiece")

UNK = Piece("<unk>", 0, UNKNOWN)
SCORES = some.sampled_from([-1.0, -2.0, -2.5, -3.0, -0.1, -1.1000001])
PIECES = some.dictionaries(some.text("abé", min_size=1, max_size=3), SCORES, min_size=1, max_size=8)


def table_of(named: dict[str, float], unnamed: dict[str, float], runs: list[str]) -> UnigramTable:
    """A table in which the pieces `unnamed` have no id, and `runs` are tokens that only runs of unknown characters become."""
    pieces = [UNK, *(Piece(name, score, NORMAL) for name, score in named.items()), *(Piece(run, 0, RUN) for run in runs)]
    scores = [(name, float(np.float32(score))) for name, score in unnamed.items()]
    table = tables_of(replace(model_of(pieces), unnamed=scores))
    table.prove()
    return table


@examples(60)
@given(named=PIECES, unnamed=PIECES, runs=some.sets(some.text("xyz", min_size=1, max_size=3)), texts=some.lists(some.text("aabxyzé")))
def test_pieces_are_looked_up(named: dict[str, float], unnamed: dict[str, float], runs: set[str], texts: list[str]) -> None:
    """Ids equal those of the pieces of `sentencepiece`, looked up as strings; walk, kernel, spans and fixed ids agree."""
    unnamed = {name: score for name, score in unnamed.items() if name not in named}
    table = table_of(named, unnamed, sorted(runs))
    of = reference([UNK, *(Piece(name, score) for name, score in {**named, **unnamed}.items())])
    ids = {name: number for number, name in enumerate(["<unk>", *named, *sorted(runs)])}
    tokenizer = fst.Tokenizer(table)
    for text in [*texts, "".join(texts) * 40]:
        expected = [ids.get(piece, 0) for piece in of.encode(text, out_type=str)]
        assert table.run(text) == tokenizer.encode(text).tolist() == expected
        batch = tokenizer.encode_batch([text], offsets=True)
        assert batch.ids.tolist() == expected
        assert [text[begin:end] for begin, end in np.asarray(batch.offsets).tolist()] == of.encode(text, out_type=str)


def test_unknown_tokens_stay_apart() -> None:
    """Two pieces without an id are two unknown tokens, and a run of unknown characters next to them is another."""
    tokenizer = fst.Tokenizer(table_of({"a": -1.0}, {"b": -1.0, "bab": -1.5}, ["xy"]))
    assert tokenizer.encode("abbxaxyabab").tolist() == [1, 0, 0, 0, 1, 2, 1, 0]
    assert tokenizer.vocab_size == 3


@pytest.mark.parametrize(
    ("name", "harm", "message"),
    [
        ("unnamed", lambda sizes: sizes[:-1], "scores for"),
        ("unnamed", lambda sizes: sizes + 1, "has others|too long|no token"),
        ("types", lambda types: np.where(np.arange(len(types)) == len(types) - 1, 4, types).astype(np.uint8), "without an id is of type 4"),
    ],
)
def test_damaged_tables_are_refused(name: str, harm: Any, message: str) -> None:
    """A table with wrong tokens without ids is refused."""
    table = table_of({"a": -1.0}, {"b": -1.0, "bab": -1.5}, ["xy"])
    with pytest.raises(TableError, match=message):
        replace(table, **{name: harm(getattr(table, name))}).prove()
