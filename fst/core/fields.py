"""Arrays of 64-bit words whose elements have names, for the scalars that kernels read and write.

Both in Python and in kernels, an element is an attribute: ``state.count += 1`` instead of ``state[1] += 1``. In memory, such an array is an
ordinary array, of which a kernel takes only the address and the length. A NamedTuple of numbers would take a word for each number in every
call of every function of a kernel, and kernels could not change the numbers.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, ClassVar, TypeVar

import numpy as np

Scalar = Any  # the type of elements: an element is read as the `dtype` of its class, and any number can be assigned

Each = TypeVar("Each", bound="Fields")


class Fields(np.ndarray[Any, Any]):
    """An array with a name for each element. A subclass annotates the names with `Scalar`, in the order of the elements:

    >>> class State(Fields):
    ...     kept: Scalar  # number of stored symbols
    ...     count: Scalar  # number of ids
    >>> state = State(count=2)
    >>> state.kept = state.count + np.uint64(1)
    >>> state
    State([3, 2], dtype=uint64)

    Attributes:
        names: the names of the elements.
    """

    __numba_array_subtype_dispatch__ = True  # numba alone would give an argument of this class the type of an array without names
    names: ClassVar[tuple[str, ...]] = ()
    _word: ClassVar[type[np.generic]]

    def __init_subclass__(cls, dtype: type[np.generic] = np.uint64) -> None:
        cls.names, cls._word = tuple(cls.__annotations__), dtype
        for place, name in enumerate(cls.names):
            assert not hasattr(np.ndarray, name), f"{name} is an attribute of all arrays"
            setattr(cls, name, _element(place))

    def __new__(cls: type[Each], **words: Any) -> Each:
        """Make an array, by default of zeros."""
        assert words.keys() <= {*cls.names}, f"{cls.__name__} has no {words.keys() - cls.names}"
        fields = np.zeros(len(cls.names), cls._word).view(cls)
        for name, word in words.items():
            setattr(fields, name, word)
        return fields


def _element(place: int) -> property:
    """The attribute of an element."""

    def assign(fields: Any, word: Any) -> None:
        fields[place] = word

    return property(itemgetter(place), assign)
