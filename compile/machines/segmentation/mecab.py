"""Read a folder of MeCab's dictionary sources: words in CSV, ``matrix.def``, ``char.def``, ``unk.def`` and ``dicrc``.

The files are not trusted. They are read by the rules of ``mecab-dict-index``. But input that MeCab accepts and misreads, for example
numbers followed by letters or costs of more than 16 bits, is refused with an error that names file and line.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.regular_files import contents
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.segmentation.mecab import CATEGORIES, HIGHEST_COST, LOWEST_COST, MAX_CHARACTERS, MAX_ID, MAX_KINDS, Kind

MAX_FILE_BYTES = 1 << 30
MAX_ELEMENTS = 1 << 28  # maximum number of elements of a matrix
MAX_EMPTY = 1 << 20  # by this number, a matrix may have more elements than its file has bytes
PART_OF_MATRIX = 1 << 22  # number of bytes of a matrix to read at a time
LAST_CODE = 0xFFFE  # last code point that char.def can contain
DEFAULT, SPACE = "DEFAULT", "SPACE"
WHITESPACE = " \t"
NUMBER = re.compile(r"-?[0-9]{1,9}")
CODES = re.compile(r"0[xX]([0-9A-Fa-f]{1,6})(?:\.\.0[xX]([0-9A-Fa-f]{1,6}))?")
PLAIN = re.compile(r'([^ \t,"][^,"]*),(-?[0-9]{1,9}),(-?[0-9]{1,9}),(-?[0-9]{1,9}),(.*)')  # fast path; `_fields` parses entries with quotes
NO_ENTRY = "", 0, 0, 0, ""
CONNECTIONS = re.compile(rb"(?:[ \t]*(?:-?[0-9]{1,9}[ \t]+){2}-?[0-9]{1,9}[ \t\r]*(?:\n|\Z)|[ \t\r]*\n)*[ \t\r]*")
SETTING = re.compile(rb"[ \t]*([\w-]+)[ \t]*=[ \t]*(.*?)[ \t\r]*")
UTF_8 = "utf-8"


class Entries(NamedTuple):
    """The entries of CSV files, in order.

    Attributes:
        surfaces, features: the surface and the features of each entry. For unknown words, the surface is the name of the category.
        lefts, rights, costs: the left id, the right id and the cost of each entry.
    """

    surfaces: list[str]
    lefts: list[int]
    rights: list[int]
    costs: list[int]
    features: list[str]

    @classmethod
    def none(cls) -> Entries:
        """An object without entries."""
        return cls([], [], [], [], [])


class Categories(NamedTuple):
    """Categories of characters, from ``char.def``."""

    names: list[str]  # the names of the categories
    kinds: list[Kind]  # the distinct kinds of characters. The field `space` of a kind is True if the kind shares a category with U+0020.
    kind_of: NDArray[np.int64]  # int64[65536], the kind of each code point. No char.def contains U+FFFF, so it has the default kind.


class Settings(NamedTuple):
    """The settings of ``dicrc`` that affect a table."""

    encoding: str
    bos_feature: str
    unk_feature: str


def read_settings(folder: Path, encoding: str | None) -> Settings:
    """Read ``dicrc`` of a folder. `encoding`: the encoding of all files; None: the encoding in ``dicrc``, or else UTF-8."""
    path = folder / "dicrc"
    found = settings_of(path)
    if found.get(b"userdic"):
        raise UnsupportedError(f"{path} has a userdic, which adds words; expected none; remove it, or add the words to the dictionary")
    named = encoding or (found.get(b"dictionary-charset") or found.get(b"config-charset") or UTF_8.encode()).decode("ascii", "replace")
    need_encoding(named, folder)
    bos, unknown = (_decoded(found.get(name, b""), named, path) for name in (b"bos-feature", b"unk-feature"))
    return Settings(named, bos or "BOS/EOS", unknown)


def settings_of(path: Path) -> Mapping[bytes, bytes]:
    """The settings of a file such as ``dicrc`` or ``mecabrc``; empty if it does not exist."""
    if not path.exists():
        return {}
    matches = (SETTING.fullmatch(line) for line in _contents(path).split(b"\n"))
    return {match[1]: match[2] for match in matches if match}


def need_encoding(name: str, path: Path) -> None:
    """Raise an error if Python has no text encoding with a name. `path`: the file or folder that the message names."""
    try:
        codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError):
        raise UnsupportedError(f"{path}: there is no encoding {quoted(name)}; pass encoding= with an encoding of Python") from None


def read_entries(path: Path, encodings: Sequence[str], *, into: Entries, shape: tuple[int, int], keep_spaces: bool = False) -> None:
    """Read entries from a CSV file.

    Args:
        path: the file.
        encodings: encodings to try in this order; the first encoding that can decode the file is used.
        into: the entries so far; new entries are appended.
        shape: the numbers of left ids and of right ids.
        keep_spaces: whether spaces before a surface are part of the surface.
    """
    lefts, rights = shape
    for line_number, line in enumerate(_lines(path, encodings), 1):
        where = f"{path}, line {line_number}"
        surface, left, right, cost, features = _entry(line, where, keep_spaces) if line else NO_ENTRY
        if not surface:  # MeCab skips empty lines, and entries with an empty surface
            continue
        if left < 0 or right < 0:
            raise UnsupportedError(f"{where}, {quoted(surface)}: ids of -1 are to be found by its features: give the left and the right id")
        if left >= lefts or right >= rights:
            raise VocabularyError(f"{where}, {quoted(surface)}: ids {left} and {right}; the matrix has {lefts} left and {rights} right ids")
        if not LOWEST_COST <= cost <= HIGHEST_COST:
            raise VocabularyError(f"{where}, {quoted(surface)}: the cost {cost} does not fit 16 bits")
        into.surfaces.append(surface)
        into.lefts.append(left)
        into.rights.append(right)
        into.costs.append(cost)
        into.features.append(features)


def _entry(line: str, where: str, keep_spaces: bool) -> tuple[str, int, int, int, str]:
    """The surface, left id, right id, cost and features of a line."""
    plain = PLAIN.fullmatch(line)
    if plain:
        return plain[1], int(plain[2]), int(plain[3]), int(plain[4]), plain[5]
    fields, features = _fields(line, keep_spaces)
    if len(fields) < 4 or features is None:
        raise VocabularyError(f"{where}: {quoted(line)} is not 'surface,left id,right id,cost,features'")
    surface, *numbers = fields
    left, right, cost = (_number(number, where, surface) for number in numbers)
    return surface, left, right, cost, features


def read_matrix(path: Path) -> NDArray[np.int16]:
    """Read ``matrix.def``. Returns int16[left ids, right ids], the cost of each connection of two words. Indices are the left id of the
    second word and the right id of the first word.
    """
    data = _contents(path)
    head, _, body = data.partition(b"\n")
    sizes = head.split()
    if len(sizes) != 2 or not all(size.isdigit() and 0 < len(size) < 6 for size in sizes):
        raise VocabularyError(f"{path}, line 1: {quoted(head[:60])} is not the number of right and of left ids")
    rights, lefts = map(int, sizes)
    if not (0 < rights <= MAX_ID + 1 and 0 < lefts <= MAX_ID + 1) or rights * lefts > min(MAX_ELEMENTS, MAX_EMPTY + len(body)):
        raise VocabularyError(f"{path}, line 1: {rights} × {lefts} costs are more than a matrix can have, or than are in the file")
    matrix = np.zeros((lefts, rights), np.int16)
    line, at = 2, 0
    while at < len(body):
        end = body.find(b"\n", at + PART_OF_MATRIX) + 1 or len(body)
        _fill(matrix, body[at:end], line, path)
        line, at = line + body.count(b"\n", at, end), end
    return matrix


def _fill(matrix: NDArray[np.int16], lines: bytes, first: int, path: Path) -> None:
    """Fill a matrix with the connections of the given lines. `first` is the number of the first line."""
    if not CONNECTIONS.fullmatch(lines):
        at, line = next((at, line) for at, line in enumerate(lines.split(b"\n")) if not CONNECTIONS.fullmatch(line))
        raise VocabularyError(f"{path}, line {first + at}: {quoted(line[:60])} is not a right id, a left id and a cost")
    lefts, rights = matrix.shape
    found = np.array(lines.split(), "S10").astype(np.int64).reshape(-1, 3)
    right, left, cost = found.T
    wrong = np.flatnonzero((right < 0) | (right >= rights) | (left < 0) | (left >= lefts) | (cost < LOWEST_COST) | (cost > HIGHEST_COST))
    if len(wrong):
        at = [at for at, line in enumerate(lines.split(b"\n")) if line.split()][wrong[0]]
        values = " ".join(map(str, found[wrong[0]]))
        raise VocabularyError(f"{path}, line {first + at}: {values!r} is out of range; ids are below {rights} and {lefts}, costs 16 bits")
    matrix[left, right] = cost


def read_categories(path: Path, encoding: str, *, skip_spaces: bool) -> Categories:
    """Read ``char.def``."""
    categories: dict[str, Kind] = {}
    ranges: list[tuple[int, int, tuple[str, ...]]] = []
    for line_number, line in enumerate(_lines(path, [encoding]), 1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        where = f"{path}, line {line_number}"
        if parts[0].startswith(("0x", "0X")):
            ranges.append(_range(parts, categories, where))
        else:
            name, kind = _category(parts, len(categories), where)
            if name in categories:
                raise VocabularyError(f"{where}: the category {quoted(name)} is defined twice")
            categories[name] = kind
    for name in (DEFAULT, SPACE):
        if name not in categories:
            raise VocabularyError(f"{path}: the category {name} is not defined")
    return _mapped(categories, ranges, path, skip_spaces)


def _category(parts: Sequence[str], number: int, where: str) -> tuple[str, Kind]:
    """Parse the line that defines a category. Return the category's name, and its kind with the fields invoke, group and length."""
    if len(parts) < 4 or parts[1] not in ("0", "1") or parts[2] not in ("0", "1") or not NUMBER.fullmatch(parts[3]):
        raise VocabularyError(f"{where}: {quoted(' '.join(parts))} is not a category, 0 or 1 for invoke, 0 or 1 for group, and a length")
    if not 0 <= int(parts[3]) <= MAX_CHARACTERS:
        raise VocabularyError(f"{where}: the length of {quoted(parts[0])} is {parts[3]}; it can be 0 to {MAX_CHARACTERS}")
    if number >= CATEGORIES:
        raise VocabularyError(f"{where}: there are more than {CATEGORIES} categories")
    return parts[0], Kind(1 << number, number, int(parts[3]), parts[2] == "1", parts[1] == "1", space=False)


