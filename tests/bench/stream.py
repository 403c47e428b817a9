"""Compare the speed of streams with that of one call for the entire text, and the speed of two threads with that of one thread for a long
text, for WordPiece and the BPE of GPT-2.

    python tests/bench/stream.py [FOLDER]

``figures.py`` describes FOLDER. The ids of all variants are compared first. Then the variants take turns in one process, and a figure is
the median of the ratios of all rounds. The text is 20 MB of English books, or five times as much for two threads.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
from rows import BOOKS, FOLDER, UNCASED

import fst
from fst.compile import bpe, tokenizer, wordpiece
from fst.runtime.workspace import Ids

ROUNDS = 9
SMALL, LARGE = 64, 1 << 16  # number of characters or bytes of a part
TIMES = 5  # number of copies of the text, for two threads


def streamed(tok: fst.Tokenizer, pieces: Sequence[str | bytes], every: int) -> Ids:
    """The ids of a stream if a program writes the text in parts, and reads ids after each `every` parts."""
    stream = tok.stream()
    write, parts = stream.write, []
    for begin in range(0, len(pieces), every):
        for piece in pieces[begin : begin + every]:
            write(piece)
        parts.append(stream.read().ids)
    return np.concatenate([*parts, stream.close().ids])


def ways(tok: fst.Tokenizer, text: str | bytes) -> dict[str, Callable[[], Ids]]:
    """Functions that encode the same text: in one call, and by streams that read it in parts."""
    small, large = ([text[begin : begin + size] for begin in range(0, len(text), size)] for size in (SMALL, LARGE))
    return {
        "one call": lambda: tok.encode(text),
        f"pieces of {LARGE >> 10} K, read after each": lambda: streamed(tok, large, 1),
        f"pieces of {SMALL}, read after {LARGE >> 10} K": lambda: streamed(tok, small, LARGE // SMALL),
        f"pieces of {SMALL}, read after each": lambda: streamed(tok, small, 1),
    }


def ratios(named: Mapping[str, Callable[[], Ids]]) -> dict[str, float]:
    """The speed of each function relative to the speed of the first function."""
    first, *others = named
    expected = named[first]()
    for name in others:
        if not np.array_equal(named[name](), expected):
            raise SystemExit(f"{name}: other ids")
    found: dict[str, list[float]] = {name: [] for name in others}
    for _ in range(ROUNDS):
        own = seconds(named[first])
        for name in others:
            found[name].append(own / seconds(named[name]))
    return {name: median(values) for name, values in found.items()}


def seconds(call: Callable[[], object]) -> float:
    """The seconds of a call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    tok = fst.Tokenizer(wordpiece(folder / "vocab" / UNCASED / "tokenizer.json"))
    text = (folder / "corpora" / BOOKS).read_text(encoding="utf-8")
    print("| | speed, of one call's |\n| --- | --- |")
    for kind, whole in (("str", text), ("bytes", text.encode())):
        for name, ratio in ratios(ways(tok, whole)).items():
            print(f"| `{kind}`, {name} | {ratio:.2f} |", flush=True)
    for name, ratio in pending(folder).items():
        print(f"| {name}, pieces of 1,000, read after each | {ratio:.2f} |", flush=True)
    long, gpt2 = [text * TIMES], fst.Tokenizer(bpe(folder / "vocab_bpe" / "gpt2" / "tokenizer.json"))
    for model, made in (("BERT", tok), ("GPT-2", gpt2)):
        threads = {f"{count} threads": partial(encoded, made, long, count) for count in (1, 2)}
        for name, ratio in ratios(threads).items():
            print(f"| a text of {len(long[0]) // 10**6} MB, {model}, {name} | {ratio:.2f} |", flush=True)


def pending(folder: Path) -> dict[str, float]:
    """The speed of a stream within a very long word, relative to a word of half the length; 1 means equal time per character."""
    models = {"GPT-2": bpe(folder / "vocab_bpe" / "gpt2"), "T5": tokenizer(folder / "vocab_unigram" / "t5" / "tokenizer.json")}
    found = {}
    for model, unit in product(models, ("a", "e\u0301")):
        tok = fst.Tokenizer(models[model])
        short, long = ([unit * 500] * count for count in (500, 1000))
        streamed(tok, short, 1)
        found[f"{model}, {unit!a} without end"] = 2 * seconds(partial(streamed, tok, short, 1)) / seconds(partial(streamed, tok, long, 1))
    return found


def encoded(tok: fst.Tokenizer, texts: list[str], threads: int) -> Ids:
    """The ids of texts with `threads` threads."""
    return tok.encode_batch(texts, threads=threads).ids


if __name__ == "__main__":
    main()
