"""Transducers of pairs of strings, from lists and files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from fst.bridge.pynini.errors import FstArgError, FstIOError
from fst.bridge.pynini.labels import TokenType, checked, labels_of
from fst.bridge.pynini.machine import Fst
from fst.bridge.pynini.weights import OF_ARCS, weight_of
from fst.compile.algebra.build.strings import tree_of_pairs
from fst.errors import not_one_of, quoted

_COMMENT = re.compile(r"\s*(?<!\\)#.*")


def string_map(
    lines: Iterable[str | Iterable[str]],
    arc_type: str = "standard",
    input_token_type: TokenType | None = None,
    output_token_type: TokenType | None = None,
) -> Fst:
    """The transducer of pairs of strings: a tree of inputs, in which an output begins at the last label of its input; if all strings are
    copied, a tree of arcs that copy.

    Args:
        lines: strings, which are copied; or tuples of an input, an output and possibly a weight.
        arc_type: "standard", "log" or "log64".
        input_token_type, output_token_type: as in `accep`.

    Raises:
        FstArgError: a line has another form.

    Examples:
        >>> ("2" @ string_map([("1", "one"), ("2", "two")])).project("output").rmepsilon().string()
        'two'
    """
    types = checked(input_token_type), checked(output_token_type)
    if arc_type not in OF_ARCS:
        raise FstArgError(not_one_of("arc type", arc_type, OF_ARCS))
    entries = list[tuple[tuple[int, ...], tuple[int, ...], float]]()
    for line in lines:
        columns = [line] if isinstance(line, str) else [*line]
        if not 1 <= len(columns) <= 3:
            raise FstArgError(f"a line of a string map is {quoted(line)}; expected an input, an output and a weight, the last two optional")
        try:
            read = labels_of(columns[0], types[0])
            write = read if len(columns) == 1 and types[0] == types[1] else labels_of(columns[min(1, len(columns) - 1)], types[1])
            weight = weight_of(columns[2] if len(columns) == 3 else None, arc_type)
        except ValueError as error:
            raise FstArgError(f"a line of a string map is {quoted(line)}: {error}") from error
        entries.append((tuple(read), tuple(write), weight))
    if not entries:
        return Fst(arc_type)
    copies = all(read == write for read, write, _ in entries)
    paths = ((zip(read, write, strict=True) if copies else _late(read, write), weight) for read, write, weight in entries)
    return Fst.of(tree_of_pairs(paths), arc_type)


def string_file(
    filename: str | os.PathLike[str],
    arc_type: str = "standard",
    input_token_type: TokenType | None = None,
    output_token_type: TokenType | None = None,
) -> Fst:
    r"""The transducer of a file of lines: an input, a tab, an output, a tab and a weight; the last two are optional.

    ``#`` begins a comment, ``\#`` is the character.

    Raises:
        FstIOError: the file cannot be read.
    """
    return string_map(_lines_of(filename), arc_type, input_token_type, output_token_type)


def _late(read: tuple[int, ...], write: tuple[int, ...]) -> list[tuple[int, int]]:
    """Pairs of labels in which the first output goes with the last input, so inputs share their beginnings."""
    before = max(len(read) - 1, 0)
    return [*((label, 0) for label in read[:before]), *zip_longest(read[before:], write, fillvalue=0)]


def _lines_of(filename: str | os.PathLike[str]) -> Iterator[list[str]]:
    r"""The columns of each line. A line that is only a comment is left out.

    Raises:
        FstIOError: the file cannot be read.
    """
    try:
        text = Path(filename).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise FstIOError(f"{os.fspath(filename)} cannot be read: {error}") from error
    for line in text.split("\n"):
        content = _COMMENT.sub("", line).replace("\\#", "#")
        if content:
            yield content.split("\t")
