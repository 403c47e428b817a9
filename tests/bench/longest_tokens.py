"""Compare the speed of vocabularies whose tokens may be longer than words with their references: RWKV's World vocabularies and SuperBPE.

    python tests/bench/longest_tokens.py RWKV_VOCAB_V20230424.TXT
    python tests/bench/longest_tokens.py superbpe [SIZE [TRANSITION]]

The first command needs `pyrwkv_tokenizer`. The second trains a vocabulary of SIZE tokens (60,000) on the English books, and prints the
processor time to compile it; its first TRANSITION tokens (20,000) contain no spaces between words. Ids are compared first; then the
libraries take turns in one process, and a figure is MB/s by the least processor time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tokenizers
from rows import BOOKS, FOLDER

import fst
from fst.compile import bpe

ROUNDS = 5
MEGABYTES = 5
TEXTS = (BOOKS, "code_python.txt", "docs_zh.md", "docs_hi.md")
Encode = Callable[[Sequence[str]], list[list[int]]]


def lines(name: str) -> list[str]:
    """The lines of the first megabytes of a file."""
    data = (FOLDER / "corpora" / name).read_bytes()[: MEGABYTES * 1_000_000]
    return data.decode(errors="ignore").splitlines()


def compared(table: Any, other: Encode, names: Sequence[str]) -> None:
    """Print the speed of a table and of another library for each file."""
    tokenizer = fst.Tokenizer(table)
    for name in names:
        texts = lines(name)
        size = sum(len(text.encode()) for text in texts) / 1e6
        if [ids.tolist() for ids in tokenizer.encode_batch(texts)] != other(texts):
            raise SystemExit(f"{name}: other ids")
        turns = [(spent(tokenizer.encode_batch, texts), spent(other, texts)) for _ in range(ROUNDS)]
        own, reference = (size / min(times) for times in zip(*turns, strict=True))
        print(f"{name}: fst {own:.1f} MB/s, reference {reference:.1f} MB/s, {own / reference:.1f} times", flush=True)


def spent(call: Callable[..., Any], *arguments: Any) -> float:
    """The processor time of a call."""
    begun = time.process_time()
    call(*arguments)
    return time.process_time() - begun


def rwkv(path: str) -> None:
    """A World vocabulary, next to the implementation in Rust."""
    from pyrwkv_tokenizer import RWKVTokenizer

    reference = RWKVTokenizer()
    compared(bpe(path), lambda texts: [reference.encode(text) for text in texts], TEXTS)


def superbpe(size: int = 60_000, transition: int = 20_000) -> None:
    """A vocabulary of SuperBPE, next to `tokenizers`."""
    first = fst.train.bpe(lines(BOOKS), splitter="gpt2", vocab_size=transition, threads=1)
    trained = fst.train.extend(first, lines(BOOKS), size - transition, splitter="superbpe", threads=1)
    with TemporaryDirectory() as folder:
        trained.save(folder)
        begun = time.process_time()
        table = bpe(folder)
        print(f"{len(trained.vocabulary):,} tokens compile in {time.process_time() - begun:.1f} s")
        reference = tokenizers.Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        compared(table, lambda texts: [found.ids for found in reference.encode_batch(texts)], TEXTS[:2])


if __name__ == "__main__":
    superbpe(*map(int, sys.argv[2:])) if sys.argv[1] == "superbpe" else rwkv(sys.argv[1])
