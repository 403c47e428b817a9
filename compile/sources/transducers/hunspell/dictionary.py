"""A dictionary of Hunspell → a transducer from words to their stems.

The transducer has a tree of the words for each kind of prefix, and one for words without prefix. In these trees a path copies a word, up
to the characters that a suffix strips. From its end an ε-arc leads to the tree of a set of endings (see `endings`). From the start, paths
that read the prefixes lead to the trees of their words. So each set of endings, and each prefix, is stored once. Words with another stem
write it at once, and are in trees of their own.

Equal to the analyses of spylls, a port of Hunspell: a word, up to one prefix and up to two suffixes. As in Hunspell, but not in spylls,
a suffix with its own flag needs a word with this flag; in affixes and conditions only "." and sets have a meaning; case does not matter
for words with the flag KEEPCASE; and the data of a word may contain its stem (``st:``). As in spylls, but not in Hunspell, an affix may
strip a whole word also without the option FULLSTRIP.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fst.automata.marks import FORBIDDEN, KEPT
from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.build.paths import END, Paths
from fst.compile.algebra.build.strings import from_strings
from fst.compile.algebra.forms.minimize import merge_states
from fst.compile.algebra.kernels.room import of_file
from fst.compile.algebra.rational import concatenate, union
from fst.compile.sources.transducers.hunspell.affixes import Affix, Affixes, Flags, read_affixes
from fst.compile.sources.transducers.hunspell.conversion import converted
from fst.compile.sources.transducers.hunspell.endings import AT_ONCE, Endings, Prefix, Sets, Tails
from fst.compile.sources.transducers.hunspell.forbidden import without_words
from fst.compile.sources.transducers.hunspell.matches import Matches
from fst.compile.sources.transducers.hunspell.words import Entry, read_words
from fst.errors import VocabularyError

NO_PREFIX = Prefix()


def read(path: Path, *, marks: bool = False) -> Arcs:
    """The transducer from the words of a dictionary to their stems.

    Args:
        path: the ``.aff`` or the ``.dic`` file; the other one is in the same folder. Each may be packed with gzip.
        marks: also read the words with the flags KEEPCASE and FORBIDDENWORD, after the characters `KEPT` and `FORBIDDEN`.
    """
    affixes = read_affixes(_partner(path, ".aff"))
    entries = read_words(_partner(path, ".dic"), affixes)
    with of_file(path):
        return machine_of(affixes, entries, marks=marks)


def _partner(path: Path, ending: str) -> Path:
    """The file of a dictionary with an ending, which may be packed with gzip."""
    stem = path.name.removesuffix(".gz")[: -len(ending)]
    if path.name.removesuffix(".gz").endswith(ending):
        return path
    found = path.with_name(stem + ending)
    packed = path.with_name(f"{stem}{ending}.gz")
    if not found.exists() and not packed.exists():
        raise VocabularyError(f"{found} is missing; expected the .aff and the .dic file of a dictionary in one folder")
    return found if found.exists() else packed


def machine_of(affixes: Affixes, entries: Sequence[Entry], *, marks: bool = False) -> Arcs:
    """The transducer from words to stems. For `marks`, see `read`."""
    forbidden = {entry.word for entry in entries if affixes.forbidden in entry.flags}
    removed = forbidden - {entry.word for entry in entries if affixes.forbidden not in entry.flags}
    machine = _machine(affixes, entries, forbidden)
    if removed:
        machine = without_words(machine, removed)
    if marks:
        kept = [entry for entry in entries if affixes.keeps_case in entry.flags]
        parts = [] if not kept else [concatenate(from_strings([(KEPT, "")]), _machine(affixes, kept, forbidden))]
        parts += [from_strings([(FORBIDDEN + word, word) for word in sorted(removed)])] if removed else []
        machine = union([machine, *parts]) if parts else machine
    return converted(machine, affixes.conversions, affixes.ignored)


def _machine(affixes: Affixes, entries: Sequence[Entry], forbidden: Collection[str]) -> Arcs:
    """The transducer of entries, also of forbidden words, which take no affixes."""
    builder = _Builder(affixes)
    for entry in entries:
        if entry.word in forbidden:
            builder.add_alone(entry)
        else:
            builder.add(entry)
    return merge_states(builder.machine())


class _Begin(NamedTuple):
    """Prefixes that are different only in what they add.

    Attributes:
        strip: the number of characters that they strip.
        root: the root of the words with these prefixes.
        silent: the root of those with another stem, which is written after the prefix.
    """

    strip: int
    root: int
    silent: int


class _Group(NamedTuple):
    """Prefixes with which words with some flags have the same endings. The first affix of each `Prefix` represents it.

    Attributes:
        tails: the endings.
        matches: the first affixes.
        begins: the prefixes of first affixes, by the first characters of words.
    """

    tails: Tails
    matches: Matches
    firsts: dict[Affix, Prefix]
    begins: dict[str, list[_Begin]]


class _Builder:
    """Adds words one by one."""

    def __init__(self, affixes: Affixes) -> None:
        self._affixes = affixes
        self._endings = Endings(affixes)
        self._paths = Paths()
        self._start = self._paths.root()
        self._sets = list[int]()
        self._prefixes = {flag: _grouped(some) for flag, some in affixes.prefixes.items()}
        self._without_prefix = [_Begin(0, self._start, self._start)]
        self._begins: dict[Prefix, _Begin] = {}
        self._of_flags: dict[Flags, tuple[Tails, list[_Group]]] = {}
        self._after: dict[str, Flags] = {}
        self._anywhere = frozenset(flag for flag, some in self._prefixes.items() if any(self._is_supported(prefix) for prefix in some))

    def add(self, entry: Entry) -> None:
        """Add a word with all its affixes."""
        word, flags, _ = entry
        found = self._of_flags.get(flags)
        if found is None:
            found = self._of_flags[flags] = Tails(self._endings, flags, NO_PREFIX), self._groups_of(flags)
        tails, groups = found
        self._endings.take(1 + len(groups))
        text = self._paths.copy(word)
        self._add_endings(self._without_prefix, entry, text, tails.of(word))
        for group in groups:
            sets = group.tails.of(word)
            if sets and len(word) - max(sets) < group.matches.reach:
                sets = self._add_short(group, entry, text, sets)
            if sets:
                self._add_endings(self._begins_of(group, word), entry, text, sets)

    def _add_short(self, group: _Group, entry: Entry, text: str, sets: Sets) -> Sets:
        """Add a word with endings that leave so little of the word that the conditions of prefixes may read them; return the others."""
        room = len(entry.word) - group.matches.reach
        short = {stripped: number for stripped, number in sets.items() if stripped > room}
        for first, prefix in group.firsts.items():
            self._endings.take(2 + first.reach // AT_ONCE)
            if len(entry.word) - max(short) < first.reach:
                self._expand(prefix, entry, short)
            elif first.fits(entry.word):
                self._add_endings([self._begin(prefix)], entry, text, short)
        return {stripped: number for stripped, number in sets.items() if stripped <= room}

    def add_alone(self, entry: Entry) -> None:
        """Add a word without affixes."""
        if not entry.flags & {self._affixes.needs_affix, self._affixes.only_in_compound}:
            path = self._paths.copy(entry.word) if entry.stem == entry.word else self._pairs(entry.word, entry.stem)
            self._paths.add(self._start, path, END)

    def machine(self) -> Arcs:
        """The transducer of all words so far."""
        for number, endings in enumerate(self._endings.sets):
            for read, write, following in endings:
                path = self._pairs(read, write) if read or write else ""
                self._paths.add(self._set(number), path, END if following == END else self._set(following))
        return self._paths.machine(self._start)

    def _add_endings(self, begins: list[_Begin], entry: Entry, text: str, sets: Sets) -> None:
        """Add paths that read a word up to its endings. They copy it, unless it has another stem, which they then write at once.

        Args:
            begins: the prefixes.
            entry: the word.
            text: the path that copies the word.
            sets: the sets of endings.
        """
        word, _, stem = entry
        is_own = stem == word
        for stripped, number in sets.items():
            following = self._set(number if is_own else self._endings.silent(number))
            strip, path, end = -1, "", len(word) - stripped
            for begin in begins:
                if begin.strip != strip:
                    strip = begin.strip
                    path = text[strip:end] if is_own else self._pairs(word[strip:end], stem)
                self._paths.add(begin.root if is_own else begin.silent, path, following)

    def _pairs(self, read: str, write: str) -> str:
        self._endings.take(1 + max(len(read), len(write)) // 2)
        return self._paths.pairs(map(ord, read), map(ord, write))

    def _set(self, number: int) -> int:
        """The root of a set of endings."""
        while len(self._sets) <= number:
            self._sets.append(self._paths.root())
        return self._sets[number]

    def _begin(self, prefix: Prefix) -> _Begin:
        """The roots of the words with a prefix, to which paths lead that read each of the equal prefixes."""
        found = self._begins.get(prefix)
        if found is None:
            found = self._begins[prefix] = _Begin(len(prefix.strip), self._paths.root(), self._paths.root())
            for affix in self._prefixes[prefix.flag][prefix]:
                self._paths.add(self._start, self._pairs(affix.add, prefix.strip), found.root)
                self._paths.add(self._start, self._pairs(affix.add, ""), found.silent)
        return found

    def _begins_of(self, group: _Group, word: str) -> list[_Begin]:
        """The prefixes of a group that a word takes, sorted by the number of characters that they strip."""
        edge = word[: group.matches.reach]
        found = group.begins.get(edge)
        if found is None:
            prefixes = [self._begin(group.firsts[first]) for first in group.matches.of(edge)[0]]
            found = group.begins[edge] = sorted(prefixes, key=lambda begin: begin.strip)
        return found

    def _expand(self, prefix: Prefix, entry: Entry, sets: Sets) -> None:
        """Add a word with a prefix and each of its endings as paths of their own, because the condition of the prefix reads the endings."""
        some, word = self._prefixes[prefix.flag][prefix], entry.word
        for stripped, number in sets.items():
            for ending in self._readings(number):
                form = word[: len(word) - stripped] + ending
                self._endings.take(1 + some[0].reach // AT_ONCE)
                if some[0].fits(form):
                    self._endings.take(len(some))
                    for affix in some:
                        self._paths.add(self._start, self._pairs(affix.add + form[len(prefix.strip) :], entry.stem), END)

    def _readings(self, number: int) -> Iterator[str]:
        """All strings that a set of endings reads."""
        for read, _, following in self._endings.sets[number]:
            self._endings.take(1)
            yield from [read] if following == END else (read + rest for rest in self._readings(following))

    def _groups_of(self, flags: Flags) -> list[_Group]:
        """The prefixes that words with these flags may take, by a flag of their own or of a suffix, grouped by their endings."""
        return [
            _Group(Tails(self._endings, flags, next(iter(firsts.values()))), Matches([*firsts], self._endings.take), firsts, {})
            for firsts in self._prefixes_of(flags).values()
        ]

    def _prefixes_of(self, flags: Flags) -> dict[tuple[str, bool, Flags], dict[Affix, Prefix]]:
        """The prefixes that words with these flags may take, grouped by a flag that the endings must have, crossing, and flags."""
        self._endings.take(1 + len(flags) // AT_ONCE)
        names = self._anywhere.union(flags & self._prefixes.keys(), *map(self._prefixes_after, flags & self._affixes.suffixes.keys()))
        found: dict[tuple[str, bool, Flags], dict[Affix, Prefix]] = {}
        for flag in sorted(names):
            self._endings.take(1 + 2 * len(self._prefixes[flag]))
            for prefix, affixes in self._prefixes[flag].items():
                found.setdefault(("" if flag in flags else flag, prefix.crosses, prefix.flags), {})[affixes[0]] = prefix
        return found

    def _prefixes_after(self, flag: str) -> Flags:
        """The flags of prefixes among the flags of the suffixes with a flag."""
        found = self._after.get(flag)
        if found is None:
            flags = {suffix.flags for suffix in self._affixes.suffixes[flag]}
            self._endings.take(len(self._affixes.suffixes[flag]) + sum(map(len, flags)) // AT_ONCE)
            found = self._after[flag] = frozenset(flag for some in flags for flag in some if flag in self._prefixes)
        return found

    def _is_supported(self, prefix: Prefix) -> bool:
        """Whether any word may take a prefix: the prefix has the flag of a suffix, and this suffix the flag of the prefix."""
        self._endings.take(1 + len(prefix.flags) // AT_ONCE)
        return any(prefix.flag in self._prefixes_after(flag) for flag in prefix.flags if flag in self._affixes.suffixes)


def _grouped(prefixes: Iterable[Affix]) -> dict[Prefix, list[Affix]]:
    """Prefixes of one flag that are different only in what they add."""
    found: dict[Prefix, list[Affix]] = {}
    for affix in prefixes:
        key = Prefix(affix.flag, affix.crosses, affix.strip, affix.condition, affix.flags)
        found.setdefault(key, []).append(affix)
    return found
