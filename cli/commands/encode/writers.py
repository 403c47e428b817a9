"""Write ids as lines of text, JSON lines or columns. Formats for training are in `fst.runtime.files.shards`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np

from fst.cli.files.formats import forms_of
from fst.cli.files.ids import IDS, OFFSETS, TOKENS, Decimals, names
from fst.cli.files.writers import Write, as_json, lines_of, records_of
from fst.runtime.files.documents import Documents, Encoded
from fst.runtime.files.shards.formats import FORMATS

if TYPE_CHECKING:
    from fst.cli.tables import TokenizerTable

ARRAYS = {".npy": "npy", ".bin": "bin", ".ds": "datatrove"}  # ending of a file name → form
INSTEAD = {".mds": "name a folder, as in -o out/, with --format mds", ".idx": "name the .bin, with --format megatron"}
FORMS = forms_of("ids", "tokens", "json", arrays=ARRAYS, advice="write a pair of .npy, or .bin", instead=INSTEAD)
TAKE_PIECES = ("ids", "tokens", *FORMATS)  # forms for which a long document may be written in parts; other forms need complete documents

Value = TypeVar("Value")


@contextmanager
def writing(
    name: str, form: str, table: TokenizerTable, *, with_tokens: bool = False, with_offsets: bool = False
) -> Iterator[Write[Encoded]]:
    """A function that writes ids, and by option tokens and spans, to a file, or to standard output for "-"."""
    if form in ("ids", "tokens"):
        with lines_of(name) as data:
            yield Lines(data, form, table).write
    else:
        columns = partial(IdsColumns, names(table) if with_tokens else None, with_offsets)
        with records_of(name, form, lambda: IdsMembers(table, with_tokens), columns) as write:
            yield write


class Lines:
    """A writer of one line of text for each document. `file`: the output. `form`: the content of a line, "ids" or "tokens", which are
    separated by spaces. `table`: the vocabulary, for the names of tokens.
    """

    def __init__(self, file: IO[bytes], form: str, table: TokenizerTable) -> None:
        self._file = file
        self._spellings = names(table)
        self._decimals = Decimals(int(table.token_ids.max()) + 1 if form == "ids" else 0)
        self._is_begun = False  # whether the last line ends with ids of an unfinished document
        self._lines = self._numbers if form == "ids" else self._joined

    def write(self, encoded: Encoded) -> None:
        """Write the lines of some documents, and flush them."""
        self._file.write(self._lines(encoded))
        self._file.flush()
        if len(encoded.ids) or len(encoded.ends):
            self._is_begun = len(encoded.ids) > (encoded.ends[-1] if len(encoded.ends) else 0)

    def _numbers(self, encoded: Encoded) -> bytes:
        return self._decimals.lines(encoded.ids, encoded.ends, self._is_begun)

    def _joined(self, encoded: Encoded) -> bytes:
        *rows, rest = _rows(encoded)
        text = "".join([f"{self._spelled(row)}\n" for row in rows]) + self._spelled(rest)
        return f" {text}".encode() if self._is_begun and text[:1] not in ("", "\n") else text.encode()

    def _spelled(self, row: list[int]) -> str:
        return " ".join(map(self._spellings.__getitem__, row))


def _rows(encoded: Encoded) -> Iterator[list[int]]:
    """The ids of each document. The last list belongs to an unfinished document, and may be empty."""
    return _by_row(encoded.ids.tolist(), encoded)


def _by_row(values: list[Value], encoded: Encoded) -> Iterator[list[Value]]:
    """Values that belong to ids, in a list for each document. The last list belongs to an unfinished document, and may be empty."""
    return (values[first:last] for first, last in pairwise([0, *encoded.ends.tolist(), len(values)]))


class IdsMembers:
    """A conversion of encoded documents to JSON members: the ids and, by option, the tokens and the spans. `table`: the vocabulary, for the
    names of tokens. `with_tokens`: whether tokens are written.
    """

    def __init__(self, table: TokenizerTable, with_tokens: bool) -> None:
        self._decimals = Decimals(int(table.token_ids.max()) + 1)
        self._spellings = names(table) if with_tokens else None

    def of(self, encoded: Encoded, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `MembersOf`."""
        members = {IDS: self._ids(encoded)}
        if self._spellings is not None:
            members[TOKENS] = self._tokens(encoded, self._spellings)
        if encoded.offsets is not None:
            *spans, _ = _by_row(encoded.offsets.tolist(), encoded)
            members[OFFSETS] = list(map(as_json, spans))
        return encoded.documents, encoded.nulls, members

    def _ids(self, encoded: Encoded) -> list[bytes]:
        rows = self._decimals.lines(encoded.ids, encoded.ends, is_begun=False).replace(b" ", b",").split(b"\n")
        return [b"[%b]" % row for row in rows[:-1]]

    def _tokens(self, encoded: Encoded, spellings: Mapping[int, str]) -> list[bytes]:
        *rows, _ = _rows(encoded)
        return [as_json([spellings[number] for number in row]) for row in rows]


class IdsColumns:
    """A conversion of encoded documents to a column of ids and, by option, columns of tokens and spans. `spellings`: id → token; None: no
    tokens are written. `with_offsets`: whether spans are written.
    """

    def __init__(self, spellings: Mapping[int, str] | None, with_offsets: bool) -> None:
        from fst.runtime.files.with_pyarrow import pa

        self._pa = pa
        self.added = [(IDS, pa.list_(pa.int32()))]
        self._tokens: Any = None
        if spellings is not None:
            self._tokens = pa.array([spellings[number] for number in range(max(spellings) + 1)])
            self.added.append((TOKENS, pa.list_(pa.string())))
        self.added += [(OFFSETS, pa.list_(pa.list_(pa.int32(), 2)))] * with_offsets

    def of(self, encoded: Encoded, /) -> tuple[Documents, Sequence[Any]]:
        """See `ColumnsOf`."""
        pa = self._pa
        values = [pa.array(encoded.ids)]
        if self._tokens is not None:
            values.append(self._tokens.take(values[0]))
        if encoded.offsets is not None:
            values.append(pa.FixedSizeListArray.from_arrays(pa.array(encoded.offsets.ravel()), 2))
        return encoded.documents, [self._lists(encoded, each) for each in values]

    def _lists(self, encoded: Encoded, values: Any) -> Any:
        """Values that belong to ids, as an Arrow array with a list of values for each document."""
        offsets = np.zeros(len(encoded.ends) + 1, np.int32)
        offsets[1:] = encoded.ends
        mask = None if encoded.nulls is None else self._pa.array(encoded.nulls)
        return self._pa.ListArray.from_arrays(self._pa.array(offsets), values, mask=mask)
