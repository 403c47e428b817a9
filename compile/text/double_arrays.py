"""Write charsmaps in SentencePiece's form, to ask references what they do with them. `fst.charsmap` reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fst.double_array import HAS_VALUE, OFFSET_SHIFT, VALUE

BLOCK = 256  # units; labels are bytes, so a node's children lie in one block

Node = tuple[Mapping[int, int], int | None]  # children by byte, as numbers of nodes; and the value of the string that ends here


def charsmap(replacements: Mapping[str, str]) -> bytes:
    """The charsmap that replaces strings."""
    children: list[dict[int, int]] = [{}]
    values: list[int | None] = [None]
    texts, places = bytearray(), dict[str, int]()
    for string, text in replacements.items():
        node = 0
        for byte in string.encode():
            node = children[node].setdefault(byte, len(children))
            if node == len(children):
                children.append({})
                values.append(None)
        if text not in places:
            places[text] = len(texts)
            texts += text.encode() + b"\0"
        values[node] = places[text]
    return of_nodes([*zip(children, values, strict=True)], bytes(texts))


def of_nodes(nodes: Sequence[Node], texts: bytes) -> bytes:
    """The charsmap of nodes, of which the first is the root; several may share a child. Values are places in `texts`."""
    bases = _bases(nodes)
    units = np.full((max(bases) // BLOCK + 1) * BLOCK, VALUE, np.uint32)  # units of no node are no child, of NUL either
    units[0] = bases[0] << OFFSET_SHIFT
    for base, (children, value) in zip(bases, nodes, strict=True):
        for byte, child in children.items():
            at = base ^ byte
            units[at] = byte | HAS_VALUE * (nodes[child][1] is not None) | (at ^ bases[child]) << OFFSET_SHIFT
        if value is not None:
            units[base] = VALUE | value
    return np.uint32(units.nbytes).tobytes() + units.tobytes() + texts


def _bases(nodes: Sequence[Node]) -> list[int]:
    """A base for each node, by which its units are free: the first that fits. The first unit is the root."""
    taken, known, lowest, bases = {0}, {0}, 1, []
    for children, value in nodes:
        labels = [*children, *([0] if value is not None else [])]
        base = lowest
        while base in known or any(base ^ label in taken for label in labels):
            base += 1
        known.add(base)
        taken.update(base ^ label for label in labels)
        while lowest in taken:
            lowest += 1
        bases.append(base)
    return bases


def of_every_character(text: str) -> bytes:
    """The charsmap that replaces every character but a line feed by one text."""
    tails = range(0x80, 0xC0)
    ascii_ = {byte: 4 for byte in range(1, 0x80) if byte != ord("\n")}
    leads = ((range(0xC2, 0xE0), 3), (range(0xE0, 0xF0), 2), (range(0xF0, 0xF5), 1))
    root = ascii_ | {byte: node for bytes_, node in leads for byte in bytes_}
    nodes: list[Node] = [(root, None), *((dict.fromkeys(tails, node), None) for node in (2, 3, 4)), ({}, 0)]
    return of_nodes(nodes, text.encode() + b"\0")
