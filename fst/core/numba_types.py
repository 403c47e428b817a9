"""The numba types of Python objects, and of arrays with named elements (`fst.core.fields`), whose attributes are read and written like
elements at a constant index.

Kernels need these types also without the private parts of numba (`fst.core.jit.PRIVATE`), so this module uses none of them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import from_dtype, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    box,
    infer_getattr,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from fst.core.fields import Fields


class Object(types.Opaque):
    """The numba type of Python objects, which object kernels take and return by address, without conversion.

    The caller must keep a reference to each argument during the call. A kernel returns a new reference. If a function of Python's C API has
    set an exception, the call raises it, whatever the kernel returns.
    """


OBJECT = Object("object")  # the name is part of the cache's key


def _unboxed(_kind: Object, argument: Any, _of: Any) -> NativeValue:
    return NativeValue(argument)


def _boxed(_kind: Object, value: Any, of: Any) -> Any:
    """Generate code that returns an object, or NULL if an exception is set."""
    builder = of.builder
    result = builder.alloca(value.type)
    builder.store(value, result)
    with builder.if_then(of.pyapi.c_api_error(), likely=False):
        of.pyapi.decref(value)
        builder.store(value.type(None), result)
    return builder.load(result)


class FieldsType(types.Array):
    """The type of arrays of a class. Numba's own type of arrays would have no names."""

    def __init__(self, of: type[Fields]) -> None:
        self.of, self.names = of, of.names
        word = from_dtype(of().dtype)
        types.Array.__init__(self, word, 1, "C", name=f"{of.__qualname__}({word}: {', '.join(of.names)})")  # in the cache's key

    @property
    def key(self) -> Any:
        """Equal only for arrays of one class."""
        return self.of

    def __repr__(self) -> str:
        return self.name


class Names(AttributeTemplate):
    """The types of attributes."""

    key = FieldsType

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]  # numba's own is a constant
        """The type of an element; None if no element has this name."""
        return kind.dtype if name in kind.names else None


def _address(context: Any, builder: Any, kind: Any, array: Any, name: str) -> Any:
    """Generate the address of an element. A number of 64 bits is the same in memory and in a register."""
    data = builder.extract_value(array, context.data_model_manager[kind].get_field_position("data"))
    return builder.gep(data, [ir.IntType(64)(kind.names.index(name))], inbounds=True)


def _read(context: Any, builder: Any, kind: Any, array: Any, name: str) -> Any:
    return builder.load(_address(context, builder, kind, array, name))


def _write(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> Any:
    kind, value = signature.args
    word = context.cast(builder, arguments[1], value, kind.dtype)
    return builder.store(word, _address(context, builder, kind, arguments[0], name))


def _type_of(fields: Any, _context: Any) -> Any:
    return FieldsType(type(fields))


def register(kind: type[FieldsType], model: Any) -> None:
    """Make numba read and write elements of arrays of a type. `model`: the type's data model, with a pointer ``data`` to the elements."""
    register_model(kind)(model)
    lower_getattr_generic(kind)(_read)
    lower_setattr_generic(kind)(_write)


infer_getattr(Names)
typeof_impl.register(Fields)(_type_of)
register(FieldsType, models.ArrayModel)
register_model(Object)(models.OpaqueModel)
unbox(Object)(_unboxed)
box(Object)(_boxed)
