"""The names of pynini for programs that import it."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from fst.errors import FstError

PACKAGE = "fst.bridge.pynini"
LIBRARY = ("byte", "edit_transducer", "pynutil", "rewrite", "rule_cascade", "stringfile", "tagger", "utf8")


def install() -> None:
    """Let programs import `fst.pynini` as ``pynini``, with its submodules, and as ``pywrapfst``.

    Raises:
        FstError: pynini has been imported.

    Examples:
        >>> import fst
        >>> fst.pynini.install()  # doctest: +SKIP
        >>> from pynini.lib import pynutil  # doctest: +SKIP
    """
    module = import_module("fst.pynini")
    if sys.modules.get("pynini", module) is not module:
        raise FstError("pynini has been imported; call fst.pynini.install() before the first import of it")
    library, examples, export = (ModuleType(f"pynini.{name}") for name in ("lib", "examples", "export"))
    modules = {"pynini": module, "pywrapfst": module, "pynini.lib": library, "pynini.examples": examples, "pynini.export": export}
    exporting = import_module(f"{PACKAGE}.export")
    several = ModuleType("pynini.export.multi_grm")
    several.run, several.Exporter, several.ExporterMapping = exporting.run_several, exporting.Exporter, dict  # type: ignore[attr-defined]
    parts = {f"lib.{name}": import_module(f"{PACKAGE}.lib.{name}") for name in LIBRARY}
    parts |= {"examples.plurals": import_module(f"{PACKAGE}.plurals")}
    parts |= {"export.export": exporting, "export.grm": exporting, "export.multi_grm": several}
    for name, part in parts.items():
        modules[f"pynini.{name}"] = part
        setattr(modules[f"pynini.{name.split('.')[0]}"], name.split(".")[1], part)
    for package in (library, examples, export):
        package.__path__ = []
        setattr(module, package.__name__.removeprefix("pynini."), package)
    module.__path__ = []
    sys.modules.update(modules)
