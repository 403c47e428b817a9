"""The trainer of byte-pair encoding, which learns the same merges as `tokenizers` or SentencePiece."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from fst.compile.train.control import Control, digest_of
from fst.compile.train.merges.run import merged_in_either_way
from fst.compile.train.pipeline import Pipeline
from fst.compile.train.result import Trained
from fst.compile.train.sentencepiece.bpe import by_sentencepiece
from fst.compile.train.symbols import Alphabet, check_numbers, symbols_of
from fst.core.jit import no_collector
from fst.counting.words import Words
from fst.errors import UnsupportedError, VocabularyError, quoted

HUGGINGFACE, SENTENCEPIECE = "huggingface", "sentencepiece"


def bpe(
    words: Words,
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    initial_alphabet: Collection[str] | None = None,
    limit_alphabet: int | None = None,
    continuing_subword_prefix: str = "",
    end_of_word_suffix: str = "",
    max_token_length: int | None = None,
    unk_token: str | None = None,
    byte_fallback: bool = False,
    fuse_unk: bool = False,
    reference: str = HUGGINGFACE,
    pipeline: Pipeline | None = None,
    control: Control | None = None,
    order: Sequence[str] = (),
) -> Trained:
    """Learn a vocabulary and merges by byte-pair encoding: repeatedly merge the most frequent pair of adjacent tokens.

    Equally frequent pairs are merged in the order of their left ids, then of their right ids. Overlapping occurrences are all counted, so
    ``aaa`` contains ``aa`` twice.

    Args:
        words: the words with their counts.
        vocab_size, min_frequency, special_tokens, initial_alphabet, limit_alphabet, continuing_subword_prefix, end_of_word_suffix,
            max_token_length, unk_token, byte_fallback, fuse_unk, reference: as in `fst.train.bpe`.
        pipeline: the pipeline that split texts into the words; None: the pipeline is unknown, and words are text. If the pipeline has no
            decoder, the trainer adds a decoder that turns the suffix into spaces.
        control: progress, deadline and checkpoint.
        order: symbols with a prefix or a suffix that get their ids first, in this order; all other symbols follow by code point.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens and characters, or words or options are invalid.
        UnsupportedError: options cannot be combined, or the reference is unknown.
    """
    if reference not in (HUGGINGFACE, SENTENCEPIECE):
        raise UnsupportedError(f"reference is {quoted(reference)}; expected {HUGGINGFACE!r} or {SENTENCEPIECE!r}")
    if unk_token is not None and unk_token not in special_tokens:
        raise VocabularyError(f"unk_token is {quoted(unk_token)}; expected one of special_tokens; add it to these")
    check_numbers(vocab_size=vocab_size, min_frequency=min_frequency, max_token_length=0 if max_token_length is None else max_token_length)
    if reference == SENTENCEPIECE:
        if min_frequency or initial_alphabet or continuing_subword_prefix or end_of_word_suffix:
            raise UnsupportedError("SentencePiece has no min_frequency, initial_alphabet, prefix or suffix; leave them out")
        return by_sentencepiece(
            words,
            vocab_size=vocab_size,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            max_token_length=max_token_length,
            byte_fallback=byte_fallback,
            unk_token=unk_token,
            pipeline=pipeline,
            control=control or Control(),
        )
    if max_token_length is not None and (continuing_subword_prefix or end_of_word_suffix):
        raise UnsupportedError(
            "max_token_length is combined with a prefix or a suffix; the reference would merge pairs that never occur; leave one out"
        )
    if pipeline is not None and end_of_word_suffix:
        pipeline = pipeline.decoded_by({"type": "BPEDecoder", "suffix": end_of_word_suffix})
    alphabet = Alphabet(
        special_tokens, initial_alphabet, limit_alphabet, continuing_subword_prefix, end_of_word_suffix, byte_fallback, order
    )
    fields = {
        "unk_token": unk_token,
        "continuing_subword_prefix": continuing_subword_prefix or None,
        "end_of_word_suffix": end_of_word_suffix or None,
        "fuse_unk": fuse_unk,
        "byte_fallback": byte_fallback,
    }
    return trained("BPE", words, alphabet, vocab_size, min_frequency, max_token_length, fields, pipeline, control)


@no_collector()
def trained(
    kind: str,
    words: Words,
    alphabet: Alphabet,
    vocab_size: int,
    min_frequency: int,
    max_token_length: int | None,
    model: dict[str, Any],
    pipeline: Pipeline | None,
    control: Control | None,
) -> Trained:
    """Learn merges by frequency, and compute the tokens' strings. Both BPE and WordPiece call this function."""
    check_numbers(vocab_size=vocab_size, min_frequency=min_frequency)
    options = {"alphabet": alphabet.options, "size": vocab_size, "least": min_frequency, "longest": max_token_length}
    digest = digest_of(words, {"trainer": kind, "bytes": pipeline is not None and pipeline.are_bytes, **options})
    found = merged_in_either_way(
        lambda: symbols_of(words, pipeline, alphabet),
        prefix=alphabet.prefix,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        control=control or Control(),
        digest=digest,
    )
    names = found.names
    return Trained(
        kind=kind,
        vocabulary={name: number for number, name in enumerate(names)},
        counts=found.counts,
        stopped=found.stopped,
        merges=[(names[left], names[right]) for left, right in found.merges],
        special_tokens=[*dict.fromkeys(alphabet.special_tokens)],
        pipeline=pipeline,
        model=model,
        min_count=words.min_count,
    )
