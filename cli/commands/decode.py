"""The command `fst decode`."""

from __future__ import annotations

import click

from fst.cli.files.progress import progress
from fst.cli.files.streams import keep_apart, standard_output, written
from fst.cli.group import CliCommand
from fst.cli.options import files_argument, table_argument
from fst.runtime.files.streams import STANDARD, size


@click.command("decode", cls=CliCommand)
@table_argument
@files_argument
@click.option("--keep-special-tokens", is_flag=True, help="Keep special tokens such as [CLS] and [SEP].")
def command(table: str, files: tuple[str, ...], keep_special_tokens: bool) -> None:
    """Turn lines of ids, or JSON lines of `fst encode`, into text.

    \b
    Examples:
      fst decode bert.npz ids.txt
      fst encode bert.npz reviews.txt | fst decode bert.npz

    \b
    $ echo "101 14477 20961 3468 102" | fst decode bert.npz
    unaffable
    """
    from fst import Tokenizer
    from fst.cli.files.ids import rows
    from fst.cli.tables import load
    from fst.runtime.files.lines import read

    keep_apart([STANDARD], (table, *files))
    tokenizer = Tokenizer(load(table))
    known = set(tokenizer.get_vocab().values())
    total = size(files)
    with written(STANDARD) as out, progress("decoding", total, hidden=standard_output().isatty()) as advance:
        for block in (block for name in files for block in read(name, advance)):
            texts = tokenizer.decode_batch(rows(block, known), skip_special_tokens=not keep_special_tokens)
            out.write("".join(f"{text}\n" for text in texts).encode())
            out.flush()
