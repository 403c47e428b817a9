"""Intrinsics: functions for processor instructions that numba does not provide. `fst.runtime.kernels.objects` has intrinsics for objects.

Intrinsics are compiled into the kernels that call them. `fst.runtime.kernels.plain_intrinsics` replaces these functions if numba's compiler
is switched off (``NUMBA_DISABLE_JIT``) or a private part of numba is missing (`fst.core.jit`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial, reduce
from importlib import import_module
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import has_private_parts
from fst.pretokens.boundaries import BEGIN_MASKS, GROUPS, PRODUCTS_SIZE, SYMBOLS, SYMBOLS_IN_PRODUCT, THREE, UNSURE_MASKS
from fst.text.stops import SECONDS
from fst.text.stops import SIZE as STOPS_SIZE

DISABLED: bool = vars(config)["DISABLE_JIT"]  # numba reads this option from the environment
GENERATED = not DISABLED and has_private_parts()
# Whether intrinsics check sizes, a setting of the exporter (`fst.compile.export.capture.CHECKED`). In Python, a kernel may read some units
# past the end of an array (`fst.runtime.rows.texts.PAST_END`); in exports, arrays include these units.
CHECKS_SIZES = os.environ.get("FST_CHECK_SIZES") == "1"

BIT, BYTE, UNIT, INT, WORD = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
KEY = ir.VectorType(WORD, 4)  # 16 symbols of 16 bits; a slot in the table of words contains 12 symbols and the word's value
BYTES, UNITS = ir.VectorType(BYTE, 32), ir.VectorType(UNIT, 32)  # bytes of UTF-8, and units of UTF-16
HALF_BYTES, WIDE_BYTES = ir.VectorType(BYTE, 16), ir.VectorType(BYTE, 64)
BMP = 2 << 16  # number of bytes of a table with a class for each unit of UTF-16
PERMUTES = "avx512vbmi"  # the feature of processors that can permute the bytes of 64-byte registers


def _intrinsic(name: str, result: Any, generate: Callable[..., Any], sizes: Sequence[int] = (), *, numbers: int = 0) -> Any:
    """Make an intrinsic. Its arguments are pairs of an array and an index into this array; or one number; or a pair and a number.

    Args:
        name: the name of the function in `fst.runtime.kernels.plain_intrinsics`.
        result: the type of the result.
        generate: makes the code; its arguments are the code builder, and a pointer to the element of each pair, or the number.
        sizes: for each pair (at most three pairs), the number of bytes that the code reads or writes from the element on; see
            `CHECKS_SIZES`.
        numbers: 1 if a number follows the pair.
    """
    if not GENERATED:
        return plain(name)

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not sizes:
            return generate(builder, *arguments)
        pointers = []
        for kind, array, place, size in zip(signature.args[::2], arguments[::2], arguments[1::2], sizes, strict=False):
            given = context.make_array(kind)(context, builder, array)
            if CHECKS_SIZES and size:
                _check(context, builder, given, place, -(-size * 8 // kind.dtype.bitwidth))
            pointers.append(builder.gep(given.data, [place]))
        return generate(builder, *pointers, *arguments[2 * len(sizes) :])

    arrays = len(sizes)
    if numbers:
        return intrinsic(lambda _, array, place, number: (result(array, place, number), generated))
    if arrays == 0:
        return intrinsic(lambda _, number: (result(number), generated))
    if arrays == 1:
        return intrinsic(lambda _, array, place: (result(array, place), generated))
    if arrays == 2:
        return intrinsic(lambda _, a, i, b, j: (result(a, i, b, j), generated))
    return intrinsic(lambda _, a, i, b, j, c, k: (result(a, i, b, j, c, k), generated))


def _check(context: Any, builder: Any, array: Any, place: Any, count: int) -> None:
    """Generate code that raises an IndexError unless an array has `count` elements from an index on."""
    length = builder.extract_value(array.shape, 0)
    for index in (place, builder.add(place, WORD(count - 1))):
        cgutils.do_boundscheck(context, builder, index, length)


def plain(name: str) -> Any:
    """Return the function that replaces an intrinsic."""
    return getattr(import_module("fst.runtime.kernels.plain_intrinsics"), name)


def called(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Generate a call of a C function, or of an intrinsic of LLVM, with a type for its result."""
    return builder.call(_function(builder, name, result, [argument.type for argument in arguments]), arguments)


