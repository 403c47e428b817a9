"""Compile a transducer for look-up into a table of `fst.machines.lookup.table`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.compile.machines.lookup.arcs import Arcs
from fst.compile.machines.lookup.delay import delayed
from fst.compile.machines.lookup.fold import folded
from fst.compile.machines.lookup.labels import Labels
from fst.compile.machines.lookup.rows import table_of
from fst.compile.machines.lookup.sources import source_of
from fst.errors import TableError, UnsupportedError
from fst.machines.lookup.proof import prove_pauses
from fst.machines.lookup.table import LookupTable


def lookup(source: Any, *, inverse: bool = False, sections: Sequence[str] | None = None) -> LookupTable:
    """Compile a transducer for look-up: for each word, all outputs.

    The table may be ambiguous, as in morphological analysis. Flag diacritics, such as ``@U.CASE.ACC@``, are evaluated. Symbols of several
    characters, such as ``<n>``, are read as one symbol: at each position of a word, the longest symbol is read.

    A word is the input of the transducer, the first of the two labels in AT&T text. Transducers of foma have words on the other side: pass
    ``fst.read_att(path).invert()``.

    Args:
        source: a `fst.Fst`; the path of a file: AT&T text (``.att``, ``.txt``), whose sections are joined, OpenFst's binary format
            (``.fst``, ``.far``), an optimized-lookup file of HFST (``.hfstol``), a dictionary of Apertium (``.dix``), see `fst.read_dix`, a
            lexicon of foma and HFST (``.lexc``), see `fst.read_lexc`, a dictionary of Hunspell (``.aff`` or ``.dic``, the other file next
            to it), whose analyses are stems, or a word, an analysis and possibly a weight in columns (``.tsv``, ``.csv``), each possibly
            packed with gzip; a mapping from each word to one analysis or a list; or pairs of a word and an analysis, possibly with a
            weight.
        sections: the kind of each section of an AT&T text file, for `fst.Lookup.analyze_text`: "standard", where a token ends before a
            character that is not a letter; "inconditional", where it ends anywhere; "preblank" and "postblank", which are inconditional,
            and where a space belongs before or after the token. None: all sections are "standard", and those of dictionaries of
            Apertium have their own kinds.
        inverse: store both directions, for generation by `fst.Lookup.inverted`. Entries of dictionaries of Apertium that have one direction
            are in this direction only.

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
