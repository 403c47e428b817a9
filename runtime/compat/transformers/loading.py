"""Stand-ins from files: `from_pretrained` of ``transformers``, without the tokenizer in Rust if the cache contains the table.

`_from_pretrained` of ``transformers`` makes a tokenizer in three steps: it reads settings from small files, reads the vocabulary, and calls
the class. `settings_of` runs the first step only. Class, arguments and files determine the tokenizer, and so the table; `digest` identifies
them.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from fst.bridge.pretrained import of_files
from fst.errors import FstWarning, UnsupportedError, cut
from fst.runtime.tokenizer import Tokenizer
from fst.tables.header import is_plain

# Arguments that determine where files are found, and have no effect on the tokenizer.
PLACES = ("token", "cache_dir", "local_files_only", "trust_remote_code", "_commit_hash")
# With these arguments or settings, a tokenizer depends on more than its files.
BEYOND_FILES = ("gguf_file", "fix_mistral_regex")
OF_VOCABULARIES = ("added_tokens_decoder", "model_specific_special_tokens", "extra_special_tokens", "additional_special_tokens")
Make = Callable[..., Any]


def loaded(stand_in: Make, cls: type[Any], files: Mapping[str, Any], name: str, *given: Any, **named: Any) -> Any:
    """The stand-in for the tokenizer that a class of ``transformers`` makes from files. If it cannot be compiled, warn, and return the
    tokenizer of ``transformers``.

    Args:
        stand_in: a function that makes a stand-in from a `fst.Tokenizer`, a class and settings.
        cls: a class of fast tokenizers.
        files: role → path, or None.
        name: the name or path of the model.
        given, named: the other arguments of `_from_pretrained`.
    """
    made: list[Any] = []

    def make() -> Any:
        if not made:
            made.append(own(cls, files, name, *given, **named))
        return made[0]

    try:
        if not cls.__module__.startswith("transformers."):
            raise UnsupportedError(f"its class is in {cls.__module__}; expected a class of transformers")
        tokenizer: Tokenizer = of_files(f"{cls.__name__} ({cut(name)})", lambda: digest(cls, files, name, given, named), make)
        return _settled(stand_in(tokenizer, cls, name_or_path=name), settings_of(cls, files, name, given, named))
    except UnsupportedError as error:
        warnings.warn(f"{cls.__name__} ({cut(name)}) stays a tokenizer of transformers: {error}", FstWarning, stacklevel=2)
        return make()


def own(cls: type[Any], files: Mapping[str, Any], *given: Any, **named: Any) -> Any:
    """Make the tokenizer of ``transformers`` from files. The arguments are copied, because ``transformers`` changes them."""
    return import_module("transformers").PreTrainedTokenizerBase._from_pretrained.__func__(cls, dict(files), *deepcopy(given), **named)


def settings_of(cls: type[Any], files: Mapping[str, Any], name: str, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the class in a call by ``transformers``, without those that are read from vocabularies."""
    steps = {"__new__": lambda _, *_given, **settings: settings, "convert_to_native_format": lambda **settings: settings}
    settings: dict[str, Any] = own(type(cls.__name__, (cls,), steps), files, name, *given, **named)
    return {key: value for key, value in settings.items() if key not in files and key not in OF_VOCABULARIES}


def _settled(made: Any, settings: Mapping[str, Any]) -> Any:
    """Set attributes that a table does not contain, the flags of special tokens, and the arguments that `save_pretrained` writes."""
    made.init_kwargs |= {key: value for key, value in settings.items() if is_plain({key: value})}
    made.verbose, made.add_prefix_space = (settings.get(key, getattr(made, key)) for key in ("verbose", "add_prefix_space"))
    made._processor_class = settings.get("processor_class")
    made.response_template, made.chat_control_tokens = settings.get("response_template"), settings.get("chat_control_tokens")
    named = made._special_tokens_map
    named |= {role: settings[role] for role, token in named.items() if token is not None and str(settings.get(role)) == str(token)}
    return made


def digest(cls: type[Any], files: Mapping[str, Any], name: str, given: Sequence[Any], named: Mapping[str, Any]) -> bytes | None:
    """Everything that determines the tokenizer that ``transformers`` makes from files; None if more than its files determine it.

    Equal results mean equal tokenizers. The result covers the class, the versions of the libraries, the arguments, the contents of the
    files, and the model's ``config.json``, because classes read there whether the model is one of Mistral's.
    """
    paths = {role: Path(path) for role, path in files.items() if path}
    if "tokenizer_file" not in paths or not named.keys().isdisjoint(BEYOND_FILES):
        return None
    paths["config"] = paths["tokenizer_file"].with_name("config.json")
    contents = {role: path.read_bytes() for role, path in paths.items() if path.is_file()}
    config = contents.get("tokenizer_config_file", b"")
    if any(word.encode() in config for word in BEYOND_FILES):
        return None
    versions = [import_module(library).__version__ for library in ("transformers", "tokenizers")]
    model = None if named.get("_is_local") else name
    arguments = {key: value for key, value in named.items() if key not in PLACES}
    digests = {role: sha256(content).digest() for role, content in contents.items()}
    with suppress(pickle.PicklingError, TypeError, AttributeError):
        return pickle.dumps((versions, cls.__module__, cls.__qualname__, model, given, arguments, digests), protocol=5)
    return None
