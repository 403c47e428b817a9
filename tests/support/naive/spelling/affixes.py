"""Words with affixes, as Hunspell 1.7 finds them: affixes are removed in a fixed order, and the first entry that allows them is found.

Some rules of compounds depend on the affixes that were removed last, so these are attributes, which later searches overwrite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fst.compile.sources.transducers.hunspell.affixes import Affix
    from fst.compile.sources.transducers.hunspell.files import Dictionary
    from fst.compile.sources.transducers.hunspell.words import Entry

WORD, BEGIN, END, OTHER = range(4)  # the place of a part in a compound; `WORD`: no compound


class Affixed:
    """Finds the entries of words with affixes.

    Attributes:
        prefix, suffix: the affixes that were removed last; None: none.
        outer_flag: the flag of the suffix that was removed last.
        plain_suffix: the string of a suffix without flags that was removed.
        extra_syllable: whether a Hungarian suffix on "i" was removed.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.options = dictionary.options
        self.homonyms = dictionary.homonyms()
        self.prefix: Affix | None = None
        self.suffix: Affix | None = None
        self.outer_flag, self.extra_syllable = 0, False
        self.plain_suffix: str | None = None
        self._has_two = dictionary.has_two_affixes
        self._inner = {flag for affix in (*dictionary.prefixes, *dictionary.suffixes) for flag in affix.flags}
        self._prefixes = _Strings([(affix.add, affix) for affix in dictionary.prefixes], self.options.encoding)
        self._suffixes = _Strings([(affix.add[::-1], affix) for affix in dictionary.suffixes], self.options.encoding)

    def entries(self, word: str) -> list[Entry]:
        """The entries of a word without affixes."""
        return self.homonyms.get(word, [])

    def with_affixes(self, word: str, needed: int = 0, place: int = WORD) -> Entry | None:
        """The entry of a word with one or several affixes.

        Args:
            word: the word.
            needed: a flag that the entry or an affix must have; 0: none.
            place: the place of the word in a compound.
        """
        found = self.with_prefix(word, place, needed)
        if found:
            return found
        found = self.with_suffix(word, None, 0, needed, place)
        if not self._has_two:
            return found
        self.prefix = self.suffix = None
        return found or self.with_two_suffixes(word, None, needed) or self._with_prefix_and_two_suffixes(word, needed)

    def with_prefix(self, word: str, place: int, needed: int) -> Entry | None:
        """The entry of a word with a prefix, and possibly a suffix."""
        self.prefix = self.plain_suffix = None
        self.extra_syllable = False
        for prefix in self._prefixes.matching(word):
            if place == WORD and self.options.only_in_compound in prefix.flags:
                continue
            if place == END and self.options.compound_permit not in prefix.flags:
                continue
            found = self._without_prefix(prefix, word, place, needed)
            if found:
                self.prefix = prefix
                return found
        return None

    def _without_prefix(self, prefix: Affix, word: str, place: int, needed: int) -> Entry | None:
        stem = self._stem_of_prefix(prefix, word)
        if stem is None:
            return None
        for entry in self.entries(stem):
            allows = not needed or needed in entry.flags | prefix.flags
            if prefix.flag in entry.flags and self.options.needs_affix not in prefix.flags and allows:
                return entry
        return self.with_suffix(stem, prefix, 0, needed, place) if prefix.crosses else None

    def _with_prefix_and_two_suffixes(self, word: str, needed: int) -> Entry | None:
        self.prefix = self.plain_suffix = None
        self.extra_syllable = False
        for prefix in self._prefixes.matching(word):
            stem = self._stem_of_prefix(prefix, word)
            if stem is not None and prefix.crosses and self._is_long(prefix, stem):
                found = self.with_two_suffixes(stem, prefix, needed)
                if found:
                    self.prefix = prefix if prefix.add else self.prefix
                    return found
        return None

    def with_suffix(self, word: str, prefix: Affix | None, outer: int, needed: int, place: int) -> Entry | None:
        """The entry of a word with a suffix.

        Args:
            word: the word, without the prefix.
            prefix: a prefix that was removed; it and the suffix must allow each other.
            outer: the flag of a suffix that was removed; the suffix must have this flag.
            needed: a flag that the entry or the suffix must have; 0: none.
            place: the place of the word in a compound.
        """
        for suffix in self._suffixes.matching(word[::-1]):
            if not self._is_allowed(suffix, prefix, outer, place):
                continue
            found = self._without_suffix(suffix, word, prefix, outer, needed, place)
            if found:
                self.suffix = suffix
                if suffix.add:
                    self._remember(suffix)
                    self.extra_syllable |= bool(suffix.flags) and self._adds_syllable(suffix)
                return found
        return None

    def _is_allowed(self, suffix: Affix, prefix: Affix | None, outer: int, place: int) -> bool:
        """Whether the flags of a suffix allow it at this place, and after this prefix."""
        options = self.options
        permits = options.compound_permit and options.compound_permit in suffix.flags
        if place == BEGIN and not permits:
            return False
        if options.circumfix and (options.circumfix in suffix.flags) != (prefix is not None and options.circumfix in prefix.flags):
            return False
        if options.only_in_compound in suffix.flags and (place == WORD or (place == END and not prefix and suffix.add)):
            return False
        return bool(outer) or options.needs_affix not in suffix.flags or (prefix is not None and options.needs_affix not in prefix.flags)

    def _without_suffix(self, suffix: Affix, word: str, prefix: Affix | None, outer: int, needed: int, place: int) -> Entry | None:
        stem = self._stem_of_suffix(suffix, word)
        if stem is None or (prefix and not suffix.crosses):
            return None
        for entry in self.entries(stem):
            if suffix.flag not in entry.flags and not (prefix and suffix.flag in prefix.flags):
                continue
            if prefix and prefix.flag not in entry.flags | suffix.flags:
                continue
            if outer and outer not in suffix.flags:
                continue
            if place == WORD and self.options.only_in_compound and self.options.only_in_compound in entry.flags:
                continue
            if not needed or needed in entry.flags | suffix.flags:
                return entry
        return None

    def with_two_suffixes(self, word: str, prefix: Affix | None, needed: int) -> Entry | None:
        """The entry of a word with two suffixes, of which the inner one has the flag of the outer one."""
        for suffix in self._suffixes.matching(word[::-1]):
            if suffix.flag not in self._inner or (prefix and not suffix.crosses):
                continue
            stem = self._stem_of_suffix(suffix, word)
            if stem is None:
                continue
            inner = None if prefix and prefix.flag in suffix.flags else prefix
            found = self.with_suffix(stem, inner, suffix.flag, needed, WORD)
            if found:
                if suffix.add:
                    self._remember(suffix)
                return found
        return None

    def _remember(self, suffix: Affix) -> None:
        self.outer_flag = suffix.flag
        if not suffix.flags:
            self.plain_suffix = suffix.add

    def _adds_syllable(self, suffix: Affix) -> bool:
        return self.options.language == "hu" and suffix.add[-1] == "i" and suffix.add[-2:-1] not in ("y", "t")

    def _stem_of_prefix(self, prefix: Affix, word: str) -> str | None:
        rest = word[len(prefix.add) :]
        stem = prefix.strip + rest
        return stem if (rest or self.options.strips_entire_words) and prefix.fits(stem) else None

    def _stem_of_suffix(self, suffix: Affix, word: str) -> str | None:
        rest = word[: len(word) - len(suffix.add)]
        stem = rest + suffix.strip
        return stem if (rest or self.options.strips_entire_words) and suffix.fits(stem[::-1]) else None

    def _is_long(self, prefix: Affix, stem: str) -> bool:
        """Whether a word has as many bytes as a condition has parts; a part of one character of three bytes counts as two."""
        parts = sum(1 + (len(part.chars) == 1 and not part.is_negated and min(part.chars) >= "\u0800") for part in prefix.condition)
        return len(stem.encode(self.options.encoding, "surrogateescape")) >= parts


