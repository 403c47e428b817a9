"""Encode files: read, encode and write at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fst.cli.commands.encode.rows import Rows
from fst.cli.commands.encode.writers import TAKE_PIECES, writing
from fst.cli.files.formats import KEEP_OTHERS
from fst.cli.files.job import Job
from fst.cli.files.progress import Sum
from fst.runtime.files.pieces import takes_pieces

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.machines.wordpiece.table import WordPieceTable
    from fst.runtime.randomness import Randomness


class Encoding:
    """A job that encodes input files into output files.

    Args:
        job: the outputs.
        rows: the arguments of `Rows`, without the form.

    Attributes:
        done: the number of documents or rows, and of tokens, written so far.
    """

    def __init__(self, job: Job, rows: Mapping[str, Any]) -> None:
        self._job = job
        self._rows = {form: Rows(form, **rows) for form in dict.fromkeys(output.form for output in job.outputs)}
        self.done = Sum("document" if rows["stride"] is rows["pack"] is None else "row", "token")

    def check(self, tables: WordPieceTable) -> None:
        """Check the options against a vocabulary; see `Rows.check`."""
        for rows in self._rows.values():
            rows.check(tables)

    def run(self, tokenizer: Tokenizer, threads: int | None, randomness: Randomness | None) -> None:
        """Write all outputs. The random ids of an output depend only on the documents of this output."""
        for output in self._job.outputs:
            rows = self._rows[output.form]
            pieces = output.form in TAKE_PIECES and rows.takes_pieces and takes_pieces(tokenizer) and not randomness
            how = replace(self._job.how, others=output.form in KEEP_OTHERS, with_text=rows.text is not None, in_pieces=pieces)
            encode, is_partial = rows.encode(tokenizer, threads, randomness), rows.max_length is not None
            with (
                writing(output.name, output.form, tokenizer._table, with_tokens=rows.tokens, with_offsets=rows.offsets) as write,
                self._job.results(output.inputs, how, encode, is_partial=is_partial) as results,
            ):
                for encoded in rows.packed(results):
                    write(encoded)
                    self.done.add(len(encoded.ends), len(encoded.ids))
