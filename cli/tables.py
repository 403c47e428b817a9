"""Load table files for commands."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from fst import registry
from fst.core.jit import no_collector
from fst.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fst.tables.table import Table

# Public class → the words of the error message for the kind of table that it accepts.
TAKEN = {
    "Searcher": "keywords; make one with `fst compile keywords`",
    "Lookup": "a transducer; make one with `fst compile lookup`",
    "Speller": "a dictionary of Hunspell; make one with `fst compile speller`",
    "Rewriter": "rewrite rules or a weighted transducer; make one with `fst compile rules` or `best-path`",
    "JiebaSegmenter": "a dictionary of jieba; make one with `fst compile jieba`",
    "MecabSegmenter": "a dictionary of MeCab; make one with `fst compile mecab`",
    "Segmenter": "a dictionary; make one with `fst compile maxmatch`, `jieba` or `mecab`",
}


class TokenizerTable(Protocol):
    """The table of a tokenizer of any kind: a `Table` with tokens."""

    @property
    def header(self) -> Mapping[str, Any]:
        """See `Table`."""

    @property
    def origin(self) -> Any:
        """The file of the table."""

    @property
    def metadata(self) -> Any:
        """The header, read."""

    @property
    def token_ids(self) -> NDArray[np.int32]:
        """The ids of the tokens."""

    @property
    def tokens(self) -> Sequence[str]:
        """The tokens in the order of `token_ids`."""


def load(path: str, takes: Callable[[Any], object] = lambda table: table.has_tokens) -> Any:
    """Load a table of a kind that a command takes: by default, the table of a tokenizer."""
    table = registry.load(path)
    if not takes(table):
        raise UnsupportedError(f"{path} is a table of {table.kind}; expected the table of a tokenizer; make one with `fst compile SOURCE`")
    return table


def load_for(public_class: str, path: str) -> Any:
    """Load a table for a public class, a key of `TAKEN`."""
    table = registry.load(path)
    if public_class not in [base.__name__ for base in resolve_name(table.public_class).__mro__]:
        raise UnsupportedError(f"{path} is a table of {table.kind}; expected a table of {TAKEN[public_class]}")
    return table


def ready(table: TokenizerTable | Table, first_use: Callable[[Any], object] = lambda tokenizer: tokenizer.encode(b"a")) -> Any:
    """Make the tokenizer, searcher or segmenter of a table, and use this object once, so that its kernels are loaded or compiled.

    Args:
        table: the table.
        first_use: a function that uses the object once, with bytes, because commands pass bytes; by default, a tokenizer encodes.

    Afterwards the garbage collector ignores `numba`'s objects: scanning them would take a fifth of the time of a short run.
    """
    with no_collector():
        from fst.runtime.public_class import class_of

        public_class = class_of(table)(table)
        first_use(public_class)
        gc.freeze()
    return public_class
