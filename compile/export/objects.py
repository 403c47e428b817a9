"""Objects on disk, so that a program is compiled once for each target.

The object file of a program begins with a line of JSON: the names of the modules of its kernels and of the exporter, and a digest of their
sources. So the object is found without an import of kernels or numba.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib.metadata import version

from fst.compile.export.program import Module
from fst.compile.export.targets import target_of
from fst.core import native
from fst.core.cache_folder import CodeCache


class ObjectCache(CodeCache):
    """The object of a module on disk.

    Args:
        of: the module.
        target: the name of the object's target.
        settings: the environment of the process that compiles.

    Raises:
        KernelError: numba is not installed.
    """

    def __init__(self, of: Module, target: str, settings: Mapping[str, str]) -> None:
        module, name, _ = next(iter(of.kernels)).split(":")
        super().__init__(native.source_of(module), f"{name}.{target}")
        self._key = repr((_versions(), of.abi, of.forms, target_of(target), sorted(settings.items()))).encode()

    def load(self) -> bytes | None:
        """The object; None if no folder contains it, or if a source has changed since."""
        for data in self.find(self._key):
            line, _, code = data.partition(b"\n")
            sources, digest = json.loads(line)
            with suppress(OSError):
                if native.digest_of(sources) == digest:
                    return code
        return None

    def keep(self, code: bytes, sources: Collection[str]) -> None:
        """Write the object, if any of the folders is writable.

        Args:
            code: the object.
            sources: the names of the modules whose text determines the object.
        """
        names = sorted(sources)
        self.store(self._key, json.dumps([names, native.digest_of(names)]).encode() + b"\n" + code)


def _versions() -> tuple[str, ...]:
    with native.need_numba("exports"):
        return version("numba"), version("llvmlite"), sys.implementation.cache_tag or ""
