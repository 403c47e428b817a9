"""Native code of a release: the shared libraries and the manifest of the folder ``fst/native``, see `fst.core.native`.

`called_kernels` collects kernels while they run. For each level of processors, a process with the environment `settings_of` the level
translates them to LLVM IR that is not optimized; LLVM optimizes it for the level, and makes machine code for each system. In this process
no kernel runs, so the machine that builds a release need not have a processor of the level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from fst.compile.export.capture import SETTINGS, captured, symbol_of, without_elements
from fst.compile.export.code import ALLOWED, HOST, hide, machine_of, need_no_library, optimize
from fst.compile.export.targets import Target
from fst.core import native
from fst.core.jit import Deferred, translated
from fst.errors import UnsupportedError

# LLVM's names of the features of each level. The list is complete: with fewer features, LLVM compiles Unigram's kernel to slower code.
V2 = "+64bit,+cmov,+crc32,+cx16,+cx8,+fxsr,+mmx,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3"
V3 = f"{V2},+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
V4 = f"{V3},+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vbmi,+avx512vl"
FEATURES = {"x86-64-v2": V2, "x86-64-v3": V3, "x86-64-v4": V4, "aarch64": ""}
LETTERS = {"none": "n", "bool": "b", "float64": "d", "object": "o"}
MATHEMATICS = {"exp", "ldexp", "log", "log1p"}  # functions of the C library, which are in every Python process
LDEXP = """
declare double @ldexp(double, i32)
define internal double @numba_ldexp(double %0, i32 %1) {
  %scaled = call double @ldexp(double %0, i32 %1)
  ret double %scaled
}
"""
# In LLVM IR: the declaration of a function of Python, of numba's library, or of an object of Python.
FUNCTION = re.compile(rf"^declare (?P<result>[^@]*)@(?P<name>Py\w+|{native.CHARACTERS}|numba_ldexp)\((?P<types>.*?)\).*$", re.MULTILINE)
OBJECT = re.compile(r"^@(?P<name>_Py\w+) = external global .*$", re.MULTILINE)


class Kernel(NamedTuple):
    """A kernel, and the arguments for whose types it is compiled. Their arrays are empty."""

    module: str
    name: str
    arguments: tuple[Any, ...]


class NativeKernel(NamedTuple):
    """A kernel in LLVM IR.

    Attributes:
        key: the kernel's key in the manifest.
        symbol, results, releases: the kernel's members in the manifest.
        sources: the modules whose text determines the kernel.
        python: the functions and objects of Python that the kernel uses.
        modules: the texts of the modules of the entry and of the kernel, as in `fst.compile.export.capture.Captured`.
    """

    key: str
    symbol: str
    results: str
    releases: bool
    sources: frozenset[str]
    python: frozenset[str]
    modules: tuple[str, str]


def settings_of(level: str) -> dict[str, str]:
    """The environment of a process that translates kernels for a level."""
    name = level if FEATURES[level] else "generic"
    return {**SETTINGS, "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": FEATURES[level], "NUMBA_DISABLE_INTEL_SVML": "1"}


@contextmanager
def called_kernels() -> Iterator[dict[str, Kernel]]:
    """Collect all kernels that are first called in this context, by key in the manifest. They run as usual."""
    found: dict[str, Kernel] = {}
    use_native: Any = Deferred._native

    def keep(self: Any, arguments: tuple[Any, ...]) -> Any:
        found[native.key_of(self.module, self.name, arguments)] = Kernel(self.module, self.name, without_elements(arguments))
        return use_native(self, arguments)

    Deferred._native = keep  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Deferred._native = use_native  # type: ignore[method-assign]


def native_kernel(kernel: Kernel) -> NativeKernel:
    """Translate a kernel, in a process with the environment of a level.

    Raises:
        UnsupportedError: see `captured`.
    """
    from fst.core.kernel_cache import modules_of

    function, key = getattr(import_module(kernel.module), kernel.name), native.key_of(*kernel)
    symbol = symbol_of(key)
    result: Any = translated(*kernel)
    entry, code = captured(symbol, result).modules
    sources = frozenset(modules_of(function.py_func.__code__.co_filename))
    releases = bool(function.targetoptions.get("nogil"))
    code, python = without_python(HOST.sub("", code))
    return NativeKernel(key, symbol, _results(result.signature.return_type), releases, sources, python, (entry, code))


def _results(kind: Any) -> str:
    """The letters of the type of a kernel's results, see `fst.core.native`."""
    kinds = getattr(kind, "types", None) or [kind]
    return "".join(LETTERS.get(str(each)) or ("i" if each.signed else "u") for each in kinds)


