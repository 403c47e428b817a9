"""The command `fst convert`."""

from __future__ import annotations

import click

from fst.cli.files.streams import keep_apart, written
from fst.cli.group import CliCommand
from fst.cli.options import FileName
from fst.errors import UnsupportedError, quoted


@click.command("convert", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@click.argument("output", type=FileName(), metavar="OUTPUT")
def command(source: str, output: str) -> None:
    """Convert a transducer to another format. FILE is AT&T text (.att, .txt), a dictionary of Apertium (.dix) or of Hunspell (.aff,
    .dic), a lexicon (.lexc), an optimized-lookup file of HFST (.hfstol), an OpenFst file (.fst, .far), or pairs of strings (.tsv, .csv).
    OUTPUT is AT&T text (.att) or an OpenFst file (.fst).

    Sections, as in AT&T text of lt-print and in dictionaries, are joined.

    \b
    Examples:
      fst convert eng.att.gz eng.fst
      fst convert words.tsv words.att

    \b
    $ printf 'cat\\tcats\\n' > words.tsv; fst convert words.tsv words.att; head -n 1 words.att
    0\t1\tc\tc
    """
    from fst.compile.machines.lookup.sources import machine_of
    from fst.compile.sources.transducers import att, openfst

    keep_apart([output], [source])
    if not output.endswith((".att", ".fst")):
        raise UnsupportedError(f"the output is {quoted(output)}; expected a name that ends in .att or .fst")
    machine = machine_of(source)
    with written(output) as file:
        file.write(att.written(machine).encode() if output.endswith(".att") else openfst.packed(machine))
