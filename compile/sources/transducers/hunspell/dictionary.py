"""A dictionary of Hunspell → a transducer from words to their stems.

The transducer has one tree of words for each kind of prefix, and one tree for words without a prefix. In these trees, a path copies a word,
up to the characters that a suffix strips. From the end of this path, an ε-arc leads to the tree of a set of endings (see `endings`). From
the start, paths that read prefixes lead to the trees of the words with these prefixes. So each set of endings, and each prefix, is stored
once. For a word with another stem, a path writes the stem at once; such words are in trees of their own.

The analyses are the same as in spylls, a port of Hunspell: a word with up to one prefix and up to two suffixes. As in Hunspell, but not
in spylls, a suffix whose flags include its own flag needs a word with this flag; in affixes and conditions, only "." and sets are special;
case does not matter for words with the flag KEEPCASE; and the data of a word may contain its stem (``st:``). As in spylls, but not in
Hunspell, an affix may strip a whole word even without the option FULLSTRIP.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fst.automata.graph import leading_to
from fst.automata.marks import FORBIDDEN, KEPT
from fst.compile.algebra.arcs import EPSILON, NOWHERE, Arcs, make
from fst.compile.algebra.build.chains import Chains
from fst.compile.algebra.build.paths import END, Paths
from fst.compile.algebra.build.strings import from_strings
from fst.compile.algebra.compose import compose
from fst.compile.algebra.connect import connect
from fst.compile.algebra.forms.minimize import merge_states
from fst.compile.algebra.kernels.room import SizeError, of_file
from fst.compile.algebra.rational import concatenate, union
from fst.compile.sources.transducers.hunspell.affixes import Affix
from fst.compile.sources.transducers.hunspell.endings import AT_ONCE, Affixes, Endings, Prefix, Sets, Tails, by_flag
from fst.compile.sources.transducers.hunspell.files import Dictionary, partner, read_dictionary
from fst.compile.sources.transducers.hunspell.flags import Flags
from fst.compile.sources.transducers.hunspell.matches import Matches
from fst.compile.sources.transducers.hunspell.words import Entry
from fst.errors import quoted

MAX_PAIRS, MAX_READ = 1 << 18, 1 << 22  # maximum numbers of pairs, and of arcs of their states; Catalan has the most pairs, 1,436
Pair = tuple[int, int]
NAMED = ("needs_affix", "forbidden", "keeps_case", "circumfix", "only_in_compound")
MAX_LENGTH, MAX_ARCS = 16, 1 << 17  # of Debian's dictionaries, the French one has the most arcs, 2,640
MAX_STATES, MAX_TARGETS = 1 << 20, 3 << 20  # maximum numbers of states and arcs; they take some seconds to compile
NO_PREFIX = Prefix()


def without_words(arcs: Arcs, words: Iterable[str]) -> Arcs:
    """The machine without the paths that read one of the given words.

    A pair of a state and a node in the tree of the words is a new state, if a path from this pair reads the rest of a word. Paths that
    leave the tree, or can no longer read one of the words, continue in the old states.
    """
    tree, ends = _tree(words)
    following = _pairs(arcs, tree)
    doomed = _doomed(arcs, following, ends)
    if (0, arcs.start) not in doomed:
        return arcs
    numbers = {pair: arcs.states + number for number, pair in enumerate(sorted(doomed))}
    starts, labels, goals = arcs.row_start.tolist(), arcs.ilabel.tolist(), arcs.target.tolist()
    copied, targets = list[int](), list[int]()  # the arcs of new states: each is a copy of an old arc with a new target
    final = np.concatenate([arcs.final, np.full(len(numbers), np.inf, np.float32)])
    for (node, state), number in numbers.items():
        if node not in ends:
            final[number] = arcs.final[state]
        row = range(starts[state], starts[state + 1])
        children = {**tree[node], EPSILON: node}
        copied += row
        targets += [numbers.get((children.get(labels[arc], NOWHERE), goals[arc]), goals[arc]) for arc in row]
    sources = np.repeat([*numbers.values()], [starts[state + 1] - starts[state] for _, state in numbers])
    before = np.concatenate([arcs.sources, sources])
    read, write = (np.concatenate([column, column[copied]]) for column in (arcs.ilabel, arcs.olabel))
    after = np.concatenate([arcs.target, targets])
    return connect(make(before, read, write, after, None, final, numbers[0, arcs.start]))


def _tree(words: Iterable[str]) -> tuple[list[dict[int, int]], set[int]]:
    """The children of each node, by label; and the nodes at which words end."""
    tree: list[dict[int, int]] = [{}]
    ends = set()
    for word in words:
        node = 0
        for char in word:
            child = tree[node].setdefault(ord(char), len(tree))
            if child == len(tree):
                tree.append({})
            node = child
        ends.add(node)
    return tree, ends


def _pairs(arcs: Arcs, tree: list[dict[int, int]]) -> dict[Pair, list[Pair]]:
    """The pairs of a node and a state that a path reaches; and for each pair, the pairs after it."""
    found: dict[Pair, list[Pair]] = {}
    starts, labels, targets = arcs.row_start.tolist(), arcs.ilabel.tolist(), arcs.target.tolist()
    waiting, read_arcs = [(0, arcs.start)], 0
    while waiting:
        pair = waiting.pop()
        if pair in found:
            continue
        node, state = pair
        row = slice(starts[state], starts[state + 1])
        read_arcs += row.stop - row.start
        children = {**tree[node], EPSILON: node}
        some = zip(labels[row], targets[row], strict=True)
        found[pair] = [(children[read], target) for read, target in some if read in children]
        waiting += found[pair]
        if len(found) > MAX_PAIRS or read_arcs > MAX_READ:
            fault = f"the forbidden words pass more than {MAX_PAIRS:,} states or {MAX_READ:,} arcs; expected fewer"
            raise SizeError(fault, "split the dictionary")
    return found


def _doomed(arcs: Arcs, following: dict[Pair, list[Pair]], ends: set[int]) -> set[Pair]:
    """The pairs from which a path reads the rest of a word and ends in a final state."""
    last = [(node, state) for node, state in following if node in ends and np.isfinite(arcs.final[state])]
    return leading_to(last, ((pair, other) for pair, others in following.items() for other in others))


def converted(arcs: Arcs, conversions: Sequence[tuple[str, str]], ignored: str) -> Arcs:
    """The machine that converts a word (ICONV), removes ignored characters (IGNORE), and reads the result like `arcs`."""
    if not (conversions or ignored):
        return arcs
    read = map(chr, np.unique(arcs.ilabel[arcs.ilabel != EPSILON]).tolist())
    alphabet = {*read, *ignored, *"".join(pattern for pattern, _ in conversions)}
    return connect(compose(_converter(dict(reversed(conversions)), ignored, sorted(alphabet)), arcs))


def _converter(conversions: Mapping[str, str], ignored: str, alphabet: Sequence[str]) -> Arcs:
    """The transducer that replaces the longest pattern at each position, and removes ignored characters from its output.

    A state is the beginning of a pattern that is read but not yet written.
    """
    longest = max(map(len, [*conversions, *conversions.values()]), default=0)
    if longest > MAX_LENGTH:
        raise SizeError(f"a conversion (ICONV) has {longest:,} characters; expected at most {MAX_LENGTH}", "remove it")
    unfinished = {pattern[:end] for pattern in conversions for end in range(1, len(pattern))}
    if (1 + len(unfinished)) * len(alphabet) > MAX_ARCS:
        raise SizeError(f"the conversions (ICONV) take more than {MAX_ARCS:,} arcs; expected fewer", "remove some")
    removed, chains = dict.fromkeys(map(ord, ignored)), Chains()
    states = {"": chains.state()}
    waiting = [""]
    while waiting:
        pending = waiting.pop()
        for char in alphabet:
            output, rest = _replaced(pending + char, conversions, unfinished)
            if rest not in states:
                states[rest] = chains.state()
                waiting.append(rest)
            chains.add(states[pending], ord(char), [*map(ord, output.translate(removed))], states[rest])
    end = chains.state(0.0)
    for pending, state in states.items():
        chains.add(state, EPSILON, [*map(ord, _replaced(pending, conversions)[0].translate(removed))], end)
    return chains.machine()


def _replaced(text: str, conversions: Mapping[str, str], unfinished: Collection[str] = ()) -> tuple[str, str]:
    """Convert a text from the left, until the rest is one of `unfinished`; return the output and the rest."""
    output = ""
    while text and text not in unfinished:
        size = max((end for end in range(1, len(text) + 1) if text[:end] in conversions), default=0)
        output += conversions[text[:size]] if size else text[0]
        text = text[max(size, 1) :]
    return output, text


def read(path: Path, *, marks: bool = False) -> Arcs:
    """The transducer from the words of a dictionary to their stems. `path`: the ``.aff`` or the ``.dic`` file; the other one is in the same
    folder. Each may be packed with gzip. `marks`: also read words with the flag KEEPCASE after the character `KEPT`, and words with the
    flag FORBIDDENWORD after the character `FORBIDDEN`.
    """
    dictionary = read_dictionary(path)
    with of_file(partner(path, ".aff")):
        return machine_of(dictionary, marks=marks)


def _supported(dictionary: Dictionary) -> tuple[Affixes, list[tuple[str, str]]]:
    """The affixes and input conversions of a dictionary.

    Raises:
        SizeError: an option is not supported.
    """
    options = dictionary.options
    compounds = {"COMPOUNDFLAG": options.compound, "COMPOUNDBEGIN": options.compound_begin, "COMPOUNDRULE": options.rules}
    for name in (name for name, value in compounds.items() if value):
        raise SizeError(f"the option is {name}, and look-up does not read compounds", "use fst.compile.speller, which checks them")
    if options.is_reversed:
        raise SizeError("the option is COMPLEXPREFIXES; expected words with at most one prefix", "use fst.compile.speller")
    for conversion in options.input_conversions:
        if any(conversion[2:]):
            raise SizeError(f"ICONV has a replacement of {quoted(conversion.found)} for the beginning or the end of words", "remove it")
    named = {name: getattr(options, name) or None for name in NAMED}
    conversions = [(found, inside) for found, inside, *_ in options.input_conversions]
    return Affixes(by_flag(dictionary.prefixes), by_flag(dictionary.suffixes), **named), conversions


def machine_of(dictionary: Dictionary, *, marks: bool = False) -> Arcs:
    """The transducer from words to stems. For `marks`, see `read`."""
    affixes, conversions = _supported(dictionary)
    entries = [entry for entry in dictionary.entries if not entry.is_upper]
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
    machine = _bounded(machine, "words and affixes")
    return _bounded(converted(machine, conversions, dictionary.options.ignored), "words with conversions (ICONV, IGNORE)")


def _bounded(machine: Arcs, part: str) -> Arcs:
    """The machine.

    Raises:
        SizeError: it would take long to compile.
    """
    if machine.states > MAX_STATES or len(machine.target) > MAX_TARGETS:
        found = f"the {part} have {machine.states:,} states and {len(machine.target):,} arcs"
        raise SizeError(f"{found}; expected at most {MAX_STATES:,} states and {MAX_TARGETS:,} arcs", "split the dictionary")
    return machine


def _machine(affixes: Affixes, entries: Sequence[Entry], forbidden: Collection[str]) -> Arcs:
    """The transducer of entries; it includes forbidden words, which take no affixes."""
    builder = _Builder(affixes)
    for entry in entries:
        if entry.word in forbidden:
            builder.add_alone(entry)
        else:
            builder.add(entry)
    return merge_states(builder.machine())


class _Begin(NamedTuple):
    """Prefixes that differ only in the characters that they add."""

    strip: int  # the number of characters that these prefixes strip
    root: int  # the root of the words with these prefixes
    silent: int  # the root of the words with another stem, which is written after the prefix


class _Group(NamedTuple):
    """Prefixes with which words of the same flags have the same endings. The first affix of each `Prefix` represents this `Prefix`."""

    tails: Tails  # the endings
    matches: Matches  # the first affixes
    firsts: dict[Affix, Prefix]
    begins: dict[str, list[_Begin]]  # the prefixes of first affixes, by the first characters of words


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
        self._after: dict[int, Flags] = {}
        self._anywhere = frozenset(flag for flag, some in self._prefixes.items() if any(self._is_supported(prefix) for prefix in some))

    def add(self, entry: Entry) -> None:
        """Add a word with all its affixes."""
        word, flags = entry.word, entry.flags
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
        """Add a word with the endings that strip so much of it that the conditions of prefixes may read the ending; return the other
        endings.
        """
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
        """Add paths that read a word up to its endings. The paths copy the word; if it has another stem, they write the stem at once.

        Args:
            begins: the prefixes.
            entry: the word.
            text: the path that copies the word.
            sets: the sets of endings.
        """
        word, stem = entry.word, entry.stem
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
        while len(self._sets) <= number:
            self._sets.append(self._paths.root())
        return self._sets[number]

    def _begin(self, prefix: Prefix) -> _Begin:
        """The roots of the words with a prefix; paths that read any of the equal prefixes lead to these roots."""
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
        """Add a path for each ending of a word with a prefix, because the condition of the prefix reads the endings."""
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
        """The prefixes that words with these flags may take, because of a flag of the word or of a suffix, grouped by their endings."""
        return [
            _Group(Tails(self._endings, flags, next(iter(firsts.values()))), Matches([*firsts], self._endings.take), firsts, {})
            for firsts in self._prefixes_of(flags).values()
        ]

    def _prefixes_of(self, flags: Flags) -> dict[tuple[int, bool, Flags], dict[Affix, Prefix]]:
        """The prefixes that words with these flags may take, grouped by the flag that the endings must have, by `crosses`, and by the
        prefix's flags.
        """
        self._endings.take(1 + len(flags) // AT_ONCE)
        names = self._anywhere.union(flags & self._prefixes.keys(), *map(self._prefixes_after, flags & self._affixes.suffixes.keys()))
        found: dict[tuple[int, bool, Flags], dict[Affix, Prefix]] = {}
        for flag in sorted(names):
            self._endings.take(1 + 2 * len(self._prefixes[flag]))
            for prefix, affixes in self._prefixes[flag].items():
                found.setdefault((0 if flag in flags else flag, prefix.crosses, prefix.flags), {})[affixes[0]] = prefix
        return found

    def _prefixes_after(self, flag: int) -> Flags:
        """The flags of prefixes that suffixes of the given flag have."""
        found = self._after.get(flag)
        if found is None:
            flags = {suffix.flags for suffix in self._affixes.suffixes[flag]}
            self._endings.take(len(self._affixes.suffixes[flag]) + sum(map(len, flags)) // AT_ONCE)
            found = self._after[flag] = frozenset(flag for some in flags for flag in some if flag in self._prefixes)
        return found

    def _is_supported(self, prefix: Prefix) -> bool:
        """Whether any word may take a prefix because of a suffix: the prefix has the flag of the suffix, and the suffix has the flag of the
        prefix.
        """
        self._endings.take(1 + len(prefix.flags) // AT_ONCE)
        return any(prefix.flag in self._prefixes_after(flag) for flag in prefix.flags if flag in self._affixes.suffixes)


def _grouped(prefixes: Iterable[Affix]) -> dict[Prefix, list[Affix]]:
    """Prefixes of one flag, grouped if they differ only in the characters that they add."""
    found: dict[Prefix, list[Affix]] = {}
    for affix in prefixes:
        key = Prefix(affix.flag, affix.crosses, affix.strip, affix.condition, affix.may_lack_last, affix.flags)
        found.setdefault(key, []).append(affix)
    return found
