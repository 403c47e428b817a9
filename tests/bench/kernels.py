"""Print how long each kernel takes to compile, and in which stages, in seconds of processor time.

    python tests/bench/kernels.py [--parts PART…] [--least SECONDS]

PART is a kind of table, as in `fst.cli.commands.warmup.kernels`; by default, all kernels are compiled. All of them are compiled in one
process with an empty folder for kernels, so the first kernel also includes the imports of the compiler. The last rows are the sum of all
kernels and the largest one; kernels that take less than SECONDS have no row.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

LEAST = 0.5  # seconds of the smallest kernel with a row
REST = "rest"  # byte code, its analysis, and all work that belongs to no other stage


class Clock:
    """The processor time of each stage of each kernel; the time of a stage excludes the stages that it calls."""

    def __init__(self) -> None:
        self.kernels: dict[str, dict[str, float]] = {}
        self._open: list[str] = []
        self._last = 0.0

    @contextmanager
    def kernel(self, name: str) -> Iterator[None]:
        """Measure the stages of a kernel."""
        while name in self.kernels:  # the same kernel for other types
            name += "'"
        self.kernels[name], self._open, self._last = {}, [], time.process_time()
        with self.stage(REST):
            yield

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage of the present kernel."""
        self._add()
        self._open.append(name)
        try:
            yield
        finally:
            self._add()
            self._open.pop()

    def _add(self) -> None:
        now = time.process_time()
        if self._open:
            seconds = self.kernels[next(reversed(self.kernels))]
            seconds[self._open[-1]] = seconds.get(self._open[-1], 0) + now - self._last
        self._last = now


def main() -> None:
    """Compile kernels, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", metavar="PART")
    parser.add_argument("--least", type=float, default=LEAST, metavar="SECONDS", help=f"the smallest kernel with a row [{LEAST}]")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # numba reads this variable when it is imported
        kernels = compiled(arguments.parts, Path(folder))
    print_table(kernels, arguments.least)


def compiled(parts: list[str] | None, folder: Path) -> Mapping[str, Mapping[str, float]]:
    """Compile the kernels of some parts, or all kernels; return the seconds of each stage of each kernel."""
    from fst.cli.commands.warmup.kernels import PARTS

    clock = Clock()
    watch_stages(clock)
    for part in parts or PARTS:
        (folder / part).mkdir()
        PARTS[part](folder / part)
    return clock.kernels


def watch_stages(clock: Clock) -> None:
    """Make the clock measure each kernel that is compiled from now on."""
    from numba.core import codegen, lowering, typed_passes

    from fst.core import jit, numba_passes

    compile_kernel = jit._newly_compiled

    def compile_timed(function: Any, *others: Any) -> Any:
        with clock.kernel(f"{function.__module__.removeprefix('fst.')}.{function.__name__}"):
            return compile_kernel(function, *others)

    vars(jit)["_newly_compiled"] = compile_timed
    library = codegen.JITCodeLibrary
    for owners, method, stage in (
        ((typed_passes.NopythonTypeInference,), "run_pass", "types"),
        ((lowering.Lower,), "lower", "lowering"),
        ((library,), "add_ir_module", "text of LLVM"),
        ((library,), "finalize", "linking"),
        ((library,), "_optimize_functions", "function passes"),
        ((numba_passes.KernelLibrary, numba_passes.PartLibrary), "_optimize_final_module", "module passes"),
        ((numba_passes.KernelLibrary,), "_finalize_final_module", "machine code"),
    ):
        for owner in owners:
            setattr(owner, method, timed(clock, stage, getattr(owner, method)))


def timed(clock: Clock, stage: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is measured as a stage."""

    @wraps(method)
    def measured(*arguments: Any, **named: Any) -> Any:
        with clock.stage(stage):
            return method(*arguments, **named)

    return measured


def print_table(kernels: Mapping[str, Mapping[str, float]], least: float) -> None:
    """Print a row for each kernel, the largest one first; then their sum."""
    totals = {name: sum(seconds.values()) for name, seconds in kernels.items()}
    sums: dict[str, float] = {}
    for seconds in kernels.values():
        for stage, part in seconds.items():
            sums[stage] = sums.get(stage, 0) + part
    print(f"| kernel | seconds | {' | '.join(sums)} |")
    print("| --- |" + " ---: |" * (len(sums) + 1))
    for name in sorted(totals, key=totals.__getitem__, reverse=True):
        if totals[name] >= least:
            print_row(name, kernels[name], sums)
    print_row(f"all {len(kernels)}", sums, sums)


def print_row(name: str, seconds: Mapping[str, float], stages: Mapping[str, float]) -> None:
    """Print a row of the table."""
    print(f"| {name} | {sum(seconds.values()):.2f} | {' | '.join(f'{seconds.get(stage, 0):.2f}' for stage in stages)} |")


if __name__ == "__main__":
    main()
