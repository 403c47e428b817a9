"""Make a ``tokenizer.json`` from a WordPiece table. ``tokenizers`` can read this file, and `fst.compile` compiles it to an equal table.

`decoder`, `template_processing` and `sequence_of` make parts of the file for tables of any machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fst.errors import UnsupportedError
from fst.machines.wordpiece.header import Normalizer
from fst.machines.wordpiece.table import WordPieceTable
from fst.tables.header import LLAMA_CPP, LLAMA_CPP_BERT, AnyDecoder, ByteLevelDecoder, Piece, PreTokenizer, StepsDecoder
from fst.tables.words_decoder import WordsDecoder

Json = dict[str, Any]
BERT = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")  # settings of BertNormalizer


def document(tables: WordPieceTable) -> Json:
    """Make a ``tokenizer.json`` that compiles to a table.

    Examples:
        >>> from fst.compile import wordpiece
        >>> document(wordpiece(["[UNK]", "un", "##able"]))["model"]["vocab"]
        {'[UNK]': 0, 'un': 1, '##able': 2}
    """
    model, tokens = tables.metadata.model, list(zip(tables.tokens, tables.token_ids.tolist(), strict=True))
    return {
        **shared_parts(tables),
        "model": {
            "type": "WordPiece",
            "unk_token": model.unk_token,
            "continuing_subword_prefix": model.continuing_subword_prefix,
            "max_input_chars_per_word": model.max_input_chars_per_word,
            "vocab": dict(tokens[: model.model_tokens]),
        },
    }


def shared_parts(tables: WordPieceTable) -> Json:
    """Make all members of a ``tokenizer.json`` except the model."""
    metadata = tables.metadata
    settings = metadata.settings
    return {
        "version": "1.0",
        "truncation": settings.truncation,
        "padding": settings.padding,
        "added_tokens": metadata.added_tokens.listed(),
        "normalizer": _normalizer(metadata.normalizer),
        "pre_tokenizer": _pre_tokenizer(metadata.pre_tokenizer),
        "post_processor": template_processing(tables),
        "decoder": decoder(settings.decoder),
    }


def _normalizer(normalizer: Normalizer) -> Json | None:
    if any(part["type"] == LLAMA_CPP_BERT for part in normalizer.parts or ()):
        raise UnsupportedError(f"a table with the ids of {LLAMA_CPP} has no tokenizer.json: tokenizers would give other ids")
    if normalizer.parts is None:
        flags = {name: getattr(normalizer, name) for name in BERT}
        is_none = all(flag is False for flag in flags.values())
        return None if is_none else {"type": "BertNormalizer", **flags}
    return sequence_of("normalizers", normalizer.parts)


def _pre_tokenizer(pre_tokenizer: PreTokenizer) -> Json | None:
    if pre_tokenizer.name == "other":
        return sequence_of("pretokenizers", pre_tokenizer.parts or ())
    return {"type": "BertPreTokenizer"} if pre_tokenizer.name == "bert" else None


def decoder(found: AnyDecoder | None) -> Json | None:
    """Make the decoder of a ``tokenizer.json``."""
    if found is None:
        return None
    if isinstance(found, StepsDecoder):
        steps = [dict(step) for step in found.steps]
        return steps[0] if len(steps) == 1 else {"type": "Sequence", "decoders": steps}
    if isinstance(found, WordsDecoder):
        raise UnsupportedError("a decoder of words has no form in a tokenizer.json; keep the table, or its source")
    if isinstance(found, ByteLevelDecoder):
        return byte_level(add_prefix_space=True, use_regex=True)
    return {"type": "WordPiece", **asdict(found)}


def byte_level(*, add_prefix_space: bool, use_regex: bool) -> Json:
    """Make a ByteLevel component for a ``tokenizer.json``."""
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}


def sequence_of(listed: str, parts: Sequence[Mapping[str, Any]]) -> Json | None:
    """Convert a list of components to the form of a ``tokenizer.json``: None for an empty list, a single component unchanged, and otherwise
    a Sequence whose member `listed` contains the components.
    """
    if not parts:
        return None
    return dict(parts[0]) if len(parts) == 1 else {"type": "Sequence", listed: list(parts)}


def template_processing(table: Any) -> Json:
    """Make the post-processor from the templates of a table."""
    templates, tokens = table.metadata.templates, dict(zip(table.token_ids.tolist(), table.tokens, strict=True))
    around = [content for content, _ in (*templates.single, *templates.pair) if not isinstance(content, str)]
    names = {content: " ".join(tokens[number] for number in content) for content in around}
    return {
        "type": "TemplateProcessing",
        "single": [_piece(piece, names) for piece in templates.single],
        "pair": [_piece(piece, names) for piece in templates.pair],
        "special_tokens": {
            name: {"id": name, "ids": list(numbers), "tokens": [tokens[number] for number in numbers]} for numbers, name in names.items()
        },
    }


def _piece(piece: Piece, names: Mapping[tuple[int, ...], str]) -> Json:
    content, type_id = piece
    if isinstance(content, str):
        return {"Sequence": {"id": content, "type_id": type_id}}
    return {"SpecialToken": {"id": names[content], "type_id": type_id}}
