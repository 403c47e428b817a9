"""Read and write AT&T text, the exchange format of foma, HFST, OpenFst and lttoolbox.

A line is an arc (source, target, input, output, weight) or a final state (state, weight), and weights of 0 may be missing. The first state
in the file is the start. lttoolbox separates several machines by lines ``--``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from math import inf, isnan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fst.compile.algebra.arcs import ANOTHER, EPSILON, OTHER, Arcs, Unit, make
from fst.compile.algebra.other import has_other
from fst.compile.algebra.symbols import Symbols, text_of
from fst.compile.files import read_text
from fst.errors import UnsupportedError, VocabularyError, quoted

SECTION = "--"
EPSILONS = ("@0@", "@_EPSILON_SYMBOL_@", "<eps>")
ESCAPES = {"@_SPACE_@": " ", "@_TAB_@": "\t", "@_NEWLINE_@": "\n", "@_CARRIAGE_RETURN_@": "\r", "@_COLON_@": ":"}
ESCAPE = re.compile("|".join(ESCAPES))
WRITTEN = str.maketrans({char: name for name, char in ESCAPES.items() if name != "@_COLON_@"})
DEFAULT = "@_DEFAULT_SYMBOL_@"  # any symbol that no arc of the state reads, in files of lttoolbox and HFST
END_OF_STATES = 10**18
MAX_GAPS = 4  # the largest ratio of the highest number of a state to the number of states
ZERO = "0"  # ε; but a digit in files that contain one of `EPSILONS`


class _Columns(NamedTuple):
    """Numbers and labels of one section."""

    source: list[int]
    target: list[int]
    read: list[int]
    write: list[int]
    weight: list[float] | None
    ends: list[int]
    end_weights: list[float]


def read_sections(path: Path, *, numbers: bool = False, unit: Unit = "character") -> list[Arcs]:
    """The machines of a file, one for each section. `path`: a file, possibly packed with gzip. `numbers`: labels are decimal numbers, as
    OpenFst prints machines without symbol tables. `unit`: the meaning of numbers: code points, or bytes.
    """
    rows = _rows(read_text(path))
    write = 2 if any(len(row) == 3 for row in rows) else 3  # the last column of labels: lines of 3 columns are arcs of an acceptor
    label, symbols = _labels(rows, write, numbers, unit)
    breaks = [-1, *(at for at, row in enumerate(rows) if row == [SECTION]), len(rows)]
    sections = []
    for before, after in pairwise(breaks):
        section = [row for row in rows[before + 1 : after] if row]
        try:
            sections.append((_columns(section, label, write), int(section[0][0]) if section else None))
        except (ValueError, KeyError, IndexError):
            raise _fault(path, rows[:after], before + 1, label, write) from None
    return [_machine(columns, start, symbols.names, unit) for columns, start in sections]


def _rows(text: str) -> list[list[str]]:
    r"""The columns of each line. Columns end at tabs or, in a file without tabs, at spaces; a line ends only at "\n" or "\r\n"."""
    lines = text.replace("\r\n", "\n").replace("\t\n", "\n").split("\n")  # lt-print writes a tab at the end of lines with arcs
    separator = "\t" if "\t" in text else None
    return [line.split(separator) if line else [] for line in lines]


def _labels(rows: Sequence[Sequence[str]], write: int, numbers: bool, unit: Unit) -> tuple[dict[str, int], Symbols]:
    symbols = Symbols(unit=unit)
    names = dict.fromkeys(chain.from_iterable(row[2 : write + 1] for row in rows if len(row) > 2))
    if numbers:
        return {name: symbols.number(int(name)) for name in names if _is_number(name)}, symbols
    epsilons = {*EPSILONS} if names.keys() & {*EPSILONS} else {*EPSILONS, ZERO}
    found = {}
    for name in names:
        if name == DEFAULT:
            raise UnsupportedError(f"the label {name} is not supported; expected a label of characters, or {OTHER}")
        found[name] = EPSILON if name in epsilons else symbols.label(unescaped(name))
    return found, symbols


def unescaped(name: str) -> str:
    """A symbol in which escapes, such as ``@_SPACE_@``, are replaced by their characters."""
    return ESCAPE.sub(lambda found: ESCAPES[found[0]], name) if "@_" in name else name


def _columns(rows: Sequence[Sequence[str]], label: dict[str, int], write: int) -> _Columns:
    """The numbers of the lines; a ValueError, KeyError or IndexError if a line is malformed."""
    if not {*map(len, rows)} <= {1, 2, write + 1, write + 2}:
        raise ValueError
    arcs = [row for row in rows if len(row) > 2]
    ends = [row for row in rows if len(row) <= 2]
    weighted = any(len(row) > write + 1 for row in arcs)
    return _Columns(
        _states([row[0] for row in arcs]),
        _states([row[1] for row in arcs]),
        [label[row[2]] for row in arcs],
        [label[row[write]] for row in arcs],
        [_weight(row[write + 1]) if len(row) > write + 1 else 0.0 for row in arcs] if weighted else None,
        _states([row[0] for row in ends]),
        [_weight(row[1]) if len(row) > 1 else 0.0 for row in ends],
    )


def _states(texts: list[str]) -> list[int]:
    """The numbers of states; a ValueError if one is malformed."""
    digits, found = "".join(texts), [*map(int, texts)]
    if texts and not (digits.isascii() and digits.isdigit() and max(found) < END_OF_STATES):
        raise ValueError
    return found


def _weight(text: str) -> float:
    weight = float(text)
    if isnan(weight) or weight == -inf:
        raise ValueError
    return weight


def _machine(columns: _Columns, start: int | None, symbols: tuple[str, ...], unit: Unit) -> Arcs:
    """The machine of a section. States keep their numbers; if the numbers have large gaps, states are numbered again, in the same order."""
    named = np.array([*columns.source, *columns.target, *columns.ends], np.int64)
    states, numbers = np.unique(named, return_inverse=True)
    if len(states) and states[-1] < MAX_GAPS * len(states):
        states, numbers = np.arange(states[-1] + 1), named
    source, target, ends = np.split(numbers, [len(columns.source), 2 * len(columns.source)])
    final = np.full(len(states), np.inf, np.float32)
    final[ends] = columns.end_weights
    first = -1 if start is None else int(np.searchsorted(states, start))
    return make(source, columns.read, columns.write, target, columns.weight, final, first, symbols, unit)


def _fault(path: Path, rows: Sequence[Sequence[str]], first: int, label: dict[str, int], write: int) -> VocabularyError:
    """The error for the first malformed line of a section."""
    for number in range(first, len(rows)):
        problem = _problem(rows[number], label, write) if rows[number] else ""
        if problem:
            return VocabularyError(f"{path}, line {number + 1}: {problem}")
    raise AssertionError(f"{path}: no line is malformed")


def _problem(row: Sequence[str], label: dict[str, int], write: int) -> str:
    """The fault of a line; "" if the line is correct."""
    is_arc = len(row) > 2
    if len(row) > write + 2 or (is_arc and len(row) <= write):
        return f"the line has {len(row)} columns; expected {write + 1} or {write + 2} for an arc, or 1 or 2 for a final state"
    for state in row[: 2 if is_arc else 1]:
        if not _is_number(state):
            return f"the state is {quoted(state)}; expected a decimal number"
    for name in row[2 : write + 1]:
        if name not in label:
            return f"the label is {quoted(name)}; expected a decimal number"
    weights = row[write + 1 :] if is_arc else row[1:]
    return "".join(f"the weight is {quoted(text)}; expected a number" for text in weights if not _is_weight(text))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _is_weight(text: str) -> bool:
    try:
        _weight(text)
    except ValueError:
        return False
    return True


def written(arcs: Arcs, *, numbers: bool = False) -> str:
    """A machine as tab-separated text; ε is ``@0@``. `numbers`: write labels as decimal numbers, ε as ``0``. The start
    is the state of the first line, as in OpenFst, and has the number 0, as in HFST.
    """
    number = [*range(arcs.states)]
    if arcs.states:
        number[0], number[arcs.start] = arcs.start, 0
    names = {label: str(label) for label in _used(arcs)} if numbers else _names(arcs)
    lines = []
    for state in sorted(range(arcs.states), key=lambda state: state != arcs.start):
        if state == arcs.start and not _has_line(arcs, state):
            lines.append("0\tInfinity")
        lines += [
            f"{number[state]}\t{number[target]}\t{_pair(names[read], names[written])}" + (f"\t{weight:.9g}" if weight else "")
            for read, written, target, weight in arcs.arcs_of(state)
        ]
        if np.isfinite(arcs.final[state]):
            lines.append(f"{number[state]}\t{arcs.final[state]:.9g}" if arcs.final[state] else f"{number[state]}")
    if not numbers and ord(ZERO) in names and EPSILON not in names:  # an arc to no state; without an ε in the file, 0 would be read as ε
        lines.append(f"0\t{arcs.states}\t{EPSILONS[0]}\t{EPSILONS[0]}")
    if has_other(arcs) and not numbers:  # arcs between no states, for the symbols that are only in the alphabet
        unused = {*map(_escaped, arcs.symbols)} - {*names.values(), OTHER, ANOTHER}
        lines += [f"{arcs.states}\t{arcs.states}\t{name}\t{name}" for name in sorted(unused)]
    return "".join(f"{line}\n" for line in lines)


def _has_line(arcs: Arcs, state: int) -> bool:
    return bool(np.isfinite(arcs.final[state]) or arcs.row_start[state + 1] > arcs.row_start[state])


def _used(arcs: Arcs) -> list[int]:
    found: list[int] = np.unique(np.concatenate([arcs.ilabel, arcs.olabel])).tolist()
    return found


def _names(arcs: Arcs) -> dict[int, str]:
    if arcs.unit != "character":
        raise UnsupportedError("labels are bytes, which AT&T text has no names for; write numbers")
    names = {}
    for label in _used(arcs):
        name = text_of([label], arcs.symbols)
        if name in (*EPSILONS, DEFAULT) or ESCAPE.search(name):
            raise VocabularyError(f"the symbol {quoted(name)} cannot be written as AT&T text; expected another name")
        names[label] = _escaped(name) or EPSILONS[0]
    return names


def _escaped(name: str) -> str:
    return name.translate(WRITTEN)


def _pair(read: str, written: str) -> str:
    """The columns of two labels. Any other symbol is written as `OTHER` if it is copied, otherwise as `ANOTHER`."""
    names = [read, written]
    return "\t".join(names if read == written == OTHER else [ANOTHER if name == OTHER else name for name in names])
