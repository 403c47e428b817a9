"""Unigram without an unknown token: as in `tokenizers`, a text with an unknown character is an error, and all other texts have ids."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.unigram import BITS, BYTES, PIPELINES, TOKENS, VOCABULARY, document
from support.text.normalizers import Json
from support.tiers import examples
from tokenizers import Tokenizer

import fst
from fst.compile.machines.unigram.compiler import assemble
from fst.compile.sources.tokenizer_json import of_document
from fst.errors import TableError, TextError, UnsupportedError, VocabularyError
from fst.machines.unigram.sampling import Sampling
from fst.machines.unigram.table import UnigramTable

LETTERS = [("▁", -2.0), ("a", -1.0), ("b", -1.5), ("é", -3.0), ("▁ab", -2.5)]


def compiled(written: Json) -> UnigramTable:
    """Compile a tokenizer.json without keeping it on disk."""
    return assemble(of_document(written, Path("tokenizer.json")), "auto")


@cache
def small() -> fst.Tokenizer:
    """A tokenizer over a few letters, with ▁ for spaces."""
    return fst.Tokenizer(compiled(document(LETTERS, unk_id=None, **PIPELINES["always"])))


def ids_or_error(encode: Callable[[], Sequence[int]]) -> list[int] | str:
    """The ids of a text; "error" if the text has an unknown character."""
    try:
        return [*encode()]
    except TextError:
        return "error"
    except Exception as error:  # the class that `tokenizers` raises
        if "`unk_id` is missing" not in str(error):
            raise
        return "error"


def hold(written: Json, texts: Sequence[str]) -> int:
    """Check that texts have the ids of `tokenizers`, or an error where it raises one; return the number of errors."""
    tok, reference = fst.Tokenizer(compiled(written)), Tokenizer.from_str(json.dumps(written))
    found = [ids_or_error(lambda text=text: tok.encode(text).tolist()) for text in texts]  # type: ignore[misc]
    assert found == [ids_or_error(lambda text=text: reference.encode(text).ids) for text in texts]  # type: ignore[misc]
    known = [text for text, ids in zip(texts, found, strict=True) if ids != "error"]
    batch = tok.encode_batch(known, offsets=True)
    assert [row.tolist() for row in batch] == [ids for ids in found if ids != "error"]
    assert batch.offsets is not None
    assert [tuple(span) for span in batch.offsets.tolist()] == [span for text in known for span in reference.encode(text).offsets]
    return found.count("error")


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("pipeline", "fallback"), [("always", False), ("always", True), ("first", True), ("words", False), ("replaced", True), ("plain", False)]
)
def test_texts_are_those_of_the_reference(pipeline: str, fallback: bool) -> None:
    """With any pipeline, and with byte fallback, which the reference then ignores, texts have the same ids or are errors."""
    draw = random.Random(pipeline)
    vocabulary = [*VOCABULARY, *(BYTES if fallback else [])]
    known = [bit for bit in BITS if bit in (" ", "a", "b", "ab", "é", "本", "1")]
    texts = [*BITS, *("".join(draw.choices(bits, k=draw.randrange(9))) for bits in (BITS, known) for _ in range(30))]
    assert 0 < hold(document(vocabulary, unk_id=None, byte_fallback=fallback, **PIPELINES[pipeline]), texts) < len(texts)


@examples(400)
@given(TOKENS, some.sets(some.sampled_from("abé")), some.lists(some.text("abé<x", max_size=10), max_size=8))
def test_any_scores(tokens: dict[str, float], letters: set[str], texts: list[str]) -> None:
    """With any tokens and scores, texts have the same ids or are errors; a vocabulary in which scores decide whether a text is an error is
    refused.
    """
    vocabulary = {"<s>": 0.0, **dict.fromkeys(sorted(letters), -2.0), **tokens}
    written = document([*vocabulary.items()], unk_id=None)
    is_closed = all({*token} <= vocabulary.keys() for token in [*vocabulary][1:]) and len(vocabulary) > 1
    with nullcontext() if is_closed else suppress(UnsupportedError, VocabularyError):
        hold(written, ["", *texts])


ERRORS: dict[str, tuple[Callable[[Any], Any], int | None, int | None, str]] = {
    "one text": (lambda tok: tok.encode("ab xé"), 0, 3, "'x'"),
    "bytes": (lambda tok: tok.encode("éa☃".encode()), 0, 3, r"'\u2603'"),
    "a batch": (lambda tok: tok.encode_batch(["a", "b a", "aab\nb", "x"]), 2, 3, r"'\n'"),
    "a batch with offsets": (lambda tok: tok.encode_batch(["a", "x"], offsets=True), 1, 0, "'x'"),
    "many texts": (lambda tok: tok.encode_batch(["ab a b"] * 9_999 + ["abx"], threads=2), 9_999, 2, "'x'"),
    "a count": (lambda tok: tok.count_tokens(["a", "bax"]), 1, 2, "'x'"),
    "a cut row": (lambda tok: tok.encode_batch(["a", "b" * 100 + "x"], max_length=2), 1, 100, "'x'"),
    "a column": (lambda tok: tok.encode_arrow(pa.array(["a", None, "xa"])), 2, 0, "'x'"),
    "a sample": (lambda tok: tok.encode("abx", randomness=Sampling(0.5, seed=1)), 0, 2, "'x'"),
    "n-best": (lambda tok: tok.nbest("abx", 3), 0, 2, "'x'"),
    "model inputs": (lambda tok: tok(["a", "ax"]), 1, 1, "'x'"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_unknown_characters_are_errors(name: str) -> None:
    """The error contains the row, the position, the character and the remedy."""
    call, row, place, shown = ERRORS[name]
    with pytest.raises(TextError) as error:
        call(small())
    assert (error.value.row, error.value.place) == (row, place)
    assert str(error.value).startswith(f"row {row}, position {place}: {shown} is unknown, and the vocabulary has no unk_id; expected ")


def test_streams_end_at_unknown_characters() -> None:
    """A stream gives the ids of known characters, then an error with the position, and is closed."""
    stream, ids = small().stream(), list[int]()
    for piece in ("ab ab", " a", "b ab ☃"):
        stream.write(piece)
        part = stream.read()
        ids += part.ids.tolist()
        assert part.offsets is None
    assert len(ids) > 0
    assert ids == small().encode("ab ab ab ab")[: len(ids)].tolist()
    with pytest.raises(TextError, match=r"position 12 of the stream: '\\u2603' is unknown, and the vocabulary has no unk_id"):
        stream.close()
    with pytest.raises(ValueError, match="the stream is closed"):
        stream.read()
    whole = small().stream(offsets=True)
    whole.write("ab é")
    assert whole.close().offsets is not None


def test_stand_ins_raise_the_error() -> None:
    """The stand-ins for `tokenizers` and `transformers` encode known characters, and raise the error for others."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    for made in (fst.tokenizers(small()), fst.hf(small())):
        assert getattr(made.encode("ab a"), "ids", made.encode("ab a")) == small().encode("ab a").tolist()
        with pytest.raises(TextError, match="'x' is unknown, and the vocabulary has no unk_id"):
            made.encode("ax")


