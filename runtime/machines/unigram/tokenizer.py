"""The tokenizer of Unigram tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.errors import TextError, UnsupportedError
from fst.machines.unigram.arguments import NBestArguments, SamplingArguments, UnigramArguments, most_narrow_bytes, nbest_work, sampling_work
from fst.machines.unigram.sampling import Sampling, weights, whole_paths
from fst.machines.unigram.table import UnigramTable, scores_of
from fst.machines.unigram.viterbi import PIECE
from fst.runtime.pretokens.tokenizer import PretokenTokenizer
from fst.runtime.rows.batch import BLOCK, Batch, Job
from fst.runtime.rows.texts import MOST_UNITS, Ints, Limits, Source, batch_of, check, rows_of, unknown_character
from fst.runtime.run import NO_MORE, Buffers, Kernel, Runner
from fst.runtime.safe_cuts import SafeCuts
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids, SpecialIds, Workspace, Workspaces
from fst.tables.kernel_call import SHORT


class UnigramTokenizer(PretokenTokenizer):
    """A tokenizer with a Unigram table; made by `fst.load` or ``fst.Tokenizer(table)``.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> from fst.compile import tokenizer
        >>> vocab = [["<unk>", 0], ["▁", -2], ["▁c", -3], ["af", -4], ["é", -5]]
        >>> spaces = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
        >>> parts = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}, "pre_tokenizer": spaces, "decoder": spaces}
        >>> _ = Path("coffee.json").write_text(json.dumps(parts))
        >>> tok = UnigramTokenizer(tokenizer("coffee.json"))
        >>> tok.tokenize("café ☕"), tok.decode(tok.encode("café"))
        (['▁c', 'af', 'é', '▁', '<unk>'], 'café')
    """

    _kinds_of_randomness = (Sampling,)
    _table: UnigramTable

    def _encode(self, source: Source, *, counted: bool = False, max_ids: int | None = None, **options: Any) -> Batch:
        """Encode rows, see `fst.runtime.encoder.Encoder`."""
        if self._table.encodes_all:
            return super()._encode(source, counted=counted, max_ids=max_ids, **options)
        batch = super()._encode(source, **options)
        unknown = np.flatnonzero(batch.ids < 0)
        if len(unknown):
            row = int(np.searchsorted(batch.row_splits, unknown[0], "right")) - 1
            text = source.text(row)
            raise self._unknown(text if isinstance(text, str) else bytes(text), row, options.get("errors", "strict"))
        return batch

    def _unknown(self, text: str | bytes, row: int, errors: str) -> TextError:
        """Make the error for a text with an unknown character. If the text is bytes, the position in the error is that of the character's
        first byte.
        """
        found = Job(rows_of(batch_of(text)), NO_SPECIAL_IDS, errors, self._spans_runner).run(1)
        assert found.offsets is not None
        place = int(found.offsets[np.argmax(found.ids < 0), 0])
        whole = text if isinstance(text, str) else text.decode(errors=errors)
        at = place if isinstance(text, str) else len(whole[:place].encode())
        return TextError(f"row {row}, position {at}: {unknown_character(whole, place)}", row, at)

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        return None if self._table.has_text_scope else super()._safe_cuts

    def _carried(self, workspace: Workspace) -> Sequence[Any]:
        return () if self._table.restarts == PIECE else (workspace.work.total,)

    def _trim(self, ids: Ids, offsets: Ids | Ints, firsts: Ints) -> None:
        """Give the span of an unknown word only to the id of the word's last byte, as `PretokenTokenizer` does for the bytes of a
        character.
        """
        if not self._table.is_word_type:
            super()._trim(ids, offsets, firsts)
            return
        goes_on = self._continues[ids[1:]] & (offsets[1:] == offsets[:-1]).all(axis=1)
        goes_on[firsts[firsts > 0] - 1] = False
        offsets[:-1][goes_on, 1] = offsets[:-1][goes_on, 0]

    @Lazy
    def _continues(self) -> NDArray[np.bool_]:
        """bool[ids], whether the token of each id is a byte that may continue a character, or an unknown word in a model of words."""
        return self._stand_for(range(256)) if self._table.is_word_type else super()._continues

    def nbest(self, text: str | bytes, n: int, *, add_special_tokens: bool = True, errors: str = "strict") -> list[Segmentation]:
        """Find the best segmentations of a text, in descending order of score.

        Args:
            text, add_special_tokens, errors: as in `encode`.
            n: the maximum number of segmentations, 1 to 1024.

        Returns:
            `n` segmentations with their scores, or all segmentations of the text if there are fewer than `n`. The ids of the first
            segmentation equal the ids from `encode`, except where the scores of two segmentations differ only by rounding. [Their
            order](exactness.md#sampling) is defined, even for equal scores.

        Raises:
            TextError: the argument is not text, the text is too long for `n` segmentations, or a character is unknown, and the vocabulary
                has no unknown token.
            UnsupportedError: each token is a word, so a text has only one segmentation.
            ValueError: `n` or `errors` has an invalid value.

        Examples:
            >>> import fst, json
            >>> from pathlib import Path
            >>> from fst.compile import tokenizer
            >>> vocab = [["<unk>", 0], ["c", -2], ["a", -3], ["f", -4], ["caf", -6]]
            >>> _ = Path("coffee.json").write_text(json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}))
            >>> tok = fst.Tokenizer(tokenizer("coffee.json"))
            >>> [(ids.tolist(), score) for ids, score in tok.nbest("caf", 5)]
            [([4], -6.0), ([1, 2, 3], -9.0)]
        """
        whole_paths("n", n, 1)
        check(errors)
        rows = rows_of(batch_of(text))
        self._need_paths()
        if not self._table.encodes_all:
            self._encode(rows, special_ids=NO_SPECIAL_IDS, errors=errors)
        return self._sampling_runners.nbest(rows, int(n), self._special_ids if add_special_tokens else NO_SPECIAL_IDS, errors)

    def _random_runner(self, randomness: Sampling, with_spans: bool) -> Runner:
        if randomness.nbest_size in (0, 1):
            return self._spans_runner if with_spans else self._ids_runner
        self._need_paths()
        if with_spans:
            self._need_spans()
        return self._sampling_runners.runner(randomness, with_spans=with_spans)

    def _need_paths(self) -> None:
        """Raise an error if each token is a word; then a text has only one segmentation."""
        if self._table.is_word_type:
            raise UnsupportedError(
                "sampling, nbest: tokens are whole words, so a text has a single segmentation; call encode without randomness"
            )

    @Lazy
    def _sampling_runners(self) -> SamplingRunners:
        short = self._ids_runner.capacity(SHORT * MOST_UNITS[self._table.unit], 1, self._special_ids)
        return SamplingRunners(self._table, self._ids_runner, short)


ONE_ROW = Limits(2 * BLOCK, 2 * BLOCK)
MOST_IDS = 1 << 28  # maximum number of ids of all segmentations together


class Segmentation(NamedTuple):
    """A segmentation of a text.

    Attributes:
        ids: int32[n], the ids.
        score: the sum of the scores of the tokens, see `fst.machines.unigram.sampling`.
    """

    ids: Ids
    score: float


class Weights(NamedTuple):
    """The weights of all tokens for a value of alpha, see `fst.machines.unigram.arguments.SamplingArguments`."""

    numbers: NDArray[np.float64]
    exponents: NDArray[np.int64]
    most_bytes: NDArray[np.uint64]


class SamplingRunners:
    """A factory that makes a runner for each call with sampling, and runs n-best search.

    Args:
        table: the table.
        plain: the runner without sampling.
        short: the maximum number of ids of a short text, as in `fst.runtime.workspace.Workspace`.
    """

    def __init__(self, table: UnigramTable, plain: Runner, short: int) -> None:
        self._table, self._plain = table, plain
        self._of_all, self._of_best = (
            Kernel(f"unigram with {name}", table.unit, f"fst.runtime.machines.unigram.kernels.{name}", table.ids_per_unit)
            for name in ("sampling", "nbest")
        )
        longest = table.metadata.automaton.longest
        self._workspaces = Workspaces(lambda: Workspace(sampling_work(table.work(), longest), table.unit, short))
        self._best_workspaces = Workspaces(lambda: Workspace(nbest_work(table.work(), longest), table.unit, short))
        self._last: tuple[float, Weights] | None = None  # the value of alpha in the last call, and the weights for this value

    def runner(self, by: Sampling, *, with_spans: bool) -> Runner:
        """Make the runner for a call."""
        seed = np.array([by.seed], np.uint64)
        if by.nbest_size > 0:
            return self._best_runner(by.nbest_size, 0, by.alpha, seed, with_spans, by.first_row)
        weighed = self._weights(by.alpha)
        arguments = [SamplingArguments(own, *weighed, seed) for own in self._own_arguments()]
        return self._made(self._of_all, arguments, self._workspaces, with_spans, by.first_row)

    def nbest(self, source: Source, most: int, special_ids: SpecialIds, errors: str) -> list[Segmentation]:
        """Find the best segmentations of a source with one row."""
        runner = self._best_runner(most, 1, 0.0, np.zeros(1, np.uint64), False, 0)
        workspace = runner.workspaces.take()
        text, starts = source.gather(0, 1, ONE_ROW, workspace.text, errors)
        capacity = most * runner.capacity(len(text), 1, special_ids)
        if len(starts) == 1 or capacity > MOST_IDS:
            raise TextError(f"the text is too long for {most} segmentations; cut it, or request fewer")
        buffers, ends = Buffers(with_spans=False), np.zeros(most, np.int64)
        buffers.reserve(capacity, 0)
        runner.encode(text, starts, NO_MORE, runner.output(special_ids, buffers, ends), workspace, buffers)
        count = int(workspace.state.row)
        rows = np.split(buffers.ids[: int(ends[count - 1])].copy(), ends[: count - 1])
        found = [Segmentation(*row) for row in zip(rows, workspace.work.totals[:count].tolist(), strict=True)]
        runner.workspaces.give_back(workspace)
        return found

    def _best_runner(self, most: int, is_every: int, alpha: float, seed: Any, with_spans: bool, first_row: int) -> Runner:
        asked = np.array([most], np.uint64), np.array([is_every], np.uint64), np.array([alpha]), seed
        arguments = [NBestArguments(own, *asked) for own in self._own_arguments()]
        return self._made(self._of_best, arguments, self._best_workspaces, with_spans, first_row)

    def _own_arguments(self) -> list[UnigramArguments]:
        """The arguments of the table's kernel, with scores in float64; if texts are normalized, also the kernel's arguments for normalized
        texts.
        """
        plain = self._plain
        found = [plain.arguments, *([plain.front_end.arguments] if plain.front_end else [])]
        unknown, limit, gains = (np.asarray(score, np.float64) for score in (plain.arguments.unknown, plain.arguments.limit, ()))
        ends = plain.arguments.ends._replace(gains=gains, unknown=unknown)  # the kernel expects these dtypes; it reads only the lists
        return [own._replace(scores=self._scores, unknown=unknown, limit=limit, ends=ends) for own in found]

    @Lazy
    def _scores(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = scores_of(self._table)
        return found

    def _made(self, kernel: Kernel, arguments: list[Any], workspaces: Workspaces, with_spans: bool, first_row: int) -> Runner:
        front_end: Any = self._plain.front_end
        front_end = front_end and front_end.reading_by(arguments[-1])
        return Runner(kernel, arguments[0], workspaces, with_spans=with_spans, front_end=front_end, first_row=first_row)

    def _weights(self, alpha: float) -> Weights:
        last = self._last
        if last is None or last[0] != alpha:
            numbers, exponents = weights(self._scores, float(self._table.unknown), alpha)
            most = np.array([most_narrow_bytes(numbers, exponents)], np.uint64)
            last = self._last = alpha, Weights(np.append(numbers, 0.0), exponents if exponents.any() else exponents[:0], most)
        return last[1]
