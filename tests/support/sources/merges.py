"""Sources of byte-level BPE in several formats, and slow definitions of their ids."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.shared_data import SHARED
from tokenizers import Tokenizer

import fst
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.pretokens import splits
from fst.compile.sources.read import read
from fst.compile.text.components import Component
from fst.compile.text.source import Source
from fst.pretokens.byte_letters import LETTERS

Json = dict[str, Any]
VOCABULARIES = SHARED / "vocab_bpe"
TEXTS = (
    "Hello world, it's 2026! naïve café  \n\n  東京 😺\t'll they've 1234567",
    "def f(x):\n    return x ** 2  # привет\r\n",
    "<|endoftext|>",
    "  leading, trailing  ",
    "",
)
LETTER = [LETTERS[byte] for byte in range(256)]
MERGES = [["a", "b"], ["Ġ", "ab"], ["b", "c"]]
TOKENS = [*LETTER, "ab", "Ġab", "bc"]
BARE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}


def model(tokens: Sequence[str] = TOKENS, merges: Any = MERGES, **more: Any) -> Json:
    """The model of a tokenizer.json, with a token for each byte."""
    return {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": merges, **more}


def document(**parts: Any) -> Json:
    """A tokenizer.json with the given `parts` in place of its own."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": BARE,
        "post_processor": None,
        "decoder": BARE,
        "model": model(),
        **parts,
    }


def source_of(path: Path, written: Json) -> Source[BpeModel]:
    """Read a tokenizer.json."""
    path.write_text(json.dumps(written), encoding="utf-8")
    return read(path, {}, "BPE")


def refusal(path: Path, written: Json) -> str:
    """The error message for a tokenizer.json that is refused."""
    with pytest.raises(fst.FstError) as error:
        source_of(path, written)
    return str(error.value)


def merged(model: BpeModel, piece: bytes) -> list[int]:
    """The ids of a pre-token: repeatedly join the neighbours whose pair has the lowest rank, and of equal pairs the leftmost."""
    if model.ignore_merges and piece in model.vocabulary:
        return [model.vocabulary[piece]]
    by_id, ranks = model.merges is None, {pair: rank for rank, pair in enumerate(model.merges or ())}
    tokens = [piece[place : place + 1] for place in range(len(piece))]
    while True:
        found = [model.vocabulary.get(left + right) if by_id else ranks.get((left, right)) for left, right in pairwise(tokens)]
        known = [(rank, place) for place, rank in enumerate(found) if rank is not None]
        if not known:
            return [model.vocabulary[token] for token in tokens]
        place = min(known)[1]
        tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]


def pieces(parts: Sequence[Component], text: str) -> list[bytes]:
    """The pre-tokens of a text, by one component after the other; `tokenizers` runs each Split, except `tiktoken`'s, which `regex` runs."""
    found = [text] if text else []
    for part in parts:
        if part.get("dialect") == "fancy-regex":
            assert (part["behavior"], part["invert"]) == ("Removed", True)
            finditer = pytest.importorskip("regex", reason="tiktoken has it").finditer
            found = [match[0] for whole in found for match in finditer(part["pattern"]["Regex"], whole)]
        elif part["type"] == "Split":
            found = [piece for whole in found for piece, _ in split_of(part).pre_tokenize_str(whole)]
        elif part["type"] == "PrefixSpace":
            found = [whole if whole.startswith(" ") else f" {whole}" for whole in found]
        else:
            assert part == splits.BYTES
    return [piece.encode() for piece in found]


SPLITS: dict[str, Any] = {}


def split_of(part: Component) -> Any:
    """The pre-tokenizer Split of `tokenizers` for a component of a tokenizer.json, made once."""
    described = json.dumps(part)
    if described not in SPLITS:
        SPLITS[described] = reference_of(json.loads(described))
    return SPLITS[described]


def reference_of(pre_tokenizer: Json) -> Any:
    """The pre-tokenizer of `tokenizers` for a component of a tokenizer.json."""
    return Tokenizer.from_str(json.dumps(document(pre_tokenizer=pre_tokenizer))).pre_tokenizer


def ids_of(source: Source[BpeModel], text: str) -> list[int]:
    """The ids of a text by the slow definition, for texts without added tokens and sources without a normalizer."""
    found = (merged(source.model, piece) for piece in pieces(source.text.pre_tokenizers, text))
    return [number for ids in found for number in ids]


RANKS = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b" ab": 300, b"\xf0\x9f": 258}


def lines(ranks: Mapping[bytes, int] = RANKS) -> str:
    """Ranks in the file format of `tiktoken`."""
    return "".join(f"{b64encode(token).decode()} {rank}\n" for token, rank in ranks.items())


def mistral(**more: Any) -> Json:
    """A tekken.json."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b" ab", b"unused"]
    config = {"pattern": r"\w+|\W+", "default_vocab_size": 283, "default_num_special_tokens": 25, "version": "v3"}
    vocab = [{"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None} for rank, token in enumerate(tokens)]
    return {"config": {**config, **more.pop("config", {})}, "vocab": vocab, **more}
