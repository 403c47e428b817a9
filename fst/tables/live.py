"""Live tokenizers: objects of ``tokenizers``, ``transformers``, ``tiktoken`` and ``sentencepiece``, and their definitions as text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from types import FunctionType
from typing import Any

from fst.errors import UnsupportedError
from fst.tables.header import MAX_MODEL_LENGTH, TokenizerClass, is_plain

SETTINGS = ("padding_side", "truncation_side", "clean_up_tokenization_spaces", "chat_template")
BASE = "TokenizersBackend"  # the class of ``transformers`` from which the classes of fast tokenizers derive
# Members of classes that only make, load or save tokenizers; a class's own ``mask_token`` only sets the flag lstrip.
UNUSED = (
    *("__init__", "_post_init", "convert_from_spm_model", "save_pretrained", "save_vocabulary"),
    *("do_lower_case", "mask_token", "get_sentinel_tokens", "get_sentinel_token_ids"),
)
FLAG_NAMES = ("add_bos_token", "add_eos_token")  # left out, because the post-processor of the tokenizer.json has the same effect
FLAGS = ("_add_bos_token", "_add_eos_token")  # attributes of every fast tokenizer that are not in a tokenizer.json
# Attributes of every fast tokenizer, and copies of the vocabulary.
COMMON = frozenset((
    *("_extra_special_tokens", "_in_target_context_manager", "_pad_token_type_id", "_processor_class", "_should_update_post_processor"),
    *("_special_tokens_map", "_tokenizer", "add_prefix_space", "backend", "chat_control_tokens", "chat_template", "deprecation_warnings"),
    *("clean_up_tokenization_spaces", "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output", "files_loaded"),
    *("init_inputs", "init_kwargs", "model_input_names", "model_max_length", "name_or_path", "padding_side", "response_template"),
    *("split_special_tokens", "truncation_side", "verbose", "_vocab", "_vocab_scores", "_merges", "_spm_precompiled_charsmap"),
    *("vocab_file", "SPECIAL_TOKENS_ATTRIBUTES", "threads"),
))  # fmt: skip
VOCABULARY = ("vocab", "merges", "extra_special_tokens", "additional_special_tokens")  # arguments of classes that are no options


def is_live(source: object) -> bool:
    """Whether a source is a tokenizer of ``tokenizers`` or ``transformers``. Neither library is imported: objects of a library exist only
    after its import.
    """
    library = sys.modules.get("tokenizers")
    return library is not None and (isinstance(source, library.Tokenizer) or is_fast(source))


def is_encoding(source: object) -> bool:
    """Whether a source is a ``tiktoken.Encoding``. The library is not imported: an object of ``tiktoken`` exists only after its import."""
    library = sys.modules.get("tiktoken")
    return library is not None and isinstance(source, library.Encoding)


def is_processor(source: object) -> bool:
    """Whether a source is a ``sentencepiece.SentencePieceProcessor``. The library is not imported."""
    library = sys.modules.get("sentencepiece")
    return library is not None and isinstance(source, library.SentencePieceProcessor)


def is_fast(source: object) -> bool:
    """Whether a source is a tokenizer of ``transformers``."""
    library = sys.modules.get("transformers")
    return library is not None and isinstance(source, library.PreTrainedTokenizerBase)


def exported_text(source: Any) -> tuple[str, dict[str, Any]]:
    """The ``tokenizer.json`` of a live tokenizer, as text, and further settings, named as in `fst.tables.header.Settings`.

    Chat templates have the format of ``transformers``. For an encoding of ``tiktoken``, the text is the pattern, and the settings are the
    name, the ranks and the special tokens of the encoding. For a processor of ``sentencepiece``, the text contains the bytes of its model.

    Raises:
        UnsupportedError: the source is a slow tokenizer of ``transformers``, which runs in Python, or it splits special tokens in a text.
    """
    if is_processor(source):
        return source.serialized_model_proto().decode("latin-1"), {}
    if is_encoding(source):
        return source._pat_str, {"name": source.name, "ranks": source._mergeable_ranks, "special": source._special_tokens}
    if is_fast(source) and not source.is_fast:
        name = type(source).__name__
        remedy = "; compile its folder instead" if name == "BertJapaneseTokenizer" else ""
        raise UnsupportedError(f"{name}, which transformers runs in Python: only its fast tokenizers can be compiled{remedy}")
    inner = source.backend_tokenizer if is_fast(source) else source
    if inner.encode_special_tokens:
        raise UnsupportedError("split_special_tokens is True; expected False: a table finds special tokens in every text")
    if inner is source:
        return source.to_str(), {}
    length = source.model_max_length
    named = {name: str(token) for name, token in source.special_tokens_map.items() if isinstance(token, str)}
    with _input_mode(source):
        return inner.to_str(), {
            **{name: getattr(source, name) for name in SETTINGS},
            "model_input_names": [*source.model_input_names],
            "model_max_length": None if length is None or length > MAX_MODEL_LENGTH else int(length),
            "named_tokens": named,
            "extra_special_tokens": [*map(str, source.extra_special_tokens)],
            "tokenizer_class": _class_of(source),
        }


@contextmanager
def _input_mode(source: Any) -> Iterator[None]:
    """The mode in which each call of a tokenizer reads a text: a tokenizer of SeamlessM4T begins in the mode of targets. Afterwards, the
    tokenizer is as before.
    """
    if not hasattr(source, "_switch_to_input_mode") or source._in_target_context_manager:
        yield
        return
    attributes, processor = {**vars(source)}, source.backend_tokenizer.post_processor
    try:
        source._switch_to_input_mode()
        yield
    finally:
        vars(source).update(attributes)
        source.backend_tokenizer.post_processor = processor


def config_of(source: Any) -> dict[str, Any]:
    """The ``tokenizer_config.json`` that a tokenizer of ``transformers`` writes, without special tokens."""
    members = {name: getattr(source, name, value) for name, value in source.init_kwargs.items() if name not in FLAG_NAMES}
    return {**{name: value for name, value in members.items() if is_plain({name: value})}, "tokenizer_class": type(source).__name__}


def members(found: type[Any]) -> set[str]:
    """The names of the methods and properties of a class of ``transformers``, and of its base classes, except the members of all fast
    tokenizers, and except `UNUSED`.
    """
    return {name for one in _derived(found) for name, value in vars(one).items() if _is_own(name, value)}


def loaders(found: type[Any]) -> set[str]:
    """The names of the other methods and properties of such a class: those that make, load, save or copy its objects."""
    return {name for one in _derived(found) for name, value in vars(one).items() if _is_function(value)} - members(found)


def _derived(found: type[Any]) -> Iterator[type[Any]]:
    """A class, followed by those of its base classes that derive from the class of all fast tokenizers, without stand-ins of `fst.hf`."""
    own = (one for one in found.__mro__ if not one.__module__.startswith("fst."))
    return (one for one in own if any(base.__name__ == BASE for base in one.__mro__[1:]))


def _is_own(name: str, value: Any) -> bool:
    return _is_function(value) and name not in UNUSED and (name == "__call__" or not name.startswith("__"))


def _is_function(value: Any) -> bool:
    return isinstance(value, FunctionType | staticmethod | classmethod | property) or hasattr(value, "__wrapped__")


def _class_of(source: Any) -> TokenizerClass | None:
    """The class of a tokenizer of ``transformers``, with its attributes and options; None if objects of this class do no more than all fast
    tokenizers.
    """
    if not any(base.__name__ == BASE for base in type(source).__mro__):
        return None
    flags = {name: True for name in FLAGS if vars(source).get(name)}
    found = next((one for one in _derived(type(source)) if any(_is_own(name, value) for name, value in vars(one).items())), None)
    if found is None:
        return TokenizerClass(BASE, flags, {}) if flags else None
    attributes = {name: value for name, value in vars(source).items() if name not in {*COMMON, *FLAGS} and is_plain({name: value})}
    return TokenizerClass(found.__name__, {**attributes, **flags}, _options(source, found.__init__))


def _options(source: Any, made_by: Callable[..., Any]) -> dict[str, Any]:
    """The arguments with which a tokenizer was made, except its special tokens and its vocabulary."""
    names = [name for name in signature(made_by).parameters if name not in (*VOCABULARY, *source.SPECIAL_TOKENS_ATTRIBUTES)]
    stated = {name: source.init_kwargs[name] for name in names if name in source.init_kwargs}
    return {name: value for name, value in stated.items() if not name.endswith(("_file", "_token")) and is_plain({name: value})}
