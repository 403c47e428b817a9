r"""Parse patterns in the dialects of two engines: Oniguruma, which `tokenizers` uses, and fancy-regex, which `tiktoken` uses.

Differences between the two engines:

=====================  ========================================  ===========================================
construct              Oniguruma                                 fancy-regex
=====================  ========================================  ===========================================
``^``, ``$``           of a line                                 of the text; with ``(?m)`` of a line
``(?m)``, ``(?s)``     ``.`` matches newlines; refused           ``^`` and ``$`` of a line; ``.`` matches newlines
``x{2,3}+``            ``(?:x{2,3})+``                           possessive
``x{2}?``              ``(?:x{2})?``                             lazy
``a(?i)b|c``           ``a(?i:b|c)``                             ``a(?i:b)|(?i:c)``
``[[:alpha:]]``        of Unicode                                of ASCII
``(?i)``               ß is ss, ``\p{Lu}`` without brackets      one character for one, ``\p{Lu}`` is folded
                       is not folded
``\w``                 with ²³¹¼½¾, not inside brackets          with zero-width joiners
=====================  ========================================  ===========================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

from fst.compile.patterns import properties
from fst.compile.patterns.code_points import Set, complement, intersection, members, of_text, union
from fst.compile.patterns.sets import ANY, MAX_DEPTH, NEWLINE, NO_NEWLINE, Dialect, Flags, SetParser
from fst.compile.patterns.tree import Atomic, Characters, Choice, LookAhead, LookBehind, Node, Repeat, Sequence, matches_nothing
from fst.errors import UnsupportedError, quoted

WORD_EDGES = ("<", ">", "b{")  # escapes for word edges in fancy-regex
MAX_COUNT = 1000  # the maximum of the numbers in a quantifier such as {2,3}
MAX_PATTERN = 1 << 14  # the maximum length in characters; parsing takes up to 0.2 ms per character
MOST_REPEATED = 64  # the maximum number of characters in a group that a back-reference repeats, because each becomes an alternative

END_OF_TEXT = LookAhead(Characters(ANY), negative=True)
END_OF_LINE = LookAhead(Characters(NO_NEWLINE), negative=True)
# In Oniguruma, no line begins after a newline at the end of the text.
START_OF_LINE = Sequence((LookBehind(NO_NEWLINE, True, "^"), LookAhead(Characters(ANY), negative=False)))
START_OF_ANY_LINE = LookBehind(NO_NEWLINE, True, "^")


def parse(pattern: str, dialect: Dialect = "oniguruma") -> Node:
    """Parse a pattern into a tree."""
    return Parser(pattern, dialect).tree()


def literal(text: str) -> Node:
    """The tree of a pattern that is a literal string."""
    _need_short(text)
    return Sequence(tuple(Characters(of_text(char)) for char in text))


def _need_short(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN:
        raise UnsupportedError(f"the pattern has {len(pattern):,} characters; at most {MAX_PATTERN:,} are compiled")


class Parser(SetParser):
    """A parser of choices, sequences, repetitions and groups."""

    def tree(self) -> Node:
        """Read the pattern. Errors are those of `parse`."""
        _need_short(self.pattern)
        tree = self.choice(Flags(multiline=self.oniguruma))
        if self.place < len(self.pattern):
            raise self.refused(") without (")
        return tree

    # The grammar, from choices down to single characters.

    def choice(self, flags: Flags) -> Node:
        """Read alternatives, up to the end of a group or pattern."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnsupportedError(f"the pattern has more than {MAX_DEPTH} groups inside one another")
        parts = []
        while True:
            part, flags = self.sequence(flags)
            parts.append(part)
            if not self.skip("|"):
                break
        self.depth -= 1
        parts = _joined(parts)
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self, flags: Flags) -> tuple[Node, Flags]:
        """Read one alternative; also return the flags for the alternatives after it."""
        parts: list[Node] = []
        while self.place < len(self.pattern) and self.peek() not in "|)":
            if self.whitespace(flags):
                continue
            changed = self.options(flags)
            if changed is None:
                part = self.repeated(flags)
                parts += part.parts if isinstance(part, Sequence) else [part]
            elif self.oniguruma:  # the rest of the group, including its other alternatives, becomes a group of its own
                rest = self.choice(changed)
                parts += rest.parts if isinstance(rest, Sequence) else [rest]
            else:
                flags = changed
        if self.oniguruma:
            self.check_letters(parts)
        return (parts[0] if len(parts) == 1 else Sequence(tuple(parts))), flags

    def repeated(self, flags: Flags) -> Node:
        """Read an atom and its quantifiers, or a group of one character and a back-reference directly after it."""
        number = self.captured + 1 if self.follows("(") and not self.follows("(?") else 0
        node = self.atom(flags)
        if number and isinstance(node, Characters) and self.oniguruma and not flags.ignore_case and self.skip(f"\\{number}"):
            return self.repeated_again(node, flags, number)
        return self.with_quantifiers(node, flags)

    def repeated_again(self, node: Characters, flags: Flags, number: int) -> Node:
        """Read the quantifiers of a back-reference to a set of characters. The result has an alternative for each character."""
        chars, place, parts = members(node.edges), self.place, list[Node]()
        if len(chars) > MOST_REPEATED or self.peek().isdigit():
            raise self.refused(f"the back-reference \\{number}")
        for code in chars.tolist():
            self.place = place
            char = Characters(of_text(chr(code)))
            parts.append(Sequence((char, self.with_quantifiers(char, flags))))
        return Choice(tuple(parts)) if len(parts) > 1 else parts[0]

    def with_quantifiers(self, node: Node, flags: Flags) -> Node:
        """Read the quantifiers of a node. A second quantifier is allowed only in Oniguruma, and only after braces."""
        possible = 2
        while True:
            while self.whitespace(flags):
                pass
            bounds = self.bounds()
            if bounds is None:
                return node
            if not possible:
                raise self.refused("a repetition of a repetition")
            least, most, counted = bounds
            node, possible = self.quantified(node, least, most, counted), possible - 1 if counted and self.oniguruma else 0

    def quantified(self, body: Node, least: int, most: int | None, counted: bool) -> Node:
        """Read the sign after a quantifier that makes it lazy or possessive, and build the repetition."""
        if most is None and matches_nothing(body):
            raise self.refused("a repetition of something that can match nothing")
        braces = counted and self.oniguruma  # after braces, Oniguruma reads ? and + as further quantifiers
        if not (braces and least == most) and self.skip("?"):
            return Repeat(body, least, most, lazy=True)
        if not braces and self.skip("+"):
            return Atomic(Repeat(body, least, most))
        return body if least == most == 1 else Repeat(body, least, most)

    def bounds(self) -> tuple[int, int | None, bool] | None:
        """Read a quantifier. Return the minimum and maximum count, and whether the quantifier is in braces; None if no quantifier
        follows.
        """
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.skip(sign):
                return least, most, False
        return self.counts()

    def counts(self) -> tuple[int, int | None, bool] | None:
        """Read ``{2}``, ``{2,}``, ``{,3}`` or ``{2,3}``; other braces are characters."""
        close = self.pattern.find("}", self.place)
        if self.peek() != "{" or close < 0:
            return None
        first, comma, last = self.pattern[self.place + 1 : close].partition(",")
        if not (first or last) or any(char not in "0123456789" for char in first + last):
            return None
        self.place = close + 1
        least, most = int(first or 0), int(last) if last else None if comma else int(first)
        if max(least, most or 0) > MAX_COUNT:
            raise UnsupportedError(f"the pattern repeats more than {MAX_COUNT} times: {{{first}{comma}{last}}}")
        if most is not None and most < least:
            raise self.refused(f"{{{first},{last}}}")
        return least, most, True

    def atom(self, flags: Flags) -> Node:
        """Read a group, a bracket, an escape or a character."""
        char = self.take()
        if char == "(":
            return self.group(flags)
        if char == "[":
            edges, negated = self.bracket(flags)
            return self.bracketed(edges, negated, flags)
        if char == "\\":
            return self.escape(flags)
        if char == ".":
            return Characters(ANY if flags.dot_all else NO_NEWLINE)
        if char == "^":
            return self.start(flags)
        if char == "$":
            return END_OF_LINE if flags.multiline else END_OF_TEXT
        if char in "*+?" or (char == "{" and self.oniguruma and self.is_count()):
            raise self.refused(f"nothing to repeat before {char}")
        return self.letter(char, flags)

    def is_count(self) -> bool:
        """Whether the opening brace that was just read begins a quantifier."""
        self.place -= 1
        before, found = self.place, self.counts()
        self.place = before + 1
        return found is not None

    def start(self, flags: Flags) -> Node:
        """The assertion for ``^``, at the start of a line or of the text."""
        if not flags.multiline:
            return LookBehind(ANY, True, "^")
        return START_OF_LINE if self.oniguruma else START_OF_ANY_LINE

    # Groups.

    def group(self, flags: Flags) -> Node:
        """Read a group after its opening parenthesis."""
        if not self.skip("?"):
            self.captured += 1
            return self.closed(flags)
        for sign, build in LOOKS.items():
            if self.skip(sign):
                return build(self, self.closed(flags))
        if self.skip(":"):
            return self.closed(flags)
        if self.skip(">"):
            return Atomic(self.closed(flags))
        if self.named():
            return self.closed(flags)
        inner = self.flags(flags)
        if inner is None or not self.skip(":"):
            raise self.refused(f"(?{self.peek()}")
        return self.closed(inner)

    def closed(self, flags: Flags) -> Node:
        """Read the content of a group and its closing parenthesis."""
        node = self.choice(flags)
        if not self.skip(")"):
            raise self.refused("( without )")
        return node

    def named(self) -> bool:
        """Skip the name of a group, because no construct refers to the name; False if the group has no name."""
        for sign, close in (("<", ">"), ("P<", ">")) if not self.oniguruma else (("<", ">"), ("'", "'")):
            if self.skip(sign):
                end = self.pattern.find(close, self.place)
                if end < 0:
                    raise self.refused("the name of a group without its end")
                self.place = end + 1
                return True
        return False

    def options(self, flags: Flags) -> Flags | None:
        """Read an option such as ``(?i)``, which applies to the text after it; None if no option follows."""
        before = self.place
        if self.skip("(?"):
            changed = self.flags(flags)
            if changed is not None and self.skip(")"):
                return changed
        self.place = before
        return None

    def flags(self, flags: Flags) -> Flags | None:
        """Read the letters of options; None if other characters follow."""
        names = {"i": "ignore_case", "x": "extended", **({"m": "dot_all"} if self.oniguruma else {"m": "multiline", "s": "dot_all"})}
        value = True
        while self.peek() not in ":)":
            char = self.take()
            if char == "-" and value:
                value = False
            elif char in names:
                flags = replace(flags, **{names[char]: value})
            elif not (char == "u" and value and not self.oniguruma):
                self.place -= 1
                return None
        return flags

    def behind(self, body: Node, negative: bool) -> Node:
        """The node of a look-behind that tests one character."""
        name = "(?<!" if negative else "(?<="
        parts = body.parts if isinstance(body, Choice) else (body,)
        if not all(isinstance(part, Characters) for part in parts):
            raise self.refused(f"{name} over anything but one character")
        return LookBehind(union(*(part.edges for part in parts if isinstance(part, Characters))), negative, name)

    # Characters.

    def letter(self, char: str, flags: Flags) -> Node:
        """The node of a literal character; with ``(?i)``, in all its cases."""
        edges = of_text(char)
        return Characters(properties.fold(edges), char) if flags.ignore_case else Characters(edges)

    def escape(self, flags: Flags) -> Node:
        """Read an escape outside brackets, after its backslash."""
        char = self.peek()
        if not self.oniguruma and any(map(self.follows, WORD_EDGES)):
            raise self.refused(f"\\{char}, the edge of a word")
        if char in ASSERTIONS:
            self.place += 1
            return ASSERTIONS[char](self)
        edges = self.shorthand(flags, self.bare_word)
        return self.letter(self.escaped(), flags) if edges is None else Characters(edges)

    def bracketed(self, edges: Set, negated: bool, flags: Flags) -> Node:
        """The node of a set in brackets."""
        if flags.ignore_case and self.oniguruma:
            if not negated and len(intersection(edges, properties.unfolding())):
                raise self.refused("(?i) with a set that has characters such as ß, which is ss in other cases")
            edges = properties.fold(edges)
        return Characters(complement(edges) if negated else edges)

    def check_letters(self, parts: list[Node]) -> None:
        """Refuse sequences of letters that match a single character when Oniguruma ignores case, such as ss and ß."""
        letters = "".join(part.letter if isinstance(part, Characters) and part.letter else "\0" for part in parts)
        if not letters.strip("\0"):
            return
        if len(intersection(of_text(letters), properties.unfolding())):
            raise self.refused("(?i) with characters such as ß, which is ss in other cases")
        for found in properties.unfolded():
            if found in letters.casefold():
                raise self.refused(f"(?i) with {quoted(found)}, which is one character in other cases")


