"""The compiled objects of a program, which are read from disk, or compiled in a separate process."""

from __future__ import annotations

from types import TracebackType

from fst.cli.files.progress import note
from fst.cli.process import Process
from fst.compile.export.capture import CHECKED, SETTINGS, without_elements
from fst.compile.export.objects import ObjectCache
from fst.compile.export.program import Program


class Objects:
    """The objects of a program. A context manager, which ends the process that compiles.

    Args:
        of: the program.
        checked: whether kernels check each index.
    """

    def __init__(self, of: Program, *, checked: bool) -> None:
        self._of, self._settings = of, CHECKED if checked else SETTINGS
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
        cache = ObjectCache(self._of, target, self._settings)
        if found := cache.load():
            return found
        with cache.turn():
            return cache.load() or self._compiled(target, cache)

    def _compiled(self, target: str, cache: ObjectCache) -> bytes:
        if not self._process:
            note("compiling kernels …")
            kernels = [(call.kernel.module, call.kernel.name, without_elements(call.arguments)) for call in self._of.kernels]
            arguments = kernels, self._of.abi, self._of.forms
            self._process = Process("the exporter", "fst.cli.commands.export.work:Compiler", *arguments, settings=self._settings)
            self._process.ask("translate")
        note(f"optimizing code for {target} …")
        code: bytes
        code, sources = self._process.ask("code", target)
        cache.keep(code, sources)
        return code
