"""The program of a table, which the command `fst export` writes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from fst import registry
from fst.cli.commands.export.layouts import SMALL
from fst.cli.commands.export.small import small
from fst.compile.export.capture import without_elements
from fst.compile.export.native import Kernel
from fst.compile.export.program import SIZES, Program, Variant, program
from fst.runtime.exporting.export import export_of
from fst.runtime.public_class import class_of


class Loaded(NamedTuple):
    """A table that can be exported.

    Attributes:
        of: its program.
        unit: the size of a unit of its texts in bytes.
        host: see `fst.runtime.exporting.export.Export`.
    """

    of: Program
    unit: int
    host: str


def loaded(path: str | Path, layout: str) -> Loaded:
    """Load a table, and find its program.

    Args:
        path: the file of the table.
        layout: a value of `LAYOUTS`, see `fst.cli.commands.export.small.small`.

    Raises:
        UnsupportedError: this kind of table cannot be exported.
        TableError, OSError: as in `fst.load`.
    """
    table = registry.load(path)
    if layout == SMALL:
        table = small(table)
    export = export_of(class_of(table)(table))
    roles = {name: array for name, array in export.tokens._asdict().items() if name != "sizes"} if export.tokens else {}
    each = [export.calls(units) for units in SIZES]
    variants = [Variant(own.units, own.arrays | roles, own.calls) for own in each]
    return Loaded(program(variants, export.builds), each[0].arrays["text"].itemsize, export.host)

def kernels_of(of: Program) -> dict[str, Kernel]:
    """The kernels of a program, by key."""
    kernels = (Kernel(call.kernel.module, call.kernel.name, without_elements(call.arguments)) for call in of.kernels)
    return dict(zip(of.keys, kernels, strict=True))
