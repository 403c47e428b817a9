"""The vocabulary in the metadata of a GGUF model, its special tokens, and the ids around a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fst.compile.sources.sentencepiece.model_file import CONTROL, NORMAL, UNKNOWN, USER_DEFINED
from fst.compile.text.sentencepiece import SYMBOL
from fst.errors import UnsupportedError, quoted

KEY = "tokenizer.ggml."
Document = dict[str, Any]
SPECIAL = (UNKNOWN, CONTROL, USER_DEFINED)  # types of tokens that are found in a text before it is split
# llama.cpp treats tokens with these names as special, whatever their types.
NAMED = """
<|eot_id|> <|im_end|> <|end|> <end_of_turn> <|endoftext|> <|end_of_text|> <EOT> _<EOT> [EOT] <｜end▁of▁sentence｜> <|eom_id|>
<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|> <|fim_suffix|> <fim-suffix> <fim_suffix>
<｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|> <|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|>
<|middle|> <|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD] <|fim_repo|> <|repo_name|> <fim-repo> <fim_repo> <REPO> <reponame> <|file_sep|>
<|call|> <|calls|> <|flush|> <|return|> <|tool_response> <turn|> <eos> [EOS] [e~[ </s> <end_of_utterance> <|channel|> <|constrain|>
<|message|> <|start|>
"""
MOST_SQUARES = 1 << 24  # maximum sum of the squared lengths of special tokens, because comparing them takes this much memory


class Vocabulary:
    """The vocabulary in the metadata of a model.

    Args:
        values: the metadata.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.kind, self.pre = self.text("model", ""), self.text("pre", "")
        listed = self._list("tokens", str)
        self.tokens = [token or f"[EMPTY_{number}]" for number, token in enumerate(listed)]
        types = self._list("token_type", int)
        self.types = types or [NORMAL] * len(self.tokens)
        self.scores: list[float] = self._list("scores", float)
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        self._check()

    def text(self, name: str, default: str) -> str:
        """A text in the metadata."""
        found = self._values.get(KEY + name, default)
        if not isinstance(found, str):
            raise ValueError(f"{KEY}{name} is {quoted(found)}; expected text")
        return found

    def flag(self, name: str, default: bool) -> bool:
        """A bool in the metadata."""
        found = self._values.get(KEY + name, default)
        if not isinstance(found, bool):
            raise ValueError(f"{KEY}{name} is {quoted(found)}; expected true or false")
        return found

    def id(self, name: str, default: int) -> int:
        """The id of a special token, such as ``bos``: the id in the metadata if a token has it, otherwise the default."""
        found = self._values.get(f"{KEY}{name}_token_id", default)
        if type(found) is not int:
            raise ValueError(f"{KEY}{name}_token_id is {quoted(found)}; expected an id")
        known = [number for number in (found, default) if 0 <= number < len(self.tokens)]
        if not known:
            raise ValueError(f"{KEY}{name}_token_id is missing; expected the id of a token")
        return known[0]

    def bytes(self, name: str) -> bytes:
        """The bytes of an array in the metadata; empty if it is missing."""
        found = self._values.get(KEY + name, np.empty(0, np.uint8))
        if not isinstance(found, np.ndarray) or found.dtype.itemsize != 1:
            raise ValueError(f"{KEY}{name} has another type; expected an array of bytes")
        return found.tobytes()

    def merges(self) -> list[str]:
        """The merges, each as two tokens with a space between."""
        found = self._list("merges", str)
        if not found:
            raise ValueError(f"{KEY}merges is missing; expected the merges of BPE")
        return found

    def required_scores(self) -> list[float]:
        """The scores of SentencePiece's tokens."""
        if not self.scores:
            raise ValueError(f"{KEY}scores is missing; expected the scores of SentencePiece's tokens")
        return self.scores

    def name(self, key: str) -> str:
        """A name of the model in lower case, or an empty text."""
        found = self._values.get(key)
        return found.lower() if isinstance(found, str) else ""

    def _list(self, name: str, kind: type) -> list[Any]:
        found = self._values.get(KEY + name, [])
        values = found.tolist() if isinstance(found, np.ndarray) else found
        if not isinstance(values, list) or not all(type(value) is kind for value in values):
            raise ValueError(f"{KEY}{name} has another type; expected a list of {kind.__name__}")
        return values

    def _check(self) -> None:
        if not self.tokens:
            raise ValueError(f"{KEY}tokens is missing; expected the tokens of a vocabulary")
        for name, listed in (("token_type", self.types), ("scores", self.scores)):
            if listed and len(listed) != len(self.tokens):
                raise ValueError(f"{KEY}{name} has {len(listed):,} elements; expected {len(self.tokens):,}, one for each token")
        if len(self.ids) < len(self.tokens):
            twice = next(token for number, token in enumerate(self.tokens) if self.ids[token] != number)
            raise ValueError(f"{KEY}tokens contains {quoted(twice)} twice; expected each token once")
        for token in sorted(self.ids.keys() & {*NAMED.split()}):
            if self.types[self.ids[token]] not in SPECIAL:
                raise UnsupportedError(f"token {quoted(token)} is ordinary by its type, and special by its name: convert the model again")
        _need_apart([token for token, kind in zip(self.tokens, self.types, strict=True) if kind in SPECIAL])


def _need_apart(special: Sequence[str]) -> None:
    """Refuse special tokens that may overlap in a text, because llama.cpp finds the longest token of all first. Runs of one character are
    allowed: the longest of all is also the longest at the first place.
    """
    squares = sum(len(token) ** 2 for token in special)
    if squares > MOST_SQUARES:
        raise UnsupportedError(f"the squared lengths of special tokens have the sum {squares:,}; expected at most {MOST_SQUARES:,}")
    listed = sorted(special, key=lambda token: len({*token}) > 1)  # a beginning of several tokens is that of a run only if all are runs
    beginnings = {token[:size]: token for token in listed for size in range(1, len(token))}
    for token in special:
        for size in range(1, len(token)):
            other = beginnings.get(token[-size:])
            if other and not (len({*token}) == len({*other}) == 1):
                raise UnsupportedError(f"special tokens {quoted(token)} and {quoted(other)} may overlap in a text")


def around(of: Vocabulary, *, adds_bos: bool = False, adds_eos: bool = False, bos: int = -1, eos: int = -1) -> tuple[list[int], list[int]]:
    """The ids before and after a text. The arguments are the values of missing keys; -1: no token."""
    before = [of.id("bos", bos)] if of.flag("add_bos_token", adds_bos) else []
    after = [of.id("eos", eos)] if of.flag("add_eos_token", adds_eos) else []
    return before, after


def added(of: Vocabulary) -> list[Document]:
    """The special tokens as the added tokens of a ``tokenizer.json``."""
    return [
        {"id": number, "content": token, "special": kind != USER_DEFINED, "normalized": False}
        for number, (token, kind) in enumerate(zip(of.tokens, of.types, strict=True))
        if kind in SPECIAL
    ]


def decoder(*, strips: bool) -> list[Document]:
    """The steps that decode tokens of SentencePiece. `strips`: whether a space before the text is removed."""
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if strips else []
    return [{"type": "Replace", "pattern": {"String": SYMBOL}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, *strip]


def template(of: Vocabulary, before: list[int], after: list[int]) -> Document | None:
    """The post-processor of a ``tokenizer.json`` that adds ids before and after a text; None if there are no such ids."""
    if not before + after:
        return None
    special = {of.tokens[number]: {"id": of.tokens[number], "ids": [number], "tokens": [of.tokens[number]]} for number in before + after}

    def part(ids: list[int], kind: int) -> list[Document]:
        return [{"SpecialToken": {"id": of.tokens[number], "type_id": kind}} for number in ids]

    def text(name: str, kind: int) -> list[Document]:
        return [*part(before, kind), {"Sequence": {"id": name, "type_id": kind}}, *part(after, kind)]

    return {"type": "TemplateProcessing", "single": text("A", 0), "pair": text("A", 0) + text("B", 1), "special_tokens": special}
