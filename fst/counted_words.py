"""Counted words: the distinct pre-tokens of a corpus, from which vocabularies are trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fst.errors import VocabularyError, quoted

MAX_COUNT = (1 << 63) - 1  # of all words together
UNKNOWN_SPLIT = ""  # the digest of words that came without one
PLACE = 3  # numbers that state where a word first occurs


@dataclass(frozen=True, eq=False)
class Words:
    """Distinct words with their counts, sorted by their bytes.

    Attributes:
        text: uint8[n], the bytes of all words, one after the other. Words of text are UTF-8, after the normalizer.
        ends: int64[words], where each word ends in `text`.
        counts: int64[words], positive; their sum is at most `MAX_COUNT`.
        first: int64[words, 3], the first occurrence of each word: the partition, the document in it, and the number of the word in the
            document. Without known places, words have the order in which they were given: (0, 0, index).
        split: a digest of the normalizer and the splitter; `UNKNOWN_SPLIT` if nothing states them.
        documents: the number of documents that were counted; 0 if it is not known.
        min_count: rarer words were left out; 1: none.
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    split: str = UNKNOWN_SPLIT
    documents: int = 0
    min_count: int = 1

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str | bytes, int]], split: str = UNKNOWN_SPLIT) -> Words:
        """Words and their counts, in any order. The counts of a repeated word are added.

        Args:
            pairs: each word, as a str or as bytes, and its count.
            split: a digest of how they were split.

        Raises:
            VocabularyError: a count is not a positive whole number, or the sum is larger than `MAX_COUNT`. The message names the pair.

        Example:
            >>> words = Words.of_pairs([("hug", 10), ("pug", 5), ("hug", 1)])
            >>> [*words], words.counts.tolist(), words.first[:, 2].tolist()
            ([b'hug', b'pug'], [11, 5], [0, 1])
        """
        counts: dict[bytes, int] = {}
        places: dict[bytes, int] = {}
        total = 0
        for row, (word, count) in enumerate(pairs):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
                raise VocabularyError(f"pair {row}: the count of {quoted(word)} is {quoted(count)}; expected a positive whole number")
            total += int(count)
            if total > MAX_COUNT:
                raise VocabularyError(f"pair {row}: the sum of all counts is {total:,}; expected at most {MAX_COUNT:,}")
            key = word.encode() if isinstance(word, str) else bytes(word)
            counts[key] = counts.get(key, 0) + int(count)
            places.setdefault(key, row)
        ordered = sorted(counts)
        first = np.zeros((len(ordered), PLACE), np.int64)
        first[:, 2] = [places[word] for word in ordered]
        return cls(
            text=np.frombuffer(b"".join(ordered), np.uint8),
            ends=np.cumsum([len(word) for word in ordered], dtype=np.int64),
            counts=np.array([counts[word] for word in ordered], np.int64),
            first=first,
            split=split,
        )

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[bytes]:
        whole, begin = self.text.tobytes(), 0
        for end in self.ends.tolist():
            yield whole[begin:end]
            begin = end
