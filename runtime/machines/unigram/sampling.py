"""Segmentations of Unigram at random, and the n best: the runners that find them. `fst.machines.unigram.sampling` and
`fst.machines.unigram.nbest` say what they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.errors import TextError
from fst.machines.unigram.arguments import UnigramArguments
from fst.machines.unigram.sampling import Sampling, weights
from fst.machines.unigram.sampling_arguments import NBestArguments, SamplingArguments, most_narrow_bytes, nbest_work, sampling_work
from fst.machines.unigram.sampling_walk import scores_of
from fst.machines.unigram.table import UnigramTable
from fst.runtime.rows.batch import BLOCK
from fst.runtime.rows.texts import Limits, Source
from fst.runtime.run import NO_MORE, Buffers, Kernel, Runner
from fst.runtime.workspace import Frame, Ids, Workspace, Workspaces
from fst.tables.kernel_call import ROW

ONE_ROW = Limits(2 * BLOCK, 2 * BLOCK)
MOST_IDS = 1 << 28  # of all segmentations together


class Segmentation(NamedTuple):
    """A segmentation of a text.

    Attributes:
        ids: int32[n], the ids.
        score: the sum of the scores of its tokens, see `fst.machines.unigram.nbest`.
    """

    ids: Ids
    score: float


class Weights(NamedTuple):
    """The weights of all tokens by some alpha, see `fst.machines.unigram.sampling_arguments.SamplingArguments`."""

    numbers: NDArray[np.float64]
    exponents: NDArray[np.int64]
    most_bytes: NDArray[np.uint64]


class SamplingRunners:
    """Makes the runner of each call that samples.

    Args:
        table: the table.
        plain: the runner that does not.
        short: as in `Workspace`.
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
        self._last: tuple[float, Weights] | None = None  # the alpha and the weights of the last call

    def runner(self, by: Sampling, *, with_spans: bool) -> Runner:
        """The runner of a call."""
        seed = np.array([by.seed], np.uint64)
        if by.nbest_size > 0:
            return self._best_runner(by.nbest_size, 0, by.alpha, seed, with_spans, by.first_row)
        weighed = self._weights(by.alpha)
        arguments = [SamplingArguments(own, *weighed, seed) for own in self._own_arguments()]
        return self._made(self._of_all, arguments, self._workspaces, with_spans, by.first_row)

    def nbest(self, source: Source, most: int, frame: Frame, errors: str) -> list[Segmentation]:
        """The best segmentations of the only row of a source."""
        runner = self._best_runner(most, 1, 0.0, np.zeros(1, np.uint64), False, 0)
        workspace = runner.workspaces.take()
        text, starts = source.gather(0, 1, ONE_ROW, workspace.text, errors)
        room = most * runner.room(len(text), 1, frame)
        if len(starts) == 1 or room > MOST_IDS:
            raise TextError(f"the text is too long for its {most} best segmentations: cut it, or ask for fewer")
        buffers, ends = Buffers(with_spans=False), np.zeros(most, np.int64)
        buffers.reserve(room, 0)
        runner.encode(text, starts, NO_MORE, runner.output(frame, buffers, ends), workspace, buffers)
        count = int(workspace.state[ROW])
        rows = np.split(buffers.ids[: int(ends[count - 1])].copy(), ends[: count - 1])
        found = [Segmentation(*row) for row in zip(rows, workspace.work.totals[:count].tolist(), strict=True)]
        runner.workspaces.give_back(workspace)
        return found

    def _best_runner(self, most: int, is_every: int, alpha: float, seed: Any, with_spans: bool, first_row: int) -> Runner:
        asked = np.array([most], np.uint64), np.array([is_every], np.uint64), np.array([alpha]), seed
        arguments = [NBestArguments(own, *asked) for own in self._own_arguments()]
        return self._made(self._of_best, arguments, self._best_workspaces, with_spans, first_row)

    def _own_arguments(self) -> list[UnigramArguments]:
        """The arguments of the table's own kernel, with scores in float64; and those for rewritten texts, if texts are rewritten."""
        plain = self._plain
        found = [plain.arguments, *([plain.front_end.arguments] if plain.front_end else [])]
        unknown, limit, gains = (np.asarray(score, np.float64) for score in (plain.arguments.unknown, plain.arguments.limit, ()))
        ends = plain.arguments.ends._replace(gains=gains, unknown=unknown)  # only lists are read; these have the type of the kernel
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
