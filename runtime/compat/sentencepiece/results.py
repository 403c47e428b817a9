"""The results that sentencepiece gives as protocol buffers: here plain objects with the same attributes.

Where bytes are not UTF-8, a text, a piece or a surface is bytes, as in a protocol buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """A piece of a text.

    Attributes:
        piece: its name; of an unknown one, its normalized text.
        id: its id.
        surface: its raw text.
        begin, end: where this begins and ends, in bytes of UTF-8.
    """

    piece: str | bytes
    id: int
    surface: str | bytes
    begin: int
    end: int


@dataclass(frozen=True)
class SentencePieceText:
    """A text and its pieces.

    Attributes:
        text: the raw text, or the decoded one.
        pieces: its pieces.
        score: of n-best segmentations, the score; else 0.
    """

    text: str | bytes
    pieces: Sequence[Piece]
    score: float = 0.0


@dataclass(frozen=True)
class NBestSentencePieceText:
    """The n best segmentations of a text.

    Attributes:
        nbests: the segmentations, the best first.
    """

    nbests: Sequence[SentencePieceText]
