"""Measure StaticEmbedding of sentence-transformers with its own tokenizer, with `fst.tokenizers`, and with ids from a table.

    pip install sentence-transformers
    python tests/bench/embeddings.py [FOLDER]

``figures.py`` describes FOLDER. The texts are lines of English books, in batches of 1,024. The weights are random, with 256 dimensions, and
the embeddings of all three variants are equal. The variants take turns with one thread, and a figure is the best processor time of five
runs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rows import BOOKS, FOLDER, UNCASED, documents

import fst
from fst.compile import wordpiece

ROWS, DIMENSIONS, BATCH, TURNS = 40_000, 256, 1024, 5


def main() -> None:
    """Print the figures."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # set before the import of `tokenizers`, which reads it once
    import torch

    torch.set_num_threads(1)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    texts = [text for text in documents(folder / "corpora" / BOOKS) if text][:ROWS]
    models = ways(folder / UNCASED / "tokenizer.json")
    expected = embedded(models["its own tokenizer"], texts)
    seconds = dict.fromkeys(models, np.inf)
    for _ in range(TURNS):
        for name, model in models.items():
            begun = time.process_time()
            found = embedded(model, texts)
            seconds[name] = min(seconds[name], time.process_time() - begun)
            assert np.array_equal(found, expected)
    print("| StaticEmbedding with | seconds of processor time | times as fast |\n| --- | ---: | ---: |")
    for name, taken in seconds.items():
        print(f"| {name} | {taken:.2f} | {seconds['its own tokenizer'] / taken:.1f} |")


def ways(source: Path) -> dict[str, Any]:
    """The model with each of the three tokenizers: its own, `fst.tokenizers`, and ids from a table."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(source))
    weights = torch.randn(tokenizer.get_vocab_size(), DIMENSIONS)
    names = "its own tokenizer", "`fst.tokenizers`", "ids from a table"
    models = {name: SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights)], device="cpu") for name in names}
    models[names[1]][0].tokenizer = fst.tokenizers(tokenizer)
    models[names[2]][0].preprocess = preprocessing(fst.Tokenizer(wordpiece(source)))
    return models


def preprocessing(tok: fst.Tokenizer) -> Callable[..., dict[str, Any]]:
    """A replacement for `StaticEmbedding.preprocess` that creates no lists."""
    import torch

    def preprocess(inputs: list[str], prompt: str | None = None, **_: Any) -> dict[str, Any]:
        batch = tok.encode_batch([prompt + text for text in inputs] if prompt else inputs, add_special_tokens=False)
        return {"input_ids": torch.from_numpy(batch.ids.astype(np.int64)), "offsets": torch.from_numpy(batch.row_splits[:-1])}

    return preprocess


def embedded(model: Any, texts: list[str]) -> Any:
    """The embeddings of texts."""
    return model.encode(texts, batch_size=BATCH, show_progress_bar=False)


if __name__ == "__main__":
    main()
