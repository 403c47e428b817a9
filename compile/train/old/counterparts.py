"""Components of `tokenizers` that replace components of tiktoken and SentencePiece in a vocabulary trained like an old one.

A table made from tiktoken or SentencePiece contains no ``tokenizer.json``, because on rare texts `tokenizers` could return other ids. A new
vocabulary has new ids anyway, so components that treat nearly all texts alike are sufficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fst.compile.sources.tiktoken import ENCODINGS
from fst.compile.text.components import Component
from fst.compile.text.sentencepiece import CHARSMAP, SPACES
from fst.compile.train.pipeline import METASPACE, SPLITTERS, STRIPS
from fst.compile.train.result import PLAIN
from fst.errors import UnsupportedError, quoted
from fst.tables.header import SENTENCEPIECE

NAMES = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}  # tiktoken encoding → splitter with the same pre-tokens
PATTERNS = {ENCODINGS[encoding].pattern: SPLITTERS[name] for encoding, name in NAMES.items()}
KINDS = {"unigram": "Unigram", "bpe": "BPE"}
PREPEND = {"type": "Prepend", "prepend": "▁"}

Json = Mapping[str, Any]


def counterpart(table: Any) -> Json | None:
    """A ``tokenizer.json`` from which a vocabulary like that of a table of `tiktoken` or SentencePiece can be trained; None for other
    tables.

    Raises:
        UnsupportedError: `tokenizers` has no equivalent of a component, which the message names.
    """
    text = getattr(table.metadata, "text", None)
    if text is None:
        return None
    if text.reference.startswith(SENTENCEPIECE):
        return _of_sentencepiece(table)
    splits = [part["pattern"]["Regex"] for part in text.pre_tokenizers or () if "dialect" in part]
    return _of_tiktoken(table, splits[0]) if splits else None


def _of_tiktoken(table: Any, pattern: str) -> Json:
    if pattern not in PATTERNS:
        raise UnsupportedError(f"the pattern {quoted(pattern)} of tiktoken has no known counterpart; train with train.bpe and a splitter")
    found = PATTERNS[pattern]
    return {
        "added_tokens": table.metadata.added_tokens.listed(),
        "pre_tokenizer": found.pre_tokenizer,
        "decoder": found.decoder,
        "model": {"type": "BPE", "vocab": _ids(table), "merges": []},
    }


def _ids(table: Any) -> dict[str, int]:
    return dict(zip(table.tokens, table.token_ids.tolist(), strict=True))


def _of_sentencepiece(table: Any) -> Json:
    facts, names = table.metadata.model.sentencepiece, {number: token for token, number in _ids(table).items()}
    if facts.kind not in KINDS:
        raise UnsupportedError(f"the kind of the SentencePiece model is {facts.kind}; expected unigram or bpe")
    own = dict.fromkeys((facts.unk_id, *facts.control), True) | dict.fromkeys(facts.user_defined, False)
    added = [{"id": number, "content": names[number], **PLAIN, "special": own[number]} for number in sorted(own)]
    return {"added_tokens": added, **_pipeline(table.metadata.text.normalizers or ()), "model": _model(table, KINDS[facts.kind])}


def _model(table: Any, kind: str) -> Json:
    """The member ``model``, with options and tokens. Scores and merges are left out, because only an encoder needs them."""
    model = table.metadata.model
    if kind == "Unigram":
        vocab = [[token, 0.0] for token in table.tokens]
        return {"type": kind, "unk_id": model.sentencepiece.unk_id, "byte_fallback": False, "vocab": vocab}
    unknown = table.tokens[table.token_ids.tolist().index(model.sentencepiece.unk_id)]
    return {"type": kind, "unk_token": unknown, "fuse_unk": True, "byte_fallback": False, "vocab": _ids(table), "merges": []}


def _pipeline(parts: Any) -> Json:
    """The members ``normalizer``, ``pre_tokenizer`` and ``decoder``."""
    normalizers: list[Component] = []
    spaces: Component = {}
    for part in parts:
        if part["type"] == CHARSMAP:
            normalizers.append({"type": "Precompiled", "precompiled_charsmap": part["precompiled_charsmap"]})
        elif part["type"] == SPACES:
            spaces = part
    if spaces.get("is_suffix") or spaces.get("symbol", "▁") != "▁":
        raise UnsupportedError("treat_whitespace_as_suffix and spaces without ▁ have no counterpart; train with train.unigram or train.bpe")
    strips, adds = spaces.get("remove_extra_whitespaces"), spaces.get("add_dummy_prefix")
    normalizers += STRIPS if strips else [PREPEND] if adds else []
    scheme = "always" if strips and adds else "never"
    return {
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": {**METASPACE, "prepend_scheme": scheme},
        "decoder": {**METASPACE, "prepend_scheme": "always" if adds else "never"},
    }
