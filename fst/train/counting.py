"""Counted words from any source: texts, files, columns, tables, mappings and pairs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from fst.compile.files import exists
from fst.compile.text.components import Component
from fst.compile.text.edits.rules import RULES
from fst.counting import merging
from fst.counting.merging import MEMORY
from fst.counting.words import UNKNOWN_SPLIT, Words
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.tables.kernel_call import MOST_UNITS
from fst.train.control import Control
from fst.train.paths import are_paths, begun
from fst.train.pipeline import KNOWN_SPLITTERS, NORMALIZERS, SENTENCEPIECE, SPLITTERS, Pipeline, need_no_rule, pipeline_of
from fst.train.result import Trained

if TYPE_CHECKING:
    from fst.runtime.counting.counter import Block

MOST_THREADS = 1 << 8  # maximum number of threads; more threads would only use more memory
MOST = {"partition": (0, (1 << 32) - 1), "min_count": (1, (1 << 63) - 1), "memory": (1, (1 << 63) - 1)}
TABLE = {"word", "count"}  # the required columns of a table of words
TABLE_NAMES = (".parquet", ".pq")
SHARED = ("column", "field", "threads", "min_count", "errors")  # arguments of all trainers that `words_of` takes

Found = tuple[Words | None, Iterator["Block"]]  # counted words, or documents in blocks


class Corpus(NamedTuple):
    """The words from which a vocabulary is trained."""

    words: Words  # the words with their counts
    pipeline: Pipeline | None  # the pipeline that split texts into the words; None: the pipeline is unknown, and words are text
    control: Control  # progress, deadline and checkpoint of the training

    @property
    def are_bytes(self) -> bool:
        """Whether the symbols of words are bytes."""
        return self.pipeline is not None and self.pipeline.are_bytes

    def decoded_by(self, decoder: Component) -> Corpus:
        """The corpus with `decoder`, unless its pipeline is unknown or already has a decoder."""
        return self if self.pipeline is None else self._replace(pipeline=self.pipeline.decoded_by(decoder))


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
              in which each item is an existing file or a URL. If only some items of a collection are files, or if all items look like paths
              but none is a file, an error is raised; items of an iterator, such as ``iter(texts)``, are texts;
            - counted words: a `Words`, a mapping of words to counts, pairs of word and count, or a table or Parquet files with the columns
              word and count.
        splitter: the splitter of documents: a name ("gpt2", "bert", "metaspace", "sentencepiece", "whitespace", "cl100k", "o200k",
            "llama3", "qwen2", "superbpe", or "none": a document is one word); a regular expression, for byte-level vocabularies; a
            pre-tokenizer of ``tokenizers``, live or as a mapping; or a tokenizer, with its normalizer: live, an `fst.Tokenizer`, a table,
            or the path of a table, a ``tokenizer.json`` or a folder. For counted words: the splitter that made the words.
        normalizer: "bert", "bert-cased", "nfc", "nfd", "nfkc", "nfkd", "lowercase" or "none"; or a normalizer of ``tokenizers``, live or as
            a mapping. With the splitter "sentencepiece": a rule of ``sentencepiece`` 0.2.3, called ``normalization_rule_name`` there:
            "nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf" or "identity". None: the normalizer of the splitter; for "sentencepiece",
            "nmt_nfkc".
        column: the column of documents in tables and in files of Parquet and Arrow.
        field: the field of documents in JSON lines.
        threads: the number of threads; None: ``FST_NUM_THREADS``, or one thread per core.
        partition: the number of this part of the corpus, if parts are counted separately and merged later, see `Words.to_arrow`.
        min_count: words with lower counts are left out.
        memory: the maximum size in bytes of the tables of all threads together. When the tables are full, words are written to a temporary
            folder.
        progress: a function that is called with the number of documents and the number of bytes counted so far, from any thread, but never
            from two threads at the same time.
        errors: "strict": a malformed document is an error; "replace": U+FFFD replaces malformed units of documents.
        deadline: seconds after which no further documents are counted; None: no limit.

    Returns:
        The words with their counts and first occurrences, sorted by their bytes; `is_partial` is true if documents are left.

    Raises:
        TextError: a document is not text, or a file is damaged or lacks the column or the field. The message contains the position of the
            fault.
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
    is_over = Control(deadline=arguments.pop("deadline")).is_over
    found, _ = words_of(arguments.pop("sources"), **arguments, is_over=is_over)
    return found


def merge_words(
    parts: Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    splitter: Any = None,
    normalizer: Any = None,
    min_count: int = 1,
    memory: int = MEMORY,
) -> int:
    """Merge files of counted words, such as the parts of a corpus that several machines counted, into one file.

    The counts of a word are added, and its first occurrence is the earliest one. The file does not depend on the order of the parts, on the
    division of words into parts, or on `memory`; merged files can be merged again. An existing file is replaced when the new file is
    complete.

    Args:
        parts: Parquet files with the columns word and count, and optionally first and split, in any order of rows: files of
            `Words.save`, or files that a data engine wrote.
        output: the Parquet file to write.
        splitter, normalizer: the pipeline that made the words, as in `words`; None: the pipeline that the parts record.
        min_count: words with lower sums are left out; if a part records a larger `min_count`, that one applies. Words that were already
            left out of a part are missing in the sums.
        memory: the approximate memory of the merge in bytes. Larger merges write runs to a temporary folder.

    Returns:
        The number of words in the file.

    Raises:
        VocabularyError: a part is malformed, parts were split by different pipelines, or the sum of all counts is larger than 2^63 - 1.
            The message contains the file and the row, or the most frequent word. No file is written.
        UnsupportedError: the splitter or the normalizer is unknown, or ``pyarrow`` is not installed.
        OSError: a file cannot be read or written.

    Examples:
        >>> words(["a rose is a rose"], splitter="gpt2", partition=0).save("part-0.parquet")
        >>> words(["a daisy"], splitter="gpt2", partition=1).save("part-1.parquet")
        >>> merge_words(["part-0.parquet", "part-1.parquet"], "words.parquet")
        5
        >>> merged = words("words.parquet")
        >>> [*zip(merged, merged.counts.tolist())]
        [(b' a', 1), (b' daisy', 1), (b' is', 1), (b' rose', 2), (b'a', 2)]
    """
    _check(min_count=min_count, memory=memory)
    if isinstance(parts, str | bytes | os.PathLike) or not isinstance(parts, Iterable):
        raise UnsupportedError(f"parts is {quoted(parts)}; expected a list of files; put the file into a list")
    pipeline = pipeline_for(splitter, normalizer)
    return merging.merge(parts, output, split=None if pipeline is None else pipeline.digest, min_count=min_count, memory=memory)


def counted(source: Any, splitter: Any, arguments: Mapping[str, Any], *, kind: str | None = None, control: Control | None = None) -> Corpus:
    """Count the words that a trainer reads.

    Args:
        source: the source of words.
        splitter: the splitter of documents.
        arguments: all arguments of the trainer, by name. This function uses the arguments that trainers share, such as `threads` and
            `deadline`.
        kind: the type of the model, if neither its files nor its tables can contain a rule of SentencePiece; otherwise None.
        control: the control of the training, if it began before this call; None: it begins now.
    """
    of_rounds: dict[str, Any] = {name: arguments.get(name) for name in ("progress", "deadline", "checkpoint")}
    control = control or Control(**of_rounds)
    pipeline = pipeline_for(splitter, arguments.get("normalizer"))
    if kind is not None:
        need_no_rule(kind, pipeline)
    found, pipeline = words_of(source, splitter=pipeline, **{name: arguments[name] for name in SHARED}, is_over=control.is_over)
    if pipeline is None and found.split != UNKNOWN_SPLIT:
        raise VocabularyError(
            f"the split of the words is {found.split}; expected that of a named splitter; pass the splitter that made the words"
        )
    if kind is not None:
        need_no_rule(kind, pipeline)
    return Corpus(found, pipeline, control.after(found))


def documents_of(source: Any, splitter: Any, arguments: Mapping[str, Any]) -> tuple[Found, Pipeline | None]:
    """The counted words or the documents of a source, and the pipeline; None if it is unknown. For the arguments, see `counted`."""
    from fst.runtime.rows.texts import check

    check(arguments["errors"])
    pipeline = pipeline_for(splitter, arguments.get("normalizer"))
    counted, blocks = _found(source, arguments["column"], arguments["field"], arguments["errors"])
    if counted is not None:
        return (_as_split(counted, pipeline), blocks), pipeline or _named(counted.split)
    return (None, blocks), pipeline


def words_of(
    source: Any,
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
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[Words, Pipeline | None]:
    """The words of a source, and the pipeline that splits texts into these words; None if the pipeline is unknown. For the arguments, see
    `fst.train.words`; `is_over` returns whether the deadline has passed.
    """
    from fst.core.threads import thread_count
    from fst.runtime.rows.texts import check

    check(errors)
    _check(partition=partition, min_count=min_count, memory=memory)
    pipeline = pipeline_for(splitter, normalizer)
    counted, blocks = _found(source, column, field, errors)
    if counted is not None and partition:
        raise UnsupportedError(f"partition is {partition}, but the words are already counted; expected documents; leave it out")
    if counted is not None:
        return _as_split(counted, pipeline).at_least(min_count), pipeline or _named(counted.split)
    from fst.runtime.counting.counter import Splitter, count_documents

    if pipeline is None:
        _no_splitter("documents must be split")
    found = count_documents(
        Splitter(table_for(pipeline)),
        blocks,
        split=pipeline.digest,
        threads=min(thread_count(threads), MOST_THREADS),
        partition=partition,
        errors=errors,
        min_count=min_count,
        memory=memory,
        progress=progress,
        is_over=is_over,
    )
    return found, pipeline


def table_for(pipeline: Pipeline) -> Any:
    """The table of a pipeline. Tables are kept, in this process and on disk, because some take seconds to compile. A table depends on the
    added tokens only if no automaton can split texts without them.
    """
    parts = pipeline.normalizer, pipeline.pre_tokenizer, pipeline.rule
    try:
        return _kept_table(json.dumps([*parts, ()]))
    except UnsupportedError:
        if not pipeline.added:
            raise
    return _kept_table(json.dumps([*parts, pipeline.added]))


@lru_cache(4)
def _kept_table(components: str) -> Any:
    from fst.bridge.table_cache import table_of

    normalizer, pre_tokenizer, rule, added = json.loads(components)
    return table_of(None, f"splitter {components}".encode(), Pipeline(normalizer, pre_tokenizer, added=added, rule=rule).table)


def _check(**numbers: Any) -> None:
    for name, value in numbers.items():
        least, most = MOST[name]
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
            raise UnsupportedError(f"{name} is {quoted(value)}; expected a whole number from {least} to {most:,}")


def _no_splitter(why: str) -> NoReturn:
    raise UnsupportedError(f"splitter is None, but {why}; {KNOWN_SPLITTERS}")


def _as_split(counted: Words, pipeline: Pipeline | None) -> Words:
    """Set the digest of counted words to the digest of a pipeline."""
    if pipeline is None or counted.split == pipeline.digest:
        return counted
    if counted.split != UNKNOWN_SPLIT:
        expected = f"expected {pipeline.digest}, that of the splitter; count the words again"
        raise VocabularyError(f"the split of the words is {counted.split}; {expected}")
    return replace(counted, split=pipeline.digest)


def _named(split: str) -> Pipeline | None:
    """The pipeline with the digest `split`, if it consists of a named splitter and a named normalizer; otherwise None."""
    if split == UNKNOWN_SPLIT:
        return None
    named = [(splitter, normalizer) for normalizer in (None, *NORMALIZERS) for splitter in SPLITTERS]
    pipelines = [pipeline_of(*names) for names in (*named, *((SENTENCEPIECE, rule) for rule in RULES))]
    pipelines.sort(key=lambda pipeline: pipeline.rule is not None)  # the digest of a rule takes longer, since it contains the charsmap
    return next((pipeline for pipeline in pipelines if pipeline.digest == split), None)


def pipeline_for(splitter: Any, normalizer: Any = None) -> Pipeline | None:
    """The pipeline for the arguments `splitter` and `normalizer`; None if both are None."""
    if splitter is None and normalizer is not None:
        _no_splitter("a normalizer needs one")
    if splitter is None:
        return None
    if isinstance(splitter, Trained) and splitter.pipeline is not None and splitter.pipeline.rule is not None:
        splitter = splitter.pipeline  # a tokenizer.json does not contain the rule
    return pipeline_of(_document_of(splitter) or splitter, normalizer)


def _document_of(splitter: Any) -> Mapping[str, Any] | None:
    """The ``tokenizer.json`` of a tokenizer of any form; None if `splitter` is a name, a pattern or a component."""
    if isinstance(splitter, str) and (splitter in SPLITTERS or not exists(splitter)):
        return None
    from fst.runtime.tokenizer import Tokenizer
    from fst.tables.live import is_encoding, is_live
    from fst.tables.table import Table
    from fst.train.base_tokenizers import exported_from

    is_path = isinstance(splitter, str | os.PathLike)
    is_own = isinstance(splitter, Table | Tokenizer | Trained) or hasattr(splitter, "fst")
    return exported_from(splitter, "splitter=")[0] if is_path or is_own or is_live(splitter) or is_encoding(splitter) else None


def _found(source: Any, column: str | None, field: str | None, errors: str) -> Found:
    """The counted words of a source, or the documents of the source in blocks."""
    from fst.runtime.counting import documents
    from fst.runtime.files.reading import Files

    if isinstance(source, Files):  # files from the command line: `Files` has options that this function lacks
        return None, documents.of_files(source, errors)
    if isinstance(source, Words):
        return source, iter(())
    if isinstance(source, str | os.PathLike):
        return _of_files([source], column, field, errors)
    if _is_table(source):
        return _of_table(source, column)
    if isinstance(source, Mapping):
        return Words.of_pairs(source.items()), iter(())
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return None, documents.of_column(source)
    if not hasattr(source, "__iter__"):
        raise UnsupportedError(f"the source is {type(source).__name__}; expected texts, paths, a table or counted words")
    first, items = begun(source)
    if any(map(_is_pair, first)):
        return Words.of_pairs(items), iter(())
    if are_paths(first, items, has_column=(column or field) is not None):
        return _of_files(items, column, field, errors)
    return None, documents.of_texts(items)


def _is_pair(item: Any) -> bool:
    """Whether an item is a pair of a word and its count."""
    is_two = isinstance(item, list | tuple) and len(item) == 2
    return is_two and isinstance(item[0], str | bytes) and not isinstance(item[1], str | bytes)


def _of_files(sources: Iterable[Any], column: str | None, field: str | None, errors: str) -> Found:
    """The counted words of files if all files are tables of words; otherwise the documents of the files."""
    from fst.runtime.counting import documents
    from fst.runtime.files.names import named
    from fst.runtime.files.reading import Files

    listed = [os.fspath(source) for source in sources]
    if column is None and field is None and are_tables(names := named(listed)):
        return merging.load(names), iter(())
    return None, documents.of_files(Files(listed, column=column, field=field, with_ends=True, most=MOST_UNITS), errors)


def are_tables(names: Sequence[str]) -> bool:
    """Whether all files are tables of words."""
    from fst.counting import tables

    return all(name.endswith(TABLE_NAMES) and Path(name).is_file() and tables.is_file(name) for name in names)


def _is_table(source: Any) -> bool:
    """Whether a source has columns: a table, a data frame, a relation, or a mapping of columns to sequences."""
    if isinstance(source, Mapping):
        return source.keys() >= TABLE and not any(isinstance(source[name], int | np.integer) for name in TABLE)
    return hasattr(source, "columns") or hasattr(source, "column_names")


def _of_table(source: Any, column: str | None) -> Found:
    """The counted words of a table, or the documents of a column."""
    from fst.runtime.counting import documents

    if column is None:
        return Words.from_table(source), iter(())
    from fst.counting.tables import imported

    table = imported(source)
    if table.column_names.count(column) != 1:
        raise VocabularyError(f"the table has the columns {', '.join(table.column_names)}; expected one called {column}")
    return None, documents.of_column(table[column])
