"""The worker of the command `fst export`, which compiles kernels without optimization, and therefore has a process of its own."""

from __future__ import annotations

from dataclasses import replace

import fst
from fst.compile.export.capture import Captured, captured
from fst.compile.export.code import object_of
from fst.compile.export.image import image
from fst.compile.export.program import SIZES, Variant, program
from fst.compile.export.targets import target_of
from fst.compile.machines.bpe.executed import executed_merges
from fst.errors import UnsupportedError
from fst.runtime.encoder import Encoder
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.calls import calls
from fst.runtime.exporting.contents import contents
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer
from fst.runtime.machines.keywords.searcher import Searcher
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
        machine = fst.load(path)
        if layout == "merges" and isinstance(machine, BpeTokenizer):
            table = machine._table
            merges = executed_merges(table) if table.has_automaton and table.metadata.model.letters.are_bytes else table.merges
            machine = BpeTokenizer(replace(table, entries=table.entries[:0], depths=table.depths[:0], merges=merges))
        self._encoder = _encoder_of(machine)
        tokens = contents(machine) if isinstance(machine, Tokenizer) else None
        roles = {name: array for name, array in tokens._asdict().items() if name != "sizes"} if tokens else {}
        each = [calls(self._encoder, units) for units in SIZES]
        variants = [Variant(own.units, own.arrays | roles, own.calls) for own in each]
        self._program = program(variants, builds(self._encoder, tokens))
        self._captured: list[Captured] = []

    def image(self) -> bytes:
        """The image of the table."""
        return image(self._program, self._encoder._ids_runner.unit_type.itemsize)

    def code(self, target: str) -> bytes:
        """The object of the kernels for a target."""
        if not self._captured:
            self._captured = [captured(f"fst_entry_{number}", kernel.result) for number, kernel in enumerate(self._program.kernels)]
        return object_of(self._captured, self._program.abi, self._program.forms, target_of(target))


def _encoder_of(machine: object) -> Encoder:
    """The encoder of a tokenizer or a searcher.

    Raises:
        UnsupportedError: the object is neither.
    """
    if isinstance(machine, Searcher) and not machine._matcher._empties:
        return machine._matcher
    if isinstance(machine, Tokenizer):
        return machine
    raise UnsupportedError(f"a {type(machine).__name__} cannot be exported; expected a tokenizer, or keywords of which none is empty")
