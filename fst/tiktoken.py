"""A stand-in for the module ``tiktoken``: ``import fst.tiktoken as tiktoken``. A call of the module returns a stand-in for an encoding."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from fst.runtime.compat.tiktoken import encoding
from fst.runtime.compat.tiktoken.encoding import Encoding

__all__ = ["Encoding", "encoding_for_model", "encoding_name_for_model", "get_encoding", "list_encoding_names"]

encoding_for_model = Encoding.encoding_for_model
encoding_name_for_model = Encoding.encoding_name_for_model
get_encoding = Encoding.get_encoding
list_encoding_names = Encoding.list_encoding_names


class TiktokenModule(ModuleType):
    """The class of this module, so that a call of the module makes an `Encoding`."""

    Encoding = encoding.Encoding
    encoding_for_model = staticmethod(encoding.Encoding.encoding_for_model)
    encoding_name_for_model = staticmethod(encoding.Encoding.encoding_name_for_model)
    get_encoding = staticmethod(encoding.Encoding.get_encoding)
    list_encoding_names = staticmethod(encoding.Encoding.list_encoding_names)

    def __call__(self, tokenizer: Any, name: str | None = None) -> encoding.Encoding:
        """Make an `Encoding`."""
        return encoding.Encoding(tokenizer, name)


def __dir__() -> list[str]:
    return __all__


sys.modules[__name__].__class__ = TiktokenModule
