"""Write analyses as a column of Arrow and Parquet. This module needs `pyarrow`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fst.cli.commands.lookup.work import ANALYSES, Found
from fst.runtime.files.documents import Documents
from fst.runtime.files.with_pyarrow import pa

KIND = pa.list_(pa.string())


class AnalysisColumns:
    """A conversion of analyses to a column of lists of strings."""

    added: Sequence[tuple[str, Any]] = ((ANALYSES, KIND),)

    def of(self, found: Found, /) -> tuple[Documents, Sequence[Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        return found.documents, [pa.array(found.rows, KIND)]
