"""How kernels are compiled. Numba is imported when the first kernel is, and by nothing else."""

from __future__ import annotations

import gc
import logging  # before `_before_fork`, which see, is registered
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Kernels hold no references: they allocate nothing, and counting references to the arrays that one part of a kernel hands to another takes
# longer than the look-ups (55 MB/s of English with it, 110 without). And no lock, but for those that look at objects.
SETTINGS: dict[str, Any] = {"_nrt": False}
# No way in from Python or C where there is none: to take apart what comes in takes longer to compile than many a function.
PART: dict[str, Any] = {**SETTINGS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_first_call = RLock()  # held during the first call of a kernel, which imports numba, and has the kernel compiled
_held: list[Any] = []


def kernel(function: Function) -> Function:
    """Compile a function over arrays when it is first called, and keep the machine code on disk.

    Where nothing near the source or in the user's cache folder can be written, numba says so at decoration; then nothing is kept.
    """
    return _kept(function, nogil=True, **SETTINGS)


def object_kernel(function: Function) -> Function:
    """The same for a function that also looks at Python's objects: it holds the interpreter's lock, as all do that use Python's C API."""
    return _kept(function, nogil=False, **SETTINGS)


def part(function: Function) -> Function:
    """Compile a function that is called by kernels alone."""
    return _kept(function, **PART)


def inlined(function: Function) -> Function:
    """Compile a function into the kernels that call it."""
    from numba import njit

    compile_: Any = njit
    compiled: Function = compile_(forceinline=True, **PART)(function)
    return compiled


def _kept(function: Function, **settings: Any) -> Function:
    from numba import njit

    compile_: Any = njit
    try:
        compiled: Function = compile_(cache=True, **settings)(function)
    except RuntimeError:
        compiled = compile_(**settings)(function)
    return compiled


class Deferred:
    """A kernel that is imported when it is first called, and numba with it.

    The types and the layouts of all arguments are the same in all calls: numba need not look at them again, and arrays are lent, see
    `fst.lent`. Both take longer than a short text does.

    Args:
        module, name: where it is.

    Attributes:
        call: the kernel, or until it was called once what imports and calls it.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self.call: Callable[..., Any] = self._import_and_call
        self._code: Callable[..., Any] | None = None

    def _import_and_call(self, *arguments: Any) -> Any:
        with _first_call, no_collector():
            if self._code is None:  # no other thread has been here meanwhile
                self._code = _compiled(getattr(import_module(self._module), self._name), arguments)
            self.call = self._code
            return self.call(*arguments)


@contextmanager
def no_collector() -> Iterator[None]:
    """Keep the garbage collector from going through what stays: what numba makes, more than a hundred thousand objects, or a vocabulary."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _compiled(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The machine code of a kernel for arguments such as these, without the search for the one that fits them."""
    if not hasattr(function, "compile"):  # numba's compiler is switched off
        found: Callable[..., Any] = function
        return found
    from fst.lent import kind_of

    kinds = tuple(map(kind_of, arguments))
    kept = _kept_code(function, kinds)
    if kept is not None:
        return kept
    # Nobody should wonder what takes so long; without handlers, logging writes it to standard error.
    logging.getLogger("fst").warning("fst: compiling kernel %s, once …", function.__name__)
    code: Callable[..., Any] = function.compile(kinds)
    return code


def _kept_code(function: Any, kinds: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The machine code of a kernel that an earlier process has kept, if one has.

    Numba's own way to it first imports all that it takes to compile, and SciPy with it: 0.1 to 0.3 s, for nothing.
    """
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        kept = function._cache.load_overload(kinds, _Unprepared(function.targetctx))
    code: Callable[..., Any] | None = kept and kept.entry_point
    return code


class _Unprepared:
    """What numba compiles with, a context, as it is: not made ready for compiling."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def refresh(self) -> None:
        """Do without what compiling takes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


def _before_fork() -> None:
    """Wait until no thread imports or compiles kernels: a process forked meanwhile would find Python or numba locked for ever.

    Who registers last is called first. Numba takes the lock of logging while it is imported, and logging takes it before a fork: it has to
    register before this does, or would hold its lock while this waits.
    """
    _hold(_first_call)
    compiler = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
    if compiler is not None:
        _hold(compiler)


def _hold(lock: Any) -> None:
    lock.acquire()
    _held.append(lock)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
