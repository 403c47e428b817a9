"""Call methods of the processor of `sentencepiece` and of the package's stand-in for this processor, and compare the results."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from support import kept

import fst
from fst.compile.sources.read import read

library = pytest.importorskip("sentencepiece")
sentencepiece_model_pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

Two = tuple[Any, Any]  # the processor of `sentencepiece` and the stand-in
RETURN_TYPES = (int, str, bytes, "numpy", "offset_mapping")


def _two(data: bytes, name: str) -> Two:
    path = kept.FOLDER / f"{name}-{os.getpid()}.model"
    path.write_bytes(data)
    table = kept.assemble(read(path, {}), "auto")
    return library.SentencePieceProcessor(model_proto=data), fst.sentencepiece(fst.Tokenizer(table))


def plain(found: Any) -> Any:
    """Convert a result to plain Python values that contain the types of all parts, for comparisons; buffers become tuples."""
    if isinstance(found, list):
        return [plain(one) for one in found]
    if isinstance(found, np.ndarray):
        return found.dtype, found.flags.writeable, found.tolist()
    if hasattr(found, "nbests"):
        return [plain(one) for one in found.nbests]
    if hasattr(found, "pieces"):
        return found.text, found.score, [(one.piece, one.id, one.surface, one.begin, one.end) for one in found.pieces]
    return type(found), found


def outcome(processor: Any, name: str, *arguments: Any, **options: Any) -> Any:
    """Call a method, and return its result or the type of its error."""
    try:
        found = getattr(processor, name)(*arguments, **options)
    except Exception as error:
        return type(error)
    return plain(found)


def assert_same(two: Two, name: str, *arguments: Any, **options: Any) -> None:
    """Check that a method has the same result for both processors."""
    theirs, ours = (outcome(processor, name, *arguments, **options) for processor in two)
    assert ours == theirs, (name, arguments, options)


DECODED = (str, bytes, "offset_mapping")
PER_ID = ("id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte")
