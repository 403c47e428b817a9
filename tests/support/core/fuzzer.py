"""A fuzzer that runs every kernel: it draws vocabularies and texts, and passes them to every function of the package."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from support.core import drives
from support.core.exports import drive_exports, drive_samples
from support.core.guides import drive_guides, drive_late_guides
from support.core.rewriters import drive_rules
from support.core.sources import drive_sources
from support.core.spellers import drive_spellers
from support.core.trainers import drive_trainers
from support.core.transducers import drive_transducers

from fst.pretokens.arguments import LONGEST
from fst.runtime.kernels.intrinsics import DISABLED
from fst.runtime.machines.keywords.kernels import search as keyword_kernels
from fst.runtime.pretokens.kernels import find
from fst.runtime.text.kernels import search
from fst.tables import kernel_call

KINDS = (
    drives.characterwise,
    drives.vocabulary,
    drives.bytewise,
    drives.scored,
    drives.vocabulary,
    drives.bytewise,
    drives.vocabulary,
)
LONG_PIECES = 2  # seeds, modulo the number of kinds, for which texts get a pre-token longer than `LONGEST`
OF_TOKENIZERS = (
    drives.drive_batches,
    drives.drive_dropout,
    drives.drive_sampling,
    drives.drive_errors,
    drives.drive_columns,
    drives.drive_calls,
    drives.drive_streams,
    drives.drive_decoding,
    drives.drive_charsmaps,
    drive_exports,
)


def parts(seed: int, size: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Draw a vocabulary and texts of up to `size` characters. Yield the name and the function of each part, which passes them to functions
    of the package. A part must be called before the next one is taken.
    """
    with pytest.MonkeyPatch.context() as patch:
        if seed % 2:
            patch.setattr(kernel_call, "CHUNK", 0)
        if DISABLED:
            shorten(patch)
        draw = random.Random(seed)
        tok, texts = drives.tokenizer(draw, KINDS[seed % len(KINDS)]), drives.texts_of(draw, size)
        if seed % len(KINDS) == LONG_PIECES:
            texts.insert(9, "ab" * (LONGEST // 2 + 1))
        for of_tokenizer in OF_TOKENIZERS:
            yield of_tokenizer.__name__, partial(of_tokenizer, tok, texts, draw)
        yield "units", partial(drives.drive_units, texts)
        of_tables = (drives.drive_sums, drives.drive_words, drive_rules, drives.drive_search, drives.drive_lattices, drives.drive_japanese)
        for use in (*of_tables, drive_guides):
            yield use.__name__, partial(use, random.Random(seed), texts)
        for patched in (drive_trainers, drive_transducers, drive_late_guides, drive_spellers):
            yield patched.__name__, partial(patched, random.Random(seed), texts, patch)
        if DISABLED:  # otherwise all kernels are compiled for these tables only
            yield "drive_samples", partial(drive_samples, random.Random(seed), texts)
            yield "drive_sources", partial(drive_sources, random.Random(seed), texts)
        patch.setattr("fst.runtime.rows.batch.BLOCK", 100)  # so short rows are read in parts
        yield "segmentation", partial(drives.drive_segmentation, random.Random(seed), texts)
        yield "long", partial(drives.drive_long, tok, random.Random(seed))


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Let interpreted kernels reach their limits in short texts."""
    patch.setattr(find, "CHUNK", np.uint64(16))  # so short texts have pre-tokens longer than a chunk
    for name, number in (("FEW", 2), ("FAIRLY_FEW", 3), ("NEAR", 1), ("FAR", 3)):
        patch.setattr(search, name, np.uint64(number))  # so that searches store the positions at which they have failed
    patch.setattr(keyword_kernels, "FEW", np.uint64(8))  # so walks alternate between the texts
