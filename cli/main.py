"""The command line, ``fst COMMAND …``.

Standard output carries data only. Exit codes: 0 done, 1 failed, 2 wrong usage, 124 ended by a deadline, 130 interrupted. If the
reader of a pipe ends early, as in ``fst encode … | head``, the exit code is 0 and there is no message.

The module of a command is imported when the command is used, and imports large libraries only inside functions. So help appears at once,
and no command waits for a library that it does not use.
"""

from __future__ import annotations

import click

import fst
from fst.cli.group import CliGroup

COMMANDS = {
    "compile": "fst.cli.commands.compile.command",
    "encode": "fst.cli.commands.encode.command",
    "decode": "fst.cli.commands.decode",
    "count": "fst.cli.commands.count",
    "search": "fst.cli.commands.search.command",
    "lookup": "fst.cli.commands.lookup.command",
    "spell": "fst.cli.commands.spell",
    "rewrite": "fst.cli.commands.rewrite",
    "draw": "fst.cli.commands.explain.draw",
    "convert": "fst.cli.commands.convert",
    "segment": "fst.cli.commands.segment",
    "export": "fst.cli.commands.export.command",
    "train": "fst.cli.commands.train.command",
    "info": "fst.cli.commands.info",
    "verify": "fst.cli.commands.verify",
    "bench": "fst.cli.commands.bench.command",
    "explain": "fst.cli.commands.explain.command",
    "warmup": "fst.cli.commands.warmup.command",
    "cache": "fst.cli.commands.cache",
}


@click.group(cls=CliGroup, modules=COMMANDS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(fst.__version__, prog_name="fst", message="%(prog)s %(version)s")
def main() -> None:
    """Compile tokenizers, keywords and dictionaries into tables, and encode, search or segment text with them.

    \b
    Examples:
      fst compile tokenizer.json -o bert.npz
      fst encode bert.npz reviews.txt > ids.txt
      echo "unaffable" | fst encode bert.npz --format tokens
      fst verify bert.npz --against tokenizer.json reviews.txt
      fst compile keywords names.txt -o names.npz
      fst search names.npz reviews.txt
      fst train bpe corpus.txt --splitter gpt2 --vocab-size 32000 -o own/

    FILE is UTF-8 text with one document per line; '-', or no FILE, is standard input. Standard output carries data only.

    \b
    Exit codes:
      0    success, also if the reader of a pipe ends early
      1    failure; for verify also: ids differ; for search only: nothing was found
      2    wrong usage; for search also: failure
      124  for train: --deadline ended the run, and its result is incomplete
      130  interrupted; 143 terminated
    """
