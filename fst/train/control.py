"""Run a trainer in rounds, with progress, a deadline, signals and checkpoints.

The whole state of a trainer is a NamedTuple of arrays, which the trainer advances in short rounds. Between two rounds the state is
complete, so a run can stop there.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from fst.counting.words import Words
from fst.errors import UnsupportedError
from fst.train.checkpoints import State, digest_of, need_checkpoint, resumed, write

INTERVAL = 180.0  # seconds between two checkpoints of a run
SHARE = 20  # a run spends at most 1/20 of its time on checkpoints
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # the signals that end a run

Progress = Callable[[int, int], None]


class Round(NamedTuple):
    """The result of one round of a trainer."""

    state: Any  # a NamedTuple of arrays, the complete input of the next round
    done: int  # the work done so far, in the unit of `total` in `Control.run`, for the progress callback
    finished: bool  # whether this was the last round


@dataclass(frozen=True)
class Control:
    """The deadline, the progress callback and the checkpoint of a run."""

    progress: Progress | None = None  # called after each round with the work done so far and the total work, in the unit of the trainer
    deadline: float | None = None  # seconds after `begun`; None: no limit. At least one round is made, even if the deadline has passed.
    # the path of an ``.npz``. A run writes this file every `INTERVAL` seconds and when it stops early; a run with the same words and
    # options resumes from it, and a completed run removes it.
    checkpoint: str | Path | None = None
    begun: float = field(default_factory=monotonic)  # the time from `time.monotonic` when this object was created

    def __post_init__(self) -> None:
        if self.deadline is not None and not self.deadline >= 0:
            raise UnsupportedError(f"deadline is {self.deadline}; expected seconds, 0 or more")
        if self.checkpoint is not None:
            need_checkpoint(self.checkpoint)

    def run(
        self, state: State, advance: Callable[[State], tuple[State, int, bool]], *, total: int, digest: str, prove: Callable[[State], None]
    ) -> tuple[State, bool]:
        """Advance a state until it is finished or the deadline has passed.

        Args:
            state: the first state, a NamedTuple of arrays.
            advance: makes one round of about 0.1 s, and returns a `Round`. `advance` may change the arrays of its argument. Signals take
                effect at the end of the round.
            total: the value of `Round.done` at the end.
            digest: the digest of words and options; without a checkpoint, an empty string.
            prove: raises a VocabularyError if kernels cannot safely run on a state. `prove` is called with the state from a checkpoint,
                after a check that the names, dtypes and numbers of axes of its fields are the same as in `state`.

        Returns:
            The last state, and whether it is finished. A signal during the last round has no effect.

        Raises:
            VocabularyError: the checkpoint is damaged, or belongs to other words or options.
            KeyboardInterrupt: Ctrl-C was pressed; the checkpoint has been written. After SIGTERM or SIGHUP, the handler that was set before
                is called, which by default ends the process.
        """
        if self.checkpoint is not None and Path(self.checkpoint).exists():
            state = resumed(self.checkpoint, state, digest, prove)
        due = monotonic() + INTERVAL
        with _noted_signals() as noted:
            while True:
                state, done, finished = advance(state)
                if self.progress is not None:
                    self.progress(done, total)
                if finished:
                    self.remove()
                    return state, True
                is_over = self.is_over()
                if noted or is_over:
                    self._keep(state, digest)
                elif monotonic() >= due:
                    due = monotonic() + max(INTERVAL, SHARE * self._tried(state, digest))
                if noted:
                    noted.deliver()
                if is_over:
                    return state, False

    def after(self, words: Words) -> Control:
        """The control of the training on words that a run has just counted. If the deadline ended the count, the control has no checkpoint,
        since no later run has the same words.
        """
        return self.without_checkpoint() if words.is_partial and self.is_over() else self

    def without_checkpoint(self) -> Control:
        """The same control without a checkpoint, for a run on texts of which the deadline has left out some."""
        return replace(self, checkpoint=None)

    def digest_of(self, words: Words, options: Mapping[str, object]) -> str:
        """The digest of a run (`fst.train.checkpoints.digest_of`), which only a checkpoint needs; without a checkpoint, an empty string."""
        return "" if self.checkpoint is None else digest_of(words, options)

    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and monotonic() - self.begun >= self.deadline

    def _tried(self, state: State, digest: str) -> float:
        """Write a checkpoint during a run; return the seconds that this took. If this fails, the run goes on."""
        begun = monotonic()
        try:
            self._keep(state, digest)
        except OSError as error:
            logging.getLogger("fst").warning("fst: %s: no checkpoint: %s; the run goes on", self.checkpoint, error.strerror or error)
        return monotonic() - begun

    def remove(self) -> None:
        """Remove the checkpoint, if there is one."""
        if self.checkpoint is not None:
            Path(self.checkpoint).unlink(missing_ok=True)

    def _keep(self, state: State, digest: str) -> None:
        if self.checkpoint is not None:
            write(self.checkpoint, state, digest)


class _Noted:
    """The signals of `SIGNALS` that have arrived during a run. The first signal restores the previous handlers, so a second signal takes
    effect at once.

    Signals that are ignored, such as SIGHUP after `nohup`, stay ignored. Outside the main thread, Python delivers no signals.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._before: dict[int, Any] = {}

    def __bool__(self) -> bool:
        return self._number is not None

    def begin(self) -> None:
        """Set the handlers."""
        self._number = None
        if threading.current_thread() is threading.main_thread():
            numbers = [int(getattr(signal, name)) for name in SIGNALS if hasattr(signal, name)]
            found = {number: signal.getsignal(number) for number in numbers}
            self._before = {number: handler for number, handler in found.items() if handler not in (None, signal.SIG_IGN)}
            for number in self._before:
                signal.signal(number, self._note)

    def end(self) -> None:
        """Restore the handlers."""
        while self._before:
            signal.signal(*self._before.popitem())

    def deliver(self) -> None:
        """Send the signal again to the handler that was set before; if the handler returns, the run goes on."""
        assert self._number is not None
        self.end()
        signal.raise_signal(self._number)
        if self._number == signal.SIGINT:  # a handler that only returns does not continue a run
            raise KeyboardInterrupt
        self.begin()

    def _note(self, number: int, _: object) -> None:
        self.end()
        self._number = number


@contextmanager
def _noted_signals() -> Iterator[_Noted]:
    noted = _Noted()
    noted.begin()
    try:
        yield noted
    finally:
        noted.end()
