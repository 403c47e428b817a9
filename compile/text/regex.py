r"""Parse patterns, in the dialects of the references' engines: Oniguruma of ``tokenizers``, and fancy-regex of ``tiktoken``.

Where they differ:

=====================  ========================================  ===========================================
construct              Oniguruma                                 fancy-regex
=====================  ========================================  ===========================================
``^``, ``$``           a line's                                  the text's; with ``(?m)`` a line's
``(?m)``, ``(?s)``     ``.`` takes newlines; unknown             a line's ``^`` and ``$``; ``.`` takes newlines
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
from dataclasses import dataclass, replace
from typing import Literal

from fst.compile.text import properties
from fst.compile.text.code_points import Set, complement, intersection, members, of_runs, of_text, union
from fst.compile.text.regex_tree import Atomic, Characters, Choice, LookAhead, LookBehind, Node, Repeat, Sequence, matches_nothing
from fst.errors import UnsupportedError, quoted
from fst.rows import CODE_POINTS

Dialect = Literal["oniguruma", "fancy-regex"]

ANY: Set = of_runs([(0, CODE_POINTS - 1)])
NEWLINE: Set = of_text("\n")
NO_NEWLINE: Set = complement(NEWLINE)
HEX_DIGITS = "0123456789abcdefABCDEF"
CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
MAX_DEPTH = 100  # groups and brackets inside one another
MAX_COUNT = 1000  # repetitions that a count asks for

END_OF_TEXT = LookAhead(Characters(ANY), negative=True)
END_OF_LINE = LookAhead(Characters(NO_NEWLINE), negative=True)
# Oniguruma has no line after the last newline.
START_OF_LINE = Sequence((LookBehind(NO_NEWLINE, True, "^"), LookAhead(Characters(ANY), negative=False)))
START_OF_ANY_LINE = LookBehind(NO_NEWLINE, True, "^")


@dataclass(frozen=True)
class Flags:
    """The options in force: ``(?i)``, ``.`` takes newlines, ``^`` and ``$`` are a line's, and ``(?x)``."""

    ignore_case: bool = False
    dot_all: bool = False
    multiline: bool = False
    extended: bool = False


def parse(pattern: str, dialect: Dialect = "oniguruma") -> Node:
    """The tree of a pattern.

    Raises:
        UnsupportedError: the pattern has a construct that has no automaton here, or is malformed; the message names it.
    """
    parser = Parser(pattern, dialect)
    tree = parser.choice(Flags(multiline=dialect == "oniguruma"))
    if parser.place < len(pattern):
        raise parser.refused("unmatched )")
    return tree


def literal(text: str) -> Node:
    """The tree of a pattern that is a plain string."""
    return Sequence(tuple(Characters(of_text(char)) for char in text))


