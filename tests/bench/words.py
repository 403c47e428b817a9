"""Measure the merge of counted words: the time, and the peak memory, of ``fst train words PART…``.

    python tests/bench/words.py [PARTS [WORDS [ALL]]]

Each of PARTS files (64) contains WORDS (1,000,000) distinct words, drawn at random from ALL (10,000,000). The merge runs in a process of
its own, which prints its clock time, its processor time and its maximum resident set.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fst.counting.words import Words

MERGE = """
import resource, sys, time
from fst import train
begun = time.perf_counter()
count = train.merge_words(sys.argv[2:], sys.argv[1])
used = resource.getrusage(resource.RUSAGE_SELF)
clock, processor = time.perf_counter() - begun, used.ru_utime + used.ru_stime
print(f"{count:,} words; {clock:.1f} s, {processor:.1f} s of processor time, {used.ru_maxrss / 1e6:.2f} GB")
"""


def main() -> None:
    """Write the parts, merge them, and print what the merge took."""
    given = [int(number) for number in sys.argv[1:]]
    parts, words, total = given + [64, 1_000_000, 10_000_000][len(given) :]
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        paths = [str(Path(name, f"{number}.parquet")) for number in range(parts)]
        for number, path in enumerate(paths):
            part(np.sort(rng.choice(total, words, replace=False)), number, rng).save(path)
        subprocess.run([sys.executable, "-c", MERGE, str(Path(name, "merged.parquet")), *paths], check=True)


def part(ids: NDArray[np.int64], number: int, rng: np.random.Generator) -> Words:
    """The words with the numbers `ids`, ascending, as part `number` of a corpus. A word has 8 digits, so words ascend like numbers."""
    digits = ids[:, None] // 10 ** np.arange(7, -1, -1) % 10 + ord("0")
    first = np.stack([np.full(len(ids), number), rng.integers(0, 1 << 20, len(ids)), rng.integers(0, 100, len(ids))], axis=1)
    counts = rng.integers(1, 1000, len(ids))
    return Words(digits.astype(np.uint8).ravel(), 8 * np.arange(1, len(ids) + 1), counts, first.astype(np.int64), "measured")


if __name__ == "__main__":
    main()
