"""Compile a transducer for look-up into a table of `fst.machines.lookup.table`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import Ints
from fst.compile.algebra.other import need_closed
from fst.compile.layout.rows import filled, placed
from fst.compile.machines.lookup.arcs import FINAL, Arcs, sorted_by_source, starts_of
from fst.compile.machines.lookup.delay import delayed
from fst.compile.machines.lookup.fold import folded
from fst.compile.machines.lookup.labels import Labels, lower_units
from fst.compile.machines.lookup.sources import source_of
from fst.errors import TableError, UnsupportedError
from fst.machines.lookup.arcs import alone_values
from fst.machines.lookup.layout import (
    ALONE,
    ENTRY,
    EPSILON,
    HAS_EPSILON,
    MAX_ALONE_PAUSES,
    MAX_ALONE_PIECE,
    MAX_FOLDED,
    OUTPUT_SHIFT,
)
from fst.machines.lookup.proof import prove_pauses
from fst.machines.lookup.table import LookupSettings, LookupTable, header
from fst.tables.strings import stored


def lookup(source: Any, *, inverse: bool = False, sections: Sequence[str] | None = None) -> LookupTable:
    """Compile a transducer for look-up: for each word, all outputs.

    The table may be ambiguous, as in morphological analysis. Flag diacritics, such as ``@U.CASE.ACC@``, are evaluated. Symbols of several
    characters, such as ``<n>``, are read as one symbol: at each position of a word, the longest symbol is read.

    A word is the input of the transducer, the first of the two labels in AT&T text. Transducers of foma have words on the other side: pass
    ``fst.read_att(path).invert()``.

    Args:
        source: a `fst.Fst` or `fst.pynini.Fst`; the path of a file: AT&T text (``.att``, ``.txt``), whose sections are joined, OpenFst's
            binary format (``.fst``, ``.far``), an optimized-lookup file of HFST (``.hfstol``), a dictionary of Apertium (``.dix``), see
            `fst.read_dix`, a lexicon of foma and HFST (``.lexc``), see `fst.read_lexc`, a dictionary of Hunspell (``.aff`` or ``.dic``,
            with the other file next to it), whose analyses are stems, or columns with a word, an analysis and possibly a weight (``.tsv``,
            ``.csv``), each possibly packed with gzip; a list of `pathlib.Path` of ``.lexc`` files, which are read in this order as one
            lexicon; a mapping from each word to one analysis or a list; or pairs of a word and an analysis, possibly with a weight.
        sections: the kind of each section of an AT&T text file, for `fst.Lookup.analyze_text`: in "standard", a token ends before a
            character that is not a letter; in "inconditional", it ends anywhere; "preblank" and "postblank" are inconditional, with a space
            before or after the token. None: all sections are "standard", except that dictionaries of Apertium define the kinds of their
            sections.
        inverse: store both directions, for generation by `fst.Lookup.inverted`. Entries of dictionaries of Apertium that are for one
            direction only are stored in this direction only.

    Raises:
        VocabularyError: the source is malformed, or has another number of sections; the message contains the position.
        UnsupportedError: the source needs a feature that this version lacks, or is too large.
        OSError: the file cannot be read.
        ValueError: a section has an unknown kind.

    Examples:
        >>> table = lookup({"flies": ["fly+N+Pl", "fly+V+3Sg"], "fly": ["fly+N+Sg", "fly+V"]})
        >>> table.summary["symbols"]
        6
    """
    found = source_of(source, sections, inverse=inverse)
    need_closed(found.machine, "a look-up")
    labels = Labels(found.machine, found.generator, found.letters)
    pools, roots = (labels.pieces, labels.conditions), [max(found.machine.start, 0)]
    parts = [delayed(folded(labels.arcs(found.machine, found.kinds), roots[0], *pools), roots[0], *pools)]
    if found.generator is not None:
        root, offset = max(found.generator.start, 0), max(parts[0].states, roots[0] + 1)
        part = delayed(folded(labels.arcs(found.generator, inverse=True), root, *pools), root, *pools)
        parts.append(part._replace(source=part.source + offset, target=part.target + offset))
        roots.append(root + offset)
    table = table_of(Arcs(*map(np.concatenate, zip(*parts, strict=True))), roots, labels)
    try:
        prove_pauses(table)
    except TableError as error:
        raise UnsupportedError(f"{error}; expected fewer; remove ε-arcs first") from None
    return table


def table_of(arcs: Arcs, roots: Any, labels: Labels) -> LookupTable:
    """Lay out arcs as a table. `arcs`: the arcs of one direction, or of both, with different states. `roots`: the first state of each
    direction. `labels`: the classes, pieces and conditions of the arcs.
    """
    arcs, roots = _renumbered(arcs, np.asarray(roots, np.int64))
    arcs, pieces = _with_used_pieces(arcs, labels.pieces.items)
    is_final = arcs.label == FINAL
    finals, real = arcs.take(is_final), arcs.take(~is_final)
    finals = sorted_by_source(finals)  # here, the root already has its new number
    real = real.take(np.argsort(real.source * (labels.count + 1) + real.label, kind="stable"))
    states = max(arcs.states, int(roots.max()) + 1)
    has_epsilon = np.zeros(states, np.bool_)
    has_epsilon[real.source[real.label == EPSILON]] = True
    slots, entries, is_outside = _entries(real, finals, has_epsilon, labels.count)
    real = real.take(is_outside)
    features = labels.features if arcs.condition.any() else 0
    is_weighted = bool(arcs.weight.any())
    piece_bytes, piece_ends = stored(pieces)
    symbol_keys, symbol_classes = labels.symbols()
    conditions = labels.conditions.items if features else [()]
    columns = {
        f"{noun}_{name}": column.astype(dtype) if is_needed else np.zeros(0, dtype)
        for noun, some in (("arc", real), ("final", finals))
        for name, column, dtype, is_needed in (
            ("conditions", some.condition, np.uint32, features),
            ("weights", some.weight, np.float32, is_weighted),
        )
    }
    return LookupTable(
        header(LookupSettings(LookupTable.kind, labels.count, features, len(piece_ends), int(slots[roots[1]]) if len(roots) > 1 else None)),
        units=labels.units(),
        lower_units=lower_units(),
        letters=labels.long_letters(),
        symbol_keys=symbol_keys,
        symbol_classes=symbol_classes,
        entries=entries,
        arcs=(slots[real.target] | has_epsilon[real.target].astype(np.int64) << HAS_EPSILON | real.output << OUTPUT_SHIFT).astype(
            np.uint64
        ),
        arc_pauses=_pauses(real),
        final_pauses=_pauses(finals),
        final_sections=finals.section.astype(np.uint8),
        final_pieces=finals.output.astype(np.uint32),
        condition_ends=np.cumsum([len(operations) for operations in conditions]).astype(np.uint32),
        operations=np.array([operation for operations in conditions for operation in operations], np.uint32),
        piece_bytes=piece_bytes,
        piece_ends=piece_ends,
        **columns,
    )


def _pauses(arcs: Arcs) -> Array:
    """See `fst.machines.lookup.table.LookupTable.arc_pauses`."""
    return np.minimum(arcs.pauses, MAX_FOLDED).astype(np.uint8)


def _renumbered(arcs: Arcs, roots: Ints) -> tuple[Arcs, Ints]:
    """Number the states from 0, without gaps; the first root gets 0."""
    used = np.zeros(max(arcs.states, int(roots.max()) + 1), np.bool_)
    used[arcs.source] = used[arcs.target] = used[roots] = True
    used[roots[0]] = False
    numbers = np.cumsum(used, dtype=np.int64)
    numbers[roots[0]] = 0
    return arcs._replace(source=numbers[arcs.source], target=numbers[arcs.target]), numbers[roots]


def _with_used_pieces(arcs: Arcs, pieces: Sequence[str]) -> tuple[Arcs, list[str]]:
    """Number the pieces that arcs write by their frequency, after the empty piece."""
    counts = np.bincount(arcs.output, minlength=len(pieces))
    counts[0] = len(arcs.output) + 1
    used = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    numbers = np.zeros(len(pieces), np.int64)
    numbers[used] = np.arange(len(used))
    return arcs._replace(output=numbers[arcs.output]), [pieces[piece] for piece in used.tolist()]


def _entries(arcs: Arcs, finals: Arcs, has_epsilon: Array, classes: int) -> tuple[Ints, Array, Array]:
    """The slot of each state, the entries of all rows, and for each arc, whether it is in no entry.

    Args:
        arcs: the arcs, sorted by source and label.
        finals: the finals.
        has_epsilon: whether each state has arcs that read nothing.
        classes: the number of classes.
    """
    states = len(has_epsilon)
    keys = arcs.source * (classes + 1) + arcs.label
    firsts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    counts = np.diff(np.append(firsts, len(keys)))
    starts = starts_of(arcs.source[firsts], states)
    order = np.concatenate([[0], 1 + np.argsort(-np.diff(starts)[1:], kind="stable")])
    slots = placed(ENTRY, starts, arcs.label[firsts], order, 1 + classes)
    final_starts = starts_of(np.sort(finals.source), states)
    final_counts = np.diff(final_starts)
    if max(len(arcs.source), len(finals.source)) > ENTRY.max_target or max(counts.max(initial=0), final_counts.max()) >= ALONE:
        raise UnsupportedError(f"the machine takes {len(arcs.source):,} arcs; a table has room for {ENTRY.max_target:,}")
    own = ENTRY.pack(ENTRY.own, final_starts[:-1], final_counts)
    entries = filled(ENTRY, slots, ENTRY.first + 1 + classes, own, "the machine")
    some, is_outside = arcs.take(firsts), np.ones(len(keys), np.bool_)
    is_alone = (counts == 1) & (some.condition == 0) & (some.weight == 0) & (some.pauses <= MAX_ALONE_PAUSES)
    is_alone &= some.output <= MAX_ALONE_PIECE
    is_outside[firsts[is_alone]] = False
    alone = alone_values(some.output, some.pauses, has_epsilon[some.target].astype(np.int64))
    targets = np.where(is_alone, slots[some.target], np.cumsum(is_outside)[firsts] - 1)
    entries[slots[some.source] + ENTRY.first + some.label] = ENTRY.pack(some.label, targets, np.where(is_alone, alone, counts))
    return slots, entries, is_outside
