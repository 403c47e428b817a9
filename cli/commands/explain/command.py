"""The command `fst explain`."""

from __future__ import annotations

from collections.abc import Iterator
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import click

from fst.cli.files.streams import keep_apart, show
from fst.cli.group import CliCommand
from fst.cli.options import table_argument
from fst.errors import TextError
from fst.runtime.files.streams import STANDARD

if TYPE_CHECKING:
    from fst.tables.table import Table

EXPLAINED = {  # kind of table → the function that yields the lines of an explanation
    "bpe": "pieces:explained_bytes",
    "guide": "guide:explained_masks",
    "keywords": "walks:explained_matches",
    "lookup": "walks:explained_analyses",
    "overlapping-keywords": "walks:explained_matches",
    "rules": "walks:explained_rules",
    "unigram": "pieces:explained_bytes",
    "wordpiece": "wordpiece:explained_words",
}


@click.command("explain", cls=CliCommand)
@table_argument
@click.argument("text")
def command(table: str, text: str) -> None:
    """Show step by step how TEXT becomes tokens; for other tables, what is found in TEXT.

    WordPiece shows each word twice: first the steps of LinMaxMatch over the trie, with the tokens that each failure link pops, as in Table
    2 of Song et al. 2021; then the transducer, with one transition per character. BPE shows each pre-token with the state and the last
    token after each byte. Unigram shows the tokens that begin at each character with their scores, and the sums along the best path.

    Token masks show the tokens that may follow, keywords the matches, and look-up the analyses. Rules show the text of each stage, and
    the matches in it, with the context that fails.

    \b
    Examples:
      fst explain bert.npz "unaffable"
      fst explain guide.npz ""
      fst explain plural.npz "citys"
      fst explain bert.npz -- "--text that begins with a hyphen"
    """
    from fst.cli.tables import load

    keep_apart([STANDARD], [table])
    show(explained(load(table, *EXPLAINED), text))


def explained(table: Table, text: str) -> Iterator[str]:
    """The lines that explain how a text becomes tokens, or what a table of another kind finds in it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextError(f"TEXT is not UTF-8 at character {error.start}; correct it") from None
    lines: Iterator[str] = resolve_name(f"fst.cli.commands.explain.{EXPLAINED[table.kind]}")(table, text)
    return lines
