"""Table files for commands."""

from __future__ import annotations

from typing import Any

from fst import machines
from fst.errors import UnsupportedError


def load(path: str) -> Any:
    """The table of a tokenizer.

    Raises:
        UnsupportedError: the file is a table of another machine; the message names it.
        TableError, OSError: as by `fst.machines.load`.
    """
    table = machines.load(path)
    if not table.has_tokens:
        raise UnsupportedError(f"{path} is a table of {table.kind}, and has no tokens: this command takes the table of a tokenizer")
    return table
