"""Files that one process writes to a folder, and later processes read. A file that other users can write to is never read.

A process reads machine code (`CodeCache`) from every folder that other users cannot write to, and writes it to the first writable folder. A
file contains the code of one thing, such as a kernel for one processor and one set of argument types, after a digest of the code and of the
code's key. A damaged file is ignored. If several processes need the same code at the same time, one process compiles it, and all others
wait for its file.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

from fst.core.version import VERSION

try:
    import fcntl
except ImportError:  # Windows has no fcntl, so every process compiles its own code there
    fcntl = None  # type: ignore[assignment]

WRITABLE_BY_ALL = 0o002
OWN = f"fst-toolkit-{VERSION}"
DIGEST = 32  # number of bytes of the SHA-256 digest at the beginning of each file
PATIENCE = 60.0  # seconds after which a process no longer waits for a process that compiles the same code or table

_full: dict[Path, str | None] = {}  # each folder in which code could not be written → the reason


def users() -> Path | None:
    """The folder of this package in the user's cache; None if the user has no home folder."""
    # `Path.expanduser` raises an error if the user has no home folder.
    found = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), OWN)  # noqa: PTH111
    return found if found.is_absolute() else None


def obstacle(folder: Path) -> str | None:
    """The reason why files cannot be written to a folder; None if they can be written. A missing folder is created."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        if not is_safe(folder.stat()):
            return "another user can write to it"
    except OSError as error:
        return error.strerror
    return None if os.access(folder, os.W_OK | os.X_OK) else "it cannot be written"


def is_safe(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to root, to this user or to the owner of this package, and is not writable by everybody.

    A cached kernel is a program, and a cached table determines ids. Whoever can write to such a file can run code, or change ids, in other
    users' processes.
    """
    if os.name != "posix":
        return True
    trusted = {0, os.geteuid(), Path(__file__).stat().st_uid}
    return status.st_uid in trusted and not status.st_mode & WRITABLE_BY_ALL


@contextmanager
def alone(path: Path, mode: str) -> Iterator[None]:
    """A context that only one process at a time enters with the same file, because it holds a lock on the file; other processes wait.

    The system releases the lock of a process that dies. A process that has waited for `PATIENCE` seconds enters without the lock; so does
    every process on a system or a file system without locks.

    Args:
        path: the file.
        mode: the mode in which the file is opened.
    """
    with path.open(mode) as file:
        if fcntl is not None:
            _lock(file.fileno())
        yield


class CodeCache:
    """Files with the machine code that is compiled from a source file. `name`: the beginning of the names of files."""

    def __init__(self, source: Path, name: str) -> None:
        self._source, self._name = source, name

    @property
    def named(self) -> str:
        """The value of NUMBA_CACHE_DIR; empty if it is not set."""
        return os.environ.get("NUMBA_CACHE_DIR", "")

    @property
    def folders(self) -> list[Path]:
        """The folders for code: in NUMBA_CACHE_DIR if it is set; otherwise next to the source and in the user's cache."""
        if self.named:
            return [Path(self.named, OWN)]
        folder = users()
        return [self._source.parent / "__pycache__", *([folder] if folder else [])]

    def find(self, key: bytes, sources: bytes = b"") -> Iterator[bytes]:
        """The code with a key in each folder that contains it. `key`: a text of everything on which the code depends; the name of the file
        is made from it. `sources`: the digest of the sources of the code. Files of other sources have the same name, and are ignored.
        """
        for folder in self.folders:
            with suppress(OSError):
                data = _read(folder / self._file(key))
                if data[:DIGEST] == _digest(key, sources, data[DIGEST:]):
                    yield data[DIGEST:]

    def store(self, key: bytes, code: bytes, sources: bytes = b"") -> None:
        """Write code that this process has compiled. If this fails, the next process compiles the code again."""
        folder, _ = self._destination()
        if folder is None:
            return
        try:
            _write(folder / self._file(key), _digest(key, sources, code) + code)
        except OSError as error:
            _full[folder] = error.strerror
            logging.getLogger("fst").warning("fst: kernels are not kept: %s: %s", folder, error.strerror)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until no other process compiles code of this source file; then make other processes wait until the context ends.

        The lock is on the source file, which every process can read; a separate lock file would have to be created, owned and removed.
        """
        with alone(self._source, "rb") if self.destination()[0] else nullcontext():
            yield

    def destination(self) -> tuple[bool, str]:
        """Whether code is cached on disk; and a text that contains the folder, or the reason why it is not cached."""
        folder, obstacles = self._destination()
        if folder:
            return True, f"kept in {folder}"
        return False, f"not kept: {'; '.join(obstacles)}; set NUMBA_CACHE_DIR to a folder that you can write"

    def _destination(self) -> tuple[Path | None, list[str]]:
        """The first writable folder; and for each folder before it, the reason why that folder is not writable."""
        obstacles: list[str] = []
        for folder in self.folders:
            found = _full.get(folder) or obstacle(folder)
            if found is None:
                return folder, obstacles
            obstacles.append(f"{folder}: {found}")
        return None, obstacles

    def _file(self, key: bytes) -> str:
        return f"{self._name}-{sha256(key).hexdigest()[:16]}.kernel"


def _digest(key: bytes, sources: bytes, code: bytes) -> bytes:
    """The digest of machine code together with its key and its source files."""
    return sha256(key + sources + code).digest()


def _lock(descriptor: int) -> None:
    """Lock a file until it is closed; give up after `PATIENCE` seconds."""
    end = monotonic() + PATIENCE
    while not _is_locked(descriptor) and monotonic() < end:
        sleep(0.02)


def _is_locked(descriptor: int) -> bool:
    """Try to lock a file. Return True if this process has the lock, or if the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _read(path: Path) -> bytes:
    """The contents of a file; empty if the file or its folder is not safe."""
    with path.open("rb") as file:
        return file.read() if is_safe(path.parent.stat()) and is_safe(os.fstat(file.fileno())) else b""


def _write(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and then rename it, so that no process reads an incomplete file."""
    part = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)) as file:
            file.write(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
