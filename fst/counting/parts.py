"""Parquet files of counted words, read in batches, so that a file may be larger than the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from fst.counting import tables
from fst.counting.tables import COUNT, FIRST, SPLIT, UNKNOWN_SPLIT, WORD, Columns
from fst.errors import VocabularyError

AT_ONCE = 1 << 16  # number of rows that are checked at a time
BUFFER = 1 << 16  # number of bytes of a column that are read at a time


class Part(NamedTuple):
    """A file of counted words.

    Attributes:
        path: the file.
        rows: the number of rows.
        begin: the number of the first row among the rows of all files.
        width: the average size of a word in bytes, rounded up.
        splits: the digests in the column split; `UNKNOWN_SPLIT` if there is no such column.
        min_count, is_partial: see `fst.counting.words.Words`.
        ascends: whether each word is greater than the previous one.
    """

    path: str
    rows: int
    begin: int
    width: int
    splits: frozenset[str]
    min_count: int
    is_partial: bool
    ascends: bool

    def batches(self, rows: int, split: str) -> Iterator[Columns]:
        """Yield all rows, at most `rows` at a time. `split`: the expected digest."""
        row = 0
        with _opened(self.path) as file:
            names = [name for name in (WORD, COUNT, FIRST, SPLIT) if name in file.schema_arrow.names]
            for batch in file.iter_batches(rows, columns=names, use_threads=False):
                found = tables.columns_of(batch, split or None, row)
                if FIRST not in names:
                    found.first[:, 2] += self.begin
                yield found
                row += len(batch)


def part_of(path: str, begin: int = 0) -> Part:
    """The facts about a file, from its metadata and its columns word and split."""
    with _opened(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        tables.columns_of(schema.empty_table())  # raises an error if a column is missing or has another type
        splits, ascends, last, row = set() if SPLIT in schema.names or not rows else {UNKNOWN_SPLIT}, True, None, 0
        for batch in file.iter_batches(AT_ONCE, columns=[name for name in (WORD, SPLIT) if name in schema.names], use_threads=False):
            tables.need_none(batch[WORD], WORD, row)
            splits |= tables.splits_of(batch[SPLIT], row) if SPLIT in schema.names else set()
            ascends = ascends and _ascend(batch[WORD], last)
            last = batch[WORD][-1]
            row += len(batch)
        return _part(path, file, begin, splits, ascends=ascends)


def run_of(path: str, split: str) -> Part:
    """The facts about a file of ascending words that this process has written, from its metadata. `split`: the digest of all words."""
    with _opened(path) as file:
        return _part(path, file, 0, {split}, ascends=True)


def _part(path: str, file: Any, begin: int, splits: Iterable[str], *, ascends: bool) -> Part:
    """The facts about an open file; `splits` and `ascends` are facts about its rows."""
    metadata, rows = file.schema_arrow.metadata, file.metadata.num_rows
    width = max(0, -(-_size(file.metadata) // max(rows, 1)))
    return Part(path, rows, begin, width, frozenset(splits), tables.min_count_of(metadata), tables.is_partial(metadata), ascends)


def _ascend(words: Any, last: Any) -> bool:
    """Whether each word is greater than the previous one; the first word, than `last`."""
    import pyarrow.compute as pc

    found = words.cast(tables.pyarrow().large_binary())
    is_after = last is None or last.cast(found.type).as_py() < found[0].as_py()
    return bool(is_after and pc.all(pc.less(found[:-1], found[1:]), min_count=0).as_py())


def _size(metadata: Any) -> int:
    """The size of the column word in bytes, not compressed."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    columns = (group.column(number) for group in groups for number in range(group.num_columns))
    return sum(column.total_uncompressed_size for column in columns if column.path_in_schema == WORD)


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """Open a file. Errors in its content get its name."""
    pa = tables.pyarrow()
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            yield file
    except (VocabularyError, pa.ArrowInvalid) as error:
        raise VocabularyError(f"{path}: {error}") from None
