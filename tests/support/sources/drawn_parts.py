"""The components of drawn configurations, with weights: components of real files of `tokenizers` have the highest."""

from __future__ import annotations

import base64
from typing import Any

from fst.compile.text.edits.rules import of_rule

Part = dict[str, Any]
Weighted = list[tuple[float, list[Part]]]


def plain(*kinds: str) -> list[Part]:
    """Components without fields."""
    return [{"type": kind} for kind in kinds]


def replaced(content: str, **pattern: str) -> Part:
    """A normalizer or decoder Replace of `String` or `Regex`."""
    return {"type": "Replace", "pattern": pattern, "content": content}


def split(behavior: str = "Isolated", invert: bool = False, **pattern: str) -> Part:
    """A pre-tokenizer Split by `String` or `Regex`."""
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def bert(lowercase: bool = True, accents: bool | None = None, chinese: bool = True, clean: bool = True) -> Part:
    """A BertNormalizer."""
    flags = {"clean_text": clean, "handle_chinese_chars": chinese, "strip_accents": accents, "lowercase": lowercase}
    return {"type": "BertNormalizer", **flags}


def prepend(text: str) -> Part:
    """A normalizer Prepend."""
    return {"type": "Prepend", "prepend": text}


def strip(left: bool = True, right: bool = True) -> Part:
    """A normalizer Strip."""
    return {"type": "Strip", "strip_left": left, "strip_right": right}


def byte_level(prefix: bool = False, regex: bool = True, trim: bool = True) -> Part:
    """A pre-tokenizer ByteLevel."""
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim, "use_regex": regex}


def metaspace(scheme: str = "always", cuts: bool = True) -> Part:
    """A pre-tokenizer or decoder Metaspace."""
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cuts}


def digits(individual: bool = True) -> Part:
    """A pre-tokenizer Digits."""
    return {"type": "Digits", "individual_digits": individual}


def punctuation(behavior: str = "Isolated") -> Part:
    """A pre-tokenizer Punctuation."""
    return {"type": "Punctuation", "behavior": behavior}


CHARSMAP = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(of_rule("nmt_nfkc")).decode()}
QUOTES = [replaced('"', String="``"), replaced('"', String="''")]
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = LLAMA3.replace("{1,3}", "")
GPT4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?"
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
SMILES = r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>|\*|\$|\%[0-9]{2}|[0-9])"
HAN = r"[一-龥぀-ゟ゠-ヿ]+"

