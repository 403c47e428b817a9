"""Counted words from any source: texts, files, columns, tables, mappings and pairs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from fst.core import remote
from fst.counting.words import UNKNOWN_SPLIT, Words
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.tables.kernel_call import MOST_UNITS

if TYPE_CHECKING:
    from fst.compile.train.pipeline import Pipeline
    from fst.runtime.counting.counter import Block

MEMORY = 1 << 29  # the default of the argument `memory`, in bytes
MOST_THREADS = 1 << 8  # maximum number of threads; more would only use more memory, and the result is the same for any number
MOST = {"partition": (0, (1 << 32) - 1), "min_count": (1, (1 << 63) - 1), "memory": (1, (1 << 63) - 1)}
TABLE = {"word", "count"}  # the required columns of a table of words
TABLE_NAMES = (".parquet", ".pq")
MOST_STRAYS = 1 << 12  # number of items that are searched for a file if some item is not a file
MOST_NAME = 1 << 12  # maximum length of a path in characters
# A name with one of these endings is a file of texts. Other endings are not enough: "node.js" and "example.org" may be words of a list.
DATA_ENDING = re.compile(
    r"\.(?:txt|text|md|jsonl?|ndjson|csv|tsv|parquet|pq|arrow|feather|ipc|html?|xml|tex|log|gz|bz2|xz|zst|zstd|lz4|zip|br)$", re.IGNORECASE
)

Found = tuple[Words | None, Iterator["Block"]]  # counted words, or the blocks of documents


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
    pipeline = _pipeline(splitter, normalizer)
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
    """The table of a pipeline. Tables are kept, in this process and on disk, because some take seconds to compile; they depend on the added
    tokens only if no automaton can split texts without them.
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
    from fst.compile.train.pipeline import Pipeline

    normalizer, pre_tokenizer, rule, added = json.loads(components)
    return table_of(None, f"splitter {components}".encode(), Pipeline(normalizer, pre_tokenizer, added=added, rule=rule).table)


def _check(**numbers: Any) -> None:
    for name, value in numbers.items():
        least, most = MOST[name]
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
            raise UnsupportedError(f"{name} is {quoted(value)}; expected a whole number from {least} to {most:,}")


def _no_splitter(why: str) -> NoReturn:
    from fst.compile.train.pipeline import KNOWN_SPLITTERS

    raise UnsupportedError(f"splitter is None, but {why}; {KNOWN_SPLITTERS}")


def _as_split(counted: Words, pipeline: Pipeline | None) -> Words:
    """Set the digest of counted words to the digest of a pipeline.

    Raises:
        VocabularyError: the words were split by a different pipeline.
    """
    if pipeline is None or counted.split == pipeline.digest:
        return counted
    if counted.split != UNKNOWN_SPLIT:
        expected = f"expected {pipeline.digest}, that of the splitter; count the words again"
        raise VocabularyError(f"the split of the words is {counted.split}; {expected}")
    return replace(counted, split=pipeline.digest)


def _named(split: str) -> Pipeline | None:
    """The pipeline with the digest `split`, if it consists of a named splitter and a named normalizer; otherwise None."""
    from fst.compile.text.edits.rules import RULES
    from fst.compile.train.pipeline import NORMALIZERS, SENTENCEPIECE, SPLITTERS, pipeline_of

    if split == UNKNOWN_SPLIT:
        return None
    named = [(splitter, normalizer) for normalizer in (None, *NORMALIZERS) for splitter in SPLITTERS]
    pipelines = [pipeline_of(*names) for names in (*named, *((SENTENCEPIECE, rule) for rule in RULES))]
    pipelines.sort(key=lambda pipeline: pipeline.rule is not None)  # the digest of a rule takes longer, since it contains the charsmap
    return next((pipeline for pipeline in pipelines if pipeline.digest == split), None)


def _pipeline(splitter: Any, normalizer: Any) -> Pipeline | None:
    """The pipeline for the arguments `splitter` and `normalizer`; None if both are None."""
    from fst.compile.train.pipeline import pipeline_of
    from fst.compile.train.result import Trained

    if splitter is None and normalizer is not None:
        _no_splitter("a normalizer needs one")
    if splitter is None:
        return None
    if isinstance(splitter, Trained) and splitter.pipeline is not None and splitter.pipeline.rule is not None:
        splitter = splitter.pipeline  # a tokenizer.json does not contain the rule
    return pipeline_of(_document_of(splitter) or splitter, normalizer)


def _document_of(splitter: Any) -> Mapping[str, Any] | None:
    """The ``tokenizer.json`` of a tokenizer of any form; None if `splitter` is a name, a pattern or a component."""
    from fst.compile.files import exists
    from fst.compile.train.pipeline import SPLITTERS

    if isinstance(splitter, str) and (splitter in SPLITTERS or not exists(splitter)):
        return None
    from fst.bridge.like import statement_of
    from fst.compile.train.result import Trained
    from fst.runtime.tokenizer import Tokenizer
    from fst.tables.live import is_encoding, is_live
    from fst.tables.table import Table

    is_path = isinstance(splitter, str | os.PathLike)
    is_own = isinstance(splitter, Table | Tokenizer | Trained) or hasattr(splitter, "fst")
    return statement_of(splitter, "splitter=")[0] if is_path or is_own or is_live(splitter) or is_encoding(splitter) else None