class Parser:
    """A pattern, and the place up to which it was read."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern, self.oniguruma = pattern, dialect == "oniguruma"
        self.place = self.depth = 0
        word = properties.kept(dialect, "word")
        self.bare_word, self.bracket_word = word, properties.kept("oniguruma", "bracket_word") if self.oniguruma else word

    # The grammar, from choices down to single characters.

    def choice(self, flags: Flags) -> Node:
        """Alternatives, up to the end of a group or pattern."""
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
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self, flags: Flags) -> tuple[Node, Flags]:
        """One alternative, and the flags for those after it."""
        parts: list[Node] = []
        while self.place < len(self.pattern) and self.peek() not in "|)":
            if self.blanks(flags):
                continue
            changed = self.options(flags)
            if changed is None:
                part = self.repeated(flags)
                parts += part.parts if isinstance(part, Sequence) else [part]
            elif self.oniguruma:  # the rest of the group, its other alternatives too, becomes a group
                rest = self.choice(changed)
                parts += rest.parts if isinstance(rest, Sequence) else [rest]
            else:
                flags = changed
        if self.oniguruma:
            self.check_letters(parts)
        return (parts[0] if len(parts) == 1 else Sequence(tuple(parts))), flags

    def repeated(self, flags: Flags) -> Node:
        """An atom and its quantifiers; a second one may follow braces, and only in Oniguruma."""
        node, possible = self.atom(flags), True
        while True:
            while self.blanks(flags):
                pass
            bounds = self.bounds()
            if bounds is None:
                return node
            if not possible:
                raise self.refused("a repetition of a repetition")
            least, most, counted = bounds
            node, possible = self.quantified(node, least, most, counted), counted and self.oniguruma

    def quantified(self, body: Node, least: int, most: int | None, counted: bool) -> Node:
        """A repetition, after its bounds: it may be lazy or possessive."""
        if most is None and matches_nothing(body):
            raise self.refused("a repetition of something that can match nothing")
        braces = counted and self.oniguruma  # after which Oniguruma reads ? and + as further quantifiers
        if not (braces and least == most) and self.skip("?"):
            return Repeat(body, least, most, lazy=True)
        if not braces and self.skip("+"):
            return Atomic(Repeat(body, least, most))
        return body if least == most == 1 else Repeat(body, least, most)

    def bounds(self) -> tuple[int, int | None, bool] | None:
        """Read a quantifier: the least and the most, and whether it was in braces; None if there is no quantifier."""
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
        """A group, a bracket, an escape or a character."""
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
        """Whether an open brace, just read, begins a quantifier."""
        self.place -= 1
        before, found = self.place, self.counts()
        self.place = before + 1
        return found is not None

    def start(self, flags: Flags) -> Node:
        """The meaning of ``^``."""
        if not flags.multiline:
            return LookBehind(ANY, True, "^")
        return START_OF_LINE if self.oniguruma else START_OF_ANY_LINE

    def letter(self, char: str, flags: Flags) -> Node:
        """A character that stands for itself, or with ``(?i)`` for its other cases too."""
        edges = of_text(char)
        return Characters(properties.fold(edges), char) if flags.ignore_case else Characters(edges)

    # Groups.

    def group(self, flags: Flags) -> Node:
        """A group, after its parenthesis."""
        if not self.skip("?"):
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
        """What is in a group, and its end."""
        node = self.choice(flags)
        if not self.skip(")"):
            raise self.refused("( without )")
        return node

    def named(self) -> bool:
        """Skip the name of a group, which is of no account; False if it has none."""
        for sign, close in (("<", ">"), ("P<", ">")) if not self.oniguruma else (("<", ">"), ("'", "'")):
            if self.skip(sign):
                end = self.pattern.find(close, self.place)
                if end < 0:
                    raise self.refused("the name of a group without its end")
                self.place = end + 1
                return True
        return False

    def options(self, flags: Flags) -> Flags | None:
        """Read ``(?i)`` and the like, which hold from here on; None if something else follows."""
        before = self.place
        if self.skip("(?"):
            changed = self.flags(flags)
            if changed is not None and self.skip(")"):
                return changed
        self.place = before
        return None

    def flags(self, flags: Flags) -> Flags | None:
        """Read the letters of options; None if there is something else."""
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
        """A look-behind over one character."""
        name = "(?<!" if negative else "(?<="
        parts = body.parts if isinstance(body, Choice) else (body,)
        if not all(isinstance(part, Characters) for part in parts):
            raise self.refused(f"{name} over anything but one character")
        return LookBehind(union(*(part.edges for part in parts if isinstance(part, Characters))), negative, name)

    # Escapes.

    def escape(self, flags: Flags) -> Node:
        """An escape outside brackets, after its backslash."""
        char = self.peek()
        if char in ASSERTIONS:
            self.place += 1
            return ASSERTIONS[char](self)
        edges = self.shorthand(flags, self.bare_word)
        return self.letter(self.escaped(), flags) if edges is None else Characters(edges)

    def shorthand(self, flags: Flags, word: Set) -> Set | None:
        """Read a set such as ``\\s`` or ``\\p{L}``; None if the escape stands for a character."""
        sets = {"d": properties.named("Nd"), "s": properties.named("White_Space"), "w": word, "h": properties.named("AHex"), "o": ANY, "n": NEWLINE}
        char = self.peek()
        if char in ("p", "P"):
            return self.property(flags)
        if char not in (*"dswhDSWHNO",):
            return None
        self.place += 1
        return complement(sets[char.lower()]) if char in "DSWHN" else sets[char.lower()]

    def property(self, flags: Flags) -> Set | None:
        """Read ``\\p{name}``, ``\\P{name}`` or ``\\p{^name}``."""
        negated = self.take() == "P"
        close = self.pattern.find("}", self.place)
        if not self.skip("{") or close < 0:
            raise self.refused("\\p without a name in braces")
        name, self.place = self.pattern[self.place : close], close + 1
        negated ^= name.startswith("^")
        edges = properties.named(name.removeprefix("^"))
        if flags.ignore_case and not self.oniguruma:
            edges = properties.fold(edges)
        return complement(edges) if negated else edges

    def escaped(self) -> str:
        """Read an escape that stands for a character."""
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
        """Read the digits of ``\\x41``, ``\\x{41}`` and ``\\u0041``."""
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
        """A set in brackets, after the first: the set, and whether what is meant is its complement."""
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
        """What stands in brackets up to their end or up to ``&&``; a bracket that closes is a character if it is first."""
        runs: list[tuple[int, int]] = []
        sets: list[Set] = []
        while self.place < len(self.pattern) and not self.follows("&&") and (self.peek() != "]" or first):
            if not self.oniguruma and (self.follows("--") or self.follows("~~")):
                raise self.refused(f"{self.peek() * 2} in brackets")
            item = self.item(flags)
            first = False
            if isinstance(item, str):
                runs.append((ord(item), self.last_of_range(item, flags)))
            elif self.follows("-") and not self.follows("-]"):
                raise self.refused("a range from a set")
            else:
                sets.append(item)
        return union(of_runs(runs), *sets)

    def item(self, flags: Flags) -> Set | str:
        """A character or a set in brackets."""
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
        """The last character of a range; the first itself if there is no range."""
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
        """Read ``[:name:]``; None if it is something else."""
        close = self.pattern.find(":]", self.place)
        name = self.pattern[self.place + 2 : max(close, 0)]
        if not name.removeprefix("^").isalpha():
            return None
        self.place = close + 2
        edges = properties.bracket(name.removeprefix("^"))
        edges = edges if self.oniguruma else intersection(edges, properties.ASCII)
        return complement(edges) if name.startswith("^") else edges

    def bracketed(self, edges: Set, negated: bool, flags: Flags) -> Node:
        """The node of a set in brackets."""
        if flags.ignore_case and self.oniguruma:
            if not negated and len(intersection(edges, properties.unfolding())):
                raise self.refused("(?i) with a set that has characters such as ß, which is ss in other cases")
            edges = properties.fold(edges)
        return Characters(complement(edges) if negated else edges)

    def check_letters(self, parts: list[Node]) -> None:
        """Refuse letters in sequence that Oniguruma takes for one character if case counts for nothing: ss for ß."""
        characters = {chr(code) for code in members(properties.unfolding())}
        letters = "".join(part.letter if isinstance(part, Characters) and part.letter else "\0" for part in parts)
        if any(char in characters for char in letters):
            raise self.refused("(?i) with characters such as ß, which is ss in other cases")
        for found in properties.unfolded():
            if found in letters.lower() or found in letters.casefold():
                raise self.refused(f"(?i) with {quoted(found)}, which is one character in other cases")

    # Reading.

    def peek(self) -> str:
        """The next character; empty at the end."""
        return self.pattern[self.place : self.place + 1]

    def take(self) -> str:
        """Read a character."""
        char = self.peek()
        if not char:
            raise self.refused("the pattern ends too early")
        self.place += 1
        return char

    def follows(self, text: str) -> bool:
        """Whether a text is next."""
        return self.pattern.startswith(text, self.place)

    def skip(self, text: str) -> bool:
        """Read a text if it is next."""
        found = self.follows(text)
        self.place += len(text) * found
        return found

    def digits(self, allowed: str, most: int) -> str:
        """Read digits."""
        first = self.place
        while self.place < first + most and self.peek() and self.peek() in allowed:
            self.place += 1
        return self.pattern[first : self.place]

    def blanks(self, flags: Flags) -> bool:
        """Skip a comment, or with ``(?x)`` a blank; False if there is none."""
        if self.skip("(?#"):
            self.place = self.pattern.find(")", self.place) + 1 or len(self.pattern)
            return True
        if not flags.extended:
            return False
        if self.skip("#"):
            self.place = self.pattern.find("\n", self.place) + 1 or len(self.pattern)
            return True
        return any(self.skip(blank) for blank in " \t\n\r\f\v")

    def refused(self, construct: str) -> UnsupportedError:
        """The error that names a construct."""
        return UnsupportedError(f"the pattern has what no splitter is compiled from: {construct}, before character {self.place}")


def _boundary(parser: Parser, inside: bool) -> Node:
    """The edge of a word, or any place but one."""
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
