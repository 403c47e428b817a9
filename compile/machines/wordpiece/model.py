"""WordPiece models, in the form that the compiler needs. In WordLevel, each word is one token or the unknown token: such a model becomes
WordPiece without tokens that continue a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fst.automata.rows import MAX_WORD
from fst.compile.text.components import field_of, mapping, only
from fst.errors import VocabularyError, quoted

WORD_LEVEL = "WordLevel"


@dataclass(frozen=True)
class WordPieceModel:
    """A WordPiece vocabulary. Fields have the same names as in `tokenizers`.

    Attributes:
        tokens: token → id.
        unk_token: the token for a word without a segmentation.
        continuing_subword_prefix: the prefix of tokens that continue a word.
        max_input_chars_per_word: the maximum number of characters of a word; a longer word is one unknown token.
    """

    kind: ClassVar[str] = "WordPiece"
    compiler: ClassVar[str] = "fst.compile.machines.wordpiece.compiler"
    tokens: Mapping[str, int]
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100

    @classmethod
    def of_json(cls, model: Mapping[str, Any]) -> WordPieceModel:
        """Return the model of a ``tokenizer.json``."""
        only(model, "model", "type vocab unk_token continuing_subword_prefix max_input_chars_per_word")
        tokens = dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
        settings = {name: model[name] for name in ("continuing_subword_prefix", "max_input_chars_per_word") if name in model}
        return cls(tokens, field_of(model, "unk_token", "model"), **settings)

    @property
    def unk_id(self) -> int:
        """The id of the unknown token."""
        return self.tokens[self.unk_token]

    def check(self, where: str) -> None:
        """Raise a VocabularyError if the model cannot be compiled; its message begins with `where`."""
        for name in ("unk_token", "continuing_subword_prefix"):
            if not isinstance(getattr(self, name), str):
                raise VocabularyError(f"{where}: {name} is {quoted(getattr(self, name))}; it is a string")
        if self.unk_token not in self.tokens:
            unknown = f"the unknown token {quoted(self.unk_token)}"
            raise VocabularyError(f"{where} does not hold {unknown}; add it, or pass another one as unk_token=")
        limit = self.max_input_chars_per_word
        if type(limit) is not int or not 0 <= limit <= MAX_WORD:
            raise VocabularyError(f"{where}: max_input_chars_per_word is {quoted(limit)}; it is a whole number from 0 to {MAX_WORD}")

    def words_of_one(self) -> dict[str, int]:
        """The tokens of one character → id; a word that consists of such a character becomes this token."""
        if self.max_input_chars_per_word == 0:
            return {}
        return {token: number for token, number in self.tokens.items() if len(token) == 1}


def word_level_model(model: Mapping[str, Any]) -> WordPieceModel:
    """Convert the WordLevel model of a ``tokenizer.json`` to a WordPiece model with the same ids."""
    only(model, "model", "type vocab unk_token")
    tokens = dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
    prefix = "##"
    while any(token.startswith(prefix) for token in tokens):
        prefix += "#"
    return WordPieceModel(tokens, field_of(model, "unk_token", "model"), prefix, MAX_WORD)


def is_word_level(model: Mapping[str, Any]) -> bool:
    """Whether a WordPiece model is a WordLevel model that `word_level_model` made.

    Examples:
        >>> is_word_level({"vocab": {"a": 0}, "continuing_subword_prefix": "##", "max_input_chars_per_word": MAX_WORD})
        True
    """
    has_words = model.get("max_input_chars_per_word") == MAX_WORD
    return has_words and not any(token.startswith(model["continuing_subword_prefix"]) for token in model["vocab"])
