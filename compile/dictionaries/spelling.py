"""Encode the words of a dictionary in UTF-8, and check the size limits of compilers."""

from __future__ import annotations

from fst.compile.dictionaries.words import Words
from fst.errors import UnsupportedError, VocabularyError, quoted, reason

MAX_BYTES = 1 << 16  # the maximum length of a word in bytes, because compilers visit a trie level by level
MAX_TOTAL = 1 << 27  # the maximum number of bytes of all words together; compiling takes up to 100 bytes of memory for each byte
MAX_MATCHES = 1 << 24  # the maximum number of matches in the outputs of a table


def spelled_words(given: Words, noun: str, *, allow_empty: bool = False) -> list[bytes]:
    """Encode words in UTF-8 and check their lengths. Messages use `noun` for a word, such as "keyword"."""
    found, total = list[bytes](), 0
    for number, word in enumerate(given.words):
        data = _utf_8(word, given, number)
        if not data and not allow_empty:
            way = ", or allow it with allow_empty or --allow-empty" if noun == "keyword" else ""
            raise VocabularyError(f"{given.place(number)}: the {noun} is empty; leave it out{way}")
        total += len(data)
        if total > MAX_TOTAL:
            raise UnsupportedError(f"{given.place(number)}: up to here there are {total:,} bytes; at most {MAX_TOTAL:,} are possible")
        found.append(data)
    return found


def _utf_8(word: object, given: Words, number: int) -> bytes:
    """Encode a word in UTF-8, or raise an error that names the word."""
    if not isinstance(word, str | bytes):
        raise VocabularyError(f"{given.place(number)} is {type(word).__name__}, not str or bytes")
    _need_length(word, given, number)
    try:
        data = word.encode() if isinstance(word, str) else word
        data.decode()
    except UnicodeError as error:
        raise VocabularyError(f"{given.place(number)}: {quoted(word)} is not text: {reason(error)}") from None
    _need_length(data, given, number)
    return data


def _need_length(word: str | bytes, given: Words, number: int) -> None:
    if len(word) > MAX_BYTES:
        raise UnsupportedError(f"{given.place(number)}: {quoted(word)} has {len(word):,} bytes; at most {MAX_BYTES:,} are possible")
