"""Write matches as columns of Arrow and Parquet. This module needs `pyarrow`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.cli.commands.search.matches import MATCHES, PLACES, Found
from fst.runtime.files.documents import Documents
from fst.runtime.files.with_pyarrow import pa


class MatchColumns:
    """A conversion of matches to a column of lists. A match is a struct of the keyword or its number, the start and the end.

    Args:
        keywords: the keywords; None: the numbers of keywords are written.
    """

    def __init__(self, keywords: Sequence[str] | None) -> None:
        self._keywords = None if keywords is None else pa.array(keywords, pa.string())
        first = ("id", pa.int32()) if keywords is None else ("keyword", pa.string())
        self._kind = pa.struct([first, *((name, pa.int32()) for name in PLACES)])

    @property
    def added(self) -> Sequence[tuple[str, Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        return [(MATCHES, pa.list_(self._kind))]

    def of(self, found: Found, /) -> tuple[Documents, Sequence[Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        assert found.matches is not None
        ids = pa.array(found.matches.ids)
        first = ids if self._keywords is None else self._keywords.take(ids)
        values = pa.StructArray.from_arrays([first, pa.array(found.matches.starts), pa.array(found.matches.ends)], fields=list(self._kind))
        mask = None if found.nulls is None else pa.array(found.nulls)
        return found.documents, [pa.ListArray.from_arrays(pa.array(found.matches.row_splits.astype(np.int32)), values, mask=mask)]
