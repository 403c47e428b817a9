"""A program in which threads share tokenizers, searchers, guides and the like, one of each kind of table; it imports no other library.

    python -m support.core.shared FOLDER ROUNDS

The tables in the folder are those that `save` wrote. Each round loads them, so all threads begin with objects that no thread has used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from threading import Barrier
from typing import Any

import fst
from fst.runtime.rows.batch import BLOCK

THREADS, STEPS = 8, 6
LONG = 600  # number of characters of a session, and maximum number of matches


def save(folder: Path) -> None:
    """Save a table of each kind, and texts for it."""
    import random

    from support.conformance.samples import SAMPLES
    from support.conformance.ways import table_of, texts_of

    for name, sample in {sample.kind: (name, sample) for name, sample in SAMPLES.items()}.values():
        table_of(name).save(folder / f"{sample.kind}.npz")
        (folder / f"{sample.kind}.json").write_text(json.dumps(texts_of(sample, random.Random(name), 12)), encoding="utf-8")


def shared(folder: Path) -> list[str]:
    """The kinds of tables for which threads that share an object get other results than one thread."""
    return [path.stem for path in sorted(folder.glob("*.npz")) if not _agree(path)]


def _agree(path: Path) -> bool:
    texts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    joined = " ".join(texts)
    texts.append(joined * (BLOCK // len(joined) + 1))  # more than one call of a kernel
    calls, together = calls_of(fst.load(path), texts), Barrier(THREADS)
    expected = [call() for call in calls_of(fst.load(path), texts)]

    def run(number: int) -> bool:
        order = [(place + number * 5) % len(calls) for place in range(len(calls))]
        together.wait()
        return all(calls[place]() == expected[place] for place in order)

    with ThreadPoolExecutor(THREADS) as pool:
        return all(pool.map(run, range(THREADS)))


def calls_of(used: Any, texts: Sequence[str]) -> list[Callable[[], Any]]:
    """Calls of methods of one object, which return values that can be compared."""
    methods = next(methods for kind, methods in METHODS.items() if isinstance(used, kind))
    return [*(lambda method=method, text=text: method(used, text) for text in texts for method in methods)]


def _session(tok: Any, text: str) -> Any:
    session = tok.session(text[: LONG // 2])
    session.append(text[LONG // 2 : LONG])
    return session.ids.tolist()


def _walk(guide: Any, text: str) -> Any:
    """The masks along a walk that takes another token for each text."""
    state, found = guide.start, list[Any]()
    for place in range(STEPS):
        found.append(guide.masks([state] * 3).tolist())
        allowed = [number for number in guide.allowed(state).tolist() if number != guide.end_id]
        if not allowed:
            break
        state = guide.step(state, allowed[(len(text) + place) % len(allowed)])
    return found


def _rows(batch: Any) -> Any:
    return [row.tobytes() for row in batch], batch.offsets.tobytes()  # lists of offsets would take half of the time of the test


METHODS: dict[Any, Sequence[Callable[[Any, str], Any]]] = {
    fst.Tokenizer: (
        lambda tok, text: tok.encode(text).tolist(),
        lambda tok, text: _rows(tok.encode_batch([text, text], offsets=True, threads=2)),
        lambda tok, text: tok.decode(tok.encode(text)),
        lambda tok, text: tok.count_tokens([text]).tolist(),
        _session,
    ),
    fst.Searcher: (
        lambda searcher, text: [*islice(searcher.find_iter(text), LONG)],
        lambda searcher, text: searcher.is_match(text),
        lambda searcher, text: searcher.count([text, text], threads=2).tolist(),
    ),
    fst.Speller: (
        lambda speller, text: speller.check(text[:20]),
        lambda speller, text: speller.check_texts([text, text[:20]], threads=2),
        lambda speller, text: speller.suggest(text[:5], limit=1),
    ),
    fst.Segmenter: (
        lambda segmenter, text: segmenter.segment(text),
        lambda segmenter, text: segmenter.count([text, text], threads=2).tolist(),
    ),
    fst.Rewriter: (
        lambda rewriter, text: rewriter.apply(text),
        lambda rewriter, text: rewriter.apply_batch([text, text], threads=2),
    ),
    fst.Lookup: (
        lambda lookup, text: lookup(text),
        lambda lookup, text: [*map(list, lookup.lookup_batch([text, text], threads=2))],
    ),
    fst.Guide: (_walk,),
}

if __name__ == "__main__":
    for number in range(int(sys.argv[2])):
        if wrong := shared(Path(sys.argv[1])):
            raise SystemExit(f"round {number}: {', '.join(wrong)}")
    print(sys.version, getattr(sys, "_is_gil_enabled", lambda: True)(), "numba" in sys.modules)
