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
import warnings
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

from fst.automata.flags import FLAG
from fst.compile.algebra.arcs import MAX_WEIGHT, Arcs
from fst.compile.algebra.build.paths import END, Paths
from fst.compile.algebra.forms.minimize import merge_states
from fst.compile.algebra.kernels.room import SizeError, of_file
from fst.compile.algebra.rational import invert
from fst.compile.algebra.symbols import Symbols
from fst.compile.sources.transducers.lexc.regex import parse
from fst.compile.sources.transducers.lexc.scanner import Scanner, Token
from fst.errors import FstWarning, VocabularyError, quoted

WEIGHT = re.compile(r"weight:\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)")
DEFINITIONS = ("Definitions", "DEFINITIONS", "Declarations", "DECLARATIONS")
SYMBOLS = ("Multichar_Symbols", "MULTICHAR_SYMBOLS")
NO_FLAGS = ("NOFLAGS", "NoFlags")
LEXICON, LAST = ("LEXICON", "Lexicon"), ("END",)
SECTIONS = (*SYMBOLS, *NO_FLAGS, *DEFINITIONS, *LEXICON, *LAST)
ROOT, NO_LEXICON = "Root", "#"
MAX_WORD, MAX_EXPRESSION, MAX_ENTRIES = 10_000, 1 << 16, 1 << 20
MAX_NAMED = 10  # in a warning
Place = tuple[Scanner, int]
JOINED = re.compile("((?:[^%]|%.)*:)((?:[^%:]|%.)+)")  # a colon and a continuation without a space
ESCAPE = re.compile("%(.)")
PROTECTED = {char: chr(0xD800 + ord(char)) for char in '0:<>"'}  # the surrogates that represent escaped characters
UNPROTECTED = {ord(mark): char for char, mark in PROTECTED.items()}


