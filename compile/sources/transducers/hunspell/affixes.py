"""Read the affixes and options of a dictionary (``.aff``).

A line is an option and its values, separated by spaces or tabs; lines that begin with no known option are comments. The names in this
module are those of ``man 5 hunspell``. If a word has the flag of an affix and fits its condition, the affix strips characters from the word
and adds others.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from fst.compile.files import contents
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted

COMPOUNDS = ("COMPOUNDFLAG", "COMPOUNDBEGIN", "COMPOUNDMIDDLE", "COMPOUNDEND", "COMPOUNDLAST", "COMPOUNDRULE")
TABLES = ("AF", "AM", "ICONV", "COMPOUNDRULE")  # options whose first line contains the number of following lines
FORMATS = ("long", "num", "UTF-8")
SHORT = ""  # the format of flags without the option FLAG: each flag is one character
NAMES_OF_FLAGS = {
    "NEEDAFFIX": "needs_affix",
    "PSEUDOROOT": "needs_affix",
    "FORBIDDENWORD": "forbidden",
    "KEEPCASE": "keeps_case",
    "CIRCUMFIX": "circumfix",
    "ONLYINCOMPOUND": "only_in_compound",
}
ENCODING = "cp1252"  # the encoding of dictionaries without the option SET
ENCODINGS = re.compile(r"(?i)utf-?8|iso-?8859-([1-9]|10|13|14|15|16)|koi8-[ru]|(microsoft-)?cp125[0-8]|tis620-2533")
MAX_CONDITION = 100
MAX_CONDITIONS = 1 << 21  # maximum number of characters of all conditions; of Debian's dictionaries, the Korean one has the most, 1,889,249
MAX_FLAGS = 1 << 21  # maximum number of flags in different sets; of Debian's dictionaries, the Turkish one has the most, 882,981
MANY = 16  # a set of at least this number of characters is stored as a frozenset
DIGITS = re.compile("[0-9]+")
NO_TEXT = re.compile("[\\0\ud800-\udfff]")
Flags = frozenset[str]


class Line(NamedTuple):
    """A line of a file, with its number from 1."""

    path: Path
    number: int
    text: str

    def fault(self, message: str, found: str = "") -> VocabularyError:
        """The error for a value of this line."""
        column = f", column {self.text.index(found) + 1}" if found and found in self.text else ""
        return VocabularyError(f"{self.path}, line {self.number}{column}: {message}")


class Part(NamedTuple):
    """A part of a condition, which reads one character: `chars` are the allowed characters, or those that are not allowed."""

    is_negated: bool
    chars: str | frozenset[str]


ANY = Part(True, "")


@dataclass(frozen=True, eq=False)
class Affix:
    """A prefix or suffix. The edge of a word is its beginning for a prefix, and its end for a suffix."""

    flag: str  # the flag of words that take the affix
    crosses: bool  # whether a word may take the affix together with an affix of the other side
    strip: str  # the characters removed from the word
    add: str  # the characters added to the word
    condition: tuple[Part, ...]  # the parts for the characters of a word, in order from the edge
    flags: Flags  # the flags of the new word
    stripped: str  # the characters of `strip`, in order from the edge

    @cached_property
    def reach(self) -> int:
        """The number of characters of a word, from the edge, that decide whether it takes this affix."""
        return max(len(self.condition), len(self.strip))

    def allows(self, char: str, place: int) -> bool:
        """Whether words that take this affix may have a character at a place; places are counted from 0, from the edge."""
        if place < len(self.stripped) and char != self.stripped[place]:
            return False
        if place >= len(self.condition):
            return True
        is_negated, chars = self.condition[place]
        return (char in chars) != is_negated

    def fits(self, edge: str) -> bool:
        """Whether a word takes this affix. The first `reach` characters of the word from the edge are enough."""
        return len(edge) >= self.reach and all(map(self.allows, edge, range(self.reach)))


@dataclass
class Affixes:
    """The affixes and options of a dictionary.

    Attributes:
        encoding: the encoding of both files.
        prefixes, suffixes: the affixes by flag.
        needs_affix: the flag of words and affixes that are words only with another affix. None for any flag: there are no such words.
        forbidden: the flag of entries that are not accepted as words.
        keeps_case: the flag of words that must not occur in another case.
        circumfix: the flag of prefixes and suffixes that occur only together.
        only_in_compound: the flag of words and affixes that occur only in compounds.
        ignored: characters that may occur anywhere in words and are ignored.
        conversions: strings, and their replacements before look-up.
        data_aliases: data of words; a word may contain the number of an element, from 1, instead of data (option AM).
    """

    encoding: str = ENCODING
    prefixes: dict[str, list[Affix]] = field(default_factory=dict)
    suffixes: dict[str, list[Affix]] = field(default_factory=dict)
    needs_affix: str | None = None
    forbidden: str | None = None
    keeps_case: str | None = None
    circumfix: str | None = None
    only_in_compound: str | None = None
    ignored: str = ""
    conversions: list[tuple[str, str]] = field(default_factory=list)
    data_aliases: list[str] = field(default_factory=list)
    _format: str = SHORT
    _aliases: list[Flags] = field(default_factory=list)
    _count: int = 0

    @cached_property
    def without_ignored(self) -> dict[int, None]:
        """The table for `str.translate` that removes ignored characters."""
        return dict.fromkeys(map(ord, self.ignored))

    def flags(self, text: str, line: Line) -> Flags:
        """The flags in a text, which may instead contain the number of a set of flags (option AF)."""
        if self._aliases and text.isascii() and text.isdigit():
            number = int(text[:9])
            if not 0 < number <= len(self._aliases):
                raise line.fault(f"the alias of flags is {quoted(text)}; expected 1 to {len(self._aliases)}, a line of AF", text)
            return self._aliases[number - 1]
        found = frozenset(self._flags(text, line))
        self._count += len(found)
        if self._count > MAX_FLAGS:
            where = f"{line.path}, line {line.number}: different sets have more than {MAX_FLAGS:,} flags together"
            raise UnsupportedError(f"{where}; expected at most as many; split the dictionary")
        return found

    def _flags(self, text: str, line: Line) -> Iterator[str]:
        if self._format == "long":
            if len(text) % 2:
                raise line.fault(f"the flags are {quoted(text)}; expected two characters for each flag, because of FLAG long", text)
            yield from map("".join, zip(text[::2], text[1::2], strict=True))
        elif self._format == "num":
            for number in filter(None, text.split(",")):
                digits = DIGITS.match(number)  # as in Hunspell, characters after the digits are ignored
                if not digits:
                    raise line.fault(f"the flag is {quoted(number)}; expected a decimal number, because of FLAG num", number)
                yield digits[0].lstrip("0")
        else:
            yield from text


def read_affixes(path: Path) -> Affixes:
    """Read a file."""
    data = contents(path)
    encoding = _encoding(data, path)
    lines = [line for line in lines_of(path, data, encoding) if line.text[:1].isupper()]
    found = Affixes(encoding)
    _set_options(found, lines)
    _set_affixes(found, lines)
    return found


def lines_of(path: Path, data: bytes, encoding: str) -> Iterator[Line]:
    """The lines of a file that are not empty. Bytes outside of the encoding become lone surrogates, because flags may be any bytes."""
    text = data.removeprefix(codecs.BOM_UTF8).decode(encoding, "surrogateescape")
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip(" \t\r\f\v")
        if stripped:
            yield Line(path, number, stripped)


def is_text(text: str) -> bool:
    """Whether a text contains neither bytes outside of the encoding nor U+0000, which cannot be a label."""
    return NO_TEXT.search(text) is None


def _encoding(data: bytes, path: Path) -> str:
    """The encoding that a file names, either by the option SET or by the flag format UTF-8."""
    found = re.search(rb"^(?:\xef\xbb\xbf)?SET[ \t]+(\S+)", data, re.MULTILINE)
    if not found:
        return "utf-8" if re.search(rb"^(?:\xef\xbb\xbf)?FLAG[ \t]+UTF-8", data, re.MULTILINE) else ENCODING
    name = found[1].decode("latin-1")
    if not ENCODINGS.fullmatch(name):
        line = data[: found.start()].count(b"\n") + 1
        raise UnsupportedError(f"{path}, line {line}: the encoding is {quoted(name)}; convert both files to UTF-8")
    return codecs.lookup(name.lower().removeprefix("microsoft-").removesuffix("-2533")).name


def _set_options(affixes: Affixes, lines: list[Line]) -> None:
    """Read all options except the affixes. Options that affect only spelling suggestions, breaks and case have no effect on look-up."""
    left = dict.fromkeys(TABLES, 0)
    options = [(line, line.text.split()) for line in lines]
    for line, (name, *values) in options:
        if name == "FLAG":
            affixes._format = _value(line, values)
            if affixes._format not in FORMATS:
                raise line.fault(not_one_of("format of flags", affixes._format, FORMATS), affixes._format)
    for line, (name, *values) in options:
        if name in left and not left[name]:
            left[name] = _count(line, values)
        elif name in left:
            left[name] -= 1
        if name in COMPOUNDS and not (name == "COMPOUNDRULE" and not left[name]):
            where = f"{line.path}, line {line.number}: the option is {name}"
            raise UnsupportedError(f"{where}, and compounds are not supported; expected a dictionary without them; remove its compounds")
        if name == "COMPLEXPREFIXES":
            where = f"{line.path}, line {line.number}: the option is {name}"
            raise UnsupportedError(f"{where}; expected words with at most one prefix; remove the option if no word has two")
        if name in NAMES_OF_FLAGS:
            flags = [*affixes._flags(_value(line, values), line)]
            setattr(affixes, NAMES_OF_FLAGS[name], flags[0])
        elif name == "IGNORE":
            affixes.ignored = _value(line, values)
    _set_tables(affixes, options)


def _set_tables(affixes: Affixes, options: list[tuple[Line, list[str]]]) -> None:
    """Read the lines of tables after the first line of each table."""
    for line, (_, *values) in _rows(options, "AF"):
        affixes._aliases.append(frozenset(affixes._flags(_value(line, values), line)))
    affixes.data_aliases.extend(" ".join(values) for _, (_, *values) in _rows(options, "AM"))
    for line, (_, *values) in _rows(options, "ICONV"):
        if len(values) < 2:
            raise line.fault(f"the conversion has {len(values)} values; expected a string and its replacement")
        if "_" in values[0]:
            raise UnsupportedError(f"{line.path}, line {line.number}: ICONV has the place {quoted(values[0])}; expected a string without _")
        affixes.conversions.append((values[0], values[1].replace("_", " ")))


def _rows(options: list[tuple[Line, list[str]]], name: str) -> list[tuple[Line, list[str]]]:
    return [option for option in options if option[1][0] == name][1:]


def _value(line: Line, values: list[str]) -> str:
    if not values:
        raise line.fault(f"the option {line.text} has no value; expected one")
    return values[0]


def _count(line: Line, values: list[str]) -> int:
    count = _value(line, values)
    if not (count.isascii() and count.isdigit() and len(count) < 9):
        raise line.fault(f"the number of lines is {quoted(count)}; expected a decimal number", count)
    return int(count)


def _set_affixes(affixes: Affixes, lines: list[Line]) -> None:
    """Read all prefixes and suffixes: a line with the flag, whether the affixes cross, and their number; then one line for each affix."""
    head, crosses, left, size = Line(Path(), 0, ""), False, 0, 0
    for line in lines:
        kind, *values = line.text.split()
        if kind not in ("SFX", "PFX"):
            continue
        if left:
            if len(values) < 3 or [kind, values[0]] != head.text.split()[:2]:
                raise line.fault(f"the line is not an affix of line {head.number}; expected {left} more: flag, strip, add, condition")
            group = (affixes.suffixes if kind == "SFX" else affixes.prefixes).setdefault(_flag(affixes, values[0], line), [])
            affix = _affix(affixes, line, kind, values, crosses)
            size += len(values[3]) if len(values) > 3 else 0
            if size > MAX_CONDITIONS:
                where = f"{line.path}, line {line.number}: the conditions have more than {MAX_CONDITIONS:,} characters together"
                raise UnsupportedError(f"{where}; expected at most as many; split the dictionary")
            if is_text(affix.strip + affix.add):  # no word contains bytes outside of the encoding
                group.append(affix)
            left -= 1
        else:
            if len(values) < 3:
                raise line.fault("the line has too few values; expected the flag of affixes, Y or N, and their number")
            head, crosses, left = line, values[1] == "Y", _count(line, values[2:])
    if left:
        raise head.fault(f"the number of affixes is {head.text.split()[3]}; expected {left} fewer, the number of lines after it")


def _flag(affixes: Affixes, text: str, line: Line) -> str:
    flags = [*affixes._flags(text, line)]
    if len(flags) != 1:
        raise line.fault(f"the flag is {quoted(text)}; expected one flag", text)
    return flags[0]


def _affix(affixes: Affixes, line: Line, kind: str, values: list[str], crosses: bool) -> Affix:
    strip, (add, _, flags) = values[1], values[2].partition("/")
    strip, add = ("" if text == "0" else text for text in (strip, add))
    condition = _condition(values[3] if len(values) > 3 else "", line)
    add, step = add.translate(affixes.without_ignored), 1 if kind == "PFX" else -1
    flag = _flag(affixes, values[0], line)
    return Affix(flag, crosses, strip, add, condition[::step], affixes.flags(flags, line), strip[::step])


def _condition(text: str, line: Line) -> tuple[Part, ...]:
    """The parts of a condition: characters, ``.`` for any, and sets in brackets."""
    parts = re.findall(r"\[\^?[^\]^][^\]]*\]|.", text, re.DOTALL)
    if "[" in parts or "]" in parts or len(parts) > MAX_CONDITION:
        known = f"at most {MAX_CONDITION} characters, and sets such as [abc] or [^abc]"
        raise line.fault(f"the condition is {quoted(text)}; expected {known}", text)
    return tuple(map(_part, parts))


@lru_cache(1 << 12)
def _part(part: str) -> Part:
    if part == ".":
        return ANY
    if len(part) == 1:
        return Part(False, part)
    is_negated = part[1] == "^"
    chars = part[1 + is_negated : -1]
    return Part(is_negated, chars if len(chars) < MANY else frozenset(chars))
