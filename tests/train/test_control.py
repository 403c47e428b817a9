"""Long runs of trainers: checkpoints during a run, signals, deadlines that reach counting, and marks of incomplete results."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from itertools import count, repeat
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest
from tokenizers import Tokenizer

import fst
from fst import train
from fst.counting import merging
from fst.train import control
from fst.train.control import Control, Round

pytest.importorskip("pyarrow", reason="tables of words take pyarrow: the extra [arrow]")


class Number(NamedTuple):
    """The state of a trainer that counts to ten."""

    number: Any


def add(state: Number) -> Round:
    """Make one round."""
    state.number[0] += 1
    return Round(state, int(state.number[0]), state.number[0] >= 10)


def counted(how: Control) -> tuple[int, bool]:
    """Run the trainer; return the last number, and whether it is ten."""
    state, finished = how.run(Number(np.zeros(1, np.int64)), add, total=10, digest="ten", prove=lambda _: None)
    return int(state.number[0]), finished


def stored(path: Path) -> int:
    """Return the number in a checkpoint."""
    with np.load(path) as file:
        return int(file["number"][0])


def texts() -> Iterator[list[str]]:
    """Yield blocks of documents without an end."""
    return ([f"a{number} b"] for number in count())


def test_checkpoints_are_written_during_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run writes a checkpoint at every interval, and a run that is killed resumes from the last checkpoint."""
    path, seen = tmp_path / "run.npz", list[int | None]()
    monkeypatch.setattr(control, "INTERVAL", 0.0)
    monkeypatch.setattr(control, "SHARE", 0)

    def die(done: int, _: int) -> None:
        seen.append(stored(path) if path.exists() else None)
        if done == 4:
            raise MemoryError

    with pytest.raises(MemoryError):
        counted(Control(die, checkpoint=path))
    assert seen == [None, 1, 2, 3]
    assert stored(path) == 3
    assert counted(Control(checkpoint=path)) == (10, True)
    assert not path.exists()


def test_a_failed_checkpoint_does_not_end_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If a checkpoint cannot be written during a run, a warning is logged and the run goes on."""
    folder = tmp_path / "folder"
    folder.mkdir()
    how = Control(lambda done, _: folder.rmdir() if done == 1 else None, checkpoint=folder / "run.npz")
    monkeypatch.setattr(control, "INTERVAL", 0.0)
    assert counted(how) == (10, True)
    assert "run.npz: no checkpoint: no folder" in caplog.text


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_signals_write_the_checkpoint(name: str, tmp_path: Path) -> None:
    """SIGTERM and SIGHUP make a run write a checkpoint; then the signal handler that was set before the run is called, and may end or
    continue the run.
    """
    number, path, seen = getattr(signal, name), tmp_path / "run.npz", list[int]()

    def end(_number: int, _frame: FrameType | None) -> None:
        seen.append(stored(path))
        if len(seen) == 2:
            raise SystemExit(128 + number)

    before = signal.signal(number, end)
    try:
        with pytest.raises(SystemExit, match=str(128 + number)):
            counted(Control(lambda done, _: signal.raise_signal(number) if done in (3, 5) else None, checkpoint=path))
        assert seen == [3, 5]
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    assert counted(Control(deadline=0, checkpoint=path)) == (6, False)


def test_ignored_signals_stay_ignored() -> None:
    """A run does not end at a signal that the process ignores, such as SIGHUP after nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert counted(Control(lambda *_: signal.raise_signal(signal.SIGHUP))) == (10, True)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_runs_in_other_threads_set_no_handlers() -> None:
    """A run outside the main thread does not change signal handlers."""
    found, before = list[Any](), signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=lambda: found.append(counted(Control(lambda *_: found.append(signal.getsignal(signal.SIGTERM))))))
    thread.start()
    thread.join()
    assert found == [*repeat(before, 10), (10, True)]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("none/run.npz", OSError, "no folder"),
        ("file/run.npz", OSError, "no folder"),
        (".", fst.VocabularyError, "is damaged or not a checkpoint"),
        ("file", fst.VocabularyError, "is damaged or not a checkpoint"),
        ("array.npz", fst.VocabularyError, "is damaged or not a checkpoint"),
        ("/proc/run.npz", OSError, "/proc/run.npz"),
    ],
)
@pytest.mark.parametrize("trainer", [train.bpe, train.wordpiece, train.unigram])
def test_checkpoints_are_tried_before_counting(
    trainer: Callable[..., Any], name: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    """A checkpoint that cannot be written, or would replace another file, is an error before any text is read, and changes no file."""
    (tmp_path / "file").write_text("a corpus")
    np.savez(tmp_path / "array.npz", a=np.zeros(1))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    unread = iter(["a", "b"])
    with pytest.raises(error, match=message):
        trainer(unread, splitter="gpt2", checkpoint=tmp_path / name)
    assert next(unread) == "a"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


class TestDeadlines:
    """Deadlines during counting."""

    def test_of_counting(self, tmp_path: Path) -> None:
        """A count of endless documents ends at its deadline, and the file is marked as partial; the file of a complete count is not."""
        words = train.words(texts(), splitter="gpt2", deadline=0.2)
        assert words.documents > 0
        assert words.is_partial
        words.save(tmp_path / "partial.parquet")
        train.words(["a b"], splitter="gpt2", deadline=0).save(tmp_path / "whole.parquet")
        partial, whole = (str(tmp_path / f"{name}.parquet") for name in ("partial", "whole"))
        found = [merging.load(names).is_partial for names in ([partial], [whole], [whole, partial])]
        assert found == [True, False, True]
        assert [len(merging.load([partial])), merging.load([partial]).at_least(2).is_partial] == [len(words), True]

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        ("trainer", "options"),
        [
            (train.bpe, {"splitter": "gpt2"}),
            (train.wordpiece, {"splitter": "gpt2"}),
            (train.unigram, {"splitter": "whitespace", "vocab_size": 100}),
            (train.like, {"vocab_size": 20}),
            (train.extend, {"add": 2}),
        ],
    )
    def test_of_trainers(self, trainer: Callable[..., Any], options: dict[str, Any], tmp_path: Path) -> None:
        """If the deadline ends the count, the vocabulary is trained on the words so far, is marked, and has no checkpoint."""
        old = [train.bpe(["a b"], splitter="whitespace", special_tokens=["<unk>"])] if trainer in (train.like, train.extend) else []
        found = trainer(*old, texts(), deadline=0.2, checkpoint=tmp_path / "run.npz", **options)
        assert found.stopped == "deadline"
        assert not [*tmp_path.iterdir()]

    def test_mark(self, tmp_path: Path) -> None:
        """The mark in a tokenizer.json is a field that `tokenizers` and this package ignore; the file of a complete vocabulary lacks it."""
        documents = {"a b": train.bpe(["a b"], splitter="gpt2"), "texts": train.bpe(texts(), splitter="gpt2", deadline=0.1)}
        marks = [found.to_json()["model"].get("stopped") for found in documents.values()]
        assert marks == [None, "deadline"]
        partial = documents["texts"]
        partial.save(tmp_path / "tokenizer.json")
        assert json.loads((tmp_path / "tokenizer.json").read_text())["model"]["stopped"] == "deadline"
        expected = Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode("b a1").ids
        assert fst.Tokenizer(fst.compile.tokenizer(tmp_path / "tokenizer.json")).encode("b a1").tolist() == expected
        assert train.like(partial, ["a b"]).stopped != "deadline"
        assert "stopped" not in train.like(partial, ["a b"]).to_json()["model"]
