"""Native code of a release: when it is used, and that its kernels behave like numba's."""

from __future__ import annotations

import ast
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from support.commands import TIMEOUT, posix
from support.core import native_kernels
from support.core.kernel_files import functions_of_math, kernel_modules
from support.core.native_code import OBSTACLE
from support.core.native_kernels import CALLS, Other, Pair
from support.core.run_tables import run_tables, save_tables
from support.shared_data import TESTS

from fst.compile.export.native import MATHEMATICS
from fst.core import native
from fst.core.borrowed import kind_of
from fst.core.jit import Deferred
from fst.core.prepared import FAILED, PreparedCall
from fst.runtime.kernels.intrinsics import DISABLED

pytestmark = pytest.mark.skipif(DISABLED, reason="kernels are not compiled")
MODULE = native_kernels.__name__

BUILD = """
import pathlib, sys
from support.core.native_code import write_folder
from support.core.native_kernels import CALLS
from support.core.run_tables import run_tables
from fst.compile.export.native import called_kernels
from fst.core.jit import Deferred
with called_kernels() as kernels:
    run_tables(pathlib.Path(sys.argv[2]))
    for name, arguments in CALLS.items():
        Deferred("support.core.native_kernels", name).prepare(*arguments)
write_folder([*kernels.values()], pathlib.Path(sys.argv[1]))
"""
RUN = """
import json, pathlib, sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # so that an import fails
from fst.core import native
native.FOLDER = pathlib.Path(sys.argv[1])
from support.core.run_tables import run_tables
print(json.dumps(run_tables(pathlib.Path(sys.argv[2]))))
"""
REASONS = """
import pathlib, sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # so that an import fails
import fst
from fst.core import native
from fst.core.jit import Deferred
for folder in ("none", "edited", "built", "below"):
    native.FOLDER = pathlib.Path(sys.argv[1], folder)
    native.loaded.cache_clear()
    native.levels_from = (lambda best: []) if folder == "below" else native.levels_from
    try:
        Deferred("support.core.native_kernels", "half").call(3.0)
    except fst.KernelError as error:
        print(error)
"""
WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
from fst.__main__ import main
main()
"""
KINDS = """
import json
from fst.core import native
from fst.core.borrowed import kind_of
from fst.core.jit import Deferred
from fst.core.kernel_cache import _described
prepare, found = Deferred.prepare, []
def prepared(self, *arguments):
    found.append([native.kind_of(arguments), _described(kind_of(arguments))])
    prepare(self, *arguments)
Deferred.prepare = prepared
from fst.cli.commands.warmup.kernels import PARTS, Compiler
for part in PARTS:
    Compiler().compile(part)
print(json.dumps(found))
"""
LISTED = """
import json
from fst.cli.commands.warmup.kernels import PARTS, Compiler
from fst.compile.export.native import called_kernels
with called_kernels() as kernels:
    for part in PARTS:
        Compiler().compile(part)
print(json.dumps([*kernels]))
"""
USED = """
import json, sys, pytest
from fst.compile.export.native import called_kernels
with called_kernels() as kernels:
    code = pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *sys.argv[1:]])
print("\\n", json.dumps([code, *(key for key, kernel in kernels.items() if kernel.module.startswith("fst."))]))
"""
# Tests that use kernels of every kind: of tables, compilers, trainers, guides, and machines of the algebra.
OF_EVERY_KIND = [
    TESTS / "conformance" / "test_frozen.py",
    TESTS / "algebra" / "test_machine.py",
    TESTS / "machines" / "guide" / "test_masks.py",
    TESTS / "machines" / "guide" / "test_late_states.py",
    TESTS / "train" / "test_unigram.py",
]
ARGUMENTS: list[Any] = [
    *(1, -1, np.int64(1), 2**63, np.uint64(1), np.uint8(1), True, np.True_, 0.5, np.float64(2), np.float32(2)),
    *("", "é", str, tuple, (1, 2), (1, 2.0), (1,), ((1,), 2), (), Pair(1, 2), Other(1, 2), Pair(1, 2.0), Pair((1,), 2)),
    *(np.zeros(shape, dtype) for shape in (1, (1, 1)) for dtype in (np.int64, np.uint64, np.int32, np.float64, np.bool_)),
    *((np.zeros(1),), Pair(np.zeros(1), 2), Pair(np.zeros((1, 1)), 2), Pair(np.zeros(1, np.float32), 2)),
]


def program(text: str, *words: Path, **environment: str) -> str:
    """Run a program in a process, and return its output."""
    more = {**os.environ, "PYTHONPATH": str(TESTS), **environment}
    command = [sys.executable, "-c", text, *map(str, words)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=more, timeout=TIMEOUT).stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of some kinds."""
    folder = tmp_path_factory.mktemp("tables")
    save_tables(folder)
    return folder


