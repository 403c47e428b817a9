"""The job of a command that writes documents: its outputs, their inputs, the progress, and the notes at the end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, replace
from typing import Any, TypeVar

from fst.cli.files.formats import KEEP_OTHERS, Forms
from fst.cli.files.outputs import Output, Target, without
from fst.cli.files.pipeline import Policy, Work, mending
from fst.cli.files.progress import Sum, progress, report
from fst.cli.files.streams import standard_output
from fst.cli.files.writers import Write
from fst.runtime.files.documents import Documents
from fst.runtime.files.inputs import Reading
from fst.runtime.files.streams import STANDARD, size

Result = TypeVar("Result")


class Job:
    """Outputs of a command, which reads, works and writes at the same time.

    Args:
        target, forms, files, table, of_text: the outputs, as in `Target.outputs`.
        reading: the options for reading files, arguments of `Reading`.
        errors: the treatment of documents that are not text, as in `Policy`.

    Attributes:
        how: the options for reading files.
        all_outputs: the files that the command writes if it is run with all shares, and without --resume.
        outputs: the files to write.
        target: where the outputs are.
        policy: the treatment of documents that are not text.
    """

    def __init__(
        self,
        target: Target,
        forms: Forms,
        files: Sequence[str],
        table: str,
        reading: Mapping[str, Any],
        errors: str,
        of_text: str | None = None,
    ) -> None:
        self.how = Reading(**reading, mends=errors == "replace")
        self.all_outputs = target.outputs(forms, files, table, self.how, of_text)
        self.outputs = target.wanted(self.all_outputs, table)
        self._hidden = target.name == STANDARD and standard_output().isatty()
        self.target, self.policy = target, Policy(errors)

    @property
    def settings(self) -> dict[str, Any]:
        """The options for reading files, as values of JSON."""
        return {**asdict(self.how), "errors": self.policy.errors}

    def leave_out(self, complete: Sequence[Output]) -> None:
        """Do not write outputs that are complete."""
        self.outputs = without(self.outputs, complete)

    def check_inputs(self) -> None:
        """Check all input files before any document is read; see `Reading.check`."""
        inputs = list(dict.fromkeys(file for output in self.outputs for file in output.inputs))
        self._total = size(inputs) if all(output.group is None for output in self.outputs) else None
        self.how.check(inputs)

    @contextmanager
    def progress(self, label: str, done: Sum | None = None) -> Iterator[None]:
        """Show progress, as the function `progress` does, unless the terminal shows the output; at the end, show the notes of the
        policy.
        """
        with progress(label, self._total, hidden=self._hidden, done=done) as self._advance:
            yield
        report(self.policy.notes())

    def how_for(self, output: Output, *, in_pieces: bool = False) -> Reading:
        """The options for reading the inputs of an output: JSON, Arrow and Parquet also need the texts and the other fields or columns."""
        keeps_others = output.form in KEEP_OTHERS
        return replace(self.how, others=keeps_others, with_text=keeps_others, in_pieces=in_pieces)

    def results(
        self, files: Sequence[str], how: Reading, work: Work[Result], *, is_partial: bool = False
    ) -> AbstractContextManager[Generator[Result, None, None]]:
        """The results of `work` for the documents of files; see `Policy.results`. The files are closed at the end of the context."""
        return closing(self.policy.results(how.documents(files, self._advance), work, is_partial=is_partial))

    def write(
        self, output: Output, how: Reading, work: Callable[[Documents], Result], writing: AbstractContextManager[Write[Result]]
    ) -> None:
        """Write the results of `work` for the documents of an output's input files; malformed documents are treated as the policy says."""
        with writing as write, self.results(output.inputs, how, mending(work)) as results:
            for result in results:
                write(result)
