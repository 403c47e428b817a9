"""The arc table: the arrays of a weighted finite-state transducer, and how they are made from unsorted arcs.

Every operation of this folder reads and returns this table. `fst.compile.algebra.machine` adds the public methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fst.errors import VocabularyError, not_one_of

Unit = Literal["character", "utf-8"]
UNITS: tuple[Unit, ...] = ("character", "utf-8")
EPSILON = 0  # the label of an arc that reads or writes nothing
FIRST_SYMBOL = 0x110000  # label of the first symbol in `Arcs.symbols`; smaller labels are code points, or bytes
END_OF_UNIT: dict[Unit, int] = {"character": FIRST_SYMBOL, "utf-8": 0x100}  # label after the last code point or byte
MAX_WEIGHT = float(np.finfo(np.float32).max)
TOLERANCE = 2.0**-10  # weights are equal if they differ by at most this number
NOWHERE = -1  # the start state of a machine without states
# Symbols for every character and symbol that a machine does not name, under their names in HFST; see `fst.compile.algebra.other`.
OTHER, ANOTHER = "@_IDENTITY_SYMBOL_@", "@_UNKNOWN_SYMBOL_@"


class Columns(NamedTuple):
    """Arcs in any order, as `make` takes them: states, labels and weights."""

    source: NDArray[Any]
    ilabel: NDArray[Any]
    olabel: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Arcs:
    """The arcs of a transducer, sorted by (state, ilabel). The arcs of state q are ``row_start[q]`` to ``row_start[q + 1]``, exclusive.

    Weights are tropical: the weight of a path is a sum, and the best path has the smallest weight.

    Attributes:
        row_start: int64[states + 1], ascending from 0 to the number of arcs.
        ilabel: int32[arcs], the label that each arc reads; `EPSILON` reads nothing.
        olabel: int32[arcs], the label that each arc writes; `EPSILON` writes nothing.
        target: int32[arcs], the state after each arc.
        weight: float32[arcs], finite; None means that all weights are 0.
        final: float32[states], the weight of ending in each state; infinity: the state is not final.
        start: the first state; `NOWHERE` if there are no states.
        symbols: distinct strings; label ``FIRST_SYMBOL + k`` is ``symbols[k]``, for input and output. If `OTHER` is a symbol, the
            others are all that the machine names; a single character among them still has its code point as its label.
        unit: the meaning of labels below `FIRST_SYMBOL`: code points, or bytes of UTF-8.
    """

    row_start: NDArray[np.int64]
    ilabel: NDArray[np.int32]
    olabel: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.float32] | None
    final: NDArray[np.float32]
    start: int
    symbols: tuple[str, ...] = ()
    unit: Unit = "character"

    def __post_init__(self) -> None:
        _prove(self)
        for array in (self.row_start, self.ilabel, self.olabel, self.target, self.weight, self.final):
            if array is not None:
                array.flags.writeable = False

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.final)

    @property
    def arcs(self) -> int:
        """The number of arcs."""
        return len(self.target)

    @property
    def sources(self) -> NDArray[np.int32]:
        """int32[arcs], the state before each arc."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.row_start))

    @property
    def weights(self) -> NDArray[np.float32]:
        """float32[arcs], the weight of each arc."""
        return np.zeros(self.arcs, np.float32) if self.weight is None else self.weight

    @property
    def is_weighted(self) -> bool:
        """Whether an arc or a final state has a weight other than 0."""
        return self.weight is not None or bool((np.isfinite(self.final) & (self.final != 0)).any())

    @property
    def is_acceptor(self) -> bool:
        """Whether every arc writes the label that it reads."""
        return bool((self.ilabel == self.olabel).all())

    def arcs_of(self, state: int) -> Iterator[tuple[int, int, int, float]]:
        """The arcs of a state: label read, label written, target, weight."""
        for arc in range(self.row_start[state], self.row_start[state + 1]):
            weight = 0.0 if self.weight is None else float(self.weight[arc])
            yield int(self.ilabel[arc]), int(self.olabel[arc]), int(self.target[arc]), weight


