"""A dictionary of Hunspell → a transducer from words to their stems.

The transducer has a tree of the words for each kind of prefix, and one for words without prefix. In these trees a path copies a word, up
to the characters that a suffix strips. From its end an ε-arc leads to the tree of a set of endings (see `endings`). From the start, paths
that read the prefixes lead to the trees of their words. So each set of endings, and each prefix, is stored once.

Equal to the analyses of spylls, a port of Hunspell: a word, up to one prefix and up to two suffixes. As in Hunspell, but not in spylls,
a suffix with its own flag needs a word with this flag; in affixes and conditions only "." and sets have a meaning; case does not matter
for words with the flag KEEPCASE; and the data of a word may contain its stem (``st:``). As in spylls, but not in Hunspell, an affix may
strip a whole word also without the option FULLSTRIP.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from fst.automata.marks import FORBIDDEN, KEPT
from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.build.paths import END, Paths
from fst.compile.algebra.build.strings import from_strings
from fst.compile.algebra.forms.minimize import merge_states
from fst.compile.algebra.kernels.room import of_file
from fst.compile.algebra.rational import concatenate, union
from fst.compile.sources.transducers.hunspell.affixes import Affix, Affixes, Flags, read_affixes
from fst.compile.sources.transducers.hunspell.conversion import converted
from fst.compile.sources.transducers.hunspell.endings import AT_ONCE, Endings, Prefix
from fst.compile.sources.transducers.hunspell.forbidden import without_words
from fst.compile.sources.transducers.hunspell.words import Entry, read_words
from fst.errors import VocabularyError

NO_PREFIX = Prefix()


def read(path: Path, *, marks: bool = False) -> Arcs:
    """The transducer from the words of a dictionary to their stems.

    Args:
        path: the ``.aff`` or the ``.dic`` file; the other one is in the same folder. Each may be packed with gzip.
        marks: also read the words with the flags KEEPCASE and FORBIDDENWORD, after the characters `KEPT` and `FORBIDDEN`.

    Raises:
        VocabularyError: a line is malformed.
        UnsupportedError: the dictionary has compounds or another unsupported option, or is too large.
        OSError: a file cannot be read.
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


class _Builder:
    """Adds words one by one."""

    def __init__(self, affixes: Affixes) -> None:
        self._affixes = affixes
        self._endings = Endings(affixes)
        self._paths = Paths()
        self._start = self._paths.root()
        self._roots = {NO_PREFIX: self._start}
        self._sets = list[int]()
        self._groups = {flag: _grouped(some) for flag, some in affixes.prefixes.items()}
        self._anywhere = frozenset(_supported_by_suffixes(affixes))
        self._prefixes: dict[Flags, list[Prefix]] = {}

    def add(self, entry: Entry) -> None:
        """Add a word with all its affixes."""
        word, flags, _ = entry
        self._add_endings(NO_PREFIX, entry, self._endings.after(word, flags, NO_PREFIX))
        for prefix in self._prefixes_of(flags):
            sets = self._endings.after(word, flags, prefix)
            first = self._groups[prefix.flag][prefix][0]
            if sets and len(word) - max(sets) < first.reach:
                self._expand(prefix, entry, sets)
            elif sets and first.begins(word):
                self._add_endings(prefix, entry, sets)

    def add_alone(self, entry: Entry) -> None:
        """Add a word without affixes."""
        if not entry.flags & {self._affixes.needs_affix, self._affixes.only_in_compound}:
            path = self._paths.copy(entry.word) if entry.stem == entry.word else self._pairs(entry.word, entry.stem)
            self._paths.add(self._start, path, END)

    def machine(self) -> Arcs:
        """The transducer of all words so far."""
        for number, endings in enumerate(self._endings.sets):
            for read, write, following in endings:
                self._paths.add(self._set(number), self._pairs(read, write), END if following == END else self._set(following))
        return self._paths.machine(self._start)

    def _add_endings(self, prefix: Prefix, entry: Entry, sets: dict[int, int]) -> None:
        """Add paths that read a word up to its endings. They copy it, unless it has another stem, which they then write at once."""
        word, _, stem = entry
        for stripped, number in sets.items():
            end = len(word) - stripped
            if stem == word:
                self._paths.add(self._root(prefix), self._paths.copy(word[len(prefix.strip) : end]), self._set(number))
                continue
            for added in [affix.add for affix in self._groups[prefix.flag][prefix]] if prefix.flag else [""]:
                path = self._pairs(added + word[len(prefix.strip) : end], stem)
                self._endings.take(1 + len(path) // AT_ONCE)
                self._paths.add(self._start, path, self._set(self._endings.silent(number)))

    def _pairs(self, read: str, write: str) -> str:
        return self._paths.pairs(map(ord, read), map(ord, write))

    def _set(self, number: int) -> int:
        """The root of a set of endings."""
        while len(self._sets) <= number:
            self._sets.append(self._paths.root())
        return self._sets[number]

    def _root(self, prefix: Prefix) -> int:
        """The root of the words with a prefix, to which paths lead that read each of the prefixes and write what it strips."""
        if prefix not in self._roots:
            self._roots[prefix] = self._paths.root()
            for affix in self._groups[prefix.flag][prefix]:
                self._paths.add(self._start, self._pairs(affix.add, affix.strip), self._roots[prefix])
        return self._roots[prefix]

    def _expand(self, prefix: Prefix, entry: Entry, sets: dict[int, int]) -> None:
        """Add a word with a prefix and each of its endings as paths of their own, because the condition of the prefix reads the endings."""
        some, word = self._groups[prefix.flag][prefix], entry.word
        for stripped, number in sets.items():
            for ending in self._readings(number):
                form = word[: len(word) - stripped] + ending
                if some[0].begins(form):
                    self._endings.take(len(some))
                    for affix in some:
                        self._paths.add(self._start, self._pairs(affix.add + form[len(prefix.strip) :], entry.stem), END)

    def _readings(self, number: int) -> Iterator[str]:
        """All strings that a set of endings reads."""
        for read, _, following in self._endings.sets[number]:
            self._endings.take(1)
            yield from [read] if following == END else (read + rest for rest in self._readings(following))

    def _prefixes_of(self, flags: Flags) -> list[Prefix]:
        """The prefixes that words with these flags may take: by a flag of their own, or by one of a suffix."""
        found = self._prefixes.get(flags)
        if found is None:
            suffixes = [suffix for flag in flags for suffix in self._affixes.suffixes.get(flag, ())]
            self._endings.take(len(suffixes))
            names = flags.union(self._anywhere, *(suffix.flags for suffix in suffixes))
            found = self._prefixes[flags] = [prefix for flag in sorted(names & self._groups.keys()) for prefix in self._groups[flag]]
        return found


def _grouped(prefixes: Iterable[Affix]) -> dict[Prefix, list[Affix]]:
    """Prefixes of one flag that are different only in what they add."""
    found: dict[Prefix, list[Affix]] = {}
    for affix in prefixes:
        key = Prefix(affix.flag, affix.crosses, affix.strip, affix.condition.pattern, affix.flags)
        found.setdefault(key, []).append(affix)
    return found


def _supported_by_suffixes(affixes: Affixes) -> Iterator[str]:
    """The flags of prefixes that any word may take: the prefix has the flag of a suffix, and this suffix the flag of the prefix."""
    for flag, prefixes in affixes.prefixes.items():
        for prefix in prefixes:
            if any(flag in suffix.flags for name in prefix.flags for suffix in affixes.suffixes.get(name, ())):
                yield flag
