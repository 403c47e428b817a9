"""The metadata section about texts, for tables that split texts into pre-tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fst.core.json_fields import FLAG, TEXT, or_null, stored_as
from fst.tables.header import COMPONENTS, form_of
from fst.text.normalizer import Normalizer

PREFIX_SPACE = {"type": "PrefixSpace"}  # the component in place of a ByteLevel that adds a space before a text


@dataclass(frozen=True)
class PretokenText:
    """The steps that change a text before the model reads it.

    Attributes:
        normalizers, pre_tokenizers: the components, in the forms of `fst.compile.text.folding` and `fst.compile.pretokens.splits`.
        normalizer: the normalizer of texts before they are split; None if texts are not rewritten.
        trimming: None: offsets include the spaces at the ends of tokens. False: offsets exclude the spaces at the ends of tokens. True:
            offsets exclude such spaces, except the first space of a text.
        reference: the library that gives the same ids, and the version of this library.
    """

    normalizers: Sequence[Mapping[str, Any]] | None = stored_as(COMPONENTS, "normalizer_parts")
    pre_tokenizers: Sequence[Mapping[str, Any]] | None = stored_as(COMPONENTS, "pre_tokenizer_parts")
    normalizer: Normalizer | None = stored_as(form_of(Normalizer), "rewriting")
    trimming: bool | None = stored_as(or_null(FLAG))
    reference: str = stored_as(TEXT)
