"""The stand-in for pynini: its names, errors and files, and pynini's own tests."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shared_data import SHARED, TESTS
from support.tiers import examples

import fst
from fst import pynini
from fst.bridge.pynini.lib import pynutil, rewrite
from fst.compile import best_path, lookup
from fst.compile import rewrite as rewrite_rules

ARCHIVE = SHARED / "oracles" / "words" / "pynini_tests.tar.gz"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, because installation changes the imports of a process."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.run([sys.executable, *arguments], check=False, capture_output=True, text=True, env=environment, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"{ARCHIVE} is not there: no tests of pynini")
def test_pyninis_own_tests_pass(tmp_path: Path) -> None:
    """The tests of pynini for the names that are here pass."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    result = run("-m", "support.compat.pynini_tests", str(next(tmp_path.rglob("pynini_test.py")).parents[1]))
    assert (result.returncode, int(result.stdout)) == (0, 217), result.stderr


PROGRAM = """
import fst
fst.pynini.install()
fst.pynini.install()
import pynini, pywrapfst
from pynini.export import grm
from pynini.lib import byte, pynutil, utf8
from pynini.lib.rewrite import top_rewrite
import pynini.lib.edit_transducer as edits
assert pynini is pywrapfst is fst.pynini and pynini.lib.byte is byte
rule = pynini.cdrewrite(pynini.cross("é", "e") | pynutil.delete("x"), "", "[EOS]", utf8.VALID_UTF8_CHAR.star)
print(top_rewrite("éxé", rule), edits.LevenshteinDistance("abc").distance("ab", "ac"))
"""


def test_programs_import_the_stand_in() -> None:
    """After installation, imports of pynini and its submodules give the stand-in; a second installation changes nothing."""
    assert run("-c", PROGRAM).stdout == "éxe 1.0\n"


GENERATORS = """
import sys
import fst
fst.pynini.install()
import pynini
from pynini.export import grm, multi_grm
def one(exporter):
    exporter["greeting"] = pynini.cross("hi", "hello")
def several(exporters):
    for exporter in exporters.values():
        one(exporter)
grm.run(one) if sys.argv[1] == "--output" else multi_grm.run(several)
"""


def test_grammars_are_programs(tmp_path: Path) -> None:
    """A grammar that is run as a program writes its machines to an archive, or to several."""
    paths = [tmp_path / f"{name}.far" for name in ("one", "first", "second")]
    for arguments in (("--output", str(paths[0])), ("--outputs", f"a={paths[1]},b={paths[2]}")):
        assert run("-c", GENERATORS, *arguments).returncode == 0
    assert [pynini.Far(path)["greeting"].string() for path in paths] == ["hello"] * 3
    refused = run("-c", GENERATORS, "--outputs", "a,b")
    assert refused.returncode == 2
    assert "argument --outputs: the value is 'a,b'; expected NAME=FILE,NAME=FILE" in refused.stderr


def test_installation_after_an_import_is_refused() -> None:
    """If pynini has been imported, installation raises an error."""
    result = run("-c", "import sys, types; sys.modules['pynini'] = types.ModuleType('pynini'); import fst; fst.pynini.install()")
    assert "pynini has been imported; call fst.pynini.install() before" in result.stderr


