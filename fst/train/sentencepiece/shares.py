"""The vocabularies of characters and of words that SentencePiece learns: the score of a piece is the logarithm of its share, in float32.

The characters are those that the other trainers also need, by frequency. A word begins with ▁ or at the beginning of a sentence; words with
rare characters are not pieces, but their counts belong to the total.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fst.errors import VocabularyError, quoted
from fst.train.sentencepiece.bpe import RESERVED
from fst.train.sentencepiece.options import CHAR, WORD, Options
from fst.train.sentencepiece.sentences import Sentences


def pieces_of(sentences: Sentences, options: Options, room: int) -> tuple[dict[str, float], NDArray[np.int64]]:
    """The score of each piece, in the order of ids, and the counts of the pieces. `room`: the maximum number of pieces."""
    found = sentences.required if options.model_type == CHAR else _words(sentences, options)
    total = sum(found.values())
    if not total:
        raise VocabularyError("the texts have no covered characters except special tokens; expected some; raise character_coverage")
    known = [(piece, count) for piece, count in found.items() if RESERVED not in piece]
    chosen = known if options.use_all_vocab else known[:room]
    if missing := [piece for piece, count in chosen if not count]:
        raise VocabularyError(f"no text contains {quoted(missing[0])} of initial_alphabet; expected a character of the texts; leave it out")
    if options.model_type == WORD and options.hard_vocab_limit and not options.use_all_vocab and len(chosen) < room:
        raise VocabularyError(
            f"vocab_size is {room:,} without the special tokens; expected at most {len(chosen):,}, since the texts have no more words; "
            "lower it, or pass options={'hard_vocab_limit': False}"
        )
    logf = _logf()
    log_total = np.float32(logf(total))
    scores = {piece: float(np.float32(logf(count)) - log_total) for piece, count in chosen}
    return scores, np.array([count for _, count in chosen], np.int64)


def _logf() -> Callable[[float], float]:
    """The function logf of the system's C library, which SentencePiece also calls. A logarithm in float64, rounded to float32, is not
    always the same number: with glibc 2.36, that of 1,579 differs.
    """
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(("logf", library))


def _words(sentences: Sentences, options: Options) -> Mapping[str, int]:
    """The count of each word, the most frequent word first; of equally frequent words, those with the smallest code points."""
    inner, final, _ = sentences.words(replace(options, allow_whitespace_only_pieces=False))
    return dict(sorted((inner + final).items(), key=lambda pair: (-pair[1], pair[0])))
