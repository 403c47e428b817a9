"""Tokens and their numbers, each in a line of a text file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fst.errors import VocabularyError, quoted


def distinct(lines: Iterable[tuple[int, bytes, int]], path: Path, number: str) -> dict[bytes, int]:
    """The tokens with their numbers, which must be distinct.

    Args:
        lines: for each token, the number of its line, the token, and the token's own number.
        path: the file, for messages.
        number: what a token's number is, for messages, such as "rank".

    Raises:
        VocabularyError: a token or a token's number occurs again.
    """
    found: dict[bytes, int] = {}
    line_of: dict[int, int] = {}
    for line, token, own in lines:
        where = f"{path}, line {line}"
        if token in found:
            raise VocabularyError(f"{where}: the token {quoted(token)} of line {line_of[found[token]]} again; leave one out")
        if own in line_of:
            raise VocabularyError(f"{where}: the {number} {own} of line {line_of[own]} again; each token has its own")
        found[token], line_of[own] = own, line
    return found
