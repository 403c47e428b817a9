"""File formats of outputs, from an option or the ending of a name. Impossible outputs are refused before any input is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from fst.cli.files.streams import check_target, keep_apart
from fst.runtime.files.outputs import is_device
from fst.runtime.files.packing import UNSUPPORTED, ending
from fst.runtime.files.shards.formats import FORMATS, shard_files
from fst.runtime.files.streams import STANDARD

ENDINGS = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".arrow": "arrow", ".parquet": "parquet"}
# Ending of a format that is not written → advice for the error message.
INSTEAD = {
    **dict.fromkeys([".csv", ".tsv", ".xlsx"], "write JSON lines (.jsonl), or Parquet (.parquet)"),
    **dict.fromkeys([".feather", ".ipc"], "write .arrow, which is the same format"),
    **dict.fromkeys([".avro", ".db", ".duckdb", ".orc", ".sqlite"], "write Parquet (.parquet)"),
}
OF_ARRAYS = (".npz", ".npy", ".bin", ".h5", ".hdf5", ".pkl", ".pickle", ".pt", ".safetensors", ".zarr")  # endings of files of arrays
KEEP_OTHERS = ("json", "arrow", "parquet")  # forms that keep the other columns or fields of a document, and may have tokens


class Forms(NamedTuple):
    """The file formats of a command's outputs."""

    # the forms that are lines of text; the first is the default. The ending of the file name determines the compression.
    lines: Sequence[str]
    endings: Mapping[str, str]  # ending of a file name → form
    instead: Mapping[str, str]  # ending of a format that is not written → advice for the error message


def forms_of(*lines: str, arrays: Mapping[str, str] | None = None, advice: str, instead: Mapping[str, str] | None = None) -> Forms:
    """The forms of a command: the given lines and arrays, JSON, Arrow and Parquet. `arrays`: ending of a file name → form. `advice` is the
    hint for other formats of arrays. `instead`: ending of a format that is not written → its hint.
    """
    endings = arrays or {}
    others = dict.fromkeys((ending for ending in OF_ARRAYS if ending not in endings), advice)
    return Forms(lines, {**ENDINGS, **endings}, {**INSTEAD, **others, **(instead or {})})


def checked_form(forms: Forms, name: str, form: str | None, inputs: Sequence[str]) -> str:
    """The form of an output, from the option or the ending of its name. An impossible output is refused before any input is read.

    Args:
        forms: the forms of the command.
        name: the file, or "-".
        form: a form of the command; None: from the ending of the name.
        inputs: the input files.
    """
    form = form_of(forms, name, form)
    _check_name(name, form)
    keep_apart(files_of(name, form), inputs)
    check_writable(name, form)
    return form


def files_of(name: str, form: str) -> list[str]:
    """The names of the files of an output in a form."""
    return shard_files(name, form) if form in FORMATS else [name]


def check_writable(name: str, form: str) -> None:
    """Check that the files of an output can be written, as far as possible in advance."""
    for file in files_of(name, form):
        check_target(file)


def form_of(forms: Forms, name: str, form: str | None) -> str:
    """The form of an output, from the option or the ending of its name."""
    form = _form(forms, name, form)
    if form not in forms.lines:
        _check_whole_file(name, form)
    return form


def _form(forms: Forms, name: str, form: str | None) -> str:
    """The form from the option; without the option, the form for the ending of the name; without such a form, the default."""
    kind, _ = ending(name)
    if kind in UNSUPPORTED:
        raise click.UsageError(f"{name}: {kind} is not written; compress with gzip, zstd, bz2 or xz, as in ids.jsonl.gz")
    if form is None and kind in forms.instead:
        raise click.UsageError(f"{name}: {kind} is not written; {forms.instead[kind]}, or pass --format")
    return form or forms.endings.get(kind, forms.lines[0])


def _check_name(name: str, form: str) -> None:
    """Check that programs that read a format find the files of an output."""
    if form not in FORMATS:
        return
    first, *_ = files = FORMATS[form].endings
    if FORMATS[form].folder_only:
        raise click.UsageError(f"{name}: {form} is written to a folder, which gets an index; end its name with /")
    if not FORMATS[form].any_name and not name.lower().endswith(first):
        written = ", ".join(f"X{ending}" for ending in files)
        raise click.UsageError(f"{name}: {form} consists of {written}; name a file that ends in {first}")


def _check_whole_file(name: str, form: str) -> None:
    if name == STANDARD or is_device(Path(name)):
        raise click.UsageError(f"--format {form} needs a regular file; name one with -o")
    if packing := ending(name)[1]:
        raise click.UsageError(f"{name}: {form} is not compressed with {packing}, because programs map such files; leave out this ending")
