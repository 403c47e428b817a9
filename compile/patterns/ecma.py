r"""Parse patterns in the dialect of JSON Schema: that of ECMAScript with Unicode.

``\d``, ``\w`` and ``\s`` are the sets of ECMAScript; ``.`` matches no line terminator; ``[`` in brackets is a character; and a part that
matches the empty string may be repeated.
"""

from __future__ import annotations

from fst.compile.patterns.code_points import EMPTY, Set, complement, of_runs, of_text, union
from fst.compile.patterns.parser import Parser
from fst.compile.patterns.sets import Flags
from fst.compile.patterns.tree import Characters, Node, Repeat

DIGIT = of_runs([(0x30, 0x39)])
WORD = of_runs([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
SPACE = union(of_text("\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"), of_runs([(0x2000, 0x200A)]))
SETS = {"d": DIGIT, "w": WORD, "s": SPACE}
NO_LINE_END = complement(of_text("\n\r\u2028\u2029"))


class EcmaParser(Parser):
    """A parser of patterns of JSON Schema."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern, "fancy-regex")
        self.bare_word = self.bracket_word = WORD

    def atom(self, flags: Flags) -> Node:
        """Read a group, a bracket, an escape or a character."""
        return Characters(NO_LINE_END) if self.skip(".") else super().atom(flags)

    def quantified(self, body: Node, least: int, most: int | None, counted: bool) -> Node:  # noqa: ARG002 — as in `Parser`
        """Read the sign after a quantifier that makes it lazy, and build the repetition."""
        return Repeat(body, least, most, lazy=self.skip("?"))

    def counts(self) -> tuple[int, int | None, bool] | None:
        """Read ``{2}``, ``{2,}`` or ``{2,3}``; other braces are characters."""
        return None if self.follows("{,") else super().counts()

    def shorthand(self, flags: Flags, word: Set) -> Set | None:
        r"""Read a set such as ``\s`` or ``\p{L}``; None if the escape represents a single character."""
        char = self.peek()
        if char in ("p", "P"):
            return self.property(flags, word)
        if not char or char.lower() not in SETS:
            return None
        self.place += 1
        return SETS[char] if char in SETS else complement(SETS[char.lower()])

    def escaped(self) -> str:
        """Read an escape that represents a single character."""
        if self.follows("c") and self.pattern[self.place + 1 : self.place + 2].isalpha():
            self.place += 2
            return chr(ord(self.pattern[self.place - 1]) % 32)
        if self.skip("0"):
            return "\0"
        first = self.hexadecimal("u") if self.skip("u") else super().escaped()
        if "\ud800" <= first < "\udc00" and self.skip("\\u"):
            return (first + self.hexadecimal("u")).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")[:1]
        return first

    def bracket(self, flags: Flags) -> tuple[Set, bool]:
        """Read a set after the opening bracket; also return whether the set is negated."""
        negated = self.skip("^")
        found: list[Set] = []
        while not self.skip("]"):
            first = self.item(flags)
            if self.follows("-") and not self.follows("-]") and not isinstance(first, str):
                self.place += 1
                found += [first, of_text("-")]
            elif isinstance(first, str):
                found.append(self._range(first, flags))
            else:
                found.append(first)
        return (union(*found) if found else EMPTY), negated

    def _range(self, first: str, flags: Flags) -> Set:
        """The set of a character, or of a range that begins with it."""
        if not self.follows("-") or self.follows("-]"):
            return of_text(first)
        self.place += 1
        last = self.item(flags)
        if not isinstance(last, str):
            return union(of_text(first + "-"), last)
        if last < first:
            raise self.refused("a range in brackets that does not end in a later character")
        return of_runs([(ord(first), ord(last))])

    def item(self, flags: Flags) -> Set | str:
        """Read a character or a set in brackets."""
        char = self.take()
        if char != "\\":
            return char
        if self.skip("b"):
            return "\b"
        edges = self.shorthand(flags, WORD)
        return self.escaped() if edges is None else edges
