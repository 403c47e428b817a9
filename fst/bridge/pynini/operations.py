"""Operations of pynini that return a new machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fst.bridge.pynini.best_path import best_path
from fst.bridge.pynini.errors import FstArgError, FstOpError, as_operation
from fst.bridge.pynini.labels import BEGIN, END, TokenType, labels_of
from fst.bridge.pynini.machine import Fst, FstLike, need_queue
from fst.bridge.pynini.weights import OF_ARCS, Weight, WeightLike, weight_of
from fst.compile.algebra import choices, decisions, rational, sets, shortest
from fst.compile.algebra import compose as products
from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.build.context_rule import DIRECTIONS, ContextRule, Direction, context_rule
from fst.compile.algebra.expressions import Chain, Expression, Machine, chain, concatenate
from fst.compile.algebra.expressions import union as union_of
from fst.compile.algebra.forms.determinize import determinize as determinized
from fst.compile.algebra.forms.subsequential import determinize_input
from fst.errors import not_one_of

MODES = ("obl", "opt")
SELECTIONS = ("uniform", "log_prob", "fast_log_prob")
FILTERS = ("alt_sequence", "auto", "match", "no_match", "null", "sequence", "trivial")


def two(first: FstLike, second: FstLike) -> tuple[Fst, Fst]:
    """Two machines of one type; strings become acceptors of the other machine's type."""
    if isinstance(first, Fst):
        return first, first.compiled(second)
    if isinstance(second, Fst):
        return second.compiled(first), second
    return accep(first), accep(second)


def one(machine: FstLike) -> Fst:
    """A machine, or the acceptor of a string."""
    return machine if isinstance(machine, Fst) else accep(machine)


def accep(
    astring: str | bytes, weight: WeightLike | None = None, arc_type: str = "standard", token_type: TokenType | None = None
) -> Fst:
    """The acceptor of a string.

    Args:
        astring: the string; text in brackets is a generated symbol or a number.
        weight: the weight of the string; None: 0.
        arc_type: "standard", "log" or "log64".
        token_type: "byte", "utf8" or a `SymbolTable`; None: the default, "byte".

    Raises:
        FstArgError: a type is unknown.
        FstBadWeightError: the weight cannot be read.
        FstOpError: the weight belongs to another semiring.
        FstStringCompilationError: a bracket is unmatched, or a symbol is missing.

    Examples:
        >>> accep("cat").string()
        'cat'
    """
    if arc_type not in OF_ARCS:
        raise FstArgError(not_one_of("arc type", arc_type, OF_ARCS))
    labels = labels_of(astring, token_type)
    return Fst.of(chain(((label, label) for label in labels), weight_of(weight, arc_type)), arc_type)


def cross(fst1: FstLike, fst2: FstLike) -> Fst:
    """The transducer from every string of an acceptor to every string of another one.

    Raises:
        FstOpError: the arcs have different types.

    Examples:
        >>> list(cross("cat", "dog").paths().items())
        [('cat', 'dog', <tropical Weight 0>)]
    """
    first, second = two(fst1, fst2)
    upper, lower = first.expression, second.expression
    if isinstance(upper, Chain) and isinstance(lower, Chain):
        reads, writes = [read for read, _ in upper.pairs if read], [write for _, write in lower.pairs if write]
        length = max(len(reads), len(writes))
        pairs = zip(reads + [0] * (length - len(reads)), writes + [0] * (length - len(writes)), strict=True)
        return Fst.of(chain(pairs, upper.weight + lower.weight), first.arc_type())
    return Fst.of(concatenate([_deleted(upper), _inserted(lower)]), first.arc_type())


def _deleted(part: Expression) -> Expression:
    """The machine that reads what the part reads, and writes nothing."""
    if isinstance(part, Chain):
        return chain(((read, 0) for read, _ in part.pairs if read), part.weight)
    return Machine(rational.without_outputs(part.arcs))


