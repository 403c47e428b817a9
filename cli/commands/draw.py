"""The command `fst draw`."""

from __future__ import annotations

import click

from fst.cli.files.streams import keep_apart, written
from fst.cli.group import CliCommand
from fst.cli.parameters import FileName, Name
from fst.errors import UnsupportedError
from fst.runtime.files.streams import STANDARD


@click.command("draw", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@click.option("-o", "--output", type=Name(), default=STANDARD, show_default=True, help="The picture; '-' is standard output.")
@click.option("--around", metavar="TEXT", default=None, help="Draw only the states and arcs that reading TEXT passes.", show_default="all")
def command(source: str, output: str, around: str | None) -> None:
    """Draw a transducer. FILE is AT&T text (.att, .txt), an OpenFst file (.fst, .far), or pairs of strings (.tsv, .csv).

    The picture is text in the language DOT; for an output that ends in .svg, graphviz draws it.

    \b
    Examples:
      fst draw rules.att -o rules.svg
      fst draw eng.att.gz --around flies | dot -Tpdf > flies.pdf

    \b
    $ printf '0\\t1\\ta\\tb\\n1\\n' > a.att; fst draw a.att | grep label=.a
    0 -> 1 [label="a:b"]
    """
    from fst.compile.algebra import draw
    from fst.compile.algebra.machine import Fst
    from fst.compile.machines.lookup.sources import machine_of

    keep_apart([output], [source])
    picture = Fst.of(machine_of(source, None)[0]).draw(around)
    if output.endswith(".svg"):
        drawn = draw.svg(picture)
        if drawn is None:
            raise UnsupportedError("graphviz is not installed, or took too long; install it, or write an output that ends in .dot")
        picture = drawn
    with written(output) as file:
        file.write(picture.encode())
