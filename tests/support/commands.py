"""Functions that run `fst`. Tests of signals, pipes, terminals, imports and exit codes need a separate process; `call` is faster."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import Any

import pytest

import fst
from fst.cli.main import main

FST = str(Path(sysconfig.get_path("scripts"), "fst"))
CACHE = f"fst-toolkit-{fst.__version__}"  # the folder of kernels inside NUMBA_CACHE_DIR
TIMEOUT = 900  # maximum seconds of a process, which may compile all kernels on a busy machine

TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "hello", "!", "é", "\u2028")

TEXTS = ("unaffable", "", "  Hello [MASK]!  ", "héllo", "xyz un")  # the documents of the fixture `texts`

# A process inherits ignored signals, so SIGINT, or SIGHUP after `nohup`, may be ignored in tests unless the handlers are reset.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
from fst.cli.main import main
main()
"""

posix = pytest.mark.skipif(os.name != "posix", reason="terminals, signals and devices as POSIX has them")


def run(*words: str | Path, stdin: bytes = b"", code: int = 0, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Run `fst` in a process, and check that its exit code is `code` and that it prints no traceback."""
    return execute([FST], *words, stdin=stdin, code=code, **more)


def execute(program: list[str], *words: str | Path, stdin: bytes = b"", code: int = 0, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a program with `words` as its arguments."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    done = subprocess.run([*program, *map(str, words)], input=stdin, timeout=TIMEOUT, check=False, **pipes)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in (done.stderr or b"")
    return done


def on_terminal(*words: str | Path, program: list[str] | None = None, columns: int = 80, **more: Any) -> bytes:
    """Run `fst`, or another program, with a terminal as standard error, and return the output on the terminal."""
    import fcntl
    import pty
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    execute(program or [FST], *words, stderr=end, **more)
    os.write(end, b"\0")  # a mark at the end, because a read may return only a part of the data, or wait for more data
    shown = b""
    while not shown.endswith(b"\0"):
        shown += os.read(terminal, 10_000)
    os.close(end)
    os.close(terminal)
    return shown[:-1]


@dataclass(frozen=True)
class Called:
    """The output of a command on standard output and standard error.

    Attributes:
        data, errors: the output as bytes.
        stdout, stderr: the output as text.
    """

    data: bytes
    errors: bytes

    @property
    def stdout(self) -> str:
        """Standard output as text."""
        return self.data.decode()

    @property
    def stderr(self) -> str:
        """Standard error as text."""
        return self.errors.decode()


def call(*words: str | Path, stdin: bytes = b"", code: int = 0) -> Called:
    """Run `fst` in this process with a pipe as standard input, and check its exit code."""
    ends = os.pipe()
    Thread(target=_feed, args=(ends[1], stdin)).start()
    with os.fdopen(ends[0]) as given, _file() as out, _file() as err, pytest.MonkeyPatch.context() as patch:
        for name, file in (("stdin", given), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, file)
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, words)), prog_name="fst")
        done = Called(*map(_contents, (out, err)))
    assert (ended.value.code or 0) == code, done.stderr
    return done


def _feed(end: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(end, "wb") as file:
        file.write(data)


def _file() -> TextIOWrapper:
    return TextIOWrapper(TemporaryFile(), "utf-8", "backslashreplace", newline="")


def _contents(file: TextIOWrapper) -> bytes:
    file.flush()
    file.seek(0)
    return bytes(file.buffer.read())


def error_of(done: subprocess.CompletedProcess[bytes] | Called) -> str:
    """The one-line message of a failure, without "Error: "."""
    (line,) = (done.stderr if isinstance(done, Called) else done.stderr.decode()).splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")


def written(path: Path, data: bytes) -> Path:
    """Write a file, and return its path."""
    path.write_bytes(data)
    return path


def ids_of(table: Path, lines: Sequence[str | bytes], **options: Any) -> bytes:
    """The lines that `fst encode` must print for documents, computed with the Python interface."""
    tokenizer = fst.Tokenizer.load(table)
    printed = {line: b" ".join(b"%d" % number for number in tokenizer.encode(line, **options)) + b"\n" for line in {*lines}}
    return b"".join(map(printed.__getitem__, lines))
