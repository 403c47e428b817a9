"""The layout of a call's rows: the ids of each row, and the arrays of the result."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.runtime.model_inputs.encoding import Ints, as_tensor
from fst.runtime.model_inputs.options import Options
from fst.runtime.model_inputs.plan import ADDED, CAPACITY, LENGTH, ONLY_FIRST, ONLY_SECOND, PAIRED, PLAN_FIELDS, STRATEGY, STRIDE
from fst.runtime.model_inputs.templates import Template

plan_rows, lay_out = (Deferred("fst.runtime.model_inputs.kernel", name) for name in ("plan_rows", "lay_out"))


class Layout(NamedTuple):
    """The plan of a call's rows.

    Attributes:
        plan: the output ``plan`` of `fst.runtime.model_inputs.kernel.plan_rows`.
        width: the minimum length of rows, to which shorter rows are padded.
        size: the length of every row, padding included; None if rows differ in length.
        options: the options of the call.
    """

    plan: Ints
    width: int
    size: int | None
    options: Options

    @property
    def sizes(self) -> Ints:
        """The number of tokens in each row, padding included."""
        return np.maximum(self.plan[:, LENGTH], self.width)

    def put(self, values: NDArray[np.int32], template: Template) -> Ints:
        """Make the planes of all rows, int64[planes, n]: the first plane contains the values of ids, all other planes contain constants of
        the template.
        """
        single, pair = template
        count = len(self.plan) * self.size if self.size is not None else self.sizes.sum()
        planes = np.empty((single.shape[1] - 1, count), np.int64)
        lay_out.call(values, self.plan, single, pair, self.width, self.options.pad_left, planes)
        return planes

    def rows(self, plane: Any) -> Iterator[Any]:
        """Split a plane into rows."""
        ends = np.cumsum(self.sizes).tolist()
        return (plane[start:end] for start, end in pairwise([0, *ends]))

    def members(self, planes: Ints) -> dict[str, Any]:
        """Make the members of the result that contain one number per token."""
        names, kind = self.options.names, self.options.kind
        if self.size is None or kind is None:
            return {name: self.member(name, plane) for name, plane in zip(names, planes, strict=True)}
        arrays = planes.reshape(len(names), len(self.plan), self.size)
        arrays = arrays if kind == "np" else as_tensor("input_ids", arrays, kind)
        return {name: arrays[plane] for plane, name in enumerate(names)}

    def member(self, name: str, plane: Ints) -> Any:
        """Make a member of the result from a plane with one number, or one span, per token."""
        kind = self.options.kind
        if kind is None:
            flat = plane.tolist()
            return list(self.rows(flat if plane.ndim == 1 else list(map(tuple, flat))))
        if self.size is None:
            return as_tensor(name, list(self.rows(plane)), kind)
        return as_tensor(name, plane.reshape(len(self.plan), self.size, *plane.shape[1:] if self.size else ()), kind)

    def numbers(self, name: str, numbers: Ints) -> Any:
        """Make a member of the result from an array with one number per row."""
        kind = self.options.kind
        return numbers.tolist() if kind is None else as_tensor(name, numbers.copy(), kind)


def planned(splits: Ints, samples: Ints, options: Options) -> Layout:
    """Truncate samples, and plan their rows."""
    cut = options.cut
    if options.tight:
        _check_capacity(samples, cut)
    plan = np.empty((len(samples), PLAN_FIELDS), np.int64)
    rows, longest, least, most, wrong = plan_rows.call(splits, samples, cut, plan)
    if wrong >= 0:
        raise _refusal(wrong, samples[wrong].tolist(), splits, cut)
    if rows > len(plan):
        plan = np.empty((rows, PLAN_FIELDS), np.int64)
        _, longest, least, most, _ = plan_rows.call(splits, samples, cut, plan)
    width = options.padded(longest)
    size = most if most > width else width
    return Layout(plan, width, size if least >= size or width == size or not rows else None, options)


def _check_capacity(samples: Ints, cut: Ints) -> None:
    """Raise an error for a `max_length` that is less than the number of special tokens around a text or a pair."""
    for paired in set(samples[:, PAIRED].tolist()):
        capacity, added = int(cut[CAPACITY + paired]), int(cut[ADDED + paired])
        if capacity < 0:
            raise ValueError(f"max_length is {capacity + added}; expected at least {added}, the number of special tokens around a text")


def _refusal(row: int, sample: list[int], splits: Ints, cut: Ints) -> ValueError:
    """Make the error for a sample that cannot be truncated as requested."""
    first, first_end, second, second_end, paired = sample
    strategy, capacity, stride = int(cut[STRATEGY]), int(cut[CAPACITY + paired]), int(cut[STRIDE])
    lengths = [int(splits[first_end] - splits[first]), int(splits[second_end] - splits[second])]
    found = f"row {row} has {' and '.join(map(str, lengths[: 1 + paired]))} ids; expected at most {capacity}"
    if strategy == ONLY_SECOND and not paired:
        return ValueError(f"{found}; truncation is 'only_second', and the row has no second text; pass 'longest_first'")
    for name, only, length in (("only_first", ONLY_FIRST, lengths[0]), ("only_second", ONLY_SECOND, lengths[1])):
        if strategy == only and length <= sum(lengths) - capacity:
            return ValueError(f"{found}; truncation is {name!r}, which leaves nothing of this text; pass 'longest_first'")
    return ValueError(f"{found}; stride is {stride}, and a window must go beyond the previous window; pass a smaller stride")
