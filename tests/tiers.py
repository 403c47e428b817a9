"""The three tiers of tests.

``-m quick`` runs the files of `QUICK` without the compiler of kernels: walks, proofs, compilers and toy alphabets. By default, a test takes
a sample of each large set of cases, with a fixed seed. ``-m slow`` takes all cases, and runs the tests that are long anyway.
"""

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
# The files of the quick tier, and the tests in them that take more than a second without compiled kernels.
QUICK: dict[str, set[str]] = {
    "test_bpe_proof.py": set(),
    "test_design.py": {"test_encoding_imports_numba_alone"},
    "test_hostile_tables.py": {
        "test_components_that_are_none",
        "test_late_token_in_a_word_is_refused",
        "test_what_is_said_of_a_second_reading_is_proven",
        "test_wrong_added_token_is_refused",
    },
    "test_joining.py": {"test_real_vocabularies"},
    "test_matching.py": set(),
    "test_merging.py": {"test_tokens_have_a_greatest_length", "test_vocabularies_give_the_ids_of_the_reference"},
    "test_paths.py": {"test_kernel_in_one_batch", "test_look_ups_in_real_text", "test_same_bytes"},
    "test_properties.py": set(),
    "test_separators.py": set(),
    "test_sequences.py": {"test_long_stretches"},
    "test_splitting.py": {"test_cases_are_those_of_the_engines", "test_sets_are_those_of_the_engines"},
    "test_token_ends.py": set(),
    "test_toy_machine.py": {"test_toy_encodes_batches", "test_toy_encodes_columns"},
    "test_windows.py": {"test_windows_decide_as_the_splitter_in_long_texts"},
    "test_word_sources.py": set(),
}


def is_quick(item: pytest.Item) -> bool:
    """Whether a test belongs to the quick tier."""
    return item.path.name in QUICK and getattr(item, "originalname", item.name) not in QUICK[item.path.name]


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
