"""Model inputs: the kernels that plan rows and lay out ids give the same results as slow definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runtime.calls import STRATEGIES
from support.tiers import examples

from fst.runtime.model_inputs.kernel import lay_out, plan_rows


def slow_windows(ids: list[int], size: int, stride: int, from_left: bool) -> list[list[int]]:
    """Cut ids into windows of a size; each window repeats the last `stride` ids of the preceding window."""
    if size >= len(ids):
        return [ids]
    if size == 0:
        return [[], ids]
    if stride >= size:
        raise ValueError("stride")
    found = []
    if from_left:
        for stop in range(len(ids), 0, stride - size):
            found.append(ids[max(stop - size, 0) : stop])
            if stop <= size:
                break
    else:
        for start in range(0, len(ids), size - stride):
            found.append(ids[start : start + size])
            if start + size >= len(ids):
                break
    return found


def slow_lengths(first: int, second: int | None, strategy: str, capacity: int) -> tuple[int, int]:
    """Return the number of ids of each text that remain after truncation."""
    total = first + (second or 0)
    if strategy == "do_not_truncate" or total <= capacity:
        return first, second or 0
    if capacity == 0:
        return 0, 0
    if strategy == "longest_first":
        if second is None:
            return capacity, 0
        swap = first > second
        low, high = sorted((first, second))
        high = low if low > capacity else max(low, capacity - low)
        if low + high > capacity:
            low = capacity // 2
            high = low + capacity % 2
        return (high, low) if swap else (low, high)
    kept = [first, second or 0]
    place = int(strategy == "only_second")
    if place and second is None:
        raise ValueError("no second text")
    if kept[place] <= total - capacity:
        raise ValueError("too short")
    kept[place] -= total - capacity
    return kept[0], kept[1]


def slow_rows(
    first: list[int], second: list[int] | None, strategy: str, capacity: int, stride: int, from_left: bool, every: bool, reverse: bool
) -> list[tuple[list[int], list[int]]]:
    """Return the ids of both texts in each row of a sample."""
    size, second_size = slow_lengths(len(first), None if second is None else len(second), strategy, capacity)
    a, b = slow_windows(first, size, stride, from_left), slow_windows(second or [], second_size, stride, from_left)
    outer, inner = (b, a) if reverse else (a, b)
    found = [(outer[0], inner[0])]
    if every:
        found += [(one, other) for one in outer[1:] for other in inner]
        found += [(outer[0], other) for other in inner[1:]]
    return [(other, one) if reverse else (one, other) for one, other in found]


@pytest.mark.slow
@examples(400)
@given(
    samples=st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=4),
    strategy=st.sampled_from(STRATEGIES),
    capacity=st.integers(0, 12),
    stride=st.integers(0, 4),
    from_left=st.booleans(),
    every=st.booleans(),
    reverse=st.booleans(),
)
def test_the_plan_is_that_of_its_slow_twin(
    samples: list[tuple[int, int | None]], strategy: str, capacity: int, stride: int, from_left: bool, every: bool, reverse: bool
) -> None:
    """The plan has the same rows, orders and lengths as the slow definition, and refuses the same texts."""
    lengths = [length or 0 for sample in samples for length in sample]
    splits = np.cumsum([0, *lengths])
    table = np.array([[2 * n, 2 * n + 1, 2 * n + 1, 2 * n + 2, pair is not None] for n, (_, pair) in enumerate(samples)], np.int64)
    cut = np.array([STRATEGIES.index(strategy), capacity, capacity, stride, from_left, every, 2, 3, reverse], np.int64)
    plan = np.empty((1000, 7), np.int64)
    expected: list[tuple[list[int], list[int], int, int]] = []
    longest, wrong = 0, -1
    for number, (_, pair) in enumerate(samples):
        ids = [list(range(splits[place], splits[place + 1])) for place in (2 * number, 2 * number + 1)]
        try:
            rows = slow_rows(ids[0], None if pair is None else ids[1], strategy, capacity, stride, from_left, every, reverse)
        except ValueError:
            wrong = number
            break
        expected += [(*row, int(pair is not None), number) for row in rows]
        longest = max(longest, sum(map(len, rows[0])) + (2 if pair is None else 3))
    count, found_longest, least, most, found_wrong = plan_rows(splits, table.reshape(-1, 5), cut, plan)
    assert found_wrong == wrong
    if wrong < 0:
        assert (count, found_longest) == (len(expected), longest)
        for row, (first, second, paired, sample) in zip(plan.tolist(), expected, strict=False):
            assert (list(range(*row[:2])), list(range(*row[2:4])), row[4], row[5]) == (first, second, paired, sample)
            assert row[6] == len(first) + len(second) + 2 + paired
        if expected:
            assert [least, most] == [pick(plan[:count, 6]) for pick in (min, max)]


PIECE = st.sampled_from([-1, 0, 1])


@pytest.mark.slow
@examples(300)
@given(
    pieces=st.tuples(st.lists(PIECE, max_size=5), st.lists(PIECE, max_size=5)),
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(0, 6), st.integers(0, 5), st.booleans()), max_size=4),
    planes=st.integers(1, 4),
    width=st.integers(0, 20),
    from_left=st.booleans(),
)
def test_the_layout_is_that_of_its_slow_twin(
    pieces: tuple[list[int], list[int]], rows: list[tuple[int, int, int, int, bool]], planes: int, width: int, from_left: bool
) -> None:
    """Each row consists of the parts of its template, and is padded on the given side."""
    values = np.arange(100, 112, dtype=np.int32)
    templates = [
        np.array([[piece, *(1000 * plane + 10 * number for plane in range(planes))] for number, piece in enumerate([*some, -1])], np.int64)
        for some in pieces
    ]
    plan: list[list[int]] = []
    expected: list[list[int]] = [[] for _ in range(planes)]
    for first, first_count, second, second_count, paired in rows:
        template = templates[paired].tolist()
        spans = [values[first : first + first_count].tolist(), values[second : second + second_count].tolist()]
        length = sum(1 if piece < 0 else len(spans[piece]) for piece, *_ in template[:-1])
        plan.append([first, first + first_count, second, second + second_count, paired, 0, length])
        for plane in range(planes):
            row: list[int] = []
            for piece, *constants in template[:-1]:
                row += [constants[plane]] if piece < 0 else spans[piece] if plane == 0 else [constants[plane]] * len(spans[piece])
            padding = [template[-1][1 + plane]] * (width - length)
            expected[plane] += padding + row if from_left else row + padding
    out = np.full((planes, len(expected[0])), -7, np.int64)
    lay_out(values, np.array(plan, np.int64).reshape(-1, 7), templates[0], templates[1], width, from_left, out)
    assert out.tolist() == expected
