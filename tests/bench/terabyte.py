"""Count the words of a corpus that is larger than the disk: a process draws the text, another process reads it from a pipe and counts.

    python tests/bench/terabyte.py 2000 [--threads N] [--memory MB]

The argument is the size in MB. As in `corpus.py`, the number of distinct words after n bytes is 77,827 · (n / 20 MB)^0.52, a third of the
other words are among the first 1,000 words, by Zipf's law, and the rest repeat random earlier words. Here, these are drawn from a sample of
`KEPT` earlier words, so that the memory of the process that draws does not depend on the size.

The table contains figures of the process that counts: seconds by the clock, which the process that draws may limit; seconds of processor
time; the size per second of processor time; the maximum memory in MB, with that of the interpreter and of libraries; and the number of runs
in temporary files. The second row is computed: the same rate for 1 TB, and the number of distinct words by the formula.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import corpus
import numpy as np
from numpy.typing import NDArray

from fst.tables.strings import taken

KEPT = 1 << 24
BLOCK = 1 << 20  # number of words that are drawn together
TERABYTE = 1e12
COUNT = """
import json, resource, sys, time
import fst
from fst.runtime.files.reading import Files
from fst.runtime.counting.counter import Counter
options, runs, store = json.loads(sys.argv[1]), [0], Counter.store
def noted(self):
    runs[0] += 1
    store(self)
Counter.store = noted
fst.train.words(["a text"], splitter="gpt2")
begun, worked = time.perf_counter(), time.process_time()
words = fst.train.words(Files(["-"], with_ends=True), splitter="gpt2", **options)
used = time.perf_counter() - begun, time.process_time() - worked, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps([*used, runs[0], len(words), int(words.counts.sum())]))
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", type=int, metavar="MB")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--memory", type=int, default=512, metavar="MB", help="of the tables of counts")
    parser.add_argument("--draw", action="store_true", help="only write the text to standard output")
    arguments = parser.parse_args()
    size = arguments.size * 10**6
    if arguments.draw:
        write(sys.stdout.buffer, size)
        return
    options = json.dumps({"threads": arguments.threads, "memory": arguments.memory * 10**6})
    with subprocess.Popen([sys.executable, __file__, str(arguments.size), "--draw"], stdout=subprocess.PIPE) as drawing:
        done = subprocess.run([sys.executable, "-c", COUNT, options], stdin=drawing.stdout, capture_output=True, check=True, text=True)
    clock, worked, most, runs, words, counted = json.loads(done.stdout)
    rate = size / 1e6 / worked
    print("| size | seconds | processor | MB/s of processor | MB at most | runs | distinct words | words |\n| --- |" + " ---: |" * 7)
    print(f"| {size / 1e9:,} GB | {clock:.1f} | {worked:.1f} | {rate:.0f} | {most:,.0f} | {runs} | {words:,} | {counted:,} |")
    larger = TERABYTE / size
    expected = corpus.WORDS * (TERABYTE / corpus.BYTES) ** corpus.POWER
    print(f"| 1 TB | | {worked * larger:,.0f} | {rate:.0f} | | | {expected:,.0f} | {counted * larger:,.0f} |")


def write(file: IO[bytes], size: int) -> None:
    """Write a text of about `size` bytes."""
    text, ends, written = np.empty(0, np.uint8), np.empty(0, np.int64), 0
    for words in blocks(size):
        if len(ends) <= (most := int(words.max())):
            spelled = [word + b" " for word in corpus.spellings(len(ends), most + BLOCK)]
            sizes = np.cumsum([len(word) for word in spelled], dtype=np.int64)
            text, ends = np.append(text, np.frombuffer(b"".join(spelled), np.uint8)), np.append(ends, sizes + len(text))
        drawn, after = taken(text, ends, words.astype(np.int64))
        drawn[after[corpus.LINE - 1 :: corpus.LINE] - 1] = ord("\n")
        file.write(drawn.data)
        written += len(drawn)
        if written >= size:
            return


def blocks(size: int) -> Iterator[NDArray[np.int32]]:
    """Yield blocks of words; each word is its number in the order of first occurrence."""
    chance = np.random.default_rng(7)
    kept, filled = np.empty(KEPT, np.int32), corpus.COMMON
    kept[:filled] = np.arange(filled)
    shares = np.cumsum(1 / np.arange(3, corpus.COMMON + 3))
    count = known = corpus.COMMON
    while count * corpus.LETTERS < 2 * size:
        block = min(max(corpus.BLOCK, count // 8), BLOCK)
        expected = corpus.WORDS * ((count + np.arange(1, block + 1)) * corpus.LETTERS / corpus.BYTES) ** corpus.POWER
        new = np.flatnonzero(chance.random(block) < np.diff(expected, prepend=max(expected[0] - 1, known)))
        found = kept[chance.integers(0, filled, block)]
        common = np.flatnonzero(chance.random(block) < corpus.SHARE)
        found[common] = np.searchsorted(shares, chance.random(len(common)) * shares[-1])
        found[new] = np.arange(known, known + len(new))
        yield found
        taken_in = found[: KEPT - filled]
        kept[filled : filled + len(taken_in)] = taken_in
        rest = found[len(taken_in) :]
        rest = rest[chance.random(len(rest)) < KEPT / (count + block)]
        filled += len(taken_in)
        kept[chance.integers(0, filled, len(rest))] = rest
        count, known = count + block, known + len(new)


if __name__ == "__main__":
    main()
