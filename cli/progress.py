"""What is told on standard error while something takes long: that kernels are compiled always, the rest only where a person looks on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import click

PATIENCE = 1.0  # seconds that pass without a word


def watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def note(text: str) -> None:
    """Say what is going on."""
    if watched():
        click.echo(text, err=True)


@contextmanager
def noting() -> Iterator[None]:
    """Say on standard error what the library logs, watched or not: that it compiles kernels, for which the command waits."""
    import logging  # which help, and what is wrong before a command begins, need not wait for

    logger, handler = logging.getLogger("fst"), logging.StreamHandler()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def progress(label: str, total: int | None, *, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """A bar that a loop advances by so many bytes at a time; it appears when its first second is over.

    Args:
        label: what stands before the bar.
        total: bytes in all; without, there is no bar.
        hidden: show none, because the terminal shows the data.
    """
    if not total or hidden or not watched():
        yield _ignore
        return
    begun, unseen, seen = monotonic(), 0, 0

    def told(_: object) -> str:
        return f"{seen / 1e6:,.1f} of {total / 1e6:,.1f} MB, {seen / 1e6 / (monotonic() - begun):,.1f} MB/s"

    bar = click.progressbar(length=total, label=label, file=sys.stderr, item_show_func=told)

    def advance(count: int) -> None:
        nonlocal unseen, seen
        unseen, seen = unseen + count, min(seen + count, total)
        if monotonic() - begun >= PATIENCE:
            bar.update(unseen)
            unseen = 0

    try:
        yield advance
    finally:
        if bar.pos:
            bar.render_finish()


def _ignore(_: int) -> None:
    """Advance no bar."""
