"""The tokenizer of WordPiece tables."""

from __future__ import annotations

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.machines.wordpiece.table import Tables
from fst.runtime.fallback import Fallback
from fst.runtime.machines.wordpiece.fallback_added_tokens import ContextualTokens
from fst.runtime.machines.wordpiece.fallback_composition import CompositionFallback
from fst.runtime.machines.wordpiece.pending import Runs
from fst.runtime.machines.wordpiece.safe_cuts import blanks
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import Blanks, SafeCuts
from fst.runtime.tokenizer import Tokenizer
from fst.text.composition import Placing
from fst.text.reading_arguments import Reader


class WordPieceTokenizer(Tokenizer):
    """A tokenizer over a WordPiece table."""

    backend = "fst.runtime.compat.transformers.wordpiece.WordPieceBackend"
    _table: Tables

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        characters = blanks(self._table)
        return Blanks(characters) if characters else None

    @Lazy
    def _ids_runner(self) -> Runner:
        arguments = self._table.arguments()
        fallback = self._fallback(arguments.reader, None)
        if isinstance(fallback, ContextualTokens):
            arguments = fallback.arguments(arguments)
        return Runner(self._table, arguments, self._workspaces, fallback=fallback)

    @Lazy
    def _spans_runner(self) -> Runner:
        ids, placing = self._ids_runner, self._metadata.normalizer.placing
        fallback = self._fallback(ids.arguments.reader, placing) if placing else ids.fallback
        arguments = ids.arguments._replace(token_lengths=self._table.token_lengths())
        return Runner(self._table, arguments, self._workspaces, with_spans=True, fallback=fallback)

    def _fallback(self, reader: Reader, placing: Placing | None) -> Fallback | None:
        """The fallback, which reads texts that kernels cannot; None if they can read every text."""
        composition = self._metadata.normalizer.composition
        if self._metadata.added_tokens.contextual:
            return ContextualTokens(self._table, reader, placing)
        return CompositionFallback(self._table, reader, composition, placing) if composition or placing else None

    def _streaming_runner(self, with_spans: bool) -> Runner:
        runner = super()._streaming_runner(with_spans)
        if runner.fallback:
            raise UnsupportedError(f"streams with {self._needs_whole_texts}: encode the whole text at once")
        return runner

    @property
    def _needs_whole_texts(self) -> str:
        """The feature for which streams are refused, for a message."""
        if self._metadata.added_tokens.contextual:
            return "added tokens in normalised text"
        composes = self._metadata.normalizer.composition is not None
        return f"normalisation that {'composes characters' if composes else 'orders marks in several steps'}"

    def _pending(self, with_spans: bool) -> Runs:
        return Runs(self._table, with_spans)
