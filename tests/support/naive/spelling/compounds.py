"""Compounds, as Hunspell 1.7 finds them: a word is split at each place. The first part must be allowed before others; the rest is a last
part, or is split again.

There is one difference: after a simplified pattern (the third string of CHECKCOMPOUNDPATTERN), Hunspell splits a damaged copy of the word
at later places; here it is the word. No dictionary of Debian has such patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.naive.spelling.affixes import BEGIN, END, OTHER, Affixed
from support.naive.spelling.rules import Parts

if TYPE_CHECKING:
    from fst.compile.sources.transducers.hunspell.affixes import Affix
    from fst.compile.sources.transducers.hunspell.casing import Casing
    from fst.compile.sources.transducers.hunspell.files import Dictionary
    from fst.compile.sources.transducers.hunspell.options import Pattern
    from fst.compile.sources.transducers.hunspell.words import Entry

ONLY_UPPER = 65511
MAX_PARTS = 100
MAX_TRIES = 20_000  # in place of Hunspell's limit of 0.05 seconds
MOVING = -5  # the number of parts from which a Hungarian compound with a dash at the end begins
FLAGS_OF_FIRST, FLAGS_OF_MOVING = {*map(ord, "FGH")}, {*map(ord, "x%")}  # flags of the Hungarian dictionary
LESS, MORE, TWO_MORE = map(ord, "IJc")  # flags that change the number of syllables


class _Done(Exception):  # noqa: N818 - no error: the search ends
    """The search for a compound ends with an entry, or without."""

    def __init__(self, entry: Entry | None) -> None:
        self.entry = entry


@dataclass
class _Split:
    """A place at which a word is split.

    Attributes:
        word: the word.
        text: the word with a simplified pattern written in full.
        place: the place in `text`.
        parts, syllables: the number of parts and of syllables so far.
        pattern: the pattern that is simplified at this place.
        number: the number of parts before the first one.
        matched: the parts that match a rule (COMPOUNDRULE); None: rules are not used.
        by_rules: whether only rules allow parts.
        is_moving: whether the word is a Hungarian word with a dash at its end.
        had_capitals: whether the word that is checked has capitals.
        parts_before: the number of parts before the first one; unlike `parts`, it does not change.
    """

    word: str
    text: str
    place: int
    parts: int
    syllables: int
    number: int
    matched: Parts | None
    by_rules: bool
    is_moving: bool
    had_capitals: bool
    parts_before: int
    pattern: Pattern | None = None
    is_inner_allowed: bool = False

    @property
    def sides(self) -> tuple[str, str]:
        """The word before and after the place. As in Hunspell, the place is not changed if a pattern is simplified."""
        return self.word[: self.place], self.word[self.place :]


class Compounds:
    """Finds the first parts of compounds."""

    def __init__(self, dictionary: Dictionary, casing: Casing) -> None:
        self.options, self.casing = dictionary.options, casing
        self.affixed = Affixed(dictionary)
        self._tries = 0
        self._has_simplified = any(pattern.replacement for pattern in self.options.patterns)

    def entry(self, word: str, *, had_capitals: bool) -> Entry | None:
        """The entry of the first part of a compound; None: the word is not a compound."""
        self._tries = 0
        found = self._search(word, 0, 0, 0, None, is_moving=False, had_capitals=had_capitals)
        if not found and self.options.language == "hu" and word.endswith("-"):
            return self._search(word[:-1], MOVING, 0, 0, None, is_moving=True, had_capitals=had_capitals)
        return found

    def _search(
        self, word: str, parts: int, syllables: int, number: int, matched: Parts | None, *, is_moving: bool, had_capitals: bool
    ) -> Entry | None:
        least = self.options.least_part
        try:
            for place in range(least, len(word) - least + 1):
                split = _Split(word, word, place, parts, syllables, number, matched, matched is not None, is_moving, had_capitals, parts)
                self._split(split)
                if self.options.rules and parts == 0 and not split.by_rules:
                    self._split(_Split(word, word, place, parts, syllables, number, matched, True, is_moving, had_capitals, parts))
        except _Done as done:
            return done.entry
        return None

    def _split(self, split: _Split) -> None:
        """Try one place of a word; then again with each pattern that is simplified there."""
        place = split.place
        self._try(split)
        if split.by_rules or not self._has_simplified:
            return
        for pattern in self.options.patterns:
            if pattern.replacement and split.word.startswith(pattern.replacement, place):
                rest = split.word[place + len(pattern.replacement) :]
                split.text = split.word[:place] + pattern.left + pattern.right + rest
                split.place, split.pattern = place + len(pattern.left), pattern
                self._try(split)

    def _try(self, split: _Split) -> None:
        """Try the parts before and after a place.

        Raises:
            _Done: the word is a compound, or cannot be one at any later place.
        """
        self._tries += 1
        if self._tries > MAX_TRIES:
            raise _Done(None)
        first = self._first(split)
        if not first:
            return
        if self.options.language == "hu":
            split.syllables += self._syllables(split.text[: split.place])
            split.parts += self._is_long_prefix()
        self._last(split, first)
        if self._has_simplified_triple(split):
            split.place -= 1  # "fahrt" instead of "ahrt" in "Schiffahrt"
            self._last(split, first)
            split.place += 1

    def _has_simplified_triple(self, split: _Split) -> bool:
        left, _ = split.sides
        return self.options.simplifies_triples and len(left) > 2 and self._are_equal(left[-2:])

    def _are_equal(self, chars: str) -> bool:
        """Whether two characters are equal, and one byte each."""
        return len(chars) == 2 and chars[0] == chars[1] and (not self.options.is_utf8 or chars[0] <= "\x7f")

    def _first(self, split: _Split) -> Entry | None:
        """The entry of the part before the place, if the part may be followed by another one."""
        options, text = self.options, split.text[: split.place]
        self.affixed.prefix = self.affixed.suffix = None
        entries = self.affixed.entries(text)
        if entries and options.compound_forbid and options.compound_forbid in entries[0].flags and not split.is_moving:
            return None
        entry = next((entry for entry in entries if split.is_moving or self._may_begin(split, entry)), None)
        if entry:
            if {options.forbidden, options.needs_affix, ONLY_UPPER} & entry.flags:
                return None
        elif split.by_rules:
            return None
        else:
            entry = self._first_with_affixes(split, text)
            split.is_inner_allowed |= entry is not None
        entry = None if entry and self._is_refused_by_affix(split) else entry
        if entry and {options.forbidden, ONLY_UPPER} & entry.flags:
            raise _Done(None)
        if entry and options.compound_root and options.compound_root in entry.flags:
            split.parts += 1
        return self._accepted(split, entry, text)

    def _may_begin(self, split: _Split, entry: Entry) -> bool:
        """Whether the flags of an entry allow it before other parts."""
        options, flags = self.options, entry.flags
        if options.needs_affix and options.needs_affix in flags:
            return False
        if split.by_rules:
            if split.matched is None and split.parts:
                return False
            found = (split.matched or Parts()).with_part(split.number, entry, options.rules, is_last=False)
            split.matched = found or split.matched
            is_allowed = found is not None
        else:
            is_allowed = (
                _has(flags, options.compound)
                or (not split.parts and _has(flags, options.compound_begin))
                or (split.parts != 0 and _has(flags, options.compound_middle))
            )
        return is_allowed and (not split.pattern or not split.pattern.left_flag or split.pattern.left_flag in flags)

    def _first_with_affixes(self, split: _Split, text: str) -> Entry | None:
        options, place = self.options, OTHER if split.is_moving else BEGIN
        found = None
        if options.compound:
            found = self.affixed.with_prefix(text, place, options.compound)
            if not found:
                found = self._with_suffixes(text, options.compound, place)
                flags = self.affixed.suffix.flags if found and self.affixed.suffix else frozenset()
                if not split.is_moving and (_has(flags, options.compound_forbid) or _has(flags, options.compound_end)):
                    found = None
        flag = options.compound_middle if split.parts > 0 else options.compound_begin if split.parts == 0 else 0
        if not found and flag:
            found = self._with_suffixes(text, flag, place) or self.affixed.with_prefix(text, place, flag)
        return found

    def _with_suffixes(self, text: str, flag: int, place: int) -> Entry | None:
        found = self.affixed.with_suffix(text, None, 0, flag, place)
        if not found and self.options.allows_two_suffixes:
            found = self.affixed.with_two_suffixes(text, None, flag)
        return found

    def _affix_has(self, flag: int) -> bool:
        """Whether an affix that was removed has a flag."""
        affixes: tuple[Affix | None, ...] = (self.affixed.prefix, self.affixed.suffix)
        return any(affix is not None and flag in affix.flags for affix in affixes)

    def _is_refused_by_affix(self, split: _Split) -> bool:
        options = self.options
        if split.is_moving:
            return False
        if self._affix_has(options.compound_forbid):
            return True
        if split.is_inner_allowed:
            return False
        if options.compound_end and self._affix_has(options.compound_end):
            return True
        return split.parts == 0 and options.compound_middle != 0 and self._affix_has(options.compound_middle)

    def _accepted(self, split: _Split, entry: Entry | None, text: str) -> Entry | None:
        """The entry of the first part, if the part is allowed in a compound, and the boundary after it."""
        options = self.options
        if entry and self._is_part(split, entry):
            has_flag = not split.pattern or not split.pattern.left_flag or split.pattern.left_flag in entry.flags
            if has_flag and not self._has_bad_boundary(split):
                return entry
        if not entry and options.language == "hu" and split.is_moving:
            entry = self.affixed.with_affixes(text)
            suffix = self.affixed.suffix
            return entry if suffix and FLAGS_OF_MOVING & suffix.flags else None
        return None

    def _is_part(self, split: _Split, entry: Entry) -> bool:
        options, flags = self.options, entry.flags
        return (
            split.is_inner_allowed
            or (split.matched is not None and split.matched.has(split.number))
            or _has(flags, options.compound)
            or (split.parts_before == 0 and _has(flags, options.compound_begin))
            or (split.parts_before > 0 and _has(flags, options.compound_middle))
            or (options.language == "hu" and split.is_moving and bool(FLAGS_OF_FIRST & flags))
        )

    def _has_bad_boundary(self, split: _Split) -> bool:
        """Whether the letters at the boundary are refused: three equal ones, or capitals."""
        if split.pattern or split.matched is not None:
            return False
        word, place = split.word, split.place
        pairs = [word[max(at, 0) : at + 2] for at in (place - 2, place - 1, place)]
        before, across, after = map(self._are_equal, pairs)
        if self.options.checks_triples and across and (before or after):
            return True
        return self.options.checks_case and self._has_capital(word[place - 1], word[place:])

    def _has_capital(self, left: str, rest: str) -> bool:
        chars = [left, self.casing.units(rest)[:1] or "\0"]
        if "-" in chars:
            return False
        if self.options.is_utf8:
            return any(self.casing.upper.get(char, char) == char for char in chars)
        return any(char in self.casing.lower for char in chars)

    def _last(self, split: _Split, first: Entry) -> None:
        """Try the rest of the word as a last part, then as several parts."""
        syllables, parts = split.syllables, split.parts
        self._last_root(split, first)
        split.syllables, split.parts = syllables, parts
        self._last_with_affixes(split, first)
        split.syllables, split.parts = syllables, parts
        self._more_parts(split, first)

    def _last_root(self, split: _Split, first: Entry) -> None:
        """Try the rest of the word as an entry without affixes."""
        options = self.options
        entry = next((entry for entry in self.affixed.entries(split.text[split.place :]) if self._may_end(split, entry)), None)
        entry = None if entry and self._needs_capital(split, entry) else entry
        if not entry:
            return
        if split.matched is not None and split.matched.has(split.number + 1):
            raise _Done(first)
        if options.language == "hu" and LESS in entry.flags and MORE not in entry.flags:
            split.syllables -= 1
        split.parts += _has(entry.flags, options.compound_root)
        if {options.forbidden, ONLY_UPPER} & entry.flags:
            raise _Done(None)
        if not (_has(entry.flags, options.compound) or _has(entry.flags, options.compound_end)):
            return
        syllables = split.syllables + self._syllables(entry.word)
        is_bad = not split.pattern and self._has_pattern(split, first, entry)
        if self._is_short(split, syllables) and not is_bad and not (options.checks_duplicates and entry is first):
            raise _Done(None if self._is_fault(split.word) else first)

    def _may_end(self, split: _Split, entry: Entry) -> bool:
        """Whether the flags of an entry allow it as the last part."""
        options, flags = self.options, entry.flags
        if options.needs_affix and options.needs_affix in flags:
            return False
        if split.matched is None:
            is_allowed = _has(flags, options.compound) or _has(flags, options.compound_end)
        else:
            found = split.matched.with_part(split.number + 1, entry, options.rules, is_last=True) if options.rules else None
            split.matched = found or split.matched.without(split.number + 1)
            is_allowed = found is not None
        return is_allowed and (not split.pattern or not split.pattern.right_flag or split.pattern.right_flag in flags)

    def _needs_capital(self, split: _Split, entry: Entry) -> bool:
        return _has(entry.flags, self.options.needs_capital) and not split.had_capitals

    def _is_short(self, split: _Split, syllables: int) -> bool:
        """Whether the compound has few parts or few syllables."""
        options = self.options
        if options.most_parts is None or options.most_parts == -1 or split.parts + 1 < options.most_parts:
            return True
        return options.most_syllables != 0 and syllables <= options.most_syllables

    def _last_with_affixes(self, split: _Split, first: Entry) -> None:
        """Try the rest of the word as an entry with affixes."""
        options, affixed = self.options, self.affixed
        _, rest = split.sides
        affixed.suffix, affixed.outer_flag = None, 0
        entry = affixed.with_affixes(rest, options.compound, END) if options.compound and not split.by_rules else None
        if not entry and options.compound_end and not split.by_rules:
            affixed.suffix = affixed.prefix = None
            entry = affixed.with_affixes(rest, options.compound_end, END)
        if not entry and options.rules and split.matched is not None:
            found = affixed.with_affixes(rest, 0, END)
            if found and split.matched.with_part(split.number + 1, found, options.rules, is_last=True):
                raise _Done(first)
        if entry and self._is_last_refused(split, first, entry):
            entry = None
        if entry and {options.forbidden, ONLY_UPPER} & entry.flags:
            raise _Done(None)
        if options.language == "hu":
            self._count_last_syllables(split, rest, entry)
        if not entry:
            return
        split.parts += _has(entry.flags, options.compound_root)
        if self._is_short(split, split.syllables) and not (options.checks_duplicates and entry is first):
            raise _Done(None if self._is_fault(split.word) else first)

    def _is_last_refused(self, split: _Split, first: Entry, entry: Entry) -> bool:
        if split.pattern and split.pattern.right_flag and split.pattern.right_flag not in entry.flags:
            return True
        if not split.pattern and self._has_pattern(split, first, entry):
            return True
        return self._affix_has(self.options.compound_forbid) or self._needs_capital(split, entry)

    def _count_last_syllables(self, split: _Split, rest: str, entry: Entry | None) -> None:
        """Count the syllables of the last part of a Hungarian compound, without those of a suffix without flags."""
        affixed = self.affixed
        split.syllables += self._syllables(rest) - self._syllables(affixed.plain_suffix or "") - affixed.extra_syllable
        split.parts += self._is_long_prefix()
        if self.options.counts_syllables_by_flag:
            added = {TWO_MORE: 2, MORE: 1, LESS: int(entry is not None and MORE in entry.flags)}
            split.syllables += added.get(affixed.outer_flag, 0)

    def _is_long_prefix(self) -> bool:
        return self.affixed.prefix is not None and self._syllables(self.affixed.prefix.add) > 1

    def _syllables(self, text: str) -> int:
        return sum(char in self.options.vowels for char in self.casing.units(text)) if self.options.most_syllables else 0

    def _more_parts(self, split: _Split, first: Entry) -> None:
        """Try the rest of the word as several parts."""
        if split.parts + 2 >= MAX_PARTS:
            return
        matched = split.matched.copy() if split.matched is not None else None
        rest, options = split.text[split.place :], self.options
        entry = self._search(
            rest, split.parts + 1, split.syllables, split.number + 1, matched, is_moving=False, had_capitals=split.had_capitals
        )
        if not entry or (options.patterns and self._has_pattern(split, first, entry) != (split.pattern is not None)):
            return
        if self._is_word_pair(split.word) or (options.checks_replacements and self._is_corrected(split.word)):
            raise _Done(None)
        if split.sides[1].startswith(entry.word):
            begin = split.text[: split.place + len(entry.word)]
            if (options.checks_replacements and self._is_corrected(begin)) or self._is_word_pair(begin):
                return
            same = next(iter(self.affixed.entries(split.word)), None) or self.affixed.with_affixes(split.word)
            if same and options.forbidden in same.flags and same.word.startswith(begin):
                raise _Done(None)
        raise _Done(first)

    def _has_pattern(self, split: _Split, first: Entry, other: Entry) -> bool:
        """Whether the boundary of two parts has a pattern that is refused."""
        left, right = split.sides
        return any(
            _begins_with(right, pattern.right)
            and (not pattern.left_flag or pattern.left_flag in first.flags)
            and (not pattern.right_flag or pattern.right_flag in other.flags)
            and left.endswith(first.word if pattern.left.startswith("0") else pattern.left)
            for pattern in self.options.patterns
        )

    def _is_fault(self, word: str) -> bool:
        """Whether a compound is a frequent fault, or a pair of words that is written with a space."""
        return (self.options.checks_replacements and self._is_corrected(word)) or self._is_word_pair(word)

    def _is_corrected(self, word: str) -> bool:
        """Whether a correction of the word is a word."""
        if len(word.encode(self.options.encoding, "surrogateescape")) < 2:
            return False
        for fault, correction, at_start, at_end in self.options.replacements:
            if at_start or at_end:
                continue
            places = [place for place in range(len(word)) if word.startswith(fault, place)]
            if any(self._is_word(word[:place] + correction + word[place + len(fault) :]) for place in places):
                return True
        return False

    def _is_word_pair(self, word: str) -> bool:
        """Whether the word with a space at any place is a word."""
        size = len(word.encode(self.options.encoding, "surrogateescape"))
        return size > 2 and any(self._is_word(word[:place] + " " + word[place:]) for place in range(1, len(word)))

    def _is_word(self, word: str) -> bool:
        return bool(self.affixed.entries(word) or self.affixed.with_affixes(word))


def _has(flags: frozenset[int], flag: int) -> bool:
    """Whether a flag is defined, and one of `flags`."""
    return flag != 0 and flag in flags


def _begins_with(text: str, pattern: str) -> bool:
    return len(text) >= len(pattern) and all(char in (".", other) for char, other in zip(pattern, text, strict=False))
