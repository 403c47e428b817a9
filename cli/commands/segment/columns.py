"""Write tokens as a column of Arrow and Parquet. This module needs `pyarrow`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fst.cli.commands.segment.words import Segmented
from fst.cli.files.ids import TOKENS
from fst.runtime.files.documents import Documents
from fst.runtime.files.with_pyarrow import pa

KIND = pa.list_(pa.string())


class TokenColumns:
    """A conversion of segmented documents to a column of lists of tokens."""

    added: Sequence[tuple[str, Any]] = ((TOKENS, KIND),)

    def of(self, segmented: Segmented, /) -> tuple[Documents, Sequence[Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        tokens = segmented.tokens
        return segmented.documents, [pa.array(tokens, KIND) if isinstance(tokens, list) else tokens]
