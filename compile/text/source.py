"""The content of a source, divided by topic, so that the compilers share everything except the model.

A `Source` contains everything that ids depend on; later steps read nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from fst.compile.text.components import Component
from fst.tables import header
from fst.tables.header import TOKENIZERS, AddedTokens, Settings, Templates
from fst.tables.sentencepiece_info import SentencePieceInfo
from fst.tables.table import Table
from fst.text.splitter import Splitter


class Model(Protocol):
    """The interface that all kinds of models implement.

    Attributes:
        kind: the type of the model in a ``tokenizer.json``.
        compiler: the module whose function ``assemble`` compiles a source with such a model, and a layout, into a table.
        tokens: token → id.
        unk_token: the token for text that has no segmentation; None if the model has no such token.
    """

    @property
    def kind(self) -> str: ...  # noqa: D102

    @property
    def compiler(self) -> str: ...  # noqa: D102

    @property
    def tokens(self) -> Mapping[str, int]: ...  # noqa: D102

    @property
    def unk_token(self) -> str | None: ...  # noqa: D102

    def check(self, where: str) -> None:
        """Raise a VocabularyError or an UnsupportedError if the model cannot be compiled; the message begins with `where`."""


@dataclass(frozen=True)
class TextPipeline:
    """The changes to a text before the model reads it."""

    normalizers: Sequence[Component]  # components from `fst.compile.text.folding.components`
    pre_tokenizers: Sequence[Component]  # components from `fst.compile.text.pre_tokenizers.components`
    # The cuts of the pre-tokenizers, one after the other, if an alphabet of WordPiece cannot express them.
    splitters: Sequence[Splitter] = ()


@dataclass(frozen=True)
class Trimming:
    """The setting that offsets of tokens exclude the whitespace at the ends of tokens."""

    add_prefix_space: bool  # whether offsets include the first space of a text


# The default settings, for a source that contains none.
NO_SETTINGS = Settings(
    decoder=None,
    truncation=None,
    padding=None,
    named_tokens={},
    extra_special_tokens=[],
    model_max_length=None,
    model_input_names=[],
    padding_side="right",
    truncation_side="right",
    clean_up_tokenization_spaces=False,
    chat_templates={},
)

TIKTOKEN, MISTRAL, SENTENCEPIECE = "tiktoken 0.14.0", "mistral-common 1.13.1", f"{header.SENTENCEPIECE} 0.2.3"
RWKV = "rwkv 0.8.32"
LLAMA_CPP = f"{header.LLAMA_CPP} 0.5.0"
TRANSFORMERS, FAIRSEQ = (f"{SENTENCEPIECE}, {library}" for library in ("transformers 5.24.0", "fairseq 0.12.2"))

AnyModel_co = TypeVar("AnyModel_co", bound=Model, covariant=True)


@dataclass(frozen=True)
class Source(Generic[AnyModel_co]):
    """A vocabulary with everything that determines ids."""

    model: AnyModel_co
    text: TextPipeline  # the changes to a text before the model reads it
    added: AddedTokens  # the added tokens, before `fst.compile.text.added_tokens.completed`
    templates: Templates  # the ids that are added around texts
    settings: Settings  # the other settings of the source; `fst.compile.sources.read` checks the values
    trimming: Trimming | None = None  # the whitespace that token offsets exclude; None: no whitespace
    reference: str = TOKENIZERS  # the library that gives the same ids, and its version
    sentencepiece: SentencePieceInfo | None = None  # the properties of the pieces of a SentencePiece model; None for other sources

    def table(self, layout: str = "auto") -> Table:
        """Compile the source. The compiler of the model is imported here, so reading a source imports none. `layout`: the layout of the
        transitions of WordPiece, see `fst.compile.wordpiece`.
        """
        made: Table = import_module(self.model.compiler).assemble(self, layout)
        return made
