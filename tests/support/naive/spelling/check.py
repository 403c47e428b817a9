"""Whether Hunspell 1.7 accepts a word: words in capitals, with dots, of digits, and with breaks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from support.naive.spelling.compounds import ONLY_UPPER, Compounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fst.compile.sources.transducers.hunspell.casing import Casing
    from fst.compile.sources.transducers.hunspell.files import Dictionary
    from fst.compile.sources.transducers.hunspell.options import Conversion
    from fst.compile.sources.transducers.hunspell.words import Entry

LOWER, INITIAL, UPPER = range(3)  # kinds of words, as in `Casing.kind`
MAX_BYTES = 100
MAX_SHARPS = 5
MAX_BREAKS = 10
XML = "<?xml?>"


@dataclass
class Asked:
    """The state of a check.

    Attributes:
        is_forbidden: whether a form of the word is a forbidden word.
        had_capitals: whether the word has capitals.
        is_initial: whether the form that is looked up begins with a capital, as the word does.
    """

    is_forbidden: bool = False
    had_capitals: bool = False
    is_initial: bool = False


class Speller:
    """Checks words of a dictionary."""

    def __init__(self, dictionary: Dictionary, casing: Casing) -> None:
        self.options, self.casing = dictionary.options, casing
        self._compounds = Compounds(dictionary, casing)
        self._without_ignored = dict.fromkeys(map(ord, self.options.ignored))
        self._conversions = {conversion.found: conversion for conversion in self.options.input_conversions}

    def check(self, word: str) -> bool:
        """Whether a word is accepted. A word with characters outside of the dictionary's encoding is not."""
        try:
            size = len(word.encode(self.options.encoding))
        except UnicodeEncodeError:
            return False
        if word == XML:
            return True
        if size >= MAX_BYTES * (3 if self.options.is_utf8 else 1):
            return False
        text = self._cleaned(self._converted(word)).lstrip(" ")
        plain = text.rstrip(".")
        return not plain or self._is_number(plain) or self._check(plain, has_dots=plain != text)

    def _converted(self, word: str) -> str:
        """The word after the input conversions: at each place, the longest string is replaced."""
        found, place = [], 0
        while place < len(word):
            ends = range(len(word), place, -1)
            conversion = next((self._conversions[word[place:end]] for end in ends if word[place:end] in self._conversions), None)
            output = _output(conversion, is_first=place == 0, is_last=word[place:] == conversion.found) if conversion else ""
            found.append(output or word[place])
            place += len(conversion.found) if conversion and output else 1
        return "".join(found)

    def _cleaned(self, word: str) -> str:
        return self.casing.units(word).translate(self._without_ignored) if self._without_ignored else word

    def _is_number(self, word: str) -> bool:
        """Whether a word consists of digits, and of single dots, commas or dashes inside."""
        is_digit = [char in "0123456789" for char in word]
        return (
            all(char in "0123456789,.-" for char in word)
            and is_digit[0]
            and is_digit[-1]
            and not any(one in ",.-" and other in ",.-" for one, other in pairwise(word))
        )

    def _check(self, word: str, *, has_dots: bool) -> bool:
        asked, forms = Asked(), _Forms(word, self.casing)
        kind = self.casing.kind(word)
        asked.had_capitals = kind != LOWER
        if kind in (INITIAL, UPPER):
            entry = self._in_capitals(forms, asked, kind, has_dots=has_dots)
        else:
            entry = self._with_dot(word, asked, has_dots=has_dots)
        if entry:
            return not (self.options.rare and self.options.rare in entry.flags and self.options.refuses_rare)
        return not asked.is_forbidden and bool(self.options.breaks) and self._check_breaks(forms.text)

    def _with_dot(self, word: str, asked: Asked, *, has_dots: bool) -> Entry | None:
        """The entry of a word, or of the word with a dot if it has dots."""
        return self._entry(word, asked) or (self._entry(word + ".", asked) if has_dots else None)

    def _in_capitals(self, forms: _Forms, asked: Asked, kind: int, *, has_dots: bool) -> Entry | None:
        if kind == UPPER:
            entry = self._with_dot(forms.text, asked, has_dots=has_dots) or self._after_apostrophe(forms, asked)
            entry = entry or self._with_sharp_s(forms, asked, has_dots=has_dots)
            if entry:
                return entry
        return self._in_lower_case(forms, asked, kind, has_dots=has_dots)

    def _in_lower_case(self, forms: _Forms, asked: Asked, kind: int, *, has_dots: bool) -> Entry | None:
        """The entry of a word in capitals: with the first letter in upper case, then in lower case."""
        is_dotted = self.options.is_utf8 and forms.text.startswith("İ")
        if kind == UPPER:
            forms.lower()
            forms.capitalize()
        text = _with_first_byte("İ", forms.text) if kind == UPPER and is_dotted else forms.text
        entry = self._entry_of_initial(text, asked, kind)
        if asked.is_forbidden:
            return None
        if entry and kind == UPPER and self._keeps_case(entry):
            entry = None
        if entry or (is_dotted and self.options.language not in ("az", "crh", "tr")):
            return entry
        forms.lower()
        lower = forms.text
        forms.capitalize()
        entry = self._entry(lower, asked)
        if not entry and has_dots:
            lower += "."
            entry = self._entry(lower, asked)
            if not entry:
                entry = self._entry_of_initial(forms.text + ".", asked, kind)
                return None if entry and kind == UPPER and self._keeps_case(entry) else entry
        allows = kind == INITIAL and self.options.checks_sharp_s and "ß" in lower
        return None if entry and self._keeps_case(entry) and not allows else entry

    def _entry_of_initial(self, word: str, asked: Asked, kind: int) -> Entry | None:
        asked.is_initial = kind == INITIAL
        entry = self._entry(word, asked)
        asked.is_initial = False
        return entry

    def _keeps_case(self, entry: Entry) -> bool:
        return self.options.keeps_case != 0 and self.options.keeps_case in entry.flags

    def _after_apostrophe(self, forms: _Forms, asked: Asked) -> Entry | None:
        """The entry of a word such as SANT'ELIA: "sant'Elia", then "Sant'Elia"."""
        place = forms.text.find("'")
        if place < 0:
            return None
        place = len(forms.text[:place].encode(self.options.encoding))
        forms.lower()
        data = forms.text.encode(self.options.encoding, "surrogateescape")
        if place >= len(data) - 1:
            return None
        before, after = (part.decode(self.options.encoding, "surrogateescape") for part in (data[: place + 1], data[place + 1 :]))
        forms.text = before + self.casing.capitalized(after)
        entry = self._entry(forms.text, asked)
        if not entry:
            forms.capitalize()
            entry = self._entry(forms.text, asked)
        return entry

    def _with_sharp_s(self, forms: _Forms, asked: Asked, *, has_dots: bool) -> Entry | None:
        """The entry of a word in upper case with "ß" for some "SS"."""
        if not self.options.checks_sharp_s or "SS" not in forms.text:
            return None
        forms.lower()
        lower = forms.text
        entry = self._sharp(lower, asked)
        if not entry:
            forms.capitalize()
            entry = self._sharp(forms.text, asked)
        if not entry and has_dots:
            entry = self._sharp(lower + ".", asked) or self._sharp(forms.text + ".", asked)
        return entry

    def _sharp(self, word: str, asked: Asked) -> Entry | None:
        return next(filter(None, (self._entry(form, asked) for form in _sharp_forms(word, 0, 0) if form != word)), None)

    def _check_breaks(self, word: str) -> bool:
        """Whether the parts of a word at the break points are accepted."""
        breaks = self.options.breaks
        if sum(word.count(text) for text in breaks) >= MAX_BREAKS:
            return False
        for text in breaks:
            if 1 < len(text) <= len(word):
                if text.startswith("^") and word.startswith(text[1:]) and self.check(word[len(text) - 1 :]):
                    return True
                if text.endswith("$") and word.endswith(text[:-1]) and self.check(word[: len(word) - len(text) + 1]):
                    return True
        return any(self._is_broken(word, text, at_second=True) for text in breaks) or any(
            self._is_broken(word, text, at_second=False) for text in breaks
        )

    def _is_broken(self, word: str, text: str, *, at_second: bool) -> bool:
        """Whether both parts at the first or second occurrence of a break are accepted; in Hungarian, the first part may keep its dash."""
        place, last = word.find(text), len(word) - len(text)
        if not 0 < place < last:
            return False
        second = word.find(text, place + 1)
        if at_second and 0 < second < last:
            place = second
        if not self.check(word[place + len(text) :]):
            return False
        is_dash = self.options.language == "hu" and text == "-"
        return self.check(word[:place]) or (is_dash and self.check(word[: place + 1]))

    def _entry(self, word: str, asked: Asked) -> Entry | None:
        """The entry of a word in this case: the first entry without affixes, or with affixes, or of a compound."""
        word = self._cleaned(word)
        if not word:
            return None
        word = self.casing.units(word)[::-1] if self.options.is_reversed else word
        options, words = self.options, self._compounds.affixed
        entries = words.entries(word)
        if entries and options.forbidden in entries[0].flags:
            asked.is_forbidden = True
            return None
        refused = {options.only_in_compound, ONLY_UPPER if asked.is_initial else 0} - {0}
        for entry in entries:
            if not refused & entry.flags and not (options.needs_affix and options.needs_affix in entry.flags):
                return entry
        found = words.with_affixes(word)
        if found and not refused & found.flags:
            asked.is_forbidden |= options.forbidden in found.flags
            return None if options.forbidden in found.flags else found
        return self._compounds.entry(word, had_capitals=asked.had_capitals) if options.has_compounds else None


