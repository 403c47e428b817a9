"""Live tokenizers: objects of ``tokenizers`` and of ``transformers``, which can write the tokenizer.json that states what they do.

A folder whose class rebuilds a tokenizer in a way of its own is read so, too: ``transformers`` makes the tokenizer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fst.compile.sources import chat_templates
from fst.errors import UnsupportedError, reason
from fst.metadata import MAX_MODEL_LENGTH

Json = dict[str, Any]
SETTINGS = ("model_input_names", "padding_side", "truncation_side", "clean_up_tokenization_spaces")


def is_live(source: object) -> bool:
    """Whether a source is a tokenizer of ``tokenizers`` or ``transformers``. There is none before they are imported."""
    library = sys.modules.get("tokenizers")
    return library is not None and (isinstance(source, library.Tokenizer) or _is_fast(source))


def _is_fast(source: object) -> bool:
    library = sys.modules.get("transformers")
    return library is not None and isinstance(source, library.PreTrainedTokenizerBase)


def stated(source: Any) -> tuple[Json, Json]:
    """The tokenizer.json that a live tokenizer would write, and further settings, named as in `fst.metadata.Settings`.

    Raises:
        UnsupportedError: it runs in Python.
    """
    if not _is_fast(source):
        return _document(source), {}
    if not source.is_fast:
        raise UnsupportedError(f"{type(source).__name__}, which transformers runs in Python: only its fast tokenizers can be compiled")
    length = source.model_max_length
    settings: Json = {name: getattr(source, name) for name in SETTINGS}
    named = {name: str(token) for name, token in source.special_tokens_map.items() if isinstance(token, str)}
    return _document(source.backend_tokenizer), {
        **settings,
        "model_input_names": [*source.model_input_names],
        "model_max_length": None if length is None or length > MAX_MODEL_LENGTH else int(length),
        "named_tokens": named,
        "extra_special_tokens": [*map(str, source.extra_special_tokens)],
        "chat_templates": chat_templates.stated(source.chat_template),
    }


def _document(tokenizer: Any) -> Json:
    found: Json = json.loads(tokenizer.to_str())
    return found


def of_folder(folder: Path, why: str) -> tuple[Json, Json]:
    """What ``transformers`` makes of a folder, as `stated` has it.

    Args:
        folder: the folder.
        why: why this package cannot say it.

    Raises:
        UnsupportedError: ``transformers`` is not installed, or cannot make the tokenizer without code from the folder.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise UnsupportedError(f"{why}; or install transformers, which makes the others: pip install transformers") from None
    try:
        made = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # of any of its parts
        raise UnsupportedError(f"{why}; transformers cannot make it, either: {reason(error)}") from None
    return stated(made)
