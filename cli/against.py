"""Compare a table with the reference: `tokenizers`, reading the tokenizer.json that the table was compiled from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst.cli.formats import names
from fst.cli.kernels import ready
from fst.errors import UnsupportedError, VocabularyError

if TYPE_CHECKING:
    from fst.cli.documents import Documents
    from fst.cli.inputs import Reading
    from fst.machines.wordpiece import Tables

DOCUMENT = "tokenizer.json"
NAME_ONE = f"name the model's {DOCUMENT}, or save one with BertTokenizerFast of transformers"
AROUND = 8  # tokens shown before and after the first difference
EXCERPT = 60  # characters of the text shown before and after it


class Reference:
    """A tokenizer of `tokenizers`, which neither truncates nor pads, and skips no merges.

    Raises:
        FstError: `tokenizers` is not installed, or cannot read the file.
    """

    def __init__(self, path: str) -> None:
        try:
            import tokenizers
        except ImportError:
            raise UnsupportedError(
                "verify --against needs the reference, which is not installed; install it with `pip install tokenizers`"
            ) from None
        document = _document(Path(path))
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_str(document)
        except Exception as error:  # the reference raises no more specific class
            reason = f"tokenizers {tokenizers.__version__} does not take it ({str(error)[:EXCERPT]!r})"
            raise VocabularyError(f"{path}: {reason}; {NAME_ONE}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        if isinstance(self._tokenizer.model, tokenizers.models.BPE):
            self._tokenizer.model.dropout = None

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]

    def name(self, number: int) -> str:
        """The token of an id."""
        return str(self._tokenizer.id_to_token(number))

    def place(self, text: str, token: int) -> int:
        """The character of a text at which a token begins."""
        offsets = self._tokenizer.encode(text).offsets
        return int(offsets[token][0]) if token < len(offsets) else len(text)


def _document(path: Path) -> str:
    """The text of a tokenizer.json, given its path or the path of its folder.

    Raises:
        VocabularyError: there is no tokenizer.json at the path.
    """
    if path.is_dir():
        if not (path / DOCUMENT).exists():
            raise VocabularyError(f"{path}: a folder without {DOCUMENT}; {NAME_ONE}")
        path /= DOCUMENT
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text.lstrip().startswith("{"):
        what = "a list of tokens, which does not say how text is split" if path.suffix == ".txt" else f"no {DOCUMENT}"
        raise VocabularyError(f"{path}: {what}; {NAME_ONE}")
    return text


@dataclass(frozen=True)
class Difference:
    """A document whose ids differ from those of the reference."""

    place: str
    text: str
    ids: list[int]
    expected: list[int]

    @property
    def first(self) -> int:
        """The first token that differs."""
        pairs = zip(self.ids, self.expected, strict=False)
        return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(self.ids), len(self.expected)))

    def lines(self, name: Callable[[int], str], reference: Reference) -> Iterator[str]:
        """The difference, in words."""
        own, theirs = [name(number) for number in self.ids], [reference.name(number) for number in self.expected]
        at = self.first
        yield f"{self.place}: not the ids of the reference, from token {at + 1} on"
        yield f"  text       {_excerpt(self.text, reference.place(self.text, at))}"
        yield f"  table      {_window(own, at)}"
        yield f"  reference  {_window(theirs, at)}"
        yield f"  first      {_told(own, self.ids, at)} in the table, {_told(theirs, self.expected, at)} in the reference"


class Comparison:
    """A table and the reference, side by side."""

    def __init__(self, tables: Tables, reference: Reference) -> None:
        self._tokenizer, self._reference = ready(tables), reference
        self._names = names(tables)
        self.alike = True

    def lines(self, how: Reading, files: tuple[str, ...], advance: Callable[[int], None]) -> Iterator[str]:
        """The result for each file: its first difference, or that there is none."""
        for file in files:
            yield from self._file(how, file, advance)

    def _file(self, how: Reading, file: str, advance: Callable[[int], None]) -> Iterator[str]:
        count, shown, unit = 0, file, "line"
        for some in how.documents([file], advance):
            documents = some.in_utf8()
            if difference := self._difference(documents):
                self.alike = False
                yield from difference.lines(self._names.__getitem__, self._reference)
                return
            count, shown, unit = count + len(documents), documents.file, documents.unit
        yield f"{shown}: {count:,} {unit}{'s' * (count != 1)}, all with the ids of the reference"

    def _difference(self, documents: Documents) -> Difference | None:
        texts = [text.decode() for text in documents.texts]
        for row, (ids, expected) in enumerate(
            zip(self._tokenizer.encode_batch(documents.texts), self._reference.encode_batch(texts), strict=True)
        ):
            if ids.tolist() != expected:
                return Difference(documents.place(documents.numbers[row]), texts[row], ids.tolist(), expected)
        return None


def _window(tokens: list[str], at: int) -> str:
    first, last = max(at - AROUND, 0), at + AROUND + 1
    return " ".join(["…"] * (first > 0) + tokens[first:last] + ["…"] * (last < len(tokens)))


def _excerpt(text: str, at: int) -> str:
    first, last = max(at - EXCERPT, 0), at + EXCERPT
    return "…" * (first > 0) + repr(text[first:last]) + "…" * (last < len(text))


def _told(tokens: list[str], ids: list[int], at: int) -> str:
    return f"{tokens[at]} (id {ids[at]})" if at < len(ids) else "nothing"
