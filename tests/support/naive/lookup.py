"""Look-up by its definition: follow every path of a transducer, without a table."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from fst.compile.algebra.arcs import FIRST_SYMBOL, Arcs
from fst.machines.lookup.flags import FLAG

Features = dict[str, tuple[bool, str]]  # feature → whether it has the value, or must not have it; and the value


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
    """The features after an operation; None if it fails."""
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
