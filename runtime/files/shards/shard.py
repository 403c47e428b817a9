"""What all formats of ids share: the counts of an output, the facts about a vocabulary, and lengths that may exceed memory."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.runtime.files.outputs import written_file

AT_ONCE = 1 << 16  # number of lengths in a chunk


@dataclass(frozen=True)
class Vocabulary:
    """Facts about a vocabulary that formats need.

    Attributes:
        count: the number of ids: all ids are less than it.
        name: the name of the tokenizer, for formats that have a field for it.
    """

    count: int
    name: str

    @classmethod
    def of(cls, ids: NDArray[np.int32], name: str) -> Vocabulary:
        """The facts about the vocabulary with some ids, int32[tokens]."""
        return cls(int(ids.max()) + 1, name)


class Part(NamedTuple):
    """A file of an output."""

    name: str
    documents: int | None = None  # the number of documents in the file, if a format divides an output


class Shard(ABC):
    """A writer of one output.

    Args:
        names: the files of the output.
        vocabulary: the facts about the vocabulary.
        files: the stack that closes all files; a file then gets its name, if there is no error.

    Attributes:
        dtype: the dtype of the ids.
        documents, tokens: the number of documents and of ids so far.
        parts: the files of the output.
    """

    dtype: str

    def __init__(self, names: Sequence[str], vocabulary: Vocabulary, files: ExitStack) -> None:
        self.documents = self.tokens = 0
        self.parts = list(map(Part, names))
        self._begin(vocabulary, files)

    @abstractmethod
    def _begin(self, vocabulary: Vocabulary, files: ExitStack) -> None:
        """Choose the dtype, open the files, and write their beginning."""

    def _opened(self, files: ExitStack) -> list[IO[bytes]]:
        """Open all files of the output. The file of ids gets its name last, so if it exists, all files exist."""
        return [files.enter_context(written_file(part.name)) for part in self.parts]

    def write(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        """Add documents. `ids`: int32[n], the ids of all documents in order. `ends`: int64[rows], the end of each document in `ids`; ids
        after the last end belong to a document that continues in the next call.
        """
        self._add(ids, ends)
        self.documents += len(ends)
        self.tokens += len(ids)

    @abstractmethod
    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        """Write documents; `documents` and `tokens` do not yet count them."""

    @abstractmethod
    def close(self) -> None:
        """Write the end of the files."""


def narrow(vocabulary: Vocabulary) -> str:
    """The dtype uint16 if all ids of a vocabulary fit, otherwise uint32."""
    return "uint16" if vocabulary.count <= 1 << 16 else "uint32"


def data_of(array: NDArray[Any], dtype: str) -> Any:
    """The little-endian bytes of an array in a dtype, without a copy if it has this dtype."""
    return np.ascontiguousarray(array.astype(np.dtype(dtype).newbyteorder("<"), copy=False)).data


class Lengths:
    """The number of ids of each document, int64, in a temporary file. `files`: the stack that closes the file."""

    def __init__(self, files: ExitStack) -> None:
        self._file = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        self._begun = 0  # number of ids of an unfinished document

    def add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add documents, as in `Shard.write`, and return int64[rows], their lengths."""
        lengths = np.diff(ends, prepend=-self._begun)
        self._begun = len(ids) - int(ends[-1]) if len(ends) else self._begun + len(ids)
        self._file.write(data_of(lengths, "<i8"))
        return lengths

    def chunks(self) -> Iterator[NDArray[np.int64]]:
        """Yield all lengths in order, in chunks."""
        self._file.seek(0)
        while chunk := self._file.read(8 * AT_ONCE):
            yield np.frombuffer(chunk, "<i8")
