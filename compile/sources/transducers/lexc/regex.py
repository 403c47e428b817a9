"""Regular expressions of xfst, as HFST reads them in entries and definitions of lexc.

Signs with a meaning, from the tightest to the loosest; operators of one line apply from left to right:

- ``"…"`` and a run of other characters are one symbol, ``{…}`` is a string, ``0``, ``[]`` and ``""`` are ε; ``%`` precedes a character
  without its meaning; ``x:y``, ``::`` and a weight; ``[…]``, and ``(…)``, which is optional;
- ``* + ^n ^n,k ^{n,k} ^>n ^<n .i .r .u .l``: repeats, inversion, reversal, upper and lower side;
- concatenation, without a sign;
- ``| & -``: union, intersection, difference;
- ``.x. .o.``: the cross product, composition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from fst.compile.algebra import rational
from fst.compile.algebra.arcs import EPSILON, Arcs
from fst.compile.algebra.compose import compose, intersect
from fst.compile.algebra.sets import difference
from fst.compile.algebra.symbols import Symbols
from fst.compile.sources.transducers.lexc.fragment import Fragment
from fst.compile.sources.transducers.lexc.scanner import QUOTED, Scanner, Token
from fst.errors import VocabularyError, quoted

SIGNS = r"""\s!"%&()*+,\-./:;<>?@\[\\\]^_{|}~$"""
PART = re.compile(
    rf"""(?P<skipped>\s+|!.*)|(?P<quoted>{QUOTED})|(?P<string>\{{[^{{}}\n]+\}})|(?P<weight>::-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))
    |(?P<power>\^(?:\{{[0-9]+,[0-9]+\}}|[0-9]+(?:,[0-9]+)?|[<>][0-9]+))|(?P<empty>\[\s*\])|(?P<product>\.[xo]\.)|(?P<postfix>[*+]|\.[iurl])
    |(?P<infix>[|&-])|(?P<name>(?:[^{SIGNS}]|%.)+)
    |(?P<unknown>\.\#\.|\.[pPO]\.|\.-[ul]\.|[$?~\\/_,.@])|(?P<sign>.)""",
    re.VERBOSE,
)
ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))")
CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
MAX_DEPTH, MAX_OPERATIONS = 50, 100
REMEDY = "compile the lexicon with hfst-lexc, and read its machine from AT&T text"


class Part(NamedTuple):
    """A part of an expression: its kind, a group of `PART`; its text; and its position in the file."""

    kind: str
    text: str
    at: int


def parse(scanner: Scanner, token: Token, symbols: Symbols, definitions: Mapping[str, Arcs]) -> Arcs:
    """The machine of an expression, which reads the upper side.

    Args:
        scanner: the file.
        token: the expression, and its position in the file.
        symbols: the labels of symbols; new ones are added.
        definitions: the machines of defined names.
    """
    return _Parser(scanner, token, symbols, definitions).machine()


