"""The stored form of tables: a legal ``.npz`` that can be mapped, and has exactly one way to be written.

Members are stored uncompressed, in the order of `fst.machines.wordpiece.ARRAYS` after ``about`` (JSON), and padded in their zip extra field
so that each array begins at a multiple of 64 bytes. ``numpy.load`` reads the file; so does any program that can read zip and ``.npy``.

Everything but the arrays' own bytes follows from their names, shapes and checksums. The reader takes only the shapes from the file, makes
the rest itself, and wants to find exactly that; so nothing in the file is trusted, and nothing can hide between members.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import re
import secrets
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from fst.cores import thread_count
from fst.errors import TableError
from fst.machines.wordpiece import ARRAYS, Tables
from fst.proof import verify
from fst.rows import Array

FORMAT = 4
MAX_FILE_BYTES = 1 << 30
MAX_ABOUT_BYTES = 1 << 24  # JSON takes up to twenty times its size in memory, before anything is known of it
ALIGNMENT = 64
MAX_THREADS = 4  # more would only wait for memory
DTYPES = {
    "about": "|u1",
    "pages": "<u2",
    "blocks": "<u2",
    "classes": "<u8",
    "symbols": "<u4",
    "entries": "<u8",
    "pool": "<u4",
    "specials": "<i4",
    "words": "<u8",
    "displacements": "<u2",
    "token_bytes": "|u1",
    "token_ends": "<i8",
    "token_ids": "<i4",
}
MEMBERS = ("about", *ARRAYS)

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
ZIP_VERSION, DOS_1980 = 20, 0x21
PADDING_FIELD = 0xD935  # the extra field that Android's zipalign uses to the same end
SHAPE = re.compile(rb"'shape': \((\d{1,10}),(?: (\d{1,10}))?\), }")


def save(tables: Tables, path: str | Path) -> None:
    """Write tables to a file, whole or not at all."""
    with replacing(path) as file:
        for part in _parts(tables):
            file.write(part)


def dumps(tables: Tables) -> bytes:
    """The bytes that `save` writes; equal tables give equal bytes."""
    return b"".join(_parts(tables))


def _parts(tables: Tables) -> Iterator[bytes | memoryview]:
    about = json.dumps({"format": FORMAT, **tables.about}, ensure_ascii=True, sort_keys=True).encode()
    arrays = {"about": np.frombuffer(about, np.uint8), **{name: getattr(tables, name) for name in ARRAYS}}
    position, central = 0, b""
    for name in MEMBERS:
        array = np.ascontiguousarray(arrays[name], DTYPES[name])
        header = _npy_header(name, array.shape)
        crc = zlib.crc32(array.data.cast("B"), zlib.crc32(header))
        head = _local(name, len(header) + array.nbytes, crc, position) + header
        central += _central(name, len(header) + array.nbytes, crc, position)
        yield head
        yield array.data.cast("B")
        position += len(head) + array.nbytes
    yield central + _end(len(central), position)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write that appears under its name only when all went well, and leaves nothing behind otherwise.

    A link stays a link: what it leads to is replaced. What is no regular file (a device, a folder) is refused.
    """
    path = Path(path).resolve()
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is no regular file, and would be replaced by one", str(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load(path: str | Path) -> Tables:
    """Map a file and prove it; see `fst.load`."""
    path = Path(path)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_FILE_BYTES:
            raise TableError(f"{path}: {size} bytes; a table file has at most {MAX_FILE_BYTES}")
        if size < LOCAL.size + END.size or file.read(4) != b"PK\x03\x04":
            raise TableError(f"{path} is not a table file: it does not begin like one; make one with `fst compile`")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _proven(memoryview(mapped))
    except TableError as error:
        raise TableError(f"{path}: {error}; compile it again") from None


def loads(data: bytes) -> Tables:
    """The tables of the bytes of a file, proven as by `load`.

    Raises:
        TableError: they are not those of such a file, or not of this version, or damaged, or made to harm.
    """
    aligned = np.empty(len(data) + ALIGNMENT, np.uint8)
    begin = -aligned.ctypes.data % ALIGNMENT
    aligned = aligned[begin : begin + len(data)]
    aligned[:] = np.frombuffer(data, np.uint8)
    aligned.flags.writeable = False
    try:
        return _proven(aligned.data)
    except TableError as error:
        raise TableError(f"a pickled table: {error}; pickle it again, with the version that reads it") from None


