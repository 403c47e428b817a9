"""Rules for all commands: help, exit codes, imports, signals, pipes and progress."""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from support.commands import (
    CACHE,
    FST,
    INTERRUPTIBLE,
    TIMEOUT,
    TOKENS,
    call,
    error_of,
    execute,
    ids_of,
    on_terminal,
    posix,
    run,
    written,
)
from support.kept import wordpiece
from support.tiers import thinned
from tokenizers import Tokenizer

import fst
from fst.cli.commands.warmup import processes
from fst.cli.commands.warmup.kernels import PARTS
from fst.cli.files import progress
from fst.cli.main import main
from fst.core import jit
from fst.runtime.run import kernel_of

# Command lines with unknown commands or wrong options, and a part of the message: the name of the option, or a similar command.
MESSAGES = (
    ("compil", 2, "no such command: 'compil'; did you mean 'compile'?"),
    ("train bp", 2, "no such command: 'bp'; did you mean 'bpe'?"),
    ("compile keyword words -o out", 2, "words); did you mean 'keywords'?"),
    ("encode words --treads 2", 2, "--threads"),
    ("compile keywords words --column z -o out", 1, "--column 'z': "),
    ("compile keywords words --column z -o out", 1, "; say --input-format if it is not"),
    ("compile words --lowercase -o out", 1, "add it, or pass another one as --unk-token; "),
    ("compile jieba bare --tags -o out", 1, "add it, or leave out --tags"),
    ("train bpe words --splitter gpt2 --vocab-size 9 --limit-alphabet 300 -o out/", 1, "--vocab-size is 9; "),
    ("train bpe words --vocab-size 300 -o out/", 1, "--splitter is missing, but documents must be split; "),
    ("encode table words --dropout 0.1", 2, "--dropout is for tables of bpe, and "),
)
COMMANDS = (
    *("compile", "encode", "search", "segment", "lookup", "spell", "rewrite", "decode", "draw", "convert"),
    *("info", "verify", "bench", "count", "explain", "warmup", "cache"),
)
# Prints the number of threads of a command that imports numpy.
THREADS = """
import os, sys
from fst.__main__ import main
sys.argv[1:] = ["--version"]
try:
    main()
finally:
    import numpy
    print(len(os.listdir("/proc/self/task")))
"""
# Runs command lines in one process. For each command line, prints the exit code, the standard error and the imported modules.
IMPORTED = """
import contextlib, io, json, sys
from fst.cli.main import main
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            main(words, prog_name="fst")
        except SystemExit as end:
            print("", json.dumps([end.code or 0, errors.getvalue(), list(sys.modules)]), sep="\\n")
"""
WRONG_USAGE = (
    "encode table a.txt --format npy",
    "encode table a.txt -o none/ids.npy",
    "encode table a.txt -o a.txt",
    "encode table a.txt -o a.csv",
    "encode table a.jsonl",
    "encode table parquet",
    "encode table a.txt a.jsonl --separator x",
    "encode table a.txt --column text",
    "encode table a.txt --max-length 1",
    "encode table a.csv",
    "count table a.jsonl",
)
# Raises SIGINT when a process imports a given module.
INTERRUPTED_AT = """
import os, signal, sys
module = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupter:
    @staticmethod
    def find_spec(name, *_):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter)
from fst.__main__ import main
main()
"""
# Raises SIGINT in the callback of a weak reference, where Python drops exceptions.
DROPPED = """
import signal, time, weakref
import click
from fst.cli.group import CliGroup
signal.signal(signal.SIGINT, signal.default_int_handler)

@click.command()
def command():
    thing = type("Thing", (), {})()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    time.sleep(60)

CliGroup("fst", modules={"wait": "__main__"})(["wait"])
"""
# On a busy machine, a timer may send a signal before `start` returns.
BUSY = """
import threading, time
start = threading.Timer.start

def start_late(timer):
    threading.Timer.start = start
    timer.start()
    time.sleep(1)

threading.Timer.start = start_late
"""
# Shows the progress of 123 GB in 100,000 steps.
WATCHED = """
import sys
from fst.cli.files import progress
progress.PATIENCE = 0
with progress.progress(sys.argv[1], 123_456_000_000) as advance:
    for _ in range(100_000):
        advance(1_234_560)
"""


