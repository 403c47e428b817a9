"""The compiler: vocabularies become tables, offline.

Source → alphabet and trie → failure links and pops → transducer → rows and classes → tables: each step is one file.
"""

from fst.compile.api import bpe, tokenizer, wordpiece

__all__ = ["bpe", "tokenizer", "wordpiece"]
