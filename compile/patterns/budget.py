"""A limit on the steps of compiling the patterns of a pipeline: even a short pattern may need a huge number of states."""

from __future__ import annotations

from fst.errors import UnsupportedError

MAX_STEPS = 2_000_000  # compiling takes a few seconds and about 600 MB at most; patterns of known models take a few thousand steps


class Budget:
    """A counter of the steps of compiling the patterns of one pipeline.

    Examples:
        >>> budget = Budget()
        >>> budget.take(MAX_STEPS)
        >>> budget.take(1)
        Traceback (most recent call last):
        fst.errors.UnsupportedError: the patterns take more than 2,000,000 steps to compile; write shorter ones
    """

    def __init__(self) -> None:
        self._left = MAX_STEPS

    @property
    def taken(self) -> int:
        """The number of steps so far."""
        return MAX_STEPS - self._left

    def take(self, steps: int) -> None:
        """Count steps before they are executed."""
        self._left -= steps
        if self._left < 0:
            raise UnsupportedError(f"the patterns take more than {MAX_STEPS:,} steps to compile; write shorter ones")
