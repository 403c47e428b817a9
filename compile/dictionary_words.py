r"""Read the words of a dictionary with their values, from a list, a column, or a file; and encode them in UTF-8.

The caller or the ending of the file's name determines the file format. The content cannot determine it, because any line may be a word:

======= ============================ =================================================================
format  endings                      a word
======= ============================ =================================================================
lines   all others, as in vocab.txt  a line, spaces included, without "\n" or "\r\n" at its end
jieba   none                         a line ``word frequency`` or ``word frequency part-of-speech``
csv     .csv                         a field of each record: of the named column, or the first field
tsv     .tsv                         as in csv, but separated by tabs
parquet .parquet                     a value of the named column, or of the only column
arrow   .arrow, .feather, .ipc       as in parquet
======= ============================ =================================================================

Text is UTF-8, with or without a byte-order mark, and may be packed with gzip, as in ``words.csv.gz``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fst.compile.files import exists, read_text
from fst.core.regular_files import need_regular
from fst.errors import UnsupportedError, VocabularyError, counted, listed, not_one_of, quoted, reason

MAX_BYTES = 1 << 16  # the maximum length of a word in bytes, because compilers visit a trie level by level
MAX_TOTAL = 1 << 27  # the maximum total number of bytes of all words; compiling takes up to 100 bytes of memory for each byte
MAX_MATCHES = 1 << 24  # the maximum number of matches in the outputs of a table
FILE_MAGIC = b"ARROW1"
TEXT = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
FORMATS = ("lines", "jieba", "csv", "tsv", "parquet", "arrow")
ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
SEPARATORS = {"csv": ",", "tsv": "\t"}
WITH_COLUMNS = ("csv", "tsv", "parquet", "arrow")
FREQUENCY = re.compile(r"[0-9]{1,18}")  # digits of a frequency, so that it fits into 64 bits
ASCII_SPACE = " \t\n\r\v\f"


class Words(NamedTuple):
    """The words of a dictionary; the number of a word is its position.

    Attributes:
        words: the words, as an iterable that can be read once. The words of an iterable from a caller are not checked, so they may have any
            type, and the iterable may be endless.
        frequencies: the frequency of each word, in jieba's format; None for other formats.
        tags: the part of speech of each word, or "", in jieba's format; None for other formats.
        origin: for messages: the path of the file, or the noun for a word of a list.
        unit, places: for a file, "line" or "row", and the number of each word's line or row, from 1; for a list, "" and no numbers.
    """

    words: Iterable[Any]
    frequencies: Sequence[int] | None = None
    tags: Sequence[str] | None = None
    origin: str = "word"
    unit: str = ""
    places: Sequence[int] = ()

    def place(self, number: int) -> str:
        """The position of a word in a message, such as "words.csv, line 3"."""
        return f"{self.origin}, {self.unit} {self.places[number]}" if self.unit else f"{self.origin} {number}"


def read_words(source: Any, *, form: str | None = None, column: str | None = None, noun: str = "word") -> Words:
    """Read the words of a dictionary.

    Args:
        source: the path of a file, as a str or `Path`; an array that pyarrow can import; or an iterable.
        form: the file format, one of `FORMATS`; None: determined by the ending of the file's name.
        column: the name of the column, if the file has columns.
        noun: the noun for a word of a list in messages, such as "keyword".
    """
    if form is not None and form not in FORMATS:
        raise UnsupportedError(not_one_of("format", form, FORMATS))
    if isinstance(source, str | Path):
        return _of_file(_path(source, noun), form, column)
    if isinstance(source, bytes | bytearray | memoryview):
        raise VocabularyError(f"the source is {type(source).__name__}: pass a list of {noun}s, or the path of a file as a str")
    for name, value in (("format", form), ("column", column)):
        if value is not None:
            raise UnsupportedError(f"{name}={value!r}: only a file has it; this source is {type(source).__name__}")
    if hasattr(source, "__arrow_c_array__") or hasattr(source, "__arrow_c_stream__"):
        return Words(words_of(source), origin=noun)
    return Words(source, origin=noun)


def _path(source: str | Path, noun: str) -> Path:
    path = Path(source)
    if isinstance(source, str) and not exists(path):
        what = quoted(source)
        raise VocabularyError(f"{what} is not a file: a str is the path of one; pass {noun}s as a list, such as [{what}]")
    return path


def _of_file(path: Path, form: str | None, column: str | None) -> Words:
    form = form or ENDINGS.get(Path(path.name.lower().removesuffix(".gz")).suffix, "lines")
    if column is not None and form not in WITH_COLUMNS:
        raise UnsupportedError(f"column={column!r}: {path} is read as {form}, which has no columns; say format= if it is not")
    if form in ("parquet", "arrow"):
        words = words_of_file(path, form, column)
        return Words(words, origin=str(path), unit="row", places=range(1, len(words) + 1))
    text = read_text(path, drop_mark=True)
    if form in SEPARATORS:
        return _of_records(text, path, SEPARATORS[form], column)
    lines = _lines(text)
    return _of_jieba(lines, path) if form == "jieba" else Words(lines, origin=str(path), unit="line", places=range(1, len(lines) + 1))


def _lines(text: str) -> list[str]:
    """The lines of a text. Only a line feed ends a line; a carriage return before the line feed is dropped."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _of_jieba(lines: Sequence[str], path: Path) -> Words:
    """Read lines ``word frequency`` or ``word frequency part-of-speech``, separated by one space, as in jieba's ``dict.txt``."""
    words, frequencies, tags = list[str](), list[int](), list[str]()
    for number, line in enumerate(lines, 1):
        fields = line.strip(ASCII_SPACE).split(" ")
        if len(fields) not in (2, 3) or not FREQUENCY.fullmatch(fields[1]):
            raise VocabularyError(f"{path}, line {number}: {quoted(line)} is not 'word frequency' or 'word frequency part-of-speech'")
        words.append(fields[0])
        frequencies.append(int(fields[1]))
        tags.append(fields[2] if len(fields) > 2 else "")
    return Words(words, frequencies, tags, str(path), "line", range(1, len(words) + 1))


