"""The public class of a table: ``table.public_class`` contains its dotted name.

`fst.load` returns an object of this class. ``fst.Tokenizer(table)`` also returns an object of this class if the class is a subclass of
``fst.Tokenizer``.
"""

from __future__ import annotations

import errno
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst import registry
from fst.errors import UnsupportedError, quoted
from fst.tables.table import Table

if TYPE_CHECKING:
    from typing_extensions import Self


def class_of(table: Any) -> type[Any]:
    """Import the public class of a table."""
    module, _, name = table.public_class.rpartition(".")
    found: type[Any] = getattr(import_module(module), name)
    return found


def load(path: str | Path | bytes, expected: type[Any] | None = None) -> Any:
    """Load a table file as an object of its public class, which is `expected` or a subclass; see `fst.load`."""
    if expected is None:
        table = _table(path)
        return class_of(table)(table)
    if not isinstance(expected, type) or not issubclass(expected, PublicClass):
        raise TypeError(f"expected is {quoted(expected)}; expected a class with tables, such as fst.Tokenizer or fst.Searcher; pass it")
    return expected.load(path)


def _table(path: str | Path | bytes) -> Any:
    if not isinstance(path, bytes) and Path(path).is_dir():
        reason = "this is a folder; expected a table file; fst.Tokenizer.from_pretrained compiles the tokenizer in a folder"
        raise IsADirectoryError(errno.EISDIR, reason, str(path))
    return registry.load(path)


class PublicClass:
    """The base class of public classes. An object belongs to the public class of its table."""

    _table: Any
    _compiler = "tokenizer"  # a function of fst.compile that makes tables of this class, for messages

    def __new__(cls, table: Any) -> Self:
        """Make an object of the public class of the table, which is this class or a subclass."""
        if not isinstance(table, Table):
            name, by = f"fst.{cls.__name__}", f"fst.compile.{cls._compiler}"
            remedy = f"to load a file, call {name}.load; to compile, call {name}({by}(…))"
            raise TypeError(f"the table is {type(table).__name__}; expected a table of {by}; {remedy}")
        found = class_of(table)
        if not issubclass(found, cls):
            public = "Tokenizer" if table.has_tokens else found.__name__
            raise UnsupportedError(f"the table is of kind {table.kind!r}; expected a table of {cls.__name__}; pass it to fst.{public}")
        made = super().__new__(found)
        made._table = table
        return made

    @classmethod
    def load(cls, path: str | Path | bytes) -> Self:
        """Load a table file; see `fst.load`. For type checkers, the result has the type of this class.

        Args:
            path: as in `fst.load`.

        Raises:
            UnsupportedError: the table belongs to another public class.
            TableError, OSError: as in `fst.load`.

        Examples:
            >>> import fst
            >>> from fst.compile import keywords
            >>> keywords(["he", "she"]).save("words.npz")
            >>> fst.Searcher.load("words.npz").find("ushers")
            Match(id=1, start=1, end=4)
        """
        table = _table(path)
        try:
            return cls(table)
        except UnsupportedError as error:
            raise UnsupportedError(str(error) if isinstance(path, bytes) else f"{path}: {error}") from None

    def draw(self, around: str | None = None) -> str:
        """The table in the language DOT, which graphviz draws: its states, and its arcs with their input and output.

        Args:
            around: a text. The states that the text passes are drawn, with the arcs between these states on symbols of the text; the path
                of the text is red. For Unigram, jieba and MeCab, the possible words of the text are drawn, and the chosen ones are red.
                Without a text, the whole table is drawn.

        Raises:
            UnsupportedError: the picture has more than 2,000 states or edges, or this kind of table is only drawn around a text.

        Examples:
            >>> import fst
            >>> from fst.compile import keywords
            >>> fst.Searcher(keywords(["ab"])).draw("ab").splitlines()[8]
            '1 -> 0 [label="b:ab", color="#c0392b", fontcolor="#c0392b", penwidth=2]'
        """
        found: str = self._table.draw(around)
        return found