def _function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    return builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def _key(builder: Any, symbols: Any, mask: Any) -> Any:
    first, second = (builder.bitcast(pointer, KEY.as_pointer()) for pointer in (symbols, mask))
    return builder.and_(builder.load(first, align=symbols.type.pointee.width // 8), builder.load(second, align=8))


def _hash(builder: Any, symbols: Any, mask: Any) -> Any:
    products = builder.mul(_key(builder, symbols, mask), ir.Constant(KEY, [*MULTIPLIERS, 0]))
    return called(builder, "llvm.vector.reduce.add.v4i64", WORD, products)


def _is_key(builder: Any, symbols: Any, mask: Any, slot: Any) -> Any:
    stored = builder.load(builder.bitcast(slot, KEY.as_pointer()), align=8)
    stored = builder.and_(stored, ir.Constant(KEY, [2**64 - 1] * 3 + [0]))
    different = builder.bitcast(builder.icmp_unsigned("!=", _key(builder, symbols, mask), stored), ir.IntType(4))
    return builder.icmp_unsigned("==", different, ir.IntType(4)(0))


def _word_at(builder: Any, data: Any) -> Any:
    return builder.load(builder.bitcast(data, WORD.as_pointer()), align=1)


def _compared(operator: str, builder: Any, symbols: Any, number: Any) -> Any:
    kind = ir.VectorType(UNIT, 64)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), builder.trunc(number, UNIT), INT(0))
    other = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INT, 64), None))
    read = builder.load(builder.bitcast(symbols, kind.as_pointer()), align=2)
    return builder.bitcast(builder.icmp_unsigned(operator, read, other), WORD)


def _widen(builder: Any, data: Any, text: Any) -> Any:
    read = builder.load(builder.bitcast(data, BYTES.as_pointer()), align=1)
    builder.store(builder.zext(read, UNITS), builder.bitcast(text, UNITS.as_pointer()), align=2)
    return _not_ascii(builder, read)


def _copy(builder: Any, data: Any, text: Any) -> Any:
    read = builder.load(builder.bitcast(data, BYTES.as_pointer()), align=1)
    builder.store(read, builder.bitcast(text, BYTES.as_pointer()), align=1)
    return _not_ascii(builder, read)


def _not_ascii(builder: Any, read: Any) -> Any:
    wide = builder.icmp_signed("<", read, ir.Constant(BYTES, [0] * 32))
    return builder.zext(builder.bitcast(wide, ir.IntType(32)), WORD)


def _copy_16(builder: Any, data: Any, out: Any) -> Any:
    read = builder.load(builder.bitcast(data, HALF_BYTES.as_pointer()), align=1)
    builder.store(read, builder.bitcast(out, HALF_BYTES.as_pointer()), align=1)
    return ir.Constant(BYTE.as_pointer(), None)


def _copy_ids(count: int, builder: Any, source: Any, ids: Any) -> Any:
    """Generate a copy of `count` ids. All ids are read before any id is written, in as few registers as the processor allows."""
    kind = ir.VectorType(INT, count)
    builder.store(builder.load(builder.bitcast(source, kind.as_pointer()), align=4), builder.bitcast(ids, kind.as_pointer()), align=4)
    return ir.Constant(BYTE.as_pointer(), None)


def _has(feature: str) -> bool:
    """Whether the processor has a feature, such as "avx2" in LLVM's names."""
    from numba.core.registry import cpu_target

    return f"+{feature}" in cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def _classes(builder: Any, direct: Any, text: Any, symbols: Any) -> Any:
    return _classes_by(_permuted if _has("avx512bw") else _looked_up, builder, direct, text, symbols)


def _classes_by(read: Callable[..., Any], builder: Any, direct: Any, text: Any, symbols: Any) -> Any:
    found, unsure = read(builder, direct, builder.bitcast(text, UNITS.as_pointer()))
    builder.store(found, builder.bitcast(symbols, UNITS.as_pointer()), align=2)
    unsure = builder.or_(unsure, builder.icmp_signed("<", found, ir.Constant(UNITS, None)))  # the sign bit is NOT_PLAIN
    return builder.zext(builder.bitcast(unsure, INT), WORD)


