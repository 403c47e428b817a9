"""The part of the fuzzer that runs the kernels of exported tables."""

from __future__ import annotations

import random

import numpy as np
from support.conformance.ways import table_of

import fst
from fst.errors import UnsupportedError
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.calls import calls
from fst.runtime.exporting.contents import contents
from fst.tables.kernel_call import COUNT

# Tables whose exports run kernels that those of drawn vocabularies do not run.
SAMPLES = ("wordpiece auto", "unigram words", "unigram model and bytes")


def drive_samples(draw: random.Random, texts: list[str]) -> None:
    """Pass texts to the exports of `SAMPLES`."""
    for name in SAMPLES:
        drive_exports(fst.Tokenizer(table_of(name)), texts, draw)


def drive_exports(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Build the arrays of images, and encode short texts with the calls of a host, as `fst.h` does."""
    builds(tok, contents(tok))
    try:
        made = calls(tok, 400)
    except UnsupportedError:
        return
    suffix = "_spans" if "encode_spans" in made.calls else ""
    unit = made.arrays["text"].dtype
    for text in draw.sample(texts, 3):
        units = np.frombuffer(text[:100].encode("utf-8" if unit.itemsize == 1 else "utf-16-le"), unit)
        made.arrays["text"][: len(units)], made.arrays["starts"][1] = units, len(units)
        made.arrays["state"].fill(0)
        run = {name.removesuffix(suffix): call for name, call in made.calls.items() if call and name.endswith(suffix)}
        if "is_unchanged" not in run or run["is_unchanged"].kernel.call(*run["is_unchanged"].arguments) == 1:
            run["encode"].kernel.call(*run["encode"].arguments)
            ids = made.arrays["ids_spans" if suffix else "ids"][: int(made.arrays["state"][COUNT])]
            assert ids.tolist() == tok.encode(text[:100]).tolist()
        for name in ("path", "trim_spans"):
            call = made.calls.get(name)
            if call:
                call.kernel.call(*call.arguments)
