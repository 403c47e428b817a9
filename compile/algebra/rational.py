"""Operations that copy arcs: inversion and projection; and the rational operations, which add ε-arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, empty, make
from fst.compile.algebra.symbols import with_shared_symbols
from fst.errors import VocabularyError, not_one_of

Side = Literal["input", "output"]
NOT_FINAL = np.float32(np.inf)


def union(machines: Sequence[Arcs]) -> Arcs:
    """The machine of all paths of one or more machines: a new start state has an ε-arc to the start of each machine."""
    sharing = with_shared_symbols(machines)
    *offsets, _ = np.cumsum([1, *(machine.states for machine in sharing)]).tolist()
    starts = [offset + machine.start for machine, offset in zip(sharing, offsets, strict=True) if machine.states]
    nothing = [0] * len(starts)
    final = np.concatenate([[NOT_FINAL], *(machine.final for machine in sharing)])
    return _combined(sharing, offsets, (nothing, starts, nothing), final, 0)


def concatenate(first: Arcs, second: Arcs) -> Arcs:
    """The machine of all paths of the first machine, each followed by a path of the second."""
    sharing = with_shared_symbols([first, second])
    if not first.states or not second.states:
        return empty(sharing[0].symbols, first.unit)
    ends = _ends(first)
    new = (ends, np.full(len(ends), first.states + second.start), first.final[ends])
    final = np.concatenate([np.full(first.states, NOT_FINAL), second.final])
    return _combined(sharing, [0, first.states], new, final, first.start)


def closure(arcs: Arcs, *, plus: bool = False) -> Arcs:
    """The machine of all sequences of paths; with `plus`, of all that have at least one path.

    A new start state, which is final without `plus`, has an ε-arc to the old one; each final state has an ε-arc back to the old start.
    """
    ends = _ends(arcs)
    starts = [arcs.start] if arcs.states else []
    new = (
        np.concatenate([ends, np.full(len(starts), arcs.states)]),
        np.concatenate([np.full(len(ends), arcs.start), starts]),
        np.concatenate([arcs.final[ends], np.zeros(len(starts))]),
    )
    return _combined([arcs], [0], new, np.append(arcs.final, NOT_FINAL if plus else np.float32(0)), arcs.states)


def reverse(arcs: Arcs) -> Arcs:
    """The machine of all paths read backwards: a new start state has an ε-arc to each final state."""
    ends = _ends(arcs)
    final = np.full(arcs.states + 1, NOT_FINAL)
    if arcs.states:
        final[arcs.start] = 0
    return make(
        np.concatenate([arcs.target, np.full(len(ends), arcs.states)]),
        np.concatenate([arcs.ilabel, np.full(len(ends), EPSILON)]),
        np.concatenate([arcs.olabel, np.full(len(ends), EPSILON)]),
        np.concatenate([arcs.sources, ends]),
        np.concatenate([arcs.weights, arcs.final[ends]]),
        final,
        arcs.states,
        arcs.symbols,
        arcs.unit,
    )


def invert(arcs: Arcs) -> Arcs:
    """The machine that reads what `arcs` writes, and writes what it reads."""
    return make(arcs.sources, arcs.olabel, arcs.ilabel, arcs.target, arcs.weight, arcs.final, arcs.start, arcs.symbols, arcs.unit)


def project(arcs: Arcs, side: Side) -> Arcs:
    """The acceptor of all inputs, or of all outputs."""
    if side == "input":
        return replace(arcs, olabel=arcs.ilabel)
    if side == "output":
        inverted = invert(arcs)
        return replace(inverted, olabel=inverted.ilabel)
    raise VocabularyError(not_one_of("side", side, ("input", "output")))


def without_inputs(arcs: Arcs) -> Arcs:
    """The machine that writes what `arcs` writes, and reads nothing."""
    return replace(arcs, ilabel=np.zeros_like(arcs.ilabel))


def without_outputs(arcs: Arcs) -> Arcs:
    """The machine that reads what `arcs` reads, and writes nothing."""
    return replace(arcs, olabel=np.zeros_like(arcs.olabel))


def without_weights(arcs: Arcs) -> Arcs:
    """The machine with weight 0 everywhere."""
    return replace(arcs, weight=None, final=np.where(np.isfinite(arcs.final), np.float32(0), NOT_FINAL))


def _combined(
    machines: Sequence[Arcs],
    offsets: ArrayLike,
    epsilons: tuple[ArrayLike, ArrayLike, ArrayLike],
    final: ArrayLike,
    start: int,
) -> Arcs:
    """The states of all machines in one machine, and ε-arcs (source, target, weight) between them. The machines, at least one, have the
    same symbols; `offsets` are the new numbers of their first states; `epsilons`, `final` and `start` use new numbers.
    """
    pairs = [*zip(machines, np.asarray(offsets).tolist(), strict=True)]
    sources, targets, weights = map(np.asarray, epsilons)
    labels = np.full(len(sources), EPSILON)
    return make(
        np.concatenate([sources, *(machine.sources + np.int64(offset) for machine, offset in pairs)]),
        np.concatenate([labels, *(machine.ilabel for machine in machines)]),
        np.concatenate([labels, *(machine.olabel for machine in machines)]),
        np.concatenate([targets, *(machine.target + np.int64(offset) for machine, offset in pairs)]),
        np.concatenate([weights, *(machine.weights for machine in machines)]),
        final,
        start,
        machines[0].symbols,
        machines[0].unit,
    )


def _ends(arcs: Arcs) -> NDArray[np.int64]:
    """The final states."""
    return np.flatnonzero(np.isfinite(arcs.final))
