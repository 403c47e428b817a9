"""The reference libraries. A table must give the same ids as the reference for its source. Source files may be compressed.

The reference is `tokenizers` for a tokenizer.json, `tiktoken` for a file of ranks, and `sentencepiece` for a ``.model``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from unicodedata import normalize

from fst.compile.files import contents, read_text
from fst.compile.sources import tiktoken
from fst.compile.sources.inputs import DICTIONARY, DOCUMENT, IDS, PIECES, RANKS, TEKKEN, single_files
from fst.compile.sources.pretrained import japanese, sentencepiece
from fst.compile.sources.read import is_model
from fst.compile.sources.renumbered import folders as renumbered
from fst.errors import UnsupportedError, VocabularyError
from fst.pretokens.byte_letters import spelled

NAME_ONE = f"name the model's {DOCUMENT}, or save one with BertTokenizerFast of transformers"
EXTRA = "the extra bench, in the repository pip install '.[bench]'"
EXCERPT = 60  # maximum characters of an error message of the reference


class Reference(Protocol):
    """A tokenizer of a reference library. It neither truncates nor pads, and uses no dropout."""

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts."""

    def name(self, number: int) -> str:
        """The token with this id."""

    def place(self, text: str, token: int) -> int:
        """The index of the first character of a token; `token` counts the tokens of the text from 0."""


def reference(path: Path) -> Reference:
    """The reference tokenizer for a file, or for the first of `files` in a folder."""
    if path.is_dir() and japanese.names_class(path):
        what = f"{path} is a {japanese.CLASS}, which no library with fast tokenizers has"
        raise UnsupportedError(f"{what}; compare ids with those of the class of transformers, in Python")
    found = files(path)[0]
    if renumbered.is_side(path) or (path.is_dir() and found.name != DOCUMENT and any(map(Path.is_file, (path / IDS, path / DICTIONARY)))):
        has = f"{path} has ids from a vocabulary next to its model"
        raise UnsupportedError(f"{has}, and no library here gives them; compare with its class in transformers")
    if path.is_dir() and kind(found) == PIECES and sentencepiece.names_class(path):
        raise UnsupportedError(f"{path} has the ids of transformers; save its {DOCUMENT} with transformers, and name that")
    return REFERENCES[kind(found)](found)


def files(path: Path) -> list[Path]:
    """The files that a reference library may read: the given file, or the files in the given folder, tokenizer.json first."""
    if not path.is_dir():
        return [path]
    named = [path / DOCUMENT, *(file for file in single_files(path) if not file.name.startswith(TEKKEN))]
    found = [*filter(Path.exists, named)]
    if not found:
        raise VocabularyError(f"{path}: a folder without {DOCUMENT}; {NAME_ONE}")
    return found


def kind(path: Path) -> str:
    """The kind of a file: `DOCUMENT`, `RANKS` or `PIECES`."""
    return PIECES if is_model(path) else RANKS if tiktoken.is_ranks(_text(path)) else DOCUMENT


def _text(path: Path) -> str:
    """The text of a tokenizer.json or of a file of ranks; for any other file, a VocabularyError is raised."""
    try:
        text = read_text(path)
    except VocabularyError:
        text = ""
    if not text.lstrip().startswith("{") and not tiktoken.is_ranks(text):
        what = "a list of tokens, without the rules that split text" if path.suffix == ".txt" else f"no {DOCUMENT}"
        raise VocabularyError(f"{path}: {what}; {NAME_ONE}")
    return text


def library(name: str) -> Any:
    """Import a library with which tables are compared."""
    try:
        return import_module(name)
    except ImportError:
        way = f"pip install {name}, or all that can be compared with {EXTRA}"
        raise UnsupportedError(f"--against needs {name}, which is not installed: {way}") from None


class Tokenizers:
    """The reference `tokenizers`, for a tokenizer.json.

    Attributes:
        tokenizer: the tokenizer of the library.
    """

    def __init__(self, path: Path) -> None:
        module = library("tokenizers")
        try:
            self.tokenizer: Any = module.Tokenizer.from_str(_text(path))
        except Exception as error:  # the library raises `Exception` itself, no subclass
            reason = f"tokenizers {module.__version__} cannot read it ({str(error)[:EXCERPT]!r})"
            raise VocabularyError(f"{path}: {reason}; {NAME_ONE}") from None
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        if isinstance(self.tokenizer.model, module.models.BPE):
            self.tokenizer.model.dropout = None

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """See `Reference`."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts)]

    def name(self, number: int) -> str:
        """See `Reference`."""
        return str(self.tokenizer.id_to_token(number))

    def place(self, text: str, token: int) -> int:
        """See `Reference`."""
        offsets = self.tokenizer.encode(text).offsets
        return int(offsets[token][0]) if token < len(offsets) else len(text)


class Tiktoken:
    """The reference `tiktoken`, for a file of ranks; the name of the file is the name of the encoding.

    Attributes:
        encoding: the tokenizer of the library.
    """

    def __init__(self, path: Path) -> None:
        module = library("tiktoken")
        ranks, (pattern, special, normalizers) = tiktoken.parts_of(_text(path), path, {})
        self.encoding: Any = module.Encoding(path.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(special))
        self._composes = len(normalizers) > 0

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """See `Reference`."""
        found: list[list[int]] = self.encoding.encode_batch([*map(self._composed, texts)], allowed_special="all")
        return found

    def _composed(self, text: str) -> str:
        return normalize("NFC", text) if self._composes else text

    def name(self, number: int) -> str:
        """See `Reference`."""
        return spelled(self.encoding.decode_single_token_bytes(number))

    def place(self, text: str, token: int) -> int:
        """See `Reference`."""
        _, places = self.encoding.decode_with_offsets(self.encoding.encode(self._composed(text), allowed_special="all"))
        return int(places[token]) if token < len(places) else len(text)


class SentencePiece:
    """The reference `sentencepiece`, for a ``.model``.

    Attributes:
        processor: the tokenizer of the library.
    """

    def __init__(self, path: Path) -> None:
        module = library("sentencepiece")
        try:
            self.processor: Any = module.SentencePieceProcessor(model_proto=contents(path))
        except Exception as error:  # the library raises `Exception` itself, no subclass
            reason = f"sentencepiece {module.__version__} cannot read it ({str(error)[:EXCERPT]!r})"
            raise VocabularyError(f"{path}: {reason}") from None

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """See `Reference`."""
        found: list[list[int]] = self.processor.encode(texts)
        return found

    def name(self, number: int) -> str:
        """See `Reference`."""
        return str(self.processor.id_to_piece(number))

    def place(self, text: str, token: int) -> int:
        """See `Reference`."""
        pieces = self.processor.encode(text, return_type="proto").pieces
        return len(text.encode()[: pieces[token].begin].decode()) if token < len(pieces) else len(text)


REFERENCES: Mapping[str, Callable[[Path], Reference]] = {DOCUMENT: Tokenizers, RANKS: Tiktoken, PIECES: SentencePiece}
