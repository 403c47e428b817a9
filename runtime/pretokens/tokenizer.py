"""The common part of the tokenizers of byte-level BPE and Unigram, which split texts into pre-tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.runtime.front_end import Pending, TextBuffers
from fst.runtime.pretokens.pending import OpenPretoken, PendingPretoken
from fst.runtime.pretokens.safe_cuts import PretokenBegins, leave_ascii
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints, Source, Units
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import SafeCuts
from fst.runtime.text.normalizer import TextNormalizer
from fst.runtime.tokenizer import Tokenizer
from fst.runtime.workspace import Ids
from fst.tables.header import SENTENCEPIECE, AddedTokens
from fst.text.normalizer import Normalizer


class PretokenTokenizer(Tokenizer):
    """A tokenizer with a `fst.pretokens.table.PretokenTable`."""

    _table: Any

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        text = self._table.metadata.text
        leaves_spaces = text.normalizer is None or not text.normalizer.whitespace.symbol
        is_safe = leaves_spaces and leave_ascii(part["type"] for part in text.normalizers or ())
        return PretokenBegins(self._table, self._ids_runner.arguments.shared) if is_safe else None

    def _encode(self, source: Source, *, with_spans: bool = False, **options: Any) -> Batch:
        batch = super()._encode(source, with_spans=with_spans, **options)
        if batch.offsets is not None:
            before, after = map(len, options["special_ids"])
            firsts = batch.row_splits[:-1] + before
            self._trim(batch.ids, batch.offsets, firsts[firsts < batch.row_splits[1:] - after])
        return batch

    def _trim(self, ids: Ids, offsets: Ids | Ints, firsts: Ints) -> None:  # noqa: ARG002 - subclasses use `firsts`
        """Change spans as in ``sentencepiece``: the last byte token of a character gets the character's span; the byte tokens before it get
        empty spans at the begin of the character. For exports, the kernel `fst.runtime.exporting.kernels.trimming` replaces this method and
        `_trim` of subclasses; tests/export/test_trimming.py compares the kernel with the methods.
        """
        if self._table.metadata.text.reference.startswith(SENTENCEPIECE):
            goes_on = np.flatnonzero(self._continues[ids[1:]])
            offsets[goes_on, 1] = offsets[goes_on, 0]

    @Lazy
    def _continues(self) -> NDArray[np.bool_]:
        """bool[ids], whether the token of each id is a byte that continues a character."""
        return self._stand_for(range(0x80, 0xC0))

    def _stand_for(self, bytes_: Iterable[int]) -> NDArray[np.bool_]:
        """Return bool[ids], whether the token of each id is the fallback of a byte in `bytes_`."""
        found = np.zeros(int(self._table.token_ids.max()) + 1, np.bool_)
        found[self._table.fallbacks_of(bytes_)] = True
        return found

    @property
    def _normalizer(self) -> PretokenNormalizer | None:
        text = self._metadata.text
        if text.normalizer is None:
            return None
        return PretokenNormalizer(self._table.marked_arguments(), text.normalizer, self._metadata.added_tokens, text.trimming)

    def _with_added_tokens_renamed(self, added: AddedTokens) -> PretokenTokenizer:
        table = self._table
        return type(self)(replace(table, header=replace(table.metadata, added_tokens=added).to_json()))

    def _pending(self, runner: Runner) -> Pending:
        return super()._pending(runner) or PendingPretoken(self._ids_runner.arguments.shared)

    @Lazy
    def _ids_runner(self) -> Runner:
        return Runner(self._table, self._table.arguments(), self._workspaces, front_end=self._normalizer)

    @Lazy
    def _spans_runner(self) -> Runner:
        self._need_spans()
        ids = self._ids_runner
        return Runner(self._table, ids.arguments, self._workspaces, with_spans=True, front_end=ids.front_end)

    def _need_spans(self) -> None:
        """Raise an error if ids do not determine spans."""


class PretokenNormalizer(TextNormalizer):
    """A front end that normalizes texts for a `fst.pretokens.table.PretokenTable`; the arguments are as in `TextNormalizer`."""

    def __init__(self, arguments: Any, by: Normalizer, added: AddedTokens, trimming: bool | None) -> None:
        super().__init__(arguments, by, added, trimming)
        self._shared = arguments.shared

    def goes_on(self, text: Units, buffers: TextBuffers) -> bool:
        """Whether the first pre-token of a normalized text continues to the end of the text."""
        if buffers.unfinished is None:
            buffers.unfinished = OpenPretoken(self._shared)
        if buffers.unfinished.goes_on_in(text):
            return True
        buffers.unfinished = None
        return False
