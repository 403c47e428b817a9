"""Images: the arrays of a table and the calls of its program, in one file that hosts map and use without a parser.

All numbers are little-endian. Arrays begin at multiples of `ALIGNMENT` bytes::

    magic[8] | u64 checksum | u64 abi | u64 size | u32 unit, fields, words, calls, roles, 0 | fields | words | calls | roles | arrays

    field  u64 position of the array in the file, or 0 for working memory | u64 bytes, constant | u64 bytes for each unit of text
    word   u32 field + 1, or 0 for a number | u32 number for each unit of text | u64 number
    call   u32 first word | u32 number of words; the calls in the order of `CALLS`
    role   u32 field + 1, or 0; the roles in the order of `ROLES`

The checksum covers the file after the checksum, in words of 64 bits. It finds damage. It does not protect against an author of images.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from fst.compile.export.program import Array, Program

MAGIC = b"fstimage"
ALIGNMENT = 64
HEADER = struct.Struct("<8sQQQ6I")
FIELD, WORD, CALL, ROLE = (struct.Struct(f"<{form}") for form in ("QQQ", "IIQ", "II", "I"))
STEPS = ("is_unchanged", "encode", "rewrite", "encode_rewritten", "restore")
CALLS = (*STEPS, *(f"{name}_spans" for name in STEPS))
ROLES = ("text", "starts", "state", "ids", "ids_spans", "offsets", "contents", "first", "next", "flags")


def image(of: Program, unit: int, decoding: Mapping[str, Array]) -> bytes:
    """Write a program.

    Args:
        of: the program.
        unit: the size of a unit of text in bytes, 1 or 2.
        decoding: the arrays of a decoder, by their role.
    """
    arrays = [field.stored for field in of.fields] + [*decoding.values()]
    roles = of.roles | {name: len(of.fields) + place for place, name in enumerate(decoding)}
    words = [word for name in CALLS for word in of.calls.get(name, [])]
    begin = HEADER.size + FIELD.size * len(arrays) + WORD.size * len(words) + CALL.size * len(CALLS) + ROLE.size * len(ROLES)
    places, end = _placed(arrays, begin)
    sizes = [(field.size.constant, field.size.per_unit) for field in of.fields] + [(each.nbytes, 0) for each in decoding.values()]
    data = bytearray(end)
    parts = [
        HEADER.pack(MAGIC, 0, of.abi, end, unit, len(arrays), len(words), len(CALLS), len(ROLES), 0),
        *(FIELD.pack(place, *size) for place, size in zip(places, sizes, strict=True)),
        *(WORD.pack(word.field + 1, word.value.per_unit, word.value.constant) for word in words),
        *_calls(of),
        *(ROLE.pack(roles[name] + 1 if name in roles else 0) for name in ROLES),
    ]
    data[:begin] = b"".join(parts)
    for place, array in zip(places, arrays, strict=True):
        if array is not None:
            data[place : place + array.nbytes] = array.tobytes()
    struct.pack_into("<Q", data, len(MAGIC), checksum(bytes(data)))
    return bytes(data)


def _placed(arrays: Sequence[Array | None], begin: int) -> tuple[list[int], int]:
    """The position of each array after the tables, 0 for working memory; and the size of the file."""
    places, end = [], _aligned(begin)
    for array in arrays:
        places.append(0 if array is None else end)
        end += _aligned(0 if array is None else array.nbytes)
    return places, end


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _calls(of: Program) -> list[bytes]:
    counts = [len(of.calls.get(name, [])) for name in CALLS]
    return [CALL.pack(sum(counts[:place]), count) for place, count in enumerate(counts)]


def checksum(data: bytes) -> int:
    """The checksum of an image: the sum of the words after the checksum, modulo 2 to the 64th, the words times 1, 3, 5 ….
    The factors are odd, so every change of a single word changes the sum.
    """
    words = np.frombuffer(data, np.uint64)[2:]
    return int((words * (2 * np.arange(len(words), dtype=np.uint64) + np.uint64(1))).sum(dtype=np.uint64))
