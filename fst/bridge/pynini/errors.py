"""The errors of pynini, raised in the same situations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fst import errors


class FstError(errors.FstError):
    """The base class of the errors of pynini."""


class FstArgError(FstError, ValueError):
    """An argument has an invalid value."""


class FstBadWeightError(FstError, ValueError):
    """A weight cannot be read, or is not a number."""


class FstIOError(FstError, OSError):
    """A file cannot be read or written."""


class FstIndexError(FstError, IndexError):
    """A state or a key does not exist."""


class FstOpError(FstError, RuntimeError):
    """An operation has no result."""


class FstStringCompilationError(FstArgError):
    """A string has an unmatched bracket or a symbol that the symbol table lacks."""


@contextmanager
def as_operation() -> Iterator[None]:
    """Raise errors of the algebra as `FstOpError`."""
    try:
        yield
    except FstError:
        raise
    except errors.FstError as error:
        raise FstOpError(str(error)) from error
