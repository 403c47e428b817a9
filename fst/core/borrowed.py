"""A numba array type with only a data pointer and a shape. The caller must keep a reference to the array during the call.

For an ordinary array, numba reads at least seven fields in every call, and passes them from kernel to kernel. These fields cost more time
than encoding a short text, and more time to compile. The type of a borrowed array is not checked against the type for which the kernel was
compiled, see `fst.core.jit.Deferred`.

Kernels read and write items, lengths and shapes directly. For the other operations that kernels use (`WHOLE`), compiled code first makes an
ordinary array.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, typeof, types
from numba.core import cgutils
from numba.core.datamodel.registry import default_manager
from numba.extending import NativeValue, lower_builtin, lower_getattr, models, register_model, unbox
from numba.np.numpy_support import as_dtype

from fst.core.fields import Fields
from fst.core.numba_types import OBJECT, FieldsType, register

BYTE, INT, LENGTH = (ir.IntType(bits) for bits in (8, 32, 64))

# The first fields of an array in numpy's ABI: Python's object header, data pointer, number of axes, pointer to the shape.
NDARRAY = ir.LiteralStructType([ir.ArrayType(BYTE, object.__basicsize__), BYTE.as_pointer(), INT, LENGTH.as_pointer()])
DATA, SHAPE = 1, 3

# Operations on ordinary arrays → the types of each operation's arguments after the array.
WHOLE: list[tuple[Any, ...]] = [
    (operator.getitem, types.SliceType),
    (operator.setitem, types.SliceType, types.Any),
    ("getiter",),
    ("array.view", types.DTypeSpec),
]


class Borrowed(types.Array):
    """The numba type of a borrowed array. The array is C-contiguous, and the type does not depend on whether the array is writable."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        super().__init__(dtype, ndim, "C", name=f"borrowed({dtype}, {ndim}d)")  # numba's cache key contains the name

    @property
    def whole(self) -> Any:
        """The type of an ordinary array with the same items."""
        return types.Array(self.dtype, self.ndim, "C")

    @property
    def iterator_type(self) -> Any:
        """The type of an iterator over the array."""
        return types.ArrayIterator(self.whole)


class BorrowedFields(FieldsType, Borrowed):
    """The numba type of a borrowed array with named elements."""


class BorrowedModel(models.StructModel):
    """The data model of a borrowed array in compiled code."""

    def __init__(self, manager: Any, kind: Borrowed) -> None:
        model: Any = super()
        model.__init__(manager, kind, [("data", types.CPointer(kind.dtype)), ("shape", types.UniTuple(types.intp, kind.ndim))])


def kind_of(argument: Any) -> Any:
    """The numba type of an argument: `Borrowed` for an array, `OBJECT` for a str or a class; the type of a NamedTuple has field names."""
    if isinstance(argument, tuple):
        return types.BaseTuple.from_types(tuple(map(kind_of, argument)), type(argument))
    if isinstance(argument, str | type):
        return OBJECT
    if not isinstance(argument, np.ndarray):
        return typeof(argument)
    assert argument.flags.c_contiguous, f"an array of strides {argument.strides} cannot be borrowed: it must be C-contiguous"
    return BorrowedFields(type(argument)) if isinstance(argument, Fields) else Borrowed(from_dtype(argument.dtype), argument.ndim)


def over(builder: Any, kind: Borrowed, data: Any, shape: tuple[Any, ...]) -> Any:
    """Generate code that makes an array from a data pointer and a shape."""
    array = builder.insert_value(ir.Constant(default_manager[kind].get_value_type(), ir.Undefined), data, 0)
    for axis, length in enumerate(shape):
        array = builder.insert_value(array, length, (1, axis))
    return array


def _unboxed(kind: Borrowed, argument: Any, of: Any) -> NativeValue:
    """Generate code that makes a borrowed array from a numpy array."""
    builder = of.builder
    array = builder.bitcast(argument, NDARRAY.as_pointer())
    data, lengths = (builder.load(builder.gep(array, [INT(0), INT(field)], inbounds=True)) for field in (DATA, SHAPE))
    pointer, _ = default_manager[kind].get_value_type().elements
    shape = tuple(builder.load(builder.gep(lengths, [INT(axis)], inbounds=True)) for axis in range(kind.ndim))
    return NativeValue(over(builder, kind, builder.bitcast(data, pointer), shape))


