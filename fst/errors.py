"""The one family of errors that this package raises on purpose.

Every message says what is wrong, where (file, line, member, row, character), and what to do about it.
"""


class FstError(Exception):
    """The root of the family: ``except fst.FstError`` catches whatever this package refuses."""


class VocabularyError(FstError):
    """A vocabulary that cannot be compiled: no unknown token, bytes that are not UTF-8, ids out of range."""


class TableError(FstError):
    """A table file that is not, byte for byte, one that this version writes and can prove safe."""


class TextError(FstError):
    """An input that is not text: bytes that are not UTF-8, a lone surrogate, or no string at all.

    Attributes:
        row, place: the row of a batch that is not text, and the character or byte in it from which on it is not; None if it is no such row.
    """

    def __init__(self, message: str, row: int | None = None, place: int | None = None) -> None:
        super().__init__(message)
        self.row, self.place = row, place


class UnsupportedError(FstError):
    """A well-formed request for something that this version does not do; the message names the feature."""
