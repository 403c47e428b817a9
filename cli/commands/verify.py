"""The command `fst verify`: prove that a table is complete and safe, and compare its ids with the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fst.cli.files.progress import progress
from fst.cli.files.streams import keep_apart, show
from fst.cli.group import CliCommand
from fst.cli.options import FileName, named_files, reading_options, table_argument
from fst.core import remote
from fst.errors import TextError
from fst.runtime.files.streams import STANDARD, size

if TYPE_CHECKING:
    from fst.cli.peers.references import Reference
    from fst.cli.tables import TokenizerTable
    from fst.runtime.files.documents import Documents
    from fst.runtime.files.inputs import Reading

AROUND = 8  # tokens shown before and after the first difference
EXCERPT = 60  # characters of the text shown before and after the first difference


@click.command("verify", cls=CliCommand)
@table_argument
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE…|-]", callback=named_files)
@click.option("--against", type=FileName(), metavar="SOURCE", help="The file or folder that the reference reads.")
@reading_options
@click.pass_context
def command(ctx: click.Context, /, table: str, files: tuple[str, ...], against: str | None, **reading: Any) -> None:
    """Prove that a table is complete and safe, or compare its ids.

    With --against, the documents of FILE are also encoded by the reference library, without truncation and padding: by tokenizers for a
    tokenizer.json, tiktoken for a .tiktoken file, sentencepiece for a .model. The first difference in each file is printed, and the exit
    code is 1 if any ids differ, or if there are no documents. FILE has the same formats as in `fst encode`.

    \b
    Examples:
      fst verify bert.npz
      fst verify bert.npz --against tokenizer.json reviews.txt
      fst verify bert.npz --against bert-base-uncased/ books.parquet --column text
      fst verify gpt4.npz --against cl100k_base.tiktoken reviews.txt
    """
    if files and against is None:
        raise click.UsageError("a comparison of FILE needs a reference; name its file with --against, as in --against tokenizer.json")
    keep_apart([STANDARD], [table, *files])
    if against is None:
        from fst import registry

        registry.load(table)
        show([f"{table}: complete and safe"])
        return
    from fst.cli.peers.references import reference
    from fst.cli.tables import load
    from fst.runtime.files.inputs import Reading

    tables = load(table)
    files, how = files or (STANDARD,), Reading(**reading)
    total = size(files)
    how.check(files)
    with remote.fetched(against) as source, progress("verifying", total) as advance:
        comparison = Comparison(tables, reference(Path(source)))
        lines = list(comparison.lines(how, files, advance))
    if not comparison.documents:
        raise TextError("the input has no documents; name a file with text in it")
    show(lines)
    if not comparison.alike:
        ctx.exit(1)


@dataclass(frozen=True)
class Difference:
    """A document whose ids differ from the ids of the reference."""

    place: str
    text: str
    ids: list[int]
    expected: list[int]

    @property
    def first(self) -> int:
        """The index of the first token that differs."""
        pairs = zip(self.ids, self.expected, strict=False)
        return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(self.ids), len(self.expected)))

    def lines(self, name: Callable[[int], str], reference: Reference) -> Iterator[str]:
        """Yield the lines of text that show the difference. `name`: id of the table → its token. `reference`: the reference library."""
        own, theirs = [name(number) for number in self.ids], [reference.name(number) for number in self.expected]
        at = self.first
        yield f"{self.place}: not the ids of the reference, from token {at + 1} on"
        yield f"  text       {_excerpt(self.text, reference.place(self.text, at))}"
        yield f"  table      {_window(own, at)}"
        yield f"  reference  {_window(theirs, at)}"
        yield f"  first      {_token_at(own, self.ids, at)} in the table, {_token_at(theirs, self.expected, at)} in the reference"


class Comparison:
    """A comparison of the ids of a table with the ids of the reference library, file by file.

    Attributes:
        alike: whether the ids of all documents read so far are equal.
        documents: the number of documents read so far.
    """

    def __init__(self, table: TokenizerTable, reference: Reference) -> None:
        from fst.cli.files.ids import names
        from fst.cli.tables import ready

        self._tokenizer, self._reference = ready(table), reference
        self._names = names(table)
        self.alike, self.documents = True, 0

    def lines(self, how: Reading, files: tuple[str, ...], advance: Callable[[int], None]) -> Iterator[str]:
        """Yield the result for each file: the first difference, or the number of documents if all are equal."""
        for file in files:
            yield from self._file(how, file, advance)

    def _file(self, how: Reading, file: str, advance: Callable[[int], None]) -> Iterator[str]:
        count, shown, unit = 0, file, "line"
        for some in how.documents([file], advance):
            documents = some.in_utf8()
            self.documents += len(documents)
            if difference := self._difference(documents):
                self.alike = False
                yield from difference.lines(self._names.__getitem__, self._reference)
                return
            count, shown, unit = count + len(documents), documents.file, documents.unit
        yield f"{shown}: {count:,} {unit}{'s' * (count != 1)}, all with the ids of the reference"

    def _difference(self, documents: Documents) -> Difference | None:
        texts = [text.decode() for text in documents.texts]
        for row, (ids, expected) in enumerate(
            zip(self._tokenizer.encode_batch(documents.texts), self._reference.encode_batch(texts), strict=True)
        ):
            if ids.tolist() != expected:
                return Difference(documents.place(documents.numbers[row]), texts[row], ids.tolist(), expected)
        return None


def _window(tokens: list[str], at: int) -> str:
    first, last = max(at - AROUND, 0), at + AROUND + 1
    return " ".join(["…"] * (first > 0) + tokens[first:last] + ["…"] * (last < len(tokens)))


def _excerpt(text: str, at: int) -> str:
    first, last = max(at - EXCERPT, 0), at + EXCERPT
    return "…" * (first > 0) + repr(text[first:last]) + "…" * (last < len(text))


def _token_at(tokens: list[str], ids: list[int], at: int) -> str:
    return f"{tokens[at]} (id {ids[at]})" if at < len(ids) else "nothing"
