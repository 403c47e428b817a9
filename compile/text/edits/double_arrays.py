"""Write charsmaps in SentencePiece's format, which `fst.text.charsmap` reads. The compiler writes charsmaps that leave user-defined pieces
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fst.automata.double_array import BLOCK, HAS_VALUE, MAX_OFFSET, OFFSET_SHIFT, VALUE, DoubleArray, Units, base_of

NO_UNITS = np.empty(0, np.uint32)

Node = tuple[dict[int, int], int | None]  # (byte → node number or ~unit, value of the string that ends here)


def charsmap(replacements: Mapping[str, str], given: DoubleArray | None = None, *, keeps_longer: bool = False) -> bytes:
    """Write the charsmap that replaces strings by texts.

    Nodes of `given` on the paths of the strings are written at new positions. All other nodes keep their positions.

    Args:
        replacements: string → its text.
        given: a charsmap whose replacements are kept, unless their string begins with a string of `replacements`.
        keeps_longer: keep even these replacements, unless their string is one of `replacements`.

    Returns:
        The charsmap, as `fst.automata.double_array.read` reads it.
    """
    nodes = [_copy(given, ~0)]
    texts, places = bytearray(given.texts if given else b""), dict[str, int]()
    for string in sorted(replacements):  # prefixes come before longer strings
        at = 0
        for byte in string.encode():
            child = nodes[at][0].get(byte)
            if child is None or child < 0:
                nodes.append(_copy(given, child))
                child = nodes[at][0][byte] = len(nodes) - 1
            at = child
        text = replacements[string]
        if text not in places:
            places[text] = len(texts)
            texts += text.encode() + b"\0"
        nodes[at] = nodes[at][0] if keeps_longer else {}, places[text]
    return of_nodes(nodes, bytes(texts), given.units if given else NO_UNITS)


def _copy(given: DoubleArray | None, child: int | None) -> Node:
    """Copy the node of a unit of `given`; if there is no unit, make an empty node."""
    if given is None or child is None:
        return {}, None
    children, value = given.node(~child)
    return {byte: ~unit for byte, unit in children.items()}, value


def of_nodes(nodes: Sequence[Node], texts: bytes, given: Units = NO_UNITS) -> bytes:
    """Write a charsmap from nodes; the first is the root. Nodes may share children, and a child may be a unit of `given`.

    Values are offsets in `texts`.
    """
    bases = _bases(nodes, len(given))
    units = np.full((max(bases) // BLOCK + 1) * BLOCK, VALUE, np.uint32)  # an unused unit is not a child of any node, not even for NUL
    units[: len(given)] = given
    units[0] = _offset(0, bases[0])
    for base, (children, value) in zip(bases, nodes, strict=True):
        for byte, child in children.items():
            at = base ^ byte
            below, has_value = (bases[child], nodes[child][1] is not None) if child >= 0 else _given(given, ~child)
            units[at] = byte | HAS_VALUE * has_value | _offset(at, below)
        if value is not None:
            units[base] = VALUE | value
    return np.uint32(units.nbytes).tobytes() + units.tobytes() + texts


def _offset(unit: int, base: int) -> int:
    """The bits of a unit that encode its base."""
    if unit ^ base > MAX_OFFSET:
        raise ValueError(f"a charsmap without room for more strings: unit {unit} cannot store its base {base}")
    return (unit ^ base) << OFFSET_SHIFT


def _given(units: Units, unit: int) -> tuple[int, bool]:
    """The base of a unit, and whether a string ends there."""
    return base_of(int(units[unit]), unit), bool(units[unit] & HAS_VALUE)


def _bases(nodes: Sequence[Node], first: int) -> list[int]:
    """The base of each node: the first base, from `first` on, at which all units of the node are free. The first unit is the root."""
    taken, known, lowest, bases = {0}, {0}, max(first, 1), []
    tried: dict[tuple[int, ...], int] = {}  # labels → a base below which no search is needed, because units never become free again
    for children, value in nodes:
        labels = (*children, *([0] if value is not None else []))
        base = max(lowest, tried.get(labels, 0))
        while base in known or any(base ^ label in taken for label in labels):
            base += 1
        tried[labels] = base
        known.add(base)
        taken.update(base ^ label for label in labels)
        while lowest in taken:
            lowest += 1
        bases.append(base)
    return bases
