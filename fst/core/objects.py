"""A numba type for Python objects, which object kernels take and return by address, without conversion.

The caller must keep a reference to each argument during the call. A kernel returns a new reference. If a function of Python's C API has set
an exception, the call raises it, whatever the kernel returns.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import NativeValue, box, models, register_model, unbox


class Object(types.Opaque):
    """The numba type of any Python object."""


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


register_model(Object)(models.OpaqueModel)
unbox(Object)(_unboxed)
box(Object)(_boxed)
