"""Compile a dictionary of Hunspell into a table of `fst.machines.speller.table`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.compile.machines.speller.conditions import in_units, units_of
from fst.compile.machines.speller.nearest import near_arrays
from fst.compile.machines.speller.roots import hints_of, roots_of
from fst.compile.machines.speller.rows import rows_of
from fst.compile.machines.speller.sets import FlagSets
from fst.compile.machines.speller.symbols import Symbols
from fst.compile.machines.speller.zhfst.compiler import compile_zhfst
from fst.compile.sources.transducers.hunspell.affixes import Affix, Condition, Part
from fst.compile.sources.transducers.hunspell.casing import Casing
from fst.compile.sources.transducers.hunspell.files import Dictionary, read_dictionary
from fst.compile.sources.transducers.hunspell.options import QUESTION, STAR
from fst.compile.sources.transducers.hunspell.options import Options as Source
from fst.core.json_fields import is_text
from fst.errors import FstWarning, UnsupportedError, VocabularyError, quoted
from fst.machines.speller import layout
from fst.machines.speller.layout import (
    ANY_NUMBER,
    CROSSES,
    IS_EXTRA,
    IS_SECOND,
    LIMIT,
    MASK_BITS,
    MAX_NUMBER,
    MAX_RULE,
    MAY_LACK_LAST,
    OPTIONAL,
    SIGNS,
    Options,
)
from fst.machines.speller.table import SpellerTable, header

ARCHIVE = ".zhfst"
EXPECTED = "expected a file .aff, .dic or .zhfst; name one of the two files of Hunspell, or an archive of Giella"
ENDINGS = (".aff", ".dic", ".aff.gz", ".dic.gz")
MAX_PARTS = 1 << 16  # maximum number of different parts of conditions
BYTES = 0x80  # characters below are one byte in UTF-8
ByAddition = Mapping[str, list[Affix]]


def speller(path: str | Path, *, suggestions: bool = True) -> Any:
    r"""Compile a dictionary of Hunspell, or a speller of Giella, for spell checking.

    Args:
        path: the ``.aff`` or the ``.dic`` file; the other one is in the same folder. Each may be packed with gzip. Or a ``.zhfst`` archive.
        suggestions: whether to compile the words of the dictionary for `fst.Speller.suggest`; the table is then 1.5 to 2 times as large. If
            the affixes have too many combinations, a warning is given, and the table has no suggestions. An archive always has its
            suggestions.

    Returns:
        A table for `fst.Speller`.

    Raises:
        VocabularyError: a file is malformed, or one of the files is missing; the message contains the line.
        UnsupportedError: the encoding is unknown, or the dictionary is too large.
        OSError: a file cannot be read.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("en.aff").write_text("SET UTF-8\nSFX S Y 1\nSFX S 0 s [^s]\n"), Path("en.dic").write_text("1\nword/S\n")
        >>> speller("en.aff").summary["stems"]
        1
    """
    place = Path(path)
    if place.name.endswith(ARCHIVE):
        return compile_zhfst(place)
    if not place.name.endswith(ENDINGS):
        raise VocabularyError(f"the dictionary is {quoted(str(path))}; {EXPECTED}")
    dictionary = read_dictionary(place)
    table = table_of(dictionary, suggestions=suggestions)
    return replace(table, **_near_arrays(dictionary, place)) if suggestions else table


def _near_arrays(dictionary: Dictionary, path: Path) -> dict[str, Any]:
    """The arrays for suggestions; none, if there are too many words."""
    try:
        return near_arrays(dictionary)
    except UnsupportedError as error:
        warnings.warn(f"{path}: {error}; the table has only the suggestions of style='hunspell'", FstWarning, stacklevel=3)
        return {}


def table_of(dictionary: Dictionary, *, suggestions: bool = False) -> SpellerTable:
    """Compile a dictionary that has been read. `suggestions`: whether to add the options of suggestions, and stems that are compared."""
    return _Builder(dictionary, suggestions).table()


class _Strings:
    """The strings of a table; equal strings are stored once, unless they are elements of a range."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._parts: list[Sequence[int]] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a string."""
        if text not in self._numbers:
            self._numbers[text] = self._add(text)
        return self._numbers[text]

    def range(self, texts: Iterable[str]) -> tuple[int, int]:
        """The first number and the end of several strings."""
        first = len(self._parts)
        for text in texts:
            self._add(text)
        return first, len(self._parts)

    def _add(self, text: str) -> int:
        found = self._symbols.of(text)
        if len(found) > LIMIT:
            raise UnsupportedError(f"the string {quoted(text)} has {len(found)} characters; expected at most {LIMIT}")
        self._parts.append(found)
        return len(self._parts) - 1

    def arrays(self) -> tuple[Array, Array]:
        """The arrays ``strings`` and ``string_ends`` of a table."""
        return np.fromiter(chain.from_iterable(self._parts), np.uint16), ends_of(map(len, self._parts))


