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

# Public class → the words of the error message for the kind of table that it accepts.
TAKEN = {
    "Searcher": "keywords; make one with `fst compile keywords`",
    "Lookup": "a transducer; make one with `fst compile lookup`",
    "Rewriter": "rewrite rules or a weighted transducer; make one with `fst compile rules` or `best-path`",
    "JiebaSegmenter": "a dictionary of jieba; make one with `fst compile jieba`",
    "MecabSegmenter": "a dictionary of MeCab; make one with `fst compile mecab`",
    "Segmenter": "a dictionary; make one with `fst compile maxmatch`, `jieba` or `mecab`",
}


def load(path: str, *others: str) -> Any:
    """Load the table of a tokenizer, or of one of other kinds."""
    table = registry.load(path)
    if not table.has_tokens and table.kind not in others:
        raise UnsupportedError(f"{path} is a table of {table.kind}; expected the table of a tokenizer; make one with `fst compile SOURCE`")
    return table


def load_for(public_class: str, path: str) -> Any:
    """Load a table for a public class, a key of `TAKEN`."""
    table = registry.load(path)
    if public_class not in [base.__name__ for base in resolve_name(table.public_class).__mro__]:
        raise UnsupportedError(f"{path} is a table of {table.kind}; expected a table of {TAKEN[public_class]}")
    return table


def ready(tables: Table, first_use: Callable[[Any], object] = lambda tokenizer: tokenizer.encode(b"a")) -> Any:
    """Make the tokenizer, searcher or segmenter of a table, and use it once, so that its kernels are loaded or compiled.

    Args:
        tables: the table.
        first_use: a function that uses the object once, with bytes, because commands pass bytes; by default, a tokenizer encodes.

    Afterwards the garbage collector ignores `numba`'s objects: scanning them would take a fifth of the time of a short run.
    """
    with no_collector():
        from fst.runtime.public_class import class_of

        public_class = class_of(tables)(tables)
        first_use(public_class)
        gc.freeze()
    return public_class
