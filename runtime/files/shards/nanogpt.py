"""Ids of all documents in one file, as the training programs nanoGPT, llm.c and modded-nanogpt read them."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.runtime.files.shards.shard import Shard, Vocabulary, data_of, narrow

HEADER = 256  # number of int32 before the ids of llm.c: magic, version, number of ids, zeros
KINDS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}  # dtype of the ids → magic and version of llm.c
MOST = (1 << 31) - 1  # maximum number of ids in a file of llm.c


class NanoGpt(Shard):
    """The format "nanogpt": only ids, as uint16, or uint32 for a vocabulary with larger ids."""

    def _begin(self, vocabulary: Vocabulary, files: ExitStack) -> None:
        self.dtype = narrow(vocabulary)
        (self._ids,) = self._opened(files)

    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:  # noqa: ARG002 - documents have no marks
        self._ids.write(data_of(ids, self.dtype))

    def close(self) -> None:
        """Write nothing: the file has no end."""


class LlmC(NanoGpt):
    """The format "llmc": a header of 1,024 bytes, and then the ids as in "nanogpt"."""

    def _begin(self, vocabulary: Vocabulary, files: ExitStack) -> None:
        super()._begin(vocabulary, files)
        self._ids.write(bytes(4 * HEADER))

    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        if self.tokens + len(ids) > MOST:
            raise UnsupportedError(f"{self.parts[0].name}: more than {MOST:,} ids; write several files")
        super()._add(ids, ends)

    def close(self) -> None:
        """Write the header."""
        self._ids.seek(0)
        self._ids.write(np.array([*KINDS[self.dtype], self.tokens], "<i4").tobytes())
