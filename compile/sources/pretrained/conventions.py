"""Derive the roles of special tokens from usual spellings, as in BERT's and RoBERTa's tokenizers."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from fst.tables.header import Template

BERT_NAMES = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"}
BERT_INPUTS = ("input_ids", "token_type_ids", "attention_mask")
ROBERTA_NAMES = {"sep_token": "</s>", "pad_token": "<pad>", "cls_token": "<s>", "mask_token": "<mask>"}


def named_tokens(specials: Container[str], unk_token: str | None, padding: Any) -> dict[str, str]:
    """Map roles such as pad_token to special tokens: tokens with a usual spelling, the unknown token, and the padding token of `padding`.

    Examples:
        >>> named_tokens({"[PAD]", "<s>", "<x>"}, "<unk>", None)
        {'unk_token': '<unk>', 'pad_token': '[PAD]', 'cls_token': '<s>'}
    """
    named = {name: token for names in (ROBERTA_NAMES, BERT_NAMES) for name, token in names.items() if token in specials}
    if unk_token is not None:
        named["unk_token"] = unk_token
    if isinstance(padding, Mapping) and isinstance(padding.get("pad_token"), str):
        named["pad_token"] = padding["pad_token"]
    return {name: named[name] for name in BERT_NAMES if name in named}


def model_input_names(pair: Template, kind: str) -> list[str]:
    """The names of a model's inputs, for a vocabulary that does not name a class of ``transformers``.

    Type ids are an input if the template adds special tokens, and the type ids of the two texts of a pair differ, as for BERT. BPE models
    have no type ids: GPT-2 would add the embeddings of type ids to those of the tokens. (Without a class, `AutoTokenizer` never returns
    type ids.)

    Args:
        pair: the template of a pair.
        kind: the type of the model in a ``tokenizer.json``.

    Examples:
        >>> model_input_names((("A", 0), ((3,), 0), ("B", 1)), "WordPiece")
        ['input_ids', 'token_type_ids', 'attention_mask']
        >>> model_input_names((("A", 0), ("B", 1)), "WordPiece")
        ['input_ids', 'attention_mask']
    """
    adds_ids = any(not isinstance(content, str) for content, _ in pair)
    types = ["token_type_ids"] if kind != "BPE" and adds_ids and any(type_id for _, type_id in pair) else []
    return ["input_ids", *types, "attention_mask"]


def side(setting: Any) -> str:
    """The side, "left" or "right", on which a tokenizer.json truncates or pads."""
    return "left" if isinstance(setting, Mapping) and setting.get("direction") == "Left" else "right"
