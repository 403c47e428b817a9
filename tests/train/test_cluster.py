"""Tasks of a cluster, here of this process and of threads, count words and encode files as one process does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.shared_data import EXAMPLES

from fst import train
from fst.cli.commands.encode.command import command
from fst.cluster.tasks import count_words, encode
from fst.compile import wordpiece
from fst.errors import UnsupportedError

pytest.importorskip("pyarrow", reason="tables of words take pyarrow: the extra [arrow]")

LINES = ["a rose is a rose", "the cat", "", "unaffable", "a daisy is no rose", "the house"]


def backwards(task: Callable[[Any], Any], items: Any) -> list[Any]:
    """A function like `map` that runs the last task first."""
    return [task(item) for item in [*items][::-1]][::-1]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three files of two lines each."""
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_text("".join(f"{line}\n" for line in LINES[2 * number : 2 * number + 2]), encoding="utf-8")
    return paths


@pytest.mark.parametrize("run", [map, backwards, ThreadPoolExecutor(2).map])
def test_counted_parts_are_the_words_of_one_process(files: list[Path], tmp_path: Path, run: Any) -> None:
    """The words of tasks have the counts of one process, and the file is the same for any runner."""
    size = count_words([files[0], files[1:]], tmp_path, tmp_path / "words.parquet", run=run, splitter="bert")
    words, whole = train.words(tmp_path / "words.parquet"), train.words(files, splitter="bert")
    assert ([*words], words.counts.tolist(), size) == ([*whole], whole.counts.tolist(), len(whole))
    parts = [train.words(part, splitter="bert", partition=number) for number, part in enumerate([files[:1], files[1:]])]
    for number, part in enumerate(parts):
        part.save(tmp_path / f"{number}.parquet")
    train.merge_words([tmp_path / "1.parquet", tmp_path / "0.parquet"], tmp_path / "expected.parquet")
    assert (tmp_path / "words.parquet").read_bytes() == (tmp_path / "expected.parquet").read_bytes()


def test_wrong_part_is_an_error(files: list[Path], tmp_path: Path) -> None:
    """If a task fails, its error is raised, and no file of all words is written."""
    with pytest.raises(FileNotFoundError):
        count_words([files[0], tmp_path / "missing.txt"], tmp_path, tmp_path / "words.parquet", splitter="bert")
    assert not (tmp_path / "words.parquet").exists()


@pytest.mark.parametrize("shares", [1, 2, 5])
def test_shares_are_the_outputs_of_the_command(files: list[Path], tmp_path: Path, shares: int) -> None:
    """Any number of shares, in any order, gives the files of `fst encode`, and a second run keeps them."""
    wordpiece(EXAMPLES / "english-uncased-8000.txt").save(tmp_path / "t.npz")
    arguments = [str(tmp_path / "t.npz"), *map(str, files), "--format", "megatron", "-o"]
    command.call([*arguments, f"{tmp_path}/expected/"])
    for _ in range(2):
        encode([*arguments, f"{tmp_path}/found/"], shares, run=backwards)
    names = ["index.json", *(f"{number}{ending}" for number in range(3) for ending in (".bin", ".idx"))]
    assert {path.name for path in (tmp_path / "found").iterdir()} == {*names, ".complete"}
    for name in names:
        assert (tmp_path / "found" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()


def test_wrong_arguments(files: list[Path]) -> None:
    """A wrong argument of the command is an error that can be pickled, not one of click."""
    with pytest.raises(UnsupportedError, match="No such option"):
        encode([files[0], "--no-such-option"], 1)
    with pytest.raises(UnsupportedError, match="shares is 0; expected at least 1"):
        encode([files[0], "-o", "ids/"], 0)
    with pytest.raises(UnsupportedError, match=r"an argument is '--share=1/2'; expected those that all tasks share"):
        encode([files[0], "-o", "ids/", "--share=1/2"], 2)
    with pytest.raises(UnsupportedError, match=r"arguments is 't\.npz'; expected a list"):
        encode("t.npz", 1)
    with pytest.raises(UnsupportedError, match=r"parts is '\./corpus'; expected a list"):
        count_words("./corpus", files[0].parent, "words.parquet", splitter="bert")


@pytest.mark.parametrize(("given", "threads"), [([], "1"), (["--threads=4"], "4"), (["--threads", "4"], "4")])
def test_number_of_threads(monkeypatch: pytest.MonkeyPatch, given: list[str], threads: str) -> None:
    """A task has one thread by default, and else the given number in either form of the option."""
    seen = []
    monkeypatch.setattr(command, "callback", lambda **options: seen.append(options["threads"]))
    encode(["t.npz", "a.txt", "-o", "ids/", *given], 1)
    assert seen == [int(threads)]
