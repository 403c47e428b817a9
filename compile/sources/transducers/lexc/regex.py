r"""Regular expressions of xfst, as HFST reads them in entries and definitions of lexc.

Signs with a meaning, from the tightest to the loosest; operators of one line apply from left to right:

- ``"…"`` and a run of other characters are one symbol, ``{…}`` is a string, ``?`` is any symbol, ``0``, ``[]`` and ``""`` are ε; ``%``
  precedes a character without its meaning; ``x:y``, ``::`` and a weight; ``[…]``, and ``(…)``, which is optional;
- ``\``: any symbol except some;
- ``* + ^n ^n,k ^{n,k} ^>n ^<n .i .r .u .l``: repeats, inversion, reversal, upper and lower side;
- ``~ $``: the complement; all strings that contain some;
- concatenation, without a sign;
- ``| & - .P. .p.``: union, intersection and difference of sets of paths, priority union of the upper and the lower side;
- ``.x. .o.``: the cross product, composition.

All machines of an expression have the symbols that the expression and its definitions name. So ``?`` is an arc for each of them, and an arc
for any other symbol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product, zip_longest
from typing import NamedTuple

from fst.automata.flags import FLAG
from fst.compile.algebra import rational
from fst.compile.algebra.arcs import ANOTHER, EPSILON, MAX_WEIGHT, OTHER, Arcs, characters_of, empty
from fst.compile.algebra.compose import compose, intersect
from fst.compile.algebra.other import has_other, without_other
from fst.compile.algebra.sets import cross, difference, on_paths, priority_union
from fst.compile.algebra.symbols import Symbols, with_shared_symbols
from fst.compile.sources.transducers.lexc.fragment import MAX_ARCS, Fragment, too_large
from fst.compile.sources.transducers.lexc.scanner import QUOTED, Scanner, Token
from fst.errors import VocabularyError, quoted

SIGNS = r"""\s!"%&()*+,\-./:;<>?@\[\\\]^_{|}~$"""
PART = re.compile(
    rf"""(?P<skipped>\s+|!.*)|(?P<quoted>{QUOTED})|(?P<string>\{{[^{{}}\n]+\}})|(?P<weight>::-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))
    |(?P<power>\^(?:\{{[0-9]+,[0-9]+\}}|[0-9]+(?:,[0-9]+)?|[<>][0-9]+))|(?P<empty>\[\s*\])|(?P<product>\.[xo]\.)|(?P<postfix>[*+]|\.[iurl])
    |(?P<infix>[|&-]|\.[pP]\.)|(?P<name>(?:[^{SIGNS}]|%.)+)|(?P<any>\?)|(?P<unknown>\.\#\.|\.O\.|\.-[ul]\.|\$[.?]|[/_,.@])
    |(?P<prefix>[~$])|(?P<sign>.)""",
    re.VERBOSE,
)
ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))")
CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
SYMBOLS = ("quoted", "string", "empty", "name")  # kinds of parts
ANY = -1  # in place of the label of any symbol
MAX_DEPTH, MAX_OPERATIONS, MAX_DIGITS = 50, 100, 9
REMEDY = "compile the lexicon with hfst-lexc, and read its machine from AT&T text"


class Part(NamedTuple):
    """A part of an expression: its kind, a group of `PART`; its text; and its position in the file."""

    kind: str
    text: str
    at: int


def parse(scanner: Scanner, token: Token, definitions: Mapping[str, Arcs]) -> Arcs:
    """The machine of an expression, which reads the upper side, with symbols of its own.

    Args:
        scanner: the file.
        token: the expression, and its position in the file.
        definitions: the machines of defined names.
    """
    return _Parser(scanner, token, definitions).machine()


