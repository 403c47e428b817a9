"""Live tokenizers: objects of ``tokenizers``, ``transformers`` and ``tiktoken``, and their definitions as text."""

from __future__ import annotations

import sys
from typing import Any

from fst.errors import UnsupportedError
from fst.tables.header import MAX_MODEL_LENGTH

SETTINGS = ("padding_side", "truncation_side", "clean_up_tokenization_spaces", "chat_template")


def is_live(source: object) -> bool:
    """Whether a source is a tokenizer of ``tokenizers`` or ``transformers``. Neither library is imported: their objects exist only after an
    import.
    """
    library = sys.modules.get("tokenizers")
    return library is not None and (isinstance(source, library.Tokenizer) or is_fast(source))


def is_encoding(source: object) -> bool:
    """Whether a source is a ``tiktoken.Encoding``. The library is not imported: its objects exist only after an import."""
    library = sys.modules.get("tiktoken")
    return library is not None and isinstance(source, library.Encoding)


def is_fast(source: object) -> bool:
    """Whether a source is a tokenizer of ``transformers``."""
    library = sys.modules.get("transformers")
    return library is not None and isinstance(source, library.PreTrainedTokenizerBase)


def statement(source: Any) -> tuple[str, dict[str, Any]]:
    """The ``tokenizer.json`` of a live tokenizer, as text, and further settings, named as in `fst.tables.header.Settings`.

    Chat templates have the format of ``transformers``. For an encoding of ``tiktoken``, the text contains the pattern, the name, the ranks
    and the special tokens of the encoding.

    Raises:
        UnsupportedError: the source is a slow tokenizer of ``transformers``, which runs in Python.
    """
    if is_encoding(source):
        return source._pat_str, {"name": source.name, "ranks": source._mergeable_ranks, "special": source._special_tokens}
    if not is_fast(source):
        return source.to_str(), {}
    if not source.is_fast:
        raise UnsupportedError(f"{type(source).__name__}, which transformers runs in Python: only its fast tokenizers can be compiled")
    length = source.model_max_length
    named = {name: str(token) for name, token in source.special_tokens_map.items() if isinstance(token, str)}
    return source.backend_tokenizer.to_str(), {
        **{name: getattr(source, name) for name in SETTINGS},
        "model_input_names": [*source.model_input_names],
        "model_max_length": None if length is None or length > MAX_MODEL_LENGTH else int(length),
        "named_tokens": named,
        "extra_special_tokens": [*map(str, source.extra_special_tokens)],
    }
