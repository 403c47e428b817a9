"""The tokenizer of WordPiece tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CONTINUES_RUN, HAS_MARKS, WHITESPACE
from fst.core.lazy import Lazy
from fst.machines.wordpiece.added_tokens import with_contextual
from fst.machines.wordpiece.arguments import Arguments
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.front_end import Pending
from fst.runtime.machines.wordpiece.normalizer import StepNormalizer, Steps
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import CANDIDATES, AfterSpaces, SafeCuts
from fst.runtime.tokenizer import Tokenizer
from fst.tables.header import AddedTokens


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
        if table.metadata.added_tokens.contextual and not table.finds_in_steps:
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

    def _with_added_tokens_renamed(self, added: AddedTokens) -> WordPieceTokenizer:
        """Make a tokenizer without added tokens, because new names would need new classes of characters. A text after an added token has
        the ids of a whole text.
        """
        root = self._table.specials[:1].copy()
        root[0, 1] = -1  # no child
        none = replace(added, specials={}, contextual={}, context=None, normalized=())
        header = replace(self._table.metadata, added_tokens=none).to_json()
        return type(self)(replace(self._table, specials=root, header=header))

    def _pending(self, runner: Runner) -> Pending:
        return super()._pending(runner) or Runs(self._table, runner.with_spans)


def spaces(tables: WordPieceTable) -> str:
    """Return the characters after which any text may be cut: an empty str if words in the tables do not end at spaces."""
    codes = np.array(list(map(ord, CANDIDATES)))
    are_whitespace = tables.classes[2 * tables.classes_of(codes).astype(np.int64)] == WHITESPACE
    in_specials = (codes[:, None] == tables.specials[1:, 0]).any(axis=1)
    return "".join(map(chr, codes[are_whitespace & ~in_specials]))


class Runs:
    """A test for pending text of WordPiece: an unfinished run of combining marks. A kernel reads a run only after it has found the run's
    end.

    Args:
        tables: the tables of the stream's tokenizer.
        with_spans: whether spans are requested. With spans, a run may also begin with a mark that is mapped to no symbol.
    """

    def __init__(self, tables: WordPieceTable, with_spans: bool) -> None:
        self._tables = tables
        self._begins = HAS_MARKS | CONTINUES_RUN if with_spans else HAS_MARKS
        self._end = ""  # the last characters of the run; a special token may begin in them

    def begins(self, text: str) -> bool:
        """Whether the whole text is an unfinished run of marks. If the result is True, call `go_on` with each following text."""
        self._end = text[0]
        return bool(self._flags(text[0])[0] & self._begins) and self.go_on(text[1:])

    def go_on(self, text: str) -> bool:
        """Whether the run covers the whole next text: the text contains only marks, and no special token ends in the text."""
        if not (self._flags(text) & CONTINUES_RUN).all():
            return False
        specials = self._tables.specials_in_runs
        known = self._end + text
        self._end = known[-max(map(len, specials), default=1) :]
        return not any(special in known for special in specials)

    def _flags(self, text: str) -> NDArray[np.uint8]:
        """Return the flags of each character; 0 if the record of a character is not a list of symbols."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return self._tables.flags[self._tables.classes_of(codes)]
