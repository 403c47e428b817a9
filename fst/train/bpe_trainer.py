"""The trainer of byte-pair encoding, which learns the same merges as `tokenizers` or SentencePiece."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from fst.core.jit import no_collector
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.train.counting import Corpus, counted
from fst.train.merges import merged_in_either_way
from fst.train.result import Trained
from fst.train.sentencepiece.bpe import by_sentencepiece
from fst.train.symbols import Alphabet, Symbols, by_occurrence, check_numbers, symbols_of

HUGGINGFACE, SENTENCEPIECE = "huggingface", "sentencepiece"
IDS, FIRST = "ids", "first"  # values of the argument `ties`


def bpe(
    source: Any,
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
    reference: str = "huggingface",
    ties: str = "ids",
    splitter: Any = None,
    normalizer: Any = None,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
    progress: Callable[[int, int], None] | None = None,
    checkpoint: str | Path | None = None,
    deadline: float | None = None,
) -> Trained:
    """Train a vocabulary by byte-pair encoding: repeatedly merge the most frequent pair of neighbouring tokens.

    Ids and merges, including ties, equal the ids and merges of ``tokenizers`` 0.23.3. The result is the same on every run: where
    ``tokenizers`` decides at random (ids of symbols with a prefix or a suffix; equally frequent characters at `limit_alphabet`), the order
    of code points decides. Counts above 2^31 do not overflow.

    Args:
        source: documents, files or counted words, see `words`.
        vocab_size: the number of tokens at which training stops.
        min_frequency: pairs rarer than this are not merged.
        special_tokens: the tokens with the first ids. A special token of one character also represents this character in words.
        initial_alphabet: characters that get ids even if no word contains them; longer strings count as their first character. None: with
            byte-level splitters, the letters of all 256 bytes, as in ``train_new_from_iterator`` of ``transformers``; otherwise no
            characters.
        limit_alphabet: the maximum number of characters. Less frequent characters are deleted from the words. None: no limit.
        continuing_subword_prefix: the prefix of tokens that do not begin a word.
        end_of_word_suffix: the suffix of tokens that end a word.
        max_token_length: merged tokens are shorter than this number of characters or bytes, except merges of two single characters. None:
            no limit.
        unk_token: the token of unknown characters, one of `special_tokens`. None: no unknown token; for "sentencepiece", ``<unk>``.
        byte_fallback: add the tokens ``<0x00>`` to ``<0xFF>`` after the special tokens, for the bytes of unknown characters.
        fuse_unk: whether neighbouring unknown characters become one token.
        reference: "huggingface", or "sentencepiece": the pieces and scores of ``sentencepiece`` 0.2.3, in the same order: meta pieces,
            merges, characters. The rules of ``sentencepiece`` differ: among equally frequent pairs, the pair with the shortest string is
            merged; a piece has one script, ▁ only at its left end, and at most `max_token_length` characters (None: 16); rare characters
            end a word. Without `special_tokens`, the first pieces are ``<unk>``, ``<s>`` and ``</s>``. Use the splitter "sentencepiece" or
            "metaspace". With the splitter "sentencepiece", the table has the ids of the saved ``.model``, so special tokens are not found
            in texts.
        ties: which of several equally frequent pairs is merged. "ids": the pair with the smallest id of the left token, then of the right
            token, as in ``tokenizers``. "first": the pair that occurs first in the documents, whose words are read from left to right; the
            merges equal those of ``tiktoken._educational`` and ``minbpe``. For counted words: the order of first occurrence.
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.
        progress: a function that is called with the number of tokens made so far, and the total number.
        checkpoint: the path of a file; whether it can be written is tried before the run. Training writes its state to this file every 3
            minutes, and when the deadline, Ctrl-C, SIGTERM or SIGHUP stops it. The next run with the same words and options resumes from
            this state, and returns the same result as an uninterrupted run. A completed run removes the file.
        deadline: seconds after which the run stops, during the count of words or during training. The result then contains the tokens made
            so far, and "deadline" is the value of `stopped`, and of the member ``stopped`` of the model in the ``tokenizer.json``. If the
            words are counted only in part, no checkpoint is written.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens and characters; or words, options or the checkpoint are
            invalid.
        UnsupportedError: the options cannot be combined, or the splitter is unknown or missing.
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> result = bpe({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, vocab_size=10)
        >>> result.merges, result.stopped
        ([('u', 'g'), ('u', 'n'), ('h', 'ug')], 'size')
        >>> [*result.vocabulary]
        ['b', 'g', 'h', 'n', 'p', 's', 'u', 'ug', 'un', 'hug']
    """
    if reference not in (HUGGINGFACE, SENTENCEPIECE):
        raise UnsupportedError(f"reference is {quoted(reference)}; expected {HUGGINGFACE!r} or {SENTENCEPIECE!r}")
    if unk_token is not None and unk_token not in special_tokens:
        raise VocabularyError(f"unk_token is {quoted(unk_token)}; expected one of special_tokens; add it to these")
    if ties not in (IDS, FIRST):
        raise UnsupportedError(f"ties is {quoted(ties)}; expected {IDS!r} or {FIRST!r}")
    if ties == FIRST and (reference != HUGGINGFACE or continuing_subword_prefix or end_of_word_suffix):
        raise UnsupportedError("ties is 'first', and there is a reference, a prefix or a suffix; expected one of these; leave out ties")
    check_numbers(vocab_size=vocab_size, min_frequency=min_frequency, max_token_length=0 if max_token_length is None else max_token_length)
    if reference == SENTENCEPIECE:
        if min_frequency or initial_alphabet or continuing_subword_prefix or end_of_word_suffix:
            raise UnsupportedError("SentencePiece has no min_frequency, initial_alphabet, prefix or suffix; leave them out")
        return by_sentencepiece(
            counted(source, splitter, locals()),
            vocab_size=vocab_size,
            special_tokens=special_tokens,
            limit_alphabet=limit_alphabet,
            max_token_length=max_token_length,
            byte_fallback=byte_fallback,
            unk_token=unk_token,
        )
    if max_token_length is not None and (continuing_subword_prefix or end_of_word_suffix):
        raise UnsupportedError(
            "max_token_length is combined with a prefix or a suffix; the reference would merge pairs that never occur; leave one out"
        )
    alphabet = Alphabet(special_tokens, initial_alphabet, limit_alphabet, continuing_subword_prefix, end_of_word_suffix, byte_fallback)
    fields = {
        "unk_token": unk_token,
        "continuing_subword_prefix": continuing_subword_prefix or None,
        "end_of_word_suffix": end_of_word_suffix or None,
        "fuse_unk": fuse_unk,
        "byte_fallback": byte_fallback,
    }
    corpus = counted(source, splitter, locals())
    if end_of_word_suffix:
        corpus = corpus.decoded_by({"type": "BPEDecoder", "suffix": end_of_word_suffix})
    return by_frequency("BPE", corpus, alphabet, vocab_size, min_frequency, max_token_length, fields, by_place=ties == FIRST)


@no_collector()
def by_frequency(
    kind: str,
    corpus: Corpus,
    alphabet: Alphabet,
    vocab_size: int,
    min_frequency: int,
    max_token_length: int | None,
    model: dict[str, Any],
    *,
    by_place: bool = False,
) -> Trained:
    """Learn merges by frequency, and compute the strings of tokens. Both BPE and WordPiece call this function.

    Equally frequent pairs are merged in the order of the left ids, then of the right ids; with `by_place`, in the order of their first
    occurrence. Overlapping occurrences are all counted, so ``aaa`` contains ``aa`` twice.
    """
    words, pipeline, control = corpus
    options = {"alphabet": alphabet.options, "size": vocab_size, "least": min_frequency, "longest": max_token_length}
    options |= {"ties": FIRST} if by_place else {}
    digest = control.digest_of(words, {"trainer": kind, "bytes": corpus.are_bytes, **options})

    def spelled() -> Symbols:
        symbols = symbols_of(words, alphabet, are_bytes=corpus.are_bytes)
        return by_occurrence(symbols, words.first) if by_place else symbols

    found = merged_in_either_way(
        spelled,
        prefix=alphabet.prefix,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        control=control,
        digest=digest,
        by_place=by_place,
    )
    return Trained(
        kind=kind,
        vocabulary={name: number for number, name in enumerate(found.names)},
        counts=found.counts,
        stopped=found.stopped,
        merges=found.merges,
        special_tokens=[*dict.fromkeys(alphabet.special_tokens)],
        pipeline=pipeline,
        model=model,
        min_count=words.min_count,
    ).of(words)
