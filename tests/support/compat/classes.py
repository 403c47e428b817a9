"""Folders with small tokenizers of the classes of `transformers`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from support.compat.transformers import library
from support.sources.families import CLASSES as FAMILIES
from support.sources.families import trained

# Classes whose calls take more than texts, or whose components cannot be compiled.
OTHERS = ("LayoutLMv2", "LayoutLMv3", "LayoutXLM", "Luke", "MLuke", "Udop")
CLASSES = [*(name for name in FAMILIES if name not in OTHERS), "CodeGen", "CLIP"]
WHISPER = ("startoftranscript", "en", "zh", "de", "es", "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")
PADDED = {"Llama": "</s>", "CodeLlama": "</s>", "GPT2": "<|endoftext|>", "Whisper": "<|endoftext|>"}  # classes without padding


def _with_every_byte(document: Any, suffix: str) -> Any:
    """Add the tokens of all bytes, with and without a suffix, before the merged tokens."""
    letters = library("tokenizers").pre_tokenizers.ByteLevel.alphabet()
    names = dict.fromkeys([*document["model"]["vocab"], *letters, *(f"{letter}{suffix}" for letter in letters)])
    document["model"]["vocab"] = {token: number for number, token in enumerate(names)}
    return document


@cache
def folder_of(name: str, folder: Path) -> Path:
    """Write a folder with a tokenizer of a class into `folder`, once, and return its path."""
    path = folder / name
    path.mkdir()
    document = json.loads(getattr(library("transformers"), f"{name}Tokenizer")().backend_tokenizer.to_str())
    document["post_processor"] = None if name == "Whisper" else document["post_processor"]  # Whisper makes it itself
    options = {"end_of_word_suffix": "</w>"} if name == "CLIP" else {}
    document = trained(document, **options)
    document = _with_every_byte(document, "</w>") if name == "CLIP" else document
    config: dict[str, Any] = {"tokenizer_class": f"{name}Tokenizer", "model_max_length": 64}
    if name in PADDED:
        config["pad_token"] = PADDED[name]
    if name == "Whisper":
        config["extra_special_tokens"] = [f"<|{token}|>" for token in WHISPER]
    for file, content in (("tokenizer.json", document), ("tokenizer_config.json", config)):
        (path / file).write_text(json.dumps(content), "utf-8")
    return path
