"""The command `fst explain`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from fst.cli.files.streams import keep_apart, show
from fst.cli.group import CliCommand
from fst.cli.options import table_argument
from fst.errors import TextError
from fst.runtime.files.streams import STANDARD

if TYPE_CHECKING:
    from fst.tables.table import Table


@click.command("explain", cls=CliCommand)
@table_argument
@click.argument("text")
def command(table: str, text: str) -> None:
    """Show step by step how TEXT becomes tokens; for other tables, what is found in TEXT.

    WordPiece shows each word twice: first the steps of LinMaxMatch over the trie, with the tokens that each failure link pops, as in Table
    2 of Song et al. 2021; then the transducer, with one transition per character. BPE shows each pre-token with the state and the last
    token after each byte. Unigram shows the tokens that begin at each character with their scores, and the sums along the best path.
    Japanese BERT shows each word of MeCab with its tokens.

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
    show(explained(load(table, _function), text))


def explained(table: Table, text: str) -> Iterator[str]:
    """The lines that explain how a text becomes tokens, or what a table of another kind finds in the text."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextError(f"TEXT is not UTF-8 at character {error.start}; correct it") from None
    function = _function(table)
    assert function is not None
    return function(table, text)


def _function(table: Table) -> Callable[[Table, str], Iterator[str]] | None:
    """The function that explains tables of a kind, or None."""
    from fst.cli.commands.explain import machines

    names = (f"explained_{name}" for name in (table.kind.replace("-", "_"), table.folder()))
    return next((getattr(machines, name) for name in names if hasattr(machines, name)), None)
