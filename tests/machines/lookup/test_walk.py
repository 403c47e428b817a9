"""The slow walk of look-up has the answers of all paths, and its time does not grow with the number of paths."""

from __future__ import annotations

from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some
from support import tiers
from support.machines.lookup import LABELS, machines
from support.naive.lookup import ids_of_paths, paths_of
from support.tiers import examples

import fst
from fst.automata import flags
from fst.compile import lookup
from fst.compile.algebra.machine import Fst
from fst.machines.lookup.layout import CUT, EPSILON, MAX_ANALYSES
from fst.machines.lookup.walk import Steps, analyses, ids_of, symbol_at, units_of

MOST_PATHS = 5_000 if tiers.ALL else 500
FLAGS = (*LABELS, "A", "@N.A.Y@", "@R.B.X@", "@D.B@", "@U.B.X@", "@C.B@", "@R.B@")
COUNT = 30


def symbols_of(table: Any, text: str, *, inverse: bool, folds: bool) -> list[Any]:
    """The symbols of a word; with `folds`, upper-case symbols may be read in lower case."""
    units, symbols, at = units_of(text), list[Any](), 0
    while at < len(units):
        symbol = symbol_at(table, units, at, inverse=inverse)
        symbols.append(symbol if folds else symbol._replace(lower=EPSILON))
        at = symbol.end
    return symbols


@given(machines(FLAGS), some.text("abA", max_size=6), some.sampled_from([1, 2, 3, MAX_ANALYSES]), some.booleans())
@examples(400)
def test_all_paths(machine: Fst, word: str, limit: int, in_text: bool) -> None:
    """For transducers with flags, weights and arcs that read nothing, the ids are those of all paths, with the same order and limit."""
    table = lookup(machine, inverse=True)
    for inverse in (False, True):
        symbols = symbols_of(table, word, inverse=inverse, folds=in_text)
        paths = [*islice(paths_of(table, symbols, int(table.begin(inverse=inverse)[0])), MOST_PATHS)]
        assume(len(paths) < MOST_PATHS)
        with Steps(word) as steps:
            found = ids_of(table, symbols, steps, inverse=inverse, limit=limit, in_text=in_text)
        assert found == ids_of_paths(table, paths, limit, in_text=in_text)


def test_values_that_are_treated_alike() -> None:
    """If the walk replaces the value of a feature by another value, both have the same outcome in all operations on the feature."""
    values = (0, 1, 2, 3, *(flags.NEGATED | value for value in (1, 2, 3)))
    tests = [flags.Operation(kind, 0, value) for kind in (flags.REQUIRE, flags.DISALLOW) for value in (0, 1, 2)]
    tests += [flags.Operation(flags.UNIFY, 0, value) for value in (1, 2)]
    packed = [*map(flags.pack, tests)]
    for chosen in product((False, True), repeat=len(packed)):
        operations = [test for test, is_chosen in zip(packed, chosen, strict=True) if is_chosen]
        alike = flags.Alike(operations)
        for value in values:
            other = alike.registers((value,), 1)
            for test in operations:
                assert [flags.applied([test], each).registers is None for each in ((value,), other)] in ([True] * 2, [False] * 2)
    assert [flags.Alike(packed[:0]).registers((value,), 1) for value in values] == [(0,)] * len(values)


def flagged(path: Path, body: str) -> fst.Lookup:
    """A look-up from lexc, for analysis and generation, whose table was saved and loaded."""
    names = [f"@{kind}.F{at}{value}@" for kind in "PRDU" for at in range(COUNT) for value in (".A", ".B")]
    names += [f"@D.F{at}@" for at in range(COUNT)]
    (path / "flags.lexc").write_text(f"Multichar_Symbols {' '.join(names)}\nLEXICON Root\n{body}", encoding="utf-8")
    lookup(path / "flags.lexc", inverse=True).save(path / "flags.npz")
    loaded = fst.load(path / "flags.npz")
    assert isinstance(loaded, fst.Lookup)
    return loaded