class _Strings:
    """The affixes of one side by their strings from the edge of the word."""

    def __init__(self, affixes: list[tuple[str, Affix]], encoding: str) -> None:
        self._last = "\x7f" if encoding == "utf-8" else "\U0010ffff"
        self._encoding = encoding
        self._affixes: dict[str, list[Affix]] = {}
        for text, affix in reversed(affixes):
            self._affixes.setdefault(text, []).append(affix)
        self._patterns = [text for text in self._affixes if "." in text]

    def matching(self, edge: str) -> list[Affix]:
        """The affixes with which a word begins, in the order in which Hunspell tries them: that of their bytes; of equal affixes, the last
        one is the first. A "." in an affix is any character of one byte, except as the first character.
        """
        texts = {edge[:end] for end in range(len(edge) + 1)} & self._affixes.keys()
        texts |= {text for text in self._patterns if self._fits(text, edge)}
        in_order = sorted(texts, key=lambda text: text.encode(self._encoding, "surrogateescape"))
        return [affix for text in in_order for affix in self._affixes[text]]

    def _fits(self, text: str, edge: str) -> bool:
        if len(edge) < len(text) or text[0] != edge[0]:
            return False
        return all(char == other or (char == "." and other <= self._last) for char, other in zip(text, edge, strict=False))
