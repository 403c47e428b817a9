"""Measure three limits: the time per character of long or difficult texts, the memory for any amount of text, and the time to start.

    python tests/bench/limits.py [FOLDER]

``figures.py`` describes FOLDER. The output is a table for bert-base-uncased on one thread; a time is the median of several runs.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from features import extended
from figures import seconds
from rows import BOOKS, FOLDER, UNCASED, documents

import fst
from fst.compile import wordpiece

MARK, PIECE = "\u1b44\u302e", 1 << 15  # marks that canonical ordering swaps; number of characters per write
SENTENCE = "The quick brown fox jumps over the lazy dog."
IMPORT = "import numpy, time; begun = time.perf_counter(); import fst; print(time.perf_counter() - begun)"
FIRST = "import fst, sys; fst.load(sys.argv[1]).encode('a')"
CACHED = "import fst, sys; fst.Tokenizer(sys.argv[1]).encode('a')"


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    source = folder / "vocab" / UNCASED
    english = documents(folder / "corpora" / BOOKS)
    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch) / "table.npz"
        wordpiece(source / "tokenizer.json").save(table)
        tok = fst.Tokenizer.load(table)
        print("| figure | |\n| --- | --- |")
        texts = (lengths(tok, english), worst(tok, english, source), growth(source / "tokenizer.json"))
        found = (*texts, memory(tok, english), beginnings(table, source / "tokenizer.json", scratch))
        for figure, value in chain.from_iterable(found):
            print(f"| {figure} | {value} |", flush=True)


def lengths(tok: fst.Tokenizer, english: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the time per character for texts of 10^4 to 10^8 characters. Texts below ten million characters are encoded in such a number
    that they have ten million characters together.

    These texts are all different: a single repeated text would take a fifth less time, because the processor predicts its branches.
    """
    book = " ".join(english)
    for power in range(4, 9):
        length = 10**power
        text = book * (length // len(book) + 1)
        texts = [text[at : at + length] for at in range(0, max(10**7, length), length)]
        taken = seconds(partial(encode_all, tok, texts), 5)
        yield f"ns a character, one text of 10^{power} characters", f"{taken / len(texts) / length * 1e9:.2f}"


def encode_all(tok: fst.Tokenizer, texts: list[str]) -> None:
    """Encode texts one by one."""
    for text in texts:
        tok.encode(text)


def worst(tok: fst.Tokenizer, english: list[str], source: Path) -> Iterator[tuple[str, str]]:
    """The speed on texts that are slow to encode, relative to the speed on English."""
    draw = random.Random(5)
    letters = "abcdefghijklmnopqrstuvwxyz"
    tokens = (source / "vocab.txt").read_text(encoding="utf-8").split("\n")
    suffixes = [token[2:] for token in tokens if token.startswith("##") and token[2:].isascii() and token[2:].isalpha()]
    long = [token for token in tokens if token.isascii() and token.isalpha() and len(token) > 8]
    texts: dict[str, Callable[[], str]] = {
        "words that fail on their last letter": lambda: draw.choice(long) + "\u0b85",
        "words of 99 letters": lambda: "".join(draw.choices(letters, k=99)),
        "words of rare pieces": lambda: "".join(draw.choices(suffixes, k=3)),
        "random letters": lambda: "".join(draw.choices(letters, k=draw.randint(1, 12))),
        "one letter and one mark, in turns": lambda: "a" * 20 + "\u0334\u0301" * 10,
        "brackets": lambda: "[" * 20,
        "characters of four bytes": lambda: "".join(chr(draw.randint(0x10400, 0x1044F)) for _ in range(20)),
    }
    speed = len("".join(english)) / seconds(lambda: tok.encode_batch(english, threads=1), 5)
    for name, word in texts.items():
        rows = [" ".join(word() for _ in range(20)) for _ in range(2000)]
        own = len("".join(rows)) / seconds(partial(tok.encode_batch, rows, threads=1), 5)
        yield f"{name}, characters a second against English", f"{own / speed:.2f}"


def growth(source: Path) -> Iterator[tuple[str, str]]:
    """The time per character at several lengths, for texts that could take more than linear time, also relative to ordinary text.

    A run of marks is written to a stream in parts, and the time is compared with that of `encode`. The times of other texts are compared
    with the times of a vocabulary without the tokens of these texts.
    """
    flags: list[dict[str, Any]] = [{}, {"single_word": True}, {"rstrip": True}, {"normalized": True}, {"normalized": True, "rstrip": True}]
    cases = [(f"token in words, {', '.join(own) or 'no flags'}", {"content": "zqx", **own}, "unaffable zqxjk ") for own in flags]
    cases += [
        ("token of 300 brackets, 299 of them", {"content": "[" * 300}, "[" * 299 + "x"),
        ("token of 300 letters, words of 99", {"content": "a" * 300, "normalized": True}, "a" * 99 + " "),
    ]
    without = extended(source, [])
    for name, token, unit in cases:
        measured = partial(encode_repeated, extended(source, [token]), unit)
        yield name, _growth(measured, partial(encode_repeated, without, unit))
    for offsets in (False, True):
        plain = partial(encode_repeated, without, MARK, offsets=offsets)
        yield f"stream of marks{', offsets' * offsets}", _growth(partial(stream_repeated, without, MARK, offsets=offsets), plain)


def _growth(measured: Callable[[int], object], plain: Callable[[int], object]) -> str:
    """Format the nanoseconds per character for each length, and the ratio to ordinary text at the greatest length."""
    times = {power: seconds(partial(measured, 10**power), 3 if power > 5 else 9) / 10**power for power in range(4, 8)}
    last = 10 ** max(times)
    shown = ", ".join(f"{taken * 1e9:.1f}" for taken in times.values())
    return f"{shown} ns a character of 10^4 to 10^{max(times)}, {times[max(times)] / (seconds(partial(plain, last), 3) / last):.1f} × plain"


def encode_repeated(tok: fst.Tokenizer, unit: str, length: int, *, offsets: bool = False) -> None:
    """Encode `length` characters of a repeated string."""
    tok.encode_batch([unit * (length // len(unit))], offsets=offsets, threads=1)


def stream_repeated(tok: fst.Tokenizer, unit: str, length: int, *, offsets: bool) -> None:
    """Write `length` characters of a repeated string to a stream in parts, and read after each part."""
    stream = tok.stream(offsets=offsets)
    for piece in range(0, length, PIECE):
        stream.write(unit * (min(PIECE, length - piece) // len(unit)))
        stream.read()
    stream.close()


def memory(tok: fst.Tokenizer, english: list[str]) -> Iterator[tuple[str, str]]:
    """The maximum memory of the process, after 10 MB and after 1 GB of text."""
    rows = english[: len(english) // 2]
    size = sum(map(len, rows))
    before = 0
    for amount in (10**7, 10**9):
        for _ in range(amount // size):
            tok.encode_batch(rows, threads=1)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        yield f"peak memory after {amount:,} bytes", f"{most / 1024:.1f} MiB" + (f", {most - before:,} KiB more" if before else "")
        before = most


def beginnings(table: Path, source: Path, scratch: str) -> Iterator[tuple[str, str]]:
    """The time to import the package, to load a table, and to return the first ids."""

    def run(*arguments: str, **environment: str) -> str:
        ran = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True, env={**os.environ, **environment})
        return ran.stdout

    run("-c", FIRST, str(table))
    tok = fst.Tokenizer.load(table)
    batch = [SENTENCE] * 32
    yield "import of fst beyond that of numpy", f"{sorted(float(run('-c', IMPORT)) for _ in range(7))[3] * 1e3:.1f} ms"
    yield "`fst.load`", f"{seconds(lambda: fst.load(table), 15) * 1e3:.1f} ms"
    yield "first ids in a new process, start to end", f"{seconds(lambda: run('-c', FIRST, str(table)), 7):.2f} s"
    cold = seconds(lambda: run("-c", FIRST, str(table), NUMBA_CACHE_DIR=str(Path(scratch) / "cold")), 1)
    run("-c", CACHED, str(source), FST_CACHE=scratch)
    cached = seconds(lambda: run("-c", CACHED, str(source), FST_CACHE=scratch), 7)
    yield "the same, from the tokenizer.json, whose table is cached", f"{cached:.2f} s"
    yield "from the table, no kernels kept from before", f"{cold:.1f} s"
    yield "`encode` of a sentence", f"{seconds(lambda: [tok.encode(SENTENCE) for _ in range(1000)], 9) * 1e3:.1f} µs"
    yield "`encode_batch` of 32", f"{seconds(lambda: [tok.encode_batch(batch) for _ in range(1000)], 9) * 1e3:.1f} µs"


if __name__ == "__main__":
    main()
