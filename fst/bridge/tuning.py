"""Tuned tables: frequent pre-tokens of texts become words of a table, see `fst.pretokens.tuned_words`. The runtime cuts the texts, and the
compiler adds the words to the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING, Any

import numpy as np

from fst.compile.pretokens.arrays import with_tuned_words
from fst.core.threads import thread_count
from fst.counting.words import UNKNOWN_SPLIT, Words
from fst.pretokens.table import WORD_BYTES, PretokenTable
from fst.pretokens.tuned_words import MOST_IDS, MOST_WORDS
from fst.runtime.counting.counter import Block, Splitter, count_documents
from fst.runtime.counting.documents import of_files, of_texts
from fst.runtime.files.reading import Files

if TYPE_CHECKING:
    from hashlib import _Hash

MEMORY = 1 << 29  # maximum size in bytes of the tables of counts

Texts = Iterable[str | bytes] | Files


def tuned(table: PretokenTable, texts: Texts) -> PretokenTable:
    """A copy of a table with tuned words from texts; the same table if the texts contain no word of several tokens.

    Raises:
        TextError, ReadingError, OSError: as in `fst.train.words`.
    """
    digest = sha256()
    blocks = of_files(texts, "strict") if isinstance(texts, Files) else of_texts(texts)
    words = count_documents(
        Splitter(table, of_kernels=True),
        _hashed(blocks, digest),
        split=UNKNOWN_SPLIT,
        threads=thread_count(None),
        partition=0,
        errors="strict",
        min_count=1,
        memory=MEMORY,
        progress=None,
        is_over=lambda: False,
    )
    chosen = chosen_words(table, words)
    return with_tuned_words(table, chosen, digest.hexdigest()) if chosen else table


def _hashed(blocks: Iterable[Block], digest: _Hash) -> Iterator[Block]:
    """Yield blocks, and add their texts to a digest. The counter checks the texts, so lone surrogates are errors there."""
    for block in blocks:
        for row in range(len(block.rows)):
            text = block.rows.text(row)
            digest.update(text.encode(errors="surrogatepass") if isinstance(text, str) else text)
        yield block


def chosen_words(table: PretokenTable, words: Words) -> Mapping[bytes, Sequence[int]]:
    """The pre-tokens that save the most time as tuned words, and their ids. The most useful word, with the greatest product of count and
    number of tokens, is the first; of equal products, the first in the order of bytes.
    """
    spelled, sizes = [*words], np.diff(words.ends, prepend=0)
    most = words.counts * np.minimum(sizes, MOST_IDS)  # an upper bound of the product, so that few words are encoded
    order = np.argsort(-most, kind="stable")
    order = order[(sizes[order] > 1) & (sizes[order] <= WORD_BYTES)]
    whole, best, found = table.spelled_words(), list[tuple[int, int]](), dict[int, Sequence[int]]()
    for place in order.tolist():
        if len(best) == MOST_WORDS and most[place] < best[0][0]:
            break
        ids = None if spelled[place] in whole else table.fixed_ids(spelled[place])
        if ids is not None and 1 < len(ids) <= MOST_IDS:
            found[place] = ids
            put: Any = heappush if len(best) < MOST_WORDS else heappushpop
            put(best, (int(words.counts[place]) * len(ids), -place))
    return {spelled[-place]: found[-place] for _, place in sorted(best, reverse=True)}
