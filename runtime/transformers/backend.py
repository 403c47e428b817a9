"""Backends: the parts of `fst.hf` that depend on the machine. Each machine has a class, which its face names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from fst.errors import UnsupportedError
from fst.runtime.tokenizer import Tokenizer

Json = dict[str, Any]


def backend_of(tokenizer: Tokenizer) -> Backend:
    """The backend of a tokenizer.

    Raises:
        UnsupportedError: its machine has none.
    """
    module, _, name = tokenizer.backend.rpartition(".")
    if not name:
        raise UnsupportedError(f"fst.hf of {tokenizer.about['kind']} tables: there is none; the call, tok(...), has the same arguments")
    return cast(Backend, getattr(import_module(module), name)(tokenizer))


class Backend:
    """A stand-in for the ``tokenizers.Tokenizer`` behind a fast tokenizer.

    It has the members that transformers reads, and those with which `fst.hf` treats machines differently.

    Args:
        fst: the tokenizer.

    Attributes:
        files: the names of vocabulary files, as ``vocab_files_names`` of transformers.
        keeps_blanks: whether decoded text is not cleaned up by default, as with BPE.
        fixed: the settings of transformers that the table determines.
        model: the model; pipelines for token classification read its ``continuing_subword_prefix`` to tell whether a word may be several
            tokens.
    """

    files: ClassVar[Mapping[str, str]]
    keeps_blanks: ClassVar[bool]

    def __init__(self, fst: Tokenizer) -> None:
        self.fst = fst

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """The number of tokens, with or without added ones."""
        tokens: int = self.fst._metadata.model.model_tokens
        return len(self.fst) if with_added_tokens else tokens

    @property
    def fixed(self) -> Mapping[str, Any]:  # noqa: D102
        raise NotImplementedError

    @property
    def model(self) -> SimpleNamespace:  # noqa: D102
        raise NotImplementedError

    @property
    def decoder(self) -> Any:
        """The decoder of ``tokenizers`` with the table's settings; None if the table has none."""
        raise NotImplementedError

    def joined(self, tokens: Sequence[str]) -> str:
        """The text of tokens."""
        raise NotImplementedError

    def save_vocabulary(self, folder: Path, prefix: str) -> tuple[str, ...]:
        """Write the vocabulary files, with names that begin with a prefix, and return their paths.

        Raises:
            UnsupportedError: files of this format cannot hold the vocabulary.
        """
        raise NotImplementedError

    def document(self) -> Json:
        """A ``tokenizer.json`` that compiles to the table.

        Raises:
            UnsupportedError: no ``tokenizer.json`` can express the table.
        """
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        what = "save_pretrained(folder) writes a tokenizer.json, which tokenizers.Tokenizer.from_file reads"
        raise AttributeError(f"{name!r}: there is no tokenizers.Tokenizer behind fst.hf; {what}")
