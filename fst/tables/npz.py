"""The file format of tables: named arrays and a JSON object in a valid ``.npz`` file. The file can be memory-mapped, and equal contents
give equal files.

The first member is ``about``, the header in JSON; the arrays follow in the order of a schema from the caller. Members are uncompressed, and
padded in their zip extra fields, so that each array begins at a multiple of 64 bytes. ``numpy.load`` reads the file, as do all programs
that can read zip and ``.npy``.

All bytes outside of the arrays follow from the names, dtypes, shapes and checksums of the arrays. The reader reads only the shapes,
computes all other bytes outside of the arrays, and compares them with the file. So nothing in a file is trusted, and nothing can be hidden
between members.
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core import remote
from fst.core.regular_files import need_regular
from fst.errors import TableError, quoted

try:
    import fcntl
except ImportError:  # there is no fcntl on Windows, so unfinished files are not removed there
    fcntl = None  # type: ignore[assignment]

# Format version → the first release of this package that reads it. A file has the lowest version that defines all of its contents.
READERS = {8: "0.1.0"}
FORMAT = max(READERS)
VERSIONS = {"format": FORMAT, "reader": READERS[FORMAT]}  # the first keys of the header
RELEASE = re.compile(r"\d{1,4}(\.\d{1,4}){1,3}")
MAX_FILE_BYTES = 1 << 30
MAX_HEADER_BYTES = 1 << 24  # this limit protects memory, because parsed JSON takes up to 20 times the size of its text
ALIGNMENT = 64
HEADER = "about"  # the name of the member that contains the header

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END_RECORD = struct.Struct("<4s4H2LH")
ZIP_VERSION, DOS_1980 = 20, 0x21
PADDING_FIELD = 0xD935  # the extra field that Android's zipalign uses for padding
LEFTOVER = re.compile(r"\..+\.\d+-[0-9a-f]{8}\.part", re.DOTALL)  # the name of an unfinished file
SHAPE = re.compile(rb"'shape': \((\d{1,10}),(?: (\d{1,10}))?\), }")


class NewerTableError(TableError):
    """A file has a newer format version than this package reads, so a newer package is needed, not another file."""


class Member(NamedTuple):
    """The dtype of an array in the notation of ``.npy``, the number of axes of the array, and whether the array is *optional*: a file
    contains the array only if it is not empty.
    """

    dtype: str
    axes: int = 1
    optional: bool = False


Schema = Mapping[str, Member]  # each member by its name, in the order of the file
Bytes = Iterator[bytes | memoryview]


def save(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], schema: Schema) -> None:
    """Write a file, which appears only when it is complete; `path` may be a URL."""
    with remote.written(str(path)) if remote.is_remote(path) else replacing(path) as file:
        for part in _parts(header, arrays, schema):
            file.write(part)


def dumps(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], schema: Schema) -> bytes:
    """The bytes that `save` writes; equal arrays and equal JSON give equal bytes."""
    return b"".join(_parts(header, arrays, schema))


def _parts(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], schema: Schema) -> Bytes:
    text = json.dumps({**VERSIONS, **header}, ensure_ascii=True, sort_keys=True).encode()
    present = [name for name, member in schema.items() if not member.optional or len(arrays[name])]
    members = {HEADER: np.frombuffer(text, np.uint8), **{name: np.ascontiguousarray(arrays[name], schema[name].dtype) for name in present}}
    position, central = 0, b""
    for name, array in members.items():
        npy_header, data = _npy_header(array.dtype.str, array.shape), array.reshape(-1).view(np.uint8).data
        crc = zlib.crc32(data, zlib.crc32(npy_header))
        head = _local(name, len(npy_header) + array.nbytes, crc, position) + npy_header
        central += _central(name, len(npy_header) + array.nbytes, crc, position)
        yield head
        yield data
        position += len(head) + array.nbytes
    yield central + _end(len(members), len(central), position)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to write. The file gets its name when the context ends without an error; otherwise it is removed.

    If `path` is a link, the file to which the link points is replaced. A device or a folder is refused.
    """
    path = _replaceable(path)
    remove_leftovers(path.parent)
    temporary, file = _begun(path)
    lock = os.dup(file.fileno()) if fcntl else None  # a second descriptor, so that the lock lasts until the file is renamed
    try:
        with file:
            yield file
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def need_writable(path: str | Path) -> None:
    """Try whether `replacing` can write a file: a new file is opened in the same folder, and removed again."""
    path = _replaceable(path)
    try:
        temporary, file = _begun(path)
    except OSError as error:
        error.filename = str(path)
        raise
    file.close()
    temporary.unlink()


