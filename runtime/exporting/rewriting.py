"""Exports of rewriters: a sequence of calls, each of which reads the text that the call before it has written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall
from fst.runtime.exporting.calls import Calls
from fst.runtime.exporting.export import Export
from fst.runtime.machines.best_path.running import BestPaths
from fst.runtime.machines.rules.running import Stages
from fst.runtime.machines.rules.stages import KeyStage, PassStage
from fst.runtime.rewriting.rewriter import Rewriter
from fst.runtime.rewriting.rows import MARGIN, NO_SPANS
from fst.tables.kernel_call import State

Array = NDArray[Any]

begin_spans, run_passes, run_keys, run_best_path, turn = (
    Deferred("fst.runtime.exporting.kernels.rewriting", name)
    for name in ("begin_spans", "run_passes", "run_keys", "run_best_path", "turn")
)


class Step(NamedTuple):
    """A call that rewrites a text.

    Attributes:
        kernel: the kernel.
        own: a function that returns the kernel's own arguments; its argument is the array of columns, which all steps share.
    """

    kernel: Deferred
    own: Callable[[Array], tuple[Any, ...]]


class Text(NamedTuple):
    """The arguments of a kernel that are a text.

    Attributes:
        text: uint8[n], and `MARGIN` bytes.
        starts: int64[2], 0 and the number of bytes.
        spans: int32[2 * n + 2], or empty.
    """

    text: Array
    starts: Array
    spans: Array


def of_rewriter(rewriter: Rewriter) -> Export:
    """Export a rewriter. The own calls of the program are two sequences of equal length: without spans, and with spans."""
    return Export(partial(rewriter_calls, *sequences(rewriter._rewriting)), host="rewriter")


def sequences(rewriting: Any) -> tuple[list[Step], list[Step]]:
    """The steps that rewrite a text, without and with spans. With spans, rules run their stages instead of compositions."""
    if isinstance(rewriting, BestPaths):
        steps = [Step(run_best_path, partial(_of_best_path, rewriting))]
        return steps, steps
    assert isinstance(rewriting, Stages)
    made = {stage: _step_of(stage) for stage, _ in (*rewriting._single, *rewriting._path)}
    turns = Step(turn, lambda _: ())
    plain, aligned = (
        [each for stage, is_mirrored in stages for each in ([turns, made[stage], turns] if is_mirrored else [made[stage]])]
        for stages in (rewriting._path, rewriting._single)
    )
    return plain, aligned


def _step_of(stage: PassStage | KeyStage) -> Step:
    if isinstance(stage, KeyStage):
        return Step(run_keys, lambda _: (stage._keys, np.zeros(3, np.uint64)))
    return Step(run_passes, lambda columns: (stage._stage, stage._quiet, columns))


def _of_best_path(paths: BestPaths, _: Array) -> tuple[Any, ...]:
    work = paths._table.work()
    return paths.start(), np.uint64(paths._table.writes_characters), paths._arguments, work._replace(counts=np.zeros_like(work.counts))


def rewriter_calls(plain: Sequence[Step], aligned: Sequence[Step], units: int) -> Calls:
    """Prepare the calls of a rewriter for texts of at most `units` bytes, before and after each step."""
    given, new = new_text(units), new_text(units)
    between = [new_text(units), new_text(units)]
    columns = np.zeros(units + MARGIN, np.uint16)
    own = {step: step.own(columns) for step in {*plain, *aligned}}
    without, with_spans = (
        [*_sequence(steps, own, given, between, new, has_spans)] for steps, has_spans in ((plain, False), (aligned, True))
    )
    with_spans.insert(0, PreparedCall(begin_spans, *given))
    size = max(len(without), len(with_spans))
    calls = [*without, *[None] * (size - len(without)), *with_spans, *[None] * (size - len(with_spans))]
    arrays = {"text": given.text, "starts": given.starts, "state": State()}
    arrays |= {"new_text": new.text, "new_starts": new.starts, "new_spans": new.spans}
    return Calls(units, arrays, {f"step_{number}": call for number, call in enumerate(calls)})


def new_text(units: int) -> Text:
    """The arrays of a text of at most `units` bytes."""
    return Text(np.zeros(units + MARGIN, np.uint8), np.zeros(2, np.int64), np.zeros(2 * (units + MARGIN) + 2, np.int32))


def _sequence(
    steps: Sequence[Step], own: Any, given: Text, between: Sequence[Text], new: Text, has_spans: bool
) -> Iterator[PreparedCall]:
    """The calls from a given text to the new text, with texts between them in turn."""
    for number, step in enumerate(steps):
        target = new if number == len(steps) - 1 else between[number % 2]
        given, target_of_call = (each if has_spans else each._replace(spans=NO_SPANS) for each in (given, target))
        yield PreparedCall(step.kernel, *given, *own[step], *target_of_call)
        given = target
