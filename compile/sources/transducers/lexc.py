"""Read lexc, the format of lexicons of foma, HFST and Xerox.

A file declares symbols of several characters, followed by lexicons. An entry of a lexicon is an analysis, a colon, the form, and the
lexicon that continues the word; ``#`` ends it::

    Multichar_Symbols +N +Pl
    LEXICON Root
    cat Noun ;
    LEXICON Noun
    +N+Pl:s # ;

Each lexicon is a tree of its entries; ε-arcs lead from the ends of the tree to the continuations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import NamedTuple

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.build.paths import END, Paths
from fst.compile.algebra.forms.minimize import merge_states
from fst.compile.algebra.kernels.room import of_file
from fst.compile.algebra.symbols import Symbols
from fst.compile.files import read_text
from fst.errors import UnsupportedError, VocabularyError, quoted

TOKEN = re.compile(r"""[ \t\r\f\v]+|\n|!.*|;|"[^"\n]*"|(?:[^ \t\r\n\f\v;!"%]|%[^\n])+|.""")
FLAG = re.compile(r"@[PNRDCU]\.[^@]+@")
WEIGHT = re.compile(r"weight:\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)")
DEFINITIONS, LEXICON, SYMBOLS, LAST = "Definitions", "LEXICON", "Multichar_Symbols", "END"
ROOT, NO_LEXICON = "Root", "#"
MAX_WORD = 10_000
ESCAPE, MARKS = re.compile("%(.)"), re.compile('[<>"]')
PROTECTED = {char: chr(0xD800 + ord(char)) for char in '0:<>"'}  # the surrogates that represent escaped characters
UNPROTECTED = {ord(mark): char for char, mark in PROTECTED.items()}


class Token(NamedTuple):
    """A word, a string in quotes or a semicolon, with its line and column in the file, from 1."""

    text: str
    line: int
    column: int


class _Reader:
    """Reads a file token by token into trees of paths."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tokens = _tokens(read_text(path, drop_mark=True))
        self._symbols = Symbols()
        self._declared = dict[str, int]()  # the label of each declared symbol
        self._lengths = dict[str, list[int]]()  # for each first character, the declared symbols that begin with it, the longest first
        self._paths = Paths()
        self._roots = dict[str, int]()
        self._used = dict[str, Token]()
        self._defined = dict[str, None]()

    def machine(self) -> Arcs:
        """The machine that reads forms and writes analyses."""
        token = next(self._tokens, None)
        while token is not None and token.text != LAST:
            if token.text == SYMBOLS and not self._defined:
                token = self._read_symbols()
            elif token.text == DEFINITIONS and not self._defined:
                token = self._skip_definitions()
            elif token.text == LEXICON:
                token = self._read_lexicon(token)
            else:
                raise self._fault(token, f"the text is {quoted(token.text)}; expected {LEXICON} and the name of a lexicon")
        for name, token in self._used.items():
            if name not in self._defined:
                raise self._fault(token, f"the lexicon {quoted(name)} is not defined; expected one of this file; add {LEXICON} {name}")
        if not self._defined:
            raise VocabularyError(f"{self._path} has no lexicon; expected {LEXICON} {ROOT} and its entries")
        start = ROOT if ROOT in self._defined else next(iter(self._defined))
        return merge_states(self._paths.machine(self._roots[start], self._symbols.names))

    def _read_symbols(self) -> Token | None:
        """Read the declared symbols; return the token after them."""
        token = next(self._tokens, None)
        while token is not None and token.text not in (LEXICON, DEFINITIONS, LAST):
            name = _unescaped(token.text).translate(UNPROTECTED)
            if len(name) > 1:
                self._declared[name] = self._symbols.label(name)
            token = next(self._tokens, None)
        for begin, length in sorted({(name[0], len(name)) for name in self._declared}, reverse=True):
            self._lengths.setdefault(begin, []).append(length)
        return token

    def _skip_definitions(self) -> Token | None:
        """Skip definitions, which only entries in angle brackets use; return the token after them."""
        return next((token for token in self._tokens if token.text in (LEXICON, LAST)), None)

    def _read_lexicon(self, keyword: Token) -> Token | None:
        """Read a lexicon; return the token after it. A lexicon that is defined twice has the entries of both definitions."""
        name = next(self._tokens, None)
        if name is None or name.text == ";":
            raise self._fault(name or keyword, f"the lexicon has no name; expected {LEXICON} and its name")
        self._defined[name.text] = None
        root = self._root(name.text)
        entry: list[Token] = []
        for token in self._tokens:
            if not entry and token.text in (LEXICON, LAST, SYMBOLS, DEFINITIONS):
                return token
            if token.text == ";":
                self._add(root, entry, token)
                entry = []
            else:
                entry.append(token)
        if entry:
            raise self._fault(entry[0], "the last entry has no end; expected a semicolon")
        return None

    def _root(self, name: str) -> int:
        """The root of the tree of a lexicon."""
        if name not in self._roots:
            self._roots[name] = self._paths.root()
        return self._roots[name]

    def _add(self, root: int, entry: list[Token], end: Token) -> None:
        """Add an entry: possibly an analysis and a form; a continuation; and possibly a string in quotes, which may contain a weight."""
        info = entry.pop().text if entry and entry[-1].text[0] == '"' else ""
        if not entry:
            raise self._fault(end, f"the entry has no continuation; expected a lexicon or {NO_LEXICON} before the semicolon")
        for token in entry:
            self._check(token, entry[0])
        *data, continuation = entry
        upper, lower = self._sides(data) if data else ([], [])
        following = END
        if continuation.text != NO_LEXICON:
            self._used.setdefault(continuation.text, continuation)
            following = self._root(continuation.text)
        weight = WEIGHT.search(info)
        self._paths.add(root, self._paths.pairs(lower, upper), following, self._weight(weight[1], end) if weight else 0.0)

    def _check(self, token: Token, first: Token) -> None:
        """Refuse regular expressions, characters that need an escape, and words that are too long."""
        if len(token.text) > MAX_WORD:
            raise self._fault(token, f"the entry has a word of {len(token.text):,} characters; expected at most {MAX_WORD:,}")
        wrong = MARKS.search(_unescaped(token.text))
        if wrong and wrong[0] == "<" and token is first:
            known = "expected characters; write %< for the character, or compile the expression with foma or HFST"
            raise UnsupportedError(f"{self._place(token)}: the entry {quoted(token.text)} is a regular expression; {known}")
        if wrong:
            known = f"expected %{wrong[0]} for this character, and strings only after the continuation"
            raise self._fault(token, f"the entry has {wrong[0]}; {known}")

    def _sides(self, data: Sequence[Token]) -> tuple[list[int], list[int]]:
        """The labels of the analysis and of the form. Spaces may surround the colon."""
        text = "\n".join([_unescaped(token.text) for token in data]).replace("\n:", ":").replace(":\n", ":")
        upper, colon, lower = text.partition(":")
        if ":" in lower:
            raise self._fault(data[0], "the entry has two colons; expected one between analysis and form; write %: for the character")
        if "\n" in text:
            raise self._fault(data[0], f"the entry has {len(data) + 1} words; expected a word and a continuation; write '% ' for a space")
        labels = self._labels(upper, data[0])
        return labels, self._labels(lower, data[0]) if colon else labels

    def _labels(self, text: str, token: Token) -> list[int]:
        """The labels of a text: at each position, the longest declared symbol, or one character. A zero without an escape is ε."""
        plain = text.translate(UNPROTECTED)
        flag = FLAG.search(plain) if "@" in plain else None
        if flag and flag[0] not in self._declared:
            raise self._fault(token, f"the flag diacritic {flag[0]} is not declared; expected it among the symbols; add it to {SYMBOLS}")
        labels, at = list[int](), 0
        while at < len(plain):
            lengths = self._lengths.get(plain[at], ())
            name = next((plain[at : at + length] for length in lengths if plain[at : at + length] in self._declared), plain[at])
            if text[at] != "0" or len(name) > 1:
                labels.append(self._symbols.label(name))
            at += len(name)
        return labels

    def _weight(self, text: str, token: Token) -> float:
        try:
            weight = float(text)
        except ValueError:
            weight = inf
        if not isfinite(weight):
            raise self._fault(token, f"the weight is {quoted(text)}; expected a finite number")
        return weight

    def _place(self, token: Token) -> str:
        return f"{self._path}, line {token.line}, column {token.column}"

    def _fault(self, token: Token, message: str) -> VocabularyError:
        return VocabularyError(f"{self._place(token)}: {message}")


def read(path: Path) -> Arcs:
    """The machine that reads the forms of a lexicon, and writes their analyses."""
    with of_file(path):
        return _Reader(path).machine()


def _tokens(text: str) -> Iterator[Token]:
    line, start = 1, 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line, start = line + 1, match.end()
        elif token[0] not in " \t\r\f\v!":
            yield Token(token, line, match.start() - start + 1)


def _unescaped(text: str) -> str:
    """A token in which escapes are resolved. Characters that have a special meaning without an escape are replaced by lone surrogates, see
    `PROTECTED`.
    """
    return ESCAPE.sub(lambda match: PROTECTED.get(match[1], match[1]), text) if "%" in text else text
