"""The result of ``fst.Tokenizer.__call__``: the arrays for a model, and the span and the word of each token.

The members have the same names and meanings as in ``transformers.BatchEncoding`` and ``tokenizers.Encoding``.
"""

from __future__ import annotations

import warnings
from collections import UserDict
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.errors import counted, not_one_of

Ints = NDArray[np.int64]
Span = tuple[int, int]
Names = list[str | None] | Callable[[], list[str | None]]
Member = TypeVar("Member")
TENSORS = ("np", "pt")


class CharSpan(NamedTuple):
    """The characters `start` to `end - 1` of a text."""

    start: int
    end: int


class TokenSpan(NamedTuple):
    """The tokens `start` to `end - 1` of a row."""

    start: int
    end: int


class Encoding:
    """A row of tokens with their words and spans. Only `pad` and `truncate` change a row.

    Positions of words and characters count from the beginning of a text. ``sequence_index`` selects the text, 0 for the first or 1 for the
    second of a pair; the argument is ignored if the row has one text. If texts were passed as lists of words, offsets count from the
    beginning of a word.

    Args:
        tokens: the names of the tokens, or a function that returns the names.
        n_sequences, table, cut_off: see the attributes.

    Attributes:
        n_sequences: the number of texts in the row, 1 or 2.
        table: int64[8, tokens], read-only: the values of the properties from `ids` to `offsets`, in this order, with -1 for None.
        cut_off: a function that returns the rows of `overflowing`; None if there are no such rows.
    """

    n_sequences: int
    table: Ints
    cut_off: Callable[[], Sequence[Encoding]] | None

    def __init__(self, tokens: Names, n_sequences: int, table: Ints, cut_off: Callable[[], Sequence[Encoding]] | None) -> None:
        self._tokens, self.n_sequences, self.table, self.cut_off = tokens, n_sequences, table, cut_off

    def __len__(self) -> int:
        return int(self.table.shape[1])

    def __repr__(self) -> str:
        return f"<fst.Encoding, {counted(len(self), 'token')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoding, (self.tokens, self.n_sequences, self.table, partial(list, self.overflowing))

    @property
    def tokens(self) -> list[str | None]:
        """The name of each token. Like all properties below, it includes special tokens and padding."""
        if callable(self._tokens):
            self._tokens = self._tokens()
        return self._tokens

    @property
    def ids(self) -> list[int]:
        """The id of each token."""
        return self._list(0)

    @property
    def type_ids(self) -> list[int]:
        """The type id of each token."""
        return self._list(1)

    @property
    def attention_mask(self) -> list[int]:
        """1 for each token, 0 for padding."""
        return self._list(2)

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for special tokens around texts, and for padding; 0 for all other tokens."""
        return self._list(3)

    @property
    def sequence_ids(self) -> list[int | None]:
        """The index of each token's text, 0 or 1; None for special tokens around texts, and for padding."""
        return _or_none(self._list(4))

    @property
    def word_ids(self) -> list[int | None]:
        """The index of each token's word in its text; None for special tokens around texts, and for padding."""
        return _or_none(self._list(5))

    @property
    def offsets(self) -> list[Span]:
        """The span of each token in its text; (0, 0) for special tokens around texts, and for padding."""
        return list(zip(self._list(6), self._list(7), strict=True))

    @property
    def words(self) -> list[int | None]:
        """A deprecated alias of `word_ids`; each access emits a warning, as in ``tokenizers``."""
        warnings.warn("Encoding.words is deprecated; use Encoding.word_ids", DeprecationWarning, stacklevel=2)
        return self.word_ids

    @property
    def overflowing(self) -> list[Encoding]:
        """Copies of the rows that truncation has cut off from this row. The property `overflowing` of a copy is empty."""
        return [row._copy() for row in self._overflowing]

    @Lazy
    def _overflowing(self) -> list[Encoding]:
        return [] if self.cut_off is None else [row._copy() for row in self.cut_off()]

    def pad(self, length: int, direction: str = "right", pad_id: int = 0, pad_type_id: int = 0, pad_token: str = "[PAD]") -> None:
        """Pad the row and the rows in `overflowing` to a length; longer rows do not change.

        Args:
            length: the number of tokens after padding.
            direction: the side where padding is added, "right" or "left".
            pad_id, pad_type_id, pad_token: the id, the type id and the name of the padding token.

        Raises:
            ValueError: `direction` has an unknown value.
        """
        _check(direction)
        for row in self._overflowing:
            row.pad(length, direction, pad_id, pad_type_id, pad_token)
        count = max(length - len(self), 0)
        tokens: list[str | None] = [pad_token] * count
        table = np.repeat(np.array([[pad_id], [pad_type_id], [0], [1], [-1], [-1], [0], [0]]), count, axis=1)
        self._tokens = self.tokens + tokens if direction == "right" else tokens + self.tokens
        self.table = np.concatenate([self.table, table] if direction == "right" else [table, self.table], axis=1)

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Truncate the row, and replace `overflowing` by the rows that are cut off. If `max_length` is not 0, `n_sequences` becomes 1.

        Args:
            max_length: the maximum number of tokens, special tokens included.
            stride: the number of tokens that a row in `overflowing` shares with the previous row.
            direction: the side where tokens are cut off, "right" or "left".

        Raises:
            ValueError: `stride` is not less than `max_length`, or `direction` has an unknown value.
        """
        _check(direction)
        if max_length >= len(self):
            return
        if not max_length:
            rows = [self._part(0, 0), self._copy()]
        elif stride >= max_length:
            raise ValueError(f"stride is {stride}; expected less than max_length, which is {max_length}")
        else:
            rows = [self._part(*span) for span in _windows(len(self), max_length, stride, direction)]
            for row in rows:
                row.table[4], row.n_sequences = 0, 1
        self._tokens, self.table, self.n_sequences = rows[0].tokens, rows[0].table, rows[0].n_sequences
        vars(self)["_overflowing"] = rows[1:]

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the index of a token's text, 0 or 1; None for special tokens around texts, and for padding."""
        return _or_none([self._at(4, token_index)])[0]

    def token_to_word(self, token_index: int) -> int | None:
        """Return the index of a token's word in its text; None for special tokens around texts, and for padding."""
        return _or_none([self._at(5, token_index)])[0]

    def token_to_chars(self, token_index: int) -> Span | None:
        """Return the span of a token in its text; None for special tokens around texts, and for padding."""
        if self._at(4, token_index) < 0:
            return None
        return self._at(6, token_index), self._at(7, token_index)

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the first token whose span contains a character; None if no span contains the character."""
        first, end = self._range(sequence_index)
        begins, ends = self.table[6:8, first:end]
        return _first_of(np.flatnonzero((begins <= char_pos) & (char_pos < ends)) + first)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the index of a character's word in its text; None if no token's span contains the character."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return the tokens of a word: the first token, and one past the last; None if no token belongs to the word."""
        first, end = self._range(sequence_index)
        words = self.table[5, first:end]
        # Words ascend within a text. If a search covers both texts of a pair, ``tokenizers`` stops at the first word with a higher index.
        words = words[: np.argmax(words > word_index)] if (words > word_index).any() else words
        found = np.flatnonzero(words == word_index) + first
        return (int(found[0]), int(found[-1]) + 1) if len(found) and word_index >= 0 else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """Return the characters of a word: the first character, and one past the last; None if no token belongs to the word."""
        span = self.word_to_tokens(word_index, sequence_index)
        return None if span is None else (int(self.table[6, span[0]]), int(self.table[7, span[1] - 1]))

    def _part(self, first: int, end: int) -> Encoding:
        """Make a new row of the tokens `first` to `end - 1`."""
        return Encoding(self.tokens[first:end], 1, self.table[:, first:end].copy(), None)

    def _copy(self) -> Encoding:
        tokens: Names = self._tokens if callable(self._tokens) else [*self._tokens]
        return Encoding(tokens, self.n_sequences, self.table, self.cut_off)

    def _list(self, field: int) -> list[int]:
        found: list[int] = self.table[field].tolist()
        return found

    def _at(self, field: int, token_index: int) -> int:
        """Return a field of `table` for a token; -1 if the row has no token with this index."""
        return int(self.table[field, token_index]) if 0 <= token_index < len(self) else -1

    def _range(self, sequence_index: int) -> Span:
        """Return the tokens of a text: the first token, and one past the last; all tokens if the row has no text with this index."""
        if not 0 <= sequence_index < self.n_sequences:
            return 0, len(self)
        found = np.flatnonzero(self.table[4] == sequence_index)
        return (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 0)


