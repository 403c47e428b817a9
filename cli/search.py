"""Search files: read, search and write at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from fst.cli.finding import counting, finding, replacing
from fst.cli.inputs import Reading
from fst.cli.matches import is_colored, writing, writing_texts
from fst.cli.outputs import KEEP_OTHERS
from fst.cli.pipeline import Policy
from fst.cli.streams import show

if TYPE_CHECKING:
    from fst import Searcher

Advance = Callable[[int], None]


class Search:
    """A search of files.

    Args:
        searcher: finds keywords.
        how: how files are read.
        errors: what to do with documents that are not text, as in `Policy`.
        threads: the maximum number of threads.

    Attributes:
        found: the number of matches so far.
    """

    def __init__(self, searcher: Searcher, how: Reading, errors: str, threads: int | None) -> None:
        self._searcher, self._how, self._errors, self._threads = searcher, how, errors, threads
        self._told: Sequence[str] = ()
        self.found = 0

    def count(self, files: Sequence[str], advance: Advance) -> None:
        """Print the number of matches in each file."""
        policy, lines = Policy(self._errors, counting(self._searcher, self._threads)), list[str]()
        for name in files:
            with closing(policy.results(self._how.documents((name,), advance))) as results:
                count = sum(int(found.counts.sum()) for found in results)
            self.found += count
            lines.append(f"{name}:{count}" if len(files) > 1 else str(count))
        self._told = [*policy.told()]
        show(lines)

    def find(self, files: Sequence[str], advance: Advance, output: str, form: str, *, names: bool, color: str) -> None:
        """Write what is found."""
        colored = is_colored(color, output)
        name = self._how.text_name if form in KEEP_OTHERS else None
        is_counted = form == "lines" and not colored  # what is written says nothing of places
        find = counting(self._searcher, self._threads) if is_counted else finding(self._searcher, self._threads, name)
        policy = Policy(self._errors, find)
        keywords = self._searcher.keywords if names else None
        with (
            writing(output, form, keywords=keywords, file_names=len(files) > 1, colored=colored, end=self._how.end) as write,
            closing(policy.results(self._how.documents(files, advance))) as results,
        ):
            for found in results:
                self.found += int(found.counts.sum())
                write(found)
        self._told = [*policy.told()]

    def replace(self, files: Sequence[str], advance: Advance, by: str, output: str, form: str) -> None:
        """Write all documents with `by` in place of each match."""
        name = self._how.text_name if form in KEEP_OTHERS else None
        policy = Policy(self._errors, replacing(self._searcher, by, self._threads, name))
        with (
            writing_texts(output, form, self._how.end) as write,
            closing(policy.results(self._how.documents(files, advance))) as results,
        ):
            for documents in results:
                write(documents)
        self._told = [*policy.told()]

    def told(self) -> Iterator[str]:
        """The lines to print at the end."""
        yield from self._told
