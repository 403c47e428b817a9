"""Compile ``.zhfst`` archives; see `fst.machines.speller.zhfst.table`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fst.automata import flags
from fst.automata.rows import Array
from fst.automata.trie import Ints
from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.shortest import shortest_distance
from fst.compile.machines.speller.zhfst.archive import Archive, read
from fst.compile.sources.transducers.hfstol import Numbered
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.speller.zhfst.table import MAX_FEATURES, MAX_LABELS, OTHER, ZhfstTable, header
from fst.tables.strings import stored

OTHER_NAMES = "@_IDENTITY_SYMBOL_@", "@_UNKNOWN_SYMBOL_@"  # symbols that are read in place of other characters
NEVER = -1  # the label of symbols that no text contains: their arcs are dropped


class _Labels(NamedTuple):
    """The labels of a machine's symbols.

    Attributes:
        of_names: int64[names], the label of each name, or `NEVER`.
        symbols: the names that are symbols, in the order of their labels.
        other: the label for other characters; the label of the first symbol is one more.
    """

    of_names: Ints
    symbols: Sequence[str]
    other: int


def compile_zhfst(path: Path) -> ZhfstTable:
    """Compile an archive, see `fst.compile.speller`."""
    archive = read(path)
    try:
        return table_of(archive)
    except (VocabularyError, UnsupportedError) as error:
        raise type(error)(f"{path}: {error}") from None


def table_of(archive: Archive) -> ZhfstTable:
    """Compile the contents of an archive."""
    lexicon, model = archive.lexicon, archive.error_model
    operations = flags.operations_of(lexicon.names)
    features = {flags.unpack(packed).feature for packed in operations.values()}
    if len(features) > MAX_FEATURES:
        raise UnsupportedError(f"the flag diacritics have {len(features):,} features; expected at most {MAX_FEATURES:,}")
    if flags.operations_of(model.names):
        raise UnsupportedError("the error model has flag diacritics; expected them in the lexicon only")
    labels, errors = _labels(lexicon, len(operations) + 1), _labels(model, OTHER)
    labels.of_names[[*operations]] = np.arange(1, 1 + len(operations))
    known = {symbol: labels.other + 1 + number for number, symbol in enumerate(labels.symbols)}
    written = np.array([0, *(known.get(name, labels.other) for name in model.names[1:])])
    words = _connected("lexicon", lexicon, labels.of_names[lexicon.reads], np.zeros(len(lexicon.reads), np.int64))
    changes = _connected("error model", model, errors.of_names[model.reads], written[model.writes])
    symbols = stored([*labels.symbols, *(symbol for symbol in errors.symbols if symbol not in known)])
    error_symbols = stored(errors.symbols)
    return ZhfstTable(
        header(len(labels.symbols), archive.about.get("locale", ""), archive.about.get("title", "")),
        **_stored("lexicon", words),
        lexicon_labels=words.ilabel.astype(np.uint16),
        operations=np.array([0, *operations.values()], np.uint32),
        symbol_bytes=symbols[0],
        symbol_ends=symbols[1],
        **_stored("model", changes),
        model_reads=changes.ilabel.astype(np.uint16),
        model_writes=changes.olabel.astype(np.uint16),
        model_bytes=error_symbols[0],
        model_ends=error_symbols[1],
    )


def _labels(machine: Numbered, other: int) -> _Labels:
    """The labels of a machine's symbols. Names in ``@…@`` are no symbols; symbols that arcs only write are read as single characters."""
    found, symbols = np.full(len(machine.names), NEVER, np.int64), dict[str, int]()
    found[0] = 0
    for number, name in enumerate(machine.names[1:], 1):
        is_special = len(name) > 1 and name.startswith("@") and name.endswith("@")
        if name in OTHER_NAMES:
            found[number] = other
        elif name and not is_special and (number < machine.inputs or len(name) == 1):
            found[number] = symbols.setdefault(name, other + 1 + len(symbols))
    if other + 1 + len(symbols) > MAX_LABELS:
        raise UnsupportedError(f"there are {len(symbols):,} symbols; expected fewer than {MAX_LABELS:,}")
    return _Labels(found, [*symbols], other)


def _connected(name: str, machine: Numbered, reads: Ints, writes: Ints) -> Arcs:
    """The states and arcs of a machine that are on a path to an end, with labels; sorted by the label that is read, then by the other."""
    weights = np.zeros(len(reads), np.float32) if machine.weights is None else machine.weights
    if (weights < 0).any() or (machine.finals < 0).any():
        lowest = min(weights.min(initial=0), machine.finals.min(initial=0))
        raise UnsupportedError(f"the {name} has the weight {lowest:g}; expected no negative weights")
    order = np.flatnonzero(reads != NEVER)
    order = order[np.argsort(writes[order], kind="stable")]
    found = connect(
        make(machine.sources[order], reads[order], writes[order], machine.targets[order], weights[order], machine.finals, 0)
    )
    return found if found.states else make([], [], [], [], None, [np.inf], 0)


def _stored(name: str, arcs: Arcs) -> dict[str, Array]:
    """The arrays of a machine, apart from its labels, by name."""
    distances = shortest_distance(arcs, reverse=True)
    parts = {
        "starts": arcs.row_start.astype(np.uint32),
        "targets": arcs.target.astype(np.uint32),
        "weights": arcs.weights,
        "finals": arcs.final,
        "distances": np.nextafter(distances.astype(np.float32), np.float32(0)),
    }
    return {f"{name}_{part}": array for part, array in parts.items()}
