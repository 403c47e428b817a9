"""A program that only runs tables, for processes in which `numba` cannot be imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fst

TEXTS = ["ab unable!", "", "é 😀 ab" * 30, "a" * 700, "x\u0301 [SEP]", "unable " * 90]


def save_tables(folder: Path) -> None:
    """Save a table of some kinds to a folder."""
    from support.core.private_parts import TOKENS, byte_level

    from fst.compile import keywords, maxmatch, wordpiece

    wordpiece(TOKENS).save(folder / "wordpiece.npz")
    byte_level().save(folder / "bpe.npz")
    keywords(["ab", "nab"]).save(folder / "keywords.npz")
    maxmatch(["ab", "un", "able"]).save(folder / "maxmatch.npz")


def run_tables(folder: Path) -> list[Any]:
    """Load the tables, call each method that runs kernels, and return all results as values that JSON can express."""
    return [
        *_tokenized(fst.load(folder / "wordpiece.npz")),
        *_tokenized(fst.load(folder / "bpe.npz")),
        *_found(fst.load(folder / "keywords.npz")),
        [[*map(str, row)] for row in fst.Segmenter.load(folder / "maxmatch.npz").segment_batch(TEXTS)],
        fst.Segmenter.load(folder / "maxmatch.npz").segment(TEXTS[0]),
    ]


def _tokenized(tokenizer: Any) -> list[Any]:
    with_spans = tokenizer.encode_batch(TEXTS, offsets=True)
    of_bytes = tokenizer.encode_batch([text.encode() for text in TEXTS], threads=2)
    stream = tokenizer.stream()
    stream.write(TEXTS[0])
    ids = [tokenizer.encode(text).tolist() for text in TEXTS]
    return [
        ids,
        [row.tolist() for row in of_bytes],
        with_spans.offsets.tolist(),
        tokenizer.count_tokens(TEXTS).tolist(),
        [tokenizer.decode(row) for row in ids],
        tokenizer.decode_batch(ids * 3),
        tokenizer([text for text in TEXTS if text.isprintable()])["input_ids"],
        [*stream.read().ids.tolist(), *stream.close().ids.tolist()],
    ]


def _found(searcher: Any) -> list[Any]:
    matches = [[*map(list, searcher.find_iter(text))] for text in TEXTS]
    return [matches, [searcher.is_match(text) for text in TEXTS], searcher.count(TEXTS).tolist(), searcher.replace(TEXTS, "ö")]