class _Parser:
    """The parts of an expression, and the next of them."""

    def __init__(self, scanner: Scanner, token: Token, definitions: Mapping[str, Arcs]) -> None:
        self._scanner, self._definitions = scanner, definitions
        found = (Part(match.lastgroup or "", match[0], token.at + match.start()) for match in PART.finditer(token.text))
        self._parts = [part for part in found if part.kind != "skipped"]
        self._parts.append(Part("end", "", token.at + len(token.text)))
        self._next = self._depth = self._operations = 0
        names = self._named()
        self._symbols = Symbols(names)
        self._nothing = empty(names)
        self._any = [self._symbols.label(name) for name in names if name != ANOTHER and not FLAG.fullmatch(name)]

    def _named(self) -> tuple[str, ...]:
        """The symbols of several characters that the expression names; if it has any symbol, also its characters and `OTHER`."""
        names, is_open = dict[str, None](), False
        for kind, text, _ in self._parts:
            is_open |= kind in ("any", "prefix") or text == "\\"
            found = _names(kind, text) if kind in SYMBOLS else []
            machine = self._defined(kind, found)
            is_open |= machine is not None and has_other(machine)
            names |= dict.fromkeys(found if machine is None else [*machine.symbols, *characters_of(machine.ilabel, machine.olabel)])
        if is_open:
            names |= dict.fromkeys([OTHER, ANOTHER])
        return tuple(name for name in names if name and (is_open or len(name) > 1))

    def _defined(self, kind: str, names: list[str]) -> Arcs | None:
        """The machine of a defined name."""
        return self._definitions.get(names[0]) if len(names) == 1 and kind != "string" else None

    def machine(self) -> Arcs:
        """The machine of the whole expression."""
        found = self._product()
        if self._part.kind != "end":
            raise self._fault("an operator, or the end of the expression")
        machine = found.machine(self._nothing.symbols)
        return machine if has_other(machine) else without_other(machine)

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
            found = self._operated(part, compose if part.text == ".o." else _crossed, found, self._union())
        return found

    def _union(self) -> Fragment:
        found = self._sequence()
        while self._part.kind == "infix":
            part = self._take()
            other = self._sequence()
            found = found.united(other) if part.text == "|" else self._operated(part, OF_PATHS[part.text], found, other)
        return found

    def _sequence(self) -> Fragment:
        found = self._prefixed()
        while self._part.kind in (*SYMBOLS, "any", "prefix") or (self._part.kind == "sign" and self._part.text in ("[", "(", "\\")):
            found = found.followed_by(self._prefixed())
        return found

    def _prefixed(self) -> Fragment:
        """Complements and strings that contain others."""
        prefixes = list[Part]()
        while self._part.kind == "prefix":
            prefixes.append(self._take())
        found = self._repeat()
        for part in reversed(prefixes):
            found = self._operated(part, self._complement if part.text == "~" else self._containing, found)
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
        counts = re.findall("[0-9]+", part.text)
        if max(map(len, counts)) > MAX_DIGITS:
            raise too_large()
        numbers = [*map(int, counts)]
        if part.text[1] == ">":
            return numbers[0] + 1, None
        least, most = (0, numbers[0] - 1) if part.text[1] == "<" else (numbers[0], numbers[-1])
        if most < least:
            raise self._scanner.fault(part.at, f"the regular expression has the counts {part.text}; expected the smaller number first")
        return least, most

    def _term(self) -> Fragment:
        """A symbol, a string, or an expression in brackets, possibly with another one after a colon, and with a weight; or any other
        symbol.
        """
        excluded = list[Part]()
        while self._part.kind == "sign" and self._part.text == "\\":
            excluded.append(self._take())
        part = self._part
        found, labels = self._half()
        if self._skip(":"):
            other, others = self._half()
            if labels is None or others is None:
                found = self._operated(part, _crossed, found, other)
            else:
                found = self._chain([*zip_longest(labels, others, fillvalue=EPSILON)])
        while self._part.kind == "weight":
            found = found.weighted(self._weight(self._take()))
        for part in reversed(excluded):
            found = self._operated(part, OF_PATHS["-"], self._any_symbol(), found)
        return found

    def _weight(self, part: Part) -> float:
        weight = float(part.text[2:])
        if abs(weight) > MAX_WEIGHT:
            raise self._scanner.fault(part.at, f"the weight is {quoted(part.text[2:])}; expected a finite number")
        return weight

    def _half(self) -> tuple[Fragment, list[int] | None]:
        """A term without colon and weight; and its labels, if it is a string."""
        if self._part.text in ("[", "(") and self._part.kind == "sign":
            return self._brackets(), None
        if self._part.kind not in (*SYMBOLS, "any"):
            raise self._fault("a symbol or brackets")
        kind, text, _ = self._take()
        if kind == "any":
            return self._any_symbol(), [ANY]
        names = _names(kind, text)
        machine = self._defined(kind, names)
        if machine is not None:
            return Fragment.of_machine(self._shared(machine)), None
        labels = [self._symbols.label(name) for name in names]
        return self._chain([*zip(labels, labels, strict=True)]), labels

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
            many = f"the regular expression has more than {MAX_OPERATIONS} operators other than repeats and the union"
            raise self._scanner.unsupported(part.at, f"{many}; expected fewer; use definitions")
        try:
            return Fragment.of_machine(self._shared(operation(*(fragment.machine(self._nothing.symbols) for fragment in fragments))))
        except VocabularyError as error:
            raise self._scanner.fault(part.at, str(error)) from None

    def _shared(self, machine: Arcs) -> Arcs:
        """A machine with the symbols of this expression."""
        return with_shared_symbols([self._nothing, machine])[1]

    def _complement(self, machine: Arcs) -> Arcs:
        """The complement of an acceptor."""
        _need_acceptors("a complement", machine)
        return difference(self._everything(), machine)

    def _containing(self, machine: Arcs) -> Arcs:
        """All paths that contain a path of a machine."""
        everything = self._everything()
        return rational.concatenate(rational.concatenate(everything, machine), everything)

    def _everything(self) -> Arcs:
        """The acceptor of all strings."""
        return self._any_symbol().repeated(0, None).machine(self._nothing.symbols)

    def _any_symbol(self) -> Fragment:
        return Fragment.of_pairs(*((label, label) for label in self._any))

    def _chain(self, pairs: list[tuple[int, int]]) -> Fragment:
        """The fragment of a sequence of pairs of labels, or of `ANY`."""
        found = Fragment.of_pairs(*self._alternatives(*pairs[0]))
        for pair in pairs[1:]:
            found = found.followed_by(Fragment.of_pairs(*self._alternatives(*pair)))
        return found

    def _alternatives(self, read: int, write: int) -> list[tuple[int, int]]:
        """The pairs that a pair with `ANY` means."""
        sides = [self._any if label == ANY else [label] for label in (read, write)]
        if len(sides[0]) * len(sides[1]) > MAX_ARCS:
            raise too_large()
        different = [(self._symbols.label(OTHER), self._symbols.label(ANOTHER))] if read == write == ANY else []
        return [*product(sides[0], sides[1]), *different]


