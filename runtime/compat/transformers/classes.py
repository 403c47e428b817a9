"""Classes of stand-ins for particular tokenizer classes of ``transformers``, such as Whisper's, which has timestamps.

Such a class derives first from the class of ``transformers``, then from the class of all stand-ins. Members of the first class run
unchanged: they call ``super()`` and members of stand-ins, which use the table.
"""

from __future__ import annotations

import re
from inspect import getattr_static
from typing import Any

from fst.errors import UnsupportedError, cut, listed, quoted
from fst.tables.header import TokenizerClass
from fst.tables.live import BASE, FLAGS, loaders, members

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
    more = [] if found.__name__ in TEXT_CALLS else [member for member in CALLS if member in members(found)]
    if more:
        what = f"tokenizer_class is {cut(name)}, with {listed(more)} of its own; expected a class whose calls take only texts"
        raise UnsupportedError(f"{what}; fst.hf(tokenizer.backend_tokenizer) leaves out what the class does")
    return found


def derived(base: type[Any], library: Any, name: str, module: str) -> type[Any]:
    """Make the class of stand-ins for the class `name` of ``transformers`` (see `class_named`); `library` is ``transformers``. `base` is
    the class of stand-ins for tokenizers without a class. `module` is the name of the module that will contain the new class, for pickles.
    """
    found = class_named(library, name)
    kept = {member: getattr_static(base, member) for member in loaders(found) if hasattr(base, member)}
    return type(f"{PREFIX}{found.__name__}", (found, base), {**kept, **ATTRIBUTES.get(found.__name__, {}), "__module__": module})


PREFIX = "Fst"  # the name of a class of stand-ins is this prefix and the name of the class of ``transformers``


def restored(made: Any, base: type[Any], stated: TokenizerClass) -> None:
    """Set the attributes that an object has only because of its class in ``transformers``.

    Methods, and attributes that every stand-in has, are not changed, since the table may come from strangers; `base` is as in `derived`.
    """
    fixed = {*vars(made), *dir(base), *members(type(made))}
    vars(made).update({name: value for name, value in stated.attributes.items() if name in FLAGS or name not in fixed})
