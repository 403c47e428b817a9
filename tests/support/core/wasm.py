"""Objects and modules for WebAssembly: hand-made objects, a reader of modules, and LLVM's own linker."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from shutil import which
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
LINKER = ["wasm-ld"] if which("wasm-ld") else [sys.executable, "-m", "ziglang", "wasm-ld"] if find_spec("ziglang") else []
HEADER = b"\0asm\1\0\0\0"
ORDER = (1, 2, 3, 4, 5, 6, 7, 9, 10, 11)  # the sections of a module in their order


def lld(code: bytes, exported: Sequence[str], folder: Path) -> bytes:
    """The module that LLVM's linker makes from an object."""
    (folder / "code.o").write_bytes(code)
    exports = [f"--export={name}" for name in (*exported, "__heap_base")]
    command = [*LINKER, "--no-entry", "--strip-all", "-z", "stack-size=65536", *exports, "code.o", "-o", "code.wasm"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "code.wasm").read_bytes()


def number(value: int) -> bytes:
    """A number in LEB128."""
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + number(value >> 7)


def sized(data: bytes) -> bytes:
    """The number of bytes, and then the bytes."""
    return number(len(data)) + data


def items(*each: bytes) -> bytes:
    """A list."""
    return number(len(each)) + b"".join(each)


class Sections(NamedTuple):
    """The sections of a hand-made object.

    Attributes:
        functions, segments: the bodies of functions of type 0, and the bytes of segments that are aligned to 16 bytes.
        symbols: the symbols in their encoding.
        of_code, of_data: the relocations in their encoding, with offsets in the section.
    """

    functions: Sequence[bytes]
    segments: Sequence[bytes] = ()
    symbols: Sequence[bytes] = ()
    of_code: Sequence[bytes] = ()
    of_data: Sequence[bytes] = ()

    def listed(self) -> list[tuple[int, bytes]]:
        """The number and the content of each section; the first section contains the types () → () and () → i32."""
        kinds = items(b"\x60\0\0", b"\x60\0\1\x7f")
        table, memory = imported("__indirect_function_table", b"\1\x70\0\0"), imported("__linear_memory", b"\2\0\0")
        imports = items(memory, imported("__stack_pointer", b"\3\x7f\1"), table, imported("memcpy", b"\0\0"))
        segments = items(*(b"\0\x41\0\x0b" + sized(each) for each in self.segments))
        linking = subsection(5, items(*(sized(b".data") + b"\4\0" for _ in self.segments))) + subsection(8, items(*self.symbols))
        custom = (("linking", b"\2" + linking), ("reloc.CODE", b"\3" + items(*self.of_code)), ("reloc.DATA", b"\4" + items(*self.of_data)))
        types, bodies = items(*(b"\0" for _ in self.functions)), items(*map(sized, self.functions))
        own = (1, kinds), (2, imports), (3, types), (10, bodies), (11, segments)
        return [*own, *((0, sized(name.encode()) + data) for name, data in custom)]

    def object(self) -> bytes:
        """The object."""
        return object_of(self.listed())


def object_of(sections: Sequence[tuple[int, bytes]]) -> bytes:
    """The object with these sections."""
    return HEADER + b"".join(bytes([kind]) + sized(data) for kind, data in sections)


def imported(name: str, kind: bytes) -> bytes:
    """An imported thing."""
    return sized(b"env") + sized(name.encode()) + kind


def subsection(kind: int, data: bytes) -> bytes:
    """A part of the section "linking"."""
    return bytes([kind]) + sized(data)


def function(name: str, index: int) -> bytes:
    """A symbol of a function; index 0 is the imported function."""
    return b"\0\0" + number(index) + sized(name.encode()) if index else b"\0\x10\0"


def data(name: str, segment: int, offset: int) -> bytes:
    """A symbol of a position in a segment."""
    return b"\1\0" + sized(name.encode()) + number(segment) + number(offset) + b"\1"


STACK_POINTER, TABLE = b"\2\x10\0", b"\5\x10\0"  # symbols


class Module(NamedTuple):
    """A module.

    Attributes:
        sections: the contents of sections, by their numbers.
        exports: the kind and the index of each exported thing.
        bodies: the bodies of functions.
        data: the bytes of the segment of data at the address 65536; empty without a segment.
    """

    sections: dict[int, bytes]
    exports: dict[str, tuple[int, int]]
    bodies: list[bytes]
    data: bytes


def parsed(module: bytes) -> Module:
    """Read a module, and check its sizes, its counts, and the order of its sections."""
    stream = BytesIO(module)
    assert stream.read(8) == HEADER
    own = {kind: taken(stream) for kind, in iter(lambda: stream.read(1), b"")}
    assert [*own] == [kind for kind in ORDER if kind in own]
    types = listed(own[3], leb)
    bodies = listed(own[10], taken)
    exports = listed(own[7], lambda stream: (taken(stream).decode(), (ord(stream.read(1)), leb(stream))))
    segments = listed(own.get(11, b"\0"), lambda stream: (stream.read(6), taken(stream)))
    assert len(types) == len(bodies)
    assert all(body.endswith(b"\x0b") for body in bodies)
    assert all(index < (len(bodies), 0, 1, 2)[kind] for _, (kind, index) in exports)
    assert all(begin == b"\0\x41\x80\x80\x04\x0b" for begin, _ in segments)
    return Module(own, dict(exports), bodies, b"".join(data for _, data in segments))


def listed(contents: bytes, read: Callable[[BytesIO], Item]) -> list[Item]:
    """The items of a list that fills a section."""
    stream = BytesIO(contents)
    found = [read(stream) for _ in range(leb(stream))]
    assert not stream.read()
    return found


def leb(stream: BytesIO) -> int:
    """Read a number in LEB128."""
    byte = ord(stream.read(1))
    return byte if byte < 0x80 else byte & 0x7F | leb(stream) << 7


def taken(stream: BytesIO) -> bytes:
    """Read a number of bytes, and then the bytes."""
    size = leb(stream)
    data = stream.read(size)
    assert len(data) == size
    return data
