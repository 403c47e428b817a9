"""An intrinsic for kernels of every layer; `fst.runtime.kernels.intrinsics` has the intrinsics of texts."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from fst.core.jit import has_private_parts, part

PREFETCH = "llvm.prefetch.p0i8"
READ, KEEP, DATA = (ir.Constant(ir.IntType(32), number) for number in (0, 3, 1))


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, *(number.type for number in (READ, KEEP, DATA))])
    function = builder.module.globals.get(PREFETCH) or ir.Function(builder.module, kind, PREFETCH)
    builder.call(function, [builder.bitcast(builder.gep(array.data, [arguments[1]]), pointer), READ, KEEP, DATA])
    return context.get_dummy_value()


def _plain(_array: Any, _place: Any) -> None:
    """Do nothing, since a prefetch has no effect on results."""


# Fetch an element of an array into the processor's cache, (array, index).
if not vars(config)["DISABLE_JIT"] and has_private_parts():
    prefetch: Any = intrinsic(lambda _, array, place: (types.void(array, place), _generate))
else:
    prefetch = part(_plain)
