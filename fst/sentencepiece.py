"""A stand-in for the module ``sentencepiece``: ``import fst.sentencepiece as spm``.

A call of the module returns a stand-in for a processor of ``sentencepiece``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from fst.runtime.compat.sentencepiece import processor
from fst.runtime.compat.sentencepiece.processor import SentencePieceProcessor

__all__ = ["SentencePieceProcessor"]


class SentencepieceModule(ModuleType):
    """The class of this module, so that a call of the module makes a `SentencePieceProcessor`."""

    SentencePieceProcessor = processor.SentencePieceProcessor

    def __call__(self, tokenizer: Any, *settings: Any, **named: Any) -> processor.SentencePieceProcessor:
        """Make a `SentencePieceProcessor`."""
        return processor.SentencePieceProcessor(tokenizer, *settings, **named)


def __dir__() -> list[str]:
    return __all__


sys.modules[__name__].__class__ = SentencepieceModule
