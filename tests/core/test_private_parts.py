"""Private parts of `numba` that kernels use: if one of them is missing, ids are still the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from support.commands import TIMEOUT
from support.core.private_parts import encode_all
from support.shared_data import TESTS
from support.tiers import ALL, thinned

from fst.core import jit
from fst.pretokens.boundaries import PRODUCTS_SIZE
from fst.runtime.kernels import intrinsics, plain_intrinsics
from fst.runtime.kernels.intrinsics import DISABLED

pytestmark = pytest.mark.skipif(DISABLED, reason="kernels are not compiled")


ENCODE = """
import json, sys
from support.core import hidden
hidden.hide(sys.argv[1])
from support.core.private_parts import encode_all
print(json.dumps(encode_all(bytewise=sys.argv[2] == "True")))
"""


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `numba`'s own cache stores kernels."""
    return tmp_path_factory.mktemp("numba")


@pytest.mark.slow  # the first process compiles the kernels, with reference counting, for all processes
@pytest.mark.parametrize("part", [*jit.PRIVATE, "dispatchers"])
def test_ids_without_a_private_part(part: str, cache_folder: Path) -> None:
    """If a private part of `numba` is missing, the process logs this, and computes the same ids and spans."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache_folder), "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", ENCODE, part, str(ALL)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=2 * TIMEOUT)
    assert json.loads(done.stdout) == encode_all(bytewise=ALL)
    (reason,) = done.stderr.splitlines()
    assert f"lacks {', '.join(jit.PRIVATE.get(part, jit.OF_DISPATCHERS))}, which" in reason


def test_this_numba_has_every_private_part() -> None:
    """The installed `numba` has every private part."""
    assert jit.has_private_parts()


RANDOM = np.random.default_rng(20)
WORDS = [0, 1, 1 << 63, (1 << 64) - 1, *RANDOM.integers(0, 1 << 64, 50, np.uint64).tolist()]


@pytest.mark.parametrize("name", ["ones", "trailing_zeros"])
def test_plain_intrinsics_on_words(name: str) -> None:
    """For any word, the plain Python version of an intrinsic returns the same result as the generated machine code."""
    plain, generated = getattr(plain_intrinsics, name), getattr(intrinsics, name)
    both: Any = njit(lambda word: (plain(word), generated(word)))
    for word in WORDS:
        first, second = both(np.uint64(word))
        assert first == second


def callable_from_python(function: Any) -> Any:
    """A kernel that calls a given function, because Python itself cannot call the function."""
    compiled: Any = njit(lambda *arguments: function(*arguments))
    return compiled


def arrays_of(name: str) -> tuple[Any, ...]:
    """Random arguments of an intrinsic: two or three arrays, each followed by an index into this array; some keys are equal."""
    symbols, direct = RANDOM.integers(0, 3, 100).astype(np.uint16), RANDOM.integers(0, 1 << 16, 1 << 16).astype(np.uint16)
    masks = RANDOM.integers(0, 2, 20).astype(np.uint64) * np.uint64((1 << 64) - 1)
    at, place = map(np.uint64, RANDOM.integers(0, 9, 2))
    if name in ("classes_of", "classes_looked_up"):
        text = RANDOM.integers(0, 1 << (7 if name == "classes_of" else 16), 100).astype(np.uint16)
        return direct, np.uint64(0), text, at, symbols, place
    if name in ("widen", "copy_bytes"):
        target = symbols if name == "widen" else symbols.astype(np.uint8)
        return RANDOM.integers(0, 256, 100).astype(np.uint8), at, target, place
    if name == "symbols_of":
        plain = RANDOM.choice([3, 15, 63, 64, 128, 192], 128).astype(np.uint8)
        return RANDOM.integers(0, 130, 100).astype(np.uint8), at, plain, np.uint64(0), symbols.astype(np.uint8), place
    if name in ("decide", "decide_by_three"):
        products = RANDOM.integers(0, 256, PRODUCTS_SIZE).astype(np.uint8)
        return RANDOM.integers(0, 16, 100).astype(np.uint8), at, products, np.uint64(0), masks, place
    if name == "stops_in":
        text, stops = RANDOM.integers(0, 256, 100).astype(np.uint8), RANDOM.integers(0, 32, 1024).astype(np.uint8)
        return text, at, stops, np.uint64(512) * (place & np.uint64(1))
    if name == "copy_16":
        return RANDOM.integers(0, 256, 100).astype(np.uint8), at, np.zeros(100, np.uint8), place
    if name in ("at_least", "equal_to"):
        return symbols, at, masks[int(place)] & np.uint64(1)
    words = RANDOM.integers(0, 2, 100).astype(np.uint64)
    symbols = symbols.astype((np.uint8, np.uint16)[RANDOM.integers(0, 2)])
    key = symbols[int(at) :].view(np.uint8)[:32].copy().view(np.uint64) & masks[int(place) : int(place) + 4]
    if RANDOM.integers(0, 2):
        words[int(place) : int(place) + 3] = key[:3]
    return (symbols, at, masks, place) if name == "hash_of" else (symbols, at, masks, place, words, place)


OF_KEYS = ["hash_of", "is_key"]
OF_TEXT = ["at_least", "equal_to", "widen", "copy_bytes", "copy_16", "classes_of", "classes_looked_up", "stops_in"]
OF_SYMBOLS = ["symbols_of", "decide", "decide_by_three"]


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned([*OF_KEYS, *OF_TEXT, *OF_SYMBOLS], 6))
def test_plain_intrinsics_on_arrays(name: str) -> None:
    """For random arrays, the plain Python version of an intrinsic returns and writes the same values as the generated machine code."""
    plain, generated = callable_from_python(getattr(plain_intrinsics, name)), callable_from_python(getattr(intrinsics, name))
    returned = set()
    for _ in range(200):
        arguments = arrays_of(name)
        others = tuple(argument.copy() for argument in arguments)
        result = plain(*arguments)
        assert generated(*others) == result
        returned.add(result)
        for first, second in zip(arguments, others, strict=True):
            assert np.array_equal(first, second)
    assert len(returned) > 1 or name == "copy_16"  # it returns nothing