def _permuted(builder: Any, direct: Any, text: Any) -> tuple[Any, Any]:
    """Look up the classes of 32 units in a table for ASCII, in AVX-512 registers; return also, for each unit, whether it is not ASCII."""
    permute = _function(builder, "llvm.x86.avx512.vpermi2var.hi.512", UNITS, [UNITS] * 3)
    table = builder.bitcast(direct, UNITS.as_pointer())
    quarters = [builder.load(builder.gep(table, [WORD(quarter)]), align=2) for quarter in range(4)]
    units = builder.load(text, align=2)
    low, high = (builder.call(permute, [quarters[half], units, quarters[half + 1]]) for half in (0, 2))
    is_high = builder.icmp_unsigned("!=", builder.and_(units, ir.Constant(UNITS, [64] * 32)), ir.Constant(UNITS, None))
    return builder.select(is_high, high, low), builder.icmp_unsigned(">", units, ir.Constant(UNITS, [127] * 32))


def _looked_up(builder: Any, direct: Any, text: Any) -> tuple[Any, Any]:
    """Look up the classes of 32 units with one load per unit; return also zeros, because every class is correct."""
    units, found = builder.load(text, align=2), ir.Constant(UNITS, ir.Undefined)
    for place in map(INT, range(32)):
        unit = builder.zext(builder.extract_element(units, place), WORD)
        found = builder.insert_element(found, builder.load(builder.gep(direct, [unit]), align=2), place)
    return found, ir.Constant(ir.VectorType(BIT, 32), None)


def _symbols_of(builder: Any, text: Any, table: Any, symbols: Any) -> Any:
    read = _wide(builder, text, 0)
    found = _permuted_bytes(builder, table, 0, 128, read)
    builder.store(builder.and_(found, _all(SYMBOLS - 1)), builder.bitcast(symbols, WIDE_BYTES.as_pointer()), align=1)
    is_wide, is_second, is_first = (
        builder.bitcast(builder.icmp_signed("<", each, _all(0)), WORD) for each in (read, found, builder.shl(found, _all(1)))
    )
    is_second = builder.or_(builder.lshr(builder.or_(is_second, is_wide), WORD(1)), WORD(1 << 63))
    return builder.or_(is_wide, builder.and_(is_first, is_second))


def _decide(places: range, count: int, builder: Any, symbols: Any, products: Any, masks: Any) -> Any:
    """Generate `decide` for windows with symbols at `places`; all symbols are below `count`."""
    read = {place: _wide(builder, symbols, place) for place in places}
    begins = unsure = _all(0)
    for group in range(GROUPS):
        tables = {place: SYMBOLS * (group * SYMBOLS_IN_PRODUCT + place) for place in places}
        found = reduce(builder.and_, (_sets_of(builder, products, tables[place], count, read[place]) for place in places))
        begins = builder.or_(begins, builder.and_(found, _splat(builder, products, BEGIN_MASKS + group)))
        unsure = builder.or_(unsure, builder.and_(found, _splat(builder, products, UNSURE_MASKS + group)))
    builder.store(builder.bitcast(builder.icmp_unsigned("!=", unsure, _all(0)), WORD), masks)
    return builder.bitcast(builder.icmp_unsigned("!=", begins, _all(0)), WORD)


def _sets_of(builder: Any, products: Any, at: int, count: int, symbols: Any) -> Any:
    """For each of 64 symbols, which are below `count`, look up the sets that contain it."""
    if _has(PERMUTES):
        permute = _function(builder, "llvm.x86.avx512.permvar.qi.512", WIDE_BYTES, [WIDE_BYTES] * 2)
        return builder.call(permute, [_wide(builder, products, at), symbols])
    halves = (_part(builder, symbols, range(half, half + 32)) for half in (0, 32))
    first, second = (_shuffled_bytes(builder, products, at, at + count, half) for half in halves)
    return _part(builder, first, range(64), second)


def _splat(builder: Any, data: Any, place: int) -> Any:
    """Load one byte, and repeat it 64 times."""
    first = builder.insert_element(ir.Constant(WIDE_BYTES, ir.Undefined), builder.load(builder.gep(data, [WORD(place)])), INT(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INT, 64), None))


def _wide(builder: Any, data: Any, place: int) -> Any:
    """Load 64 bytes."""
    return builder.load(builder.bitcast(builder.gep(data, [WORD(place)]), WIDE_BYTES.as_pointer()), align=1)