def _names(kind: str, text: str) -> list[str]:
    """The symbols of a part."""
    if kind == "string":
        return [*text[1:-1]]
    if kind == "quoted":
        return [ESCAPE.sub(_unescaped, text[1:-1])]
    return [re.sub("%(.)", r"\1", "" if text == "0" or kind == "empty" else text)]


def _lower_priority_union(first: Arcs, second: Arcs) -> Arcs:
    """All pairs of the first machine, and the pairs of the second whose output the first does not write."""
    return rational.invert(priority_union(rational.invert(first), rational.invert(second)))


OF_PATHS: dict[str, Callable[[Arcs, Arcs], Arcs]] = {
    "&": partial(on_paths, intersect),
    "-": partial(on_paths, difference),
    ".P.": priority_union,
    ".p.": _lower_priority_union,
}
SIDES: dict[str, Callable[[Arcs], Arcs]] = {
    ".i": rational.invert,
    ".r": rational.reverse,
    ".u": lambda arcs: rational.project(arcs, "input"),
    ".l": lambda arcs: rational.project(arcs, "output"),
}


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else CONTROLS.get(match[3], match[3])


def _crossed(upper: Arcs, lower: Arcs) -> Arcs:
    """The cross product of two acceptors."""
    _need_acceptors("a cross product", upper, lower)
    return cross(upper, lower)


def _need_acceptors(name: str, *machines: Arcs) -> None:
    """Raise a VocabularyError if a machine of an operation is not an acceptor."""
    if not all(machine.is_acceptor for machine in machines):
        raise VocabularyError(f"{name} has pairs of different symbols; expected expressions without pairs")
