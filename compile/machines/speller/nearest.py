"""The words of a dictionary of Hunspell as one automaton, for the search of near words (`fst.machines.speller.nearest`).

The automaton reads every word that affixes derive from an entry, and compounds of such words; and some strings that are no words, which the
search checks. It is a set of acyclic parts, each with a root:

- the main root reads prefixes and entries; after a prefix, the root of its flag and of the characters that it strips reads the entries with
  this flag;
- an entry is split before the longest string that one of its suffixes strips. The end of the entry and its suffixes are a part of their own
  (`_ending`), which all entries with the same end and the same suffixes share. If there are many suffixes, this part refers to a part for
  each flag, which entries with other flags share, too;
- after a word that may begin a compound, the main root reads the next word.

Words with characters from `PART` on, such as rare CJK ideographs, are left out, because these characters have another meaning here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby, pairwise
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import Strings, build
from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.forms.minimize import merge_states
from fst.compile.sources.transducers.hunspell.affixes import Affix
from fst.compile.sources.transducers.hunspell.casing import Casing
from fst.compile.sources.transducers.hunspell.endings import by_flag
from fst.compile.sources.transducers.hunspell.files import Dictionary
from fst.compile.sources.transducers.hunspell.flags import ONLY_UPPER, Flags
from fst.compile.sources.transducers.hunspell.matches import ByEnding, Matches
from fst.errors import UnsupportedError
from fst.machines.speller.nearest import CASE, END, FIRST_LABEL, JOIN_LABEL, KEY, SIMILAR
from fst.tables.strings import stored

JOIN = "\U000f0000"  # in place of a character at the end of a string: a compound goes on at the main root
PART = 0x30000  # ``PART + k`` at the end of a string: it goes on at the root of part k; at the beginning: the string belongs to part k
MAX_PARTS = 0xC0000
MAX_CHARACTERS = 1 << 24  # maximum number of characters of all strings
MAX_SUFFIXES = 3 << 22  # maximum number of suffixes that are tried; Debian's Korean dictionary takes 7.9 million
MOST_TOGETHER = 1 << 9  # maximum number of suffixes of several flags in one part
LEVELS = 2  # the number of suffixes of a word

_Rule = tuple[int, str, Flags]  # the number of characters that a suffix strips, its addition, and its flags


class _Rules(NamedTuple):
    """Suffixes that the words with some end take.

    Attributes:
        number: the number of this list of suffixes.
        each: the suffixes.
        strip: the largest number of characters that one of them strips.
        flags: the flags of all of them.
    """

    number: int
    each: tuple[_Rule, ...]
    strip: int
    flags: Flags


class WordStrings:
    """The strings of the parts, from which the automaton is made.

    Attributes:
        strings: the strings, each with the character of its part before it.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        options = dictionary.options
        self.strings: list[str] = []
        self._characters = self._tried = 0
        prefixes, suffixes = ([affix for affix in some if _is_readable(affix.add)] for some in (dictionary.prefixes, dictionary.suffixes))
        self._suffixes = {flag: (Matches(some, self._take), ByEnding[_Rules]()) for flag, some in by_flag(suffixes).items()}
        self._strips = {flag: _by_size({prefix.strip for prefix in some}) for flag, some in by_flag(prefixes).items()}
        rules = {item for rule in options.rules for item in rule}
        self._joining = frozenset({options.compound, options.compound_begin, options.compound_middle, *rules} - {0})
        self._parts: dict[tuple[object, ...], str] = {("main",): chr(PART)}
        self._rules: dict[tuple[_Rule, ...], _Rules] = {}
        self._possible: dict[tuple[int, str], _Rules] = {}
        self._unions: dict[tuple[int, ...], _Rules] = {}
        hidden = frozenset({options.forbidden, options.not_suggested, ONLY_UPPER} - {0})
        self._add_prefixes(prefixes)
        for entry in dictionary.entries:
            if entry.word and _is_readable(entry.word) and hidden.isdisjoint(entry.flags):
                self._add_entry(entry.word, entry.flags)

    def _add_prefixes(self, prefixes: Iterable[Affix]) -> None:
        for prefix in prefixes:
            self._add(chr(PART), prefix.add + self._root(("prefix", prefix.flag, prefix.strip)))

    def _add_entry(self, word: str, flags: Flags) -> None:
        """Add an entry to the main root, and to the roots of its prefixes."""
        rules = self._rules_of(word, flags, is_whole=True)
        string = self._ended(word, self._joins(flags), rules, 1)
        self._add_all(chr(PART), string)
        for flag in flags.union(*(some.flags for some in rules)) & self._strips.keys() if self._strips else ():
            for strip in [word[:size] for size, some in self._strips[flag] if size <= len(word) and word[:size] in some]:
                root = self._root(("prefix", flag, strip))
                if len(strip) <= min(map(len, string)) - 1:
                    self._add_all(root, [text[len(strip) :] for text in string])

    def _ended(self, word: str, joins: bool, rules: Sequence[_Rules], level: int) -> list[str]:
        """The strings of a word and of the words that its suffixes make. A word with suffixes goes on in a part of its own."""
        if not rules:
            return [word, word + JOIN] if joins else [word]
        place = len(word) - max(some.strip for some in rules)
        return [word[:place] + self._ending(word[place:], joins, rules, level)]

    def _ending(self, end: str, joins: bool, rules: Sequence[_Rules], level: int) -> str:
        """The root of a part: the end of a word, and the ends of the words that suffixes make."""
        key = ("ending", end, joins, *(some.number for some in rules), level)
        if key not in self._parts:
            root = self._root(key)
            self._add_all(root, self._ended(end, joins, (), level))
            if len(rules) == 1:
                self._add_suffixed(root, end, joins, rules[0], level)
            else:
                for some in rules:
                    place = len(end) - some.strip
                    self._add(root, end[:place] + self._suffixed(end[place:], joins, some, level))
        return self._parts[key]

    def _suffixed(self, end: str, joins: bool, rules: _Rules, level: int) -> str:
        """The root of a part: the ends of the words that the suffixes of one flag make."""
        key = ("suffixed", end, joins, rules.number, level)
        if key not in self._parts:
            self._add_suffixed(self._root(key), end, joins, rules, level)
        return self._parts[key]

    def _add_suffixed(self, root: str, end: str, joins: bool, rules: _Rules, level: int) -> None:
        self._take(len(rules.each))
        for strip, addition, flags in rules.each:
            word = end[: len(end) - strip] + addition
            more = self._rules_of(word, flags, is_whole=False) if level < LEVELS else ()
            joined = joins or self._joins(flags)
            self._add_all(root, self._ended(word, joined, [some for some in more if some.strip <= len(word)], level + 1))

    def _joins(self, flags: Flags) -> bool:
        return not self._joining.isdisjoint(flags)

    def _rules_of(self, word: str, flags: Flags, *, is_whole: bool) -> Sequence[_Rules]:
        """The suffixes that a word takes, together if they are few, otherwise those of each flag. Unless `is_whole`, `word` is only the end
        of the word; any characters may precede it.
        """
        names = sorted(flags & self._suffixes.keys())
        self._take(len(names))
        found = [rules for flag in names if (rules := self._fitting_of(flag, word, is_whole)).each]
        if len(found) < 2 or sum(len(some.each) for some in found) > MOST_TOGETHER:
            return found
        key = (*(some.number for some in found),)
        if key not in self._unions:
            self._unions[key] = self._numbered(chain.from_iterable(some.each for some in found))
        return [self._unions[key]]

    def _fitting_of(self, flag: int, word: str, is_whole: bool) -> _Rules:
        """The suffixes of a flag that a word takes."""
        matches, known = self._suffixes[flag]
        end = word[-matches.reach :] if matches.reach else ""
        if not is_whole and len(word) < matches.reach:
            if (flag, end) not in self._possible:
                self._possible[flag, end] = self._listed(matches.possible(end[::-1]))
            return self._possible[flag, end]
        found = known.get(end)
        if found is None:
            suffixes, decisive = matches.of(end[::-1])
            found = self._listed(suffixes)
            known.put(end, decisive, found)
        return found

    def _listed(self, suffixes: Iterable[Affix]) -> _Rules:
        """A list of suffixes."""
        return self._numbered((len(suffix.strip), suffix.add, suffix.flags) for suffix in suffixes)

    def _numbered(self, rules: Iterable[_Rule]) -> _Rules:
        """A list of suffixes; equal lists have the same number."""
        each = (*dict.fromkeys(rules),)
        self._take(len(each))
        if each not in self._rules:
            strip, flags = max((rule[0] for rule in each), default=0), frozenset[int]().union(*(own for _, _, own in each))
            self._rules[each] = _Rules(len(self._rules), each, strip, flags)
        return self._rules[each]

    def _take(self, tried: int) -> None:
        """Count suffixes that are tried."""
        self._tried += tried
        if self._tried > MAX_SUFFIXES:
            raise UnsupportedError(f"the words have more than {MAX_SUFFIXES:,} suffixes; expected fewer")

    def _root(self, key: tuple[object, ...]) -> str:
        if len(self._parts) == MAX_PARTS:
            raise UnsupportedError(f"the dictionary has more than {MAX_PARTS:,} combinations of affixes; expected fewer")
        return self._parts.setdefault(key, chr(PART + len(self._parts)))

    def _add_all(self, root: str, strings: Iterable[str]) -> None:
        for string in strings:
            self._add(root, string)

    def _add(self, root: str, string: str) -> None:
        self._characters += len(string)
        if self._characters > MAX_CHARACTERS:
            raise UnsupportedError(f"the words of the dictionary have more than {MAX_CHARACTERS:,} characters; expected fewer")
        self.strings.append(root + string)