def _inserted(part: Expression) -> Expression:
    """The machine that writes what the part writes, and reads nothing."""
    if isinstance(part, Chain):
        return chain(((0, write) for _, write in part.pairs if write), part.weight)
    return Machine(rational.without_inputs(part.arcs))


def union(*fsts: FstLike) -> Fst:
    """The machine of all paths of one or more machines.

    Raises:
        ValueError: there is no machine.
    """
    if not fsts:
        raise ValueError("union() has no machine; expected at least one")
    typed = next((machine for machine in fsts if isinstance(machine, Fst)), Fst())
    return Fst.of(union_of(typed.compiled(machine).expression for machine in fsts), typed.arc_type())


def concat(fst1: FstLike, fst2: FstLike) -> Fst:
    """The machine of the paths of a machine, each followed by a path of the other."""
    first, second = two(fst1, fst2)
    return first.copy().concat(second)


def closure(fst: FstLike, lower: int = 0, upper: int = 0) -> Fst:
    """The machine of `lower` to `upper` repetitions; see `Fst.closure`."""
    return one(fst).copy().closure(lower, upper)


def compose(fst1: FstLike, fst2: FstLike, compose_filter: str = "auto", connect: bool = True) -> Fst:
    """The composition: the second machine reads what the first one writes. The result is always trimmed.

    Raises:
        FstArgError: the filter is unknown.
        FstOpError: the arcs have different types, or the result is too large.
    """
    return _combined(products.compose, fst1, fst2, compose_filter)


def intersect(fst1: FstLike, fst2: FstLike, compose_filter: str = "auto", connect: bool = True) -> Fst:
    """The acceptor of the strings of both acceptors.

    Raises:
        FstArgError: the filter is unknown.
        FstOpError: a machine is not an acceptor.
    """
    return _combined(products.intersect, fst1, fst2, compose_filter)


def difference(fst1: FstLike, fst2: FstLike, compose_filter: str = "auto", connect: bool = True) -> Fst:
    """The acceptor of the strings of an acceptor that the second one does not accept.

    Raises:
        FstArgError: the filter is unknown.
        FstOpError: a machine is not an acceptor, or the second one has weights.
    """
    first, second = two(fst1, fst2)
    if second.table.is_weighted:
        raise FstOpError("the second machine has weights; expected an acceptor without weights")
    return _combined(sets.difference, first, second, compose_filter)


def _combined(operation: Callable[[Arcs, Arcs], Arcs], fst1: FstLike, fst2: FstLike, compose_filter: str) -> Fst:
    """The machine of an operation on two machines. The filter has no effect on the paths."""
    if compose_filter not in FILTERS:
        raise FstArgError(not_one_of("compose filter", compose_filter, FILTERS))
    first, second = two(fst1, fst2)
    with as_operation():
        return Fst.of(operation(first.table, second.table), first.arc_type())


def cdrewrite(tau: FstLike, l: FstLike, r: FstLike, sigma_star: FstLike, direction: Direction = "ltr", mode: str = "obl") -> Fst:  # noqa: E741 - as in pynini
    """The transducer of a rewrite rule with contexts.

    Args:
        tau: the transducer that rewrites.
        l, r: acceptors of the left and the right context; "[BOS]" and "[EOS]" are the ends of the text.
        sigma_star: the acceptor of all texts.
        direction: "ltr": the left context is looked for in the output; "rtl": the right one; "sim": both in the input.
        mode: "obl": every match is rewritten; "opt": a match may be copied.

    Raises:
        FstArgError: the direction or the mode is unknown.
        FstOpError: a context is not an acceptor, or has weights.

    Examples:
        >>> letters = union("a", "b", "c").closure()
        >>> ("aba" @ cdrewrite(cross("a", "c"), "b", "", letters)).string()
        'abc'
    """
    if direction not in DIRECTIONS:
        raise FstArgError(not_one_of("direction", direction, DIRECTIONS))
    if mode not in MODES:
        raise FstArgError(not_one_of("mode", mode, MODES))
    sigma = one(sigma_star)
    rewritten, left, right = (sigma.compiled(part).table for part in (tau, l, r))
    with as_operation():
        rule = ContextRule(rewritten, left, right, sigma.table, BEGIN, END)
        return Fst.of(context_rule(rule, direction, is_optional=mode == "opt"), sigma.arc_type())


