"""A fuzzer that runs every kernel, either interpreted, where NumPy checks each index, or compiled, where `NUMBA_BOUNDSCHECK=1` does.

The parts of the fuzzer draw a vocabulary and texts, and pass them to every function of the public API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numba
import numpy as np
import pytest
from support.core.drives import HAS_JIEBA
from support.core.fuzzer import parts
from support.core.interpreted import printed
from support.core.kernel_files import kernels_in_files
from support.machines.bpe import ids_of, small

import fst
from fst.compile.pretokens.splits import GPT2
from fst.core.jit import SETTINGS
from fst.runtime.pretokens.kernels import find
from fst.runtime.text.kernels import stops, unchanged

CHECKED = bool(vars(numba.config)["BOUNDSCHECK"])
ONE_BY_ONE = (find, stops, unchanged)  # modules that have other code for processors without AVX2
# Seed → parts of the fuzzer that run kernels which no other part here runs. All seeds together run every kernel, as long as the fuzzer
# draws the same cases for a seed.
RARE: Mapping[int, Sequence[str]] = {
    41: ("drive_guides",),
    5: ("drive_batches", "drive_dropout", "drive_rules", "drive_search", "drive_lattices"),
    7: ("drive_batches", "drive_dropout", "drive_exports"),
    36: ("drive_words", "drive_search", "drive_trainers", "drive_spellers"),
    3: ("drive_sampling", "drive_transducers"),
    2: ("drive_charsmaps", "drive_exports", "drive_search"),
    15: ("drive_batches",),
    38: ("drive_trainers",),
    19: ("drive_batches",),
    12: ("drive_errors", "drive_search", "segmentation"),
    37: ("drive_batches",),
    10: ("drive_exports", "drive_samples", "drive_sources"),
    25: ("drive_sums",),
    8: ("drive_errors", "drive_rules", "drive_trainers"),
    13: ("drive_trainers", "drive_late_guides"),
    9: ("drive_charsmaps", "units"),
    11: ("drive_lattices", "drive_japanese"),
}
# Seed → parts that only compiled kernels run, because interpreted ones take long.
COMPILED: Mapping[int, Sequence[str]] = {
    41: ("drive_batches", "drive_errors", "drive_columns", "drive_exports"),
    5: ("drive_exports", "drive_transducers"),
    7: ("drive_charsmaps",),
    36: ("drive_sums",),
    3: ("drive_batches",),
    2: ("drive_batches",),
}
WHOLE = (0, 4, 6)  # seeds with all parts
BYTE_BY_BYTE = (2, 5, 9, 36)  # seeds with the code for processors without AVX2
# Code that calls a constant; for each kernel, a function replaces this constant. The string only marks the constant's place.
CALLS_NOTE = (lambda *arguments: "note".__call__(*arguments)).__code__  # type: ignore[operator]


@pytest.mark.parametrize("seed", (*RARE, *WHOLE) if CHECKED else [pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3)])
def test_no_index_is_out_of_bounds(seed: int) -> None:
    """Every function gives the right ids for any vocabulary, and no index is out of bounds if `numba` checks indices."""
    chosen = {*RARE.get(seed, ()), *COMPILED.get(seed, ())}
    for name, part in parts(seed, 1_000 if seed % 5 else 10_000):
        if (not chosen or name in chosen) and (CHECKED or name != "drive_exports"):  # else kernels are compiled that only this test needs
            part()


def test_rounds_of_long_characters_fit() -> None:
    """Working arrays are large enough for the bytes of a round with many rows of characters of four bytes."""
    table = small(GPT2, []).table
    texts = [f" {chr(0x1F600) * 250}" * 4] * 20
    assert ids_of(fst.Tokenizer(table).encode_batch(texts)) == [table.run(texts[0])] * 20


@pytest.mark.skipif(not CHECKED, reason="for NUMBA_BOUNDSCHECK=1")
def test_indices_are_checked() -> None:
    """Numba checks indices in functions that are compiled with the settings of kernels."""
    compiled: Any = numba.njit(**SETTINGS)(lambda array, at: array[at])
    with pytest.raises(IndexError):
        compiled(np.zeros(3), 3)


@pytest.mark.slow
def test_every_kernel_is_driven() -> None:
    """The fuzzer calls every function in the files of kernels, and no index of their arrays is out of bounds."""
    assert not printed(trace)


def trace() -> None:
    """Run interpreted kernels with the rare parts until every kernel was called; print the kernels that were not."""
    missing = {kernel for kernel in kernels_in_files() if HAS_JIEBA or not kernel[0].endswith("jieba_model")}
    assert missing
    for kernel in [*missing]:
        note_first_call(kernel, missing)
    for seed, chosen in RARE.items():
        for module in ONE_BY_ONE:
            vars(module)["AT_ONCE"] = seed not in BYTE_BY_BYTE
        for name, part in parts(seed, 40):
            if name in chosen:
                part()
        if not missing:
            return
    for kernel in sorted(missing):
        print(*kernel)


def note_first_call(kernel: tuple[str, str], missing: set[tuple[str, str]]) -> None:
    """Remove a kernel from a set at its first call. Until then, the kernel's code is replaced, because a trace function would slow all
    calls.
    """
    module, name = kernel
    function = getattr(import_module(module), name)
    code = function.__code__

    def note(*arguments: Any) -> Any:
        function.__code__ = code
        missing.discard(kernel)
        return function(*arguments)

    function.__code__ = CALLS_NOTE.replace(co_consts=tuple(note if each == "note" else each for each in CALLS_NOTE.co_consts))
