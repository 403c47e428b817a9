"""Sets of strings that are not yet automata: a set is a union of terms, and an automaton is made only where an operation needs one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import product
from typing import NamedTuple

import numpy as np

from fst.compile.machines.guide.languages import Language, difference, intersection, union
from fst.compile.machines.guide.lengths import edges_of, remaining
from fst.compile.machines.guide.schema import formats
from fst.compile.machines.guide.schema.patterns import anything, matching, nothing, of_length, of_strings, tree_of
from fst.compile.patterns import code_points
from fst.compile.patterns.tree import Atomic, Characters, Choice, LookAhead, LookBehind, Node, Repeat, Sequence, walk
from fst.errors import UnsupportedError

MAX_TERMS = 16  # maximum number of terms of an intersection; of more terms, those with the same bounds are joined to an automaton
MAX_BOUNDS = 256  # maximum number of terms with different bounds; more terms are joined to an automaton that counts
MAX_PAIRS = 1 << 16  # maximum number of states of an intersection of two sets of strings
MAX_COUNT = 1 << 31  # larger than any length
MAX_NAME = 64  # maximum length, in code points, of a string that is matched without an automaton
MAX_LENGTH = 1 << 12  # maximum length, in code points, that is counted by copies: where a tally does not fit
ENCODED = code_points.complement(code_points.of_runs([code_points.SURROGATES]))  # the code points that UTF-8 encodes


@dataclass(frozen=True, eq=False)
class Automaton:
    """A union of many terms, which became an automaton."""

    language: Language


@dataclass(frozen=True)
class Pattern:
    """The strings in which a pattern of JSON Schema matches, the strings of a format, or those of an automaton. See `pattern_of`."""

    text: str
    is_format: bool = False
    automaton: Automaton | None = None

    @cached_property
    def tree(self) -> Node | None:
        """The tree of whole strings; None if it would contain an assertion."""
        if self.automaton is not None:
            return None
        return formats.tree_of(self.text) if self.is_format else tree_of(self.text)

    @cached_property
    def language(self) -> Language:
        """The strings as an automaton."""
        if self.automaton is not None:
            return self.automaton.language
        return formats.of_format(self.text) if self.is_format else matching(self.text)

    @cached_property
    def has_strings(self) -> bool:
        """Whether there is such a string."""
        tree = self.tree
        sets = [node.edges for node in walk(tree) if isinstance(node, Characters)] if tree is not None else []
        if tree is not None and all(len(code_points.intersection(edges, ENCODED)) for edges in sets):
            return True
        return not self.language.is_empty

    def matches(self, text: str) -> bool:
        """Whether a string is in the set."""
        if self.tree is None or len(text) > MAX_NAME:
            return text.encode("utf-8", "surrogatepass") in self.language
        return len(text) in _ends(self.tree, text, {0})


@lru_cache(maxsize=1 << 10)
def pattern_of(text: str, *, is_format: bool = False) -> Pattern:
    """A pattern, which is parsed; errors are those of the parser."""
    found = Pattern(text, is_format)
    _ = found.tree
    return found


def _ends(node: Node, text: str, starts: set[int]) -> set[int]:
    """The places in a text where a match of a node ends that begins at one of some places."""
    if isinstance(node, Characters):
        edges = node.edges.tolist()
        return {place + 1 for place in starts if place < len(text) and bisect_right(edges, ord(text[place])) % 2}
    if isinstance(node, Sequence):
        return reduce(lambda places, part: _ends(part, text, places) if places else places, node.parts, starts)
    if isinstance(node, Choice):
        return {place for part in node.parts for place in _ends(part, text, starts)}
    assert isinstance(node, Repeat)
    found = starts if node.least == 0 else set[int]()
    count, seen = 0, {frozenset(starts)}
    while starts and count != node.most:
        starts, count = _ends(node.body, text, starts), count + 1
        if count >= node.least:
            found = found | starts
            if frozenset(starts) in seen and node.most is None:
                break
            seen.add(frozenset(starts))
    return found


def lengths(node: Node) -> tuple[int, int | None]:
    """The smallest and the largest length of the texts of a tree without assertions, in characters; None: no bound."""
    if isinstance(node, Characters):
        return 1, 1
    if isinstance(node, Repeat):
        least, most = lengths(node.body)
        return least * node.least, 0 if most == 0 or node.most == 0 else None if node.most is None or most is None else most * node.most
    assert isinstance(node, Sequence | Choice)
    if not node.parts:
        return 0, 0
    found = [lengths(part) for part in node.parts]
    longest = [most for _, most in found if most is not None]
    is_bounded = len(longest) == len(found)
    if isinstance(node, Choice):
        return min(least for least, _ in found), max(longest) if is_bounded else None
    return sum(least for least, _ in found), sum(longest) if is_bounded else None


class Strings(NamedTuple):
    """A term: the strings of a list; or the strings of all patterns and of no excluded pattern, with certain lengths, that are not listed.

    Attributes:
        listed: the strings of the list; None: the other attributes count.
        patterns, excluded: patterns.
        least, most: the bounds of the length, in code points; None: no bound.
        without: strings that are not in the set.
    """

    listed: frozenset[str] | None = None
    patterns: tuple[Pattern, ...] = ()
    excluded: tuple[Pattern, ...] = ()
    least: int = 0
    most: int | None = None
    without: frozenset[str] = frozenset()

    def has(self, text: str) -> bool:
        """Whether a string is in the set."""
        if self.listed is not None:
            return text in self.listed
        return (
            text not in self.without
            and self.least <= len(text)
            and (self.most is None or len(text) <= self.most)
            and all(each.matches(text) for each in self.patterns)
            and not any(each.matches(text) for each in self.excluded)
        )

    @property
    def is_empty(self) -> bool:
        """Whether the set contains no string."""
        if self.listed is not None:
            return not self.listed
        if self.most is not None and self.least > self.most:
            return True
        if not self.patterns and not self.excluded:
            return self.most == 0 and "" in self.without  # there are more strings of one character than `without` can list
        if len(self.patterns) == 1 and not self.excluded and not self.without:
            is_within = self._is_within(self.patterns[0])
            if is_within is not None:
                return not is_within
        return counted(self).is_empty

    def _is_within(self, pattern: Pattern) -> bool | None:
        """Whether a string of a pattern has a length of the term; None: not known."""
        if not self.least and self.most is None:
            return pattern.has_strings
        if pattern.tree is None or not pattern.has_strings:
            return None
        least, most = lengths(pattern.tree)
        if (most is not None and most < self.least) or (self.most is not None and self.most < least):
            return False
        upper = MAX_COUNT if self.most is None else self.most
        if self.least <= least <= upper or (most is None and self.most is None):
            return True
        return True if most is not None and self.least <= most <= upper else None

    @property
    def language(self) -> Language:
        """The automaton of the set."""
        return _language(self)

    def but(self, texts: Iterable[str]) -> Strings:
        """The set without some strings."""
        if self.listed is not None:
            return Strings(self.listed.difference(texts))
        inside = [text for text in texts if self.has(text)]
        return self._replace(without=self.without.union(inside)) if inside else self


EVERY = Strings()
ALL: tuple[Strings, ...] = (EVERY,)  # the set of all strings


def listed(texts: Iterable[str]) -> tuple[Strings, ...]:
    """The set of the strings of a list."""
    found = frozenset(texts)
    return (Strings(found),) if found else ()


def _both(one: Strings, other: Strings) -> Strings:
    if one is EVERY or other is EVERY:
        return other if one is EVERY else one
    if one.listed is not None or other.listed is not None:
        few, more = (one, other) if one.listed is not None else (other, one)
        assert few.listed is not None
        return Strings(frozenset(text for text in few.listed if more.has(text)))
    most = one.most if other.most is None else other.most if one.most is None else min(one.most, other.most)
    return Strings(
        None,
        tuple(dict.fromkeys(one.patterns + other.patterns)),
        tuple(dict.fromkeys(one.excluded + other.excluded)),
        max(one.least, other.least),
        most,
        one.without | other.without,
    )


def _kept(terms: Iterable[Strings]) -> tuple[Strings, ...]:
    """The terms that are not plainly empty, each once."""
    found = dict.fromkeys(each for each in terms if each.listed != frozenset() and (each.most is None or each.least <= each.most))
    if EVERY in found:
        return ALL
    lists = [each.listed for each in found if each.listed is not None]
    if len(lists) > 1:
        return (Strings(frozenset().union(*lists)), *(each for each in found if each.listed is None))
    return tuple(found)


def both(first: tuple[Strings, ...], second: tuple[Strings, ...]) -> tuple[Strings, ...]:
    """The strings that are in both sets."""
    if first is ALL or second is ALL:
        return second if first is ALL else first
    if len(first) * len(second) > MAX_TERMS:
        first, second = _joined(first), _joined(second)
    if len(first) * len(second) > MAX_BOUNDS:
        first, second = (_of_language(language_of(first)),), (_of_language(language_of(second)),)
    return _kept(_both(one, other) for one, other in product(first, second))


def _joined(terms: tuple[Strings, ...]) -> tuple[Strings, ...]:
    """A set as one term for all terms with the same bounds of the length."""
    groups: dict[tuple[int, int | None], list[Strings]] = {}
    for each in terms:
        groups.setdefault((each.least, each.most), []).append(each)
    return tuple(_one(*group) for group in groups.values())


def _one(*terms: Strings) -> Strings:
    """The union of terms with the same bounds of the length."""
    if len(terms) == 1:
        return terms[0]
    found = _of_language(language_of(tuple(each._replace(least=0, most=None) for each in terms)))
    return found._replace(least=terms[0].least, most=terms[0].most)


def _of_language(language: Language) -> Strings:
    return Strings(patterns=(Pattern("", automaton=Automaton(language)),))


def either(first: tuple[Strings, ...], second: tuple[Strings, ...]) -> tuple[Strings, ...]:
    """The strings that are in either set."""
    return ALL if first is ALL or second is ALL else _kept(first + second)


def complement(terms: tuple[Strings, ...]) -> tuple[Strings, ...]:
    """The strings that are not in a set."""
    return reduce(both, map(_others, terms), ALL)


def _others(term: Strings) -> tuple[Strings, ...]:
    if term.listed is not None:
        return (Strings(without=term.listed),)
    found = [*listed(term.without), *(Strings(excluded=(each,)) for each in term.patterns)]
    found += [Strings(patterns=(each,)) for each in term.excluded]
    if term.least:
        found.append(Strings(most=term.least - 1))
    if term.most is not None:
        found.append(Strings(least=term.most + 1))
    return _kept(found)


def has(terms: tuple[Strings, ...], text: str) -> bool:
    """Whether a set contains a string."""
    return terms is ALL or any(each.has(text) for each in terms)


def is_empty(terms: tuple[Strings, ...]) -> bool:
    """Whether a set contains no string."""
    return all(each.is_empty for each in terms)


class Counted(NamedTuple):
    """The strings of a language with a number of characters that a tally can count: as long as another character is counted only if the
    string can be completed with at most `most` characters, it can be completed with at least `least`.

    Attributes:
        language: the language.
        least, most: the bounds of the length, in code points; None: no bound.
        shortest: the smallest number of characters from each state of the language on; empty without bounds.
    """

    language: Language
    least: int
    most: int | None
    shortest: dict[int, int]

    @property
    def is_empty(self) -> bool:
        """Whether the set contains no string."""
        return self.language.is_empty or (self.most is not None and self.most < self.shortest[0])


@lru_cache(maxsize=1 << 10)
def counted(term: Strings) -> Counted:
    """The strings of a term that is no list. States of the language count the least length only where a tally cannot count it."""
    language = _language(term._replace(least=0, most=None))
    if not term.least and term.most is None:
        return Counted(language, 0, None, {})
    shortest = _remaining(language, term.least, term.most)
    if shortest is not None:
        return Counted(language, term.least, term.most, shortest)
    language = _language(term._replace(most=None))
    shortest = _remaining(language, 0, term.most)
    assert shortest is not None, "a least length of 0 makes no position dead"
    return Counted(language, 0, term.most, shortest)


def _remaining(language: Language, least: int, most: int | None) -> dict[int, int] | None:
    return remaining(edges_of(language), 0, np.flatnonzero(language.is_final).tolist(), least, most)


@lru_cache(maxsize=1 << 10)
def _language(term: Strings) -> Language:
    if term.listed is not None:
        return of_strings(sorted(term.listed)) if term.listed else nothing()
    if term.least or term.most is not None:
        copies = max(term.least, term.most or 0)
        if copies > MAX_LENGTH:
            raise UnsupportedError(
                f"a length of {copies:,} is combined with a pattern whose strings are counted by copies; expected at most {MAX_LENGTH:,}"
            )
        if term.most is not None and term.most < term.least:
            return nothing()
        found = _language(term._replace(least=0, most=None))
        return intersection(found, of_length(term.least, term.most), MAX_PAIRS)
    if term.without:
        encoded = [text for text in term.without if is_encoded(text)]  # no language has other strings
        without = [text for text in encoded if all(each.matches(text) for each in term.patterns)]
        found = _language(term._replace(without=frozenset()))
        return difference(found, of_strings(sorted(without)), MAX_PAIRS) if without else found
    if term.excluded:  # terms that begin with the same patterns share their automata
        found = _language(term._replace(excluded=term.excluded[:-1]))
        return found if found.is_empty else difference(found, term.excluded[-1].language, MAX_PAIRS)
    if len(term.patterns) > 1:
        return intersection(_language(term._replace(patterns=term.patterns[:-1])), term.patterns[-1].language, MAX_PAIRS)
    return term.patterns[0].language if term.patterns else anything()


def is_encoded(text: str) -> bool:
    """Whether a string has bytes in UTF-8, because it has no half of a surrogate pair."""
    return text.isascii() or all(not 0xD800 <= ord(char) <= 0xDFFF for char in text)


def language_of(terms: tuple[Strings, ...]) -> Language:
    """The automaton of a set."""
    return reduce(union, (each.language for each in terms)) if terms else nothing()


def has_assertion(node: Node) -> bool:
    """Whether a tree contains an assertion or an atomic group."""
    return any(isinstance(part, LookAhead | LookBehind | Atomic) for part in walk(node))
