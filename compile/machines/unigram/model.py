"""Unigram models, in the form that the compiler needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

from fst.automata.rows import MAX_OUTPUT
from fst.compile.text.components import field_of, only, sequence
from fst.core.json_fields import is_text
from fst.core.json_numbers import reference_float
from fst.errors import VocabularyError, quoted
from fst.machines.unigram.viterbi import IN_TEXT, RUN, TEXT_SCOPE, UNKNOWN, WORD_SCOPE

FIELDS = "type vocab unk_id byte_fallback"


@dataclass(frozen=True)
class UnigramModel:
    """A Unigram model. Fields that also exist in `tokenizers` have the same names."""

    kind: ClassVar[str] = "Unigram"
    compiler: ClassVar[str] = "fst.compile.machines.unigram.compiler"
    names: Sequence[str]  # the tokens in the order of their ids
    scores: Sequence[float]  # the score of each token
    unk_id: int | None  # the id of the unknown token, for characters that are not tokens; None: a text with such a character has no ids
    byte_fallback: bool = False  # whether tokens like ``<0x0A>`` represent the bytes of characters that are not tokens
    # where sums of scores begin: at each word (`fst.machines.unigram.viterbi.WORD_SCOPE`), as in `tokenizers`, or only at the start of the
    # text (`TEXT_SCOPE`), as in `sentencepiece`
    scope: str = WORD_SCOPE
    # the type of each token as in a ``.model``, for example `fst.machines.unigram.viterbi.NORMAL`; empty if all tokens may occur in texts
    types: Sequence[int] = ()
    unknown_score: float | None = None  # the score of a character that is not a token; None: the least score of all tokens minus `PENALTY`
    is_word_type: bool = False  # whether tokens are whole words, as in SentencePiece's model type ``word``. If True, scores have no effect.
    # with `TEXT_SCOPE`, normal pieces without an id and their scores; in ids, each is the unknown token
    unnamed: Sequence[tuple[str, float]] = ()

    @classmethod
    def of_json(cls, model: Mapping[str, Any]) -> UnigramModel:
        """Return the model of a ``tokenizer.json``."""
        only(model, "model", FIELDS)
        rows = sequence(field_of(model, "vocab", "model"), "vocab of the model")
        unk_id, fallback = model.get("unk_id"), model.get("byte_fallback", False)
        if type(unk_id) not in (int, type(None)) or not isinstance(fallback, bool):
            raise ValueError(f"unk_id is {quoted(unk_id)}, byte_fallback {quoted(fallback)}; they are an id or null, and true or false")
        for number, row in enumerate(rows):
            if not (isinstance(row, list) and len(row) == 2 and is_text(row[0]) and type(row[1]) in (int, float)):
                raise ValueError(f"token {number} of vocab is {quoted(row)}; it is a string and its score")
        return cls([name for name, _ in rows], [_score(*row) for row in rows], unk_id, fallback)

    @cached_property
    def tokens(self) -> Mapping[str, int]:
        """Token → id, see `fst.compile.text.source.Model`."""
        return {name: number for number, name in enumerate(self.names)}

    @property
    def in_text(self) -> Sequence[int]:
        """The ids of the tokens that can occur in texts."""
        return [number for number in range(len(self.names)) if not self.types or self.types[number] in IN_TEXT]

    @property
    def runs(self) -> Sequence[int]:
        """The ids of the tokens that only a run of unknown characters becomes."""
        return [number for number, kind in enumerate(self.types) if kind == RUN]

    @property
    def unk_token(self) -> str | None:
        """The name of the unknown token."""
        return self.names[self.unk_id] if self.unk_id is not None and 0 <= self.unk_id < len(self.names) else None

    def check(self, where: str) -> None:
        """Raise an error if the model cannot be compiled; its message begins with `where`."""
        if not self.names or len(self.names) > MAX_OUTPUT:
            raise VocabularyError(f"{where} has {len(self.names):,} tokens; 1 to {MAX_OUTPUT:,} are possible")
        if self.unk_id is not None and self.unk_token is None:
            raise VocabularyError(f"{where} has the unk_id {self.unk_id}, and {len(self.names):,} tokens")
        types = len(self.types)
        if self.scope == TEXT_SCOPE and (types != len(self.names) or self.unk_id is None or self.types[self.unk_id] != UNKNOWN):
            raise VocabularyError(f"{where} has {len(self.names):,} tokens and {types:,} types, or its unk_id is of another type")
        for number, name in enumerate(self.names):
            if self.tokens[name] != number:
                raise VocabularyError(f"{where} has token {quoted(name)} twice, as {number} and {self.tokens[name]}: leave one out")


def _score(name: str, score: float) -> float:
    found = reference_float(str(score)) if type(score) is int else score
    if not isfinite(found):
        raise ValueError(f"token {quoted(name)} has the score {score}; scores are finite")
    return found
