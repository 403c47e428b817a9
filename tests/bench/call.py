"""The call against the same call of others: 32 sentences, padded and truncated, as arrays.

    python tests/bench/call.py [FOLDER]

All in one process, in turns, the median of many runs; ids and masks are compared before anything is timed. A run of "fresh" goes over
20,000 sentences, 32 at a time; one of "again" over the same 32 again and again, which suits nanotoken: it keeps the words that it has seen.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rows import BOOKS, FOLDER, UNCASED, documents

SIZE, LONGEST = 32, 128
FEWEST, MOST = 20, 400  # characters of what counts as a sentence
RUNS = 15
Call = Callable[[list[str]], Any]


def calls(folder: Path) -> dict[str, Call]:
    """How each is asked for the same."""
    from nanotoken import WordPieceTokenizer

    import fst
    from fst.compile import wordpiece

    transformers: Any = import_module("transformers")  # whose names mypy does not find
    tok = fst.Tokenizer(wordpiece(folder))
    reference = transformers.BertTokenizerFast.from_pretrained(folder)
    nano = WordPieceTokenizer.from_json((folder / "tokenizer.json").read_text(encoding="utf-8"))
    options: dict[str, Any] = {"padding": True, "truncation": True, "max_length": LONGEST, "return_tensors": "np"}
    return {
        "fst": lambda texts: tok(texts, **options),
        "BertTokenizerFast": lambda texts: reference(texts, **options),
        "nanotoken": lambda texts: nano.encode_batch_padded(texts, padding="longest", truncation=True, max_length=LONGEST, parallel=False),
    }


def compare(made: dict[str, Call], batches: list[list[str]]) -> None:
    """Stop where somebody gives something else than the reference."""
    for texts in batches:
        expected = made["BertTokenizerFast"](texts)
        for name, call in made.items():
            found = call(texts)
            for member in ("input_ids", "token_type_ids", "attention_mask"):
                if not np.array_equal(found[member], expected[member]):
                    raise SystemExit(f"{name}: {member} are not those of the reference for {texts!r}")


def run(call: Call, batches: list[list[str]]) -> float:
    """Microseconds a call."""
    begun = time.perf_counter()
    for texts in batches:
        call(texts)
    return (time.perf_counter() - begun) / len(batches) * 1e6


def measure(made: dict[str, Call], batches: dict[str, list[list[str]]]) -> dict[str, list[float]]:
    """Time runs in turns; each has batches of its own."""
    for name, call in made.items():
        run(call, batches[name])
    times: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(RUNS):
        for name, call in made.items():
            times[name].append(run(call, batches[name]))
    return times


def show(title: str, times: dict[str, list[float]]) -> None:
    """Print medians, and the median of ratios."""
    for name, found in times.items():
        ratio = statistics.median(other / own for other, own in zip(found, times["fst"], strict=True))
        print(f"{title:8}{name:20}{statistics.median(found):10.1f} µs a call{ratio:10.2f} × the time of fst", flush=True)


def main() -> None:
    """Measure, and print."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    made = calls(folder / "vocab" / UNCASED)
    sentences = [line for line in documents(folder / "corpora" / BOOKS) if FEWEST <= len(line) <= MOST][: 625 * SIZE]
    fresh = [sentences[start : start + SIZE] for start in range(0, len(sentences), SIZE)]
    compare(made, fresh)
    slow = fresh[:25]  # enough for what takes milliseconds
    for title, many, few in (("fresh", fresh, slow), ("again", fresh[:1] * 2000, fresh[:1] * 25)):
        show(title, measure(made, {name: few if name == "BertTokenizerFast" else many for name in made}))


if __name__ == "__main__":
    main()
