"""Load table files for commands."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from fst import registry
from fst.core.jit import no_collector
from fst.errors import UnsupportedError

if TYPE_CHECKING:
    from fst.tables.table import Table

# The kinds of tables that the commands of each public class accept.
TAKEN = {
    "Searcher": "keywords; make one with `fst compile keywords`",
    "MecabSegmenter": "a dictionary of MeCab; make one with `fst compile mecab`",
    "Segmenter": "a dictionary; make one with `fst compile maxmatch`, `jieba` or `mecab`",
}


def load(path: str) -> Any:
    """The table of a tokenizer.

    Raises:
        UnsupportedError: the file is a table of another machine; the message names the machine.
        TableError, OSError: as in `fst.registry.load`.
    """
    table = registry.load(path)
    if not table.has_tokens:
        raise UnsupportedError(f"{path} is a table of {table.kind}; expected the table of a tokenizer; make one with `fst compile SOURCE`")
    return table


def load_for(public_class: str, path: str) -> Any:
    """The table for a public class, a key of `TAKEN`.

    Raises:
        UnsupportedError: the file is a table of another public class; the message names the class.
        TableError, OSError: as in `fst.registry.load`.
    """
    table = registry.load(path)
    if public_class not in [base.__name__ for base in resolve_name(table.public_class).__mro__]:
        raise UnsupportedError(f"{path} is a table of {table.kind}; expected a table of {TAKEN[public_class]}")
    return table


def ready(tables: Table, first_use: Callable[[Any], object] = lambda tokenizer: tokenizer.encode(b"a")) -> Any:
    """An object of the public class of a table, with kernels that are loaded or compiled.

    Args:
        tables: the table.
        first_use: uses the object with bytes, like commands; the default encodes with a tokenizer.

    The garbage collector ignores numba's objects from now on: it would take a fifth of the time of a short run.
    """
    with no_collector():
        from fst.runtime.public_class import class_of

        public_class = class_of(tables)(tables)
        first_use(public_class)
        gc.freeze()
    return public_class
