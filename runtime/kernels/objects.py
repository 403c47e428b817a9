"""Intrinsics for Python objects, and for prepared calls of kernels. The caller must hold the interpreter's lock.

`fst.runtime.kernels.plain_intrinsics` replaces these functions in the same way as the functions of `fst.runtime.kernels.intrinsics`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fst.core.numba_types import OBJECT
from fst.runtime.kernels.intrinsics import BYTE, GENERATED, INT, WORD, called, plain

ADDRESS = BYTE.as_pointer()
ENTRY = ir.FunctionType(WORD, [WORD.as_pointer()]).as_pointer()  # the type of the function of a prepared call
WORD_BYTES = 8
KINDS = {1: types.uint8, 2: types.uint16, 4: types.uint32}  # size of a character in bytes → type of a str's characters


def _of_row(name: str, result: Callable[[], Any], generate: Callable[..., Any]) -> Any:
    """Make an intrinsic with the arguments (address of a list, row), which reads an object of the list.

    `result` returns the type of the result. `generate` makes the code; its arguments are the context, the code builder and a pointer to the
    object.
    """
    if not GENERATED:
        return plain(name)

    def generated(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        rows, row = arguments
        return generate(context, builder, called(builder, "PyList_GetItem", ADDRESS, builder.inttoptr(rows, ADDRESS), row))

    return intrinsic(lambda _, _rows, _row: (result()(types.int64, types.int64), generated))


def _of(name: str, result: Callable[[], Any], kinds: Any, generate: Callable[..., Any]) -> Any:
    """Make an intrinsic with up to 8 arguments of the types `kinds`; `result` and `generate` are as in `_of_row`, with all arguments."""
    if not GENERATED:
        return plain(name)

    def generated(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return generate(context, builder, *arguments)

    def signature() -> Any:
        return result()(*kinds), generated

    made = {
        0: lambda _: signature(),
        1: lambda _, _a: signature(),
        3: lambda _, _a, _b, _c: signature(),
        4: lambda _, _a, _b, _c, _d: signature(),
        8: lambda _, _a, _b, _c, _d, _e, _f, _g, _h: signature(),
    }
    return intrinsic(made[len(kinds)])


def _length(function: str) -> Callable[..., Any]:
    """Generate a call of a C function that returns the length of an object. For another type, the function returns -1 and sets an
    exception, which is cleared.
    """

    def generate(_context: Any, builder: Any, row: Any) -> Any:
        length = called(builder, function, WORD, row)
        with builder.if_then(builder.icmp_signed("<", length, WORD(0)), likely=False):
            called(builder, "PyErr_Clear", ir.VoidType())
        return length

    return generate


def _array_of(size: int) -> Any:
    """Return the type of an array over the characters of a str, which have `size` bytes each."""
    from fst.core.borrowed import Borrowed

    return Borrowed(KINDS[size], 1)


def _characters_kind() -> Any:
    return types.Tuple([_array_of(size) for size in KINDS])


def _view(builder: Any, size: int, data: Any, length: Any) -> Any:
    """Make an array over the memory at an address."""
    from fst.core.borrowed import over

    return over(builder, _array_of(size), builder.bitcast(data, ir.IntType(8 * size).as_pointer()), (length,))


def _characters(context: Any, builder: Any, text: Any) -> Any:
    # numba is compiled with the headers of the running Python, so it reads the fields of a str correctly.
    _, data, length, kind, _, _ = context.get_python_api(builder).string_as_string_size_and_kind(text)
    lengths = {size: builder.select(builder.icmp_unsigned("==", kind, INT(size)), length, WORD(0)) for size in KINDS}
    return context.make_tuple(builder, _characters_kind(), [_view(builder, size, data, lengths[size]) for size in KINDS])


def _bytes(_context: Any, builder: Any, row: Any) -> Any:
    data, length = called(builder, "PyBytes_AsString", ADDRESS, row), called(builder, "PyBytes_Size", WORD, row)
    return _view(builder, 1, data, length)


def _run(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    words = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.call(builder.inttoptr(builder.load(words), ENTRY), [words])


def _exchange(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    words = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.atomic_rmw("xchg", words, arguments[1], "seq_cst")


def _store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    words = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    builder.store_atomic(arguments[1], words, "release", WORD_BYTES)
    return context.get_dummy_value()


def _release(_context: Any, builder: Any) -> Any:
    return builder.ptrtoint(called(builder, "PyEval_SaveThread", ADDRESS), WORD)


def _acquire(context: Any, builder: Any, thread: Any) -> Any:
    called(builder, "PyEval_RestoreThread", ir.VoidType(), builder.inttoptr(thread, ADDRESS))
    return context.get_dummy_value()


def _new_list(_context: Any, builder: Any, length: Any) -> Any:
    return called(builder, "PyList_New", ADDRESS, length)


def _put_tuple(context: Any, builder: Any, items: Any, place: Any, kind: Any, size: Any, last: Any, *numbers: Any) -> Any:
    made = called(builder, "PyType_GenericAlloc", ADDRESS, kind, WORD(len(numbers)))
    with builder.if_then(_exists(builder, made)):
        elements = builder.bitcast(builder.gep(made, [size]), ADDRESS.as_pointer())
        builder.store(builder.inttoptr(last, ADDRESS), builder.gep(elements, [WORD(-1)]))
        for index, number in enumerate(numbers):
            builder.store(called(builder, "PyLong_FromLongLong", ADDRESS, number), builder.gep(elements, [WORD(index)]))
        called(builder, "PyObject_GC_UnTrack", ir.VoidType(), made)
    with builder.if_then(_exists(builder, items)):
        called(builder, "PyList_SetItem", INT, items, place, made)
    return context.get_dummy_value()


def _put_made(function: str, *first: Any) -> Callable[..., Any]:
    """Generate a call of a C function that makes a str of the memory at an address, and put the str into a list."""

    def generate(context: Any, builder: Any, items: Any, place: Any, address: Any, length: Any) -> Any:
        last = [ADDRESS(None)] if not first else []
        made = called(builder, function, ADDRESS, *first, builder.inttoptr(address, ADDRESS), length, *last)
        called(builder, "PyList_SetItem", INT, items, place, made)
        return context.get_dummy_value()

    return generate


def _put_row(context: Any, builder: Any, items: Any, place: Any, rows: Any, row: Any) -> Any:
    given = called(builder, "PyList_GetItem", ADDRESS, builder.inttoptr(rows, ADDRESS), row)
    taken = called(builder, "PyUnicode_FromObject", ADDRESS, given)
    called(builder, "PyList_SetItem", INT, items, place, taken)
    return context.get_dummy_value()


def _exists(builder: Any, address: Any) -> Any:
    return builder.icmp_unsigned("!=", address, ADDRESS(None))


# Return the length of a str, and of a bytes object; -1 for other objects.
string_length = _of_row("string_length", lambda: types.int64, _length("PyUnicode_GetLength"))
bytes_length = _of_row("bytes_length", lambda: types.int64, _length("PyBytes_Size"))

# Return views of the characters of a str: arrays of uint8, uint16 and uint32, of which two are empty; and return a view of the contents of
# a bytes object, uint8[n].
characters = _of_row("characters", _characters_kind, _characters)
bytes_of = _of_row("bytes_of", lambda: _array_of(1), _bytes)

# Return the same views as `characters` for a str, which is the argument.
characters_of = _of("characters_of", _characters_kind, [OBJECT], _characters)

# Make a prepared call, see `fst.core.prepared`; return the kernel's result if this is a number, otherwise 0; `FAILED` if the call fails.
run = intrinsic(lambda _, words: (types.uint64(words), _run)) if GENERATED else plain("run")

# Replace the first word of an array by another word, atomically; return the replaced word. The second function writes the first word after
# all earlier reads and writes, so that a thread that then reads the word by `exchange` sees what was written.
exchange = intrinsic(lambda _, words, word: (types.uint64(words, word), _exchange)) if GENERATED else plain("exchange")
store = intrinsic(lambda _, words, word: (types.void(words, word), _store)) if GENERATED else plain("store")

# Release the interpreter's lock, and return a number, with which `acquire` takes the lock again.
release = _of("release", lambda: types.uint64, [], _release)
acquire = _of("acquire", lambda: types.void, [types.uint64], _acquire)

# Make a list of a length, and put a tuple of three numbers into it, (list, place, class of the tuple, the two results of
# `fst.core.native.tuple_form`, numbers). The garbage collector does not track the tuple, because numbers contain no references. If there is
# no memory, an exception is set, see `fst.core.numba_types`.
new_list = _of("new_list", lambda: OBJECT, [types.int64], _new_list)
put_tuple = _of("put_tuple", lambda: types.void, [OBJECT, types.int64, OBJECT, *[types.int64] * 5], _put_tuple)

# Put a str into a list, (list, place, address, length): made of UTF-8, or of UTF-16 without surrogates. The third function puts a str of
# another list, or a copy of an object of a subclass, into the list, (list, place, other list, row).
put_utf_8 = _of("put_utf_8", lambda: types.void, [OBJECT, *[types.int64] * 3], _put_made("PyUnicode_DecodeUTF8"))
put_utf_16 = _of("put_utf_16", lambda: types.void, [OBJECT, *[types.int64] * 3], _put_made("PyUnicode_FromKindAndData", INT(2)))
put_row = _of("put_row", lambda: types.void, [OBJECT, types.int64, types.int64, types.int64], _put_row)

# Return None.
nothing = _of("nothing", lambda: OBJECT, [], lambda context, builder: context.get_python_api(builder).make_none())
