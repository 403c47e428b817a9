"""The worker of the command `fst export`. It compiles kernels with special settings, and so runs in a separate process."""

from __future__ import annotations

from collections.abc import Mapping

from fst.compile.export import code
from fst.compile.export.capture import Captured, captured, symbol_of
from fst.compile.export.native import Kernel
from fst.compile.export.program import Module
from fst.compile.export.targets import target_of
from fst.core import native
from fst.core.jit import translated


class Compiler:
    """A compiler of modules."""

    def __init__(self) -> None:
        self._captured: dict[str, Captured] = {}

    def translate(self, kernels: Mapping[str, Kernel]) -> None:
        """Translate kernels to LLVM's language, each once. `kernels`: the kernels by their keys."""
        for key in kernels.keys() - self._captured.keys():
            self._captured[key] = captured(symbol_of(key), translated(*kernels[key]))

    def code(self, module: Module, target: str) -> tuple[bytes, set[str]]:
        """The object of a module of translated kernels for a target, and the names of the modules whose text the object depends on."""
        from fst.core.kernel_cache import modules_of

        sources = {name for key in module.kernels for name in modules_of(str(native.source_of(key.split(":")[0])))}
        kernels = [self._captured[key] for key in module.kernels]
        return code.object_of(kernels, module.abi, module.forms, target_of(target)), sources | modules_of(str(code.__file__))
