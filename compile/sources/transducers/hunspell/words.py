"""Read the words of a dictionary (``.dic``): each line is a word, a slash, the flags of the word; then data, such as ``po:noun``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fst.compile.sources.transducers.hunspell.casing import INITIAL, LOWER, UPPER, Casing
from fst.compile.sources.transducers.hunspell.flags import FORBIDDEN, NONE, ONLY_UPPER, Decoder, Flags
from fst.compile.sources.transducers.hunspell.lines import Lines, fields, integer
from fst.compile.sources.transducers.hunspell.options import Replacement
from fst.errors import quoted

STEM = re.compile(r"(?:^|[ \t])st:([^ \t]+)")
SLASH = re.compile(r"(?<!\\)/")
NO_TEXT = re.compile("[\\0\ud800-\udfff]")
PLAIN = re.compile(r"([^/\\\s:\0\ud800-\udfff]+)(?:/([^/\\\s:]+))?")  # a word, possibly with flags, without escapes and data
MAX_WORD = 1000
MAX_WORDS = 1 << 20  # of Debian's dictionaries, the Greek one has the most, 828,806


class Entry(NamedTuple):
    """A word of the dictionary.

    Attributes:
        word: the word; reversed, if the option COMPLEXPREFIXES is set.
        flags: its flags.
        data: its data, possibly of several fields.
        is_upper: whether the entry stands for the entry before it, which has capitals inside, so that it is also found in upper case:
            "Openoffice" for "OpenOffice", which is found as "OPENOFFICE". Such an entry has the flag `ONLY_UPPER`.
    """

    word: str
    flags: Flags
    data: str = ""
    is_upper: bool = False

    @property
    def stem(self) -> str:
        """The stem in the data; without data, the word."""
        found = STEM.search(self.data) if self.data else None
        return found[1] if found else self.word


@dataclass
class WordOptions:
    """The options that concern words; see `options.Options`.

    Attributes:
        decoder: reads flags.
        encoding, forbidden, language, ignored, is_reversed: see there.
        data_aliases: data of words; a word may contain the number of an element, from 1, instead of data (option AM).
        replacements: the replacements of the option REP.
    """

    decoder: Decoder
    encoding: str
    forbidden: int = FORBIDDEN
    language: str = ""
    ignored: str = ""
    is_reversed: bool = False
    data_aliases: list[str] = field(default_factory=list)
    replacements: list[Replacement] = field(default_factory=list)


def read_words(lines: Lines, options: WordOptions) -> tuple[int, list[Entry], list[Replacement]]:
    """Read a ``.dic`` file; return the number in its first line, its entries in their order, and the replacements in their data."""
    texts = iter(lines)
    count = next(texts, "").lstrip(" \t")
    if integer(count) < 1:
        raise lines.fault(f"the number of words is {quoted(count)}; expected a decimal number, at least 1, in the first line")
    reader = _Reader(lines, options)
    entries: list[Entry] = []
    for text in texts:
        if text:
            entries += reader.entries(text)
        if len(entries) > MAX_WORDS:
            raise lines.unsupported(f"the file has more than {MAX_WORDS:,} words; expected fewer; split the dictionary")
    return integer(count), entries, reader.replacements


class _Reader:
    def __init__(self, lines: Lines, options: WordOptions) -> None:
        self.replacements: list[Replacement] = []
        self._lines, self._options = lines, options
        self._casing = Casing(options.encoding, options.language)
        self._without_ignored = dict.fromkeys(map(ord, options.ignored))
        key = r"(?:[\0-\x7f]{2}|[\x80-\u07ff])" if options.encoding == "utf-8" else ".."  # two bytes
        # A match begins only at the first of several spaces, so the search takes one pass.
        self._data = re.compile(rf"(?<![ \t])[ \t]+{key}:", re.DOTALL)

    def entries(self, text: str) -> Iterator[Entry]:
        """The entries of a line: the word, and the entry that stands for it in upper case."""
        plain = PLAIN.fullmatch(text)
        word, flags, data = (*plain.groups(""), "") if plain else self._parts(text)
        if len(word) > MAX_WORD:
            raise self._lines.fault(f"the word has {len(word):,} characters; expected at most {MAX_WORD:,}")
        if not plain and not is_text(word):
            encoding = self._options.encoding
            raise self._lines.fault(f"the word is {quoted(word)}; expected {encoding}; save the file in the encoding of the option SET")
        found = self._options.decoder.flags(flags, self._lines) if flags else NONE
        yield self._entry(word, found, data)
        kind = LOWER if word == word.lower() else self._casing.kind(word)
        if kind > INITIAL and (kind != UPPER or found) and self._options.forbidden not in found:
            upper = self._casing.capitalized(self._casing.lowered(word))
            yield self._entry(upper, found | {ONLY_UPPER}, data, is_upper=True)

    def _entry(self, word: str, flags: Flags, data: str, *, is_upper: bool = False) -> Entry:
        if "ph:" in data and (self._options.data_aliases or not self._options.is_reversed):
            self._add_replacements(word, data, INITIAL if is_upper else self._casing.kind(word))
        if self._without_ignored:
            word = word.translate(self._without_ignored)
        return Entry(word[::-1] if self._options.is_reversed else word, flags, data, is_upper)

    def _parts(self, text: str) -> tuple[str, str, str]:
        """The word of a line, its flags, and its data."""
        starts = [found.start() + 1 for found in (self._data.search(text[1:]),) if found] + [text.find("\t")] * ("\t" in text)
        text, data = (text[: min(starts)], text[min(starts) :].strip(" \t")) if starts else (text, "")
        if data and self._options.data_aliases:
            number = integer(data)
            data = self._options.data_aliases[number - 1] if 0 < number <= len(self._options.data_aliases) else data
        end = 1 if text.startswith("/") else next((found.start() for found in SLASH.finditer(text)), len(text))
        return text[:end].replace("\\/", "/"), text[end + 1 :], data

    def _add_replacements(self, word: str, data: str, kind: int) -> None:
        """Add the replacements in the data of a word: "ph:fault", "ph:fault->correction", or "ph:fault*" without the last letters."""
        for text in fields(data):
            fault = text.removeprefix("ph:")
            if fault == text or not fault:
                continue
            place = fault.find("->")
            correction = word
            if 0 < place < len(fault) - 2:
                fault, correction = fault[:place], fault[place + 2 :]
            if fault.endswith("*") and len(fault) > 2 and len(correction) > 1:
                fault, correction = fault[:-2], correction[: len(word) - 1] + correction[len(word) :]
            self.replacements += self._replacements(fault, correction, kind)

    def _replacements(self, fault: str, correction: str, kind: int) -> Iterator[Replacement]:
        if kind == INITIAL and self._casing.is_utf8 and self._casing.kind(fault) == LOWER:
            if self._options.language in ("de", "hu"):
                yield Replacement(fault, self._casing.lowered(correction))
            yield Replacement(self._casing.capitalized(fault), correction)
        yield Replacement(fault, correction)


def is_text(text: str) -> bool:
    """Whether a text contains neither bytes outside of the encoding nor U+0000, which cannot be a label."""
    return not NO_TEXT.search(text)
