"""The tokens of a file in lexc, and the places that messages contain."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from fst.compile.files import read_text
from fst.errors import UnsupportedError, VocabularyError

COMMENT = "!.*(?!.)"  # to the end of the line, and never less, so that failing matches end soon
SKIPPED = rf"(?:[ \t\r\n\f\v]+|{COMMENT})*"
QUOTED = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(
    rf"""{SKIPPED}(;|"[^"\n]*"|<(?:[^<>;"%!^]|%.|{QUOTED}|{COMMENT}|\^[<>]?)*>|(?:[^ \t\r\n\f\v;!"%<>]|%[^\n])+|[^ \t\r\n\f\v!]|\Z)""",
)
DEFINITION = re.compile(rf"""((?:[^ \t\r\n\f\v;!"%<=]|%.)+)[ \t]*=((?:[^;"%!]|%.|{QUOTED}|{COMMENT})*);""")
MAX_UNCLOSED = 100  # maximum number of opening brackets without a closing one; each is searched for up to the end of the file


class Token(NamedTuple):
    """A word, an expression in angle brackets, a string in quotes or a semicolon, and its position in the file."""

    text: str
    at: int


class Scanner:
    """Reads a file token by token.

    Examples:
        >>> size = Path("a.lexc").write_text("LEXICON Root ! the start")
        >>> scanner = Scanner(Path("a.lexc"))
        >>> scanner.next(), scanner.next(), scanner.next()
        (Token(text='LEXICON', at=0), Token(text='Root', at=8), None)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = read_text(path, drop_mark=True)
        self._at = self._unclosed = 0

    def next(self) -> Token | None:
        """The next token; None at the end of the file."""
        match = TOKEN.match(self._text, self._at)
        if match is None or not match[1]:
            return None
        self._at = match.end()
        self._unclosed += match[1] == "<"
        if self._unclosed > MAX_UNCLOSED:
            raise self.fault(match.start(1), f"more than {MAX_UNCLOSED} brackets < are not closed; expected > after each, or %<")
        return Token(match[1], match.start(1))

    def definition(self) -> tuple[str, Token] | None:
        """The name and the expression of the next definition; None if the next text is not a definition."""
        following = TOKEN.match(self._text, self._at)
        match = DEFINITION.match(self._text, following.start(1)) if following else None
        if match is None:
            return None
        self._at = match.end()
        return match[1], Token(match[2], match.start(2))

    def place(self, at: int) -> str:
        """The file, and the line and column of a position, from 1."""
        line = self._text.count("\n", 0, at) + 1
        return f"{self.path}, line {line}, column {at - self._text.rfind(chr(10), 0, at)}"

    def fault(self, at: int, message: str) -> VocabularyError:
        """The error for a position."""
        return VocabularyError(f"{self.place(at)}: {message}")

    def unsupported(self, at: int, message: str) -> UnsupportedError:
        """The error for a position with a feature that is not supported."""
        return UnsupportedError(f"{self.place(at)}: {message}")