def ends_of(sizes: Iterable[int]) -> NDArray[np.uint32]:
    """The bounds of parts of an array, from 0, by their sizes."""
    return np.append(0, np.cumsum([*sizes], dtype=np.int64)).astype(np.uint32)


class _Builder:
    """Makes the arrays of a table."""

    def __init__(self, dictionary: Dictionary, suggestions: bool) -> None:
        self._options, self._dictionary, self._suggests = dictionary.options, dictionary, suggestions
        self._homonyms = {word: some for word, some in dictionary.homonyms().items() if word}
        self._prefixes, self._suffixes = dictionary.prefixes, dictionary.suffixes
        self._casing = Casing(self._options.encoding, self._options.language)
        self._hints = hints_of(self._options) if suggestions else None
        self._need_text()
        self._symbols = Symbols(chain(self._homonyms, self._option_texts()), self._casing)
        if self._symbols.has_pairs:
            self._divide_conditions()
        self._parts = {part: number for number, part in enumerate(dict.fromkeys(chain.from_iterable(self._conditions)))}
        if len(self._parts) > MAX_PARTS:
            fault = f"the conditions of affixes have {len(self._parts):,} different characters and sets"
            raise UnsupportedError(f"{fault}; expected at most {MAX_PARTS:,}; split the dictionary")
        self._sets = FlagSets(dictionary)
        self._strings = _Strings(self._symbols)

    @property
    def _affixes(self) -> Sequence[Affix]:
        return (*self._prefixes, *self._suffixes)

    @property
    def _conditions(self) -> Iterable[Condition]:
        return dict.fromkeys(affix.condition for affix in self._affixes)

    def _divide_conditions(self) -> None:
        """Divide affixes by the conditions for their UTF-16 units."""
        if self._options.is_reversed:
            raise UnsupportedError("the dictionary has COMPLEXPREFIXES and characters after U+FFFF; expected one of them; remove these")
        self._prefixes, self._suffixes = (
            tuple(replace(affix, condition=units) for affix in affixes for units in in_units(affix.condition, from_end=from_end))
            for affixes, from_end in ((self._prefixes, False), (self._suffixes, True))
        )

    def _need_text(self) -> None:
        """Refuse bytes outside of the encoding in options; the reader refuses them in words."""
        for text in chain(self._option_texts(), self._hints.texts() if self._hints else ()):
            if not is_text(text):
                encoding = self._options.encoding
                advice = f"expected {encoding}; save both files in the encoding of the option SET"
                raise VocabularyError(f"a string of an option or of a condition is {quoted(text)}; {advice}")

    def _option_texts(self) -> Iterator[str]:
        """Strings with all characters of affixes and options."""
        options = self._options
        yield from (options.vowels, options.ignored, *options.breaks)
        for affix in self._affixes:
            yield affix.strip
            yield affix.add
        yield from {char for part in {*chain.from_iterable(self._conditions)} for char in part.chars}
        for conversion in options.input_conversions:
            yield from conversion
        for replacement in options.replacements:
            yield from (replacement.found, replacement.correction)
        for pattern in options.patterns:
            yield from (pattern.left, pattern.right, pattern.replacement)

    def table(self) -> SpellerTable:
        """The table."""
        words = [*self._homonyms]
        suffixes, prefixes = _by_addition(self._suffixes, reverse=True), _by_addition(self._prefixes, reverse=False)
        texts = (words, *([text for text in group if text] for group in (suffixes, prefixes)))
        rows = rows_of([*map(self._symbols.strings, texts)], len(self._symbols))
        word_lists, homonyms = self._entries(words, rows.numbers[0])
        lists = self._lists(suffixes, prefixes, rows.numbers[1:])
        options = self._table_options(rows.roots, layout.SUFFIX_LISTS + len(texts[1]))
        strings, string_ends = self._strings.arrays()
        has_apostrophes = any("'" in text or "’" in text for text in chain(words, (affix.add for affix in self._affixes)))
        pages, blocks = self._symbols.pages(self._options.word_characters + "'" * has_apostrophes)
        return SpellerTable(
            header(self._options.encoding, self._options.language, self._hints),
            options=options,
            pages=pages,
            blocks=blocks,
            lower=self._symbols.lower,
            upper=self._symbols.upper,
            kinds=self._kinds(),
            entries=rows.entries,
            word_lists=word_lists,
            homonyms=homonyms,
            strings=strings,
            string_ends=string_ends,
            **lists,
            **(self._roots() if self._suggests else {}),
            **self._rules(),
            **self._sets.arrays(),
        )

    def _entries(self, words: Sequence[str], numbers: Array) -> tuple[Array, Array]:
        """The arrays ``word_lists`` and ``homonyms``: equal lists of entries are stored once."""
        lists: dict[tuple[int, ...], int] = {}
        stored: list[int] = []
        found = np.zeros(len(words), np.uint32)
        firsts = []
        for word in words:
            key = tuple([self._sets.number(entry.flags) for entry in self._homonyms[word]])
            first = lists.get(key)
            if first is None:
                first = lists[key] = len(stored)
                stored += [number << 1 | 1 for number in key]
                stored[-1] ^= 1
            firsts.append(first)
        found[numbers] = firsts
        return found, np.array(stored, np.uint32)

    def _lists(self, suffixes: ByAddition, prefixes: ByAddition, numbers: Sequence[Array]) -> dict[str, Array]:
        """The arrays of affixes and conditions."""
        lists = [suffixes.get("", []), prefixes.get("", [])]
        groups = [[*filter(None, group)] for group in (suffixes, prefixes)]
        offset = len(groups[0])
        others: list[list[Affix]] = [[] for _ in range(offset + len(groups[1]))]
        for group, some, by_text, first in zip(groups, numbers, (suffixes, prefixes), (0, offset), strict=True):
            for text, number in zip(group, some.tolist(), strict=True):
                others[first + number] = by_text[text]
        lists += others
        places: dict[tuple[Part, ...], int] = {}
        conditions: list[int] = []
        rows = []
        for affix in chain.from_iterable(lists):
            if affix.condition not in places:
                places[affix.condition] = len(conditions)
                conditions += map(self._parts.__getitem__, affix.condition)
            rows.append(self._affix(affix, places[affix.condition]))
        return {
            "affixes": np.array(rows, np.int32).reshape(-1, layout.COLUMNS),
            **({"affix_order": self._places(chain.from_iterable(lists))} if self._suggests else {}),
            "affix_ends": ends_of([*map(len, lists), *[0] * (len(lists) == 2)]),
            "conditions": np.array(conditions, np.uint16),
            "parts": self._part_bits(),
        }

    def _places(self, affixes: Iterable[Affix]) -> NDArray[np.uint32]:
        """The array ``affix_order``, for the affixes in the order of the table."""
        places = {id(affix): place for place, affix in enumerate(self._affixes)}
        return np.array([places[id(affix)] for affix in affixes], np.uint32)

    def _roots(self) -> dict[str, Array]:
        """The arrays of stems for suggestions by similarity."""
        return roots_of(self._dictionary, self._casing, self._sets.number)

    def _affix(self, affix: Affix, condition: int) -> tuple[int, ...]:
        """The columns of an affix."""
        kind = CROSSES * affix.crosses | IS_SECOND * self._sets.is_in_affixes(affix.flag) | MAY_LACK_LAST * affix.may_lack_last
        kind |= IS_EXTRA * (affix.add[-1:] == "i" and affix.add[-2:-1] not in ("y", "t"))
        vowels = sum(char in self._options.vowels for char in affix.add)
        flag, own, strip = self._sets.flag(affix.flag), self._sets.number(affix.flags), self._strings.number(affix.strip)
        return flag, strip, condition, len(affix.condition), own, kind, min(vowels, LIMIT)

    def _part_bits(self) -> NDArray[np.uint64]:
        """The array ``parts``: a bit for each symbol that a part of a condition allows, and for the symbol 0."""
        width = -(-len(self._symbols) // MASK_BITS) * MASK_BITS
        rows = []
        for part in self._parts:
            row = np.zeros(width, np.uint8)
            row[self._symbols.known(part.chars)] = 1
            rows.append(np.packbits(row ^ part.is_negated, bitorder="little"))
        return np.array(rows, np.uint8).reshape(-1, width // 8).view("<u8").astype(np.uint64)

    def _kinds(self) -> NDArray[np.uint8]:
        """The array ``kinds``."""
        found = np.zeros(len(self._symbols), np.uint8)
        firsts = [conversion.found[0] for conversion in self._options.input_conversions]
        for kind, chars in (
            (layout.IGNORED, self._options.ignored),
            (layout.VOWEL, self._options.vowels),
            (layout.BEGINS_CONVERSION, firsts),
            (layout.IS_BYTE, [chr(unit) for unit in self._symbols.units if unit < BYTES or not self._options.is_utf8]),
        ):
            found[[self._symbols[char] if char <= "\uffff" else self._symbols.of(char)[0] for char in chars]] |= kind
        return found

    def _rules(self) -> dict[str, Array]:
        """The arrays of rules and patterns of compounds."""
        items = {STAR: ANY_NUMBER, QUESTION: OPTIONAL}
        rules = [[items[flag] if flag in items else self._sets.flag(flag) for flag in rule] for rule in self._options.rules]
        longest = max(map(len, rules), default=0)
        if longest > MAX_RULE:
            raise UnsupportedError(f"a rule of compounds has {longest} flags; expected at most {MAX_RULE}")
        flags = [flag and self._sets.flag(flag) for pattern in self._options.patterns for flag in (pattern.left_flag, pattern.right_flag)]
        return {
            "compound_rules": np.fromiter(chain.from_iterable(rules), np.int32),
            "rule_ends": ends_of(map(len, rules)),
            "pattern_flags": np.array(flags, np.uint16),
        }

    def _table_options(self, roots: Sequence[int], prefix_lists: int) -> NDArray[np.int64]:
        """The array ``options``."""
        source, symbols, strings = self._options, self._symbols, self._strings
        found = Options(
            symbols=len(symbols),
            is_utf_8=source.is_utf8,
            suffix_root=roots[1],
            prefix_root=roots[2],
            prefix_lists=prefix_lists,
            defined=self._sets.defined,
            has_second=self._dictionary.has_two_affixes,
            has_spaces=any(" " in text for text in chain(self._homonyms, (affix.add for affix in self._affixes))),
            has_free_capitals=self._has_free_capitals(),
            space_string=strings.number(" "),
            compound_rules=len(source.rules),
            **_switches(source),
            **_numbers(source),
            **{name: symbols[char] for name, char in SIGNS.items()},
            **{name: self._sets.flag(ord(char)) for name, char in (("hu_c", "c"), ("hu_i", "I"), ("hu_j", "J"))},
        )
        for name, texts in self._ranges().items():
            first, end = strings.range(texts)
            setattr(found, name, first)
            setattr(found, f"{name}_end", end)
        return found.view(np.ndarray)

    def _has_free_capitals(self) -> bool:
        """Whether no word that may be refused and no affix has a capital."""
        capitals, refused = self._casing.lower.keys(), {self._options.forbidden, self._options.rare * self._options.refuses_rare} - {0}
        words = (word for word, some in self._homonyms.items() if any(not refused.isdisjoint(entry.flags) for entry in some))
        return all(capitals.isdisjoint(text) for text in chain(words, (affix.add for affix in self._affixes)))

    def _ranges(self) -> dict[str, list[str]]:
        """The strings of options that are ranges."""
        source = self._options
        conversions = sorted(source.input_conversions, key=lambda conversion: conversion.found)
        middle = [each for each in source.replacements if not each.at_start and not each.at_end and each.correction]
        return {
            "breaks": [*source.breaks],
            "conversions": [text for each in conversions for text in (each.found, each.inside, each.at_start, each.at_end, each.entire)],
            "replacements": [text for each in middle for text in (each.found, each.correction)],
            "patterns": [text for each in source.patterns for text in (each.left, each.right, each.replacement)],
        }


def _by_addition(affixes: Iterable[Affix], *, reverse: bool) -> dict[str, list[Affix]]:
    """The affixes by the string that they add; for suffixes, its units are reversed. The later affix is tried first."""
    found: dict[str, list[Affix]] = {}
    for affix in affixes:
        found.setdefault(units_of(affix.add)[::-1] if reverse else affix.add, []).insert(0, affix)
    return found


def _switches(source: Source) -> dict[str, bool]:
    return {
        "full_strip": source.strips_entire_words,
        "complex_prefixes": source.is_reversed,
        "sharp_s": source.checks_sharp_s,
        "forbid_warn": source.refuses_rare,
        "has_syllable_flags": source.counts_syllables_by_flag,
        "has_second_in_compounds": source.allows_two_suffixes,
        "forbids_repeated": source.checks_duplicates,
        "forbids_replaced": source.checks_replacements,
        "forbids_case": source.checks_case,
        "forbids_triple": source.checks_triples,
        "simplifies_triple": source.simplifies_triples,
        "is_hungarian": source.language == "hu",
        "is_turkic": source.language in ("az", "crh", "tr"),
        "simplifies_patterns": any(pattern.replacement for pattern in source.patterns),
    }


def _numbers(source: Source) -> dict[str, int]:
    most = -1 if source.most_parts is None else source.most_parts
    return {
        "compound_min": min(source.least_part, LIMIT),
        "compound_most": max(min(most, MAX_NUMBER), -1),
        "most_syllables": max(min(source.most_syllables, MAX_NUMBER), 0),
    }
