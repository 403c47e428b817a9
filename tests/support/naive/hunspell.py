"""Dictionaries of Hunspell by their definition: all words that entries and affixes make, each with its stems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random
from re import fullmatch

NEEDS_AFFIX, CIRCUMFIX, ONLY_IN_COMPOUND, FORBIDDEN = "NXOZ"


@dataclass
class Rule:
    """A prefix or suffix."""

    flag: str
    crosses: bool
    strip: str
    add: str
    condition: str
    flags: str


@dataclass
class Dictionary:
    """A dictionary: its entries (word, flags), suffixes and prefixes."""

    entries: list[tuple[str, str]]
    suffixes: list[Rule] = field(default_factory=list)
    prefixes: list[Rule] = field(default_factory=list)
    options: str = ""

    def aff(self) -> str:
        """The text of the ``.aff`` file."""
        lines = ["SET UTF-8", self.options, "NEEDAFFIX N", "CIRCUMFIX X", "ONLYINCOMPOUND O", "FORBIDDENWORD Z"]
        for kind, rules in (("SFX", self.suffixes), ("PFX", self.prefixes)):
            for flag in dict.fromkeys(rule.flag for rule in rules):
                some = [rule for rule in rules if rule.flag == flag]
                lines.append(f"{kind} {flag} {'NY'[some[0].crosses]} {len(some)}")
                for rule in some:
                    flags = f"/{rule.flags}" if rule.flags else ""
                    lines.append(f"{kind} {flag} {rule.strip or 0} {rule.add or 0}{flags} {rule.condition}")
        return "\n".join(lines) + "\n"

    def dic(self) -> str:
        """The text of the ``.dic`` file."""
        return f"{len(self.entries)}\n" + "".join(f"{word}/{flags}\n" if flags else f"{word}\n" for word, flags in self.entries)

    def stems(self) -> dict[str, set[str]]:
        """The stems of each word."""
        banned = {word for word, flags in self.entries if FORBIDDEN in flags}
        removed = banned - {word for word, flags in self.entries if FORBIDDEN not in flags}
        found: dict[str, set[str]] = {}
        for stem, flags in self.entries:
            for text, is_stem in self._forms(stem, flags):
                if text not in removed and (is_stem or stem not in banned):
                    found.setdefault(text, set()).add(stem)
        return found

    def _forms(self, stem: str, flags: str) -> Iterator[tuple[str, bool]]:
        """Yield each word that an entry makes with a first suffix, a second suffix and a prefix, all optional, and whether it has no
        affixes.
        """
        for prefix, first, second in product([None, *self.prefixes], [None, *self.suffixes], [None, *self.suffixes]):
            used = [rule for rule in (prefix, first, second) if rule]
            if not _is_allowed(flags, prefix, first, second):
                continue
            text: str | None = stem
            for rule in (first, second):
                text = _with_suffix(text, rule)
            if prefix and text is not None:
                holds = text.startswith(prefix.strip) and fullmatch(prefix.condition + ".*", text)
                text = prefix.add + text[len(prefix.strip) :] if holds else None
            if text:
                yield text, not used


def _with_suffix(text: str | None, rule: Rule | None) -> str | None:
    if text is None or rule is None:
        return text
    holds = text.endswith(rule.strip) and fullmatch(".*" + rule.condition, text)
    return text[: len(text) - len(rule.strip)] + rule.add if holds else None


def _is_allowed(flags: str, prefix: Rule | None, first: Rule | None, second: Rule | None) -> bool:
    """Whether the flags of an entry and of affixes allow this combination."""
    used = [rule for rule in (prefix, first, second) if rule]
    own = [rule.flags if rule else "" for rule in (prefix, first)]
    if second and not (first and second.flag in first.flags):
        return False
    if prefix and not all(rule.crosses for rule in used if len(used) > 1):
        return False
    return (
        (not first or first.flag in flags + own[0])
        and (not prefix or prefix.flag in flags + own[1])
        and (NEEDS_AFFIX not in flags if not used else not all(NEEDS_AFFIX in rule.flags for rule in used))
        and (CIRCUMFIX in own[0]) == (CIRCUMFIX in own[1])
        and ONLY_IN_COMPOUND not in flags + "".join(own)
    )


def random_dictionary(random: Random, *, forbidden: bool = True) -> Dictionary:
    """A dictionary of words of "a", "b" and "c" with random affixes."""

    def letters(least: int, most: int) -> str:
        return "".join(random.choices("abc", k=random.randint(least, most)))

    def rules(names: str) -> list[Rule]:
        crossing = {name: random.random() < 0.7 for name in names}
        return [_random_rule(random, name, crossing[name], letters) for name in names for _ in range(random.randint(1, 3))]

    special = "NXO" + "Z" * forbidden
    entries = [(letters(1, 4), "".join(random.sample("ABCPQ" * 2 + special, random.randint(0, 4)))) for _ in range(random.randint(1, 8))]
    return Dictionary(entries, rules("ABC"), rules("PQ"))


def _random_rule(random: Random, name: str, crosses: bool, letters: Callable[[int, int], str]) -> Rule:
    """An affix with any flags but its own."""
    strip = random.choice(["", "", letters(1, 2)])
    parts = [random.choice([".", "a", "b", "c", "[ab]", "[^a]"]) for _ in range(random.randint(0, 2))]
    others = [flag for flag in "ABCPQNXO" if flag != name]
    flags = "".join(random.sample(others, random.choice([0, 0, 1, 2])))
    return Rule(name, crosses, strip, letters(0, 2), "".join(parts) or ".", flags)
