"""The command ``fst``, and ``python -m fst``: the command line of `fst.cli.main`."""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130  # the exit code


def main() -> None:
    """Run the command line. Ctrl-C ends the process with exit code 130 and without a traceback, even during imports."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from fst.cli.main import main as command

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
