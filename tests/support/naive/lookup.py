"""Look-up by its definition: follow every path of a transducer, without a table; or every path of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np

from fst.automata.flags import FLAG, applied
from fst.compile.algebra.arcs import FIRST_SYMBOL, Arcs
from fst.machines.lookup.arcs import Registers
from fst.machines.lookup.layout import CUT, END, END_FOLDED, MAX_ANALYSES
from fst.machines.lookup.walk import Move, Symbol, moves_of

Features = dict[str, tuple[bool, str]]  # feature → whether it has the value (else it must not have it), and the value


def look_up(machine: Arcs, word: str) -> dict[str, float]:
    """The outputs of a transducer for a word, each with the smallest weight of its paths."""
    names = {label: chr(label) for label in {*machine.ilabel.tolist(), *machine.olabel.tolist()} if label < FIRST_SYMBOL}
    names |= {0: "", **{FIRST_SYMBOL + number: name for number, name in enumerate(machine.symbols)}}
    longest = sorted((names[label] for label in {*machine.ilabel.tolist()} if label >= FIRST_SYMBOL), key=len, reverse=True)
    found = dict[str, float]()
    for written, weight in _paths(machine, names, _symbols(word, longest), 0, machine.start, {}):
        found[written] = min(weight, found.get(written, weight))
    return found


def _symbols(word: str, longest: list[str]) -> list[str]:
    """Split a word into symbols, the longest first."""
    symbols = []
    while word:
        symbols.append(next((name for name in longest if word.startswith(name)), word[0]))
        word = word[len(symbols[-1]) :]
    return symbols


def _paths(
    machine: Arcs, names: dict[int, str], symbols: list[str], at: int, state: int, features: Features
) -> Iterator[tuple[str, float]]:
    """Yield the output and the weight of each path from a state that reads the symbols from `at` on."""
    if at == len(symbols) and isfinite(machine.final[state]):
        yield "", float(machine.final[state])
    for read, write, target, weight in machine.arcs_of(state):
        symbol, after = names[read], features
        flag = FLAG.fullmatch(symbol)
        if flag:
            allowed = _evaluated(flag[1], flag[2], flag[3], features)
            if allowed is None:
                continue
            after = allowed
        elif read and symbols[at : at + 1] != [symbol]:
            continue
        written = names[write]
        for rest, more in _paths(machine, names, symbols, at + bool(read and not flag), target, after):
            yield ("" if FLAG.fullmatch(written) else written) + rest, weight + more


def _evaluated(kind: str, feature: str, value: str | None, features: Features) -> Features | None:
    """The features after an operation; None if the operation fails."""
    held = features.get(feature)
    if kind == "P":
        return {**features, feature: (True, value or "")}
    if kind == "N":
        return {**features, feature: (False, value or "")}
    if kind == "C":
        return {other: has for other, has in features.items() if other != feature}
    if kind == "U":
        unites = held is None or held == (True, value) or (not held[0] and held[1] != value)
        return {**features, feature: (True, value or "")} if unites else None
    has = held is not None if value is None else held == (True, value)
    return features if has == (kind == "R") else None


def paths_of(table: Any, symbols: Sequence[Symbol], root: int) -> Iterator[tuple[list[Move], bool]]:
    """Yield every path of a table that reads some symbols, in the order of the table: its moves, and whether it reads in lower case."""
    pending: list[tuple[Any, Registers, list[Move]]] = [((0, root, False), (0,) * table.metadata.settings.features, [])]
    while pending:
        place, registers, moves = pending.pop()
        following = []
        for move in moves_of(table, symbols, place):
            after = applied(move.operations, registers).registers
            if after is not None and move.to is None:
                yield [*moves, move], place[2]
            elif after is not None:
                following.append((move.to, after, [*moves, move]))
        pending += reversed(following)


def ids_of_paths(table: Any, paths: Iterable[tuple[list[Move], bool]], limit: int, *, in_text: bool) -> list[int]:
    """The ids of the analyses of the paths of `paths_of`; equal analyses become the first of them, with the smallest key of all."""
    found = dict[tuple[str, bool], tuple[list[int], Any]]()
    is_sorted = in_text or table.is_weighted
    is_cut = False
    for moves, folds in paths:
        weight, ranks = np.float32(0), [0]
        for move in moves:
            weight, ranks[-1] = weight + move.weight, ranks[-1] + move.pauses + move.is_pause
            ranks += [0] if move.to is not None and not move.is_pause else []
        pieces, key = [move.piece for move in moves if move.piece], (float(weight), ranks[::-1] if in_text else [])
        written = "".join(table.pieces[piece] for piece in pieces), folds
        if written not in found and len(found) == (MAX_ANALYSES if is_sorted else limit):
            is_cut = True
            break
        first = found.setdefault(written, (pieces, key))
        found[written] = first[0], min(first[1], key)
    rows = [(written[1], *one) for written, one in found.items()]
    rows = sorted(rows, key=lambda row: row[2]) if is_sorted else rows
    ids = list[int]()
    for folds, pieces, (weight, _) in rows[:limit]:
        ids += [*pieces, END_FOLDED if folds else END]
        ids += [int(np.float32(weight).view(np.int32))] if table.is_weighted else []
    return [*ids, CUT] if is_cut or len(rows) > limit else ids
