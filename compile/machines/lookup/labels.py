"""Labels of a transducer → classes, pieces and conditions of a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from fst.automata import flags
from fst.automata.rows import CODE_POINTS, Array
from fst.automata.trie import Ints
from fst.compile.algebra.arcs import FIRST_SYMBOL
from fst.compile.algebra.arcs import Arcs as Machine
from fst.compile.machines.lookup.arcs import FINAL, Arcs, Pool, sorted_by_source
from fst.compile.patterns.code_points import Set, intersection, of_text, union
from fst.compile.patterns.properties import named
from fst.compile.text.characters import reference
from fst.errors import UnsupportedError
from fst.machines.lookup.layout import BEGINS, LETTER, MAX_CLASSES, NODE_SHIFT, ROOTS, UNITS

Units = tuple[int, ...]
LONG: Set = np.array([UNITS, CODE_POINTS], np.int64)  # the code points that take two UTF-16 units


class Labels:
    """The numbers of the labels of a machine.

    Args:
        machine: the transducer.
        generator: the transducer whose outputs are read in generation; None: no outputs are read. It has the same symbols as `machine`.
        letters: characters that are letters, in addition to Unicode's letters.

    Attributes:
        pieces: the strings that arcs write.
        conditions: tuples of packed operations.
        classes: int64[labels], the class of each label that is read; 0 for ε and flag diacritics.
    """

    def __init__(self, machine: Machine, generator: Machine | None = None, letters: str = "") -> None:
        self.pieces, self.conditions = Pool(""), Pool[tuple[int, ...]](())
        self._names = machine.symbols
        self._operations = flags.operations_of(machine.symbols)
        self._letters = of_text(letters)
        self._read = [_used(machine.ilabel), *([_used(generator.olabel)] if generator is not None else [])]
        frequency = np.bincount(machine.ilabel, minlength=FIRST_SYMBOL + len(machine.symbols))
        if generator is not None:
            frequency = frequency + np.bincount(generator.olabel, minlength=len(frequency))
        frequency[[0, *(FIRST_SYMBOL + symbol for symbol in self._operations)]] = 0
        used = np.flatnonzero(frequency)
        used = used[np.argsort(-frequency[used], kind="stable")]
        if len(used) > MAX_CLASSES:
            raise UnsupportedError(f"the machine reads {len(used):,} symbols; expected at most {MAX_CLASSES:,}")
        self.classes = np.zeros(len(frequency), np.int64)
        self.classes[used] = np.arange(1, 1 + len(used))

    @property
    def count(self) -> int:
        """The number of classes, without class 0."""
        return int(self.classes.max(initial=0))

    @property
    def features(self) -> int:
        """The number of features."""
        return 1 + max((flags.unpack(operation).feature for operation in self._operations.values()), default=-1)

    def name(self, label: int) -> str:
        """The symbol of a label."""
        return chr(label) if label < FIRST_SYMBOL else self._names[label - FIRST_SYMBOL]

    def arcs(self, machine: Machine, sections: Ints | None = None, *, inverse: bool = False) -> Arcs:
        """The arcs and finals of a machine; with `inverse`, arcs read outputs. `sections` contains the section of each state."""
        reads, writes = (machine.olabel, machine.ilabel) if inverse else (machine.ilabel, machine.olabel)
        ends = np.flatnonzero(np.isfinite(machine.final))
        nothing = np.zeros(len(ends), np.int64)
        return sorted_by_source(
            Arcs(
                source=np.concatenate([ends, machine.sources]).astype(np.int64),
                target=np.concatenate([ends, machine.target]).astype(np.int64),
                label=np.concatenate([nothing + FINAL, self.classes[reads]]),
                output=np.concatenate([nothing, self._numbers(writes, lambda label: self.pieces.number(self._written(label)))]),
                condition=np.concatenate([nothing, self._numbers(reads, self._condition)]),
                weight=np.concatenate([machine.final[ends], machine.weights]),
                pauses=np.zeros(len(ends) + machine.arcs, np.int64),
                section=np.concatenate([nothing if sections is None else sections[ends], np.zeros(machine.arcs, np.int64)]),
            )
        )

    def units(self) -> Array:
        """See `fst.machines.lookup.table.LookupTable.units`."""
        found = np.zeros(UNITS, np.uint32)
        characters = self.classes[:UNITS]
        found[: len(characters)] = characters
        found[_units_of(union(_letters(), self._letters))] |= LETTER
        for units, _, _ in self._long:
            found[units[0]] |= BEGINS
        return found

    def long_letters(self) -> Array:
        """See `fst.machines.lookup.table.LookupTable.letters`."""
        return intersection(union(_letters(), self._letters), LONG).astype(np.uint32)

    def symbols(self) -> tuple[Array, Array]:
        """The tree of symbols of several units; see `fst.machines.lookup.table.LookupTable`."""
        nodes: dict[tuple[int, Units], int] = {(root, ()): root for root in range(ROOTS)}
        keys = list[int]()
        prefixes = {(root, units[:end]) for units, root, _ in self._long for end in range(1, len(units) + 1)}
        for length in range(1, 1 + max((len(units) for _, units in prefixes), default=0)):
            level = [(nodes[root, units[:-1]], units[-1], root, units) for root, units in prefixes if len(units) == length]
            for parent, unit, root, units in sorted(level):
                nodes[root, units] = ROOTS + len(keys)
                keys.append(parent << NODE_SHIFT | unit)
        classes = np.zeros(len(keys), np.uint32)
        for units, root, number in self._long:
            classes[nodes[root, units] - ROOTS] = number
        return np.array(keys, np.uint64), classes

    @property
    def _long(self) -> list[tuple[Units, int, int]]:
        """For the symbols of several units that are read: the units, the root and the class of each symbol."""
        found = []
        for root, labels in enumerate(self._read):
            for label in labels[self.classes[labels] > 0].tolist():
                if label >= UNITS:
                    units = np.frombuffer(self.name(label).encode("utf-16-le"), "<u2")
                    found.append((tuple(units.tolist()), root, int(self.classes[label])))
        return found

    def _written(self, label: int) -> str:
        return "" if label == 0 or label - FIRST_SYMBOL in self._operations else self.name(label)

    def _condition(self, label: int) -> int:
        operation = self._operations.get(label - FIRST_SYMBOL)
        return 0 if operation is None else self.conditions.number((operation,))

    def _numbers(self, labels: Array, number: Callable[[int], int]) -> Ints:
        used = _used(labels)
        found = np.zeros(len(self.classes), np.int64)
        found[used] = [number(label) for label in used.tolist()]
        return found[labels]


@cache
def _letters() -> Set:
    """The code points that are letters, marks or numbers."""
    return union(*map(named, ("L", "M", "N")))


@cache
def lower_units() -> Array:
    """See `fst.machines.lookup.table.LookupTable.lower_units`."""
    found, upper = np.zeros(UNITS, np.uint16), _units_of(named("Lu"))
    lower = reference.lower().apply(upper)
    lower = np.where((lower[:, 0] < UNITS) & (lower[:, 1:] < 0).all(axis=1), lower[:, 0], upper)
    found[upper] = np.where(lower == upper, 0, lower)
    return found


def _units_of(edges: Set) -> Ints:
    """The UTF-16 units that are characters of a given set."""
    members = np.concatenate([np.arange(first, end) for first, end in edges.reshape(-1, 2).tolist()])
    return members[(members < UNITS) & ~((members >= 0xD800) & (members < 0xE000))]


def _used(labels: Array) -> Ints:
    return np.flatnonzero(np.bincount(labels, minlength=1))
