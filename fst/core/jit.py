"""Functions that compile kernels with ``numba``, which is imported only when a kernel is first called and has no native code
(`fst.core.native`).

Kernels use private parts of numba, which are faster than the public alternatives. `PRIVATE` lists all private parts. If the installed numba
lacks one of them, kernels use only the public alternatives:

=================== ============================================== =========================================================
part                saving                                         public alternative
=================== ============================================== =========================================================
compile options     reference counts and unused wrappers           ``njit`` without them
passes              two fifths of the time to compile              numba's own pipeline
kept kernels        compilation, in read-only and stale folders    numba's own cache
compiled code       numba's dispatch on the types of arguments     calls of the dispatcher
borrowed arrays     six of the eight fields of every array         numba's arrays
intrinsics          loops over 32 symbols (one vector operation)   `fst.runtime.kernels.plain_intrinsics`, loops
strings             a copy of each str and of each bytes           copies, by codecs
prepared calls      two thirds of a call with one short text       the calls of a batch
=================== ============================================== =========================================================

Numba's own cache recompiles a kernel only if the kernel's own file has changed. If this cache is in use, empty it after you edit the
package.
"""

from __future__ import annotations

import gc
import logging  # must be imported before `_before_fork` is registered, for the reason in the docstring of `_before_fork`
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import resolve_name
from threading import RLock
from time import monotonic
from typing import Any, NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# Kernels allocate nothing, so they need no reference counts. Reference counts would halve the speed (55 MB/s instead of 110 MB/s for
# English). C code never calls kernels, so numba leaves out the wrapper for C, which takes 0.03 s to compile.
SETTINGS: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True}
# Only kernels call these functions, so numba also leaves out the wrapper for Python, which takes longer to compile than most functions.
# `forceinline` needs an entry: without it, numba also inlines a function that is compiled because an inlined function calls it.
PART: dict[str, Any] = {**SETTINGS, "no_cpython_wrapper": True, "forceinline": False}
INLINED: dict[str, Any] = {**PART, "forceinline": True}