def _is_readable(text: str) -> bool:
    """Whether a text has no characters from `PART` on."""
    return text.isascii() or ord(max(text)) < PART


def _by_size(strips: set[str]) -> list[tuple[int, set[str]]]:
    """Strings by their length, the shortest first."""
    return [(size, {*some}) for size, some in groupby(sorted(strips, key=len), len)]


def automaton_of(strings: Sequence[str]) -> Arcs:
    """The automaton of strings of parts, in which equal ends are one state. The start is before the characters of parts."""
    distinct = sorted({*strings})
    numbers = np.frombuffer("".join(distinct).encode("utf-32-le"), "<u4").astype(np.int64)
    lengths = np.array([*map(len, distinct)], np.int64)
    del distinct, strings  # the next steps need the memory
    order = np.arange(len(lengths))
    trie = build(("",), Strings(numbers, np.cumsum(lengths) - lengths, lengths), np.zeros(len(lengths), np.int64), order)
    del numbers, lengths, order
    labels = trie.letters[trie.label[1:]]
    final = np.where(trie.token >= 0, 0, np.inf)
    machine = make(trie.parent[1:], labels, labels, np.arange(1, len(trie.parent)), None, final, 0)
    del trie, labels, final
    return merge_states(machine)


def near_arrays(dictionary: Dictionary) -> dict[str, Array]:
    """The arrays for the search of near words, see `fst.machines.speller.table.SpellerTable`."""
    arcs = automaton_of(WordStrings(dictionary).strings)
    characters = np.unique(arcs.ilabel[arcs.ilabel < PART])
    if FIRST_LABEL + len(characters) > END:
        raise UnsupportedError(f"the words have {len(characters):,} different characters; expected at most {END - FIRST_LABEL:,}")
    begin, end = arcs.row_start[arcs.start], arcs.row_start[arcs.start + 1]
    roots = np.zeros(MAX_PARTS, np.int64)
    roots[arcs.ilabel[begin:end] - PART] = arcs.target[begin:end]
    is_join, is_part = arcs.ilabel == ord(JOIN), (arcs.ilabel >= PART) & (arcs.ilabel != ord(JOIN))
    labels = FIRST_LABEL + np.searchsorted(characters, arcs.ilabel)
    labels[is_part], labels[is_join] = 0, JOIN_LABEL
    targets = arcs.target.astype(np.int64)
    targets[is_part], targets[is_join] = roots[arcs.ilabel[is_part] - PART], roots[0]
    letters = [*map(chr, characters.tolist())]
    replacements = [each for each in dictionary.options.replacements if each.found and each.correction and not each.at_start | each.at_end]
    strings = stored(chain.from_iterable((each.found, each.correction) for each in replacements))
    return {
        "near_letters": characters.astype(np.uint32),
        "near_root": roots[:1].astype(np.uint32),
        "near_starts": arcs.row_start.astype(np.uint32),
        "near_labels": labels.astype(np.uint16),
        "near_targets": targets.astype(np.uint32),
        "near_finals": np.isfinite(arcs.final).astype(np.uint8),
        "near_pairs": _pairs(dictionary, {letter: FIRST_LABEL + number for number, letter in enumerate(letters)}),
        "near_bytes": strings[0],
        "near_ends": strings[1],
    }


def costs_of(dictionary: Dictionary, letters: Iterable[str]) -> dict[tuple[str, str], int]:
    """The cost of replacing a character by another one, if it is less than `EDIT`; see `fst.machines.speller.nearest`."""
    options, found = dictionary.options, dict[tuple[str, str], int]()
    for row in options.keyboard.split("|"):
        found |= {pair: KEY for left, right in pairwise(row) for pair in ((left, right), (right, left)) if left != right}
    for alike in options.similar:
        single = [string for string in alike if len(string) == 1]
        found |= {(one, other): SIMILAR for one in single for other in single if one != other}
    casing = Casing(options.encoding, options.language)
    for cased in (casing.lower, casing.upper):
        found |= {pair: CASE for letter, other in cased.items() if letter != other for pair in ((letter, other), (other, letter))}
    known = {*letters}
    return {pair: cost for pair, cost in found.items() if known.issuperset(pair)}


def _pairs(dictionary: Dictionary, labels: Mapping[str, int]) -> Array:
    """The labels of each pair of characters with a cost, and the cost."""
    found = sorted((labels[one], labels[other], cost) for (one, other), cost in costs_of(dictionary, labels).items())
    return np.array(found, np.int32).ravel()
