"""Commands as those who use them run them: as processes, and in this one where a process adds nothing."""

from __future__ import annotations

import os
import struct
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import fst
from fst.cli.main import main

FST = str(Path(sysconfig.get_path("scripts"), "fst"))
CACHE = f"fst-toolkit-{fst.__version__}"  # the folder of kernels in the one that NUMBA_CACHE_DIR names
TIMEOUT = 300  # seconds; the first process may have to compile the kernels

TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "hello", "!", "é", "\u2028")

# Whoever started the tests may have them ignore SIGINT, or SIGHUP as `nohup` does, and processes inherit that.
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
    """Run `fst` as a process, and see that it ends with an exit code and without a traceback."""
    return execute([FST], *words, stdin=stdin, code=code, **more)


def execute(
    program: list[str], *words: str | Path, stdin: bytes = b"", code: int = 0, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a program with some words as arguments."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    done = subprocess.run([*program, *map(str, words)], input=stdin, timeout=TIMEOUT, check=False, **pipes)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in (done.stderr or b"")
    return done


def on_terminal(*words: str | Path, program: list[str] | None = None, columns: int = 80, **more: Any) -> bytes:
    """Run `fst`, or another program, with a terminal for its standard error, and return what that shows."""
    import fcntl
    import pty
    import termios

    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    execute(program or [FST], *words, stderr=end, **more)
    os.write(end, b"\0")  # a reader waits where there is nothing, and may be given less than there is
    shown = b""
    while not shown.endswith(b"\0"):
        shown += os.read(terminal, 10_000)
    os.close(end)
    os.close(terminal)
    return shown[:-1]


def call(*words: str | Path, code: int = 0) -> Result:
    """Run a command in this process: for what a process adds nothing to."""
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code == code, done.output
    return done


def error_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one line that a failure says, without what it begins with."""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")


def written(path: Path, data: bytes) -> Path:
    """Write a file, and return where."""
    path.write_bytes(data)
    return path


def ids_of(table: Path, lines: Sequence[str | bytes], **options: Any) -> bytes:
    """What `fst encode` is to print for documents, by the package itself."""
    tokenizer = fst.load(table)
    return b"".join(b" ".join(b"%d" % number for number in tokenizer.encode(line, **options)) + b"\n" for line in lines)
