"""The command ``fst``, and ``python -m fst``: the command line of `fst.cli.main`."""

from __future__ import annotations

import signal

from fst.cli.leaving import leave


def main() -> None:
    """Run the command line. Ctrl-C ends the process with exit code 130 and without a traceback, even during imports. When a command begins,
    `fst.cli.signals` replaces the handler.
    """
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