def test_machines_run_compiled() -> None:
    """A machine becomes a table of best paths over bytes; generated symbols keep their names."""
    machine = pynini.string_map([("1", "eins"), ("ü", "ue", "2")]).star
    assert fst.Rewriter(best_path(machine.fst)).apply("1ü1") == fst.Rewriter(best_path(machine)).apply("1ü1") == "einsueeins"
    assert fst.Lookup(lookup(pynini.cross("ü", "ue")))("ü") == ["ue"]
    assert fst.Rewriter(rewrite_rules(pynini.cross("ü", "ue"))).apply("ü") == "ue"
    assert list((pynini.accep("[tag]") + "é").fst.paths()) == [("[tag]é", "[tag]é", 0.0)]
    assert pynini.accep("世", token_type="utf8").fst.unit == "character"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: pynini.accep("a]"), pynini.FstStringCompilationError),
        (lambda: pynini.accep("a", weight="x"), pynini.FstBadWeightError),
        (lambda: pynini.accep("a", weight=pynini.Weight("log", 1)), pynini.FstOpError),
        (lambda: pynini.accep("a", arc_type="x"), pynini.FstArgError),
        (lambda: pynini.accep("a", token_type="x"), pynini.FstArgError),
        (lambda: pynini.accep("[1114112]"), pynini.FstStringCompilationError),
        (lambda: pynini.accep("a").arcs(1).value(), pynini.FstIndexError),
        (lambda: pynini.accep("b", token_type=pynini.SymbolTable()), pynini.FstStringCompilationError),
        (lambda: pynini.union("a", "b").string(), pynini.FstOpError),
        (lambda: pynini.accep("a").star.paths(), pynini.FstOpError),
        (lambda: pynini.Fst.of(fst.Fst.from_strings(["<n>"], symbols=["<n>"])).string("utf8"), pynini.FstOpError),
        (lambda: pynini.accep("a").closure(3, 2), pynini.FstOpError),
        (lambda: pynini.accep("a").closure(0, 10**9), pynini.FstOpError),
        (lambda: pynini.accep("a") ** 10**9, pynini.FstOpError),
        (lambda: pynini.accep("a").project("x"), pynini.FstArgError),
        (lambda: pynini.accep("a").final(2), pynini.FstIndexError),
        (lambda: pynini.compose("a", pynini.accep("a", arc_type="log")).union("a") | pynini.accep("a"), pynini.FstOpError),
        (lambda: pynini.accep("a", arc_type="log").optimize(), pynini.FstOpError),
        (lambda: pynini.shortestpath(pynini.compose("a", "b")).string(), pynini.FstOpError),
        (lambda: pynini.difference("a", pynini.cross("a", "b")), pynini.FstOpError),
        (lambda: pynini.difference("a", pynini.accep("a", weight=1)), pynini.FstOpError),
        (lambda: pynini.compose("a", "b", compose_filter="x"), pynini.FstArgError),
        (lambda: pynini.cdrewrite("a", "", "", "a", "x"), pynini.FstArgError),  # type: ignore[arg-type]
        (lambda: pynini.cdrewrite("a", "", "", "a", mode="x"), pynini.FstArgError),
        (lambda: pynini.cdrewrite("a", pynini.cross("a", "b"), "", "a"), pynini.FstOpError),
        (lambda: pynini.string_map([("a", "b", "c", "d")]), pynini.FstArgError),
        (lambda: pynini.string_map([("a", "b", "x")]), pynini.FstArgError),
        (lambda: pynini.string_file("missing.tsv"), pynini.FstIOError),
        (lambda: pynini.Far("missing.far"), pynini.FstIOError),
        (lambda: pynini.Fst.read("missing.fst"), pynini.FstIOError),
        (lambda: pynini.SymbolTable.read_text("missing.txt"), pynini.FstIOError),
        (lambda: pynini.Fst.read_from_string(b"damaged"), pynini.FstIOError),
        (lambda: pynini.randgen("a", select="x"), pynini.FstArgError),
        (lambda: pynini.randgen("a", npath=-1), pynini.FstOpError),
        (lambda: pynini.Weight("x", 1), pynini.FstArgError),
        (lambda: pynini.union(), ValueError),
        (lambda: rewrite.top_rewrite("b", pynini.accep("a")), rewrite.Error),
        (lambda: rewrite.one_top_rewrite("a", pynini.cross("a", pynini.union("b", "c"))), rewrite.Error),
    ],
)
def test_errors_have_pyninis_classes(call: Any, error: type[Exception]) -> None:
    """Each mistake raises the error class of pynini."""
    with pytest.raises(error):
        call()