# The private parts of numba that this package uses, as names for `pkgutil.resolve_name`; and `OF_DISPATCHERS`, the attributes of each
# dispatcher.
PRIVATE: dict[str, list[str]] = {
    "compile options": [f"numba.core.cpu:CPUTargetOptions.{option}" for option in INLINED],
    "passes": [
        "numba._dynfunc:make_function",
        "numba.core.analysis:compute_cfg_from_blocks",
        "numba.core.codegen:CPUCodegen._module_pass_manager",
        "numba.core.codegen:JITCodeLibrary._finalize_final_module",
        "numba.core.codegen:JITCodeLibrary._optimize_final_module",
        "numba.core.compiler:CompilerBase.define_pipelines",
        "numba.core.compiler_machinery:PassManager",
        "numba.core.compiler_machinery:register_pass",
        "numba.core.cpu:CPUContext.insert_user_function",
        "numba.core.lowering:Lower._find_singly_assigned_variable",
        "numba.core.typed_passes:NativeLowering",
        "numba.core.typed_passes:NoPythonBackend",
        "numba.core.typed_passes:NopythonTypeInference",
        "numba.core.typed_passes:PreLowerStripPhis",
        "numba.core.untyped_passes:DeadBranchPrune",
        "numba.core.untyped_passes:FixupArgs",
        "numba.core.untyped_passes:GenericRewrites",
        "numba.core.untyped_passes:IRProcessing",
        "numba.core.untyped_passes:ReconstructSSA",
        "numba.core.untyped_passes:RewriteSemanticConstants",
        "numba.core.untyped_passes:TranslateByteCode",
    ],
    "kept kernels": [
        "numba.core.caching:FunctionCache.load_overload",
        "numba.core.caching:FunctionCache.save_overload",
        "numba.core.codegen:CodeLibrary.has_dynamic_globals",
        "numba.core.codegen:CPUCodegen.magic_tuple",
        "numba.core.compiler:CompileResult._rebuild",
        "numba.core.compiler:CompileResult._reduce",
        "numba.core.compiler:CompileResult.library",
        "numba.core.compiler_lock:global_compiler_lock",
        "numba.core.cpu:CPUContext.codegen",
        "numba.core.serialize:dumps",
    ],
    "compiled code": ["numba.core.compiler:CompileResult.entry_point", "numba.core.dispatcher:Dispatcher.compile"],
    "borrowed arrays": [
        "numba.core.base:BaseContext.enable_boundscheck",
        "numba.core.base:BaseContext.get_function",
        "numba.core.base:BaseContext.get_getattr",
        "numba.core.base:BaseContext.pack_value",
        "numba.core.base:BaseContext.unpack_value",
        "numba.core.cgutils:create_struct_proxy",
        "numba.core.cgutils:do_boundscheck",
        "numba.core.cgutils:pack_array",
        "numba.core.cgutils:unpack_tuple",
        "numba.core.datamodel.registry:default_manager",
        "numba.core.types:BaseTuple.from_types",
        "numba.np.numpy_support:as_dtype",
    ],
    "intrinsics": [
        "numba.core.registry:cpu_target",
        "numba.core.base:BaseContext.make_array",
        "numba.core.base:BaseContext.make_tuple",
    ],
    "strings": ["numba.core.base:BaseContext.get_python_api", "numba.core.pythonapi:PythonAPI.string_as_string_size_and_kind"],
    "prepared calls": [
        "numba.core.callconv:CPUCallConv.get_function_type",
        "numba.core.codegen:CPUCodegen.create_library",
        "numba.core.codegen:CodeLibrary.add_ir_module",
        "numba.core.codegen:CodeLibrary.create_ir_module",
        "numba.core.codegen:CodeLibrary.finalize",
        "numba.core.codegen:JITCodeLibrary.get_pointer_to_function",
        "numba.core.compiler:CompileResult.fndesc",
        "numba.core.compiler:CompileResult.target_context",
        "numba.core.cpu:CPUContext.call_conv",
        "numba.core.funcdesc:FunctionDescriptor.llvm_func_name",
        "numba.core.pythonapi:PythonAPI.c_api_error",
        "numba.core.pythonapi:PythonAPI.decref",
        "numba.core.pythonapi:PythonAPI.make_none",
    ],
}

OF_DISPATCHERS = ["_cache", "overloads", "targetctx"]

_first_call = RLock()  # this lock is held during the first call of a kernel, which imports numba and compiles the kernel
_held: list[Any] = []


def kernel(function: Function) -> Function:
    """Compile a function over arrays at its first call, and cache its machine code on disk."""
    return _jitted(function, SETTINGS, nogil=True)


def object_kernel(function: Function) -> Function:
    """Compile a kernel that reads Python objects. The kernel holds the interpreter's lock, as Python's C API requires."""
    return _jitted(function, SETTINGS)


def part(function: Function) -> Function:
    """Compile a function that only kernels call, as a part of each of these kernels."""
    return _jitted(function, PART)


def inlined(function: Function) -> Function:
    """Compile a function inline, as part of each kernel that calls it."""
    return _jitted(function, INLINED)


def _jitted(function: Function, private: dict[str, Any], **public: Any) -> Function:
    from numba import njit

    compile_: Any = njit
    if not has_private_parts():
        return _publicly_jitted(function, **public)
    from fst.core.numba_passes import KernelCompiler, PartCompiler

    is_kernel = private is SETTINGS
    compiled: Function = compile_(pipeline_class=KernelCompiler if is_kernel else PartCompiler, **private, **public)(function)
    if is_kernel and compiled is not function:  # NUMBA_DISABLE_JIT is not set
        from fst.core.kernel_cache import keep

        keep(compiled)
    return compiled


def _publicly_jitted(function: Function, **public: Any) -> Function:
    """Compile a function with numba's public options and cache."""
    from numba import njit

    from fst.core import numba_types  # noqa: F401 - numba then knows the types

    compile_: Any = njit
    compiled: Function
    try:
        compiled = compile_(cache=True, **public)(function)
    except RuntimeError:  # numba finds no writable folder
        compiled = compile_(**public)(function)
    return compiled