class BatchEncoding(UserDict[str, Any], Generic[Member]):
    """The result of ``fst.Tokenizer.__call__``: a dictionary of lists or arrays, and the rows of the batch.

    ``encoding["input_ids"]`` and ``encoding.input_ids`` are the same member, and ``encoding[0]`` is the first row, an `Encoding`. Methods
    with a row and an index as arguments also accept only the index; then the row is 0: ``char_to_token(5)`` means ``char_to_token(0, 5)``.
    Rows are made from the texts at their first use, so the object holds the texts in memory. Pickles contain the members, but not the rows.

    For type checkers, ``Member`` in ``BatchEncoding[Member]`` is the type of ``input_ids``, such as ``list[int]``.

    Args:
        data: the members.
        rows: a function that returns the rows; None if rows are not available.
    """

    input_ids: Member
    token_type_ids: Member
    attention_mask: Member
    special_tokens_mask: Member

    def __init__(self, data: dict[str, Any] | None = None, rows: Callable[[], Sequence[Encoding]] | None = None) -> None:
        self.data = {} if data is None else data
        self._rows = rows

    @overload
    def __getitem__(self, key: Literal["input_ids", "token_type_ids", "attention_mask", "special_tokens_mask"]) -> Member: ...

    @overload
    def __getitem__(self, key: int) -> Encoding: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.data[key]
        return self.encodings[key]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["data"][name]
        except KeyError:
            raise AttributeError(f"a {type(self).__name__} without {name!r}") from None

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data, "_rows": None}

    @property
    def is_fast(self) -> bool:
        """Always True, which means that tokens can be mapped to words and characters."""
        return True

    @Lazy
    def encodings(self) -> Sequence[Encoding]:
        """All rows.

        Raises:
            ValueError: the object was unpickled, or was not returned by a tokenizer.
        """
        if self._rows is None:
            raise ValueError("the rows of this encoding are not available: pickles do not contain them; ask before, or encode again")
        return self._rows()

    @property
    def n_sequences(self) -> int | None:
        """The number of texts in the first row, 1 or 2; None if there are no rows."""
        return self.encodings[0].n_sequences if self.encodings else None

    def tokens(self, batch_index: int = 0) -> list[str | None]:
        """Return the names of a row's tokens, special tokens and padding included."""
        return self.encodings[batch_index].tokens

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """The index of each token's word in its text; None for special tokens around texts, and for padding."""
        return self.encodings[batch_index].word_ids

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """Return the index of each token's text in a row, 0 or 1; None for special tokens around texts, and for padding."""
        return self.encodings[batch_index].sequence_ids

    def token_to_sequence(self, batch_or_token_index: int, token_index: int | None = None) -> int | None:
        """Return the index of a token's text, 0 or 1; None for special tokens around texts, and for padding."""
        row, token = self._row(batch_or_token_index, token_index)
        return row.token_to_sequence(token)

    def token_to_word(self, batch_or_token_index: int, token_index: int | None = None) -> int | None:
        """Return the index of a token's word in its text; None for special tokens around texts, and for padding."""
        row, token = self._row(batch_or_token_index, token_index)
        return row.token_to_word(token)

    def token_to_chars(self, batch_or_token_index: int, token_index: int | None = None) -> CharSpan | None:
        """Return the span of a token in its text; None for special tokens around texts, and for padding."""
        row, token = self._row(batch_or_token_index, token_index)
        span = row.token_to_chars(token)
        return None if span is None else CharSpan(*span)

    def char_to_token(self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0) -> int | None:
        """Return the first token whose span contains a character; None if no span contains the character."""
        row, char = self._row(batch_or_char_index, char_index)
        return row.char_to_token(char, sequence_index)

    def char_to_word(self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0) -> int | None:
        """Return the index of a character's word in its text; None if no token's span contains the character."""
        row, char = self._row(batch_or_char_index, char_index)
        return row.char_to_word(char, sequence_index)

    def word_to_tokens(self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0) -> TokenSpan | None:
        """Return the tokens of a word: the first token, and one past the last; None if no token belongs to the word."""
        row, word = self._row(batch_or_word_index, word_index)
        span = row.word_to_tokens(word, sequence_index)
        return None if span is None else TokenSpan(*span)

    def word_to_chars(self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0) -> CharSpan | None:
        """Return the characters of a word: the first character, and one past the last; None if no token belongs to the word."""
        row, word = self._row(batch_or_word_index, word_index)
        span = row.word_to_chars(word, sequence_index)
        return None if span is None else CharSpan(*span)

    def convert_to_tensors(self, tensor_type: Any = None) -> BatchEncoding[Any]:
        """Convert the members that are lists in this object: to NumPy arrays for "np", to PyTorch tensors for "pt"; None converts nothing.

        Raises:
            ValueError: `tensor_type` has an unknown value, or the rows of a member differ in length.
            ImportError: PyTorch is not installed.
        """
        kind = tensor_kind(tensor_type)
        if kind is not None:
            self.data = {name: as_tensor(name, value, kind) for name, value in self.data.items()}
        return self

    def to(self, device: Any, *, non_blocking: bool = False) -> BatchEncoding[Any]:
        """Move the members that are PyTorch tensors in this object to a device."""
        self.data = {
            name: value.to(device=device, non_blocking=non_blocking) if hasattr(value, "to") else value for name, value in self.data.items()
        }
        return self

    def _row(self, row_or_index: int, index: int | None) -> tuple[Encoding, int]:
        """Return a row and an index into the row. A single number is an index into the first row."""
        if index is None:
            return self.encodings[0], row_or_index
        return self.encodings[row_or_index], index


