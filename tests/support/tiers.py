"""The tiers of tests.

``-m quick`` runs the files in `QUICK` with interpreted kernels: walks, proofs, compilers and toy alphabets. By default, a test runs a
sample of each large set of cases, with a fixed seed; and a test marked ``mostly_slow`` runs a few of its cases. ``-m slow`` runs the other
cases and the long tests, with samples, too; ``-m ""`` runs all three.
``-m "" --cases all`` runs all tests with all cases, for a release.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings
from support.shared_data import TESTS

Case = TypeVar("Case")
Test = TypeVar("Test", bound=Callable[..., Any])

LONG = False  # whether the slow tier runs; set by conftest.py before tests are imported
ALL = False  # whether all cases run; set by conftest.py
DEFAULT_SHARE = 8  # one case in eight of a mostly slow test runs by default
# The files of the quick tier. Each set contains the excluded tests, which take more than a second with interpreted kernels.
QUICK: dict[str, set[str]] = {
    "machines/bpe/test_proof.py": set(),
    "project/test_design.py": {"test_encoding_imports_numba_alone", "test_examples_run"},
    "tables/test_hostile.py": set(),
    "tables/test_forged_arrays.py": set(),
    "tables/test_forged_statements.py": {
        "test_components_that_are_none",
        "test_late_token_in_a_word_is_refused",
        "test_late_tokens_without_blanks_are_refused",
        "test_what_is_said_of_a_second_reading_is_proven",
        "test_wrong_added_token_is_refused",
    },
    "text/test_decoder_steps.py": {"test_real_vocabularies"},
    "automata/test_matcher.py": set(),
    "machines/bpe/test_automaton.py": {"test_tokens_have_a_greatest_length", "test_vocabularies_give_the_ids_of_the_reference"},
    "machines/wordpiece/test_paths.py": {"test_kernel_in_one_batch", "test_look_ups_in_real_text", "test_same_bytes"},
    "machines/wordpiece/test_properties.py": set(),
    "pretokens/test_whitespace_splits.py": set(),
    "pretokens/test_sequences.py": {
        "test_long_stretches",
        "test_search_that_fails_far_away_is_read_once",
        "test_searches_that_fail_far_away_are_the_reference_s",
        "test_steps_of_searches_are_linear",
    },
    "pretokens/test_splitting.py": {"test_cases_are_those_of_the_engines", "test_sets_are_those_of_the_engines"},
    "automata/test_aho_corasick.py": set(),
    "machines/test_toy_machine.py": {"test_toy_encodes_batches", "test_toy_encodes_columns"},
    "pretokens/test_boundaries.py": {"test_symbols_are_merged_where_there_are_many", "test_windows_decide_as_the_splitter_in_long_texts"},
    "sources/test_words.py": set(),
    "export/test_linker.py": set(),
}


def name_of(path: Path) -> str:
    """The path of a file, relative to the folder of tests."""
    return path.relative_to(TESTS).as_posix()


def is_quick(item: pytest.Item) -> bool:
    """Whether a test belongs to the quick tier."""
    name = name_of(item.path)
    return name in QUICK and getattr(item, "originalname", item.name) not in QUICK[name]


def slow_cases(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases of tests marked ``mostly_slow``, without one in `DEFAULT_SHARE` of each test; which ones depends on its name alone."""
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("mostly_slow"):
            tests[item.nodeid.split("[")[0]].append(item)
    for name, cases in tests.items():
        share = min(DEFAULT_SHARE, len(cases))
        first = crc32(name.encode()) % share
        yield from (case for number, case in enumerate(cases) if number % share != first)


def whole(test: Test) -> Test:
    """Mark a test that repeats, for all characters, what other tests show for samples; it is skipped without ``--cases all``."""
    marked: Test = pytest.mark.slow(pytest.mark.skipif(not ALL, reason="runs with --cases all")(test))
    return marked


def sample(cases: Sequence[Case], share: int, seed: int | str = 0) -> Sequence[Case]:
    """A sample of one in `share` cases with a fixed seed, or all cases."""
    return cases if ALL or share == 1 else random.Random(seed).sample(cases, -(-len(cases) // share))


def examples(count: int, **more: Any) -> Callable[[Test], Test]:
    """Set the number of examples for hypothesis: an 80th of `count`, or a 12th with ``--cases all``; and at least five.

    The examples are the same in every run.
    """
    return settings(max_examples=max(count // (12 if ALL else 80), 5), **more)


def thinned(cases: Iterable[Any], share: int) -> list[Any]:
    """Parameters of a test: a sample of one in `share`, drawn with a fixed seed, or all."""
    params = [case if isinstance(case, ParameterSet) else pytest.param(*(case if isinstance(case, tuple) else [case])) for case in cases]
    return params if ALL else [params[number] for number in sorted(sample(range(len(params)), share))]
