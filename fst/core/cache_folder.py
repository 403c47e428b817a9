"""Folders for cached files, which one process writes and later processes read. A file that other users can write to is never read."""

from __future__ import annotations

import os
from pathlib import Path

from fst.core.version import VERSION

WRITABLE_BY_ALL = 0o002
OWN = f"fst-toolkit-{VERSION}"


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

    A cached kernel is a program, and a cached table determines ids. A user who can write to these files can run code, or change ids, in
    other users' processes.
    """
    if os.name != "posix":
        return True
    trusted = {0, os.geteuid(), Path(__file__).stat().st_uid}
    return status.st_uid in trusted and not status.st_mode & WRITABLE_BY_ALL
