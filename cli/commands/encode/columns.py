"""Write ids as columns of Arrow and Parquet. This module needs `pyarrow`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fst.cli.files.ids import IDS, OFFSETS, TOKENS
from fst.runtime.files.documents import Documents, Encoded
from fst.runtime.files.with_pyarrow import pa


class IdsColumns:
    """A conversion of encoded documents to a column of ids and, by option, columns of tokens and spans.

    Args:
        spellings: id → token; None: no tokens are written.
        with_offsets: whether spans are written.
    """

    def __init__(self, spellings: Mapping[int, str] | None, with_offsets: bool) -> None:
        self.added = [(IDS, pa.list_(pa.int32()))]
        self._tokens: Any = None
        if spellings is not None:
            self._tokens = pa.array([spellings[number] for number in range(max(spellings) + 1)])
            self.added.append((TOKENS, pa.list_(pa.string())))
        self.added += [(OFFSETS, pa.list_(pa.list_(pa.int32(), 2)))] * with_offsets

    def of(self, encoded: Encoded, /) -> tuple[Documents, Sequence[Any]]:
        """See `ColumnsOf`."""
        values = [pa.array(encoded.ids)]
        if self._tokens is not None:
            values.append(self._tokens.take(values[0]))
        if encoded.offsets is not None:
            values.append(pa.FixedSizeListArray.from_arrays(pa.array(encoded.offsets.ravel()), 2))
        return encoded.documents, [_lists(encoded, each) for each in values]


def _lists(encoded: Encoded, values: Any) -> Any:
    """Values that belong to ids, as an Arrow array with a list of values for each document."""
    offsets = np.zeros(len(encoded.ends) + 1, np.int32)
    offsets[1:] = encoded.ends
    mask = None if encoded.nulls is None else pa.array(encoded.nulls)
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)
