"""Arrays that are lent to a kernel: it takes from them where the elements are and how many there are, and nothing else.

Numba asks numpy to take apart each array of each call, and hands seven fields of it from kernel to kernel; for as many arrays as there are
that takes longer than a short text. Borrowed ones are not even looked at whether they are of the type that the kernel is compiled for.
Nothing is kept: the caller holds the arrays while it runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core.cgutils import gep_inbounds
from numba.extending import NativeValue, models, register_model, unbox
from numba.np.numpy_support import as_dtype, from_dtype

BYTE, INT, LENGTH = (ir.IntType(bits) for bits in (8, 32, 64))

# What numpy's ABI has at the beginning of an array: Python's own part, elements, number of axes, their lengths.
NDARRAY = ir.LiteralStructType([ir.ArrayType(BYTE, object.__basicsize__), BYTE.as_pointer(), INT, LENGTH.as_pointer()])
ELEMENTS, LENGTHS = 1, 3


class Borrowed(types.Array):
    """Numba's type of an array that is lent, in the order of C. Whether it may be written to is not told."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        super().__init__(dtype, ndim, "C", name=f"lent({dtype}, {ndim}d)")  # kept kernels are found by the names of types


class BorrowedModel(models.ArrayModel):
    """What compiled code has of it: the same as of any array, most of which follows from what is handed over."""

    HANDED_OVER = "data", "shape"

    def get_argument_type(self) -> Any:
        """The types of what is handed over from kernel to kernel."""
        return tuple(self.get_model(self.get_field_position(name)).get_argument_type() for name in self.HANDED_OVER)

    def as_argument(self, builder: Any, value: Any) -> Any:
        """What is handed over, of an array."""
        return tuple(
            self.get_model(place).as_argument(builder, self.get(builder, value, place))
            for place in map(self.get_field_position, self.HANDED_OVER)
        )

    def from_argument(self, builder: Any, value: Any) -> Any:
        """The array, from what is handed over."""
        data, shape = value
        no_owner, itemsize, items = ir.Constant(BYTE.as_pointer(), None), LENGTH(as_dtype(self._fe_type.dtype).itemsize), LENGTH(1)
        strides: list[Any] = []
        for length in reversed(shape):
            strides.insert(0, builder.mul(items, itemsize))
            items = builder.mul(items, length)
        any_array: Any = super()
        return any_array.from_argument(builder, (no_owner, no_owner, items, itemsize, data, shape, tuple(strides)))


def kind_of(argument: Any) -> Any:
    """Numba's type of an argument, in which every array is borrowed. A kernel reads the fields of a NamedTuple by name."""
    if isinstance(argument, tuple):
        return types.BaseTuple.from_types(tuple(map(kind_of, argument)), type(argument))
    if not isinstance(argument, np.ndarray):
        return typeof(argument)
    assert argument.flags.c_contiguous, f"an array of strides {argument.strides} cannot be lent"
    return Borrowed(from_dtype(argument.dtype), argument.ndim)


def _taken_apart(kind: Borrowed, argument: Any, of: Any) -> NativeValue:
    """Code that makes an array from one of numpy."""
    builder, model = of.builder, of.context.data_model_manager[kind]
    array = builder.bitcast(argument, NDARRAY.as_pointer())
    elements, lengths = (builder.load(gep_inbounds(builder, array, 0, place)) for place in (ELEMENTS, LENGTHS))
    pointer, _ = model.get_argument_type()
    shape = tuple(builder.load(gep_inbounds(builder, lengths, axis)) for axis in range(kind.ndim))
    return NativeValue(model.from_argument(builder, (builder.bitcast(elements, pointer), shape)))


register_model(Borrowed)(BorrowedModel)
unbox(Borrowed)(_taken_apart)
