"""Kernels in LLVM's language before optimization, from which machine code for any processor can be made.

numba compiles for one processor, the host's by default. A process that captures kernels has the environment `SETTINGS`, so that numba
leaves the code of a kernel and its parts portable: no machine code of an earlier process is loaded, no instruction of the host is used,
and no function is optimized.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fst.core.prepared import generate_entry
from fst.errors import UnsupportedError

SETTINGS = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_OPT": "0", "NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": "0"}
# For kernels that check each index, those of intrinsics included; `fst.runtime.kernels.intrinsics` reads the last setting.
CHECKED = {**SETTINGS, "NUMBA_BOUNDSCHECK": "1", "FST_CHECK_SIZES": "1"}
OLDEST_LLVM = 15  # the first version whose pointers have no type


class Captured(NamedTuple):
    """A kernel in LLVM's language.

    Attributes:
        entry: the name of the function ``uint64 entry(const uint64 *words)``, see `fst.core.prepared`.
        modules: the texts of the modules that define the entry and the kernel, in the order in which LLVM must link them: of the second, it
            takes only what the first declares.
    """

    entry: str
    modules: tuple[str, str]


def captured(entry: str, result: Any) -> Captured:
    """Capture a compiled kernel, optimized or not.

    Args:
        entry: the name of its entry.
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
