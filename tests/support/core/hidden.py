"""Hide private parts of `numba` from this package, as if this version of `numba` lacked them; `numba` itself still finds them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

from numba.core.dispatcher import Dispatcher

from fst.core.jit import OF_DISPATCHERS, PRIVATE


class Hidden:
    """An attribute of a class that code of `fst` does not find.

    Args:
        name: the name of the attribute.
        found: the value for other code; None means the value of each instance.
    """

    def __init__(self, name: str, found: Any = None) -> None:
        self._name, self._found = name, found

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if is_hidden():
            raise AttributeError(self._name)
        if self._found is None:
            return instance.__dict__[self._name]
        return self._found.__get__(instance, owner) if hasattr(self._found, "__get__") else self._found


class HiddenOfInstances(Hidden):
    """An attribute of instances that code of `fst` does not find."""

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value


def is_hidden() -> bool:
    """Whether code of the package reads the attribute, directly or through the standard library."""
    asking: str = sys._getframe(2).f_globals["__name__"]
    return asking.split(".")[0] in ("fst", "pkgutil")


def hide(part: str) -> None:
    """Hide a part, given by its name in `fst.core.jit.PRIVATE`; "dispatchers" means the private attributes of every dispatcher."""
    if part == "dispatchers":
        for name in OF_DISPATCHERS:
            setattr(Dispatcher, name, HiddenOfInstances(name))
    for name in PRIVATE.get(part, []):
        module, _, path = name.partition(":")
        owner, _, attribute = path.rpartition(".")
        if owner:
            _hide_in_class(getattr(import_module(module), owner), attribute)
        else:
            _hide_in_module(import_module(module), attribute)


def _hide_in_class(owner: Any, attribute: str) -> None:
    found = next(vars(base)[attribute] for base in owner.__mro__ if attribute in vars(base))
    setattr(owner, attribute, Hidden(attribute, found))


def _hide_in_module(module: ModuleType, attribute: str) -> None:
    if attributes := vars(type(module)).get("hidden"):
        attributes.add(attribute)
        return

    class Hiding(type(module)):  # type: ignore[misc]
        hidden: ClassVar[set[str]] = {attribute}

        def __getattribute__(self, name: str) -> Any:
            if name in Hiding.hidden and is_hidden():
                raise AttributeError(name)
            return super().__getattribute__(name)

    module.__class__ = Hiding
