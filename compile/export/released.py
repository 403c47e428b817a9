"""The modules of a release, so that an export needs neither numba nor a compiler: the file ``exports.zip`` of the folder ``fst/native``.

All tables whose texts are encoded by the same kernel share a module, which also has each kernel that any of these tables needs. The file
contains an object for each module and target, ``<number of the module>.<target>``, and ``manifest.json``, an object with these members:

======= =============================================================================================================================
sources the names of all modules of Python whose text the objects depend on, as in `fst.core.native`
digest  `fst.core.native.digest_of` these modules
modules for each module, an object with the forms of each kernel by its key, in hexadecimal digits, see `Module.kernels`
======= =============================================================================================================================

If a source has changed since the release, as in an edited checkout, the file is ignored, and exports are compiled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_LZMA, ZipFile, ZipInfo

from fst.compile.export.program import Module
from fst.core import native

NAME = "exports.zip"
MANIFEST = "manifest.json"


class Release:
    """The modules of a release.

    Args:
        path: the file.
        modules: its modules.
    """

    def __init__(self, path: Path, modules: Iterable[Module]) -> None:
        self._path, self._modules = path, [*modules]

    def module_for(self, program: Module) -> Module | None:
        """The module that runs a program; None if there is none. `program`: the kernels of the program."""
        return next((module for module in self._modules if module.runs(program)), None)

    def code(self, module: Module, target: str) -> bytes | None:
        """The object of a module for a target; None if there is none."""
        with ZipFile(self._path) as file:
            name = _name(module, target)
            return file.read(name) if name in file.namelist() else None


@cache
def release() -> Release | None:
    """The modules of this release; None if the package has none, or only modules of other sources than the package's."""
    path = native.FOLDER / NAME
    try:
        with ZipFile(path) as file:
            manifest = json.loads(file.read(MANIFEST))
    except OSError:
        return None
    if not native.is_of(manifest):
        return None
    modules = ({key: bytes.fromhex(forms) for key, forms in kernels.items()} for kernels in manifest["modules"])
    return Release(path, map(Module, modules))


def archive(objects: Sequence[tuple[Module, Mapping[str, bytes]]], sources: Iterable[str]) -> bytes:
    """The file of a release.

    Args:
        objects: the modules, and the object of each for each target.
        sources: see the module docstring.
    """
    names = sorted(sources)
    described = [{key: forms.hex() for key, forms in module.kernels.items()} for module, _ in objects]
    manifest = {"sources": names, "digest": native.digest_of(names), "modules": described}
    members = {MANIFEST: json.dumps(manifest, indent=1).encode()}
    members |= {_name(module, target): code for module, each in objects for target, code in each.items()}
    file = BytesIO()
    with ZipFile(file, "w") as zipped:
        for name, content in members.items():
            zipped.writestr(ZipInfo(name), content, ZIP_LZMA)
    return file.getvalue()


def _name(module: Module, target: str) -> str:
    return f"{module.abi:016x}.{target}"
