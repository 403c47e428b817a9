"""The cache of compiled tables: the files that determine a table, locks between processes, and the folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.commands import TIMEOUT, posix
from support.naive.sentencepiece import Piece
from support.sources import merges
from support.sources.pretrained import bare, document, full
from support.sources.sentencepiece import CHARS, UNK, model_of

import fst
from fst.bridge import table_cache
from fst.compile.sources import inputs, live, read
from fst.core import cache_folder

MODEL = model_of([UNK, *CHARS, Piece("ab", -1)], "unigram")
RANKS = merges.lines().encode()
MERGES = {"vocab.json": merges.document()["model"]["vocab"], "merges.txt": "#version: 0.2\n"}
SETTINGS = {"special_tokens_map.json": {"pad_token": "[PAD]"}, "added_tokens.json": {"[new]": 20}, "config.json": {"model_type": "bert"}}
TEMPLATES = {"chat_template.jinja": "a {{ messages }}", "additional_chat_templates/rag.jinja": "b {{ documents }}"}
# Folders of all forms: the files by their names.
FOLDERS: dict[str, dict[str, Any]] = {
    "rebuilt": {**full(SETTINGS), **TEMPLATES},
    "without a document": {**bare(SETTINGS), **TEMPLATES},
    "a document": {"tokenizer.json": document()},
    "merges": MERGES,
    "ranks": {"gpt2.tiktoken": RANKS, "config.json": {}},
    "tekken": {"tekken.json": merges.mistral(), "chat_template.jinja": "c"},
    "pieces": {"own.model": MODEL, "config.json": {}},
    "pieces of a class": {"spiece.model": MODEL, "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer"}},
}
# Compiles sources; prints the files inside them that were opened, apart from those in `files_of`.
OPENED = """
import os, sys
from pathlib import Path
from fst.bridge.from_live import table_for
from fst.compile.sources.inputs import files_of
opened = []
sys.addaudithook(lambda event, values: opened.append(values[0]) if event == "open" else None)
for source in map(Path, sys.argv[1:]):
    opened.clear()
    table_for(source, "test")
    found = {Path(path) for path in opened if isinstance(path, str | os.PathLike) and Path(path).is_relative_to(source)}
    assert found
    print(*found - {*files_of(source)})
"""
USE = "import fst, sys; from fst.core import cache_folder; cache_folder.PATIENCE = 1e9; print(fst.Tokenizer(sys.argv[1]).tokenize('a b'))"
# Never ends its compilation.
STUCK = "import fst.compile.api as api, time; api.made_of = lambda *_: print('begun', flush=True) or time.sleep(1e9); " + USE


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write files to a folder: bytes and strings as they are, other values as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder of tables, which FST_CACHE names."""
    monkeypatch.setenv("FST_CACHE", str(tmp_path / "tables"))
    return tmp_path / "tables"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A vocabulary of one token per line."""
    return write(tmp_path, {"words.txt": "[UNK]\na\nb\n"}) / "words.txt"


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[Any], list[str]]:
    """A function that makes a tokenizer, compares its table with a newly compiled table, and returns the second half of each line in the
    log.
    """

    def made(source: Any) -> list[str]:
        caplog.clear()
        table = fst.Tokenizer(source)._table
        found = [record.getMessage().partition("; ")[2] for record in caplog.records]
        assert table.dumps() == fst.compile.tokenizer(source).dumps()
        return found

    return made


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", FOLDERS)
def test_every_file_of_a_folder_counts(name: str, tmp_path: Path, logged: Callable[[Any], list[str]]) -> None:
    """If a file of a folder changes or is removed, the folder has the table of its new files; if the file is restored, the former table."""
    source = write(tmp_path / "source", FOLDERS[name])
    logged(source)
    before = inputs.contents_of(source)
    contents = {before}
    for path in [path for path in source.rglob("*") if path.is_file()]:
        data = path.read_bytes()
        path.unlink()
        contents.add(inputs.contents_of(source))
        path.write_bytes(data + b"\n")
        contents.add(inputs.contents_of(source))
        with suppress(fst.FstError):  # of the compiler, which refuses some of the files
            logged(source)
        path.write_bytes(data)
    assert len(contents) == 1 + 2 * len(inputs.files_of(source))
    assert inputs.contents_of(source) == before
    assert logged(source) == []


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_no_other_file_is_opened(tmp_path: Path) -> None:
    """The readers of folders open only the files that `files_of` lists."""
    sources = [write(tmp_path / "sources" / name, {**files, "other.json": {}, "LICENSE": ""}) for name, files in FOLDERS.items()]
    done = subprocess.run([sys.executable, "-c", OPENED, *map(str, sources)], capture_output=True, check=True, text=True, timeout=TIMEOUT)
    assert done.stdout == "\n" * len(sources)


def test_names_of_files_count(tmp_path: Path) -> None:
    """The name of a file, which may determine its format, is a part of the contents; the name of a folder is not."""
    ranks = [write(tmp_path, {name: RANKS}) / name for name in ("gpt2.tiktoken", "cl100k_base.tiktoken")]
    assert len({*map(inputs.contents_of, ranks)}) == 2
    assert len({inputs.contents_of(write(tmp_path / name, FOLDERS["merges"])) for name in "ab"}) == 1


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A source without readable files has no contents, so it is read again each time."""
    (tmp_path / "spiece.model").symlink_to(tmp_path / "spiece.model")
    assert inputs.contents_of(tmp_path / "spiece.model") is None
    assert inputs.contents_of(tmp_path / "missing") is None