def _shape(builder: Any, kind: Borrowed, array: Any) -> list[Any]:
    return [builder.extract_value(array, (1, axis)) for axis in range(kind.ndim)]


def _length(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """Generate the length of the first axis."""
    return builder.extract_value(arguments[0], (1, 0))


def _read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Generate code that reads an item; if the index selects more than one item, a view of these items."""
    kind, index = signature.args
    if not _is_of_item(kind, index):
        return _of_whole(operator.getitem)(context, builder, signature, arguments)
    return context.unpack_value(builder, kind.dtype, _address(context, builder, signature, arguments))


def _write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Generate code that writes an item, or all items that the index selects."""
    kind, index, value = signature.args
    if not _is_of_item(kind, index):
        return _of_whole(operator.setitem)(context, builder, signature, arguments)
    item = context.cast(builder, arguments[2], value, kind.dtype)
    return context.pack_value(builder, kind.dtype, item, _address(context, builder, signature, arguments))


def _is_of_item(kind: Borrowed, index: Any) -> bool:
    """Whether an index of this type selects one item."""
    kinds = _index_kinds(index)
    return len(kinds) == kind.ndim and all(isinstance(each, types.Integer) for each in kinds)


def _index_kinds(index: Any) -> list[Any]:
    of_any: Any = index
    return [*of_any] if isinstance(index, types.BaseTuple) else [index]


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Generate the address of an item. A negative index counts from the end."""
    kind, index = signature.args[:2]
    array, at = arguments[:2]
    indices = cgutils.unpack_tuple(builder, at, kind.ndim) if isinstance(index, types.BaseTuple) else [at]
    place = LENGTH(0)
    for axis, (each, given, length) in enumerate(zip(_index_kinds(index), indices, _shape(builder, kind, array), strict=True)):
        number = context.cast(builder, given, each, types.intp if each.signed else types.uintp)
        if each.signed:
            number = builder.select(builder.icmp_signed("<", number, LENGTH(0)), builder.add(number, length), number)
        if context.enable_boundscheck:
            cgutils.do_boundscheck(context, builder, number, length, axis)
        place = builder.add(builder.mul(place, length), number)
    return builder.gep(builder.extract_value(array, 0), [place])


def _whole(context: Any, builder: Any, kind: Borrowed, array: Any) -> Any:
    """Generate code that makes an ordinary array."""
    shape = _shape(builder, kind, array)
    items, itemsize, strides = LENGTH(1), LENGTH(as_dtype(kind.dtype).itemsize), list[Any]()
    for length in reversed(shape):
        strides.insert(0, builder.mul(items, itemsize))
        items = builder.mul(items, length)
    made: Any = cgutils.create_struct_proxy(kind.whole)(context, builder)
    made.data, made.nitems, made.itemsize = builder.extract_value(array, 0), items, itemsize
    made.shape, made.strides = (cgutils.pack_array(builder, lengths, LENGTH) for lengths in (shape, strides))
    return made._getvalue()


def _of_whole(operation: Any) -> Any:
    """A generator of code for an operation on an ordinary array."""

    def generated(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        of_whole = signature.return_type(kind.whole, *signature.args[1:])
        return context.get_function(operation, of_whole)(builder, (_whole(context, builder, kind, arguments[0]), *arguments[1:]))

    return generated


def _attribute_of_whole(name: str) -> Any:
    """A generator of code for an attribute of an ordinary array."""

    def generated(context: Any, builder: Any, kind: Any, array: Any) -> Any:
        return context.get_getattr(kind.whole, name)(context, builder, kind.whole, _whole(context, builder, kind, array), name)

    return generated


register_model(Borrowed)(BorrowedModel)
register(BorrowedFields, BorrowedModel)
unbox(Borrowed)(_unboxed)
lower_builtin(len, Borrowed)(_length)
for index_kind in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, Borrowed, index_kind)(_read)
    lower_builtin(operator.setitem, Borrowed, index_kind, types.Any)(_write)
for called, *kinds in WHOLE:
    lower_builtin(called, Borrowed, *kinds)(_of_whole(called))
for attribute in ("size", "itemsize"):
    lower_getattr(Borrowed, attribute)(_attribute_of_whole(attribute))