@pytest.fixture(scope="module")
def built(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of native code with the kernels that run these tables, and with the kernels of `native_kernels`."""
    if OBSTACLE:
        pytest.skip(OBSTACLE)
    folder = tmp_path_factory.mktemp("built") / "native"
    program(BUILD, folder, tables)
    return folder


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Any]]:
    """A function that makes a folder the folder of native code, for one test; it returns the library."""

    def used(folder: Path) -> Any:
        monkeypatch.setattr(native, "FOLDER", folder)
        native.loaded.cache_clear()
        return native.library()

    yield used
    native.loaded.cache_clear()


@pytest.mark.slow
def test_tables_run_without_numba(built: Path, tables: Path) -> None:
    """A process in which numba cannot be imported loads and runs tables with native code, with equal results."""
    assert json.loads(program(RUN, built, tables)) == json.loads(json.dumps(run_tables(tables)))


@pytest.mark.parametrize("name", [name for name in CALLS if name != "make"])  # these arguments cannot be used in a call
def test_arguments_and_results(name: str, built: Path, use: Callable[[Path], Any]) -> None:
    """For each type of arguments, a native kernel returns the same results as numba's kernel, and writes the same values to arrays."""
    by_numba, natively = Deferred(MODULE, name), Deferred(MODULE, name)
    expected = [by_numba.call(*CALLS[name]), *written(name)]
    clear(name)
    assert use(built)
    found = [natively.call(*CALLS[name]), *written(name)]
    assert (by_numba.entry, natively.entry > 0) == (0, True)
    assert repr(found) == repr(expected)
    assert natively.call(*CALLS[name]) == expected[0]


def written(name: str) -> list[Any]:
    """The elements of all arrays in the arguments of a kernel."""
    return [each.tolist() for each in CALLS[name] if isinstance(each, np.ndarray)]


def clear(name: str) -> None:
    """Set the elements of the outputs of a kernel to 0."""
    for each in CALLS[name] if name in ("weigh", "fill", "code_points") else ():
        if isinstance(each, np.ndarray):
            each[...] = 0


@pytest.mark.parametrize("text", ["", "abc", "é" * 3, "世a", "a😀b", type("Text", (str,), {})("añ世😀")])
def test_characters_of_each_form(text: str, built: Path, use: Callable[[Path], Any]) -> None:
    """A native kernel reads a str of one, two or four bytes per character, a str of ASCII, and a subclass of str."""
    assert use(built)
    codes = np.zeros(9, np.uint32)
    assert Deferred(MODULE, "code_points").call(text, codes) == len(text)
    assert codes[: len(text)].tolist() == [*map(ord, text)]


def test_prepared_calls(built: Path, use: Callable[[Path], Any]) -> None:
    """A prepared call uses a native kernel's entry for prepared calls, with integers and doubles among the arguments."""
    assert use(built)
    kernel, caller = Deferred(MODULE, "weigh"), Deferred(MODULE, "make")
    call = PreparedCall(kernel, *CALLS["weigh"])
    grid = CALLS["weigh"][1]
    caller.prepare(call.words)
    expected = kernel.call(*CALLS["weigh"]), grid.copy()
    grid[...] = 0
    assert (call.words[0], caller.call(call.words)) == (kernel.entry, expected[0] % 2**64)
    assert np.array_equal(grid, expected[1])


def test_exceptions(built: Path, use: Callable[[Path], Any]) -> None:
    """Native code raises the same exceptions as numba's code, for a division by zero and from Python's C API, and later calls work."""
    assert use(built)
    numbers = np.array([6, 0], np.uint64)
    kernel, caller, lists = (Deferred(MODULE, name) for name in ("quotient", "make", "list_of"))
    call = PreparedCall(kernel, numbers)
    with pytest.raises(ZeroDivisionError):
        kernel.call(numbers)
    assert caller.call(call.words) == FAILED
    with pytest.raises(SystemError):
        lists.call(-1)
    with pytest.raises(TypeError):
        lists.call(None)
    numbers[1] = 2
    assert (kernel.call(numbers), caller.call(call.words), len(lists.call(2))) == (3, 3, 2)


@pytest.mark.slow
def test_no_kernel_raises() -> None:
    """No kernel has a raise statement, so ZeroDivisionError is the only exception class that native code needs."""
    files = [Path(str(import_module(name).__file__)) for name in kernel_modules()]
    found = [path for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Raise)]
    assert (len(files) > 50, found) == (True, [])


