"""Replace a tokenizer of `transformers` with a compiled tokenizer, and compare the results and the classes of both.

The arguments are a source of a vocabulary and a text, whose lines are the inputs::

    python examples/replace_tokenizer.py examples/english-uncased-8000.txt README.md
"""

from __future__ import annotations

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

import fst
from fst.compile import tokenizer


def pair(source: str) -> tuple[Any, Any]:
    """A tokenizer of `transformers`, and the compiled tokenizer with the same vocabulary."""
    compiled = fst.hf(fst.Tokenizer(tokenizer(source)), model_max_length=128)
    with TemporaryDirectory() as folder:
        compiled.save_pretrained(folder)
        return AutoTokenizer.from_pretrained(folder), compiled


def results(tok: Any, texts: list[str]) -> dict[str, Any]:
    """Call a tokenizer in typical ways, and return the results."""
    return {
        "ids of all texts": tok(texts)["input_ids"],
        "truncated and padded rows": tok(texts, padding=tok.pad_token is not None, truncation=True),
        "windows of 16": tok(texts, truncation=True, max_length=16, stride=4, return_overflowing_tokens=True, return_offsets_mapping=True),
        "decoded texts": tok.batch_decode(tok(texts)["input_ids"], skip_special_tokens=True),
        "special tokens": (tok.special_tokens_map, tok.all_special_ids),
        "after a pickle": pickle.loads(pickle.dumps(tok))(texts)["input_ids"],
    }


def checks(tok: Any) -> dict[str, bool]:
    """Run the checks that programs make before they accept a tokenizer, and return the results."""
    return {
        "tok.is_fast": tok.is_fast,
        "isinstance(tok, PreTrainedTokenizerBase)": isinstance(tok, PreTrainedTokenizerBase),
        "isinstance(tok, PreTrainedTokenizerFast)": isinstance(tok, PreTrainedTokenizerFast),
        "hasattr(tok, 'backend_tokenizer')": hasattr(tok, "backend_tokenizer"),
    }


@click.command()
@click.argument("source")
@click.argument("text", type=click.Path(exists=True, path_type=Path))
def main(source: str, text: Path) -> None:
    """Compare two tokenizers with the vocabulary SOURCE on the lines of TEXT."""
    own, compiled = pair(source)
    texts = text.read_text(encoding="utf-8").splitlines()
    expected, found = results(own, texts), results(compiled, texts)
    for name in expected:
        print(f"{name:42}{'equal' if found[name] == expected[name] else 'DIFFERENT'}")
    for name, value in checks(own).items():
        print(f"{name:42}{type(own).__name__}: {value}, fst.hf: {checks(compiled)[name]}")


if __name__ == "__main__":
    main()
