"""Read live tokenizers, which are objects of `tokenizers` and of `transformers`, by the tokenizer.json that they write.

Some classes of `transformers` rebuild a tokenizer in special ways. If a folder names such a class, `transformers` builds the tokenizer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fst.compile.sources.pretrained import chat_templates
from fst.errors import UnsupportedError, reason
from fst.tables.live import exported_text

Json = dict[str, Any]
asked: set[Path] = set()  # the folders that `transformers` has read in this process: any of their files may count, and so does its version


def exported(source: Any) -> tuple[Json, Json]:
    """The tokenizer.json that a live tokenizer would write, and further settings, named as in `fst.tables.header.Settings`."""
    text, settings = exported_text(source)
    if settings:
        settings["chat_templates"] = chat_templates.by_name(settings.pop("chat_template"))
    return json.loads(text), settings


def of_folder(folder: Path, why: str) -> tuple[Json, Json]:
    """The tokenizer that ``transformers`` makes from a folder, in the form of `exported`. `why`: the reason why this package cannot read
    the folder.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise UnsupportedError(f"{why}; or install transformers, which makes the others: pip install transformers") from None
    asked.add(folder)
    try:
        made = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # any part of `transformers` may raise any error
        raise UnsupportedError(f"{why}; transformers cannot make it, either: {reason(error)}") from None
    return exported(made)
