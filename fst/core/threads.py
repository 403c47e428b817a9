"""The threads of the process, and their default number: ``FST_NUM_THREADS``, or the number of cores that this process may use."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import ceil
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

VARIABLE = "FST_NUM_THREADS"
ROOT = Path("/")


MAX_THREADS = 256  # maximum number of threads of the pool

_pools: list[ThreadPoolExecutor] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # a child process does not inherit the threads of its parent


def shared_pool() -> ThreadPoolExecutor:
    """The thread pool of the process, which is created at its first use."""
    from concurrent.futures import ThreadPoolExecutor

    if not _pools:
        _pools.append(ThreadPoolExecutor(MAX_THREADS, "fst"))
    return _pools[0]


def in_threads(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """The results of a function for all items, in the order of the items. At most `threads` threads compute them, one of which is the
    calling thread. If a call fails, its error is raised once all threads have ended.

    Examples:
        >>> in_threads(len, ["a", "bc", ""], 2)
        [1, 2, 0]
    """
    from concurrent.futures import wait

    places, found = deque(range(len(items))), dict[int, Result]()  # threads may share a deque without a lock, but not an iterator

    def work() -> None:
        while True:
            try:
                place = places.popleft()
            except IndexError:
                return
            found[place] = function(items[place])

    helpers = [shared_pool().submit(work) for _ in range(min(threads, len(items)) - 1)]
    try:
        work()
    finally:
        places.clear()
        wait(helpers)
    for helper in helpers:
        helper.result()
    return [found[place] for place in range(len(items))]


def thread_count(threads: Any = None) -> int:
    """The number of threads for an argument `threads`; None means the default.

    The default is read at each call: the environment variable ``FST_NUM_THREADS`` or, if it is not set, `usable_cores`.
    """
    if threads is not None:
        return _at_least_one(threads, threads, "threads")
    asked = os.environ.get(VARIABLE, "").strip()
    return _at_least_one(int(asked) if asked.isdecimal() else asked, asked, VARIABLE) if asked else usable_cores()


def usable_cores() -> int:
    """The number of cores that this process may use: the cores in its affinity mask, limited by the CPU quota of its control groups.

    A quota is rounded up to whole cores.

    The quota is read once per process, the affinity mask at each call. From Python 3.13 on, ``PYTHON_CPU_COUNT`` overrides the mask.
    """
    return ceil(min(_affine_cores(), _quota()))


def cpu_quota(root: Path) -> float:
    """The CPU quota of this process, in cores; infinity without a quota. `root`: the folder that contains ``proc`` and ``sys``."""
    try:
        groups = dict(_groups(root))
        mounts = (root / "proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return float("inf")
    return min((_granted(folder) for line in mounts for folder in _folders(root, line, groups)), default=float("inf"))


_quota = cache(lambda: cpu_quota(ROOT))


def _affine_cores() -> int:
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _groups(root: Path) -> Iterator[tuple[str, str]]:
    """The control groups that can limit the CPU time of this process. Each group is a pair: the type of its file system, and its path."""
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield "cgroup2", path
        elif "cpu" in controllers.split(","):
            yield "cgroup", path


def _folders(root: Path, mount: str, groups: dict[str, str]) -> Iterator[Path]:
    """The folders of this process's control group and of the group's parents; empty if the line of ``mountinfo`` is about another mount."""
    place, _, kind = mount.partition(" - ")
    file_system, *_, options = kind.split(" ")
    if file_system not in groups or (file_system == "cgroup" and "cpu" not in options.split(",")):
        return
    top, point = place.split(" ")[3:5]
    folder = root / point.lstrip("/")
    path = os.path.relpath(groups[file_system], top)
    yield folder
    for part in () if path.startswith("..") else Path(path).parts:
        folder /= part
        yield folder


def _granted(folder: Path) -> float:
    """The CPU quota of one control group, in cores."""
    files = [folder / "cpu.max"] if (folder / "cpu.max").exists() else [folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us"]
    try:
        quota, period = (float(number) for file in files for number in file.read_text().split())
    except (OSError, ValueError):  # the top group has no file with a quota, and "max" is not a number
        return float("inf")
    return quota / period if quota > 0 else float("inf")


def _at_least_one(number: Any, asked: Any, name: str) -> int:
    try:
        count = index(number)
    except TypeError:
        count = 0
    if count < 1:
        raise ValueError(f"{name} is {asked!r}; expected a whole number of at least 1")
    return count
