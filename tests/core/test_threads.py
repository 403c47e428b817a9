"""The default number of threads is the number of cores that the process may use, or `FST_NUM_THREADS`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import TOKENS

import fst
from fst.compile import wordpiece
from fst.core import threads as cores

TEXTS = ["un hello! " * 100_000] * 4  # so much text that it is divided among threads

V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1_MOUNT = "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct"
MEMORY_MOUNT = "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
IN_CONTAINER = "31 23 0:27 /docker/4f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu"
NOTHING = float("inf")

TREES: dict[str, tuple[str, list[str], dict[str, str], float]] = {
    "version 2": ("0::/a/b", [V2_MOUNT], {"sys/fs/cgroup/a/b/cpu.max": "150000 100000"}, 1.5),
    "version 2, its top": ("0::/", [V2_MOUNT], {"sys/fs/cgroup/cpu.max": "50000 100000"}, 0.5),
    "version 2, unlimited": ("0::/a", [V2_MOUNT], {"sys/fs/cgroup/a/cpu.max": "max 100000"}, NOTHING),
    "version 2, a parent": (
        "0::/a/b/c",
        [V2_MOUNT],
        {
            "sys/fs/cgroup/a/cpu.max": "200000 100000",
            "sys/fs/cgroup/a/b/cpu.max": "400000 100000",
            "sys/fs/cgroup/a/b/c/cpu.max": "max 100000",
        },
        2.0,
    ),
    "version 2, outside of its name space": ("0::/../d", [V2_MOUNT], {"sys/fs/cgroup/cpu.max": "300000 100000"}, 3.0),
    "version 1": (
        "4:memory:/m\n3:cpu,cpuacct:/a",
        [V1_MOUNT, MEMORY_MOUNT],
        {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "250000", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000"},
        2.5,
    ),
    "version 1, unlimited": (
        "3:cpu,cpuacct:/a",
        [V1_MOUNT],
        {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000"},
        NOTHING,
    ),
    "version 1, mounted for a container": (
        "3:cpu:/docker/4f",
        [IN_CONTAINER],
        {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "50000"},
        2.0,
    ),
    "both versions": (
        "3:cpu,cpuacct:/a\n0::/a",
        [V1_MOUNT, V2_MOUNT.replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified")],
        {
            "sys/fs/cgroup/unified/a/cpu.max": "400000 100000",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "300000",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
        },
        3.0,
    ),
    "no limit of CPU time": ("4:memory:/m", [MEMORY_MOUNT], {"sys/fs/cgroup/memory/m/cpu.max": "100000 100000"}, NOTHING),
    "junk": ("0::/", [V2_MOUNT], {"sys/fs/cgroup/cpu.max": "many"}, NOTHING),
}


@pytest.mark.parametrize("name", TREES)
def test_quotas_of_control_groups(name: str, tmp_path: Path) -> None:
    """The quota is the minimum of the quotas of the process's control group and its parents, in either version of control groups."""
    groups, mounts, files, expected = TREES[name]
    for path, text in {"proc/self/cgroup": groups, "proc/self/mountinfo": "\n".join(mounts), **files}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"{text}\n")
    assert cores.cpu_quota(tmp_path) == expected


def test_no_control_groups(tmp_path: Path) -> None:
    """Without control groups, there is no quota."""
    assert cores.cpu_quota(tmp_path) == NOTHING


@pytest.mark.parametrize(("quota", "expected"), [(0.2, 1), (1.0, 1), (1.5, 2), (2.5, 3), (64.0, 4), (NOTHING, 4)])
def test_usable_cores(quota: float, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of usable cores is the number of cores in the affinity mask, or the rounded-up quota if the quota is smaller."""
    monkeypatch.setattr(cores, "_quota", lambda: quota)
    monkeypatch.setattr(cores, "_affine_cores", lambda: 4)
    assert cores.usable_cores() == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
def test_affinity() -> None:
    """After a change of the affinity mask, the new number of usable cores is returned at once."""
    mask = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(mask)})
        assert cores.usable_cores() == 1
    finally:
        os.sched_setaffinity(0, mask)


@pytest.fixture(scope="module")
def tokenizer() -> fst.Tokenizer:
    """A tokenizer of a few tokens."""
    return fst.Tokenizer(wordpiece(TOKENS))


ENCODERS: dict[str, Callable[..., Any]] = {
    "encode_batch": lambda tokenizer, **threads: tokenizer.encode_batch(TEXTS, **threads),
    "count_tokens": lambda tokenizer, **threads: tokenizer.count_tokens(TEXTS, **threads),
    "call": lambda tokenizer, **threads: tokenizer(TEXTS, return_tensors="np", **threads),
    "call with offsets": lambda tokenizer, **threads: tokenizer(TEXTS, return_tensors="np", return_offsets_mapping=True, **threads),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ENCODERS)
def test_variable_says_how_many_threads(
    name: str, tokenizer: fst.Tokenizer, helpers: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """FST_NUM_THREADS is the default number of threads, and is read at each use."""
    for asked in (1, 3):
        monkeypatch.setenv("FST_NUM_THREADS", f" {asked}")
        assert helpers(ENCODERS[name], tokenizer) == asked - 1
        assert helpers(ENCODERS[name], tokenizer, threads=4 - asked) == 3 - asked


def test_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty FST_NUM_THREADS has no effect."""
    monkeypatch.setenv("FST_NUM_THREADS", "")
    assert cores.thread_count() == cores.usable_cores()


@pytest.mark.parametrize("junk", ["0", "-1", "two", "1.5", "0x2"])
def test_junk_in_the_variable_is_refused(junk: str, tokenizer: fst.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """If FST_NUM_THREADS is not a valid number of threads, an error names the variable, but only when the default number is needed."""
    monkeypatch.setenv("FST_NUM_THREADS", junk)
    with pytest.raises(ValueError, match=f"^FST_NUM_THREADS is '{junk}'; expected a whole number of at least 1$"):
        tokenizer.encode_batch(TEXTS)
    assert len(tokenizer.encode_batch(TEXTS, threads=1)) == len(TEXTS)
