"""Tasks of a cluster: each counts a part of a corpus, or encodes a share of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fst.errors import UnsupportedError, quoted

Run = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]  # a function like `map`, which runs a task for each item

OWN = ("--share", "--", "--help", "-h")  # arguments that conflict with those that `encode` adds
RESTARTS = ("--overwrite", "--resume")  # options of which `fst encode` needs one, because a cluster repeats tasks


def count_words(
    parts: Iterable[Any],
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    run: Run = map,
    min_count: int = 1,
    **options: Any,
) -> int:
    """Count the words of each part of a corpus in a task, and merge the counts.

    The file has the same bytes for any `run`, any number of machines, and any order in which tasks end. Its words, their counts and the
    order of their first occurrences are those of `fst.train.words` for the whole corpus, and so are vocabularies.

    Args:
        parts: for each part, in the order of the corpus, its sources as in `fst.train.words`: a path or a URL of a file, or a list of them.
        folder: an existing folder, at the same path on every machine. A task writes the words of part 7 to ``part-00007.parquet``.
        output: the Parquet file to write.
        run: a function with the arguments and the result of the built-in `map`, which runs tasks: `fst.cluster.ray.ray_map`,
            `fst.cluster.spark.spark_map`, `fst.cluster.daft.daft_map`, or the method `map` of an executor of `concurrent.futures`.
        min_count: words with lower sums are left out.
        options: other arguments of `fst.train.words`, except `partition`. The default of `threads` is 1.

    Returns:
        The number of words in the file.

    Raises:
        VocabularyError, UnsupportedError, OSError: as in `fst.train.words` and `fst.train.merge_words`. Some runners raise errors of
            their own, which contain these.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("a.txt").write_text("a rose is a rose"), Path("b.txt").write_text("a daisy")
        >>> count_words([Path("a.txt"), Path("b.txt")], ".", "words.parquet", splitter="bert")
        4
    """
    from fst.train import merge_words

    _need_list("parts", parts)
    task = partial(count_part, folder=Path(folder), options={"threads": 1, **options})
    return merge_words([*run(task, [*enumerate(parts)])], output, min_count=min_count)


def count_part(part: tuple[int, Any], folder: Path, options: Mapping[str, Any]) -> str:
    """Count the words of a part, and return the file that contains them.

    Args:
        part: the number of the part, and its sources.
        folder: the folder for the file.
        options: arguments of `fst.train.words`.
    """
    from fst.train import words

    number, sources = part
    path = str(folder / f"part-{number:05}.parquet")
    words(sources, partition=number, **options).save(path)
    return path


def encode(arguments: Sequence[str | os.PathLike[str]], shares: int, *, run: Run = map) -> None:
    """Encode files in shares; each task writes one share of the outputs.

    The files have the same bytes for any `run` and any number of shares.

    Args:
        arguments: the arguments of the command ``fst encode`` with a folder as output, such as ``["gpt2.npz", "corpus/", "--column",
            "text", "--format", "megatron", "-o", "ids/"]``. The table, the files and the folder are at the same paths on every machine,
            or at URLs. The default of ``--threads`` is 1; without ``--overwrite``, ``--resume`` is added, because clusters repeat failed
            tasks.
        shares: the number of tasks, at least 1. Tasks beyond the number of outputs have nothing to do.
        run: as in `count_words`.

    Raises:
        FstError, OSError: as in `fst.Tokenizer`, or a file cannot be read or written. Some runners raise errors of their own, which contain
            these.
        UnsupportedError: an argument is wrong.
    """
    _need_list("arguments", arguments)
    if shares < 1:
        raise UnsupportedError(f"shares is {shares}; expected at least 1")
    given = ["--threads", "1", *(os.fspath(argument) for argument in arguments)]  # a later value of the same option replaces this one
    for argument in given:
        if argument.partition("=")[0] in OWN:
            raise UnsupportedError(f"an argument is {quoted(argument)}; expected those that all tasks share; leave it out")
    given += [] if {*RESTARTS} & {*given} else ["--resume"]
    for _ in run(partial(encode_share, arguments=given, shares=shares), range(1, shares + 1)):
        pass


def _need_list(name: str, given: object) -> None:
    """Raise an error if an argument is one string, whose characters are not items, or one path."""
    if isinstance(given, str | bytes | os.PathLike):
        raise UnsupportedError(f"{name} is {quoted(given)}; expected a list")


def encode_share(number: int, arguments: Sequence[str], shares: int) -> int:
    """Write one share of the outputs: run ``fst encode`` with ``--share number/shares``. Return the number of the share."""
    from fst.cli.commands.encode.command import command

    command.call([*arguments, "--share", f"{number}/{shares}"])
    return number
