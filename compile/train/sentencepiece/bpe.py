"""The trainer of byte-pair encoding that learns the same pieces as SentencePiece.

The trainer uses `fst.compile.train.merges.run` with other rules. Equally frequent pairs are merged in the order of string length, then of
code points. Only one pair is merged into each string; other pairs with the same string are never merged. A piece has one script, at most 16
characters, and ▁ only at its left end. Until the vocabulary is full, pairs are merged even if they no longer occur.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fst.compile.patterns import properties
from fst.compile.sources.sentencepiece.model_file import BYTES
from fst.compile.text.sentencepiece import SYMBOL
from fst.compile.train.control import Control, digest_of
from fst.compile.train.merges.merging import NONE, Text
from fst.compile.train.merges.run import Merged, merged, need_size
from fst.compile.train.pipeline import Pipeline
from fst.compile.train.result import Trained
from fst.compile.train.sentencepiece import newer_characters
from fst.compile.train.symbols import Alphabet, checked, strings_of, symbols_of
from fst.core.jit import no_collector
from fst.counting.words import Words
from fst.errors import UnsupportedError

META = ("<unk>", "<s>", "</s>")  # default special tokens of SentencePiece
RESERVED = "\u2585"  # the character by which SentencePiece replaces unknown characters
MAX_LENGTH = 16  # default limit of characters in a piece
LONG_VOWEL = "\u30fc"
GRAVE_AND_ACUTE = (0x953, 0x954)  # combining marks that SentencePiece assigns to the script Devanagari
ANY, HAN, COMMON = range(3)  # values of `kinds_of`; greater numbers are other scripts
SCRIPTS = {"Inherited": ANY, "Han": HAN, "Hiragana": HAN, "Katakana": HAN, "Common": COMMON}


@no_collector()
def by_sentencepiece(
    words: Words,
    *,
    vocab_size: int,
    special_tokens: Sequence[str],
    limit_alphabet: int | None,
    max_token_length: int | None,
    byte_fallback: bool,
    unk_token: str | None,
    pipeline: Pipeline | None,
    control: Control,
) -> Trained:
    """Learn the same pieces and scores as SentencePiece, in the same order: meta pieces, merged pieces, characters.

    Args:
        words: the words with their counts; a word begins with ▁ where SentencePiece sees a space before the word.
        vocab_size: the number of pieces.
        special_tokens: the first pieces; words are split at occurrences of these pieces. If empty: the default tokens of SentencePiece.
        limit_alphabet: the maximum number of characters; words are split at all rarer characters. None: no limit.
        max_token_length: the maximum number of characters in a piece; None: 16.
        byte_fallback: add the pieces ``<0x00>`` to ``<0xFF>`` after the special tokens.
        unk_token: the piece for unknown characters; None: ``<unk>``.
        pipeline: the pipeline that split texts into the words; None: the pipeline is unknown.
        control: progress, deadline and checkpoint.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens and characters, or words or options are invalid.
        UnsupportedError: the words are bytes.
    """
    if pipeline is not None and pipeline.are_bytes:
        raise UnsupportedError("reference 'sentencepiece' needs words of text, not of bytes; split by 'sentencepiece' or 'metaspace'")
    special = [*dict.fromkeys(checked(special_tokens or META))]
    meta = [*special, *(token for token in BYTES if byte_fallback and token not in special)]
    longest = MAX_LENGTH if max_token_length is None else max_token_length
    alphabet = Alphabet(limit=limit_alphabet, breaks=True)
    symbols = symbols_of(without(words, special, pipeline), pipeline, alphabet)
    need_size(vocab_size, len(meta) + len(symbols.names))
    options = {"trainer": "SentencePiece", "meta": meta, "alphabet": alphabet.options, "size": vocab_size, "longest": longest}
    found = merged(
        symbols,
        prefix="",
        vocab_size=vocab_size - len(meta),
        min_frequency=0,
        max_token_length=longest + 1,
        control=control,
        digest=digest_of(words, options),
        text=Text(kinds_of(symbols.names), symbols.names.index(SYMBOL) if SYMBOL in symbols.names else NONE),
    )
    return _result(found, meta, special, unk_token, byte_fallback, pipeline, words.min_count, symbols.counts)


def _result(
    found: Merged,
    meta: Sequence[str],
    special: Sequence[str],
    unk_token: str | None,
    byte_fallback: bool,
    pipeline: Pipeline | None,
    min_count: int,
    counts: NDArray[np.int64],
) -> Trained:
    """The result of training, with the pieces in SentencePiece's order.

    Args:
        counts: int64[characters], the number of occurrences of each character.
    """
    names, characters = found.names, len(counts)
    by_count = sorted(range(characters), key=lambda number: (-counts[number], number))
    order = [*range(characters, len(names)), *by_count]
    pieces = [*meta, *(names[number] for number in order)]
    return Trained(
        kind="BPE",
        vocabulary={piece: number for number, piece in enumerate(pieces)},
        counts=np.concatenate([np.zeros(len(meta), np.int64), found.counts[order]]),
        stopped=found.stopped,
        merges=[(names[left], names[right]) for left, right in found.merges],
        scores=np.concatenate([np.zeros(len(meta)), -np.arange(len(order), dtype=np.float64)]),
        special_tokens=special,
        pipeline=pipeline,
        model={"unk_token": unk_token or META[0], "fuse_unk": True, "byte_fallback": byte_fallback},
        reference="sentencepiece",
        min_count=min_count,
    )


def without(words: Words, tokens: Sequence[str], pipeline: Pipeline | None) -> Words:
    """The words, split at occurrences of the tokens. Words that contain U+2585 are left out, since SentencePiece skips such words."""
    text = words.text.tobytes()
    if not any(token.encode() in text for token in (*tokens, RESERVED)):
        return words
    longest_first = sorted(tokens, key=len, reverse=True)
    pairs = list[tuple[str | bytes, int]]()
    for word, count in zip(strings_of(words, pipeline), words.counts.tolist(), strict=True):
        if RESERVED in word:
            continue
        cut = word
        for token in longest_first:
            cut = cut.replace(token, "\0")
        pairs += [(part, count) for part in cut.split("\0") if part]
    return Words.of_pairs(pairs, words.split)


def kinds_of(characters: Sequence[str]) -> NDArray[np.int32]:
    """The script of each character as a number; 0: the character may be in pieces of any script."""
    points = np.array([ord(character) for character in characters], np.int64)
    kinds = np.full(len(points), COMMON, np.int32)  # characters of unknown script stay COMMON
    for number, script in enumerate(properties.scripts(), COMMON + 1):
        within = np.searchsorted(properties.named(script), points, side="right") % 2 == 1
        kinds[within | (np.isin(points, GRAVE_AND_ACUTE) & (script == "Devanagari"))] = SCRIPTS.get(script, number)
    kinds[np.searchsorted(newer_characters.edges(), points, side="right") % 2 == 1] = COMMON
    kinds[points == ord(LONG_VOWEL)] = HAN
    kinds[points == ord(SYMBOL)] = ANY
    return kinds
