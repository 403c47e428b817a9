"""The strings of stems by their numbers: the paths through the rows of a speller, see `fst.machines.speller.layout`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fst.automata.rows import Array
from fst.machines.speller.layout import ENTRY, LIMIT, MAX_SYMBOLS
from fst.machines.speller.table import SpellerTable

TARGETS = ENTRY.max_target + 1


class Stems:
    """The stems of a dictionary.

    An entry at ``state + ENTRY.first + symbol`` with the label `symbol` is a transition of the state.

    Args:
        table: the table.
        symbols: uint16[65536], the symbol of each UTF-16 unit; 0 for units that the dictionary does not contain.
    """

    def __init__(self, table: SpellerTable, symbols: Array) -> None:
        labels = ENTRY.labels_of(table.entries)
        places = np.flatnonzero(labels < MAX_SYMBOLS)
        states = places - ENTRY.first - labels[places]
        order = np.lexsort((labels[places], states))
        entries = table.entries[places[order]]
        values = ENTRY.values_of(entries)
        self._labels, self._targets, self._skips = ENTRY.labels_of(entries), ENTRY.targets_of(entries), values >> 1
        self._is_final = values & 1 > 0
        self._keys = states[order] * TARGETS + self._skips
        self._units = np.zeros(table.named_options.symbols, np.uint16)
        self._units[symbols] = np.arange(len(symbols), dtype=np.uint16)
        self._is_reversed = bool(table.named_options.complex_prefixes)

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """The strings of stems. `numbers`: numbers of stems of the table."""
        going, left = np.arange(len(numbers)), np.array(numbers, np.int64)
        states = np.zeros(len(numbers), np.int64)
        rows, units = [going[:0]], [self._units[:0]]
        for _ in range(LIMIT):
            edges = np.searchsorted(self._keys, states * TARGETS + left, side="right") - 1  # the last transition that skips no more
            rows.append(going)
            units.append(self._units[self._labels[edges]])
            left = left - self._skips[edges]
            more = (left > 0) | ~self._is_final[edges]
            if not more.any():
                break
            going, left, states = going[more], left[more], self._targets[edges[more]]
        order = np.argsort(np.concatenate(rows), kind="stable")
        ends = np.cumsum(np.bincount(np.concatenate(rows), minlength=len(numbers)))
        texts = np.split(np.concatenate(units)[order].astype("<u2"), ends[:-1])
        return [row[:: -1 if self._is_reversed else 1].tobytes().decode("utf-16-le", "replace") for row in texts[: len(numbers)]]
