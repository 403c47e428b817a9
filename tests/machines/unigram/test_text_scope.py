"""Unigram with sums of scores over the entire text, as in `sentencepiece`: the kernel, the walk, the naive implementation and
`sentencepiece` agree.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.unigram_text import TO_SYMBOL, model_of, reference, tables_of
from support.naive import sentencepiece as defined
from support.naive.sentencepiece import NORMAL, UNKNOWN, UNUSED, USER_DEFINED, Piece
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, sample, thinned

import fst
from fst.cli.commands.explain.command import explained
from fst.compile.machines.unigram.compiler import assemble
from fst.compile.sources.sentencepiece.model_file import BYTE, BYTES, CONTROL, parse
from fst.compile.sources.templates import BARE
from fst.compile.text.sentencepiece import WORD_CUTS
from fst.compile.text.source import NO_SETTINGS, Source, TextPipeline
from fst.errors import TableError, UnsupportedError, VocabularyError
from fst.machines.unigram.table import UnigramTable
from fst.machines.unigram.viterbi import WORD_SCOPE
from fst.tables.header import AddedTokens

sentencepiece = pytest.importorskip("sentencepiece")

UNK = Piece("<unk>", 0, UNKNOWN)
FALLBACKS = [Piece(name, 0, BYTE) for name in BYTES]


SCORES = some.sampled_from([-1.0, -2.0, -2.5, -3.0, 0.1, -0.1, -7.3, -1.1, -2.2, -3.3, -1.1000001])
TYPES = some.sampled_from([NORMAL, NORMAL, NORMAL, NORMAL, USER_DEFINED, UNUSED, CONTROL])
PIECES = some.lists(some.builds(Piece, some.text("ab▁é", min_size=1, max_size=3), SCORES, TYPES), min_size=1, max_size=10)
TEXTS = some.lists(some.text("aab▁é\x00", max_size=12), max_size=5)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("byte_fallback", [False, True])
@examples(300)
@given(pieces=PIECES, texts=TEXTS, times=some.integers(1, 300))
def test_tied_scores(byte_fallback: bool, pieces: list[Piece], texts: list[str], times: int) -> None:
    """With tied and nearly tied scores, short and long texts get the same ids as in the naive implementation and in `sentencepiece`."""
    own = {piece.text: piece for piece in pieces}
    every = [UNK, *own.values(), *FALLBACKS * byte_fallback, Piece("z", -9)]
    table, of = tables_of(model_of(every, byte_fallback=byte_fallback)), reference(every, byte_fallback=byte_fallback)
    tokenizer = fst.Tokenizer(table)
    table.prove()
    for text in texts:
        ids = of.encode(text)
        assert defined.sentencepiece(every, "unigram", text, byte_fallback=byte_fallback) == ids
        assert table.run(text) == ids
        assert tokenizer.encode(text).tolist() == ids
    long = "".join(texts) * times
    assert tokenizer.encode(long).tolist() == of.encode(long)


@cache
def near() -> tuple[list[Piece], UnigramTable, fst.Tokenizer]:
    """Make pieces with which many paths have nearly equal scores, and their table and tokenizer."""
    draw, of_letter = random.Random(3), {"a": -1.1, "b": -1.7, "c": -2.3, "▁": -0.9}
    names = {"".join(draw.choices("abc", k=draw.randint(2, 4))) for _ in range(40)} | {f"▁{name}" for name in ("a", "ab", "cab", "bb")}
    near = (0, 1e-6, -1e-6, 1e-3, -1e-3, 0.1)
    scored = {name: sum(map(of_letter.__getitem__, name)) + draw.choice(near) for name in sorted(names - {"cc"})}
    pieces = [UNK, *map(Piece, of_letter, of_letter.values()), *map(Piece, scored, scored.values()), Piece("cc", 0, USER_DEFINED)]
    table = tables_of(model_of(pieces), whitespace=True)
    return pieces, table, fst.Tokenizer(table)


def near_text(draw: random.Random, size: int) -> str:
    """Draw a text of words that have many paths with nearly equal scores."""
    return " ".join("".join(draw.choices("abcd", (6, 6, 6, 1), k=draw.randint(1, 9))) for _ in range(size))


@pytest.mark.parametrize("size", [1, 10, 300, pytest.param(30_000, marks=pytest.mark.slow), pytest.param(300_000, marks=pytest.mark.slow)])
def test_rounding_decides(size: int) -> None:
    """The ids of a text equal those of `sentencepiece` at any length, although rounding errors of the sums grow with the length."""
    pieces, _, tokenizer = near()
    of = reference(pieces)
    texts = [near_text(random.Random(seed), size) for seed in sample(range(30 if size < 1000 else 2), 2)]
    assert [ids.tolist() for ids in tokenizer.encode_batch(texts)] == [of.encode(text.replace(" ", "▁")) for text in texts]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("scale", [1, 100, 3_000, 40_000, 1e30])
def test_sums_beyond_the_limit(scale: float) -> None:
    """If a sum of scores exceeds its limit and is restarted, the ids equal those of `sentencepiece`: at any position, with any sign, in
    a pre-token of any length.
    """
    draw = random.Random(scale)
    for _ in sample(range(100), 20):
        of_letter = {char: -score * scale * draw.choice((1, 1, -1)) for char, score in zip("abc", (1.1, 1.7, 2.3), strict=True)}
        names = {"".join(draw.choices("abc", k=draw.randint(1, 4))) for _ in range(14)} | {*draw.sample("abc", 2)}
        scores = {name: sum(map(of_letter.__getitem__, name)) + draw.choice((0, 1e-3, -0.1, scale / 9)) for name in sorted(names)}
        kinds = draw.choices((NORMAL, USER_DEFINED), (8, 1), k=len(scores))
        pieces = [UNK, *map(Piece, scores, scores.values(), kinds)]
        table, of = tables_of(model_of(pieces)), reference(pieces)
        text = "".join(draw.choices("abc", k=800))
        assert defined.sentencepiece(pieces, "unigram", text[:80]) == of.encode(text[:80])
        tokenizer, long = fst.Tokenizer(table), "".join(draw.choices("abc", k=40_000))
        assert tokenizer.encode(text).tolist() == table.run(text) == of.encode(text)
        assert tokenizer.encode(long).tolist() == of.encode(long)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"types": [2, 1]}, "has 3 tokens and 2 types"),
        ({"types": [1, 2, 1]}, "its unk_id is of another type"),
    ],
)
def test_refusals(change: dict[str, Any], message: str) -> None:
    """A model is refused if the types of its pieces contradict its tokens."""
    with pytest.raises(VocabularyError, match=message):
        tables_of(replace(model_of([UNK, Piece("a", -1), Piece("b", -1)]), **change))


def test_cuts_are_refused() -> None:
    """If sums of scores span entire texts, a pre-tokenizer that cuts texts is refused."""
    text = TextPipeline([], [{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}])
    source = Source(model_of([UNK, Piece("a", -1)]), text, AddedTokens({}, {}, None, (), ()), BARE, NO_SETTINGS)
    with pytest.raises(UnsupportedError, match="a pre_tokenizer that cuts texts"):
        assemble(source, "auto")


@pytest.mark.parametrize(
    ("name", "harm", "message"),
    [
        ("types", lambda types: types[:-1], "types for"),
        ("types", lambda types: types + 6, "types are 1 to 7"),
        ("scores", lambda scores: scores + 1e-9, "not a float32"),
        ("drops", lambda drops: drops + 1, "but sums continue"),
    ],
)
def test_damaged_tables_are_refused(name: str, harm: Any, message: str) -> None:
    """A damaged table is refused, and the message describes the fault."""
    table = near()[1]
    table.prove()
    with pytest.raises(TableError, match=message):
        replace(table, **{name: harm(getattr(table, name))}).prove()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sums": WORD_SCOPE}, "sums are not those of whole texts"),
        ({"byte_fallback": True}, "byte_fallback is true, and a byte has no token"),
    ],
)
def test_damaged_tables_of_words_are_refused(changes: dict[str, Any], message: str) -> None:
    """A damaged table of a model of type "word" is refused, and the message describes the fault."""
    table = words()
    table.prove()
    with pytest.raises(TableError, match=message):
        replace(table, header={**table.header, **changes}, types=table.types[: 0 if "sums" in changes else None]).prove()


def words() -> UnigramTable:
    """The table of a model of type "word", in which only entire words are tokens."""
    model = replace(model_of([UNK, Piece("▁a", -1), Piece("b", -1)]), is_word_type=True)
    return assemble(Source(model, TextPipeline([TO_SYMBOL], [WORD_CUTS]), AddedTokens({}, {}, None, (), ()), BARE, NO_SETTINGS), "auto")


def test_words_are_explained() -> None:
    """For a model of type "word", `fst explain` shows for each word whether it is a token."""
    assert [*explained(words(), "b ax")] == [
        *("pre-token b", "  a token as a whole word", "  tokens b 2", ""),
        *("pre-token ▁ax", "  unknown as a whole word", "  tokens <unk> 0"),
    ]


def test_words_have_one_segmentation() -> None:
    """For a model of type "word", sampling and n > 1 are refused, and `nbest` with n = 1 gives the same ids as `encode`."""
    tokenizer: Any = fst.Tokenizer(words())
    calls: list[tuple[str, dict[str, Any]]] = [
        ("nbest", {"n": 2}),
        *((name, {"randomness": fst.Sampling()}) for name in ("encode", "encode_batch")),
    ]
    for name, options in calls:
        with pytest.raises(UnsupportedError, match="a text has a single segmentation"):
            getattr(tokenizer, name)("a" if name != "encode_batch" else ["a"], **options)
    assert tokenizer.encode("b x", randomness=fst.Sampling(nbest_size=1)).tolist() == tokenizer.encode("b x").tolist() == [2, 0]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("path", thinned(sorted(SHARED.glob("vocab_unigram/*/*.model")), 4), ids=lambda path: "/".join(path.parts[-2:]))
def test_real_models(path: Any) -> None:
    """With real models, the lines of each corpus and each entire corpus get the same ids as in `sentencepiece`."""
    model, of = parse(path.read_bytes(), path.name), sentencepiece.SentencePieceProcessor(model_file=str(path))
    table = tables_of(model_of([*map(Piece, model.pieces, model.scores, model.types)], byte_fallback=model.byte_fallback), whitespace=True)
    tokenizer = fst.Tokenizer(table)
    for corpus in sorted((SHARED / "corpora").iterdir()):
        text = corpus.read_text()[:1_000_000]
        lines = text.split("\n")
        found = tokenizer.encode_batch([line.replace("▁", " ") for line in of.normalize(lines)])
        assert [ids.tolist() for ids in found] == of.encode(lines), corpus
        assert tokenizer.encode(of.normalize(text).replace("▁", " ")).tolist() == of.encode(text), corpus