def columns_of(arcs: Arcs, chosen: NDArray[np.bool_] | slice = slice(None)) -> Columns:
    """The chosen arcs of a machine; by default, all."""
    return Columns._make(column[chosen] for column in (arcs.sources, arcs.ilabel, arcs.olabel, arcs.target, arcs.weights))


def joined(parts: Iterable[Columns]) -> Columns:
    """The arcs of one or more parts."""
    return Columns._make(map(np.concatenate, zip(*parts, strict=True)))


def make(
    source: ArrayLike,
    ilabel: ArrayLike,
    olabel: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike | None,
    final: ArrayLike,
    start: int,
    symbols: tuple[str, ...] = (),
    unit: Unit = "character",
) -> Arcs:
    """Sort arcs by (state, ilabel) into a table. Arcs with equal keys keep their order; arcs of infinite weight are dropped. `source`
    is the state before each arc.
    """
    sources, reads, writes, targets = (np.asarray(array, np.int64) for array in (source, ilabel, olabel, target))
    if OTHER in symbols or ANOTHER in symbols:
        reads, writes, symbols = _with_other(reads, writes, symbols, unit)
    weights = None if weight is None else _float32(weight)
    ends = _float32(final)
    if weights is not None and np.isposinf(weights).any():
        kept = ~np.isposinf(weights)
        sources, reads, writes, targets, weights = sources[kept], reads[kept], writes[kept], targets[kept], weights[kept]
    _need_inside("source", sources, sources, len(ends))
    _need_inside("target", targets, sources, len(ends))
    _need_inside("input label", reads, sources, FIRST_SYMBOL + len(symbols))
    _need_inside("output label", writes, sources, FIRST_SYMBOL + len(symbols))
    order = np.argsort(sources << 32 | reads, kind="stable")
    row_start = np.zeros(len(ends) + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=len(ends)), out=row_start[1:])
    sorted_weights = None if weights is None or not weights.any() else weights[order]
    ilabels, olabels, goals = (array[order].astype(np.int32) for array in (reads, writes, targets))
    return Arcs(row_start, ilabels, olabels, goals, sorted_weights, ends, start, symbols, unit)


