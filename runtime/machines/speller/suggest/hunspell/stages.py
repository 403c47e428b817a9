"""The stages of Hunspell's search for suggestions of a word in one case [SuggestMgr::suggest]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from fst.automata.rows import Array
from fst.machines.speller.hints import Hints
from fst.machines.speller.layout import CANDIDATES, COMPOUNDS
from fst.runtime.machines.speller.suggest.hunspell import edits
from fst.runtime.machines.speller.suggest.hunspell.letters import Letters

MOST, MOST_COMPOUNDS = 15, 3  # maximum number of suggestions, and the default of compounds
Check = Callable[[Sequence[str], int], Array]  # checks words in a mode


@dataclass
class Found:
    """The suggestions so far.

    Attributes:
        texts: the suggestions.
        is_good: whether a stage found a suggestion that makes a search by similarity needless.
        has_others: whether suggestions were found that may be bad.
    """

    texts: list[str] = field(default_factory=list)
    is_good: bool = False
    has_others: bool = False


class Stages:
    """The stages for a word; answers for candidates are kept.

    Args:
        hints: the options of suggestions.
        letters: the case of letters.
        encoding: the encoding of the dictionary.
        check: checks words in a mode.
    """

    def __init__(self, hints: Hints, letters: Letters, encoding: str, check: Check) -> None:
        self._hints, self._letters, self._encoding, self._check = hints, letters, encoding, check
        self._known: dict[tuple[str, int], bool] = {}
        self.uses_hyphens = "-" in hints.tried or "a" in hints.tried
        self._most_compounds = MOST_COMPOUNDS if hints.most_compounds is None else hints.most_compounds

    def are_accepted(self, words: Iterable[str], mode: int) -> list[bool]:
        """Whether each word is accepted in a mode."""
        listed = [*words]
        asked = [word for word in dict.fromkeys(listed) if (word, mode) not in self._known]
        if asked:
            self._known.update(zip(((word, mode) for word in asked), self._check(asked, mode).tolist(), strict=True))
        return [self._known[word, mode] for word in listed]

    def is_accepted(self, word: str, mode: int = CANDIDATES) -> bool:
        """Whether a word is accepted in a mode."""
        return self.are_accepted([word], mode)[0]

    def run(self, found: Found, word: str) -> None:
        """Add the suggestions for a word."""
        texts, before = found.texts, len(found.texts)
        is_good, is_simple = False, False
        for mode in (CANDIDATES, COMPOUNDS):
            start = len(texts)
            self._add(texts, [self._letters.raised(word)], mode)
            is_good |= len(texts) > start
            if self._is_open(texts, start, mode):
                size = len(texts)
                self._correct_faults(texts, word, mode)
                is_good |= len(texts) > size
            if self._is_open(texts, start, mode) and len(word.encode(self._encoding, "replace")) > 1:
                self._add(texts, edits.with_similar(word, self._hints.similar), mode)
            is_simple |= mode == CANDIDATES and len(texts) > before
            for candidates in self._edits(word):
                if self._is_open(texts, start, mode):
                    self._add(texts, candidates, mode)
            if mode == CANDIDATES or (not self._hints.never_splits and len(texts) < start + self._most_compounds):
                is_good = self._split(texts, word, mode, is_good=is_good)
            if is_simple or is_good:
                break
        found.has_others |= not is_simple and bool(texts)
        found.is_good |= is_good

    def _is_open(self, texts: list[str], start: int, mode: int) -> bool:
        """Whether more suggestions are allowed."""
        return len(texts) < MOST and (mode == CANDIDATES or len(texts) < start + self._most_compounds)

    def _edits(self, word: str) -> Iterator[Iterable[str]]:
        """The candidates of each stage of edits."""
        hints = self._hints
        yield edits.exchanged(word)
        yield edits.exchanged_far(word)
        yield edits.by_keyboard(word, hints.keyboard, self._letters.capital)
        yield edits.without_one(word)
        yield edits.with_one_more(word, hints.tried)
        yield edits.with_moved(word)
        yield edits.with_other(word, hints.tried)
        yield edits.without_repetition(word) if len(word) >= 5 else ()

    def _add(self, texts: list[str], candidates: Iterable[str], mode: int) -> None:
        """Add the candidates that are accepted."""
        listed = [*candidates] if len(texts) < MOST else []
        for candidate, is_accepted in zip(listed, self.are_accepted(listed, mode), strict=True):
            if is_accepted and len(texts) < MOST and candidate not in texts:
                texts.append(candidate)

    def _correct_faults(self, texts: list[str], word: str, mode: int) -> None:
        """Add corrections of frequent faults (REP). A correction may contain spaces between words."""
        if len(word.encode(self._encoding, "replace")) < 2:
            return
        for fault, correction, bounds in self._hints.faults:
            place = word.find(fault) if correction else -1
            while place >= 0:
                end = place + len(fault)
                if (not bounds & 1 or place == 0) and (not bounds & 2 or end == len(word)):
                    self._add_correction(texts, word[:place] + correction + word[end:], mode)
                place = word.find(fault, place + 1)

    def _add_correction(self, texts: list[str], candidate: str, mode: int) -> None:
        self._add(texts, [candidate], mode)
        before, space = 0, candidate.find(" ")
        while space >= 0:
            if self.is_accepted(candidate[before:space]):
                size = len(texts)
                self._add(texts, [candidate[space + 1 :]], mode)
                texts[size:] = [candidate] * (len(texts) - size)
            before, space = space + 1, candidate.find(" ", space + 1)

    def _split(self, texts: list[str], word: str, mode: int, *, is_good: bool) -> bool:
        """Add pairs of words; return whether an entry is such a pair, or `is_good`."""
        if len(word.encode(self._encoding, "replace")) < 3:
            return False
        places = range(1, len(word))
        signs = (" ", "-") if self.uses_hyphens else (" ",)
        if mode == CANDIDATES:
            self.are_accepted([word[:at] + sign + word[at:] for at in places for sign in signs], mode)
        self.are_accepted([part for at in places for part in (word[:at], word[at:])], mode)
        for at in places:
            left, right = word[:at], word[at:]
            for pair in [left + sign + right for sign in signs if mode == CANDIDATES]:
                if self.is_accepted(pair, mode):
                    if not is_good:
                        is_good = True
                        texts.clear()
                    texts.insert(0, pair)
            if len(texts) < MOST and not self._hints.never_splits and not is_good and all(self.are_accepted((left, right), mode)):
                self._add_pair(texts, left, right)
        return is_good

    def _add_pair(self, texts: list[str], left: str, right: str) -> None:
        """Add two words, with a space and with a hyphen."""
        is_new = f"{left} {right}" not in texts
        if is_new:
            texts.append(f"{left} {right}")
        if self.uses_hyphens and min(len(left), len(right)) > 1:
            is_new &= f"{left}-{right}" not in texts
            if is_new and len(texts) < MOST:
                texts.append(f"{left}-{right}")
