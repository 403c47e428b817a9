"""Whether the items of a source are the paths of files, or texts."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence, Set
from itertools import chain, islice
from typing import Any, cast

import numpy as np

from fst.core import remote
from fst.errors import UnsupportedError, quoted

MOST_STRAYS = 1 << 10  # maximum number of items that are searched for a file if the collection also contains other items
MOST_NAME = 1 << 12  # maximum length of a path in characters
# A name with one of these endings is a file of texts. Names with other endings may be texts: "node.js" and "example.org" may be words of a
# list.
DATA_ENDING = re.compile(
    r"\.(?:txt|text|md|jsonl?|ndjson|csv|tsv|parquet|pq|arrow|feather|ipc|html?|xml|tex|log|gz|bz2|xz|zst|zstd|lz4|zip|br)$", re.IGNORECASE
)


def begun(source: Iterable[Any]) -> tuple[Sequence[Any], Iterable[Any]]:
    """The first item of an iterable, as a sequence of at most one item, and an iterable over all items."""
    if _is_collection(source):
        return [*islice(source, 1)], source
    iterator = iter(source)
    first = [*islice(iterator, 1)]
    return first, chain(first, iterator)


def _is_collection(items: Iterable[Any]) -> bool:
    """Whether items can be read twice, as the items of a list, a tuple, a set or an array can. Items of an iterator are texts."""
    return isinstance(items, Sequence | Set | np.ndarray)


def are_paths(first: Sequence[Any], items: Iterable[Any], *, has_column: bool) -> bool:
    """Whether items are paths. A collection of texts is mistaken for paths only if every text is the name of an existing file or a URL."""
    if any(isinstance(item, os.PathLike) for item in first):
        return True
    if not all(isinstance(item, str) for item in first):
        return False
    if has_column or not first or not _is_collection(items):
        return has_column
    return _are_names(cast(Collection[Any], items))


def _are_names(items: Collection[Any]) -> bool:
    """Whether all items of a collection name files. If the answer may not be what the caller means, an error is raised.

    The time for texts is bounded: only the names before the first text, or the first `MOST_STRAYS` items, are searched for a file.
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
    """The error for a collection that contains the path of a missing file, or texts that look like paths."""
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
    try:  # for texts, `access` takes a third of the time of `isfile`
        return is_short and os.access(item, os.F_OK) and os.path.isfile(item)  # noqa: PTH113 - false for a str that no file can be named
    except ValueError:
        return False


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
