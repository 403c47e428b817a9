"""Every method that encodes gives the same ids as the walk, for samples of every kind of table."""

from __future__ import annotations

import copy
import pickle
import random
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from support.conformance.samples import ENCODING, SAMPLES, each
from support.conformance.ways import BARE, cut, encoder_of, located, public, rows_of, streamed, table_of, texts_of, walked

import fst
from fst.registry import MACHINES

COLUMNS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary())


def test_every_kind_has_samples() -> None:
    """Each kind of table in the registry has at least three samples."""
    counted = Counter(sample.kind for sample in SAMPLES.values())
    assert counted.keys() == MACHINES.keys()
    assert min(counted.values()) >= 3


@each(SAMPLES, 2)
def test_representations(name: str) -> None:
    """The `repr` of a table contains its class and its size in one line."""
    assert re.fullmatch(r"<\w+Table, [0-9,]+ bytes>", repr(table_of(name)))


@each(ENCODING, 1)
def test_batches(name: str) -> None:
    """Kernel and walk give the same ids for str and bytes, as single texts, in batches and on several threads, and `count_tokens`
    returns the numbers of these ids.
    """
    table, draw = table_of(name), random.Random(name)
    encoder, texts = encoder_of(public(table)), texts_of(SAMPLES[name], draw)
    expected = [walked(table, text) for text in texts]
    for rows in (texts, [text.encode() for text in texts]):
        for threads in (1, 3):
            assert rows_of(encoder.encode_batch(rows, threads=threads, **BARE)) == expected
        assert [encoder.encode(row, **BARE).tolist() for row in rows] == expected
        assert rows_of(encoder.encode_batch(rows, max_length=5, **BARE)) == [ids[:5] for ids in expected]
        assert encoder.count_tokens(rows, **BARE).tolist() == [*map(len, expected)]


@each(ENCODING, 2)
def test_columns(name: str) -> None:
    """Arrow columns of every text type get the same ids from the kernel as from the walk, and a null text gets a null."""
    table, draw = table_of(name), random.Random(name)
    texts = texts_of(SAMPLES[name], draw, 6)
    expected = [*(walked(table, text) for text in texts), None]
    for kind in COLUMNS:
        column = pa.array([*texts, None], pa.string()).cast(kind)
        assert encoder_of(public(table)).encode_arrow(column, **BARE).to_pylist() == expected


@each(ENCODING, 3)
def test_streams(name: str) -> None:
    """A text that is streamed in parts, cut anywhere, gets the same ids and positions as in a single call."""
    draw, sample = random.Random(name), SAMPLES[name]
    encoder = encoder_of(public(table_of(name)))
    texts = texts_of(sample, draw)
    for text, expected in zip(texts, located(encoder, texts), strict=True):
        assert streamed(encoder, cut(draw, text)) == expected
        assert streamed(encoder, cut(draw, text.encode())).ids == expected.ids


@each(ENCODING, 4)
def test_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text that is read a few units at a time gets the same ids and positions as a text that is read at once."""
    draw = random.Random(name)
    encoder, texts = encoder_of(public(table_of(name))), texts_of(SAMPLES[name], draw, 2, 300)
    expected = located(encoder, texts)
    monkeypatch.setattr("fst.runtime.rows.batch.BLOCK", 7)
    assert located(encoder, texts) == expected


@each(ENCODING, 5)
def test_malformed_texts(name: str) -> None:
    """Invalid bytes and lone surrogates are refused with the number of their row, or read as U+FFFD on request."""
    table, parts = table_of(name), SAMPLES[name].parts[:3]
    encoder = encoder_of(public(table))
    rows: tuple[list[str], list[bytes]] = ["\ud800".join(parts)], [b"\xff".join(part.encode() for part in parts)]
    for wrong in rows:
        with pytest.raises(fst.TextError, match="row 0"):
            encoder.encode_batch(wrong)
        assert rows_of(encoder.encode_batch(wrong, errors="replace", **BARE)) == [walked(table, "\ufffd".join(parts))]


@each(ENCODING, 6)
def test_copies(name: str, tmp_path: Path) -> None:
    """After a table is loaded, unpickled or copied, it has the same class and the same bytes, and gives the same ids."""
    table = table_of(name)
    used, texts = public(table), texts_of(SAMPLES[name], random.Random(name), 5)
    expected = [walked(table, text) for text in texts]
    table.save(tmp_path / "table.npz")
    for other in (fst.load(tmp_path / "table.npz"), pickle.loads(pickle.dumps(used)), copy.copy(used), copy.deepcopy(used)):
        assert type(other) is type(used)
        assert other._table.dumps() == table.dumps()
        assert rows_of(encoder_of(other).encode_batch(texts, **BARE)) == expected
