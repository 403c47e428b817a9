"""Rewrite rules with contexts, as machines: τ / λ _ ρ over an alphabet Σ.

Obligatory, left to right (Mohri and Sproat 1996, *An efficient compiler for weighted rewrite rules*), for φ, the inputs of τ:

1. `_mirrored_filter` inserts ``>`` before each ρ.
2. `_before` inserts ``<1`` or ``<2`` before each φ that ``>`` follows: this φ will be rewritten, or not.
3. `_replacement` replaces φ after each ``<1``, and deletes ``>``.
4. `_left` accepts ``<1`` only after λ, and ``<2`` only where λ is not, and deletes both.

An empty context needs no filter and no markers, unless φ may be empty. Right to left is the mirror image. A simultaneous rule looks for λ
before the replacement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.compose import compose, need_acceptor, subtract
from fst.compile.algebra.expressions import Expression, Machine, chain, closure, concatenate, union
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.algebra.forms.minimize import minimize, minimize_any
from fst.compile.algebra.rational import NOT_FINAL, project, reverse, without_outputs, without_weights
from fst.errors import UnsupportedError

Direction = Literal["ltr", "rtl", "sim"]
DIRECTIONS: tuple[Direction, ...] = ("ltr", "rtl", "sim")
RIGHT, LEFT, OTHER_LEFT = 0x10FFFD, 0x10FFFE, 0x10FFFF  # the markers >, <1 and <2: noncharacters, so they are in no text
Markers = tuple[tuple[int, int], ...]  # labels read and written


@dataclass(frozen=True)
class ContextRule:
    """A rule τ / λ _ ρ over Σ*.

    Attributes:
        tau: the transducer, which may have weights.
        left, right: acceptors of λ and ρ, without weights.
        sigma_star: the acceptor of all texts, without weights: the closure of a set of characters, or of strings that represent characters.
            No string begins or ends with another one.
        begin, end: the labels of the ends of the text in λ and ρ.
    """

    tau: Arcs
    left: Arcs
    right: Arcs
    sigma_star: Arcs
    begin: int
    end: int

    def mirrored(self) -> ContextRule:
        """The rule for texts that are read backwards."""
        tau, left, right, sigma_star = map(reverse, (self.tau, self.right, self.left, self.sigma_star))
        return ContextRule(tau, left, right, sigma_star, self.end, self.begin)


def context_rule(rule: ContextRule, direction: Direction = "ltr", *, is_optional: bool = False) -> Arcs:
    """The machine of a rule: texts of Σ* → texts in which each φ between λ and ρ is replaced.

    Args:
        direction: "ltr": λ is part of the output, ρ of the input; "rtl": λ of the input, ρ of the output; "sim": both of the input.
        is_optional: a φ may also be copied.

    Raises:
        UnsupportedError: λ, ρ or Σ* is not an acceptor or has weights.
    """
    for part in (rule.left, rule.right, rule.sigma_star):
        need_acceptor(part)
        if part.is_weighted:
            raise UnsupportedError("a context or an alphabet has weights; expected an acceptor without weights")
    if direction == "rtl":
        return minimize_any(reverse(context_rule(rule.mirrored(), is_optional=is_optional)))
    left, right, sigma_star = (minimize(part) for part in (rule.left, rule.right, rule.sigma_star))
    phi = minimize(without_weights(project(rule.tau, "input")))
    rule = ContextRule(minimize_any(rule.tau), left, right, sigma_star, rule.begin, rule.end)
    if is_empty_string(left) and is_empty_string(right):
        letters = letters_of(sigma_star)
        if letters is not None and not subtract(phi, letters).states:
            copied = letters if is_optional else subtract(letters, phi)
            return minimize_any(closure(union([Machine(copied), Machine(rule.tau)])).arcs)
    begin, end = (
        label if (np.concatenate([context.ilabel, phi.ilabel]) == label).any() else EPSILON
        for label, context in ((rule.begin, left), (rule.end, right))
    )
    inner = _with_loops(sigma_star, tuple((label, label) for label in (begin, end) if label))
    rewritten = _Compiler(rule, phi, inner, is_simultaneous=direction == "sim", is_optional=is_optional).machine()
    if begin or end:
        rewritten = compose(compose(_edges(sigma_star, begin, end), rewritten), _without_edges(sigma_star, begin, end))
    return minimize_any(rewritten)


def is_empty_string(arcs: Arcs) -> bool:
    """Whether a minimal acceptor accepts the empty string only."""
    return arcs.states == 1 and not arcs.arcs


def letters_of(sigma_star: Arcs) -> Arcs | None:
    """The strings whose closure is Σ*, a minimal machine; None if one of them is the beginning of another one."""
    if sigma_star.states == 0 or np.flatnonzero(np.isfinite(sigma_star.final)).tolist() != [sigma_star.start]:
        return None
    end = sigma_star.states
    target = np.where(sigma_star.target == sigma_star.start, end, sigma_star.target)
    final = np.full(end + 1, NOT_FINAL)
    final[end] = 0
    return make(sigma_star.sources, sigma_star.ilabel, sigma_star.olabel, target, None, final, sigma_star.start)


class _Compiler:
    """Compiles a rule from left to right, or a simultaneous one."""

    def __init__(self, rule: ContextRule, phi: Arcs, sigma_star: Arcs, *, is_simultaneous: bool, is_optional: bool) -> None:
        self._rule, self._phi, self._sigma_star = rule, phi, sigma_star
        self._is_simultaneous, self._is_optional = is_simultaneous, is_optional
        inserts = bool(phi.states) and np.isfinite(phi.final[phi.start])  # then > separates the markers before and after the insertion
        self._has_left, self._has_right = (inserts or not is_empty_string(context) for context in (rule.left, rule.right))

    def machine(self) -> Arcs:
        """The composition of all filters and the replacement."""
        before = [_mirrored_filter(self._rule.right, self._sigma_star, ((EPSILON, RIGHT),))] if self._has_right else []
        before += [] if self._is_optional else [self._before()]
        left = self._left() if self._has_left else []
        chosen = [*before, *left, self._replacement()] if self._is_simultaneous else [*before, self._replacement(), *left]
        return reduce(compose, chosen)

    @property
    def _right_markers(self) -> tuple[int, ...]:
        return (RIGHT,) if self._has_right else ()

    @property
    def _left_markers(self) -> tuple[int, ...]:
        """The markers before φ: none if φ may be rewritten anywhere, <2 only if λ may be missing."""
        if self._is_optional:
            return (LEFT,) if self._has_left else ()
        return (LEFT, OTHER_LEFT) if self._has_left else (LEFT,)

    def _before(self) -> Arcs:
        """Inserts <1 or <2 before each φ that > follows."""
        ignored = tuple((marker, marker) for marker in self._right_markers)
        phi = concatenate([Machine(_with_self_loops(self._phi, ignored)), chain(ignored)]).arcs
        return _mirrored_filter(phi, _with_loops(self._sigma_star, ignored), tuple((EPSILON, marker) for marker in self._left_markers))

    def _left(self) -> list[Arcs]:
        """The filters of λ."""
        loops = [(marker, marker) for marker in self._right_markers] if self._is_simultaneous else []
        if self._is_optional:
            inserted = (EPSILON, LEFT) if self._is_simultaneous else (LEFT, EPSILON)
            return [self._left_filter(inserted, loops)]
        deleted = [(marker, marker if self._is_simultaneous else EPSILON) for marker in (LEFT, OTHER_LEFT)]
        later = [(LEFT, LEFT)] if self._is_simultaneous else []
        first = self._left_filter(deleted[0], [*loops, (OTHER_LEFT, OTHER_LEFT)])
        return [first, self._left_filter(deleted[1], [*loops, *later], is_complement=True)]

    def _left_filter(self, marker: tuple[int, int], ignored: list[tuple[int, int]], *, is_complement: bool = False) -> Arcs:
        """Accepts a marker only after λ, or only where λ is not."""
        ends = _ends_with(self._rule.left, self._sigma_star)
        if not ends.states:  # λ is nowhere
            return _with_loops(self._sigma_star, (*ignored, *([marker] if is_complement else [])))
        states = np.flatnonzero(np.isfinite(ends.final) != is_complement)
        return _with_self_loops(_with_self_loops(_all_final(ends), (marker,), states), tuple(ignored))

    def _replacement(self) -> Arcs:
        """Replaces φ between <1 and >, and copies the rest."""
        written = self._has_left and not self._is_simultaneous  # whether the markers before φ are read later
        inside = tuple((marker, EPSILON) for marker in (*(() if self._is_optional else self._left_markers), *self._right_markers))
        first = (EPSILON if self._is_optional and not self._is_simultaneous else LEFT, LEFT if written else EPSILON)
        opened = [first] if LEFT in self._left_markers else []
        # Where > is missing, a marker after φ belongs to the next φ: there are no loops after the last label that is read.
        tau = self._rule.tau if self._has_right else _with_last_read(self._rule.tau)
        looping = np.arange(self._rule.tau.states)
        parts: list[Expression] = [
            chain(opened),
            Machine(_with_self_loops(tau, inside, looping)),
            chain((marker, EPSILON) for marker in self._right_markers),
        ]
        outside = tuple((marker, EPSILON) for marker in self._right_markers)
        if OTHER_LEFT in self._left_markers:
            outside = (*outside, (OTHER_LEFT, OTHER_LEFT if written else EPSILON))
        copied = Machine(_with_loops(self._sigma_star, outside))
        return minimize_any(closure(concatenate([copied, union([chain(()), concatenate(parts)])])).arcs)


def _ends_with(beta: Arcs, sigma_star: Arcs) -> Arcs:
    """The minimal deterministic machine of Σ*β."""
    return minimize(concatenate([Machine(sigma_star), Machine(beta)]).arcs)


def _mirrored_filter(beta: Arcs, sigma_star: Arcs, markers: Markers) -> Arcs:
    """Inserts one of the markers before each β."""
    mirrored = remove_epsilon(reverse(sigma_star))
    ends = _ends_with(reverse(beta), mirrored)
    if not ends.states:
        return sigma_star
    matched = np.flatnonzero(np.isfinite(ends.final))
    split = np.full(ends.states, -1)
    split[matched] = ends.states + np.arange(len(matched))
    sources = ends.sources
    count = len(markers)
    labels = np.array(markers, np.int64).reshape(-1, 2)
    final = np.zeros(ends.states + len(matched))
    final[matched] = NOT_FINAL
    marked = make(
        np.concatenate([np.where(split[sources] < 0, sources, split[sources]), np.repeat(matched, count)]),
        np.concatenate([ends.ilabel, np.tile(labels[:, 0], len(matched))]),
        np.concatenate([ends.olabel, np.tile(labels[:, 1], len(matched))]),
        np.concatenate([ends.target, np.repeat(split[matched], count)]),
        None,
        final,
        ends.start,
    )
    return reverse(marked)


def _all_final(arcs: Arcs) -> Arcs:
    """The machine in which every state is final."""
    return replace(arcs, final=np.zeros(arcs.states, np.float32))


def _with_last_read(arcs: Arcs) -> Arcs:
    """The machine with a copy of each state, numbered after all others, for the rest of a path that reads nothing more. Only copies are
    final.
    """
    count, sources = arcs.states, arcs.sources
    starts = np.array([arcs.start] if count else [], np.int64)
    nothing = np.full(len(starts), EPSILON)
    return make(
        np.concatenate([sources, np.where(arcs.ilabel == EPSILON, sources + count, sources), starts]),
        np.concatenate([arcs.ilabel, arcs.ilabel, nothing]),
        np.concatenate([arcs.olabel, arcs.olabel, nothing]),
        np.concatenate([arcs.target, arcs.target + count, starts + count]),
        np.concatenate([arcs.weights, arcs.weights, nothing.astype(np.float32)]),
        np.concatenate([np.full(count, NOT_FINAL), arcs.final]),
        arcs.start,
    )


def _with_self_loops(arcs: Arcs, markers: Markers, states: NDArray[np.int64] | None = None) -> Arcs:
    """The machine with arcs from each state, or each of some states, to itself."""
    chosen = np.arange(arcs.states) if states is None else states
    return _with_arcs(arcs, chosen, chosen, markers)


def _with_loops(sigma_star: Arcs, markers: Markers) -> Arcs:
    """(Σ ∪ markers)*: arcs from each final state to the start."""
    ends = np.flatnonzero(np.isfinite(sigma_star.final))
    return _with_arcs(sigma_star, ends, np.full(len(ends), sigma_star.start), markers)


def _with_arcs(arcs: Arcs, sources: NDArray[np.int64], targets: NDArray[np.int64], markers: Markers) -> Arcs:
    labels = np.array(markers, np.int64).reshape(-1, 2)
    return make(
        np.concatenate([arcs.sources, np.tile(sources, len(markers))]),
        np.concatenate([arcs.ilabel, np.repeat(labels[:, 0], len(sources))]),
        np.concatenate([arcs.olabel, np.repeat(labels[:, 1], len(sources))]),
        np.concatenate([arcs.target, np.tile(targets, len(markers))]),
        np.concatenate([arcs.weights, np.zeros(len(markers) * len(sources), np.float32)]),
        arcs.final,
        arcs.start,
    )


def _edges(sigma_star: Arcs, begin: int, end: int) -> Arcs:
    """Inserts the labels of the ends of a text."""
    first, last = (chain([(EPSILON, label)] if label else []) for label in (begin, end))
    return concatenate([first, Machine(sigma_star), last]).arcs


def _without_edges(sigma_star: Arcs, begin: int, end: int) -> Arcs:
    """Deletes the labels of the ends of a text, and what was inserted before and after them."""
    deleted = Machine(without_outputs(sigma_star))
    first = [deleted, chain([(begin, EPSILON)])] if begin else []
    last = [chain([(end, EPSILON)]), deleted] if end else []
    return concatenate([*first, Machine(sigma_star), *last]).arcs
