"""The errors that this package raises on purpose.

Every message contains the fault, its place (file, line, member, row, character), and the remedy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice


class FstError(Exception):
    """The base class: ``except fst.FstError`` catches everything that this package refuses."""


class VocabularyError(FstError):
    """A vocabulary cannot be compiled: it has no unknown token, bytes that are not UTF-8, or ids out of range."""


class TableError(FstError):
    """A file is not a table that this version can prove safe: it is damaged or forged, or it has another kind or version."""


class TextError(FstError):
    """An input is not text: it is not a string, has a lone surrogate, or has bytes that are not UTF-8.

    Attributes:
        row: the row of a batch whose text has the fault; None for other faults.
        place: the index of the first wrong character or byte in this row; None for other faults.
    """

    def __init__(self, message: str, row: int | None = None, place: int | None = None) -> None:
        super().__init__(message)
        self.row, self.place = row, place


class ReadingError(FstError):
    """The options for reading files are wrong: two options contradict each other, an option does not fit the format, or an option is
    missing.

    Commands report this error as a usage error.
    """


class UnsupportedError(FstError):
    """A well-formed request needs a feature that this version lacks; the message names the feature."""


MAX_QUOTED, MAX_REASON, MAX_NAMED = 50, 200, 3  # characters, characters, names


def cut(text: str, most: int = MAX_QUOTED) -> str:
    """Shorten a text from a file, so that a message remains one short line.

    Examples:
        >>> cut("a tokenizer"), len(cut("a" * 1000))
        ('a tokenizer', 50)
    """
    line = text if text.isprintable() else repr(text)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def quoted(value: object) -> str:
    """The `repr` of a value, cut as by `cut`.

    Examples:
        >>> quoted("[PAD]"), quoted(None)
        ("'[PAD]'", 'None')
    """
    return cut(repr(value))


def listed(names: Collection[object]) -> str:
    """The first few names of a collection, and the number of further names.

    Examples:
        >>> listed("ab"), listed("abcde")
        ("'a', 'b'", "'a', 'b', 'c' and 2 more")
    """
    first = ", ".join(map(quoted, islice(names, MAX_NAMED)))
    more = len(names) - MAX_NAMED
    return f"{first} and {more:,} more" if more > 0 else first


def not_one_of(name: str, value: object, choices: Iterable[object]) -> str:
    """The message for an argument with a value outside of `choices`.

    Examples:
        >>> not_one_of("mode", "x", ("default", "search", "all"))
        "mode is 'x'; expected 'default', 'search' or 'all'"
    """
    *first, last = map(repr, choices)
    return f"{name} is {quoted(value)}; expected {', '.join(first)} or {last}"


def reason(error: Exception) -> str:
    """The message of an error, cut. A KeyError becomes "KEY is missing".

    Examples:
        >>> reason(KeyError("vocab")), reason(ValueError("model has no 'vocab'"))
        ("'vocab' is missing", "model has no 'vocab'")
    """
    return f"{quoted(error.args[0])} is missing" if isinstance(error, KeyError) else cut(str(error), MAX_REASON)
