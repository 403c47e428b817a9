"""Embed sentences with sentence-transformers and a compiled tokenizer, which replaces the tokenizer of the model.

The arguments are the folder of a model with a WordPiece tokenizer, such as all-MiniLM-L6-v2, and files with one sentence per line::

    python examples/sentence_embeddings.py path/to/all-MiniLM-L6-v2 sentences.txt -o embeddings.npy
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found, unused-ignore]

import fst
from fst.compile import wordpiece


def loaded(folder: Path, device: str | None) -> Any:
    """A model with a compiled tokenizer; its embeddings are the same as with the original tokenizer."""
    model: Any = SentenceTransformer(str(folder), device=device)
    tokenizer = fst.Tokenizer(wordpiece(folder))  # or fst.load("model.npz"), if the table is already compiled
    model[0].processor = fst.hf(tokenizer, model_max_length=model.max_seq_length)
    return model


def main() -> None:
    """Read the command line, embed the sentences, and write the embeddings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--device", help="such as cpu or cuda")
    parser.add_argument("-o", "--output", type=Path, required=True, help="float32[sentences, dimensions], as numpy writes it")
    arguments = parser.parse_args()
    sentences = [line for file in arguments.files for line in file.read_text(encoding="utf-8").splitlines()]
    np.save(arguments.output, loaded(arguments.model, arguments.device).encode(sentences))


if __name__ == "__main__":
    main()
