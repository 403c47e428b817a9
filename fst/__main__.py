"""The command ``fst``, and ``python -m fst``: the command line of `fst.cli.main`."""

from __future__ import annotations

import gc
import os
import signal

from fst.cli.leaving import leave

MANY = 50_000  # the number of new objects after which the garbage collector runs


def main() -> None:
    """Run the command line. Ctrl-C ends the process with exit code 130 and without a traceback, even during imports. When a command begins,
    `fst.cli.signals` replaces this handler of Ctrl-C.

    Two settings save a fifth of the processor time of a short command. NumPy's linear algebra, which commands hardly use, gets one thread:
    every further thread would wait for work in a loop, for 0.06 s. The garbage collector runs more rarely, because the objects that imports
    create are not garbage.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(MANY)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    try:
        from fst.cli.main import main as command

        command()
    finally:
        if signal.getsignal(signal.SIGINT) is leave:
            signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    main()
