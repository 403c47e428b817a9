r"""Compile look-aheads over runs of characters, such as ``(?=(\d{3})+(?!\d))``, which holds before 3, 6, 9, … digits and something else.

Such a look-ahead depends on any number of characters, but it only counts the characters of one set, the *members*. Its parts are::

    \d{p} (\d{k})* T    p members; k members as often as possible; then `T`, which depends on the last member and one character after it

`T` must fail before a member, so the count ends at the end of the run. Therefore, the look-ahead holds before a run of r members with r ≡ p
modulo k if `T` holds after the run. The compiler divides the class of each member by r modulo k and by the kind of the character after the
run (`fst.text.counted_runs`), and replaces the look-ahead by a test of the next character's class.

Not every sequence of these classes occurs in a text: r decreases by one from member to member. Automata are restricted to the sequences
that occur, because the later steps of compiling consider all sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.code_points import Set
from fst.compile.patterns.tree import Atomic, Characters, Choice, LookAhead, Node, Repeat, Sequence, walk
from fst.compile.pretokens.automata import Automaton
from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.text.counted_runs import MAX_CODES, MAX_MARKS, CountedRuns
from fst.text.splitter import DEAD, START, Splitter

SEVERAL = "the pattern has several look-aheads that count different characters, or by different numbers"
CUT = "splits in sequence, the second of which counts characters in runs that the first one cuts"
NO_MEMBER = -1
Holds = Callable[[Node, int, int], bool | None]  # see `Counting.of`


@dataclass(frozen=True)
class CountedLookAhead:
    """A look-ahead that counts.

    Attributes:
        node: the look-ahead.
        members: the counted set.
        period, rest: k and p of the module docstring; p is less than k.
        may_be_over: whether the look-ahead also holds if `tail` holds at the position, with no member in between.
        tail: T of the module docstring.
    """

    node: LookAhead
    members: Set
    period: int
    rest: int
    may_be_over: bool
    tail: Node


def counted_look_ahead(node: Node) -> CountedLookAhead | None:
    """Read a look-ahead as one that counts; None if it has another form."""
    if not isinstance(node, LookAhead) or not isinstance(node.body, Sequence):
        return None
    parts, before = node.body.parts, 0
    sets = list[Set]()
    for place, part in enumerate(parts[:-1]):
        inner = part.body if isinstance(part, Atomic) else part
        if isinstance(inner, Repeat) and inner.most is None:
            period = _length(inner.body, sets)
            before += inner.least * period
            if not period or before > period or any(not np.array_equal(each, sets[0]) for each in sets):
                return None
            tail = Sequence(parts[place + 1 :])
            return CountedLookAhead(node, sets[0], period, before % period, before == 0, tail)
        before += _length(part, sets)
        if not before:
            return None
    return None


def _length(node: Node, sets: list[Set]) -> int:
    """The number of characters of a part with a fixed length, whose sets are appended to `sets`; 0 if the part has another form."""
    if isinstance(node, Characters):
        sets.append(node.edges)
        return 1
    if isinstance(node, Sequence):
        lengths = [_length(part, sets) for part in node.parts]
        return sum(lengths) if all(lengths) else 0
    return node.least * _length(node.body, sets) if isinstance(node, Repeat) and node.least == node.most else 0


@dataclass(frozen=True, eq=False)
class Counting:
    """The division of classes for the counted look-aheads of a pattern.

    Attributes:
        first: int64[classes + 1], the first new class of each class; the number of new classes is last.
        members: the classes of members, ascending.
        kinds: int64[classes + 1], the kind of each class and of the end of a text; 0 for members.
        period: the period of all look-aheads.
        passes: for each look-ahead and kind, whether its tail holds after a run.
        found: the look-aheads.
    """

    first: NDArray[np.int64]
    members: list[int]
    kinds: NDArray[np.int64]
    period: int
    passes: list[list[bool]]
    found: list[CountedLookAhead]

    @classmethod
    def of(cls, tree: Node, members: Callable[[Set], frozenset[int]], holds: Holds, classes: int) -> Counting | None:
        """The division for a pattern; None if no look-ahead counts.

        Args:
            tree: the pattern.
            members: a function that returns the classes of a set.
            holds: a function that returns whether a tail holds between two classes, None if this depends on more text.
            classes: the number of classes.
        """
        found = [look for look in map(counted_look_ahead, walk(tree)) if look]
        found = [look for look in found if _is_decided(look, sorted(members(look.members)), holds, classes)]
        if not found:
            return None
        inside = sorted(members(found[0].members))
        period = found[0].period
        if any(look.period != period or sorted(members(look.members)) != inside for look in found):
            raise UnsupportedError(SEVERAL)
        after = [number for number in range(classes + 1) if number not in inside]
        passed = {number: tuple(bool(holds(look.tail, inside[0], number)) for look in found) for number in after}
        numbers = {answers: kind for kind, answers in enumerate(dict.fromkeys(passed.values()))}
        if len(inside) * len(numbers) * period > MAX_CODES or len(inside) + len(numbers) > MAX_MARKS:
            raise UnsupportedError(f"the pattern counts characters by more than {MAX_CODES} different ends, or too many kinds of ends")
        kinds = np.array([numbers[passed[number]] if number in passed else 0 for number in range(classes + 1)])
        sizes = np.array([len(numbers) * period if number in inside else 1 for number in range(classes)])
        passes = [[answers[place] for answers in numbers] for place in range(len(found))]
        return cls(np.append(0, np.cumsum(sizes)), inside, kinds, period, passes, found)

    @property
    def size(self) -> int:
        """The number of new classes."""
        return int(self.first[-1])

    @property
    def count_of_kinds(self) -> int:
        """The number of kinds."""
        return len(self.passes[0])

    def divided(self, held: Iterable[int]) -> frozenset[int]:
        """The new classes of some classes."""
        return frozenset(new for number in held for new in range(self.first[number], self.first[number + 1]))

    def new_class(self, member: int, kind: int, rest: int) -> int:
        """The new class of a member, by the kind after its run, and the number of members up to the end of the run."""
        return int(self.first[member]) + kind * self.period + rest % self.period

    def replaced(self, tree: Node) -> tuple[Node, dict[int, frozenset[int]]]:
        """The pattern with tests of one character instead of look-aheads that count; and the new classes in the sets of these tests."""
        tests, held = dict[int, LookAhead](), dict[int, frozenset[int]]()
        for look, passes in zip(self.found, self.passes, strict=True):
            test = Characters(look.members)
            kinds = [kind for kind, is_passed in enumerate(passes) if is_passed]
            held[id(test)] = frozenset(self.new_class(member, kind, look.rest) for member, kind in product(self.members, kinds))
            body = Choice((test, look.tail)) if look.may_be_over else test
            tests[id(look.node)] = LookAhead(body, look.node.negative)
        return _with(tests, tree), held

    def runs(self, classes_of_codes: NDArray[np.uint8]) -> CountedRuns:
        """The members and kinds of code points, from the class of each code point."""
        count = len(self.members)
        marks = self.kinds[:-1] + count
        marks[self.members] = np.arange(count)
        return CountedRuns(marks.astype(np.uint8)[classes_of_codes], count, self.count_of_kinds, int(self.kinds[-1]), self.period)

    def virtual_classes(self) -> list[int]:
        """The new class of each virtual code."""
        return [self.new_class(*each) for each in product(self.members, range(self.count_of_kinds), range(self.period))]

    def consistent(self, automaton: Automaton, budget: Budget) -> Automaton:
        """The automaton, restricted to sequences of new classes that occur in texts.

        A search is over before a class that cannot follow. There, an end is reported: so a match that ends in all texts that occur is known
        to end. A search that cannot find a match in any text that occurs is over at once.
        """
        numbers: dict[tuple[int, int], int] = {(DEAD, NO_MEMBER): DEAD, (START, NO_MEMBER): START}
        rows, impossible = list[list[tuple[int, bool]]](), list[list[bool]]()
        steps = automaton.steps()
        waiting = [*numbers]
        for state, last in waiting:  # the loop appends to `waiting`
            budget.take(self.size + 1)
            row = []
            follows = [self._follows(last, symbol) for symbol in range(self.size + 1)]
            for symbol, (target, is_end) in enumerate(steps[state]):
                following = (target, self._last(symbol)) if target and follows[symbol] else (DEAD, NO_MEMBER)
                if numbers.setdefault(following, len(waiting)) == len(waiting):
                    waiting.append(following)
                row.append((numbers[following], is_end and follows[symbol]))
            rows.append(row)
            impossible.append([state != DEAD and not each for each in follows])
        pairs = np.array(rows)
        targets, ends = pairs[:, :, 0], pairs[:, :, 1] > 0
        alive: NDArray[np.bool_] = np.arange(len(targets)) < 0
        while not np.array_equal(more := alive | (ends | alive[targets]).any(axis=1), alive):
            alive = more
        targets = np.where(alive[targets], targets, DEAD)
        return Automaton(targets, (ends | np.array(impossible)) & alive[:, None])

    @Lazy
    def _old(self) -> list[int]:
        """The class that was divided into each new class."""
        divided: list[int] = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first)).tolist()
        return divided

    def _last(self, symbol: int) -> int:
        """The new class itself if it is one of a member; otherwise `NO_MEMBER`."""
        return symbol if symbol < self.size and self._old[symbol] in self.members else NO_MEMBER

    def _follows(self, last: int, symbol: int) -> bool:
        """Whether a new class, or the end of a text, can follow the member `last`."""
        if last == NO_MEMBER:
            return True
        kind, rest = divmod(last - int(self.first[self._old[last]]), self.period)
        if self._last(symbol) == NO_MEMBER:
            old = self._old[symbol] if symbol < self.size else len(self.kinds) - 1
            return rest == 1 % self.period and int(self.kinds[old]) == kind
        after, next_rest = divmod(symbol - int(self.first[self._old[symbol]]), self.period)
        return after == kind and next_rest == (rest - 1) % self.period


def _is_decided(look: CountedLookAhead, members: list[int], holds: Holds, classes: int) -> bool:
    """Whether the tail fails before each member, and otherwise depends only on the character after the run."""
    if any(holds(look.tail, one, other) is not False for one in members for other in members):
        return False
    after = [number for number in range(classes + 1) if number not in members]
    answers = [{holds(look.tail, member, number) for member in members} for number in after]
    return bool(members) and all(len(answer) == 1 and None not in answer for answer in answers)


def _with(tests: dict[int, LookAhead], node: Node) -> Node:
    """A tree in which some look-aheads are replaced, by the `id` of the node."""
    if id(node) in tests:
        return tests[id(node)]
    if isinstance(node, Sequence | Choice):
        return type(node)(tuple(_with(tests, part) for part in node.parts))
    if isinstance(node, Repeat):
        return Repeat(_with(tests, node.body), node.least, node.most, node.lazy)
    if isinstance(node, Atomic):
        return Atomic(_with(tests, node.body))
    return LookAhead(_with(tests, node.body), node.negative) if isinstance(node, LookAhead) else node


def common_codes(first: Splitter, second: Splitter) -> tuple[NDArray[np.uint8], NDArray[np.uint8], CountedRuns | None]:
    """The classes of both splitters for the same codes, and the counted runs of one of them, for which virtual codes are added.

    Raises:
        UnsupportedError: both splitters count, or the first splitter cuts runs that the second one counts.
    """
    if first.runs and second.runs:
        raise UnsupportedError(SEVERAL)
    if second.runs:
        need_whole_runs(first, second.runs)
        plain, counting, runs = _extended(first, second)
        return plain, counting, runs
    if first.runs:
        plain, counting, runs = _extended(second, first)
        return counting, plain, runs
    return first.classes, second.classes, None


def _extended(plain: Splitter, counting: Splitter) -> tuple[NDArray[np.uint8], NDArray[np.uint8], CountedRuns]:
    """The classes of a splitter without and of one with counted runs, for the same virtual codes. Members with different classes in `plain`
    get different virtual codes.
    """
    runs = counting.runs
    assert runs
    inside = runs.marks < runs.members
    keys = runs.marks[inside].astype(np.int64) << 8 | plain.classes[inside]
    distinct, numbers = np.unique(keys, return_inverse=True)
    marks = runs.marks.astype(np.int64) - runs.members + len(distinct)
    marks[inside] = numbers
    codes = runs.kinds * runs.period
    if len(distinct) + runs.kinds > MAX_MARKS or len(distinct) * codes > MAX_CODES:
        raise UnsupportedError(f"splits in sequence tell apart {len(distinct)} kinds of characters in runs that one of them counts")
    new = CountedRuns(marks.astype(np.uint8), len(distinct), runs.kinds, runs.end, runs.period)
    virtual = counting.classes[CODE_POINTS:].reshape(runs.members, codes)[distinct >> 8].ravel()
    plain_classes = np.append(plain.classes, np.repeat((distinct & 0xFF).astype(np.uint8), codes))
    return plain_classes, np.append(counting.classes[:CODE_POINTS], virtual), new


def need_whole_runs(first: Splitter, runs: CountedRuns) -> None:
    """Refuse a splitter that may cut a run, or that may cut after a run if the end of a text is of another kind than the next character."""
    automaton = Automaton.of(first.moves)
    inside = np.unique(first.classes[runs.marks < runs.members])
    other_kind = (runs.marks >= runs.members) & (runs.marks != runs.members + runs.end)
    forbidden = np.union1d(inside, np.unique(first.classes[other_kind]))
    after_member = np.unique(automaton.targets[:, inside])
    ends = automaton.ends & ~automaton.surely_ends()[automaton.targets]
    if ends[after_member[after_member != DEAD]][:, forbidden].any():
        raise UnsupportedError(CUT)
