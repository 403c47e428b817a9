"""How kernels are compiled. Numba is imported when the first kernel is, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function over arrays when it is first called, without holding the GIL, and keep the machine code on disk.

    Where nothing near the source or in the user's cache folder can be written, numba says so at decoration; then nothing is kept.
    """
    from numba import njit

    try:
        compiled: Function = njit(nogil=True, cache=True)(function)
    except RuntimeError:
        compiled = njit(nogil=True)(function)
    return compiled