def _joined(alternatives: list[Node]) -> list[Node]:
    """Merge adjacent alternatives that are sets of characters, because the order of such alternatives does not matter."""
    joined: list[Node] = []
    for is_set, run in groupby(alternatives, lambda node: isinstance(node, Characters)):
        nodes = [*run]
        together = is_set and len(nodes) > 1
        joined += [Characters(union(*(node.edges for node in nodes if isinstance(node, Characters))))] if together else nodes
    return joined


def _boundary(parser: Parser, inside: bool) -> Node:
    """The assertion of a word boundary or, with `inside`, of any other position."""
    word = parser.bare_word
    name = "\\B" if inside else "\\b"
    alternatives = [
        Sequence((LookBehind(word, negative, name), LookAhead(Characters(word), negative == inside))) for negative in (False, True)
    ]
    return Choice(tuple(alternatives))


def _end_or_newline(_parser: Parser) -> Node:
    return LookAhead(Sequence((Repeat(Characters(NEWLINE), 0, 1), END_OF_TEXT)), negative=False)


LOOKS: dict[str, Callable[[Parser, Node], Node]] = {
    "=": lambda _, body: LookAhead(body, negative=False),
    "!": lambda _, body: LookAhead(body, negative=True),
    "<=": lambda parser, body: parser.behind(body, negative=False),
    "<!": lambda parser, body: parser.behind(body, negative=True),
}
ASSERTIONS: dict[str, Callable[[Parser], Node]] = {
    "A": lambda _: LookBehind(ANY, True, "\\A"),
    "z": lambda _: END_OF_TEXT,
    "Z": _end_or_newline,
    "b": lambda parser: _boundary(parser, inside=False),
    "B": lambda parser: _boundary(parser, inside=True),
}
