"""If a file is damaged or cannot be written, the command prints one message, leaves no partial file, and does not hang."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import resource
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner
from support.commands import FST, INTERRUPTIBLE, TIMEOUT, call, error_of, ids_of, posix, run, written
from support.tiers import thinned

from fst.cli.main import main
from fst.runtime.files.lines import MOST_BYTES
from fst.tables import npz

pa = pytest.importorskip("pyarrow", reason="tables take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="tables take pyarrow: the extra [arrow]")

FORMS = ("ids", "json", "npy", "bin", "arrow", "parquet")
PACKINGS = ("gzip", "zstd", "bz2", "xz")
ROWS = 50_000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of every kind with enough documents for several blocks."""
    folder = tmp_path_factory.mktemp("data")
    texts = [f"unaffable hello {number}" for number in range(ROWS)]
    lines = "".join(f"{text}\n" for text in texts).encode()
    columns = pa.table({"number": range(ROWS), "text": texts})
    paths = {
        "text": written(folder / "in.txt", lines),
        "gzip": written(folder / "in.txt.gz", gzip.compress(lines[: len(lines) // 2]) + gzip.compress(lines[len(lines) // 2 :])),
        "zstd": written(folder / "in.txt.zst", pa.compress(lines, "zstd", asbytes=True)),
        "bz2": written(folder / "in.txt.bz2", bz2.compress(lines)),
        "xz": written(folder / "in.txt.xz", lzma.compress(lines)),
        "parquet": folder / "in.parquet",
        "arrow file": folder / "in.arrow",
        "arrow stream": folder / "in.arrows",
    }
    pq.write_table(columns, paths["parquet"], row_group_size=ROWS // 4)
    for kind, opened in (("arrow file", pa.ipc.new_file), ("arrow stream", pa.ipc.new_stream)):
        with opened(paths[kind], columns.schema) as writer:
            writer.write_table(columns, ROWS // 4)
    return paths


def options_for(kind: str) -> list[str]:
    """The options that read a kind of file."""
    return [] if kind in ("text", *PACKINGS) else ["--column", "text"]


def on_its_own(folder: Path) -> Path:
    """A new empty folder for an output."""
    (folder / "out").mkdir()
    return folder / "out"


class TestInput:
    """Files that are damaged, or not of the expected kind."""

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("kind", [*PACKINGS, "parquet", "arrow file", "arrow stream"])
    def test_cut_short(self, kind: str, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """If a file ends inside a member, a frame, a page or a batch, the message contains the file name, and nothing is written."""
        whole, out = data[kind].read_bytes(), on_its_own(tmp_path)
        for place in (len(whole) // 3, len(whole) - 12):
            source = written(tmp_path / f"cut{data[kind].suffix}", whole[:place])
            (reason,) = call("encode", table, source, *options_for(kind), "-o", out / "ids.txt", code=1).stderr.splitlines()
            assert reason.startswith(f"Error: {source}: ")
            assert "cut short" in reason
        assert list(out.iterdir()) == []

    def test_arrow_file_cut_between_batches(self, table: Path, tmp_path: Path) -> None:
        """An Arrow file that ends after a batch, without a footer, is reported as cut short."""
        file = io.BytesIO()
        with pa.ipc.new_file(file, pa.schema([("text", pa.string())])) as writer:
            writer.write_batch(pa.record_batch({"text": ["un"]}))
            end = file.tell()
        source = written(tmp_path / "cut.arrow", file.getvalue()[:end])
        assert "cut short" in call("encode", table, source, "--column", "text", code=1).stderr

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("kind", [*PACKINGS, "parquet", "arrow file", "arrow stream"])
    def test_damaged(self, kind: str, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """If bytes of a file are changed, the command prints an error or other text, but never prints a traceback or crashes."""
        whole = data[kind].read_bytes()
        for place in (7, 40, len(whole) // 3, len(whole) - 20):
            damaged = bytes(byte ^ 0xA5 for byte in whole[place : place + 8])
            source = written(tmp_path / "damaged", whole[:place] + damaged + whole[place + 8 :])
            done = CliRunner().invoke(main, ["count", str(table), str(source), *options_for(kind), "--errors", "replace"])
            assert done.exit_code == 0 or (done.exit_code == 1 and str(source) in done.stderr)

    @pytest.mark.parametrize("kind", ["parquet", "arrow file", "arrow stream"])
    @pytest.mark.parametrize(("column", "what"), [("txt", "no columns are called 'txt'"), ("number", "column 'number' is int64, no text")])
    def test_columns(self, column: str, what: str, kind: str, table: Path, data: dict[str, Path]) -> None:
        """If a column is missing or is not text, the message lists the columns with their types."""
        reason = call("encode", table, data[kind], "--column", column, code=1).stderr
        assert reason == f"Error: {data[kind]}: {what}; there are 'number' (int64), 'text' (string): name one of text with --column\n"

    @pytest.mark.parametrize("packing", ["bz2", "xz"])
    def test_what_follows_a_stream(self, packing: str, table: Path, tmp_path: Path) -> None:
        """Bytes after a compressed stream that begin no other stream are reported as damage."""
        packed = bz2.compress(b"un\n") if packing == "bz2" else lzma.compress(b"un\n")
        source = written(tmp_path / "in", packed + b"hello\n")
        reason = call("encode", table, source, code=1).stderr
        assert reason.startswith(f"Error: {source}: its {packing} data is damaged or cut short")

    def test_xz_that_asks_for_memory(self, table: Path, tmp_path: Path) -> None:
        """An xz file that requests 4 GB of memory is refused."""
        packed = bytearray(lzma.compress(b"un\n"))
        header = slice(12, 12 + 4 * (packed[12] + 1))  # the first block: size, flags, LZMA2, size of the properties (1), properties
        assert packed[14:16] == b"\x21\x01"
        packed[16] = 40
        packed[header.stop - 4 : header.stop] = zlib.crc32(packed[header.start : header.stop - 4]).to_bytes(4, "little")
        assert lzma.decompress(packed) == b"un\n"
        assert "Memory usage limit" in call("encode", table, written(tmp_path / "in", bytes(packed)), code=1).stderr

    @pytest.mark.parametrize("kind", PACKINGS)
    def test_nothing_packed(self, kind: str, table: Path, tmp_path: Path) -> None:
        """An empty file and a compressed empty file contain no documents."""
        packs: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
        packed = packs[kind](b"") if kind in packs else pa.compress(b"", "zstd", asbytes=True)
        for content in (packed, b""):
            assert call("encode", table, written(tmp_path / "in", content)).stdout == ""

    @pytest.mark.parametrize("kind", ["parquet", "arrow"])
    def test_empty_file_as_a_table(self, kind: str, table: Path, tmp_path: Path) -> None:
        """An empty file is refused as Parquet or Arrow."""
        source = written(tmp_path / "in", b"")
        reason = call("encode", table, source, "--input-format", kind, "--column", "text", code=1).stderr
        assert reason.startswith(f"Error: {source}: ")

    @pytest.mark.parametrize("kind", ["parquet", "arrow"])
    def test_all_null(self, kind: str, table: Path, tmp_path: Path) -> None:
        """A column that contains only nulls is encoded as a column of nulls."""
        nulls, source, out = pa.table({"text": pa.nulls(3, pa.string())}), tmp_path / "in", tmp_path / "out.parquet"
        if kind == "parquet":
            pq.write_table(nulls, source)
        else:
            with pa.ipc.new_stream(source, nulls.schema) as writer:
                writer.write_table(nulls)
        call("encode", table, source, "--column", "text", "-o", out)
        assert pq.read_table(out).to_pydict() == {"input_ids": [None] * 3}

    @pytest.mark.slow
    @pytest.mark.parametrize("words", thinned([(["--field", "text"],), (["--format", "json"],)], 4))
    def test_long_documents(self, words: list[str], table: Path) -> None:
        """A document that is too long for memory is refused before all of it is read."""
        done = subprocess.run(
            [FST, "encode", table, "-", *words], input=b"a" * (3 * MOST_BYTES), capture_output=True, timeout=TIMEOUT, check=False
        )
        assert done.returncode == 1
        assert f"more than {MOST_BYTES:,} bytes" in done.stderr.decode()


@posix
class TestOutput:
    """Outputs that cannot be written, or that can be written only in part."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("kind", "form"),
        thinned([("text", "ids"), ("text", "npy"), ("text", "parquet"), ("parquet", "arrow"), ("parquet", "parquet")], 10),
    )
    def test_full_disk(self, kind: str, form: str, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """The message about a full disk contains the name of the output, and the partial output is removed."""
        out = on_its_own(tmp_path)

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

        done = run("encode", table, data[kind], *options_for(kind), "-o", out / f"o.{form}", code=1, preexec_fn=limit)
        assert error_of(done).startswith(f"{out / 'o'}.")
        assert list(out.iterdir()) == []

    @pytest.mark.slow
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
    def test_full_device(self, table: Path, data: dict[str, Path]) -> None:
        """If a device accepts no data, the message contains the name of the device."""
        assert error_of(run("encode", table, data["text"], "-o", "/dev/full", code=1)) == f"/dev/full: {os.strerror(28)}; free some space"

    @pytest.mark.parametrize("form", FORMS)
    def test_no_folder(self, form: str, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """The message about a missing folder comes before anything is read."""
        out = tmp_path / "none" / f"o.{form}"
        assert call("encode", table, data["text"], "-o", out, code=1).stderr.startswith(f"Error: {out}: no folder {out.parent}")

    def test_folder_of_another(self) -> None:
        """If a folder has no write permission, the message contains the name of the folder."""
        with TemporaryDirectory() as folder:
            Path(folder).chmod(0o555)
            # The superuser may write anywhere, so the process gives up the superuser's rights.
            of = "from fst.runtime.files.outputs import target"
            code = f"import os; {of}; os.geteuid() or os.setuid(65534); target({folder + '/ids.npy'!r})"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=TIMEOUT, check=False)
        reason = done.stderr.decode().splitlines()[-1]
        assert reason == f"PermissionError: [Errno 13] the folder {folder} cannot be written: '{folder}/ids.npy'"

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("form", FORMS)
    def test_twice(self, form: str, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """A second run with the same output replaces it by the same bytes."""
        out = on_its_own(tmp_path)
        found = []
        for _ in range(2):
            call("encode", table, data["parquet"], "--column", "text", "-o", out / f"o.{form}")
            found.append({path.name: path.read_bytes() for path in out.iterdir()})
        assert found[0] == found[1]
        assert len(found[0]) == (2 if form in ("npy", "bin") else 1)

    @pytest.mark.slow
    def test_two_at_once(self, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """If two processes write the same output at the same time, the file is complete, and is from one of them."""
        out = on_its_own(tmp_path)
        words = [[FST, "encode", str(table), str(data[kind]), "-o", str(out / "ids.txt")] for kind in ("text", "gzip")]
        processes = [subprocess.Popen(words[number % 2]) for number in range(2)]
        assert [process.wait(TIMEOUT) for process in processes] == [0] * 2
        assert [path.name for path in out.iterdir()] == ["ids.txt"]
        assert (out / "ids.txt").read_bytes() == run(*words[0][1:-2]).stdout


@posix
class TestSignals:
    """Processes that are ended by a signal."""

    def test_handlers_are_put_back(self, table: Path) -> None:
        """After a program has called a command, the default signal handlers are restored, in the program and in its forks."""
        call("info", table)
        call("info", table.with_name("none.npz"), code=1)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("form", "number", "code"),
        thinned([*((form, signal.SIGINT, 130) for form in FORMS), ("npy", signal.SIGTERM, 143), ("parquet", signal.SIGHUP, 129)], 16),
    )
    def test_in_the_middle(self, form: str, number: int, code: int, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """A signal ends the command at once, and no file remains."""
        out = on_its_own(tmp_path)
        files = [data["text"]] * 2000 if form in ("ids", "json") else [data["parquet"]] * 2000
        words = ["encode", table, *files, *options_for("text" if form in ("ids", "json") else "parquet"), "-o", out / f"o.{form}"]
        with subprocess.Popen([sys.executable, "-c", INTERRUPTIBLE, *map(str, words)], stderr=subprocess.PIPE) as process:
            waited(lambda: any(path.stat().st_size > 10_000 for path in out.iterdir()))
            process.send_signal(number)
            begun = time.monotonic()
            assert process.wait(TIMEOUT) == code
            assert time.monotonic() - begun < TIMEOUT / 10
            assert process.stderr is not None
            assert process.stderr.read() == b""
        assert list(out.iterdir()) == []

    @pytest.mark.slow
    @pytest.mark.parametrize(("number", "code"), thinned([(signal.SIGINT, 130), (signal.SIGTERM, 143)], 4))
    def test_when_nobody_reads(self, number: int, code: int, table: Path, data: dict[str, Path]) -> None:
        """A signal ends a command whose output nobody reads."""
        words = ["encode", table, *[data["text"]] * 100]
        with subprocess.Popen(
            [sys.executable, "-c", INTERRUPTIBLE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.read(10)
            time.sleep(1)  # until the pipe is full
            process.send_signal(number)
            assert process.wait(TIMEOUT) == code
            assert process.stderr.read() == b""

    @pytest.mark.slow
    def test_a_reader_that_leaves(self, table: Path, data: dict[str, Path]) -> None:
        """If the reader closes the pipe early, the command stops reading and encoding."""
        words = [FST, "encode", str(table), *[str(data["parquet"])] * 2000, "--column", "text"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == ids_of(table, ["unaffable hello 0"])
            process.stdout.close()
            assert process.wait(TIMEOUT) == 0
            assert process.stderr.read() == b""


KILLED = """
import os, signal, sys
from fst.tables.npz import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
def test_what_a_killed_process_has_left(tmp_path: Path) -> None:
    """A process that writes to a folder removes the unfinished files of killed processes there, but not those of running processes."""
    with npz.replacing(tmp_path / "other") as file:
        file.write(b"whole")
        subprocess.run([sys.executable, "-c", KILLED, tmp_path / "x"], check=False)
        written(tmp_path / ".mine.part", b"")
        assert len([*tmp_path.iterdir()]) == 3
        npz.remove_leftovers.cache_clear()
        with npz.replacing(tmp_path / "x") as again:
            again.write(b"whole")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"other": b"whole", "x": b"whole", ".mine.part": b""}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """The error for a file in a missing folder contains the folder and the name of the file, not the name of the unfinished file."""
    path = tmp_path / "none" / "x.npz"
    with pytest.raises(FileNotFoundError, match=r"no folder .*none to write it in: .*x.npz'$"), npz.replacing(path):
        pass


def waited(happened: Callable[[], Any]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + TIMEOUT
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


class TestWithoutPyarrow:
    """An installation without `pyarrow`."""

    CODE = "import sys; sys.modules['pyarrow'] = None; from fst.cli.main import main; main()"

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", thinned(["parquet", "arrow file", "arrow stream", "zstd"], 8))
    def test_what_takes_it(self, kind: str, table: Path, data: dict[str, Path]) -> None:
        """A command that needs `pyarrow` explains how to install it."""
        words = [sys.executable, "-c", self.CODE, "encode", str(table), str(data[kind]), *options_for(kind)]
        done = subprocess.run(words, capture_output=True, timeout=TIMEOUT, check=False)
        assert done.returncode == 1
        assert done.stderr.decode().endswith("pip install 'pyarrow>=18'\n")
        assert len(done.stderr.splitlines()) == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", thinned(["text", "gzip"], 4))
    def test_what_does_not(self, kind: str, table: Path, data: dict[str, Path], tmp_path: Path) -> None:
        """A command that does not need `pyarrow` works without it."""
        words = [sys.executable, "-c", self.CODE, "encode", str(table), str(data[kind]), "-o", str(tmp_path / "ids.npy")]
        subprocess.run(words, timeout=TIMEOUT, check=True)
        assert {path.name for path in tmp_path.iterdir()} == {"ids.npy", "ids.splits.npy"}
