"""The command `fst rewrite`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from fst.cli.group import CliCommand
from fst.cli.options import files_argument, format_option, output_options, reading_options, table_argument, working_options
from fst.errors import TextError

if TYPE_CHECKING:
    from fst import Rewriter
    from fst.cli.files.pipeline import Policy
    from fst.runtime.files.documents import Documents


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
    --errors skip also skips documents that have no path through the transducer.

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
    from fst.cli.files.job import Job
    from fst.cli.files.outputs import Target
    from fst.cli.files.writers import writing_texts
    from fst.cli.tables import load_for, ready

    forms = forms_of("lines", "json", advice="write JSON lines (.jsonl), or Parquet")
    job = Job(Target(output, form, overwrite, resume), forms, files, table, reading, errors)
    tables = load_for("Rewriter", table)
    job.check_inputs()
    rewriter = ready(tables, _use)
    with job.progress("rewriting"):
        for each in job.outputs:
            how = job.how_for(each)
            work = _rewriting(rewriter, threads, how.carried_name, job.policy)
            job.write(each, how, work, writing_texts(each.name, each.form, how.end))


def _use(rewriter: Rewriter) -> None:
    """Use a rewriter once; a transducer may have no path for the text."""
    with suppress(TextError):
        rewriter.apply(b"a")


def _rewriting(rewriter: Rewriter, threads: int | None, text_name: str | None, policy: Policy) -> Callable[[Documents], Documents]:
    """A function that rewrites documents; with `text_name`, the function also adds each new text to its document as a field of this
    name.
    """

    def rewrite(documents: Documents) -> Documents:
        try:
            texts = documents.rewrite(rewriter, threads)
        except TextError as error:  # if the document is not text, the policy for such documents takes precedence
            if error.row is None or documents.not_text():
                raise
            if not policy.skips:
                reason = str(error).removeprefix(f"row {error.row}: ")
                raise TextError(f"{documents.place(documents.numbers[error.row])}: {reason}") from None
            kept = _rewritable(documents, rewriter, threads)
            policy.skipped += len(documents) - len(kept)
            documents = documents.taken(kept)
            texts = documents.rewrite(rewriter, threads)
        return replace(documents if text_name is None else documents.carrying(texts, text_name), texts=texts)

    return rewrite


def _rewritable(documents: Documents, rewriter: Rewriter, threads: int | None) -> list[int]:
    """The rows of the documents that have a new text."""
    kept, rest = list[int](), [*range(len(documents))]
    while rest:
        before = _rows_before_fault(documents.taken(rest), rewriter, threads)
        kept, rest = [*kept, *rest[:before]], rest[before + 1 :]
    return kept


def _rows_before_fault(documents: Documents, rewriter: Rewriter, threads: int | None) -> int:
    """The number of documents before the first document without a new text."""
    try:
        documents.rewrite(rewriter, threads)
    except TextError as error:
        if error.row is None:
            raise
        return error.row
    return len(documents)
