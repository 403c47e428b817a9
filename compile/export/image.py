"""Images: the arrays of a table and the calls of its program, in one file that hosts map and use without a parser.

All numbers are little-endian. Arrays begin at multiples of `ALIGNMENT` bytes. Hosts write only `WORKING` arrays, and only the size of
these depends on the text::

    magic[8] | u64 checksum | u64 abi | u64 size | u32 unit, fields, words, calls, roles, own | fields | words | calls | roles | arrays

    field  u64 position of the array in the file, or `WORKING` or `BUILT` | u64 bytes, constant | u64 bytes for each unit of text
    word   u32 field + 1, or 0 for a number | u32 number for each unit of text | u64 number
    call   u32 first word | u32 number of words; the calls in the order of `CALLS`, then the `own` calls of the machine,
           then those that build arrays, both in their order
    role   u32 field + 1, or 0; the roles in the order of `ROLES`, then those of the machine, in their order

The checksum covers the rest of the file after it, in words of 64 bits. It finds damage. It does not protect against an author of images.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from fst.compile.export.program import Field, Linear, Module, Program, Word

MAGIC = b"fstimage"
ALIGNMENT = 64
CHECKED = 16  # the position of the first byte after the checksum
HEADER = struct.Struct("<8sQQQ6I")
FIELD, WORD, CALL, ROLE = (struct.Struct(f"<{form}") for form in ("QQQ", "IIQ", "II", "I"))
STEPS = ("is_unchanged", "encode", "encode_part", "trim")
CALLS = (*STEPS, *(f"{name}_spans" for name in STEPS), "path", "path_rewritten")
ROLES = ("text", "starts", "state", "ids", "ids_spans", "offsets", "earlier", "rewritten", "contents", "spans", "flags", "drops", "path")
WORKING, BUILT = 0, 1  # in place of a position


def image(of: Program, module: Module, unit: int) -> bytes:
    """Write a program.

    Args:
        of: the program.
        module: the module that runs the program.
        unit: the size of a unit of text in bytes, 1 or 2.
    """
    keys = [*module.kernels]
    numbers = [1 + keys.index(key) for key in of.keys]
    own = [call for name, call in of.calls.items() if name not in CALLS]
    calls = [_numbered(call, numbers) for call in (*(of.calls.get(name, []) for name in CALLS), *own, *of.builds)]
    roles = [*ROLES, *(name for name in of.roles if name not in ROLES)]
    words = [word for call in calls for word in call]
    begin = HEADER.size + FIELD.size * len(of.fields) + WORD.size * len(words) + CALL.size * len(calls) + ROLE.size * len(roles)
    places, end = _placed(of.fields, begin)
    data = bytearray(end)
    parts = [
        HEADER.pack(MAGIC, 0, module.abi, end, unit, len(of.fields), len(words), len(calls), len(roles), len(own)),
        *(FIELD.pack(place, *field.size) for place, field in zip(places, of.fields, strict=True)),
        *(WORD.pack(word.field + 1, word.value.per_unit, word.value.constant) for word in words),
        *(CALL.pack(sum(map(len, calls[:place])), len(call)) for place, call in enumerate(calls)),
        *(ROLE.pack(of.roles[name] + 1 if name in of.roles else 0) for name in roles),
    ]
    data[:begin] = b"".join(parts)
    for place, field in zip(places, of.fields, strict=True):
        if field.stored is not None:
            data[place : place + field.stored.nbytes] = field.stored.tobytes()
    struct.pack_into("<Q", data, len(MAGIC), checksum(bytes(data)))
    return bytes(data)


def _numbered(call: list[Word], numbers: Sequence[int]) -> list[Word]:
    """A call whose kernel has another number; `numbers`: for each kernel of the program, its number in the module."""
    return [Word(-1, Linear(numbers[call[0].value.constant - 1], 0)), *call[1:]] if call else []


def _placed(fields: Sequence[Field], begin: int) -> tuple[list[int], int]:
    """The position of each field after the tables, and the size of the file in bytes."""
    places, end = [], _aligned(begin)
    for field in fields:
        is_stored = field.stored is not None
        places.append(end if is_stored else BUILT if field.is_built else WORKING)
        end += _aligned(field.size.constant if is_stored else 0)
    return places, end


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def checksum(data: bytes) -> int:
    """The checksum of an image: each 64-bit word after the checksum is multiplied by a factor, 1, 3, 5 …, and the products are added modulo
    2 to the 64th. The factors are odd, so every change of a single word changes the sum.
    """
    words = np.frombuffer(data, np.uint64)[CHECKED // 8 :]
    return int((words * (2 * np.arange(len(words), dtype=np.uint64) + np.uint64(1))).sum(dtype=np.uint64))
