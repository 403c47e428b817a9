"""Make a ``tokenizer.json`` from a byte-level BPE table. ``tokenizers`` can read this file, and `fst.compile` compiles it to an equal
table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fst.errors import UnsupportedError
from fst.machines.bpe.table import BpeTable
from fst.pretokens.header import PREFIX_SPACE
from fst.pretokens.table import PretokenTable
from fst.runtime.compat.transformers.document import Json, byte_level, decoder, sequence_of, template_processing
from fst.tables.header import LLAMA_CPP, SENTENCEPIECE

BARE = ((("A", 0),), (("A", 0), ("B", 1)))  # templates without special tokens

Merge = tuple[bytes, bytes]


def document(table: BpeTable) -> Json:
    """Make a ``tokenizer.json`` that compiles to a table."""
    if len(table.subword_ids):
        raise UnsupportedError("a table of codes has no tokenizer.json: tokenizers would give other ids; keep the table, or its source")
    return {**shared_parts(table), "model": model_of(table)}


def model_of(table: BpeTable) -> Json:
    """Make the model of a ``tokenizer.json``."""
    model = table.metadata.model
    if model.longest_match:
        raise UnsupportedError("a table of longest matches has no tokenizer.json: tokenizers has no such model; save the table instead")
    return {
        "type": "BPE",
        "dropout": model.dropout or None,
        "unk_token": model.unk_token,
        "continuing_subword_prefix": model.continuing_subword_prefix or None,
        "end_of_word_suffix": model.end_of_word_suffix or None,
        "fuse_unk": model.fuse_unk,
        "byte_fallback": model.byte_fallback,
        "ignore_merges": model.ignore_merges,
        "vocab": vocabulary(table),
        "merges": [[*map(model.letters.spelled, pair)] for pair in merges(table)],
    }


def shared_parts(table: PretokenTable) -> Json:
    """Make all members of a ``tokenizer.json`` except the model."""
    metadata = table.metadata
    if (name := metadata.text.reference).startswith((SENTENCEPIECE, LLAMA_CPP)):
        raise UnsupportedError(f"a table with the ids of {name} has no tokenizer.json: tokenizers would give other ids")
    settings = metadata.settings
    return {
        "version": "1.0",
        "truncation": settings.truncation,
        "padding": settings.padding,
        "added_tokens": metadata.added_tokens.listed(),
        "normalizer": sequence_of("normalizers", metadata.text.normalizers or ()),
        "pre_tokenizer": sequence_of("pretokenizers", _pre_tokenizers(metadata.text.pre_tokenizers or ())),
        "post_processor": post_processor(table),
        "decoder": decoder(settings.decoder),
    }


def vocabulary(table: BpeTable) -> dict[str, int]:
    """Return a mapping from token to id for the model's vocabulary, without added tokens that are not in this vocabulary."""
    known = table.metadata.model.vocabulary_tokens
    return dict(zip(table.tokens[:known], table.token_ids[:known].tolist(), strict=True))


def merges(table: BpeTable) -> list[Merge]:
    """Return the merges in ascending order of rank."""
    known = table.metadata.model.model_tokens
    contents = dict(zip(table.token_ids[:known].tolist(), table.contents, strict=False))
    return [(contents[left], contents[right]) for left, right, _ in table.merges.tolist()]


def _pre_tokenizers(parts: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Make the pre-tokenizers of a ``tokenizer.json``. A ByteLevel component may also add a leading space, and split by GPT-2's pattern.
    The two halves of UnicodeScripts become one component.
    """
    parts = [{name: value for name, value in part.items() if name != "half"} for part in parts if part.get("half") != 1]
    count = next((place for place, part in enumerate(parts, 1) if part["type"] == "ByteLevel"), 0)
    parts, behind = parts[:count], parts[count:]
    if not parts:
        return behind
    if any("dialect" in part for part in parts):
        what = "with the pattern of tiktoken, which tokenizers reads differently"
        raise UnsupportedError(f"a tokenizer.json {what}: keep the table, or its source")
    place = parts.index(PREFIX_SPACE) if PREFIX_SPACE in parts else len(parts) - 1
    own = byte_level(add_prefix_space=PREFIX_SPACE in parts, use_regex=len(parts) - place > 2)
    return [*parts[:place], own, *behind]


def post_processor(table: PretokenTable) -> Json | None:
    """Make the post-processor of a ``tokenizer.json``; None if it adds nothing and trims nothing."""
    templates, trimming = table.metadata.templates, table.metadata.text.trimming
    processors: list[Json] = []
    if trimming is not None:
        processors.append(byte_level(add_prefix_space=trimming, use_regex=True))
    if (templates.single, templates.pair) != BARE:
        processors.append(template_processing(table))
    return sequence_of("processors", processors)
