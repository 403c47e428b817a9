"""The compiler, which turns vocabularies into tables before run time.

The steps of a compilation: source → alphabet and trie → failure links and pops → transducer → rows and classes → tables.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.compile import lattice
    from fst.compile.api import bpe, tokenizer, unigram, wordpiece
    from fst.compile.guides import guide
    from fst.compile.machines.best_path.compiler import best_path
    from fst.compile.machines.keywords.compiler import keywords
    from fst.compile.machines.lookup.compiler import lookup
    from fst.compile.machines.rules.compiler import cascade, rewrite
    from fst.compile.machines.rules.file import rules
    from fst.compile.machines.segmentation.maxmatch import maxmatch
    from fst.compile.machines.speller.compiler import speller

__all__ = [
    "best_path",
    "bpe",
    "cascade",
    "guide",
    "keywords",
    "lattice",
    "lookup",
    "maxmatch",
    "rewrite",
    "rules",
    "speller",
    "tokenizer",
    "unigram",
    "wordpiece",
]

# Each public name → the full dotted name of its object. An object is imported at its first use, because most programs compile one kind of
# machine.
_OBJECTS = {
    "best_path": "fst.compile.machines.best_path.compiler.best_path",
    "bpe": "fst.compile.api.bpe",
    "cascade": "fst.compile.machines.rules.compiler.cascade",
    "guide": "fst.compile.guides.guide",
    "keywords": "fst.compile.machines.keywords.compiler.keywords",
    "lattice": "fst.compile.lattice",
    "lookup": "fst.compile.machines.lookup.compiler.lookup",
    "maxmatch": "fst.compile.machines.segmentation.maxmatch.maxmatch",
    "rewrite": "fst.compile.machines.rules.compiler.rewrite",
    "rules": "fst.compile.machines.rules.file.rules",
    "speller": "fst.compile.machines.speller.compiler.speller",
    "tokenizer": "fst.compile.api.tokenizer",
    "unigram": "fst.compile.api.unigram",
    "wordpiece": "fst.compile.api.wordpiece",
}


def __getattr__(name: str) -> Any:
    if name not in _OBJECTS:
        raise AttributeError(f"module 'fst.compile' has no attribute {name!r}")
    found = globals()[name] = resolve_name(_OBJECTS[name])
    return found


def __dir__() -> list[str]:
    return __all__
