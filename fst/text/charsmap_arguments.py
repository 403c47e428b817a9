"""The arguments of the kernel that applies a charsmap. `fst.text.charsmap.Charsmap.apply` specifies the result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import CODE_POINTS, Array
from fst.core.fields import Fields, Scalar
from fst.text.charsmap import CLUSTERS, IN_PIECES, Charsmap
from fst.text.clusters import PAIRS
from fst.text.stops import stops

IS_STRING, IS_SECOND = 1, 2  # bits of a character in `CharsmapArguments.kinds`


class CharsmapScalars(Fields):
    """The scalars of `CharsmapArguments`."""

    in_clusters: Scalar  # 1 if clusters are replaced, 0 if the longest strings are replaced
    extends: Scalar  # 1 if the span of a character includes removed text after it


class CharsmapArguments(NamedTuple):
    """A charsmap, see `fst.text.charsmap`. Without a charsmap, all arrays are empty.

    Attributes:
        kinds: uint8[0x110000], bits of a character: `IS_STRING` if the character is a string that changes, `IS_SECOND` if it is the second
            character of a longer string.
        stops: uint8[512], a table of `fst.text.stops` for the characters in `kinds`.
        values: uint32[0x110000], 1 + the position of a character's replacement in `texts`; 0 if the character alone is not a string.
        units: uint32[n], the double array, see `fst.automata.double_array`.
        texts: uint8[n], UTF-8 with a NUL after each replacement.
        classes: uint8[0x110000], the class of each character; pairs: uint8[classes, classes], see `fst.text.clusters.PAIRS`.
    """

    scalars: CharsmapScalars
    kinds: Array
    stops: Array
    values: Array
    units: Array
    texts: Array
    classes: Array
    pairs: Array


def charsmap_arguments(by: Charsmap | None) -> CharsmapArguments:
    """The arguments for a charsmap."""
    if by is None:
        bytes_, numbers = np.empty(0, np.uint8), np.empty(0, np.uint32)
        return CharsmapArguments(CharsmapScalars(), bytes_, bytes_, numbers, numbers, bytes_, bytes_, np.empty((0, 0), np.uint8))
    first, values = by.strings.characters, np.zeros(CODE_POINTS, np.uint32)
    values[first.codes] = first.values + 1
    return CharsmapArguments(
        CharsmapScalars(in_clusters=by.manner == CLUSTERS, extends=by.manner not in IN_PIECES),
        by.replaces * np.uint8(IS_STRING) | by.seconds * np.uint8(IS_SECOND),
        stops(by.replaces | by.seconds, ()),
        values,
        by.strings.units,
        np.frombuffer(by.strings.texts, np.uint8),
        by.class_of,
        PAIRS,
    )
