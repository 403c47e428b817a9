"""Instructions of processors, and of Python's C API, that numba has no name for; without numba's compiler (``NUMBA_DISABLE_JIT``), plain
Python does them.

They become parts of the kernels that use them. When this file changes, these kernels are compiled again, see `fst.kernel_cache`.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import cast, py_object
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from fst.rows import MULTIPLIERS

DISABLED: bool = vars(config)["DISABLE_JIT"]  # which numba sets by the environment

BIT, BYTE, UNIT, FLAG, WORD = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
KEY = ir.VectorType(WORD, 4)  # sixteen symbols; a word in the table of words has twelve, and its value in the last quarter of its slot
OBJECT = BYTE.as_pointer()
BYTES, UNITS = ir.VectorType(BYTE, 32), ir.VectorType(UNIT, 32)  # of UTF-8, and of UTF-16

# The characters of a str, by the bytes that it has for each.
CHARACTERS = {size: types.Array(kind, 1, "C", readonly=True) for size, kind in {1: types.uint8, 2: types.uint16, 4: types.uint32}.items()}


def _instruction(result: Any, generate: Callable[..., Any], plain: Callable[..., Any], arrays: int) -> Any:
    """An instruction whose arguments are so many times an array and a place in it, or else one number.

    `generate` takes the builder of the code and, for each place, a pointer to it, or else the number.
    """

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not arrays:
            return generate(builder, *arguments)
        pointers = []
        for kind, array, place in zip(signature.args[::2], arguments[::2], arguments[1::2], strict=True):
            data = context.make_array(kind)(context, builder, array).data
            pointers.append(builder.gep(data, [place]))
        return generate(builder, *pointers)

    if DISABLED:
        return plain
    if arrays == 0:
        return intrinsic(lambda _, number: (result(number), generated))
    if arrays == 1:
        return intrinsic(lambda _, array, place: (result(array, place), generated))
    if arrays == 2:
        return intrinsic(lambda _, a, i, b, j: (result(a, i, b, j), generated))
    return intrinsic(lambda _, a, i, b, j, c, k: (result(a, i, b, j, c, k), generated))


def _of_row(result: Any, generate: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """An instruction on the object in a row of a list, (address of the list, row), which holds the interpreter's lock.

    `generate` takes the context and the builder of the code, and a pointer to the object.
    """

    def generated(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        rows, row = arguments
        return generate(context, builder, _called(builder, "PyList_GetItem", OBJECT, builder.inttoptr(rows, OBJECT), row))

    if DISABLED:
        return lambda rows, row: plain(cast(int(rows), py_object).value[row])
    return intrinsic(lambda _, _rows, _row: (result(types.int64, types.int64), generated))


def _called(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _length(function: str) -> Callable[..., Any]:
    """The length that a function of the C API has for objects of one type; it is -1 and an exception for others."""

    def generate(_context: Any, builder: Any, row: Any) -> Any:
        length = _called(builder, function, WORD, row)
        with builder.if_then(builder.icmp_signed("<", length, WORD(0)), likely=False):
            _called(builder, "PyErr_Clear", ir.VoidType())
        return length

    return generate


def _view(context: Any, builder: Any, size: int, data: Any, length: Any) -> Any:
    """An array over memory."""
    from numba.np.arrayobj import make_array, populate_array  # 20 ms, which a process that finds its kernels on disk need not take

    array = make_array(CHARACTERS[size])(context, builder)
    data = builder.bitcast(data, array.data.type)
    populate_array(array, data=data, shape=[length], strides=[WORD(size)], itemsize=WORD(size), meminfo=None)
    return array._getvalue()


def _characters(context: Any, builder: Any, row: Any) -> Any:
    # Numba's own way to what is in a str; it was compiled with the headers of the Python that runs, and knows how a str is laid out there.
    length, kind, is_ascii, hashed = (cgutils.alloca_once(builder, what) for what in (WORD, FLAG, FLAG, WORD))
    data = _called(builder, "numba_extract_unicode", OBJECT, row, length, kind, is_ascii, hashed)
    views = []
    for size in CHARACTERS:
        is_kind = builder.icmp_unsigned("==", builder.load(kind), FLAG(size))
        views.append(_view(context, builder, size, data, builder.select(is_kind, builder.load(length), WORD(0))))
    return context.make_tuple(builder, types.Tuple(list(CHARACTERS.values())), views)


def _bytes(context: Any, builder: Any, row: Any) -> Any:
    data, length = _called(builder, "PyBytes_AsString", OBJECT, row), _called(builder, "PyBytes_Size", WORD, row)
    return _view(context, builder, 1, data, length)


def _key(builder: Any, symbols: Any, mask: Any) -> Any:
    first, second = (builder.bitcast(pointer, KEY.as_pointer()) for pointer in (symbols, mask))
    return builder.and_(builder.load(first, align=2), builder.load(second, align=8))


def _hash(builder: Any, symbols: Any, mask: Any) -> Any:
    products = builder.mul(_key(builder, symbols, mask), ir.Constant(KEY, [*MULTIPLIERS, 0]))
    add = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORD, [KEY]), "llvm.vector.reduce.add.v4i64")
    return builder.call(add, [products])


def _is_key(builder: Any, symbols: Any, mask: Any, slot: Any) -> Any:
    stored = builder.load(builder.bitcast(slot, KEY.as_pointer()), align=8)
    stored = builder.and_(stored, ir.Constant(KEY, [2**64 - 1] * 3 + [0]))
    different = builder.bitcast(builder.icmp_unsigned("!=", _key(builder, symbols, mask), stored), ir.IntType(4))
    return builder.icmp_unsigned("==", different, ir.IntType(4)(0))


def _compared(operator: str, builder: Any, symbols: Any, number: Any) -> Any:
    kind = ir.VectorType(UNIT, 64)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), builder.trunc(builder.load(number), UNIT), FLAG(0))
    other = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(FLAG, 64), None))
    read = builder.load(builder.bitcast(symbols, kind.as_pointer()), align=2)
    return builder.bitcast(builder.icmp_unsigned(operator, read, other), WORD)


def _widen(builder: Any, data: Any, text: Any) -> Any:
    read = builder.load(builder.bitcast(data, BYTES.as_pointer()), align=1)
    builder.store(builder.zext(read, UNITS), builder.bitcast(text, UNITS.as_pointer()), align=2)
    wide = builder.icmp_signed("<", read, ir.Constant(BYTES, [0] * 32))
    return builder.zext(builder.bitcast(wide, ir.IntType(32)), WORD)


def _classes(builder: Any, direct: Any, text: Any, symbols: Any) -> Any:
    permutes = "+avx512bw" in cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    return _classes_by(_permuted if permutes else _looked_up, builder, direct, text, symbols)


def _classes_by(read: Callable[..., Any], builder: Any, direct: Any, text: Any, symbols: Any) -> Any:
    found, unsure = read(builder, direct, builder.bitcast(text, UNITS.as_pointer()))
    builder.store(found, builder.bitcast(symbols, UNITS.as_pointer()), align=2)
    unsure = builder.or_(unsure, builder.icmp_signed("<", found, ir.Constant(UNITS, None)))  # the bit NOT_PLAIN
    return builder.zext(builder.bitcast(unsure, FLAG), WORD)


def _permuted(builder: Any, direct: Any, text: Any) -> tuple[Any, Any]:
    """The classes of units, ASCII by a table in registers of AVX-512; and which units are not ASCII."""
    kind = ir.FunctionType(UNITS, [UNITS] * 3)
    permute = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.vpermi2var.hi.512")
    table = builder.bitcast(direct, UNITS.as_pointer())
    quarters = [builder.load(builder.gep(table, [WORD(quarter)]), align=2) for quarter in range(4)]
    units = builder.load(text, align=2)
    low, high = (builder.call(permute, [quarters[half], units, quarters[half + 1]]) for half in (0, 2))
    is_high = builder.icmp_unsigned("!=", builder.and_(units, ir.Constant(UNITS, [64] * 32)), ir.Constant(UNITS, None))
    return builder.select(is_high, high, low), builder.icmp_unsigned(">", units, ir.Constant(UNITS, [127] * 32))


def _looked_up(builder: Any, direct: Any, text: Any) -> tuple[Any, Any]:
    """The classes of units, one after the other; all are right."""
    units, found = builder.load(text, align=2), ir.Constant(UNITS, ir.Undefined)
    for place in map(FLAG, range(32)):
        unit = builder.zext(builder.extract_element(units, place), WORD)
        found = builder.insert_element(found, builder.load(builder.gep(direct, [unit]), align=2), place)
    return found, ir.Constant(ir.VectorType(BIT, 32), None)


def _prefetch(builder: Any, place: Any) -> Any:
    pointer = builder.bitcast(place, BYTE.as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, FLAG, FLAG, FLAG])
    read, keep, data = FLAG(0), FLAG(3), FLAG(1)
    builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8"), [pointer, read, keep, data])
    return ir.Constant(BYTE.as_pointer(), None)


def _plain_key(symbols: Any, start: Any, masks: Any, mask: Any) -> Any:
    return symbols[start : start + np.uint64(16)].copy().view(np.uint64) & masks[mask : mask + np.uint64(4)]


def _plain_hash(*key: Any) -> Any:
    return (_plain_key(*key)[:3] * np.array(MULTIPLIERS, np.uint64)).sum(dtype=np.uint64)


def _plain_is_key(symbols: Any, start: Any, masks: Any, mask: Any, words: Any, slot: Any) -> Any:
    return [*_plain_key(symbols, start, masks, mask)] == [*words[slot : slot + np.uint64(3)], 0]


def _plain_classes(direct: Any, _: Any, text: Any, at: Any, symbols: Any, filled: Any) -> Any:
    found = direct[text[at : at + np.uint64(32)]]
    symbols[filled : filled + np.uint64(32)] = found
    return np.packbits(found >= 1 << 15, bitorder="little").view(np.uint32)[0].astype(np.uint64)


def _plain_compared(compare: Any, symbols: Any, at: Any, numbers: Any, place: Any) -> Any:
    return np.packbits(compare(symbols[at : at + np.uint64(64)], numbers[place]), bitorder="little").view(np.uint64)[0]


def _plain_widen(data: Any, at: Any, text: Any, out: Any) -> Any:
    read = data[at : at + np.uint64(32)]
    text[out : out + np.uint64(32)] = read
    return np.uint64(sum(1 << place for place in np.flatnonzero(read >= 0x80).tolist()))


def _plain_characters(text: str) -> Any:
    codes = np.frombuffer(str.encode(text, "utf-32", "surrogatepass"), np.uint32)[1:]  # after the mark for the order of bytes
    own = next(size for size in CHARACTERS if codes.max(initial=0) < 1 << 8 * size)
    return [codes.astype(f"u{size}") if size == own else np.empty(0, f"u{size}") for size in CHARACTERS]


# The zeros below the lowest one in a word (64 in 0), and the ones in it.
trailing_zeros = _instruction(
    types.uint64,
    lambda builder, word: builder.cttz(word, BIT(0)),
    lambda word: np.uint64((int(word) & -int(word)).bit_length() - 1 if word else 64),
    arrays=0,
)
ones = _instruction(types.uint64, lambda builder, word: builder.ctpop(word), lambda word: np.uint64(int(word).bit_count()), arrays=0)

# The hash of the key that sixteen symbols and a mask make, (symbols, start, masks, place); and whether it is the one in a slot,
# (…, words, place).
hash_of = _instruction(types.uint64, _hash, _plain_hash, arrays=2)
is_key = _instruction(types.boolean, _is_key, _plain_is_key, arrays=3)

# Write the classes of 32 units, (direct, 0, text, at, symbols, filled); a bit for each that is not one symbol, and perhaps for some that
# are not ASCII, of which the class is wrong. The second one looks all up, one after the other, and is right about all.
classes_of = _instruction(types.uint64, _classes, _plain_classes, arrays=3)
classes_looked_up = _instruction(types.uint64, partial(_classes_by, _looked_up), _plain_classes, arrays=3)

# A bit for each of 64 symbols that is a number or more, and that is the number, (symbols, at, numbers, place).
at_least = _instruction(types.uint64, partial(_compared, ">="), partial(_plain_compared, np.greater_equal), arrays=2)
equal_to = _instruction(types.uint64, partial(_compared, "=="), partial(_plain_compared, np.equal), arrays=2)

# Have an element of an array brought into the cache, (array, place).
prefetch = _instruction(types.void, _prefetch, lambda _array, _place: None, arrays=1)

# Copy 32 bytes to as many units, (data, at, text, out); a bit for each byte that is not ASCII.
widen = _instruction(types.uint64, _widen, _plain_widen, arrays=2)

# The length of a str, and of bytes; -1 of what is neither str nor bytes.
string_length = _of_row(types.int64, _length("PyUnicode_GetLength"), lambda row: str.__len__(row) if isinstance(row, str) else -1)
bytes_length = _of_row(types.int64, _length("PyBytes_Size"), lambda row: bytes.__len__(row) if isinstance(row, bytes) else -1)

# The characters of a str as it holds them, uint8[n], uint16[n] or uint32[n]; the other two have none. And those of bytes, uint8[n].
characters = _of_row(types.Tuple(list(CHARACTERS.values())), _characters, _plain_characters)
bytes_of = _of_row(CHARACTERS[1], _bytes, lambda row: np.frombuffer(row, np.uint8))