def _found(source: Any, column: str | None, field: str | None, errors: str) -> Found:
    """The counted words of a source, or the blocks of its documents."""
    from fst.runtime.counting import documents
    from fst.runtime.files.reading import Files

    if isinstance(source, Files):  # files from the command line, with options that `Files` has and this function lacks
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


def begun(source: Iterable[Any]) -> tuple[Sequence[Any], Iterable[Any]]:
    """The first item of an iterable, as a sequence of at most one item, and an iterable over all items."""
    if _is_collection(source):
        return [*islice(source, 1)], source
    iterator = iter(source)
    first = [*islice(iterator, 1)]
    return first, chain(first, iterator)


def _is_collection(items: Iterable[Any]) -> bool:
    """Whether items can be read twice: a list, a tuple, a set, an array. Items of an iterator are texts."""
    return isinstance(items, Sequence | Set | np.ndarray)


def _is_pair(item: Any) -> bool:
    """Whether an item is a pair of a word and its count."""
    is_two = isinstance(item, list | tuple) and len(item) == 2
    return is_two and isinstance(item[0], str | bytes) and not isinstance(item[1], str | bytes)


def are_paths(first: Sequence[Any], items: Iterable[Any], *, has_column: bool) -> bool:
    """Whether items are paths. A collection of texts is mistaken for paths only if every text is the name of an existing file or a URL.

    Raises:
        UnsupportedError: the items of a collection are neither clearly paths nor clearly texts: some are existing files; or all look like
            paths, but name no file; or all are folders.
    """
    if any(isinstance(item, os.PathLike) for item in first):
        return True
    if not all(isinstance(item, str) for item in first):
        return False
    if has_column or not first or not _is_collection(items):
        return has_column
    return _are_names(cast(Collection[Any], items))


def _are_names(items: Collection[Any]) -> bool:
    """Whether all items of a collection name files. If the answer may not be what the caller means, it is an error.

    The time is bounded for texts: only the names before the first text, or the first `MOST_STRAYS` items, are searched for a file.
    """
    missing = next(((place, item) for place, item in enumerate(items) if not _is_name(item)), None)
    if missing is None:
        return True
    searched = enumerate(islice(items, max(missing[0], MOST_STRAYS)))
    if (file := next(((place, item) for place, item in searched if _is_file(item)), None)) is not None:
        raise _neither(*missing, f"item {file[0]}, {_shown(file[1])}, is a file")
    if all(isinstance(item, str) and os.path.isdir(item) for item in items):  # noqa: PTH112 - false for long texts
        found = f"the source is a list of folders, {quoted(missing[1])} first"
        raise UnsupportedError(f"{found}; expected texts or files; pass each as a pathlib.Path")
    if all(map(_looks_like_a_path, items)):
        raise _neither(*missing, "all items look like paths")
    return False


def _neither(place: int, item: Any, why: str) -> UnsupportedError:
    """The error for a collection of paths of which one is missing, or of texts that look like paths."""
    is_folder = isinstance(item, str) and os.path.isdir(item)  # noqa: PTH112 - false for long texts
    found = f"item {place} of the source, {_shown(item)}, is {'a folder' if is_folder else 'not a file'}, but {why}"
    remedies = "to read files, correct the name or pass each as a pathlib.Path; to read the items as texts, pass iter(texts)"
    return UnsupportedError(f"{found}; expected only files or only texts; {remedies}")


def _shown(item: Any) -> str:
    return quoted(str(item) if isinstance(item, str | os.PathLike) else item)  # `str`: a string of numpy has another `repr`


def _is_name(item: Any) -> bool:
    """Whether an item is a path, or a str that is a URL or the name of a file."""
    return isinstance(item, os.PathLike) or remote.is_remote(item) or _is_file(item)


def _is_file(item: Any) -> bool:
    is_short = isinstance(item, os.PathLike) or (isinstance(item, str) and len(item) <= MOST_NAME)
    return is_short and os.path.isfile(item)  # noqa: PTH113 - false for a str that no file can be named


def _looks_like_a_path(item: Any) -> bool:
    """Whether a str is a URL, has the ending of a file of texts, or lies in an existing folder.

    Examples:
        >>> [*map(_looks_like_a_path, ["a.txt", "s3://bucket/part-7", "./part", "and/or", "e.g.", "node.js", "/start", "see a.txt"])]
        [True, True, True, False, False, False, False, False]
    """
    if not isinstance(item, str) or any(map(str.isspace, item)):
        return False
    folder = os.path.dirname(item)  # noqa: PTH120 - a str
    is_inside = folder != os.sep and os.path.isdir(folder)  # noqa: PTH112 - "/start" is a word rather than a file of the root
    return is_inside or remote.is_remote(item) or DATA_ENDING.search(item) is not None


def _of_files(sources: Iterable[Any], column: str | None, field: str | None, errors: str) -> Found:
    """The counted words of files if all of them are tables of words, otherwise their documents."""
    from fst.runtime.counting import documents
    from fst.runtime.files.names import named
    from fst.runtime.files.reading import Files

    listed = [os.fspath(source) for source in sources]
    if column is None and field is None and are_tables(names := named(listed)):
        return Words.load(*names), iter(())
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
