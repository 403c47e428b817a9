"""Training: vocabularies from texts or from counted words.

The runtime counts words, and the compiler makes a vocabulary of them. This module is the way from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fst.bridge.words import MEMORY
from fst.bridge.words import words_of as _words_of
from fst.counted_words import Words

if TYPE_CHECKING:
    from fst.compile.train.trimming import Trimmed


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
        progress: called with the numbers of documents and of bytes that are counted.
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


def trim(
    old: Any,
    words: Any,
    keep: int,
    *,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
) -> Trimmed:
    """Keep the tokens of a tokenizer that a corpus uses most, and remove the others.

    Added tokens, the unknown token and the alphabet always stay, so every text still has an encoding. With BPE a kept token keeps the parts
    that its merges need. Texts whose tokens all stay have the same tokens as before. New ids follow the order of the old ones.

    Args:
        old: a tokenizer: live, of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of one; a trained vocabulary;
            or a folder, a ``tokenizer.json`` or another source that `fst.compile.tokenizer` takes.
        words: texts, files or counted words, as `words` takes them; they are split as by the old tokenizer.
        keep: the number of tokens that stay. Equally frequent ones stay by their ids.
        column, field, threads, min_count: as in `words`.

    Returns:
        The vocabulary, and the map from old ids to new ones, by which to cut embeddings: ``embeddings[ids >= 0]`` are the new rows.

    Raises:
        UnsupportedError: no ``tokenizer.json`` can express the vocabulary.
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
    counted, _ = _words_of(words, splitter=tokenizer, column=column, field=field, threads=threads, min_count=min_count)
    return trimmed(vocabulary, olds.used(vocabulary, counted), keep, counted.min_count)
