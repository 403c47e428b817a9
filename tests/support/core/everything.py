"""Tables of all kinds, passed to every function, for processes that store kernels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.machines.documents import PIECES, TOKENS, compiled

import fst
from fst.compile import tokenizer as compile_any
from fst.compile import wordpiece
from fst.runtime.compat.transformers.document import document
from fst.runtime.machines.unigram.tokenizer import UnigramTokenizer

CALLS: tuple[dict[str, Any], ...] = (
    {},
    {"padding": True, "return_tensors": "np"},
    {"padding": "max_length", "truncation": True, "max_length": 8, "pad_to_multiple_of": 4},
    {"truncation": "longest_first", "max_length": 8, "stride": 1, "return_overflowing_tokens": True, "return_offsets_mapping": True},
    {"add_special_tokens": False, "return_length": True, "return_special_tokens_mask": True},
)


def use(tokenizer: fst.Tokenizer, rows: list[str]) -> None:
    """Encode texts with every method of a tokenizer."""
    pa = pytest.importorskip("pyarrow", reason="columns are pyarrow's")
    wrong = ["a\ud800", *rows]
    for batch_ in (rows, [row.encode() for row in rows]):
        tokenizer.encode_batch(batch_)
        tokenizer.encode_batch(batch_, max_length=3, add_special_tokens=False)
        tokenizer.encode_batch(batch_ * 40, threads=2)
        tokenizer.count_tokens(batch_)
        tokenizer.encode_arrow(pa.array(batch_)[1:])
        tokenizer.encode(batch_[0])
    tokenizer.encode_batch(wrong, errors="replace")
    tokenizer.encode(wrong[0], errors="replace")
    tokenizer(rows)
    tokenizer(rows[0])
    tokenizer([])


def use_everything(folder: Path) -> None:
    """Compile tables of all kinds, and use them with every method; a vocabulary is written to the folder."""
    tables = compiled()
    for tokens in (["[UNK]"], ["[UNK]", "a"], TOKENS):
        compiled(tokens, layout="compact")
    rows = [*PIECES, " ".join(PIECES) * 300, "", "a " * (1 << 19)]
    plain = fst.Tokenizer(tables)
    use(plain, rows)
    for asked in CALLS:
        plain(list(PIECES), PIECES[::-1], **asked)
        assert plain([[piece, piece] for piece in PIECES], is_split_into_words=True, **asked).encodings
    plain.encode_batch(rows, offsets=True)
    for offsets in (False, True):
        stream = plain.stream(offsets=offsets)
        for row in rows:
            stream.write(row)
        stream.close()
    source, described = folder / "tokenizer.json", document(wordpiece(["[UNK]", "[PAD]", "a", "##b", "un", "##able"]))
    source.write_text(json.dumps({**described, "normalizer": {"type": "NFC"}}))
    composing = fst.Tokenizer(wordpiece(source))
    use(composing, ["e\u0301a", "b"])
    composing.encode_batch(["e\u0301a", "b"], offsets=True)
    late = {"id": 6, "content": "un!", "lstrip": True, "rstrip": False, "single_word": False, "normalized": True, "special": False}
    source.write_text(json.dumps({**described, "added_tokens": [late]}))
    added = fst.Tokenizer(wordpiece(source))
    use(added, ["a un! b", "unable"])
    added.encode_batch(["a un! b", "unable"], offsets=True)
    for fallback in (False, True):
        names = ["<unk>", "\u2581", "ab", *(f"<0x{byte:02X}>" for byte in range(256 * fallback))]
        scores: list[list[Any]] = [[name, -len(name)] for name in names]
        model = {"type": "Unigram", "unk_id": 0, "byte_fallback": fallback, "vocab": scores}
        source.write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581"}}))
        scored = fst.Tokenizer(compile_any(source))
        use(scored, ["ab abab \u2603", "unable"])
        for nbest_size in (None, -1, 3):
            how: dict[str, Any] = {} if nbest_size is None else {"randomness": fst.Sampling(nbest_size=nbest_size)}
            for located in (False, True):
                scored.encode_batch(["ab abab \u2603", "unable"], offsets=located, **how)
        assert isinstance(scored, UnigramTokenizer)
        scored.nbest("ab abab", 3)
