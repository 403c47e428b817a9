"""Grow a real vocabulary, the largest there, to 500,000 tokens, and measure how long it takes to compile, and how large the table is.

    python tests/bench/large_vocabulary.py [FOLDER]

FOLDER holds ``vocab/NAME/vocab.txt`` (default: ``../shared/data`` beside this repository). The vocabulary grows as a trainer grows it: a
token that is there already, an old or a new one, is joined with a ``##piece`` of its script, the more likely the earlier it comes (tokens
stand in order of frequency, and Zipf's law gives the rest). Tokens of more than 10 characters, as 3 in 100 are, are not made. What a token
takes is then what it takes in the original: 1.6 states and 21 transitions and finish entries (original: 1.8 and 21).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from random import Random

from rows import CASED, FOLDER

SIZE, LONGEST, SEED = 500_000, 10, 0
PREFIX = "##"
FST = str(Path(sys.executable).with_name("fst"))


def main() -> None:
    """Print the seconds of the second of two runs, and the size of the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    tokens = (folder / "vocab" / CASED / "vocab.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    with tempfile.TemporaryDirectory() as scratch:
        source, table = Path(scratch) / "vocab.txt", Path(scratch) / "table.npz"
        source.write_text("\n".join(grown(tokens, SIZE)) + "\n", encoding="utf-8")
        command = [FST, "compile", str(source), "--no-lowercase", "-o", str(table)]
        subprocess.run(command, check=True, capture_output=True)
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        print(f"{SIZE:,} tokens: {time.perf_counter() - start:.1f} s, {table.stat().st_size / 1e6:.1f} MB")


def grown(tokens: list[str], size: int) -> list[str]:
    """The vocabulary with new tokens after the old ones, always the same."""
    random = Random(SEED)
    pieces: dict[int, list[str]] = {}
    for token in tokens:
        if token.startswith(PREFIX) and token != PREFIX:
            piece = token.removeprefix(PREFIX)
            pieces.setdefault(script(piece[0]), []).append(piece)
    weights = {of: [*accumulate(1 / rank for rank in range(1, len(some) + 1))] for of, some in pieces.items()}
    beginnings = [token for token in tokens if script(token[-1]) in pieces and not token.startswith("[")]
    found = dict.fromkeys(tokens)
    while len(found) < size:
        beginning = random.choice(beginnings)
        of = script(beginning[-1])
        token = beginning + random.choices(pieces[of], cum_weights=weights[of])[0]
        if len(token.removeprefix(PREFIX)) <= LONGEST and token not in found:
            found[token] = None
            beginnings.append(token)
    return list(found)


def script(char: str) -> int:
    """Characters of one script mostly have one number."""
    return ord(char) >> 7


if __name__ == "__main__":
    main()
