"""Training: vocabularies from texts or from counted words.

The runtime counts words, and the compiler makes a vocabulary of them. This module is the way from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst.bridge.words import MEMORY
from fst.bridge.words import words_of as _words_of
from fst.counted_words import UNKNOWN_SPLIT, Words
from fst.errors import VocabularyError

if TYPE_CHECKING:
    from fst.compile.train.pipeline import Pipeline
    from fst.compile.train.result import Trained
    from fst.compile.train.trimming import Trimmed

OF_ROUNDS = ("progress", "checkpoint", "deadline")  # arguments of trainers that take rounds


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

    The result does not depend on the number of threads, on how documents come in files or batches, or on the memory.

    Args:
        sources: an iterable of str or of bytes in UTF-8, each a document, or of lists of them; a column of Arrow, polars or pandas; a table
            with such a column, see `column`; or files: a path, or an iterable of paths, of text, JSON lines, Parquet or Arrow, packed or
            not, of folders, patterns and URLs. A line of plain text is a document, with its line feed. In an iterable of str, these are
            paths if `column` or `field` is given or if each is an existing file or a URL. Counted words are taken, too: a `Words`, a
            mapping of words to counts, pairs of them, a table or a file of Parquet with the columns word and count.
        splitter: how documents are split: "gpt2", "bert", "metaspace", "sentencepiece", "whitespace", "cl100k", "o200k", "llama3",
            "qwen2", or "none": a document is a word. Or a regular expression, for byte-level vocabularies; a pre-tokenizer of
            ``tokenizers``, live or as a mapping; a tokenizer, whose normalizer is taken, too: live, an `fst.Tokenizer`, a table, or the
            path of one, of a ``tokenizer.json`` or of a folder. For counted words, the splitter that they were split with.
        normalizer: "bert", "bert-cased", "nfc", "nfd", "nfkc", "nfkd", "lowercase", or "none"; or a normalizer of ``tokenizers``, live or
            as a mapping. None: that of the splitter.
        column: the column of tables, and of files of Parquet and Arrow, that has the documents.
        field: the field of JSON lines that has the documents.
        threads: how many threads count; None: one a core.
        partition: the number of this part of a corpus whose parts are counted apart and merged later, see `Words.to_arrow`.
        min_count: rarer words are left out.
        memory: bytes that the tables of all threads may have; past them, words go to a temporary folder.
        progress: called with the numbers of documents and of bytes that are counted so far, by any thread, but never by two at once.
        errors: "strict", or "replace": U+FFFD replaces malformed units of documents.

    Returns:
        The words with their counts and first occurrences, sorted by their bytes.

    Raises:
        TextError: a document is not text; or a file is damaged, or lacks the column or the field. The message names the place.
        VocabularyError: counted words are malformed, or were split in another way; or the sum of all counts is too large.
        UnsupportedError: the splitter or the normalizer is unknown or not supported, or none is given for documents.
        ReadingError, OSError: files cannot be read.

    Example:
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
    """Train a vocabulary by byte-pair encoding: merge the most frequent pair of neighbouring tokens again and again.

    Ids, merges and ties are those of ``tokenizers`` 0.23.3, and each result is the same on every run. Where ``tokenizers`` decides by
    chance (symbols with a prefix or a suffix; equally frequent characters at `limit_alphabet`), code points decide. Counts above
    2^31 do not overflow.

    Args:
        source: documents, files or counted words, as `words` takes them.
        vocab_size: the number of tokens at which training stops.
        min_frequency: pairs rarer than this are not merged.
        special_tokens: they get the first ids. One of a single character is this character.
        initial_alphabet: characters that get ids even if no word has them; of longer strings the first character. None: the letters of all
            bytes if the splitter makes bytes of words, as the ``train_new_from_iterator`` of transformers does; else none.
        limit_alphabet: the most characters. The most frequent ones stay; the others are deleted from the words. None: no limit.
        continuing_subword_prefix: before tokens that do not begin a word.
        end_of_word_suffix: after tokens that end a word.
        max_token_length: tokens that merges make are shorter than this, in characters or bytes; single characters merge all the same.
            None: no limit.
        unk_token: the token of unknown characters, one of `special_tokens`.
        byte_fallback: add the tokens ``<0x00>`` to ``<0xFF>`` after the special tokens, for the bytes of unknown characters.
        fuse_unk: whether neighbouring unknown characters become one token.
        reference: "huggingface", or "sentencepiece": the pieces of ``sentencepiece`` 0.2.3 in its order, meta pieces, merges, characters,
            and with its scores. Of equally frequent pairs the shortest string is merged there, pieces have one script, 16 characters at
            most and ▁ at their left end alone, and rare characters end a word. Without `special_tokens` the first pieces are ``<unk>``,
            ``<s>`` and ``</s>``. Split by "sentencepiece" or "metaspace".
        splitter, normalizer, column, field, threads, min_count, errors: as of `words`.
        progress: called with the number of tokens that were made, and that of all to be made.
        checkpoint: the path of a file. A run that Ctrl-C or the deadline stops leaves its state there, and the next run with the same words
            and options goes on from it to the same result.
        deadline: seconds after which training stops. The result has the tokens made until then.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens and characters; words, options or the checkpoint are not as
            expected.
        UnsupportedError: the options cannot be combined, or the splitter is unknown or not given.
        TextError, ReadingError, OSError: as of `words`.

    Example:
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

    By frequency it is that of ``tokenizers`` 0.23.3, but for the order of the single characters with the prefix, which is random there:
    here they follow the other characters by code point.

    Args:
        source: documents, files or counted words, as `words` takes them.
        vocab_size: the number of tokens at which training stops.
        criterion: "frequency": the most frequent pair of neighbouring tokens is merged. "score": the pair whose count divided by the counts
            of its parts is the greatest, as in the course of Hugging Face; its vocabularies take more tokens a word.
        min_frequency: pairs rarer than this are not merged. By score, less than 10 is a UserWarning, since vocabularies are poor.
        special_tokens: they get the first ids; `unk_token` should be one of them.
        initial_alphabet: characters that get ids even if no word has them.
        limit_alphabet: the most characters. The most frequent ones stay; the others are deleted from the words. None: no limit.
        continuing_subword_prefix: before tokens that do not begin a word.
        end_of_word_suffix: after tokens that end a word.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: as of `words`.
        progress, checkpoint, deadline: as of `bpe`.

    Raises:
        VocabularyError, UnsupportedError, TextError, ReadingError, OSError: as of `bpe`.

    Example:
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
    """Train a vocabulary of Unigram: begin with all frequent substrings of the words, and drop those that the others replace best.

    By default, pieces and scores are those of ``tokenizers`` 0.23.3 with its defects: replacements are weighed with a wrong sum; the pieces
    that are left at the end are cut in the order of their loss, not of their scores; and if the characters alone fill `vocab_size`, all
    pieces that are left exceed it. Characters that are no pieces have scores 0.0001 apart, in a random order there and by code point here.
    Counts above 2^32 do not overflow.

    With "exact", the sum is right, the best pieces by score stay, characters that are no pieces follow all pieces by their frequency, and
    special tokens are no pieces.

    Args:
        source: documents, files or counted words, as `words` takes them.
        vocab_size: the number of tokens at which training stops. It ends with fewer if the words have no more pieces.
        special_tokens: they get the first ids and the score 0.
        unk_token: the token of unknown characters; unless it is one of `special_tokens`, it gets the first id. None: there is none.
        initial_alphabet: characters that become tokens even if no word has them; of longer strings the first character.
        shrinking_factor: the part of the pieces that stays when they are pruned, from 0 to below 1.
        n_sub_iterations: how often scores are estimated before pieces are pruned.
        max_piece_length: the most characters of a piece.
        seed_size: how many substrings and characters training begins with at most.
        reference: "huggingface" or "exact".
        splitter, normalizer, column, field, threads, min_count, errors: as of `words`.
        progress: called with the number of steps that were made, and about how many there are.
        checkpoint, deadline: as of `bpe`.

    Returns:
        The tokens with their scores. Its counts are those of the best segmentations of the words.

    Raises:
        UnsupportedError: `reference` is "sentencepiece", whose pieces depend on the number of its threads; or as of `bpe`.
        VocabularyError: there are no words, or one is not UTF-8; special tokens are pieces of words, too; or as of `bpe`.
        TextError, ReadingError, OSError: as of `words`.

    Example:
        >>> result = unigram({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=40, unk_token="<unk>")
        >>> [*result.vocabulary]
        ['<unk>', 'e', 's', 't', 'low', 'n', 'w', 'we', 'd', 'i', 'o', 'l', 'r']
        >>> result.scores[1:5].round(4).tolist()
        [-1.6022, -1.9555, -1.9555, -2.2233]
    """
    from fst.compile.train.control import Control
    from fst.compile.train.unigram import unigram as train

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
    """Train a vocabulary of whole words: the most frequent ones, and of equally frequent ones those of smaller code points.

    Ids are those of ``tokenizers`` 0.23.3. A special token that is a word, too, has the id of the word; its first id is not used.

    Args:
        source: documents, files or counted words, as `words` takes them.
        vocab_size: the number of ids.
        min_frequency: rarer words are left out.
        special_tokens: they get the first ids; `unk_token` should be one of them.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: as of `words`.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens; or as of `bpe`.
        UnsupportedError, TextError, ReadingError, OSError: as of `bpe`.

    Example:
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
    """Train a vocabulary for other texts with everything else as in an old tokenizer: ``train_new_from_iterator`` for any tokenizer.

    The kind of model, normalizer, pre-tokenizer, decoder, post-processor and settings stay, and so do added tokens with their flags and
    their roles. Special tokens get the first ids, and other added tokens follow the vocabulary. The ids in the post-processor, also in a
    nested one, are those of the same tokens in the new vocabulary.

    Neither tables nor files state how a vocabulary was trained. The trainer gets these arguments, and `options` override them:

    - BPE: the old `continuing_subword_prefix` and `end_of_word_suffix`; over bytes, all bytes are in the alphabet. With ``byte_fallback``
      the new vocabulary has no tokens such as ``<0x0A>``, as in transformers; pass ``byte_fallback=True`` for these.
    - WordPiece: the old `unk_token` and `continuing_subword_prefix`; by frequency.
    - WordLevel: the old `unk_token`.
    - Unigram: the old `unk_token`; all added tokens become special.
    - All others are the trainer's own defaults: `min_frequency` 0, no `limit_alphabet`, no `max_token_length`; of Unigram
      `shrinking_factor` 0.75, `max_piece_length` 16, `n_sub_iterations` 2.

    Args:
        old: a live tokenizer of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of one; a trained vocabulary;
            or a folder, a ``tokenizer.json`` or another source that `fst.compile.tokenizer` takes.
        texts: documents, files or counted words, as `words` takes them. They are split as by the old tokenizer, but for added tokens, which
            count as text.
        vocab_size: the number of tokens without the added tokens that are not special; None: that of the old vocabulary.
        new_special_tokens: more special tokens: str, or objects or mappings with ``content`` and the flags of an added token.
        special_tokens_map: new names of special tokens, by the old ones.
        options: arguments of `words`, such as `column` and `threads`, and of the trainer, such as `min_frequency` and `progress`. WordLevel
            has no rounds: `progress`, `checkpoint` and `deadline` change nothing.

    Raises:
        VocabularyError: as from the trainer; or the post-processor has a token that is not special.
        UnsupportedError: the old tokenizer asks for something that is not supported, or no ``tokenizer.json`` can express it.
        TextError, ReadingError, OSError: as from `words`.

    Example:
        >>> from fst.compile import wordpiece as compiled
        >>> old = compiled(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able"])
        >>> new = like(old, ["Hug hugs pug."], vocab_size=16)
        >>> [*new.vocabulary][:9], new.tokenizer().tokenize("Hugs!")
        (['[PAD]', '[UNK]', '[CLS]', '[SEP]', '.', 'g', 'h', 'p', 's'], ['hug', '##s', '[UNK]'])
    """
    from fst.bridge.like import statement_of
    from fst.compile.train.like import recipe_of

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
    """Add tokens to the vocabulary of a tokenizer. Old tokens keep their ids, so that the rows of embeddings stay where they are.

    New tokens get the ids after the largest old one, in the order in which they are learned. How they are learned depends on the model:

    - BPE: by further merges, which go on where the old ones end. They come after all old merges, so a text has the same tokens as before,
      except that some neighbours are one new token.
    - WordPiece: likewise, by the most frequent pairs of neighbouring tokens. But WordPiece takes the longest token at each place, so words
      in which a new token occurs may be divided in other places, too.
    - WordLevel: the most frequent words that are no token.

    Args:
        old: a tokenizer: live, of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of one; a trained vocabulary;
            or a folder, a ``tokenizer.json`` or another source that `fst.compile.tokenizer` takes. An encoding of tiktoken gets the
            splitter of ``tokenizers`` that has the effect of its pattern.
        words: texts, files or counted words, as `words` takes them; they are split as by the old tokenizer.
        add: the number of new tokens. There are fewer if every word is one token before.
        column, field, threads, min_count, errors: as of `words`.
        progress, checkpoint, deadline: as of `bpe`.

    Returns:
        The vocabulary. Its counts are those of the words: of old tokens before new ones are made, of a new one when it is made.

    Raises:
        UnsupportedError: the vocabulary is Unigram, whose scores a new token would change; or no ``tokenizer.json`` can express it, as
            with a ``.model`` of SentencePiece.
        VocabularyError: the old tokenizer has no vocabulary that compiles, counted words were split in another way, or `add` is negative.
        TextError, OSError: as from `words`.

    Example:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "##u", "##g"])
        >>> new = extend(old, {"hug": 3, "hu": 1}, add=2)
        >>> new.vocabulary
        {'[UNK]': 0, 'h': 1, '##u': 2, '##g': 3, 'hu': 4, 'hug': 5}
    """
    from fst.bridge import old as olds
    from fst.compile.train.control import Control
    from fst.compile.train.extending import extend as extended

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

    Added tokens, the unknown token and the alphabet always stay, so every text still has an encoding. With BPE a kept token keeps the parts
    that its merges need. Texts whose tokens all stay have the same tokens as before. New ids follow the order of the old ones.

    Args:
        old: a tokenizer, as in `extend`.
        words: texts, files or counted words, as `words` takes them; they are split as by the old tokenizer.
        keep: the number of tokens that stay. Equally frequent ones stay by their ids.
        column, field, threads, min_count, errors: as of `words`.

    Returns:
        The vocabulary, and the map from old ids to new ones, by which to cut embeddings: ``embeddings[ids >= 0]`` are the new rows.

    Raises:
        UnsupportedError: no ``tokenizer.json`` can express the vocabulary, as with a ``.model`` of SentencePiece.
        VocabularyError: the old tokenizer has no vocabulary that compiles, or counted words were split in another way. Or `keep` is larger
            than the vocabulary, or less than the tokens that must stay; the message has both numbers.
        TextError, OSError: as from `words`.

    Example:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "p", "##u", "##g", "hug", "pug", "hugu"])
        >>> new = trim(old, {"hug": 3, "pug": 1}, keep=6)
        >>> [*new.trained.vocabulary], new.ids.tolist()
        (['[UNK]', 'h', 'p', '##u', '##g', 'hug'], [0, 1, 2, 3, 4, 5, -1, -1])
    """
    from fst.bridge import old as olds
    from fst.compile.train.trimming import trim as trimmed

    tokenizer = olds.tokenizer_of(old, "fst.train.trim")
    vocabulary = olds.old_vocabulary(tokenizer, "fst.train.trim")
    counted, _ = _split(words, vocabulary.pipeline, None, column, field, threads, min_count, errors)
    return trimmed(vocabulary, olds.used(vocabulary, counted), keep, counted.min_count)


def _split(
    source: Any, splitter: Any, normalizer: Any, column: str | None, field: str | None, threads: int | None, min_count: int, errors: str
) -> tuple[Words, Pipeline | None]:
    """The words of a trainer's source and their pipeline.

    Raises:
        VocabularyError: words have a digest, and no splitter with a name has it.
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
            f"the split of the words is {found.split}; expected that of a splitter with a name; pass the splitter that made the words"
        )
    return found, pipeline
