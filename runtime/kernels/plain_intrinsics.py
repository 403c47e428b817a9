"""The intrinsics of `fst.runtime.kernels.intrinsics`, with the same results, but written in public numba: loops over single elements, which
are slower.

These functions replace the intrinsics if numba's compiler is switched off (``NUMBA_DISABLE_JIT``) or a private part of numba is missing,
see `fst.core.jit`.
"""

from __future__ import annotations

from ctypes import cast, py_object, string_at
from sys import byteorder
from typing import Any

import numpy as np
from numba import objmode

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import part
from fst.pretokens.boundaries import BEGIN_MASKS, GROUPS, SYMBOLS, SYMBOLS_IN_PRODUCT, THREE, UNSURE_MASKS
from fst.text.stops import SECONDS as SECONDS_AT

U0, U1, U2, U3, U4, U6, U7, U8, U15 = (np.uint64(number) for number in (0, 1, 2, 3, 4, 6, 7, 8, 15))
U16, U32, U48, U63, U64 = (np.uint64(number) for number in (16, 32, 48, 63, 64))
FIRST, SECOND, THIRD = (np.uint64(multiplier) for multiplier in MULTIPLIERS)
# Masks of the lowest bit of each 2 bits, of the lowest 2 of each 4 bits and of the lowest 4 of each 8 bits; and a mask for the final count,
# at most 64.
PAIRS, FOURS, EIGHTS, COUNT = (np.uint64(bits) for bits in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 127))

UTF_16 = f"utf-16-{byteorder[0]}e"
ALL_BITS = np.array([(1 << 64) - 1], np.uint64)
LEAD, CONTINUES = np.uint64(0xC0), np.uint64(0x80)  # a mask of a byte, and its result for a continuation byte of UTF-8
SECONDS = np.uint64(SECONDS_AT)
LOW_6, LOW_7, LOW_8 = (np.uint64(bits) for bits in (0x3F, 0x7F, 0xFF))


@part
def opaque(number: Any) -> Any:
    """Return the number unchanged."""
    return number


@part
def ones(word: Any) -> Any:
    """Count the 1 bits of a word."""
    word = word - (word >> U1 & PAIRS)
    word = (word & FOURS) + (word >> U2 & FOURS)
    word = word + (word >> U4) & EIGHTS
    word = word + (word >> U8)
    word = word + (word >> U16)
    return word + (word >> U32) & COUNT


@part
def trailing_zeros(word: Any) -> Any:
    """Count the 0 bits below the lowest 1 bit of a word; return 64 for the word 0."""
    return ones(~word & word - U1) if word else U64


