"""The tokenizer of WordPiece tables."""

from __future__ import annotations

from fst.core.lazy import Lazy
from fst.machines.wordpiece.added_tokens import with_contextual
from fst.machines.wordpiece.arguments import Arguments
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.front_end import Pending
from fst.runtime.machines.wordpiece.normalizer import StepNormalizer, Steps
from fst.runtime.machines.wordpiece.pending import Runs
from fst.runtime.machines.wordpiece.safe_cuts import spaces
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import AfterSpaces, SafeCuts
from fst.runtime.tokenizer import Tokenizer


class WordPieceTokenizer(Tokenizer):
    """A tokenizer over a WordPiece table."""

    _table: WordPieceTable

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        characters = spaces(self._table)
        return AfterSpaces(characters) if characters else None

    @Lazy
    def _ids_runner(self) -> Runner:
        table, arguments = self._table, self._table.arguments()
        if table.metadata.added_tokens.contextual:
            arguments = with_contextual(arguments, table)
        return Runner(table, arguments, self._workspaces, front_end=self._front_end(arguments, with_spans=False))

    @Lazy
    def _spans_runner(self) -> Runner:
        arguments = self._ids_runner.arguments._replace(token_lengths=self._table.token_lengths())
        front_end = self._front_end(arguments, with_spans=True)
        return Runner(self._table, arguments, self._workspaces, with_spans=True, front_end=front_end)

    def _front_end(self, arguments: Arguments, *, with_spans: bool) -> StepNormalizer | None:
        """Make the front end for texts that must be normalized first; return None if the alphabet expresses all texts."""
        metadata, steps = self._table.metadata, self._steps
        suspects = metadata.normalizer.suspects
        runs = [*suspects.ids, *(suspects.spans if with_spans else ())] if suspects else []
        return StepNormalizer(self._table, arguments, steps, runs) if steps and (runs or metadata.added_tokens.contextual) else None

    @Lazy
    def _steps(self) -> Steps | None:
        steps = self._table.metadata.normalizer.steps
        return Steps(steps, self._table.metadata.added_tokens) if steps else None

    def _pending(self, runner: Runner) -> Pending:
        return super()._pending(runner) or Runs(self._table, runner.with_spans)
