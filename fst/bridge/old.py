"""Functions that read old tokenizers for training: their ``tokenizer.json``, and how their model segments words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fst.errors import TextError, quoted

if TYPE_CHECKING:
    from fst.compile.train.old.vocabulary import OldVocabulary
    from fst.counting.words import Words
    from fst.runtime.rows.batch import Batch
    from fst.runtime.tokenizer import Tokenizer

SETTINGS = (  # fields of `fst.tables.header.Settings` that are not in a tokenizer.json
    *("named_tokens", "extra_special_tokens", "model_max_length", "model_input_names"),
    *("padding_side", "truncation_side", "clean_up_tokenization_spaces", "chat_templates", "tokenizer_class"),
)
# The parts of a tokenizer.json for an encoding of ``tiktoken`` that do not depend on the encoding.
EMPTY = {"version": "1.0", **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor"))}


def old_vocabulary(tokenizer: Tokenizer, asker: str) -> OldVocabulary:
    """The vocabulary of a tokenizer. For an encoding of ``tiktoken``, an equivalent splitter of ``tokenizers`` replaces the pattern.

    Raises:
        UnsupportedError: no ``tokenizer.json`` can express the tokenizer.
    """
    from fst.compile.train.old.counterparts import counterpart
    from fst.compile.train.old.vocabulary import OldVocabulary
    from fst.runtime.compat.transformers.backend import backend_of
    from fst.runtime.compat.transformers.bpe_document import model_of

    settings = settings_of(tokenizer)
    if not is_tiktoken(tokenizer._table):
        return OldVocabulary.of_table(backend_of(tokenizer, asker).document(), settings)
    parts: Any = counterpart(tokenizer._table)
    return OldVocabulary.of_ranks({**EMPTY, **parts, "model": model_of(tokenizer._table)}, settings)


def settings_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """The settings of a tokenizer that are not in a ``tokenizer.json``, named as in `fst.tables.header.Settings`."""
    return {name: getattr(tokenizer._metadata.settings, name) for name in SETTINGS}


def config_of(old: Any) -> Mapping[str, Any]:
    """The ``tokenizer_config.json`` of an old tokenizer; empty if the tokenizer has none. For `old`, see `fst.bridge.from_live.compiled`.

    Raises:
        VocabularyError, OSError: a file is malformed, or cannot be read.
    """
    from fst.compile.sources.read import config_of as of_folder
    from fst.compile.train.result import Trained
    from fst.tables.live import config_of as of_live
    from fst.tables.live import is_fast

    if isinstance(old, Trained):
        return old.config
    if isinstance(old, str | Path):
        return of_folder(old)
    return of_live(old) if is_fast(old) and not hasattr(old, "fst") else {}


def is_tiktoken(table: Any) -> bool:
    """Whether a table splits texts by a pattern of ``tiktoken``."""
    text = getattr(table.metadata, "text", None)
    return any("dialect" in part for part in (text and text.pre_tokenizers) or ())


def segmented(old: OldVocabulary, words: Words) -> Batch:
    """Segment each word with the old model, without the old normalizer and splitter. Return the ids.

    Raises:
        TextError: a word is not UTF-8.
    """
    from fst.compile.compilers import assembled
    from fst.compile.sources.read import of_statement
    from fst.runtime.tokenizer import Tokenizer

    table = assembled(of_statement((old.alone(), {}), "the model"), "auto")
    try:
        texts = [word.decode() for word in words]
    except UnicodeDecodeError as error:
        raise TextError(f"word {quoted(error.object)} is not UTF-8; expected words that the old tokenizer can read; leave it out") from None
    return Tokenizer(table).encode_batch(texts)


def used(old: OldVocabulary, words: Words) -> Any:
    """Count the occurrences of each token in the words: int64[1 + largest id]."""
    batch = segmented(old, words)
    counts = np.zeros(old.size, np.int64)
    np.add.at(counts, batch.ids, np.repeat(words.counts, np.diff(batch.row_splits)))
    return counts
