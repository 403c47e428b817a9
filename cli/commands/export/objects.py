"""The objects of a module of kernels, which are read from the release or from disk, or compiled in a separate process."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from fst.cli.commands.export.program import kernels_of
from fst.cli.files.progress import note
from fst.cli.process import Process
from fst.compile.export import released
from fst.compile.export.capture import CHECKED, SETTINGS
from fst.compile.export.native import Kernel
from fst.compile.export.objects import ObjectCache
from fst.compile.export.program import Program

COMPILER = "fst.cli.commands.export.work:Compiler"


class Objects:
    """The objects for a program. A context manager, which ends the process that compiles.

    Args:
        of: the program.
        checked: whether kernels check each index.

    Attributes:
        module: the kernels of the objects: a module of the release that runs the program, or the kernels of the program alone.
    """

    def __init__(self, of: Program, *, checked: bool) -> None:
        self._kernels, self._settings = kernels_of(of), CHECKED if checked else SETTINGS
        self._release = released.release()
        self.module = (self._release and self._release.module_for(of.module)) or of.module
        self._process: Process | None = None

    def __enter__(self) -> Objects:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._process:
            self._process.end()

    def object_for(self, target: str) -> bytes:
        """The object for a target. If several processes need the same object at the same time, one of them compiles it.

        Raises:
            UnsupportedError: numba is not installed, or cannot compile the kernels.
        """
        if self._release and self._settings is SETTINGS and (found := self._release.code(self.module, target)):
            return found
        cache = ObjectCache(self.module, target, self._settings)
        if found := cache.load():
            return found
        with cache.turn():
            return cache.load() or self._compiled(target, cache)

    def _compiled(self, target: str, cache: ObjectCache) -> bytes:
        if not self._process:
            note("compiling kernels …")
            self._process = Process("the exporter", COMPILER, settings=self._settings)
            self._process.ask("translate", self._all_kernels())
        note(f"optimizing code for {target} …")
        code: bytes
        code, sources = self._process.ask("code", self.module, target)
        cache.keep(code, sources)
        return code

    def _all_kernels(self) -> Mapping[str, Kernel]:
        """The kernels of the module, by key. A module of the release may have kernels that the program lacks."""
        if self.module.kernels.keys() <= self._kernels.keys():
            return self._kernels
        from fst.cli.commands.export.samples import families

        return next(kernels for module, kernels in families() if module == self.module)
