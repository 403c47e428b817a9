"""`fst` as a process, where signals, pipes, terminals, imports or exit codes are at stake, and in this process, which is quicker."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

import fst
from fst.cli.main import main

FST = str(Path(sysconfig.get_path("scripts"), "fst"))
CACHE = f"fst-toolkit-{fst.__version__}"  # the folder of kernels in the one that NUMBA_CACHE_DIR names
TIMEOUT = 300  # seconds; the first process may have to compile the kernels

TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "hello", "!", "é", "\u2028")

# The tests may have been started with SIGINT ignored, or with SIGHUP ignored by `nohup`, and a process inherits that.
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
    """Run `fst` as a process, and check its exit code and that there is no traceback."""
    return execute([FST], *words, stdin=stdin, code=code, **more)


def execute(
    program: list[str], *words: str | Path, stdin: bytes = b"", code: int = 0, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a program with the words as arguments."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    done = subprocess.run([*program, *map(str, words)], input=stdin, timeout=TIMEOUT, check=False, **pipes)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in (done.stderr or b"")
    return done


def on_terminal(*words: str | Path, program: list[str] | None = None, columns: int = 80, **more: Any) -> bytes:
    """Run `fst`, or another program, with a terminal for standard error, and return what the terminal shows."""
    import fcntl
    import pty
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    execute(program or [FST], *words, stderr=end, **more)
    os.write(end, b"\0")  # marks the end: a read may return less than there is, or wait where there is nothing
    shown = b""
    while not shown.endswith(b"\0"):
        shown += os.read(terminal, 10_000)
    os.close(end)
    os.close(terminal)
    return shown[:-1]


@dataclass(frozen=True)
class Called:
    """What a command wrote: standard output as it is and as text, and standard error as text."""

    data: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        """Standard output as text."""
        return self.data.decode()


def call(*words: str | Path, stdin: bytes = b"", code: int = 0) -> Called:
    """Run `fst` in this process, with regular files for its streams, and check its exit code."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        given, out, err = (stack.enter_context(TemporaryFile()) for _ in range(3))
        given.write(stdin)
        given.seek(0)
        for name, file in (("stdin", given), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, stack.enter_context(io.TextIOWrapper(file, "utf-8", "backslashreplace", write_through=True)))
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, words)), prog_name="fst")
        sys.stdout.flush()
        out.seek(0)
        err.seek(0)
        done = Called(out.read(), err.read().decode())
    assert (ended.value.code or 0) == code, done.stderr
    return done


def error_of(done: subprocess.CompletedProcess[bytes] | Called) -> str:
    """The single line of a failure, without "Error: "."""
    (line,) = (done.stderr if isinstance(done, Called) else done.stderr.decode()).splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")


def written(path: Path, data: bytes) -> Path:
    """Write a file, and return its path."""
    path.write_bytes(data)
    return path


def ids_of(table: Path, lines: Sequence[str | bytes], **options: Any) -> bytes:
    """The lines that `fst encode` has to print for documents, by the package itself."""
    tokenizer = fst.load(table)
    return b"".join(b" ".join(b"%d" % number for number in tokenizer.encode(line, **options)) + b"\n" for line in lines)
