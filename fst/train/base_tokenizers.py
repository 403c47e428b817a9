"""Functions that read base tokenizers for training: the ``tokenizer.json``, the settings, and the segmentation of words by the model.

A table made from tiktoken or SentencePiece contains no ``tokenizer.json``, because on rare texts `tokenizers` could return other ids. A new
vocabulary has new ids anyway, so components of `tokenizers` that treat nearly all texts alike are sufficient.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fst.bridge.from_live import compiled, is_table
from fst.compile.sources.read import config_of as config_of_folder
from fst.compile.sources.read import exported, of_exported
from fst.compile.sources.tiktoken import ENCODINGS
from fst.compile.text.components import Component
from fst.compile.text.sentencepiece import CHARSMAP, SPACES
from fst.counting.words import Listed, Words
from fst.errors import TextError, UnsupportedError, quoted
from fst.tables import live
from fst.tables.header import SENTENCEPIECE
from fst.tables.sentencepiece_info import BPE, UNIGRAM
from fst.train.base_vocabulary import BaseVocabulary
from fst.train.pipeline import METASPACE, SPLITTERS, STRIPS
from fst.train.result import PLAIN, Trained

if TYPE_CHECKING:
    from fst.runtime.rows.batch import Batch
    from fst.runtime.tokenizer import Tokenizer

Json = Mapping[str, Any]

LIKE = "fst.train.like"
SETTINGS = (  # fields of `fst.tables.header.Settings` that are not in a tokenizer.json
    *("named_tokens", "extra_special_tokens", "model_max_length", "model_input_names"),
    *("padding_side", "truncation_side", "clean_up_tokenization_spaces", "chat_templates", "tokenizer_class"),
)
# The parts of a tokenizer.json for an encoding of ``tiktoken`` that do not depend on the encoding.
EMPTY = {"version": "1.0", **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor"))}
NAMES = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}  # tiktoken encoding → splitter with the same pre-tokens
PATTERNS = {ENCODINGS[encoding].pattern: SPLITTERS[name] for encoding, name in NAMES.items()}
KINDS = {UNIGRAM: "Unigram", BPE: "BPE"}
PREPEND = {"type": "Prepend", "prepend": "▁"}


class Parts(NamedTuple):
    """The parts of a base tokenizer that a new vocabulary needs, so that the files of the base tokenizer are read once.

    Attributes:
        document, settings: the result of `exported_from`.
        config: the result of `config_of`.
    """

    document: Mapping[str, Any]
    settings: Mapping[str, Any]
    config: Mapping[str, Any]


def parts_of(base: Any, asker: str = LIKE) -> Parts:
    """The parts of a base tokenizer; a `Parts` is returned unchanged. For the arguments and errors, see `exported_from`."""
    return base if isinstance(base, Parts) else Parts(*exported_from(base, asker), config_of(base))


def exported_from(base: Any, asker: str = LIKE) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The ``tokenizer.json`` of a tokenizer, and further settings, named as in `fst.tables.header.Settings`. `base`: a tokenizer in any
    form that `fst.train.like` accepts. The tokenizer is compiled only if it has no ``tokenizer.json``. `asker`: the name of the calling
    function, for messages.
    """
    from fst.runtime.compat.transformers.backend import backend_of

    if isinstance(base, Trained):
        return base._document(), base.settings
    is_file = isinstance(base, str | Path) and not is_table(base)
    found = exported(base) if is_file or (live.is_live(base) and not hasattr(base, "fst")) else None
    if found is not None:
        return found
    tokenizer = compiled(base, asker)
    document = counterpart(tokenizer._table) or backend_of(tokenizer, asker).document()
    return document, settings_of(tokenizer)


def base_vocabulary(tokenizer: Tokenizer, asker: str) -> BaseVocabulary:
    """The vocabulary of a tokenizer. For an encoding of ``tiktoken``, an equivalent splitter of ``tokenizers`` replaces the pattern."""
    from fst.runtime.compat.transformers.backend import backend_of
    from fst.runtime.compat.transformers.bpe_document import model_of

    settings = settings_of(tokenizer)
    if not is_tiktoken(tokenizer._table):
        return BaseVocabulary.of_table(backend_of(tokenizer, asker).document(), settings)
    parts: Any = counterpart(tokenizer._table)
    return BaseVocabulary.of_ranks({**EMPTY, **parts, "model": model_of(tokenizer._table)}, settings)


def settings_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """The settings of a tokenizer that are not in a ``tokenizer.json``, named as in `fst.tables.header.Settings`."""
    return {name: getattr(tokenizer._metadata.settings, name) for name in SETTINGS}


def config_of(base: Any) -> Mapping[str, Any]:
    """The ``tokenizer_config.json`` of a base tokenizer; empty without this file. For `base`, see `fst.bridge.from_live.compiled`."""
    if isinstance(base, Trained):
        return base.config
    if isinstance(base, str | Path):
        return config_of_folder(base)
    return live.config_of(base) if live.is_fast(base) and not hasattr(base, "fst") else {}


