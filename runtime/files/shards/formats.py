"""The registry of formats of ids for training. It contains names, so a program imports only the format that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import PurePosixPath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fst.runtime.files.shards.shard import Shard, Vocabulary


class Format(NamedTuple):
    """A format of ids.

    Attributes:
        endings: the endings of the files of an output; the first file contains ids. A format that divides an output by size has the ending
            of its first file.
        shard: the dotted name of the class that writes an output.
        folder_only: whether outputs are written only into folders, because the index of the folder is a part of the format.
        any_name: whether programs read the first file under any name.
    """

    endings: Sequence[str]
    shard: str
    folder_only: bool = False
    any_name: bool = False


FORMATS = {
    "npy": Format([".npy", ".splits.npy"], "npy:Npy", any_name=True),
    "bin": Format([".bin", ".splits.npy"], "npy:Bin", any_name=True),
    "nanogpt": Format([".bin"], "nanogpt:NanoGpt", any_name=True),
    "llmc": Format([".bin"], "nanogpt:LlmC", any_name=True),
    "megatron": Format([".bin", ".idx"], "megatron:Megatron"),
    "datatrove": Format([".ds", ".ds.index", ".ds.metadata"], "datatrove:Datatrove"),
    "mds": Format([".00000.mds"], "mds:Mds", folder_only=True),
}


def shard_files(name: str, form: str) -> list[str]:
    """The files of an output. `name`: the first file. `form`: a key of `FORMATS`.

    Examples:
        >>> shard_files("train.bin", "megatron")
        ['train.bin', 'train.idx']
    """
    first, *others = FORMATS[form].endings
    return [name, *(stem_of(name, first) + ending for ending in others)]


def stem_of(name: str, ending: str) -> str:
    """The name of an output's first file without its ending, in upper or lower case, or without any other suffix."""
    return name[: -len(ending)] if name.lower().endswith(ending) else name.removesuffix(PurePosixPath(name).suffix)


@contextmanager
def writing_shard(name: str, form: str, vocabulary: Vocabulary) -> Iterator[Shard]:
    """A writer of one output. Its files get their names when the context ends without an error, the file of ids last.

    Args:
        name: the first file of the output, a path or a URL.
        form: a key of `FORMATS`.
        vocabulary: what formats write about a vocabulary.

    Examples:
        >>> import numpy as np
        >>> from fst.runtime.files.shards.shard import Vocabulary
        >>> with writing_shard("a.bin", "megatron", Vocabulary(count=100, name="bert.npz")) as shard:
        ...     shard.write(np.array([5, 7, 9], np.int32), np.array([2, 3]))
        >>> np.fromfile("a.bin", np.uint16).tolist(), shard.documents, shard.tokens
        ([5, 7, 9], 2, 3)
    """
    made = resolve_name(f"{__package__}.{FORMATS[form].shard}")
    with ExitStack() as files:
        shard: Shard = made(shard_files(name, form), vocabulary, files)
        yield shard
        shard.close()