@dataclass
class _Forms:
    """A word whose case changes."""

    text: str
    casing: Casing

    def lower(self) -> None:
        self.text = self.casing.lowered(self.text)

    def capitalize(self) -> None:
        self.text = self.casing.capitalized(self.text)


def _with_first_byte(char: str, word: str) -> str:
    """A word in UTF-8 whose first byte, which may be a part of a character, is replaced by a character."""
    return char + word.encode("utf-8", "surrogateescape")[1:].decode("utf-8", "surrogateescape")


def _output(conversion: Conversion, *, is_first: bool, is_last: bool) -> str:
    """The replacement of a string at the beginning, inside or at the end of a word."""
    if is_first and is_last:
        return conversion.entire or conversion.at_end or conversion.at_start or conversion.inside
    return (conversion.at_start if is_first else conversion.at_end if is_last else "") or conversion.inside


def _sharp_forms(word: str, start: int, count: int) -> Iterator[str]:
    """The forms of a word with "ß" for some of its first "ss"."""
    place = word.find("ss", start)
    if place < 0 or count == MAX_SHARPS:
        yield word
        return
    yield from _sharp_forms(word[:place] + "ß" + word[place + 2 :], place + 1, count + 1)
    yield from _sharp_forms(word, place + 2, count + 1)
