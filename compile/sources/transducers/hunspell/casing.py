"""The case of letters in Hunspell 1.7: a mapping of single characters; for UTF-8, that of Unicode 4.1 up to U+FFFF."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import ucd_3_2_0

LOWER, INITIAL, UPPER, MIXED, MIXED_INITIAL = range(5)  # kinds of words: see `Casing.kind`
ADDED = [(0x23B, 0x23D), (0x3F7, 0x3FB), (0x4F6, 0x4F7), (0x2C00, 0x2C5E), (0x2C80, 0x2CE3), (0x2D00, 0x2D25)]  # letters since Unicode 3.2
UNLIKE = {"İ": ("i", "İ"), "\u0241": ("\u0294", "\u0241"), "\u0294": ("\u0294", "\u0241"), "\u0345": ("\u0345", "\u0399")}
DOTTED = {"I": ("ı", "I"), "i": ("i", "İ")}  # Turkic languages
DOTTED_LANGUAGES = ("az", "crh", "tr")
KNOWN = {"iso8859-1", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-10"}
KNOWN |= {"iso8859-13", "iso8859-14", "iso8859-15", "koi8-r", "koi8-u", "cp1251", "tis-620"}
UNLIKE_IN = {  # lower-case and upper-case bytes that differ from Unicode's case
    "iso8859-3": {0xA9: (0x69, 0xA9)},
    "iso8859-4": {0xBD: (0xBD, 0xBD), 0xBF: (0xBF, 0xBF)},
    "iso8859-7": {0xC0: (0xC0, 0xC0), 0xE0: (0xE0, 0xE0)},
    "iso8859-9": {0x49: (0xFD, 0x49), 0x69: (0x69, 0xDD), 0xDD: (0x69, 0xDD)},
    "iso8859-10": {byte: (byte, byte) for byte in range(0xA1, 0x100)},
    "iso8859-14": {0xA6: (0xA6, 0xAB), 0xB9: (0xB9, 0xB6), 0xFF: (0xFF, 0xFF)},
    "koi8-u": {byte: (byte, byte | 0x10) for byte in (0xA4, 0xA6, 0xA7, 0xAD, 0xB4, 0xB6, 0xB7, 0xBD)},
}
Pairs = dict[str, tuple[str, str]]


class Casing:
    """The case of the letters of an encoding and a language.

    Attributes:
        lower, upper: the characters that have another lower-case or upper-case character, and this character.
        is_utf8: whether the encoding is UTF-8.
    """

    def __init__(self, encoding: str, language: str) -> None:
        self.is_utf8 = encoding == "utf-8"
        pairs = _unicode() if self.is_utf8 else _bytes(encoding)
        if self.is_utf8 and language in DOTTED_LANGUAGES:
            pairs = pairs | DOTTED
        self.lower = {char: lower for char, (lower, _) in pairs.items() if lower != char}
        self.upper = {char: upper for char, (_, upper) in pairs.items() if upper != char}
        self._lower, self._upper = str.maketrans(self.lower), str.maketrans(self.upper)

    def units(self, word: str) -> str:
        """The word as Hunspell reads it to change its case: it ends with U+FFFD at the first character after U+FFFF."""
        if not self.is_utf8 or max(word, default="") <= "\uffff":
            return word
        place = next(place for place, char in enumerate(word) if char > "\uffff")
        return word[:place] + "\ufffd"

    def kind(self, word: str) -> int:
        """The kind of a word: `LOWER`: no capitals; `INITIAL`: only the first letter; `UPPER`: all letters that have case;
        `MIXED_INITIAL`: the first letter and others; `MIXED`: others.
        """
        word = self.units(word)
        capitals = sum(char in self.lower for char in word)
        if not capitals:
            return LOWER
        is_first = word[0] in self.lower
        if capitals == 1 and is_first:
            return INITIAL
        neutral = sum(self.upper.get(char, char) == self.lower.get(char, char) for char in word)
        if capitals == len(word) or capitals + neutral == len(word):
            return UPPER
        return MIXED_INITIAL if is_first else MIXED

    def lowered(self, word: str) -> str:
        """The word in lower case."""
        return self.units(word).translate(self._lower)

    def capitalized(self, word: str) -> str:
        """The word with its first character in upper case."""
        word = self.units(word)
        return word[:1].translate(self._upper) + word[1:]


@lru_cache(1)
def _unicode() -> Pairs:
    """The lower-case and upper-case characters of all letters of Unicode 4.1 up to U+FFFF."""
    added = {chr(code) for first, last in ADDED for code in range(first, last + 1)}
    letters = added | {char for char in map(chr, range(0x10000)) if ucd_3_2_0.category(char)[0] == "L"}
    found = {}
    for char in letters:
        lower = char.lower()
        upper = next((text for text in (char.upper(), char.title()) if len(text) == 1), char)
        lower, upper = (text if text in letters else char for text in (lower, upper))
        if lower != upper:
            found[char] = lower, upper
    return found | UNLIKE


@lru_cache(32)
def _bytes(encoding: str) -> Pairs:
    """The lower-case and upper-case characters of an encoding of single bytes. Encodings for which Hunspell has no table have
    that of ISO 8859-1.
    """

    def changed(byte: int, char: str) -> int:
        data = char.encode(known, "ignore")
        return data[0] if len(data) == 1 else byte

    known = encoding if encoding in KNOWN else "iso8859-1"
    cases = {byte: (char.lower(), char.upper()) for byte in range(256) if (char := bytes([byte]).decode(known, "ignore"))}
    pairs = {byte: (changed(byte, lower), changed(byte, upper)) for byte, (lower, upper) in cases.items()} | UNLIKE_IN.get(known, {})
    decoded = {byte: bytes([byte]).decode(encoding, "surrogateescape") for byte in range(256)}
    return {decoded[byte]: (decoded[lower], decoded[upper]) for byte, (lower, upper) in pairs.items() if lower != upper}