def _proven(data: memoryview) -> Tables:
    """The tables of a file. They are proven while checksums are computed: neither holds Python's lock, nor trusts the other."""
    from concurrent.futures import ThreadPoolExecutor

    members = list(_members(data))
    with ThreadPoolExecutor(min(thread_count(), MAX_THREADS)) as pool:
        whole = pool.submit(_verify_bytes, data, members)
        try:
            tables = _tables(data, members)
            verify(tables, pool.map)
        finally:
            whole.result()  # damage is told before what came of it
    return tables


class _Member(NamedTuple):
    """Where a member stands in a file."""

    name: str
    position: int
    begin: int  # of what the checksum is of, the header and the array
    start: int  # of the array
    end: int
    shape: tuple[int, ...]


def _members(data: memoryview) -> Iterator[_Member]:
    """Find all members by their shapes; nothing but the shapes is read, and all of them fit into the file."""
    position = 0
    for name in MEMBERS:
        begin = position + _local_size(name, position)
        found = SHAPE.search(bytes(data[begin : begin + 128]))
        if not found:
            raise TableError(f"no array {name!r} at byte {position}: the file is cut short, or not one that this version writes")
        shape = tuple(int(length) for length in found.groups() if length is not None)
        start = begin + len(_npy_header(name, shape))
        end = start + int(np.dtype(DTYPES[name]).itemsize) * int(np.prod(shape, dtype=object))
        if end > len(data):
            raise TableError(f"array {name!r} would end at byte {end} of {len(data)}: the file is cut short")
        yield _Member(name, position, begin, start, end, shape)
        position = end


def _verify_bytes(data: memoryview, members: list[_Member]) -> None:
    """Show that all bytes but those of the arrays are what these make them."""
    central = b""
    for name, position, begin, start, end, shape in members:
        crc = zlib.crc32(data[begin:end])
        if bytes(data[position:start]) != _local(name, end - begin, crc, position) + _npy_header(name, shape):
            raise TableError(f"array {name!r} at byte {position} is damaged: its checksum or its header is wrong")
        central += _central(name, end - begin, crc, position)
    last = members[-1].end
    if bytes(data[last:]) != central + _end(len(central), last):
        raise TableError("what follows the last array is not the directory of these arrays")


def _tables(data: memoryview, members: list[_Member]) -> Tables:
    about, *arrays = (np.frombuffer(data[member.start : member.end], DTYPES[member.name]).reshape(member.shape) for member in members)
    return Tables(_about(about), *arrays)


def _about(array: Array) -> dict[str, Any]:
    if array.size > MAX_ABOUT_BYTES:
        raise TableError(f"'about' has {array.size} bytes; it has at most {MAX_ABOUT_BYTES}")
    try:
        about = json.loads(array.tobytes())
    except (ValueError, RecursionError):
        raise TableError("'about' is not JSON") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        found = about.get("format") if isinstance(about, dict) else None
        raise TableError(f"format version {found!r}; this version reads {FORMAT}")
    del about["format"]
    return about


def _npy_header(name: str, shape: tuple[int, ...]) -> bytes:
    described = f"{{'descr': '{DTYPES[name]}', 'fortran_order': False, 'shape': {shape}, }}"
    length = -(10 + len(described) + 1) % ALIGNMENT + len(described) + 1
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + described.ljust(length - 1).encode() + b"\n"


def _local_size(name: str, position: int) -> int:
    unpadded = LOCAL.size + len(_file_name(name)) + 4
    return unpadded + -(position + unpadded) % ALIGNMENT


def _local(name: str, size: int, crc: int, position: int) -> bytes:
    file_name = _file_name(name)
    extra = _local_size(name, position) - LOCAL.size - len(file_name)
    fixed = LOCAL.pack(b"PK\x03\x04", ZIP_VERSION, 0, 0, 0, DOS_1980, crc, size, size, len(file_name), extra)
    return fixed + file_name + struct.pack("<2H", PADDING_FIELD, extra - 4) + bytes(extra - 4)


def _central(name: str, size: int, crc: int, position: int) -> bytes:
    file_name = _file_name(name)
    versions = (ZIP_VERSION, ZIP_VERSION, 0, 0, 0, DOS_1980)
    return CENTRAL.pack(b"PK\x01\x02", *versions, crc, size, size, len(file_name), 0, 0, 0, 0, 0, position) + file_name


def _end(size: int, position: int) -> bytes:
    return END.pack(b"PK\x05\x06", 0, 0, len(MEMBERS), len(MEMBERS), size, position, 0)


def _file_name(name: str) -> bytes:
    return f"{name}.npy".encode()