def _of_records(text: str, path: Path, separator: str, column: str | None) -> Words:
    """Read one field of each record of comma- or tab-separated values: a named column, or the first field of every record."""
    records = _records(text, path, separator)
    place = 0
    if column is not None:
        _, names = next(records, (1, []))
        if names.count(column) != 1:
            what = f"{names.count(column) or 'no'} columns are called {column!r}"
            raise VocabularyError(f"{path}: {what}; its first line names {listed(names) or 'none'}")
        place = names.index(column)
    words, places = list[str](), list[int]()
    for line, record in records:
        if len(record) <= place:
            raise VocabularyError(f"{path}, line {line}: {counted(len(record), 'field')}, and the word is field {place + 1}")
        words.append(record[place])
        places.append(line)
    return Words(words, origin=str(path), unit="line", places=places)


def _records(text: str, path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The records and the number of each record's last line; empty lines are skipped."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        yield from ((reader.line_num, record) for record in reader if record)
    except csv.Error as error:
        raise VocabularyError(f"{path}, line {reader.line_num}: {reason(error)}; correct the quotes, or pass format='lines'") from None


def words_of(column: Any) -> Sequence[Any]:
    """The words of a column, as str, or as bytes if the column is binary."""
    with _blaming("the column") as pa:
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.array(column)
        return _listed(pa, column, "the column", 0)


def words_of_file(path: Path, form: str, column: str | None) -> Sequence[Any]:
    """Read the words of a column of a file. If `column` is None, the file must have only one column."""
    need_regular(path, VocabularyError)
    with path.open("rb") as file, _blaming(str(path)) as pa:
        table = pa.parquet.ParquetFile(file) if form == "parquet" else _arrow(pa, file)
        names = (table.schema_arrow if form == "parquet" else table.schema).names
        name = names[0] if column is None and len(names) == 1 else column
        if names.count(name) != 1:
            what = "name the column of words" if name is None else f"{names.count(name) or 'no'} columns are called {name!r}"
            raise VocabularyError(f"{path}: {what}; there are {listed(names) or 'none'}")
        found = table.read([name]) if form == "parquet" else table.read_all()
        return _listed(pa, found.column(name), f"{path}: column {name!r}", 1)


def _arrow(pa: Any, file: Any) -> Any:
    begun = file.read(len(FILE_MAGIC))
    file.seek(0)
    return pa.ipc.open_file(file) if begun == FILE_MAGIC else pa.ipc.open_stream(file)


def _listed(pa: Any, column: Any, what: str, first: int) -> Sequence[Any]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not any(getattr(pa.types, f"is_{name}")(kind) for name in TEXT):
        raise VocabularyError(f"{what} is {column.type}, and no text; cast it to string")
    column.validate(full=True)
    words: list[Any] = column.to_pylist()
    if column.null_count:
        raise VocabularyError(f"{what}, row {words.index(None) + first}: the value is null; leave the row out")
    return words


@contextmanager
def _blaming(name: str) -> Iterator[Any]:
    """Yield `pyarrow`, and convert its errors to errors that name the file or the column."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise UnsupportedError("columns of words take pyarrow, which is not installed: pip install 'pyarrow>=18'") from None
    try:
        yield pa
    except (pa.ArrowException, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise VocabularyError(f"{name}: damaged, or not of its format: {reason(error)}") from None


def spelled_words(given: Words, noun: str, *, allow_empty: bool = False) -> list[bytes]:
    """Encode words in UTF-8 and check their lengths. Messages use `noun` for a word, such as "keyword"."""
    found, total = list[bytes](), 0
    for number, word in enumerate(given.words):
        data = _utf_8(word, given, number)
        if not data and not allow_empty:
            way = ", or allow it with allow_empty or --allow-empty" if noun == "keyword" else ""
            raise VocabularyError(f"{given.place(number)}: the {noun} is empty; leave it out{way}")
        total += len(data)
        if total > MAX_TOTAL:
            raise UnsupportedError(f"{given.place(number)}: up to here there are {total:,} bytes; at most {MAX_TOTAL:,} are possible")
        found.append(data)
    return found


def _utf_8(word: object, given: Words, number: int) -> bytes:
    """Encode a word in UTF-8, or raise an error that names the word."""
    if not isinstance(word, str | bytes):
        raise VocabularyError(f"{given.place(number)} is {type(word).__name__}, not str or bytes")
    _need_length(word, given, number)
    try:
        data = word.encode() if isinstance(word, str) else word
        data.decode()
    except UnicodeError as error:
        raise VocabularyError(f"{given.place(number)}: {quoted(word)} is not text: {reason(error)}") from None
    _need_length(data, given, number)
    return data


def _need_length(word: str | bytes, given: Words, number: int) -> None:
    if len(word) > MAX_BYTES:
        raise UnsupportedError(f"{given.place(number)}: {quoted(word)} has {len(word):,} bytes; at most {MAX_BYTES:,} are possible")
