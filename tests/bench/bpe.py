"""Byte-level BPE beside other tokenizers, on the same texts, in the same run: ratios of processor time on one thread.

    python tests/bench/bpe.py gpt2 path/to/gpt2/tokenizer.json text.txt …
    python tests/bench/bpe.py cl100k_base path/to/cl100k_base.tiktoken text.txt …

Each line of a text is a document. A peer that keeps what it has encoded is timed on a fresh tokenizer (first) and on the same texts again.
Peers that are not installed are left out; a peer whose ids differ is marked with †.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import fst
from fst.compile import bpe
from fst.compile.sources.read import read
from fst.compile.sources.tiktoken import ENCODINGS

ROUNDS = 5

Encode = Callable[[list[str]], Any]


def gigatoken(name: str, source: Path) -> Encode:
    """Gigatoken, in its fastest form: arrays."""
    import gigatoken as peer

    made: Any = peer.Tokenizer
    made = made(str(source)) if source.suffix == ".json" else made.from_tiktoken(str(source), name.removesuffix("_base"))
    return lambda texts: made.encode_batch(texts, parallel=False)


def tiktoken(name: str, source: Path) -> Encode:
    """Tiktoken, with the ranks of the file; of GPT-2 those of its tokenizer.json."""
    import tiktoken as peer

    model, own = read(source, {}).model, ENCODINGS[name]
    ranks = {token: number for token, number in model.vocabulary.items() if token.decode("latin-1") not in own.special}
    made = peer.Encoding(name, pat_str=own.pattern, mergeable_ranks=ranks, special_tokens=dict(own.special))
    return lambda texts: made.encode_ordinary_batch(texts, num_threads=1)


def tokenizers(_name: str, source: Path) -> Encode:
    """Hugging Face's tokenizers."""
    from tokenizers import Tokenizer

    if source.suffix != ".json":
        raise ImportError("tokenizers reads tokenizer.json alone")
    made = Tokenizer.from_file(str(source))
    return lambda texts: [made.encode(text, add_special_tokens=False).ids for text in texts]


PEERS: Sequence[Callable[[str, Path], Encode]] = (gigatoken, tiktoken, tokenizers)


def seconds(encode: Encode, texts: list[str]) -> float:
    """The processor time of this thread."""
    begun = time.thread_time()
    encode(texts)
    return time.thread_time() - begun


def timed(make: Callable[[], Encode], texts: list[str]) -> tuple[float, float]:
    """The least time of a first pass and of the same texts again."""
    firsts, again = [], []
    for _ in range(ROUNDS):
        encode = make()
        firsts.append(seconds(encode, texts))
        again.append(seconds(encode, texts))
    return min(firsts), min(again)


def rows(tok: Any, name: str, source: Path, texts: list[str]) -> Iterator[str]:
    """A line for each peer: its MB/s, and how many times as fast the table is."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    expected = tok.encode_batch(texts, add_special_tokens=False, threads=1).ids

    def encode(texts: list[str]) -> Any:
        return tok.encode_batch(texts, add_special_tokens=False, threads=1)

    own = min(seconds(encode, texts) for _ in range(ROUNDS))
    yield f"  fst         {size / own:7.0f} MB/s"
    for peer in PEERS:
        try:
            ids = peer(name, source)(texts)
        except ImportError:
            continue
        same = np.array_equal(expected, np.fromiter((number for row in ids for number in row), np.int64))
        first, again = timed(lambda peer=peer: peer(name, source), texts)  # type: ignore[misc]
        own = min(own, *(seconds(encode, texts) for _ in range(ROUNDS)))
        speeds, ratios = f"{size / first:7.0f} {size / again:7.0f} MB/s", f"ratio {first / own:6.2f} {again / own:6.2f}"
        yield f"  {peer.__name__:11s} {speeds}; {ratios}{'' if same else ' †'}"


def main(name: str, source: str, *files: str) -> None:
    """Print the figures of each file."""
    tok: Any = fst.Tokenizer(bpe(source))
    for file in files:
        texts = Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
        print(f"{name}, {Path(file).name}, {len(texts)} documents")
        for row in rows(tok, name, Path(source), texts):
            print(row, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
