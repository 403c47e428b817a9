"""The public class of a table: the class that runs it, named in ``table.public_class``.

``fst.Tokenizer(table)`` and `fst.load` return an object of this class, possibly a subclass of ``fst.Tokenizer``.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from fst import registry
from fst.errors import UnsupportedError

Public = TypeVar("Public")


def class_of(table: Any) -> type[Any]:
    """The public class of a table."""
    module, _, name = table.public_class.rpartition(".")
    found: type[Any] = getattr(import_module(module), name)
    return found


def class_for(asked: type[Public], table: Any) -> type[Public]:
    """The class of the object ``asked(table)``: the public class of the table, which is `asked` or a subclass.

    Raises:
        UnsupportedError: the table belongs to another public class.
    """
    found = class_of(table)
    if issubclass(found, asked):
        return found
    raise UnsupportedError(f"the table is of kind {table.kind!r}; expected a table of {asked.__name__}; pass it to {found.__name__}")


def load(path: str | Path) -> Any:
    """Load a table file as an object of its public class; see `fst.load`."""
    return load_as(object, path)


def load_as(asked: type[Public], path: str | Path) -> Public:
    """Load a table file as an object of `asked` or of a subclass.

    Raises:
        UnsupportedError: the table belongs to another public class.
        TableError, OSError: as in `fst.load`.
    """
    table = registry.load(path)
    try:
        found: Any = class_for(asked, table)
    except UnsupportedError as error:
        raise UnsupportedError(f"{path}: {error}") from None
    made: Public = found(table)
    return made
