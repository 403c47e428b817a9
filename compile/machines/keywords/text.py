"""Spell keywords as a search reads them: apply the steps of `fst.machines.keywords.text` to all keywords at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import Ints
from fst.compile.patterns import properties
from fst.compile.patterns.code_points import Set, difference, members, of_runs, union
from fst.compile.text import folding
from fst.compile.text.normalizer import normalizer
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.keywords.text import BORDER, WORD, KeywordText
from fst.text.composition import Images
from fst.text.normalizer import NOTHING, Normalizer
from fst.text.whitespace import NO_WHITESPACE

Codes = NDArray[np.uint32]

WORDS = "L", "M", "N", "Pc"  # Unicode general categories of word characters
IDEOGRAPHS, KANA = ("Han", "Ideographic"), ("Hiragana", "Katakana")
MARKS_OF_KANA = (0x3099, 0x309A), (0x30FC, 0x30FC), (0xFF70, 0xFF70), (0xFF9E, 0xFF9F)  # signs of voicing and length, in both scripts


def keyword_text(normalizer: Any, ignore_case: bool, whole_words: bool) -> KeywordText:
    """The steps that spell texts and keywords as a search reads them, for the options of `fst.compile.keywords`."""
    return KeywordText(
        _normalizer(_stored(normalizer)),
        folds() if ignore_case else None,
        Images([[first, end - 1] for first, end in words().reshape(-1, 2).tolist()]) if whole_words else None,
    )


def _stored(normalizer: Any) -> str:
    """The JSON of a component of a ``tokenizer.json``, or of a normalizer of ``tokenizers``."""
    if normalizer is None or isinstance(normalizer, Mapping):
        return json.dumps(normalizer)
    state = normalizer.__getstate__() if hasattr(normalizer, "__getstate__") else None
    if not isinstance(state, bytes):
        raise ValueError(f"normalizer is {quoted(normalizer)}; expected a component of a tokenizer.json, or a normalizer of tokenizers")
    return state.decode()


@lru_cache(4)
def _normalizer(stored: str) -> Normalizer | None:
    """Compile a normalizer; None if it changes nothing. The result is cached, because compiling takes 0.1 s."""
    by = normalizer(folding.components(json.loads(stored)), NO_WHITESPACE)
    if by.earlier:
        raise UnsupportedError("the normalizers have no effect that a single step has; expected one normalizer that orders marks")
    return None if by == NOTHING else by


@cache
def folds() -> Images:
    """The map for simple case folding: each character becomes its first case variant that is not a capital, so ASCII stays ASCII."""
    capitals = {*members(union(properties.named("Lu"), properties.named("Lt"))).tolist()}
    chosen = {code: min(cases, key=lambda case: (case in capitals, case)) for cases in properties.cases() for code in cases}
    return Images([[code, code, image] for code, image in sorted(chosen.items()) if code != image])


@cache
def words() -> Set:
    """The word characters: letters, marks, digits and connectors, except in scripts without spaces between words."""
    unspaced = (*map(properties.named, (*IDEOGRAPHS, *KANA)), of_runs(MARKS_OF_KANA))
    return difference(union(*map(properties.named, WORDS)), union(*unspaced))


def spelled(keywords: Sequence[str], text: KeywordText) -> list[bytes]:
    """Spell all keywords at once, with the same result as `KeywordText.spelled`."""
    strings = _normalized(keywords, text.normalizer) if text.normalizer else keywords
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    codes = np.frombuffer("".join(strings).encode("utf-32-le"), np.uint32)
    if text.folds or text.words:
        codes = text.codes()[codes]
    if text.words:
        codes, lengths = _bordered(codes, lengths)
    return _in_bytes(codes, lengths)


def _normalized(keywords: Sequence[str], by: Normalizer) -> list[str]:
    found = [by.normalized(keyword)[0] for keyword in keywords]
    for place, (keyword, left) in enumerate(zip(keywords, found, strict=True)):
        if keyword and not left:
            raise VocabularyError(f"keyword {place}, {quoted(keyword)}: the normalizer leaves nothing of it")
    return found


def _bordered(codes: Codes, lengths: Ints) -> tuple[Codes, Ints]:
    """Insert the borders of words into concatenated keywords. `codes`: the characters of all keywords; word characters have the bit `WORD`.
    `lengths`: the length of each keyword. Returns the characters without the bit, with the code `WORD` at each border; and the new length
    of each keyword.
    """
    # A non-word character is added before and after each keyword, so that each border is between two adjacent characters.
    ends = np.cumsum(lengths)
    is_word = np.insert(codes >= WORD, np.append(0, ends), False)
    bare = np.insert(codes & np.uint32(WORD - 1), np.append(0, ends), np.uint32(0))
    places = 1 + np.flatnonzero(is_word[1:] != is_word[:-1])
    bordered = np.insert(bare, places, np.uint32(WORD))
    around = np.append(0, ends) + np.arange(len(lengths) + 1)
    around += np.searchsorted(places, around, "right")
    return np.delete(bordered, around), np.diff(around) - 1


def _in_bytes(codes: Codes, lengths: Ints) -> list[bytes]:
    """Encode concatenated strings in UTF-8, and separate them; the code `WORD` is a border."""
    is_border = codes == WORD
    data = np.where(is_border, 0, codes).astype("<u4").tobytes().decode("utf-32-le").encode()
    sizes = np.where(is_border, 1, 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF))
    ends = np.append(0, np.cumsum(sizes))
    if is_border.any():
        array = np.frombuffer(data, np.uint8).copy()
        array[ends[:-1][is_border]] = BORDER
        data = array.tobytes()
    bounds = ends[np.append(0, np.cumsum(lengths))].tolist()
    return [data[begin:end] for begin, end in pairwise(bounds)]
