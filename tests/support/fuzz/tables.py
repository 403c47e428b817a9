"""Tables as targets of fuzzing. Changed tables have valid checksums, so that their proofs read them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from support.conformance.samples import SAMPLES
from support.conformance.ways import table_of
from support.fuzz.mutations import mutated
from support.fuzz.reader import Reader
from support.tables.forging import changed, forged, members, saved

import fst

TEXT = "abab un able é 世界 研究生命 b a\n<s> 2 m"


@cache
def seeds() -> Sequence[bytes]:
    """A table of each kind."""
    names = {sample.kind: name for name, sample in reversed(SAMPLES.items())}  # the first sample of each kind
    return [table_of(name).dumps() for name in names.values()]


def read(folder: Path) -> None:
    """Load a table, and use it for a text."""
    used = fst.load(folder / "input")
    if isinstance(used, fst.Tokenizer):
        ids = used.encode(TEXT)
        used.decode(ids)
        used.encode_batch([TEXT], offsets=True)
    elif isinstance(used, fst.Searcher):
        used.find(TEXT)
    elif isinstance(used, fst.Segmenter):
        used.segment(TEXT)
    elif isinstance(used, fst.Lookup):
        used("ab")
    elif isinstance(used, fst.Rewriter):
        with suppress(fst.TextError):  # a machine may have no path for the text
            used.apply(TEXT)
    elif isinstance(used, fst.Speller):
        used.check_text(TEXT)
        used.suggest("ab")
    else:
        used.allowed(used.start)


def mutate(data: bytes, draw: Random, other: bytes) -> bytes:
    """Change one or two members of a table, and its checksums; one table in ten is changed as any file."""
    try:
        parts = members(data)
    except Exception:
        return mutated(data, draw, other)
    if draw.random() < 0.1 or not parts:
        return mutated(data, draw, other)
    for _ in range(draw.choice((1, 1, 2))):
        name = draw.choice(["about", *parts]) if "about" in parts else draw.choice([*parts])
        array: Any = np.load(io.BytesIO(parts[name]))
        parts[name] = saved(_header(array, draw) if name == "about" else _elements(array, draw))
    return forged(parts)


def _header(array: Any, draw: Random) -> Any:
    """Change a value of the header."""
    return np.frombuffer(json.dumps(changed(json.loads(array.tobytes()), draw)).encode(), np.uint8)


def _elements(array: Any, draw: Random) -> Any:
    """Change one element, the order of two elements, or the number of elements."""
    array = array.copy()
    flat = array.reshape(-1)
    kind = draw.randrange(8)
    if kind == 0 or not len(flat):
        return array[: draw.randrange(len(array) + 1)]
    if kind == 1:
        return np.concatenate([array, array[: draw.randrange(len(array)) + 1]])
    first, second = draw.randrange(len(flat)), draw.randrange(len(flat))
    if kind == 2:
        flat[[first, second]] = flat[[second, first]]
    elif kind == 3:
        flat[first] = flat[second]
    else:
        bytes_of = flat.view(np.uint8)
        place = first * array.dtype.itemsize + draw.randrange(array.dtype.itemsize)
        bytes_of[place] = draw.choice((0, 255, draw.randrange(256), *[int(bytes_of[place]) ^ 1 << draw.randrange(8)] * 3))
    return array


READERS = {"table": Reader(read, seeds, mutate=mutate)}
