"""Storage of kernels on disk: which kernels are stored, when they are compiled again, and how calls work if kernels cannot be stored."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from support.commands import CACHE, TIMEOUT, posix
from support.core.kernel_files import kernel_modules
from support.core.unprivileged import ROOT, UNPRIVILEGED, bound
from support.shared_data import TESTS
from support.tiers import thinned

from fst.core import cache_folder, jit
from fst.core.borrowed import kind_of
from fst.core.jit import Deferred, _kept_code, destination, kernel
from fst.core.kernel_cache import digest_of_sources
from fst.runtime import kernels
from fst.runtime.kernels.intrinsics import DISABLED

pytestmark = pytest.mark.skipif(DISABLED, reason="kernels are not compiled")


USE = """
import pathlib, sys
from support import kept
from support.core.everything import use_everything
kept.FOLDER = pathlib.Path(sys.argv[1])
use_everything(kept.FOLDER)
"""
COMPILE = "from fst.compile import wordpiece; print(*wordpiece(['[UNK]', 'a']).tokens)"
OF_EXPORTS = ("restore_all",)  # only programs of `fst export` run these kernels and the kernels of `fst.runtime.exporting`
WITH_SPANS = ("text.run_rows",)  # a kernel of look-up, which is always called with spans
COMPILING = [f"fst: compiling kernel {name}, up to 20 s; " for name in ("place", "displace")]


def python(program: str, cache: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process that stores kernels in a folder, and that respects file permissions even if root starts it."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(TESTS)}
    command = [*UNPRIVILEGED, sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=TIMEOUT)


def state(folder: Path) -> dict[str, int]:
    """The files in a folder with their modification times."""
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that `fst warmup` has filled. If it has run before the tests, as in `.ci/run`, FST_WARM_KERNELS is the folder of kernels."""
    folder = tmp_path_factory.mktemp("warm")
    if kernels := os.environ.get("FST_WARM_KERNELS"):
        shutil.copytree(kernels, folder / CACHE)
        return folder
    python("from fst.cli.main import main; main(['warmup'], standalone_mode=False)", folder)
    return folder


@pytest.mark.slow
@bound
def test_nothing_is_compiled_after_warmup(warm: Path, tmp_path: Path) -> None:
    """After `fst warmup`, no call compiles or writes anything, even if the folder cannot be written."""
    (warm / CACHE).chmod(0o555)
    before = state(warm / CACHE)
    assert python(USE, warm, tmp_path).stderr == ""
    assert state(warm / CACHE) == before


@pytest.mark.slow
def test_warmup_keeps_every_kernel(warm: Path) -> None:
    """`fst warmup` stores every kernel that users run, for each kind of encoding output and each type of ids that decoding accepts."""
    called = [
        f"{module.__name__.split('.')[-1]}.{name}"
        for module in map(import_module, kernel_modules())
        for name, found in vars(module).items()
        if "no_cpython_wrapper" not in getattr(found, "targetoptions", {"no_cpython_wrapper"}) and found.__module__ == module.__name__
        if ".exporting." not in module.__name__ and name not in OF_EXPORTS
    ]
    kept = [path.name.split("-")[0] for path in (warm / CACHE).iterdir()]
    two = [name for name in called if name.endswith(("encode_rows", "run_rows")) and name not in WITH_SPANS]
    expected = {name: called.count(name) * (1 + (name in two) + 2 * ("decoding." in name)) for name in called}
    assert {name: kept.count(name) for name in called} == expected
    assert len(called) == 157


@bound
@pytest.mark.parametrize("is_there", thinned([True, False], 4))
def test_a_folder_that_cannot_be_written(is_there: bool, tmp_path: Path) -> None:
    """If no folder can be written, kernels are compiled but not stored, and a message contains the fault and a remedy."""
    folder = tmp_path / CACHE
    if is_there:
        folder.mkdir()
        folder.chmod(0o555)
    tmp_path.chmod(0o555)
    done = python(COMPILE, tmp_path)
    reason = "it cannot be written" if is_there else os.strerror(errno.EACCES)
    remedy = f"not kept: {folder}: {reason}; set NUMBA_CACHE_DIR to a folder that you can write"
    assert done.stderr.splitlines() == [f"{line}{remedy}" for line in COMPILING]
    assert done.stdout == "[UNK] a\n"


