"""Turn signals that end a command into exceptions, so that no half-written file remains."""

from __future__ import annotations

import signal
import sys
import threading
from functools import partial
from pathlib import Path
from types import FrameType

import click

from fst.cli.files.streams import drop_output

CALLBACKS = str(Path("llvmlite", "binding", "executionengine.py"))  # LLVM calls functions of this file as callbacks
MOMENT = 0.01  # seconds until a signal is sent again; most callbacks take less
SIGNALLED = 128  # the exit code is 128 + the number of the signal


def unwind_when_ended(ctx: click.Context) -> None:
    """While a command runs, turn signals that end it into exceptions.

    The default handlers are restored when the command ends. Otherwise, in a program that runs the command in its own process, a later
    signal would raise an exception instead of ending the program.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or threading.current_thread() is not threading.main_thread():
            continue
        default = signal.getsignal(number)
        if default in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)
            ctx.call_on_close(partial(signal.signal, number, default))


def _end(number: int, frame: FrameType | None) -> None:
    """Handle a signal by raising the exception for it. In a callback of LLVM, where Python drops exceptions, send the signal again a moment
    later.
    """
    if _is_in_callback(frame):
        threading.Timer(MOMENT, signal.raise_signal, (number,)).start()
    elif number == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        drop_output()
        sys.exit(SIGNALLED + number)


def _is_in_callback(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.endswith(CALLBACKS):
        frame = frame.f_back
    return frame is not None