def without_python(code: str) -> tuple[str, frozenset[str]]:
    """Replace the functions and objects of Python in LLVM IR by loads from variables, see `fst.core.native`; return also their names.

    Examples:
        >>> from fst.compile.export.native import without_python
        >>> print(*without_python("declare ptr @PyList_New(i64)"), sep="")
        @fst_PyList_New = external global ptr
        define internal ptr @PyList_New(i64 %0) {
          %at = load ptr, ptr @fst_PyList_New
          %found = call ptr %at(i64 %0)
          ret ptr %found
        }
        frozenset({'PyList_New'})
    """
    found = {match["name"] for match in FUNCTION.finditer(code)} - {"numba_ldexp"}
    code = FUNCTION.sub(lambda match: LDEXP if match["name"] == "numba_ldexp" else _jump(match), code)
    for name in [match["name"] for match in OBJECT.finditer(code)]:
        found.add(name)
        code = OBJECT.sub(_variable(name), code)
        code = "\n".join(_loaded(name, number, line) for number, line in enumerate(code.split("\n")))
    return code, frozenset(found)


def _variable(name: str) -> str:
    return f"@{native.VARIABLE.format(name)} = external global ptr"


def _jump(match: re.Match[str]) -> str:
    """A function that calls the function whose address is in a variable."""
    kinds = [kind.split()[0] for kind in match["types"].split(", ") if kind]
    values = ", ".join(f"{kind} %{number}" for number, kind in enumerate(kinds))
    name, result = match["name"], match["result"].split()[-1]
    call, answer = ("", "void") if result == "void" else ("%found = ", f"{result} %found")
    lines = (
        _variable(name),
        f"define internal {result} @{name}({values}) {{",
        f"  %at = load ptr, ptr @{native.VARIABLE.format(name)}",
        f"  {call}call {result} %at({values})",
        f"  ret {answer}",
        "}\n",
    )
    return "\n".join(lines)


def _loaded(name: str, number: int, line: str) -> str:
    """A line of LLVM IR with the address of an object from its variable. Code that is not optimized has such addresses only in calls and
    stores.
    """
    if f"@{name}" not in line:
        return line
    assert line.lstrip().startswith(("call", "store")), line
    value = f"%object.{number}"
    return f"  {value} = load ptr, ptr @{native.VARIABLE.format(name)}\n{line.replace(f'@{name}', value)}"


def _object_files(kernels: Iterable[NativeKernel], targets: Sequence[Target]) -> Iterator[list[bytes]]:
    """Compile each kernel, with its entry, to an object file for each of several systems with the same processor.

    Raises:
        UnsupportedError: the code calls a function that is missing in a Python process.
    """
    from llvmlite import binding

    machines = [machine_of(target) for target in targets]
    for kernel in kernels:
        module, code = map(binding.parse_assembly, kernel.modules)
        module.link_in(code)
        module.triple, module.data_layout = targets[0].triple, str(machines[0].target_data)
        hide(module, [kernel.symbol])
        module.verify()
        optimize(module, machines[0])
        need_no_library(module, ALLOWED | MATHEMATICS)
        yield [_emitted(module.clone(), kernel.symbol, *each) for each in zip(targets, machines, strict=True)]


def _emitted(module: Any, symbol: str, target: Target, machine: Any) -> bytes:
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    if "windows" in target.triple:
        module.get_function(symbol).storage_class = "dllexport"
    return bytes(machine.emit_object(module))


def variables(names: Iterable[str], target: Target) -> bytes:
    """The object file of the variables for functions and objects of Python."""
    from llvmlite import binding

    export = "dllexport " * ("windows" in target.triple)
    lines = [f"@{native.VARIABLE.format(name)} = {export}global ptr null" for name in sorted(names)]
    module, machine = binding.parse_assembly("\n".join(lines)), machine_of(target)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    return bytes(machine.emit_object(module))


class Level(NamedTuple):
    """The native code of a level: its kernels, and for each system, by LLVM's name, the object files of a library."""

    kernels: Sequence[NativeKernel]
    objects: Mapping[str, Sequence[bytes]]


def level_of(kernels: Iterable[Kernel], targets: Sequence[Target]) -> Level:
    """Compile kernels for systems with processors of one level, in a process with the environment of the level."""
    found = [native_kernel(kernel) for kernel in kernels]
    names, codes = names_in([found]), zip(*_object_files(found, targets), strict=True)
    return Level(found, {target.triple: [variables(names, target), *code] for target, code in zip(targets, codes, strict=True)})


def manifest(levels: Mapping[str, Level]) -> bytes:
    """The manifest of the kernels of each level.

    Raises:
        UnsupportedError: the levels have different kernels.
    """
    of_levels = [level.kernels for level in levels.values()]
    members = [{kernel.key: (kernel.symbol, kernel.results, kernel.releases) for kernel in kernels} for kernels in of_levels]
    if any(each != members[0] for each in members):
        raise UnsupportedError(f"the kernels of {', '.join(levels)} are different; expected the same kernels for each level")
    sources = sorted({name for kernels in of_levels for kernel in kernels for name in kernel.sources})
    digest, kernels = native.digest_of(sources), dict(sorted(members[0].items()))
    found = {"abi": native.ABI, "sources": sources, "digest": digest, "python": names_in(of_levels), "kernels": kernels}
    return json.dumps(found, indent=1).encode()


def names_in(levels: Iterable[Sequence[NativeKernel]]) -> list[str]:
    """The functions and objects of Python that the kernels of all levels use."""
    return sorted({name for kernels in levels for kernel in kernels for name in kernel.python})