def test_exports_are_refused() -> None:
    """A table without an unknown token cannot be exported, because exports have no such error."""
    from fst.runtime.exporting.calls import calls

    with pytest.raises(UnsupportedError, match="unk_id is missing; expected the id of an unknown token"):
        calls(small(), 64)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([("a", -1.0), ("ab", -2.0)], "token 'ab' contains 'b', which is not a token, and the model has no unk_id; expected tokens for"),
        ([("ab", -2.0)], "no token of the model can be in a text"),
    ],
)
def test_vocabularies_in_which_scores_decide_are_refused(tokens: Any, message: str) -> None:
    """A vocabulary is refused if a token ends with a character that is not a token, because scores decide whether this is an error."""
    with pytest.raises(fst.FstError, match=message):
        compiled(document(tokens, unk_id=None))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"unk_token": "a"}, "unk_id is None, unk_token 'a'; expected both or none"),
        ({"unk_id": 1}, "unk_id is 1, unk_token None; expected both or none"),
        ({"sums": "float32"}, "unk_id is None, unk_token None, and sums are those of whole texts"),
    ],
)
def test_forged_tables_are_refused(stated: Json, message: str) -> None:
    """A table is refused if only one of ``unk_id`` and ``unk_token`` is null, or if the reference always has an unknown token."""
    table: Any = small()._table
    with pytest.raises(TableError, match=message):
        replace(table, header={**table.header, **stated}).prove()


def test_tables_keep_the_rule(tmp_path: Path) -> None:
    """A saved table has no unknown token either, and its tokenizer.json is the source's."""
    small()._table.save(tmp_path / "a.npz")
    tok = fst.load(tmp_path / "a.npz", fst.Tokenizer)
    assert tok._metadata.model.unk_id is None
    assert json.loads(fst.tokenizers(tok).to_str())["model"]["unk_id"] is None
    with pytest.raises(TextError):
        tok.encode("x")
