"""Compare the time of one tokenizer call with the same call of other libraries: it pads and truncates 32 sentences, and returns arrays.

    python tests/bench/call.py [FOLDER]

The ids and masks of all libraries are compared first. Then the libraries take turns in one process. "fresh" encodes 20,000 sentences, 32 at
a time (1,280 sentences if the reference is measured, too); "again" repeats one batch. The figures of a batch are the median and the minimum
of many rounds, because other work on the machine can only increase a time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import BOOKS, FOLDER, UNCASED, documents

SIZE, LONGEST = 32, 128
FEWEST, MOST = 20, 400  # number of characters of a sentence
ROUNDS = 15
REFERENCE = "BertTokenizerFast"
Call = Callable[[list[str]], Any]
Times = NDArray[np.float64]


def calls(folder: Path) -> dict[str, Call]:
    """A function for each library that makes the same call."""
    from nanotoken import WordPieceTokenizer

    import fst
    from fst.compile import wordpiece

    transformers: Any = import_module("transformers")  # mypy does not find the names of this module
    tok = fst.Tokenizer(wordpiece(folder))
    reference = transformers.BertTokenizerFast.from_pretrained(folder)
    nano = WordPieceTokenizer.from_json((folder / "tokenizer.json").read_text(encoding="utf-8"))
    options: dict[str, Any] = {"padding": True, "truncation": True, "max_length": LONGEST, "return_tensors": "np"}
    return {
        "fst": lambda texts: tok(texts, **options),
        REFERENCE: lambda texts: reference(texts, **options),
        "nanotoken": lambda texts: nano.encode_batch_padded(texts, padding="longest", truncation=True, max_length=LONGEST, parallel=False),
    }


def compare(made: dict[str, Call], batches: list[list[str]]) -> None:
    """End the program if the result of a library differs from that of the reference."""
    for texts in batches:
        expected = made[REFERENCE](texts)
        for name, call in made.items():
            found = call(texts)
            for member in ("input_ids", "token_type_ids", "attention_mask"):
                if not np.array_equal(found[member], expected[member]):
                    raise SystemExit(f"{name}: {member} are not those of the reference for {texts!r}")


def measure(made: dict[str, Call], batches: list[list[str]], calls: int) -> dict[str, Times]:
    """The microseconds per batch in each round; a round makes `calls` calls."""
    found = {name: np.empty((ROUNDS, len(batches))) for name in made}
    for turn in range(ROUNDS):
        for name, call in made.items():
            for number, texts in enumerate(batches):
                begun = time.perf_counter()
                for _ in range(calls):
                    call(texts)
                found[name][turn, number] = (time.perf_counter() - begun) / calls * 1e6
    return found


def show(title: str, found: dict[str, Times]) -> None:
    """Print the time of each call, and its ratio to the time of this package."""
    for way, pick in (("median", np.median), ("least", np.min)):
        means = {name: pick(times, axis=0).mean() for name, times in found.items()}
        for name, mean in means.items():
            print(f"{title:6} {way:7} {name:18} {mean:9.1f} µs, {mean / means['fst']:6.2f} × that of fst", flush=True)


def main() -> None:
    """Measure the calls, and print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    made = calls(folder / "vocab" / UNCASED)
    sentences = [line for line in documents(folder / "corpora" / BOOKS) if FEWEST <= len(line) <= MOST][: 625 * SIZE]
    fresh = [sentences[start : start + SIZE] for start in range(0, len(sentences), SIZE)]
    compare(made, fresh)
    slow = {name: made[name] for name in ("fst", REFERENCE)}
    fast = {name: call for name, call in made.items() if name != REFERENCE}
    show("fresh", measure(slow, fresh[:40], 1))
    show("again", measure(slow, fresh[:1], 5))
    show("fresh", measure(fast, fresh, 1))
    show("again", measure(fast, fresh[:1], 200))


if __name__ == "__main__":
    main()
