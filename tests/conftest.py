"""Test tiers, settings of hypothesis, and shared fixtures: stored tables, reference tokenizers made from lists of tokens, and a small
table.
"""

from __future__ import annotations

import gc
import inspect
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support import answers, kept, tiers
from support.commands import TOKENS
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from fst.cli.commands.warmup.kernels import PARTS, Compiler
from fst.core import threads

# Run the same examples each time, without a time limit, because the first call of a kernel compiles it.
settings.register_profile("fst", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fst")

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
MANY = 3_000  # a run of at least this many tests is assumed to use every kernel


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option that selects stored or computed answers of the reference, and an option that selects all cases."""
    parser.addoption("--answers", choices=answers.MODES, default="kept", help="of the reference: kept ones; all asked; all asked and kept")
    parser.addoption("--cases", choices=("some", "all"), default="some", help="samples of large sets of cases, or all cases")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the tier before tests are imported; choose compiled or interpreted kernels before `numba` is imported."""
    tiers.LONG = config.option.markexpr in ("slow", "")
    tiers.ALL = config.option.cases == "all"
    if config.option.markexpr == "quick":
        config.option.markexpr = "quick and not slow"
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        # Interpreted kernels multiply NumPy scalars, which warn of overflow; hashes overflow on purpose.
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")
    answers.mode = config.option.answers


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """In the quick tier, do not import files without quick tests."""
    is_test = collection_path.name.startswith("test_")
    return True if is_test and config.option.markexpr.startswith("quick") and tiers.name_of(collection_path) not in tiers.QUICK else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Disable garbage collection, because no collected test is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests, and the slow cases of tests that are mostly slow."""
    for item in items:
        if tiers.is_quick(item):
            item.add_marker(pytest.mark.quick)
    for item in tiers.slow_cases(items):
        item.add_marker(pytest.mark.slow)


@cache
def compile_once(folder: Path) -> None:
    """Compile all kernels, unless this worker has already done so. In `.ci/run`, `fst warmup` has done so, and sets FST_WARM_KERNELS.

    Args:
        folder: a folder that all workers of the run share, for the names of finished parts. One worker begins at each end of the list, and
            they stop where they meet.
    """
    are_warm = "FST_WARM_KERNELS" in os.environ and "NUMBA_BOUNDSCHECK" not in os.environ
    for part in [] if are_warm else reversed(PARTS) if WORKER == "gw1" else PARTS:
        finished = folder / part
        if not finished.exists():
            Compiler().compile(part)
            finished.touch()


def shared(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder that all workers of a run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if WORKER else base) / name
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Before a run of many tests or with bounds checks, compile all kernels on two workers, so no test waits for a kernel."""
    uses_all = len(request.session.items) > MANY or os.environ.get("NUMBA_BOUNDSCHECK")
    if uses_all and WORKER in ("gw0", "gw1") and not os.environ.get("NUMBA_DISABLE_JIT"):
        compile_once(shared(tmp_path_factory, "compiled"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Print the rule of a failed test, which is its docstring."""
    report = yield
    if report.failed and (rule := inspect.getdoc(getattr(item, "function", None))):
        report.sections.append(("the rule", rule))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped for each reason, the most frequent reason first."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(reason.removeprefix("Skipped: ") for _, _, reason in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped: {count}: {reason}")


def pytest_sessionfinish() -> None:
    """Write the answers of this run if the option requests it."""
    if answers.mode == "anew":
        answers.keep()


@pytest.fixture(scope="module", autouse=True)
def _forget(request: pytest.FixtureRequest) -> Iterator[None]:
    """At the end of each test file, empty the caches of its functions and of the `support` functions in it, which would take gigabytes."""
    yield
    for function in vars(request.module).values():
        if hasattr(function, "cache_clear") and function.__module__.startswith((request.module.__name__, "support.")):
            function.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _kept_tables(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Store tables in a folder that all workers of a run share."""
    kept.FOLDER = shared(tmp_path_factory, "kept")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.getbasetemp() / "cache")  # the tables of tokenizers from other libraries
    os.environ.pop("FST_CACHE", None)


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@pytest.fixture(scope="session")
def reference() -> Callable[..., Tokenizer]:
    """A function that builds the reference tokenizer for a list of tokens; its options are those of `fst.compile.wordpiece`."""

    def build(
        tokens: Sequence[str],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        unk_token: str = "[UNK]",
        continuing_subword_prefix: str = "##",
        max_input_chars_per_word: int = 100,
        pre_tokenizer: str = "bert",
    ) -> Tokenizer:
        model: Any = models.WordPiece(
            {token: number for number, token in enumerate(tokens)},
            unk_token=unk_token,
            continuing_subword_prefix=continuing_subword_prefix,
            max_input_chars_per_word=max_input_chars_per_word,
        )
        tokenizer = Tokenizer(model)
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=clean_text, handle_chinese_chars=handle_chinese_chars, strip_accents=strip_accents, lowercase=lowercase
        )
        if pre_tokenizer == "bert":
            tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.add_special_tokens([token for token in (*SPECIAL, unk_token) if token in tokens])
        return tokenizer

    return build


class Counting(ThreadPoolExecutor):
    """A thread pool that counts the submitted calls."""

    asked = 0

    def submit(self, *given: Any, **named: Any) -> Future[Any]:
        """Submit a call, and count it."""
        self.asked += 1
        return super().submit(*given, **named)


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """A function that calls another function, and returns the number of threads that were used in addition to the calling thread."""
    with Counting(8) as pool:
        monkeypatch.setattr(threads, "_pools", [pool])

        def count(function: Callable[..., Any], *given: Any, **named: Any) -> int:
            before = pool.asked
            function(*given, **named)
            return pool.asked - before

        yield count


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a small vocabulary with [CLS] and [SEP]; all kernels are compiled, so other processes print nothing about them."""
    compile_once(shared(tmp_path_factory, "compiled"))
    path = tmp_path_factory.mktemp("tables") / "small.npz"
    kept.wordpiece(TOKENS).save(path)
    return path
