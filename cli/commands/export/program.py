"""The program of a table, which the command `fst export` writes."""

from __future__ import annotations

from pathlib import Path

from fst import registry
from fst.compile.export.program import SIZES, Program, Variant, program
from fst.compile.machines.bpe.canonical_tokens import without_automaton
from fst.machines.bpe.table import BpeTable
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.calls import calls, encoder_of
from fst.runtime.exporting.contents import contents
from fst.runtime.public_class import class_of
from fst.runtime.tokenizer import Tokenizer


def loaded(path: str | Path, layout: str) -> tuple[Program, int]:
    """Load a table, and find its program.

    Args:
        path: the file of the table.
        layout: "full"; or "merges": leave the automaton of byte-level BPE out, and run its list of merges.

    Returns:
        The program, and the size of a unit of its texts in bytes.

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
    return program(variants, builds(encoder, tokens)), each[0].arrays["text"].itemsize
