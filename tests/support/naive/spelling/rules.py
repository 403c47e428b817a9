"""Rules of compounds (COMPOUNDRULE) as Hunspell 1.7 matches them.

For all parts of a compound, the match is that of a regular expression whose characters are flags. For the first parts, it is the same
search, which may accept parts with which no compound begins; such parts hide later homonyms, so the search is defined here by its steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fst.compile.sources.transducers.hunspell.words import Entry

STAR, QUESTION = ord("*"), ord("?")
Rule = tuple[int, ...]


class Parts:
    """The parts of a compound that match a rule, by their number."""

    def __init__(self, entries: dict[int, Entry] | None = None) -> None:
        self._entries = entries or {}

    def copy(self) -> Parts:
        """A copy, which changes independently."""
        return Parts(dict(self._entries))

    def has(self, number: int) -> bool:
        """Whether there is a part with a number."""
        return number in self._entries

    def without(self, number: int) -> Parts:
        """The parts without one part."""
        return Parts({other: entry for other, entry in self._entries.items() if other != number})

    def with_part(self, number: int, entry: Entry, rules: Sequence[Rule], *, is_last: bool) -> Parts | None:
        """The parts up to a new part, if they match a rule; None: they match none.

        Args:
            number: the number of the new part; parts before it that are absent match no flag.
            entry: its entry.
            rules: the rules.
            is_last: whether the new part is the last one; otherwise the parts must match the beginning of a rule.
        """
        found = Parts({**self._entries, number: entry})
        flags = [found._entries[place].flags if place in found._entries else frozenset() for place in range(number + 1)]
        if not any(flag in entry.flags and flag not in (STAR, QUESTION) for rule in rules for flag in rule):
            return None
        return found if any(_Match(rule, flags).holds(is_last=is_last) for rule in rules) else None


class _Match:
    """The search for a match of a rule; `flags`: the flags of each part."""

    def __init__(self, rule: Rule, flags: list[frozenset[int]]) -> None:
        self._rule, self._flags = rule, flags
        self._at = self._part = 0  # the place in the rule, and the number of matched parts
        self._fits = self._ends = True
        self._choices: list[list[int]] = []  # for each repeated flag: the place after it, the first part, and the number of its parts

    def holds(self, *, is_last: bool) -> bool:
        """Whether the parts match the rule, or its beginning."""
        while True:
            while self._at < len(self._rule) and self._part < len(self._flags):
                if not self._step():
                    break
            if self._fits and self._ends and self._skipped() >= len(self._rule):
                return True
            if not self._back():
                break
        if not (self._fits and self._ends):
            return False
        return not is_last or self._at >= len(self._rule) or self._skipped() >= len(self._rule)

    def _step(self) -> bool:
        """Match the next flag of the rule; False: the search at this point ends."""
        rule, at = self._rule, self._at
        if not self._is_repeated(at):
            self._ends = True
            if rule[at] not in self._flags[self._part]:
                self._fits = False
                return False
            self._at, self._part = at + 1, self._part + 1
            if self._at == len(rule) and self._part < len(self._flags):
                self._fits = False
            return True
        first, most = self._part, len(self._flags) if rule[at + 1] == STAR else self._part + 1
        while self._part < most and rule[at] in self._flags[self._part]:
            self._part += 1
        self._at = at + 2
        self._ends = self._part == len(self._flags)
        if self._part > first:
            self._choices.append([self._at, first, self._part - first])
        return not self._ends

    def _back(self) -> bool:
        """Return to the last repeated flag, with one part less; False: there is none."""
        while self._choices:
            choice = self._choices[-1]
            choice[2] -= 1
            self._fits = True
            self._at, self._part = choice[0], choice[1] + choice[2]
            if choice[2] >= 0:
                return True
            self._choices.pop()
        return False

    def _is_repeated(self, at: int) -> bool:
        return at + 1 < len(self._rule) and self._rule[at + 1] in (STAR, QUESTION)

    def _skipped(self) -> int:
        """The place in the rule after flags that may be absent."""
        at = self._at
        while self._is_repeated(at):
            at += 2
        return at