@cache
def has_private_parts() -> bool:
    """Whether the installed numba has all parts in `PRIVATE`. If parts are missing, a warning names them."""
    with _first_call, no_collector():  # without the lock, a process that is forked meanwhile would inherit numba's locks
        import numba

        make: Any = numba.njit
        dispatcher = make(lambda: None)
        missing = [name for names in PRIVATE.values() for name in names if not _exists(name)]
    if hasattr(dispatcher, "py_func"):  # NUMBA_DISABLE_JIT is not set
        missing += [name for name in OF_DISPATCHERS if not hasattr(dispatcher, name)]
    if missing:
        known = "fst: numba %s lacks %s, which fast kernels use; slower ones take their place"
        logging.getLogger("fst").warning(known, numba.__version__, ", ".join(missing))
    return not missing


def _exists(name: str) -> bool:
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@dataclass
class Steps:
    """The progress of compilation: the kernels that the first call of a machine compiles, one after another."""

    machine: str  # the kind of the machine
    count: int  # the number of kernels of the machine
    compiled: int = 0  # the number of kernels that this process has compiled
    seconds: float = 0.0  # the total time for compiling these kernels


class Step(NamedTuple):
    """The position of a kernel among the kernels of a machine, from 1."""

    steps: Steps
    number: int

    def __str__(self) -> str:
        return f"{self.number} of {self.steps.count} for {self.steps.machine}"

    def add(self, seconds: float) -> None:
        """Count a compiled kernel; after the last kernel, log the total time."""
        steps = self.steps
        steps.compiled, steps.seconds = steps.compiled + 1, steps.seconds + seconds
        if self.number == steps.count:
            what = "1 kernel" if steps.compiled == 1 else f"{steps.compiled} kernels"
            logging.getLogger("fst").warning("fst: compiled %s for %s in %.1f s", what, steps.machine, steps.seconds)
            steps.compiled, steps.seconds = 0, 0.0


def number_kernels(machine: str, kernels: Sequence[Sequence[Deferred]]) -> None:
    """Number the kernels of a machine in the order of their calls. The log of compilation contains the numbers of kernels. `machine`: the
    kind of the machine. `kernels`: lists of kernels; a call uses one kernel of each list. If several machines share a kernel, the last call
    of this function sets the kernel's number.
    """
    steps = Steps(machine, len(kernels))
    for number, alternatives in enumerate(kernels, 1):
        for kernel in alternatives:
            kernel.step = Step(steps, number)


class Deferred:
    """A kernel that is imported at its first call, together with numba, unless the release has its native code (`fst.core.native`).

    The first call compiles the kernel for the types of its arguments. Arguments of later calls must have the same types, which are not
    checked. Arrays are borrowed (`fst.core.borrowed`). Checks of types, or numba's own arrays, would take longer than encoding a short
    text. To call a kernel with arguments of different types, make one `Deferred` for each set of types.

    Args:
        module, name: the module and the name of the kernel.

    Attributes:
        module, name: the arguments of this class.
        call: the kernel; before the first call, a function that imports and calls it.
        step: the position of the kernel among the kernels of a machine, for the log; None if no machine numbers the kernel.
        result: numba's result of the compilation; None before the kernel is compiled, or if it is native, or if numba's own dispatcher
            calls it.
        entry: the address of the kernel's entry (`fst.core.prepared`) in native code; 0 if the kernel is not native.
    """

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name
        self.call: Callable[..., Any] = self._import_and_call
        self.step: Step | None = None
        self.result: Any = None
        self.entry = 0
        self._code: Callable[..., Any] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether this process has called the kernel."""
        return self._code is not None

    def prepare(self, *arguments: Any) -> None:
        """Load the native code of the kernel for arguments of these types, or compile it, unless the kernel is ready."""
        with _first_call, no_collector():
            if self._code is None:  # no other thread has prepared the kernel meanwhile
                self._code = self._native(arguments) or self._compiled(arguments)
            self.call = self._code

    def _native(self, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        from fst.core import native  # not at the top, because the machine code that numba compiles does not depend on this module

        found = native.find(self.module, self.name, arguments)
        if found is None:
            return None
        self.entry = found.entry
        return found.call

    def _compiled(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        from fst.core.native import need_numba

        with need_numba(f"kernel {self.name}"):
            function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        self.result = _compiled(function, arguments, self.step)
        return self.result.entry_point if self.result else function

    def _import_and_call(self, *arguments: Any) -> Any:
        self.prepare(*arguments)
        return self.call(*arguments)


@contextmanager
def no_collector() -> Iterator[None]:
    """Switch the garbage collector off while long-lived objects are created, such as the more than 100,000 objects of numba."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def destination(function: Any) -> tuple[bool, str]:
    """Whether the machine code of a kernel is cached on disk; and a text that contains the folder, or the reason why it is not cached."""
    kept_by: Any = getattr(function, "_cache", None)
    if hasattr(kept_by, "destination"):
        kept, reason = kept_by.destination()
        return kept, reason
    # the folder of numba's own cache; missing with NUMBA_DISABLE_JIT
    folder = getattr(getattr(function, "stats", None), "cache_path", None)
    return bool(folder), f"kept in {folder}" if folder else "not kept"


