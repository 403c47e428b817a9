"""Live tokenizers: objects of ``tokenizers``, ``transformers`` and ``tiktoken``, which can write what they do.

Functions that take a tokenizer of this package compile a live one. Only then is the compiler imported.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fst.errors import UnsupportedError, cut
from fst.tables.header import MAX_MODEL_LENGTH

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer


SETTINGS = ("padding_side", "truncation_side", "clean_up_tokenization_spaces", "chat_template")


def is_live(source: object) -> bool:
    """Whether a source is a tokenizer of ``tokenizers`` or ``transformers``. None of them exists before these are imported."""
    library = sys.modules.get("tokenizers")
    return library is not None and (isinstance(source, library.Tokenizer) or _is_fast(source))


def is_encoding(source: object) -> bool:
    """Whether a source is a ``tiktoken.Encoding``. There is none before tiktoken is imported."""
    library = sys.modules.get("tiktoken")
    return library is not None and isinstance(source, library.Encoding)


def _is_fast(source: object) -> bool:
    library = sys.modules.get("transformers")
    return library is not None and isinstance(source, library.PreTrainedTokenizerBase)


def statement(source: Any) -> tuple[str, dict[str, Any]]:
    """The text of the tokenizer.json that a live tokenizer would write, and further settings, named as in `fst.tables.header.Settings`.

    Chat templates have the form of transformers. An encoding of tiktoken gives its pattern, its name, its ranks and its special tokens.

    Raises:
        UnsupportedError: transformers runs the tokenizer in Python.
    """
    if is_encoding(source):
        return source._pat_str, {"name": source.name, "ranks": source._mergeable_ranks, "special": source._special_tokens}
    if not _is_fast(source):
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


def compiled(tokenizer: Any, asker: str) -> Tokenizer:
    """A tokenizer unchanged, or compiled from a live one. Its table is kept on disk, see `fst.bridge.table_cache`.

    Args:
        tokenizer: an `fst.Tokenizer`; a stand-in of this package, for its tokenizer; or a live tokenizer of ``tokenizers``,
            ``transformers`` or ``tiktoken``.
        asker: the calling function, for the message.

    Raises:
        TypeError: the argument is none of these.
        UnsupportedError: the live tokenizer does something that this version does not; the message names it.
        VocabularyError: the live tokenizer has no vocabulary that can be compiled.
    """
    from fst.runtime.tokenizer import Tokenizer

    found = tokenizer if isinstance(tokenizer, Tokenizer) else getattr(tokenizer, "fst", None)
    if isinstance(found, Tokenizer):
        return found
    if not is_live(tokenizer) and not is_encoding(tokenizer):
        what = "an fst.Tokenizer, or a live tokenizer of tokenizers, transformers or tiktoken"
        raise TypeError(f"{asker} takes {what}, not {type(tokenizer).__name__}: compile a source first, or fst.load a table")
    from fst.bridge.table_cache import table_of

    return Tokenizer(table_of(_named(tokenizer), statement(tokenizer), lambda: _table(tokenizer)))


def _named(tokenizer: Any) -> str:
    """A live tokenizer in messages: its class, its name or path if it has one, and its size."""
    if is_encoding(tokenizer):
        size, where = tokenizer.n_vocab, tokenizer.name
    else:
        size = len(tokenizer) if _is_fast(tokenizer) else tokenizer.get_vocab_size()
        where = str(getattr(tokenizer, "name_or_path", ""))
    return f"a live {type(tokenizer).__name__}{f' ({cut(where)})' if where else ''} of {size:,} tokens"


def _table(tokenizer: Any) -> Any:
    from fst.compile.api import tokenizer as compile_tokenizer

    return compile_tokenizer(tokenizer)
