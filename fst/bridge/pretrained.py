"""The table of a tokenizer that ``transformers`` would make from files, cached by the content of the files.

If the cache contains the table, the tokenizer is not made at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fst.bridge.from_live import compiled
from fst.bridge.table_cache import table_of, table_with
from fst.runtime.tokenizer import Tokenizer


def of_files(name: str, content_of: Callable[[], bytes | None], make: Callable[[], Any]) -> Tokenizer:
    """The `fst.Tokenizer` for the tokenizer that `make` would make. A pickle of it contains the whole table, because other machines lack
    the file in the cache.

    Args:
        name: the name of the tokenizer in the log.
        content_of: a function that returns everything that determines the tokenizer, or None if this is unknown. If it is unknown, or
            changes while the tokenizer is made, the table is cached by the content of the tokenizer.
        make: a function that makes a fast tokenizer of ``transformers``.

    Raises:
        UnsupportedError: the tokenizer cannot be compiled.
    """
    content = content_of()
    table = table_with(content) if content else None
    if table is None:
        made = make()
        if content is None or content != content_of():
            return compiled(made, "fst.patch_transformers")
        table = table_of(name, content, lambda: _compiled(made))
    return Tokenizer(replace(table))


def _compiled(made: Any) -> Any:
    from fst.compile.api import tokenizer

    return tokenizer(made)