def leniently_compose(
    fst1: FstLike, fst2: FstLike, sigma: FstLike, compose_filter: str = "auto", connect: bool = True
) -> Fst:
    """The composition, for inputs that it has; the first machine, for all others.

    Raises:
        FstOpError: `sigma` is not an acceptor.
    """
    first, second = two(fst1, fst2)
    composed = compose(first, second, compose_filter)
    rest = difference(sigma, Fst.of(rational.without_weights(composed.table)).project("input"))
    return union(composed, compose(rest, first)).connect()


def determinize(
    ifst: FstLike, delta: float = 0, det_type: str = "functional", nstate: int = -1, weight: WeightLike | None = None, **_: Any
) -> Fst:
    """The deterministic machine; without paths heavier than the best one by more than `weight`.

    Raises:
        FstOpError: the machine is too large, has no deterministic form, or `weight` belongs to another semiring.
    """
    machine = one(ifst)
    with as_operation():
        arcs = machine._summed()
        found = Fst.of(determinized(arcs) if arcs.is_acceptor else determinize_input(arcs), machine.arc_type())
    return found if weight is None else found.prune(weight=weight)


def prune(ifst: FstLike, delta: float = 0, nstate: int = -1, weight: WeightLike | None = None) -> Fst:
    """The machine without the paths that are heavier than the best one by more than `weight`."""
    return one(ifst).copy().prune(delta, nstate, weight)


def shortestpath(
    ifst: FstLike,
    delta: float = 0,
    nshortest: int = 1,
    nstate: int = -1,
    queue_type: str = "auto",
    unique: bool = False,
    weight: WeightLike | None = None,
) -> Fst:
    """The machine of the best paths. Paths with the same input and output count once, as with `unique` for acceptors.

    Raises:
        FstArgError: the type of the queue is unknown.
        FstOpError: a cycle has a negative weight, or the search takes too long.
    """
    need_queue(queue_type)
    machine = one(ifst)
    with as_operation():
        arcs = machine._summed()
        found = Fst.of(best_path(arcs) if nshortest == 1 else shortest.shortest_path(arcs, nshortest), machine.arc_type()).connect()
    return found if weight is None else found.prune(weight=weight)


def shortestdistance(ifst: FstLike, delta: float = 0, nstate: int = -1, queue_type: str = "auto", reverse: bool = False) -> list[Weight]:
    """The weight of the best path from the start to each state, or from each state to the end.

    Raises:
        FstArgError: the type of the queue is unknown.
        FstOpError: a cycle has a negative weight.
    """
    need_queue(queue_type)
    machine = one(ifst)
    semiring: shortest.Semiring = "tropical" if machine.arc_type() == "standard" else "log"
    with as_operation():
        distances = shortest.shortest_distance(machine.table, reverse=reverse, semiring=semiring)
    return [Weight(machine.weight_type(), distance) for distance in distances.tolist()]


def randgen(
    ifst: FstLike,
    npath: int = 1,
    seed: int = 0,
    select: str = "uniform",
    max_length: int = 2147483647,
    weighted: bool = False,
    remove_total_weight: bool = False,
) -> Fst:
    """The machine of random paths, drawn arc by arc; equal paths become one. The same `seed` gives the same paths.

    Args:
        npath: the number of paths.
        seed: the seed of the random numbers.
        select: "uniform": all arcs of a state are equally likely; "log_prob" or "fast_log_prob": weights are negative logarithms of
            probabilities.
        max_length: longer paths are left out.
        weighted, remove_total_weight: without effect: paths keep their weights.

    Raises:
        FstArgError: `select` is unknown.
        FstOpError: a number is negative.
    """
    if select not in SELECTIONS:
        raise FstArgError(not_one_of("selection", select, SELECTIONS))
    machine = one(ifst)
    with as_operation():
        arcs = choices.randgen(machine.table, npath, seed, max_length, by_weight=select != "uniform")
    return Fst.of(arcs, machine.arc_type()).connect()


