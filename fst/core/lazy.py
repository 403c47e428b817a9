"""Lazy properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """A property that is computed at its first access and then stored, like ``functools.cached_property`` of Python 3.12.

    Before 3.12, ``cached_property`` holds one lock for all instances of a class during the computation, and a process forked at this time
    waits for the lock forever. Here, two threads may both compute the value, which does no harm.

    Examples:
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
