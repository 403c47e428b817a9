r"""The splitters of byte-level BPE in GGUF models: the name in ``tokenizer.ggml.pre`` → patterns.

llama.cpp splits a text by each pattern in turn; both matches and gaps are parts, which the next pattern splits again. Its categories are
those of Unicode 15.1, so patterns exclude the characters that Unicode 16 added.

Source: ``src/llama-vocab.cpp`` and ``src/unicode.cpp`` of llama.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from fst.compile.patterns import properties
from fst.compile.patterns.code_points import members
from fst.compile.text.characters import llama_cpp
from fst.errors import UnsupportedError, not_one_of, quoted

CATEGORY = re.compile(r"\\p\{(\w+)\}")


class Splitter(NamedTuple):
    """A splitter.

    Attributes:
        patterns: the regular expressions of the splits, in their order.
        ignores_merges: whether a part that equals a token is this token.
        adds_bos: whether a text begins with the BOS token, if the metadata contains no ``add_bos_token``.
        joins_first: whether a match of the first pattern is one part with the text before it, unless another match is directly before it.
    """

    patterns: tuple[str, ...]
    ignores_merges: bool = False
    adds_bos: bool = False
    joins_first: bool = False


_CONTRACTIONS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_OTHERS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_ENDS = r"\s*[\r\n]+|\s+(?!\S)|\s+"


def _by_case(contractions: str, numbers: str, letters: str = r"\p{L}") -> str:
    """A pattern that also cuts words before capitals. In llama.cpp, every letter but a to z is a capital, and every letter but A to Z is a
    small letter.
    """
    first, upper, lower = r"[^\r\n\p{L}\p{N}]?", f"[{letters}&&[^a-z]]", f"[{letters}&&[^A-Z]]"
    words = f"{first}{upper}*{lower}+{contractions}|{first}{upper}+{lower}*{contractions}"
    return rf"{words}|{numbers}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_ENDS}"


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
LLAMA3 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}{{1,3}}|{_OTHERS}|{_ENDS}"
_HALVES = "|".join(rf"\s{{{1 << bits}}}(?!\S)" for bits in range(9, 1, -1))
JAIS2 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}{{1,3}}|{_OTHERS}|\s*[\r\n]+|{_HALVES}|\s{{1,2}}(?!\S)|\s"
UFAKZEKA = rf"{_WORDS}|\p{{N}}|{_OTHERS}|{_ENDS}"
QWEN2 = f"{_CONTRACTIONS}|{UFAKZEKA}"
QWEN35 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_ENDS}"
BAILING = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}|{_OTHERS}|\s*[\r\n]|\s+(?!\S)|\s+"
SEED = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_ENDS}"
MINICPM5 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}+|{_OTHERS}|{_ENDS}"
EXAONE_MOE = (
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
CJK = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_PUNCTUATED = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
DEEPSEEK3 = (r"\p{N}{1,3}", CJK, rf"{_PUNCTUATED}| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_ENDS}")
SPARK = (r"\p{N}", CJK, rf"{_PUNCTUATED}| ?[\p{{P}}\p{{S}}]+|[\r\n]|\s+(?!\S)|\s+")  # its first pattern is \p{N}{1,3}, its last \p{N}
# llama.cpp replaces whitespace by a control character first, so ranges of characters never match whitespace.
_EAST = "[[\u0800-\u9fa5\uac00-\ud7ff]&&[^\\s]]+"
DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EAST, r"\p{N}")
_CASED = (  # most letters with case
    r"[[\p{Lu}\p{Ll}\p{Lt}]&&[^\x{560}-\x{588}\x{10C7}-\x{10FF}\x{1C80}-\x{1C8A}\x{2D00}-\x{2D2D}\x{A790}-\x{A7FA}"
    r"\x{AB30}-\x{AB68}\x{10570}-\x{105BC}\x{10D50}-\x{10D85}\x{16E40}-\x{16E7F}\x{1D400}-\x{1DF2A}]]"
)
DEEPSEEK_LLM = (
    r"[\r\n]",
    rf"\s?{_CASED}+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3001-\u3002]+",
    r"\s+$",
    _EAST,
    r"\p{N}+",
)
_HAN = (
    r"\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}\x{2B820}-\x{2CEAF}"
    r"\x{2CEB0}-\x{2EBEF}\x{2F800}-\x{2FA1F}"
)
KIMI = (
    rf"[{_HAN}]+|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}&&[^{_HAN}]]+{_CONTRACTIONS}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_ENDS}"
)
YOUTU = (
    "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
    f"|[\u3105-\u312f]+|{CJK}",
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+{_CONTRACTIONS}?|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_ENDS}",
)
BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_GROUPS = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"  # groups of three digits from the right
AFMOE = (
    _GROUPS,
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e00-\u0e7f\u0e80-\u0eff"
    "\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+",
    rf"{_PUNCTUATED}| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_ENDS}",
)
TINY_AYA = (
    _GROUPS,
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+{_CONTRACTIONS}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_ENDS}",
)
SUPERBPE = (r"\p{N}+", "(?=(?:[0-9]{3})+(?![0-9]))")
_KINDS = (
    (
        Splitter((GPT2,)),
        "gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de jina-v2-code jina-v1-en roberta-bpe gigachat a.x-4.0 mellum modern-bert exaone4 "
        "mpt olmo jais trillion granite-docling",
    ),
    (Splitter((r"\p{N}", GPT2)), "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2"),
    (Splitter((r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]")), "falcon"),
    (Splitter((r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]")), "default"),
    (
        Splitter((LLAMA3,), ignores_merges=True, adds_bos=True),
        "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
    ),
    (Splitter((LLAMA3,)), "dbrx smaug-bpe glm4 chatglm-bpe"),
    (Splitter((JAIS2,)), "jais-2"),
    (Splitter((QWEN2,)), "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 megrez hunyuan solar-open grok-2"),
    (Splitter((r"[^\n]+|\n+", QWEN2)), "laguna"),
    (Splitter((UFAKZEKA,)), "ufakzeka"),
    (Splitter((QWEN35,)), "qwen35"),
    (Splitter((_by_case("", r"\p{N}"),), ignores_merges=True, adds_bos=True), "tekken"),
    (Splitter((_by_case(f"{_CONTRACTIONS}?", r"\p{N}{1,3}"),)), "gpt-4o llama4 kanana2 talkie minimax-m2"),
    (Splitter((_by_case(f"{_CONTRACTIONS}?", r"\p{N}{1,3}", r"\p{L}\p{M}"),), ignores_merges=True), "granite-embed-multi-97m"),
    (Splitter(DEEPSEEK3), "deepseek-v3 hunyuan-dense hy_v4 joyai-llm"),
    (Splitter(DEEPSEEK_LLM), "deepseek-llm"),
    (Splitter(DEEPSEEK_CODER), "deepseek-coder"),
    (Splitter(SPARK), "spark2_5"),
    (Splitter((KIMI,)), "kimi-k2"),
    (Splitter(YOUTU, ignores_merges=True), "youtu"),
    (Splitter((BLOOM,)), "bloom poro-chat gpt3-finnish"),
    (Splitter((BLOOM, r"\p{N}")), "viking"),
    (Splitter((BAILING,)), "bailingmoe bailingmoe2 llada-moe"),
    (Splitter((SEED,)), "seed-coder"),
    (Splitter((EXAONE_MOE,)), "exaone-moe"),
    (Splitter((r"\p{N}{1,3}", MINICPM5), ignores_merges=True), "minicpm5"),
    (Splitter(AFMOE, joins_first=True), "afmoe"),
    (Splitter(TINY_AYA, joins_first=True), "tiny_aya cohere2moe"),
    (Splitter(SUPERBPE), "superbpe"),
)
SPLITTERS: Mapping[str, Splitter] = {name: splitter for splitter, names in _KINDS for name in names.split()}
_CHARACTERS = "it splits characters instead of bytes, as in 'é'"
REFUSED = {
    **dict.fromkeys(("gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace"), _CHARACTERS),
    "chameleon": "its second split finds images anywhere in words, as in 'aIMGIMGAZb'",
}


def splitter(name: str) -> Splitter:
    """The splitter with a name.

    Raises:
        UnsupportedError: the name is unknown, or the patterns of its splitter are.
    """
    if name in REFUSED:
        raise UnsupportedError(f"tokenizer.ggml.pre is {quoted(name)}: {REFUSED[name]}; expected another splitter")
    if name not in SPLITTERS:
        raise UnsupportedError(not_one_of("tokenizer.ggml.pre", name, sorted(SPLITTERS)))
    return SPLITTERS[name]


def components(of: Splitter) -> list[dict[str, Any]]:
    """The splits as pre-tokenizers of a ``tokenizer.json``."""
    patterns = (CATEGORY.sub(lambda match: _category(match[1]), pattern) for pattern in of.patterns)
    behaviors = "MergedWithPrevious" if of.joins_first else "Isolated", *repeat("Isolated", len(of.patterns) - 1)
    return [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}
        for pattern, behavior in zip(patterns, behaviors, strict=True)
    ]


@cache
def _category(name: str) -> str:
    """The pattern of a category of Unicode 15.1. A range of excluded characters may contain characters of other categories."""
    codes = members(properties.named(name))
    are_added = np.isin(codes, llama_cpp.added())
    first, last = np.flatnonzero(np.diff(are_added, prepend=False, append=False)).reshape(-1, 2).T
    excluded = "".join(f"\\x{{{codes[begin]:X}}}-\\x{{{codes[end - 1]:X}}}" for begin, end in zip(first, last, strict=True))
    return f"[\\p{{{name}}}&&[^{excluded}]]" if excluded else f"\\p{{{name}}}"