def test_threads(built: Path, use: Callable[[Path], Any]) -> None:
    """Several threads load and call a native kernel at the same time."""
    assert use(built)
    kernel = Deferred(MODULE, "several")
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(kernel.call, range(999))] == [(number, False, number**2) for number in range(999)]


def test_reasons_without_numba(built: Path, tmp_path: Path) -> None:
    """Without numba, a kernel that has no native code raises an error with the reason and the command that installs numba."""
    for name in ("edited", "built", "below"):
        copytree(built, tmp_path / name)
    manifest = json.loads((tmp_path / "edited" / "manifest.json").read_text())
    (tmp_path / "edited" / "manifest.json").write_text(json.dumps({**manifest, "digest": ""}))
    remedy = 'expected numba for kernel half; pip install "fst-toolkit[numba]"'
    reasons = [native.ABSENT, native.EDITED, native.LACKING, native.BELOW]
    assert program(REASONS, tmp_path).splitlines() == [f"numba is not installed, and {reason}; {remedy}" for reason in reasons]


@pytest.mark.skipif(native.FOLDER.exists(), reason="the package has native code")
def test_commands_without_numba(tables: Path) -> None:
    """A command that needs numba ends with exit code 1 and one line."""
    command = [sys.executable, "-c", WITHOUT_NUMBA, "encode", "wordpiece.npz"]
    done = subprocess.run(command, input="a", capture_output=True, text=True, check=False, cwd=tables, timeout=TIMEOUT)
    assert (done.returncode, done.stdout) == (1, "")
    remedy = 'expected numba for kernel gather_bytes; pip install "fst-toolkit[numba]"'
    assert done.stderr == f"Error: numba is not installed, and {native.ABSENT}; {remedy}\n"