class _Reader:
    """Reads files token by token into trees of paths."""

    def __init__(self) -> None:
        self._symbols = Symbols()
        self._declared = dict[str, int]()  # the label of each declared symbol
        self._lengths = dict[str, list[int]]()  # for each first character, the lengths of declared symbols, the longest first
        self._definitions = dict[str, Arcs]()
        self._paths = Paths()
        self._roots = dict[str, int]()
        self._defined = dict[str, None]()
        self._entries = 0
        self._used, self._undeclared = dict[str, Place](), dict[str, Place]()  # the first place of each continuation and flag

    def read(self, path: Path) -> None:
        """Add the lexicons of a file."""
        self._scanner = Scanner(path)
        begun = len(self._defined)
        token = self._scanner.next()
        while token is not None and token.text not in LAST:
            is_first = len(self._defined) == begun
            if token.text in SYMBOLS and is_first:
                token = self._read_symbols()
            elif token.text in NO_FLAGS and is_first:
                token = self._skip_names()
            elif token.text in DEFINITIONS and is_first:
                token = self._read_definitions()
            elif token.text in LEXICON:
                token = self._read_lexicon(token)
            else:
                raise self._scanner.fault(token.at, f"the text is {quoted(token.text)}; expected LEXICON and the name of a lexicon")

    def machine(self) -> Arcs:
        """The machine that reads forms and writes analyses."""
        if not self._defined:
            raise VocabularyError(f"{self._scanner.path} has no lexicon; expected LEXICON {ROOT} and its entries")
        missing = {name: place for name, place in self._used.items() if name not in self._defined}
        _warn(missing, "no lexicon has the name", "entries that continue there are dropped")
        _warn(self._undeclared, f"{SYMBOLS[0]} does not contain the flag diacritic", "its characters are read as letters")
        start = ROOT if ROOT in self._defined else next(iter(self._defined))
        return merge_states(self._paths.machine(self._roots[start], self._symbols.names))

    def _read_symbols(self) -> Token | None:
        """Read the declared symbols; return the token after them."""
        token = self._scanner.next()
        while token is not None and token.text not in SECTIONS:
            name = _unescaped(token.text).translate(UNPROTECTED)
            if len(name) > 1:
                self._declared[name] = self._symbols.label(name)
            token = self._scanner.next()
        self._lengths.clear()
        for begin, length in sorted({(name[0], len(name)) for name in self._declared}, reverse=True):
            self._lengths.setdefault(begin, []).append(length)
        return token

    def _skip_names(self) -> Token | None:
        """Skip names of lexicons that ``hfst-lexc --withFlags`` would treat in another way; return the token after the semicolon."""
        token = self._scanner.next()
        while token is not None and token.text != ";":
            token = self._scanner.next()
        return self._scanner.next()

    def _read_definitions(self) -> Token | None:
        """Read definitions, which regular expressions use; return the token after them."""
        while (found := self._scanner.definition()) is not None:
            name, expression = found
            self._definitions[_unescaped(name).translate(UNPROTECTED)] = self._parsed(expression)
        token = self._scanner.next()
        if token is not None and token.text not in SECTIONS:
            raise self._scanner.fault(token.at, f"the text is {quoted(token.text)}; expected a definition, such as V = [a|e] ;")
        return token

    def _read_lexicon(self, keyword: Token) -> Token | None:
        """Read a lexicon; return the token after it. A lexicon that is defined twice has the entries of both definitions."""
        name = self._scanner.next()
        if name is None or name.text == ";":
            raise self._scanner.fault((name or keyword).at, "the lexicon has no name; expected LEXICON and its name")
        self._defined[name.text] = None
        root = self._root(name.text)
        entry: list[Token] = []
        while (token := self._scanner.next()) is not None:
            if not entry and token.text in SECTIONS:
                return token
            if token.text == ";":
                self._add(root, entry, token)
                entry = []
            else:
                entry.append(token)
        if entry:
            raise self._scanner.fault(entry[0].at, "the last entry has no end; expected a semicolon")
        return None

    def _root(self, name: str) -> int:
        """The root of the tree of a lexicon."""
        if name not in self._roots:
            self._roots[name] = self._paths.root()
        return self._roots[name]

    def _add(self, root: int, entry: list[Token], end: Token) -> None:
        """Add an entry: possibly an analysis and a form, or a regular expression; a continuation; and possibly a string in quotes, which
        may contain a weight.
        """
        info = entry.pop().text if entry and entry[-1].text[0] == '"' else ""
        if not entry:
            raise self._scanner.fault(end.at, f"the entry has no continuation; expected a lexicon or {NO_LEXICON} before the semicolon")
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            many = f"the lexicons have more than {MAX_ENTRIES:,} entries"
            raise self._scanner.unsupported(entry[0].at, f"{many}; expected fewer; split the source")
        *data, continuation = entry
        joined = JOINED.fullmatch(continuation.text) if ":" in continuation.text else None
        if joined:
            data.append(Token(joined[1], continuation.at))
            continuation = Token(joined[2], continuation.at + joined.start(2))
        following = END
        if continuation.text != NO_LEXICON:
            self._used.setdefault(continuation.text, (self._scanner, continuation.at))
            following = self._root(continuation.text)
        weight = self._weight(info, end) if info else 0.0
        if len(data) == 1 and data[0].text[0] == "<" and len(data[0].text) > 1:
            text, at = data[0]
            self._check(continuation)
            self._paths.insert(root, invert(self._parsed(Token(text[1:-1], at + 1))), following, weight)
            return
        for token in (*data, continuation):
            self._check(token)
            if "@" in token.text:
                self._note_flags(token)
        upper, lower = self._sides(data) if data else ([], [])
        self._paths.add(root, self._paths.pairs(lower, upper), following, weight)

    def _parsed(self, expression: Token) -> Arcs:
        """The machine of a regular expression."""
        length = len(expression.text)
        if length > MAX_EXPRESSION:
            raise self._scanner.fault(expression.at, f"the expression has {length:,} characters; expected at most {MAX_EXPRESSION:,}")
        try:
            return parse(self._scanner, expression, self._definitions)
        except SizeError as error:
            raise self._scanner.unsupported(expression.at, f"{error.fault}; simplify the regular expression") from None

    def _check(self, token: Token) -> None:
        """Refuse characters that need an escape, and words that are too long."""
        text = token.text
        if len(text) > MAX_WORD:
            raise self._scanner.fault(token.at, f"the entry has a word of {len(text):,} characters; expected at most {MAX_WORD:,}")
        if text[0] in '<>"':
            known = f"expected %{text[0]} for this character, strings only after the continuation, and < and > around an expression"
            raise self._scanner.fault(token.at, f"the entry has {text[0]}; {known}")

    def _note_flags(self, token: Token) -> None:
        """Note the flag diacritics of a word that are not declared."""
        for flag in FLAG.finditer(_unescaped(token.text)):
            if flag[0] not in self._declared:
                self._undeclared.setdefault(flag[0], (self._scanner, token.at))

    def _sides(self, data: Sequence[Token]) -> tuple[list[int], list[int]]:
        """The labels of the analysis and of the form. Spaces may surround the colon."""
        text = "\n".join([_unescaped(token.text) for token in data]).replace("\n:", ":").replace(":\n", ":")
        upper, colon, lower = text.partition(":")
        at = data[0].at
        if ":" in lower:
            raise self._scanner.fault(at, "the entry has two colons; expected one between analysis and form; write %: for the character")
        if "\n" in text:
            known = "expected a word and a continuation; write '% ' for a space"
            raise self._scanner.fault(at, f"the entry has {text.count(chr(10)) + 2} words; {known}")
        labels = self._labels(upper)
        return labels, self._labels(lower) if colon else labels

    def _labels(self, text: str) -> list[int]:
        """The labels of a text: at each position, the longest declared symbol, or one character. A zero without an escape is ε."""
        plain = text.translate(UNPROTECTED)
        labels, at = list[int](), 0
        while at < len(plain):
            lengths = self._lengths.get(plain[at], ())
            name = next((plain[at : at + length] for length in lengths if plain[at : at + length] in self._declared), plain[at])
            if text[at] != "0" or len(name) > 1:
                labels.append(self._symbols.label(name))
            at += len(name)
        return labels

    def _weight(self, info: str, end: Token) -> float:
        """The weight in a string in quotes."""
        found = WEIGHT.search(info)
        try:
            weight = float(found[1]) if found else 0.0
        except ValueError:
            weight = inf
        if found and abs(weight) > MAX_WEIGHT:
            raise self._scanner.fault(end.at, f"the weight is {quoted(found[1])}; expected a finite number")
        return weight


def read(paths: Sequence[Path]) -> Arcs:
    """The machine that reads the forms of the lexicons of some files, and writes their analyses."""
    if not paths:
        raise VocabularyError("there are no files; expected at least one")
    reader = _Reader()
    for path in paths:
        with of_file(path):
            reader.read(path)
    with of_file(paths[-1]):
        return reader.machine()


def _warn(found: Mapping[str, Place], fault: str, remedy: str) -> None:
    """Warn of names, at the place of the first one."""
    if found:
        scanner, at = next(iter(found.values()))
        more = f" and {len(found) - MAX_NAMED:,} more" if len(found) > MAX_NAMED else ""
        warnings.warn(f"{scanner.place(at)}: {fault} {', '.join([*found][:MAX_NAMED])}{more}; {remedy}", FstWarning, stacklevel=5)


def _unescaped(text: str) -> str:
    """A token in which escapes are resolved. Characters that have a special meaning without an escape are replaced by lone surrogates, see
    `PROTECTED`.
    """
    return ESCAPE.sub(lambda match: PROTECTED.get(match[1], match[1]), text) if "%" in text else text
