"""The endings of words: the suffixes that a word takes, given its flags and its prefix.

A word with a suffix is the word without the stripped characters, followed by the suffix. So a state after a part of a word continues with a
set of endings. An ending reads the characters of the suffix, writes the stripped characters of the word, and continues with another set or
ends. All words share the sets, so each set is stored once. For words on *-y* with the flag of *y* → *ies*, the state after *pon* has the
set with the ending (read "ies", write "y", end).

A suffix may itself have flags, which allow a second suffix. The second suffix strips characters of the word with the first suffix: first
the characters of the first suffix, which are then not read; then characters of the word, which are then also written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fst.compile.algebra.build.paths import END
from fst.compile.algebra.kernels.room import SizeError
from fst.compile.sources.transducers.hunspell.affixes import Affix, Part
from fst.compile.sources.transducers.hunspell.flags import NONE, Flags
from fst.compile.sources.transducers.hunspell.matches import ALL, ByEnding, Matches

MAX_STEPS = 5 << 20  # maximum number of steps, some 1 µs each; of Debian's dictionaries, Turkish takes the most, 2.9 million
Sets = dict[int, int]  # the number of stripped characters → the number of the set of endings
AT_ONCE = 4  # number of flags, of characters, or of characters of a condition that one step reads
MAX_ENDINGS = 3 << 19  # maximum number of endings in all sets; the Turkish dictionary has the most, 937,922


@dataclass
class Affixes:
    """The affixes by flag, and the flags with a meaning, each None if it is not defined; see `options.Options`."""

    prefixes: dict[int, list[Affix]]
    suffixes: dict[int, list[Affix]]
    needs_affix: int | None = None
    forbidden: int | None = None
    keeps_case: int | None = None
    circumfix: int | None = None
    only_in_compound: int | None = None


def by_flag(affixes: Sequence[Affix]) -> dict[int, list[Affix]]:
    """The affixes with each flag."""
    found: dict[int, list[Affix]] = {}
    for affix in affixes:
        found.setdefault(affix.flag, []).append(affix)
    return found


class Ending(NamedTuple):
    """The strings that an ending reads and writes, and the set after it, or `END`."""

    read: str
    write: str
    following: int


class Prefix(NamedTuple):
    """Prefixes that differ only in the characters that they add. The flag 0 means that there is no prefix."""

    flag: int = 0
    crosses: bool = True
    strip: str = ""
    condition: tuple[Part, ...] = ()
    may_lack_last: bool = False
    flags: Flags = NONE


class _Context(NamedTuple):
    """The properties of a prefix that affect the suffixes.

    Attributes:
        is_prefixed: whether there is a prefix.
        crosses: whether there may be suffixes.
        required: the flag of the prefix, if the suffix must have this flag because the word does not have it; otherwise 0.
        is_circumfix, needs_affix: whether the prefix has the flag of this name.
    """

    is_prefixed: bool
    crosses: bool
    required: int
    is_circumfix: bool
    needs_affix: bool


class _Second(NamedTuple):
    """The properties of a first suffix that affect second suffixes."""

    flags: Flags
    size: int  # the number of characters that the first suffix adds, as far as they may be stripped
    edge: str  # the last characters of the word with the first suffix, from the end backward
    is_word: bool  # whether this word is a word without a second suffix
    is_prefixed: bool  # whether this word has a prefix


class Tails:
    """The sets of endings of all words with the same flags and prefix."""

    def __init__(self, endings: Endings, flags: Flags, prefix: Prefix) -> None:
        self._endings, self._context = endings, endings.context(flags, prefix)
        self._reach, self._names, self._is_word = endings.suffixes_of(flags, prefix.flags, self._context)
        self._sets = ByEnding[Sets]()

    def of(self, word: str) -> Sets:
        """The sets of endings of a word. The caller checks whether the condition of the prefix holds."""
        ending = word[-self._reach :] if self._reach else ""
        found = self._sets.get(ending)
        if found is None:
            found, decisive = self._endings.joined(self._names, self._context, ending, is_word=self._is_word)
            self._sets.put(ending, decisive, found)
        return found


class Endings:
    """The sets of endings of a dictionary. `sets` contains the endings of each set."""

    def __init__(self, affixes: Affixes) -> None:
        self.sets: list[Collection[Ending]] = []
        self._affixes = affixes
        self._numbers: dict[frozenset[Ending], int] = {}
        self._unions: dict[frozenset[int], int] = {}
        self._links: dict[int, Ending] = {}
        self._size = self._steps = 0
        self._silent: dict[int, int] = {}
        self._of_flag: dict[tuple[int, _Context], ByEnding[tuple[Sets, int]]] = {}
        self._of_second: dict[_Second, tuple[list[tuple[str, str]], Sets, int]] = {}
        self._reaches: dict[int, int] = {}
        self._first: dict[tuple[int, _Context], Matches] = {}
        self._second: dict[Flags, Matches] = {}
        self._flags = frozenset(affixes.suffixes)
        self._end = self.number({Ending("", "", END)})

    def number(self, endings: Iterable[Ending]) -> int:
        """The number of a set."""
        members = frozenset(endings)
        found = self._numbers.setdefault(members, len(self.sets))
        if found == len(self.sets):
            self._store(members)
        return found

    def _store(self, members: Collection[Ending]) -> None:
        self.sets.append(members)
        self._size += len(members)
        if self._size > MAX_ENDINGS:
            raise SizeError(f"the words have more than {MAX_ENDINGS:,} endings; expected fewer", "split the dictionary")

    def silent(self, number: int) -> int:
        """The number of the set with endings that read the same and write nothing."""
        if number not in self._silent:
            endings = self.sets[number]
            members = {Ending(read, "", END if following == END else self.silent(following)) for read, _, following in endings}
            self._silent[number] = self.number(members)
        return self._silent[number]

    def context(self, flags: Flags, prefix: Prefix) -> _Context:
        """The properties of a word's prefix that affect the suffixes of the word, which has the given flags."""
        return _Context(
            bool(prefix.flag),
            prefix.crosses,
            0 if prefix.flag in flags else prefix.flag,
            self._affixes.circumfix in prefix.flags,
            self._affixes.needs_affix in prefix.flags,
        )

    def suffixes_of(self, flags: Flags, prefix_flags: Flags, context: _Context) -> tuple[int, list[int], bool]:
        """The number of last characters of a word that decide which suffixes it takes; the flags of these suffixes; and whether the word
        needs no suffix.
        `flags`: the flags of the word. `prefix_flags`: the flags of the prefix. `context`: the context of the prefix.
        """
        self.take(1 + (len(flags) + len(prefix_flags)) // 8)
        if self._affixes.only_in_compound in flags or self._affixes.only_in_compound in prefix_flags:
            return 0, [], False
        names = sorted((flags & self._flags) | (prefix_flags & self._flags)) if context.crosses else []
        return max(map(self._reach_of, names), default=0), names, self._is_word(flags, context)

    def _reach_of(self, flag: int) -> int:
        """The number of last characters of a word that decide which suffixes of a flag it takes."""
        found = self._reaches.get(flag)
        if found is None:
            found = self._reaches[flag] = max(map(self._reach, self._affixes.suffixes[flag]), default=0)
        return found

    def _reach(self, suffix: Affix) -> int:
        second = self._seconds(suffix.flags).reach
        return max(suffix.reach, len(suffix.strip) + max(second - len(suffix.add), 0))

    def _seconds(self, flags: Flags) -> Matches:
        """The suffixes that may follow a suffix with the given flags."""
        found = self._second.get(flags)
        if found is None:
            suffixes = [suffix for flag in flags & self._flags for suffix in self._affixes.suffixes[flag]]
            found = self._second[flags] = Matches(suffixes, self.take)
        return found

    def joined(self, names: list[int], context: _Context, ending: str, *, is_word: bool) -> tuple[Sets, int]:
        """The sets for all flags of a word, see `suffixes_of`; and the number of the word's last characters that decide these sets."""
        self.take(1 + 2 * len(names))
        found: dict[int, set[int]] = {0: {self._end}} if is_word else {}
        decisive = 0
        for flag in names:
            sets, most = self._for_flag(flag, context, ending)
            decisive = max(decisive, most)
            for stripped, number in sets.items():
                found.setdefault(stripped, set()).add(number)
        return {stripped: self._union(numbers) for stripped, numbers in found.items()}, decisive

    def _union(self, numbers: set[int]) -> int:
        """The set whose endings are empty and continue with each of the given sets."""
        if len(numbers) == 1:
            return numbers.pop()
        key = frozenset(numbers)
        found = self._unions.setdefault(key, len(self.sets))
        if found == len(self.sets):
            self._store([self._links.setdefault(number, Ending("", "", number)) for number in numbers])
        return found

    def _is_word(self, flags: Flags, context: _Context) -> bool:
        """Whether a word without suffixes is accepted."""
        if context.is_prefixed:
            return not (context.required or context.is_circumfix or context.needs_affix)
        return self._affixes.needs_affix not in flags

    def _for_flag(self, flag: int, context: _Context, ending: str) -> tuple[Sets, int]:
        """The sets for one flag of a word, or of its prefix; and the number of the word's last characters that decide these sets."""
        values = self._of_flag.setdefault((flag, context), ByEnding())
        reach = self._reach_of(flag)
        ending = ending[-reach:] if reach else ""
        value = values.get(ending)
        if value is None:
            found: dict[int, set[Ending]] = {}
            suffixes, decisive = self._firsts(flag, context).of(ending[::-1])
            for suffix in suffixes:
                members, most = self._endings(suffix, context, ending)
                self.take(1 + 4 * len(members))
                decisive = max(decisive, most)
                for member in members:
                    found.setdefault(len(member.write), set()).add(member)
            value = {stripped: self.number(members) for stripped, members in found.items()}, decisive
            values.put(ending, decisive, value)
        return value

    def _firsts(self, flag: int, context: _Context) -> Matches:
        """The suffixes of a flag that may be the first suffix."""
        found = self._first.get((flag, context))
        if found is None:
            suffixes = [suffix for suffix in self._affixes.suffixes[flag] if self._fits(suffix, context)]
            self.take(8 + len(self._affixes.suffixes[flag]))
            found = self._first[flag, context] = Matches(suffixes, self.take)
        return found

    def take(self, steps: int) -> None:
        """Count steps.

        Raises:
            SizeError: the total exceeds `MAX_STEPS`.
        """
        self._steps += steps
        if self._steps > MAX_STEPS:
            fault = f"the flags and affixes of the words take more than {MAX_STEPS:,} steps; expected fewer"
            raise SizeError(fault, "split the dictionary")

    def _fits(self, suffix: Affix, context: _Context) -> bool:
        """Whether the flags of a first suffix are compatible with the prefix."""
        return (
            (suffix.crosses or not context.is_prefixed)
            and (not context.required or context.required in suffix.flags)
            and (self._affixes.circumfix in suffix.flags) == context.is_circumfix
            and self._affixes.only_in_compound not in suffix.flags
        )

    def _endings(self, suffix: Affix, context: _Context, ending: str) -> tuple[list[Ending], int]:
        """The endings that begin with a suffix; and the number of the word's last characters that decide the second suffixes."""
        is_word = self._affixes.needs_affix not in suffix.flags or (context.is_prefixed and not context.needs_affix)
        found = [Ending(suffix.add, suffix.strip, END)] if is_word else []
        if not suffix.flags & self._flags:
            return found, 0
        reach, size = self._seconds(suffix.flags).reach, len(suffix.add)
        word = ending[: len(ending) - len(suffix.strip)] + suffix.add
        key = _Second(suffix.flags, min(size, reach), word[-1 : -reach - 1 : -1], is_word, context.is_prefixed)
        if key not in self._of_second:
            self._of_second[key] = self._after_suffix(key)
        long, sets, decisive = self._of_second[key]
        self.take(1 + 2 * (len(long) + len(sets)))
        found += [Ending(add, strip + suffix.strip, END) for add, strip in long]
        found += [Ending(suffix.add[: size - stripped], suffix.strip, number) for stripped, number in sets.items()]
        return found, decisive if decisive == ALL else len(suffix.strip) + max(decisive - size, 0)

    def _after_suffix(self, key: _Second) -> tuple[list[tuple[str, str]], Sets, int]:
        """The second suffixes after a first suffix. Returns three things: for each second suffix that strips more than the first suffix,
        the added characters and the stripped characters of the word; the sets of all other second suffixes; and the number of last
        characters of the word with the first suffix that decide.
        """
        seconds, decisive = self._seconds(key.flags).of(key.edge)
        self.take(1 + 2 * len(seconds))
        long, found = list[tuple[str, str]](), dict[int, set[Ending]]()
        for second in seconds:
            if (second.crosses or not key.is_prefixed) and (key.is_word or self._affixes.needs_affix not in second.flags):
                own = len(second.strip) - key.size
                if own > 0:
                    long.append((second.add, second.strip[:own]))
                else:
                    found.setdefault(len(second.strip), set()).add(Ending(second.add, "", END))
        return long, {stripped: self.number(members) for stripped, members in found.items()}, decisive
