"""Compiled rules as one transducer, which the algebra composes with others.

A state is a state of the pass to the right and a set of the pass to the left: the transducer guesses the set after each character, and the
next characters confirm or refute the guess. So each text has one path, with the output of the two passes. Such a machine is the composition
of the pass to the left, from characters to columns, with the pass to the right, from columns to strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.algebra.arcs import ANOTHER, EPSILON, FIRST_SYMBOL, OTHER, Arcs, make
from fst.compile.algebra.compose import compose
from fst.compile.algebra.forms.minimize import reduce_states
from fst.compile.algebra.machine import Fst
from fst.compile.algebra.other import close
from fst.compile.algebra.rational import reverse
from fst.compile.machines.rules.compiler import parts_of
from fst.compile.machines.rules.composition import Part
from fst.compile.machines.rules.key_machine import machine_of_keys
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.rules.entries import ENDED, columns_of, copies_of, rows_of, strings_of
from fst.machines.rules.table import RulesTable

MAX_ARCS = 1 << 22  # maximum number of arcs, with an arc for each character
MAX_KEYS = 1 << 24
NOT_TEXT = [0, *range(0xD800, 0xE000)]  # code points that no text of the algebra contains
Labels = NDArray[np.int64]
Move = tuple[str, bool]  # the string that an arc writes, and whether it also copies the character that it reads


def machine_of(table: RulesTable, alphabet: Iterable[str] | None = None) -> Fst:
    """The transducer with the function of a table of rules; see `fst.Fst.from_rule`."""
    parts = parts_of(table)
    if any("\0" in string for part in parts for string in part.strings):
        raise VocabularyError("a rule writes U+0000; expected another character, because label 0 is ε")
    names = None if alphabet is None else {*alphabet}
    groups = Groups.of(parts, None if names is None else [ord(name) for name in names if len(name) == 1])
    stages = (_of_stage(part, groups, is_mirrored) for part, is_mirrored in zip(parts, table.are_mirrored, strict=True))
    found = groups.spelled(reduce(lambda first, second: reduce_states(compose(first, second)), stages))
    return Fst.of(found if names is None else close(found, (name for name in names if len(name) > 1)))


class Groups(NamedTuple):
    """Groups of characters. No stage distinguishes the characters of a group, and a stage writes one of them only as a copy.

    Attributes:
        members: int64[n], the code points of each group, in ascending order; of the largest group, which is not spelled out, the first.
        labels: int64[groups], the label of each group while stages are composed: its first code point; `OTHER` for the largest group.
        symbols: the symbols of the transducer while stages are composed.
    """

    members: Sequence[Labels]
    labels: Labels
    symbols: tuple[str, ...]

    @classmethod
    def of(cls, parts: Sequence[Part], alphabet: Sequence[int] | None) -> Groups:
        """The groups of some stages. `alphabet`: the code points that they contain, in addition to those that stages write; None: all."""
        codes = np.delete(np.arange(CODE_POINTS), NOT_TEXT)
        keys = np.zeros(len(codes), np.int64)
        for part in parts:
            keys = _numbered(keys * part.to_left.shape[1] + part.classes[codes])
        largest = np.bincount(keys).argmax()
        other = codes[np.argmax(keys == largest)]
        is_read, is_written = (
            np.isin(codes, [*map(ord, {*"".join(chain.from_iterable(texts))})])
            for texts in ((part.keys for part in parts), (part.strings for part in parts))
        )
        is_alone = is_read | is_written
        is_kept = (keys != largest) | is_alone if alphabet is None else np.isin(codes, alphabet) | is_written
        keys[is_alone] = keys.max() + 1 + np.arange(is_alone.sum())
        codes, keys = codes[is_kept], keys[is_kept]
        order = np.argsort(keys, kind="stable")
        groups = np.split(codes[order], np.flatnonzero(np.diff(keys[order])) + 1) if len(codes) else []
        labels = np.array([FIRST_SYMBOL, *(group[0] for group in groups)])
        return cls([np.array([other]), *groups], labels, (OTHER, ANOTHER, *map(chr, labels[1:].tolist())))

    def of_classes(self, part: Part) -> list[Labels]:
        """The labels of each class of a stage."""
        classes = part.classes[[group[0] for group in self.members]]
        return [self.labels[classes == number] for number in range(part.to_left.shape[1])]

    def spelled(self, arcs: Arcs) -> Arcs:
        """A transducer with an arc for each character of a group."""
        groups = {int(group[0]): group for group in self.members[1:]}
        reads = [groups.get(label, np.array([label])) for label in arcs.ilabel.tolist()]
        sizes = np.array([*map(len, reads)], np.int64)
        if sizes.sum() > MAX_ARCS:
            fault = f"the rules need {sizes.sum():,} arcs; expected at most {MAX_ARCS:,}"
            raise UnsupportedError(f"{fault}; pass the characters of your texts as `alphabet`")
        read = np.concatenate([np.empty(0, np.int64), *reads])
        write = np.where(np.repeat(arcs.ilabel == arcs.olabel, sizes), read, np.repeat(arcs.olabel, sizes))
        sources, targets = np.repeat(arcs.sources, sizes), np.repeat(arcs.target, sizes)
        symbols = (OTHER, ANOTHER, *(chr(code) for group in self.members[1:] for code in group.tolist()))
        return make(sources, read, write, targets, None, arcs.final, arcs.start, symbols)


def _numbered(keys: Labels) -> Labels:
    """int64[n], the keys with numbers from 0 without gaps."""
    if keys.max() > MAX_KEYS:
        raise UnsupportedError(f"the rules have more than {MAX_KEYS:,} pairs of classes of characters; expected fewer; divide the cascade")
    is_used = np.zeros(keys.max() + 1, np.bool_)
    is_used[keys] = True
    numbers: Labels = np.cumsum(is_used)[keys] - 1
    return numbers


def _of_stage(part: Part, groups: Groups, is_mirrored: bool) -> Arcs:
    """The transducer of one stage; a mirrored stage reads a text from its end."""
    if part.keys:
        of_keys = machine_of_keys(part, groups.labels.tolist(), groups.symbols)
        return reverse(of_keys) if is_mirrored else of_keys
    distinct = np.unique(np.concatenate([_move(part.to_right.ravel()), part.finals.astype(np.int64) << 1]))
    of_classes = reduce_states(compose(_pass_to_left(part), _pass_to_right(part, distinct)))
    of_classes = reduce_states(reverse(of_classes)) if is_mirrored else of_classes
    written = [(part.strings[move >> 1][:: -1 if is_mirrored else 1], bool(move & 1)) for move in distinct.tolist()]
    return _Spelled(of_classes, written, groups.of_classes(part), is_mirrored).machine(groups.symbols)


def _move(entries: NDArray[np.uint64]) -> Labels:
    """int64[n], the number of the string of each entry, and whether it copies, as one number."""
    return strings_of(entries) << 1 | copies_of(entries)


def _pass_to_left(part: Part) -> Arcs:
    """The transducer from classes, numbered from 1, to columns, numbered from 1. A state is a set; a new start leads to each set."""
    sets, classes = part.to_left.shape
    before = rows_of(part.to_left) // classes
    every, nothing = np.arange(sets), np.zeros(sets, np.int64)
    return make(
        np.concatenate([before.ravel(), nothing + sets]),
        np.concatenate([np.tile(np.arange(1, classes + 1), sets), nothing]),
        np.concatenate([columns_of(part.to_left).ravel() + 1, nothing]),
        np.concatenate([np.repeat(every, classes), every]),
        None,
        np.where(np.arange(sets + 1) == 0, 0.0, np.inf),
        sets,
    )


def _pass_to_right(part: Part, moves: NDArray[np.int64]) -> Arcs:
    """The transducer from columns to moves, both numbered from 1. At the end of a text, an arc to a new state writes a string."""
    states, columns = part.to_right.shape
    made = np.searchsorted(moves, _move(part.to_right.ravel()))
    ends = np.flatnonzero(part.finals > ENDED)
    last = np.searchsorted(moves, part.finals[ends].astype(np.int64) << 1)
    return make(
        np.concatenate([np.repeat(np.arange(states), columns), ends]),
        np.concatenate([np.tile(np.arange(1, columns + 1), states), np.full(len(ends), EPSILON)]),
        np.concatenate([made, last]) + 1,
        np.concatenate([rows_of(part.to_right).ravel() // columns, np.full(len(ends), states)]),
        None,
        np.where(np.append(part.finals > ENDED, False), np.inf, 0.0),
        0,
    )


class _Spelled:
    """The transducer over characters of a transducer from classes to moves. If it is mirrored, a string follows the character that is
    copied with it.
    """

    def __init__(self, arcs: Arcs, moves: Sequence[Move], members: Sequence[Labels], is_mirrored: bool) -> None:
        self._arcs, self._states = arcs, arcs.states
        self._columns = list[tuple[int, Labels, Labels, int]]()
        self._chains = dict[tuple[int, str, bool], int]()
        for source in range(arcs.states):
            for read, move, target, _ in arcs.arcs_of(source):
                labels = members[read - 1] if read else np.array([EPSILON])
                text, copies = moves[move - 1] if move else ("", False)
                if not copies:
                    written = np.full(len(labels), ord(text[0]) if text else EPSILON)
                    self._columns.append((source, labels, written, self._after(target, text[1:])))
                elif is_mirrored:
                    self._columns.append((source, labels, labels, self._after(target, text)))
                else:
                    self._columns.append((self._before(source, text), labels, labels, target))

    def _before(self, state: int, text: str) -> int:
        """The last state of a chain that begins at a state and writes a string."""
        for char in text:
            state = self._chained(state, char, is_after=False)
        return state

    def _after(self, state: int, text: str) -> int:
        """The first state of a chain that writes a string and ends at a state."""
        for char in reversed(text):
            state = self._chained(state, char, is_after=True)
        return state

    def _chained(self, state: int, char: str, *, is_after: bool) -> int:
        """The state before, or after, another state, with an arc between them that writes a character."""
        new = self._chains.setdefault((state, char, is_after), self._states)
        if new == self._states:
            self._states += 1
            source, target = (new, state) if is_after else (state, new)
            self._columns.append((source, np.array([EPSILON]), np.array([ord(char)]), target))
        return new

    def machine(self, symbols: tuple[str, ...]) -> Arcs:
        """The machine of all arcs."""
        sources, reads, writes, targets = zip(*self._columns, strict=True)
        sizes = [*map(len, reads)]
        final = np.append(self._arcs.final, np.full(self._states - self._arcs.states, np.inf))
        read, write = np.concatenate(reads), np.concatenate(writes)
        return make(np.repeat(sources, sizes), read, write, np.repeat(targets, sizes), None, final, self._arcs.start, symbols)
