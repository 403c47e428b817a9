"""The command `fst count`: the number of documents and tokens in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from fst.cli.files.progress import progress, report
from fst.cli.files.streams import keep_apart, show
from fst.cli.group import CliCommand
from fst.cli.options import encoding_options, files_argument, reading_options, table_argument
from fst.runtime.files.streams import STANDARD, size

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.runtime.files.documents import Documents


@click.command("count", cls=CliCommand)
@table_argument
@files_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@reading_options
@encoding_options
def command(
    table: str, files: tuple[str, ...], as_json: bool, no_special_tokens: bool, errors: str, threads: int | None, **reading: Any
) -> None:
    """Count the documents of each file and their tokens. FILE has the same formats as in `fst encode`.

    \b
    Examples:
      fst count bert.npz reviews.txt
      fst count bert.npz books-*.parquet --column text --no-special-tokens
      fst count bert.npz corpus.jsonl.gz --field text --json | jq .tokens
    """
    from fst.cli.files.pipeline import Policy
    from fst.cli.tables import load, ready
    from fst.runtime.files.inputs import Reading
    from fst.runtime.files.pieces import takes_pieces

    keep_apart([STANDARD], (table, *files))
    how = Reading(**reading, mends=errors == "replace")
    tables = load(table)
    total = size(files)
    how.check(files)
    tokenizer = ready(tables)
    how = replace(how, in_pieces=takes_pieces(tokenizer))
    policy, work, counts = Policy(errors), counting(tokenizer, add_special_tokens=not no_special_tokens, threads=threads), []
    with progress("counting", total) as advance:
        for name in files:
            with closing(policy.results(how.documents((name,), advance), work)) as results:
                counts.append(Count.of(name, results))
    show([json.dumps(as_object(counts))] if as_json else listed(counts))
    report(policy.notes())


@dataclass(frozen=True)
class Count:
    """The number of documents and tokens in a file."""

    file: str
    documents: int
    tokens: int

    @classmethod
    def of(cls, file: str, parts: Iterable[tuple[int, int]]) -> Count:
        """The count of a file, summed over the counts of its parts."""
        documents = tokens = 0
        for more_documents, more_tokens in parts:
            documents, tokens = documents + more_documents, tokens + more_tokens
        return cls(file, documents, tokens)


def counting(tokenizer: Tokenizer, **options: Any) -> Callable[[Documents, str], tuple[int, int]]:
    """A function that counts documents and their tokens; `options` are those of `Tokenizer.count_tokens`."""
    return lambda documents, errors: (len(documents), documents.count(tokenizer, errors, **options))


def as_object(counts: Sequence[Count]) -> dict[str, Any]:
    """The counts of all files and their sum, as a JSON object."""
    total = asdict(_total(counts))
    del total["file"]
    return {"files": [asdict(count) for count in counts], **total}


def listed(counts: Sequence[Count]) -> Iterator[str]:
    """The counts as lines of text: a line for each file, then, if there are several files, a line for the sum."""
    rows = [("documents", "tokens", "file")]
    shown = counts if len(counts) == 1 else [*counts, _total(counts)]
    rows += [(f"{count.documents:,}", f"{count.tokens:,}", count.file) for count in shown]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return (f"{documents:>{widths[0]}}  {tokens:>{widths[1]}}  {file}" for documents, tokens, file in rows)


def _total(counts: Sequence[Count]) -> Count:
    return Count.of("total", ((count.documents, count.tokens) for count in counts))
