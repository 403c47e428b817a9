"""Measure the figures of Unigram in docs/figures.md that ``peers.py`` does not measure, and print a table.

    python tests/bench/unigram.py [FOLDER]

``figures.py`` describes FOLDER. A time is the median of several runs; a ratio is the median over consecutive runs. Each long text is
encoded once, in a separate process. Memory is the maximum for the longest text, and is measured only on Linux.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from bpe import Figures, show
from features import ratio
from rows import T5, XLM_R

import fst

TEXTS = {"random letters": "draw.choice(letters, size).tobytes().decode()", "one letter": "'a' * size"}
MEASURE = """
import sys, time
import numpy as np
import fst

def kilobytes(of):
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith(of)))

tok, draw, letters = fst.load(sys.argv[1]), np.random.default_rng(5), np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
tok.encode_batch(["a" * 10**5], threads=1)
for size in (10**6, 10**8):
    texts = [{text}]
    if sys.platform == "linux":
        open("/proc/self/clear_refs", "w").write("5")  # the most memory is now what there is
        before = kilobytes("VmRSS")
    begun = time.perf_counter()
    batch = tok.encode_batch(texts, threads=1)
    print((time.perf_counter() - begun) / size * 1e9)
print((kilobytes("VmHWM") - before) * 1024 / 1e6 - batch.ids.nbytes / 1e6 if sys.platform == "linux" else "nan")
"""


def main() -> None:
    """Print a column of figures for each vocabulary."""
    show(more, T5, XLM_R)


def more(tok: fst.Tokenizer, english: list[str], table: Path) -> Figures:
    """The figures that only Unigram has."""
    yield from sampled(tok, english)
    for name, text in TEXTS.items():
        yield from long(name, text, table)


def sampled(tok: fst.Tokenizer, english: list[str]) -> Figures:
    """The time to draw random segmentations, relative to the best segmentation."""
    ids = partial(tok.encode_batch, english, threads=1)
    drawn = partial(tok.encode_batch, english, threads=1, randomness=fst.Sampling(seed=7))
    yield "time of sampling against plain ids", f"{ratio(drawn, ids):.1f}"


def long(name: str, text: str, table: Path) -> Figures:
    """The times to encode a text of 1 MB and a text of 100 MB, both without a space, in separate processes."""
    ran = subprocess.run([sys.executable, "-c", MEASURE.replace("{text}", text), str(table)], check=True, stdout=subprocess.PIPE, text=True)
    of_1_mb, of_100_mb, memory = map(float, ran.stdout.split())
    yield f"{name} without a blank, 1 MB and 100 MB", f"{of_1_mb:.0f} and {of_100_mb:.0f} ns a byte"
    yield f"{name} without a blank, 100 MB, memory beside the ids", f"{memory:.0f} MB"


if __name__ == "__main__":
    main()
