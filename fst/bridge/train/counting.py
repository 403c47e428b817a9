"""Counting of the words of a corpus, by the runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fst.bridge.words import MEMORY, words_of
from fst.counting.words import UNKNOWN_SPLIT, Words
from fst.errors import VocabularyError

if TYPE_CHECKING:
    from fst.compile.train.pipeline import Pipeline


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
    deadline: float | None = None,
) -> Words:
    """Count the words of a corpus: the pre-tokens from which a vocabulary is trained.

    The result does not depend on the number of threads, on the division into files or batches, or on `memory`.

    Args:
        sources: one of these:

            - documents: an iterable of str, of bytes in UTF-8, or of lists of str or bytes; or a column of Arrow, polars or pandas;
            - a table with a column of documents, see `column`;
            - files: a path or a URL, or an iterable of paths and URLs. Files are text, JSON lines, Parquet or Arrow, compressed or not; a
              path may be a folder or a pattern. A line of plain text, with its line feed, is a document of at most 512 MiB, which is read
              into memory. Items of type str are paths if `column` or `field` is given, or if the iterable is a list or another collection
              in which each item is an existing file or a URL. If only some items of a collection are files, or if all look like paths but
              none is a file, the source is refused; items of an iterator, such as ``iter(texts)``, are texts;
            - counted words: a `Words`, a mapping of words to counts, pairs of word and count, or a table or Parquet files with the columns
              word and count.
        splitter: the splitter of documents: a name ("gpt2", "bert", "metaspace", "sentencepiece", "whitespace", "cl100k", "o200k",
            "llama3", "qwen2", or "none": a document is one word); a regular expression, for byte-level vocabularies; a pre-tokenizer of
            ``tokenizers``, live or as a mapping; or a tokenizer, with its normalizer: live, an `fst.Tokenizer`, a table, or the path of a
            table, a ``tokenizer.json`` or a folder. For counted words: the splitter that made them.
        normalizer: "bert", "bert-cased", "nfc", "nfd", "nfkc", "nfkd", "lowercase" or "none"; or a normalizer of ``tokenizers``, live or as
            a mapping. With the splitter "sentencepiece": a rule of ``sentencepiece`` 0.2.3, called ``normalization_rule_name`` there:
            "nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf" or "identity". None: the normalizer of the splitter; for "sentencepiece",
            "nmt_nfkc".
        column: the column of documents in tables and in files of Parquet and Arrow.
        field: the field of documents in JSON lines.
        threads: the number of threads; None: ``FST_NUM_THREADS``, or one thread per core.
        partition: the number of this part, if the parts of a corpus are counted separately and merged later, see `Words.to_arrow`.
        min_count: words with lower counts are left out.
        memory: the maximum size in bytes of the tables of all threads together. When the tables are full, words are written to a temporary
            folder.
        progress: a function that is called with the number of documents and the number of bytes counted so far, from any thread, but by one
            thread at a time.
        errors: "strict": a malformed document is an error; "replace": U+FFFD replaces malformed units of documents.
        deadline: seconds after which no further documents are counted; None: no limit.

    Returns:
        The words with their counts and first occurrences, sorted by their bytes; `is_partial` is true if documents are left.

    Raises:
        TextError: a document is not text, or a file is damaged or lacks the column or the field. The message contains the position.
        VocabularyError: counted words are malformed or were split by a different pipeline, or the sum of all counts is too large.
        UnsupportedError: the splitter or the normalizer is unknown or not supported, or the splitter of documents is missing; or a
            collection contains both files and other items, or paths of missing files.
        ReadingError, OSError: a file cannot be read.

    Examples:
        >>> found = words(["a rose is a rose", "a rose"], splitter="gpt2")
        >>> [*zip(found, found.counts.tolist())]
        [(b' a', 1), (b' is', 1), (b' rose', 3), (b'a', 2)]
    """
    arguments = dict(locals())
    from fst.compile.train.control import Control

    is_over = Control(deadline=arguments.pop("deadline")).is_over
    found, _ = words_of(arguments.pop("sources"), **arguments, is_over=is_over)
    return found


def split(
    source: Any,
    splitter: Any,
    normalizer: Any,
    column: str | None,
    field: str | None,
    threads: int | None,
    min_count: int,
    errors: str,
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[Words, Pipeline | None]:
    """The words that a trainer reads from its source, and the pipeline that split them. `is_over` returns whether the deadline has passed.

    Raises:
        VocabularyError: the digest of counted words does not belong to a named splitter, so the splitter is unknown.
    """
    found, pipeline = words_of(
        source,
        splitter=splitter,
        normalizer=normalizer,
        column=column,
        field=field,
        threads=threads,
        min_count=min_count,
        errors=errors,
        is_over=is_over,
    )
    if pipeline is None and found.split != UNKNOWN_SPLIT:
        raise VocabularyError(
            f"the split of the words is {found.split}; expected that of a named splitter; pass the splitter that made the words"
        )
    return found, pipeline