LOOP = "".join(f"@P.F{at}.A@a Root ;\n" for at in range(COUNT)) + "# ;\n"
CHAIN = "L0 ;\n" + "".join(f"LEXICON L{at}\n@P.F{at}.A@a L{at + 1} ;\n@P.F{at}.B@a L{at + 1} ;\n" for at in range(COUNT))


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("body", "word", "count"),
    [
        (LOOP, "a" * 18, 1),
        (LOOP, "a" * COUNT, 1),
        (LOOP.replace("@P", "@U"), "a" * COUNT, 1),
        (f"{CHAIN}LEXICON L{COUNT}\n{''.join(f'@R.F{at}.B@' for at in range(COUNT))} # ;\n", "a" * COUNT, 1),
        (f"{CHAIN}LEXICON L{COUNT}\n{''.join(f'@D.F{at}@' for at in range(COUNT))} # ;\n", "a" * COUNT, 0),
    ],
    ids=["set", "set at each letter", "unified", "required at the end", "never at the end"],
)
def test_many_features(body: str, word: str, count: int, tmp_path: Path) -> None:
    """A word with 2^30 combinations of features has all its analyses in both directions and in running text, from a saved table."""
    m = flagged(tmp_path, body)
    for each in (m, m.inverted()):
        assert each.lookup_batch([word, "b"])[0] == [word] * count
        assert each.lookup_batch([word], limit=1).is_complete.tolist() == [True]


def test_many_features_in_text(tmp_path: Path) -> None:
    """A token with 2^30 combinations of features that no path tests has its analyses in running text."""
    text = f"{'a' * COUNT} b"
    assert [token.analyses for token in flagged(tmp_path, LOOP).analyze_text(text)] == [["a" * COUNT], []]


def test_weights_of_exponentially_many_paths() -> None:
    """An analysis with 2^40 paths has the smallest weight of all, also if heavier paths come first."""
    m = fst.Lookup(lookup(Fst.from_arcs([(at, at + 1, "a", "x", weight) for at in range(40) for weight in (2.0 ** (at - 40), 0.0)], [40])))
    found = m.lookup_batch(["a" * 40])
    assert (found[0], found.weights.tolist(), found.is_complete.tolist()) == (["x" * 40], [0.0], [True])


PUZZLE = LOOP.removesuffix("# ;\n") + "End ;\nLEXICON End\n" + "".join(f"@R.F{at}.A@" for at in range(COUNT)) + " # ;\n"


def test_steps_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word whose combinations of features take too many steps is refused with its row number, also in running text; other rows are not
    refused.
    """
    monkeypatch.setattr("fst.machines.lookup.walk.MAX_STEPS", 1 << 12)
    m, word = flagged(tmp_path, PUZZLE), "a" * 18
    with pytest.raises(fst.TextError, match=r"row 1: the look-up of 'a{18}' takes more than 4,096 steps; expected at most as many; remove"):
        m.lookup_batch(["a", word])
    with pytest.raises(fst.TextError, match=r"row 0: the look-up of 'a{18} a' takes more than 4,096 steps"):
        m.analyze_text(f"{word} a")
    assert m("a") == []


def test_limit_bounds_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If `limit` analyses of a word are found before it takes too many steps, they are returned, and the word is not complete."""
    body = PUZZLE + "LEXICON Other\n".replace("Other", "Unused") + "# ;\n"
    m = flagged(tmp_path, f"Easy ;\n{body}LEXICON Easy\na Easy ;\n# ;\n")
    monkeypatch.setattr("fst.machines.lookup.walk.MAX_STEPS", 1 << 12)
    found = m.lookup_batch(["a" * 18], limit=1)
    assert (found[0], found.is_complete.tolist()) == (["a" * 18], [False])
    assert analyses(m._table, "a" * 18, limit=1)[-1] == CUT
