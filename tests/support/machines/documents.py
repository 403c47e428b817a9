"""Vocabularies for the tests of the runtime that contain every special case of the kernel, and texts in which these cases occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from support.kept import assemble

from fst.compile.machines.wordpiece.model import WordPieceModel
from fst.compile.sources.read import read
from fst.compile.text.source import Source
from fst.machines.wordpiece.table import WordPieceTable
from fst.pretokens.byte_letters import spelled
from fst.pretokens.token_letters import fallback

Merges = Sequence[tuple[bytes, bytes]]

# U+0301 is an accent that is stripped. U+1B44 and U+302E are marks that are not stripped, and adjacent ones are put in this order.
TOKENS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("a", "##a", "b", "##b", "e", "##e", "un", "##aff", "##able", "abab", "##bab", "[", "]", "<", ">", "!", "x", "##x", "s", "##s"),
    *("mask", "i", "##i", "##\u0307", "世", "\u1b44", "##\u1b44", "\u302e", "##\u302e", "\U0001f600", "##\U0001f600", "𐐨", "##𐐨"),
    *("\u1112", "##\u1161", "##\u11ab", "##\u1112", "abcdefghijkl", "abcdefghijklm", "abcdefghijkle", "##c"),
)
ADDED = ("<s>", "<s>x", "</s>", "ab!", "世<", "É", "\U0001f600\U0001f601\U0001f602!", "<mask of more letters than sixteen>")
# Parts of texts at which a cut is difficult: words (known, unknown and too long); special tokens, some of them incomplete; runs of marks;
# surrogate pairs; characters that are deleted or become several.
PIECES = (
    *("unaffable", "abababab", "abcdefghijkl", "abcdefghijklm", "qqqq", "aqa", "x" * 100, "x" * 101, "x" * 260, "!!!", "  "),
    *("[MASK]", "[MASK", "<s>x<s>", "<mask of more letters than sixteen>", "<mask of more letters than six", "世<世", "ÉÉE\u0301"),
    *("\U0001f600" * 5, "\U00010400𐐨\U00010400", "\U0001f600\U0001f601\U0001f602!", "\U0001f600\U0001f601\U0001f602\U0001f600"),
    *("\u302e\u1b44" * 4, "a\u302e\u1b44\u0301\u302e\u1b44[MASK]", "\u0301" * 9, "e" + "\u0301" * 150 + "e", "\u302e" * 70 + "\u1b44" * 70),
    *("한한한", "世世世", "\u0130\u0130", "\0a\0\u200da", "½ﷺ\ufffd"),
)


def compiled(tokens: Sequence[str] = TOKENS, added: Sequence[str] = ADDED, layout: str = "auto", **options: Any) -> WordPieceTable:
    """Compile tokens and added tokens, which are found in raw text."""
    source = source_with({token: len(tokens) + number for number, token in enumerate(added)}, tokens, **options)
    tables: WordPieceTable = assemble(source, layout)
    return tables


def source_with(
    added: Mapping[str, int],
    tokens: Sequence[str] = TOKENS,
    normalizers: Sequence[Any] | None = None,
    pre_tokenizers: Sequence[Any] | None = None,
    **options: Any,
) -> Source[WordPieceModel]:
    """Make a source from tokens and added tokens; the normalizers and pre-tokenizers are BERT's unless others are given."""
    source = read(list(tokens), options)
    text = source.text
    if normalizers is not None:
        text = replace(text, normalizers=normalizers)
    if pre_tokenizers is not None:
        text = replace(text, pre_tokenizers=pre_tokenizers)
    return replace(source, text=text, added=replace(source.added, specials={**source.added.specials, **added}))


def without_words(tables: Any) -> Any:
    """Empty the hash table of whole words, so that the automaton reads all words."""
    return replace(tables, words=np.zeros(8, np.uint64), displacements=np.zeros(2, np.uint16))


def byte_level(pattern: str, merges: Merges, more: Sequence[bytes] = (), special: Sequence[str] = (), **model: Any) -> dict[str, Any]:
    """A tokenizer.json of byte-level BPE. The bytes, the merged tokens, the `more` tokens and the special tokens have consecutive ids, in
    this order.
    """
    made = [first + second for first, second in merges]
    tokens = dict.fromkeys(map(spelled, [*(bytes([byte]) for byte in range(256)), *made, *more]))
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    bytewise = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "added_tokens": [{"id": len(tokens) + number, "content": token, "special": True} for number, token in enumerate(special)],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytewise]},
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [[spelled(first), spelled(second)] for first, second in merges],
            **model,
        },
    }


def over_characters(
    merges: Sequence[tuple[str, str]], characters: str, special: Sequence[str] = (), *, has_bytes: bool, **model: Any
) -> dict[str, Any]:
    """A tokenizer.json of BPE over characters, like SentencePiece's, with byte fallback or only with an unknown token."""
    fallbacks = map(fallback, range(256) if has_bytes else ())
    tokens = dict.fromkeys(["<unk>", *fallbacks, *characters, *(left + right for left, right in merges)])
    added = [{"id": number, "content": token, "special": True} for number, token in enumerate(special, len(tokens))]
    steps = [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    return {
        "added_tokens": added,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
        "decoder": {"type": "Sequence", "decoders": [*steps, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [[*pair] for pair in merges],
            "unk_token": "<unk>",
            "byte_fallback": has_bytes,
            **model,
        },
    }