class _Parser:
    """The parts of an expression, and the next of them."""

    def __init__(self, scanner: Scanner, token: Token, symbols: Symbols, definitions: Mapping[str, Arcs]) -> None:
        self._scanner, self._symbols, self._definitions = scanner, symbols, definitions
        found = (Part(match.lastgroup or "", match[0], token.at + match.start()) for match in PART.finditer(token.text))
        self._parts = [part for part in found if part.kind != "skipped"]
        self._parts.append(Part("end", "", token.at + len(token.text)))
        self._next = self._depth = self._operations = 0

    def machine(self) -> Arcs:
        """The machine of the whole expression."""
        found = self._product()
        if self._part.kind != "end":
            raise self._fault("an operator, or the end of the expression")
        return found.machine(self._symbols.names)

    @property
    def _part(self) -> Part:
        return self._parts[self._next]

    def _take(self) -> Part:
        self._next += 1
        return self._parts[self._next - 1]

    def _skip(self, text: str) -> bool:
        """Skip the next part, if it is a certain sign."""
        is_next = self._part.text == text and self._part.kind in ("sign", "infix", "product")
        self._next += is_next
        return is_next

    def _fault(self, expected: str) -> VocabularyError:
        kind, text, at = self._part
        if kind == "unknown":
            raise self._scanner.unsupported(at, f"the regular expression has {text}, which is not supported; {REMEDY}")
        found = quoted(text) if text else "an end"
        return self._scanner.fault(at, f"the regular expression has {found}; expected {expected}; write % before a special character")

    def _product(self) -> Fragment:
        """Compositions and cross products."""
        found = self._union()
        while self._part.kind == "product":
            part = self._take()
            found = self._operated(part, compose if part.text == ".o." else self._cross(part), found, self._union())
        return found

    def _union(self) -> Fragment:
        found = self._sequence()
        while self._part.kind == "infix":
            part = self._take()
            other = self._sequence()
            if part.text == "|":
                found = found.united(other)
            else:
                found = self._operated(part, intersect if part.text == "&" else difference, found, other)
        return found

    def _sequence(self) -> Fragment:
        found = self._repeat()
        while self._part.kind in ("quoted", "string", "empty", "name") or self._part.text in ("[", "("):
            found = found.followed_by(self._repeat())
        return found

    def _repeat(self) -> Fragment:
        found = self._term()
        while self._part.kind in ("postfix", "power"):
            part = self._take()
            side = SIDES.get(part.text)
            found = self._operated(part, side, found) if side else found.repeated(*self._range(part))
        return found

    def _range(self, part: Part) -> tuple[int, int | None]:
        """The numbers of repeats of a postfix operator; None: any number."""
        if part.kind == "postfix":
            return int(part.text == "+"), None
        numbers = [int(number) for number in re.findall("[0-9]+", part.text)]
        if part.text[1] == ">":
            return numbers[0] + 1, None
        least, most = (0, numbers[0] - 1) if part.text[1] == "<" else (numbers[0], numbers[-1])
        if most < least:
            raise self._scanner.fault(part.at, f"the regular expression has the counts {part.text}; expected the smaller number first")
        return least, most

    def _term(self) -> Fragment:
        """A symbol, a string, or an expression in brackets, possibly with another one after a colon, and with a weight."""
        part = self._part
        found, labels = self._half()
        if self._skip(":"):
            other, others = self._half()
            if labels is None or others is None:
                found = self._operated(part, self._cross(part), found, other)
            else:
                found = _chain([*zip_longest(labels, others, fillvalue=EPSILON)])
        while self._part.kind == "weight":
            found = found.weighted(float(self._take().text[2:]))
        return found

    def _half(self) -> tuple[Fragment, list[int] | None]:
        """A term without colon and weight; and its labels, if it is a string."""
        if self._part.text in ("[", "(") and self._part.kind == "sign":
            return self._brackets(), None
        if self._part.kind not in ("quoted", "string", "empty", "name"):
            raise self._fault("a symbol or brackets")
        kind, text, _ = self._take()
        if kind == "string":
            names = [*text[1:-1]]
        elif kind == "quoted":
            names = [ESCAPE.sub(_unescaped, text[1:-1])]
        else:
            names = [re.sub("%(.)", r"\1", "" if text == "0" or kind == "empty" else text)]
        if len(names) == 1 and names[0] in self._definitions and kind != "string":
            return Fragment.of_machine(self._definitions[names[0]]), None
        labels = [self._symbols.label(name) for name in names]
        return _chain([*zip(labels, labels, strict=True)]), labels

    def _brackets(self) -> Fragment:
        if self._depth == MAX_DEPTH:
            raise self._fault(f"at most {MAX_DEPTH} brackets in each other")
        self._depth += 1
        closing = "]" if self._take().text == "[" else ")"
        found = self._product()
        if not self._skip(closing):
            raise self._fault(closing)
        self._depth -= 1
        return found if closing == "]" else found.repeated(0, 1)

    def _operated(self, part: Part, operation: Callable[..., Arcs], *fragments: Fragment) -> Fragment:
        """The fragment of an operation on machines."""
        self._operations += 1
        if self._operations > MAX_OPERATIONS:
            many = f"the regular expression has more than {MAX_OPERATIONS} of the operators & - : .x. .o. .i .r .u .l between expressions"
            raise self._scanner.unsupported(part.at, f"{many}; expected fewer; use definitions")
        try:
            return Fragment.of_machine(operation(*(fragment.machine(self._symbols.names) for fragment in fragments)))
        except VocabularyError as error:
            raise self._scanner.fault(part.at, str(error)) from None

    def _cross(self, part: Part) -> Callable[[Arcs, Arcs], Arcs]:
        """The cross product of two acceptors, for an operator."""

        def crossed(upper: Arcs, lower: Arcs) -> Arcs:
            for machine in (upper, lower):
                if (machine.ilabel != machine.olabel).any():
                    raise self._scanner.fault(part.at, "a cross product has pairs of different symbols; expected expressions without pairs")
            return rational.concatenate(_erased(upper), rational.invert(_erased(lower)))

        return crossed


def _erased(arcs: Arcs) -> Arcs:
    """The machine that reads the strings of an acceptor, and writes nothing."""
    return replace(arcs, olabel=arcs.ilabel * EPSILON)


SIDES: dict[str, Callable[[Arcs], Arcs]] = {
    ".i": rational.invert,
    ".r": rational.reverse,
    ".u": lambda arcs: rational.project(arcs, "input"),
    ".l": lambda arcs: rational.project(arcs, "output"),
}


def _chain(pairs: list[tuple[int, int]]) -> Fragment:
    """The fragment of a sequence of pairs of labels."""
    found = Fragment.of_pair(*pairs[0])
    for pair in pairs[1:]:
        found = found.followed_by(Fragment.of_pair(*pair))
    return found


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else CONTROLS.get(match[3], match[3])
