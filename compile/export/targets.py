"""The processors and systems for which kernels can be exported."""

from __future__ import annotations

from typing import NamedTuple

from fst.errors import UnsupportedError, not_one_of

WASM = "wasm32"


class Target(NamedTuple):
    """A processor of a system.

    Attributes:
        triple: LLVM's name of the system.
        cpu, features: LLVM's names of the processor and of additional instructions.
        relocation: LLVM's name of the kind of addresses: "pic" for code that a linker may place anywhere, also in a shared library.
    """

    triple: str
    cpu: str
    features: str = ""
    relocation: str = "pic"


# bulk-memory-opt: LLVM emits instructions instead of calls of memcpy and memset, functions that a module without imports lacks.
_WASM = "+simd128,+bulk-memory,+bulk-memory-opt,+sign-ext,+nontrapping-fptoint,+mutable-globals"

TARGETS = {
    WASM: Target("wasm32-unknown-unknown", "generic", _WASM, "static"),
    "x86-64": Target("x86_64-unknown-linux-gnu", "x86-64"),
    "x86-64-v2": Target("x86_64-unknown-linux-gnu", "x86-64-v2"),
    "x86-64-v3": Target("x86_64-unknown-linux-gnu", "x86-64-v3"),
    "x86-64-v4": Target("x86_64-unknown-linux-gnu", "x86-64-v4"),
    "aarch64": Target("aarch64-unknown-linux-gnu", "generic"),
    "armv7": Target("armv7-unknown-linux-gnueabihf", "generic", "+neon"),
    "riscv64": Target("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c"),
    "aarch64-macos": Target("arm64-apple-macosx11.0", "apple-m1"),
    "x86-64-macos": Target("x86_64-apple-macosx11.0", "x86-64-v2"),
    "x86-64-windows": Target("x86_64-pc-windows-msvc", "x86-64-v2"),
}


def target_of(name: str) -> Target:
    """Return the target with a name.

    Raises:
        UnsupportedError: no target has the name.
    """
    if name not in TARGETS:
        raise UnsupportedError(not_one_of("the processor", name, [*TARGETS]))
    return TARGETS[name]
