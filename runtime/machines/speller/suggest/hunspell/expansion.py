"""The forms of a stem whose affixes a misspelling also has [AffixMgr::expand_rootword]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.speller import layout
from fst.runtime.machines.speller.suggest.hunspell.letters import Letters
from fst.tables.proof import need

MOST_FORMS = 100
REFUSED = layout.NEEDS_AFFIX | layout.CIRCUMFIX | layout.ONLY_IN_COMPOUND


class Affix(NamedTuple):
    """An affix; its parts of the condition are from the edge of a word."""

    add: str
    strip: str
    condition: tuple[int, ...]
    crosses: bool
    may_lack_last: bool
    is_refused: bool  # whether it must not be the only affix


class Forms:
    """The forms of stems.

    Args:
        table: a table with the options of suggestions.
        letters: the case of letters.
    """

    def __init__(self, table: Any, letters: Letters) -> None:
        self._table, self._strings = table, letters.strings
        self._symbols = {char: symbol for symbol, char in enumerate(letters.texts) if symbol}
        self._full_strip = bool(table.named_options.full_strip)
        self._ends = table.set_ends.tolist()
        options, first, end = table.named_options, int(table.named_options.prefix_lists), len(table.affix_ends) - 1
        suffixes = _strings(table, int(options.suffix_root), letters.texts, range(layout.SUFFIX_LISTS, first))
        self._suffixes = self._by_flag({0: "", **{number: text[::-1] for number, text in suffixes.items()}})
        self._prefixes = self._by_flag({1: "", **_strings(table, int(options.prefix_root), letters.texts, range(first, end))})

    def _by_flag(self, texts: Mapping[int, str]) -> Mapping[int, list[Affix]]:
        """The affixes of each flag, the last one of the dictionary first. `texts`: the addition of each list of affixes."""
        found: dict[int, list[tuple[int, Affix]]] = {}
        for number, text in texts.items():
            for at in range(int(self._table.affix_ends[number]), int(self._table.affix_ends[number + 1])):
                flag, affix = self._affix(at, text)
                found.setdefault(flag, []).append((-int(self._table.affix_order[at]), affix))
        return {flag: [affix for _, affix in sorted(some, key=lambda pair: pair[0])] for flag, some in found.items()}

    def _affix(self, at: int, text: str) -> tuple[int, Affix]:
        table = self._table
        flag, strip, place, size, own, kind, _ = table.affixes[at].tolist()
        condition = tuple(table.conditions[place : place + size].tolist())
        is_refused = bool(int(table.set_bits[own]) & REFUSED)
        crosses, may_lack_last = bool(kind & layout.CROSSES), bool(kind & layout.MAY_LACK_LAST)
        return flag, Affix(text, self._strings[strip], condition, crosses, may_lack_last, is_refused)

    def fitting(self, word: str) -> Fitting:
        """The affixes that a misspelling has."""
        return Fitting(self, word)

    def flags_of(self, number: int) -> list[int]:
        """The flags of a set."""
        found: list[int] = self._table.set_flags[self._ends[number] : self._ends[number + 1]].tolist()
        return found

    def needs_affix(self, number: int) -> bool:
        """Whether a stem with a set of flags is no word."""
        return bool(int(self._table.set_bits[number]) & (layout.NEEDS_AFFIX | layout.ONLY_IN_COMPOUND))

    def with_suffix(self, stem: str, suffix: Affix) -> str:
        """A stem with a suffix, or ""."""
        fits = self._strips(stem, suffix) and stem.endswith(suffix.strip) and self._fits(stem[::-1], suffix)
        return stem[: len(stem) - len(suffix.strip)] + suffix.add if fits else ""

    def with_prefix(self, stem: str, prefix: Affix) -> str:
        """A stem with a prefix, or ""."""
        fits = self._strips(stem, prefix) and stem.startswith(prefix.strip) and self._fits(stem, prefix)
        return prefix.add + stem[len(prefix.strip) :] if fits else ""

    def _strips(self, stem: str, affix: Affix) -> bool:
        return len(stem) > len(affix.strip) or (not stem and self._full_strip)

    def _fits(self, edge: str, affix: Affix) -> bool:
        condition = affix.condition
        if affix.may_lack_last and len(condition) == len(edge) + 1:
            condition = condition[:-1]
        if len(condition) > len(edge):
            return False
        symbols = [self._symbols.get(char, 0) for char in edge[: len(condition)]]
        return all(int(self._table.parts[part, symbol >> 6]) >> (symbol & 63) & 1 for part, symbol in zip(condition, symbols, strict=True))

    def suffixes(self, flag: int) -> list[Affix]:
        """The suffixes of a flag."""
        return self._suffixes.get(flag, [])

    def prefixes(self, flag: int) -> list[Affix]:
        """The prefixes of a flag."""
        return self._prefixes.get(flag, [])


class Fitting:
    """The affixes that a misspelling has, and the forms with them."""

    def __init__(self, forms: Forms, word: str) -> None:
        self._forms, self._word = forms, word
        self._suffixes, self._prefixes = dict[int, list[Affix]](), dict[int, list[Affix]]()

    def forms(self, stem: str, number: int) -> list[str]:
        """The forms of a stem with a set of flags, at most `MOST_FORMS`."""
        found = [(stem, False)] if not self._forms.needs_affix(number) else []
        flags = self._forms.flags_of(number)
        found += [each for flag in flags for each in self._with_suffixes(stem, flag)]
        del found[MOST_FORMS:]
        for text, _ in [each for each in found[1:] if each[1]]:
            found += [(form, True) for flag in flags for form in self._with_prefixes(text, flag, is_second=True)]
        found += [(form, True) for flag in flags for form in self._with_prefixes(stem, flag, is_second=False)]
        return [text for text, _ in found[:MOST_FORMS]]

    def _with_suffixes(self, stem: str, flag: int) -> Iterator[tuple[str, bool]]:
        if flag not in self._suffixes:
            word = self._word
            some = (each for each in self._forms.suffixes(flag) if not each.is_refused)
            self._suffixes[flag] = [each for each in some if not each.add or (len(word) > len(each.add) and word.endswith(each.add))]
        for suffix in self._suffixes[flag]:
            form = self._forms.with_suffix(stem, suffix)
            if form:
                yield form, suffix.crosses

    def _with_prefixes(self, stem: str, flag: int, *, is_second: bool) -> Iterator[str]:
        if flag not in self._prefixes:
            word, some = self._word, self._forms.prefixes(flag)
            self._prefixes[flag] = [each for each in some if not each.add or (len(word) > len(each.add) and word.startswith(each.add))]
        for prefix in self._prefixes[flag]:
            if prefix.crosses if is_second else not prefix.is_refused:
                form = self._forms.with_prefix(stem, prefix)
                if form:
                    yield form


def _strings(table: Any, root: int, texts: list[str], lists: range) -> dict[int, str]:
    """The strings that are read from a root, by their lists of affixes. Longer strings than `layout.LIMIT` fit no word, and are left out.

    Raises:
        TableError: there are more strings than lists.
    """
    entries: Array = table.entries.astype(np.uint64).view(np.int64)
    labels, row = len(texts), np.arange(len(texts))
    found, waiting, left = dict[int, str](), [(root, 0, "")], len(lists) * layout.LIMIT
    while waiting:
        node, number, text = waiting.pop()
        some = entries[node + 1 : node + 1 + labels]
        symbols = np.flatnonzero(some >> layout.ENTRY.label_shift == row[: len(some)]).tolist() if len(text) < layout.LIMIT else []
        left -= len(symbols)
        need(left >= 0, f"state {root} reads too many affixes; expected one for each of {len(lists)} lists")
        for symbol in symbols:
            entry = int(some[symbol])
            after = (number & ~1) + (entry >> layout.TARGET_BITS & layout.ENTRY.max_value)
            if after & 1 and after >> 1 < len(lists):
                found[lists[after >> 1]] = text + texts[symbol]
            waiting.append((entry & layout.ENTRY.max_target, after, text + texts[symbol]))
    return found
