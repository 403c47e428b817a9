"""Embed sentences with a static model, first with a tokenizer of `tokenizers`, then with the compiled version of this tokenizer.

Static models, such as StaticEmbedding of sentence-transformers and Model2Vec, have a matrix with one row per token. The embedding of a text
is the mean of the rows of its tokens, so tokenization takes most of the time. The arguments are a tokenizer.json and files with one
sentence per line::

    python examples/static_embedding.py path/to/tokenizer.json sentences.txt
"""

from __future__ import annotations

import argparse
import time
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

import fst

DIMENSIONS = 64
Floats = NDArray[np.float32]


class StaticModel:
    """A static model with random weights in place of learned weights.

    Args:
        tokenizer: a ``tokenizers.Tokenizer``, or a drop-in replacement.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.weights = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), DIMENSIONS)).astype(np.float32)

    def tokenize(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def embed(self, rows: list[list[int]]) -> Floats:
        """The embedding of each row of ids, the mean of its tokens' weights: float32[rows, dimensions]; zeros for a row without ids."""
        lengths = np.array([len(ids) for ids in rows])
        ids = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
        embeddings = np.zeros((len(rows), DIMENSIONS), np.float32)
        begins = np.cumsum(lengths) - lengths
        if len(ids):
            embeddings[lengths > 0] = np.add.reduceat(self.weights[ids], begins[lengths > 0])
        embeddings /= np.maximum(lengths, 1)[:, None]
        return embeddings


def timed(model: StaticModel, texts: list[str]) -> tuple[Floats, str]:
    """Embed texts; return the embeddings, and a line with the time of each step."""
    begin = time.perf_counter()
    rows = model.tokenize(texts)
    between = time.perf_counter()
    embeddings = model.embed(rows)
    return embeddings, f"{1000 * (between - begin):.1f} ms for tokens, {1000 * (time.perf_counter() - between):.1f} ms for sums"


def main() -> None:
    """Read the command line, embed the texts twice, and compare the embeddings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    texts = [line for file in arguments.files for line in file.read_text(encoding="utf-8").splitlines()]
    model = StaticModel(Tokenizer.from_file(str(arguments.tokenizer)))
    expected, took = timed(model, texts)
    print(f"tokenizers: {took}")
    model.tokenizer = fst.tokenizers(model.tokenizer)  # the only line that differs from a program with `tokenizers`
    timed(model, texts[:1])  # compiles the kernels, or loads them from disk
    embeddings, took = timed(model, texts)
    print(f"fst:        {took}")
    print("same embeddings" if np.array_equal(embeddings, expected) else "other embeddings")


if __name__ == "__main__":
    main()
