"""The tokenizer of WordPiece tables."""

from __future__ import annotations

from fst.core.lazy import Lazy
from fst.machines.wordpiece.added_tokens import with_contextual
from fst.machines.wordpiece.arguments import Arguments
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.front_end import Pending
from fst.runtime.machines.wordpiece.normalizer import FallbackFilter, NormalizingRunner, StepNormalizer
from fst.runtime.machines.wordpiece.pending import Runs
from fst.runtime.machines.wordpiece.safe_cuts import spaces
from fst.runtime.rows.texts import MOST_UNITS
from fst.runtime.run import SHORT, Runner, capacity_for
from fst.runtime.safe_cuts import AfterSpaces, SafeCuts
from fst.runtime.tokenizer import Tokenizer
from fst.runtime.workspace import Workspace, Workspaces


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
        return Runner(table, arguments, self._workspaces, fallback=self._fallback(arguments, with_spans=False))

    @Lazy
    def _spans_runner(self) -> Runner:
        arguments = self._ids_runner.arguments._replace(token_lengths=self._table.token_lengths())
        fallback = self._fallback(arguments, with_spans=True)
        return Runner(self._table, arguments, self._workspaces, with_spans=True, fallback=fallback)

    def _fallback(self, arguments: Arguments, *, with_spans: bool) -> FallbackFilter | None:
        """The filter that finds the texts that must be normalised first; None if the alphabet expresses all texts."""
        metadata, normalizer = self._table.metadata, self._normalizer
        suspects, has_contextual = metadata.normalizer.suspects, bool(metadata.added_tokens.contextual)
        runs = [*suspects.ids, *(suspects.spans if with_spans else ())] if suspects else []
        if normalizer is None or not (runs or has_contextual):
            return None
        runner = NormalizingRunner(self._table, arguments, self._normalized_workspaces, normalizer, with_spans=with_spans)
        return FallbackFilter(runs, has_contextual, runner)

    @Lazy
    def _normalizer(self) -> StepNormalizer | None:
        steps = self._table.metadata.normalizer.steps
        return StepNormalizer(steps, self._table.metadata.added_tokens) if steps else None

    @Lazy
    def _normalized_workspaces(self) -> Workspaces:
        short = capacity_for(self._table.ids_per_unit, SHORT * MOST_UNITS["utf-8"], 1, self._special_ids)
        return Workspaces(lambda: Workspace(self._table.work(), "utf-8", short))

    def _streaming_runner(self, with_spans: bool) -> Runner:
        runner = super()._streaming_runner(with_spans)
        return runner.fallback.runner if runner.fallback else runner

    def _pending(self, with_spans: bool) -> Pending:
        runner = self._streaming_runner(with_spans)
        return runner.normalizer.pending() if isinstance(runner, NormalizingRunner) else Runs(self._table, with_spans)
