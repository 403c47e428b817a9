"""The trainer of byte-pair encoding that learns the same pieces as SentencePiece.

The trainer uses `fst.train.merges` with other rules. Equally frequent pairs are merged in the order of string length, then of
code points. For each string, only one pair is merged; other pairs that make the same string are never merged. A piece has one script, at
most 16 characters, and ▁ only at its left end. Pairs are merged until the vocabulary is full, even if a pair no longer occurs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fst.compile.patterns import properties
from fst.compile.sources.sentencepiece.model_file import BYTES
from fst.compile.text.sentencepiece import SYMBOL
from fst.compile.train.merges.merging import NONE, Text
from fst.core.jit import no_collector
from fst.counting.words import Words
from fst.errors import UnsupportedError
from fst.train.counting import Corpus
from fst.train.merges import Merged, merged, need_size
from fst.train.pipeline import Pipeline
from fst.train.result import Trained
from fst.train.symbols import Alphabet, checked, strings_of, symbols_of

META = ("<unk>", "<s>", "</s>")  # default special tokens of SentencePiece
RESERVED = "\u2585"  # the character by which SentencePiece replaces unknown characters
MAX_LENGTH = 16  # default maximum number of characters of a piece
LONG_VOWEL = "\u30fc"
GRAVE_AND_ACUTE = (0x953, 0x954)  # combining marks that SentencePiece assigns to the script Devanagari
ANY, HAN, COMMON = range(3)  # values of `kinds_of`; greater numbers are other scripts
SCRIPTS = {"Inherited": ANY, "Han": HAN, "Hiragana": HAN, "Katakana": HAN, "Common": COMMON}
# SentencePiece 0.2.3 assigns the script Common to these characters, because its table of scripts is from Unicode 9 and does not contain
# these characters. Each run (hexadecimal, both ends included) consists of assigned characters that SentencePiece's trainer joins with ASCII
# digits, although their script in `fst.compile.patterns.properties` is not Common.
NEWER = """\
560 588-589 5EF 61C-61D 7FD-7FF 860-86A 870-88E 890-891 897-89F 8B5 8BE-8D3 9FC-9FE A76 AFA-AFF B55 C04 C3C C5D C77 C84 CDD CF3 D00 D04
D3B-D3C D81 E86 E89 E8C E8E-E93 E98 EA0 EA8-EA9 EAC EBA ECE 170D 1715 171F 180F 1878 1ABF-1ACE 1B4C 1B4E-1B4F 1B7D-1B7F 1C89-1C8A
1C90-1CBA 1CBD-1CBF 1DF6-1DFA 2C2F 2C5F 312E-312F 31BB-31BF 4DB6-4DBF 9FD6-9FFF A7AF A7B8-A7CD A7D0-A7D1 A7D3 A7D5-A7DC A7F2-A7F6 A82C
A8FE-A8FF AB66-AB69 FBC2 FD40-FD4F FDCF FDFE-FDFF 1032D-1032F 10780-10785 10787-107B0 107B2-107BA 10A34-10A35 10A48 10EC2-10EC4
10EFC-10EFF 11070-11075 110C2 110CD 11144-11147 111CE-111CF 1123F-11241 1133B 1145A 1145E-11461 116B8-116B9 116D0-116E3 1171A 11740-11746
11AB0-11ABF 11B00-11B09 11FB0 11FC0-11FF1 11FFF 1342F-13455 13460-143FA 16F45-16F4A 16F4F 16F7F-16F87 16FE2-16FE3 16FF0-16FF1 187ED-187F7
18AF3-18AFF 18D00-18D08 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B002-1B122 1B132 1B150-1B152 1B155 1B164-1B167 1CF00-1CF2D 1CF30-1CF46
1DF00-1DF1E 1DF25-1DF2A 1E030-1E06D 1E08F 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1E94B 2A6D7-2A6DF 2B735-2B739 2CEB0-2EBE0
2EBF0-2EE5D 30000-323AF
"""


@no_collector()
def by_sentencepiece(
    corpus: Corpus,
    *,
    vocab_size: int,
    special_tokens: Sequence[str],
    limit_alphabet: int | None,
    max_token_length: int | None,
    byte_fallback: bool,
    unk_token: str | None,
) -> Trained:
    """Learn the same pieces and scores as SentencePiece, in the same order: meta pieces, merged pieces, characters.

    A word begins with ▁ if SentencePiece has a space before it. Words are split at special tokens and at characters outside the alphabet.
    The arguments are as in `fst.train.bpe`.
    """
    words, pipeline, control = corpus
    if corpus.are_bytes:
        raise UnsupportedError("reference 'sentencepiece' needs words of text, not of bytes; split by 'sentencepiece' or 'metaspace'")
    special = [*dict.fromkeys(checked(special_tokens or META))]
    meta = [*special, *(token for token in BYTES if byte_fallback and token not in special)]
    longest = MAX_LENGTH if max_token_length is None else max_token_length
    alphabet = Alphabet(limit=limit_alphabet, breaks=True)
    symbols = symbols_of(without(words, special), alphabet, are_bytes=False)
    need_size(vocab_size, len(meta) + len(symbols.names))
    options = {"trainer": "SentencePiece", "meta": meta, "alphabet": alphabet.options, "size": vocab_size, "longest": longest}
    found = merged(
        symbols,
        prefix="",
        vocab_size=vocab_size - len(meta),
        min_frequency=0,
        max_token_length=longest + 1,
        control=control,
        digest=control.digest_of(words, options),
        text=Text(kinds_of(symbols.names), symbols.names.index(SYMBOL) if SYMBOL in symbols.names else NONE),
    )
    return _result(found, meta, special, unk_token, byte_fallback, pipeline, words.min_count, symbols.counts).of(words)


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
    """The result of training, with the pieces in SentencePiece's order. `counts`: int64[characters], how often each character occurs."""
    names, characters = found.names, len(counts)
    by_count = sorted(range(characters), key=lambda number: (-counts[number], number))
    order = [*range(characters, len(names)), *by_count]
    pieces = [*meta, *(names[number] for number in order)]
    return Trained(
        kind="BPE",
        vocabulary={piece: number for number, piece in enumerate(pieces)},
        counts=np.concatenate([np.zeros(len(meta), np.int64), found.counts[order]]),
        stopped=found.stopped,
        merges=found.merges,
        scores=np.concatenate([np.zeros(len(meta)), -np.arange(len(order), dtype=np.float64)]),
        special_tokens=special,
        pipeline=pipeline,
        model={"unk_token": unk_token or META[0], "fuse_unk": True, "byte_fallback": byte_fallback},
        reference="sentencepiece",
        min_count=min_count,
    )


def without(words: Words, tokens: Sequence[str]) -> Words:
    """The words, split at occurrences of the given tokens. Words that contain U+2585 are left out, since SentencePiece skips such words."""
    text = words.text.tobytes()
    if not any(token.encode() in text for token in (*tokens, RESERVED)):
        return words
    longest_first = sorted(tokens, key=len, reverse=True)
    pairs = list[tuple[str | bytes, int]]()
    for word, count in zip(strings_of(words, are_bytes=False), words.counts.tolist(), strict=True):
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
    kinds[np.searchsorted(_edges(), points, side="right") % 2 == 1] = COMMON
    kinds[points == ord(LONG_VOWEL)] = HAN
    kinds[points == ord(SYMBOL)] = ANY
    return kinds


def _edges() -> NDArray[np.int64]:
    """int64[2 * runs], the first character of each run of `NEWER`, and the first character after the run."""
    ends = ([int(end, 16) for end in run.split("-")] for run in NEWER.split())
    return np.array([edge for run in ends for edge in (run[0], run[-1] + 1)], np.int64)
