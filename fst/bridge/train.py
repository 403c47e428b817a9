"""Training: vocabularies from texts or from counted words.

The runtime counts words, and the compiler makes a vocabulary from them. This module connects the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst.bridge.words import MEMORY
from fst.bridge.words import words_of as _words_of
from fst.counting.words import UNKNOWN_SPLIT, Words
from fst.errors import VocabularyError

if TYPE_CHECKING:
    from fst.compile.train.old.trimming import Trimmed
    from fst.compile.train.pipeline import Pipeline
    from fst.compile.train.result import Trained

OF_ROUNDS = ("progress", "checkpoint", "deadline")  # arguments of trainers that work in rounds


def words(
    sources: Any,
    *,
    splitter: Any = None,
    normalizer: Any = None,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    partition: int = 0,
    min_count: int = 1,
    memory: int = MEMORY,
    progress: Callable[[int, int], None] | None = None,
    errors: str = "strict",
) -> Words:
    """Count the words of a corpus: the pre-tokens from which a vocabulary is trained.

    The result does not depend on the number of threads, on the division into files or batches, or on `memory`.

    Args:
        sources: one of these:

            - documents: an iterable of str or of bytes in UTF-8, or of lists of them; or a column of Arrow, polars or pandas;
            - a table with a column of documents, see `column`;
            - files: a path or URL, or an iterable of them. Files are text, JSON lines, Parquet or Arrow, compressed or not; a path may be
              a folder or a pattern. A line of plain text, with its line feed, is a document. Items of type str are paths if `column` or
              `field` is given, or if the iterable is a list or tuple in which each item is an existing file or a URL;
            - counted words: a `Words`, a mapping of words to counts, pairs of word and count, or a table or Parquet files with the columns
              word and count.
        splitter: how documents are split. A name: "gpt2", "bert", "metaspace", "sentencepiece", "whitespace", "cl100k", "o200k",
            "llama3", "qwen2", or "none" (a document is one word). A regular expression, for byte-level vocabularies. A pre-tokenizer of
            ``tokenizers``, live or as a mapping. Or a tokenizer, together with its normalizer: live, an `fst.Tokenizer`, a table, or the
            path of a table, a ``tokenizer.json`` or a folder. For counted words: the splitter that made them.
        normalizer: "bert", "bert-cased", "nfc", "nfd", "nfkc", "nfkd", "lowercase", or "none"; or a normalizer of ``tokenizers``, live or
            as a mapping. None: that of the splitter.
        column: the column of documents in tables and in files of Parquet and Arrow.
        field: the field of documents in JSON lines.
        threads: the number of threads; None: ``FST_NUM_THREADS``, or one per core.
        partition: the number of this part of a corpus, if its parts are counted separately and merged later, see `Words.to_arrow`.
        min_count: rarer words are left out.
        memory: upper bound on the bytes of all threads' tables. When they are full, words are written to a temporary folder.
        progress: called with the numbers of documents and bytes counted so far, from any thread, but from one at a time.
        errors: "strict", or "replace": U+FFFD replaces malformed units of documents.

    Returns:
        The words with their counts and first occurrences, sorted by their bytes.

    Raises:
        TextError: a document is not text, or a file is damaged or lacks the column or the field. The message names the place.
        VocabularyError: counted words are malformed or were split in another way, or the sum of all counts is too large.
        UnsupportedError: the splitter or the normalizer is unknown or not supported, or documents have no splitter.
        ReadingError, OSError: a file cannot be read.

    Examples:
        >>> found = words(["a rose is a rose", "a rose"], splitter="gpt2")
        >>> [*zip(found, found.counts.tolist())]
        [(b' a', 1), (b' is', 1), (b' rose', 3), (b'a', 2)]
    """
    found, _ = _words_of(
        sources,
        splitter=splitter,
        normalizer=normalizer,
        column=column,
        field=field,
        threads=threads,
        partition=partition,
        min_count=min_count,
        memory=memory,
        progress=progress,
        errors=errors,
    )
    return found


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

    Ids, merges and ties equal those of ``tokenizers`` 0.23.3. The result is the same on every run: where ``tokenizers`` decides at random
    (ids of symbols with a prefix or a suffix; equally frequent characters at `limit_alphabet`), code points decide. Counts above 2^31 do
    not overflow.

    Args:
        source: documents, files or counted words, as in `words`.
        vocab_size: the number of tokens at which training stops.
        min_frequency: pairs rarer than this are not merged.
        special_tokens: the tokens with the first ids. A special token of one character is also that character in words.
        initial_alphabet: characters that get ids even if no word contains them; longer strings count as their first character. None: with
            byte-level splitters the letters of all 256 bytes, as in ``train_new_from_iterator`` of transformers; else no characters.
        limit_alphabet: the maximum number of characters. The most frequent ones stay; the others are deleted from the words. None: no
            limit.
        continuing_subword_prefix: the prefix of tokens that do not begin a word.
        end_of_word_suffix: the suffix of tokens that end a word.
        max_token_length: merged tokens are shorter than this, in characters or bytes; two single characters are merged in any case.
            None: no limit.
        unk_token: the token of unknown characters, one of `special_tokens`. None: no unknown token; for "sentencepiece", ``<unk>``.
        byte_fallback: add the tokens ``<0x00>`` to ``<0xFF>`` after the special tokens, for the bytes of unknown characters.
        fuse_unk: whether neighbouring unknown characters become one token.
        reference: "huggingface", or "sentencepiece": the pieces and scores of ``sentencepiece`` 0.2.3, in its order: meta pieces, merges,
            characters. Its rules differ: of equally frequent pairs, the shortest string is merged; a piece has one script, ▁ only at its
            left end, and at most `max_token_length` characters (None: 16); rare characters end a word. Without `special_tokens`, the first
            pieces are ``<unk>``, ``<s>`` and ``</s>``. Use the splitter "sentencepiece" or "metaspace".
        splitter, normalizer, column, field, threads, min_count, errors: as in `words`.
        progress: called with the number of tokens made so far, and the total to make.
        checkpoint: the path of a file. A run stopped by Ctrl-C or the deadline writes its state there; the next run with the same words and
            options resumes from it and gives the same result.
        deadline: seconds after which training stops. The result contains the tokens made so far.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens and characters; or words, options or the checkpoint are
            invalid.
        UnsupportedError: the options cannot be combined, or the splitter is unknown or missing.
        TextError, ReadingError, OSError: as in `words`.

    Examples:
        >>> result = bpe({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, vocab_size=10)
        >>> result.merges, result.stopped
        ([('u', 'g'), ('u', 'n'), ('h', 'ug')], 'size')
        >>> [*result.vocabulary]
        ['b', 'g', 'h', 'n', 'p', 's', 'u', 'ug', 'un', 'hug']
    """
    from fst.compile.train.bpe import bpe as train
    from fst.compile.train.control import Control

    control = Control(progress, deadline, checkpoint)
    found, pipeline = _split(source, splitter, normalizer, column, field, threads, min_count, errors)
    return train(
        found,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        initial_alphabet=initial_alphabet,
        limit_alphabet=limit_alphabet,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        max_token_length=max_token_length,
        unk_token=unk_token,
        byte_fallback=byte_fallback,
        fuse_unk=fuse_unk,
        reference=reference,
        pipeline=pipeline,
        control=control,
    )


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

    By frequency, the result equals that of ``tokenizers`` 0.23.3, except for the ids of single characters with the prefix: their order is
    random there; here they follow the other characters, by code point.

    Args:
        source: documents, files or counted words, as in `words`.
        vocab_size: the number of tokens at which training stops.
        criterion: "frequency": merge the most frequent pair of neighbouring tokens. "score": merge the pair with the greatest count divided
            by the product of the counts of its parts, as in the course of Hugging Face; texts then have more tokens per word.
        min_frequency: pairs rarer than this are not merged. By score, a value below 10 gives poor vocabularies and a UserWarning.
        special_tokens: the tokens with the first ids; `unk_token` should be one of them.
        initial_alphabet: characters that get ids even if no word contains them.
        limit_alphabet: the maximum number of characters. The most frequent ones stay; the others are deleted from the words. None: no
            limit.
        continuing_subword_prefix: the prefix of tokens that do not begin a word.
        end_of_word_suffix: the suffix of tokens that end a word.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: as in `words`.
        progress, checkpoint, deadline: as in `bpe`.

    Raises:
        VocabularyError, UnsupportedError, TextError, ReadingError, OSError: as in `bpe`.

    Examples:
        >>> [*wordpiece({"hug": 10, "pug": 5, "hugs": 5}, vocab_size=9).vocabulary]
        ['g', 'h', 'p', 's', 'u', '##g', '##s', '##u', '##ug']
    """
    from fst.compile.train.control import Control
    from fst.compile.train.wordpiece import wordpiece as train

    control = Control(progress, deadline, checkpoint)
    found, pipeline = _split(source, splitter, normalizer, column, field, threads, min_count, errors)
    return train(
        found,
        vocab_size=vocab_size,
        criterion=criterion,
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        initial_alphabet=initial_alphabet,
        limit_alphabet=limit_alphabet,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        unk_token=unk_token,
        pipeline=pipeline,
        control=control,
    )


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
    """Train a vocabulary of Unigram: begin with all frequent substrings of the words, and drop the least useful until the size is met.

    By default, pieces and scores equal those of ``tokenizers`` 0.23.3, including its defects:

    - the loss of a piece is computed with a wrong sum;
    - the final cut to the size is by loss, not by score;
    - if the characters alone fill `vocab_size`, all remaining pieces are kept, and the vocabulary exceeds it.

    Characters that are not pieces get scores 0.0001 apart, in random order in ``tokenizers`` and by code point here. Counts above 2^32 do
    not overflow.

    With "exact", the sum is correct, the pieces with the best scores stay, characters that are not pieces follow all pieces by frequency,
    and special tokens are not pieces.

    Args:
        source: documents, files or counted words, as in `words`.
        vocab_size: the number of tokens at which training stops. The result has fewer if the words have no more pieces.
        special_tokens: the tokens with the first ids, with the score 0.
        unk_token: the token of unknown characters; if it is not in `special_tokens`, it gets the first id. None: no unknown token.
        initial_alphabet: characters that become tokens even if no word contains them; longer strings count as their first character.
        shrinking_factor: the share of pieces that each pruning keeps, at least 0 and below 1.
        n_sub_iterations: the number of estimations of scores before each pruning.
        max_piece_length: the maximum length of a piece in characters.
        seed_size: the maximum number of substrings and characters at the start.
        reference: "huggingface" or "exact".
        splitter, normalizer, column, field, threads, min_count, errors: as in `words`.
        progress: called with the number of steps made so far, and an estimate of the total.
        checkpoint, deadline: as in `bpe`.

    Returns:
        The tokens with their scores. The counts are those of the best segmentations of the words.

    Raises:
        UnsupportedError: `reference` is "sentencepiece", whose pieces depend on the number of threads; or as in `bpe`.
        VocabularyError: there are no words, a word is not UTF-8, or a special token is also a piece of words; or as in `bpe`.
        TextError, ReadingError, OSError: as in `words`.

    Examples:
        >>> result = unigram({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=40, unk_token="<unk>")
        >>> [*result.vocabulary]
        ['<unk>', 'e', 's', 't', 'low', 'n', 'w', 'we', 'd', 'i', 'o', 'l', 'r']
        >>> result.scores[1:5].round(4).tolist()
        [-1.6022, -1.9555, -1.9555, -2.2233]
    """
    from fst.compile.train.control import Control
    from fst.compile.train.unigram.trainer import unigram as train

    control = Control(progress, deadline, checkpoint)
    found, pipeline = _split(source, splitter, normalizer, column, field, threads, min_count, errors)
    return train(
        found,
        vocab_size=vocab_size,
        special_tokens=special_tokens,
        unk_token=unk_token,
        initial_alphabet=initial_alphabet,
        shrinking_factor=shrinking_factor,
        n_sub_iterations=n_sub_iterations,
        max_piece_length=max_piece_length,
        seed_size=seed_size,
        reference=reference,
        pipeline=pipeline,
        control=control,
    )


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
    """Train a vocabulary of whole words: the most frequent ones; of equally frequent words, those with smaller code points.

    Ids equal those of ``tokenizers`` 0.23.3. If a special token is also a word, it gets the id of the word, and its first id stays unused.

    Args:
        source: documents, files or counted words, as in `words`.
        vocab_size: the number of ids.
        min_frequency: rarer words are left out.
        special_tokens: the tokens with the first ids; `unk_token` should be one of them.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: as in `words`.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens; or as in `bpe`.
        UnsupportedError, TextError, ReadingError, OSError: as in `bpe`.

    Examples:
        >>> wordlevel(["a rose is a rose"], splitter="whitespace", special_tokens=["<unk>"], vocab_size=3).vocabulary
        {'<unk>': 0, 'a': 1, 'rose': 2}
    """
    from fst.compile.train.word_level import word_level as train

    found, pipeline = _split(source, splitter, normalizer, column, field, threads, min_count, errors)
    return train(
        found, vocab_size=vocab_size, min_frequency=min_frequency, special_tokens=special_tokens, unk_token=unk_token, pipeline=pipeline
    )


def like(
    old: Any,
    texts: Any,
    vocab_size: int | None = None,
    *,
    new_special_tokens: Iterable[Any] = (),
    special_tokens_map: Mapping[str, str] | None = None,
    **options: Any,
) -> Trained:
    """Train a vocabulary on other texts, with everything else as in an old tokenizer: ``train_new_from_iterator`` for any tokenizer.

    The new tokenizer keeps the kind of model, the normalizer, pre-tokenizer, decoder, post-processor and settings, and the added tokens
    with their flags and roles. Special tokens get the first ids; other added tokens follow the vocabulary. The post-processor, nested or
    not, refers to the same tokens by their new ids.

    Neither tables nor files record how a vocabulary was trained. The trainer gets these arguments; `options` override them:

    - BPE: the old `continuing_subword_prefix` and `end_of_word_suffix`; over bytes, all bytes are in the alphabet. If the old tokenizer has
      ``byte_fallback``, the new vocabulary still has no tokens such as ``<0x0A>``, as in transformers; pass ``byte_fallback=True`` to add
      them.
    - WordPiece: the old `unk_token` and `continuing_subword_prefix`; by frequency.
    - WordLevel: the old `unk_token`.
    - Unigram: the old `unk_token`; all added tokens become special.
    - All other arguments keep the trainer's defaults: `min_frequency` 0, no `limit_alphabet`, no `max_token_length`; for Unigram
      `shrinking_factor` 0.75, `max_piece_length` 16, `n_sub_iterations` 2.

    Args:
        old: a live tokenizer of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of one; a trained vocabulary;
            or a folder, a ``tokenizer.json`` or another source that `fst.compile.tokenizer` takes.
        texts: documents, files or counted words, as in `words`. They are split as by the old tokenizer, except that added tokens count as
            text.
        vocab_size: the number of tokens without the added tokens that are not special; None: that of the old vocabulary.
        new_special_tokens: further special tokens: str, or objects or mappings with ``content`` and the flags of an added token.
        special_tokens_map: old name → new name of special tokens.
        options: arguments of `words`, such as `column` and `threads`, and of the trainer, such as `min_frequency` and `progress`. WordLevel
            is trained in one step and ignores `progress`, `checkpoint` and `deadline`.

    Raises:
        VocabularyError: as in the trainer; or the post-processor contains a token that is not special.
        UnsupportedError: the old tokenizer has a part that is not supported, or no ``tokenizer.json`` can express it.
        TextError, ReadingError, OSError: as in `words`.

    Examples:
        >>> from fst.compile import wordpiece as compiled
        >>> old = compiled(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able"])
        >>> new = like(old, ["Hug hugs pug."], vocab_size=16)
        >>> [*new.vocabulary][:9], new.tokenizer().tokenize("Hugs!")
        (['[PAD]', '[UNK]', '[CLS]', '[SEP]', '.', 'g', 'h', 'p', 's'], ['hug', '##s', '[UNK]'])
    """
    from fst.bridge.like import statement_of
    from fst.compile.train.old.like import recipe_of

    recipe = recipe_of(*statement_of(old), new_special_tokens, special_tokens_map)
    trainers: Mapping[str, Callable[..., Trained]] = {"BPE": bpe, "WordPiece": wordpiece, "Unigram": unigram, "WordLevel": wordlevel}
    train = trainers[recipe.kind]
    size = recipe.size if vocab_size is None else vocab_size
    if train is wordlevel:
        options = {name: value for name, value in options.items() if name not in OF_ROUNDS}
    return recipe.completed(train(texts, splitter=recipe.pipeline, vocab_size=size, **{**recipe.options, **options}), options)


def extend(
    old: Any,
    words: Any,
    add: int,
    *,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
    progress: Callable[[int, int], None] | None = None,
    checkpoint: str | Path | None = None,
    deadline: float | None = None,
) -> Trained:
    """Add tokens to the vocabulary of a tokenizer. Old tokens keep their ids, so the rows of embeddings stay where they are.

    New tokens get the ids after the largest old one, in the order in which they are learned. Learning depends on the model:

    - BPE: merges are added after the old ones. A text has the same tokens as before, except that some neighbours become one new token.
    - WordPiece: the most frequent pairs of neighbouring tokens are merged. Because WordPiece takes the longest token at each position,
      words that contain a new token may also be divided differently elsewhere.
    - WordLevel: the most frequent words that are not tokens yet are added.

    Args:
        old: a tokenizer: live, of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of one; a trained vocabulary;
            or a folder, a ``tokenizer.json`` or another source that `fst.compile.tokenizer` takes. An encoding of tiktoken gets the
            splitter of ``tokenizers`` that has the effect of its pattern.
        words: texts, files or counted words, as in `words`; they are split as by the old tokenizer.
        add: the number of new tokens. Fewer are added if no pair is left to merge or no new word is left.
        column, field, threads, min_count, errors: as in `words`.
        progress, checkpoint, deadline: as in `bpe`.

    Returns:
        The vocabulary. The count of an old token is taken before the first new token is made, that of a new token when it is made.

    Raises:
        UnsupportedError: the vocabulary is Unigram, whose scores a new token would change; or no ``tokenizer.json`` can express it, as
            with a ``.model`` of SentencePiece.
        VocabularyError: the old vocabulary cannot be compiled, counted words were split in another way, or `add` is negative.
        TextError, ReadingError, OSError: as in `words`.

    Examples:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "##u", "##g"])
        >>> new = extend(old, {"hug": 3, "hu": 1}, add=2)
        >>> new.vocabulary
        {'[UNK]': 0, 'h': 1, '##u': 2, '##g': 3, 'hu': 4, 'hug': 5}
    """
    from fst.bridge import old as olds
    from fst.compile.train.control import Control
    from fst.compile.train.old.extending import extend as extended

    control = Control(progress, deadline, checkpoint)
    tokenizer = olds.tokenizer_of(old, "fst.train.extend")
    vocabulary = olds.old_vocabulary(tokenizer, "fst.train.extend")
    counted, _ = _split(words, vocabulary.pipeline, None, column, field, threads, min_count, errors)
    batch = olds.segmented(vocabulary, counted)
    return extended(vocabulary, counted, batch.ids, batch.row_splits, add, control)


def trim(
    old: Any,
    words: Any,
    keep: int,
    *,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
) -> Trimmed:
    """Keep the tokens of a tokenizer that a corpus uses most, and remove the others.

    Added tokens, the unknown token and the alphabet always stay, so every text still has an encoding. With BPE, the parts that make a kept
    token stay, too. A text whose tokens all stay has the same tokens as before. New ids follow the order of the old ones.

    Args:
        old: a tokenizer, as in `extend`.
        words: texts, files or counted words, as in `words`; they are split as by the old tokenizer.
        keep: the number of tokens that stay. Of equally frequent tokens, those with smaller ids stay.
        column, field, threads, min_count, errors: as in `words`.

    Returns:
        The vocabulary, and the map from old ids to new ones. ``embeddings[ids >= 0]`` are the rows of the new embeddings.

    Raises:
        UnsupportedError: no ``tokenizer.json`` can express the vocabulary, as with a ``.model`` of SentencePiece.
        VocabularyError: the old vocabulary cannot be compiled; counted words were split in another way; or `keep` is larger than the
            vocabulary, or less than the number of tokens that must stay (the message contains both numbers).
        TextError, ReadingError, OSError: as in `words`.

    Examples:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "p", "##u", "##g", "hug", "pug", "hugu"])
        >>> new = trim(old, {"hug": 3, "pug": 1}, keep=6)
        >>> [*new.trained.vocabulary], new.ids.tolist()
        (['[UNK]', 'h', 'p', '##u', '##g', 'hug'], [0, 1, 2, 3, 4, 5, -1, -1])
    """
    from fst.bridge import old as olds
    from fst.compile.train.old.trimming import trim as trimmed

    tokenizer = olds.tokenizer_of(old, "fst.train.trim")
    vocabulary = olds.old_vocabulary(tokenizer, "fst.train.trim")
    counted, _ = _split(words, vocabulary.pipeline, None, column, field, threads, min_count, errors)
    return trimmed(vocabulary, olds.used(vocabulary, counted), keep, counted.min_count)


def _split(
    source: Any, splitter: Any, normalizer: Any, column: str | None, field: str | None, threads: int | None, min_count: int, errors: str
) -> tuple[Words, Pipeline | None]:
    """The words of a trainer's source and their pipeline.

    Raises:
        VocabularyError: the digest of the words is not that of a named splitter.
    """
    found, pipeline = _words_of(
        source,
        splitter=splitter,
        normalizer=normalizer,
        column=column,
        field=field,
        threads=threads,
        min_count=min_count,
        errors=errors,
    )
    if pipeline is None and found.split != UNKNOWN_SPLIT:
        raise VocabularyError(
            f"the split of the words is {found.split}; expected that of a named splitter; pass the splitter that made the words"
        )
    return found, pipeline
