"""Lazy properties and lazy modules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """A property that is computed at its first access and then stored, like ``functools.cached_property`` of Python 3.12.

    Before 3.12, ``cached_property`` holds one lock for all instances of a class during the computation, and a process forked at this time
    waits for the lock forever. With this class, two threads may both compute the value, which does no harm.

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


class Renamed(ModuleType):
    """A module under its former name, which pickles contain. It has the attributes of the module with the new name. `name`: the former
    name. `new`: the new name; this module is imported at the first use of an attribute.
    """

    def __init__(self, name: str, new: str) -> None:
        super().__init__(name)
        self.__dict__["_new"] = new

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # such as __file__, which tools look up in all modules
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(import_module(self._new), name)


def rename_modules(names: Mapping[str, str]) -> None:
    """Make modules importable by their former names; called by the package that contained them. `names`: former → new, a package first."""
    for name, new in names.items():
        package, _, last = name.rpartition(".")
        sys.modules[name] = Renamed(name, new)
        setattr(sys.modules[package], last, sys.modules[name])
