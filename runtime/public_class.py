"""The public class of a table: ``table.public_class`` contains its dotted name.

`fst.load` returns an object of this class. So does ``fst.Tokenizer(table)``, if the class is a subclass of ``fst.Tokenizer``.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from fst import registry
from fst.errors import UnsupportedError

Public = TypeVar("Public")


def class_of(table: Any) -> type[Any]:
    """Import the public class of a table."""
    module, _, name = table.public_class.rpartition(".")
    found: type[Any] = getattr(import_module(module), name)
    return found


def class_for(asked: type[Public], table: Any) -> type[Public]:
    """Return the public class of a table, and check that it is `asked` or a subclass of `asked`.

    Raises:
        UnsupportedError: the table belongs to another public class.
    """
    found = class_of(table)
    if issubclass(found, asked):
        return found
    raise UnsupportedError(f"the table is of kind {table.kind!r}; expected a table of {asked.__name__}; pass it to {found.__name__}")


def load(path: str | Path) -> Any:
    """Load a table file, and return an object of the table's public class; see `fst.load`."""
    return load_as(object, path)


def load_as(asked: type[Public], path: str | Path) -> Public:
    """Load a table file, and return an object of the table's public class, which must be `asked` or a subclass of `asked`.

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
