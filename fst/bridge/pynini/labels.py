"""Strings and labels, as pynini compiles them: labels are bytes of UTF-8, code points, or symbols of a table.

Text in brackets is a generated symbol such as ``[tag]``, or a number such as ``[65]``. Generated symbols get labels from 0xF0000, in the
order in which they are first used; ``[BOS]`` and ``[EOS]`` have labels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import ContextDecorator

from fst.bridge.pynini.errors import FstArgError, FstOpError, FstStringCompilationError
from fst.bridge.pynini.symbols import NO_SYMBOL, SymbolTable
from fst.compile.algebra.arcs import FIRST_SYMBOL
from fst.compile.sources.transducers.openfst import FIRST_GENERATED
from fst.errors import not_one_of, quoted

TokenType = str | SymbolTable
TOKEN_TYPES = ("byte", "utf8")
BEGIN, END = 0xF8FE, 0xF8FF
MOST_DIGITS = 20
ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "[": "[", "]": "]", "\\": "\\"}
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")  # in base 16, 8 or 10; other digits are a symbol
_PARTS = re.compile(r"\\(?P<escaped>[nrt\[\]\\])|\\$|(?P<bracket>[\[\]])|.", re.DOTALL)

_generated = SymbolTable("**Generated symbols")
_generated.add_symbol("<epsilon>", 0)
_generated.add_symbol("BOS", BEGIN)
_generated.add_symbol("EOS", END)
_defaults: list[TokenType] = ["byte"]


class default_token_type(ContextDecorator):  # noqa: N801 - the name in pynini
    """Another default for `token_type` in a block or a function."""

    def __init__(self, token_type: TokenType) -> None:
        self._token_type = token_type

    def __enter__(self) -> None:
        _defaults.append(checked(self._token_type))

    def __exit__(self, *_error: object) -> None:
        _defaults.pop()


def checked(token_type: TokenType | None) -> TokenType:
    """The type of tokens; None: the default.

    Raises:
        FstArgError: the type is unknown.
    """
    if token_type is None:
        return _defaults[-1]
    if isinstance(token_type, SymbolTable) or token_type in TOKEN_TYPES:
        return token_type
    raise FstArgError(not_one_of("token type", token_type, TOKEN_TYPES))


def generated_symbols() -> SymbolTable:
    """The table of all generated symbols so far."""
    return _generated


def escape(string: str) -> str:
    r"""The string in which brackets and backslashes stand for themselves.

    Examples:
        >>> escape("[a]")
        '\\[a\\]'
    """
    return re.sub(r"([\[\]\\])", r"\\\1", string)


def labels_of(string: str | bytes, token_type: TokenType | None = None) -> Sequence[int]:
    """The labels of a string.

    Raises:
        FstStringCompilationError: a bracket is unmatched, a number in brackets is no label, or the table lacks a symbol.

    Examples:
        >>> [*labels_of("é")], [*labels_of("é", "utf8")], [*labels_of("[65]")]
        ([195, 169], [233], [65])
    """
    token_type = checked(token_type)
    text = string.decode("utf-8", "surrogateescape") if isinstance(string, bytes) else string
    if not isinstance(text, str):
        raise TypeError(f"the string is {quoted(text)}; expected str or Fst")
    if isinstance(token_type, SymbolTable):
        return [_named(token, token_type) for token in text.split(" ")] if text else []
    if "[" in text or "]" in text or "\\" in text:
        return [*_bracketed(text, token_type)]
    return _plain(text, token_type)


def _plain(text: str, token_type: str) -> Sequence[int]:
    return text.encode("utf-8", "surrogateescape") if token_type == "byte" else [*map(ord, text)]


def _bracketed(text: str, token_type: str) -> Iterable[int]:
    chunk: list[str] = []
    is_inside = False
    for match in _PARTS.finditer(text):
        if match["bracket"]:
            bracket = match["bracket"]
            if (bracket == "[") == is_inside:
                raise FstStringCompilationError(f"the string {quoted(text)} has an unmatched {bracket}; write \\{bracket}")
            yield from _symbols("".join(chunk)) if is_inside else _plain("".join(chunk), token_type)
            chunk, is_inside = [], not is_inside
        else:
            chunk.append(ESCAPED[match["escaped"]] if match["escaped"] else match[0])
    if is_inside:
        raise FstStringCompilationError(f"the string {quoted(text)} has an unmatched [; write \\[")
    yield from _plain("".join(chunk), token_type)


def _symbols(chunk: str) -> list[int]:
    """The labels in brackets: a number, or symbols between spaces."""
    tokens = chunk.split(" ")
    if len(tokens) == 1 and _NUMBER.fullmatch(chunk):
        base = 16 if chunk[:2] in ("0x", "0X") else 8 if chunk[0] == "0" else 10
        if len(chunk) > MOST_DIGITS or int(chunk, base) >= FIRST_SYMBOL:
            raise FstStringCompilationError(f"the number in brackets is {quoted(chunk)}; expected a label below {FIRST_SYMBOL:,}")
        return [int(chunk, base)]
    return [generated(token) for token in tokens]


def generated(name: str) -> int:
    """The label of a generated symbol."""
    return _generated.add_symbol(name, max(FIRST_GENERATED, _generated.available_key()))


def _named(token: str, table: SymbolTable) -> int:
    label = table.find(token)
    if label == NO_SYMBOL:
        raise FstStringCompilationError(f"the symbol {quoted(token)} is not in the symbol table {table.name()!r}; add it")
    return int(label)


def string_of(labels: Iterable[int], token_type: TokenType | None = None) -> str:
    """The string of labels, without ε. The last eight bits of a label are a byte, as in pynini.

    Raises:
        FstOpError: a label has no symbol, or is not a code point.
        UnicodeDecodeError: the bytes are not UTF-8.
    """
    token_type = checked(token_type)
    found = [label for label in labels if label]
    if isinstance(token_type, SymbolTable):
        names = [str(token_type.find(label)) for label in found]
        if "" in names:
            raise FstOpError(f"label {found[names.index('')]} is not in the symbol table {token_type.name()!r}; add its symbol")
        return " ".join(names)
    if token_type == "byte":
        return bytes(label & 0xFF for label in found).decode()
    if max(found, default=0) >= FIRST_SYMBOL:
        raise FstOpError(f"label {max(found)} is not a code point; expected a label below {FIRST_SYMBOL:,}")
    return "".join(map(chr, found))