def is_tiktoken(table: Any) -> bool:
    """Whether a table splits texts by a pattern of ``tiktoken``."""
    text = getattr(table.metadata, "text", None)
    return any("dialect" in part for part in getattr(text, "pre_tokenizers", None) or ())


def segmented(base: BaseVocabulary, words: Words) -> Batch:
    """Segment each word with the base model, without the base normalizer and splitter. Return the ids."""
    from fst.runtime.rows.texts import Column, wrong_at
    from fst.runtime.tokenizer import Tokenizer

    tokenizer = Tokenizer(of_exported((base.alone(), {}), "the model").table())
    rows = Column(words.text, np.append(0, words.ends))
    try:
        return tokenizer._encode(rows, special_ids=tokenizer._special_ids)
    except TextError as error:
        if error.row is None or wrong_at(rows.text(error.row)) is None:
            raise
        word = quoted(Listed(words)[error.row])
        raise TextError(f"word {word} is not UTF-8; expected words that the tokenizer can read; leave it out") from None


def used(base: BaseVocabulary, words: Words) -> Any:
    """Count the occurrences of each token in the words: int64[1 + largest id]."""
    batch = segmented(base, words)
    counts = np.zeros(base.size, np.int64)
    np.add.at(counts, batch.ids, np.repeat(words.counts, np.diff(batch.row_splits)))
    return counts


def counterpart(table: Any) -> Json | None:
    """A ``tokenizer.json`` for training like a table of `tiktoken` or SentencePiece; None for other tables."""
    text = getattr(table.metadata, "text", None)
    if text is None:
        return None
    if text.reference.startswith(SENTENCEPIECE):
        return _of_sentencepiece(table)
    splits = [part["pattern"]["Regex"] for part in getattr(text, "pre_tokenizers", None) or () if "dialect" in part]
    return _of_tiktoken(table, splits[0]) if splits else None


def _of_tiktoken(table: Any, pattern: str) -> Json:
    if pattern not in PATTERNS:
        raise UnsupportedError(f"the pattern {quoted(pattern)} of tiktoken has no known counterpart; train with train.bpe and a splitter")
    found = PATTERNS[pattern]
    return {
        "added_tokens": table.metadata.added_tokens.listed(),
        "pre_tokenizer": found.pre_tokenizer,
        "decoder": found.decoder,
        "model": {"type": "BPE", "vocab": _ids(table), "merges": []},
    }


def _ids(table: Any) -> dict[str, int]:
    return dict(zip(table.tokens, table.token_ids.tolist(), strict=True))


def _of_sentencepiece(table: Any) -> Json:
    facts, names = table.metadata.model.sentencepiece, {number: token for token, number in _ids(table).items()}
    if facts.kind not in KINDS:
        raise UnsupportedError(f"the kind of the SentencePiece model is {facts.kind}; expected unigram or bpe")
    own = dict.fromkeys((facts.unk_id, *facts.control), True) | dict.fromkeys(facts.user_defined, False)
    added = [{"id": number, "content": names[number], **PLAIN, "special": own[number]} for number in sorted(own)]
    return {"added_tokens": added, **_pipeline(table.metadata.text.normalizers or ()), "model": _model(table, KINDS[facts.kind])}


def _model(table: Any, kind: str) -> Json:
    """The member ``model``, with options and tokens. Scores and merges are left out, because only an encoder needs them."""
    model = table.metadata.model
    if kind == "Unigram":
        vocab = [[token, 0.0] for token in table.tokens]
        return {"type": kind, "unk_id": model.sentencepiece.unk_id, "byte_fallback": False, "vocab": vocab}
    unknown = table.tokens[table.token_ids.tolist().index(model.sentencepiece.unk_id)]
    return {"type": kind, "unk_token": unknown, "fuse_unk": True, "byte_fallback": False, "vocab": _ids(table), "merges": []}


def _pipeline(parts: Any) -> Json:
    """The members ``normalizer``, ``pre_tokenizer`` and ``decoder``."""
    normalizers: list[Component] = []
    spaces: Component = {}
    for part in parts:
        if part["type"] == CHARSMAP:
            normalizers.append({"type": "Precompiled", "precompiled_charsmap": part["precompiled_charsmap"]})
        elif part["type"] == SPACES:
            spaces = part
    if spaces.get("is_suffix") or spaces.get("symbol", "▁") != "▁":
        raise UnsupportedError("treat_whitespace_as_suffix and spaces without ▁ have no counterpart; train with train.unigram or train.bpe")
    strips, adds = spaces.get("remove_extra_whitespaces"), spaces.get("add_dummy_prefix")
    normalizers += STRIPS if strips else [PREPEND] if adds else []
    scheme = "always" if strips and adds else "never"
    return {
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": {**METASPACE, "prepend_scheme": scheme},
        "decoder": {**METASPACE, "prepend_scheme": "always" if adds else "never"},
    }