def _replaceable(path: str | Path) -> Path:
    """The file that a path refers to, after links; an error if it cannot be replaced by a regular file."""
    path = Path(path).resolve()
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "not a regular file: it would be replaced by one", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"no folder {path.parent} to write it in", str(path))
    return path


def _begun(path: Path) -> tuple[Path, IO[bytes]]:
    """Open a new file in the folder of a path, and lock it, so that no other process removes it as a leftover."""
    while True:
        temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        file = temporary.open("xb")
        with suppress(OSError):  # the file system may have no locks
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX)
        if temporary.exists():  # no other process has removed the new file
            return temporary, file
        file.close()


@cache
def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of killed processes from a folder, once per process. Running processes lock their files, so that
    they are not removed.
    """
    for path in folder.glob(".*.part") if fcntl else ():
        with suppress(OSError):
            if LEFTOVER.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with path.open("r+b") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()


def mapped(path: str | Path) -> memoryview:
    """The bytes of a file, mapped so that processes share its memory; for a URL, the fetched bytes."""
    if isinstance(path, str) and remote.is_remote(path := remote.plain(path)):
        data = remote.read(path, MAX_FILE_BYTES + 1)
        _check_begin(path, len(data), data[:4])
        return copied(data)
    path = Path(path)
    need_regular(path, TableError)
    with path.open("rb") as file:
        _check_begin(path, os.fstat(file.fileno()).st_size, file.read(4))
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _check_begin(path: str | Path, size: int, begin: bytes) -> None:
    """Refuse a file if its size or its first bytes show that it is not a table."""
    if size > MAX_FILE_BYTES:
        raise TableError(f"{path}: {size} bytes; a table file has at most {MAX_FILE_BYTES}")
    if size < LOCAL.size + END_RECORD.size or begin != b"PK\x03\x04":
        raise TableError(f"{path} is not a table file; expected a file from `fst compile`")


def copied(data: bytes) -> memoryview:
    """A read-only copy of a file's bytes. The address of the copy is a multiple of 64, like the address of a mapped file."""
    aligned = np.empty(len(data) + ALIGNMENT, np.uint8)
    begin = -aligned.ctypes.data % ALIGNMENT
    aligned = aligned[begin : begin + len(data)]
    aligned[:] = np.frombuffer(data, np.uint8)
    aligned.flags.writeable = False
    return aligned.data


class _Place(NamedTuple):
    """The position of a member in a file: where the local header of the member begins (`position`), the ``.npy`` header (`begin`), and the
    array (`start`).
    """

    name: str
    dtype: str
    position: int
    begin: int
    start: int
    end: int
    shape: tuple[int, ...]


