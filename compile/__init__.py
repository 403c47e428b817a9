"""The compiler, which turns vocabularies into tables before run time.

The steps of a compilation: source → alphabet and trie → failure links and pops → transducer → rows and classes → tables.
"""

from fst.compile.api import bpe, tokenizer, unigram, wordpiece
from fst.compile.guides import guide
from fst.compile.machines.best_path.compiler import best_path
from fst.compile.machines.keywords.compiler import keywords
from fst.compile.machines.lookup.compiler import lookup
from fst.compile.machines.rules.compiler import cascade, rewrite
from fst.compile.machines.rules.file import rules
from fst.compile.machines.segmentation import lattice
from fst.compile.machines.segmentation.maxmatch import maxmatch

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
    "tokenizer",
    "unigram",
    "wordpiece",
]


def __dir__() -> list[str]:
    return __all__
