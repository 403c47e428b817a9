"""Flag diacritics by their definition: each path is followed with the values of its features."""

from __future__ import annotations

from collections.abc import Collection
from math import inf, isfinite

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.symbols import text_of

Held = dict[str, tuple[bool, str]]  # for each feature that is not neutral: whether it has the value, and the value
Texts = dict[tuple[str, str], float]


def after(flag: str, held: Held) -> Held | None:
    """The values after a flag diacritic; None if its test fails."""
    kind, feature, *rest = flag.strip("@").split(".")
    value, now = (rest or [""])[0], held.get(feature)
    if kind == "C":
        return {name: each for name, each in held.items() if name != feature}
    if kind in "PN":
        return {**held, feature: (kind == "P", value)}
    if kind == "U":
        fits = now is None or (now[1] == value if now[0] else now[1] != value)
        return {**held, feature: (True, value)} if fits else None
    has = now == (True, value) if value else now is not None
    return held if has == (kind == "R") else None


def allowed(machine: Arcs, longest: int, features: Collection[str]) -> Texts:
    """The pairs of paths of at most `longest` arcs on which no test of the features fails, without their flag diacritics."""
    found: Texts = {}
    paths: list[tuple[int, Held, str, str, float]] = [(machine.start, {}, "", "", 0.0)] if machine.states else []
    for _ in range(longest + 1):
        following = []
        for state, held, read, written, weight in paths:
            total = weight + float(machine.final[state])
            if isfinite(total):
                found[read, written] = min(total, found.get((read, written), inf))
            for first, second, target, cost in machine.arcs_of(state):
                names = [text_of([label], machine.symbols) for label in (first, second)]
                now: Held | None = held
                for name in dict.fromkeys(names):
                    now = after(name, now) if now is not None and _is_of(name, features) else now
                if now is not None:
                    texts = ["" if _is_of(name, features) else name for name in names]
                    following.append((target, now, read + texts[0], written + texts[1], weight + cost))
        paths = following
    return found


def _is_of(name: str, features: Collection[str]) -> bool:
    return name.startswith("@") and name.strip("@").split(".")[1] in features
