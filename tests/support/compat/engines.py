"""The folder of a small model for tests with inference engines, and a JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.compat.transformers import library
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END = 0  # the end_id of the tokenizer; models may have more ids that end texts
ENDS = {END, 2}
VOCABULARY = 400
MODEL_SIZE = 416  # models have more logits than their tokenizers have tokens
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", 7, None]}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
CORPUS = [
    *(f'{{"name": "Zoë {word}", "age": {age}, "tags": ["red", "green", null]}}' for age, word in enumerate("abcdefg")),
    *("red or green, yes or no: maybe not", "((12)) + (3 * 4)", "naïve 中文 Ü 🙂 <call>{}</call>", "hello-12 hello-345"),
]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"


def engine(name: str) -> Any:
    """Import an inference engine, or skip the test if it is missing."""
    return pytest.importorskip(name, reason=f"{name} is not installed: nothing to plug into", exc_type=ImportError)


def write_model(folder: Path) -> Path:
    """Write the folder of a model with a byte-level tokenizer, without weights."""
    own = Tokenizer(models.BPE())
    own.pre_tokenizer, own.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = [AddedToken(content, special=True) for content in SPECIAL]
    own.train_from_iterator(CORPUS * 3, trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=alphabet, special_tokens=special))
    tokenizer_class: Any = library("transformers").PreTrainedTokenizerFast
    tokenizer_class(tokenizer_object=own, eos_token=SPECIAL[0], chat_template=TEMPLATE).save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "vocab_size": MODEL_SIZE, "eos_token_id": END}))
    return folder


def bools_of(mask: Any) -> NDArray[np.bool_]:
    """The ids that a row of 32-bit words allows: bool[MODEL_SIZE]."""
    words = np.ascontiguousarray(mask).astype("<i4").view(np.uint8)
    return np.unpackbits(words, bitorder="little")[:MODEL_SIZE].astype(bool)
