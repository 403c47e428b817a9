"""Programs and images: what is stored, what is working memory, and what is built."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from fst.compile.export.image import CALLS, CHECKED, FIELD, HEADER, ROLES, WORD, checksum, image
from fst.compile.export.program import ENDS, SIZES, Field, Linear, Module, Program, Variant, Word, joined, program
from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall

build_spans = Deferred("fst.runtime.exporting.kernels.builds", "build_spans")
STORED, BUILT = np.array([3, 0, 5], np.uint16), np.zeros(3, np.uint64)


def made(units_of_ids: int = 2) -> Program:
    """A program with one call, which reads the table's ``sizes`` and writes ``ids`` in working memory, and with one build."""
    variants = []
    for units in SIZES:
        text, ids = np.zeros(units + 64, np.uint8), np.zeros(units_of_ids * units + 16, np.uint64)
        variants.append(Variant(units, {"text": text, "ids": ids}, {"encode": PreparedCall(build_spans, STORED, ids), "rewrite": None}))
    return program(variants, [PreparedCall(build_spans, STORED, BUILT)])


def test_arrays_that_all_sizes_share_are_stored() -> None:
    """An array of the table in all variants is stored, unless a call builds it; all other arrays are working memory of linear size."""
    fields = {name: made().fields[place] for name, place in made().roles.items()}
    assert fields == {"text": Field(None, Linear(64, 1), is_built=False), "ids": Field(None, Linear(128, 16), is_built=False)}
    others = [field for place, field in enumerate(made().fields) if place not in made().roles.values()]
    assert [(field.stored is STORED, field.is_built, field.size) for field in others] == [
        (True, False, Linear(6, 0)),
        (False, True, Linear(24, 0)),
    ]


def test_words_are_addresses_and_linear_numbers() -> None:
    """A call is stored as the number of its kernel, from 1, and the field and the length of each array."""
    of = made()
    (stored,) = (place for place, field in enumerate(of.fields) if field.stored is not None)
    number = Word(-1, Linear(1, 0)), Word(stored, Linear(0, 0)), Word(-1, Linear(3, 0))
    assert of.calls == {"encode": [*number, Word(of.roles["ids"], Linear(0, 0)), Word(-1, Linear(16, 2))], "rewrite": []}
    assert of.builds[0][:3] == [*number]


def test_forms_of_arguments() -> None:
    """The form of an array is its bytes per element, whether the kernel writes it, and its number of axes; the form of a number is 0."""
    assert [*made().module.forms] == [0x21, 0x89, ENDS, ENDS]


def test_numbers_of_other_growth_are_refused() -> None:
    """A length that does not grow linearly with the size of the text is an error of the caller."""
    variants = [Variant(units, {"ids": np.zeros(units * units, np.uint8)}, {}) for units in SIZES]
    with pytest.raises(AssertionError, match="are not on a line"):
        program(variants)


def test_the_layout_of_images() -> None:
    """An image begins with its checksum, its size and the numbers of its parts, where the call "rewrite" is the machine's own; stored
    arrays are at multiples of 64 bytes.
    """
    of, data = made(), image(made(), made().module, 1)
    magic, found, abi, size, *counts = HEADER.unpack_from(data)
    assert (magic, found, abi, size) == (b"fstimage", checksum(data), of.module.abi, len(data))
    assert counts == [1, len(of.fields), 10, len(CALLS) + 2, len(ROLES), 1]
    for place, field in enumerate(of.fields):
        at, constant, per_unit = FIELD.unpack_from(data, HEADER.size + FIELD.size * place)
        assert (constant, per_unit) == field.size
        if field.stored is not None:
            assert at % 64 == 0
            assert data[at : at + constant] == field.stored.tobytes()
        else:
            assert at == field.is_built


def test_every_changed_word_changes_the_checksum() -> None:
    """The checksum detects each change of a word after the checksum."""
    data = image(made(), made().module, 1)
    for at in range(CHECKED, len(data), 8):
        changed = bytearray(data)
        struct.pack_into("<Q", changed, at, 1 ^ struct.unpack_from("<Q", data, at)[0])
        assert checksum(bytes(changed)) != checksum(data)


def test_modules_of_several_programs() -> None:
    """A module of several programs has their kernels in the order of their keys, and writes only to arrays that all of them write; it runs
    each program, and images have its number and its numbers of kernels.
    """
    of = made()
    (key,), other = of.module.kernels, Module({"a:first:0": b"\0", "z:last:0": b"\x29"})
    stored = Module({key: b"\x21\x81"})
    whole = joined([other, of.module, stored])
    assert [*whole.kernels.items()] == [("a:first:0", b"\0"), (key, b"\x21\x81"), ("z:last:0", b"\x29")]
    assert all(map(whole.runs, (of.module, other, stored)))
    assert [*map(of.module.runs, (of.module, other, stored))] == [True, False, False]
    data = image(of, whole, 1)
    words = HEADER.size + FIELD.size * len(of.fields)
    assert HEADER.unpack_from(data)[2] == whole.abi != of.module.abi
    assert WORD.unpack_from(data, words) == (0, 0, 2)
