"""Tests of the trainer of BPE, and of the control of training runs."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import fst
from fst.compile.train.control import Control, Round


class Count(NamedTuple):
    """The state of a toy trainer, which counts to ten."""

    number: Any


def count(state: Count) -> Round:
    """Count one up."""
    state.number[0] += 1
    done = int(state.number[0])
    return Round(state, done, done == 10)


def accept(_: Count) -> None:
    """Prove nothing."""


def count_under(control: Control, digest: str = "ten") -> tuple[int, bool]:
    """Run the toy trainer."""
    state, finished = control.run(Count(np.zeros(1, np.int64)), count, total=10, digest=digest, prove=accept)
    return int(state.number[0]), finished


def test_run_resumes_from_its_checkpoint_and_removes_it(tmp_path: Path) -> None:
    """A run past its deadline leaves a checkpoint, and the next one goes on from there."""
    path, seen = tmp_path / "run.npz", list[int]()
    for number in range(1, 4):
        assert count_under(Control(deadline=0, checkpoint=path)) == (number, False)
    assert count_under(Control(lambda done, _: seen.append(done), checkpoint=path)) == (10, True)
    assert seen == [*range(4, 11)]
    assert not path.exists()


def test_interrupt_writes_the_checkpoint(tmp_path: Path) -> None:
    """Ctrl-C ends the round, writes the checkpoint and goes on as KeyboardInterrupt."""
    path, before = tmp_path / "run.npz", signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        count_under(Control(lambda *_: signal.raise_signal(signal.SIGINT), checkpoint=path))
    assert signal.getsignal(signal.SIGINT) is before
    assert count_under(Control(deadline=0, checkpoint=path)) == (2, False)


def test_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    """A checkpoint of another run, a compressed one and a file of another kind are errors that name the file."""
    path = tmp_path / "run.npz"
    count_under(Control(deadline=0, checkpoint=path))
    with pytest.raises(fst.VocabularyError, match=r"run\.npz is a checkpoint of other words or options"):
        count_under(Control(checkpoint=path), "eleven")
    np.savez_compressed(path, digest=np.array("ten"), number=np.zeros(1, np.int64))
    with pytest.raises(fst.VocabularyError, match="is damaged or no checkpoint"):
        count_under(Control(checkpoint=path))
    path.write_bytes(b"no archive")
    with pytest.raises(fst.VocabularyError, match="is damaged or no checkpoint"):
        count_under(Control(checkpoint=path))


def test_deadline_must_not_be_negative() -> None:
    """A negative deadline is refused."""
    with pytest.raises(fst.UnsupportedError, match="deadline is -1"):
        Control(deadline=-1)
