"""Parse escapes and brackets, which represent characters and sets of characters in patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns import properties
from fst.compile.patterns.code_points import Set, complement, intersection, of_runs, of_text, union
from fst.errors import UnsupportedError

Dialect = Literal["oniguruma", "fancy-regex"]

ANY: Set = of_runs([(0, CODE_POINTS - 1)])
NEWLINE: Set = of_text("\n")
NO_NEWLINE: Set = complement(NEWLINE)
HEX_DIGITS = "0123456789abcdefABCDEF"
CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
KINDS = ("gc", "general_category", "sc", "script")
MAX_DEPTH = 100  # the maximum depth of nested groups and brackets


@dataclass(frozen=True)
class Flags:
    """The current options: ``(?i)``; whether ``.`` matches newlines; whether ``^`` and ``$`` match at lines; and ``(?x)``."""

    ignore_case: bool = False
    dot_all: bool = False
    multiline: bool = False
    extended: bool = False


class SetParser:
    """A parser of escapes and brackets in a pattern.

    Attributes:
        place: the index of the next character.
        captured: the number of groups that were read, except groups with a name or options.
    """

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern, self.oniguruma = pattern, dialect == "oniguruma"
        self.place = self.depth = self.captured = 0
        word = properties.kept(dialect, "word")
        self.bare_word, self.bracket_word = word, properties.kept("oniguruma", "bracket_word") if self.oniguruma else word

    # Escapes.

    def shorthand(self, flags: Flags, word: Set) -> Set | None:
        r"""Read a set such as ``\s`` or ``\p{L}``; None if the escape represents a single character."""
        digit, space, hexadecimal = (properties.named(name) for name in ("Nd", "White_Space", "AHex"))
        sets = {"d": digit, "s": space, "w": word, "h": hexadecimal, "o": ANY, "n": NEWLINE}
        char = self.peek()
        if char in ("p", "P"):
            return self.property(flags, word)
        if char not in (*"dswhDSWHNO",):
            return None
        self.place += 1
        return complement(sets[char.lower()]) if char in "DSWHN" else sets[char.lower()]

    def property(self, flags: Flags, word: Set) -> Set:
        r"""Read ``\p{name}``, ``\P{name}`` or ``\p{^name}``."""
        negated = self.take() == "P"
        name = self.name()
        negated ^= name.startswith("^")
        name = name.removeprefix("^")
        edges = word if name.lower() == "word" else properties.named(name)
        if flags.ignore_case and not self.oniguruma:
            edges = properties.fold(edges)
        return complement(edges) if negated else edges

    def name(self) -> str:
        """Read the name of a property. In fancy-regex, the kind of the property may precede the name, and a single letter needs no
        braces.
        """
        close = self.pattern.find("}", self.place)
        if self.skip("{") and close >= 0:
            name, self.place = self.pattern[self.place : close], close + 1
            kind, equal, value = name.partition("=")
            return value if equal and not self.oniguruma and kind.lower() in KINDS else name
        if self.oniguruma:
            raise self.refused("\\p without a name in braces")
        return self.take()

    def escaped(self) -> str:
        """Read an escape that represents a single character."""
        char = self.take()
        if char in CONTROLS:
            return CONTROLS[char]
        if char in "xuU" and (char != "U" or not self.oniguruma):
            return self.hexadecimal(char)
        if char == "0" and self.oniguruma:
            digits = "0" + self.digits("01234567", 2)
            return chr(int(digits, 8))
        if char.isascii() and char.isdigit():
            raise self.refused(f"the back-reference \\{char}")
        if char.isascii() and char.isalpha() and (not self.oniguruma or char in "AbBcCgGkKMoRXyYzZ"):
            raise self.refused(f"\\{char}")
        return char

    def hexadecimal(self, kind: str) -> str:
        r"""Read the digits of ``\x41``, ``\x{41}`` and ``\u0041``."""
        if self.skip("{") and not (kind == "u" and self.oniguruma):
            digits = self.digits(HEX_DIGITS, 8)
            closed = self.skip("}")
        else:
            digits = self.digits(HEX_DIGITS, {"x": 2, "u": 4, "U": 8}[kind])
            closed = len(digits) == {"x": 2, "u": 4, "U": 8}[kind]
            if kind == "x" and self.oniguruma and int(digits or "0", 16) > 0x7F:
                raise self.refused(f"\\x{digits}, a byte")
        if not closed or not digits or int(digits, 16) >= CODE_POINTS:
            raise self.refused(f"\\{kind}{digits}")
        return chr(int(digits, 16))

    # Brackets.

    def bracket(self, flags: Flags) -> tuple[Set, bool]:
        """Read a set after the opening bracket; also return whether the set is negated."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnsupportedError(f"the pattern has more than {MAX_DEPTH} brackets inside one another")
        negated = self.skip("^")
        operands: list[Set] = [self.items(flags, first=True)]
        while self.skip("&&"):
            operands.append(self.items(flags, first=False))
        if not self.skip("]"):
            raise self.refused("[ without ]")
        self.depth -= 1
        if flags.ignore_case and not self.oniguruma:
            operands = [properties.fold(edges) for edges in operands]
        return intersection(*operands), negated

    def items(self, flags: Flags, first: bool) -> Set:
        """Read the items in brackets, up to the end or up to ``&&``; a closing bracket at the start is a character."""
        runs: list[tuple[int, int]] = []
        sets: list[Set] = []
        while self.place < len(self.pattern) and not self.follows("&&") and (self.peek() != "]" or first):
            if not self.oniguruma and (self.follows("--") or self.follows("~~")):
                raise self.refused(f"{self.peek() * 2} in brackets")
            alone = first and not self.oniguruma and self.peek() == "]"  # there, it begins no range in fancy-regex
            item = self.item(flags)
            first = False
            if isinstance(item, str):
                runs.append((ord(item), ord(item) if alone else self.last_of_range(item, flags)))
            elif self.follows("-") and not self.follows("-]"):
                raise self.refused("a range from a set")
            else:
                sets.append(item)
        return union(of_runs(runs), *sets)

    def item(self, flags: Flags) -> Set | str:
        """Read a character or a set in brackets."""
        if self.follows("[:") and (edges := self.posix()) is not None:
            return edges
        char = self.take()
        if char == "[":
            edges, negated = self.bracket(flags)
            return complement(edges) if negated else edges
        if char != "\\":
            return char
        if self.skip("b"):
            return "\b"
        if self.peek() in "NOX" or not self.peek():
            raise self.refused(f"\\{self.peek()} in brackets")
        edges = self.shorthand(flags, self.bracket_word)
        if edges is None:
            return self.take() if self.oniguruma and self.peek() in "ABGKRyYzZk" else self.escaped()
        return edges

    def last_of_range(self, first: str, flags: Flags) -> int:
        """Read the last character of a range; return the first character if no range follows."""
        if not self.follows("-") or self.follows("-]") or self.follows("-&&"):
            return ord(first)
        if not self.oniguruma and self.follows("--"):
            raise self.refused("-- in brackets")
        self.place += 1
        last = self.item(flags)
        if not isinstance(last, str) or last < first:
            raise self.refused("a range in brackets that does not end in a later character")
        return ord(last)

    def posix(self) -> Set | None:
        """Read ``[:name:]``; None if different text follows."""
        close = self.pattern.find(":]", self.place)
        name = self.pattern[self.place + 2 : max(close, 0)]
        if not name.removeprefix("^").isalpha():
            return None
        self.place = close + 2
        edges = properties.bracket(name.removeprefix("^"))
        edges = edges if self.oniguruma else intersection(edges, properties.ASCII)
        return complement(edges) if name.startswith("^") else edges

    # Reading.

    def peek(self) -> str:
        """The next character; empty at the end."""
        return self.pattern[self.place : self.place + 1]

    def take(self) -> str:
        """Read a character."""
        char = self.peek()
        if not char:
            raise self.refused("an end where more is expected")
        self.place += 1
        return char

    def follows(self, text: str) -> bool:
        """Whether `text` comes next in the pattern."""
        return self.pattern.startswith(text, self.place)

    def skip(self, text: str) -> bool:
        """Read `text` if it comes next; return whether it does."""
        found = self.follows(text)
        self.place += len(text) * found
        return found

    def digits(self, allowed: str, most: int) -> str:
        """Read at most `most` digits."""
        first = self.place
        while self.place < first + most and self.peek() and self.peek() in allowed:
            self.place += 1
        return self.pattern[first : self.place]

    def whitespace(self, flags: Flags) -> bool:
        """Skip a comment or, with ``(?x)``, a whitespace character; False if neither follows."""
        if self.skip("(?#"):
            self.place = self.pattern.find(")", self.place) + 1 or len(self.pattern)
            return True
        if not flags.extended:
            return False
        if self.skip("#"):
            self.place = self.pattern.find("\n", self.place) + 1 or len(self.pattern)
            return True
        return any(self.skip(space) for space in " \t\n\r\f\v")

    def refused(self, construct: str) -> UnsupportedError:
        """The error for an unsupported construct."""
        return UnsupportedError(f"the pattern has {construct}, before character {self.place}, which is not supported")
