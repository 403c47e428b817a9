"""Turn signals that end a command into exceptions, so that no incomplete file remains."""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import click

from fst.cli.files.streams import drop_output
from fst.cli.leaving import leave

LLVM = f"{os.sep}llvmlite{os.sep}"  # a folder in the path of each file of LLVM's Python package
IMPORTS = "<frozen importlib._bootstrap>"
GROUP = str(Path(__file__).with_name("group.py"))  # its functions run the command
MOMENT = 0.01  # seconds until a signal is sent again; most callbacks take less
SIGNALLED = 128  # the exit code is 128 + the number of the signal

_waiting: dict[int, threading.Timer] = {}  # number of a signal → the timer that sends it again


def unwind_when_ended(ctx: click.Context) -> None:
    """While a command runs, turn signals that end it into exceptions. Python drops exceptions in some functions, such as callbacks of weak
    references; if it drops one of these exceptions, the signal is sent again.

    The default handlers are restored when the command ends. Otherwise, if a program runs the command in the program's own process, a later
    signal would raise an exception instead of ending the program.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or threading.current_thread() is not threading.main_thread():
            continue
        default = signal.getsignal(number)
        if default in (signal.SIG_DFL, signal.default_int_handler, leave):
            signal.signal(number, _end)
            ctx.call_on_close(partial(signal.signal, number, signal.default_int_handler if default is leave else default))
    hook = sys.unraisablehook
    sys.unraisablehook = partial(_send_dropped, hook)
    ctx.call_on_close(partial(setattr, sys, "unraisablehook", hook))
    ctx.call_on_close(_forget)


def end_if_waiting() -> None:
    """Raise the exception for a signal that waits to be sent again, so that the signal is not lost if the command ends earlier."""
    for number in _forget():
        _raise(number)


def _end(number: int, frame: FrameType | None) -> None:
    """Handle a signal by raising the exception for it. Three places get no exception, but the signal again a moment later: functions of
    LLVM, which would release memory twice or drop the exception in a callback; imports, because modules catch or replace exceptions; and
    `_send_again`, because a hook that drops exceptions calls it.
    """
    if earlier := _waiting.pop(number, None):
        earlier.cancel()
    if _must_wait(frame):
        _send_again(number)
    else:
        _raise(number)


def _raise(number: int) -> None:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    drop_output()
    sys.exit(SIGNALLED + number)


def _send_again(number: int) -> None:
    main = threading.main_thread().ident  # sent to the main thread, the signal wakes it from waiting
    send = partial(signal.pthread_kill, main) if hasattr(signal, "pthread_kill") and main else signal.raise_signal
    timer = threading.Timer(MOMENT, send, (number,))
    timer.daemon = True  # a timer must not delay the end of the process
    _waiting[number] = timer  # before it starts: on a busy machine, the signal may arrive before `start` returns
    timer.start()


def _forget() -> list[int]:
    """Stop the timers; return the numbers of the signals that waited."""
    numbers = []
    while _waiting:
        number, timer = _waiting.popitem()
        timer.cancel()
        timer.join()  # if the timer has sent the signal, the handler is called in this function
        numbers.append(number)
    return numbers


def _send_dropped(hook: Any, dropped: Any) -> None:
    """If Python has dropped the exception of a signal, send the signal again; pass other exceptions to the hook that was set before."""
    error = dropped.exc_value
    if isinstance(error, KeyboardInterrupt):
        _send_again(signal.SIGINT)
    elif isinstance(error, SystemExit) and isinstance(error.code, int) and error.code > SIGNALLED:
        _send_again(error.code - SIGNALLED)
    else:
        hook(dropped)


def _must_wait(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != GROUP:
        if LLVM in frame.f_code.co_filename or frame.f_code.co_filename == IMPORTS or frame.f_code is _send_again.__code__:
            return True
        frame = frame.f_back
    return False
