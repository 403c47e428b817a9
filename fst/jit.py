"""How kernels are compiled. Numba is imported when the first kernel is, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Kernels hold no lock, and no references: they allocate nothing, and counting references to the arrays that one part of a kernel hands to
# another takes longer than the look-ups (55 MB/s of English with it, 110 without).
SETTINGS: dict[str, Any] = {"nogil": True, "_nrt": False}


def kernel(function: Function) -> Function:
    """Compile a function over arrays when it is first called, and keep the machine code on disk.

    Where nothing near the source or in the user's cache folder can be written, numba says so at decoration; then nothing is kept.
    """
    from numba import njit

    compile_: Any = njit
    try:
        compiled: Function = compile_(cache=True, **SETTINGS)(function)
    except RuntimeError:
        compiled = compile_(**SETTINGS)(function)
    return compiled


def inlined(function: Function) -> Function:
    """Compile a function into the kernels that call it."""
    from numba import njit

    compile_: Any = njit
    compiled: Function = compile_(forceinline=True, **SETTINGS)(function)
    return compiled
