"""The references that tables are compared with: `tokenizers` for a tokenizer.json, tiktoken for a file of its ranks, packed or not."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from fst.compile.sources import tiktoken
from fst.compile.sources.files import read_text
from fst.compile.sources.read import files_of_ranks
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.byte_letters import spelled

DOCUMENT = "tokenizer.json"
NAME_ONE = f"name the model's {DOCUMENT}, or save one with BertTokenizerFast of transformers"
EXCERPT = 60  # characters of a message of the reference


class Reference(Protocol):
    """A tokenizer that neither truncates nor pads, and skips no merges."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts."""

    def name(self, number: int) -> str:
        """The token of an id."""

    def place(self, text: str, token: int) -> int:
        """The character of a text at which a token begins."""


def reference(path: Path) -> Reference:
    """The reference that reads a file, or the file in a folder.

    Raises:
        FstError: there is no such file, or the library is not installed, or cannot read it.
    """
    path = _found(path)
    text = _text(path)
    return Tiktoken(text, path) if tiktoken.is_ranks(text) else Tokenizers(text, path)


def _found(path: Path) -> Path:
    """The file that a path means."""
    if not path.is_dir():
        return path
    files = [path / DOCUMENT, *(file for file in files_of_ranks(path) if tiktoken.SUFFIX in file.suffixes)]
    found = next(filter(Path.exists, files), None)
    if found is None:
        raise VocabularyError(f"{path}: a folder without {DOCUMENT}; {NAME_ONE}")
    return found


def _text(path: Path) -> str:
    """The text of a file that a reference may read."""
    try:
        text = read_text(path)
    except VocabularyError:
        text = ""
    if not text.lstrip().startswith("{") and not tiktoken.is_ranks(text):
        what = "a list of tokens, which does not say how text is split" if path.suffix == ".txt" else f"no {DOCUMENT}"
        raise VocabularyError(f"{path}: {what}; {NAME_ONE}")
    return text


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        told = f"verify --against needs the reference, which is not installed; install it with `pip install {name}`"
        raise UnsupportedError(told) from None


class Tokenizers:
    """`tokenizers`, with a tokenizer.json."""

    def __init__(self, document: str, path: Path) -> None:
        library = _library("tokenizers")
        try:
            self._tokenizer: Any = library.Tokenizer.from_str(document)
        except Exception as error:  # the reference raises no more specific class
            reason = f"tokenizers {library.__version__} does not take it ({str(error)[:EXCERPT]!r})"
            raise VocabularyError(f"{path}: {reason}; {NAME_ONE}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        if isinstance(self._tokenizer.model, library.models.BPE):
            self._tokenizer.model.dropout = None

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """See `Reference`."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]

    def name(self, number: int) -> str:
        """See `Reference`."""
        return str(self._tokenizer.id_to_token(number))

    def place(self, text: str, token: int) -> int:
        """See `Reference`."""
        offsets = self._tokenizer.encode(text).offsets
        return int(offsets[token][0]) if token < len(offsets) else len(text)


class Tiktoken:
    """Tiktoken, with a file of ranks whose name is that of an encoding."""

    def __init__(self, text: str, path: Path) -> None:
        library = _library("tiktoken")
        ranks, (pattern, special) = tiktoken.parts_of(text, path, {})
        self._encoding: Any = library.Encoding(path.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(special))

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """See `Reference`."""
        found: list[list[int]] = self._encoding.encode_batch(texts, allowed_special="all")
        return found

    def name(self, number: int) -> str:
        """See `Reference`."""
        return spelled(self._encoding.decode_single_token_bytes(number))

    def place(self, text: str, token: int) -> int:
        """See `Reference`."""
        _, places = self._encoding.decode_with_offsets(self._encoding.encode(text, allowed_special="all"))
        return int(places[token]) if token < len(places) else len(text)