def _range(parts: Sequence[str], categories: Mapping[str, Kind], where: str) -> tuple[int, int, tuple[str, ...]]:
    """Parse a line with a range of code points. Return the first and the last code point, and the categories."""
    codes, names = CODES.fullmatch(parts[0]), tuple(parts[1:])
    low, high = (int(codes[1], 16), int(codes[2] or codes[1], 16)) if codes else (1, 0)
    if low > high or high > LAST_CODE:
        raise VocabularyError(f"{where}: {quoted(parts[0])} is not a range of code points from 0x0000 to 0x{LAST_CODE:X}")
    if not names:
        raise VocabularyError(f"{where}: {quoted(parts[0])} has no category")
    for name in names:
        if name not in categories:
            raise VocabularyError(f"{where}: the category {quoted(name)} is not defined above")
    return low, high, names


def _mapped(
    categories: Mapping[str, Kind], ranges: Sequence[tuple[int, int, tuple[str, ...]]], path: Path, skip_spaces: bool
) -> Categories:
    """The kind of each code point; later ranges replace earlier ones."""
    numbers: dict[tuple[str, ...], int] = {(DEFAULT,): 0}
    kind_of = np.zeros(1 << 16, np.int64)
    for low, high, names in ranges:
        kind_of[low : high + 1] = numbers.setdefault(names, len(numbers))
        if len(numbers) > MAX_KINDS:
            raise UnsupportedError(f"{path}: there are more than {MAX_KINDS:,} lists of categories; let more characters share one")
    bits = [sum({categories[name].categories for name in names}) for names in numbers]
    spaces = bits[kind_of[ord(" ")]] if skip_spaces else 0
    for names, found in zip(numbers, bits, strict=True):
        if found & spaces and found != spaces:
            raise UnsupportedError(f"{path}: characters have the categories {', '.join(names)}; a space can have no other category")
    kinds = [
        categories[names[0]]._replace(categories=found, space=bool(found & spaces)) for names, found in zip(numbers, bits, strict=True)
    ]
    kind_of[0xD800:0xE000] = kind_of[0]  # MeCab reads characters beyond U+FFFF as U+0000
    return Categories([*categories], kinds, kind_of)


