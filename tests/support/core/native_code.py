"""Native code of the kernels that a program calls: the folder ``fst/native`` of a release, for the processor of the tests."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir

from fst.core import native
from fst.core.jit import Deferred
from fst.core.kernel_cache import sources_of
from fst.core.prepared import generate_entry

MISSING = [tool for tool in ("gcc", "ld.lld") if not which(tool)]
IS_OLD = not hasattr(llvm, "create_new_module_pass_manager")
OBSTACLE = f"native code needs {', '.join(MISSING)}" if MISSING else "this llvmlite has typed pointers" * IS_OLD  # empty if there is none

LETTERS = {"none": "n", "bool": "b", "float64": "d", "object": "o"}
# What numba's library of helpers provides, as LLVM code.
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


class Captured(NamedTuple):
    """A kernel that numba has compiled.

    Attributes:
        key: its key in the manifest.
        function: numba's dispatcher.
        result: numba's result of the compilation.
    """

    key: str
    function: Any
    result: Any


@contextmanager
def captured() -> Iterator[list[Captured]]:
    """Collect all kernels that are compiled, or read from the cache, in this context."""
    found: list[Captured] = []
    prepare: Any = Deferred.prepare

    def prepare_and_keep(self: Any, *arguments: Any) -> None:
        was_ready = self.is_ready
        prepare(self, *arguments)
        if not was_ready and self.result:
            function = getattr(sys.modules[self.module], self.name)
            found.append(Captured(native.key_of(self.module, self.name, arguments), function, self.result))

    Deferred.prepare = prepare_and_keep  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Deferred.prepare = prepare  # type: ignore[method-assign]


def write_folder(kernels: list[Captured], folder: Path) -> None:
    """Write the folder, with the library for the best level of this processor."""
    folder.mkdir()
    machine = _target_machine(kernels[0].result)
    entries = dict[str, list[Any]]()
    objects = []
    for number, kernel in enumerate(kernels):
        symbol = f"fst_{number}"
        releases = bool(kernel.function.targetoptions.get("nogil"))
        entries[kernel.key] = [symbol, _results(kernel.result.signature.return_type), releases]
        path = folder / f"{symbol}.o"
        path.write_bytes(machine.emit_object(_module(symbol, kernel.result)))
        objects.append(path)
    variable = folder / "variable.o"
    variable.write_bytes(machine.emit_object(llvm.parse_assembly(f"@{native.CHARACTERS} = global i64 0")))
    library = folder / f"{native.levels_of(native.CPU_INFO)[0]}.so"
    subprocess.run(["ld.lld", "-shared", "-o", library, variable, *objects], check=True)
    for path in (variable, *objects):
        path.unlink()
    sources = sorted({name for kernel in kernels for name in _modules(kernel.function.py_func.__code__.co_filename)})
    manifest = {"abi": native.ABI, "sources": sources, "digest": native.digest_of(sources), "kernels": entries}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    compile_extension(folder)


def compile_extension(folder: Path) -> None:
    """Compile the extension that calls kernels."""
    source, include = Path(native.__file__).with_name("calls.c"), sysconfig.get_paths()["include"]
    command = ["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(folder / "calls.abi3.so")]
    subprocess.run(command, check=True)


def _modules(source: str) -> set[str]:
    """The names of the modules on whose text the kernels of a file depend."""
    names = {getattr(module, "__file__", None): name for name, module in [*sys.modules.items()] if name.startswith("fst.")}
    return {names[path] for path in sources_of(source) if path in names}


def _target_machine(result: Any) -> Any:
    """LLVM's description of the processor for which numba has compiled a kernel."""
    triple, name, features = result.library.codegen.magic_tuple()
    return llvm.Target.from_triple(triple).create_target_machine(cpu=name, features=features, opt=3, reloc="pic", codemodel="default")


def _results(kind: Any) -> str:
    """The letters of a type of results, see `fst.core.native`."""
    kinds = getattr(kind, "types", None) or [kind]
    return "".join(LETTERS.get(str(each)) or ("i" if each.signed else "u") for each in kinds)


def _module(symbol: str, result: Any) -> Any:
    """The kernel and its entry, in a module without other visible functions."""
    entry = ir.Module("entry")
    entry.triple = llvm.get_default_triple()
    generate_entry(entry, symbol, result, lambda builder, kind, result: ir.Function(builder.module, kind, result.fndesc.llvm_func_name))
    text = str(result.library._get_module_for_linking())
    used = [name for name in HELPERS if f"@{name}(" in text]
    lines = [line for line in text.splitlines() if not (line.startswith("declare") and any(f"@{name}(" in line for name in used))]
    module = llvm.parse_assembly("\n".join([*lines, *(HELPERS[name] for name in used)]))
    module.link_in(llvm.parse_assembly(str(entry)))
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != symbol:
            each.linkage = llvm.Linkage.internal
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(_target_machine(result), llvm.create_pipeline_tuning_options()))
    return module
