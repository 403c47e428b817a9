"""The named sets of characters in patterns, read from ``properties.tsv``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns.code_points import Set, complement, of_runs, union
from fst.errors import UnsupportedError, cut

GROUPS = {"Letter": "L", "Mark": "M", "Number": "N", "Punctuation": "P", "Symbol": "S", "Separator": "Z"}
CASED_LETTERS = ("Lu", "Ll", "Lt")
ASCII: Set = np.array([0, 0x80], np.int64)
# POSIX bracket → property, for brackets with the same characters as a property.
BRACKETS = {name: name for name in ("alnum", "alpha", "ascii", "cntrl", "digit", "lower", "space", "upper")} | {"xdigit": "AHex"}


@lru_cache(maxsize=1 << 8)
def named(name: str) -> Set:
    r"""The set of ``\p{name}``, where the name is any spelling of a general category, a script or another property.

    >>> named("Nd")[:2].tolist() == named("decimal number")[:2].tolist() == [ord("0"), ord("9") + 1]
    True
    """
    key = _key(name)
    if key in _by_key():
        return union(*(_runs(listed) for listed in _by_key()[key]))
    if key in ("cn", "unassigned"):
        return complement(named("Assigned"))
    if key in ("c", "other"):
        return union(named("Cc"), named("Cf"), named("Co"), named("Cn"))
    raise UnsupportedError(f"the pattern has \\p{{{cut(name)}}}, which is not a known property")


def scripts() -> list[str]:
    """The names of all scripts. A character in none of these scripts has an unknown script.

    >>> "Latin" in scripts()
    True
    """
    return [names.split()[0] for names, _ in _lines()["script"]]


@cache
def bracket(name: str) -> Set:
    """The set of ``[[:name:]]`` in Oniguruma; fancy-regex has only the ASCII characters of this set."""
    if name == "blank":
        return union(named("Zs"), of_runs([(9, 9)]))
    if name == "word":
        return kept("oniguruma", "bracket_word")
    if name in BRACKETS:
        return named(BRACKETS[name])
    if name in ("graph", "print", "punct"):
        return kept("oniguruma", name)
    raise UnsupportedError(f"the pattern has [:{cut(name)}:], which is not a known set")


@cache
def kept(kind: str, name: str) -> Set:
    """Look up a set in ``properties.tsv`` by the kind and the first name of its line."""
    return next(_runs(runs) for names, runs in _lines()[kind] if names.split()[0] == name)


def fold(edges: Set) -> Set:
    """Add to a set all characters that ``(?i)`` treats as equal to one of its members.

    >>> [hex(edge) for edge in fold(of_runs([(ord("k"), ord("k"))]))[::2]]
    ['0x4b', '0x6b', '0x212a']
    """
    codes, numbers = _folds()
    inside = np.searchsorted(edges, codes, side="right") % 2 == 1
    found = np.zeros(numbers[-1] + 1, np.bool_)
    found[numbers[inside]] = True
    return union(edges, of_runs((code, code) for code in codes[found[numbers]].tolist()))


@cache
def unfolding() -> Set:
    """The characters that ``(?i)`` of Oniguruma treats as equal to several characters, such as ß, which equals ss."""
    return of_runs((int(code, 16), int(code, 16)) for code, _ in _lines()["unfolding"])


@cache
def unfolded() -> tuple[str, ...]:
    """The sequences of characters, such as ss, that ``(?i)`` of Oniguruma treats as equal to a single character."""
    return tuple("".join(chr(int(part, 16)) for part in parts.split()) for _, parts in _lines()["unfolding"])


def cases() -> Iterator[list[int]]:
    """The classes of characters that ``(?i)`` treats as equal."""
    return ([int(code, 16) for code in codes.split()] for _, codes in _lines()["fold"])


@cache
def _folds() -> tuple[Set, Set]:
    """The characters that have a case, and the number of each character's class of case variants."""
    listed = [(code, number) for number, codes in enumerate(cases()) for code in codes]
    codes, numbers = np.array(listed, np.int64).T
    return codes, numbers


@cache
def _by_key() -> dict[str, list[str]]:
    """The runs of each property, by each of its names."""
    found = {_key(name): [runs] for kind in ("category", "script", "binary") for names, runs in _lines()[kind] for name in names.split()}
    categories = {names.split()[0]: runs for names, runs in _lines()["category"]}
    for long, short in GROUPS.items():
        found[_key(long)] = found[_key(short)] = [runs for name, runs in categories.items() if name[0] == short]
    found["lc"] = found["casedletter"] = [categories[name] for name in CASED_LETTERS]
    found["punct"], found["digit"], found["cntrl"] = found["p"], found["nd"], found["cc"]
    found["alnum"] = [*found["alphabetic"], *found["nd"]]
    found["assigned"] = [*categories.values(), "D800-DFFF"]
    found["any"] = [f"0-{CODE_POINTS - 1:X}"]
    found["ascii"] = ["0-7F"]
    return found


@cache
def _runs(listed: str) -> Set:
    ends = (run.partition("-") for run in listed.split())
    return of_runs((int(first, 16), int(last or first, 16)) for first, _, last in ends)


@cache
def _lines() -> dict[str, list[tuple[str, str]]]:
    """Kind of line in ``properties.tsv`` → the names and the runs in all lines of this kind."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in files("fst.compile.patterns").joinpath("properties.tsv").read_text("ascii").splitlines():
        if not line.startswith("#"):
            kind, names, runs = line.split("\t")
            found.setdefault(kind, []).append((names, runs))
    return found


def _key(name: str) -> str:
    """The form of a name for comparison: lower case, without spaces, hyphens and underscores."""
    return "".join(char for char in name.lower() if char not in " -_")
