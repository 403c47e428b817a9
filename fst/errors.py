"""The errors that this package raises on purpose, and its warnings.

Every message contains the fault, its position (file, line, array, row or character), and the remedy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice


class FstError(Exception):
    """The base class of all errors that this package raises on purpose, so ``except fst.FstError`` catches all of them.

    A message is one line. Control characters, lone surrogates and marks of direction, which an untrusted file may put into a message, are
    escaped, so they have no effect on a terminal or a log.
    """

    def __str__(self) -> str:
        return escaped(super().__str__())


class VocabularyError(FstError):
    """A vocabulary cannot be compiled: for example, it lacks an unknown token, is not UTF-8, or has an id out of range."""


class TableError(FstError):
    """A file is not a safe table of this version: it is damaged or forged, or has an unknown kind or a different version."""


class TextError(FstError):
    """An input is not text: it is not a string, has a lone surrogate, or has bytes that are not UTF-8;
    or a text takes more time or memory than is allowed.

    Attributes:
        row: the index of the faulty text in its batch; None if the fault is not in a text of a batch.
        place: the index of the first wrong character or byte in this text; None if the fault has no position.
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


class KernelError(UnsupportedError):
    """A kernel has no native code, and numba, which compiles it, is not installed."""


class FstWarning(UserWarning):
    """A request whose result may not be what is meant; the message contains the likely spelling.

    ``warnings.simplefilter("error", fst.FstWarning)`` turns these warnings into errors, and ``"ignore"`` hides them.
    """

    def __str__(self) -> str:
        return escaped(super().__str__())


MAX_QUOTED, MAX_REASON, MAX_NAMED = 50, 200, 3  # maximum length of a quotation and of a reason; maximum number of listed names


def escaped(text: str) -> str:
    r"""Escape characters that cannot be printed, as in `repr`.

    Examples:
        >>> escaped("line 1: '\n' is é"), escaped("\x1b[2J")
        ("line 1: '\\n' is é", '\\x1b[2J')
    """
    return text if text.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def cut(text: str, most: int = MAX_QUOTED) -> str:
    """Shorten a text from a file, so that the message stays one short line.

    Examples:
        >>> cut("a tokenizer"), len(cut("a" * 1000))
        ('a tokenizer', 50)
    """
    line = text if text.isprintable() else repr(text)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def quoted(value: object) -> str:
    """The `repr` of a value, shortened by `cut`.

    Examples:
        >>> quoted("[PAD]"), quoted(None)
        ("'[PAD]'", 'None')
    """
    return cut(repr(value))


def listed(names: Collection[object]) -> str:
    """The first `MAX_NAMED` names of a collection, and the number of the other names.

    Examples:
        >>> listed("ab"), listed("abcde")
        ("'a', 'b'", "'a', 'b', 'c' and 2 more")
    """
    first = ", ".join(map(quoted, islice(names, MAX_NAMED)))
    more = len(names) - MAX_NAMED
    return f"{first} and {more:,} more" if more > 0 else first


def counted(number: int, noun: str, nouns: str = "") -> str:
    """A number with its noun, which is plural for any other number than 1. `nouns` is the plural, needed if it is not `noun` followed by an
    s.

    Examples:
        >>> counted(1, "word"), counted(2000, "word"), counted(0, "match", "matches")
        ('1 word', '2,000 words', '0 matches')
    """
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def not_one_of(name: str, value: object, choices: Iterable[object]) -> str:
    """The message for an argument whose value is not one of `choices`.

    Examples:
        >>> not_one_of("mode", "x", ("default", "search", "all"))
        "mode is 'x'; expected 'default', 'search' or 'all'"
    """
    *first, last = map(repr, choices)
    return f"{name} is {quoted(value)}; expected {', '.join(first)} or {last}"


def reason(error: Exception) -> str:
    """The message of an error, shortened. For a KeyError: "KEY is missing".

    Examples:
        >>> reason(KeyError("vocab")), reason(ValueError("model has no 'vocab'"))
        ("'vocab' is missing", "model has no 'vocab'")
    """
    return f"{quoted(error.args[0])} is missing" if isinstance(error, KeyError) else cut(str(error), MAX_REASON)
