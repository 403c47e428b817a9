"""Tokenizers can be pickled, copied, used by several threads, and passed to other processes."""

from __future__ import annotations

import copy
import functools
import hashlib
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.machines.documents import ADDED, PIECES, compiled
from support.shared_data import TESTS
from support.tables.mapped import functions
from support.tiers import thinned

import fst
from fst.core.lazy import Lazy
from fst.machines.wordpiece.table import WordPieceTable
from fst.tables import npz

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
METHODS = tuple(method for method in ("fork", "spawn", "forkserver") if method in multiprocessing.get_all_start_methods())


@functools.cache
def tables() -> WordPieceTable:
    """Compile the vocabulary that all the tests use, as a table that comes from no file."""
    return replace(compiled())


@functools.cache
def tokenizer() -> fst.Tokenizer:
    """Make the tokenizer that all the tests use."""
    return fst.Tokenizer(tables())


def rows(seed: int, count: int = 40) -> list[str]:
    """Draw texts of a few words of all kinds."""
    chance = random.Random(seed)
    return [" ".join(chance.choices((*PIECES, *ADDED, "un b", "e a b !", "世"), k=chance.randrange(12))) for _ in range(count)]


# Pickles


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_equal_tables_pickle_to_equal_bytes(protocol: int) -> None:
    """Equal tables that come from no file have equal pickles, even if one of them is compiled again, loaded from bytes, unpickled, or has
    been used before.
    """
    used = fst.Tokenizer(replace(compiled()))
    used("un b", return_offsets_mapping=True)
    used.decode(used.encode("un b"))
    expected = pickle.dumps(fst.Tokenizer(tables()), protocol)
    others = [used, fst.load(tables().dumps()), fst.load(tables().dumps(), fst.Tokenizer), pickle.loads(expected)]
    assert [pickle.dumps(other, protocol) for other in others] == [expected] * len(others)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_table_of_a_file_pickles_as_its_path_and_digest(protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pickle of a loaded table is short, contains the absolute path, is the same after other loads, and does not change with the times
    of the file or the working folder.
    """
    tables().save(tmp_path / "table.npz")
    monkeypatch.chdir(tmp_path)
    expected = pickle.dumps(fst.load("table.npz"), protocol)
    os.utime("table.npz", (0, 0))
    monkeypatch.chdir("/")
    again = pickle.loads(expected)
    for other in (again, fst.load(tmp_path / "table.npz"), fst.load(f"file://{tmp_path}/table.npz", fst.Tokenizer)):
        assert pickle.dumps(other, protocol) == expected
    assert str(tmp_path / "table.npz").encode() in expected
    assert len(expected) < 300 + len(str(tmp_path))
    assert again._table.dumps() == tables().dumps()


def test_pickle_is_whole_if_the_file_has_changed(tmp_path: Path) -> None:
    """If the file of a table is replaced, removed, or becomes a folder, the pickle contains the table, and so does the pickle of a derived
    table.
    """
    path, expected = tmp_path / "table.npz", pickle.dumps(tokenizer())
    tables().save(path)
    loaded = fst.load(path, fst.Tokenizer)
    assert pickle.dumps(fst.Tokenizer(replace(loaded._table, header=loaded._table.header))) == expected
    compiled(added=()).save(path)
    assert pickle.dumps(loaded) == expected
    tables().save(path)
    assert pickle.dumps(loaded) != expected
    for change in (lambda: path.write_bytes(b"PK"), path.unlink, path.mkdir):
        change()
        assert pickle.dumps(loaded) == expected


def test_pickle_of_a_missing_or_changed_file_is_refused(tmp_path: Path) -> None:
    """If the file of a pickled table is missing, damaged or another table, the error contains the path, the digest and the remedy."""
    path = tmp_path / "table.npz"
    tables().save(path)
    data = path.read_bytes()
    pickled, origin = pickle.dumps(fst.load(path)), fst.load(path)._table.origin
    compiled(added=()).save(path)
    other = path.read_bytes()
    cases = [(other, "has digest [0-9a-f]{64}"), (data[:-1], "damaged"), (b"", "is not a table file"), (None, "cannot be read")]
    for content, fault in cases:
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        remedy = f"{origin.digest}; put this table there, or "
        with pytest.raises(fst.TableError, match=rf"^a pickled table: {path}.*{fault}.*expected.*{remedy}"):
            pickle.loads(pickled)
    path.write_bytes(data)
    assert pickle.loads(pickled).encode("un b").tolist() == tokenizer().encode("un b").tolist()


def test_table_of_a_url_pickles_as_the_url() -> None:
    """The pickle of a table from a URL contains the URL, and fetches it again."""
    pytest.importorskip("fsspec", reason="reads URLs")
    tables().save("memory://folder/table.npz")
    pickled = pickle.dumps(fst.load("memory://folder/table.npz"))
    assert len(pickled) < 300
    assert pickle.loads(pickled)._table.dumps() == tables().dumps()


def test_unequal_tables_pickle_to_unequal_bytes() -> None:
    """Different tables have different pickles, even if they differ only in a setting that affects no id."""
    others = [compiled(added=()), compiled(layout="linked"), compiled(max_input_chars_per_word=99)]
    others.append(replace(tables(), header={**tables().header, "padding_side": "left"}))
    assert len({pickle.dumps(fst.Tokenizer(replace(one))) for one in [tables(), *others]}) == 5


@pytest.mark.slow
def test_pickle_is_the_same_in_every_process(tmp_path: Path) -> None:
    """The pickle of a table is the same in other processes, in which strings have other hashes, whether it contains a path or the table."""
    path = tmp_path / "table.npz"
    tables().save(path)
    script = "import fst, hashlib, pathlib, pickle, sys; path = pathlib.Path(sys.argv[1]); "
    script += "[print(hashlib.sha256(pickle.dumps(fst.load(one))).hexdigest()) for one in (path, path.read_bytes())]"
    expected = [hashlib.sha256(pickle.dumps(one)).hexdigest() for one in (fst.load(path), tokenizer())]
    for seed in ("1", "2"):
        command = [sys.executable, "-c", script, str(path)]
        done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        assert done.stdout.split() == expected


def test_unpickled_tokenizer_is_as_the_one_that_was_pickled() -> None:
    """An unpickled tokenizer gives the same ids, tokens, offsets and texts as the original."""
    found = pickle.loads(pickle.dumps(tokenizer()))
    texts = rows(1)
    batches = [one.encode_batch(texts, offsets=True).__dict__ for one in (tokenizer(), found)]
    assert all(np.array_equal(batches[0][name], batches[1][name]) for name in batches[0])
    assert dict(found(texts, padding=True)) == dict(tokenizer()(texts, padding=True))
    assert found.tokenize(texts[0]) == tokenizer().tokenize(texts[0])
    assert found.decode(range(40)) == tokenizer().decode(range(40))
    assert pickle.loads(pickle.dumps(tokenizer().encode))("un b").tolist() == tokenizer().encode("un b").tolist()


def test_unpickled_tables_cannot_be_written() -> None:
    """Unpickled arrays are read-only, and are aligned like the arrays in a file."""
    found = pickle.loads(pickle.dumps(tables()))
    for name in WordPieceTable.schema():
        array = getattr(found, name)
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            array.flags.writeable = True
        assert array.ctypes.data % npz.ALIGNMENT == 0 or not array.size


def test_pickled_tables_are_proven() -> None:
    """If a pickled table is damaged, cut short, or unsafe for a kernel, it is refused."""
    entries = tables().entries.copy()
    entries[0] |= np.uint64((1 << 24) - 1)
    data = tables().dumps()
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    _, (unsound,) = replace(tables(), entries=entries).__reduce__()
    for wrong in (unsound, bytes(damaged), data[:-1], data[: len(data) // 2], b"PK", b""):
        forged = _Forged(wrong)
        with pytest.raises(fst.TableError, match=r"^a pickled table: .*; pickle it again"):
            pickle.loads(pickle.dumps(forged))


class _Forged:
    """An object whose pickle is like a tokenizer's, but contains the given bytes as the table."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self) -> tuple[Any, ...]:
        return fst.Tokenizer, (_ForgedTables(self.data),)


class _ForgedTables(_Forged):
    """The table object inside the forged tokenizer."""

    def __reduce__(self) -> tuple[Any, ...]:
        return WordPieceTable.loads, (self.data,)


def test_copies_are_the_tokenizer_itself() -> None:
    """Copying a tokenizer, alone or inside another object, returns the same object, because a tokenizer never changes."""
    assert copy.copy(tokenizer()) is tokenizer()
    assert copy.deepcopy({"tokenizer": [tokenizer()]})["tokenizer"][0] is tokenizer()
    assert copy.deepcopy([tables()])[0] is copy.copy(tables()) is tables()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("made", [lambda: tokenizer().session("un b"), lambda: tokenizer().stream()])
def test_sessions_and_streams_are_not_copied(made: Callable[[], object], copied: Callable[[object], object]) -> None:
    """A copy of a session or a stream would share its state, so copies and pickles are refused."""
    with pytest.raises(TypeError, match="is neither pickled nor copied; "):
        copied(made())


def test_batches_pickle() -> None:
    """An unpickled batch has the same ids and offsets, and the pickle contains no unused capacity of arrays."""
    for offsets in (False, True):
        batch = tokenizer().encode_batch(rows(2), offsets=offsets)
        data = pickle.dumps(batch)
        found = pickle.loads(data)
        arrays = [array for array in batch.__dict__.values() if array is not None]
        assert len(data) < sum(array.nbytes for array in arrays) + 1000
        for name, array in batch.__dict__.items():
            assert array is None if getattr(found, name) is None else np.array_equal(getattr(found, name), array)
        assert [row.tolist() for row in found] == [row.tolist() for row in batch]


@pytest.mark.parametrize("kind", [None, "np"])
def test_results_of_calls_pickle(kind: str | None) -> None:
    """The pickled result of a call contains its members, but not the texts or the tokenizer."""
    texts = ["un b"] * 3 + ["e" * 90_000]
    encoding = tokenizer()(texts, return_tensors=kind, padding=True, truncation=True, max_length=8, return_length=True)
    data = pickle.dumps(encoding)
    found = pickle.loads(data)
    assert len(data) < 5000
    assert found.keys() == encoding.keys()
    assert all(np.array_equal(found[name], encoding[name]) for name in encoding)


# Threads


CALLS: tuple[dict[str, Any], ...] = tuple(
    {
        "max_length": 4 + number,
        "truncation": True,
        "padding": (False, True, "max_length")[number % 3],
        "padding_side": ("left", "right")[number % 2],
        "truncation_side": ("right", "left")[number % 7 == 0],
        "return_overflowing_tokens": number % 4 == 3,
        "stride": number % 2,
        "return_offsets_mapping": number % 5 == 0,
    }
    for number in range(64)
)


@pytest.fixture
def restless() -> Any:
    """Make Python switch between threads as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Run a function in several threads that all start at the same time."""
    barrier = Barrier(count)

    def begin(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


@pytest.mark.slow
@pytest.mark.usefixtures("restless")
def test_threads_with_calls_of_their_own_get_what_each_gets_alone() -> None:
    """If threads call one tokenizer with different lengths, padding and truncation, each thread gets the same results as without other
    threads.
    """
    texts = rows(3)
    alone = [dict(fst.Tokenizer(tables())(texts, **call)) for call in CALLS]

    def work(number: int) -> bool:
        return all(dict(tokenizer()(texts, **CALLS[number])) == alone[number] for _ in range(5))

    assert all(together(64, work))


@pytest.mark.slow
@pytest.mark.usefixtures("restless")
def test_threads_that_are_the_first_find_what_is_computed_once() -> None:
    """If several threads use a new tokenizer at the same time, each thread gets the same results as a single thread."""
    texts = rows(4, 5)

    def everything(one: fst.Tokenizer, _turn: int = 0) -> list[Any]:
        traced = one(texts, return_offsets_mapping=True)
        plain = [one.tokenize(texts[1]), one.decode(range(40)), one.token_to_id("un"), one.encode(texts[2]).tolist()]
        return [dict(traced), traced.word_ids(1), *plain]

    expected = everything(tokenizer())
    for _ in range(8):
        new = fst.Tokenizer(tables())
        assert together(16, functools.partial(everything, new)) == [expected] * 16


def test_what_is_computed_once_holds_no_lock() -> None:
    """`Lazy` holds no lock, so while one thread computes a value, another thread can compute the same value."""
    meeting = Barrier(2)

    class Slow:
        @Lazy
        def value(self) -> int:
            meeting.wait(timeout=30)
            return 3

    one = Slow()
    assert together(2, lambda _: one.value) == [3, 3]
    assert one.value == 3
    assert isinstance(Slow.value, Lazy)


# Processes


def lists(batch: Iterable[NDArray[np.int32]]) -> list[list[int]]:
    """The ids of a batch."""
    return [row.tolist() for row in batch]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_processes_of_every_kind_are_handed_a_tokenizer(method: str) -> None:
    """A tokenizer can be passed to forked and to spawned processes while the parent process encodes in threads."""
    texts = [rows(seed) for seed in range(6)]
    encode = tokenizer().encode_batch
    expected = [lists(encode(some)) for some in texts]
    with ThreadPoolExecutor(2) as threads, multiprocessing.get_context(method).Pool(2) as pool:
        busy = [threads.submit(encode, some * 20) for some in texts]
        found = pool.map_async(encode, texts).get(100)
        assert [lists(one.result())[:40] for one in busy] == expected
    assert [lists(some) for some in found] == expected


IMPORT_AFTER_LOAD = """
import sys
import fst
from fst.core import jit

class Finder:
    def find_spec(self, name, path=None, target=None):
        if not jit._first_call._is_owned():
            print(name)

tokenizer = fst.load(sys.argv[1])
sys.meta_path.insert(0, Finder())
ids = tokenizer(["un b"], return_offsets_mapping=True)["input_ids"][0]
stream = tokenizer.stream()
stream.write("un b")
stream.close(), tokenizer.decode(ids), tokenizer.tokenize("un b"), tokenizer.count_tokens(["un b"])
"""


@pytest.mark.slow
def test_first_use_imports_under_a_lock(tmp_path: Path) -> None:
    """When a loaded tokenizer is used for the first time, it imports modules under a lock, so a forked child never has a half-imported
    module.
    """
    tables().save(tmp_path / "table.npz")
    command = [sys.executable, "-c", IMPORT_AFTER_LOAD, str(tmp_path / "table.npz")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


FORK_WHILE_FIRST = """
import faulthandler, os, sys, threading, time
import fst

def use(tokenizer):
    return tokenizer.encode("un b").tolist(), tokenizer.tokenize("un b"), tokenizer(["un b"], return_offsets_mapping=True)["offset_mapping"]

def forked(tokenizer, delay):
    thread = threading.Thread(target=use, args=[tokenizer])
    thread.start()
    time.sleep(delay)
    child = os.fork()
    if not child:
        faulthandler.dump_traceback_later(30, exit=True)
        use(tokenizer)
        os._exit(0)
    thread.join()
    return os.waitpid(child, 0)[1]

sys.setswitchinterval(1e-5)
first = forked(fst.load(sys.argv[1]), float(sys.argv[2]))
sys.exit(first or max(forked(fst.load(sys.argv[1]), turn * 1e-4) for turn in range(30)))
"""


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize("delay", thinned([0.05, 0.15, 0.3], 6))
def test_process_forked_while_a_thread_is_the_first_to_encode(delay: float, tmp_path: Path) -> None:
    """A process that is forked while a thread imports `numba`, compiles a kernel or computes a lazy value can still encode texts."""
    tables().save(tmp_path / "table.npz")
    tokenizer()([*tokenizer().tokenize("un b")], return_offsets_mapping=True)  # compiles the kernels and stores them on disk
    command = [sys.executable, "-c", FORK_WHILE_FIRST, str(tmp_path / "table.npz"), str(delay)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# Tests of the library `datasets`, which identifies functions by their pickles


MAP = """
import sys
import datasets
import fst
from support.tables.mapped import functions

datasets.disable_progress_bars()
loaded = datasets.load_from_disk(sys.argv[1])
for name, function in functions(fst.load(sys.argv[2])).items():
    found = loaded.map(function, input_columns="text", batched=True, batch_size=10, num_proc=2)
    print(name, found._fingerprint, found["input_ids"][-1])
"""


def test_mapped_data_sets_come_from_the_cache(tmp_path: Path) -> None:
    """If two processes map a data set with equal tables from two files, the fingerprints are equal, so the second process uses the
    cache.
    """
    library = pytest.importorskip("datasets", reason="datasets is not installed: nothing maps and caches")
    texts = rows(5)
    library.disable_progress_bars()
    library.Dataset.from_dict({"text": texts}).save_to_disk(tmp_path / "data")
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    printed, made = [], []
    for table in (tmp_path / "one.npz", tmp_path / "two.npz"):
        tables().save(table)
        command = [sys.executable, "-c", MAP, str(tmp_path / "data"), str(table)]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=100, check=True)
        printed.append(done.stdout.splitlines())
        made.append({path: path.stat().st_mtime_ns for path in (tmp_path / "data").glob("cache-*")})
    assert printed[0] == printed[1]
    assert made[0] == made[1]
    assert len(made[0]) == 2 * len(functions(tokenizer()))
    assert len({line.split()[1] for line in printed[0]}) == len(functions(tokenizer()))
    for line, function in zip(printed[0], functions(tokenizer()).values(), strict=True):
        assert line.endswith(f" {[int(number) for number in function(texts[-1:])['input_ids'][0]]}")
