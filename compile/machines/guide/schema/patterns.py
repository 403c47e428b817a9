"""Languages of strings: strings in which a pattern of JSON Schema matches somewhere, strings of certain lengths, and lists of strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, lru_cache, reduce
from typing import NamedTuple

import numpy as np

from fst.compile.machines.guide.builder import Builder
from fst.compile.machines.guide.languages import Language, concatenation, difference, intersection, of_builder, union
from fst.compile.machines.guide.regex import language_of, unanchored, whole
from fst.compile.patterns.code_points import Set, complement
from fst.compile.patterns.code_points import intersection as common
from fst.compile.patterns.ecma import EcmaParser
from fst.compile.patterns.sets import ANY
from fst.compile.patterns.tree import Atomic, Characters, Choice, LookAhead, LookBehind, Node, Repeat, Sequence, walk
from fst.errors import UnsupportedError, quoted

ANYTHING = Repeat(Characters(ANY), 0, None)
MAX_LENGTH = 1 << 17  # code points
MOST_COPIES = 8  # maximum number of copies of a repeated part that contains an assertion


class _Case(NamedTuple):
    """The texts that may follow a position, in the case that the character before the position is in a set or, with `at_start`, that the
    position is the start.
    """

    before: Set
    at_start: bool
    language: Language


@cache
def anything() -> Language:
    """All strings."""
    found = language_of([ANYTHING])
    assert found is not None
    return found


@cache
def nothing() -> Language:
    """No string."""
    return difference(anything(), anything())


@lru_cache(maxsize=1 << 10)
def tree_of(pattern: str) -> Node | None:
    """The tree of the strings in which a pattern matches somewhere; None if it has assertions other than anchors of its alternatives."""
    tree = EcmaParser(pattern).tree()
    whole = Choice(tuple(_anchored(part) for part in (tree.parts if isinstance(tree, Choice) else [tree])))
    return None if _has_assertion(whole) else whole


@lru_cache(maxsize=1 << 10)
def matching(pattern: str) -> Language:
    """The strings in which a pattern matches somewhere. Assertions at one position are intersections with the texts that may follow or
    precede the position.
    """
    tree = tree_of(pattern)
    if tree is not None:
        return _built([tree], pattern)
    cases = _preceded(ANYTHING, _preceded(EcmaParser(pattern).tree(), [_Case(ANY, True, anything())], pattern), pattern)
    return next(case.language for case in cases if case.at_start)


@lru_cache(maxsize=1 << 6)
def of_length(least: int, most: int | None) -> Language:
    """The strings with at least `least` and at most `most` code points."""
    if not least and most is None:
        return anything()
    copies = least if most is None else most
    if copies > MAX_LENGTH:
        raise UnsupportedError(f"a length of {copies:,} has too many states; expected at most {MAX_LENGTH:,}")
    one = whole("(?s:.)")
    (end,) = np.flatnonzero(one.is_final)
    states = len(one.is_final) - 1  # the states of a copy, without its end, which is the start of the next copy
    numbers = np.insert(np.arange(states), end, states)
    row = np.delete(np.where(one.targets < 0, -1, numbers[one.targets]), end, axis=0)
    copied = np.where(row < 0, -1, row + states * np.arange(copies)[:, None, None]).reshape(-1, row.shape[1])
    past = np.full((1, row.shape[1]), -1) if most is not None else copied[-states:][:1]  # any text may follow the last copy
    targets = np.append(copied, past, axis=0).astype(np.int32)
    is_final = np.zeros(len(targets), np.bool_)
    is_final[least * states :: states] = True
    return Language(one.classes, targets, is_final)


def of_strings(strings: Iterable[str]) -> Language:
    """The strings of a list, as a language."""
    builder = Builder()
    start, end = builder.state(), builder.state()
    for text in strings:
        if text:
            builder.text(start, text.encode(), end)
        else:
            builder.skip(start, end)
    return of_builder(builder, start, end)


def _built(parts: list[Node], pattern: str) -> Language:
    found = language_of(parts)
    if found is None:
        raise UnsupportedError(f"{quoted(pattern)} has too many states; shorten it")
    return found


def _has_assertion(node: Node) -> bool:
    return any(isinstance(part, LookAhead | LookBehind | Atomic) for part in walk(node))


def _anchored(node: Node) -> Node:
    """An alternative as a part that matches a whole string: without ``^``, it begins with any text; without ``$``, it ends with any
    text.
    """
    from_start, inner, to_end = unanchored(node)
    return Sequence((*([] if from_start else [ANYTHING]), inner, *([] if to_end else [ANYTHING])))


def _preceded(node: Node, cases: list[_Case], pattern: str) -> list[_Case]:
    """The cases before a node, given the cases after it."""
    if not _has_assertion(node):
        return _read(_built([node], pattern), cases, pattern)
    if isinstance(node, Sequence):
        return reduce(lambda found, part: _preceded(part, found, pattern), reversed(_runs(node)), cases)
    if isinstance(node, Choice):
        return reduce(lambda first, second: _combined(first, second, union), (_preceded(part, cases, pattern) for part in node.parts))
    if isinstance(node, LookBehind):
        inside = complement(node.edges) if node.negative else node.edges
        outside = _Case(complement(inside), not node.negative, nothing())
        kept = [_Case(common(case.before, inside), case.at_start and node.negative, case.language) for case in cases]
        return [*kept, outside]
    if isinstance(node, LookAhead):
        ahead = _preceded(node.body, [_Case(ANY, True, anything())], pattern)
        return _combined(cases, ahead, difference if node.negative else intersection)
    if isinstance(node, Repeat) and (node.most or MOST_COPIES + 1) <= MOST_COPIES:
        optional = Choice((Sequence(()), node.body))
        copies = Sequence((*[node.body] * node.least, *[optional] * ((node.most or 0) - node.least)))
        return _preceded(copies, cases, pattern)
    raise UnsupportedError(f"the pattern {quoted(pattern)} has an assertion in a repeat, or an atomic group, which is not supported")


def _runs(node: Sequence) -> list[Node]:
    """The parts of a sequence; adjacent parts without assertions are joined."""
    found: list[Node] = []
    for part in node.parts:
        if found and not _has_assertion(part) and not _has_assertion(found[-1]):
            found[-1] = Sequence((found[-1], part))
        else:
            found.append(part)
    return found


def _read(run: Language, cases: list[_Case], pattern: str) -> list[_Case]:
    """The cases before a run, given the cases after it, which may depend on the run's last character."""
    if len(cases) == 1:
        return [_Case(ANY, True, concatenation(run, cases[0].language))]
    ended = [intersection(run, _built([ANYTHING, Characters(case.before)], pattern)) for case in cases]
    after = reduce(union, (concatenation(each, case.language) for each, case in zip(ended, cases, strict=True)))
    if b"" not in run:
        return [_Case(ANY, True, after)]
    return [case._replace(language=union(after, case.language)) for case in cases]


def _combined(first: list[_Case], second: list[_Case], operation: Callable[[Language, Language], Language]) -> list[_Case]:
    """A case for each pair of cases that can hold at the same time."""
    pairs = [(common(one.before, two.before), one.at_start and two.at_start, one, two) for one in first for two in second]
    return [
        _Case(before, at_start, operation(one.language, two.language)) for before, at_start, one, two in pairs if len(before) or at_start
    ]
