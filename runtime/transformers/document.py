"""A ``tokenizer.json`` from tables: what the reference reads, and what compiles to the same tables again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fst.machines.wordpiece import LATE_FLAGS, Tables

Json = dict[str, Any]
BERT = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")  # settings of BertNormalizer


def document(tables: Tables) -> Json:
    """What a ``tokenizer.json`` says that these tables could have been compiled from.

    Example:
        >>> from fst.compile import wordpiece
        >>> document(wordpiece(["[UNK]", "un", "##able"]))["model"]["vocab"]
        {'[UNK]': 0, 'un': 1, '##able': 2}
    """
    about = tables.about
    tokens = list(zip(tables.tokens, tables.token_ids.tolist(), strict=True))
    return {
        "version": "1.0",
        "truncation": about["truncation"],
        "padding": about["padding"],
        "added_tokens": added_tokens(about),
        "normalizer": _normalizer(about),
        "pre_tokenizer": _pre_tokenizer(about),
        "post_processor": _post_processor(about, {number: token for token, number in tokens}),
        "decoder": None if about["decoder"] is None else {"type": "WordPiece", **about["decoder"]},
        "model": {
            "type": "WordPiece",
            "unk_token": about["unk_token"],
            "continuing_subword_prefix": about["continuing_subword_prefix"],
            "max_input_chars_per_word": about["max_input_chars_per_word"],
            "vocab": dict(tokens[: about["model_tokens"]]),
        },
    }


def added_tokens(about: Mapping[str, Any]) -> list[Json]:
    """The added tokens that ``about`` of tables says, by their ids, as a ``tokenizer.json`` lists them."""
    as_they_stand = {content: {"id": number, **dict.fromkeys(LATE_FLAGS, False)} for content, number in about["specials"].items()}
    late = {content: {name: token[name] for name in ("id", *LATE_FLAGS)} for content, token in about["late"].items()}
    by_id = sorted({**as_they_stand, **late}.items(), key=lambda token: token[1]["id"])
    return [{**flags, "content": content, "special": flags["id"] in about["skipped"]} for content, flags in by_id]


def _normalizer(about: Mapping[str, Any]) -> Json | None:
    if about["normalizer_parts"] is None:
        return {"type": "BertNormalizer", **{name: about[name] for name in BERT}}
    return _sequence("normalizers", about["normalizer_parts"])


def _pre_tokenizer(about: Mapping[str, Any]) -> Json | None:
    if about["pre_tokenizer"] == "other":
        return _sequence("pretokenizers", about["pre_tokenizer_parts"])
    return {"type": "BertPreTokenizer"} if about["pre_tokenizer"] == "bert" else None


def _sequence(listed: str, parts: Sequence[Json]) -> Json:
    return dict(parts[0]) if len(parts) == 1 else {"type": "Sequence", listed: list(parts)}


def _post_processor(about: Mapping[str, Any], tokens: Mapping[int, str]) -> Json:
    names = {tuple(content): " ".join(tokens[number] for number in content) for content, _ in _around(about)}
    return {
        "type": "TemplateProcessing",
        **{name: [_piece(piece, names) for piece in about[name]] for name in ("single", "pair")},
        "special_tokens": {
            name: {"id": name, "ids": list(numbers), "tokens": [tokens[number] for number in numbers]} for numbers, name in names.items()
        },
    }


def _around(about: Mapping[str, Any]) -> list[Sequence[Any]]:
    """The pieces that are special tokens."""
    return [piece for piece in (*about["single"], *about["pair"]) if not isinstance(piece[0], str)]


def _piece(piece: Sequence[Any], names: Mapping[tuple[int, ...], str]) -> Json:
    content, type_id = piece
    if isinstance(content, str):
        return {"Sequence": {"id": content, "type_id": type_id}}
    return {"SpecialToken": {"id": names[tuple(content)], "type_id": type_id}}
