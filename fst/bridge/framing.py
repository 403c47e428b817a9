"""Other special ids around the texts of a tokenizer, for which the compiler reads a post-processor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer


def with_post_processor(tokenizer: Tokenizer, part: Mapping[str, Any] | None) -> Tokenizer:
    """Make a tokenizer with another post-processor, which has the form of a ``tokenizer.json``. The model is not compiled again.

    Returns:
        A new tokenizer; the present tokenizer if nothing changes.

    Raises:
        UnsupportedError, VocabularyError: as in `fst.compile.sources.framing.with_post_processor`.
    """
    from fst.compile.sources.framing import with_post_processor as with_other

    table = with_other(tokenizer._table, part)
    return tokenizer if table is tokenizer._table else tokenizer._framed(table)
