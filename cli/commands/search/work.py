"""Search files: read, search and write at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from fst.cli.commands.search.matches import counting, finding, replacing
from fst.cli.commands.search.writers import TAKE_PIECES, is_colored, writing
from fst.cli.files.outputs import Output, how_for
from fst.cli.files.pipeline import Policy
from fst.cli.files.streams import show
from fst.cli.files.texts import writing_texts
from fst.runtime.files.inputs import Reading

if TYPE_CHECKING:
    from fst import Searcher

Advance = Callable[[int], None]


class Search:
    """A job that searches files for keywords.

    Args:
        searcher: the searcher, with the keywords.
        how: the options for reading files.
        errors: the treatment of documents that are not text, as in `Policy`.
        threads: the maximum number of threads.

    Attributes:
        found: the number of matches so far.
    """

    def __init__(self, searcher: Searcher, how: Reading, errors: str, threads: int | None) -> None:
        self._searcher, self._how, self._threads = searcher, how, threads
        self._policy = Policy(errors)
        self.found = 0

    def count(self, files: Sequence[str], advance: Advance) -> None:
        """Print the number of matches in each file."""
        how, count_matches, lines = replace(self._how, in_pieces=True), counting(self._searcher, self._threads), list[str]()
        for name in files:
            with closing(self._policy.results(how.documents((name,), advance), count_matches)) as results:
                count = sum(int(found.counts.sum()) for found in results)
            self.found += count
            lines.append(f"{name}:{count}" if len(files) > 1 else str(count))
        show(lines)

    def find(self, output: Output, advance: Advance, *, names: bool, color: str) -> None:
        """Find the matches in the input files of an output, and write them."""
        form, how = output.form, how_for(output, self._how, in_pieces=output.form in TAKE_PIECES)
        colored = is_colored(color, output.name)
        name = how.text_name if how.others else None
        is_counted = form == "lines" and not colored  # without colour, the output does not contain the positions of matches
        find = counting(self._searcher, self._threads) if is_counted else finding(self._searcher, self._threads, name)
        keywords, file_names = self._searcher.keywords if names else None, len(output.inputs) > 1
        with (
            writing(output.name, form, keywords=keywords, file_names=file_names, colored=colored, end=how.end) as write,
            closing(self._policy.results(how.documents(output.inputs, advance), find)) as results,
        ):
            for found in results:
                self.found += int(found.counts.sum())
                write(found)

    def replace(self, output: Output, advance: Advance, by: str) -> None:
        """Write all documents of an output's input files, with `by` in place of each match."""
        how = how_for(output, self._how)
        rewrite = replacing(self._searcher, by, self._threads, how.text_name if how.others else None)
        with (
            writing_texts(output.name, output.form, how.end) as write,
            closing(self._policy.results(how.documents(output.inputs, advance), rewrite)) as results,
        ):
            for documents in results:
                write(documents)

    def notes(self) -> Iterator[str]:
        """See `Policy`."""
        return self._policy.notes()