def _with_other(
    reads: NDArray[np.int64], writes: NDArray[np.int64], symbols: tuple[str, ...], unit: Unit
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Arcs with `OTHER` in one form: `ANOTHER` is only written, and only if `OTHER` is read. The characters on arcs become symbols."""
    if unit != "character":
        raise VocabularyError(f"a machine over bytes has the symbol {OTHER}; expected a machine over characters")
    symbols = tuple(dict.fromkeys([*symbols, OTHER, ANOTHER, *characters_of(reads, writes)]))
    other, another = (FIRST_SYMBOL + symbols.index(name) for name in (OTHER, ANOTHER))
    read, written = (np.where(labels == another, other, labels) for labels in (reads, writes))
    differs = (read == other) & (written == other) & ((reads == another) | (writes == another))
    return read, np.where(differs, another, written), symbols


def is_label(name: str, unit: Unit) -> bool:
    """Whether the label of a symbol is its code point or byte."""
    return len(name) == 1 and name != "\0" and (unit == "character" or name.isascii())


def characters_of(*columns: NDArray[Any]) -> list[str]:
    """The characters among labels, in the order of their code points."""
    is_used = np.zeros(FIRST_SYMBOL, np.bool_)
    for labels in columns:
        is_used[labels[(labels > EPSILON) & (labels < FIRST_SYMBOL)]] = True
    return [*map(chr, np.flatnonzero(is_used).tolist())]


def relabelled(labels: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """int[arcs], with the label of each symbol replaced by ``new[label - FIRST_SYMBOL]``."""
    return np.where(labels < FIRST_SYMBOL, labels, new[np.maximum(labels - FIRST_SYMBOL, 0)]) if len(new) else labels


def _float32(values: ArrayLike) -> NDArray[np.float32]:
    """A new float32 array of weights; a value that is not a number or too large for 32 bits becomes NaN, which the caller refuses."""
    found = np.array(values)
    if found.dtype != np.float32:
        found = np.where((abs(found) > MAX_WEIGHT) & (found != np.inf), np.nan, found)
    return found.astype(np.float32)


class Holder(Protocol):
    """An object with a machine, such as a `fst.pynini.Fst`."""

    @property
    def fst(self) -> Arcs:
        """The machine."""


def held(source: Any) -> Any:
    """The machine of a `Holder`; any other source itself."""
    return getattr(source, "fst", source)


def empty(symbols: tuple[str, ...] = (), unit: Unit = "character") -> Arcs:
    """The machine without states, which accepts nothing."""
    return make([], [], [], [], None, [], NOWHERE, symbols, unit)


def _prove(arcs: Arcs) -> None:
    """Prove the rules of `Arcs`, so that operations may index with every stored number."""
    states, count = len(arcs.final), len(arcs.target)
    expected: list[tuple[str, Any, Any, int]] = [
        ("row_start", arcs.row_start, np.int64, states + 1),
        ("ilabel", arcs.ilabel, np.int32, count),
        ("olabel", arcs.olabel, np.int32, count),
        ("target", arcs.target, np.int32, count),
        ("weight", arcs.weight, np.float32, count),
        ("final", arcs.final, np.float32, states),
    ]
    for name, array, dtype, length in expected:
        if array is not None and (array.dtype != dtype or array.shape != (length,)):
            raise VocabularyError(f"{name} is {array.dtype}{list(array.shape)}; expected {np.dtype(dtype)}[{length:,}]")
    if arcs.row_start[0] or arcs.row_start[-1] != count or (np.diff(arcs.row_start) < 0).any():
        raise VocabularyError(f"row_start does not ascend from 0 to {count:,}, the number of arcs")
    if not (arcs.start == NOWHERE if not states else 0 <= arcs.start < states):
        raise VocabularyError(f"the start state is {arcs.start}; expected a state below {states:,}")
    if arcs.unit not in UNITS:
        raise VocabularyError(not_one_of("unit", arcs.unit, UNITS))
    if len(set(arcs.symbols)) < len(arcs.symbols):
        raise VocabularyError("symbols has a string twice; expected distinct strings")
    sources = arcs.sources
    _need_inside("target", arcs.target, sources, states)
    for name, labels in (("input label", arcs.ilabel), ("output label", arcs.olabel)):
        _need_inside(name, labels, sources, FIRST_SYMBOL + len(arcs.symbols))
        _need_inside(name, np.where(labels < FIRST_SYMBOL, labels, 0), sources, END_OF_UNIT[arcs.unit])
    if (np.diff(sources.astype(np.int64) << 32 | arcs.ilabel) < 0).any():
        raise VocabularyError("arcs are not sorted by (state, input label)")
    if arcs.weight is not None and not np.isfinite(arcs.weight).all():
        state = sources[np.argmin(np.isfinite(arcs.weight))]
        raise VocabularyError(f"the weight of an arc of state {state} is out of range; expected a finite weight")
    wrong = np.isnan(arcs.final) | np.isneginf(arcs.final)
    if wrong.any():
        state = int(np.argmax(wrong))
        raise VocabularyError(f"the final weight of state {state} is {arcs.final[state]}; expected a finite weight, or infinity")


def _need_inside(name: str, values: NDArray[Any], sources: NDArray[Any], end: int) -> None:
    outside = (values < 0) | (values >= end)
    if outside.any():
        first = int(np.argmax(outside))
        raise VocabularyError(f"the {name} of an arc of state {sources[first]} is {values[first]}; expected a number below {end:,}")