@part
def key_part(symbols: Any, start: Any, masks: Any, mask: Any, index: Any) -> Any:
    """Return the 64-bit word `index` of a key: the symbols at this index, masked. Symbols past the end of the array count as 0."""
    word, bits = U0, U8 * np.uint64(symbols.itemsize)
    at = np.uint64(start) + U64 // bits * index
    for number in range(min(U64 // bits, max(np.uint64(len(symbols)), at) - at)):
        place = np.uint64(number)
        word |= np.uint64(symbols[at + place]) << place * bits
    return word & masks[np.uint64(mask) + index]


@part
def hash_of(symbols: Any, start: Any, masks: Any, mask: Any) -> Any:
    """Compute the hash of a key."""
    first, second = key_part(symbols, start, masks, mask, U0), key_part(symbols, start, masks, mask, U1)
    return first * FIRST + second * SECOND + key_part(symbols, start, masks, mask, U2) * THIRD


@part
def is_key(symbols: Any, start: Any, masks: Any, mask: Any, words: Any, slot: Any) -> Any:
    """Whether a slot contains a key."""
    for index in (U0, U1, U2):
        if key_part(symbols, start, masks, mask, index) != words[np.uint64(slot) + index]:
            return False
    return key_part(symbols, start, masks, mask, U3) == U0


@part
def word_at(text: Any, at: Any) -> Any:
    """Return eight bytes as a number; the first byte is the lowest. Bytes past the end of the array count as 0."""
    return key_part(text, at, ALL_BITS, U0, U0)


@part
def classes_of(direct: Any, _: Any, text: Any, at: Any, symbols: Any, filled: Any) -> Any:
    """Write the classes of 32 units; return a bit mask: bit i is set if the class of unit i has `NOT_PLAIN`."""
    unsure = U0
    for place in range(32):
        index = np.uint64(place)
        found = direct[text[np.uint64(at) + index]]
        symbols[np.uint64(filled) + index] = found
        unsure |= np.uint64(found) >> U15 << index
    return unsure


classes_looked_up = classes_of


@part
def at_least(symbols: Any, at: Any, number: Any) -> Any:
    """Return a bit mask of 64 symbols: bit i is set if symbol i is at least a number."""
    found = U0
    for index in range(64):
        found |= np.uint64(np.uint64(symbols[np.uint64(at) + np.uint64(index)]) >= number) << np.uint64(index)
    return found


@part
def equal_to(symbols: Any, at: Any, number: Any) -> Any:
    """Return a bit mask of 64 symbols: bit i is set if symbol i equals a number."""
    found = U0
    for index in range(64):
        found |= np.uint64(np.uint64(symbols[np.uint64(at) + np.uint64(index)]) == number) << np.uint64(index)
    return found


@part
def symbols_of(text: Any, at: Any, plain: Any, _: Any, symbols: Any, out: Any) -> Any:
    """Write the symbols of 64 bytes; return a bit mask: bit i is set if byte i is not plain. Bytes past the end of the array are 0."""
    wide = first = U0
    second = U1 << U63
    for index in range(64):
        place, bit = np.uint64(at) + np.uint64(index), np.uint64(index)
        byte = np.uint64(text[place]) if place < len(text) else U0
        found = np.uint64(plain[byte & LOW_7])
        symbols[np.uint64(out) + bit] = found & LOW_6
        wide |= (byte >> U7) << bit
        first |= (found >> U6 & U1) << bit
        second |= ((byte | found) >> U7) << bit >> U1
    return wide | first & second


@part
def decide(symbols: Any, at: Any, products: Any, _: Any, masks: Any, place: Any) -> Any:
    """Return a bit mask of 64 characters: bit i is set if a pre-token begins at character i. Write a bit mask of the unsure characters to
    ``masks[place]``.
    """
    return decide_by(symbols, at, products, masks, place, 0)


@part
def decide_by_three(symbols: Any, at: Any, products: Any, _: Any, masks: Any, place: Any) -> Any:
    """Do the same as `decide`, but read only the last three symbols of each window."""
    return decide_by(symbols, at, products, masks, place, THREE[0])


@part
def decide_by(symbols: Any, at: Any, products: Any, masks: Any, place: Any, first: Any) -> Any:
    """Decide by the symbols of a window from index `first` on."""
    begins = unsure = U0
    for index in range(64):
        for group in range(GROUPS):
            found = LOW_8
            for before in range(first, SYMBOLS_IN_PRODUCT):
                symbol = np.uint64(symbols[np.uint64(at) + np.uint64(index + before)])
                found &= np.uint64(products[np.uint64((group * SYMBOLS_IN_PRODUCT + before) * SYMBOLS) + symbol])
            begins |= np.uint64(found & np.uint64(products[BEGIN_MASKS + group]) > U0) << np.uint64(index)
            unsure |= np.uint64(found & np.uint64(products[UNSURE_MASKS + group]) > U0) << np.uint64(index)
    masks[place] = unsure
    return begins


@part
def continuing(text: Any, at: Any) -> Any:
    """Return a bit mask of 64 bytes: bit i is set if byte i continues a character of UTF-8. Bits past the end of the array are 0."""
    bits, at = U0, np.uint64(at)
    for index in range(min(U64, max(np.uint64(len(text)), at) - at)):
        place = np.uint64(index)
        bits |= np.uint64(np.uint64(text[at + place]) & LEAD == CONTINUES) << place
    return bits


@part
def stops_in(text: Any, at: Any, stops: Any, table: Any) -> Any:
    """Return a bit mask of 64 bytes: bit i is set if byte i is a stop. Bits past the end of the array are 0."""
    at, table, bits = np.uint64(at), np.uint64(table), U0
    for index in range(min(U64, max(np.uint64(len(text)), at) - at)):
        place = at + np.uint64(index)
        first = stops[table + np.uint64(text[place])]
        if place + U1 < len(text):
            first &= stops[table + SECONDS + np.uint64(text[place + U1])]
        bits |= np.uint64(first != 0) << np.uint64(index)
    return bits


@part
def copy_16(data: Any, at: Any, copied: Any, out: Any) -> None:
    """Copy 16 bytes."""
    for place in range(16):
        copied[np.uint64(out) + np.uint64(place)] = data[np.uint64(at) + np.uint64(place)]


@part
def copy_8_ids(source: Any, start: Any, ids: Any, at: Any) -> None:
    """Copy 8 ids."""
    for place in range(8):
        ids[np.uint64(at) + np.uint64(place)] = np.int32(source[np.uint64(start) + np.uint64(place)])


@part
def copy_32_ids(source: Any, start: Any, ids: Any, at: Any) -> None:
    """Copy 32 ids."""
    for place in range(32):
        ids[np.uint64(at) + np.uint64(place)] = np.int32(source[np.uint64(start) + np.uint64(place)])


@part
def widen(data: Any, at: Any, text: Any, out: Any) -> Any:
    """Copy 32 bytes to 32 units; return a bit mask: bit i is set if byte i is not ASCII."""
    wide = U0
    for place in range(32):
        index = np.uint64(place)
        byte = data[np.uint64(at) + index]
        text[np.uint64(out) + index] = byte
        wide |= np.uint64(byte >= 0x80) << index
    return wide


copy_bytes = widen


@part
def string_length(rows: Any, row: Any) -> Any:
    """Return the length of a str in a list; -1 for other objects."""
    with objmode(length="int64"):
        length = _length(str, rows, row)
    return length  # noqa: RET504 - numba cannot compile `return` in objmode


@part
def bytes_length(rows: Any, row: Any) -> Any:
    """Return the length of a bytes object in a list; -1 for other objects."""
    with objmode(length="int64"):
        length = _length(bytes, rows, row)
    return length  # noqa: RET504


@part
def characters(rows: Any, row: Any) -> Any:
    """Copy the characters of one str of a list to the narrowest array, uint8, uint16 or uint32; the other two arrays are empty."""
    with objmode(narrow="uint8[::1]", units="uint16[::1]", codes="uint32[::1]"):
        narrow, units, codes = _views(_object(rows, row))
    return narrow, units, codes


@part
def bytes_of(rows: Any, row: Any) -> Any:
    """Copy the contents of a bytes object in a list."""
    with objmode(data="uint8[::1]"):
        data = np.frombuffer(_object(rows, row), np.uint8).copy()
    return data  # noqa: RET504


def run(words: Any) -> Any:
    """Make a prepared call: the first word is the address of a function without arguments. An exception is raised."""
    result = cast(int(words[0]), py_object).value()
    return np.uint64(result) if isinstance(result, int | np.integer | np.bool_) else U0


def exchange(words: Any, word: Any) -> Any:
    """Replace the first word of an array; return the replaced word."""
    before = words[0]
    words[0] = word
    return before


def store(words: Any, word: Any) -> None:
    """Write the first word of an array."""
    words[0] = word


def release() -> Any:
    """Do nothing, since functions of Python need the interpreter's lock."""
    return U0


def acquire(_thread: Any) -> None:
    """Do nothing, since `release` has not released the lock."""


def characters_of(text: str) -> Any:
    """Copy the characters of a str, like `characters`."""
    return _views(text)


def new_list(length: Any) -> Any:
    """Make a list of a length."""
    return [None] * int(length)


def put_tuple(items: Any, place: Any, kind: Any, _size: Any, _last: Any, *numbers: Any) -> None:
    """Put a tuple of a class into a list."""
    items[place] = tuple.__new__(kind, map(int, numbers))


def put_utf_8(items: Any, place: Any, address: Any, length: Any) -> None:
    """Make a str from UTF-8 at an address, and put the str into a list."""
    items[place] = string_at(int(address), int(length)).decode()


def put_utf_16(items: Any, place: Any, address: Any, length: Any) -> None:
    """Make a str from UTF-16 at an address, and put the str into a list."""
    items[place] = string_at(int(address), 2 * int(length)).decode(UTF_16)


def put_row(items: Any, place: Any, rows: Any, row: Any) -> None:
    """Put a str of another list into a list."""
    items[place] = str.__getitem__(_object(rows, row), slice(None))


def nothing() -> None:
    """Return None."""


def _object(rows: Any, row: Any) -> Any:
    """Return the object in a row of the list at the address `rows`."""
    return cast(int(rows), py_object).value[row]


def _length(kind: Any, rows: Any, row: Any) -> int:
    found = _object(rows, row)
    length: int = kind.__len__(found) if isinstance(found, kind) else -1
    return length


def _views(text: str) -> Any:
    codes = np.frombuffer(str.encode(text, "utf-32", "surrogatepass"), np.uint32)[1:]  # without the byte order mark
    width = next(width for width in (8, 16, 32) if codes.max(initial=0) < 1 << width)
    return [codes.astype(f"u{each // 8}") if each == width else np.empty(0, f"u{each // 8}") for each in (8, 16, 32)]