@pytest.mark.slow
@posix
def test_a_full_disk(tmp_path: Path) -> None:
    """If the disk is full, a kernel is not stored, and the process warns once and continues."""
    folder = tmp_path / CACHE
    done = python(f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); {COMPILE}", tmp_path)
    fault, remedy = f"{folder}: {os.strerror(errno.EFBIG)}", "set NUMBA_CACHE_DIR to a folder that you can write"
    first, second, third = done.stderr.splitlines()
    assert (first, second) == (f"{COMPILING[0]}kept in {folder}", f"fst: kernels are not kept: {fault}")
    assert third == f"{COMPILING[1]}not kept: {fault}; {remedy}"
    assert done.stdout == "[UNK] a\n"
    assert state(folder) == {}


@posix
@pytest.mark.slow
def test_processes_at_the_same_time(tmp_path: Path) -> None:
    """If two processes need a kernel at the same time, only one of them compiles it."""
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: python(COMPILE, tmp_path), range(2)))
    assert [sum(done.stderr.count(line) for done in both) for line in COMPILING] == [1, 1]
    assert [done.stdout for done in both] == 2 * ["[UNK] a\n"]


@posix
def test_a_process_that_never_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another process holds the lock for too long, the kernel is compiled without the lock."""
    import fcntl

    monkeypatch.setattr(cache_folder, "PATIENCE", 0.1)
    the_file(folder).unlink()
    with Path(__file__).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert Deferred(__name__, "doubled_kernel").call(np.ones(1)) == 2
    assert is_kept()


def doubled(numbers: Any) -> Any:
    """A kernel that compiles fast."""
    return numbers[0] * 2


doubled_kernel = kernel(doubled)
KINDS = (kind_of(np.zeros(1)),)


def is_kept() -> bool:
    """Whether a new process would find the kernel on disk; if not, the kernel is compiled, and stored if possible."""
    function: Any = kernel(doubled)
    kept = _kept_code(function, KINDS)
    assert (kept.entry_point if kept else function.compile(KINDS))(np.ones(1)) == 2
    return kept is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the kernel is stored."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert not is_kept()
    assert is_kept()
    return tmp_path / CACHE


def the_file(folder: Path) -> Path:
    """The only file in a folder."""
    (path,) = folder.iterdir()
    return path


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda code: code[:5000], lambda code: code[:-99] + b"!" + code[-98:]], ids=["all", "end", "byte"]
)
def test_a_damaged_file(damage: Callable[[bytes], bytes], folder: Path) -> None:
    """A stored kernel that is empty, cut short or changed is compiled again, and the next process finds the new kernel."""
    path = the_file(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert not is_kept()
    assert is_kept()


def test_another_source(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the source of a kernel has changed, the kernel is compiled again, and replaces the stored one."""
    source = tmp_path / Path(__file__).name
    source.write_text("changed")
    monkeypatch.setitem(doubled.__globals__, "__file__", str(source))
    assert not is_kept()
    assert is_kept()
    assert the_file(folder)


