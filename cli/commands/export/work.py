"""The worker of the command `fst export`. It compiles kernels with special settings, and so runs in a separate process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fst.compile.export import code
from fst.compile.export.capture import Captured, captured
from fst.compile.export.targets import target_of
from fst.core import native
from fst.core.jit import translated

Kernel = tuple[str, str, tuple[Any, ...]]  # the module and the name of the function, and arguments with the types to compile for


class Compiler:
    """A compiler of the kernels of one program.

    Args:
        kernels: the kernels.
        abi, forms: see `fst.compile.export.program.Program`.
    """

    def __init__(self, kernels: Sequence[Kernel], abi: int, forms: bytes) -> None:
        self._kernels, self._abi, self._forms = kernels, abi, forms
        self._captured: list[Captured] = []

    def translate(self) -> None:
        """Translate the kernels to LLVM's language."""
        self._captured = [captured(f"fst_entry_{number}", translated(*kernel)) for number, kernel in enumerate(self._kernels)]

    def code(self, target: str) -> tuple[bytes, set[str]]:
        """The object of the translated kernels for a target, and the names of the modules whose text the object depends on."""
        from fst.core.kernel_cache import modules_of

        sources = {name for module, _, _ in self._kernels for name in modules_of(str(native.source_of(module)))}
        return code.object_of(self._captured, self._abi, self._forms, target_of(target)), sources | modules_of(str(code.__file__))
