"""Notes and progress on standard error during long commands. `note` writes only to a terminal; all other functions always write."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import click

PATIENCE = 1.0  # seconds before the bar appears
PAUSE = 0.1  # seconds between two updates of a bar
LINES = 30.0  # seconds between two lines of progress, if standard error is not a terminal
MIN_BAR, MAX_BAR = 10, 40  # columns
COLUMNS = 80  # columns if the width of the terminal is unknown


class Unit(NamedTuple):
    """A unit of progress."""

    name: str
    size: float  # the number of counted items in a unit, such as 1e6 for bytes in MB
    decimals: int  # the number of decimals shown

    def shown(self, count: float) -> str:
        """A count in this unit, as text without the name of the unit."""
        return f"{count / self.size:,.{self.decimals}f}"

    def speed(self, count: float, seconds: float) -> str:
        """A speed in this unit per second, as text."""
        return f"{self.shown(count / max(seconds, 1e-9))} {self.name}/s"


MEGABYTES, TOKENS, ROUNDS = Unit("MB", 1e6, 1), Unit("tokens", 1, 0), Unit("rounds", 1, 1)


def watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def note(text: str) -> None:
    """Write a line to standard error if it is a terminal."""
    if watched():
        click.echo(text, err=True)


def report(lines: Iterable[str]) -> None:
    """Write lines to standard error, even if it is not a terminal."""
    for line in lines:
        click.echo(line, err=True)


@contextmanager
def noting() -> Iterator[None]:
    """Write the log of the package to standard error, so that users see why the command waits: kernels are compiled."""
    import logging  # imported here, so that help texts and early errors do not wait for this import

    logger, handler = logging.getLogger("fst"), logging.StreamHandler()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@dataclass
class Sum:
    """The counts of a command, for a summary line at its end.

    Attributes:
        unit, part: the nouns of the two counts, such as "document" and "token".
        units, parts: the two counts.
    """

    unit: str
    part: str
    units: int = 0
    parts: int = 0

    def add(self, units: int, parts: int) -> None:
        """Add to both counts."""
        self.units, self.parts = self.units + units, self.parts + parts

    def __str__(self) -> str:
        counts = (self.units, self.unit), (self.parts, self.part)
        return ", ".join(f"{count:,} {word}{'s' * (count != 1)}" for count, word in counts)


@contextmanager
def progress(label: str, total: int | None, *, hidden: bool = False, done: Sum | None = None) -> Iterator[Callable[[int], None]]:
    """Show progress in bytes: call the yielded function with each further number of bytes. On a terminal, a bar appears after one second;
    elsewhere, a line appears every 30 seconds.

    Args:
        label: the text before the bar.
        total: the total number of bytes; None: it is unknown, and no bar appears.
        hidden: whether to show nothing, because the terminal shows the data.
        done: the counts for a summary line at the end of a run of at least one second (without a terminal, 30 seconds).
    """
    if hidden:
        yield _ignore
        return
    shown = (Bar if watched() else Log)(label, total)
    try:
        yield shown.advance
    finally:
        shown.close()
    if done is not None and shown.seconds >= shown.patience:
        click.echo(f"{done}, {shown.sum()} in {shown.seconds:,.1f} s", err=True)


@contextmanager
def steps(label: str, unit: Unit) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of a training run, as `progress` does; yield a function of the number done and the total."""
    shown = (Bar if watched() else Log)(label, None, unit)
    try:
        yield shown.reach
    finally:
        shown.close()


class Log:
    """Progress that is written as one line of text every 30 seconds, see `progress`. `unit`: the unit of the counted items."""

    @property
    def patience(self) -> float:
        """Seconds before the first update."""
        return LINES

    @property
    def pause(self) -> float:
        """Seconds between two updates."""
        return LINES

    def __init__(self, label: str, total: int | None, unit: Unit = MEGABYTES) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._begun = monotonic()
        self._drawn, self.seen = self._begun + self.patience - self.pause, 0
        self._resumed = 0  # number of items that an earlier run has finished

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return monotonic() - self._begun

    def advance(self, count: int) -> None:
        """Add to the count, and show the count if `pause` seconds have passed."""
        self.seen += count
        if monotonic() - self._drawn >= self.pause:
            self._drawn = monotonic()
            self.draw()

    def reach(self, done: int, total: int) -> None:
        """Set the number of finished items and the total. The first call contains the items of an earlier run, which the speed excludes."""
        if self._total is None:
            self._resumed = self.seen = done
        self._total = total
        self.advance(done - self.seen)

    def sum(self) -> str:
        """The count and the speed, as text."""
        return f"{self._unit.shown(self.seen)} {self._unit.name}, {self._unit.speed(self.seen, self.seconds)}"

    def draw(self) -> None:
        """Write a line of progress."""
        click.echo(f"{self._label}  {self._text()}", err=True)

    def close(self) -> None:
        """Do nothing: every line is complete."""

    def _text(self) -> str:
        if self._total is None:
            return self.sum()
        seen, done, unit = min(self.seen, self._total), self.seen - self._resumed, self._unit
        left = f"{(self._total - seen) * self.seconds / done:,.0f} s left" if done else "waiting"
        counts = f"{unit.shown(seen)} of {unit.shown(self._total)} {unit.name}, {unit.speed(done, self.seconds)}"
        return f"{seen / max(self._total, 1):4.0%}  {counts}, {left}"


class Bar(Log):
    """Progress that is redrawn in one line of a terminal, with a bar if the terminal is wide enough."""

    _is_drawn = False

    @property
    def patience(self) -> float:
        """See `Log`."""
        return PATIENCE

    @property
    def pause(self) -> float:
        """See `Log`."""
        return PAUSE

    def draw(self) -> None:
        """Draw the line again."""
        if self._total:
            self._is_drawn = True
            sys.stderr.write(f"\r{self._line(self._total)}")
            sys.stderr.flush()

    def close(self) -> None:
        """Draw the line a last time, and end it."""
        if self._is_drawn:
            self.draw()
            sys.stderr.write("\n")

    def _line(self, total: int) -> str:
        width, text = _columns() - 1, self._text()  # leave the last column empty, because a terminal may wrap after it
        bar_width = min(width - len(f"{self._label}  []{text}"), MAX_BAR)
        bar = f"[{'#' * (bar_width * min(self.seen, total) // total):-<{bar_width}}]" if bar_width >= MIN_BAR else ""
        return f"{self._label}  {bar}{text}"[:width].ljust(width)


@contextmanager
def telling_warnings() -> Iterator[None]:
    """Print warnings as single lines on standard error."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for warning in found:
        click.echo(f"Warning: {warning.message}", err=True)


def _columns() -> int:
    """The width of the terminal on standard error; the constant `COLUMNS` if the width is unknown."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or COLUMNS
    except (OSError, ValueError):
        return COLUMNS


def _ignore(_: int) -> None:
    """Do nothing, because progress is hidden."""