@pytest.mark.parametrize("name", ["OPT", "BOUNDSCHECK", "FST_CHECK_SIZES"])
def test_other_settings(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that is compiled with other settings, such as checks of indices, is stored separately."""
    if name.startswith("FST"):
        monkeypatch.setenv(name, "1")
    else:
        monkeypatch.setattr(numba.config, name, 1)
    assert not is_kept()
    assert is_kept()
    assert len(state(folder)) == 2


# A kernel that uses constants of two files. The kernel imports one file directly, and the other file through the first.
PACKAGE = {
    "toy_constants": "FACTOR = 10",
    "toy_shared": "from fst.toy_constants import (\n    FACTOR,\n)\nTERM = 1",
    "toy_kernels": """
from fst.core.jit import kernel
from fst.toy_shared import FACTOR, TERM
import fst.toy_unused  # has no effect on the kernel, but is imported


@kernel
def scaled(numbers):
    return numbers[0] * FACTOR + TERM
""",
    "toy_unused": "",
    "toy_unrelated": "",
}
CALL_TOY = """
import sys, fst
fst.__path__.append(sys.argv[1])
import numpy as np
import fst.toy_unrelated
from fst.core.jit import Deferred
print(Deferred("fst.toy_kernels", "scaled").call(np.ones(1)))
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with modules that define a kernel, and with the compiled kernel."""
    folder = tmp_path_factory.mktemp("toy")
    for name, text in PACKAGE.items():
        (folder / f"{name}.py").write_text(text)
    assert call_toy(folder) == ("11.0\n", True)
    assert call_toy(folder) == ("11.0\n", False)
    return folder


def call_toy(folder: Path) -> tuple[str, bool]:
    """Call the kernel in a new process; return the result, and whether the process compiled the kernel."""
    done = python(CALL_TOY, folder, folder)
    return done.stdout, "compiling" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "result"),
    thinned([("toy_constants", "FACTOR = 20", "21.0\n"), ("toy_shared", PACKAGE["toy_shared"].replace("1", "2"), "12.0\n")], 4),
)
def test_a_changed_constant(name: str, text: str, result: str, toy: Path) -> None:
    """A kernel is compiled again if a constant changes in a file that the kernel imports, directly or indirectly."""
    source = toy / f"{name}.py"
    before = source.read_text()
    source.write_text(f"{text}\n\n")  # the new file has another size, because within a second Python notices only changes of the size
    assert call_toy(toy) == (result, True)
    assert call_toy(toy) == (result, False)
    source.write_text(before)
    assert call_toy(toy) == ("11.0\n", True)


@pytest.mark.slow
def test_a_changed_file_that_is_not_imported(toy: Path) -> None:
    """A kernel is not compiled again if the changed file is one that the kernel does not import."""
    (toy / "toy_unrelated.py").write_text("FACTOR = 30")
    assert call_toy(toy) == ("11.0\n", False)


def test_digests_are_fast() -> None:
    """The digest of all sources of the largest kernels takes at most 20 ms (expected: 2 ms)."""
    digest_of_sources.cache_clear()
    begun = time.perf_counter()
    digest_of_sources(kernels.__file__)
    assert time.perf_counter() - begun < 0.02


class Fields(NamedTuple):
    """Two fields."""

    low: Any
    high: Any


Swapped: Any = NamedTuple("Fields", [("high", Any), ("low", Any)])  # type: ignore[name-match]


def difference(pair: Any) -> Any:
    """A kernel that reads fields by name."""
    return pair.high[0] - pair.low[0]


def test_fields_in_another_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for NamedTuples that differ only in the order of their fields are stored separately, although `numba` gives them one name."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for _ in range(2):
        for arguments in (Fields(np.zeros(1), np.ones(1)), Swapped(np.ones(1), np.zeros(1))):
            function: Any = kernel(difference)
            kinds = (kind_of(arguments),)
            kept = _kept_code(function, kinds)
            assert (kept.entry_point if kept else function.compile(kinds))(arguments) == 1
    assert len(state(tmp_path / CACHE)) == 2


def test_one_function_for_several_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two `Deferred` objects of one function that are called with different types have separate machine code, in memory and on disk."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for found in range(2):
        module = sys.modules[__name__]
        monkeypatch.setattr(module, "twice", kernel(doubled), raising=False)
        ints, floats = Deferred(__name__, "twice"), Deferred(__name__, "twice")
        for _ in range(2):
            assert ints.call(np.array([3])) == 6
            assert floats.call(np.array([1.25])) == 2.5
        assert len(state(tmp_path / CACHE)) == 2
        assert len(module.twice.overloads) == 2 * (not found)  # the second process finds both kernels on disk


@posix
@pytest.mark.parametrize("of_file", [False, True])
def test_strangers_that_can_write(of_file: bool, folder: Path) -> None:
    """A kernel file is not used if everybody can write to the file or to its folder."""
    (the_file(folder) if of_file else folder).chmod(0o777)
    before = state(folder)
    assert not is_kept()
    assert (state(folder) == before) != of_file


@pytest.mark.skipif(not ROOT, reason="only root can give files away")
def test_files_of_strangers(folder: Path) -> None:
    """A kernel is used only if its owner is root, this user or the owner of the package."""
    os.chown(the_file(folder), 54321, 54321)
    assert not is_kept()
    assert is_kept()
    os.chown(folder, 54321, 54321)
    assert not is_kept()
    kept, reason = destination(kernel(doubled))
    assert not kept
    assert reason == f"not kept: {folder}: another user can write to it; set NUMBA_CACHE_DIR to a folder that you can write"


def test_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose source cannot be read, as in an archive, is compiled but not stored."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(doubled.__globals__, "__file__", str(tmp_path / "archive.zip" / "kernels.py"))
    assert not is_kept()
    assert not is_kept()


def test_whatever_the_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored kernels are used even if the umask lets everybody write to new files."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    before = os.umask(0)
    try:
        assert not is_kept()
    finally:
        os.umask(before)
    assert is_kept()


def test_another_numba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If `numba` lacks the private parts that are needed, `numba`'s own cache stores the kernels."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "has_private_parts", lambda: False)
    for found in (False, True):
        function: Any = kernel(doubled)
        assert function(np.ones(1)) == 2
        assert bool(function.stats.cache_hits) == found
        kept, reason = destination(function)
        assert kept
        assert reason.startswith(f"kept in {tmp_path}")