def test_missing_names_have_remedies() -> None:
    """The error for a name of pynini that is not here contains what to use instead; other names are ordinary errors."""
    for owner, name, remedy in (
        (pynini, "pdt_compose", "fst.pynini has no 'pdt_compose': there are no pushdown machines; join machines"),
        (pynini.accep("a"), "draw", r"a machine has no 'draw': use machine.fst.draw\(\)"),
        (pynini.SymbolTable(), "write", "a symbol table has no 'write': use write_text"),
        (pynini, "other", "fst.pynini has no 'other'$"),
    ):
        with pytest.raises(AttributeError, match=remedy):
            getattr(owner, name)


def test_random_and_pruned_paths_are_paths() -> None:
    """Random paths belong to the machine and depend on the seed; pruning keeps the paths near the best one."""
    machine = pynini.string_map([("a", "b", "1"), ("aa", "c", "2"), ("c", "d", "4")])
    found = {seed: [*pynini.randgen(machine, 3, seed).paths().ostrings()] for seed in range(5)}
    assert set().union(*found.values()) == {"b", "c", "d"}
    assert found[0] == [*pynini.randgen(machine, 3, 0).paths().ostrings()]
    assert sorted(pynini.prune(machine, weight=1).paths().ostrings()) == ["b", "c"]


def test_strings_are_compiled_as_in_pynini() -> None:
    """Brackets are numbers or generated symbols, which are numbered in the order of their first use; backslashes escape."""
    first, second = (arc.ilabel for arc in pynini.accep("[new_symbol]").arcs(0)), (arc.ilabel for arc in pynini.accep("[another]").arcs(0))
    assert next(second) == next(first) + 1
    assert pynini.accep(r"[0x41]\[\]\\\n[66]").string() == "A[]\\\nB"
    assert pynini.accep(pynini.escape("[a]\\")).string() == "[a]\\"
    assert pynini.accep("[a b]").num_states() == 3
    assert [next(iter(pynini.accep(text).arcs(0))).ilabel for text in ("[017]", "[0]")] == [15, 0]
    assert next(iter(pynini.accep("[099]").arcs(0))).ilabel == pynini.generated_symbols().find("099")
    table = pynini.SymbolTable()
    for name in ("<eps>", "one", "two"):
        table.add_symbol(name)
    with pynini.default_token_type(table):
        assert pynini.accep("two one").string() == "two one"
        assert [arc.ilabel for arc in pynini.accep("two").arcs(0)] == [2]


def test_string_files_have_comments_and_weights(tmp_path: Path) -> None:
    """A file of strings has columns between tabs, comments, escaped signs and empty lines."""
    path = tmp_path / "map.tsv"
    path.write_text("# comment\na\tb\t0.5  # half\n\\#\tc\n\nd\n", encoding="utf-8")
    found = [(read, written, float(weight)) for read, written, weight in pynini.string_file(path).paths().items()]
    assert found == [("#", "c", 0.0), ("a", "b", 0.5), ("d", "d", 0.0)]


def test_symbol_tables_are_written_and_read(tmp_path: Path) -> None:
    """A file of symbols has a symbol and a label in each line, and empty lines; a line of another form is an error."""
    path, table = tmp_path / "symbols.txt", pynini.SymbolTable()
    assert [table.add_symbol("<eps>"), table.add_symbol("\u3000", 7), table.add_symbol("a"), table.add_symbol("a", 9)] == [0, 7, 8, 8]
    table.write_text(path)
    assert [*pynini.SymbolTable.read_text(path)] == [*table] == [*table.copy()] == [(0, "<eps>"), (7, "\u3000"), (8, "a")]
    path.write_text("\na 1\nb\n", encoding="utf-8")
    with pytest.raises(pynini.FstIOError, match="line 3 is 'b'; expected a symbol, a tab and a label"):
        pynini.SymbolTable.read_text(path)


