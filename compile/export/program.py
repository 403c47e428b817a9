"""Programs: the calls of kernels that encode one text, in a form that any host can execute.

A program is derived from prepared calls (`fst.core.prepared`) for texts of three sizes. Arrays that all sizes share belong to the table;
all other arrays are working memory, whose size is a constant plus a multiple of the size of the text. Numbers in calls are also a constant
plus a multiple of the size of the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, pairwise
from operator import and_, index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core import native
from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall

Array = NDArray[Any]
WRITES, ITEM_SHIFT = 8, 4  # of forms
ENDS = 0xFF  # the form after the last argument of a kernel
SIZES = (1 << 10, 1 << 11, 1 << 13)  # the three sizes of texts for which calls are prepared, in units


class Variant(NamedTuple):
    """The prepared calls for texts of one size.

    Attributes:
        units: the maximum number of units of a text.
        roles: the arrays that a host reads or writes, by role.
        calls: the calls by name; None for a call that the program does not make.
    """

    units: int
    roles: Mapping[str, Array]
    calls: Mapping[str, PreparedCall | None]


class Linear(NamedTuple):
    """A number that depends on the size of the text: ``constant + per_unit * units``."""

    constant: int
    per_unit: int


class Field(NamedTuple):
    """An array of a program.

    Attributes:
        stored: the contents; None for an array that a call builds, and for working memory, which is initially zero.
        size: the number of bytes.
        is_built: whether a call builds the contents when the image is loaded.
    """

    stored: Array | None
    size: Linear
    is_built: bool


class Word(NamedTuple):
    """A word of a call: the address of a field, or a number.

    Attributes:
        field: the index of the field; -1 for a number.
        value: the number; 0 for an address.
    """

    field: int
    value: Linear


class Module(NamedTuple):
    """The kernels of one or more programs.

    Attributes:
        kernels: for each kernel, a text of the kernel and of the types of its arguments, and the forms of its arguments in the order of
            their words. A form is 0 for a number. For an array, bits 0 to 2 are the number of axes, bit 3 is 1 if the kernel may write to
            it, and bits 4 to 7 are the number of bytes of an element. With these forms, a host checks that the arrays of an image lie
            within its memory.
    """

    kernels: Mapping[str, bytes]

    @property
    def abi(self) -> int:
        """The number of the interface: a digest of the keys of `kernels` in 63 bits."""
        return int.from_bytes(sha256(repr([*self.kernels]).encode()).digest()[:8], "little") >> 1

    @property
    def forms(self) -> bytes:
        """The forms of all arguments, with `ENDS` after each kernel and once more after the last."""
        return bytes([*chain.from_iterable([*forms, ENDS] for forms in self.kernels.values()), ENDS])

    def runs(self, other: Module) -> bool:
        """Whether this module has all kernels of another one, and may write to no other arrays."""
        return all(_is_part(self.kernels.get(key), forms) for key, forms in other.kernels.items())


def joined(modules: Iterable[Module]) -> Module:
    """A module with the kernels of several modules, in the order of their keys. An argument is writable if it is writable in all."""
    found: dict[str, bytes] = {}
    for key, forms in chain.from_iterable(module.kernels.items() for module in modules):
        found[key] = bytes(map(and_, found.get(key, forms), forms))
    return Module(dict(sorted(found.items())))


def _is_part(forms: bytes | None, of: bytes) -> bool:
    return forms is not None and bytes(map(and_, forms, of)) == forms


class Program(NamedTuple):
    """The calls that encode a text.

    Attributes:
        kernels: a call of each kernel; the first word of a call is the index of its kernel, from 1.
        fields: the arrays.
        roles: for each array that a host reads or writes, the index of its field.
        calls: the words of each call; empty for a call that the program does not make.
        builds: the words of the calls that build arrays when the image is loaded, in their order.
        forms: the forms of the arguments of each kernel, see `Module`.
    """

    kernels: list[PreparedCall]
    fields: list[Field]
    roles: dict[str, int]
    calls: dict[str, list[Word]]
    builds: list[list[Word]]
    forms: list[bytes]

    @property
    def keys(self) -> list[str]:
        """For each kernel, a text of the kernel and of the types of its arguments."""
        return [native.key_of(call.kernel.module, call.kernel.name, call.arguments) for call in self.kernels]

    @property
    def module(self) -> Module:
        """The kernels of this program alone."""
        return Module(dict(zip(self.keys, self.forms, strict=True)))


def program(variants: Sequence[Variant], builds: Sequence[PreparedCall] = ()) -> Program:
    """Find the program of prepared calls.

    Args:
        variants: one variant for each size in `SIZES`.
        builds: calls that build arrays when the image is loaded; the last argument of each is the array.
    """
    each = [[*variant.calls.values(), *builds] for variant in variants]
    first: dict[Deferred, PreparedCall] = {}
    for call in each[0]:
        if call:
            first.setdefault(call.kernel, call)
    kernels = [*first]
    arrays = [_arrays(variant.roles, calls) for variant, calls in zip(variants, each, strict=True)]
    places = [{_key(array): place for place, array in enumerate(own)} for own in arrays]
    units, built = [variant.units for variant in variants], {_key(call.arguments[-1]) for call in builds}
    fields = [_field(same, units, built) for same in zip(*arrays, strict=True)]
    calls = [_call(same, kernels, places, units) for same in zip(*each, strict=True)]
    roles = {name: places[0][_key(array)] for name, array in variants[0].roles.items()}
    named = dict(zip(variants[0].calls, calls, strict=False))
    working = {key for key, place in places[0].items() if fields[place].stored is None} - built
    written = [*((call, working) for call in variants[0].calls.values() if call), *((call, built) for call in builds)]
    forms = [bytes(_forms([pair for pair in written if pair[0].kernel == kernel])) for kernel in kernels]
    return Program([*first.values()], fields, roles, named, calls[len(named) :], forms)


def _call(
    same: Sequence[PreparedCall | None], kernels: Sequence[Deferred], places: Sequence[Mapping[Any, int]], units: Sequence[int]
) -> list[Word]:
    """The words of a call, from the same call in each variant; empty if the program does not make the call."""
    if same[0] is None:
        return []
    each = [[*_words(call, own)] for call, own in zip(same, places, strict=True)]
    return [Word(-1, Linear(kernels.index(same[0].kernel) + 1, 0)), *(_word(words, units) for words in zip(*each, strict=True))]


def _forms(calls: Sequence[tuple[PreparedCall, Collection[Any]]]) -> Iterator[int]:
    """The forms of the arguments of a kernel, from all calls and from the keys of the arrays that calls write. An array that is empty in
    one call is writable if another array for the same argument is.
    """
    each = [[*_forms_of(call, written)] for call, written in calls]
    yield from (same[0] if min(same) == max(same) else same[0] & ~WRITES for same in zip(*each, strict=True))


def _forms_of(call: PreparedCall, written: Collection[Any]) -> Iterator[int]:
    for argument in call.arguments:
        leaves = [*_leaves(argument)]
        keys = {_key(leaf) for leaf in leaves if isinstance(leaf, np.ndarray)}
        for leaf in leaves:
            is_array = isinstance(leaf, np.ndarray)
            writes = is_array and (_key(leaf) in written or (not leaf.size and not keys.isdisjoint(written)))
            yield (leaf.itemsize << ITEM_SHIFT | WRITES * writes | leaf.ndim) if is_array else 0


def _arrays(roles: Mapping[str, Array], calls: Sequence[PreparedCall | None]) -> list[Array]:
    """The distinct arrays of a variant, in the order in which its roles and calls contain them."""
    found: dict[Any, Array] = {_key(array): array for array in roles.values()}
    for call in calls:
        for leaf in _leaves(call.arguments if call else ()):
            if isinstance(leaf, np.ndarray):
                found.setdefault(_key(leaf), leaf)
    return [*found.values()]


def _key(array: Array) -> Any:
    """A key that is equal for arrays over the same memory. Empty arrays of one type are equal, since no kernel reads them."""
    return (array.__array_interface__["data"][0], array.nbytes) if array.size else str(array.dtype)


def _leaves(argument: Any) -> Iterator[Any]:
    """The arrays and numbers of an argument, in the order of the words of a call."""
    if isinstance(argument, tuple):
        for each in argument:
            yield from _leaves(each)
    else:
        yield argument


def _words(call: PreparedCall | None, places: Mapping[Any, int]) -> Iterator[tuple[int, int]]:
    """The words of a call of one variant, each as a pair: the field, or -1, and a number."""
    for leaf in _leaves(call.arguments if call else ()):
        if not isinstance(leaf, np.ndarray):
            yield -1, index(leaf)
            continue
        yield places[_key(leaf)], 0
        yield from ((-1, length) for length in leaf.shape)


def _field(same: Sequence[Array], units: Sequence[int], built: Collection[Any]) -> Field:
    """A field from the array in each variant, and the keys of the arrays that calls build."""
    is_shared, is_built = len({_key(array) for array in same}) == 1, _key(same[0]) in built
    return Field(same[0] if is_shared and not is_built else None, _linear([array.nbytes for array in same], units), is_built)


def _word(same: Sequence[tuple[int, int]], units: Sequence[int]) -> Word:
    """A word from the corresponding word in each variant."""
    (field,) = {place for place, _ in same}
    return Word(field, _linear([value for _, value in same], units))


def _linear(values: Sequence[int], units: Sequence[int]) -> Linear:
    """The linear function through the numbers for texts of several sizes."""
    slopes = {divmod(after - before, more - less) for (before, after), (less, more) in zip(pairwise(values), pairwise(units), strict=True)}
    (slope, rest), *others = slopes
    assert (rest, others) == (0, []), f"numbers {[*values]} for texts of {[*units]} units are not on a line"
    return Linear(values[0] - slope * units[0], slope)
