"""Make the tables of `support.conformance.samples`, and encode texts with them by every method."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from support.conformance.rewriting import RewritingEncoder
from support.conformance.samples import SAMPLES, Sample

import fst
from fst.runtime.encoder import Encoder

Rows = list[list[int]]
BARE: Any = {"add_special_tokens": False}


class Located(NamedTuple):
    """The ids of a text with their positions; the positions are empty if the table computes no offsets."""

    ids: list[int]
    offsets: list[list[int]]
    words: list[int]


@cache
def table_of(name: str) -> Any:
    """The table of a sample."""
    with TemporaryDirectory() as folder:
        return SAMPLES[name].make(Path(folder))


def public(table: Any) -> Any:
    """The tokenizer, searcher or segmenter that `fst.load` returns for a table."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.npz")
        table.save(path)
        return fst.load(path)


def encoder_of(used: Any) -> Encoder:
    """The encoder inside a public object; for a rewriter, an encoder of texts into the characters of new texts."""
    if isinstance(used, fst.Rewriter):
        return RewritingEncoder(used)
    found: Encoder = used if isinstance(used, Encoder) else next(part for part in vars(used).values() if isinstance(part, Encoder))
    return found


def walked(table: Any, text: str) -> list[int]:
    """The ids that the walk returns. The walk of WordPiece finds no added tokens that depend on their neighbours; for such tables, the
    encoder gives the ids.
    """
    if table.kind == "wordpiece" and table.metadata.added_tokens.contextual:
        return [*map(int, fst.Tokenizer(table).encode(text, **BARE))]
    return [number for number in table.run(text) if number >= 0 or table.kind != "mecab"]


def texts_of(sample: Sample, draw: random.Random, count: int = 20, longest: int = 20) -> list[str]:
    """Random texts of the sample's parts, between two empty texts."""
    drawn = ("".join(draw.choices(sample.parts, k=draw.randint(1, longest))) for _ in range(count))
    return ["", *drawn, ""]


def cut(draw: random.Random, text: str | bytes) -> Iterator[Any]:
    """Cut a text at random positions, and return the parts."""
    places = sorted(draw.randint(0, len(text)) for _ in range(draw.randint(0, 12)))
    return (text[begin:end] for begin, end in pairwise([0, *places, len(text)]))


def streamed(encoder: Encoder, pieces: Iterator[Any]) -> Located:
    """Write the parts of a text to a stream, and return all ids with their positions."""
    stream, parts = encoder.stream(offsets=True, **BARE), []
    for piece in pieces:
        stream.write(piece)
        parts.append(stream.read())
    parts.append(stream.close())
    return Located(*([*(value for part in parts for value in getattr(part, name).tolist())] for name in Located._fields))


def located(encoder: Encoder, texts: Sequence[str]) -> list[Located]:
    """Encode texts in a batch, and return the ids of each text with their positions."""
    batch: Any = encoder.encode_batch(texts, offsets=True, **BARE)
    bounds = pairwise(batch.row_splits.tolist())
    return [Located(*(getattr(batch, name)[begin:end].tolist() for name in Located._fields)) for begin, end in bounds]


def rows_of(batch: Any) -> Rows:
    """The ids of each row of a batch, as lists."""
    return [batch.ids[begin:end].tolist() for begin, end in pairwise(batch.row_splits.tolist())]
