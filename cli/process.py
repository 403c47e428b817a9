"""Run an object in a separate process. In this process, a library has its own threads, caches and settings; a crash of the process does not
end the command.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pkgutil import resolve_name
from typing import Any

from fst.errors import FstError

PROGRAM = "import sys; sys.path[:] = {path!r}; from fst.cli.process import answer; answer()"


class WorkerError(FstError):
    """A method of a worker raised an exception, or its process ended; the message contains the reason."""


class Process:
    """A process that runs the methods of one object, the worker. Output of the process is dropped.

    Args:
        name: the name of the worker in messages.
        worker: the class of the worker, as `module:Class`.
        arguments: the arguments of the class.
        settings: additional environment variables of the process.
    """

    def __init__(self, name: str, worker: str, *arguments: Any, settings: Mapping[str, str] | None = None) -> None:
        command = [sys.executable, "-c", PROGRAM.format(path=sys.path)]
        pipe, environment = subprocess.PIPE, {**os.environ, **(settings or {})}
        self._name = name
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
        self._send(worker, arguments)

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the worker, and return its result."""
        assert self._process.stdout
        self._send(method, arguments)
        try:
            found, error = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):  # the process has returned no answer, or an incomplete answer
            raise WorkerError(f"the process of {self._name} ended with status {self._process.wait()}") from None
        if error:
            raise WorkerError(error)
        return found

    def end(self) -> None:
        """Kill the process, even if it is still working."""
        self._process.kill()
        with suppress(BrokenPipeError), self._process:
            pass

    def _send(self, *question: Any) -> None:
        assert self._process.stdin
        with suppress(BrokenPipeError):  # the process has ended, so `ask` raises the error for a missing answer
            pickle.dump(question, self._process.stdin)
            self._process.stdin.flush()


def answer() -> None:
    """The main function of the separate process: read calls of methods, and write their results, until the input ends."""
    answers, questions = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)  # output of libraries must not mix with answers
    name, given = pickle.load(questions)
    worker = resolve_name(name)(*given)
    while True:
        try:
            method, arguments = pickle.load(questions)
        except EOFError:
            return
        pickle.dump(_answer(worker, method, arguments), answers)
        answers.flush()


def _answer(worker: Any, method: str, arguments: Any) -> tuple[Any, str]:
    """A pair: the result of a method and an empty string, or None and an error message."""
    try:
        return getattr(worker, method)(*arguments), ""
    except FstError as error:
        return None, str(error)
    except BaseException as error:  # a panic in Rust is not an Exception
        return None, f"{type(error).__name__}: {error}"
