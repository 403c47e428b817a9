"""Borrowed arrays: what kernels read in them, and that their types are those that the kernel was compiled for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from commands import CACHE
from machines import PIECES, TOKENS, compiled

import fst
from fst.compile import tokenizer as compile_any
from fst.compile import wordpiece
from fst.compile.layout import rows
from fst.compile.pretokens import words
from fst.core.borrowed import kind_of
from fst.core.jit import Deferred, kernel, part
from fst.machines.wordpiece.table import Tables
from fst.runtime.compat.transformers.document import document
from fst.runtime.kernels.intrinsics import DISABLED
from fst.runtime.machines.unigram.tokenizer import UnigramTokenizer
from fst.runtime.model_inputs import call
from fst.runtime.rows import texts
from fst.runtime.run import kernel_of
from fst.tables.kernel_call import IdsOutput, SpansOutput

KERNELS = {
    **{
        f"{name} for {output.__name__}": kernel_of(Tables.kernel, name, len(output._fields))
        for output in (IdsOutput, SpansOutput)
        for name in ("encode_rows", "encode_read")
    },
    **{name: getattr(texts, name)[np.dtype(np.uint16)] for name in ("gather_strings", "gather_bytes", "transcode")},
    **{name: getattr(call, name) for name in ("plan_rows", "lay_out")},
    "place": rows.place,
    "displace": words.displace,
}

CALLS: tuple[dict[str, Any], ...] = (
    {},
    {"padding": True, "return_tensors": "np"},
    {"padding": "max_length", "truncation": True, "max_length": 8, "pad_to_multiple_of": 4},
    {"truncation": "longest_first", "max_length": 8, "stride": 1, "return_overflowing_tokens": True, "return_offsets_mapping": True},
    {"add_special_tokens": False, "return_length": True, "return_special_tokens_mask": True},
)


@kernel
def read(array: Any, seen: Any) -> Any:
    """Copy the elements of an array, and return its shape and sizes."""
    for count, place in enumerate(np.ndindex(array.shape)):
        seen[count] = array[place]
    return array.shape, array.size, array.itemsize


@kernel
def read_two(arrays: Any, seen: Any) -> Any:
    """Read two arrays by another kernel."""
    first, second = arrays
    return read(first, seen[0]), read(second, seen[1])


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (0, 3), (5, 0), (2, 3), (3, 2)], ids=str)
@pytest.mark.parametrize("kind", ["uint16", "int32", "bool"])
def test_kernels_see_what_numpy_does(kind: str, shape: tuple[int, ...]) -> None:
    """A kernel, and another that it calls, reads the elements, shape and sizes of a borrowed array as numpy has them, and writes there."""
    first = np.arange(np.prod(shape)).astype(kind).reshape(shape)
    second = -np.arange(9.0)
    seen = np.zeros(max(first.size, 1)), np.zeros(second.size)
    told = Deferred("test_borrowed", "read_two").call((first, second), seen)
    assert told == tuple((array.shape, array.size, array.itemsize) for array in (first, second))
    assert seen[0][: first.size].tolist() == first.ravel().tolist()
    assert seen[1].tolist() == second.tolist()


class Table(NamedTuple):
    """Arrays of two dtypes."""

    entries: Any
    weights: Any


class Pair(NamedTuple):
    """Two arrays of one dtype, of which numba makes another type than of several."""

    left: Any
    right: Any


class Nothing(NamedTuple):
    """No field."""


class Machine(NamedTuple):
    """NamedTuples in a NamedTuple."""

    table: Table
    pair: Pair
    nothing: Nothing
    place: int


@part
def sum_of(table: Any, at: Any) -> Any:
    """Add an entry to a weight."""
    return table.entries[at] + table.weights[at]


@kernel
def read_fields(machine: Any) -> Any:
    """Read fields by name, in this kernel and in a part of it."""
    machine.pair.right[0] = len(machine.nothing)
    return sum_of(machine.table, machine.place), machine.pair.left.size, machine.pair.right.size


def test_kernels_read_fields_by_name() -> None:
    """A kernel, and one that it calls, reads and writes arrays in NamedTuples by the names of their fields, nested and empty ones too."""
    pair = Pair(np.zeros(3), np.ones(4))
    machine = Machine(Table(np.arange(5, dtype=np.uint16), np.arange(5) / 8), pair, Nothing(), 3)
    assert Deferred("test_borrowed", "read_fields").call(machine) == (3.375, 3, 4)
    assert pair.right.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("array", [np.arange(9)[::2], np.zeros((2, 3)).T], ids=["step", "order"])
def test_arrays_of_another_layout_are_not_borrowed(array: Any) -> None:
    """An array that is not C-contiguous is refused where types are determined."""
    with pytest.raises(AssertionError, match="cannot be borrowed"):
        kind_of((array,))


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[Any]]:
    """Record the types of the arguments of every kernel."""
    found: dict[str, set[Any]] = {name: set() for name in KERNELS}

    def watch(name: str, deferred: Deferred) -> None:
        call = deferred.call

        def watched(*arguments: Any) -> Any:
            found[name].add(tuple(map(kind_of, arguments)))
            result = call(*arguments)
            monkeypatch.setattr(deferred, "call", watched)  # the first call has set it
            return result

        monkeypatch.setattr(deferred, "call", watched)

    for name, deferred in KERNELS.items():
        watch(name, deferred)
    return found


def use(tokenizer: fst.Tokenizer, rows: list[str]) -> None:
    """Encode texts in every way."""
    pa = pytest.importorskip("pyarrow", reason="columns are pyarrow's")
    wrong = ["a\ud800", *rows]
    for batch_ in (rows, [row.encode() for row in rows]):
        tokenizer.encode_batch(batch_)
        tokenizer.encode_batch(batch_, max_length=3, add_special_tokens=False)
        tokenizer.encode_batch(batch_ * 40, threads=2)
        tokenizer.count_tokens(batch_)
        tokenizer.encode_arrow(pa.array(batch_)[1:])
        tokenizer.encode(batch_[0])
    tokenizer.encode_batch(wrong, errors="replace")
    tokenizer.encode(wrong[0], errors="replace")
    tokenizer(rows)
    tokenizer(rows[0])
    tokenizer([])


def use_everything(folder: Path) -> None:
    """Compile tables of all kinds, and encode with them in every way; the folder is for a vocabulary."""
    tables = compiled()
    for tokens in (["[UNK]"], ["[UNK]", "a"], TOKENS):
        compiled(tokens, layout="compact")
    rows = [*PIECES, " ".join(PIECES) * 300, "", "a " * (1 << 19)]
    plain = fst.Tokenizer(tables)
    use(plain, rows)
    for asked in CALLS:
        plain(list(PIECES), PIECES[::-1], **asked)
        assert plain([[piece, piece] for piece in PIECES], is_split_into_words=True, **asked).encodings
    plain.encode_batch(rows, offsets=True)
    for offsets in (False, True):
        stream = plain.stream(offsets=offsets)
        for row in rows:
            stream.write(row)
        stream.close()
    source, described = folder / "tokenizer.json", document(wordpiece(["[UNK]", "[PAD]", "a", "##b", "un", "##able"]))
    source.write_text(json.dumps({**described, "normalizer": {"type": "NFC"}}))
    composing = fst.Tokenizer(wordpiece(source))
    use(composing, ["e\u0301a", "b"])
    composing.encode_batch(["e\u0301a", "b"], offsets=True)
    late = {"id": 6, "content": "un!", "lstrip": True, "rstrip": False, "single_word": False, "normalized": True, "special": False}
    source.write_text(json.dumps({**described, "added_tokens": [late]}))
    added = fst.Tokenizer(wordpiece(source))
    use(added, ["a un! b", "unable"])
    added.encode_batch(["a un! b", "unable"], offsets=True)
    for fallback in (False, True):
        names = ["<unk>", "\u2581", "ab", *(f"<0x{byte:02X}>" for byte in range(256 * fallback))]
        scores: list[list[Any]] = [[name, -len(name)] for name in names]
        model = {"type": "Unigram", "unk_id": 0, "byte_fallback": fallback, "vocab": scores}
        source.write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581"}}))
        scored = fst.Tokenizer(compile_any(source))
        use(scored, ["ab abab \u2603", "unable"])
        for nbest_size in (None, -1, 3):
            how: dict[str, Any] = {} if nbest_size is None else {"sample": True, "nbest_size": nbest_size}
            for located in (False, True):
                scored.encode_batch(["ab abab \u2603", "unable"], offsets=located, **how)
        assert isinstance(scored, UnigramTokenizer)
        scored.nbest("ab abab", 3)


def test_arguments_are_of_one_type(kinds: dict[str, set[Any]], tmp_path: Path) -> None:
    """The arguments of a kernel have the same types in all calls, with every table and every way to encode."""
    use_everything(tmp_path)
    assert {name: len(found) for name, found in kinds.items()} == dict.fromkeys(KERNELS, 1)


def test_threads_that_are_first_at_once_share_a_kernel() -> None:
    """A kernel whose first calls come from several threads at once is compiled once."""
    deferred, at_once = Deferred("test_borrowed", "read"), threading.Barrier(4)

    def first(number: int) -> Any:
        call_, seen = deferred.call, np.zeros(3)
        at_once.wait()
        call_(np.full(3, number, "int32"), seen)
        assert seen.tolist() == [number] * 3
        return deferred.call

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(first, range(4)))) == 1


PROGRAM = """
import sys
import fst, numba
from fst.compile import wordpiece
tok = fst.Tokenizer(wordpiece(["[UNK]", "a", "##b"]))
print(tok.encode("ab").tolist(), tok(["ab", "b"])["input_ids"], "numba.np.linalg" in sys.modules)
print(numba.njit(lambda number: number + 1)(1), "numba.np.linalg" in sys.modules)
"""


@pytest.mark.skipif(DISABLED, reason="kernels are not compiled")
def test_kept_kernels_are_used_without_the_compiler() -> None:
    """A process that finds kernels on disk does not import numba's compiler, with its linear algebra; it still can compile."""
    fst.Tokenizer(wordpiece(["[UNK]", "a", "##b"]))(["ab"])
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[1, 2] [[1, 2], [0]] False", "2 True"]
    assert done.stderr == ""


@pytest.mark.skipif(DISABLED, reason="kernels are not compiled")
def test_whoever_waits_for_a_kernel_is_told(tmp_path: Path) -> None:
    """A process that compiles a kernel says so on standard error, once for each."""
    program = "from fst.compile import wordpiece; wordpiece(['[UNK]', 'a']); wordpiece(['[UNK]', 'b'])"
    cold = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=cold)
    assert done.stderr.splitlines() == [f"fst: compiling kernel displace, up to 20 s; kept in {tmp_path / CACHE}"]
