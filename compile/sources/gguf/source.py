"""Convert the metadata of a GGUF model to a ``tokenizer.json``, or to a source.

Every text gets the ids that ``llama_tokenize`` of llama.cpp returns with ``add_special`` and ``parse_special``: special tokens are found in
a text, and the BOS and EOS tokens that the metadata demands are added.

gpt2: byte-level BPE, whose splitter has a name, see `fst.compile.sources.gguf.splitters`.
llama: SentencePiece's BPE by scores, without a normalizer; each part between special tokens begins with a space.
bert, t5, rwkv: see `fst.compile.sources.gguf.wordpiece`, `fst.compile.sources.gguf.unigram` and `fst.compile.sources.gguf.rwkv`.

Source: ``src/llama-vocab.cpp`` of llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fst.compile.sources.gguf import rwkv, splitters, unigram, wordpiece
from fst.compile.sources.gguf.header import header_of
from fst.compile.sources.gguf.metadata import KEY, SPECIAL, Document, Vocabulary, added, around, decoder, template
from fst.compile.sources.sentencepiece.model_file import (
    BYTE,
    BYTES,
    NORMAL,
    UNUSED,
    Normalizer,
    SentencePieceModel,
)
from fst.compile.sources.sentencepiece.source import merges_of
from fst.compile.text.sentencepiece import SYMBOL
from fst.compile.text.source import Source
from fst.errors import FstError, UnsupportedError, VocabularyError, not_one_of, quoted

# For these parts of names of models, llama.cpp removes ASCII whitespace before a token, or after all special tokens if none is named.
STRIPPING = (
    ("tokenizer.ggml.pre", ("jina-v2-de", "jina-v2-es", "jina-v2-code"), "<mask>"),
    ("general.architecture", ("nomic-bert-moe", "jina-bert-v3"), "<mask>"),
    ("general.name", ("phi-3", "phi3"), None),
    ("general.name", ("modern-bert",), "[MASK]"),
)


def read(path: Path) -> Document | Source[Any]:
    """The vocabulary of a GGUF model: the value of a ``tokenizer.json``, or a source if no ``tokenizer.json`` gives the same ids.

    Raises:
        VocabularyError: the file is damaged, or its metadata lacks a part of the vocabulary.
        UnsupportedError: a part of the vocabulary is not supported; the message contains its name.
    """
    try:
        return _read(Vocabulary(header_of(path).values))
    except FstError as error:
        raise type(error)(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    except ValueError as error:
        raise VocabularyError(f"{path}: {error}") from None


def _read(of: Vocabulary) -> Document | Source[Any]:
    if of.kind not in KINDS:
        raise UnsupportedError(not_one_of(f"{KEY}model", of.kind, KINDS))
    for key, parts, token in STRIPPING:
        part = next((part for part in parts if part in of.name(key)), None)
        if part and (token is None or token in of.ids):
            where = f"before {token}" if token else "after special tokens"
            raise UnsupportedError(f"{key} contains {part}: llama.cpp removes ASCII whitespace {where}, but no other whitespace, as U+00A0")
    return KINDS[of.kind](of)


def _byte_level(of: Vocabulary) -> Document:
    found = splitters.splitter(of.pre or "default")
    model = {"type": "BPE", "vocab": of.ids, "merges": _pairs(of.merges()), "ignore_merges": found.ignores_merges}
    split = {"type": "Sequence", "pretokenizers": [*splitters.components(found), {**BYTE_LEVEL, "use_regex": False}]}
    near = around(of, adds_bos=found.adds_bos, bos=11, eos=11)
    return _written(of, model, near, normalizer=None, pre_tokenizer=split, decoder=BYTE_LEVEL)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def _pairs(merges: Sequence[str]) -> list[list[str]]:
    """The two tokens of each merge. They are divided at the first space after the first character, which may be a space itself."""
    return [[merge[: (place := merge.find(" ", 1))], merge[place + 1 :]] for merge in merges]


def _by_scores(of: Vocabulary) -> Document:
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
    return _written(
        of,
        model,
        around(of, adds_bos=True, bos=1, eos=2),
        normalizer={"type": "Sequence", "normalizers": [*prefix, escape]},
        pre_tokenizer=None,
        decoder={"type": "Sequence", "decoders": decoder(strips=bool(prefix))},
    )


def _merges(of: Vocabulary) -> list[tuple[str, str]]:
    """The merges that scores determine. Merges make every token except special tokens, which are cut out of the text first.

    Raises:
        UnsupportedError: a token for a byte is missing, or merges may make a special token or a token for a byte.
    """
    byte = {token for token, kind in zip(of.tokens, of.types, strict=True) if kind == BYTE}
    lacking = [token for token in BYTES if token not in byte]
    if lacking or len(byte) > len(BYTES):
        token = quoted((lacking or sorted(byte))[0])
        raise UnsupportedError(f"token {token} is missing or has another type; expected a token for each byte")
    made = {token: number for number, token in enumerate(of.tokens) if of.types[number] in (NORMAL, UNUSED)}
    for token, kind in zip(of.tokens, of.types, strict=True):
        is_apart = kind == BYTE or (kind in SPECIAL and SYMBOL in token)  # other special tokens are cut out of the text first
        if is_apart and any(_may_be(token[:place], made) and _may_be(token[place:], made) for place in range(1, len(token))):
            what = "the token for a byte" if kind == BYTE else "a special token"
            raise UnsupportedError(f"merges may make {quoted(token)}, which is {what}")
    pieces = SentencePieceModel(
        "bpe", of.tokens, of.required_scores(), [NORMAL if kind == UNUSED else kind for kind in of.types], True, False, "", {}, NORMALIZER
    )
    return merges_of(pieces, made)


NORMALIZER = Normalizer(b"", add_dummy_prefix=True, remove_extra_whitespaces=False, escape_whitespaces=True)


def _may_be(part: str, made: Mapping[str, int]) -> bool:
    return len(part) == 1 or part in made


def _written(of: Vocabulary, model: Document, ids: tuple[list[int], list[int]], **parts: Any) -> Document:
    return {"version": "1.0", "added_tokens": added(of), "post_processor": template(of, *ids), "model": model, **parts}


KINDS: Mapping[str, Callable[[Vocabulary], Document | Source[Any]]] = {
    "gpt2": _byte_level,
    "llama": _by_scores,
    "bert": wordpiece.document,
    "t5": unigram.source,
    "rwkv": rwkv.source,
}
