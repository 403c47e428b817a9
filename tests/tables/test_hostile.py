"""Files that are not tables, damaged files, and forged files are refused, or give a tokenizer that is safe to use.

For any file, `fst.load` returns a tokenizer that is safe to use, or raises an error: `OSError` if the file cannot be read, otherwise
`TableError`.
"""

from __future__ import annotations

import io
import os
import pickle
import random
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.tables.forging import (
    KNOWN,
    forged,
    members,
    refused,
    saved,
    shaped,
    with_header,
    with_npy_header,
)
from support.tiers import examples, sample

import fst

# Damaged files, and files that are not tables


def test_forgers_tools_are_sharp(data: bytes) -> None:
    """If a file is unpacked to its members and packed again, its bytes are the same, so each forged file has only the intended change."""
    assert forged(members(data)) == data


def lengths(data: bytes) -> Iterator[int]:
    """Yield lengths at which a missing end might be overlooked: the ends of all headers, arrays and directory entries."""
    yield from (0, 1, 10, 29, 30, 52, 100, len(data) // 2, len(data) - 22, len(data) - 1)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            begin = data.index(b"\x93NUMPY", member.header_offset)
            for edge in (member.header_offset, begin, begin + 128, begin + member.file_size):
                yield from (edge - 1, edge, edge + 1)


def test_file_cut_short_is_refused(data: bytes, tmp_path: Path) -> None:
    """A file that is cut short at the end of a header, an array or a directory entry is refused."""
    for length in {length for length in lengths(data) if 0 <= length < len(data)}:
        refused(tmp_path / "short.npz", data[:length])


@given(share=st.floats(0, 1, exclude_max=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_file_cut_anywhere_is_refused(share: float, data: bytes, tmp_path: Path) -> None:
    """A file that is cut short at any length is refused."""
    refused(tmp_path / "short.npz", data[: int(share * len(data))])


@pytest.mark.parametrize("extra", [b"\0", b"\n", b"PK\x05\x06" + bytes(18), bytes(4096)])
@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_file_with_more_bytes_is_refused(extra: bytes, before: bool, data: bytes, tmp_path: Path) -> None:
    """Bytes before or after the archive are refused, although the zip format allows them."""
    refused(tmp_path / "long.npz", extra + data if before else data + extra)


@examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bit=st.integers(0, 2**24))
def test_any_flipped_bit_is_noticed(bit: int, data: bytes, tmp_path: Path) -> None:
    """A flipped bit at any position of a file is detected."""
    refused(tmp_path / "flipped.npz", flipped(data, bit % (8 * len(data))))


@pytest.mark.slow
def test_any_flipped_bit_of_headers_and_directory_is_noticed(data: bytes, tmp_path: Path) -> None:
    """A flipped bit in the first headers or in the directory is detected, although no checksum covers these parts."""
    for position in sample([*range(256), *range(len(data) - 1024, len(data))], 14):
        refused(tmp_path / "flipped.npz", flipped(data, 8 * position + position % 8))


def flipped(data: bytes, bit: int) -> bytes:
    """Flip one bit."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def zipped(parts: Mapping[str, bytes] | list[tuple[str, bytes]], comment: bytes = b"", zip64: bool = False, **options: Any) -> bytes:
    """Make an archive of members in the form that other programs write."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        archive.comment = comment
        for name, content in parts.items() if isinstance(parts, Mapping) else parts:
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=zip64) as member:
                member.write(content)
    return stream.getvalue()


def resaved(data: bytes, save: Callable[..., None]) -> bytes:
    """Load a file with numpy, and save its arrays again with numpy."""
    stream = io.BytesIO()
    with np.load(io.BytesIO(data)) as arrays:
        save(stream, **arrays)
    return stream.getvalue()


def shuffled(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Return the members of an archive in another order."""
    names = list(parts)
    random.Random(0).shuffle(names)
    return {name: parts[name] for name in names}


REZIPPED: dict[str, Callable[[bytes], bytes]] = {
    "numpy.savez": lambda data: resaved(data, np.savez),
    "numpy.savez_compressed": lambda data: resaved(data, np.savez_compressed),
    "stored without padding": lambda data: zipped(members(data)),
    "deflated": lambda data: zipped(members(data), compression=zipfile.ZIP_DEFLATED),
    "zip64": lambda data: zipped(members(data), zip64=True),
    "a comment": lambda data: zipped(members(data), b"nothing to see here"),
    "a comment in a sound file": lambda data: data[:-2] + b"\x05\x00hello",
    "another order": lambda data: forged(shuffled(members(data))),
    "a member twice": lambda data: zipped([*members(data).items(), ("pool", members(data)["pool"])]),
    "a member more": lambda data: forged({**members(data), "more": members(data)["pool"]}),
    "a member less": lambda data: forged({name: part for name, part in members(data).items() if name != "token_ids"}),
    "no first member": lambda data: forged({name: part for name, part in members(data).items() if name != "about"}),
    "a member of another name": lambda data: forged({name.replace("pool", "pond"): part for name, part in members(data).items()}),
    "no members": lambda _: forged({}),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("rezip", REZIPPED.values(), ids=REZIPPED.keys())
def test_rezipped_file_is_refused(rezip: Callable[[bytes], bytes], data: bytes, tmp_path: Path) -> None:
    """A file that contains the same arrays in another form of archive is refused."""
    refused(tmp_path / "rezipped.npz", rezip(data))


HEADERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "terabytes": ("entries", shaped(b"(9999999999,)")),
    "terabytes in two dimensions": ("specials", shaped(b"(9999999999, 9999999999)")),
    "more digits than a number has": ("entries", shaped(b"(99999999999999999999,)")),
    "nothing, and terabytes of it": ("specials", shaped(b"(0, 9999999999)")),
    "one element more": ("entries", lambda header: header.replace(b"(", b"(1")),
    "a negative length": ("entries", shaped(b"(-1,)")),
    "no length": ("entries", shaped(b"()")),
    "three dimensions": ("specials", shaped(b"(1, 1, 4)")),
    "a length with a leading zero": ("entries", lambda header: header.replace(b"(", b"(0")),
    "another spelling": ("entries", lambda header: header.replace(b"': (", b"' : (")),
    "signed numbers": ("entries", lambda header: header.replace(b"<u8", b"<i8")),
    "floating-point numbers": ("entries", lambda header: header.replace(b"<u8", b"<f8")),
    "wider numbers": ("pool", lambda header: header.replace(b"<u4", b"<u8")),
    "the other byte order": ("entries", lambda header: header.replace(b"<u8", b">u8")),
    "the host's byte order": ("entries", lambda header: header.replace(b"<u8", b"=u8")),
    "objects": ("entries", lambda header: header.replace(b"'<u8'", b"'|O' ")),
    "columns first": ("specials", lambda header: header.replace(b"False", b"True")),
    "another version of the header": ("entries", lambda header: header.replace(b"NUMPY\x01", b"NUMPY\x02")),
    "no magic": ("entries", lambda header: header.replace(b"NUMPY", b"numpy")),
    "code": ("entries", lambda header: header.replace(b"False", b"print")),
}


@pytest.mark.parametrize(("name", "change"), HEADERS.values(), ids=HEADERS.keys())
def test_array_of_another_kind_is_refused(name: str, change: Callable[[bytes], bytes], data: bytes, tmp_path: Path) -> None:
    """An array is refused unless its header has exactly the bytes that its name and its shape determine."""
    refused(tmp_path / "header.npz", with_npy_header(data, name, change))


class Bomb:
    """An object that creates a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


def test_nothing_is_unpickled(data: bytes, tmp_path: Path) -> None:
    """An array of Python objects is refused before any object is unpickled."""
    objects = np.array([Bomb(tmp_path / "trace")], object)
    for content in (saved(objects), pickle.dumps(objects)):
        refused(tmp_path / "pickled.npz", forged({**members(data), "pool": content}))
    assert not (tmp_path / "trace").exists()


def test_promise_of_terabytes_takes_no_memory(data: bytes, tmp_path: Path) -> None:
    """A size in a header is compared with the size of the file before memory is allocated for it."""
    path = tmp_path / "promise.npz"
    refused(path, with_npy_header(data, *HEADERS["terabytes"]))
    assert memory_to_refuse(path) < 10 << 20


def test_file_of_more_than_a_gibibyte_is_refused_unread(data: bytes, tmp_path: Path) -> None:
    """A file of more than a gibibyte is refused before it is mapped or read."""
    path = tmp_path / "huge.npz"
    path.write_bytes(data)
    with path.open("r+b") as stream:
        stream.truncate((1 << 30) + 1)
    assert memory_to_refuse(path) < 1 << 20
    with pytest.raises(fst.TableError, match="at most 1073741824"):
        fst.load(path)


def test_lengthy_header_is_refused_unread(data: bytes, tmp_path: Path) -> None:
    """Metadata that is too large is refused before it is parsed, because the parsed form would need several times its size in memory."""
    path = tmp_path / "lengthy.npz"
    path.write_bytes(with_header(data, b"[" + b"[]," * (6 << 20) + b"[]]"))
    assert memory_to_refuse(path) < 1 << 20


def memory_to_refuse(path: Path) -> int:
    """Return the peak memory while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(fst.TableError):
            fst.load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b'{"format": 7, "kind": "wordpiece"}', "format version is 7; expected 8; compile it again$"),
        (b'{"format": "8"}', "version is '8'"),
        (b'{"format": [8]}', "version is \\[8\\]"),
        (b'{"format": true}', "version is True"),
        (b'{"kind": "wordpiece"}', "version is None"),
        (b"{}", "version is None"),
        (b"[1]", "version is None"),
        (b"1", "version is None"),
        (b"null", "version is None"),
        (b'{"format": 8}', "reader is None; expected '0.1.0' for format version 8"),
        (b'{"format": 8, "reader": "0.2.0"}', "reader is '0.2.0'; expected '0.1.0' for format version 8"),
        (b'{"format": 9, "reader": "0.3.0"}', "version is 9; expected at most 8; install fst-toolkit 0.3.0 or later$"),
        (b'{"format": 9}', "version is 9; expected at most 8; install a later fst-toolkit$"),
        (b'{"format": 9, "reader": "0.3; rm"}', "expected at most 8; install a later fst-toolkit$"),
        (b'{"format": 9, "reader": ["0.3.0"]}', "expected at most 8; install a later fst-toolkit$"),
        (b"", "'about' is not JSON"),
        (b"{", "'about' is not JSON"),
        (b'{"format": 8} {}', "'about' is not JSON"),
        (b'{"format": 8' + b"0" * 5000 + b"}", "'about' is not JSON"),
        (b'{"format": "\xff"}', "'about' is not JSON"),
        (b"[" * 100_000, "'about' is not JSON"),
        (b'{"a":' * 100_000, "'about' is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "'about' is not JSON"),
        (b'{"format": 8, "reader": "0.1.0"}', f"kind is None; this version reads {KNOWN}"),
        (b'{"format": 8, "reader": "0.1.0", "kind": "bpx"}', f"kind is 'bpx'; this version reads {KNOWN}"),
        (b'{"format": 8, "reader": "0.1.0", "kind": ["wordpiece"]}', "kind is .*wordpiece.*; this version reads"),
    ],
)
def test_other_version_or_kind_is_refused_by_name(header: bytes, message: str, data: bytes, tmp_path: Path) -> None:
    """A file of another version or kind is refused, and the message contains the version or kind; metadata that is not JSON is refused,
    too.
    """
    refused(tmp_path / "about.npz", with_header(data, header), message)


def array_file() -> bytes:
    """Write an `.npz` file as numpy does."""
    stream = io.BytesIO()
    np.savez(stream, entries=np.arange(1000), pool=np.arange(3))
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"P",
        b"PK\x03\x04",
        b"PK\x03\x04" + bytes(60),
        b"[PAD]\n[UNK]\n" * 9,
        b'{"version": "1.0"}' * 9,
        bytes(10_000),
        array_file(),
        saved([1]),
    ],
    ids=["nothing", "a letter", "magic", "magic and zeros", "a vocabulary", "a document", "zeros", "another npz", "npy"],
)
def test_other_file_is_refused(content: bytes, tmp_path: Path) -> None:
    """A file that is not a table raises a `TableError`."""
    refused(tmp_path / "other.npz", content)


def test_no_file_is_an_os_error(tmp_path: Path) -> None:
    """A missing file raises an `OSError`, and so does a folder."""
    with pytest.raises(FileNotFoundError):
        fst.load(tmp_path / "missing.npz")
    with pytest.raises(IsADirectoryError):
        fst.load(tmp_path)
