"""The endings of words: which suffixes a word takes, for its flags and its prefix.

A word with a suffix is the word without the stripped characters, and then the suffix. So a state after a part of a word continues with a
set of endings. An ending reads characters of the suffix, writes the characters of the word that it strips, and continues with another set,
or is the end. Sets are shared by all words and stored once. For words on *-y* with the flag of *y* → *ies*, the state after *pon* has the
set with the ending (read "ies", write "y", end).

A suffix may itself have flags, for one more suffix. That one strips characters of the word with the first suffix: first of the suffix,
which are then not read, and then of the word, which are then written, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fst.compile.algebra.build.paths import END
from fst.compile.algebra.kernels.room import SizeError
from fst.compile.sources.transducers.hunspell.affixes import Affix, Affixes, Flags

MAX_STEPS = 1 << 24  # steps of words, flags and affixes, some 1 µs each; of Debian's dictionaries, Arabic and Czech take the most
AT_ONCE = 4  # flags, characters, or characters of a condition that are read in one step
MAX_ENDINGS = 1 << 19  # maximum number of endings in all sets; Sinhala has the most, 59,699


class Ending(NamedTuple):
    """What an ending reads and writes, and the set after it, or `END`."""

    read: str
    write: str
    following: int


class Prefix(NamedTuple):
    """Prefixes that are different only in what they add. The flag "" is that of no prefix."""

    flag: str = ""
    crosses: bool = True
    strip: str = ""
    condition: str = ""
    flags: Flags = frozenset()


class _Context(NamedTuple):
    """What suffixes must know of the prefix.

    Attributes:
        is_prefixed: whether there is a prefix.
        crosses: whether there may be suffixes.
        required: the flag of the prefix, if the suffix must have it because the word has not; otherwise "".
        is_circumfix, needs_affix: whether the prefix has these flags.
    """

    is_prefixed: bool
    crosses: bool
    required: str
    is_circumfix: bool
    needs_affix: bool


class Endings:
    """The sets of endings of a dictionary. `sets` contains each set as a frozenset of endings."""

    def __init__(self, affixes: Affixes) -> None:
        self.sets: list[frozenset[Ending]] = []
        self._affixes = affixes
        self._numbers: dict[frozenset[Ending], int] = {}
        self._size = self._steps = 0
        self._silent: dict[int, int] = {}
        self._of_flag: dict[tuple[str, _Context, str], dict[int, int]] = {}
        self._of_flags: dict[tuple[Flags, _Context, Flags, str], dict[int, int]] = {}
        self._reaches: dict[Flags, int] = {}
        self._by_condition: dict[tuple[str, _Context], dict[str, dict[str, list[Affix]]]] = {}
        self._end = self.number({Ending("", "", END)})

    def number(self, endings: Iterable[Ending]) -> int:
        """The number of a set."""
        members = frozenset(endings)
        found = self._numbers.setdefault(members, len(self.sets))
        if found == len(self.sets):
            self.sets.append(members)
            self._size += len(members)
            if self._size > MAX_ENDINGS:
                raise SizeError(f"the words have more than {MAX_ENDINGS:,} endings; expected fewer", "split the dictionary")
        return found

    def silent(self, number: int) -> int:
        """The number of the set whose endings read the same, and write nothing."""
        if number not in self._silent:
            endings = self.sets[number]
            members = {Ending(read, "", END if following == END else self.silent(following)) for read, _, following in endings}
            self._silent[number] = self.number(members)
        return self._silent[number]

    def after(self, word: str, flags: Flags, prefix: Prefix) -> dict[int, int]:
        """The sets of endings of a word with a prefix: the number of characters that are stripped → the set.

        The prefix is only checked against the flags; whether its condition holds is for the caller to check.
        """
        every = flags | prefix.flags if prefix.flags else flags
        self.take(2 + len(every) // 32 if prefix.flags else 1)
        reach = self.reach(every)
        context = _Context(
            bool(prefix.flag),
            prefix.crosses,
            "" if prefix.flag in flags else prefix.flag,
            self._affixes.circumfix in prefix.flags,
            self._affixes.needs_affix in prefix.flags,
        )
        key = flags, context, prefix.flags, word[-reach:] if reach else ""
        if key not in self._of_flags:
            self._of_flags[key] = self._joined(*key)
        return self._of_flags[key]

    def reach(self, flags: Flags) -> int:
        """The number of last characters of a word that decide which suffixes it takes."""
        found = self._reaches.get(flags)
        if found is None:
            if len(flags) > 1:
                found = max((self.reach(frozenset([flag])) for flag in flags & self._affixes.suffixes.keys()), default=0)
            else:
                found = max(map(self._reach, self._suffixes(flags)), default=0)
            self._reaches[flags] = found
        return found

    def _reach(self, suffix: Affix) -> int:
        seconds = [other.reach for other in self._suffixes(suffix.flags)]
        self.take(1 + len(seconds))
        second = max(seconds, default=0)
        return max(suffix.reach, len(suffix.strip) + max(second - len(suffix.add), 0))

    def _suffixes(self, flags: Flags) -> Iterator[Affix]:
        for flag in flags:
            yield from self._affixes.suffixes.get(flag, ())

    def _joined(self, flags: Flags, context: _Context, prefix_flags: Flags, ending: str) -> dict[int, int]:
        """The sets for all flags of a word."""
        self.take(1 + len(flags) + len(prefix_flags))
        if self._affixes.only_in_compound in flags | prefix_flags:
            return {}
        found: dict[int, set[int]] = {}
        if self._is_word(flags, context):
            found[0] = {self._end}
        for flag in sorted((flags | prefix_flags) & self._affixes.suffixes.keys()) if context.crosses else ():
            self.take(2)
            for stripped, number in self._for_flag(flag, context, ending).items():
                found.setdefault(stripped, set()).add(number)
        return {stripped: self._union(numbers) for stripped, numbers in found.items()}

    def _union(self, numbers: set[int]) -> int:
        """The set that continues with each of some sets."""
        return numbers.pop() if len(numbers) == 1 else self.number(Ending("", "", number) for number in numbers)

    def _is_word(self, flags: Flags, context: _Context) -> bool:
        """Whether a word without suffixes is one."""
        if context.is_prefixed:
            return not (context.required or context.is_circumfix or context.needs_affix)
        return self._affixes.needs_affix not in flags

    def _for_flag(self, flag: str, context: _Context, ending: str) -> dict[int, int]:
        """The sets for one flag of a word, or of its prefix."""
        reach = self.reach(frozenset([flag]))
        key = flag, context, ending[-reach:] if reach else ""
        if key not in self._of_flag:
            found: dict[int, set[Ending]] = {}
            for suffix in self._applicable(flag, context, ending):
                for member in self._endings(suffix, context, ending):
                    found.setdefault(len(member.write), set()).add(member)
            self._of_flag[key] = {stripped: self.number(members) for stripped, members in found.items()}
        return self._of_flag[key]

    def _applicable(self, flag: str, context: _Context, ending: str) -> Iterator[Affix]:
        """The first suffixes of a flag that a word takes."""
        for strip, conditions in self._conditions(flag, context).items():
            self.take(1)
            if ending.endswith(strip):
                for suffixes in conditions.values():
                    self.take(1 + suffixes[0].size // AT_ONCE)
                    if suffixes[0].ends(ending):
                        self.take(4 * len(suffixes))
                        yield from suffixes

    def _conditions(self, flag: str, context: _Context) -> dict[str, dict[str, list[Affix]]]:
        """The first suffixes of a flag, by what they strip and by their condition."""
        found = self._by_condition.get((flag, context))
        if found is None:
            found = self._by_condition[flag, context] = {}
            for suffix in self._affixes.suffixes.get(flag, ()):
                if self._fits(suffix, context):
                    found.setdefault(suffix.strip, {}).setdefault(suffix.condition.pattern, []).append(suffix)
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
        """Whether the flags of a first suffix allow it next to the prefix."""
        return (
            (suffix.crosses or not context.is_prefixed)
            and (not context.required or context.required in suffix.flags)
            and (self._affixes.circumfix in suffix.flags) == context.is_circumfix
            and self._affixes.only_in_compound not in suffix.flags
        )

    def _endings(self, suffix: Affix, context: _Context, ending: str) -> Iterator[Ending]:
        """The endings that begin with a suffix."""
        is_word = self._affixes.needs_affix not in suffix.flags or (context.is_prefixed and not context.needs_affix)
        if is_word:
            yield Ending(suffix.add, suffix.strip, END)
        seconds = [second for second in self._suffixes(suffix.flags) if second.crosses or not context.is_prefixed]
        self.take(sum(1 + second.size // AT_ONCE for second in seconds))
        word = ending[: len(ending) - len(suffix.strip)] + suffix.add
        found: dict[int, set[Ending]] = {}
        for second in seconds:
            if second.ends(word) and (is_word or self._affixes.needs_affix not in second.flags):
                own = len(second.strip) - len(suffix.add)
                if own > 0:
                    yield Ending(second.add, second.strip[:own] + suffix.strip, END)
                else:
                    found.setdefault(len(second.strip), set()).add(Ending(second.add, "", END))
        for stripped, members in found.items():
            yield Ending(suffix.add[: len(suffix.add) - stripped], suffix.strip, self.number(members))
