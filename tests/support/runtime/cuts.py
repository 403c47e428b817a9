"""Long texts that several threads encode in parts."""

from __future__ import annotations

from typing import Any

import numpy as np

import fst


def check_threads(tok: fst.Tokenizer, texts: Any, threads: int = 3, **options: Any) -> None:
    """Check that several threads give the same ids, offsets and words as one thread."""
    expected = tok.encode_batch(texts, threads=1, **options)
    found = tok.encode_batch(texts, threads=threads, **options)
    for name in ("ids", "row_splits", "offsets", "words"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
