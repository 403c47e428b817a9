"""The command `fst compile guide`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fst.cli.commands.compile.table import output_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName
from fst.core.remote import fetched


@click.command("guide", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="TOKENIZER.npz")
@output_option
@click.option("--regex", metavar="PATTERN", help="The pattern that a text matches as a whole.")
@click.option("--schema", type=FileName(), metavar="FILE.json", help="A JSON Schema of the texts.")
@click.option("--grammar", type=FileName(), metavar="FILE", help="A grammar of the texts.")
@click.option("--syntax", type=click.Choice(["lark", "gbnf", "ebnf", "structural_tag"]), help="With --grammar: the syntax of the grammar.")
@click.option("--end-id", type=int, metavar="ID", show_default="by its name", help="The id of the special token that ends a text.")
@click.option("--canonical", is_flag=True, help="Allow only the tokens that the tokenizer itself gives.")
@click.option(
    "--whitespace",
    metavar="PATTERN",
    show_default="one space or none",
    help="With --schema: the whitespace that may be between two tokens of JSON.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    metavar="N",
    show_default="recursive schemas are refused",
    help="With --schema: how often a recursive schema is entered again below itself, and the levels of values without a schema.",
)
@click.option(
    "--formats/--no-formats",
    default=None,
    show_default="by the draft in $schema",
    help="With --schema: whether `format` restricts strings.",
)
@click.option(
    "--order",
    type=click.Choice(["schema", "any"]),
    show_default="schema",
    help="With --schema: the order of properties; any: for few properties.",
)
@click.option("--strict", is_flag=True, default=None, help="With --schema: objects have only properties that the schema mentions.")
def command(source: str, output: str, schema: str | None, grammar: str | None, **options: Any) -> None:
    """Compile the token masks of a pattern, a schema or a grammar.

    A mask contains the tokens that a language model may write next. `fst.Guide` loads the table. TOKENIZER.npz is the table of a
    tokenizer. `fst explain` shows the tokens that may follow a text.

    \b
    Examples:
      fst compile guide gpt2.npz --regex "[0-9]{4}-[0-9]{2}" -o month.npz
      fst compile guide gpt2.npz --schema person.json -o person.npz
      fst compile guide gpt2.npz --schema tree.json --depth 3 --whitespace "[ \\n]*" -o tree.npz
      fst compile guide gpt2.npz --grammar dates.gbnf --syntax gbnf -o dates.npz
      fst explain month.npz "2026"
    """
    from fst.cli.tables import load

    alone = [f"--{name}" for name in ("whitespace", "depth", "formats", "order", "strict") if options[name] is not None and not schema]
    if alone:
        raise click.UsageError(f"{', '.join(alone)} is given without a schema; pass --schema, or leave it out")
    if sum(each is not None for each in (options["regex"], schema, grammar)) != 1:
        raise click.UsageError("--regex, --schema and --grammar are three ways to describe texts; expected one of them")
    if (options["syntax"] is None) != (grammar is None):
        raise click.UsageError("--grammar and --syntax belong together; pass both, or neither")
    texts = {"schema": _text(schema), "grammar": _text(grammar)}
    write_table("fst.compile:guide", source, output, named=load, **texts, **options)


def _text(name: str | None) -> str | None:
    """The text of a file, if one is given."""
    from fst.compile.files import read_text

    if name is None:
        return None
    with fetched(name) as path:
        return read_text(Path(path))
