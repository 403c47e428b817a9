"""The command `fst draw`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fst.cli.files.streams import keep_apart, written
from fst.cli.group import CliCommand
from fst.cli.options import FileName, Name
from fst.errors import UnsupportedError
from fst.runtime.files.streams import STANDARD

if TYPE_CHECKING:
    from fst.tables.table import Table

PICTURES = "svg", "png"


@click.command("draw", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@click.option("-o", "--output", type=Name(), default=STANDARD, show_default=True, help="The picture; '-' is standard output.")
@click.option("--around", metavar="TEXT", default=None, help="Draw only the states that TEXT passes.", show_default="all")
def command(source: str, output: str, around: str | None) -> None:
    """Draw a compiled table or a transducer. FILE is a table (.npz), AT&T text (.att, .txt), a dictionary of Apertium (.dix) or of
    Hunspell (.aff, .dic), a lexicon (.lexc), an optimized-lookup file of HFST (.hfstol), an OpenFst file (.fst, .far), or pairs of
    strings (.tsv, .csv).

    Around a text, the picture of a table has the states that the text passes and the arcs between them; failure links are folded in, and
    the path of the text is red. Unigram, jieba and MeCab show the possible words of the text, and the chosen ones are red.

    The picture is text in the language DOT; for an output that ends in .svg or .png, graphviz draws it.

    \b
    Examples:
      fst draw bert.npz --around unaffable -o unaffable.svg
      fst draw rules.att -o rules.svg
      fst draw eng.att.gz --around flies | dot -Tpdf > flies.pdf

    \b
    $ printf 'ab\\n' > words.txt; fst compile keywords words.txt -o ab.npz; fst draw ab.npz --around ab | grep ':ab'
    1 -> 0 [label="b:ab", color="#c0392b", fontcolor="#c0392b", penwidth=2]
    """
    from fst.automata.dot import drawn

    keep_apart([output], [source])
    text, form = _picture(source, around), Path(output).suffix[1:]
    picture = drawn(text, form) if form in PICTURES else text.encode()
    if picture is None:
        raise UnsupportedError("graphviz is not installed, or took too long; install it, or write an output that ends in .dot")
    with written(output) as file:
        file.write(picture)


def _picture(source: str, around: str | None) -> str:
    if source.endswith(".npz"):
        from fst import registry

        table: Table = registry.load(source)
        return table.draw(around)
    from fst.compile.algebra.machine import Fst
    from fst.compile.machines.lookup.sources import machine_of

    return Fst.of(machine_of(source)).draw(around)
