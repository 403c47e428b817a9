"""Write folders of pretrained models, and compare the settings that are read from them with `transformers`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fst

Files = Mapping[str, Any]


def write(folder: Path, files: Files) -> Path:
    """Write files to a folder: strings as text, other values as JSON."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def as_known(length: float) -> int | None:
    """The maximum length of a model. None replaces the very large number with which `transformers` represents "no limit"."""
    return None if length > 10**9 else int(length)


def same_settings(tokenizer: fst.Tokenizer, reference: Any) -> None:
    """Check that a tokenizer has the same settings as in `transformers`, other than those that affect ids."""
    header = tokenizer.header
    assert header["named_tokens"] == {name: str(token) for name, token in reference.special_tokens_map.items()}
    assert header["extra_special_tokens"] == [str(token) for token in reference.extra_special_tokens]
    assert header["model_max_length"] == as_known(reference.model_max_length)
    for name in ("model_input_names", "padding_side", "truncation_side", "clean_up_tokenization_spaces"):
        assert header[name] == getattr(reference, name), name
