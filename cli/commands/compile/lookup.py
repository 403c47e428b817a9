"""The command `fst compile lookup`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.commands.compile.table import output_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName


@click.command("lookup", cls=CliCommand)
@click.argument("sources", type=FileName(), metavar="FILE…", nargs=-1, required=True)
@output_option
@click.option("--inverse", is_flag=True, default=None, help="Store both directions, for `fst lookup --inverse`.")
@click.option(
    "--sections",
    callback=lambda _ctx, _parameter, names: names and names.split(","),
    metavar="KIND,…",
    show_default="all standard; .dix: its own",
    help="The kinds of the sections of AT&T text: standard, inconditional, preblank, postblank.",
)
def command(sources: tuple[str, ...], output: str, **options: Any) -> None:
    """Compile a transducer into a table for `fst lookup`.

    FILE is a transducer, such as a morphology: AT&T text, as foma, HFST, OpenFst and lt-print write it (.att, .txt), an
    optimized-lookup file of HFST (.hfstol), a dictionary of Apertium (.dix) or of Hunspell (.aff or .dic, the other file next to it), a
    lexicon of foma, HFST and Giella (.lexc), an OpenFst file (.fst), or a list of words and analyses, separated by a tab (.tsv) or a
    comma (.csv). Each may be packed with gzip. Several files of lexc are read in the order given, as one lexicon.

    A transducer of foma reads analyses: pass --inverse here and to `fst lookup`.

    \b
    Examples:
      fst compile lookup eng.att.gz -o eng.npz
      fst compile lookup apertium-hin.hin.dix -o hin.npz --inverse
      fst compile lookup analyser-gt-desc.hfstol -o sme.npz
      fst compile lookup spa.att --sections inconditional,standard,standard -o spa.npz
      fst compile lookup root.lexc nouns.lexc verbs.lexc -o words.npz --inverse
      fst compile lookup es_ES.aff -o stems.npz
      fst compile lookup words.tsv -o words.npz --inverse
    """
    write_table("fst.compile:lookup", sources, output, **options)
