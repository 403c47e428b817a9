"""The ``tokenizer.json`` and the settings of an old tokenizer, as the basis of a new vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fst.bridge.from_live import compiled, is_table
from fst.bridge.old import config_of, settings_of

ASKER = "fst.train.like"


class Stated(NamedTuple):
    """The parts of an old tokenizer that a new vocabulary needs, so that its files are read once.

    Attributes:
        document, settings: the result of `statement_of`.
        config: the result of `fst.bridge.old.config_of`.
    """

    document: Mapping[str, Any]
    settings: Mapping[str, Any]
    config: Mapping[str, Any]


def stated_by(old: Any, asker: str = ASKER) -> Stated:
    """The parts of an old tokenizer; a `Stated` is returned as it is. For the arguments and errors, see `statement_of`."""
    return old if isinstance(old, Stated) else Stated(*statement_of(old, asker), config_of(old))


def statement_of(old: Any, asker: str = ASKER) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The ``tokenizer.json`` of a tokenizer, and further settings, named as in `fst.tables.header.Settings`.

    Args:
        old: a tokenizer in any form that `fst.train.like` accepts. It is compiled only if it has no ``tokenizer.json``.
        asker: the name of the calling function, for messages.

    Raises:
        VocabularyError, UnsupportedError, TypeError, OSError: the tokenizer cannot be read, or no ``tokenizer.json`` can express it.
    """
    from fst.compile.sources.read import stated
    from fst.compile.train.old.counterparts import counterpart
    from fst.compile.train.result import Trained
    from fst.runtime.compat.transformers.backend import backend_of
    from fst.tables.live import is_live

    if isinstance(old, Trained):
        return old._document(), old.settings
    is_file = isinstance(old, str | Path) and not is_table(old)
    found = stated(old) if is_file or (is_live(old) and not hasattr(old, "fst")) else None
    if found is not None:
        return found
    tokenizer = compiled(old, asker)
    document = counterpart(tokenizer._table) or backend_of(tokenizer, asker).document()
    return document, settings_of(tokenizer)
