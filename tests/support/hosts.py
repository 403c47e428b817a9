"""Hosts that run exported tables without Python's runtime: C through ctypes, and JavaScript through Node.js."""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.shared_data import TESTS

from fst.cli.commands.export.command import exported

needs_c = pytest.mark.skipif(which("cc") is None, reason="there is no C compiler")
needs_cpp = pytest.mark.skipif(which("c++") is None, reason="there is no C++ compiler")
needs_node = pytest.mark.skipif(which("node") is None, reason="there is no Node.js")

Ids = ctypes.POINTER(ctypes.c_int32)


class FstError(Exception):
    """An error code of fst.h."""


class C:
    """The C host of an exported folder, compiled to a shared library. Errors of fst.h are raised as `FstError`.

    Attributes:
        sources: the files of a machine.
    """

    sources: tuple[str, ...] = ()

    def __init__(self, folder: Path, most: int = 1 << 20) -> None:
        library = folder / "libfst.so"
        if not library.exists():
            warnings = "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-std=c99"
            sources = "fst.c", *self.sources, "fst.o"
            subprocess.run(["cc", "-O2", *warnings, "-shared", "-fPIC", *sources, "-o", library.name], cwd=folder, check=True)
        self.library = ctypes.CDLL(str(library))
        for name in ("fst_encode", "fst_encode_offsets", "fst_decode", "fst_decode_push", "fst_stream_push", "fst_stream_end"):
            getattr(self.library, name).restype = ctypes.c_int64
        for name in ("fst_load", "fst_work_new"):
            getattr(self.library, name).restype = ctypes.c_void_p
        data = (folder / "table.fst").read_bytes()
        self.memory = np.zeros(len(data) // 8, np.uint64)
        self.memory.view(np.uint8)[:] = np.frombuffer(data, np.uint8)
        self.table = self.load(self.memory.ctypes.data, len(data))
        self.work = self.new_work(most)

    def load(self, address: int, size: int) -> Any:
        """Load the image at an address."""
        error = ctypes.c_int(0)
        table = self.library.fst_load(ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.byref(error))
        if not table:
            raise FstError(error.value)
        return ctypes.c_void_p(table)

    def new_work(self, most: int) -> Any:
        """Allocate the memory of another thread, for texts of at most `most` bytes."""
        return ctypes.c_void_p(self.library.fst_work_new(self.table, ctypes.c_size_t(most)))

    def encode(self, text: bytes, work: Any = None) -> NDArray[np.int32]:
        """The ids of a text."""
        ids = Ids()
        count = self.library.fst_encode(work or self.work, text, ctypes.c_size_t(len(text)), ctypes.byref(ids))
        return _array(ids, _checked(count))

    def encode_offsets(self, text: bytes) -> tuple[list[int], list[list[int]]]:
        """The ids of a text, and their spans in bytes."""
        ids, offsets = Ids(), Ids()
        size = ctypes.c_size_t(len(text))
        count = _checked(self.library.fst_encode_offsets(self.work, text, size, ctypes.byref(ids), ctypes.byref(offsets)))
        return _array(ids, count).tolist(), _array(offsets, 2 * count).reshape(-1, 2).tolist()

    def stream(self, parts: Sequence[bytes], work: Any = None) -> list[int]:
        """The ids of a text that arrives in parts."""
        ids, found = Ids(), list[int]()
        for part in parts:
            count = self.library.fst_stream_push(work or self.work, part, ctypes.c_size_t(len(part)), ctypes.byref(ids))
            found += _array(ids, _checked(count)).tolist()
        found += _array(ids, _checked(self.library.fst_stream_end(work or self.work, ctypes.byref(ids)))).tolist()
        return found

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> bytes:
        """The bytes to which ids decode."""
        row = np.array(ids, np.int32)
        arguments = self.table, row.ctypes.data_as(Ids), ctypes.c_size_t(len(row)), ctypes.c_int(skip_special_tokens)
        size = _checked(self.library.fst_decode(*arguments, None, ctypes.c_size_t(0)))
        text = ctypes.create_string_buffer(size + 1)
        assert self.library.fst_decode(*arguments, text, ctypes.c_size_t(size)) == size
        return text.raw[:size]

    def decode_stream(self, parts: Sequence[Sequence[int]], skip_special_tokens: bool = True) -> bytes:
        """The bytes to which ids that arrive in parts decode; each part is first decoded with too little memory."""
        found, decoder = b"", ctypes.create_string_buffer(3)
        for part in parts:
            row = np.array(part, np.int32)
            arguments = self.table, decoder, row.ctypes.data_as(Ids), ctypes.c_size_t(len(row)), ctypes.c_int(skip_special_tokens)
            size = _checked(self.library.fst_decode_push(*arguments, None, ctypes.c_size_t(0)))
            text = ctypes.create_string_buffer(size + 1)
            if size:
                assert self.library.fst_decode_push(*arguments, text, ctypes.c_size_t(size)) == size
            found += text.raw[:size]
        return found


class Guiding(C):
    """The C host of an exported guide."""

    sources = ("guide.c",)

    def ask(self, name: str, state: int | None = None, number: int | None = None) -> int:
        """The result of a function of guide.h."""
        call = getattr(self.library, f"fst_guide_{name}")
        call.restype = ctypes.c_int64
        given = [*([] if state is None else [ctypes.c_int64(state)]), *([] if number is None else [ctypes.c_int32(number)])]
        found: int = call(self.work, *given)
        return found

    def mask(self, state: int) -> list[int]:
        """The mask of a state."""
        words, call = ctypes.POINTER(ctypes.c_uint32)(), self.library.fst_guide_mask
        call.restype = ctypes.c_int64
        count = call(self.work, ctypes.c_int64(state), ctypes.byref(words))
        if count < 0:
            raise FstError(count)
        return [words[place] for place in range(count)]


class Analysis(ctypes.Structure):
    """`fst_analysis`."""

    _fields_ = [("pieces", Ids), ("count", ctypes.c_size_t), ("weight", ctypes.c_float)]


class LookingUp(C):
    """The C host of an exported look-up."""

    sources = ("lookup.c",)

    def look_up(self, word: bytes, generate: int) -> tuple[list[str], list[float], bool]:
        """The analyses of a word, their weights, and whether there are no more."""
        found, is_complete, call = (Analysis * 4096)(), ctypes.c_int(-1), self.library.fst_lookup
        call.restype = ctypes.c_int64
        arguments = self.work, word, ctypes.c_size_t(len(word)), ctypes.c_int(generate), found
        count = call(*arguments, ctypes.c_size_t(4096), ctypes.byref(is_complete))
        if count < 0:
            raise FstError(count)
        assert call(*arguments, ctypes.c_size_t(0), None) == count
        some = found[:count]
        texts = [self.decode(each.pieces[: each.count], skip_special_tokens=False).decode() for each in some]
        return texts, [each.weight for each in some], bool(is_complete.value)


class Rewriting(C):
    """The C host of an exported rewriter."""

    sources = ("rewriter.c",)

    def rewrite(self, text: bytes, *, offsets: bool = False) -> tuple[bytes, list[list[int]]]:
        """The new text, and the spans of its bytes if they are requested."""
        new, spans = ctypes.c_void_p(), Ids()
        self.library.fst_rewrite.restype = ctypes.c_int64
        wanted = ctypes.byref(spans) if offsets else None
        size = self.library.fst_rewrite(self.work, text, ctypes.c_size_t(len(text)), ctypes.byref(new), wanted)
        if size < 0:
            raise FstError(size)
        found = np.ctypeslib.as_array(spans, (size, 2)).tolist() if offsets and size else []
        return ctypes.string_at(new, size) if size else b"", found


def _checked(count: int) -> int:
    if count < 0:
        raise FstError(count)
    return count


def _array(pointer: Any, count: int) -> NDArray[np.int32]:
    return np.ctypeslib.as_array(pointer, (count,)).copy() if count else np.empty(0, np.int32)


def folder_of(table: Any, folder: Path, *, checked: bool = False) -> Path:
    """Export a table to C and to JavaScript, into one new folder."""
    folder.mkdir()
    table.save(folder / "table.npz")
    for kind in ("wasm", "c"):
        for name, data in exported(folder / "table.npz", [kind], checked=checked and kind == "c").items():
            (folder / name).write_bytes(data)
    return folder


def in_utf_16(text: str, places: Sequence[int]) -> list[int]:
    """The indices in UTF-16 of characters of a text."""
    units = [0]
    for character in text:
        units.append(units[-1] + len(character.encode("utf-16-le")) // 2)
    return [units[place] for place in places]


def node(folder: Path, questions: Sequence[Sequence[Any]], module: str = "fst") -> list[Any]:
    """The answers of an exported folder in Node.js to calls ``[method, argument, options]``; an error is a string. `module` is the name of
    the folder's module.
    """
    asked = folder / "questions.json"
    asked.write_text(json.dumps(questions))
    command = ["node", str(TESTS / "support" / "hosts.mjs"), str(folder.absolute()), str(asked.absolute()), module]
    done = subprocess.run(command, capture_output=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    found: list[Any] = json.loads(done.stdout)
    return found
