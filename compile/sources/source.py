"""What a source says, by concern, so that the compilers of all models share everything but the model.

A `Source` holds all that ids depend on; nothing else is looked at later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from fst.compile.sources.templates import Templates
from fst.compile.text.added_tokens import AddedTokens
from fst.compile.text.components import Component

FLAGS = ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars")  # the settings of BertNormalizer


class Model(Protocol):
    """A model: what every kind of model has in common.

    Attributes:
        kind: its type in a ``tokenizer.json``.
        tokens: token → id.
        unk_token: the token for text that has no segmentation.
    """

    @property
    def kind(self) -> str: ...  # noqa: D102

    @property
    def tokens(self) -> Mapping[str, int]: ...  # noqa: D102

    @property
    def unk_token(self) -> str: ...  # noqa: D102

    def check(self, where: str) -> None:
        """Raise a VocabularyError if the model cannot be compiled; `where` begins the message."""


@dataclass(frozen=True)
class TextPipeline:
    """What happens to a text before the model reads it.

    Attributes:
        normalizers: components from `fst.compile.text.normalizers.components`.
        pre_tokenizers: components from `fst.compile.text.pre_tokenizers.components`.
    """

    normalizers: Sequence[Component]
    pre_tokenizers: Sequence[Component]


@dataclass(frozen=True)
class Settings:
    """What the source asks for beside ids; named and checked as in `fst.settings`.

    Attributes:
        decoder: ``{"prefix": str, "cleanup": bool}``, or None: tokens are joined with blanks.
        truncation, padding: as in the ``tokenizer.json``; tables show them and never apply them unasked.
        named_tokens: names such as pad_token, and their tokens.
        extra_special_tokens: special tokens without a name.
        model_max_length: how many ids a model takes; None if unknown.
        model_input_names: the arrays that a model takes.
        padding_side, truncation_side: where rows are padded and cut, "right" or "left".
        clean_up_tokenization_spaces: whether decoding once more removes blanks before punctuation.
    """

    decoder: Mapping[str, Any] | None = None
    truncation: Mapping[str, Any] | None = None
    padding: Mapping[str, Any] | None = None
    named_tokens: Mapping[str, str] = field(default_factory=dict)
    extra_special_tokens: Sequence[str] = field(default_factory=list)
    model_max_length: int | None = None
    model_input_names: Sequence[str] = field(default_factory=list)
    padding_side: str = "right"
    truncation_side: str = "right"
    clean_up_tokenization_spaces: bool = False


AnyModel_co = TypeVar("AnyModel_co", bound=Model, covariant=True)


@dataclass(frozen=True)
class Source(Generic[AnyModel_co]):
    """A vocabulary with everything that its ids depend on."""

    model: AnyModel_co
    text: TextPipeline
    added: AddedTokens
    templates: Templates
    settings: Settings
