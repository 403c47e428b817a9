"""The three tiers of tests.

``-m quick`` runs the files in `QUICK` with interpreted kernels: walks, proofs, compilers and toy alphabets. By default, a test runs a
sample of each large set of cases, with a fixed seed. ``-m slow`` runs the long tests, and samples that are twice as large;
``-m ""`` runs both, each case once; ``-m slow --cases all`` runs all cases, for a release.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings
from support.shared_data import TESTS

Case = TypeVar("Case")
Test = TypeVar("Test", bound=Callable[..., Any])

LONG = False  # set by conftest.py before tests are imported
ALL = False  # whether the slow tier runs all cases; set by conftest.py
# The files of the quick tier. Each set contains the excluded tests, which take more than a second with interpreted kernels.
QUICK: dict[str, set[str]] = {
    "machines/bpe/test_proof.py": set(),
    "project/test_design.py": {"test_encoding_imports_numba_alone"},
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


def whole(test: Test) -> Test:
    """Mark a test that repeats, for all characters, what other tests show for samples; it is skipped without ``--cases all``."""
    marked: Test = pytest.mark.slow(pytest.mark.skipif(not ALL, reason="runs with -m slow --cases all")(test))
    return marked


def one_in(share: int) -> int:
    """One in how many cases is run, if a test states `share`: one in ``2 * share`` by default, one in `share` in the slow tier, or all."""
    return 1 if ALL else share if LONG else 2 * share


def sample(cases: Sequence[Case], share: int, seed: int | str = 0) -> Sequence[Case]:
    """A sample of one in ``one_in(share)`` cases with a fixed seed. A test that calls `sample` is marked ``sampled``."""
    each = one_in(share)
    return cases if each == 1 else random.Random(seed).sample(cases, -(-len(cases) // each))


def examples(count: int, **more: Any) -> Callable[[Test], Test]:
    """Set the number of examples for hypothesis: an 80th of `count` by default, a 40th in the slow tier, or a 12th; and at least five.

    The examples are the same in every run.
    """

    def decorate(test: Test) -> Test:
        part = 12 if ALL else 40 if LONG else 80
        searched: Test = pytest.mark.sampled(settings(max_examples=max(count // part, 5), **more)(test))
        return searched

    return decorate


def thinned(cases: Iterable[Any], share: int) -> list[Any]:
    """Parameters of a test. A sample of one in ``2 * share``, drawn with a fixed seed, runs by default. The other parameters are marked
    slow; of them, the slow tier draws one in ``one_in(share)``.
    """
    params = [case if isinstance(case, ParameterSet) else pytest.param(*(case if isinstance(case, tuple) else [case])) for case in cases]
    kept = {*random.Random(0).sample(range(len(params)), -(-len(params) // (2 * share)))}
    others = [number for number in range(len(params)) if number not in kept]
    drawn = {*sample(others, share, 1)} if LONG else {*others}
    slow = [pytest.param(*param.values, id=param.id, marks=[*param.marks, pytest.mark.slow]) for param in params]
    return [param if number in kept else slow[number] for number, param in enumerate(params) if number in kept or number in drawn]
