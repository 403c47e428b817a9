"""Run kernels as interpreted Python in a separate process, and count the lines that a call runs, as a measure of time without noise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory
from types import FrameType, ModuleType
from typing import Any

from support.shared_data import TESTS


def printed(function: Callable[[], None]) -> str:
    """Run a function of a test module in a process that interprets kernels, and return what it prints."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(TESTS), "PYTHONWARNINGS": "ignore"}
    program = f"import runpy; runpy.run_path({function.__code__.co_filename!r})[{function.__name__!r}]()"
    with TemporaryDirectory() as folder:  # a folder for the tables that `support.kept` stores
        done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def steps(run: Callable[[], object], *modules: ModuleType) -> int:
    """The number of lines that a call runs in the files of some modules."""
    count, files = 0, {module.__file__ for module in modules}

    def watch(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return watch if frame.f_code.co_filename in files else None

    sys.settrace(watch)
    run()
    sys.settrace(None)
    return count
