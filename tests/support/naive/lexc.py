"""Lexicons of lexc by their definition: all paths through the entries, each with its analysis and form; and regular expressions as sets."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

SYMBOLS = ("+N", "+Pl", "ab", "@U.F.X@")
ESCAPED = ' !%:;<>"0'


class Entry(NamedTuple):
    """An entry: the strings that it adds to the analysis and to the form, and the lexicon that continues (None: the end)."""

    upper: tuple[str, ...]
    lower: tuple[str, ...]
    continuation: int | None


Lexicons = list[list[Entry]]


def random_lexicons(random: Random) -> Lexicons:
    """Lexicons without cycles, whose entries are sequences of characters and symbols."""

    def side() -> tuple[str, ...]:
        return tuple(random.choices([*"abc" * 4, *ESCAPED, *SYMBOLS], k=random.choice([0, 1, 1, 2, 3])))

    count = random.randint(1, 4)
    found: Lexicons = []
    for number in range(count):
        following = [None, *range(number + 1, count)]
        found.append([Entry(side(), side(), random.choice(following)) for _ in range(random.randint(1, 5))])
    return found


def text_of(lexicons: Lexicons, random: Random) -> str:
    """The lexicons as a file, the first one with the name Root."""
    lines = [f"Multichar_Symbols {' '.join(SYMBOLS)} ! symbols", ""]
    for number, entries in enumerate(lexicons):
        lines.append(f"LEXICON {_name(number)}")
        for upper, lower, continuation in entries:
            both = _written(upper) if upper and upper == lower and random.random() < 0.5 else f"{_written(upper)}:{_written(lower)}"
            info = random.choice(["", ' "any ; string"', " "])
            lines.append(f"  {both}\t{_name(continuation)}{info};{random.choice(['', ' ! a comment ;'])}")
    return "\n".join([*lines, "END", "any text"])


def _name(number: int | None) -> str:
    return "#" if number is None else "Root" if number == 0 else f"L{number}"


def _written(side: tuple[str, ...]) -> str:
    return "".join(part if part in SYMBOLS or part not in ESCAPED else f"%{part}" for part in side)


def pairs(lexicons: Lexicons, number: int | None = 0) -> set[tuple[str, str]]:
    """The pairs of a form and its analysis, for all paths that begin in one lexicon."""
    if number is None:
        return {("", "")}
    found = set()
    for upper, lower, continuation in lexicons[number]:
        for form, analysis in pairs(lexicons, continuation):
            found.add(("".join(lower) + form, "".join(upper) + analysis))
    return found


Relation = set[tuple[tuple[str, ...], tuple[str, ...]]]  # pairs of an upper and a lower string of symbols


class Expression(NamedTuple):
    """A regular expression of xfst without cycles, and its pairs."""

    text: str
    relation: Relation


def random_expression(random: Random, depth: int, *, is_acceptor: bool = False) -> Expression:
    """A regular expression of at most a certain depth; as an acceptor, all its pairs have equal sides."""
    if not depth:
        return random.choice(ATOMS if is_acceptor else [*ATOMS, *PAIRS])
    name = random.choice([*SAME_KIND, *(() if is_acceptor else OTHERS)])
    below = [random_expression(random, depth - 1, is_acceptor=is_acceptor or name in OF_ACCEPTORS) for _ in range(2)]
    text, operation = (SAME_KIND | OTHERS)[name]
    return Expression(f"[{text.format(*(one.text for one in below))}]", operation(*(one.relation for one in below)))


def _concatenated(first: Relation, second: Relation) -> Relation:
    return {(upper + other, lower + another) for upper, lower in first for other, another in second}


def _parts(symbols: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The substrings of a string of symbols."""
    return {symbols[start:end] for start in range(len(symbols) + 1) for end in range(start, len(symbols) + 1)}


ATOMS = [Expression(text, {(symbols, symbols)}) for text, symbols in {
    "a": ("a",), "b": ("b",), "0": (), "[]": (), '"+N"': ("+N",), "%+N": ("+N",), "{ab}": ("a", "b"), '" "': (" ",), "%0": ("0",),
}.items()]  # fmt: skip
PAIRS = [Expression(text, {pair}) for text, pair in {
    "a:b": (("a",), ("b",)), "0:a": ((), ("a",)), 'b:"+N"': (("b",), ("+N",)), "{ab}:{baa}": (("a", "b"), ("b", "a", "a")),
}.items()]  # fmt: skip
SAME_KIND = {
    "sequence": ("{} {}", _concatenated),
    "union": ("{} | {}", lambda first, second: first | second),
    "optional": ("({}) {}", lambda first, second: _concatenated(first | {((), ())}, second)),
    "twice": ("{}^2 {}", lambda first, second: _concatenated(_concatenated(first, first), second)),
    "range": ("{}^{{0,2}} | {}", lambda first, second: {((), ())} | first | _concatenated(first, first) | second),
    "fewer": ("{}^<2 | {}", lambda first, second: {((), ())} | first | second),
    "intersection": ("{} & {}", lambda first, second: first & second),
    "difference": ("{} - {}", lambda first, second: first - second),
    "reversal": ("{}.r | {}", lambda first, second: {(upper[::-1], lower[::-1]) for upper, lower in first} | second),
    "inversion": ("{}.i | {}", lambda first, second: {(lower, upper) for upper, lower in first} | second),
    "upper": ("{}.u | {}", lambda first, second: {(upper, upper) for upper, _ in first} | second),
    "lower": ("{}.l | {}", lambda first, second: {(lower, lower) for _, lower in first} | second),
    "complement": ("~{} & {}", lambda first, second: second - first),
    "any": ("[?|0] {} & {}", lambda first, second: {pair for pair in second if {(pair[0][end:],) * 2 for end in (0, 1)} & first}),
    "another": ("\\{} & {}", lambda first, second: {pair for pair in second - first if len(pair[0]) == 1}),
    "containing": ("${} & {}", lambda first, second: {pair for pair in second if _parts(pair[0]) & {upper for upper, _ in first}}),
    "priority": ("{} .P. {}", lambda first, second: first | {pair for pair in second if pair[0] not in {upper for upper, _ in first}}),
}
OTHERS = {
    "product": ("{} .x. {}", lambda first, second: {(upper, lower) for upper, _ in first for lower, _ in second}),
    "colon": ("{}:{}", lambda first, second: {(upper, lower) for upper, _ in first for lower, _ in second}),
    "composition": ("{} .o. {}", lambda first, second: {(upper, low) for upper, lower in first for up, low in second if up == lower}),
}
OF_ACCEPTORS = ("intersection", "difference", "product", "colon", "complement", "any", "another", "containing")
