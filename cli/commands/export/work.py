"""The worker of the command `fst export`, which compiles kernels without optimization, and therefore has a process of its own."""

from __future__ import annotations

from fst import registry
from fst.compile.export.capture import Captured, captured
from fst.compile.export.code import object_of
from fst.compile.export.image import image
from fst.compile.export.program import SIZES, Variant, program
from fst.compile.export.targets import target_of
from fst.compile.machines.bpe.executed import without_automaton
from fst.machines.bpe.table import BpeTable
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.calls import calls, encoder_of
from fst.runtime.exporting.contents import contents
from fst.runtime.public_class import class_of
from fst.runtime.tokenizer import Tokenizer


class Exporter:
    """An exporter of one table, which `load` loads."""

    def load(self, path: str, layout: str) -> None:
        """Load a table, and prepare the calls of its kernels.

        Args:
            path: the file of the table.
            layout: "full"; or "merges": leave the automaton of byte-level BPE out, and run its list of merges.

        Raises:
            UnsupportedError: this kind of table cannot be exported.
            TableError, OSError: as in `fst.load`.
        """
        table = registry.load(path)
        if layout == "merges" and isinstance(table, BpeTable):
            table = without_automaton(table)
        machine = class_of(table)(table)
        encoder = encoder_of(machine)
        tokens = contents(machine) if isinstance(machine, Tokenizer) else None
        roles = {name: array for name, array in tokens._asdict().items() if name != "sizes"} if tokens else {}
        each = [calls(encoder, units) for units in SIZES]
        variants = [Variant(own.units, own.arrays | roles, own.calls) for own in each]
        self._program, self._unit = program(variants, builds(encoder, tokens)), each[0].arrays["text"].itemsize
        self._captured: list[Captured] = []

    def image(self) -> bytes:
        """The image of the table."""
        return image(self._program, self._unit)

    def code(self, target: str) -> bytes:
        """The object of the kernels for a target."""
        if not self._captured:
            self._captured = [captured(f"fst_entry_{number}", kernel.result) for number, kernel in enumerate(self._program.kernels)]
        return object_of(self._captured, self._program.abi, self._program.forms, target_of(target))
