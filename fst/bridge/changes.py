"""Changes of a tokenizer's added tokens, or of the special ids around texts: the compiler changes the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer


def with_added_tokens(tokenizer: Tokenizer, tokens: Iterable[Any]) -> Tokenizer:
    """Make a tokenizer with additional added tokens; see `fst.Tokenizer.with_added_tokens`."""
    from fst.compile.changes import add
    from fst.runtime.tokenizer import Tokenizer

    table = add(tokenizer._table, tokens)
    return tokenizer if table is tokenizer._table else Tokenizer(table)


def with_post_processor(tokenizer: Tokenizer, part: Mapping[str, Any] | None) -> Tokenizer:
    """Make a tokenizer with another post-processor, given as in a ``tokenizer.json``. The model is not compiled again.

    Returns:
        A new tokenizer; the present tokenizer if nothing changes.
    """
    from fst.compile.changes import with_post_processor as with_other

    table = with_other(tokenizer._table, part)
    return tokenizer if table is tokenizer._table else tokenizer._framed(table)
