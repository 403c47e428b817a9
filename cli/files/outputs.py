"""Outputs of a command: either one file, or a folder with a file for each input.

A file gets its name only when it is complete, so an existing output is complete. As in make, an output is out of date if its input or the
table was modified later.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from fst.cli.files.formats import Forms, check_writable, checked_form, files_of, form_of
from fst.cli.files.streams import keep_apart
from fst.core import remote
from fst.runtime.files.inputs import Reading
from fst.runtime.files.outputs import is_there, modified
from fst.runtime.files.packing import ending
from fst.runtime.files.shards.formats import FORMATS, stem_of
from fst.runtime.files.shards.records import INDEX
from fst.runtime.files.streams import STANDARD

# form → ending of its first file
NEW = {"arrow": ".arrow", "json": ".jsonl", "npz": ".npz", "parquet": ".parquet"}
NEW |= {form: each.endings[0] for form, each in FORMATS.items()}
LINES = ".txt"  # the ending of files in forms that are lines of text
COLUMNAR = ("arrow", "parquet")  # forms with files that are never compressed as a whole


@dataclass(frozen=True)
class Output:
    """An output file."""

    name: str  # the file, or "-" for standard output
    form: str  # the format of the file, such as "json"
    inputs: Sequence[str]  # the files whose documents are written to the output
    group: int | None = None  # the row group of the input, from 0; None: the whole input

    def is_there(self) -> bool:
        """Whether any file of the output exists."""
        return any(map(is_there, files_of(self.name, self.form)))

    @property
    def stem(self) -> str:
        """The name of the output in its folder, without the ending."""
        return stem_of(Path(self.name).name, NEW.get(self.form, LINES))

    def is_complete(self, table: str) -> bool:
        """Whether all files of the output exist, and the first file is not older than the inputs and the table."""
        files = files_of(self.name, self.form)
        return all(map(is_there, files)) and modified(self.name) >= max(map(modified, (table, *self.inputs)))


@dataclass(frozen=True)
class Target:
    """The options of the command line for the output."""

    name: str  # a file, a folder, or "-" for standard output
    form: str | None  # the format; None: the ending of the file name determines it, and in a folder each output has the format of its input
    overwrite: bool  # whether existing files in the folder are replaced
    resume: bool  # whether complete files in the folder are kept, and not written again
    per: str = "file"  # the part of an input for an output in the folder: "file", or "row-group" of Parquet
    share: tuple[int, int] = (1, 1)  # (K, N): the outputs K, K + N, K + 2 N and so on, counted from 1, are written to the folder

    def __post_init__(self) -> None:
        if self.overwrite and self.resume:
            raise click.UsageError("--overwrite replaces the files that --resume keeps; pass one of them")
        options = {"--overwrite": self.overwrite, "--resume": self.resume, "--per": self.per != "file", "--share": self.share != (1, 1)}
        asked = [option for option, is_asked in options.items() if is_asked]
        if asked and not self.is_folder:
            raise click.UsageError(f"{asked[0]} is for a folder of outputs, as in -o out/; a single file is always replaced")

    @property
    def is_folder(self) -> bool:
        """Whether the output is a folder: an existing folder, or a name that ends with "/"."""
        if remote.is_remote(self.name):
            return self.name.endswith("/") or remote.is_folder(self.name)
        return self.name.endswith(("/", os.sep)) or Path(self.name).is_dir()

    def outputs(self, forms: Forms, inputs: Sequence[str], table: str, how: Reading, of_text: str | None = None) -> Sequence[Output]:
        """All outputs. Outputs with impossible names are refused before any input is read.

        Args:
            forms: the formats that the command writes.
            inputs: the input files.
            table: the table file.
            how: the options for reading inputs.
            of_text: in a folder, the format of outputs for inputs of plain text; None: the default of the command.
        """
        if not self.is_folder:
            return [Output(self.name, checked_form(forms, self.name, self.form, (table, *inputs)), inputs)]
        if STANDARD in inputs:
            raise click.UsageError(f"standard input has no name for a file in {self.name}; name a file with -o")
        groups = ((file, group) for file in inputs for group in (how.row_groups(file) if self.per == "row-group" else [None]))
        found = [self._output(file, group, how, of_text or forms.lines[0]) for file, group in groups]
        for output in found:
            form_of(forms, output.name, output.form)
        names = [name for output in found for name in files_of(output.name, output.form)]
        keep_apart([*names, *([self._path(INDEX)] if self.form in FORMATS else [])], (table, *inputs))
        _check_names(found)
        return found

    def wanted(self, found: Sequence[Output], table: str) -> Sequence[Output]:
        """The outputs to write, of all outputs. In a folder, these are the share, without outputs that are complete if `resume` is set.
        Files that cannot be written are refused. `table`: the table file.
        """
        if not self.is_folder:
            return found
        if not remote.is_remote(self.name):
            Path(self.name).mkdir(exist_ok=True)
        number, count = self.share
        found = found[number - 1 :: count]
        for output in found:
            check_writable(output.name, output.form)
        return found if self.overwrite else self._wanted(found, table)

    def _output(self, file: str, group: int | None, how: Reading, of_text: str) -> Output:
        """The output in the folder for an input, or for a row group of it. The output has the name of the input, and the number of the row
        group; with --format, it has the ending of the format instead.
        """
        name = Path(remote.file_of(file)).name
        kind, packing = ending(file)
        form = self.form
        if form is None:
            form = {"text": of_text}.get(read := how.kind(file), read)
        unpacked = Path(name).stem if packing else name
        if self.form is not None:
            name = unpacked.removesuffix(Path(unpacked).suffix if kind else "") + NEW.get(form, LINES)
        elif form in COLUMNAR:
            name = unpacked
        if group is not None:
            stem = stem_of(name, NEW.get(form, LINES))
            name = f"{stem}-{group:05}{name[len(stem):]}"
        return Output(self._path(name), form, [file], group)

    def _path(self, name: str) -> str:
        return f"{self.name.rstrip('/')}/{name}"

    def _wanted(self, found: Sequence[Output], table: str) -> Sequence[Output]:
        """The outputs to write: outputs that are missing or, with `resume`, out of date."""
        there = [output for output in found if output.is_there()]
        if there and not self.resume:
            more = f", and so do {len(there) - 1:,} more outputs" if len(there) > 1 else ""
            raise click.UsageError(f"{there[0].name} exists{more}; pass --overwrite to replace outputs, or --resume to keep complete ones")
        complete = [output for output in there if output.form not in FORMATS and output.is_complete(table)]
        return without(found, complete)


def without(found: Sequence[Output], complete: Sequence[Output]) -> Sequence[Output]:
    """All outputs except the complete ones, after a note."""
    if not complete:
        return found
    click.echo(f"{len(complete):,} of {len(found):,} outputs are complete", err=True)
    names = {output.name for output in complete}
    return [output for output in found if output.name not in names]


def _check_names(outputs: Sequence[Output]) -> None:
    """Check that no two outputs have a file of the same name, such as a.splits.npy for a.txt and for a.splits.txt."""
    found: dict[str, Output] = {}
    for output in outputs:
        for name in files_of(output.name, output.form):
            if (other := found.setdefault(name, output)) is not output:
                (first,), (second,) = other.inputs, output.inputs
                raise click.UsageError(f"{first} and {second} would both be written to {name}; write them to different folders")
