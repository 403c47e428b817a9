"""How kernels are compiled. Numba is imported when the first kernel is, and by nothing else."""

from __future__ import annotations

import gc
import logging  # before `_before_fork`, which see, is registered
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import RLock
from time import monotonic
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Kernels hold no references: they allocate nothing, and counting references to the arrays that one part of a kernel hands to another takes
# longer than the look-ups (55 MB/s of English with it, 110 without). And no lock, but for those that look at objects. C never calls them:
# the wrapper that it would call takes 0.03 s to compile for each.
SETTINGS: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True}
# No way in from Python or C where there is none: to take apart what comes in takes longer to compile than many a function.
PART: dict[str, Any] = {**SETTINGS, "no_cpython_wrapper": True}

_first_call = RLock()  # held during the first call of a kernel, which imports numba, and has the kernel compiled
_held: list[Any] = []


def kernel(function: Function) -> Function:
    """Compile a function over arrays when it is first called, and keep the machine code on disk where `fst.kernel_cache` can."""
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
    compiled: Function = compile_(**settings)(function)
    if hasattr(compiled, "enable_caching"):  # it is compiled: numba's compiler is not switched off
        _keep(compiled)
    return compiled


def _keep(compiled: Any) -> None:
    """Keep the machine code of a function on disk: by `fst.kernel_cache`, or by numba's cache if numba's private parts have changed."""
    try:
        from fst.kernel_cache import keep

        keep(compiled)
    except (ImportError, AttributeError):
        with suppress(RuntimeError):  # numba finds no folder that it can write
            compiled.enable_caching()


class Deferred:
    """A kernel that is imported when it is first called, and numba with it.

    The types and the layouts of all arguments are the same in all calls: numba need not look at them again, and arrays are lent, see
    `fst.borrowed`. Both take longer than a short text does.

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


def destination(function: Any) -> tuple[bool, str]:
    """Whether the machine code of a kernel is kept; and, in words, where, or why not."""
    cache: Any = getattr(function, "_cache", None)  # None where numba's compiler is switched off
    if hasattr(cache, "destination"):
        kept, told = cache.destination()
        return kept, told
    folder = getattr(cache, "cache_path", None)
    return bool(folder), f"kept in {folder}" if folder else "not kept"


def _compiled(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The machine code of a kernel for arguments such as these, without the search for the one that fits them."""
    if not hasattr(function, "compile"):  # numba's compiler is switched off
        found: Callable[..., Any] = function
        return found
    from fst.borrowed import kind_of

    kinds = tuple(map(kind_of, arguments))
    return _kept_code(function, kinds) or _newly_compiled(function, kinds)


def _kept_code(function: Any, kinds: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The machine code of a kernel that an earlier process has kept, if one has.

    Numba's own search first imports its compiler, and SciPy with it, which takes 0.1 to 0.3 s for nothing.
    """
    if not hasattr(getattr(function, "_cache", None), "destination"):  # numba's own cache
        return None
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        kept = function._cache.load_overload(kinds, function.targetctx)
    code: Callable[..., Any] | None = kept and kept.entry_point
    return code


def _newly_compiled(function: Any, kinds: tuple[Any, ...]) -> Callable[..., Any]:
    """The machine code of a kernel, compiled now. A warning is logged first; without handlers, logging writes to standard error."""
    log, name, begun = logging.getLogger("fst"), function.__name__, monotonic()
    log.warning("fst: compiling kernel %s, up to 10 s; %s", name, destination(function)[1])
    code: Callable[..., Any] = function.compile(kinds)
    log.info("fst: compiled kernel %s in %.1f s", name, monotonic() - begun)
    return code


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
