"""Training of new vocabularies: the runtime counts words, and the compiler makes a vocabulary from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst.bridge.train.counting import split

if TYPE_CHECKING:
    from fst.compile.train.control import Control
    from fst.compile.train.result import Trained


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

    Ids and merges, including ties, equal those of ``tokenizers`` 0.23.3. The result is the same on every run: where ``tokenizers`` decides
    at random (ids of symbols with a prefix or a suffix; equally frequent characters at `limit_alphabet`), code points decide. Counts above
    2^31 do not overflow.

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
            merges, characters. The rules of ``sentencepiece`` differ: of equally frequent pairs, the shortest string is merged; a piece has
            one script, ▁ only at its left end, and at most `max_token_length` characters (None: 16); rare characters end a word. Without
            `special_tokens`, the first pieces are ``<unk>``, ``<s>`` and ``</s>``. Use the splitter "sentencepiece" or "metaspace".
            With the splitter "sentencepiece", the table has the ids of the saved ``.model``, so special tokens are not found in texts.
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.
        progress: a function that is called with the number of tokens made so far, and the total number.
        checkpoint: the path of a file, which is tried before the run. Training writes its state to this file every 3 minutes, and when the
            deadline, Ctrl-C, SIGTERM or SIGHUP stops it. The next run with the same words and options resumes from this state, and gives
            the same result as an uninterrupted run. A run that ends removes the file.
        deadline: seconds after which the run stops, while it counts words or while it trains. The result contains the tokens made so far,
            `stopped` is "deadline", and so is the member ``stopped`` of the model in its ``tokenizer.json``. If the words are counted
            only in part, no checkpoint is written.

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
    arguments = dict(locals())
    from fst.compile.train.bpe import bpe as train

    return _trained_in_rounds(train, **arguments)


def wordpiece(
    source: Any,
    *,
    vocab_size: int = 30_000,
    criterion: str = "frequency",
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    initial_alphabet: Collection[str] | None = None,
    limit_alphabet: int | None = None,
    continuing_subword_prefix: str = "##",
    end_of_word_suffix: str = "",
    unk_token: str = "[UNK]",
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
    """Train a vocabulary of WordPiece.

    With the criterion "frequency", the result equals the result of ``tokenizers`` 0.23.3, except for the ids of single characters with the
    prefix. In ``tokenizers``, these ids are in random order; here they follow the ids of all other characters, in the order of code points.

    Args:
        source: documents, files or counted words, see `words`.
        vocab_size: the number of tokens at which training stops.
        criterion: "frequency": merge the most frequent pair of neighbouring tokens. "score": merge the pair with the highest score, as in
            the course of Hugging Face; the score is the count of the pair divided by the product of the counts of its parts. Texts then
            have more tokens per word.
        min_frequency: pairs rarer than this are not merged. With the criterion "score", a value below 10 gives poor vocabularies and a
            UserWarning.
        special_tokens: the tokens with the first ids; `unk_token` should be one of them.
        initial_alphabet: characters that get ids even if no word contains them.
        limit_alphabet: the maximum number of characters. Less frequent characters are deleted from the words. None: no limit.
        continuing_subword_prefix: the prefix of tokens that do not begin a word.
        end_of_word_suffix: the suffix of tokens that end a word.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.
        progress, checkpoint, deadline: see `bpe`.

    Raises:
        VocabularyError, UnsupportedError, TextError, ReadingError, OSError: for the reasons listed in `bpe`.

    Examples:
        >>> [*wordpiece({"hug": 10, "pug": 5, "hugs": 5}, vocab_size=9).vocabulary]
        ['g', 'h', 'p', 's', 'u', '##g', '##s', '##u', '##ug']
    """
    arguments = dict(locals())
    from fst.compile.train.wordpiece import wordpiece as train

    _need_no_rule("WordPiece", splitter, normalizer)
    return _trained_in_rounds(train, **arguments)


def unigram(
    source: Any,
    *,
    vocab_size: int = 8000,
    special_tokens: Sequence[str] = (),
    unk_token: str | None = None,
    initial_alphabet: Collection[str] = (),
    shrinking_factor: float = 0.75,
    n_sub_iterations: int = 2,
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    reference: str = "huggingface",
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
    """Train a vocabulary of Unigram: begin with all frequent substrings of the words, and remove the least useful substrings until the
    vocabulary has the requested size.

    By default, pieces and scores equal those of ``tokenizers`` 0.23.3, including its defects:

    - the loss of a piece is computed with a wrong sum;
    - the final cut to the size is by loss, not by score;
    - if single characters already fill `vocab_size`, all remaining pieces are kept, and the vocabulary is larger than `vocab_size`.

    Characters that are not pieces get scores that differ by 0.0001. The order of these characters is random in ``tokenizers``; here it is
    the order of code points. Counts above 2^32 do not overflow.

    With "exact", the sum is correct, the pieces with the best scores stay, characters that are not pieces follow all pieces in the order of
    their frequency, and special tokens are not pieces.

    Args:
        source: documents, files or counted words, see `words`.
        vocab_size: the number of tokens at which training stops. The result is smaller if the words do not have enough pieces.
        special_tokens: the tokens with the first ids, with the score 0.
        unk_token: the token of unknown characters; if it is not in `special_tokens`, it gets the first id. None: no unknown token.
        initial_alphabet: characters that become tokens even if no word contains them; longer strings count as their first character.
        shrinking_factor: the share of pieces that each pruning keeps, at least 0 and below 1.
        n_sub_iterations: the number of times that scores are estimated before each pruning.
        max_piece_length: the maximum length of a piece in characters.
        seed_size: the maximum number of substrings and characters at the start.
        reference: "huggingface" or "exact".
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.
        progress: a function that is called with the number of steps made so far, and an estimate of the total number.
        checkpoint, deadline: see `bpe`.

    Returns:
        The tokens with their scores. Counts are from the best segmentations of the words.

    Raises:
        UnsupportedError: `reference` is "sentencepiece", whose pieces depend on the number of threads; or for a reason listed in `bpe`.
        VocabularyError: there are no words, a word is not UTF-8, or a special token is also a piece of words; or for a reason listed in
            `bpe`.
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> result = unigram({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=40, unk_token="<unk>")
        >>> [*result.vocabulary]
        ['<unk>', 'e', 's', 't', 'low', 'n', 'w', 'we', 'd', 'i', 'o', 'l', 'r']
        >>> result.scores[1:5].round(4).tolist()
        [-1.6022, -1.9555, -1.9555, -2.2233]
    """
    arguments = dict(locals())
    from fst.compile.train.unigram.trainer import unigram as train

    return _trained_in_rounds(train, **arguments)


def wordlevel(
    source: Any,
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    unk_token: str = "<unk>",
    splitter: Any = None,
    normalizer: Any = None,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
) -> Trained:
    """Train a vocabulary of the most frequent whole words. Of equally frequent words, the words with smaller code points are chosen.

    Ids equal those of ``tokenizers`` 0.23.3. If a special token is also a word, it gets the id of the word, and its own id is not used.

    Args:
        source: documents, files or counted words, see `words`.
        vocab_size: the number of ids.
        min_frequency: words with lower counts are left out.
        special_tokens: the tokens with the first ids; `unk_token` should be one of them.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens; or for a reason listed in `bpe`.
        UnsupportedError, TextError, ReadingError, OSError: for the reasons listed in `bpe`.

    Examples:
        >>> wordlevel(["a rose is a rose"], splitter="whitespace", special_tokens=["<unk>"], vocab_size=3).vocabulary
        {'<unk>': 0, 'a': 1, 'rose': 2}
    """
    arguments = dict(locals())
    from fst.compile.train.word_level import word_level as train

    _need_no_rule("WordLevel", splitter, normalizer)
    return _trained(train, **arguments)


def _need_no_rule(kind: str, splitter: Any, normalizer: Any) -> None:
    """Raise an error before words are counted if a named splitter has a rule of SentencePiece, see `fst.compile.train.pipeline`."""
    from fst.compile.train.pipeline import SENTENCEPIECE, need_no_rule, pipeline_of

    if isinstance(splitter, str) and splitter == SENTENCEPIECE:
        need_no_rule(kind, pipeline_of(splitter, normalizer))


def _trained_in_rounds(
    train: Callable[..., Trained],
    *,
    progress: Callable[[int, int], None] | None,
    checkpoint: str | Path | None,
    deadline: float | None,
    **arguments: Any,
) -> Trained:
    """Call a trainer of the compiler that works in rounds. The other arguments are as in `_trained`."""
    from fst.compile.train.control import Control

    return _trained(train, control=Control(progress, deadline, checkpoint), **arguments)


def _trained(
    train: Callable[..., Trained],
    *,
    source: Any,
    splitter: Any,
    normalizer: Any,
    column: str | None,
    field: str | None,
    threads: int | None,
    min_count: int,
    errors: str,
    control: Control | None = None,
    **options: Any,
) -> Trained:
    """Call a trainer of the compiler. `options` are the arguments that only this trainer has. All other arguments are as in `bpe`."""
    if control is None:
        found, pipeline = split(source, splitter, normalizer, column, field, threads, min_count, errors)
        return train(found, pipeline=pipeline, **options).of(found)
    found, pipeline = split(source, splitter, normalizer, column, field, threads, min_count, errors, control.is_over)
    return train(found, pipeline=pipeline, control=control.after(found), **options).of(found)
