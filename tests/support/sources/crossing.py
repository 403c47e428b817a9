"""Cross a table with `tokenizers`: every result of both on the same texts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from support.sources.drawn import drawn, texts
from tokenizers import Tokenizer as Reference

import fst
from fst.compile import tokenizer

COMPILED, REFUSED = "compiled", "refused"
Outcome = tuple[str, str]  # the kind of the outcome, and what was found


def crossed(seed: int, folder: Path, count: int = 40) -> list[Outcome]:
    """Compile a drawn configuration, and compare all results on `count` drawn texts with those of `tokenizers`.

    Returns:
        The outcomes: (`COMPILED`, "") or (`REFUSED`, the message), then a pair for each call that is refused or differs.
    """
    document = drawn(seed)
    path = folder / f"{seed}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    reference = Reference.from_file(str(path))
    if document["model"].get("dropout"):  # a table draws nothing by itself
        reference.model.dropout = None
    try:
        own = fst.Tokenizer(tokenizer(path))
    except fst.UnsupportedError as error:
        return [(REFUSED, str(error).removeprefix(f"{path}: "))]
    finally:
        path.unlink()
    rows = [row for row in texts(document, seed, count) if _has_ids(reference, row)]
    checks = (_ids, _decoded, _decoded_in_parts, _streamed, _truncated)
    return [(COMPILED, ""), *(found for check in checks for found in _outcomes(check, own, reference, rows))]


def _has_ids(reference: Reference, row: str) -> bool:
    """Whether the reference encodes a text: Unigram without an unknown token does not encode all texts."""
    try:
        reference.encode(row)
    except Exception:
        return False
    return True


def _outcomes(check: Callable[..., Any], own: fst.Tokenizer, reference: Reference, rows: Sequence[str]) -> list[Outcome]:
    """The outcomes of one check; an error of another class is a difference, too."""
    name = check.__name__.strip("_").replace("_", " ")
    found = list[Outcome]()
    try:
        found += [(f"wrong {what}", text) for what, text in check(own, reference, rows)]
    except fst.UnsupportedError as error:
        found.append((f"refused {name}", str(error)))
    except Exception as error:
        found.append((f"crash in {name}", f"{type(error).__name__}: {error}"))
    return found


def _ids(own: fst.Tokenizer, reference: Reference, rows: Sequence[str]) -> Any:
    expected = reference.encode_batch(rows)
    ids = [row.tolist() for row in own.encode_batch(rows)]
    for text, found, row in zip(rows, ids, expected, strict=True):
        if found != row.ids:
            yield "ids", f"{text!r}: {found}; expected {row.ids}"
            return
        if own.encode(text).tolist() != row.ids:
            yield "ids of encode", repr(text)
            return
    batch = own.encode_batch(rows, offsets=True)
    assert batch.offsets is not None
    spans = [*map(tuple, batch.offsets.tolist())]
    for text, row in zip(rows, expected, strict=True):
        found, spans = spans[: len(row.ids)], spans[len(row.ids) :]
        if found != row.offsets:
            yield "offsets", f"{text!r}: {found}; expected {row.offsets}; tokens {row.tokens}"
            return


def _decoded(own: fst.Tokenizer, reference: Reference, rows: Sequence[str]) -> Any:
    ids = [row.ids for row in reference.encode_batch(rows)]
    for skip in (True, False):
        found = own.decode_batch(ids, skip_special_tokens=skip)
        expected = reference.decode_batch(ids, skip_special_tokens=skip)
        for row, one, other in zip(ids, found, expected, strict=True):
            if one != other:
                yield "decode", f"{row}, {skip}: {one!r}; expected {other!r}"
                return


def _decoded_in_parts(own: fst.Tokenizer, reference: Reference, rows: Sequence[str]) -> Any:
    for skip in (True, False):
        for text in rows:
            ids = reference.encode(text).ids
            stream = own.decode_stream(skip_special_tokens=skip)
            found = "".join([*(stream.write([number]) for number in ids), stream.close()])
            whole = own.decode(ids, skip_special_tokens=skip)
            if found != whole and "\ufffd" not in whole:  # a stream has returned the characters before malformed byte tokens
                yield "decode_stream", f"{ids}, {skip}: {found!r}; expected {whole!r}"
                return


def _streamed(own: fst.Tokenizer, reference: Reference, rows: Sequence[str]) -> Any:
    chance = random.Random(len(rows))
    for text in rows:
        stream, at, found = own.stream(), 0, list[int]()
        while at < len(text):
            size = chance.randrange(1, 9)
            stream.write(text[at : at + size])
            found += stream.read().ids.tolist()
            at += size
        found += stream.close().ids.tolist()
        if found != (expected := reference.encode(text).ids):
            yield "stream", f"{text!r}: {found}; expected {expected}"
            return


def _truncated(own: fst.Tokenizer, reference: Reference, rows: Sequence[str]) -> Any:
    stand_in = fst.tokenizers(own)
    for each in (reference, stand_in):
        each.enable_truncation(7, stride=2)
    for text, found, row in zip(rows, stand_in.encode_batch(rows), reference.encode_batch(rows), strict=True):
        for name in ("ids", "type_ids", "offsets", "word_ids", "special_tokens_mask"):
            if (one := getattr(found, name)) != (other := getattr(row, name)):
                yield f"{name} of truncated rows", f"{text!r}: {one}; expected {other}"
                return
        if [more.ids for more in found.overflowing] != [more.ids for more in row.overflowing]:
            yield "overflowing rows", repr(text)
            return
