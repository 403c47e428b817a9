"""A stand-in for the module ``pynini``: ``import fst.pynini as pynini``, or `install` for programs that import pynini themselves."""

from __future__ import annotations

from typing import Any

from fst.bridge.pynini.copies import arcsort, connect, invert, minimize, optimize, project, relabel_pairs, rmepsilon, topsort
from fst.bridge.pynini.draft import NO_LABEL, NO_STATE_ID, Arc
from fst.bridge.pynini.errors import (
    FstArgError,
    FstBadWeightError,
    FstError,
    FstIndexError,
    FstIOError,
    FstOpError,
    FstStringCompilationError,
)
from fst.bridge.pynini.far import Far
from fst.bridge.pynini.install import install
from fst.bridge.pynini.labels import TokenType, default_token_type, escape, generated_symbols
from fst.bridge.pynini.machine import Fst, FstLike
from fst.bridge.pynini.missing import missing
from fst.bridge.pynini.operations import (
    accep,
    arcmap,
    cdrewrite,
    closure,
    compose,
    concat,
    cross,
    determinize,
    difference,
    equal,
    equivalent,
    intersect,
    isomorphic,
    leniently_compose,
    prune,
    push,
    randgen,
    reverse,
    shortestdistance,
    shortestpath,
    union,
)
from fst.bridge.pynini.properties import FstProperties
from fst.bridge.pynini.strings import string_file, string_map
from fst.bridge.pynini.symbols import NO_SYMBOL, SymbolTable, merge_symbol_table
from fst.bridge.pynini.weights import Weight, WeightLike, divide, plus, power, times

VectorFst = Fst
SymbolTableView = SymbolTable

__all__ = [
    "NO_LABEL",
    "NO_STATE_ID",
    "NO_SYMBOL",
    "Arc",
    "Far",
    "Fst",
    "FstArgError",
    "FstBadWeightError",
    "FstError",
    "FstIOError",
    "FstIndexError",
    "FstLike",
    "FstOpError",
    "FstProperties",
    "FstStringCompilationError",
    "SymbolTable",
    "SymbolTableView",
    "TokenType",
    "VectorFst",
    "Weight",
    "WeightLike",
    "accep",
    "arcmap",
    "arcsort",
    "cdrewrite",
    "closure",
    "compose",
    "concat",
    "connect",
    "cross",
    "default_token_type",
    "determinize",
    "difference",
    "divide",
    "equal",
    "equivalent",
    "escape",
    "generated_symbols",
    "install",
    "intersect",
    "invert",
    "isomorphic",
    "leniently_compose",
    "merge_symbol_table",
    "minimize",
    "optimize",
    "plus",
    "power",
    "project",
    "prune",
    "push",
    "randgen",
    "relabel_pairs",
    "reverse",
    "rmepsilon",
    "shortestdistance",
    "shortestpath",
    "string_file",
    "string_map",
    "times",
    "topsort",
    "union",
]


def __getattr__(name: str) -> Any:
    """A property of machines, such as ``ACCEPTOR``; the error for another name contains what to use instead of a name of pynini."""
    if name in FstProperties.__members__:
        return FstProperties[name]
    raise missing("fst.pynini", name)
