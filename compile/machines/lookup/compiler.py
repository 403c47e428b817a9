"""Compile a transducer for look-up into a table of `fst.machines.lookup.table`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fst.compile.algebra.arcs import Arcs as Machine
from fst.compile.algebra.build import from_strings
from fst.compile.algebra.machine import read_att_sections
from fst.compile.algebra.rational import union
from fst.compile.machines.lookup.arcs import Arcs
from fst.compile.machines.lookup.fold import folded
from fst.compile.machines.lookup.labels import Labels
from fst.compile.machines.lookup.rows import table_of
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.lookup.table import LookupTable

ENDINGS = (".att", ".att.gz", ".txt", ".txt.gz")


def lookup(source: Any, *, inverse: bool = False) -> LookupTable:
    """Compile a transducer for look-up: for each word, all outputs.

    The table may be ambiguous, as in morphological analysis. Flag diacritics, such as ``@U.CASE.ACC@``, are evaluated. Symbols of several
    characters, such as ``<n>``, are read as one symbol: at each position of a word, the longest symbol is read.

    Args:
        source: a `fst.Fst`; the path of an AT&T text file (``.att`` or ``.txt``, possibly packed with gzip), whose sections are joined; a
            mapping from each word to its analyses, a str or a list of str; or an iterable of pairs of a word and an analysis, with an
            optional weight.
        inverse: store both directions, for generation by `fst.Lookup.inverted`.

    Raises:
        VocabularyError: the source is malformed; the message contains the position.
        UnsupportedError: the source needs a feature that this version lacks, or is too large.
        OSError: the file cannot be read.

    Examples:
        >>> table = lookup({"flies": ["fly+N+Pl", "fly+V+3Sg"], "fly": ["fly+N+Sg", "fly+V"]})
        >>> table.summary["symbols"]
        6
    """
    machine = _machine(source)
    if machine.unit != "character":
        raise UnsupportedError(f"the unit of the machine is {machine.unit!r}; expected 'character'; make it from characters")
    labels = Labels(machine, inverse=inverse)
    root = max(machine.start, 0)
    parts = [folded(labels.arcs(machine, inverse=side), root, labels.pieces, labels.conditions) for side in (False, True)[: 1 + inverse]]
    roots = [root, root + max(machine.states, 1)][: len(parts)]
    moved = [
        part._replace(source=part.source + first - root, target=part.target + first - root)
        for part, first in zip(parts, roots, strict=True)
    ]
    return table_of(Arcs(*map(np.concatenate, zip(*moved, strict=True))), roots, labels)


def _machine(source: Any) -> Machine:
    """Read a source as one machine."""
    if isinstance(source, Machine):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.name.lower().endswith(ENDINGS):
            raise UnsupportedError(f"the file is {quoted(path.name)}; expected AT&T text, with the ending {' or '.join(ENDINGS)}")
        sections = read_att_sections(path)
        return sections[0] if len(sections) == 1 else union(sections)
    if isinstance(source, Mapping):
        return from_strings(_pairs(source))
    if isinstance(source, Iterable):
        return from_strings(source)
    raise VocabularyError(f"the source is {type(source).__name__}; expected an Fst, the path of a file, a mapping, or pairs")


def _pairs(analyses: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """The pairs of a mapping from words to one analysis or several."""
    for word, found in analyses.items():
        for analysis in [found] if isinstance(found, str) else found:
            yield word, analysis
