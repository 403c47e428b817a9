"""Link an object for WebAssembly to a module: take the functions and the data that its exports need, and fill in the numbers of these
parts.

The memory of a module contains the stack, then the data, then the memory that a host adds. The stack grows down to address 0, so a call
that overflows the stack ends before it changes data. In an object, each number to fill in has five bytes; in a module, it has as few as
possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fst.compile.export.wasm import encoding
from fst.compile.export.wasm.encoding import PADDED, Reader, constant, section, signed, sized, unsigned
from fst.compile.export.wasm.objects import HEADER, OF_DATA, OF_FUNCTION, OF_GLOBAL, OF_TABLE, Object, Part, Relocation, read
from fst.errors import UnsupportedError

STACK, PAGE, ALIGNMENT = 1 << 16, 1 << 16, 16  # bytes
HEAP = "__heap_base"  # exported: the address from which a host may use the memory
NO_SYMBOL, TYPE = -1, "TYPE_INDEX"
# For each relocation, the kind of its symbol.
MEANINGS = {
    "FUNCTION_INDEX": OF_FUNCTION,
    "TABLE_INDEX": OF_FUNCTION,
    "MEMORY_ADDR": OF_DATA,
    "GLOBAL_INDEX": OF_GLOBAL,
    "TABLE_NUMBER": OF_TABLE,
    TYPE: NO_SYMBOL,
}
# The global and the table that objects import; both have the index 0 in a module.
IMPORTED = {OF_GLOBAL: "__stack_pointer", OF_TABLE: "__indirect_function_table"}
Bytes = Callable[[int], bytes]
# For each encoding, the number of bytes in an object, and a function that encodes a number from 0 to 2³² - 1.
ENCODINGS: dict[str, tuple[int, Bytes]] = {
    "LEB": (PADDED, unsigned),
    "SLEB": (PADDED, lambda number: signed(number - (number >> 31 << 32))),
    "I32": (4, lambda number: number.to_bytes(4, "little")),
}


class Layout(NamedTuple):
    """The places of parts in a module.

    Attributes:
        functions: the index of each function, by its index in the object.
        slots: the index in the table of each function whose address is taken; index 0 is the null address, so no function has it.
        segments: the address of each segment.
        end: the first address after all segments.
    """

    functions: dict[int, int]
    slots: dict[int, int]
    segments: dict[int, int]
    end: int


def linked(code: bytes, exported: Sequence[str]) -> bytes:
    """Link an object to a module without imports, which exports functions, "memory" and `HEAP`.

    Args:
        code: the object, in LLVM's format for wasm32.
        exported: the names of the functions.

    Raises:
        UnsupportedError: the object needs a symbol that it does not define, or has a part that is not supported.
    """
    of = read(code)
    defined = {symbol.name: symbol.part for symbol in of.symbols if symbol.kind == OF_FUNCTION and symbol.part >= 0}
    if missing := [name for name in exported if name not in defined]:
        raise UnsupportedError(f"the object does not define {', '.join(missing)}; expected all exported functions: check their linkage")
    exports = {name: defined[name] for name in exported}
    return _module(of, _layout(of, [*exports.values()]), exports)


def _module(of: Object, layout: Layout, exports: dict[str, int]) -> bytes:
    """Write a module."""
    functions = [of.functions[index] for index in layout.functions]
    memory = bytearray(layout.end - STACK)
    for index, address in layout.segments.items():
        contents = _filled(of.segments[index], of, layout)
        memory[address - STACK : address - STACK + len(contents)] = contents
    data, heap = memory.rstrip(b"\0"), -(-layout.end // ALIGNMENT) * ALIGNMENT
    targets = [unsigned(layout.functions[index]) for index in layout.slots]
    has_table = targets or any(symbol.kind == OF_TABLE for symbol in of.symbols)
    named = {name: (0, layout.functions[index]) for name, index in exports.items()}
    named |= {"memory": (2, 0), HEAP: (3, 1)}  # each with its kind, and its index in the module
    return b"".join(
        [
            HEADER,
            bytes([encoding.TYPE]) + sized(of.types),
            section(encoding.FUNCTION, [unsigned(part.type) for part in functions]),
            section(encoding.TABLE, [encoding.FUNCREF + b"\1" + 2 * unsigned(len(targets) + 1)] if has_table else []),
            section(encoding.MEMORY, [b"\0" + unsigned(-(-heap // PAGE))]),
            section(encoding.GLOBAL, [encoding.I32 + b"\1" + constant(STACK), encoding.I32 + b"\0" + constant(heap)]),
            section(encoding.EXPORT, [sized(name.encode()) + bytes([kind]) + unsigned(index) for name, (kind, index) in named.items()]),
            section(encoding.ELEMENT, [b"\0" + constant(1) + unsigned(len(targets)) + b"".join(targets)] if targets else []),
            section(encoding.CODE, [sized(_filled(part, of, layout)) for part in functions]),
            section(encoding.DATA, [b"\0" + constant(STACK) + sized(bytes(data))] if data else []),
        ]
    )


def _layout(of: Object, exported: Sequence[int]) -> Layout:
    """Place the functions and segments that exported functions need. Segments of zeros are last, because memory is zero at first."""
    functions, segments, addressed = _needed(of, exported)
    addresses, end = dict[int, int](), STACK
    for index in sorted(segments, key=lambda index: (not any(of.segments[index].contents), index)):
        part = of.segments[index]
        addresses[index] = -(-end // part.alignment) * part.alignment
        end = addresses[index] + len(part.contents)
    numbers = {index: place for place, index in enumerate(sorted(functions))}
    return Layout(numbers, {index: place for place, index in enumerate(sorted(addressed), 1)}, addresses, end)


def _needed(of: Object, exported: Sequence[int]) -> tuple[set[int], set[int], set[int]]:
    """The indices of all functions and segments that the given functions need, and of the functions whose address is taken."""
    reached: dict[int, set[int]] = {OF_FUNCTION: set(), OF_DATA: set()}
    addressed, waiting = set[int](), [(OF_FUNCTION, index) for index in exported]
    while waiting:
        kind, index = waiting.pop()
        if index in reached[kind]:
            continue
        reached[kind].add(index)
        part = (of.functions if kind == OF_FUNCTION else of.segments)[index]
        targets = [(each.kind, _target(each, of)) for each in part.relocations]
        waiting += [target for _, target in targets if target[0] in reached]
        addressed.update(index for kind, (_, index) in targets if kind.startswith("TABLE_INDEX"))
    return reached[OF_FUNCTION], reached[OF_DATA], addressed


def _target(each: Relocation, of: Object) -> tuple[int, int]:
    """The kind of a relocation's symbol, and the index of the function or the segment.

    Raises:
        UnsupportedError: the relocation is not supported, or its symbol is not defined.
    """
    meaning, _, form = each.kind.rpartition("_")
    if meaning not in MEANINGS or form not in ENCODINGS:
        raise UnsupportedError(f"a relocation is {each.kind}; expected {', '.join(MEANINGS)} with {', '.join(ENCODINGS)}: link statically")
    kind, count = MEANINGS[meaning], Reader(of.types).unsigned() if meaning == TYPE else len(of.symbols)
    if each.target >= count:
        raise UnsupportedError(f"a relocation {each.kind} has the index {each.target}; expected one below {count}: the object is damaged")
    if kind == NO_SYMBOL:
        return NO_SYMBOL, 0
    symbol = of.symbols[each.target]
    if symbol.kind != kind or (symbol.part < 0 and symbol.name != IMPORTED.get(kind)):
        raise UnsupportedError(f"the kernels need {symbol.name or 'a section'}; expected code that needs no library")
    return kind, symbol.part


def _filled(part: Part, of: Object, layout: Layout) -> bytes:
    """The contents of a part in a module.

    Raises:
        UnsupportedError: a number overlaps another number, or lies outside the part.
    """
    found, end = [], 0
    for each in part.relocations:
        size, encoded = ENCODINGS[each.kind.rpartition("_")[2]]
        if not end <= each.offset <= len(part.contents) - size:
            about = f"a relocation {each.kind} is at byte {each.offset} of {len(part.contents)}"
            raise UnsupportedError(f"{about}; expected a place of its own in the part: the object is damaged")
        found += [part.contents[end : each.offset], encoded(_number(each, of, layout) % (1 << 32))]
        end = each.offset + size
    return b"".join([*found, part.contents[end:]])


def _number(each: Relocation, of: Object, layout: Layout) -> int:
    """The number that replaces the number in the object."""
    if each.kind.startswith(TYPE):
        return each.target
    symbol = of.symbols[each.target]
    if each.kind.startswith("MEMORY_ADDR"):
        return layout.segments[symbol.part] + symbol.offset + each.addend
    places = layout.slots if each.kind.startswith("TABLE_INDEX") else layout.functions
    return places[symbol.part] if symbol.kind == OF_FUNCTION else 0
