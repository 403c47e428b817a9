"""A tokenizer of each kind, for tests of the stand-in for `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from support.machines.documents import byte_level, over_characters
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import fst
from fst.compile import tokenizer as compiled

BYTES = [(f"<0x{byte:02X}>", -9.0) for byte in range(256)]
AROUND = [("<s>", 1), ("</s>", 2)]


def wordpiece() -> Tokenizer:
    """A WordPiece tokenizer like BERT's."""
    tokens = ["[UNK]", "<s>", "</s>", "<pad>", "a", "b", "##a", "##b", "ab", "e", "日", "本", ".", "1", "##1"]
    made = Tokenizer(models.WordPiece({token: number for number, token in enumerate(tokens)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=AROUND)
    made.decoder = decoders.WordPiece()
    return made


def word_level() -> Tokenizer:
    """A WordLevel tokenizer whose template puts the second text of a pair before the first."""
    tokens = ["[UNK]", "<s>", "</s>", "<pad>", "a", "b", "ab", "abab", "日本", ".", "1"]
    made = Tokenizer(models.WordLevel({token: number for number, token in enumerate(tokens)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$B:1 </s>:1 $A </s> </s>", special_tokens=AROUND)
    return made


def byte_bpe() -> Tokenizer:
    """A byte-level BPE tokenizer that puts no special tokens around texts, and excludes spaces from offsets."""
    merges = [(b"a", b"b"), (b" ", b"ab"), (b"ab", b"ab"), (b"\xc3", b"\xa9")]
    made = Tokenizer.from_str(json.dumps({**byte_level(r"\s?\w+|\s+|[^\s\w]+", merges), "decoder": None}))
    made.decoder, made.post_processor = decoders.ByteLevel(), processors.ByteLevel(add_prefix_space=False, trim_offsets=True)
    return made


def character_bpe() -> Tokenizer:
    """A BPE tokenizer over characters that puts a special token before each text."""
    made = Tokenizer.from_str(json.dumps(over_characters([("a", "b"), ("▁", "ab")], "▁abe1.", has_bytes=True)))
    made.add_special_tokens(["<s>"])
    number = made.token_to_id("<s>")
    made.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", number)])
    return made


def unknown_unigram() -> Tokenizer:
    """A Unigram tokenizer without byte fallback, in whose encodings an unknown token appears as its text."""
    tokens = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), ("▁", -2.0), ("a", -2.5), ("b", -2.6), ("ab", -3.0), ("日本", -4.0)]
    made = Tokenizer(models.Unigram(tokens, 0, False))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(prepend_scheme="first"), decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=AROUND)
    return made


def unigram() -> Tokenizer:
    """A Unigram tokenizer with byte fallback, like XLNet's."""
    tokens = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), ("▁", -2.0), ("a", -2.5), ("b", -2.6), ("ab", -3.0), ("▁ab", -3.5), ("é", -4.0)]
    made = Tokenizer(models.Unigram([*tokens, *BYTES], 0, True))
    made.normalizer, made.pre_tokenizer, made.decoder = normalizers.NFC(), pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s> <s>:2", pair="$A </s> $B:1 </s>:1 <s>:2", special_tokens=AROUND)
    return made


KINDS: dict[str, Callable[[], Tokenizer]] = {
    made.__name__: made for made in (wordpiece, word_level, byte_bpe, character_bpe, unigram, unknown_unigram)
}


@cache
def source(kind: str) -> Tokenizer:
    """The tokenizer of a kind, with several added tokens."""
    made = KINDS[kind]()
    made.add_special_tokens([AddedToken("<s>", normalized=False), AddedToken("</s>", normalized=False)])
    made.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False), AddedToken("<r>", rstrip=True, normalized=False)])
    return made


@cache
def table(kind: str) -> fst.Tokenizer:
    """The tokenizer of a kind, compiled by the package."""
    return fst.Tokenizer(compiled(source(kind)))
