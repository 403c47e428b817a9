"""Calls of kernels that are prepared once, so that another kernel can make them many times without Python.

A call from Python unpacks some 40 arrays each time, and a text needs several calls. A prepared call is one array of 64-bit words instead::

    address of an entry | argument 1 | argument 2 | …          an array is its address and the length of each axis, a tuple its elements

The entry is a small function of machine code, which loads the words and calls the kernel; it takes 10 ms to compile, and is not cached on
disk. `fst.runtime.kernels.objects.run` calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import count
from operator import index
from typing import Any

import numpy as np

from fst.core.jit import Deferred

FAILED = 2**64 - 1  # the result of a prepared call of a kernel that raised an exception; the exception itself is lost
_numbers = count()


class PreparedCall:
    """A call of a kernel with fixed arguments. The kernel is compiled for them.

    Args:
        kernel: the kernel.
        arguments: the arguments. Arrays must stay the same, but their elements may change from call to call.

    Attributes:
        words: uint64[n], the argument of `fst.runtime.kernels.objects.run`. The call may be made as long as this object exists.
    """

    def __init__(self, kernel: Deferred, *arguments: Any) -> None:
        kernel.prepare(*arguments)
        self._kept = arguments, partial(kernel.call, *arguments)  # so that all addresses remain valid
        # Without numba's result, `run` is a function of Python, which calls the object at this address.
        entry = _entry_of(kernel).address if kernel.result else id(self._kept[1])
        self.words = np.array([entry, *_words(arguments)], np.uint64)


def _words(argument: Any) -> Iterator[int]:
    """The words of an argument, in the order in which compiled code takes them."""
    if isinstance(argument, tuple):
        for each in argument:
            yield from _words(each)
    elif isinstance(argument, np.ndarray):
        yield argument.__array_interface__["data"][0]
        yield from argument.shape
    else:
        yield index(argument)


@cache
def _entry_of(kernel: Deferred) -> Entry:
    """The entry of a kernel, which is compiled once per process."""
    return Entry(kernel.result)


class Entry:
    """A function ``uint64 entry(const uint64 *words)`` that calls a kernel.

    Args:
        result: numba's result of the compilation of the kernel.

    Attributes:
        address: the address of the function, which exists as long as this object.
    """

    def __init__(self, result: Any) -> None:
        from numba.core.compiler_lock import global_compiler_lock

        with global_compiler_lock:
            self._kernel, name = result, f"fst_entry_{next(_numbers)}"
            self._library = result.target_context.codegen().create_library(name)
            module = self._library.create_ir_module(name)
            _generate(module, name, result)
            self._library.add_ir_module(module)
            self._library.finalize()
            self.address: int = self._library.get_pointer_to_function(name)


def _generate(module: Any, name: str, result: Any) -> None:
    """Generate the code of an entry. The first two arguments of a kernel's machine code are outputs: the result, and the exception."""
    from llvmlite import ir

    kernel, word = result.fndesc, ir.IntType(64)
    kind = result.target_context.call_conv.get_function_type(kernel.restype, kernel.argtypes)
    function = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    returned, raised = (builder.alloca(pointer.pointee) for pointer in kind.args[:2])
    loaded = (builder.load(builder.gep(function.args[0], [word(place)])) for place in range(1, len(kind.args) - 1))
    values = [_converted(builder, value, to) for value, to in zip(loaded, kind.args[2:], strict=True)]
    address = word(result.library.get_pointer_to_function(kernel.llvm_func_name))
    status = builder.call(builder.inttoptr(address, kind.as_pointer()), [returned, raised, *values])
    is_number = isinstance(returned.type.pointee, ir.IntType)
    found = builder.zext(builder.load(returned), word) if is_number else word(0)
    builder.ret(builder.select(builder.icmp_unsigned("==", status, status.type(0)), found, word(FAILED)))


def _converted(builder: Any, value: Any, to: Any) -> Any:
    """Generate code that converts a word to an argument."""
    return builder.inttoptr(value, to) if to.is_pointer else builder.trunc(value, to)
