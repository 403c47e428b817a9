"""The command `fst rewrite`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from fst.cli.files.progress import progress, report
from fst.cli.files.streams import standard_output
from fst.cli.group import CliCommand
from fst.cli.options import files_argument, format_option, output_options, reading_options, table_argument, working_options
from fst.errors import TextError
from fst.runtime.files.streams import STANDARD, size

if TYPE_CHECKING:
    from fst import Rewriter
    from fst.cli.files.outputs import Output
    from fst.cli.files.pipeline import Policy
    from fst.runtime.files.documents import Documents
    from fst.runtime.files.inputs import Reading


@click.command("rewrite", cls=CliCommand)
@table_argument
@files_argument
@output_options
@format_option("lines", "json", "arrow", "parquet", default="lines")
@reading_options
@working_options
def command(
    table: str,
    files: tuple[str, ...],
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    errors: str,
    threads: int | None,
    **reading: Any,
) -> None:
    """Rewrite documents. TABLE is from `fst compile rules` or `fst compile best-path`. FILE and output folders work as in `fst encode`.

    \b
    --format, or the ending of the output, chooses the format:
      lines           the new documents
      json            an object per document: its fields or columns, or else text,
                      with the new text
      arrow, parquet  all columns of the input, with the new texts

    \b
    Examples:
      fst rewrite spanish.npz words.txt > sounds.txt
      fst rewrite spanish.npz books.parquet --column text -o sounds.parquet --threads 2

    \b
    $ echo "r -> ɾ / [aeiou] _ [aeiou]" > r.rules; fst compile rules r.rules -o r.npz
    $ echo "caro" | fst rewrite r.npz
    caɾo
    """
    from fst.cli.files.formats import forms_of
    from fst.cli.files.outputs import Target, inputs_of
    from fst.cli.files.pipeline import Policy
    from fst.cli.tables import load_for, ready
    from fst.runtime.files.inputs import Reading

    how = Reading(**reading, mends=errors == "replace")
    forms = forms_of("lines", "json", advice="write JSON lines (.jsonl), or Parquet")
    outputs = Target(output, form, overwrite, resume).outputs(forms, files, table, how)
    tables = load_for("Rewriter", table)
    total = size(inputs_of(outputs))
    how.check(inputs_of(outputs))
    rewriter, policy = ready(tables, _use), Policy(errors)
    with progress("rewriting", total, hidden=output == STANDARD and standard_output().isatty()) as advance:
        for each in outputs:
            _rewrite(each, how, policy, rewriter, threads, advance)
    report(policy.notes())


def _use(rewriter: Rewriter) -> None:
    """Use a rewriter once; a transducer may have no path for the text."""
    with suppress(TextError):
        rewriter.apply(b"a")


def _rewrite(
    output: Output, how: Reading, policy: Policy, rewriter: Rewriter, threads: int | None, advance: Callable[[int], None]
) -> None:
    """Write all documents of an output's input files, with new texts."""
    from fst.cli.files.outputs import how_for
    from fst.cli.files.texts import writing_texts

    how = how_for(output, how)

    def work(documents: Documents, errors: str) -> Documents:
        documents = documents.mended() if errors == "replace" else documents
        try:
            texts = documents.rewrite(rewriter, threads)
        except TextError as error:  # if the document is not text, its policy takes precedence
            if error.row is None:
                raise
            raise TextError(f"{documents.place(documents.numbers[error.row])}: {str(error).removeprefix(f'row {error.row}: ')}") from None
        return replace(documents.carrying(texts, how.text_name) if how.others else documents, texts=texts)

    with (
        writing_texts(output.name, output.form, how.end) as write,
        closing(policy.results(how.documents(output.inputs, advance), work)) as results,
    ):
        for documents in results:
            write(documents)
