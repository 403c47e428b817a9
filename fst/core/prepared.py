"""Calls of kernels that are prepared once, so that another kernel can make them many times without Python.

A call from Python unpacks some 40 arrays each time, and a text needs several calls. A prepared call is one array of 64-bit words instead::

    address of an entry | argument 1 | argument 2 | … | address of the kernel

An array is its address and the length of each axis, a tuple its elements. The entry is a small function of machine code, which loads the
words and calls the kernel. `fst.runtime.kernels.objects.run` calls it. Kernels that numba compiles share one entry if their types are the
same. It is compiled in 15 ms, and cached on disk. A native kernel has an entry of its own (`fst.core.native`), which does not read the last
word.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from hashlib import sha256
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.lazy import Lazy

FAILED = 2**64 - 1  # the result of a prepared call of a kernel that raised an exception; the exception itself is lost
_libraries: dict[bytes, Any] = {}  # key of an entry → the library of numba that contains it


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
        return np.array([self._entry, *words(self.arguments), _address_of(self.kernel.result)], np.uint64)

    @property
    def _entry(self) -> int:
        """The address of the kernel's entry. Without native code and numba, `run` is a Python function that calls this object."""
        return self.kernel.entry or (_entry_of(self.kernel.result) if self.kernel.result else id(self._function))


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


def _address_of(result: Any) -> int:
    """The address of a kernel; 0 if numba has not compiled it. `result`: numba's result of the compilation; None if there is none."""
    address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name) if result else 0
    return address


def _entry_of(result: Any) -> int:
    """The address of the entry of a kernel, a function ``uint64 entry(uint64 *words)``. `result`: numba's result of the compilation."""
    from numba.core.compiler_lock import global_compiler_lock

    from fst.core.kernel_cache import KernelCache, key_of

    codegen, kept = result.target_context.codegen(), KernelCache(generate_entry)
    key = key_of((result.fndesc.restype, *result.fndesc.argtypes), codegen)
    name = f"fst_entry_{sha256(key).hexdigest()[:16]}"
    with global_compiler_lock:
        if key not in _libraries:
            code = kept.load(key)
            _libraries[key] = codegen.unserialize_library(pickle.loads(code)) if code else _compiled(name, result)
            if code is None:
                kept.save(key, pickle.dumps(_libraries[key].serialize_using_object_code()))
        address: int = _libraries[key].get_pointer_to_function(name)
    return address


def _compiled(name: str, result: Any) -> Any:
    """Compile an entry; return the library of numba that contains it. `name`: the name of the entry. `result`: as in `_entry_of`."""
    library = result.target_context.codegen().create_library(name)
    library.enable_object_caching()
    module = library.create_ir_module(name)
    generate_entry(module, name, result, _in_last_word)
    library.add_ir_module(module)
    library.finalize()
    return library


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


def _in_last_word(builder: Any, kind: Any, _: Any) -> Any:
    """Generate code that reads the address of a kernel of this process from the last word of a prepared call."""
    from llvmlite import ir

    last = builder.gep(builder.function.args[0], [ir.IntType(64)(len(kind.args) - 1)])
    return builder.inttoptr(builder.load(last), kind.as_pointer())


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
