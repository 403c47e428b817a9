"""Rows of a batch that are cheap to make, because each member is computed at its first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.runtime.model_inputs.encoding import Encoding, Ints

MANY, SHARED = 1 << 16, 1 << 18  # minimum number of ids of a batch for which `_numbers` is used, and number of objects in `_numbers`
IDS, TYPE_IDS, ATTENDED, SPECIAL, SEQUENCE = range(5)  # the fields of `Encoding.table` that need no spans


class Rows:
    """The data that the rows of a batch share.

    Args:
        begins: the index of each row's first token in the concatenated rows, and the number of all tokens.
        texts: the number of texts in each row.
        plane: a function that returns a field of `Encoding.table` (`IDS` to `SEQUENCE`) for the tokens of all rows.
        names: a function from the first four fields to the names of all tokens; None if only `trace` can compute them.
        trace: a function that returns all rows with all fields, and with the rows that truncation has cut off.
    """

    def __init__(
        self,
        begins: list[int],
        texts: list[int],
        plane: Callable[[int], Ints],
        names: Callable[[Ints], list[str | None] | None],
        trace: Callable[[], Sequence[Encoding]],
    ) -> None:
        self.begins, self.texts = begins, texts
        self._plane, self._names, self._trace = plane, names, trace
        self._planes: dict[int, Ints] = {}

    def encodings(self) -> list[Encoding]:
        """The rows."""
        return list(map(Row, repeat(self), range(len(self.texts)), self.begins, self.begins[1:]))

    @Lazy
    def ids(self) -> NDArray[Any]:
        """The ids of all rows."""
        ids = self.plane(IDS)
        return _numbers()[ids] if len(ids) >= MANY and int(ids.max()) < SHARED else ids

    def plane(self, field: int) -> Ints:
        """Return a field of `Encoding.table` for the tokens of all rows."""
        if field not in self._planes:
            self._planes[field] = self._plane(field)
        return self._planes[field]

    @Lazy
    def tokens(self) -> list[str | None] | None:
        """The names of the tokens of all rows; None if names depend on the texts."""
        return self._names(np.stack([self.plane(field) for field in (IDS, TYPE_IDS, ATTENDED, SPECIAL)]))

    @Lazy
    def traced(self) -> Sequence[Encoding]:
        """All rows, with all fields."""
        return self._trace()


class Row(Encoding):
    """A row whose members are computed at the first use.

    Args:
        rows: the data that all rows share.
        number: the number of the row.
        begin, end: the index of the row's first token in the concatenated rows, and one past its last.
    """

    def __init__(self, rows: Rows, number: int, start: int, end: int) -> None:
        self._rows, self._number, self._begin, self._end = rows, number, start, end

    def __getattr__(self, name: str) -> Any:
        if name in ("table", "cut_off"):
            made = getattr(self._rows.traced[self._number], name)
        elif name == "_tokens":
            tokens = self._rows.tokens
            made = [*self._rows.traced[self._number].tokens] if tokens is None else tokens[self._begin : self._end]
        elif name == "n_sequences":
            made = self._rows.texts[self._number]
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self)[name] = made
        return made

    def __len__(self) -> int:
        return super().__len__() if "table" in vars(self) else self._end - self._begin

    @property
    def ids(self) -> list[int]:
        """The id of each token."""
        return self._list(IDS) if "table" in vars(self) else self._rows.ids[self._begin : self._end].tolist()

    def _list(self, field: int) -> list[int]:
        if "table" in vars(self) or field > SEQUENCE:
            return super()._list(field)
        listed: list[int] = self._rows.plane(field)[self._begin : self._end].tolist()
        return listed


@cache
def _numbers() -> NDArray[Any]:
    """Return the numbers below `SHARED` as Python objects, so that lists of ids share these objects."""
    return np.arange(SHARED).astype(object)
