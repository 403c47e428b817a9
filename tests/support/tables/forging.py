"""Make table files with wrong content but valid checksums, and check that they are refused."""

from __future__ import annotations

import io
import json
import random
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fst
from fst.automata.rows import (
    Array,
)
from fst.machines.wordpiece.table import WordPieceTable
from fst.registry import MACHINES
from fst.tables import npz

KNOWN = ", ".join(map(repr, MACHINES))  # the kinds of tables
# This vocabulary has failure links that emit one token or several tokens, and special tokens with several bytes per character.
TOKENS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz", "b", "un", "##aff", "##able", "##é", ".",
    "é", "世", "½", "««é»", "##e", "##t", "##tt", "tttt", "##1",
]  # fmt: skip
UNKNOWN = "««é»"
TEXTS = (
    "abcdx abcdz abcd abcdy unaffable. tttt ttttttt",
    "[MASK]««é»é «««é»» [CLS ab[SEP]un\x00affable",
    "Äé한국어世界½ ﷺ \u0344\u0301\u0316 a\u0316\u0301\U000e0100b 𝔘𝔫 \U0001f600",
    "a" * 120 + " " + "abcdx" * 30,
    "",
)
Corruption = Callable[[WordPieceTable], WordPieceTable]


def members(data: bytes) -> dict[str, bytes]:
    """The members of a file by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}


def forged(parts: Mapping[str, bytes]) -> bytes:
    """Make a file of members, with correct offsets, padding and checksums."""
    local, central = b"", b""
    for name, content in parts.items():
        crc = zlib.crc32(content)
        central += npz._central(name, len(content), crc, len(local))
        local += npz._local(name, len(content), crc, len(local)) + content
    return local + central + npz._end(len(parts), len(central), len(local))


def with_npy_header(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Change the `.npy` header of one array without a change of the header's length."""
    parts = members(data)
    size = 10 + int.from_bytes(parts[name][8:10], "little")
    header = change(parts[name][: size - 1].rstrip()).ljust(size - 1) + b"\n"
    assert len(header) == size
    assert header != parts[name][:size]
    return forged({**parts, name: header + parts[name][size:]})


def with_header(data: bytes, content: bytes) -> bytes:
    """Replace the bytes of the member ``about``."""
    return forged({**members(data), "about": saved(np.frombuffer(content, np.uint8))})


def saved(array: Any) -> bytes:
    """The bytes of an array as a `.npy` file."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def refused(path: Path, data: bytes, match: str | None = None) -> None:
    """Check that a file is refused with a `TableError` that contains its path."""
    path.write_bytes(data)
    with pytest.raises(fst.TableError, match=match) as error:
        fst.load(path)
    assert str(path) in str(error.value)


def refused_by_proof(path: Path, tables: WordPieceTable) -> str:
    """Check that a file is refused with the same message as the proof of its table, and return the message."""
    in_order = json.loads(json.dumps(tables.header, sort_keys=True))  # the order of the file
    with pytest.raises(fst.TableError) as fault:
        replace(tables, header=in_order).prove()
    with pytest.raises(fst.TableError) as error:
        fst.load(path)
    reason = str(fault.value).replace("reads 'wordpiece'", f"reads {KNOWN}")  # the message about a file lists all kinds of tables
    assert str(error.value) == f"{path}: {reason}; compile it again"
    return str(fault.value)


def shaped(shape: bytes) -> Callable[[bytes], bytes]:
    """A function that replaces the shape in an array's header."""
    return lambda header: header[: header.index(b"(")] + shape + b", }"


def with_array(tables: WordPieceTable, name: str, array: Array) -> WordPieceTable:
    """Replace an array of a table."""
    changed: dict[str, Any] = {name: array}
    return replace(tables, **changed)


def array(name: str, change: Callable[[Array], Any]) -> Corruption:
    """A function that replaces an array by the result of `change`."""
    return lambda tables: with_array(tables, name, np.asarray(change(getattr(tables, name)), getattr(tables, name).dtype))


def header(name: str, value: Any) -> Corruption:
    """A function that changes a value of the metadata; the value may be a function of the table."""
    return lambda tables: replace(tables, header={**tables.header, name: value(tables) if callable(value) else value})


def size(name: str) -> Callable[[WordPieceTable], int]:
    """A function that returns the length of an array."""
    return lambda tables: len(getattr(tables, name))


DEEP: Any = []
for _ in range(40):
    DEEP = [DEEP]


def changed(value: Any, rng: random.Random) -> Any:
    """Replace a random part of a JSON value."""
    wrong: Any = rng.choice([None, True, -1, 0, 97, 1 << 22, 1 << 64, 1.5, "", "a", "\ud800", [], [[]], [1], {}, {"a": 1}])
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice([*value])
        kept = {name: held for name, held in value.items() if name != key}
        return {**kept, **rng.choice([{}, {str(wrong): value[key]}, *4 * [{key: changed(value[key], rng)}]])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], *rng.choice([[], [wrong], *4 * [[changed(value[place], rng)]]]), *value[place + 1 :]]
    if isinstance(value, int) and rng.random() < 0.7:
        return rng.choice([value + 1, value - 1, -value, value ^ 1 << rng.randrange(24), rng.randrange(0x110000)])
    return wrong
