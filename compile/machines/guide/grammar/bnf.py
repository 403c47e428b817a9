r"""Grammars in two syntaxes with ``::=``: GBNF, as llama.cpp documents it, and EBNF, as XGrammar documents it.

The differences:

======================= ========================================== ==========================================
construct               GBNF                                       EBNF
======================= ========================================== ==========================================
end of a rule           the end of the line, outside parentheses   the next name with ``::=`` that begins a
                        and not after ``|``                        line
names                   letters, digits, ``-``, ``_``              letters, digits, ``-``, ``_``, ``.``; no
                                                                   digit first
``.``                   any character                              not allowed
escapes                 ``\xHH``                                   ``\xH…``, any number of digits; more letters
``"a"*?``               a repetition of a repetition               not allowed
======================= ========================================== ==========================================
"""

from __future__ import annotations

import re

from fst.compile.machines.guide.grammar.tree import Call, Grammar, Place, Places, Rule, counts, defined, literal
from fst.compile.patterns.code_points import complement, of_runs
from fst.compile.patterns.sets import ANY, MAX_DEPTH
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence
from fst.errors import UnsupportedError, VocabularyError, quoted

ROOT = "root"
LAST = 0x10FFFF
HEX_ESCAPES = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
LONG_HEX_ESCAPES = re.compile(r"x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
GBNF_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", **{char: char for char in '\\"[]'}}
EBNF_ESCAPES = {
    "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0", "e": "\x1b",
    **{char: char for char in "\"\\/'?"},
}
EBNF_SET_ESCAPES = {**EBNF_ESCAPES, **{char: char for char in "^$\\.*+?()[]{}|/-"}}
MACROS = ("TagDispatch", "TokenTagDispatch", "Token", "ExcludeToken")
REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read_gbnf(text: str) -> Grammar:
    """Read a grammar in GBNF, whose rule `root` reads whole texts."""
    return _Reader(text, is_gbnf=True).grammar()


def read_ebnf(text: str) -> Grammar:
    """Read a grammar in EBNF, whose rule `root` reads whole texts."""
    return _Reader(text, is_gbnf=False).grammar()


class _Reader:
    def __init__(self, text: str, *, is_gbnf: bool) -> None:
        self._text, self._is_gbnf, self._at, self._places = text, is_gbnf, 0, Places(text)
        self._name = re.compile(r"[A-Za-z0-9_-]+" if is_gbnf else r"[A-Za-z_.-][A-Za-z0-9_.-]*")
        self._definition = re.compile(self._name.pattern + r"(\[[^\]\n]*\])?[ \t]*::=")

    def grammar(self) -> Grammar:
        """All rules."""
        rules: dict[str, Rule] = {}
        self._skip(over_lines=True)
        while self._at < len(self._text):
            place = self._place()
            name = self._taken_name()
            if not self._is_gbnf and self._follows("["):
                raise UnsupportedError(f"{self._place()}: options of a rule are not supported; remove them from rule {quoted(name)}")
            self._skip(over_lines=False)
            self._expect("::=")
            self._skip(over_lines=True)
            defined(rules, name, Rule(self._choice(0), place))
            if self._at < len(self._text) and self._is_gbnf and self._text[self._at] not in "\r\n":
                raise self._error("the end of the line")
            self._skip(over_lines=True)
        if ROOT not in rules:
            raise VocabularyError(f"{Place(1, 1)}: there is no rule {ROOT!r}; expected one, which reads whole texts")
        return Grammar(rules, ROOT)

    # Positions.

    def _place(self, position: int | None = None) -> Place:
        return self._places.of(self._at if position is None else position)

    def _error(self, expected: str) -> VocabularyError:
        found = quoted(self._text[self._at]) if self._at < len(self._text) else "the end"
        return VocabularyError(f"{self._place()}: found {found}; expected {expected}")

    def _follows(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _expect(self, text: str) -> None:
        if not self._follows(text):
            raise self._error(repr(text))
        self._at += len(text)

    def _skip(self, *, over_lines: bool) -> None:
        """Skip whitespace and comments."""
        found = (LINES if over_lines else NO_LINES).match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _taken_name(self) -> str:
        found = self._name.match(self._text, self._at)
        if found is None:
            raise self._error("the name of a rule")
        self._at = found.end()
        return found.group()

    def _begins_rule(self) -> bool:
        """Whether a name that begins a line is followed by ``::=``."""
        line = self._text.rfind("\n", 0, self._at) + 1
        return not self._text[line : self._at].strip(" \t") and self._definition.match(self._text, self._at) is not None

    # The grammar, from choices down to characters.

    def _choice(self, depth: int) -> Node:
        """Read alternatives, in `depth` parentheses."""
        if depth > MAX_DEPTH:
            raise UnsupportedError(f"{self._place()}: there are more than {MAX_DEPTH} groups inside one another; make rules of them")
        parts = [self._sequence(depth)]
        while self._follows("|"):
            self._at += 1
            self._skip(over_lines=True)
            parts.append(self._sequence(depth))
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        over_lines = depth > 0 or not self._is_gbnf
        while self._at < len(self._text) and self._text[self._at] not in "|)\r\n":
            if not self._is_gbnf and self._begins_rule():
                break
            parts.append(self._repeated(depth))
            self._skip(over_lines=over_lines)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self, depth: int) -> Node:
        node, possible = self._atom(depth), MAX_DEPTH if self._is_gbnf else 1
        while True:
            before = self._at
            self._skip(over_lines=depth > 0 or not self._is_gbnf)
            sign = self._text[self._at : self._at + 1]
            if not sign or sign not in "*+?{":
                self._at = before
                return node
            if not possible:
                raise self._error("no repetition of a repetition without parentheses")
            least, most = REPEATS[sign] if sign in REPEATS else self._counts()
            self._at += sign in REPEATS
            node, possible = Repeat(node, least, most), possible - 1

    def _counts(self) -> tuple[int, int | None]:
        """Read ``{2}``, ``{2,}`` or ``{2,3}``."""
        place = self._place()
        found = COUNTS.match(self._text, self._at)
        if found is None:
            raise self._error("{2}, {2,} or {2,3}")
        self._at = found.end()
        least, most = int(found[1]), int(found[1]) if found[2] is None else int(found[3]) if found[3] else None
        return counts(least, most, place)

    def _atom(self, depth: int) -> Node:
        char = self._text[self._at]
        if char == '"':
            return literal(self._string())
        if char == "[":
            return self._set()
        if char == "(":
            if not self._is_gbnf and self._follows("(="):
                raise UnsupportedError(f"{self._place()}: a look-ahead, (=, is not supported; remove it")
            return self._group(depth)
        if self._is_gbnf and char == ".":
            self._at += 1
            return Characters(ANY)
        if self._is_gbnf and char in "<!":
            raise UnsupportedError(f"{self._place()}: tokens, such as <name>, are not supported; write their text as a string")
        place = self._place()
        if self._name.match(self._text, self._at) is None:
            raise self._error("a string, a set, a group or the name of a rule")
        name = self._taken_name()
        if not self._is_gbnf and name in MACROS and self._follows("("):
            raise UnsupportedError(f"{place}: the macro {name} is not supported; write rules")
        return Call(name, place)

    def _group(self, depth: int) -> Node:
        self._at += 1
        self._skip(over_lines=True)
        node = self._choice(depth + 1)
        self._expect(")")
        return node

    def _string(self) -> str:
        self._at += 1
        chars: list[str] = []
        while not self._follows('"'):
            if self._at == len(self._text) or (self._text[self._at] in "\r\n" and not self._is_gbnf):
                raise self._error("the quotation mark that ends the string")
            chars.append(self._character(GBNF_ESCAPES if self._is_gbnf else EBNF_ESCAPES))
        self._at += 1
        return "".join(chars)

    def _set(self) -> Node:
        begin = self._at
        self._at += 1
        is_negated = self._follows("^")
        self._at += is_negated
        escapes = GBNF_ESCAPES if self._is_gbnf else EBNF_SET_ESCAPES
        runs: list[tuple[int, int]] = []
        while not self._follows("]"):
            if self._at == len(self._text) or (self._text[self._at] in "\r\n" and not self._is_gbnf):
                raise self._error("the ] that ends the set")
            place = self._place()
            first = last = ord(self._character(escapes))
            if self._follows("-") and not self._follows("-]"):
                self._at += 1
                last = ord(self._character(escapes)) if self._at < len(self._text) else first
            if last < first:
                raise VocabularyError(f"{place}: the range ends before it begins; expected its first character first")
            runs.append((first, last))
        self._at += 1
        if not runs and not is_negated:
            raise VocabularyError(f"{self._place(begin)}: the set is empty; expected a character")
        return Characters((complement(of_runs(runs)) if runs else ANY) if is_negated else of_runs(runs))

    def _character(self, escapes: dict[str, str]) -> str:
        """Read a character or an escape."""
        char = self._text[self._at]
        self._at += 1
        if char != "\\":
            return char
        found = (HEX_ESCAPES if self._is_gbnf else LONG_HEX_ESCAPES).match(self._text, self._at)
        if found is not None:
            code = int(found[1] or found[2] or found[3], 16)
            if code > LAST or 0xD800 <= code <= 0xDFFF:
                raise VocabularyError(f"{self._place(self._at - 1)}: \\{found.group()} is not a character; expected another code point")
            self._at = found.end()
            return chr(code)
        char = self._text[self._at : self._at + 1]
        if char not in escapes:
            self._at -= 1
            raise VocabularyError(f"{self._place()}: the escape \\{char} is unknown; expected one of the syntax, or the character itself")
        self._at += 1
        return escapes[char]


COMMENT = r"#[^\r\n]*"
LINES, NO_LINES = re.compile(rf"(?:[ \t\r\n]|{COMMENT})*"), re.compile(rf"(?:[ \t]|{COMMENT})*")
COUNTS = re.compile(r"\{[ \t\r\n]*([0-9]{1,19})[ \t\r\n]*(,[ \t\r\n]*([0-9]{1,19})?[ \t\r\n]*)?\}")