# Normalizers of real files, by the kind of the model.
NORMALIZERS: dict[str, Weighted] = {
    "bytes": [
        (50, []),
        (22, plain("NFC")),
        (4, plain("NFKC")),
        (4, plain("Lowercase")),
        (5, [*plain("NFC"), replaced(" ", Regex=r"\s+"), *plain("Lowercase")]),
        (3, plain("NFD", "Lowercase", "StripAccents")),
        (2, plain("NFKC", "Lowercase")),
        (2, [strip(), *plain("NFC")]),
        (2, [prepend(" ")]),
        (2, [replaced("  ", String="\t")]),
        (2, [replaced(" ", Regex=" {2,}")]),
        (2, plain("Nmt", "NFKC")),
    ],
    "characters": [
        (24, [prepend("▁"), replaced("▁", String=" ")]),
        (14, [replaced("▁", String=" ")]),
        (14, []),
        (6, plain("NFC")),
        (6, plain("NFKC")),
        (6, [bert()]),
        (6, [CHARSMAP]),
        (4, [CHARSMAP, replaced("▁", Regex=" {2,}")]),
        (4, [CHARSMAP, strip(False), replaced(" ", Regex=" {2,}")]),
        (4, plain("Lowercase")),
        (4, [*plain("NFD", "Lowercase", "StripAccents")]),
        (3, [*plain("NFC"), prepend("▁"), replaced("▁", String=" ")]),
        (3, [*QUOTES, *plain("NFKC")]),
    ],
    "unigram": [
        (24, [CHARSMAP]),
        (14, [CHARSMAP, replaced(" ", Regex=" {2,}")]),
        (8, [CHARSMAP, strip(False), replaced(" ", Regex=" {2,}")]),
        (8, [*QUOTES, *plain("NFKD", "StripAccents", "Lowercase"), CHARSMAP, replaced(" ", Regex=" {2,}")]),
        (6, [*QUOTES, CHARSMAP, replaced(" ", Regex=" {2,}")]),
        (8, plain("Nmt", "NFKC")),
        (6, [*plain("Nmt", "NFKC"), replaced(" ", Regex=" {2,}")]),
        (6, [*plain("NFKC"), replaced(" ", Regex=" {2,}"), *plain("Lowercase")]),
        (6, plain("NFKC")),
        (8, []),
        (3, [replaced(" ", Regex=r"\s{2,}|[\n\r\t]"), *plain("NFC"), strip()]),
        (3, [prepend("▁"), replaced("▁", String=" ")]),
    ],
    "wordpiece": [
        (30, [bert()]),
        (18, [bert(lowercase=False)]),
        (6, [bert(lowercase=False, accents=False)]),
        (6, [bert(accents=False)]),
        (4, [bert(chinese=False)]),
        (8, plain("NFD", "Lowercase", "StripAccents")),
        (6, plain("NFKC", "Lowercase")),
        (5, plain("Lowercase")),
        (5, plain("NFC")),
        (8, []),
        (4, [strip(), bert()]),
        (2, [replaced("'", String="’"), bert()]),
    ],
}
NORMALIZERS["words"] = NORMALIZERS["wordpiece"]
# Normalizers that users combine as they like.
LOOSE: Weighted = [
    *((weight, plain(kind)) for kind, weight in zip(("NFC", "NFD", "NFKC", "NFKD"), (4, 4, 5, 3), strict=True)),
    *((weight, plain(kind)) for kind, weight in zip(("Lowercase", "StripAccents", "Nmt"), (6, 4, 2), strict=True)),
    (4, [strip()]),
    (1, [strip(left=False)]),
    (4, [bert()]),
    (1, [bert(lowercase=False, accents=True)]),
    (2, [CHARSMAP]),
    (2, [prepend("▁")]),
    (3, [replaced(" ", Regex=" {2,}")]),
    (3, [replaced(" ", Regex=r"\s+")]),
    (2, [replaced(" ", Regex=r"[\n\r\t]")]),
    (2, QUOTES),
    (2, [replaced("...", String="…")]),
    (1, [replaced("", Regex=r"[^\w\s]")]),
    (1, [replaced("0", Regex=r"\d")]),
    (1, [replaced("", Regex=r"\p{Cc}")]),
    (1, [replaced("<url>", Regex=r"https?://\S+")]),
    (1, [replaced("ß", String="ss")]),
]

