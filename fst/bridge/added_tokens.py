"""Added tokens for an existing tokenizer, for which the compiler makes a new table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer


def with_added_tokens(tokenizer: Tokenizer, tokens: Iterable[Any]) -> Tokenizer:
    """Make a tokenizer with additional added tokens; see `fst.Tokenizer.with_added_tokens`."""
    from fst.compile.adding import add
    from fst.runtime.tokenizer import Tokenizer

    table = add(tokenizer._table, tokens)
    return tokenizer if table is tokenizer._table else Tokenizer(table)
