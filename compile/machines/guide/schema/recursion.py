"""Recursive schemas in tables, which have a finite number of states."""

from __future__ import annotations

from typing import Any, NamedTuple

from fst.compile.machines.guide.schema.document import Document, LocatedError


class Bounds(NamedTuple):
    """The bounds of a table.

    Attributes:
        depth: how often a recursive schema may be entered inside itself; None: recursive schemas are refused.
        levels: the number of levels of arrays and objects in a value without a schema.
    """

    depth: int | None
    levels: int


class Recursion:
    """The bounds of recursive schemas.

    Args:
        document: the schemas.
        depth: how often a recursive schema may be entered inside itself; None: recursive schemas are refused.
    """

    def __init__(self, document: Document, depth: int | None) -> None:
        self._groups, self._depth = document.recursive(), depth

    def entered(self, schema: Any, path: str, opened: tuple[int, ...]) -> tuple[int, ...] | None:
        """The recursive schemas, by id, that are open inside a schema; None if it is entered too often.

        Args:
            schema: the schema.
            path: its path.
            opened: the recursive schemas that are open around it, by id. The result leaves out those that this schema never applies again.

        Raises:
            LocatedError: the schema contains itself, and no depth is given.
        """
        group = self._groups.get(id(schema))
        if group is None:
            return ()
        again = opened.count(id(schema))
        if again and self._depth is None:
            raise LocatedError(f"{path} is recursive; pass a depth, or write it out")
        if again > (self._depth or 0):
            return None
        return tuple(sorted([*(each for each in opened if each in group), id(schema)]))
