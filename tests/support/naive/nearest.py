"""The nearest words of a small dictionary of Hunspell, from a list of all its forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fst.compile.sources.transducers.hunspell.affixes import Affix
from fst.compile.sources.transducers.hunspell.files import Dictionary
from fst.machines.speller.nearest import BUDGETS, JOIN, REPLACEMENT, distance


class Forms:
    """All correct words that prefixes and suffixes make of the words of a dictionary, and compounds of two of them.

    Attributes:
        words: the number of boundaries of each word, the least of all ways to make it.
    """

    def __init__(self, dictionary: Dictionary, check: Callable[[str], bool]) -> None:
        self._dictionary, self._check, hidden = dictionary, check, dictionary.options.not_suggested
        single = [form for entry in dictionary.entries if hidden not in entry.flags for form in self._forms(entry.word, entry.flags)]
        self.words = {one + other: 1 for one in single for other in single} if dictionary.options.has_compounds else {}
        self.words |= dict.fromkeys(single, 0)
        self.words = {word: joins for word, joins in self.words.items() if check(word)}

    def _forms(self, word: str, flags: frozenset[int]) -> Iterator[str]:
        suffixed = [word, *(form for form, _ in self._suffixed(word, flags))]
        suffixed += [form for one, more in self._suffixed(word, flags) for form, _ in self._suffixed(one, more)]
        yield from suffixed
        for prefix in self._dictionary.prefixes:
            if prefix.flag in flags:
                yield from (prefix.add + form[len(prefix.strip) :] for form in suffixed if form.startswith(prefix.strip))

    def _suffixed(self, word: str, flags: frozenset[int]) -> list[tuple[str, frozenset[int]]]:
        fitting = (suffix for suffix in self._dictionary.suffixes if suffix.flag in flags and suffix.fits(word[::-1]))
        return [(_with(word, suffix), suffix.flags) for suffix in fitting]

    def nearest(
        self,
        word: str,
        costs: Mapping[tuple[str, str], int],
        replacements: Sequence[tuple[str, str]],
    ) -> list[tuple[int, str]]:
        """The distances and texts of the correct words that are near enough; strings whose lengths differ much are not."""
        cases: list[tuple[str, Callable[[str], str]]] = [(word, str)]
        if word != word.lower() and word == word.upper():
            cases.append((word.lower(), str.upper))
        if word != word.lower() and word[1:] == word.lower()[1:]:
            cases.append((word.lower(), lambda text: text[:1].upper() + text[1:]))
        found = dict[str, int]()
        for form, restored in cases:
            near = (each for each in self.words.items() if REPLACEMENT * abs(len(each[0]) - len(form)) <= BUDGETS[-1])
            for other, joins in near:
                cost = distance(form, other, costs, replacements) + JOIN * joins
                text = restored(other)
                if cost <= BUDGETS[-1] and text != word and self._check(text):
                    found[text] = min(cost, found.get(text, cost))
        return sorted((cost, text) for text, cost in found.items()) if word else []


def _with(word: str, suffix: Affix) -> str:
    return word[: len(word) - len(suffix.strip)] + suffix.add
