"""From a file to the face of its machine."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import cast

from fst import machines
from fst.runtime.tokenizer import Tokenizer


def load(path: str | Path) -> Tokenizer:
    """Load a table file, as the face of its machine: a `fst.Tokenizer` for WordPiece.

    The file is mapped, so that processes share its memory, and proven whole and safe before anything else is done with it.

    Args:
        path: what ``fst compile`` or `fst.machines.wordpiece.Tables.save` wrote.

    Raises:
        TableError: it is not such a file, or not of this version, or damaged, or made to harm; the message says which and where.
        OSError: it cannot be read.

    Example:
        >>> from fst.compile import wordpiece
        >>> wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able"]).save("tiny.npz")
        >>> load("tiny.npz").encode("Unable!")
        array([1, 3, 4, 0, 2], dtype=int32)
    """
    table = machines.load(path)
    module, _, name = table.face.rpartition(".")
    return cast(Tokenizer, getattr(import_module(module), name)(table))


