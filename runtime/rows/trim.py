"""Truncate the rows of a batch of ids, and convert character offsets to byte offsets."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints, replaced
from fst.runtime.workspace import Ids

MALFORMED = "fst-malformed"  # the error handler that decodes a malformed sequence to a stand-in, a lone surrogate
STAND_IN = 0xDC00  # a stand-in has this code point plus the number of malformed bytes; valid text has no lone surrogates
LONGEST = 4  # maximum number of bytes in a character


def cut(batch: Batch, longest: int, after: Ids) -> Batch:
    """Truncate rows to at most `longest` ids. The ids `after` overwrite the last ids of each row that has `longest` ids or more.

    Args:
        batch: rows with special ids. A row of `longest` ids or more may lack the special ids after its text.
        longest: the maximum number of ids in a row; at least the number of special ids around a text.
        after: the special ids after a text.
    """
    lengths = np.diff(batch.row_splits)
    full = lengths >= longest
    if not full.any():
        return batch
    shorter = np.minimum(lengths, longest)
    kept = np.repeat(np.tile([True, False], len(batch)), np.stack([shorter, lengths - shorter], axis=1).ravel())
    splits = np.concatenate([[0], np.cumsum(shorter)])
    last = (splits[1:][full, None] - np.arange(len(after), 0, -1)).ravel()
    ids = batch.ids[kept]
    ids[last] = np.tile(after, np.count_nonzero(full))
    if batch.offsets is None or batch.words is None:
        return Batch(ids, splits)
    offsets, words = batch.offsets[kept], batch.words[kept]
    offsets[last], words[last] = 0, -1
    return Batch(ids, splits, offsets, words)


def in_bytes(batch: Batch, texts: Sequence[str | bytes], errors: str) -> Batch:
    """Convert the offsets of a batch from character positions to byte positions in UTF-8. For a bytes object, offsets count all bytes,
    malformed bytes included.

    Args:
        batch: a batch with offsets.
        texts, errors: the arguments of the call that returned the batch.
    """
    wide = np.fromiter((not text.isascii() for text in texts), bool, len(texts))
    if not wide.any() or batch.offsets is None:
        return batch
    lengths = np.diff(batch.row_splits)
    of_wide = np.repeat(wide, lengths)
    offsets = batch.offsets.copy()
    offsets[of_wide] = _in_bytes(offsets[of_wide], lengths[wide], list(compress(texts, wide)), errors)
    return replace(batch, offsets=offsets)


def _in_bytes(offsets: Ids, lengths: Ints, texts: Sequence[str | bytes], errors: str) -> Ids:
    """Convert character offsets to byte offsets; `lengths` contains the number of offsets for each text. A text is read up to its last
    offset.
    """
    reached = np.zeros(len(texts), np.int64)
    reached[lengths > 0] = np.maximum.reduceat(offsets[:, 1], (np.cumsum(lengths) - lengths)[lengths > 0])
    read = [_characters(text, end, errors) for text, end in zip(texts, reached.tolist(), strict=True)]
    ends = np.concatenate([[0], np.cumsum(_sizes("".join(read)), dtype=np.int64)])
    first = np.repeat(np.cumsum(reached) - reached, lengths)[:, None]
    placed: Ids = (ends[first + offsets] - ends[first]).astype(np.int32)
    return placed


def _characters(text: str | bytes, end: int, errors: str) -> str:
    """Return the first `end` characters of a text, with a stand-in for each malformed sequence of bytes."""
    if isinstance(text, bytes):
        return text[: LONGEST * end].decode("utf-8", MALFORMED)[:end]
    return (text if errors == "strict" else replaced(text))[:end]


def _sizes(text: str) -> NDArray[np.uint8]:
    """Count the bytes of each character; a stand-in counts as many bytes as the malformed sequence has."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    sizes = 1 + (codes > 0x7F).astype(np.uint8) + (codes > 0x7FF) + (codes > 0xFFFF)
    return np.where(codes & ~np.uint32(3) == STAND_IN, codes & 3, sizes).astype(np.uint8)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return chr(STAND_IN + error.end - error.start), error.end


codecs.register_error(MALFORMED, _stand_in)
