"""SentencePiece by its definitions: slow, obvious, and independent of the package under test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Piece(NamedTuple):
    """A piece of `sentencepiece`, with the names of the fields in a ``.model``."""

    text: str
    score: float
    type: int = 1


NORMAL, UNKNOWN, USER_DEFINED, UNUSED = 1, 2, 4, 5
Parts = list[tuple[str, int]]  # the parts of a text with their ids


def normal_text(
    text: str,
    *,
    charsmap: Mapping[str, str],
    own: Sequence[str],
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    is_suffix: bool = False,
) -> tuple[str, list[int]]:
    """Normalize a text as `sentencepiece` does; also return the raw position where each character begins, and where the last character
    ends.

    With `is_suffix`, the added space follows the text. At each position, the longest user-defined piece is read, otherwise the longest
    string of the charsmap, otherwise one character.
    """

    def chunk(at: int) -> tuple[str, int]:
        for strings in ({piece: piece for piece in own}, charsmap, {text[at]: text[at]}):
            found = max((string for string in strings if text.startswith(string, at)), key=len, default="")
            if found:
                return strings[found], at + len(found)
        raise AssertionError

    at, chars, begins = 0, list[str](), list[int]()
    while remove_extra_whitespaces and at < len(text) and chunk(at)[0] == " ":
        _, at = chunk(at)
    if at == len(text):
        return "", [0]
    if add_dummy_prefix and not is_suffix:
        chars, begins = [" "], [at]
    was_space = remove_extra_whitespaces
    while at < len(text):
        new, end = chunk(at)
        new = new.lstrip(" ") if was_space else new
        chars += new
        begins += [at] * len(new)
        was_space = remove_extra_whitespaces and (new.endswith(" ") if new else was_space)
        at = end
    symbol = "▁" if escape_whitespaces else " "
    chars = [symbol if char == " " else char for char in chars]
    while remove_extra_whitespaces and chars and chars[-1] == symbol:
        chars.pop()
        at = begins.pop()
    if add_dummy_prefix and is_suffix:
        chars.append(symbol)
        begins.append(at)
    return "".join(chars), [*begins, at]


def sentencepiece(pieces: Sequence[Piece], kind: str, text: str, *, byte_fallback: bool = False) -> list[int]:
    """The ids of a normalized text by a model of `sentencepiece`; a run of unknown parts is one id, or the ids of all its bytes."""
    segment = {"unigram": best_path, "bpe": bpe_by_scores, "char": characters, "word": words}[kind]
    unknown = next(number for number, piece in enumerate(pieces) if piece.type == UNKNOWN)
    of_bytes = {piece.text: number for number, piece in enumerate(pieces)}
    ids: list[int] = []
    for last, (part, number) in pairwise([("", -1), *segment(pieces, unknown, text)]):
        if number == unknown and byte_fallback:
            ids += [of_bytes[f"<0x{byte:02X}>"] for byte in part.encode()]
        elif number != unknown or last[1] != unknown:
            ids.append(number)
    return ids


def best_path(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """The best path by sums of float32 scores from the beginning of the text; of equal sums, the path with the longest last piece.

    At a position where a piece may begin, a sum above 100,000 or below -100,000 is subtracted from the sums at this position and after it.
    """
    normal = [piece.score for piece in pieces if piece.type == NORMAL]
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED)}
    penalty = np.float32(min(normal, default=0)) - np.float32(10)
    best: list[tuple[np.float32, int, int] | None] = [(np.float32(0), 0, 0), *[None] * len(text)]
    for begin in range(len(text)):
        here = best[begin]
        assert here is not None
        if abs(base := here[0]) > 100_000:
            best[begin:] = [other and (other[0] - base, *other[1:]) for other in best[begin:]]
            here = (np.float32(0), *here[1:])
        ends = [end for end in range(begin + 1, len(text) + 1) if text[begin:end] in known]
        arcs = [(end, known[text[begin:end]]) for end in ends]
        arcs += [(begin + 1, unknown)] if begin + 1 not in ends else []
        for end, number in arcs:
            score, other = here[0] + _score(pieces[number], penalty), best[end]
            best[end] = other if other and not score > other[0] else (score, begin, number)
    return _read_back(best, text)


def _score(piece: Piece, penalty: np.float32) -> np.float32:
    """The score of a piece on a path. User-defined pieces have such high scores that they are nearly always on the best path."""
    if piece.type == USER_DEFINED:
        return np.float32(0.1 * (len(piece.text.encode()) - 1))
    return penalty if piece.type == UNKNOWN else np.float32(piece.score)


def _read_back(best: Sequence[tuple[np.float32, int, int] | None], text: str) -> Parts:
    parts, end = [], len(text)
    while end:
        node = best[end]
        assert node is not None
        parts.append((text[node[1] : end], node[2]))
        end = node[1]
    return parts[::-1]


def bpe_by_scores(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """Repeatedly join the two neighbours that form the piece with the highest score, the leftmost if scores are equal, until no neighbours
    form a piece.

    User-defined pieces are found first, the longest first, and are never joined. A piece of type UNUSED is split again at the end.
    """
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED, UNUSED)}
    own = [piece.text for piece in pieces if piece.type == USER_DEFINED]
    parts = _with_own(own, text)
    made_of: dict[str, tuple[str, str]] = {}
    while True:
        pairs = [left + right for left, right in pairwise(parts)]
        joined = [(-pieces[known[pair]].score, at) for at, pair in enumerate(pairs) if pair in known and not {*parts[at : at + 2]} & {*own}]
        if not joined:
            break
        _, at = min(joined)
        if pieces[known[pairs[at]]].type == UNUSED:
            made_of[pairs[at]] = parts[at], parts[at + 1]
        parts[at : at + 2] = [pairs[at]]
    used = {text: number for text, number in known.items() if pieces[number].type != UNUSED}
    return [(part, used.get(part, unknown)) for whole in parts for part in _apart(whole, made_of)]


def _with_own(own: Sequence[str], text: str) -> list[str]:
    """Split a text into characters and user-defined pieces."""
    parts, at = [], 0
    while at < len(text):
        parts.append(max((piece for piece in own if text.startswith(piece, at)), key=len, default=text[at]))
        at += len(parts[-1])
    return parts


def _apart(part: str, made_of: Mapping[str, tuple[str, str]]) -> list[str]:
    """Split a piece of type UNUSED, repeatedly, into the pieces that were joined to it."""
    return [part] if part not in made_of else [piece for half in made_of[part] for piece in _apart(half, made_of)]


def characters(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """The ids of a text that is split into characters and user-defined pieces."""
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED)}
    own = [piece.text for piece in pieces if piece.type == USER_DEFINED]
    return [(part, known.get(part, unknown)) for part in _with_own(own, text)]


def words(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """The ids of a text that is split into words, each with the ▁ before it."""
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED)}
    return [(part, known.get(part, unknown)) for part in re.split("(?=▁)", text) if part]
