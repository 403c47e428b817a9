"""Small Unigram vocabularies."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as some
from support.kept import tokenizer as kept_tokenizer
from support.shared_data import SHARED
from support.text.metaspace import TO_SYMBOL, WHITESPACE, cut_by, spaced
from support.text.normalizers import LATE, LOWER, NFC, RAW, STRIPS, Json, Machine, built, in_turn, token
from tokenizers import Tokenizer

import fst

BYTES = [(f"<0x{byte:02X}>", -0.5) for byte in range(256)]
VOCABULARY = [
    ("<unk>", 0.0),
    ("▁", -2.5),
    ("a", -3.0),
    ("b", -3.5),
    ("▁a", -2.75),
    ("ab", -5.5),
    ("▁ab", -5.0),
    ("ba", -6.5),
    ("abab", -11.0),
    ("é", -4.0),
    ("日本", -4.5),
    ("本", -4.25),
    ("a b", -1.0),
    ("\x00", -4.0),
    ("▁▁", -4.75),
    ("1", -4.0),
]
PIPELINES: dict[str, Json] = {
    "always": {"pre_tokenizer": spaced()},
    "first": {"pre_tokenizer": spaced("first", split=False)},
    "words": {"pre_tokenizer": cut_by(WHITESPACE, spaced()), "normalizer": in_turn(NFC, LOWER)},
    "replaced": {"normalizer": in_turn({"type": "Prepend", "prepend": "▁"}, TO_SYMBOL)},
    "plain": {},
}
ADDED = {"none": (), "all": (*RAW, *(part for part in LATE if part["content"] != "  "), *STRIPS, token("bab"))}
BITS = [" ", "  ", "a", "b", "ab", "▁", "é", "日", "本", "1", "\n", "\x00", "☃", "<unk>", "<s>", "<mask>", "late", "word", "E", "\u0301"]


def document(vocabulary: Sequence[tuple[str, float]], *, unk_id: int | None = 0, byte_fallback: bool = False, **parts: Any) -> Json:
    """A tokenizer.json with a Unigram model."""
    model = {"type": "Unigram", "unk_id": unk_id, "byte_fallback": byte_fallback, "vocab": [[*row] for row in vocabulary]}
    return {"added_tokens": [], "normalizer": None, "pre_tokenizer": None, "model": model, **parts}


@cache
def machine(case: tuple[str, str, bool]) -> Machine:
    """The table, the tokenizer and the reference tokenizer of a test case, built from one tokenizer.json."""
    pipeline, added, fallback = case
    vocabulary = [*VOCABULARY, *(BYTES if fallback else [])]
    tokens = [{"id": len(vocabulary) + place, **part} for place, part in enumerate(ADDED[added])]
    return built(document(vocabulary, byte_fallback=fallback, added_tokens=tokens, **PIPELINES[pipeline]))


SCORES = some.sampled_from([-1.0, -2.0, -3.0, -1.5, -4.0, 0.0, 2.5, 30.0])
TOKENS = some.dictionaries(some.text("abé", min_size=1, max_size=4), SCORES, max_size=8)


def read(name: str) -> str:
    """The text of a real tokenizer.json."""
    path = SHARED / "vocab_unigram" / name / "tokenizer.json"
    return path.read_text() if path.exists() else gzip.decompress(path.with_suffix(".json.gz").read_bytes()).decode()


def without(source: str, *parts: str) -> str:
    """Set some keys of a tokenizer.json to null. The text of the file is edited, so that the decimal digits of scores do not change."""
    for part in parts:
        begin = source.index(":", source.index(f'"{part}"')) + 1
        begin += len(source[begin:]) - len(source[begin:].lstrip())
        _, end = json.JSONDecoder().raw_decode(source, begin)
        source = source[:begin] + "null" + source[end:]
    return source


@cache
def real(name: str, folder: Path) -> tuple[Any, fst.Tokenizer, Tokenizer]:
    """The table, the tokenizer and the reference tokenizer of a real vocabulary, whose normalizer and decoder are removed."""
    path = folder / f"{name}.json"
    path.write_text(without(read(name), "normalizer", "decoder"))
    table = kept_tokenizer(path)
    return table, fst.Tokenizer(table), Tokenizer.from_file(str(path))
