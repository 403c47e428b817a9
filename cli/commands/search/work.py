"""Search files: read them, find, count or replace keywords, and write, at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fst.cli.commands.search.writers import TAKE_PIECES, Found, is_colored, writing
from fst.cli.files.job import Job
from fst.cli.files.outputs import Output
from fst.cli.files.pipeline import mending
from fst.cli.files.streams import show
from fst.cli.files.writers import writing_texts
from fst.runtime.files.documents import Documents

if TYPE_CHECKING:
    from fst import Searcher


Find = Callable[[Documents], Found]


def finding(searcher: Searcher, threads: int | None, text_name: str | None) -> Find:
    """A function that finds matches in documents; with `text_name`, the function also adds each text to its document as a field of this
    name.
    """

    def find(documents: Documents) -> Found:
        matches, nulls = documents.find(searcher, threads)
        carrying = documents if text_name is None else documents.carrying(documents.texts, text_name)
        return Found(carrying, np.diff(matches.row_splits), matches, nulls)

    return find


def counting(searcher: Searcher, threads: int | None) -> Find:
    """A function that counts the matches in documents."""

    def count(documents: Documents) -> Found:
        return Found(documents, documents.count_matches(searcher, threads))

    return count


def replacing(searcher: Searcher, by: str, threads: int | None, text_name: str | None) -> Callable[[Documents], Documents]:
    """A function that replaces matches; with `text_name`, the function also adds each new text to its document as a field of this name."""
    def rewrite(documents: Documents) -> Documents:
        texts = documents.replace(searcher, by, threads)
        carrying = documents if text_name is None else documents.carrying(texts, text_name)
        return replace(carrying, texts=texts)

    return rewrite


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
            with self._job.results((name,), how, mending(count_matches)) as results:
                count = sum(int(found.counts.sum()) for found in results)
            self.found += count
            lines.append(f"{name}:{count}" if len(files) > 1 else str(count))
        show(lines)

    def find(self, output: Output, *, names: bool, color: str) -> None:
        """Find the matches in the input files of an output, and write them."""
        form, how = output.form, self._job.how_for(output, in_pieces=output.form in TAKE_PIECES)
        colored = is_colored(color, output.name)
        is_counted = form == "lines" and not colored  # without colour, lines need no positions of matches
        find = counting(self._searcher, self._threads) if is_counted else finding(self._searcher, self._threads, how.carried_name)
        keywords, file_names = self._searcher.keywords if names else None, len(output.inputs) > 1
        with (
            writing(output.name, form, keywords=keywords, file_names=file_names, colored=colored, end=how.end) as write,
            self._job.results(output.inputs, how, mending(find)) as results,
        ):
            for found in results:
                self.found += int(found.counts.sum())
                write(found)

    def replace(self, output: Output, by: str) -> None:
        """Write all documents of an output's input files, with the text `by` in place of each match."""
        how = self._job.how_for(output)
        rewrite = replacing(self._searcher, by, self._threads, how.carried_name)
        self._job.write(output, how, rewrite, writing_texts(output.name, output.form, how.end))
