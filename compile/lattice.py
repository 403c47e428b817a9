"""Compile dictionaries for segmentation by the best path: jieba's, and MeCab's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.sources.words import Words, read_words
from fst.compile.unit_tries import unit_trie
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.jieba import CHINESE, LETTER, MAX_LENGTH, MAX_SLOT, NO_WORD, OTHER, SPACE, JiebaTables, about
from fst.machines.unit_trie import UNITS

MAX_FREQUENCY = 10**18  # as in files
Entry = tuple[str, int]

JIEBA_SIGNS = "+#&._%-"  # that belong to blocks, like ASCII letters and digits, and U+4E00 to U+9FD5
FIRST_CHINESE, LAST_CHINESE = 0x4E00, 0x9FD5


def jieba(dictionary: str | Path | Iterable[Entry], *, user: str | Path | Iterable[Entry] | None = None) -> JiebaTables:
    """Compile a dictionary for jieba's segmentation: the tokens are those of ``jieba.cut(text, HMM=False)``.

    Args:
        dictionary: the path of a file in jieba's format, ``word frequency part-of-speech`` a line, such as jieba's ``dict.txt``; or pairs
            of a word and its frequency. The number of a word is its place.
        user: more words, as after ``jieba.add_word(word, frequency)``; they go on with the numbers. Of equal words the last one counts.

    Raises:
        VocabularyError: a word is empty or no text, or a frequency is no whole number; or no frequency is above 0. The message says where.
        UnsupportedError: a word has more than 511 UTF-16 units, or there are more than 4 million words.
        OSError: a file cannot be read.

    Example:
        >>> import fst
        >>> segmenter = fst.Segmenter(jieba([("研究", 5), ("研究生", 3), ("生命", 4), ("命", 1)]))
        >>> segmenter.segment("研究生命")
        ['研究', '生命']

    Source: jieba 0.42.1, ``Tokenizer.cut``.
    """
    sources = [_entries(source) for source in ([dictionary] if user is None else [dictionary, user])]
    numbers: dict[str, int] = {}
    frequencies: list[int] = []
    for words in sources:
        assert words.frequencies is not None
        for place, word in enumerate(words.words):
            _check_word(word, words.place(place))
            numbers[word] = len(frequencies) + place
        frequencies += words.frequencies
    numbers = {word: number for word, number in numbers.items() if frequencies[number]}
    if not numbers:
        raise VocabularyError(f"{sources[0].origin}: there is no word with a frequency above 0")
    places = np.fromiter(numbers.values(), np.int64, len(numbers))
    different, values = np.unique(np.array(frequencies)[places], return_inverse=True)
    trie = unit_trie([*numbers], 1 + values)
    if len(trie.entries) > MAX_SLOT + 1:
        raise UnsupportedError(f"the trie of these words takes {len(trie.entries):,} slots; a table has room for {MAX_SLOT + 1:,}")
    log_total = log(sum(frequencies))  # as jieba computes it, in the same order of operations
    scores = np.array([log(frequency) - log_total for frequency in [1, *different.tolist()]])
    numbers_at = np.full(len(trie.entries), NO_WORD, np.int32)
    numbers_at[trie.slots] = places
    made = about(len(frequencies), trie.longest)
    return JiebaTables(made, units=trie.units(_jieba_kinds()), entries=trie.entries, scores=scores, numbers=numbers_at)


def _entries(source: Any) -> Words:
    """The words of a file in jieba's format, or of pairs."""
    if isinstance(source, str | Path):
        return read_words(source, form="jieba")
    pairs = list(source)
    for place, pair in enumerate(pairs):
        if not isinstance(pair, Sequence) or len(pair) < 2 or isinstance(pair, str) or type(pair[1]) is not int:
            raise VocabularyError(f"entry {place} is {quoted(pair)}, not a word and its frequency")
        if not 0 <= pair[1] < MAX_FREQUENCY:
            raise VocabularyError(f"entry {place}, {quoted(pair[0])}: the frequency is {quoted(pair[1])}; it can be 0 to 10**18 - 1")
    return Words([pair[0] for pair in pairs], [pair[1] for pair in pairs], origin="entry")


def _check_word(word: Any, where: str) -> None:
    if not isinstance(word, str):
        raise VocabularyError(f"{where}: a word is {type(word).__name__}, not str")
    if not word:
        raise VocabularyError(f"{where}: the word is empty")
    try:
        length = len(word.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        raise VocabularyError(f"{where}: {quoted(word)} has a lone surrogate") from None
    if length > MAX_LENGTH:
        raise UnsupportedError(f"{where}: {quoted(word)} has {length:,} UTF-16 units; at most {MAX_LENGTH} are possible")


def _jieba_kinds() -> NDArray[np.uint32]:
    """The kind of each unit, by jieba's patterns ``re_han_default``, ``re_skip_default`` and ``re_eng``."""
    kinds = np.full(UNITS, OTHER, np.uint32)
    kinds[[code for code in range(UNITS) if chr(code).isspace()]] = SPACE
    kinds[FIRST_CHINESE : LAST_CHINESE + 1] = CHINESE
    kinds[[ord(char) for char in JIEBA_SIGNS]] = CHINESE
    kinds[[code for code in range(128) if chr(code).isalnum()]] = LETTER
    return kinds