@pytest.mark.parametrize("source", ['{"model": "' + "a" * 5000 + '"}', "./" + "a" * 300, "a\0b"])
def test_text_that_is_no_path(source: str) -> None:
    """The contents of a file instead of its path, and a path with a null character, are refused with a short message."""
    for make in (fst.Tokenizer, fst.compile.tokenizer):
        with pytest.raises(fst.FstError, match=r"the source is .{,80}; expected the path of a file or a folder, or the name of a model$"):
            make(source)


@pytest.mark.usefixtures("folder")
def test_file_that_changes_while_it_is_read(lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a file changes while it is read, its table is not kept for its former bytes."""
    before, plain = lines.read_bytes(), read.read

    def slow(path: Path, options: Any) -> Any:
        lines.write_bytes(before + b"c\n")
        return plain(path, options)

    with monkeypatch.context() as patch:
        patch.setattr(read, "read", slow)
        assert fst.Tokenizer(lines).tokenize("c") == ["c"]
    lines.write_bytes(before)
    assert fst.Tokenizer(lines).tokenize("c") == ["[UNK]"]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_folder_that_transformers_reads(tmp_path: Path, logged: Callable[[Any], list[str]]) -> None:
    """The table of a folder that only `transformers` can read is found by the tokenizer that it makes, not by the folder's files."""
    pytest.importorskip("transformers", reason="the reader of the folder")
    source = write(tmp_path / "source", bare(tokenizer_class="SplinterTokenizer"))
    assert len(logged(source)) == 1
    assert source in live.asked
    contents = inputs.contents_of(source)
    assert contents is not None
    assert table_cache.table_with(contents) is None
    assert logged(source) == []


@posix
@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_processes_at_the_same_time(lines: Path) -> None:
    """If several processes need a table at the same time, only one of them compiles it; the others wait for its file."""
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda _: started(USE, lines).communicate(timeout=TIMEOUT), range(3)))
    assert [out for out, _ in done] == 3 * ["['a', 'b']\n"]
    assert sum(errors.count("compiling") for _, errors in done) == 1


@posix
@pytest.mark.slow
def test_process_that_dies(lines: Path, folder: Path) -> None:
    """If a process is killed while it compiles a table, the next process does not wait for it, and its file is complete."""
    process = started(STUCK, lines)
    assert process.stdout
    assert process.stdout.readline() == "begun\n"
    waiting = started(USE, lines)
    process.kill()
    process.communicate(timeout=TIMEOUT)
    out, errors = waiting.communicate(timeout=TIMEOUT)
    assert out == "['a', 'b']\n"
    assert errors.count("compiling") == 1
    assert sorted(path.suffix for path in folder.iterdir()) == [".npz", ".source"]


@posix
def test_process_that_never_ends(lines: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, logged: Callable[[Any], list[str]]) -> None:
    """If another process holds the lock for too long, the table is compiled without the lock."""
    monkeypatch.setattr(cache_folder, "PATIENCE", 0.1)
    contents = inputs.contents_of(lines)
    assert contents is not None
    folder.mkdir()
    with cache_folder.alone(folder / table_cache._name(contents).replace(".npz", ".source"), "ab"):
        assert len(logged(lines)) == 1
    assert logged(lines) == []


def test_systems_without_locks(lines: Path, monkeypatch: pytest.MonkeyPatch, folder: Path, logged: Callable[[Any], list[str]]) -> None:
    """On a system without locks, processes do not wait for each other, and tables are kept."""
    monkeypatch.setattr(cache_folder, "fcntl", None)
    assert logged(lines) == [f"kept in {folder}"]
    assert logged(lines) == []


def test_source_that_cannot_be_compiled(tmp_path: Path, folder: Path) -> None:
    """A source that cannot be compiled leaves no file."""
    broken = {**document()["model"], "vocab": {"[UNK]": 0, "a": 5}}
    source = write(tmp_path, {"tokenizer.json": document(model=broken, added_tokens=[], post_processor={"type": "Sequence"})})
    with pytest.raises(fst.FstError):
        fst.Tokenizer(source / "tokenizer.json")
    assert not folder.exists() or [*folder.iterdir()] == []


@pytest.mark.parametrize("named", ["relative", "0", "~/tables"])
def test_relative_folder(named: str, lines: Path, monkeypatch: pytest.MonkeyPatch, logged: Callable[[Any], list[str]]) -> None:
    """If FST_CACHE is not an absolute path, each process compiles, and a line in the log contains the value."""
    monkeypatch.setenv("FST_CACHE", named)
    line = f"not kept: FST_CACHE is '{named}'; expected an absolute path"
    assert [logged(lines), logged(lines)] == [[line], [line]]


def test_folder_that_cannot_be_written(lines: Path, monkeypatch: pytest.MonkeyPatch, logged: Callable[[Any], list[str]]) -> None:
    """If the folder cannot be made, each process compiles, and a line in the log contains the folder and the reason."""
    monkeypatch.setenv("FST_CACHE", f"{lines}/tables")
    line = f"not kept: {lines}/tables: Not a directory"
    assert [logged(lines), logged(lines)] == [[line], [line]]


def test_folder_in_the_place_of_a_table(lines: Path, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """If a folder has the name of a table's file, the table is not kept, and a line in the log contains the path of this folder."""
    fst.Tokenizer(lines)
    (path,) = folder.glob("*.npz")
    path.unlink()
    path.mkdir()
    fst.Tokenizer(lines)
    assert caplog.messages[-1] == f"fst: the table is not kept: {path}: not a regular file: it would be replaced by one"


def test_empty_name_of_the_folder(lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: Callable[[Any], list[str]]) -> None:
    """An empty FST_CACHE has no effect."""
    monkeypatch.setenv("FST_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert logged(lines) == [f"kept in {tmp_path}/fst-toolkit-{fst.__version__}/tables"]


def started(program: str, *words: Path) -> subprocess.Popen[str]:
    """Start a program in a new process."""
    return subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
