"""Read an object file of LLVM for WebAssembly: functions and data, and the positions of the numbers that a linker fills in."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fst.compile.export.wasm import encoding
from fst.compile.export.wasm.encoding import Reader
from fst.errors import UnsupportedError

HEADER = b"\0asm\1\0\0\0"
VERSION = 2  # the version of the section "linking"
SEGMENTS, CONSTRUCTORS, GROUPS, SYMBOLS = 5, 6, 7, 8  # parts of the section "linking"
OF_FUNCTION, OF_DATA, OF_GLOBAL, OF_SECTION, OF_TAG, OF_TABLE = range(6)  # kinds of symbols
UNDEFINED, EXPLICIT_NAME, ABSOLUTE = 0x10, 0x40, 0x200  # flags of symbols
ACTIVE = 0  # the kind of segments that are in memory when the module starts
READ = {encoding.TYPE, encoding.IMPORT, encoding.FUNCTION, encoding.ELEMENT, encoding.CODE, encoding.DATA, encoding.DATA_COUNT}
# The names of relocations, by their numbers.
RELOCATIONS = (
    *("FUNCTION_INDEX_LEB", "TABLE_INDEX_SLEB", "TABLE_INDEX_I32", "MEMORY_ADDR_LEB", "MEMORY_ADDR_SLEB", "MEMORY_ADDR_I32"),
    *("TYPE_INDEX_LEB", "GLOBAL_INDEX_LEB", "FUNCTION_OFFSET_I32", "SECTION_OFFSET_I32", "TAG_INDEX_LEB", "MEMORY_ADDR_REL_SLEB"),
    *("TABLE_INDEX_REL_SLEB", "GLOBAL_INDEX_I32", "MEMORY_ADDR_LEB64", "MEMORY_ADDR_SLEB64", "MEMORY_ADDR_I64", "MEMORY_ADDR_REL_SLEB64"),
    *("TABLE_INDEX_SLEB64", "TABLE_INDEX_I64", "TABLE_NUMBER_LEB", "MEMORY_ADDR_TLS_SLEB", "FUNCTION_OFFSET_I64", "MEMORY_ADDR_LOCREL_I32"),
    *("TABLE_INDEX_REL_SLEB64", "MEMORY_ADDR_TLS_SLEB64", "FUNCTION_INDEX_I32"),
)
WITH_ADDEND = ("MEMORY_ADDR", "FUNCTION_OFFSET", "SECTION_OFFSET")  # the beginnings of the names of relocations with an addend


class Relocation(NamedTuple):
    """A number that the linker fills in.

    Attributes:
        kind: the meaning and the encoding of the number, a member of `RELOCATIONS`.
        offset: the position of the number, in bytes from the beginning of its part.
        target: the index of a symbol; for "TYPE_INDEX_LEB", the index of a type.
        addend: the distance from the symbol in bytes.
    """

    kind: str
    offset: int
    target: int
    addend: int


class Part(NamedTuple):
    """A function or a segment of data, which a linker takes as a whole or omits.

    Attributes:
        contents: the body of a function, or the bytes of a segment.
        relocations: the numbers to fill in, in the order of their positions.
        type: the index of a function's type.
        alignment: the address of a segment is a multiple of this number of bytes.
    """

    contents: bytes
    relocations: Sequence[Relocation]
    type: int = 0
    alignment: int = 1


class Symbol(NamedTuple):
    """A named function, position in a segment, or other thing.

    Attributes:
        kind: `OF_FUNCTION`, `OF_DATA` or another kind.
        name: the name; empty for a section.
        part: the index of a function, or of a segment; -1 if the object does not define it.
        offset: the position in the segment in bytes.
    """

    kind: int
    name: str
    part: int
    offset: int


class Object(NamedTuple):
    """An object file.

    Attributes:
        types: the contents of the section with the types of functions.
        functions, segments: the parts that the object defines.
        symbols: the symbols; relocations contain indices into this list.
    """

    types: bytes
    functions: list[Part]
    segments: list[Part]
    symbols: list[Symbol]


def read(code: bytes) -> Object:
    """Read an object.

    Raises:
        UnsupportedError: the bytes are no object for static linking, or the object has a section or a relocation that is not supported.
    """
    reader = Reader(code)
    if reader.take(len(HEADER)) != HEADER:
        raise UnsupportedError("the code is not an object for WebAssembly; expected LLVM's output for wasm32: check the target")
    sections = [*_sections(reader)]
    found = defaultdict(lambda: b"\0", ((number, contents) for number, contents in sections if number != encoding.CUSTOM))
    if unknown := found.keys() - READ:
        raise UnsupportedError(f"the object has a section {min(unknown)}; expected sections {sorted(READ)} of an object for static linking")
    custom = [(each.name(), each) for each in (Reader(contents) for number, contents in sections if number == encoding.CUSTOM)]
    linking = _linking([each for name, each in custom if name == "linking"])
    relocations = defaultdict[int, list[Relocation]](list)
    for name, each in custom:
        if name.startswith("reloc."):
            number, _ = sections[each.unsigned()]
            relocations[number] += _relocations(each)
    types = [each.unsigned() for each in _items(found[encoding.FUNCTION])]
    functions = _parts([*_bodies(found[encoding.CODE])], relocations[encoding.CODE])
    segments = _parts([*_segments(found[encoding.DATA])], relocations[encoding.DATA])
    return Object(
        found[encoding.TYPE],
        [part._replace(type=kind) for part, kind in zip(functions, types, strict=True)],
        [part._replace(alignment=size) for part, size in zip(segments, _alignments(linking[SEGMENTS]), strict=True)],
        [*_symbols(linking[SYMBOLS], _imports(found[encoding.IMPORT]))],
    )


def _sections(reader: Reader) -> Iterator[tuple[int, bytes]]:
    while reader:
        yield reader.byte(), reader.sized()


def _items(contents: bytes) -> Iterator[Reader]:
    """A reader at the items of a list, yielded once for each item; the caller reads the item."""
    reader = Reader(contents)
    for _ in range(reader.unsigned()):
        yield reader


def _linking(found: Sequence[Reader]) -> defaultdict[int, bytes]:
    """The parts of the section "linking", by their numbers."""
    if len(found) != 1 or (version := found[0].unsigned()) != VERSION:
        about = f"version {version}" if len(found) == 1 else f"{len(found)} sections"
        raise UnsupportedError(f"the linking data of the object have {about}; expected version {VERSION}, which LLVM 10 and later write")
    parts = defaultdict(lambda: b"\0", _sections(found[0]))
    if unknown := parts.keys() - {SEGMENTS, CONSTRUCTORS, GROUPS, SYMBOLS}:
        raise UnsupportedError(f"the linking data of the object have a part {min(unknown)}; expected parts {SEGMENTS} to {SYMBOLS}")
    if Reader(parts[CONSTRUCTORS]).unsigned():
        raise UnsupportedError("the object has functions that run before others; expected kernels alone: call them from a kernel")
    return parts


def _relocations(reader: Reader) -> Iterator[Relocation]:
    for _ in range(reader.unsigned()):
        number, offset, target = reader.byte(), reader.unsigned(), reader.unsigned()
        if number >= len(RELOCATIONS):
            raise UnsupportedError(f"a relocation is of kind {number}; expected a kind below {len(RELOCATIONS)}: use an older llvmlite")
        kind = RELOCATIONS[number]
        yield Relocation(kind, offset, target, reader.signed() if kind.startswith(WITH_ADDEND) else 0)


def _bodies(contents: bytes) -> Iterator[tuple[int, bytes]]:
    """The position of each function in its section, and its body."""
    for reader in _items(contents):
        size, begin = reader.unsigned(), reader.at
        yield begin, reader.take(size)


def _segments(contents: bytes) -> Iterator[tuple[int, bytes]]:
    """The position of each segment in its section, and its bytes."""
    for reader in _items(contents):
        if (kind := reader.unsigned()) != ACTIVE:
            raise UnsupportedError(f"a segment of the object is of kind {kind}; expected {ACTIVE}, in memory at first: use no threads")
        reader.byte(), reader.signed(), reader.byte()  # the expression of the segment's address, which a linker determines
        size, begin = reader.unsigned(), reader.at
        yield begin, reader.take(size)


def _alignments(contents: bytes) -> Iterator[int]:
    for reader in _items(contents):
        _, power, _ = reader.name(), reader.unsigned(), reader.unsigned()
        yield 1 << power


def _parts(found: Sequence[tuple[int, bytes]], relocations: Sequence[Relocation]) -> list[Part]:
    """The parts of a section from their positions and contents, and the relocations of the section."""
    begins, own = [begin for begin, _ in found], [list[Relocation]() for _ in found]
    for each in sorted(relocations, key=lambda each: each.offset):
        place = bisect_right(begins, each.offset) - 1
        if place < 0:
            raise UnsupportedError(f"a relocation {each.kind} is at byte {each.offset}; expected a place in a function or a segment")
        own[place].append(each._replace(offset=each.offset - begins[place]))
    return [Part(contents, some) for (_, contents), some in zip(found, own, strict=True)]


def _imports(contents: bytes) -> dict[int, list[str]]:
    """The names of imports, by the kind of their symbols."""
    found: dict[int, list[str]] = {kind: [] for kind in (OF_FUNCTION, OF_GLOBAL, OF_TAG, OF_TABLE)}
    memories: list[str] = []
    kinds = found[OF_FUNCTION], found[OF_TABLE], memories, found[OF_GLOBAL], found[OF_TAG]
    for reader in _items(contents):
        _, name, kind = reader.name(), reader.name(), reader.byte()
        kinds[kind].append(name)
        reader.take((0, 1, 0, 2, 1)[kind])  # the type of a table or a global; the attribute of a tag
        if kind in (1, 2):  # the limits of a table or a memory
            flags = reader.byte()
            for _ in range(1 + (flags & 1)):
                reader.unsigned()
        elif kind != 3:
            reader.unsigned()  # the type of a function or a tag
    return found


def _symbols(contents: bytes, imports: dict[int, list[str]]) -> Iterator[Symbol]:
    for reader in _items(contents):
        kind, flags, name, part, offset = reader.byte(), reader.unsigned(), "", -1, 0
        is_defined = not flags & UNDEFINED
        if kind == OF_SECTION:
            reader.unsigned()
        elif kind == OF_DATA:
            name = reader.name()
            if is_defined:
                part, offset, _ = reader.unsigned(), reader.unsigned(), reader.unsigned()
        else:
            own = reader.unsigned()
            name = reader.name() if is_defined or flags & EXPLICIT_NAME else imports[kind][own]
            part = own - len(imports[kind]) if is_defined else -1
        yield Symbol(kind, name, part, offset)
