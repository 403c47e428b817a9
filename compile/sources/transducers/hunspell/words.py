"""Read the words of a dictionary (``.dic``): a word, a slash, its flags; then data, of which only the stem (``st:``) is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from fst.compile.files import contents
from fst.compile.sources.transducers.hunspell.affixes import Affixes, Flags, is_text, lines_of
from fst.errors import UnsupportedError, quoted

COUNT = re.compile(r"\d+(\s|$)")
DATA = re.compile(r"\t|[ \t]\w\w:")
STEM = re.compile(r"(?:^|\s)st:(\S+)")
SLASH = re.compile(r"(?<!\\)/")
PLAIN = re.compile(r"([^/\\\s\0\ud800-\udfff]+)(?:/([^/\\\s]+))?")  # a word, and possibly its flags, without escapes and data
MAX_WORD = 1000
MAX_WORDS = 1 << 20  # Greek has the most, 828,806


class Entry(NamedTuple):
    """A word of the dictionary, its flags, and its stem, usually the word itself."""

    word: str
    flags: Flags
    stem: str


def read_words(path: Path, affixes: Affixes) -> list[Entry]:
    """Read a file, in its order."""
    found: list[Entry] = []
    flags_of: dict[str, Flags] = {}
    for line in lines_of(path, contents(path), affixes.encoding):
        if line.number == 1 and COUNT.match(line.text):
            continue
        plain = PLAIN.fullmatch(line.text)
        word, flags, data = (*plain.groups(""), "") if plain else _parts(line.text)
        if affixes.ignored:
            word = word.translate(affixes.without_ignored)
        if len(word) > MAX_WORD:
            raise line.fault(f"the word has {len(word):,} characters; expected at most {MAX_WORD:,}")
        if not plain and not is_text(word):
            raise line.fault(f"the word is {quoted(word)}; expected {affixes.encoding}; save the file in the encoding of the option SET")
        if flags not in flags_of:
            flags_of[flags] = affixes.flags(flags, line)
        stem = STEM.search(_data(data, affixes)) if data else None
        if stem and not is_text(stem[1]):
            raise line.fault(f"the stem is {quoted(stem[1])}; expected {affixes.encoding}; save the file in the encoding of the option SET")
        if len(found) == MAX_WORDS:
            fault = f"{path}, line {line.number}: the file has more than {MAX_WORDS:,} words; expected fewer"
            raise UnsupportedError(f"{fault}; split the dictionary")
        found.append(Entry(word, flags_of[flags], stem[1] if stem else word))
    return found


def _parts(text: str) -> tuple[str, str, str]:
    """The word of a line, its flags, and its data."""
    found = DATA.search(text, 1)
    text, data = (text[: found.start()], text[found.start() :].strip()) if found else (text, "")
    parts = [text] if text[0] == "/" else SLASH.split(text)
    word, flags = parts if len(parts) == 2 else (text, "")
    return word.replace("\\/", "/"), flags, data


def _data(text: str, affixes: Affixes) -> str:
    """The data of a word, which may be the number of an alias."""
    is_alias = affixes.data_aliases and text.isascii() and text.isdigit() and 0 < int(text[:9]) <= len(affixes.data_aliases)
    return affixes.data_aliases[int(text[:9]) - 1] if is_alias else text
