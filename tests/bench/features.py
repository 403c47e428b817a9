"""Measure the cost of offsets, truncated rows and added tokens, relative to ids alone.

    python tests/bench/features.py [FOLDER]

``figures.py`` describes FOLDER. The output is a table. The texts are English books; the vocabulary is bert-base-uncased. The ids and
offsets of a sample are compared with `tokenizers` first. Then the variants take turns with one thread, and a ratio is the median over the
rounds.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from figures import seconds  # this import limits `tokenizers` to one thread
from rows import BOOKS, FOLDER, UNCASED, documents
from tokenizers import Tokenizer

import fst
from fst.compile import wordpiece

SAMPLE = 2000  # number of rows, because `tokenizers` is slow
ADDED = 1644  # number of tokens
TURNS = 9


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    source = folder / "vocab" / UNCASED / "tokenizer.json"
    english = documents(folder / "corpora" / BOOKS)
    tok, reference = fst.Tokenizer(wordpiece(source)), Tokenizer.from_file(str(source))
    reference.no_truncation()
    reference.no_padding()
    print("| figure | |\n| --- | --- |")
    show("time of ids with offsets against that of ids", ratio(partial(located, tok, english), partial(ids, tok, english)))
    sample = english[:SAMPLE]
    batch = tok.encode_batch(sample, offsets=True)
    expected = reference.encode_batch(sample)
    assert batch.offsets is not None
    assert batch.ids.tolist() == [number for row in expected for number in row.ids]
    assert list(map(tuple, batch.offsets.tolist())) == [place for row in expected for place in row.offsets]
    slow = ratio(lambda: reference.encode_batch(sample), partial(located, tok, sample))
    show("time of tokenizers' `encode_batch` against ids with offsets", slow)
    long = ["\n".join(english)[first : first + 10**6] for first in range(0, 19 * 10**6 + 1, 10**6)]
    taken = seconds(lambda: tok.encode_batch(long, max_length=128, threads=1), TURNS)
    show(f"`encode_batch(max_length=128)` on {len(long)} documents of a million characters, in ms", taken * 1e3)
    for kind, tokens in added(source, folder):
        with_added = extended(source, tokens)
        found = sum(int((row >= tok.vocab_size).any()) for row in with_added.encode_batch(english))
        what = f"speed with {len(tokens)} added tokens against none, {kind}, found in {found:,} of {len(english):,} texts"
        show(what, ratio(partial(ids, tok, english), partial(ids, with_added, english)))


def show(figure: str, value: float) -> None:
    """Print a line of the table."""
    print(f"| {figure} | {value:.2f} |", flush=True)


def ids(tok: fst.Tokenizer, texts: list[str]) -> Any:
    """Encode texts."""
    return tok.encode_batch(texts, threads=1)


def located(tok: fst.Tokenizer, texts: list[str]) -> Any:
    """Encode texts with offsets."""
    return tok.encode_batch(texts, offsets=True, threads=1)


def ratio(first: Callable[[], Any], second: Callable[[], Any]) -> float:
    """The ratio of the times of two functions that run in turns, as the median of all rounds."""
    return statistics.median(seconds(first, 1) / seconds(second, 1) for _ in range(TURNS))


def added(source: Path, folder: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Added tokens of three kinds: names in brackets, English words that also match inside words, and the same words with single_word."""
    known = json.loads(source.read_text(encoding="utf-8"))["model"]["vocab"]
    lines = (folder / "dict" / "american-english-huge.txt").read_text(encoding="utf-8").split()
    words = [word for word in lines if word.isascii() and word.isalpha() and word.islower() and len(word) > 4 and word not in known]
    chosen = random.Random(0).sample(words, ADDED)
    return [
        ("in brackets, as they stand", [{"content": f"<{word}>"} for word in chosen]),
        ("words, normalized", [{"content": word, "normalized": True} for word in chosen]),
        ("whole words, normalized", [{"content": word, "normalized": True, "single_word": True} for word in chosen]),
    ]


def extended(source: Path, tokens: list[dict[str, Any]]) -> fst.Tokenizer:
    """A tokenizer with more added tokens."""
    document = json.loads(source.read_text(encoding="utf-8"))
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    first = len(document["model"]["vocab"])
    document["added_tokens"] += [{**plain, **token, "id": first + number} for number, token in enumerate(tokens)]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "tokenizer.json")
        path.write_text(json.dumps(document), encoding="utf-8")
        return fst.Tokenizer(wordpiece(path))


if __name__ == "__main__":
    main()
