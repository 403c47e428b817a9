"""Measure `AutoTokenizer.from_pretrained` with and without `fst.patch_transformers`, in new processes whose table is cached.

    python tests/bench/loading.py FOLDER

Processes with and without the patch take turns. The output is seconds of processor time: import of fst and patch, the call, first ids.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

PROGRAM = """
import sys
from importlib import import_module
from time import process_time
from transformers import AutoTokenizer

import_module("transformers").TokenizersBackend  # imported at its first use
times = [process_time()]
if sys.argv[2] == "patched":
    import fst

    fst.patch_transformers()
times.append(process_time())
tok = AutoTokenizer.from_pretrained(sys.argv[1])
times.append(process_time())
tok("Hello world")
times.append(process_time())
print(*(after - before for before, after in zip(times, times[1:])))
"""
ROUNDS = 9


def times_of(folder: str, kind: str) -> list[float]:
    """The times of a new process."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM, folder, kind], capture_output=True, text=True, check=True)
    return [*map(float, done.stdout.split())]


def main() -> None:
    """Print the median of each time, without and with the patch."""
    folder = sys.argv[1]
    times_of(folder, "patched")  # compiles the tokenizer, if its table is not cached
    runs = [(times_of(folder, "plain"), times_of(folder, "patched")) for _ in range(ROUNDS)]
    for name, kind in (("without", 0), ("with", 1)):
        columns = [*zip(*(run[kind] for run in runs), strict=True)]
        names = ("import and patch", "from_pretrained", "first ids")
        parts = ", ".join(f"{part} {median(column):.3f}" for part, column in zip(names, columns, strict=True))
        print(f"{name} the patch: {parts}, together {median(map(sum, (run[kind] for run in runs))):.3f} s")


if __name__ == "__main__":
    main()
