"""The members of particular tokenizer classes of ``transformers``, such as languages of mBART and timestamps of Whisper.

A stand-in has these members, too: they are functions of the installed ``transformers`` that call members of the stand-in. The stand-in's
class does not derive from the class of ``transformers``, because programs such as vLLM use any object of `fst.tables.live.BASE` as a
`tokenizers.Tokenizer` in a wrapper. So functions that call ``super()`` are copied; the closure of each copy contains another class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import CellType, FunctionType
from typing import Any

from fst.errors import UnsupportedError, cut, listed, quoted
from fst.tables.header import TokenizerClass
from fst.tables.live import BASE, FLAGS, members

# Members of all fast tokenizers; each needs only other members of the tokenizer.
SHARED = (
    *("add_bos_token", "add_eos_token", "update_post_processor", "set_truncation_and_padding", "backend_tokenizer", "decoder"),
    *("_convert_id_to_token", "_convert_token_to_id_with_added_voc", "num_special_tokens_to_add", "tokenize", "vocab", "vocab_size"),
    *("get_vocab", "added_tokens_decoder", "added_tokens_encoder", "get_added_vocab", "_add_tokens", "convert_ids_to_tokens"),
)
# Members by which two kinds of classes are recognised: their calls take boxes, entities or HTML, or they split words by other programs.
CALLS = ("__call__", "_batch_encode_plus", "_encode_plus", "batch_encode_plus", "build_inputs_with_special_tokens")
ATTRIBUTES = {"WhisperTokenizer": {"timestamp_pat": re.compile(r"<\|(\d+\.\d+)\|>")}}  # attributes of objects whose values are not JSON
TEXT_CALLS = ("CodeLlamaTokenizer", "SeamlessM4TTokenizer", "WhisperTokenizer")  # classes whose `CALLS` take texts


def class_named(library: Any, name: str) -> Any:
    """Find a class of fast tokenizers in ``transformers``. The name may come from an untrusted file."""
    found = getattr(library, name, None) if name.isidentifier() else None
    if not isinstance(found, type) or not any(base.__name__ == BASE for base in found.__mro__):
        what = f"tokenizer_class is {quoted(name)}; expected a fast tokenizer of transformers {library.__version__}"
        raise UnsupportedError(f"{what}; fst.hf(tokenizer.backend_tokenizer) leaves out what the class does")
    more = [] if found.__name__ in TEXT_CALLS else [member for member in members(found) if member in CALLS]
    if more:
        what = f"tokenizer_class is {cut(name)}, with {listed(more)} of its own; expected a class whose calls take only texts"
        raise UnsupportedError(f"{what}; fst.hf(tokenizer.backend_tokenizer) leaves out what the class does")
    return found


def derived(base: type[Any], library: Any, name: str, module: str) -> type[Any]:
    """Make the class of stand-ins for the class `name` of ``transformers`` (see `class_named`); `library` is ``transformers``. `base` is
    the class of stand-ins for tokenizers without a class. `module` is the name of the module that will contain the new class, for pickles.
    """
    found = class_named(library, name)
    cell = CellType()
    held = {"__module__": module, **ATTRIBUTES.get(found.__name__, {}), **_bound(members(found), cell)}
    made = type(f"{PREFIX}{found.__name__}", (base,), held)
    cell.cell_contents = made
    return made


PREFIX = "Fst"  # the name of a class of stand-ins is this prefix and the name of the class of ``transformers``


def _bound(held: Mapping[str, Any], cell: CellType) -> dict[str, Any]:
    return {name: _member(member, cell) for name, member in held.items()}


def _member(member: Any, cell: CellType) -> Any:
    """Copy a member for another class, which `super()` reads from a cell of the function."""
    if isinstance(member, property):
        get, put, delete = (part and _member(part, cell) for part in (member.fget, member.fset, member.fdel))
        return property(get, put, delete, member.__doc__)
    if isinstance(member, staticmethod | classmethod):
        return type(member)(_member(member.__func__, cell))
    if not isinstance(member, FunctionType) or "__class__" not in member.__code__.co_freevars:
        return member
    named = zip(member.__code__.co_freevars, member.__closure__ or (), strict=True)
    closure = tuple(cell if name == "__class__" else held for name, held in named)
    made = FunctionType(member.__code__, member.__globals__, member.__name__, member.__defaults__, closure)
    made.__kwdefaults__, made.__doc__ = member.__kwdefaults__, member.__doc__
    return made


def shared(library: Any) -> dict[str, Any]:
    """Of the members that all fast tokenizers have, those that a stand-in uses without changes."""
    return {name: vars(getattr(library, BASE))[name] for name in SHARED}


def restored(made: Any, stated: TokenizerClass) -> None:
    """Set the attributes that an object has only because of its class in ``transformers``.

    Attributes that every stand-in has are not changed, since the table may come from strangers.
    """
    for name, value in stated.attributes.items():
        if name in FLAGS or (name not in vars(made) and not hasattr(type(made), name)):
            vars(made)[name] = value
