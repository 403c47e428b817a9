"""Take the classes of characters in grapheme clusters from the reference, see `fst.text.clusters`.

A charsmap has one text in place of every character. The reference then turns a cluster with fewer than six bytes into one text, and any
other cluster into one text for each character. So the number of texts reveals the ends of clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from fst.compile.text.edits.double_arrays import of_every_character

APART = "\n"  # no cluster continues behind it, and the charsmap leaves it
MANY = 10_000  # characters that are requested at once

# Properties of a character: a text with it, and how many clusters' worth of texts the reference makes of this if the character has the
# property. An accent makes a cluster long enough to be told from two.
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
# Classes, and what their characters have and have not; the first that fits counts.
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


def clusters(characters: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Characters and their class, if they have another than all others."""
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
