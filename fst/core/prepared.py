"""Calls of kernels that are prepared once, so that another kernel can make them many times without Python.

A call from Python unpacks some 40 arrays each time, and a text needs several calls. A prepared call is one array of 64-bit words instead::

    address of an entry | argument 1 | argument 2 | …          an array is its address and the length of each axis, a tuple its elements

The entry is a small function of machine code, which loads the words and calls the kernel. `fst.runtime.kernels.objects.run` calls it. A
native kernel has an entry (`fst.core.native`). For any other kernel, the entry is compiled in 10 ms, and not cached on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.lazy import Lazy

FAILED = 2**64 - 1  # the result of a prepared call of a kernel that raised an exception; the exception itself is lost
_numbers = count()


class PreparedCall:
    """A call of a kernel with fixed arguments. The kernel is compiled for these arguments when `words` are first read.

    Args:
        kernel: the kernel.
        arguments: the arguments. Arrays must stay the same, but their elements may change from call to call.

    Attributes:
        kernel, arguments: the arguments of this class.
        words: uint64[n], the argument of `fst.runtime.kernels.objects.run`. The words are valid as long as this object exists.
    """

    def __init__(self, kernel: Deferred, *arguments: Any) -> None:
        self.kernel, self.arguments = kernel, arguments
        self._function = lambda: kernel.call(*arguments)

    @Lazy
    def words(self) -> NDArray[np.uint64]:
        """The words of the call."""
        self.kernel.prepare(*self.arguments)
        return np.array([self._entry, *words(self.arguments)], np.uint64)

    @property
    def _entry(self) -> int:
        """The address of the kernel's entry. Without native code and numba, `run` is a Python function that calls this object."""
        return self.kernel.entry or (_entry_of(self.kernel).address if self.kernel.result else id(self._function))


def words(argument: Any) -> Iterator[int]:
    """The words of an argument, in the order in which compiled code takes them."""
    if isinstance(argument, tuple):
        for each in argument:
            yield from words(each)
    elif isinstance(argument, np.ndarray):
        yield argument.__array_interface__["data"][0]
        yield from argument.shape
    elif isinstance(argument, float):
        yield int(np.float64(argument).view(np.uint64))
    else:
        yield index(argument) & FAILED


@cache
def _entry_of(kernel: Deferred) -> Entry:
    """The entry of a kernel, which is compiled once per process."""
    return Entry(kernel.result)


class Entry:
    """A function ``uint64 entry(uint64 *words)`` that calls a kernel.

    Args:
        result: numba's result of the compilation of the kernel.

    Attributes:
        address: the address of the function; it is valid as long as this object exists.
    """

    def __init__(self, result: Any) -> None:
        from numba.core.compiler_lock import global_compiler_lock

        with global_compiler_lock:
            self._kernel, name = result, f"fst_entry_{next(_numbers)}"
            self._library = result.target_context.codegen().create_library(name)
            module = self._library.create_ir_module(name)
            generate_entry(module, name, result, _at_address)
            self._library.add_ir_module(module)
            self._library.finalize()
            self.address: int = self._library.get_pointer_to_function(name)


def generate_entry(module: Any, name: str, result: Any, kernel: Callable[..., Any]) -> None:
    """Generate the code of an entry. The first two arguments of a kernel's machine code are outputs: the result, and the exception.

    The entry returns the kernel's result as a word: a number, extended to 64 bits; the bits of a double; the address of an object; 0 for no
    result, or for a tuple; `FAILED` after an exception. If word 0 is 0 instead of an address, as in calls from Python, the entry writes
    1 to it after an exception, and the elements of a tuple replace the words after it; there must be a word for each element.

    Args:
        module, name: the module, and the name of the entry in it.
        result: numba's result of the compilation of the kernel.
        kernel: a function of the code builder, the type of the kernel's machine code, and `result`; it returns a pointer to this code.
    """
    from llvmlite import ir

    of, word = result.fndesc, ir.IntType(64)
    kind = result.target_context.call_conv.get_function_type(of.restype, of.argtypes)
    function = ir.Function(module, ir.FunctionType(word, [word.as_pointer()]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    returned, raised = (builder.alloca(pointer.pointee) for pointer in kind.args[:2])
    loaded = (builder.load(builder.gep(function.args[0], [word(place)])) for place in range(1, len(kind.args) - 1))
    values = [_argument(builder, value, to) for value, to in zip(loaded, kind.args[2:], strict=True)]
    status = builder.call(kernel(builder, kind, result), [returned, raised, *values])
    has_failed, found = builder.icmp_unsigned("!=", status, status.type(0)), builder.load(returned)
    elements = [*of.restype] if isinstance(found.type, ir.BaseStructType | ir.ArrayType) else []
    with builder.if_then(builder.icmp_unsigned("==", builder.load(function.args[0]), word(0))):
        builder.store(builder.zext(has_failed, word), function.args[0])
        for place, each in enumerate(elements):
            element = _result(builder, builder.extract_value(found, place), each)
            builder.store(element, builder.gep(function.args[0], [word(1 + place)]))
    value = word(0) if elements else _result(builder, found, of.restype)
    builder.ret(builder.select(has_failed, word(FAILED), value))


def _at_address(builder: Any, kind: Any, result: Any) -> Any:
    """Generate the address of a kernel of this process."""
    from llvmlite import ir

    address = ir.IntType(64)(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
    return builder.inttoptr(address, kind.as_pointer())


def _argument(builder: Any, word: Any, to: Any) -> Any:
    """Generate code that converts a word to an argument."""
    from llvmlite import ir

    if to.is_pointer:
        return builder.inttoptr(word, to)
    return builder.bitcast(word, to) if isinstance(to, ir.DoubleType) else builder.trunc(word, to)


def _result(builder: Any, value: Any, kind: Any) -> Any:
    """Generate code that converts a result of a type of numba to a word."""
    from llvmlite import ir

    word = ir.IntType(64)
    if value.type.is_pointer:
        return builder.ptrtoint(value, word)
    if isinstance(value.type, ir.DoubleType):
        return builder.bitcast(value, word)
    return builder.sext(value, word) if getattr(kind, "signed", False) else builder.zext(value, word)
