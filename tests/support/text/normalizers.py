"""Normalizers, pre-tokenizers and added tokens for byte-level BPE, and comparisons with `tokenizers`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from support.kept import assemble
from support.machines.bpe import ENGLISH_MERGES
from support.machines.documents import byte_level
from support.pretokens.sequences import byte_level_last, split
from support.pretokens.splitters import PATTERNS
from tokenizers import Tokenizer

import fst
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources.tokenizer_json import of_document
from fst.machines.bpe.table import BpeTable

Json = dict[str, Any]
NFC, NFD, NFKC, NFKD, LOWER = ({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase"))


def in_turn(*parts: Json) -> Json:
    """A sequence of normalizers."""
    return {"type": "Sequence", "normalizers": [*parts]}


def to(content: str, pattern: str) -> Json:
    """A normalizer that replaces the string `pattern` by `content`."""
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def replaced(content: str, regex: str) -> Json:
    """A normalizer that replaces the matches of `regex` by `content`."""
    return {"type": "Replace", "pattern": {"Regex": regex}, "content": content}


def token(content: str, *flags: str) -> Json:
    """An added token in the format of a tokenizer.json, without its id."""
    return {"content": content, "special": "normalized" not in flags, **dict.fromkeys(flags, True)}


RAW = (token("<s>"), token("<mask>", "lstrip"), token("<both>", "lstrip", "rstrip"), token("<r>", "rstrip"), token("word", "single_word"))
LATE = (token("late", "normalized"), token("  ", "normalized"), token("é!", "normalized"), token("<s", "normalized"))
STRIPS = (token("[L]", "normalized", "lstrip"), token("[R]", "normalized", "rstrip"), token("one", "normalized", "single_word"))
CLIP = (token("<|endoftext|>"), token("<|startoftext|>", "normalized"), token("<|pad|>"))
NORMALIZERS: dict[str, Json | None] = {
    "none": None,
    "NFC": NFC,
    "NFD": NFD,
    "NFKC": NFKC,
    "NFKD": NFKD,
    "lower": LOWER,
    "NFC lower": in_turn(NFC, LOWER),
    "lower NFKC": in_turn(LOWER, NFKC),
    "replace": in_turn(to("xyz", "a"), NFC, to("", "e")),
    "bert": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False},
    "clip": in_turn(NFC, replaced(" ", r"\s+"), LOWER),
    "words": LOWER,
    "digits": in_turn(NFC, replaced(" ", " {2,}")),
    "dropped": None,
}
CLIP_PATTERN = r"<\|startoftext\|>|<\|endoftext\|>|<\|pad\|>|'s|'t|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
PRE_TOKENIZERS = {
    "clip": byte_level_last(split(CLIP_PATTERN, "Removed", True), use_regex=True),
    "words": byte_level_last(split(PATTERNS["llama3"]), add_prefix_space=True),
    "digits": byte_level_last(split(r"\p{N}{1,3}"), split("é", form="String"), use_regex=True, add_prefix_space=True),
    "dropped": byte_level_last({"type": "Whitespace"}, split("[!é]", "MergedWithNext"), use_regex=True, add_prefix_space=True),
}
ADDED = {"none": (), "raw": RAW, "late": LATE, "all": (*RAW, *LATE, *STRIPS), "clip": CLIP}


def document(case: tuple[str, str, bool, bool]) -> Json:
    """Make the tokenizer.json of a test case: a normalizer, added tokens and options of ByteLevel."""
    name, added, adds_space, trims = case
    parts = byte_level(GPT2, ENGLISH_MERGES)
    byte_level_part = {"type": "ByteLevel", "add_prefix_space": adds_space, "trim_offsets": trims, "use_regex": True}
    first = len(parts["model"]["vocab"])
    tokens = [{"id": first + place, **part} for place, part in enumerate(ADDED[added])]
    stages = dict.fromkeys(("post_processor", "decoder"), byte_level_part)
    stages["pre_tokenizer"] = PRE_TOKENIZERS.get(name, byte_level_part)
    return {**parts, **stages, "normalizer": NORMALIZERS[name], "added_tokens": tokens}


Machine = tuple[BpeTable, fst.Tokenizer, Tokenizer]


@cache
def machine(case: tuple[str, str, bool, bool]) -> Machine:
    """The table, the tokenizer and the reference tokenizer of a test case."""
    return built(document(case))


def built(parts: Json) -> Machine:
    """The table, the tokenizer and the reference tokenizer of a tokenizer.json."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    whole = {"version": "1.0", **parts, "added_tokens": [{**flags, **part} for part in parts["added_tokens"]]}
    table = assemble(of_document(parts, Path("tokenizer.json")), "auto")
    return table, fst.Tokenizer(table), Tokenizer.from_str(json.dumps(whole))


def hold(made: Machine, texts: Sequence[str]) -> None:
    """Check that walk and kernels give the same ids, offsets and words as `tokenizers`."""
    table, tokenizer, reference = made
    expected = reference.encode_batch([*texts], add_special_tokens=False)
    batch = tokenizer.encode_batch([*texts], offsets=True, add_special_tokens=False)
    assert batch.offsets is not None
    assert batch.words is not None
    for row, (text, answer) in enumerate(zip(texts, expected, strict=True)):
        own = slice(batch.row_splits[row], batch.row_splits[row + 1])
        assert table.run(text) == answer.ids, text
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == batch[row].tolist() == answer.ids, text
        assert [*map(tuple, batch.offsets[own].tolist())] == answer.offsets, text
        assert batch.words[own].tolist() == answer.word_ids, text


def read(source: Path) -> str:
    """The text of a vocabulary's tokenizer.json, which may be compressed."""
    data = source.read_bytes()
    return (gzip.decompress(data) if source.suffix == ".gz" else data).decode()
