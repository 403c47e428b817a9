"""The command `fst explain`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from fst.cli.files.streams import keep_apart, show
from fst.cli.group import CliCommand
from fst.cli.options import table_argument
from fst.errors import TextError
from fst.runtime.files.streams import STANDARD

if TYPE_CHECKING:
    from fst.tables.table import Table


OTHERS = ("guide", "keywords", "overlapping-keywords", "rules", "lookup")  # the kinds of tables without tokens that are explained


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
    show(explained(load(table, *OTHERS), text))


def explained(tables: Table, text: str) -> Iterator[str]:
    """Yield the lines that explain how a text becomes tokens, or what a table of `OTHERS` finds in it.

    Raises:
        TextError: the text contains a lone surrogate.
    """
    from fst.cli.commands.explain.guide import explained_masks
    from fst.cli.commands.explain.pieces import explained_bytes
    from fst.cli.commands.explain.walks import explained_analyses, explained_matches, explained_rules
    from fst.cli.commands.explain.wordpiece import Explanation
    from fst.compile.machines.wordpiece.compiler import source_of
    from fst.machines.bpe.table import BpeTable
    from fst.machines.guide.table import GuideTable
    from fst.machines.keywords.table import KeywordTable
    from fst.machines.lookup.table import LookupTable
    from fst.machines.rules.table import RulesTable
    from fst.machines.unigram.table import UnigramTable
    from fst.machines.wordpiece.table import WordPieceTable

    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TextError(f"TEXT is not UTF-8 at character {error.start}; correct it") from None
    if isinstance(tables, BpeTable | UnigramTable):
        return explained_bytes(tables, text)
    if isinstance(tables, GuideTable):
        return explained_masks(tables, text)
    if isinstance(tables, KeywordTable):
        return explained_matches(tables, text)
    if isinstance(tables, RulesTable):
        return explained_rules(tables, text)
    if isinstance(tables, LookupTable):
        return explained_analyses(tables, text)
    assert isinstance(tables, WordPieceTable)
    return Explanation(source_of(tables)).lines(text)
