"""Compare a table with the reference, text by text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fst.cli.formats import names
from fst.cli.kernels import ready

if TYPE_CHECKING:
    from fst.cli.references import Reference
    from fst.machines.wordpiece.table import Tables
    from fst.runtime.files.documents import Documents
    from fst.runtime.files.inputs import Reading

AROUND = 8  # tokens shown before and after the first difference
EXCERPT = 60  # characters of the text shown before and after it


@dataclass(frozen=True)
class Difference:
    """A document whose ids differ from those of the reference."""

    place: str
    text: str
    ids: list[int]
    expected: list[int]

    @property
    def first(self) -> int:
        """The first token that differs."""
        pairs = zip(self.ids, self.expected, strict=False)
        return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(self.ids), len(self.expected)))

    def lines(self, name: Callable[[int], str], reference: Reference) -> Iterator[str]:
        """The difference, in words."""
        own, theirs = [name(number) for number in self.ids], [reference.name(number) for number in self.expected]
        at = self.first
        yield f"{self.place}: not the ids of the reference, from token {at + 1} on"
        yield f"  text       {_excerpt(self.text, reference.place(self.text, at))}"
        yield f"  table      {_window(own, at)}"
        yield f"  reference  {_window(theirs, at)}"
        yield f"  first      {_told(own, self.ids, at)} in the table, {_told(theirs, self.expected, at)} in the reference"


class Comparison:
    """A table and the reference, side by side."""

    def __init__(self, tables: Tables, reference: Reference) -> None:
        self._tokenizer, self._reference = ready(tables), reference
        self._names = names(tables)
        self.alike = True

    def lines(self, how: Reading, files: tuple[str, ...], advance: Callable[[int], None]) -> Iterator[str]:
        """The result for each file: its first difference, or that there is none."""
        for file in files:
            yield from self._file(how, file, advance)

    def _file(self, how: Reading, file: str, advance: Callable[[int], None]) -> Iterator[str]:
        count, shown, unit = 0, file, "line"
        for some in how.documents([file], advance):
            documents = some.in_utf8()
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


def _told(tokens: list[str], ids: list[int], at: int) -> str:
    return f"{tokens[at]} (id {ids[at]})" if at < len(ids) else "nothing"
