"""Read the files that give other ids to the pieces of a model of SentencePiece: a ``vocab.json``, or fairseq's ``dict.txt``.

In a ``dict.txt``, a line is a token and its count. Ids are line numbers after four special tokens, as in ``Dictionary.load`` of fairseq.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fst.compile.files import parse_json, read_text
from fst.compile.sources.counted_lines import ids_of_lines
from fst.core.json_fields import is_text
from fst.errors import VocabularyError, quoted

Ids = Mapping[str, int]

FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")  # the tokens before the first line
UNKNOWN = "<unk>"


def of_json(path: Path) -> Ids:
    """The ids of a ``vocab.json``, which must be 0 to n - 1."""
    found = parse_json(read_text(path), path)
    if not isinstance(found, dict) or not found:
        raise VocabularyError(f"{path} is {quoted(found)}; expected a JSON object of tokens and their ids")
    tokens: list[str | None] = [None] * len(found)
    for token, number in found.items():
        if not is_text(token):
            raise VocabularyError(f"{path}: token {quoted(token)} is not text; save the file as UTF-8")
        if type(number) is not int or not 0 <= number < len(found):
            has = f"token {quoted(token)} has the id {quoted(number)}"
            raise VocabularyError(f"{path}: {has}; expected 0 to {len(found) - 1}, without gaps")
        if tokens[number] is not None:
            both = f"tokens {quoted(tokens[number])} and {quoted(token)}"
            raise VocabularyError(f"{path}: {both} have the id {number}; expected an id for each; leave one out")
        tokens[number] = token
    return found


def of_lines(path: Path) -> Ids:
    """The ids of a ``dict.txt`` of fairseq."""
    return ids_of_lines(path, FAIRSEQ, strips_begins=False)