class Stored:
    """A reader of the members of a file.

    Attributes:
        header: the JSON object without `VERSIONS`; the checksum of the object is verified, but its contents are not.
        directory: the bytes after the last array, which `verify` sets.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._header = self._place(HEADER, "|u1", 0)
        self._crc(self._header)
        self.header = _header(self._array(self._header))
        self.directory = b""

    def places(self, schema: Schema) -> list[_Place]:
        """Find all members; optional members may be missing. Only the shapes are read; a check proves that all arrays fit into the file."""
        places = [self._header]
        for name, member in schema.items():
            if not member.optional or self._is_at(name, places[-1].end):
                places.append(self._place(name, member.dtype, places[-1].end))
                if member.optional and not places[-1].shape[0]:
                    raise TableError(f"array {name!r} is empty; expected elements, or no such array")
        return places

    def arrays(self, places: list[_Place]) -> dict[str, NDArray[Any]]:
        """The arrays by name, without copies."""
        return {place.name: self._array(place) for place in places[1:]}

    def verify(self, places: list[_Place]) -> None:
        """Prove that all bytes outside of the arrays follow from the arrays."""
        central = b""
        for place in places:
            central += _central(place.name, place.end - place.begin, self._crc(place), place.position)
        last = places[-1].end
        self.directory = bytes(self._data[last:])
        if self.directory != central + _end(len(places), len(central), last):
            raise TableError("the directory at the end of the file is damaged, or belongs to other arrays")

    def _place(self, name: str, dtype: str, position: int) -> _Place:
        begin = position + _local_size(name, position)
        found = SHAPE.search(bytes(self._data[begin : begin + 128]))
        if not found or not self._is_at(name, position):
            raise TableError(f"no array {name!r} at byte {position}: the file is damaged or cut short, or of another version")
        shape = tuple(int(length) for length in found.groups() if length is not None)
        start = begin + len(_npy_header(dtype, shape))
        end = start + int(np.dtype(dtype).itemsize) * int(np.prod(shape, dtype=object))
        if end > len(self._data):
            raise TableError(f"array {name!r} would end at byte {end} of {len(self._data)}: the file is cut short")
        return _Place(name, dtype, position, begin, start, end, shape)

    def _is_at(self, name: str, position: int) -> bool:
        """Whether the local header at a position of the file has the name of a member."""
        file_name = _file_name(name)
        return bytes(self._data[position + LOCAL.size :][: len(file_name)]) == file_name

    def _crc(self, place: _Place) -> int:
        """Compute the checksum of a member, and prove its headers."""
        name, dtype, position, begin, start, end, shape = place
        crc = zlib.crc32(self._data[begin:end])
        if bytes(self._data[position:start]) != _local(name, end - begin, crc, position) + _npy_header(dtype, shape):
            raise TableError(f"array {name!r} at byte {position} is damaged: its checksum or its header is wrong")
        return crc

    def _array(self, place: _Place) -> NDArray[Any]:
        return np.frombuffer(self._data[place.start : place.end], place.dtype).reshape(place.shape)


def _header(array: NDArray[Any]) -> dict[str, Any]:
    if array.size > MAX_HEADER_BYTES:
        raise TableError(f"'about' has {array.size} bytes; at most {MAX_HEADER_BYTES} are read")
    try:
        header = json.loads(array.tobytes())
    except (ValueError, RecursionError):
        raise TableError("'about' is not JSON") from None
    header = header if isinstance(header, dict) else {}
    found, reader = (header.pop(key, None) for key in VERSIONS)
    if type(found) is int and found > FORMAT:
        release = reader if isinstance(reader, str) and RELEASE.fullmatch(reader) else None
        remedy = f"install fst-toolkit {release} or later" if release else "install a later fst-toolkit"
        raise NewerTableError(f"format version is {quoted(found)}; expected at most {FORMAT}; {remedy}")
    if type(found) is not int or found not in READERS:
        raise TableError(f"format version is {quoted(found)}; expected {' or '.join(map(str, READERS))}")
    if reader != READERS[found]:
        raise TableError(f"reader is {quoted(reader)}; expected {READERS[found]!r} for format version {found}")
    return header


def _npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    described = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
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


def _end(count: int, size: int, position: int) -> bytes:
    return END_RECORD.pack(b"PK\x05\x06", 0, 0, count, count, size, position, 0)


def _file_name(name: str) -> bytes:
    return f"{name}.npy".encode()
