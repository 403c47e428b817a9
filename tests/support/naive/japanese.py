"""Japanese BERT by its definition: what ``BertJapaneseTokenizer`` of ``transformers`` does with the words of MeCab."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Japanese:
    """A tokenizer.

    Attributes:
        words: a function that cuts a text without U+0000 into words.
        vocabulary: token → id.
        specials: the added tokens.
        subword: "wordpiece" or "character".
        lowercase, never_split, is_normalized: the settings of the words.
    """

    words: Callable[[str], Sequence[str]]
    vocabulary: Mapping[str, int]
    specials: Sequence[str]
    subword: str = "wordpiece"
    lowercase: bool = False
    never_split: Sequence[str] = ()
    is_normalized: bool = True

    def ids(self, text: str) -> list[int]:
        """The ids of a text, without special tokens around it."""
        found = list[int]()
        for part in re.split("(" + "|".join(map(re.escape, self.specials)) + ")", text):
            found += [self.vocabulary[part]] if part in self.specials else [self._id(token) for token in self._tokens(part)]
        return found

    def _id(self, token: str) -> int:
        return self.vocabulary.get(token, self.vocabulary["[UNK]"])

    def _tokens(self, part: str) -> list[str]:
        text = unicodedata.normalize("NFKC", part) if self.is_normalized else part
        tokens = list[str]()
        for word in self.words(text.split("\0")[0]):
            spelled = word.lower() if self.lowercase and word not in (*self.never_split, *self.specials) else word
            if self.subword == "character":
                tokens += unicodedata.normalize("NFKC", spelled)
            else:
                tokens += [piece for run in spelled.split() for piece in self._pieces(run)]
        return tokens

    def _pieces(self, run: str) -> list[str]:
        """The longest tokens of a run from left to right; the unknown token if a position has none."""
        pieces, start = list[str](), 0
        while start < len(run) <= 100:
            prefix = "##" if start else ""
            end = next((end for end in range(len(run), start, -1) if prefix + run[start:end] in self.vocabulary), None)
            if end is None:
                return ["[UNK]"]
            pieces.append(prefix + run[start:end])
            start = end
        return pieces or ["[UNK]"]