SPLIT_FIRST = [byte_level(regex=False)]
PRE_TOKENIZERS: dict[str, Weighted] = {
    "bytes": [
        (26, [byte_level()]),
        (10, [byte_level(prefix=True)]),
        (8, [byte_level(prefix=True, trim=False)]),
        (9, [split(Regex=LLAMA3), *SPLIT_FIRST]),
        (9, [split(Regex=QWEN), *SPLIT_FIRST]),
        (4, [split(Regex=GPT4O), *SPLIT_FIRST]),
        (4, [split("Removed", True, Regex=CLIP), *SPLIT_FIRST]),
        (3, [split(Regex=r"\p{N}{1,3}"), split(Regex=HAN), split(Regex=DEEPSEEK), *SPLIT_FIRST]),
        (3, [split(Regex=BLOOM), *SPLIT_FIRST]),
        (3, [digits(), byte_level()]),
        (3, [punctuation("Contiguous"), byte_level(), digits(False), split(Regex="[0-9][0-9][0-9]")]),
        (2, [split("Removed", True, Regex=LLAMA3), *SPLIT_FIRST]),
        (2, [split(Regex=r"\p{N}"), *SPLIT_FIRST]),
        (2, [split("MergedWithNext", String=" "), *SPLIT_FIRST]),
        (2, [*plain("Whitespace"), *SPLIT_FIRST]),
        (2, [*plain("WhitespaceSplit"), *SPLIT_FIRST]),
        (2, [punctuation(), byte_level()]),
        (2, SPLIT_FIRST),
        (1, [*plain("BertPreTokenizer"), *SPLIT_FIRST]),
        (1, [byte_level(), digits()]),
        (1, [*plain("Whitespace"), digits(), *SPLIT_FIRST]),
        (1, [split("Isolated", Regex=r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))"), split(Regex=LLAMA3), *SPLIT_FIRST]),
        (1, [split("Removed", String=" "), *SPLIT_FIRST]),
        (1, [split("MergedWithPrevious", Regex=r"[\r\n]+"), split(Regex=GPT2), *SPLIT_FIRST]),
        (1, [split("Contiguous", Regex=r"\p{P}"), byte_level()]),
        (1, [*plain("UnicodeScripts"), *SPLIT_FIRST]),
        (1, [{"type": "FixedLength", "length": 64}, *SPLIT_FIRST]),
    ],
    "characters": [
        (22, []),
        (18, [metaspace("first", False)]),
        (12, [metaspace()]),
        (6, [metaspace("never")]),
        (6, [split("MergedWithPrevious", String=" ")]),
        (8, plain("Whitespace")),
        (6, plain("WhitespaceSplit")),
        (6, plain("BertPreTokenizer")),
        (4, [*plain("WhitespaceSplit"), metaspace()]),
        (4, [digits()]),
        (3, [*plain("Whitespace"), digits()]),
        (2, [metaspace(), digits()]),
        (2, [punctuation(), metaspace()]),
        (2, [split(Regex=SMILES)]),
        (1, [split(String="")]),
        (1, [{"type": "CharDelimiterSplit", "delimiter": " "}]),
        (1, plain("UnicodeScripts")),
        (1, [{"type": "FixedLength", "length": 5}]),
    ],
    "unigram": [
        (40, [metaspace()]),
        (16, [*plain("WhitespaceSplit"), metaspace()]),
        (6, [metaspace("first")]),
        (6, [metaspace("never")]),
        (6, [metaspace("first", False)]),
        (3, [metaspace(), digits()]),
        (3, [metaspace(), punctuation()]),
        (3, [digits(), metaspace()]),
        (3, [punctuation(), metaspace()]),
        (3, []),
        (2, plain("Whitespace")),
        (2, plain("WhitespaceSplit")),
        (1, [*plain("UnicodeScripts"), metaspace()]),
        (1, [*plain("UnicodeScripts"), *plain("WhitespaceSplit")]),
        (1, [split(Regex=r"\d"), metaspace()]),
    ],
    "wordpiece": [
        (48, plain("BertPreTokenizer")),
        (16, plain("Whitespace")),
        (7, plain("WhitespaceSplit")),
        (5, [*plain("WhitespaceSplit"), punctuation()]),
        (4, [*plain("Whitespace"), digits()]),
        (3, [*plain("BertPreTokenizer"), digits()]),
        (3, [*plain("WhitespaceSplit"), punctuation("Contiguous"), digits(False)]),
        (2, [punctuation("Removed"), *plain("Whitespace")]),
        (2, [split("Removed", Regex=r"\s+")]),
        (2, [split(Regex=r"\w+|[^\w\s]+")]),
        (2, [*plain("WhitespaceSplit"), split(Regex=r"[^\w\s]")]),
        (1, [split("Removed", String=" ")]),
        (1, [metaspace()]),
        (1, []),
        (1, [{"type": "CharDelimiterSplit", "delimiter": " "}]),
    ],
    "words": [
        (20, plain("Whitespace")),
        (14, plain("WhitespaceSplit")),
        (6, plain("BertPreTokenizer")),
        (5, [split(Regex=SMILES)]),
        (4, [{"type": "CharDelimiterSplit", "delimiter": " "}]),
        (4, [split(String="")]),
        (4, [split(Regex=".")]),
        (2, [*plain("Whitespace"), digits()]),
        (2, [split("Removed", String=" ")]),
        (1, []),
    ],
}
SENTENCEPIECE = [replaced(" ", String="▁"), *plain("ByteFallback", "Fuse"), {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
DECODERS: dict[str, Weighted] = {
    "bytes": [(90, [byte_level()]), (6, []), (2, [{"type": "BPEDecoder", "suffix": "</w>"}]), (1, [*plain("ByteFallback"), byte_level()])],
    "characters": [
        (30, SENTENCEPIECE),
        (14, [replaced(" ", String="▁"), *plain("ByteFallback", "Fuse")]),
        (18, [metaspace()]),
        (8, [{"type": "BPEDecoder", "suffix": "</w>"}]),
        (10, []),
        (3, plain("Fuse")),
        (2, [byte_level()]),
        (2, [{"type": "WordPiece", "prefix": "##", "cleanup": True}]),
        (1, [replaced(" ", Regex="▁+")]),
    ],
    "unigram": [(80, [metaspace()]), (6, [metaspace("first")]), (6, SENTENCEPIECE), (8, [])],
    "wordpiece": [
        (74, [{"type": "WordPiece", "prefix": "##", "cleanup": True}]),
        (12, [{"type": "WordPiece", "prefix": "##", "cleanup": False}]),
        (12, []),
        (1, plain("Fuse")),
        (1, [metaspace()]),
    ],
    "words": [(24, []), (4, [{"type": "WordPiece", "prefix": "##", "cleanup": True}]), (2, plain("Fuse"))],
}
