"""A damaged file or table of any kind is refused, or is safe to use."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.conformance.samples import ENCODING, SAMPLES, each
from support.conformance.ways import BARE, Located, cut, encoder_of, located, public, rows_of, streamed, table_of, texts_of, walked
from support.tables.damage import survivors
from support.tiers import sample

import fst

REDUNDANT = {"wordpiece", "bpe", "unigram", "rules"}  # kinds whose tables contain a second copy of some data for kernels
FIRST = 300  # number of bytes at the beginning of an array, where most of the important elements are


@pytest.mark.mostly_slow
@each(SAMPLES, 8)
def test_file_that_is_cut_or_changed_is_refused(name: str, tmp_path: Path) -> None:
    """A file that is cut short, or in which a single bit is changed, is refused."""
    data, draw, path = table_of(name).dumps(), random.Random(name), tmp_path / "table.npz"
    for place in (0, 1, len(data) // 2, len(data) - 1, *(draw.randrange(len(data)) for _ in range(3))):
        flipped = bytearray(data)
        flipped[place] ^= 1 << draw.randrange(8)
        for damaged in (data[:place], bytes(flipped)):
            path.write_bytes(damaged)
            with pytest.raises(fst.TableError):
                fst.load(path)


def place_that_matters(draw: random.Random, size: int) -> int:
    """Draw the position of a byte in an array, preferably among the first or the last bytes."""
    return draw.choice([draw.randrange(size), draw.randrange(min(size, FIRST)), size - 1 - draw.randrange(min(size, 8))])


@pytest.mark.mostly_slow
@each(ENCODING, 9)
def test_any_bit_changed_is_refused_or_safe(name: str) -> None:
    """A table with one changed bit is refused, or every method gives safe ids, which equal the walk's unless kernels read a second copy of
    some data.
    """
    table, draw = table_of(name), random.Random(name)
    for damaged in survivors(table, draw, len(sample(range(50), 8)), place_that_matters):
        encoder, texts = encoder_of(public(damaged)), texts_of(SAMPLES[name], draw, 3)
        try:
            found = located(encoder, texts)
        except (fst.UnsupportedError, fst.TextError):  # tokens of different lengths have one id, or a text has no path
            continue
        if table.kind not in REDUNDANT:
            assert [row.ids for row in found] == [walked(damaged, text) for text in texts]
            assert [streamed(encoder, cut(draw, text)) for text in texts] == found
        assert rows_of(encoder.encode_batch([text.encode() for text in texts], threads=2, **BARE)) == [row.ids for row in found]
        assert all(map(is_ordered, found, texts))


def is_ordered(found: Located, text: str) -> bool:
    """Whether all positions are inside a text, and no span ends before it begins."""
    return all(0 <= start <= end <= len(text) for start, end in found.offsets)