def reverse(ifst: FstLike, require_superinitial: bool = True) -> Fst:
    """The machine of all paths read backwards."""
    machine = one(ifst)
    return Fst.of(rational.reverse(machine.table), machine.arc_type())


def push(ifst: FstLike, delta: float = 0, push_weights: bool = False, push_labels: bool = False, **options: Any) -> Fst:
    """The machine with weights moved to the beginning; labels are not moved."""
    return one(ifst).copy().push() if push_weights else one(ifst).copy()


def arcmap(ifst: FstLike, delta: float = 0, map_type: str = "identity", power: float = 1.0, weight: WeightLike | None = None) -> Fst:
    """The machine with other weights or labels on all arcs.

    Args:
        map_type: "identity"; "input_epsilon" or "output_epsilon": read or write nothing; "invert", "plus", "power" or "times": change
            weights; "rmweight": remove weights.

    Raises:
        FstArgError: the type is unknown.
    """
    machine = one(ifst)
    arcs, number = machine.table, weight_of(weight, machine.arc_type())
    nothing = np.zeros_like(arcs.ilabel)
    reads, writes = nothing if map_type == "input_epsilon" else arcs.ilabel, nothing if map_type == "output_epsilon" else arcs.olabel
    changes = {
        **dict.fromkeys(("identity", "input_epsilon", "output_epsilon"), lambda weights: weights),
        "invert": lambda weights: -weights,
        "plus": lambda weights: np.minimum(weights, number),
        "power": lambda weights: weights * power,
        "times": lambda weights: weights + number,
        "rmweight": lambda weights: weights * 0,
    }
    if map_type not in changes:
        raise FstArgError(not_one_of("map type", map_type, changes))
    is_final = np.isfinite(arcs.final)
    final = arcs.final.copy()
    final[is_final] = changes[map_type](final[is_final])
    return Fst.of(make(arcs.sources, reads, writes, arcs.target, changes[map_type](arcs.weights), final, arcs.start), machine.arc_type())


def equal(fst1: FstLike, fst2: FstLike, delta: float = 0) -> bool:
    """Whether two machines have the same arcs, up to the numbers of states."""
    first, second = two(fst1, fst2)
    return all(np.array_equal(one, other) for one, other in zip(_canonical(first.table), _canonical(second.table), strict=True))


isomorphic = equal


def equivalent(fst1: FstLike, fst2: FstLike, delta: float = 0) -> bool:
    """Whether two machines have the same paths.

    Raises:
        FstOpError: it cannot be decided.
    """
    first, second = two(fst1, fst2)
    with as_operation():
        return decisions.is_equivalent(first.table, second.table)


def _canonical(arcs: Arcs) -> tuple[np.ndarray[Any, Any], ...]:
    """The arcs and final weights with states numbered breadth first, in the order of arcs; unreachable states are left out."""
    numbers = {arcs.start: 0} if arcs.states else {}
    queue = [*numbers]
    for state in queue:
        for *_, target, _ in sorted(arcs.arcs_of(state), key=lambda arc: (arc[:2], arc[3])):
            if target not in numbers:
                numbers[target] = len(numbers)
                queue.append(target)
    columns = [
        (numbers[state], read, write, numbers[target], weight) for state in queue for read, write, target, weight in arcs.arcs_of(state)
    ]
    return np.array(sorted(columns)), arcs.final[queue]