class TestConventions:
    """Rules for help, imports, exit codes, messages, pipes and signals."""

    @pytest.mark.parametrize(("line", "code", "message"), MESSAGES)
    def test_messages_name_options(self, line: str, code: int, message: str, tmp_path: Path) -> None:
        """Messages name options instead of arguments of Python, and commands that are similar to an unknown one."""
        files = {name: tmp_path / name for name in ("words", "bare", "table", "out", "out/")}
        written(files["words"], b"he\nshe\n")
        written(files["bare"], "研究 5\n".encode())
        wordpiece(TOKENS).save(files["table"])
        found = call(*(files.get(word, word) for word in line.split()), code=code)
        assert message in found.stderr
        assert "=" not in found.stderr

    @staticmethod
    def imports(lines: Sequence[Sequence[str | Path]], **more: Any) -> Iterator[tuple[int, str, set[str]]]:
        """Run command lines in one process; yield the exit code, the standard error and all modules imported so far after each command
        line.
        """
        done = execute([sys.executable, "-c", IMPORTED], json.dumps([list(map(str, words)) for words in lines]), **more)
        for line in done.stdout.decode().splitlines():
            if line.startswith("["):
                code, reason, modules = json.loads(line)
                yield code, reason, set(modules)

    def test_help_needs_click_alone(self) -> None:
        """`--help` and `--version` import neither `numba` nor `numpy` nor `tokenizers`."""
        lines = [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)]
        for words, (code, _, modules) in zip(lines, self.imports(lines), strict=True):
            assert (code, modules & {"numba", "numpy", "tokenizers"}) == (0, set()), words

    def test_no_numba(self, table: Path) -> None:
        """`fst info` and `fst verify` do not import `numba`."""
        lines: list[list[str | Path]] = [["info", table], ["verify", table]]
        for words, (code, _, modules) in zip(lines, self.imports(lines), strict=True):
            assert (code, modules & {"numba"}) == (0, set()), words

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the threads of a process in a folder")
    def test_linear_algebra_has_one_thread(self) -> None:
        """NumPy starts no threads in a command."""
        environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run([sys.executable, "-c", THREADS], check=False, capture_output=True, env=environment)
        assert done.stdout.split()[-1:] == [b"1"]

    def test_version(self) -> None:
        """--version prints the version of the package."""
        assert run("--version").stdout.decode() == f"fst {fst.__version__}\n"

    @pytest.mark.parametrize("command", COMMANDS)
    def test_examples(self, command: str) -> None:
        """The help of each command has an example."""
        assert f"fst {command}" in call(command, "--help").stdout.split("Example", 1)[1]

    @pytest.mark.parametrize("command", COMMANDS)
    def test_defaults(self, command: str) -> None:
        """The help of each option with a default value contains the default."""
        found = main.get_command(click.Context(main), command)
        assert found is not None
        context = click.Context(found)
        for option in context.command.params:
            if isinstance(option, click.Option) and not option.required and option.name not in ("field", "column", "against", "by"):
                shown = " ".join(option.get_help_record(context) or ())
                assert "[default: " in shown or (option.is_flag and not option.secondary_opts), option.name

    @pytest.mark.parametrize(
        "words",
        ["", "encode", "nothing", "encode t --threads 0", "encode t --format xml", "compile v", "compile - -o t", "encode -", "info -"],
    )
    def test_usage(self, words: str) -> None:
        """Wrong usage has exit code 2 and a message on standard error."""
        done = call(*words.split(), code=2)
        assert (done.stdout, "Usage: " in done.stderr) == ("", True)

    @pytest.mark.parametrize("command", ["encode", "decode", "info", "verify", "bench", "explain"])
    def test_missing_table(self, command: str) -> None:
        """If the table is missing, the exit code is 1, and a message of one line contains the name of the table."""
        reason = call(command, "none.npz", *["text"] * (command == "explain"), code=1).stderr
        assert reason == f"Error: none.npz: {os.strerror(errno.ENOENT)}; check the name\n"

    def test_missing_file(self, table: Path, texts: Path) -> None:
        """A missing file is reported before the preceding file is read."""
        done = call("encode", table, texts, "none.txt", code=1)
        assert done.data == b""
        assert error_of(done) == f"none.txt: {os.strerror(errno.ENOENT)}; check the name"

    @pytest.mark.slow
    def test_wrong_usage_is_told_at_once(self, table: Path, tmp_path: Path) -> None:
        """Options that are wrong, or do not fit the files, are refused before `numba` is imported."""
        for name, data in (("a.txt", b"un\n"), ("a.csv", b"un\n"), ("a.jsonl", b'{"text": "un"}\n'), ("parquet", b"PAR1")):
            written(tmp_path / name, data)
        lines = [[table if word == "table" else word for word in words.split()] for words in WRONG_USAGE]
        for words, (code, reason, modules) in zip(lines, self.imports(lines, cwd=tmp_path), strict=True):
            assert (code, "numba" in modules) == (1 if "none/ids.npy" in words else 2, False), words
            assert "Error: " in reason

    @posix
    @pytest.mark.parametrize("words", ["encode {} -", "encode table {}", "encode table - -o {}", "compile {} -o t", "compile v -o {}"])
    @pytest.mark.parametrize("name", ["loop", "x" * 300 + ".txt"], ids=["loop", "long"])
    def test_names_of_no_file(self, name: str, words: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """If a name is a link to itself, or is too long, the command prints one line with this reason."""
        (tmp_path / "loop").symlink_to("back")
        (tmp_path / "back").symlink_to("loop")
        written(tmp_path / "v", b"[UNK]")
        monkeypatch.chdir(tmp_path)
        done = call(*(word.replace("table", str(table)).format(name) for word in words.split()), code=1)
        remedies = {errno.ELOOP: "check its links, which form a circle", errno.ENAMETOOLONG: "choose a shorter name"}
        number = errno.ELOOP if name == "loop" else errno.ENAMETOOLONG
        assert error_of(done) == f"{name}: {os.strerror(number)}; {remedies[number]}"

    def test_folder(self, table: Path, tmp_path: Path) -> None:
        """A command that writes one file refuses a folder as its output."""
        assert "name a file in it" in error_of(call("compile", table, "--output", tmp_path, code=1))

    def test_no_table(self, texts: Path) -> None:
        """An argument TABLE that is not a table is refused."""
        assert "fst compile" in call("info", texts, code=1).stderr

    @pytest.mark.slow
    @posix
    def test_broken_pipe(self, table: Path, tmp_path: Path) -> None:
        """If the reader closes the pipe early, as `head` does, the exit code is 0 and nothing is printed."""
        file = written(tmp_path / "texts.txt", b"hello unaffable\n" * 200_000)
        with subprocess.Popen([FST, "encode", str(table), str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == ids_of(table, ["hello unaffable"])
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(TIMEOUT) == 0

    @pytest.mark.slow
    @posix
    @pytest.mark.parametrize(
        "module", thinned(["fst.cli.main", "click", "click.core", "numpy", "numba", "numba.core.types", "fst.core.kernel_cache"], 8)
    )
    def test_interrupted_while_importing(self, module: str, table: Path) -> None:
        """SIGINT during any import ends the process with exit code 130, and nothing is printed."""
        words = [sys.executable, "-c", INTERRUPTED_AT, module, "encode", str(table)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.wait(TIMEOUT) == 130  # standard input stays open, so the command does not end by itself
            assert process.stdout is not None
            assert process.stderr is not None
            assert (process.stdout.read(), process.stderr.read()) == (b"", b"")

    @pytest.mark.slow
    @posix
    @pytest.mark.parametrize(("words", "module"), [("encode table", "fst.core.kernel_cache"), ("info none", "fst.tables.npz")])
    def test_interrupted_shortly_before_the_end(self, words: str, module: str, table: Path) -> None:
        """A SIGINT during an import is not lost if the command ends a moment later, whether it completes or fails."""
        done = execute([sys.executable, "-c", INTERRUPTED_AT, module], *words.replace("table", str(table)).split(), stdin=b"un\n", code=130)
        assert done.stderr == b""

    @posix
    @pytest.mark.parametrize("before", ["", BUSY], ids=["idle", "busy"])
    def test_interrupted_where_exceptions_are_dropped(self, before: str) -> None:
        """If Python drops the exception of SIGINT, the process still ends with exit code 130, and nothing is printed."""
        done = execute([sys.executable, "-c", before + DROPPED], code=130)
        assert (done.stdout, done.stderr) == (b"", b"")

    @pytest.mark.slow
    @posix
    def test_as_a_module(self, table: Path) -> None:
        """`python -m fst` runs `fst`, but the usage message begins with `python -m fst`."""
        assert execute([sys.executable, "-m", "fst"], "info", table).stdout == run("info", table).stdout
        assert execute([sys.executable, "-m", "fst"], "--help").stdout.startswith(b"Usage: python -m fst ")

    @pytest.mark.slow
    @posix
    def test_interrupted(self, table: Path) -> None:
        """SIGINT ends the process with exit code 130, and nothing is printed."""
        words = [sys.executable, "-c", INTERRUPTIBLE, "encode", str(table)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdin.write(b"un\n")
            process.stdin.flush()
            assert process.stdout.readline() == ids_of(table, ["un"])
            process.send_signal(signal.SIGINT)
            assert process.wait(TIMEOUT) == 130
            assert process.stderr.read() == b""

    @pytest.mark.mostly_slow
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
    @pytest.mark.parametrize("words", ["encode", "info"])
    def test_full_disk(self, table: Path, words: str) -> None:
        """An output that cannot be written is an error."""
        with Path("/dev/full").open("wb") as full:
            done = run(words, table, *["-"] * (words == "encode"), stdin=b"un\n", stdout=full, code=1)
        assert error_of(done) == f"{os.strerror(errno.ENOSPC)}; free some space"

    @pytest.mark.mostly_slow
    @posix
    @pytest.mark.parametrize(("stream", "closing"), [("standard input", "<&-"), ("standard output", ">&-")])
    def test_closed_streams(self, table: Path, stream: str, closing: str) -> None:
        """Closed standard input or output is an error."""
        done = execute(["/bin/sh", "-c", f'exec "$0" "$@" {closing}', FST], "encode", table, code=1)
        assert error_of(done) == f"{stream}: it is closed"

    @pytest.mark.slow
    def test_warmup(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`fst warmup` counts the compiled kernels on standard error, and then prints the time and the folder of the kernels."""
        some = [*PARTS][8:12]  # the parts of `fst warmup` for dictionaries, which take little time
        monkeypatch.setattr(processes, "PARTS", some)
        done = call("warmup")
        _, *counted, last = done.stderr.splitlines()
        assert done.stdout == ""
        assert [line.partition(":")[0] for line in counted] == [f"{number} of 4" for number in range(1, 5)]
        assert {line.partition(": ")[2] for line in counted} == {*some}
        assert re.fullmatch(r"ready, in [\d.]+ s; kept in .+", last)

    @pytest.mark.slow
    @posix
    @pytest.mark.parametrize("command", ["encode", "warmup"])
    def test_a_signal_while_kernels_are_compiled(self, command: str, table: Path, tmp_path: Path) -> None:
        """A signal while kernels are compiled ends the command after one more line."""
        words, cold = [FST, command, *[str(table)] * (command == "encode")], {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=cold) as process:
            assert process.stderr is not None
            assert process.stderr.readline().startswith((b"fst: compiling kernel 1 of 2 for wordpiece (gather_bytes)", b"compiling"))
            process.send_signal(signal.SIGTERM)
            *begun, line = process.stderr.read().decode().splitlines()
            assert process.wait(TIMEOUT) == 143
        assert all("compiling kernel 2 of 2" in each for each in begun)  # exists if the first kernel was ready before the signal was sent
        assert "interrupted" in line

    @pytest.mark.slow
    @posix
    def test_first_run(self, table: Path, tmp_path: Path) -> None:
        """The first run reports on standard error how long compilation takes and where kernels are stored, even without a terminal."""
        cold: dict[str, Any] = {"stdin": b"un\n", "env": {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}}
        done = run("encode", table, **cold)
        kept = f"up to 20 s; kept in {tmp_path / CACHE}"
        *compiling, last = done.stderr.decode().splitlines()
        names = ("1 of 2 for wordpiece (gather_bytes)", "2 of 2 for wordpiece (encode_rows)")
        assert compiling == [f"fst: compiling kernel {name}, {kept}" for name in names]
        assert re.fullmatch(r"fst: compiled 2 kernels for wordpiece in [\d.]+ s", last)
        assert done.stdout == ids_of(table, ["un"])
        assert on_terminal("encode", table, **cold) == b""

    @pytest.mark.parametrize("command", ["encode", "bench", "verify"])
    def test_commands_with_kernels(
        self, command: str, table: Path, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Every command with kernels reports the kernel that it compiles, the number of kernels, and the time that it took."""
        fst.Tokenizer.load(table).encode(b"un")  # loads the first of the two kernels
        monkeypatch.setattr(jit, "_kept_code", lambda *_: None)
        kernel_of.cache_clear()
        words: list[str | Path] = [table, texts]
        if command == "verify":
            reference(TOKENS).save(str(tmp_path / "tokenizer.json"))
            wordpiece(tmp_path / "tokenizer.json").save(tmp_path / "t.npz")
            words = [tmp_path / "t.npz", "--against", tmp_path / "tokenizer.json", texts]
        compiling, compiled, *_ = call(command, *words).stderr.splitlines()
        assert compiling.startswith("fst: compiling kernel 2 of 2 for wordpiece (encode_rows), up to 20 s; ")
        assert re.fullmatch(r"fst: compiled 1 kernel for wordpiece in [\d.]+ s", compiled)

    def test_the_collector_goes_on(self, table: Path, texts: Path) -> None:
        """The garbage collector runs again after kernels are loaded."""
        call("bench", table, texts)
        assert gc.isenabled()


class TestProgress:
    """The progress bar on standard error."""

    class Terminal(io.StringIO):
        """A standard error that is a terminal."""

        def isatty(self) -> bool:
            """Return True."""
            return True

    @pytest.fixture
    def shown(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
        """A function that returns the text shown during two steps from 0 to 100%."""

        def show(
            total: int | None, *, patience: float = 0, hidden: bool = False, stream: io.StringIO | None = None, done: Any = None
        ) -> str:
            stream = stream or self.Terminal()
            monkeypatch.setattr(sys, "stderr", stream)
            for name in ("PATIENCE", "LINES"):
                monkeypatch.setattr(progress, name, patience)
            with progress.progress("counting", total, hidden=hidden, done=done) as advance:
                advance(50)
                advance(50)
            return stream.getvalue()

        return show

    @pytest.mark.mostly_slow
    @posix
    @pytest.mark.parametrize("columns", [1, 20, 60, 80, 200])
    def test_fits_the_terminal(self, columns: int) -> None:
        """The bar fits on one line of a terminal of any width, and is redrawn only at intervals."""
        shown = on_terminal("encoding", program=[sys.executable, "-c", WATCHED], columns=columns).decode()
        lines = shown.removesuffix("\r\n").split("\r")[1:]
        assert len(lines) < 100
        assert {len(line) for line in lines} == {columns - 1}
        if columns >= 60:
            assert all(line.startswith("encoding  ") for line in lines)
            assert "100%  123,456.0 of 123,456.0 MB" in lines[-1]
        if columns == 200:
            assert f"[{'#' * 40}]" in lines[-1]

    def test_after_a_second(self, shown: Callable[..., str]) -> None:
        """The bar appears after a delay."""
        assert "counting" in shown(100)
        assert "100%" in shown(100)

    def test_what_is_quick(self, shown: Callable[..., str]) -> None:
        """A job that ends before the delay shows no bar."""
        assert shown(100, patience=60) == ""

    def test_unknown_length(self, shown: Callable[..., str]) -> None:
        """A job of unknown length shows no bar."""
        assert shown(None) == ""

    def test_data_on_the_terminal(self, shown: Callable[..., str]) -> None:
        """A job that writes data to the terminal shows no bar."""
        assert shown(100, hidden=True) == ""

    def test_nobody_watches(self, shown: Callable[..., str]) -> None:
        """If standard error is not a terminal, no bar appears, but a long job writes lines at intervals."""
        assert shown(100, stream=io.StringIO(), patience=60) == ""
        first, second = shown(100, stream=io.StringIO()).splitlines()
        assert first.startswith("counting   50%  0.0 of 0.0 MB")
        assert second.startswith("counting  100%  0.0 of 0.0 MB")
        assert shown(None, stream=io.StringIO()).startswith("counting  0.0 MB, ")

    def test_sum(self, shown: Callable[..., str]) -> None:
        """A long job prints a summary at its end."""
        done = progress.Sum("document", "token")
        done.add(1, 2)
        done.add(0, 1_000)
        for total, stream in ((100, None), (None, None), (100, io.StringIO())):
            assert shown(total, stream=stream, done=done).splitlines()[-1].startswith("1 document, 1,002 tokens, 0.0 MB, ")
        for options in ({"patience": 60}, {"hidden": True}):
            assert shown(100, done=done, **options) == ""
