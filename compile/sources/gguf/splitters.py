r"""The splitters of byte-level BPE in GGUF models: the name in ``tokenizer.ggml.pre`` → patterns.

llama.cpp splits a text by each pattern in turn; both matches and gaps are parts, which the next pattern splits again. Its categories are
those of Unicode 15.1, so patterns exclude the characters that Unicode 16 added (`ADDED`).

Source: ``src/llama-vocab.cpp`` and ``src/unicode.cpp`` of llama.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from fst.compile.patterns import properties
from fst.compile.patterns.code_points import intersection, of_runs
from fst.errors import UnsupportedError, not_one_of

# The characters of Unicode 16 that are unassigned in Unicode 15.1.
ADDED = """
897 1B4E-1B4F 1B7F 1C89-1C8A 2427-2429 31E4-31E5 A7CB-A7CD A7DA-A7DC 105C0-105F3 10D40-10D65 10D69-10D85 10D8E-10D8F 10EC2-10EC4 10EFC
11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA 113CC-113D5 113D7-113D8 113E1-113E2 116D0-116E3 11BC0-11BE1
11BF0-11BF9 11F5A 13460-143FA 16100-16139 16D40-16D79 18CFF 1CC00-1CCF9 1CD00-1CEB3 1E5D0-1E5FA 1E5FF 1F8B2-1F8BB 1F8C0-1F8C1 1FA89
1FA8F 1FABE 1FAC6 1FADC 1FADF 1FAE9 1FBCB-1FBEF
"""
CATEGORY = re.compile(r"\\p\{(\w+)\}")


class Splitter(NamedTuple):
    """A splitter.

    Attributes:
        patterns: the regular expressions of the splits, in their order.
        ignores_merges: whether a part that equals a token is this token.
        adds_bos: whether a text begins with the BOS token, if the metadata contains no ``add_bos_token``.
    """

    patterns: tuple[str, ...]
    ignores_merges: bool = False
    adds_bos: bool = False


_CONTRACTIONS = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_OTHERS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_ENDS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{L}&&[^a-z]]", r"[\p{L}&&[^A-Z]]"


def _by_case(contractions: str, numbers: str) -> str:
    """A pattern that also cuts words before capitals. In llama.cpp, every letter but a to z is a capital, and every letter but A to Z is a
    small letter.
    """
    first = r"[^\r\n\p{L}\p{N}]?"
    words = f"{first}{_UPPER}*{_LOWER}+{contractions}|{first}{_UPPER}+{_LOWER}*{contractions}"
    return rf"{words}|{numbers}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_ENDS}"


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
LLAMA3 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}{{1,3}}|{_OTHERS}|{_ENDS}"
QWEN2 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}|{_OTHERS}|{_ENDS}"
QWEN35 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_ENDS}"
BAILING = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}|{_OTHERS}|\s*[\r\n]|\s+(?!\S)|\s+"
SEED = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_ENDS}"
DEEPSEEK3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"""
    rf" ?[\p{{P}}\p{{S}}]+[\r\n]*|{_ENDS}",
)
_KINDS = (
    (Splitter((GPT2,)), "gpt-2 phi-2 jina-es jina-de gigachat a.x-4.0 mellum modern-bert exaone4 mpt olmo jais trillion granite-docling"),
    (Splitter((r"\p{N}", GPT2)), "starcoder refact command-r smollm codeshell exaone minerva-7b"),
    (Splitter((r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]")), "falcon"),
    (Splitter((r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]")), "default"),
    (Splitter((LLAMA3,), ignores_merges=True, adds_bos=True), "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2"),
    (Splitter((LLAMA3,)), "dbrx smaug-bpe glm4 chatglm-bpe"),
    (Splitter((QWEN2,)), "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 megrez hunyuan solar-open grok-2"),
    (Splitter((QWEN35,)), "qwen35"),
    (Splitter((_by_case("", r"\p{N}"),), ignores_merges=True, adds_bos=True), "tekken"),
    (Splitter((_by_case(f"{_CONTRACTIONS}?", r"\p{N}{1,3}"),)), "gpt-4o llama4 kanana2"),
    (Splitter(DEEPSEEK3), "deepseek-v3 hunyuan-dense joyai-llm"),
    (Splitter((BAILING,)), "bailingmoe bailingmoe2 llada-moe"),
    (Splitter((SEED,)), "seed-coder"),
)
SPLITTERS: Mapping[str, Splitter] = {name: splitter for splitter, names in _KINDS for name in names.split()}


def splitter(name: str) -> Splitter:
    """The splitter with a name.

    Raises:
        UnsupportedError: the name is unknown, or the patterns of its splitter are.
    """
    if name not in SPLITTERS:
        raise UnsupportedError(not_one_of("tokenizer.ggml.pre", name, sorted(SPLITTERS)))
    return SPLITTERS[name]


def components(of: Splitter) -> list[dict[str, Any]]:
    """The splits as pre-tokenizers of a ``tokenizer.json``."""
    patterns = (CATEGORY.sub(lambda match: _category(match[1]), pattern) for pattern in of.patterns)
    return [{"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False} for pattern in patterns]


@cache
def _category(name: str) -> str:
    """The pattern of a category of Unicode 15.1."""
    edges = [(int(first, 16), int(last or first, 16)) for first, _, last in (each.partition("-") for each in ADDED.split())]
    added = intersection(properties.named(name), of_runs(edges)).reshape(-1, 2).tolist()
    excluded = "".join(f"\\x{{{first:X}}}-\\x{{{end - 1:X}}}" for first, end in added)
    return f"[\\p{{{name}}}&&[^{excluded}]]"
