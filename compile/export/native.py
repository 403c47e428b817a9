"""Native code of a release: the shared libraries and the manifest of the folder ``fst/native``, see `fst.core.native`.

For each level of processors, one process, with the environment `settings_of` the level, compiles all kernels. So the code of a kernel is
the code that numba compiles on a processor of this level. The process also runs the kernels, and therefore needs a processor of the highest
level.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from fst.compile.export.capture import captured
from fst.compile.export.code import ALLOWED, hide, machine_of, need_no_library
from fst.compile.export.targets import Target, target_of
from fst.core import native
from fst.core.jit import Deferred
from fst.errors import UnsupportedError

# LLVM's names of the features of each processor level. The list is complete: with fewer features, LLVM compiles Unigram's kernel to slower
# code.
V2 = "+64bit,+cmov,+crc32,+cx16,+cx8,+fxsr,+mmx,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3"
V3 = f"{V2},+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
V4 = f"{V3},+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vbmi,+avx512vl"
FEATURES = {"x86-64-v2": V2, "x86-64-v3": V3, "x86-64-v4": V4}
LETTERS = {"none": "n", "bool": "b", "float64": "d", "object": "o"}
# Functions of numba's own library, as LLVM IR.
HELPERS = {
    "numba_extract_unicode": f"""
@{native.CHARACTERS} = external global i64
define internal ptr @numba_extract_unicode(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4) {{
  %at = load ptr, ptr @{native.CHARACTERS}
  %data = call ptr %at(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4)
  ret ptr %data
}}
""",
    "numba_ldexp": """
declare double @ldexp(double, i32)
define internal double @numba_ldexp(double %0, i32 %1) {
  %scaled = call double @ldexp(double %0, i32 %1)
  ret double %scaled
}
""",
}
LINKER = "gcc", "-shared", "-nostdlib", "-s", "-Wl,-z,noexecstack"
MATHEMATICS = {"exp", "ldexp", "log"}  # functions of the C library, which are in every Python process


class NativeKernel(NamedTuple):
    """A kernel in native code.

    Attributes:
        key: the kernel's key in the manifest.
        symbol, results, releases: the kernel's members in the manifest.
        sources: the modules whose text determines the kernel.
        code: the kernel's object file.
    """

    key: str
    symbol: str
    results: str
    releases: bool
    sources: frozenset[str]
    code: bytes


def settings_of(level: str) -> dict[str, str]:
    """The environment of a process that compiles kernels for a level."""
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": FEATURES[level], "NUMBA_DISABLE_INTEL_SVML": "1", **native.OTHER_CODE}


@contextmanager
def native_kernels() -> Iterator[dict[str, NativeKernel]]:
    """Collect all kernels that are first called in this context, by key. numba compiles them, or reads them from its cache."""
    found: dict[str, NativeKernel] = {}
    use_native: Any = Deferred._native

    def compile_and_keep(self: Any, arguments: tuple[Any, ...]) -> Any:
        code, key = self._compiled(arguments), native.key_of(self.module, self.name, arguments)
        if key not in found:
            found[key] = _native_kernel(key, getattr(sys.modules[self.module], self.name), self.result)
        return code

    Deferred._native = compile_and_keep  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Deferred._native = use_native  # type: ignore[method-assign]


def _native_kernel(key: str, function: Any, result: Any) -> NativeKernel:
    """A kernel from numba's dispatcher and numba's result of the compilation."""
    from fst.core.kernel_cache import modules_of

    symbol = f"fst_{sha256(key.encode()).hexdigest()[:16]}"
    sources = frozenset(modules_of(function.py_func.__code__.co_filename))
    releases = bool(function.targetoptions.get("nogil"))
    return NativeKernel(key, symbol, _results(result.signature.return_type), releases, sources, _object(symbol, result))


def _results(kind: Any) -> str:
    """The letters of the type of a kernel's results, see `fst.core.native`."""
    kinds = getattr(kind, "types", None) or [kind]
    return "".join(LETTERS.get(str(each)) or ("i" if each.signed else "u") for each in kinds)


def _object(symbol: str, result: Any) -> bytes:
    """Compile a kernel, which numba has already optimized, and its entry to an object file for numba's processor.

    Raises:
        UnsupportedError: the code calls a function that is missing in a Python process.
    """
    from llvmlite import binding

    machine, (entry, kernel) = machine_of(Target(*result.library.codegen.magic_tuple())), captured(symbol, result).modules
    used = [name for name in HELPERS if f"@{name}(" in kernel]
    lines = [line for line in kernel.splitlines() if not (line.startswith("declare") and any(f"@{name}(" in line for name in used))]
    module = binding.parse_assembly("\n".join([*lines, *(HELPERS[name] for name in used)]))
    module.link_in(binding.parse_assembly(entry))
    hide(module, [symbol])
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, binding.create_pass_builder(machine, binding.create_pipeline_tuning_options()))
    python = [each.name for each in module.functions if each.name.startswith("Py")]
    need_no_library(module, ALLOWED | MATHEMATICS | {*python})
    return bytes(machine.emit_object(module))


def folder(levels: Mapping[str, Sequence[NativeKernel]]) -> dict[str, bytes]:
    """The files of the folder, by name, without the extension.

    Args:
        levels: the kernels of each level.

    Raises:
        UnsupportedError: the levels have different kernels.
    """
    members = [{kernel.key: (kernel.symbol, kernel.results, kernel.releases) for kernel in kernels} for kernels in levels.values()]
    if any(each != members[0] for each in members):
        raise UnsupportedError(f"the kernels of {', '.join(levels)} are different; expected the same kernels for each level")
    sources = sorted({name for kernels in levels.values() for kernel in kernels for name in kernel.sources})
    manifest = {"abi": native.ABI, "sources": sources, "digest": native.digest_of(sources), "kernels": dict(sorted(members[0].items()))}
    libraries = {f"{level}.so": _library(_variable(level), *(each.code for each in kernels)) for level, kernels in levels.items()}
    return {"manifest.json": json.dumps(manifest, indent=1).encode(), **libraries}


def _variable(level: str) -> bytes:
    """The object file of the variable `fst.core.native.CHARACTERS`."""
    from llvmlite import binding

    machine = machine_of(target_of(level))
    return bytes(machine.emit_object(binding.parse_assembly(f"@{native.CHARACTERS} = global i64 0")))


def need_linker() -> None:
    """Raise an error if no linker for ELF is installed.

    Raises:
        UnsupportedError: gcc is not found.
    """
    if not which(LINKER[0]):
        raise UnsupportedError(f"{LINKER[0]} is not found; expected the compiler that also builds fst/core/calls.c; install it")


def _library(*codes: bytes) -> bytes:
    """Link object files to a shared library without dependencies. The functions that the library calls are in the process that loads it."""
    with TemporaryDirectory() as folder:
        sources, output = [Path(folder, f"{number}.o") for number in range(len(codes))], Path(folder, "linked")
        for source, code in zip(sources, codes, strict=True):
            source.write_bytes(code)
        done = subprocess.run([*LINKER, *sources, "-o", output], capture_output=True, text=True, check=False)
        if done.returncode:
            raise UnsupportedError(f"{LINKER[0]} failed: {done.stderr.strip()}")
        return output.read_bytes()


def write(levels: Mapping[str, Sequence[NativeKernel]], path: Path) -> None:
    """Write the `folder`, which may exist; other files in it are kept."""
    files = folder(levels)
    path.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (path / name).write_bytes(data)
