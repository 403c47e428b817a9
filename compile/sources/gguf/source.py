"""Convert the metadata of a GGUF model to a ``tokenizer.json``.

Every text gets the ids that ``llama_tokenize`` of llama.cpp returns with ``add_special`` and ``parse_special``: special tokens are found in
a text, and the BOS and EOS tokens that the metadata demands are added.

gpt2: byte-level BPE, whose splitter has a name, see `fst.compile.sources.gguf.splitters`.
llama: SentencePiece's BPE by scores, without a normalizer; each part between special tokens begins with a space.

Source: ``src/llama-vocab.cpp`` of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fst.compile.sources.gguf import splitters
from fst.compile.sources.gguf.header import header_of
from fst.compile.sources.sentencepiece.model_file import (
    BYTE,
    BYTES,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Normalizer,
    SentencePieceModel,
)
from fst.compile.sources.sentencepiece.source import merges_of
from fst.compile.text.sentencepiece import SYMBOL
from fst.errors import FstError, UnsupportedError, VocabularyError, not_one_of, quoted

KEY = "tokenizer.ggml."
SPECIAL = (UNKNOWN, CONTROL, USER_DEFINED)  # types of tokens that are found in a text before it is split
# llama.cpp treats tokens with these names as special, whatever their types.
NAMED = """
<|eot_id|> <|im_end|> <|end|> <end_of_turn> <|endoftext|> <|end_of_text|> <EOT> _<EOT> [EOT] <｜end▁of▁sentence｜> <|eom_id|>
<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|> <|fim_suffix|> <fim-suffix> <fim_suffix>
<｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|> <|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|>
<|middle|> <|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD] <|fim_repo|> <|repo_name|> <fim-repo> <fim_repo> <REPO> <reponame> <|file_sep|>
<|call|> <|calls|> <|flush|> <|return|> <|tool_response> <turn|> <eos> [EOS] [e~[
"""
# Parts of names of models and architectures for which llama.cpp removes spaces next to special tokens.
STRIPPING = {"general.name": ("phi-3", "phi3", "modern-bert"), "general.architecture": ("nomic-bert-moe", "jina-bert-v3")}
MOST_SQUARES = 1 << 24  # maximum sum of the squared lengths of special tokens, because comparing them takes this much memory
Document = dict[str, Any]


class _Vocabulary:
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
        self.scores = [*map(float, self._list("scores", float))]
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

    def merges(self) -> list[str]:
        """The merges, each as two tokens with a space between."""
        found = self._list("merges", str)
        if not found:
            raise ValueError(f"{KEY}merges is missing; expected the merges of BPE")
        return found

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
        for token in self.ids.keys() & {*NAMED.split()}:
            if self.types[self.ids[token]] not in SPECIAL:
                raise UnsupportedError(f"token {quoted(token)} is ordinary by its type, and special by its name: convert the model again")


def exported(path: Path) -> Document:
    """The vocabulary of a GGUF model as the value of a ``tokenizer.json``.

    Raises:
        VocabularyError: the file is damaged, or its metadata lacks a part of the vocabulary.
        UnsupportedError: a part of the vocabulary is not supported; the message contains its name.
    """
    try:
        return _document(_Vocabulary(header_of(path).values))
    except FstError as error:
        raise type(error)(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    except ValueError as error:
        raise VocabularyError(f"{path}: {error}") from None


def _document(of: _Vocabulary) -> Document:
    if of.kind not in KINDS:
        raise UnsupportedError(not_one_of(f"{KEY}model", of.kind, KINDS))
    for key, part in ((key, part) for key, parts in STRIPPING.items() for part in parts):
        if part in of.name(key):
            raise UnsupportedError(f"{key} contains {part}: llama.cpp removes spaces next to its special tokens")
    _need_apart([token for token, kind in zip(of.tokens, of.types, strict=True) if kind in SPECIAL])
    return KINDS[of.kind](of)


def _need_apart(special: Sequence[str]) -> None:
    """Refuse special tokens that may overlap in a text, because llama.cpp finds the longest token of all first. Runs of one character are
    allowed: the longest of all is also the longest at the first place.
    """
    squares = sum(len(token) ** 2 for token in special)
    if squares > MOST_SQUARES:
        raise UnsupportedError(f"the squared lengths of special tokens have the sum {squares:,}; expected at most {MOST_SQUARES:,}")
    beginnings = {token[:size]: token for token in special for size in range(1, len(token))}
    for token in special:
        for size in range(1, len(token)):
            other = beginnings.get(token[-size:])
            if other and not (len({*token}) == len({*other}) == 1):
                raise UnsupportedError(f"special tokens {quoted(token)} and {quoted(other)} may overlap in a text")


def _byte_level(of: _Vocabulary) -> Document:
    found = splitters.splitter(of.pre or "default")
    model = {"type": "BPE", "vocab": of.ids, "merges": _pairs(of.merges()), "ignore_merges": found.ignores_merges}
    split = {"type": "Sequence", "pretokenizers": [*splitters.components(found), {**BYTE_LEVEL, "use_regex": False}]}
    around = _around(of, found.adds_bos, bos=11, eos=11)
    return _written(of, model, around, normalizer=None, pre_tokenizer=split, decoder=BYTE_LEVEL)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def _pairs(merges: Sequence[str]) -> list[list[str]]:
    """The two tokens of each merge. They are divided at the first space after the first character, which may be a space itself."""
    return [[merge[: (place := merge.find(" ", 1))], merge[place + 1 :]] for merge in merges]


def _by_scores(of: _Vocabulary) -> Document:
    model = {
        "type": "BPE",
        "vocab": of.ids,
        "merges": [[*pair] for pair in _merges(of)],
        "unk_token": of.tokens[of.id("unknown", 0)],
        "fuse_unk": True,
        "byte_fallback": True,
    }
    escape = {"type": "Replace", "pattern": {"String": " "}, "content": SYMBOL}
    prefix = [{"type": "Prepend", "prepend": SYMBOL}] if of.flag("add_space_prefix", True) else []
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if prefix else []
    steps = [{**escape, "pattern": {"String": SYMBOL}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, *strip]
    return _written(
        of,
        model,
        _around(of, True, bos=1, eos=2),
        normalizer={"type": "Sequence", "normalizers": [*prefix, escape]},
        pre_tokenizer=None,
        decoder={"type": "Sequence", "decoders": steps},
    )


def _merges(of: _Vocabulary) -> list[tuple[str, str]]:
    """The merges that scores determine. Merges make every token except special tokens, which are cut out of the text first.

    Raises:
        UnsupportedError: a token for a byte is missing, or merges may make a special token or a token for a byte.
    """
    if not of.scores:
        raise ValueError(f"{KEY}scores is missing; expected the scores of SentencePiece's tokens")
    byte = {token for token, kind in zip(of.tokens, of.types, strict=True) if kind == BYTE}
    lacking = [token for token in BYTES if token not in byte]
    if lacking or len(byte) > len(BYTES):
        token = quoted((lacking or sorted(byte))[0])
        raise UnsupportedError(f"token {token} is missing or has another type; expected a token for each byte")
    made = {token: number for number, token in enumerate(of.tokens) if of.types[number] in (NORMAL, UNUSED)}
    for token, kind in zip(of.tokens, of.types, strict=True):
        if kind in SPECIAL and SYMBOL in token:
            raise UnsupportedError(f"special token {quoted(token)} contains {quoted(SYMBOL)}, so merges may make it")
        if kind == BYTE and any(_may_be(token[:place], made) and _may_be(token[place:], made) for place in range(1, len(token))):
            raise UnsupportedError(f"merges may make {quoted(token)}, which is the token for a byte")
    pieces = SentencePieceModel(
        "bpe", of.tokens, of.scores, [NORMAL if kind == UNUSED else kind for kind in of.types], True, False, "", {}, NORMALIZER
    )
    return merges_of(pieces, made)


NORMALIZER = Normalizer(b"", add_dummy_prefix=True, remove_extra_whitespaces=False, escape_whitespaces=True)


def _may_be(part: str, made: Mapping[str, int]) -> bool:
    return len(part) == 1 or part in made


KINDS: Mapping[str, Callable[[_Vocabulary], Document]] = {"gpt2": _byte_level, "llama": _by_scores}


def _around(of: _Vocabulary, adds_bos: bool, *, bos: int, eos: int) -> tuple[list[int], list[int]]:
    """The ids before and after a text. `adds_bos`, `bos`, `eos`: the defaults of missing keys."""
    before = [of.id("bos", bos)] if of.flag("add_bos_token", adds_bos) else []
    after = [of.id("eos", eos)] if of.flag("add_eos_token", False) else []
    return before, after


def _written(of: _Vocabulary, model: Document, around: tuple[list[int], list[int]], **parts: Any) -> Document:
    added = [
        {"id": number, "content": token, "special": kind != USER_DEFINED, "normalized": False}
        for number, (token, kind) in enumerate(zip(of.tokens, of.types, strict=True))
        if kind in SPECIAL
    ]
    return {"version": "1.0", "added_tokens": added, "post_processor": _template(of, *around), "model": model, **parts}


def _template(of: _Vocabulary, before: list[int], after: list[int]) -> Document | None:
    if not before + after:
        return None
    special = {of.tokens[number]: {"id": of.tokens[number], "ids": [number], "tokens": [of.tokens[number]]} for number in before + after}

    def part(ids: list[int], kind: int) -> list[Document]:
        return [{"SpecialToken": {"id": of.tokens[number], "type_id": kind}} for number in ids]

    def text(name: str, kind: int) -> list[Document]:
        return [*part(before, kind), {"Sequence": {"id": name, "type_id": kind}}, *part(after, kind)]

    return {"type": "TemplateProcessing", "single": text("A", 0), "pair": text("A", 0) + text("B", 1), "special_tokens": special}
