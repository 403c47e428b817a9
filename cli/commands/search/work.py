"""Search files: read, search and write at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fst.cli.commands.search.matches import counting, finding, replacing
from fst.cli.commands.search.writers import TAKE_PIECES, is_colored, writing
from fst.cli.files.job import Job
from fst.cli.files.outputs import Output
from fst.cli.files.streams import show
from fst.cli.files.texts import writing_texts

if TYPE_CHECKING:
    from fst import Searcher


class Search:
    """A job that searches files for keywords.

    Args:
        searcher: the searcher, with the keywords.
        job: the outputs.
        threads: the maximum number of threads.

    Attributes:
        found: the number of matches so far.
    """

    def __init__(self, searcher: Searcher, job: Job, threads: int | None) -> None:
        self._searcher, self._job, self._threads = searcher, job, threads
        self.found = 0

    def count(self, files: Sequence[str]) -> None:
        """Print the number of matches in each file."""
        how, count_matches, lines = replace(self._job.how, in_pieces=True), counting(self._searcher, self._threads), list[str]()
        for name in files:
            with self._job.results((name,), how, count_matches) as results:
                count = sum(int(found.counts.sum()) for found in results)
            self.found += count
            lines.append(f"{name}:{count}" if len(files) > 1 else str(count))
        show(lines)

    def find(self, output: Output, *, names: bool, color: str) -> None:
        """Find the matches in the input files of an output, and write them."""
        form, how = output.form, self._job.how_for(output, in_pieces=output.form in TAKE_PIECES)
        colored = is_colored(color, output.name)
        is_counted = form == "lines" and not colored  # without colour, the output does not contain the positions of matches
        find = counting(self._searcher, self._threads) if is_counted else finding(self._searcher, self._threads, how.carried_name)
        keywords, file_names = self._searcher.keywords if names else None, len(output.inputs) > 1
        with (
            writing(output.name, form, keywords=keywords, file_names=file_names, colored=colored, end=how.end) as write,
            self._job.results(output.inputs, how, find) as results,
        ):
            for found in results:
                self.found += int(found.counts.sum())
                write(found)

    def replace(self, output: Output, by: str) -> None:
        """Write all documents of an output's input files, with `by` in place of each match."""
        how = self._job.how_for(output)
        rewrite = replacing(self._searcher, by, self._threads, how.carried_name)
        self._job.write(output, how, rewrite, writing_texts(output.name, output.form, how.end))
