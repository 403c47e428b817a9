"""Read the sources of a look-up as one machine."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fst.automata.trie import Ints
from fst.compile.algebra.arcs import Arcs, held
from fst.compile.algebra.build.strings import Entry, from_strings
from fst.compile.algebra.forms.characters import over_characters
from fst.compile.algebra.machine import read_att_sections, read_dix, read_hfstol, read_hunspell, read_lexc, read_openfst
from fst.compile.algebra.rational import invert, union
from fst.compile.files import read_text
from fst.compile.sources.transducers.dix import dictionary
from fst.compile.sources.transducers.hunspell import dictionary as hunspell
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted
from fst.machines.lookup.layout import SECTIONS

UNKNOWN_KINDS = "without `sections`, or --sections, all count as standard, so that running text has no token, such as l', before a letter"


class Source(NamedTuple):
    """A source of a look-up."""

    machine: Arcs  # the transducer of analysis
    kinds: Ints  # int64[states], the kind of the section of each state, an index into `SECTIONS`
    generator: Arcs | None  # the transducer whose outputs are read in generation; None without generation
    letters: str = ""  # characters that are letters, in addition to Unicode's letters


def source_of(source: Any, sections: Sequence[str] | None, *, inverse: bool) -> Source:
    """Read a source; see `fst.compile.lookup`."""
    reader = READERS.get(_ending(Path(source))) if isinstance(source, str | Path) and sections is None else None
    if reader is read_dix:
        return _of_dix(Path(source), inverse=inverse)
    if reader is read_hunspell:
        machine = hunspell.read(Path(source), marks=True)
        return Source(machine, np.zeros(machine.states, np.int64), hunspell.read(Path(source)) if inverse else None)
    machine, kinds = _with_sections(source, sections)
    return Source(machine, kinds, machine if inverse else None)


def _of_dix(path: Path, *, inverse: bool) -> Source:
    """Read a dictionary of Apertium, which determines the kinds of its sections, and which entries are for one direction only."""
    found = dictionary.read(path)
    kinds = np.repeat([SECTIONS.index(kind) for kind in found.sections], [machine.states for machine in found.sections.values()])
    generator = invert(dictionary.joined(dictionary.read(path, "rl"))) if inverse else None
    machine = dictionary.joined(found)
    return Source(machine, np.concatenate([[0], kinds])[: machine.states].astype(np.int64), generator, found.alphabet)


def _with_sections(source: Any, sections: Sequence[str] | None) -> tuple[Arcs, Ints]:
    """Read a source, and find the kind of the section of each state."""
    if sections is None:
        machine = over_characters(machine_of(source))
        return machine, np.zeros(machine.states, np.int64)
    for kind in sections:
        if kind not in SECTIONS:
            raise ValueError(not_one_of("section", kind, SECTIONS))
    if not isinstance(source, str | Path) or READERS.get(_ending(Path(source))) is not _of_att:
        raise VocabularyError(f"the source is {quoted(source)}; expected AT&T text: other formats contain the kinds, or have no sections")
    found = read_att_sections(source)
    if len(found) != len(sections):
        raise VocabularyError(f"{source}: there are {len(found)} sections; expected {len(sections)}, the number of kinds in `sections`")
    kinds = np.repeat([SECTIONS.index(kind) for kind in sections], [machine.states for machine in found])
    return union(found), np.concatenate([[0], kinds])  # the first state of a union is a new one


def machine_of(source: Any) -> Arcs:
    """Read a source as one machine."""
    source = held(source)
    if isinstance(source, Arcs):
        return source
    if isinstance(source, str | Path):
        return _of_file(Path(source))
    if isinstance(source, Mapping):
        return from_strings(_pairs(source))
    if isinstance(source, Sequence) and source and all(isinstance(one, Path) for one in source):
        return _of_files(source)
    if isinstance(source, Iterable):
        return from_strings(source)
    raise VocabularyError(f"the source is {type(source).__name__}; expected an Fst, the path of a file, a mapping, or pairs")


def _of_file(path: Path) -> Arcs:
    read = READERS.get(_ending(path))
    if _ending(path) in UNREAD:
        raise UnsupportedError(f"the file {quoted(path.name)} {UNREAD[_ending(path)]}")
    if read is None:
        raise UnsupportedError(f"the file is {quoted(path.name)}; expected a file with the ending {', '.join(READERS)}, also with .gz")
    return read(path)


def _of_files(paths: Sequence[Path]) -> Arcs:
    """Read several files in their order as one lexicon of lexc."""
    for path in paths:
        if _ending(path) != ".lexc":
            raise UnsupportedError(f"the file {quoted(path.name)} is one of several; expected one file, or several with the ending .lexc")
    return read_lexc(paths)


def _ending(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return name[name.rfind(".") :]


def _of_att(path: Path) -> Arcs:
    """Read AT&T text as one machine. If it has sections, as lttoolbox writes them, a warning reports that their kinds are unknown."""
    found = read_att_sections(path)
    if len(found) > 1:
        logging.getLogger("fst").warning("fst: %s has %d sections; %s", path.name, len(found), UNKNOWN_KINDS)
    return found[0] if len(found) == 1 else union(found)


def _of_tsv(path: Path) -> Arcs:
    """Read lines of a word, an analysis and possibly a weight."""
    return from_strings(_of_records(path, csv.reader(io.StringIO(read_text(path), newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)))


def _of_csv(path: Path) -> Arcs:
    """Read records of a word, an analysis and possibly a weight."""
    return from_strings(_of_records(path, csv.reader(io.StringIO(read_text(path), newline=""), strict=True)))


def _of_records(path: Path, records: Iterable[list[str]]) -> Iterator[Entry]:
    for number, record in enumerate(records, 1):
        if len(record) not in (2, 3):
            raise VocabularyError(f"{path}, line {number}: the line has {len(record)} columns; expected a word, an analysis and a weight")
        try:
            yield (record[0], record[1]) if len(record) == 2 else (record[0], record[1], float(record[2]))
        except ValueError:
            raise VocabularyError(f"{path}, line {number}: the weight is {quoted(record[2])}; expected a number") from None


def _pairs(analyses: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """The pairs of a mapping from words to one analysis or several."""
    for word, found in analyses.items():
        for analysis in [found] if isinstance(found, str) else found:
            yield word, analysis


READERS: Mapping[str, Callable[[Path], Arcs]] = {
    **dict.fromkeys([".att", ".txt"], _of_att),
    **dict.fromkeys([".fst", ".far"], read_openfst),
    ".dix": read_dix,
    ".hfstol": read_hfstol,
    ".lexc": read_lexc,
    **dict.fromkeys([".aff", ".dic"], read_hunspell),
    ".tsv": _of_tsv,
    ".csv": _of_csv,
}
TO_TEXT = "write its machine as AT&T text with hfst-fst2txt, or with foma's write att, and compile the .att file"
UNREAD: Mapping[str, str] = {  # files of morphologies that are not read, and what to do
    **dict.fromkeys([".xfst", ".xfscript", ".regex", ".xre", ".foma"], f"is of xfst or foma; expected a lexicon or a machine; {TO_TEXT}"),
    ".twolc": f"has two-level rules; expected a lexicon or a machine; compose it with hfst-twolc and hfst-compose-intersect, and {TO_TEXT}",
    **dict.fromkeys([".hfst", ".ol"], f"is a binary file of HFST; expected .hfstol, or AT&T text; {TO_TEXT}"),
    ".acx": "has equivalent characters of lttoolbox; expected a dictionary; run lt-comp with both files and lt-print -H; compile the .att",
    ".lsx": "has separable words of lttoolbox; expected a dictionary; run lsx-comp and lt-print -H, and compile the .att file",
}