def _all(number: int) -> Any:
    """Make a vector of 64 equal bytes."""
    return ir.Constant(WIDE_BYTES, [number] * 64)


def _permuted_bytes(builder: Any, tables: Any, start: int, end: int, indices: Any) -> Any:
    """Look up 64 indices in a table of 128 or 256 bytes. For a table of 128 bytes, the highest bit of an index is ignored."""
    if not _has(PERMUTES):
        first, second = (_shuffled_bytes(builder, tables, start, end, _part(builder, indices, range(at, at + 32))) for at in (0, 32))
        return _part(builder, first, range(64), second)
    permute = _function(builder, "llvm.x86.avx512.vpermi2var.qi.512", WIDE_BYTES, [WIDE_BYTES] * 3)
    quarters = [_wide(builder, tables, place) for place in range(start, end, 64)]
    halves = [builder.call(permute, [low, indices, high]) for low, high in zip(quarters[::2], quarters[1::2], strict=True)]
    return halves[0] if len(halves) == 1 else builder.select(builder.icmp_signed("<", indices, _all(0)), halves[1], halves[0])


def _shuffled_bytes(builder: Any, tables: Any, start: int, end: int, indices: Any) -> Any:
    """Look up 32 indices in a table, with AVX2: the low 4 bits of an index select a byte from each row of 16 bytes, and the high bits
    select a row.
    """
    shuffle = _function(builder, "llvm.x86.avx2.pshuf.b", BYTES, [BYTES] * 2)
    low = builder.and_(indices, ir.Constant(BYTES, [0x7F] * 32))  # an index with the highest bit set would give 0
    rows = []
    for at in range(start, end, 16):
        row = builder.load(builder.bitcast(builder.gep(tables, [WORD(at)]), HALF_BYTES.as_pointer()), align=1)
        rows.append(builder.call(shuffle, [_part(builder, row, [*range(16)] * 2), low]))
    for bit in range(4, 4 + (len(rows) - 1).bit_length()):
        sign = builder.shl(indices, ir.Constant(BYTES, [7 - bit] * 32))
        is_set = builder.icmp_signed("<", sign, ir.Constant(BYTES, [0] * 32))
        rows = [builder.select(is_set, high, low) for low, high in zip(rows[::2], rows[1::2], strict=True)]
    return rows[0]


def _part(builder: Any, first: Any, places: Sequence[int], second: Any = None) -> Any:
    """Select elements of a vector, or of two concatenated vectors, by their positions."""
    return builder.shuffle_vector(first, first if second is None else second, ir.Constant(ir.VectorType(INT, len(places)), [*places]))


def _continuing(builder: Any, text: Any) -> Any:
    lead = builder.and_(_wide(builder, text, 0), _all(0xC0))
    return builder.bitcast(builder.icmp_unsigned("==", lead, _all(0x80)), WORD)


def _stops_in(builder: Any, text: Any, table: Any) -> Any:
    firsts = _permuted_bytes(builder, table, 0, SECONDS, _wide(builder, text, 0))
    seconds = _permuted_bytes(builder, table, SECONDS, STOPS_SIZE, _wide(builder, text, 1))
    return builder.bitcast(builder.icmp_unsigned("!=", builder.and_(firsts, seconds), _all(0)), WORD)


def _opaque(builder: Any, number: Any) -> Any:
    return builder.asm(ir.FunctionType(WORD, [WORD]), "", "=r,0", [number], side_effect=False)


# Return a number unchanged. The compiler cannot see the number's value, and thus cannot replace a selection by mask with a branch.
opaque = _intrinsic("opaque", types.uint64, _opaque)

# Count the 0 bits below the lowest 1 bit of a word (64 for the word 0). The second function counts all 1 bits.
trailing_zeros = _intrinsic("trailing_zeros", types.uint64, lambda builder, word: builder.cttz(word, BIT(0)))
ones = _intrinsic("ones", types.uint64, lambda builder, word: builder.ctpop(word))

# Hash a key of 16 masked symbols, (symbols, start, masks, index). The second function tests whether a slot contains this key, (…, words,
# index).
hash_of = _intrinsic("hash_of", types.uint64, _hash, (32, 32))
is_key = _intrinsic("is_key", types.boolean, _is_key, (32, 32, 32))

# Return eight bytes as a number, (text, at); the first byte is the lowest.
word_at = _intrinsic("word_at", types.uint64, _word_at, (8,))

