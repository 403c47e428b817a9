"""The two tiers of tests: by default a sample of each large set of cases, with a fixed seed; in the long run, ``-m slow``, all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

Case = TypeVar("Case")
Test = TypeVar("Test", bound=Callable[..., Any])

LONG = False  # conftest.py sets it before tests are imported


def sample(cases: Sequence[Case], share: int, seed: int | str = 0) -> Sequence[Case]:
    """One of `share` cases, drawn with a fixed seed; in the long run all. A test that calls this is marked ``sampled``."""
    return cases if LONG else random.Random(seed).sample(cases, -(-len(cases) // share))


def examples(count: int, **more: Any) -> Callable[[Test], Test]:
    """How many examples hypothesis tries: in the long run a quarter of `count`, by default the first fortieth, and at least five.

    They are the same in every run.
    """

    def decorate(test: Test) -> Test:
        searched: Test = pytest.mark.sampled(settings(max_examples=max(count // (4 if LONG else 40), 5), **more)(test))
        return searched

    return decorate


def thinned(cases: Iterable[Any], share: int) -> list[Any]:
    """Parameters of a test: one of `share`, drawn with a fixed seed, runs by default; the others are marked slow."""
    params = [case if isinstance(case, ParameterSet) else pytest.param(*(case if isinstance(case, tuple) else [case])) for case in cases]
    kept = {*random.Random(0).sample(range(len(params)), -(-len(params) // share))}
    slow = [pytest.param(*param.values, id=param.id, marks=[*param.marks, pytest.mark.slow]) for param in params]
    return [param if number in kept else slow[number] for number, param in enumerate(params)]
