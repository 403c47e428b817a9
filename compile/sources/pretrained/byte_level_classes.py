"""Classes of `transformers` that rebuild a byte-level BPE tokenizer from the tokens, the merges and the settings in a folder.

Source: transformers 5.24, ``models/*/tokenization_*.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fst.compile.sources.pretrained.conventions import ROBERTA_NAMES
from fst.compile.sources.pretrained.special_tokens import AddedToken, SpecialTokens
from fst.compile.text.components import field_of

Json = dict[str, Any]

NFC, NOTHING, ROBERTA = {"type": "NFC"}, {"type": "Sequence", "processors": []}, {"type": "RobertaProcessing"}
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@dataclass(frozen=True)
class ByteLevelFamily:
    """The properties of a class of tokenizers."""

    names: Mapping[str, str]  # the special tokens, unless a setting overrides them
    normalizer: Mapping[str, Any] | None = None
    pattern: str | None = None  # the pattern that splits text; None: ByteLevel's pattern
    # the post-processor; None: the post-processor of the ``tokenizer.json``. For RoBERTa's post-processor, the settings define the tokens
    # and flags.
    post_processor: Mapping[str, Any] | None = None
    keeps_flags: bool = True  # whether special tokens keep flags such as lstrip
    inputs: tuple[str, ...] = ("input_ids", "attention_mask")  # the names of the model's inputs
    greedy: tuple[str, ...] = ()  # the roles of special tokens that include the space before them if a setting contains them as strings
    kind: str = "BPE"  # the type of the model in the tokenizer.json


_END = "<|endoftext|>"
_GPT2 = {"unk_token": _END, "bos_token": _END, "eos_token": _END}
_QWEN2 = {"unk_token": _END, "eos_token": _END, "pad_token": _END}
_ROBERTA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", **ROBERTA_NAMES}
# Names of classes, without the suffix "Fast".
FAMILIES = {
    "GPT2Tokenizer": ByteLevelFamily(_GPT2),
    "GPTNeoXTokenizer": ByteLevelFamily({**_GPT2, "pad_token": "<|padding|>"}, NFC, post_processor=NOTHING),
    "Qwen2Tokenizer": ByteLevelFamily(_QWEN2, NFC, QWEN2, keeps_flags=False),
    "RobertaTokenizer": ByteLevelFamily(_ROBERTA, post_processor=ROBERTA),
}
# The model types for which `transformers` uses one of these classes. For other types, it may use a class that the files do not name.
MODEL_TYPES = {
    **dict.fromkeys(["codegen", "gpt2", "gpt_neo", "gptj", "opt", "phi", "starcoder2"], "GPT2Tokenizer"),
    **dict.fromkeys(["gpt_neox", "mamba", "mpt", "olmo", "olmoe"], "GPTNeoXTokenizer"),
    **dict.fromkeys(["qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_vl"], "Qwen2Tokenizer"),
    **dict.fromkeys(["bart", "longformer", "roberta", "roberta-prelayernorm"], "RobertaTokenizer"),
}


def rebuilt(family: ByteLevelFamily, document: Json, config: Json, tokens: SpecialTokens, vocabulary: Mapping[str, int]) -> Json:
    """Make the tokenizer.json that a class rebuilds.

    Args:
        family: the class.
        document: the tokenizer.json; its merges, truncation and padding are used, and its post-processor if the class has none.
        config: tokenizer_config.json.
        tokens: the special tokens.
        vocabulary: the tokens of the model.
    """
    flags = {"add_prefix_space": config.get("add_prefix_space") or False, "trim_offsets": config.get("trim_offsets", True)}
    added = _added(family, tokens, vocabulary)
    ids = {**vocabulary, **{part["content"]: part["id"] for part in added}}
    return {
        "version": "1.0",
        "truncation": document.get("truncation"),
        "padding": document.get("padding"),
        "added_tokens": added,
        "normalizer": family.normalizer,
        "pre_tokenizer": _pre_tokenizer(family, flags),
        "post_processor": _post_processor(family, document, flags, tokens, ids),
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": field_of(document["model"], "merges", "model")},
    }


def _added(family: ByteLevelFamily, tokens: SpecialTokens, vocabulary: Mapping[str, int]) -> list[Json]:
    added = tokens.added_to((), vocabulary)
    if family.keeps_flags:
        return added
    special = {token.content for token in (*tokens.named.values(), *tokens.extras)}
    return [{**part, **AddedToken(part["content"], special=True).listed()} if part["content"] in special else part for part in added]


def _pre_tokenizer(family: ByteLevelFamily, flags: Json) -> Json:
    byte_level = {"type": "ByteLevel", **flags, "use_regex": family.pattern is None}
    if family.pattern is None:
        return byte_level
    split = {"type": "Split", "pattern": {"Regex": family.pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, byte_level]}


def _post_processor(family: ByteLevelFamily, document: Json, flags: Json, tokens: SpecialTokens, ids: Mapping[str, int]) -> Any:
    if family.post_processor is None:
        return document.get("post_processor")
    if family.post_processor is not ROBERTA:
        return family.post_processor
    cls, sep = (tokens.content(name) for name in ("cls_token", "sep_token"))
    return {**ROBERTA, **flags, "cls": [cls, ids[cls]], "sep": [sep, ids[sep]]}
