"""Readers of vocabularies as targets of fuzzing."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.conformance.samples import FLAGGED, GPT2, MERGES, SCORES, unigram_document
from support.fuzz.reader import Reader, joined
from support.machines.documents import TOKENS, byte_level, over_characters
from support.sources import codes, gguf, rwkv

import fst
from fst.compile import bpe, tokenizer, wordpiece

TEXT = "unaffable é 世 ab<s>ab 1\n"
FOLDER = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
)
RANKS_FOLDER = ("tiktoken.model", "tokenizer_config.json")
OF_CODES = ("tokenizer_config.json", "bpe.codes", "dict.txt", "vocab.txt", "merges.txt", "vocab.json")
CONFIG = {
    "tokenizer_class": "GPT2Tokenizer",
    "unk_token": "<unk>",
    "bos_token": {"__type": "AddedToken", "content": "<s>", "lstrip": False},
}
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"


def used(table: Any) -> None:
    """Encode and decode a text with a compiled table."""
    found = fst.Tokenizer(table)
    found.decode(found.encode(TEXT))


def _json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def _documents() -> Sequence[bytes]:
    tokens = {token: number for number, token in enumerate(dict.fromkeys(TOKENS))}
    added = [{"id": len(tokens) + number, **part} for number, part in enumerate(FLAGGED)]
    bert = {
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [len(tokens)], "tokens": ["<s>"]}},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "vocab": tokens, "unk_token": "[UNK]", "max_input_chars_per_word": 100},
    }
    steps = [{"type": "NFKC"}, {"type": "Lowercase"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}]
    cuts = [{"type": "Digits", "individual_digits": True}, {"type": "Whitespace"}]
    return [
        _json(bert),
        _json(
            {
                **byte_level(GPT2, MERGES, [b"abba"], ["<s>"]),
                "post_processor": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
            }
        ),
        _json(over_characters([("t", "t"), ("▁", "a")], "▁abt", ("<s>",), has_bytes=False)),
        _json(unigram_document(normalizer={"type": "Sequence", "normalizers": steps}, decoder={"type": "Metaspace", "replacement": "▁"})),
        _json(
            {
                **bert,
                "added_tokens": added[:1],
                "normalizer": None,
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts},
                "model": {"type": "WordLevel", "vocab": tokens, "unk_token": "[UNK]"},
            }
        ),
    ]


def _folders() -> Sequence[bytes]:
    made = byte_level(GPT2, MERGES, [b"abba"], ["<s>"])
    merges = "#version: 0.2\n" + "".join(" ".join(merge) + "\n" for merge in made["model"]["merges"])
    config, vocabulary = _json({**CONFIG, "chat_template": TEMPLATE}), _json(made["model"]["vocab"])
    bert = _json({"tokenizer_class": "BertTokenizer", "do_lower_case": True, "unk_token": "[UNK]"})
    return [
        joined(
            FOLDER, {"tokenizer.json": _json(made), "tokenizer_config.json": config, "special_tokens_map.json": _json({"bos_token": "<s>"})}
        ),
        joined(
            FOLDER,
            {"vocab.json": vocabulary, "merges.txt": merges, "tokenizer_config.json": config, "added_tokens.json": _json({"<m>": 999})},
        ),
        joined(FOLDER, {"vocab.txt": "\n".join(dict.fromkeys(TOKENS)), "tokenizer_config.json": bert}),
    ]


def _ranks() -> Sequence[bytes]:
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b" ab", b"abab"]
    return [b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(tokens))]


def _ranks_folders() -> Sequence[bytes]:
    added = {str(259 + number): {"content": token, "special": True} for number, token in enumerate(("[BOS]", "[EOS]", "[gMASK]", "<sop>"))}
    configs = ({"tokenizer_class": name, "added_tokens_decoder": added} for name in ("TikTokenTokenizer", "ChatGLM4Tokenizer"))
    return [joined(RANKS_FOLDER, {"tiktoken.model": _ranks()[0].decode(), "tokenizer_config.json": _json(config)}) for config in configs]


def _rwkv() -> Sequence[bytes]:
    return [rwkv.text_of(rwkv.vocabulary([b"ab", b" ab", b"abab", "é".encode(), b"\xe4\xb8"])).encode()]


def _tekken() -> Sequence[bytes]:
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b" ab"]
    vocabulary = [{"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None} for rank, token in enumerate(tokens)]
    config = {"pattern": GPT2, "num_vocab_tokens": 258, "default_vocab_size": 262, "default_num_special_tokens": 4, "version": "v3"}
    special = [{"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(("<unk>", "<s>"))]
    return [_json({"config": config, "vocab": vocabulary, "special_tokens": special})]


def _models() -> Sequence[bytes]:
    from sentencepiece import sentencepiece_model_pb2

    schema: Any = sentencepiece_model_pb2
    models = []
    for kind in (1, 2, 3, 4):
        made = schema.ModelProto()
        made.trainer_spec.model_type = kind
        made.trainer_spec.byte_fallback = kind < 3
        for piece, type_ in {"<unk>": 2, "<s>": 3, **{f"<0x{byte:02X}>": 6 for byte in range(256 if kind < 3 else 0)}, "late": 4}.items():
            made.pieces.add(piece=piece, score=0, type=type_)
        for place, (piece, score) in enumerate(SCORES.items()):
            made.pieces.add(piece=piece, score=-place if kind == 2 else score, type=1)
        made.normalizer_spec.name = "identity"
        models.append(made.SerializeToString())
    return models


RENUMBERED = ("source.spm", "target.spm", "sentencepiece.bpe.model", "vocab.json", "dict.txt", "tokenizer_config.json")


def _renumbered() -> Sequence[bytes]:
    model, _, words, _ = _models()
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "late", ">>a<<", "世", *(f"<0x{byte:02X}>" for byte in range(256)), *SCORES]
    vocabulary = _json({token: number for number, token in enumerate(tokens)})
    config = _json({"tokenizer_class": "M2M100Tokenizer", "src_lang": "de", "language_codes": "wmt21"})
    lines = "".join(f"{token} {number}\n" for number, token in enumerate(tokens[4:]))
    return [
        joined(RENUMBERED, {"source.spm": model, "target.spm": words, "vocab.json": vocabulary}),
        joined(RENUMBERED, {"sentencepiece.bpe.model": model, "vocab.json": vocabulary, "tokenizer_config.json": config}),
        joined(RENUMBERED, {"sentencepiece.bpe.model": model, "dict.txt": lines}),
    ]


def _gguf() -> Sequence[bytes]:
    answers = json.loads(gguf.ANSWERS.read_text(encoding="utf-8"))
    with TemporaryDirectory() as folder:
        tokens = ["<s>", *(repr(token)[2:-1] for token in rwkv.vocabulary([b"ab", b" ab", "é".encode()]))]
        longest = {"model": "rwkv", "tokens": tokens, "token_type": [3] + [1] * (len(tokens) - 1)}
        models = (longest, gguf.byte_level(answers, "gpt-2"), gguf.by_scores(answers), gguf.unigram(answers), gguf.words(answers))
        return [gguf.written(Path(folder), model).read_bytes() for model in models]


def _codes(*, are_split: bool) -> Sequence[bytes]:
    folders = [files for name, files in codes.FOLDERS.items() if (name in codes.SPLIT) == are_split]
    contents = [{name: content if isinstance(content, str) else _json(content) for name, content in files.items()} for files in folders]
    return [joined(OF_CODES, files) for files in contents]


READERS = {
    "codes": Reader(lambda folder: used(bpe(folder)), lambda: _codes(are_split=False), OF_CODES),
    "codes of words": Reader(lambda folder: used(bpe(folder, pre_tokenizer="whitespace")), lambda: _codes(are_split=True), OF_CODES),
    "gguf": Reader(lambda folder: used(tokenizer(folder / "a.gguf")), _gguf, ("a.gguf",)),
    "tokenizer.json": Reader(lambda folder: used(tokenizer(folder / "tokenizer.json")), _documents, ("tokenizer.json",)),
    "vocab.txt": Reader(
        lambda folder: used(wordpiece(folder / "vocab.txt")), lambda: ["\n".join(dict.fromkeys(TOKENS)).encode()], ("vocab.txt",)
    ),
    "renumbered": Reader(lambda folder: used(tokenizer(folder)), _renumbered, RENUMBERED),
    "folder": Reader(lambda folder: used(tokenizer(folder)), _folders, FOLDER),
    "rwkv": Reader(lambda folder: used(bpe(folder / "a.txt")), _rwkv, ("a.txt",)),
    "tiktoken": Reader(lambda folder: used(bpe(folder / "a.tiktoken", pattern=GPT2, special={"<s>": 300})), _ranks, ("a.tiktoken",)),
    "ranks folder": Reader(lambda folder: used(bpe(folder)), _ranks_folders, RANKS_FOLDER),
    "tekken": Reader(lambda folder: used(bpe(folder / "tekken.json")), _tekken, ("tekken.json",)),
    "sentencepiece": Reader(lambda folder: used(tokenizer(folder / "a.model")), _models, ("a.model",)),
}