def _compiled(function: Any, arguments: tuple[Any, ...], step: Step | None) -> Any | None:
    """The compiled kernel for arguments of these types; None if numba's own dispatcher must find the machine code. Returns a
    ``CompileResult`` of numba, whose `entry_point` is the machine code.
    """
    if not hasattr(function, "py_func") or not has_private_parts():  # NUMBA_DISABLE_JIT is set, or numba lacks private parts
        return None
    from fst.core.borrowed import kind_of

    kinds = tuple(map(kind_of, arguments))
    return _kept_code(function, kinds) or _compiled_once(function, kinds, step)


def translated(module: str, name: str, arguments: tuple[Any, ...]) -> Any | None:
    """A kernel in LLVM's language for arguments of these types, neither optimized nor compiled; None if numba cannot do this. `module`,
    `name`: as in `Deferred`. `arguments`: values for which the kernel is translated. Returns a ``CompileResult`` of numba.
    """
    function: Any = getattr(import_module(module), name)
    if not hasattr(function, "py_func") or not has_private_parts():
        return None
    from numba.core.compiler_lock import global_compiler_lock

    from fst.core.borrowed import kind_of

    kinds, alone = tuple(map(kind_of, arguments)), _jitted(function.py_func, PART)
    with global_compiler_lock, no_collector():
        alone.compile(kinds)
        alone.overloads[kinds].library.finalize()  # links its parts
    return alone.overloads[kinds]


def _kept_code(function: Any, kinds: tuple[Any, ...]) -> Any | None:
    """The compiled kernel that an earlier process has cached; None if the cache has no machine code for these types.

    A search by numba would first import numba's compiler and SciPy, which takes 0.1 to 0.3 s.
    """
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        return function._cache.load_overload(kinds, function.targetctx)


def _compiled_once(function: Any, kinds: tuple[Any, ...], step: Step | None) -> Any:
    """The kernel, compiled by this process, or by another process that is already compiling it."""
    with function._cache.turn():
        return _kept_code(function, kinds) or _newly_compiled(function, kinds, step)


def _newly_compiled(function: Any, kinds: tuple[Any, ...], step: Step | None) -> Any:
    """Compile a kernel. A warning is logged before; without handlers, the module `logging` writes warnings to standard error."""
    log, begun = logging.getLogger("fst"), monotonic()
    name = f"{step} ({function.__name__})" if step else function.__name__
    try:
        log.warning("fst: compiling kernel %s, up to 20 s; %s", name, destination(function)[1])
        function.compile(kinds)
    except (KeyboardInterrupt, SystemExit):
        log.warning("fst: interrupted while compiling kernel %s; the next run compiles it", name)
        raise
    log.info("fst: compiled kernel %s in %.1f s", name, monotonic() - begun)
    if step:
        step.add(monotonic() - begun)
    return function.overloads[kinds]


def _before_fork() -> None:
    """Wait until no thread imports or compiles kernels. Otherwise, a forked child process would inherit a lock that is never released.

    Fork handlers run in reverse order of registration. The handler of `logging` takes a lock that the import of numba needs, too. So
    `logging` must register its handler first. This handler then runs last, after the import of numba has finished.
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