def _fields(line: str, keep_spaces: bool) -> tuple[list[str], str | None]:
    """The first four fields of an entry and the rest of the line; None if fields are missing. Spaces before a field are skipped."""
    fields = list[str]()
    at = 0
    while len(fields) < 4 and at <= len(line):
        if fields or not keep_spaces:
            at += len(line) - at - len(line[at:].lstrip(WHITESPACE))
        if line.startswith('"', at):
            value, at = _quoted(line, at + 1)
        else:
            end = line.find(",", at)
            end = len(line) if end < 0 else end
            value, at = line[at:end], end + 1
        fields.append(value)
    return fields, line[at:] if at <= len(line) else None


def _quoted(line: str, at: int) -> tuple[str, int]:
    """Parse a quoted field, in which two quotes represent one quote. Return the field's value, and the position of the next field."""
    value = ""
    while True:
        end = line.find('"', at)
        if end < 0:
            return value + line[at:], len(line) + 1
        value += line[at:end]
        if not line.startswith('"', end + 1):
            break
        value, at = value + '"', end + 2
    comma = line.find(",", end)
    return value, len(line) + 1 if comma < 0 else comma + 1


def _number(text: str, where: str, surface: str) -> int:
    if not NUMBER.fullmatch(text.strip()):
        raise VocabularyError(f"{where}, {quoted(surface)}: {quoted(text)} is not a whole number of at most 9 digits")
    return int(text)


def _lines(path: Path, encodings: Sequence[str]) -> Iterator[str]:
    """The lines of a file. A line ends only at a line feed; a carriage return before the line feed is removed."""
    data = _contents(path)
    for encoding in encodings[:-1]:
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        text = _decoded(data, encodings[-1], path)
    lines = text.removeprefix("\ufeff").split("\n")
    return (line.removesuffix("\r") for line in lines)


def _decoded(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        start = getattr(error, "start", 0)  # some encodings name no place
        line = data[:start].count(b"\n") + 1
        raise VocabularyError(f"{path}, line {line}: byte {start} is not {encoding}; pass encoding= of the file") from None


def _contents(path: Path) -> bytes:
    if not path.exists():
        raise VocabularyError(f"{path} is missing; expected the folder of a MeCab dictionary: CSV files, matrix.def, char.def and unk.def")
    return contents(path, MAX_FILE_BYTES, VocabularyError)