def tensor_kind(asked: Any) -> str | None:
    """Return the kind of arrays for an argument, which is "np", "pt", None, or an enum member with one of these values."""
    kind = getattr(asked, "value", asked)
    if kind is not None and kind not in TENSORS:
        raise ValueError(not_one_of("return_tensors", kind, (*TENSORS, None)))
    return None if kind is None else str(kind)


def as_tensor(name: str, value: Any, kind: str) -> Any:
    """Convert a value to an int64 array of a kind, but return an array of this kind unchanged. A tensor shares the memory of a NumPy array.

    Args:
        name: the name of the member, for messages.
        value: a list of numbers or of lists of numbers, or an array; a list of arrays if rows differ in length.
        kind: "np" or "pt".
    """
    if kind == "np":
        return value if isinstance(value, np.ndarray) else _numpy(value)
    torch = _torch()
    if torch.is_tensor(value):
        return value
    array = value if isinstance(value, np.ndarray) else _numpy(value)
    if array.dtype == object:
        raise ValueError(f"the rows of {name!r} differ in length; expected one length; pass padding=True, perhaps with truncation=True")
    return torch.from_numpy(array)


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError:
        raise ImportError("return_tensors='pt' needs PyTorch, which is not installed: pip install torch") from None


def _numpy(value: Any) -> NDArray[Any]:
    if len({len(row) for row in value if hasattr(row, "__len__")}) > 1:
        rows = np.empty(len(value), object)
        rows[:] = [np.asarray(row, np.int64) for row in value]
        return rows
    return np.asarray(value, np.int64)


def _check(direction: str) -> None:
    if direction not in ("right", "left"):
        raise ValueError(not_one_of("direction", direction, ("right", "left")))


def _windows(count: int, longest: int, stride: int, direction: str) -> list[Span]:
    """Return the spans of the windows over a row of `count` tokens, in order."""
    step = longest - stride
    begins = range(0, max(count - stride, 1), step)
    spans = [(start, min(start + longest, count)) for start in begins]
    return spans if direction == "right" else [(count - end, count - start) for start, end in spans]


def _or_none(numbers: list[int]) -> list[int | None]:
    return [number if number >= 0 else None for number in numbers]


def _first_of(found: NDArray[np.intp]) -> int | None:
    return int(found[0]) if len(found) else None
