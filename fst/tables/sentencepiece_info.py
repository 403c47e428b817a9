"""The types and scores of the pieces in a model of ``sentencepiece``, for `fst.sentencepiece`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fst.automata.rows import MAX_OUTPUT, Array
from fst.core.json_fields import Rule, is_text, one_of, or_null, record, stored_as, whole
from fst.tables.ids import IDS
from fst.tables.proof import need

KINDS = UNIGRAM, BPE, WORD, CHAR = "unigram", "bpe", "word", "char"
SCORE = np.dtype("<f4")


def _is_scores(value: Any) -> bool:
    try:
        return is_text(value) and len(b64decode(value, validate=True)) % SCORE.itemsize == 0
    except ValueError:
        return False


SCORES = Rule(
    _is_scores, "numbers of 32 bits in base 64", lambda value: b64decode(value, validate=True), lambda value:
    b64encode(value).decode()
)
ID = or_null(whole(0, MAX_OUTPUT))


@dataclass(frozen=True)
class SentencePieceInfo:
    """The types and scores of the pieces in a model.

    Attributes:
        kind: "unigram", "bpe", "word" or "char".
        unk_id: the id of the unknown piece.
        bos_id, eos_id, pad_id: the ids of the control pieces around texts; None if a piece does not exist.
        control, user_defined, unused, byte: the ids of the pieces of the type with this name. All other pieces are normal, except the
            unknown piece.
        scores: the bytes of float32[pieces], the score of each piece.
    """

    kind: str = stored_as(one_of(*KINDS))
    unk_id: int = stored_as(whole(0, MAX_OUTPUT))
    bos_id: int | None = stored_as(ID)
    eos_id: int | None = stored_as(ID)
    pad_id: int | None = stored_as(ID)
    control: Sequence[int] = stored_as(IDS)
    user_defined: Sequence[int] = stored_as(IDS)
    unused: Sequence[int] = stored_as(IDS)
    byte: Sequence[int] = stored_as(IDS)
    scores: bytes = stored_as(SCORES)

    def prove(self, pieces: int) -> None:
        """Prove that each piece has a score, and that all ids are ids of pieces."""
        need(len(self.scores) == SCORE.itemsize * pieces, f"sentencepiece has {len(self.scores)} bytes of scores for {pieces} pieces")
        named = [number for number in (self.unk_id, self.bos_id, self.eos_id, self.pad_id) if number is not None]
        highest = max((*named, *self.control, *self.user_defined, *self.unused, *self.byte), default=0)
        need(highest < pieces, f"sentencepiece names the id {highest}; there are {pieces} pieces")

    @property
    def score_array(self) -> Array:
        """float32[pieces], the score of each piece."""
        return np.frombuffer(self.scores, SCORE)


SENTENCEPIECE_INFO = or_null(record(SentencePieceInfo, "a mapping with the types and scores of a sentencepiece model's pieces"))
