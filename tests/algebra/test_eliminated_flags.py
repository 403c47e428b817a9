"""Machines without flag diacritics have the paths that these allow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive.flags import allowed
from support.tiers import examples

from fst.compile.algebra.machine import Fst
from fst.errors import UnsupportedError, VocabularyError

FLAGS = [f"@{kind}.{feature}.{value}@" for kind in "PNRDU" for feature in "FG" for value in "AB"]
LABELS = st.sampled_from(["", "a", "b", *FLAGS, *("@C.F@", "@R.F@", "@D.G@")])
PATHS = st.lists(st.tuples(LABELS, LABELS, st.booleans()), max_size=6)


def machine_of(paths: list[list[tuple[str, str, bool]]]) -> Fst:
    """A machine without cycles whose paths share a few states; an arc of a flag reads and writes it."""
    arcs = []
    for path in paths:
        for place, (read, write, is_copied) in enumerate(path):
            arcs.append((place, place + 1, read, read if is_copied else write, 0.5 * place))
    return Fst.from_arcs(arcs, final={3: 0.0, 6: 1.0})


@examples(300)
@given(paths=st.lists(PATHS, max_size=3), features=st.sampled_from(["F", "G", "FG"]))
def test_allowed_paths_are_kept(paths: list[list[tuple[str, str, bool]]], features: str) -> None:
    """The machine has the pairs and weights of the allowed paths, and no flag diacritics of the features."""
    machine = machine_of(paths)
    known = [feature for feature in features if any(f".{feature}" in name for name in machine.symbols)]
    found = machine.eliminate_flags(known)
    assert allowed(found, 6, "") == pytest.approx(allowed(machine, 6, known))
    assert not any(f".{feature}" in name for name in {*found.alphabet, *found.invert().alphabet} for feature in known)


def test_cycles_are_allowed() -> None:
    """In a cycle, a value lasts until it is changed."""
    arcs = [(0, 0, "@U.F.A@a", ""), (0, 0, "@U.F.B@", ""), (0, 0, "b", "b"), (0, 1, "@R.F.B@", "@R.F.B@")]
    machine = Fst.from_arcs([(0, 2, "@U.F.A@", ""), (2, 0, "a", "a"), *arcs[1:]], final=[1])
    assert [read for read, _, _ in machine.eliminate_flags().paths(4)] == ["", "b", "bb", "bbb"]


def test_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """A feature that the machine does not have is refused with those that it has; so are many flag diacritics, and many arcs."""
    machine = Fst.from_arcs([(0, 1, "@P.F.A@", "")], final=[1])
    with pytest.raises(VocabularyError, match="the feature is 'G'; expected one of 'F'"):
        machine.eliminate_flags(["G"])
    with pytest.raises(VocabularyError, match="the feature is 'F'; expected none: the machine has no flag diacritics"):
        Fst.from_strings(["a"]).eliminate_flags(["F"])
    with pytest.raises(UnsupportedError, match="the feature F has 1,025 flag diacritics; expected at most 1,024"):
        Fst.from_arcs([(0, 0, f"@P.F.{value}@", "") for value in range(1025)], final=[0]).eliminate_flags()
    monkeypatch.setattr("fst.compile.algebra.flags.MAX_ARCS", 3)
    with pytest.raises(UnsupportedError, match="without the feature F, the machine has up to"):
        machine.eliminate_flags()
