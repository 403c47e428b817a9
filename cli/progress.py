"""Notes on standard error during long commands. The note on compiling kernels is always written; others go only to a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import click

PATIENCE = 1.0  # seconds before the bar appears
PAUSE = 0.1  # seconds between two states of a bar
MIN_BAR, MAX_BAR = 10, 40  # columns
COLUMNS = 80  # of a terminal that does not state its width


def watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def note(text: str) -> None:
    """Write a note."""
    if watched():
        click.echo(text, err=True)


@contextmanager
def noting() -> Iterator[None]:
    """Write the library's log to standard error, terminal or not, because the command waits while kernels are compiled."""
    import logging  # which help, and what is wrong before a command begins, need not wait for

    logger, handler = logging.getLogger("fst"), logging.StreamHandler()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def progress(label: str, total: int | None, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """A progress bar, advanced by numbers of bytes. It appears after one second.

    Args:
        label: the text before the bar.
        total: all bytes; None: no bar.
        hidden: show none, because the terminal shows the data.
    """
    if not total or hidden or not watched():
        yield _ignore
        return
    begun, drawn, seen = monotonic(), float("-inf"), 0

    def draw() -> None:
        nonlocal drawn
        drawn = monotonic()
        sys.stderr.write(f"\r{_line(label, seen, total, drawn - begun)}")
        sys.stderr.flush()

    def advance(count: int) -> None:
        nonlocal seen
        seen = min(seen + count, total)
        if monotonic() - begun >= PATIENCE and monotonic() - drawn >= PAUSE:
            draw()

    try:
        yield advance
    finally:
        if drawn > begun:
            draw()
            sys.stderr.write("\n")


def _line(label: str, seen: int, total: int, seconds: float) -> str:
    """The progress as one line of the terminal, of any width, with a bar if there is room."""
    width = _columns() - 1  # a terminal may wrap after its last column
    speed = seen / max(seconds, 1e-9)
    left = f"{(total - seen) / speed:,.0f} s left" if speed else "waiting"
    text = f"{seen / total:4.0%}  {seen / 1e6:,.1f} of {total / 1e6:,.1f} MB, {speed / 1e6:,.1f} MB/s, {left}"
    room = min(width - len(f"{label}  []{text}"), MAX_BAR)
    bar = f"[{'#' * (room * seen // total):-<{room}}]" if room >= MIN_BAR else ""
    return f"{label}  {bar}{text}"[:width].ljust(width)


def _columns() -> int:
    """The width of the terminal on standard error; `COLUMNS` if it does not state one."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def _ignore(_: int) -> None:
    """Advance no bar."""
