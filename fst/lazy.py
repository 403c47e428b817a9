"""Properties that are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """A property that is computed when it is first asked for, and kept, as by ``functools.cached_property`` from Python 3.12 on.

    Before that, the one of Python holds a lock while it computes, one for all objects of a class; a process that is forked meanwhile
    finds it locked for ever. Here, threads that ask at the same time may compute the same twice, which does no harm.

    Example:
        >>> class Circle:
        ...     @Lazy
        ...     def area(self):
        ...         print("computing")
        ...         return 3
        >>> circle = Circle()
        >>> circle.area + circle.area
        computing
        6
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: Any = None) -> Value: ...

    def __get__(self, instance: object | None, owner: Any = None) -> Lazy[Value] | Value:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
