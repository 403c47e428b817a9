"""Labels and strings: characters are code points, and a symbol of several characters has a label of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fst.compile.algebra.arcs import END_OF_UNIT, EPSILON, FIRST_SYMBOL, OTHER, Arcs, Unit, characters_of, is_label, make, relabelled
from fst.compile.algebra.other import need_room, with_others
from fst.errors import VocabularyError


class Symbols:
    """Labels of symbols; new symbols get new labels.

    Examples:
        >>> symbols = Symbols()
        >>> symbols.label("a"), symbols.label("<n>"), symbols.label("")
        (97, 1114112, 0)
        >>> symbols.names
        ('<n>',)
    """

    def __init__(self, names: Iterable[str] = (), unit: Unit = "character") -> None:
        self._labels = {name: FIRST_SYMBOL + number for number, name in enumerate(names)}
        self._unit = unit

    @property
    def names(self) -> tuple[str, ...]:
        """The symbols in the order of their labels."""
        return tuple(self._labels)

    def label(self, name: str) -> int:
        """The label of a symbol: a code point or byte, or the label of a symbol of several characters; "" is ε."""
        if not name:
            return EPSILON
        if is_label(name, self._unit):
            return ord(name)
        return self._labels.setdefault(name, FIRST_SYMBOL + len(self._labels))

    def number(self, label: int) -> int:
        """The label of a number in a file without names; a number too large for the unit becomes a symbol such as ``<4711>``."""
        return label if label < END_OF_UNIT[self._unit] else self.label(f"<{label}>")


def labels_of(text: str, symbols: Sequence[str] = (), unit: Unit = "character") -> list[int]:
    """Split a text into labels. If several symbols match, the longest is read.

    Examples:
        >>> labels_of("a<n>", ["<>", "<n>"])
        [97, 1114113]
        >>> labels_of("é", unit="utf-8")
        [195, 169]
    """
    numbers = {name: FIRST_SYMBOL + number for number, name in enumerate(symbols) if name and not is_label(name, unit)}
    longest_first = sorted(numbers, key=len, reverse=True)
    found: list[int] = []
    for part in re.findall("|".join([*map(re.escape, longest_first), "(?s:.)"]), text):
        if part in numbers:
            found.append(numbers[part])
        elif unit == "character":
            found.append(ord(part))
        else:
            found += part.encode("utf-8", "surrogateescape")
    if EPSILON in found:
        raise VocabularyError("a string contains U+0000; expected text without it, because label 0 is ε")
    return found


def text_of(labels: Iterable[int], symbols: Sequence[str] = (), unit: Unit = "character") -> str:
    """Join labels into a text; ε is left out. Bytes that are not UTF-8 become lone surrogates, as in ``os.fsdecode``.

    Examples:
        >>> text_of([97, 0, 1114112], ["<n>"]), text_of([195, 169], unit="utf-8")
        ('a<n>', 'é')
    """
    if unit == "character":
        return "".join(chr(label) if label < FIRST_SYMBOL else symbols[label - FIRST_SYMBOL] for label in labels if label)
    pieces = (bytes([label]) if label < FIRST_SYMBOL else symbols[label - FIRST_SYMBOL].encode() for label in labels if label)
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def with_shared_symbols(machines: Sequence[Arcs]) -> list[Arcs]:
    """The machines with equal `symbols`: the symbols of all machines, the first machine's symbols first. A machine with arcs for any other
    symbol gets arcs for the symbols that only other machines name.
    """
    numbers: dict[str, int] = {}
    for machine in machines:
        if machine.unit != machines[0].unit:
            raise VocabularyError(f"the units are {machines[0].unit!r} and {machine.unit!r}; expected machines of one unit")
        for name in machine.symbols:
            numbers.setdefault(name, FIRST_SYMBOL + len(numbers))
    if OTHER not in numbers:
        return [_renamed(machine, numbers) for machine in machines]
    for machine in machines:
        for name in characters_of(machine.ilabel, machine.olabel):
            numbers.setdefault(name, FIRST_SYMBOL + len(numbers))
    sharing, added = list[Arcs](), 0
    for machine in machines:
        sharing.append(with_others(_renamed(machine, numbers), {*machine.symbols}))
        added += sharing[-1].arcs - machine.arcs
        need_room(added)
    return sharing


def _renamed(machine: Arcs, numbers: dict[str, int]) -> Arcs:
    """The machine with the symbols `numbers`, which include the machine's own symbols."""
    new = np.array([numbers[name] for name in machine.symbols], np.int32)
    names = tuple(numbers)
    if names[: len(new)] == machine.symbols:
        return replace(machine, symbols=names)
    read, write = (relabelled(labels, new) for labels in (machine.ilabel, machine.olabel))
    return make(machine.sources, read, write, machine.target, machine.weight, machine.final, machine.start, names, machine.unit)
