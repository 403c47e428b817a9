"""The tokenizer of Japanese BERT: the words of MeCab, and WordPiece or characters in each word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fst.core.jit import Deferred
from fst.core.lazy import Lazy
from fst.errors import TextError
from fst.machines.segmentation.pieces import Arguments, MecabPieceTable, Words
from fst.runtime.front_end import Pending, TextBuffers, TextFrontEnd
from fst.runtime.rows.texts import Ints, Units
from fst.runtime.run import NO_MORE, NO_SUSPECTS, NOTHING, Runner, kernel_of
from fst.runtime.text.normalizer import TextNormalizer, restore, rewrite
from fst.runtime.tokenizer import Tokenizer
from fst.tables.header import AddedTokens
from fst.tables.kernel_call import SLACK, SpansOutput
from fst.text.arguments import Normalized, expansion_bound
from fst.text.marks import MARK

cut = Deferred("fst.runtime.machines.segmentation.kernels.pieces", "cut")


class MecabPieceTokenizer(Tokenizer):
    """A tokenizer with the tokens of ``BertJapaneseTokenizer``; made by `fst.load` or ``fst.Tokenizer(table)``. A stream returns the ids of
    its text when it is closed, because each word may depend on all of the text after it.
    """

    _table: MecabPieceTable

    @Lazy
    def _ids_runner(self) -> Runner:
        return Runner(self._table, self._table.arguments(), self._workspaces, front_end=WordCutter(self._table))

    @Lazy
    def _spans_runner(self) -> Runner:
        ids = self._ids_runner
        return Runner(self._table, ids.arguments, self._workspaces, with_spans=True, front_end=ids.front_end)

    def _with_added_tokens_renamed(self, added: AddedTokens) -> MecabPieceTokenizer:
        return type(self)(replace(self._table, header=replace(self._table.metadata, added_tokens=added).to_json()))


class WholeText(Pending):
    """The test for text that no kernel can read before the text ends: it is True for every text."""

    def begins(self, text: str) -> bool:  # noqa: ARG002
        """Whether the text is pending: True."""
        return True

    def go_on(self, text: str) -> bool:  # noqa: ARG002
        """Whether the text is still pending: True."""
        return True


class CutTexts(Normalized):
    """Normalized texts, and their words."""

    words: Words


class WordCutter(TextFrontEnd):
    """A front end that normalizes texts, and finds the words of MeCab in them."""

    expansion_bound: int
    kernels, restoring = (rewrite, cut), (restore,)

    def __init__(self, table: MecabPieceTable) -> None:
        self.arguments: Arguments = table.arguments()
        self._normalizer = TextNormalizer(None, table.normalizer, table.metadata.added_tokens, None)
        self.expansion_bound = expansion_bound(table.normalizer)
        self._ids, self._dictionary = table.marks(), table.dictionary
        self._lattice = self._dictionary.arguments()
        self._find_words = kernel_of(self._dictionary.kernel, "run_rows", len(SpansOutput._fields))
        self._idle: list[Any] = []  # the working arrays of MeCab's kernel, a pool without a lock, as in `fst.runtime.workspace`

    def border(self, text: Units, starts: Ints, memo: Any) -> int:  # noqa: ARG002
        """Return the beginning of a text that continues: it is rewritten when it ends."""
        return int(starts[0])

    def pending(self) -> Pending:
        """Make a test that finds all text pending."""
        return WholeText()

    def arguments_for(self, rewritten: Normalized) -> Arguments:
        """The kernel's argument ``table`` for rewritten texts: the arrays of the table, and the words of the texts."""
        assert isinstance(rewritten, CutTexts)
        return self.arguments._replace(words=rewritten.words)

    def rewrite(
        self, text: Units, starts: Ints, state: Any, buffers: TextBuffers, *, is_inside: bool, with_spans: bool, more: bool = False
    ) -> CutTexts:
        """Normalize texts, and find their words."""
        normalized = self._normalizer.rewrite(text, starts, state, buffers, is_inside=is_inside, with_spans=with_spans, more=more)
        found = CutTexts(*normalized)
        found.words = self._words(normalized)
        return found

    def _words(self, normalized: Normalized) -> Words:
        text = normalized.text[: normalized.starts[-1]]
        most = len(normalized.starts) + int(np.count_nonzero(text == MARK))
        units, bounds, firsts = np.empty(len(text), np.uint16), np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
        tokens = np.empty(most, np.int32)
        count = int(cut.call(text, normalized.starts, self._ids, units, bounds, tokens, firsts))
        units = units[: bounds[count]]
        ids, ends = np.empty(len(units) + SLACK, np.int32), np.empty(count, np.int64)
        output = SpansOutput(NOTHING, NOTHING, ids, ends, np.empty(2 * len(ids), np.int32), np.empty(len(ids), np.int32), NO_SUSPECTS)
        work = self._idle.pop() if self._idle else self._dictionary.work()
        work.state.fill(0)
        read = int(self._find_words.call(units, bounds[: count + 1], NO_MORE, self._lattice, output, work))
        self._idle.append(work)
        if read > len(units):
            raise TextError("a text has more possible segmentations than there is memory for: cut it")
        return Words(units, bounds[: count + 1], tokens[:count], firsts[: count + 1], ends, output.offsets)

    def restore(self, output: SpansOutput, first: Any, count: Any, rewritten: Normalized) -> None:  # type: ignore[override]
        """Convert the spans of ids into spans in the raw text."""
        self._normalizer.restore(output, first, count, Normalized(*rewritten))
