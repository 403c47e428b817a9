"""The command `fst export`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from fst.cli.commands.export.layouts import FULL, LAYOUTS, SMALL
from fst.cli.files.progress import note
from fst.cli.group import CliCommand
from fst.cli.options import FileName, TableName, with_options
from fst.errors import UnsupportedError, not_one_of

if TYPE_CHECKING:
    from fst.cli.commands.export.objects import Objects
    from fst.cli.commands.export.program import Loaded

CPU = "x86-64-v3"
KINDS = ("wasm", "c", "object", "image")
# For each kind of folder, the files that are the same for all tables.
HOSTS = {"wasm": ("js", ("fst.js", "fst.d.ts", "package.json", "example.js")), "c": ("c", ("fst.h", "fst.c", "example.c", "example.h"))}
SHARED: dict[str, tuple[str, ...]] = {"wasm": (), "c": ("own.h",)}  # files that the files of all machines need


@click.command("export", cls=CliCommand)
@click.argument("table", type=TableName(), metavar="TABLE.npz")
@with_options(
    click.option("--target", type=click.Choice(KINDS), required=True, help="What to write."),
    click.option("--cpu", default=None, metavar="NAME", show_default=CPU, help="The processor of an object, such as aarch64."),
    click.option(
        "--layout",
        type=click.Choice(LAYOUTS),
        default=None,
        show_default="small for wasm, else full",
        help="Of a tokenizer: all parts (full), or only those without which it would have other ids (small).",
    ),
    click.option("--checked", is_flag=True, help="Check every index, so that images by strangers do no harm; 1.2 to 1.8 times as slow."),
    click.option("-o", "--output", required=True, type=FileName(), metavar="FOLDER", help="The folder to write."),
)
def command(table: str, target: str, cpu: str | None, layout: str | None, checked: bool, output: str) -> None:
    """Export a table, so that programs without Python encode text: in a browser, on a phone, in C.

    The folder of --target wasm is an ES module with types and an example for Node.js: table.fst, fst.wasm, fst.js. The folder of --target
    c has an object, table.fst, fst.h, fst.c and an example program. With object or image, only this file is written. Run an example with
    `node example.js`, or `cc -O2 example.c fst.c fst.o -o example && ./example`.

    A release contains the kernels of each kind of table for all processors, except those of --checked. Other kernels are compiled in 5 to
    20 s by numba, and kept on disk, so that the next export takes less than a second. Files of exports with other kernels cannot be mixed.
    The message about a table that cannot be exported has the reason.

    --layout small leaves out what only makes a tokenizer faster: the automaton of byte-level BPE, which then merges pairs while it encodes;
    the automaton of Unigram, which then looks up tokens from each position; the transitions of WordPiece that follow from failure links.
    The ids are the same. Choose small where a table is downloaded, as in a page: packed by gzip, table.fst is 2 to 12 times smaller, and
    the speed is 0.5 to 1.1 of the speed with all parts. Choose full for servers, and for the states of the automaton. Other tables have
    one layout.

    \b
    Examples:
      fst export gpt2.npz --target wasm -o gpt2-js
      fst export gpt2.npz --target wasm --layout full -o gpt2-full-js
      fst export gpt2.npz --target c --layout small -o gpt2-small-c
      fst export gpt2.npz --target c --cpu aarch64 -o gpt2-c

    \b
    Processors: x86-64, x86-64-v2, x86-64-v3, x86-64-v4, aarch64, armv7, riscv64, aarch64-macos, x86-64-macos, x86-64-windows.
    """
    from fst.compile.export.targets import TARGETS, WASM

    if cpu is not None and target not in ("c", "object"):
        raise click.UsageError(f"--cpu is set, but --target {target} needs no processor; use it with c or object")
    if checked and target not in ("c", "object"):
        raise click.UsageError(f"--checked is set, but --target {target} needs no checks; use it with c or object")
    processors = [name for name in TARGETS if name != WASM]
    if cpu is not None and cpu not in processors:
        raise UnsupportedError(not_one_of("the processor", cpu, processors))
    folder = Path(output)
    _need_new(folder)
    begun = monotonic()
    with _made(folder):
        contents = exported(table, [target], cpu or CPU, layout or (SMALL if target == "wasm" else FULL), checked=checked)
        for name, data in contents.items():
            (folder / name).write_bytes(data)
    note(f"{folder}: {', '.join(contents)}; {sum(map(len, contents.values())):,} bytes, in {monotonic() - begun:.1f} s")


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder, and all its missing parent folders. After an exception in the context, everything that was made is removed, with the
    files in the folder.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for file in folder.iterdir() if folder.is_dir() else ():
            file.unlink()
        for path in missing:
            with suppress(OSError):  # the folder was not made, or another program uses it
                path.rmdir()
        raise


def _need_new(folder: Path) -> None:
    """Raise an error if the folder has files.

    Raises:
        UnsupportedError: the folder has files, or is a file.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UnsupportedError(f"{folder} exists; expected a new or empty folder; name another one, or remove it")


def exported(table: str | Path, kinds: Sequence[str], cpu: str = CPU, layout: str = FULL, *, checked: bool = False) -> dict[str, bytes]:
    """Export a table.

    Args:
        table: the file of the table.
        kinds: values of `KINDS`.
        cpu: the processor of objects.
        layout: a value of `LAYOUTS`.
        checked: whether kernels check each index.

    Returns:
        The files of the folder, by name.
    """
    from fst.cli.commands.export.objects import Objects
    from fst.cli.commands.export.program import loaded

    found = loaded(table, layout)
    with Objects(found.of, checked=checked) as objects:
        return {name: data for kind in kinds for name, data in _files(found, objects, kind, cpu).items()}


def _files(loaded: Loaded, objects: Objects, kind: str, cpu: str) -> dict[str, bytes]:
    """The files of one kind, by name."""
    from fst.compile.export.code import EXPORTED
    from fst.compile.export.image import image
    from fst.compile.export.targets import WASM
    from fst.compile.export.wasm.linker import linked

    found: dict[str, bytes] = {}
    if kind != "object":
        found["table.fst"] = image(loaded.of, objects.module, loaded.unit)
    if kind == "wasm":
        found["fst.wasm"] = linked(objects.object_for(WASM), EXPORTED)
    elif kind != "image":
        found["fst.obj" if "windows" in cpu else "fst.o"] = objects.object_for(cpu)
    if kind in HOSTS:
        found |= host_files(kind, loaded.host)
    return found


def host_files(kind: str, machine: str) -> dict[str, bytes]:
    """The files of a folder that are the same for all tables of a machine. A machine's own files replace those with the same names.

    Args:
        kind: a key of `HOSTS`.
        machine: the name of the machine's files; "" for those of encoders.
    """
    language, names = HOSTS[kind]
    host = files("fst.compile.export") / "host" / language
    found = {name: (host / name).read_bytes() for name in names}
    if machine and (host / machine).is_dir():
        found |= {name: (host / name).read_bytes() for name in SHARED[kind]}
        found |= {file.name: file.read_bytes() for file in (host / machine).iterdir()}
        for ending in (".js", ".d.ts"):
            if package := found.get("package.json"):
                found["package.json"] = package.replace(f'"./fst{ending}"'.encode(), f'"./{machine}{ending}"'.encode())
    return found
