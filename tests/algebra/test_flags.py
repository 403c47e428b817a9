"""Flag diacritics in compositions stay at their places, as in ``hfst-compose --harmonize-flags``."""

from __future__ import annotations

from random import Random

import pytest
from support.tiers import sample

from fst.automata.flags import FLAG
from fst.compile.algebra.machine import Fst

Path = tuple[tuple[str, ...], tuple[str, ...]]
FLAGS = ("@P.F.A@", "@R.F.A@", "@C.F@")


def paths_of(random: Random, names: tuple[str, ...]) -> set[Path]:
    """Some pairs of strings of symbols."""

    def side() -> tuple[str, ...]:
        return tuple(random.choices(names, k=random.choice([0, 1, 2, 3])))

    return {(side(), side()) for _ in range(8)}


def machine_of(paths: set[Path]) -> Fst:
    """The machine of some pairs of strings, one arc for each symbol."""
    arcs, final, state = [], [], 0
    for read, written in sorted(paths):
        before = 0
        for symbols in zip(read + ("",) * len(written), ("",) * len(read) + written, strict=True):
            state += 1
            arcs.append((before, state, *symbols))
            before = state
        final.append(before)
    return Fst.from_arcs(arcs, final=final)


def split(labels: tuple[str, ...]) -> Path:
    """The flag diacritics of a string, and its other symbols."""
    flags = tuple(filter(FLAG.fullmatch, labels))
    return flags, tuple(label for label in labels if label not in flags)


def parts_of(machine: Fst) -> set[tuple[Path, Path]]:
    """Both sides of all paths, split."""
    def names(text: str) -> tuple[str, ...]:
        found, at = [], 0
        while at < len(text):
            end = text.index("@", at + 1) + 1 if text[at] == "@" else at + 1
            found.append(text[at:end])
            at = end
        return tuple(found)

    return {(split(names(read)), split(names(written))) for read, written, _ in machine.paths(10_000)}


@pytest.mark.parametrize("seed", sample(range(200), 25))
@pytest.mark.parametrize("inverse", [False, True])
def test_flags_pass(seed: int, inverse: bool) -> None:
    """Flag diacritics of one machine are not given to the other one, and stay on their side in their order."""
    random = Random(seed)
    lexicon, rules = paths_of(random, ("a", "b", *FLAGS)), paths_of(random, ("a", "b"))
    rules |= {(split(written)[1], split(written)[1]) for _, written in lexicon}
    expected = {
        (split(read), (split(written)[0], changed)) for read, written in lexicon for given, changed in rules if split(written)[1] == given
    }
    if inverse:
        found = {(upper, lower) for lower, upper in parts_of(machine_of(rules).invert() @ machine_of(lexicon).invert())}
    else:
        found = parts_of(machine_of(lexicon) @ machine_of(rules))
    assert found == expected


def test_flags_of_both_machines_are_symbols() -> None:
    """A flag diacritic that both machines name is a symbol between them."""
    first = machine_of({(("a",), ("@P.F.A@", "b")), (("c",), ("b",))})
    second = machine_of({(("@P.F.A@", "b"), ("d",))})
    assert [*(first @ second).paths()] == [("a", "d", 0.0)]


def test_rules_do_not_see_flags() -> None:
    """The contexts of a rule that copies all other symbols contain no flag diacritics."""
    lexicon = machine_of({(("x",), ("a", "@P.F.A@", "b", "@R.F.A@"))})
    assert [*(lexicon @ Fst.from_rule("a -> c / _ b")).paths()] == [("x", "c@P.F.A@b@R.F.A@", 0.0)]


def test_flags_do_not_pass_an_intersection() -> None:
    """The intersection of acceptors has no strings that only one of them accepts."""
    first = machine_of({(("a", "@P.F.A@"), ("a", "@P.F.A@"))}).project("input")
    assert not (first & Fst.from_strings(["a"])).states
