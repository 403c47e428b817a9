"""Determine the classes of characters in grapheme clusters by running the reference; see `fst.text.clusters`.

A charsmap replaces every character by the same text. The reference then turns a cluster of fewer than six bytes into one copy of this text,
and any other cluster into one copy per character. The number of copies therefore shows where clusters end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from fst.compile.text.edits.double_arrays import Node, of_nodes

APART = "\n"  # it always ends a cluster, and the charsmap keeps it
MANY = 10_000  # characters per call of the reference

# For each property: a text with the character, and the number of copies that the reference makes of it if the character has the property.
# An accent makes a cluster long enough to distinguish it from two clusters.
PROBES = {
    "joins": ("a{}", 1),
    "begins": ("{}a", 1),
    "breaks": ("\u0600\u0600{}", 2),
    "pictograph": ("{}\u200d©\u0301", 4),
    "between pictographs": ("©{}\u200d©\u0301", 5),
    "consonant": ("{}\u094d\u0915\u0301", 4),
    "linker": ("\u0915{}\u0915\u0301", 4),
    "between consonants": ("\u0915\u094d{}\u0915\u0301", 5),
    "after L": ("\u0600\u1100{}", 3),
    "after V": ("\u0600\u1161{}", 3),
    "before L": ("{}\u1100\u0301", 3),
    "before V": ("{}\u1161\u0301", 3),
    "before T": ("{}\u11a8\u0301", 3),
}
# For each class: the properties that its characters have, and the properties that they lack. A character belongs to the first class that
# fits.
CLASSES: tuple[tuple[str, set[str], set[str]], ...] = (
    ("linker", {"joins", "linker"}, set()),
    ("extend", {"joins", "between pictographs", "between consonants"}, set()),
    ("nonjoiner", {"joins", "between pictographs"}, set()),
    ("joiner", {"joins", "between consonants"}, set()),
    ("spacing", {"joins"}, set()),
    ("prepend", {"begins"}, set()),
    ("L", {"after L", "before L", "before V"}, {"after V"}),
    ("LV", {"after L", "before V", "before T"}, {"after V"}),
    ("LVT", {"after L", "before T"}, {"after V"}),
    ("V", {"after L", "after V", "before V", "before T"}, set()),
    ("T", {"after V", "before T"}, {"after L"}),
    ("consonant", {"consonant"}, set()),
    ("pictograph", {"pictograph"}, set()),
    ("control", {"breaks"}, set()),
)


def of_every_character(text: str) -> bytes:
    """The charsmap that replaces every character except a line feed by one text."""
    tails = range(0x80, 0xC0)
    ascii_ = {byte: 4 for byte in range(1, 0x80) if byte != ord("\n")}
    leads = ((range(0xC2, 0xE0), 3), (range(0xE0, 0xF0), 2), (range(0xF0, 0xF5), 1))
    root = ascii_ | {byte: node for bytes_, node in leads for byte in bytes_}
    nodes: list[Node] = [(root, None), *((dict.fromkeys(tails, node), None) for node in (2, 3, 4)), ({}, 0)]
    return of_nodes(nodes, text.encode() + b"\0")


def clusters(characters: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The characters that have a class, each with its class."""
    from tokenizers.normalizers import Precompiled

    normalize = Precompiled(of_every_character("x")).normalize_str
    waiting = iter(characters)
    while chars := [*islice(waiting, MANY)]:
        found: list[set[str]] = [set() for _ in chars]
        for name, (text, count) in PROBES.items():
            made = normalize(APART.join(text.format(char) for char in chars)).split(APART)
            for properties, one in zip(found, made, strict=True):
                properties |= {name} if len(one) == count else set()
        for char, properties in zip(chars, found, strict=True):
            name = next((name for name, has, lacks in CLASSES if has <= properties and not lacks & properties), "")
            if name:
                yield char, name
