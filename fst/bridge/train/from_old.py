"""New vocabularies from an old tokenizer: trained on other texts, with additional tokens, or with fewer tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst.bridge.train.counting import split
from fst.bridge.train.vocabularies import bpe, unigram, wordlevel, wordpiece
from fst.errors import UnsupportedError

if TYPE_CHECKING:
    from fst.compile.train.old.trimming import Trimmed
    from fst.compile.train.result import Trained

OF_ROUNDS = ("progress", "checkpoint", "deadline")  # arguments that only trainers with several rounds have


def like(
    old: Any,
    texts: Any,
    vocab_size: int | None = None,
    *,
    new_special_tokens: Iterable[Any] = (),
    special_tokens_map: Mapping[str, str] | None = None,
    **options: Any,
) -> Trained:
    """Train a new vocabulary on other texts, and combine it with all other parts of an old tokenizer, like ``train_new_from_iterator`` of
    ``transformers``.

    The new tokenizer has the old kind of model, normalizer, pre-tokenizer, decoder, post-processor and settings, and the old added tokens
    with their flags and roles. Special tokens get the first ids; other added tokens follow the vocabulary. The post-processor, nested or
    not, refers to the same tokens by their new ids.

    Tables and files do not record how a vocabulary was trained, so the trainer gets the following arguments, which `options` override:

    - BPE: the old `continuing_subword_prefix` and `end_of_word_suffix`; if the model is byte-level, all bytes are in the alphabet. If the
      old tokenizer has ``byte_fallback``, the new vocabulary still has no tokens such as ``<0x0A>``, as in ``transformers``; pass
      ``byte_fallback=True`` to add them.
    - WordPiece: the old `unk_token` and `continuing_subword_prefix`; merges are chosen by frequency.
    - WordLevel: the old `unk_token`.
    - Unigram: the old `unk_token`; all added tokens become special.
    - All other arguments keep the trainer's defaults: `min_frequency` 0, no `limit_alphabet`, no `max_token_length`; for Unigram
      `shrinking_factor` 0.75, `max_piece_length` 16, `n_sub_iterations` 2.

    Args:
        old: a live tokenizer of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of a table; a trained
            vocabulary; or a folder, a ``tokenizer.json`` or another source for `fst.compile.tokenizer`.
        texts: documents, files or counted words, see `words`. Texts are split as in the old tokenizer, but added tokens count as text.
        vocab_size: the number of tokens, excluding added tokens that are not special; None: the same as in the old vocabulary.
        new_special_tokens: further special tokens: strings, or objects or mappings with ``content`` and the flags of an added token.
        special_tokens_map: a mapping of old names of special tokens to new names.
        options: arguments of `words`, such as `column` and `threads`, but not `splitter` and `normalizer`; and arguments of the trainer,
            such as `min_frequency` and `progress`. WordLevel is trained in one step and ignores `progress`, `checkpoint` and `deadline`.

    Raises:
        VocabularyError: as in the trainer; or the post-processor contains a token that is not special; or `special_tokens_map` contains a
            name that is not a special token.
        UnsupportedError: the old tokenizer has a part that is not supported, or no ``tokenizer.json`` can express the old tokenizer; or a
            splitter or a normalizer is given.
        TypeError: `old` is not a tokenizer.
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> from fst.compile import wordpiece as compiled
        >>> old = compiled(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able"])
        >>> new = like(old, ["Hug hugs pug."], vocab_size=16)
        >>> [*new.vocabulary][:9], new.tokenizer().tokenize("Hugs!")
        (['[PAD]', '[UNK]', '[CLS]', '[SEP]', '.', 'g', 'h', 'p', 's'], ['hug', '##s', '[UNK]'])
    """
    for name in ("splitter", "normalizer"):
        if name in options:
            raise UnsupportedError(f"{name} is given; expected none, because the old tokenizer splits the texts; leave it out")
    from fst.bridge.like import stated_by
    from fst.compile.train.old.like import recipe_of

    stated = stated_by(old)
    recipe = recipe_of(stated.document, stated.settings, new_special_tokens, special_tokens_map)
    rule = getattr(getattr(old, "pipeline", None), "rule", None)
    recipe = recipe if rule is None else replace(recipe, pipeline=old.pipeline)  # a tokenizer.json cannot express the rule
    trainers: Mapping[str, Callable[..., Trained]] = {"BPE": bpe, "WordPiece": wordpiece, "Unigram": unigram, "WordLevel": wordlevel}
    train = trainers[recipe.kind]
    size = recipe.size if vocab_size is None else vocab_size
    if train is wordlevel:
        options = {name: value for name, value in options.items() if name not in OF_ROUNDS}
    trained = train(texts, splitter=recipe.pipeline, vocab_size=size, **{**recipe.options, **options})
    return replace(recipe.completed(trained, options), config=stated.config)


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
    """Add tokens to the vocabulary of a tokenizer. Old tokens keep their ids, so the rows of embeddings keep their positions.

    New tokens get the ids after the largest old id, in the order in which they are learned. Learning depends on the model:

    - BPE: new merges follow the old merges. A text has the same tokens as before, except that some neighbours become one new token.
    - WordPiece: the most frequent pairs of neighbouring tokens are merged. Because WordPiece chooses the longest token at each position, a
      new token can also change the division of the rest of its word.
    - WordLevel: the most frequent words that are not tokens yet are added.

    Args:
        old: a live tokenizer of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of a table; a trained
            vocabulary; or a folder, a ``tokenizer.json`` or another source for `fst.compile.tokenizer`. For an encoding of ``tiktoken``, an
            equivalent splitter of ``tokenizers`` replaces its pattern.
        words: texts, files or counted words, see `words`; they are split as in the old tokenizer.
        add: the number of new tokens. Fewer tokens are added if there are no more pairs to merge, or no more new words.
        column, field, threads, min_count, errors: see `words`.
        progress, checkpoint, deadline: see `bpe`.

    Returns:
        The vocabulary. Old tokens are counted before the first new token is made; each new token is counted when it is made.

    Raises:
        UnsupportedError: the vocabulary is Unigram, whose scores would change with a new token; or no ``tokenizer.json`` can express it,
            for example a ``.model`` of SentencePiece.
        VocabularyError: the old vocabulary cannot be compiled, counted words were split by a different pipeline, or `add` is negative.
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "##u", "##g"])
        >>> new = extend(old, {"hug": 3, "hu": 1}, add=2)
        >>> new.vocabulary
        {'[UNK]': 0, 'h': 1, '##u': 2, '##g': 3, 'hu': 4, 'hug': 5}
    """
    from fst.bridge import old as olds
    from fst.bridge.from_live import compiled
    from fst.compile.train.control import Control
    from fst.compile.train.old.extending import extend as extended

    control = Control(progress, deadline, checkpoint)
    tokenizer = compiled(old, "fst.train.extend")
    vocabulary = olds.old_vocabulary(tokenizer, "fst.train.extend")
    counted, _ = split(words, vocabulary.pipeline, None, column, field, threads, min_count, errors, control.is_over)
    batch = olds.segmented(vocabulary, counted)
    trained = extended(vocabulary, counted, batch.ids, batch.row_splits, add, control.after(counted)).of(counted)
    return replace(trained, config=olds.config_of(old))


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
    """Keep the most frequent tokens of a tokenizer in a corpus, and remove the other tokens.

    Added tokens, the unknown token and the alphabet are always kept, so every text still has an encoding. With BPE, the parts of a kept
    token are kept, too. If all tokens of a text are kept, the text has the same tokens as before. New ids have the order of the old ids.

    Args:
        old: a tokenizer, see `extend`.
        words: texts, files or counted words, see `words`; they are split as in the old tokenizer.
        keep: the number of kept tokens. Of equally frequent tokens, the tokens with smaller ids are kept.
        column, field, threads, min_count, errors: see `words`.

    Returns:
        The vocabulary, and the mapping of old ids to new ids. ``embeddings[ids >= 0]`` are the rows of the new embeddings.

    Raises:
        UnsupportedError: no ``tokenizer.json`` can express the vocabulary, for example a ``.model`` of SentencePiece.
        VocabularyError: the old vocabulary cannot be compiled; counted words were split by a different pipeline; or `keep` is larger than
            the vocabulary, or smaller than the number of tokens that must be kept (the message contains both numbers).
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "p", "##u", "##g", "hug", "pug", "hugu"])
        >>> new = trim(old, {"hug": 3, "pug": 1}, keep=6)
        >>> [*new.trained.vocabulary], new.ids.tolist()
        (['[UNK]', 'h', 'p', '##u', '##g', 'hug'], [0, 1, 2, 3, 4, 5, -1, -1])
    """
    from fst.bridge import old as olds
    from fst.bridge.from_live import compiled
    from fst.compile.train.old.trimming import trim as trimmed

    tokenizer = compiled(old, "fst.train.trim")
    vocabulary = olds.old_vocabulary(tokenizer, "fst.train.trim")
    counted, _ = split(words, vocabulary.pipeline, None, column, field, threads, min_count, errors)
    found = trimmed(vocabulary, olds.used(vocabulary, counted), keep, counted.min_count)
    return found._replace(trained=replace(found.trained, config=olds.config_of(old)))
