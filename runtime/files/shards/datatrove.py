"""The files of datatrove's `DocumentTokenizer`: the ids, the end of each document, and a description."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from fst.runtime.files.shards.shard import Shard, Vocabulary, data_of, narrow

PREFIXES = (" ", " k", " M", " G", " T", " P", " E")  # of numbers of tokens, by thousands


class Datatrove(Shard):
    """The format "datatrove": ids as uint16, or uint32 for a vocabulary with larger ids; uint64[documents], the end of each document in
    ids; and three lines of text: the name of the tokenizer with the bytes per id, the number of ids, and the number in short form.
    """

    def _begin(self, vocabulary: Vocabulary, files: ExitStack) -> None:
        self.dtype, self._name = narrow(vocabulary), vocabulary.name
        self._ids, self._index, self._description = self._opened(files)

    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        self._ids.write(data_of(ids, self.dtype))
        self._index.write(data_of(ends + self.tokens, "<u8"))

    def close(self) -> None:
        """Write the description."""
        lines = [f"{self._name}|{np.dtype(self.dtype).itemsize}", str(self.tokens), short(self.tokens)]
        self._description.write("\n".join(lines).encode())


def short(count: int) -> str:
    """A number of tokens in three digits, as `humanize.metric(count, unit="T")` formats it.

    Examples:
        >>> short(0), short(12), short(1500), short(999_999)
        ('0.00 T', '12.0 T', '1.50 kT', '1000 kT')
    """
    exponent = len(str(count)) - 1
    digits = f"{count / 10 ** (exponent // 3 * 3):.{2 - exponent % 3}f}"
    return f"{digits}{PREFIXES[exponent // 3]}T"
