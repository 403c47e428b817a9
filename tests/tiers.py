"""The two tiers of tests: by default a sample of each large set of cases, with a fixed seed; in the long run, ``-m slow``, all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import settings

Case = TypeVar("Case")
Test = TypeVar("Test", bound=Callable[..., Any])

LONG = False  # conftest.py sets it before tests are imported


def sample(cases: Sequence[Case], share: int) -> Sequence[Case]:
    """One of `share` cases, drawn with a fixed seed; in the long run all. Tests that call this are marked ``sampled``: they run in both tiers."""
    return cases if LONG else random.Random(len(cases)).sample(cases, -(-len(cases) // share))


def examples(count: int, **more: Any) -> Callable[[Test], Test]:
    """How many examples hypothesis tries in the long run; by default it tries the first tenth of them."""

    def decorate(test: Test) -> Test:
        return pytest.mark.sampled(settings(max_examples=count if LONG else max(count // 10, 10), **more)(test))

    return decorate


def thinned(cases: Sequence[Any], share: int) -> list[Any]:
    """Parameters for a test, all but one of `share` marked slow."""
    kept = {*random.Random(len(cases)).sample(range(len(cases)), -(-len(cases) // share))}
    return [pytest.param(case, marks=[] if number in kept else pytest.mark.slow) for number, case in enumerate(cases)]
