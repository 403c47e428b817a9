"""Compilation of live tokenizers, that is, objects of ``tokenizers``, ``transformers`` and ``tiktoken``.

Functions with a tokenizer as argument also accept a live tokenizer, and compile it. The compiler is imported only in this case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fst.errors import cut
from fst.tables.live import is_encoding, is_fast, is_live, statement

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer


def compiled(tokenizer: Any, asker: str) -> Tokenizer:
    """The `fst.Tokenizer` for a tokenizer. A live tokenizer is compiled, and its table is cached on disk, see `fst.bridge.table_cache`.

    Args:
        tokenizer: an `fst.Tokenizer`, which is returned unchanged; an object of `fst.runtime.compat`, whose `fst.Tokenizer` is returned; or
            a live tokenizer of ``tokenizers``, ``transformers`` or ``tiktoken``.
        asker: the name of the calling function, for messages.

    Raises:
        TypeError: the argument is not a tokenizer of these kinds.
        UnsupportedError: the live tokenizer needs an unsupported feature; the message names it.
        VocabularyError: the vocabulary of the live tokenizer cannot be compiled.
    """
    from fst.runtime.tokenizer import Tokenizer

    found = tokenizer if isinstance(tokenizer, Tokenizer) else getattr(tokenizer, "fst", None)
    if isinstance(found, Tokenizer):
        return found
    if not is_live(tokenizer) and not is_encoding(tokenizer):
        what = "an fst.Tokenizer, or a live tokenizer of tokenizers, transformers or tiktoken"
        raise TypeError(f"{asker} takes {what}, not {type(tokenizer).__name__}: compile a source first, or fst.load a table")
    from fst.bridge.table_cache import table_of

    table = table_of(_named(tokenizer), statement(tokenizer), lambda: _table(tokenizer))
    return Tokenizer(replace(table))  # without the file of the cache, which other machines lack: its pickle contains the table


def _named(tokenizer: Any) -> str:
    """The description of a live tokenizer in messages: its class, its name or path if it has one, and its size."""
    if is_encoding(tokenizer):
        size, where = tokenizer.n_vocab, tokenizer.name
    else:
        size = len(tokenizer) if is_fast(tokenizer) else tokenizer.get_vocab_size()
        where = str(getattr(tokenizer, "name_or_path", ""))
    return f"a live {type(tokenizer).__name__}{f' ({cut(where)})' if where else ''} of {size:,} tokens"


def _table(tokenizer: Any) -> Any:
    from fst.compile.api import tokenizer as compile_tokenizer

    return compile_tokenizer(tokenizer)
