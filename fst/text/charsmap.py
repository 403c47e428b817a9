"""Charsmaps: strings of characters and their replacements, as in SentencePiece's normalizers.

A *manner* is a method of finding the strings. The manners are:

- `CLUSTERS`, the method of ``tokenizers``: the text is cut into grapheme clusters. A cluster of fewer than `SHORT` bytes is replaced as a
  whole if it begins with a string of the charsmap: by the replacement of the shortest such string. In all other clusters, each
  character is looked up alone.
- `LONGEST`, the method of ``sentencepiece``: the longest string at each position is replaced.
- `PIECEWISE`: like `LONGEST`, but no span covers removed text: the next edit finds removed text by the gap between two spans.
- `KEEPING`: like `PIECEWISE`, but each string is replaced by itself. So the text does not change, and spans change only where other edits
  change the text.

A charsmap is an edit of a stretch, see `fst.text.edits`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fst.automata.double_array import MAX_LENGTHS, MAX_STRING, DoubleArray, character_sizes, read
from fst.automata.rows import CODE_POINTS
from fst.core.lazy import Lazy
from fst.text.clusters import APART, PAIRS, SYLLABLE, Runs, classes_of, clusters
from fst.text.composition import Place

CHARSMAP = "charsmap"  # the kind of an edit that is a charsmap
CLUSTERS, LONGEST, PIECEWISE, KEEPING = MANNERS = "clusters", "longest", "piecewise", "keeping"
IN_PIECES = (PIECEWISE, KEEPING)
SHORT = 6  # a cluster of at least this many bytes is looked up character by character
MAX_CLASSES = 1 << 12  # maximum number of runs of characters

Replaced = tuple[str, str | None]  # a string and its replacement; None for a character that does not change


@dataclass(frozen=True)
class Charsmap:
    """A charsmap."""

    kind: ClassVar[str] = CHARSMAP
    data: bytes  # the bytes of the double array and the texts, see `fst.automata.double_array.read`
    manner: str  # one of `MANNERS`
    classes: Runs = ()  # the classes of characters, see `fst.text.clusters`; empty unless the manner is `CLUSTERS`

    def stored(self) -> dict[str, Any]:
        """Return the JSON form."""
        classes = [[*run] for run in self.classes]
        return {"kind": CHARSMAP, "data": b64encode(self.data).decode(), "manner": self.manner, "classes": classes}

    @classmethod
    def from_stored(cls, stored: Any) -> Charsmap:
        """Read a charsmap from its JSON form."""
        if not isinstance(stored, dict) or sorted(stored) != ["classes", "data", "kind", "manner"] or stored["manner"] not in MANNERS:
            raise ValueError("a charsmap has missing or unknown keys, or an unknown manner")
        if not isinstance(stored["data"], str):
            raise ValueError("the bytes of a charsmap are not a string")
        classes = stored["classes"]
        if not isinstance(classes, list) or len(classes) > MAX_CLASSES or not all(map(_is_class, classes)):
            raise ValueError(f"the classes of a charsmap are not runs, or are more than {MAX_CLASSES}")
        found = cls(b64decode(stored["data"], validate=True), stored["manner"], tuple(map(tuple, classes)))
        found.need_sound()
        return found

    def need_sound(self) -> None:
        """Read all strings."""
        _ = self.strings, self.replaces, self.seconds

    @Lazy
    def strings(self) -> DoubleArray:
        """The double array of the strings and their replacements."""
        return read(self.data, SHORT - 1 if self.manner == CLUSTERS else MAX_STRING, None if self.manner in IN_PIECES else MAX_LENGTHS)

    def apply(self, text: str, places: Sequence[Place]) -> tuple[str, list[Place]]:
        """Apply the charsmap. Return the new text, and the span of each character."""
        replaced = [*(self._in_clusters(text) if self.manner == CLUSTERS else self.longest(text))]
        spans = _aligned(replaced, places) if self.manner == CLUSTERS else _consumed(replaced, places, self.manner == LONGEST)
        return "".join(string if new is None else new for string, new in replaced), spans

    def _in_clusters(self, text: str) -> Iterator[Replaced]:
        for cluster in clusters(text, self.class_of):
            whole = self._shortest(cluster) if len(cluster.encode()) < SHORT else None
            if whole is not None:
                yield cluster, whole
            else:
                yield from ((char, self._shortest(char)) for char in cluster)

    def _shortest(self, text: str) -> str | None:
        """The replacement of the shortest string with which a text begins."""
        return next((self.strings.text(value) for _, value in self.strings.prefixes(text.encode())), None)

    def longest(self, text: str) -> Iterator[Replaced]:
        """The longest string at each position of a text and its replacement, or an unchanged character and None."""
        data, at = text.encode(), 0
        while at < len(data):
            size, value = max(self.strings.prefixes(data[at : at + MAX_STRING]), default=(0, 0))
            string = data[at : at + size].decode() if size else data[at : at + 4].decode(errors="ignore")[0]
            yield string, self.strings.text(value) if size else None
            at += len(string.encode())

    @Lazy
    def class_of(self) -> NDArray[np.uint8]:
        """uint8[0x110000], the class of each character."""
        return classes_of(self.classes)

    @Lazy
    def replaces(self) -> NDArray[np.bool_]:
        """bool[0x110000], whether a character alone is a string of the charsmap whose replacement is a different text.

        A charsmap replaces a character by itself only to keep the character out of longer strings.
        """
        found, is_string = self.strings.characters, np.zeros(CODE_POINTS, bool)
        is_string[found.codes[found.values >= 0]] = True
        if self.manner in IN_PIECES:
            for code, value in zip(found.codes.tolist(), found.values.tolist(), strict=True):
                is_string[code] &= value < 0 or self.strings.text(value) != chr(code)
        return is_string

    @Lazy
    def drops(self) -> NDArray[np.bool_]:
        """bool[0x110000], whether a character alone is a string of the charsmap whose replacement is empty."""
        found, is_dropped = self.strings.characters, np.zeros(CODE_POINTS, bool)
        ends = np.frombuffer(self.strings.texts, np.uint8) == 0
        is_dropped[found.codes[(found.values >= 0) & ends[found.values]]] = True
        return is_dropped

    @Lazy
    def seconds(self) -> NDArray[np.bool_]:
        """bool[0x110000], whether a character is the second character of a longer string that may be replaced."""
        strings, is_second = self.strings, np.zeros(CODE_POINTS, bool)
        firsts = strings.characters
        if self.manner == CLUSTERS:  # if a string begins with a shorter string, only the shorter string is found
            firsts = type(firsts)(*(array[firsts.values < 0] for array in firsts))
        found, at = strings.seconds(firsts.nodes)
        if self.manner == CLUSTERS:
            first, second = firsts.codes[at], found.codes
            are_together = PAIRS[self.class_of[first], self.class_of[second]] != APART
            is_second[second[are_together & (character_sizes(first) + character_sizes(second) < SHORT)]] = True
        else:
            is_second[found.codes] = True
        return is_second

    @property
    def singles(self) -> Sequence[Sequence[int]]:
        """Runs of characters that the charsmap may change, alone or with the previous character."""
        if self.manner == KEEPING:
            return []
        edges = np.flatnonzero(np.diff(self.replaces | self.seconds, prepend=False, append=False))
        return [(first, end - 1) for first, end in edges.reshape(-1, 2).tolist()]

    @property
    def triggers(self) -> Sequence[str]:
        """Strings for a fast check whether a text may change: each such text contains one of these strings, or a character of `singles`."""
        return []

    @property
    def reach(self) -> int:
        """Upper bound on the number of bytes around a character that decide the result for it."""
        return 2 * SHORT if self.manner == CLUSTERS else self.strings.longest

    @property
    def expansion_bound(self) -> Fraction:
        """The maximum number of output bytes per input byte."""
        return max(self.strings.expansion_bound, Fraction(1))


def _aligned(replaced: Sequence[Replaced], places: Sequence[Place]) -> list[Place]:
    """The spans of characters as in ``tokenizers``.

    For each new character, ``tokenizers`` records the number of characters that are added or removed there. Then ``tokenizers`` reads the
    old characters in parallel with the new characters. An added character has the span of the last character read. Removed characters are
    read together with the new character before them. Removed characters at the beginning are never read, so all later spans lag.
    """
    changes = list[int]()
    for string, new in replaced:
        size, more = (1, 0) if new is None else (len(new), len(new) - len(string))
        changes += [0] * (size - max(more, 0)) + [1] * max(more, 0)
        if more < 0 and changes:
            changes[-1] += more
    return [*_read_along(changes, places)]


def _read_along(changes: Sequence[int], places: Sequence[Place]) -> Iterator[Place]:
    read = 0
    for change in changes:
        yield places[read - 1 if change > 0 else read]
        read += max(1 - change, 0)


def _consumed(replaced: Sequence[Replaced], places: Sequence[Place], extends: bool) -> list[Place]:
    """The spans of characters as in ``sentencepiece``: each span is from the start of the replaced string to the start of the next string.

    Only the last character of a replacement has this span; all other characters of a replacement have an empty span at the start of the
    string. If `extends` is set, the span of a character includes removed text after it.
    """
    spans, at = list[Place](), 0
    for string, new in replaced:
        begin, end = places[at][0], places[at + len(string) - 1][1]
        size = 1 if new is None else len(new)
        spans += [(begin, begin)] * (size - 1) + [(begin, end)] * (size > 0)
        at += len(string)
        if not size and spans and extends:
            spans[-1] = spans[-1][0], end
    return spans


def _is_class(run: Any) -> bool:
    if not isinstance(run, list) or len(run) != 3 or not all(type(number) is int for number in run):
        return False
    first, last, kind = run
    return bool(0 <= first <= last < CODE_POINTS and 0 <= kind <= SYLLABLE)