# Write the classes of 32 units, (direct, 0, text, at, symbols, filled); return a bit mask: bit i is set if the class of unit i has
# NOT_PLAIN. For units that are not ASCII, `classes_of` may also set bits and write wrong classes. `classes_looked_up` looks up every unit,
# so its results are always exact.
classes_of = _intrinsic("classes_of", types.uint64, _classes, (BMP, 64, 64))
classes_looked_up = _intrinsic("classes_looked_up", types.uint64, partial(_classes_by, _looked_up), (BMP, 64, 64))

# Compare 64 symbols with a number, (symbols, at, number); return a bit mask: bit i is the result of the comparison for symbol i.
at_least = _intrinsic("at_least", types.uint64, partial(_compared, ">="), (128,), numbers=1)
equal_to = _intrinsic("equal_to", types.uint64, partial(_compared, "=="), (128,), numbers=1)

# Whether `symbols_of`, `decide` and `stops_in` are faster than look-ups of single positions. These functions are also used in interpreted
# kernels, so that tests with such kernels run their code.
AT_ONCE = DISABLED or (GENERATED and _has("avx2"))

# Write the symbols of 64 bytes, (text, at, plain, 0, symbols, out), see `fst.pretokens.arguments.Arguments.plain`; return a bit mask of the
# bytes that are not plain: they are not ASCII, or a special token may begin with this byte and the next byte. The symbols of these bytes
# are arbitrary. The byte after the last of the 64 bytes is not read, so a special token may begin with any last byte.
symbols_of = _intrinsic("symbols_of", types.uint64, _symbols_of, (64, 128, 64)) if GENERATED and AT_ONCE else plain("symbols_of")

# Decide where pre-tokens begin, (symbols, at, products, 0, masks, 0), for the 64 characters whose symbols begin at index ``at + 3``
# (`fst.pretokens.boundaries`). Write a bit mask of the unsure characters to masks[0]. Return a bit mask of the characters where a pre-token
# begins; in this mask, the bits of unsure characters have no meaning. `decide` reads all symbols of a window; they must be below
# `SYMBOLS_AT_ONCE`. `decide_by_three` reads only the last three symbols; they must be below `SYMBOLS`.
SYMBOLS_AT_ONCE = SYMBOLS if DISABLED or not GENERATED or _has(PERMUTES) else 16  # with AVX2, one shuffle looks up sets of 16 symbols
_by_five, _by_three = partial(_decide, range(SYMBOLS_IN_PRODUCT), SYMBOLS_AT_ONCE), partial(_decide, range(*THREE), SYMBOLS)
_read = [(63 + stop, PRODUCTS_SIZE, 8) for stop in (SYMBOLS_IN_PRODUCT, THREE[1])]
decide = _intrinsic("decide", types.uint64, _by_five, _read[0]) if GENERATED and AT_ONCE else plain("decide")
decide_by_three = _intrinsic("decide_by_three", types.uint64, _by_three, _read[1]) if GENERATED and AT_ONCE else plain("decide_by_three")

# Return a bit mask of 64 bytes, (text, at): bit i is set if byte i continues a character of UTF-8.
continuing = _intrinsic("continuing", types.uint64, _continuing, (64,))

# Return a bit mask of 64 bytes, (text, at, stops, table): bit i is set if byte i is a stop according to the table, see `fst.text.stops`.
stops_in = _intrinsic("stops_in", types.uint64, _stops_in, (65, STOPS_SIZE)) if GENERATED and AT_ONCE else plain("stops_in")

# Copy 32 bytes to 32 units, (data, at, text, out); return a bit mask: bit i is set if byte i is not ASCII.
widen = _intrinsic("widen", types.uint64, _widen, (32, 64))

# Copy 32 bytes; return the same bit mask as `widen`.
copy_bytes = _intrinsic("copy_bytes", types.uint64, _copy, (32, 32))

# Copy 16 bytes, (data, at, bytes, out).
copy_16 = _intrinsic("copy_16", types.void, _copy_16, (16, 16))

# Copy 8 or 32 ids, (source, start, ids, at).
copy_8_ids = _intrinsic("copy_8_ids", types.void, partial(_copy_ids, 8), (32, 32))
copy_32_ids = _intrinsic("copy_32_ids", types.void, partial(_copy_ids, 32), (128, 128))
