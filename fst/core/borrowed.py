"""A numba array type with only a data pointer and a shape. The caller must keep a reference to the array during the call.

For an ordinary array, numba reads at least seven fields in every call, and passes them from kernel to kernel. That takes longer than
encoding a short text. The type of a borrowed array is not checked against the type for which the kernel was compiled, see
`fst.core.jit.Deferred`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, typeof, types
from numba.core.datamodel.registry import default_manager
from numba.extending import NativeValue, models, register_model, unbox
from numba.np.numpy_support import as_dtype

from fst.core.objects import OBJECT

BYTE, INT, LENGTH = (ir.IntType(bits) for bits in (8, 32, 64))

# The first fields of an array in numpy's ABI: Python's object header, data pointer, number of axes, pointer to the shape.
NDARRAY = ir.LiteralStructType([ir.ArrayType(BYTE, object.__basicsize__), BYTE.as_pointer(), INT, LENGTH.as_pointer()])
DATA, SHAPE = 1, 3


class Borrowed(types.Array):
    """The numba type of a borrowed array. The array is C-contiguous, and the type does not depend on whether it is writable."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        super().__init__(dtype, ndim, "C", name=f"borrowed({dtype}, {ndim}d)")  # the name is part of the cache's key


class BorrowedModel(models.ArrayModel):
    """The data model of a borrowed array in compiled code. The model has all fields of numba's array model, but kernels pass only the
    `PASSED` fields and compute the other fields from them.
    """

    PASSED = "data", "shape"

    def get_argument_type(self) -> Any:
        """The types of the passed fields."""
        return tuple(self.get_model(self.get_field_position(name)).get_argument_type() for name in self.PASSED)

    def as_argument(self, builder: Any, value: Any) -> Any:
        """The passed fields of an array."""
        return tuple(
            self.get_model(position).as_argument(builder, self.get(builder, value, position))
            for position in map(self.get_field_position, self.PASSED)
        )

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Rebuild an array from its passed fields."""
        data, shape = value
        no_owner, itemsize, items = ir.Constant(BYTE.as_pointer(), None), LENGTH(as_dtype(self._fe_type.dtype).itemsize), LENGTH(1)
        strides: list[Any] = []
        for length in reversed(shape):
            strides.insert(0, builder.mul(items, itemsize))
            items = builder.mul(items, length)
        any_array: Any = super()
        return any_array.from_argument(builder, (no_owner, no_owner, items, itemsize, data, shape, tuple(strides)))


def kind_of(argument: Any) -> Any:
    """The numba type of an argument. The type of an array is `Borrowed`, and of a str or a class `OBJECT`; the type of a NamedTuple
    includes the names of its fields.
    """
    if isinstance(argument, tuple):
        return types.BaseTuple.from_types(tuple(map(kind_of, argument)), type(argument))
    if isinstance(argument, str | type):
        return OBJECT
    if not isinstance(argument, np.ndarray):
        return typeof(argument)
    assert argument.flags.c_contiguous, f"an array of strides {argument.strides} cannot be borrowed: it must be C-contiguous"
    return Borrowed(from_dtype(argument.dtype), argument.ndim)


def over(builder: Any, kind: Borrowed, data: Any, shape: tuple[Any, ...]) -> Any:
    """Generate code that makes an array from a data pointer and a shape."""
    return default_manager[kind].from_argument(builder, (data, shape))


def _unboxed(kind: Borrowed, argument: Any, of: Any) -> NativeValue:
    """Generate code that makes a borrowed array from a numpy array."""
    builder = of.builder
    array = builder.bitcast(argument, NDARRAY.as_pointer())
    data, lengths = (builder.load(builder.gep(array, [INT(0), INT(field)], inbounds=True)) for field in (DATA, SHAPE))
    pointer, _ = default_manager[kind].get_argument_type()
    shape = tuple(builder.load(builder.gep(lengths, [INT(axis)], inbounds=True)) for axis in range(kind.ndim))
    return NativeValue(over(builder, kind, builder.bitcast(data, pointer), shape))


register_model(Borrowed)(BorrowedModel)
unbox(Borrowed)(_unboxed)
