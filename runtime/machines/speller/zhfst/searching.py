"""Searches with the kernel of spellers with an error model."""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.core.jit import Deferred
from fst.errors import TextError
from fst.machines.speller.zhfst.arguments import MAX_NODES, Model, Work, empty
from fst.machines.speller.zhfst.table import OTHER
from fst.machines.speller.zhfst.walk import Suggestion, labels_of, too_long

search = Deferred("fst.runtime.machines.speller.zhfst.kernels.search", "search")
KEPT = 1 << 16  # working arrays for more nodes are not kept for the next search


class Search:
    """Searches with a table, from several threads."""

    def __init__(self, table: Any) -> None:
        self._table, self._lexicon = table, table.lexicon()
        self._model, self._model_symbols = table.model(), table.model_symbols()
        self._unchanged, self._symbols = table.unchanged(), table.symbols()
        self._works = list[Work]()

    def is_right(self, word: str) -> bool:
        """Whether the lexicon reads a word; no word of more than `MAX_WORD` symbols is right."""
        try:
            labels = labels_of(word, self._symbols, self._table.other)
        except TextError:  # it has too many symbols
            return False
        return bool(self._found(self._unchanged, labels, 1))

    def suggestions(self, word: str, limit: int) -> list[Suggestion]:
        """See `fst.machines.speller.zhfst.table.ZhfstTable.suggestions`."""
        return self._found(self._model, labels_of(word, self._model_symbols, OTHER), limit)

    def _found(self, model: Model, labels: list[int], limit: int) -> list[Suggestion]:
        word, best = np.array(labels, np.uint16), np.empty(min(limit, MAX_NODES), np.float32)
        work = self._take()
        while True:
            empty(work)
            count = search.call(word, model, self._lexicon, best, work)
            if not work.state.is_full:
                break
            capacity = 2 * len(work.nodes)
            if capacity > MAX_NODES:
                raise too_long()
            work = self._table.work(capacity)
        nodes = work.found[:count]
        strings = work.nodes[nodes, 1].tolist()  # the second word of a complete string
        found = [Suggestion(weight, _text(string, work)) for weight, string in zip(work.weights[nodes], strings, strict=True)]
        if len(work.nodes) <= KEPT:
            self._works.append(work)
        return sorted(found, key=lambda one: (one.weight, one.text))[:limit]

    def _take(self) -> Work:
        """Working arrays that no other thread uses."""
        try:
            return self._works.pop()
        except IndexError:
            work: Work = self._table.work()
            return work


def _text(string: int, work: Work) -> str:
    """A string of the tree of strings."""
    characters = list[str]()
    while string:
        key = int(work.string_keys[string])
        string = key >> 32
        characters.append(chr(key & 0xFFFFFFFF))
    return "".join(reversed(characters))
