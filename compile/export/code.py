"""Machine code of a module: a few kernels, each called by its number.

An object defines two functions and a constant::

    uint64_t fst_run(const uint64_t *words);   words[0] is the number of a kernel, from 1, and the other words are its arguments
    uint64_t fst_abi(void);                    the number of the module, a digest of the kernels and the types of their arguments
    const uint8_t fst_forms[];                 the forms of all arguments, see `fst.compile.export.program.Module.forms`

An object needs no library. The words of a call are those of `fst.core.prepared`, with the number of the kernel instead of an address. A
module for WebAssembly has no `fst_forms`, because its kernels reach only its own memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from fst.compile.export.capture import Captured
from fst.compile.export.targets import Target
from fst.core.prepared import FAILED
from fst.errors import UnsupportedError

EXPORTED = ("fst_run", "fst_abi")
FORMS = "fst_forms"
ALLOWED = {"memcpy", "memmove", "memset"}  # functions that every C library has, and that LLVM may call by itself
HOST = re.compile(r'"(?:target-cpu|target-features|tune-cpu)"="[^"]*"')


def object_of(kernels: Sequence[Captured], abi: int, forms: bytes, target: Target) -> bytes:
    """Compile a module to an object file for a target.

    Args:
        kernels: its kernels.
        abi, forms: see `fst.compile.export.program.Module`.
        target: the target.

    Raises:
        UnsupportedError: the code calls a function of a library.
    """
    machine = machine_of(target)
    module = _linked(kernels, abi, forms)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    hide(module, (*EXPORTED, FORMS))
    module.verify()
    optimize(module, machine)
    need_no_library(module, ALLOWED)
    return bytes(machine.emit_object(module))


def machine_of(target: Target) -> Any:
    """LLVM's compiler for a target."""
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc=target.relocation, codemodel="default"
    )


def _linked(kernels: Sequence[Captured], abi: int, forms: bytes) -> Any:
    """Link all kernels, the functions and the constant of the program into one module."""
    from llvmlite import binding

    module = binding.parse_assembly(_dispatcher([each.entry for each in kernels], abi, forms))
    for text in dict.fromkeys(text for each in kernels for text in each.modules):
        module.link_in(binding.parse_assembly(HOST.sub("", text)))
    return module


def _dispatcher(entries: Sequence[str], abi: int, forms: bytes) -> str:
    """The functions `EXPORTED` and the constant `FORMS` as LLVM IR."""
    cases = "".join(f" i64 {number}, label %{name}" for number, name in enumerate(entries, 1))
    blocks = [f"{name}:\n  %r_{name} = call i64 @{name}(ptr %words)\n  ret i64 %r_{name}" for name in entries]
    constant = "".join(f"\\{byte:02X}" for byte in forms)
    lines = [
        f'@{FORMS} = constant [{len(forms)} x i8] c"{constant}"',
        *(f"declare i64 @{name}(ptr)" for name in entries),
        f"define i64 @fst_abi() {{\n  ret i64 {abi}\n}}",
        "define i64 @fst_run(ptr %words) {",
        f"  %kernel = load i64, ptr %words\n  switch i64 %kernel, label %unknown [{cases} ]",
        *blocks,
        f"unknown:\n  ret i64 {FAILED}\n}}",
    ]
    return "\n".join(lines)


def hide(module: Any, exported: Collection[str]) -> None:
    """Make everything internal except some functions, so that unused code, such as numba's wrappers for Python, is dropped. Long names of
    parts, which contain numba's counters, are replaced.
    """
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in exported:
            each.linkage, each.name = "internal", "part"


def need_no_library(module: Any, allowed: Collection[str]) -> None:
    """Raise an error if the code of a module calls functions that are not allowed.

    Raises:
        UnsupportedError: the code calls a function that is not allowed.
    """
    missing = {each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")}.difference(allowed)
    if missing:
        raise UnsupportedError(f"the kernels call {', '.join(sorted(missing))}; expected code that needs no library")


def optimize(module: Any, machine: Any) -> None:
    """Optimize a module for the processor of `machine`."""
    from llvmlite import binding

    options = binding.PipelineTuningOptions(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
