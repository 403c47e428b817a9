"""Tokens and their counts, each in a line of a text file: fairseq's ``dict.txt``, and lists with other names in the same format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fst.compile.files import read_text
from fst.core.json_fields import is_text
from fst.errors import VocabularyError, quoted

REPEATED = "#fairseq:overwrite"


def ids_of_lines(path: Path, specials: Sequence[str], *, strips_begins: bool) -> dict[str, int]:
    """The ids of tokens: the special tokens, then the lines in order.

    Args:
        path: the file.
        specials: the special tokens before the first line.
        strips_begins: whether whitespace at the beginning of a line is removed, as by PhoBERT's tokenizer, but not by fairseq.

    Raises:
        VocabularyError: a line is not a token and its count, or repeats a token.
    """
    ids = {token: number for number, token in enumerate(specials)}
    lines = read_text(path).replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        found = line.strip() if strips_begins else line.rstrip()
        token, _, count = found.removesuffix(f" {REPEATED}").rpartition(" ")
        if not token or not is_text(token) or not (count.isascii() and count.isdecimal()):
            what = f"line {number} of {path} is {quoted(line)}"
            raise VocabularyError(f"{what}; expected a token, a space and a count; download the file again")
        if token in ids:
            raise VocabularyError(f"line {number} of {path} repeats the token {quoted(token)}; expected each token once; remove the line")
        ids[token] = len(ids)
    return ids