def test_archives_are_written_and_read(tmp_path: Path) -> None:
    """Machines of an archive are found by their keys, in the order of keys; a file of one machine is an archive, too."""
    path = tmp_path / "all.far"
    with pynini.Far(path, "w") as far:
        far["second"] = pynini.accep("2")
        far.add("first", pynini.accep("1", weight=2))
    with pynini.Far(path) as far:
        assert [(key, machine.string()) for key, machine in far] == [("first", "1"), ("second", "2")]
        assert far.find("second")
        assert far["second"].string() == "2"
        with pytest.raises(pynini.FstIndexError, match="expected one of"):
            far["third"]
        assert not far.find("third")
        with pytest.raises(pynini.FstIndexError, match="have been passed"):
            far.get_fst()
    pynini.accep("one").write(tmp_path / "one.fst")
    assert pynini.Far(tmp_path / "one.fst").get_fst() == "one"
    assert pickle.loads(pickle.dumps(pynini.cross("a", "b"))) == pynini.cross("a", "b")
    assert pickle.loads(pickle.dumps(pynini.accep("a", arc_type="log"))).arc_type() == "log"


@examples(800)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3), st.sampled_from("abc"), st.sampled_from([0.0, 0.5, 1.0])), max_size=12))
def test_best_path_is_the_first_of_the_lightest(arcs: list[tuple[int, int, str, float]]) -> None:
    """Without cycles, the path found is one of the machine, and none is lighter."""
    machine = fst.Fst.from_arcs([(source, source + step, read, read, weight) for source, step, read, weight in arcs], {3: 1.0, 5: 0.0})
    every = {(read, weight) for read, _, weight in machine.paths()}
    found = pynini.shortestpath(pynini.Fst.of(machine))
    if every:
        assert (found.string(), min(weight for _, weight in every)) in every
        assert float(pynini.shortestdistance(found, reverse=True)[0]) == min(weight for _, weight in every)
    else:
        assert found.start() == pynini.NO_STATE_ID


def test_first_of_equal_paths_is_found() -> None:
    """Of equal paths, the first arc of the first state decides, as in OpenFst."""
    equal = pynini.string_map([("a", "x"), ("a", "y")]) | pynini.cross("a", "z")
    assert pynini.shortestpath("a" @ equal).string() == "x"


def test_machines_are_changed_in_place() -> None:
    """Methods change a machine, operators and functions make a new one, and copies are independent."""
    machine = pynini.accep("a")
    copy = machine.copy()
    assert machine.union("b") is machine
    assert copy == "a"
    assert sorted((machine | "c").paths().istrings()) == ["a", "b", "c"]
    assert sorted(machine.paths().istrings()) == ["a", "b"]
    built = pynini.Fst()
    states = [built.add_state() for _ in range(2)]
    built.set_start(states[0]).set_final(states[1], 1).add_arc(states[0], pynini.Arc(97, 98, 0.5, states[1]))
    assert [(*pair, float(weight)) for *pair, weight in built.paths().items()] == [("a", "b", 1.5)]
    arcs = built.mutable_arcs(states[0])
    arcs.set_value(pynini.Arc(99, 99, 0, states[1]))
    arcs.next()
    with pytest.raises(pynini.FstIndexError, match="the place is 1; expected a place below 1"):
        arcs.set_value(pynini.Arc(99, 99, 0, states[1]))
    assert built.copy().paths().istring() == "c"
    assert built.delete_states().num_states() == 0


def test_weights_are_added_along_paths() -> None:
    """Weights of alternatives, insertions and repetitions reach the best path."""
    best = pynini.union(pynutil.add_weight("ab", 2), pynutil.insert("x", 0.5) + pynini.cross("ab", "c"), pynini.accep("ab", weight=3))
    assert sorted((w, float(c)) for _, w, c in pynini.shortestpath("ab" @ best, nshortest=2, unique=True).paths().items()) == [
        ("ab", 2.0),
        ("xc", 0.5),
    ]
    assert float(pynini.shortestdistance(best, reverse=True)[best.start()]) == 0.5
    assert pynini.plus(pynini.Weight("log", 0), pynini.Weight("log", 0)) == pynini.Weight("log", -math.log(2))
    assert rewrite.optimal_rewrites("ab", best) == ["xc"]
    assert pynini.arcmap(best, map_type="rmweight").properties(pynini.UNWEIGHTED, True) == pynini.UNWEIGHTED
