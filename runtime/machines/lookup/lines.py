"""Words with their analyses as lines of text, in the formats of `fst lookup`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.core.jit import Deferred
from fst.runtime.machines.lookup.spelling import Strings, joined, size_of
from fst.runtime.machines.lookup.streams import MOST_COPIES, escaped, escapes
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import PAST_END, Bytes, Ints

LINES = TSV, APERTIUM, XEROX = "tsv", "apertium", "xerox"
UNKNOWN = "+?"  # the string that flookup prints for an unknown word
SIGNS = 6  # maximum number of signs that a format adds to a word or to an analysis
WEIGHT = "%.9g"  # enough digits for a float32

write_tabbed, write_apertium = (Deferred("fst.runtime.machines.lookup.kernels.lines", name) for name in ("write_tabbed", "write_apertium"))


class Weights(NamedTuple):
    """The weights of analyses in decimal.

    Attributes:
        written: the different weights, in decimal.
        numbers: int64[analyses], the number of the weight of each analysis; empty for an unweighted table.
    """

    written: Strings
    numbers: Ints


def has_nulls(words: Sequence[Any]) -> bool:
    """Whether words contain None. A search for None would compare every word, and take several times as long."""
    return not all(words) and type(None) in set(map(type, words))


def line_of(form: str, word: str, analyses: Sequence[str], weights: Sequence[float] | None) -> str:
    """The lines of a word in a form of `LINES`, from its analyses and their weights. This is the specification of the kernels."""
    if form == APERTIUM:
        return f"^{escaped(word)}/{'/'.join(analyses or [f'*{escaped(word)}'])}$\n"
    if weights is not None:
        analyses = [f"{analysis}\t{WEIGHT % weight}" for analysis, weight in zip(analyses, weights, strict=True)]
    is_xerox = form == XEROX
    return "".join([f"{word}\t{analysis}\n" for analysis in analyses or [UNKNOWN * is_xerox]]) + "\n" * is_xerox


def lines(form: str, words: Sequence[bytes], batch: Batch, pieces: Strings, counts: Ints, weights: Any) -> Bytes:
    """The lines of words in UTF-8.

    Args:
        form: one of `LINES`.
        words: the words in UTF-8.
        batch: the ids of the words, see `fst.machines.lookup.table`.
        pieces: the pieces of the table.
        counts: int64[words], the number of analyses of each word.
        weights: float32[analyses], the weight of each analysis; None for an unweighted table.
    """
    given, numbered = joined(words), _weights(weights)
    copies = MOST_COPIES if form == APERTIUM else np.maximum(counts, 1)
    size = int((copies * np.diff(given.starts)).sum()) + SIGNS * (len(words) + int(counts.sum()))
    size += size_of(batch.ids, pieces, weighted=weights is not None)[0]
    size += len(numbered.numbers) * int(np.diff(numbered.written.starts).max(initial=0))
    out, first = np.empty(size + PAST_END, np.uint8), (batch.ids, batch.row_splits, given, pieces, numbered)
    if form == APERTIUM:
        return out[: write_apertium.call(*first, escapes(), out)]
    return out[: write_tabbed.call(*first, np.uint64(form == XEROX), out)]


def _weights(weights: Any) -> Weights:
    """Write weights in decimal, each different weight once."""
    if weights is None:
        return Weights(joined([]), np.empty(0, np.int64))
    different, numbers = np.unique(weights, return_inverse=True)
    return Weights(joined([(WEIGHT % weight).encode() for weight in different.tolist()]), numbers.astype(np.int64))
