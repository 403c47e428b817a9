"""Kernels as LLVM IR before optimization, from which machine code for any processor can be made.

numba compiles for one processor, the host's by default. A process that captures kernels has the environment `SETTINGS`, so that numba's
code of a kernel and its parts stays portable: no machine code of an earlier process is loaded, no instruction of the host is used, and no
function is optimized.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from fst.core.fields import Fields
from fst.core.prepared import generate_entry
from fst.errors import UnsupportedError

SETTINGS = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_OPT": "0", "NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": "0"}
# The environment for kernels that check each index, including the indices of intrinsics; `fst.runtime.kernels.intrinsics` reads the last
# setting.
CHECKED = {**SETTINGS, "NUMBA_BOUNDSCHECK": "1", "FST_CHECK_SIZES": "1"}
OLDEST_LLVM = 15  # the first version of LLVM whose pointers have no type


class Captured(NamedTuple):
    """A kernel as LLVM IR.

    Attributes:
        entry: the name of the function ``uint64 entry(const uint64 *words)``, see `fst.core.prepared`.
        modules: the texts of the modules that define the entry and the kernel, in the order in which LLVM must link them; LLVM takes from
            the second only the parts that the first declares.
    """

    entry: str
    modules: tuple[str, str]


def captured(entry: str, result: Any) -> Captured:
    """Capture a compiled kernel, optimized or not.

    Args:
        entry: the name of the kernel's entry.
        result: numba's result of the compilation.

    Raises:
        UnsupportedError: numba uses too old a version of LLVM, or lacks private parts.
    """
    from llvmlite import binding, ir

    if binding.llvm_version_info[0] < OLDEST_LLVM:
        raise UnsupportedError(f"LLVM is version {binding.llvm_version_info[0]}; expected {OLDEST_LLVM} or later: upgrade numba")
    if result is None:
        raise UnsupportedError("numba lacks private parts or does not compile; expected a version that fst-toolkit supports")
    module = ir.Module()
    generate_entry(module, entry, result, lambda _, kind, of: ir.Function(module, kind, of.fndesc.llvm_func_name))
    return Captured(entry, (str(module), str(result.library._get_module_for_linking())))


def symbol_of(key: str) -> str:
    """The name of the entry of the kernel with a key."""
    return f"fst_{sha256(key.encode()).hexdigest()[:16]}"


def without_elements(argument: Any) -> Any:
    """An argument of the same type whose arrays are empty, except for arrays with names."""
    if isinstance(argument, tuple):
        each = tuple(map(without_elements, argument))
        return type(argument)(*each) if hasattr(argument, "_fields") else each
    if isinstance(argument, np.ndarray) and not isinstance(argument, Fields):
        return np.empty((0,) * argument.ndim, argument.dtype)
    return argument
