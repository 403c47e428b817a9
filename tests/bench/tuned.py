"""Compare tables that are tuned to the first half of a text with tables that are not, on the second half.

    python tests/bench/tuned.py [FOLDER] [--rounds N]

``peers.py`` describes FOLDER. A row has the processor time without tuning divided by the time with tuning, as the median and the quartiles
of runs in turns, with one thread and texts of one line; the same ratio of two equal tables, which shows the noise; and the number of
tuned words.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rows import BOOKS, FOLDER, GPT2, T5, documents
from turns import in_turns, processor_time

import fst
from fst.compile import tokenizer

ROUNDS = 10
SOURCES = {"GPT-2": f"{GPT2}/tokenizer.json", "T5": f"{T5}/tokenizer.json"}


def main() -> None:
    """Print a row for each vocabulary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"turns of each table [{ROUNDS}]")
    arguments = parser.parse_args()
    texts = [*documents(arguments.folder / "corpora" / BOOKS)]
    sizes = np.cumsum([len(text) for text in texts])
    middle = int(np.searchsorted(sizes, sizes[-1] // 2))
    print("| table | tuned | twin | words |\n| --- | --- | --- | ---: |")
    for name, source in SOURCES.items():
        table = tokenizer(arguments.folder / source)
        tuned: Any = tokenizer(arguments.folder / source, tune=texts[:middle])
        found = times([table, tuned, table], texts[middle:], arguments.rounds)
        ratios = [shown(found[0] / other) for other in found[1:]]
        print(f"| {name} | {' | '.join(ratios)} | {tuned.metadata.model.tuning.words:,} |", flush=True)


def times(tables: Sequence[Any], texts: Sequence[str], rounds: int) -> Any:
    """float64[tables, rounds], the processor time in seconds. Each table is read again, so equal tables share no memory."""
    tokenizers = [fst.load(table.dumps(), fst.Tokenizer) for table in tables]
    calls = {str(place): partial(each.encode_batch, texts, threads=1) for place, each in enumerate(tokenizers)}
    first, *others = (call() for call in calls.values())
    assert all(np.array_equal(first.ids, other.ids) for other in others)
    measured = in_turns({name: partial(processor_time, call) for name, call in calls.items()}, rounds)
    return np.array([[seconds for seconds, _ in runs] for runs in measured.values()])


def shown(ratios: Any) -> str:
    """The median and the quartiles."""
    low, median, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
