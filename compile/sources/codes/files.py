"""Read files of codes, which contain merges, and the vocabularies next to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fst.compile.files import parse_json, read_text
from fst.errors import UnsupportedError, VocabularyError, quoted

END_OF_WORD = "</w>"
VERSION = "#version:"  # the beginning of the first line of subword-nmt's codes

Pair = tuple[str, str]
Fields = Callable[[str], Sequence[str]]  # a function that divides a line of codes; lines with a number of fields other than 2 have no pair


def counted(line: str) -> Sequence[str]:
    """The pair of a line "left right count", as PhoBERT's tokenizer divides it."""
    return line.split()[:-1]


def first_two(line: str) -> Sequence[str]:
    """The pair of a line "left right" or "left right count", as XLM's tokenizer divides it."""
    return line.split()[:2]


def lines_of(path: Path) -> list[str]:
    r"""The lines of a file as in Python's text mode, where "\r\n" and "\r" also end a line. The last line must have an end."""
    lines = read_text(path).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines.pop():
        cut = "the last line of {} has no end; expected a line break; the file is cut short, or add the line break"
        raise VocabularyError(cut.format(path))
    return lines


def pairs(path: Path, fields: Fields, skipped: int = 0) -> list[Pair]:
    """The merges of a file, as the tokenizers of `transformers` read them. If a pair is listed twice, its last place counts.

    Args:
        path: the file.
        fields: the function that divides a line.
        skipped: the number of lines at the beginning that are not merges.
    """
    ranks: dict[Pair, int] = {}
    for number, line in enumerate(lines_of(path)[skipped:], 1 + skipped):
        found = fields(line)
        if len(found) == 2:
            ranks[found[0], found[1]] = number
        elif not any(char.isspace() for char in line if char not in " \t"):  # other white space may be part of a subword
            raise _damaged(path, number, line)
    return _checked(path, sorted(ranks, key=ranks.__getitem__))


def plain_pairs(path: Path) -> list[Pair]:
    """The merges of a file of subword-nmt or fastBPE, as these tools read them. If a pair is listed twice, its first place counts."""
    lines = lines_of(path)
    has_version = bool(lines) and lines[0].startswith(VERSION)
    if has_version and lines[0].split()[-1] not in ("0.2", "0.2.0"):
        raise _old(f"{path.name} has the version {quoted(lines[0].split()[-1])}")
    ranks: dict[Pair, int] = {}
    for number, line in enumerate(lines[has_version:], 1 + has_version):
        found = line.split(" ")
        if len(found) == 2 and not has_version:
            raise _old(f"{path.name} has no counts and no line {VERSION}, as version 0.1 of subword-nmt")
        if len(found) != (2 if has_version else 3) or not all(found):
            raise _damaged(path, number, line)
        ranks.setdefault((found[0], found[1]), number)
    return _checked(path, sorted(ranks, key=ranks.__getitem__))


def _damaged(path: Path, number: int, line: str) -> VocabularyError:
    return VocabularyError(f"line {number} of {path} is {quoted(line)}; expected the two parts of a merge; download the file again")


def _old(found: str) -> UnsupportedError:
    why = f"in which {END_OF_WORD} is a symbol of its own: 'e {END_OF_WORD}' would merge after other merges"
    return UnsupportedError(f"{found}, {why}; expected version 0.2; learn the codes again with subword-nmt 0.2 or later")


def _checked(path: Path, found: list[Pair]) -> list[Pair]:
    """The merges, which all tools merge in the same order: each token is made before it is part of a merge."""
    if not found:
        raise VocabularyError(f"{path} contains no merges; expected lines of two subwords; download the file again")
    if any(END_OF_WORD in pair for pair in found):
        raise _old(f"{path.name} has a merge of {END_OF_WORD} alone")
    used: dict[str, int] = {}
    for rank, pair in enumerate(found):
        for part in pair:
            used.setdefault(part, rank)
    for rank, (left, right) in enumerate(found):
        if used.get(left + right, rank) < rank:
            merge = f"merge {1 + rank} of {path.name}, {quoted(left)} and {quoted(right)}, comes after merge {1 + used[left + right]}"
            why = f"which needs {quoted(left + right)}, so texts like {quoted(3 * (left + right).removesuffix(END_OF_WORD))} may differ"
            raise UnsupportedError(f"{merge}, {why}; expected merges in the order in which they were learned")
    return found


def numbered_tokens(path: Path) -> dict[str, int]:
    """The ids of a ``vocab.json``."""
    found = parse_json(read_text(path), path)
    if not isinstance(found, Mapping) or not all(type(number) is int and number >= 0 for number in found.values()):
        raise VocabularyError(f"{path} is not a JSON object that maps tokens to ids, but {quoted(found)}")
    return dict(found)
