"""Private parts of `numba` that kernels use: if one of them is missing, ids are still the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import accumulate
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


NOTICE = """
import sys
from support.core import hidden
from fst.core import jit
for part in sys.argv[1:]:
    hidden.hide(part)
    assert not jit.has_private_parts.__wrapped__()
"""
ENCODE = """
import json, sys
from fst.core.jit import PRIVATE, no_collector
from support.core import hidden
for part in (*PRIVATE, "dispatchers"):
    hidden.hide(part)
from support.core.private_parts import encode_all
with no_collector():  # which would take a fifth of the time to compile
    print(json.dumps(encode_all(bytewise=sys.argv[1] == "True")))
"""
PARTS = {**jit.PRIVATE, "dispatchers": jit.OF_DISPATCHERS}


def run(program: str, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process that must hide parts before it imports kernels."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), **settings}
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=2 * TIMEOUT)


@pytest.mark.slow
def test_missing_private_parts_are_noticed() -> None:
    """If a private part of `numba` is missing, the process logs its name; here, one part after another is removed."""
    reasons = run(NOTICE, *PARTS).stderr.splitlines()
    names = [name for part in PARTS.values() for name in part]
    for reason, count in zip(reasons, accumulate(map(len, PARTS.values())), strict=True):
        assert f"lacks {', '.join(names[:count])}, which" in reason


@pytest.mark.slow
def test_ids_without_private_parts(tmp_path: Path) -> None:
    """Without any private part of `numba`, a process computes the same ids and spans."""
    done = run(ENCODE, str(ALL), NUMBA_CACHE_DIR=str(tmp_path))
    assert json.loads(done.stdout) == encode_all(bytewise=ALL)
    assert len(done.stderr.splitlines()) == 1


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
    """Random arguments of an intrinsic: two or three arrays, each followed by an index into this array; the arrays contain equal keys."""
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
    if name in ("copy_8_ids", "copy_32_ids"):
        return RANDOM.integers(0, 1 << 31, 100).astype((np.int32, np.uint32)[RANDOM.integers(0, 2)]), at, np.zeros(100, np.int32), place
    if name in ("at_least", "equal_to"):
        return symbols, at, masks[int(place)] & np.uint64(1)
    words = RANDOM.integers(0, 2, 100).astype(np.uint64)
    symbols = symbols.astype((np.uint8, np.uint16)[RANDOM.integers(0, 2)])
    key = symbols[int(at) :].view(np.uint8)[:32].copy().view(np.uint64) & masks[int(place) : int(place) + 4]
    if RANDOM.integers(0, 2):
        words[int(place) : int(place) + 3] = key[:3]
    return (symbols, at, masks, place) if name == "hash_of" else (symbols, at, masks, place, words, place)


OF_KEYS = ["hash_of", "is_key"]
COPIES = ["copy_16", "copy_8_ids", "copy_32_ids"]  # these return nothing
OF_TEXT = ["at_least", "equal_to", "widen", "copy_bytes", "classes_of", "classes_looked_up", "stops_in"]
OF_SYMBOLS = ["symbols_of", "decide", "decide_by_three"]


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned([*OF_KEYS, *COPIES, *OF_TEXT, *OF_SYMBOLS], 6))
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
    assert len(returned) > 1 or name in COPIES
