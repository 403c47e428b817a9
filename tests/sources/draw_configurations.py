"""Compile drawn configurations of `tokenizers`, and count the refused components and the differences from `tokenizers`.

``PYTHONPATH=tests python tests/sources/draw_configurations.py 2000`` prints each refused or wrong configuration with its number, and
then the counts. A second argument is the first number.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from support.sources.crossing import crossed


def main(count: int, first: int = 0) -> None:
    """Try `count` configurations from number `first` on."""
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            for outcome, found in crossed(seed, Path(folder)):
                if found:
                    print(f"{seed}\t{outcome}\t{found}", flush=True)
                counts[f"{outcome}\t{_general(found)}" if outcome.startswith("refused") else outcome] += 1
    for name, number in sorted(counts.items(), key=lambda item: (item[0].partition("\t")[0], -item[1])):
        print(f"{number:6}\t{name}")


def _general(message: str) -> str:
    """A message without its quoted strings and numbers."""
    return re.sub(r"\d[\d,]*", "n", re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\{.*\}", "…", message))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
