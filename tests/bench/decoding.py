"""Compare the time to decode a million ids in this package and in `tiktoken`, which must be installed.

    python tests/bench/decoding.py [FOLDER]

``figures.py`` describes FOLDER. The texts of both libraries are compared first. Then the libraries take turns in one process, and a figure
is the minimum of the processor times.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import tiktoken
from rows import BOOKS, FOLDER
from tiktoken.load import load_tiktoken_bpe

import fst
from fst.compile import bpe
from fst.compile.sources.tiktoken import ENCODINGS

ROUNDS = 7
IDS = 1_000_000
NAMES = ("r50k_base", "cl100k_base", "o200k_base")
TEXTS = (BOOKS, "docs_zh.md", "docs_hi.md", "code_python.txt")


def milliseconds(calls: list[Callable[[], str]]) -> list[float]:
    """The minimum processor time of each call."""
    texts = [call() for call in calls]
    if len(set(texts)) > 1:
        raise SystemExit("other texts")
    return [min(spent(call) for _ in range(ROUNDS)) * 1e3 for call in calls]


def spent(call: Callable[[], str]) -> float:
    """The processor time of a call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    print("| ms for 1 M ids | tiktoken: list | array | fst: list | array | array / array | tiktoken's list / array |\n|" + " --- |" * 7)
    for name in NAMES:
        path, stated = folder / "vocab_bpe" / name / f"{name}.tiktoken", ENCODINGS[name]
        ranks, special = load_tiktoken_bpe(str(path)), dict(stated.special)
        encoding = tiktoken.Encoding(name, pat_str=str(stated.pattern), mergeable_ranks=ranks, special_tokens=special)
        tok = fst.Tokenizer(bpe(path))
        for text in TEXTS:
            ids = np.resize(tok.encode((folder / "corpora" / text).read_text(encoding="utf-8")[: 6 * IDS]), IDS)
            numbers = ids.tolist()
            theirs, array, ours, fast = milliseconds(
                [
                    partial(encoding.decode, numbers),
                    partial(encoding.decode, ids),  # type: ignore[arg-type]
                    partial(tok.decode, numbers, skip_special_tokens=False),
                    partial(tok.decode, ids, skip_special_tokens=False),
                ]
            )
            times = f"{theirs:.1f} | {array:.1f} | {ours:.1f} | {fast:.2f}"
            print(f"| {name}, {text} | {times} | {array / fast:.0f} | {theirs / fast:.1f} |", flush=True)


if __name__ == "__main__":
    main()