@posix
def test_forks(built: Path, use: Callable[[Path], Any]) -> None:
    """A forked process calls the native kernels that its parent has loaded."""
    assert use(built)
    kernel = Deferred(MODULE, "half")
    kernel.prepare(np.uint64(3))
    child = os.fork()
    if child == 0:
        os._exit(0 if kernel.call(np.uint64(3)) == 1.5 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_checkout_has_no_native_code() -> None:
    """Without the folder, numba compiles kernels."""
    assert native.FOLDER.exists() or native.library() is None


@pytest.mark.parametrize(
    "change",
    [{"digest": ""}, {"abi": native.ABI + 1}, {"sources": ["fst.core.jit", "fst.core.no_such_module"]}],
)
def test_changed_sources(change: dict[str, Any], built: Path, use: Callable[[Path], Any], tmp_path: Path) -> None:
    """Native code of other sources, or of another version of its format, is ignored."""
    folder = copytree(built, tmp_path / "native")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert use(folder)
    (folder / "manifest.json").write_text(json.dumps({**manifest, **change}))
    assert use(folder) is None


@pytest.mark.parametrize(("name", "logged"), [("manifest.json", 0), ("x86*.so", 0), ("calls.abi3.so", 1)])
def test_missing_files(
    name: str, logged: int, built: Path, use: Callable[[Path], Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An incomplete folder is ignored; a warning is logged if there is native code for this processor, but it cannot be loaded."""
    folder = copytree(built, tmp_path / "native")
    for path in folder.glob(name):
        path.unlink()
    assert use(folder) is None
    assert caplog.text.count("native code cannot be loaded") == logged


@pytest.mark.parametrize("name", native.OTHER_CODE)
def test_settings_of_numba(name: str, built: Path, use: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code is ignored if a setting of numba changes how kernels are compiled."""
    monkeypatch.setenv(name, "1")
    assert use(built) is None


def test_kernels_without_native_code(built: Path, use: Callable[[Path], Any]) -> None:
    """Numba compiles a kernel that the manifest does not contain for these types of arguments."""
    assert use(built)
    assert native.find(MODULE, "half", (np.uint64(3),)) is not None
    assert native.find(MODULE, "half", (3.0,)) is None
    assert native.find(MODULE, "no_kernel", (np.uint64(3),)) is None
    other = Deferred(MODULE, "half")
    assert (other.call(3.0), other.entry, other.result is None) == (1.5, 0, False)


def test_digest_of_sources() -> None:
    """The digest depends on the names and the texts of modules, in each package, and does not import them."""
    modules = ["fst.core.jit", "fst.runtime.kernels.unicode", "fst.compile", "fst.registry"]
    digests = {native.digest_of(some) for some in (modules, modules[1:], modules[:-1], modules[::-1])}
    assert len(digests) == 4
    assert native.digest_of(modules) in digests
    with pytest.raises(OSError, match="no_such_module"):
        native.digest_of(["fst.runtime.no_such_module"])


FLAGS = {  # the flags that Linux lists for each level, in addition to those of lower levels
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "x86-64-v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vbmi", "avx512vl"},
}


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists() or platform.machine() != "x86_64", reason="levels are those of x86-64 on Linux")
def test_level_of_this_processor(built: Path) -> None:
    """The level of the processor is the best whose flags, and those of all lower levels, Linux lists."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    flags = {flag for line in lines if line.startswith("flags") for flag in line.split()}
    levels = takewhile(lambda level: FLAGS[level] <= flags, FLAGS)
    assert native.extension(built).level() == [*levels][-1]


@pytest.mark.parametrize(("best", "count"), [("x86-64-v4", 3), ("x86-64-v3", 2), ("x86-64-v2", 1), ("", 0), ("aarch64", 1)])
def test_levels(best: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor runs its level and all lower ones, the best first; "generic" is the lowest."""
    levels = native.levels_from(best)
    assert (len(levels), levels[:1]) == (count, [best] * bool(best))
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert native.levels_from(best) == levels[-1:]


def test_texts_of_types() -> None:
    """Two arguments have equal descriptions if and only if numba has the same type for them."""
    texts, kinds = [*map(native.kind_of, ARGUMENTS)], [*map(kind_of, ARGUMENTS)]
    for text, kind in zip(texts, kinds, strict=True):
        assert [text == each for each in texts] == [kind == each for each in kinds], kind
    with pytest.raises(AssertionError, match="C-contiguous"):
        native.kind_of(np.zeros((2, 2)).T)


@pytest.mark.slow
def test_texts_of_all_kernels() -> None:
    """The arguments of all kernels that `fst warmup` compiles have equal descriptions if and only if they have the same types."""
    pairs = {tuple(pair) for pair in json.loads(program(KINDS))}
    assert len(pairs) > 80
    assert len({text for text, _ in pairs}) == len({kind for _, kind in pairs}) == len(pairs)


def test_functions_of_the_c_library() -> None:
    """Kernels call no functions of the module `math` but those that native code may call, and `floor`, which is an instruction."""
    assert {"exp", "log"} < functions_of_math() <= MATHEMATICS | {"floor"}


@pytest.mark.slow
def test_native_code_has_every_kernel() -> None:
    """Native code contains each kernel that tables, compilers, trainers, guides and the algebra use, for the types of arguments in use."""
    listed = {*json.loads(program(LISTED))}
    code, *used = json.loads(program(USED, *OF_EVERY_KIND).splitlines()[-1])
    assert (code, {*used} - listed, len(used) > 60) == (0, set(), True)
