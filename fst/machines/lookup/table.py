"""The machine of look-up: rows whose arcs read one symbol each, and the pieces that the arcs write.

The word is split into *symbols*: the longest symbol of several characters that begins at the current position, such as ``<n>``, otherwise
one character. Each symbol has a *class*; class 0 is a symbol that no arc reads. A path reads all classes of a word, from a root to a state
with finals. The *analysis* of a path is the concatenation of the pieces on its arcs and on its final.

From a state, the look-up of a class returns a slice of arcs; the look-up of class `EPSILON` returns the arcs that read nothing. The
compiler keeps such arcs if folding them into other arcs would take too much memory. Arcs and finals may have *conditions*: lists of
operations on features, see `fst.automata.flags`. Most slices have one arc, without a condition and a weight; the look-up returns
this arc itself, so that a walk reads one number for each symbol.

The order of analyses is: finals of a state, its arcs that read nothing, its arcs that read a class, each group in the order of the table.
In a weighted table, analyses of smaller weight come first. Equal analyses are one analysis, with the smallest weight.

The result for a word is a row of ids::

    piece, piece, …, END, piece, …, END                                      an unweighted table
    piece, piece, …, END, weight, piece, …, END, weight                      a weighted table; the weight is a float32 as int32
    …, CUT                                                                   there may be more analyses

**What kernels may assume** once a table is proven: all look-ups from a state are in the array, arcs lead to states, pieces, conditions and
operations exist, and no path reads nothing for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fst.automata import flags
from fst.automata.rows import Array
from fst.core.json_fields import TEXT, or_null, stored_as, whole
from fst.core.lazy import Lazy
from fst.machines.lookup.layout import ALONE, ENTRY, EPSILON, MAX_ANALYSES, MAX_CLASSES, UNIT_FACTOR, Arguments, Work, hashed, new_work
from fst.machines.lookup.proof import prove
from fst.machines.lookup.walk import analyses
from fst.tables.header import Sections
from fst.tables.strings import StringColumn
from fst.tables.table import Each, Table, member
from fst.text.reading_arguments import borrowable


@dataclass(frozen=True)
class LookupSettings:
    """The settings of the table.

    Attributes:
        kind: the kind of machine.
        classes: the number of classes, without class 0.
        features: the number of features.
        pieces: the number of pieces, with the empty piece 0.
        generator: the state where generation begins; None: the table contains only analysis. Analysis begins at state 0.
    """

    kind: str = stored_as(TEXT)
    classes: int = stored_as(whole(0, MAX_CLASSES))
    features: int = stored_as(whole(0, flags.MAX_FEATURES))
    pieces: int = stored_as(whole(1, (1 << 31) - 1))
    generator: int | None = stored_as(or_null(whole(0, ENTRY.max_target)))


@dataclass(frozen=True)
class LookupMetadata(Sections):
    """The metadata of a table for look-up."""

    settings: LookupSettings


@dataclass(frozen=True, eq=False)
class LookupTable(Table):
    """A compiled transducer.

    Attributes:
        units: uint32[65536], the class of each UTF-16 unit, and `BEGINS`.
        lower_units: uint16[65536], the lower case of each upper-case unit; 0 for other units.
        letters: uint32[n], ascending, the letters, marks and numbers beyond U+FFFF: a code point is in the set if the number of elements up
            to it is odd.
        symbol_keys: uint64[n], the edges of the tree of symbols of several units, ``node << 16 | unit``, ascending. Edge k leads to node
            ``ROOTS + k``.
        symbol_classes: uint32[n], the class of the symbol that ends with each edge, or 0.
        entries: uint64[slots], the rows, see `ENTRY`. An entry contains its only arc, or the first arc and the number of arcs; the entry of
            a state contains its first final and the number of its finals.
        arcs: uint64[arcs], the state and the piece of each arc that no entry contains.
        arc_conditions: uint32[arcs], the condition of each arc; empty without features.
        arc_weights: float32[arcs], the weight of each arc; empty in an unweighted table.
        arc_pauses, final_pauses: uint8[arcs] and uint8[finals], the number of arcs that were folded into each arc, at most `MAX_FOLDED`.
        final_sections: uint8[finals], the section of each final, an index into `SECTIONS`.
        final_pieces, final_conditions, final_weights: the piece, condition and weight of each final, as for arcs.
        condition_ends: uint32[conditions], the end of each condition in `operations`. Condition 0 is empty.
        operations: uint32[n], packed operations.
        piece_bytes, piece_ends: the pieces, as in `fst.tables.strings.StringColumn`.
    """

    kind: ClassVar[str] = "lookup"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-16"
    kernel: ClassVar[str] = "fst.runtime.machines.lookup.kernels.rows"
    public_class: ClassVar[str] = "fst.runtime.machines.lookup.lookup.Lookup"
    picture: ClassVar[str] = "fst.machines.lookup.picture.picture_of"
    has_bounded_ids: ClassVar[bool] = False
    has_tokens: ClassVar[bool] = False

    units: Array = member("<u4")
    lower_units: Array = member("<u2")
    letters: Array = member("<u4")
    symbol_keys: Array = member("<u8")
    symbol_classes: Array = member("<u4")
    entries: Array = member("<u8")
    arcs: Array = member("<u8")
    arc_conditions: Array = member("<u4")
    arc_weights: Array = member("<f4")
    arc_pauses: Array = member("|u1")
    final_pauses: Array = member("|u1")
    final_sections: Array = member("|u1")
    final_pieces: Array = member("<u4")
    final_conditions: Array = member("<u4")
    final_weights: Array = member("<f4")
    condition_ends: Array = member("<u4")
    operations: Array = member("<u4")
    piece_bytes: Array = member("|u1")
    piece_ends: Array = member("<i8")

    @Lazy
    def metadata(self) -> LookupMetadata:
        """The metadata of the table."""
        return LookupMetadata.from_json(self.header)

    @Lazy
    def pieces(self) -> Sequence[str]:
        """The pieces; piece 0 is empty."""
        return StringColumn(self.piece_bytes, self.piece_ends)

    @Lazy
    def alike(self) -> flags.Alike:
        """The classes of feature values that the slow walk need not distinguish."""
        return flags.Alike(self.operations.tolist())

    @property
    def is_weighted(self) -> bool:
        """Whether the ids contain weights."""
        return len(self.arc_weights) + len(self.final_weights) > 0

    @property
    def arc_count(self) -> int:
        """The number of arcs, of which most are in entries."""
        labels, values = ENTRY.labels_of(self.entries), ENTRY.values_of(self.entries)
        return len(self.arcs) + int(np.count_nonzero((labels < ENTRY.labels) & (values >= ALONE)))

    @property
    def summary(self) -> Mapping[str, Any]:
        """See `fst.tables.table.Table.summary`."""
        settings = self.metadata.settings
        return {
            "kind": self.kind,
            "states": int(np.count_nonzero(ENTRY.are_states(self.entries))),
            "arcs": self.arc_count,
            "symbols": settings.classes,
            "pieces": settings.pieces,
            "features": settings.features,
            "weights": self.is_weighted,
            "directions": "analysis" if settings.generator is None else "analysis and generation",
        }

    @property
    def ids_per_unit(self) -> int:
        """The expected number of ids per unit of text. It is not a bound, because a word may have any number of analyses."""
        return UNIT_FACTOR

    def run(self, text: str) -> list[int]:
        """The ids of the analyses of a word, by the slow walk."""
        return analyses(self, text)

    def begin(self, *, inverse: bool = False, limit: int = MAX_ANALYSES) -> Array:
        """See `Arguments.begin`; with `inverse`, for generation."""
        generator = self.metadata.settings.generator
        assert generator is not None or not inverse
        root = generator or 0 if inverse else 0
        has_epsilon = ENTRY.step(self.entries, root, EPSILON) is not None
        return np.array([root, has_epsilon, inverse, limit], np.uint64)

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernel reads."""
        hashes, powers = hashed(self.piece_bytes, self.piece_ends)
        stored = {
            name: borrowable(array, array.dtype.newbyteorder("=").type) for name, array in self.arrays().items() if name != "piece_ends"
        }
        return Arguments(
            begin=self.begin(),
            features=np.array([self.metadata.settings.features], np.uint64),
            piece_starts=np.append(0, self.piece_ends).astype(np.int64),
            hashes=hashes,
            powers=powers,
            **stored,
        )

    def work(self) -> Work:
        """The kernel's working arrays for one thread."""
        return new_work()

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        prove(self, self.metadata.settings)


def header(settings: LookupSettings) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return LookupMetadata(settings).to_json()
