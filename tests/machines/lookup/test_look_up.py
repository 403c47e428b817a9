"""Look-up: kernel, slow walk and definition give the same analyses, for any transducer."""

from __future__ import annotations

import gzip
import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from support.machines.lookup import machines
from support.naive.lookup import look_up as defined
from support.tiers import examples

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import Fst
from fst.machines.lookup.layout import MAX_ANALYSES, MAX_SYMBOLS, SLOW
from fst.runtime.encoder import Encoder
from fst.runtime.rows.texts import rows_of
from fst.runtime.workspace import NO_SPECIAL_IDS

WORDS = [*map("".join, (word for length in range(4) for word in product(("a", "b", "<n>", "<"), repeat=length)))]
MANY = Fst.from_arcs([(0, 0, "a", "x"), (0, 0, "a", "yy"), (0, 0, "a", "y")], final=[0])
# 2 paths per symbol that write the same string and never end, and then 2 paths to the end
DEAD = Fst.from_arcs([(0, 0, "a", ""), (0, 1, "a", ""), (1, 0, "a", ""), (1, 1, "a", ""), (0, 2, "b", "x"), (1, 2, "b", "y")], final=[2])


@pytest.mark.slow
@given(machines())
@examples(600)
def test_definition(machine: Fst) -> None:
    """For small transducers with flags, weights and symbols of several characters, analyses are the outputs of all paths, and the weight of
    an analysis is the smallest of its paths.
    """
    table = lookup(machine, inverse=True)
    table.prove()
    m = fst.Lookup(table)
    for direction, of in ((m, machine), (m.inverted(), machine.invert())):
        found = direction.lookup_batch(WORDS)
        expected = [defined(of, word) for word in WORDS]
        assert [sorted(row) for row in found] == [sorted(row) for row in expected]
        if found.weights is not None:
            weights = [row[written] for row, analyses in zip(expected, found, strict=True) for written in analyses]
            assert found.weights.tolist() == weights
            assert [sorted(row.values()) for row in expected] == [
                [row[written] for written in found[at]] for at, row in enumerate(expected)
            ]


def test_start_may_be_the_last_state() -> None:
    """Analyses do not depend on the number of the start state, even if this state is final."""
    machine = Fst.from_arcs([(2, 0, "", "x"), (2, 1, "a", "y")], final=[0, 1], start=2)
    assert [*fst.Lookup(lookup(machine)).lookup_batch(["", "a"])] == [["x"], ["y"]]


def test_kinds_of_sources(tmp_path: Path) -> None:
    """A mapping, pairs, an Fst, files of two or three columns, and files of machines give the same analyses."""
    pairs = [("flies", "fly+N"), ("flies", "fly+V"), ("fly", "fly+N")]
    Fst.from_strings(pairs[:2]).write_att(tmp_path / "flies.att")
    Fst.from_strings(pairs[2:]).write_att(tmp_path / "fly.att")
    path = tmp_path / "both.att"
    path.write_text("--\n".join((tmp_path / name).read_text() for name in ("flies.att", "fly.att")))
    columns = "".join(f"{word}\t{analysis}\n" for word, analysis in pairs)
    (tmp_path / "pairs.tsv").write_text(columns)
    (tmp_path / "pairs.csv.gz").write_bytes(gzip.compress(columns.replace("\t", ",").encode()))
    Fst.from_strings(pairs).write_openfst(tmp_path / "pairs.fst")
    files = [tmp_path / name for name in ("pairs.tsv", "pairs.csv.gz", "pairs.fst")]
    for source in ({"flies": ["fly+N", "fly+V"], "fly": "fly+N"}, pairs, Fst.from_strings(pairs), path, str(path), *files):
        assert [*fst.Lookup(lookup(source)).lookup_batch(["flies", "fly", "f"])] == [["fly+N", "fly+V"], ["fly+N"], []]


def test_sections_of_unknown_kinds(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """If the kinds of sections are not passed, AT&T text with sections is compiled with a warning."""
    source = tmp_path / "two.att"
    source.write_text("0\t1\ta\tA\n1\n--\n0\t1\tb\tB\n1\n")
    lookup(source, sections=["standard", "inconditional"])
    assert not caplog.messages
    assert fst.Lookup(lookup(source))("b") == ["B"]
    assert caplog.messages[0].startswith("fst: two.att has 2 sections; without `sections`")


@pytest.mark.slow
def test_machines_over_bytes(tmp_path: Path) -> None:
    """A machine over the bytes of UTF-8 gives the analyses and weights of the machine over characters, also from a file."""
    draw = random.Random(5)
    for number in range(20):
        words, weights = [["".join(draw.choices("aéß世😀", k=draw.randint(0, 3))) for _ in range(2)] for _ in range(12)], range(12)
        entries = [(word, analysis, weight / 4) for (word, analysis), weight in zip(words, weights, strict=True)]
        over_bytes = Fst.from_strings(entries, unit="utf-8").optimize()
        over_bytes.write_openfst(tmp_path / f"{number}.fst")
        asked = [*{word for word, *_ in entries}, "é世", "ß"]
        expected = fst.Lookup(lookup(entries)).lookup_batch(asked)
        for source in (over_bytes, tmp_path / f"{number}.fst"):
            found = fst.Lookup(lookup(source)).lookup_batch(asked)
            assert [*found] == [*expected]
            assert found.weights.tolist() == expected.weights.tolist()


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (5, fst.VocabularyError, "the source is int; expected an Fst, the path of a file, a mapping, or pairs"),
        ("a.xfst", fst.UnsupportedError, "the file 'a.xfst' is of xfst or foma; expected a lexicon or a machine; write its"),
        ("a.twolc.gz", fst.UnsupportedError, "the file 'a.twolc.gz' has two-level rules; expected a lexicon or a machine; compose it with"),
        ("a.acx", fst.UnsupportedError, "the file 'a.acx' has equivalent characters of lttoolbox; expected a dictionary; run"),
        ("a.lsx", fst.UnsupportedError, "the file 'a.lsx' has separable words of lttoolbox; expected a dictionary; run lsx-comp"),
        ([Path("a.lexc"), Path("b.dix")], fst.UnsupportedError, "the file 'b.dix' is one of several; expected one file, or several with"),
        ("words.bin", fst.UnsupportedError, "the file is 'words.bin'; expected a file with the ending .att, .txt, .fst"),
        (Fst.from_arcs([(0, 0, 0x61, 0xFF)], [0], unit="utf-8"), fst.UnsupportedError, "the transducer writes the bytes b'.xff'"),
        (Fst.from_arcs([(0, 1, 0x61, 0xC3)], [1], unit="utf-8"), fst.UnsupportedError, "the transducer writes the bytes b'.xc3'"),
        (Fst.from_arcs([(0, 0, "@P.A@", ""), (0, 0, "a", "")], final=[0]), fst.UnsupportedError, "the flag @P.A@ has no value"),
        (
            Fst.from_arcs([(0, 1, "", "x"), (1, 0, "", ""), (1, 1, "a", "")], final=[1]),
            fst.UnsupportedError,
            "the cycle of the arc from state 0 to state 1 reads nothing and writes 'x'",
        ),
    ],
)
def test_wrong_source_is_refused(source: Any, error: type[Exception], message: str) -> None:
    """A source that cannot be compiled is refused, and the message contains the fault."""
    with pytest.raises(error, match=message):
        lookup(source)


@pytest.mark.parametrize(("line", "fault"), [("c", "the line has 1 columns"), ("c\td\te", "the weight is 'e'; expected a number")])
def test_wrong_line_is_refused(line: str, fault: str, tmp_path: Path) -> None:
    """A line of a list without an analysis, or with a wrong weight, is refused with its number."""
    path = tmp_path / "words.tsv"
    path.write_text(f"a\tb\t0.5\n{line}\n")
    with pytest.raises(fst.VocabularyError, match=f"words.tsv, line 2: {fault}"):
        lookup(path)


def test_cycle_that_writes_nothing_is_removed() -> None:
    """A cycle that reads nothing and writes nothing does not change the analyses."""
    cycle = Fst.from_arcs([(0, 1, "", ""), (1, 2, "", ""), (2, 0, "", ""), (1, 1, "a", "x"), (2, 3, "b", "")], final=[3])
    assert fst.Lookup(lookup(cycle))("aab") == ["xx"]


@pytest.mark.slow
def test_long_analyses() -> None:
    """Compiling a word takes time and memory linear in its analysis, even if this is thousands of characters longer than the word."""
    gloss = "gloss " * 1_000
    m = fst.Lookup(lookup({"a": gloss, "b": ["x", gloss]}))
    assert (m("a"), m("b")) == ([gloss], ["x", gloss])


@pytest.mark.slow
def test_many_pauses_are_refused() -> None:
    """A transducer is refused if it has more consecutive arcs that read nothing than a table may have."""
    ladder = [(state, state + step, "", written) for state in range(3000) for step, written in ((1, "x"), (2, "y"))]
    with pytest.raises(fst.UnsupportedError, match="arcs in a row read nothing"):
        lookup(Fst.from_arcs([*ladder, (3000, 3001, "a", "a")], final=[3001]))


def test_words_with_exponentially_many_dead_ends() -> None:
    """A word with 2^40 paths, few of which differ, is passed to the slow walk, and has all its analyses."""
    m, word = fst.Lookup(lookup(DEAD)), "a" * 40
    ids = Encoder._encode(m._encoder, rows_of([word + "b", word, "b"]), special_ids=NO_SPECIAL_IDS).ids
    assert ids[0] == SLOW
    found = m.lookup_batch([word + "c", word, "ab"])
    assert [sorted(row) for row in found] == [[], [], ["x", "y"]]


@pytest.mark.slow
def test_long_words() -> None:
    """A word with more symbols than fit into the kernel's arrays has the analyses of its definition."""
    m = fst.Lookup(lookup(Fst.from_arcs([(0, 0, "a", "b")], final=[0])))
    assert [*m.lookup_batch(["a" * (MAX_SYMBOLS + 1), "a" * 200_000 + "c", "a" * MAX_SYMBOLS])] == [
        ["b" * (MAX_SYMBOLS + 1)],
        [],
        ["b" * MAX_SYMBOLS],
    ]


@pytest.mark.parametrize("limit", [1, 3, 8, None])
def test_limit_bounds_analyses(limit: int | None) -> None:
    """At most `limit` analyses of a word are returned, and `is_complete` is false if there are more."""
    found = fst.Lookup(lookup(MANY)).lookup_batch(["a", "aa", "a" * 30], limit=limit)
    expected = [3, 8, MAX_ANALYSES]  # of the 9 paths for "aa", two write "yyy"
    assert [*map(len, found)] == [min(count, limit or MAX_ANALYSES) for count in expected]
    assert found.is_complete.tolist() == [limit is None or limit >= 3, limit is None or limit >= 8, False]


def test_limit_keeps_the_best() -> None:
    """With weights, `limit` keeps the analyses of the smallest weights, ordered by weight."""
    m = fst.Lookup(lookup([("a", "x", 3.0), ("a", "y", 1.0), ("a", "z", 2.0), ("a", "z", 0.5)]))
    found = m.lookup_batch(["a", "b"], limit=2)
    assert (found[0], found.weights.tolist(), found.is_complete.tolist()) == (["z", "y"], [0.5, 1.0], [False, True])


def test_arrays_of_analyses() -> None:
    """The arrays of `Analyses` contain the ids of pieces, the boundaries of analyses and the boundaries of rows."""
    found = fst.Lookup(lookup({"ab": ["x", "yz"], "b": ["x"]})).lookup_batch(["b", "c", "ab"])
    written = [
        "".join(found.pieces[piece] for piece in found.ids[begin:end]) for begin, end in zip(found.splits, found.splits[1:], strict=False)
    ]
    assert (written, found.row_splits.tolist(), found.weights) == (["x", "x", "yz"], [0, 1, 1, 3], None)
    data, starts = found.strings()
    assert (data.tobytes(), starts.tolist(), repr(found)) == (b"xxyz", [0, 1, 2, 4], "<fst.Analyses of 3 words>")
    with pytest.raises(IndexError, match="row is 3; expected a number below 3"):
        found[3]


def test_case_and_unknown_words() -> None:
    """With case="fold", an unknown word in upper case, or with one capital at its beginning, is looked up in lower case, and with
    unknown="copy", a word without analyses is its own analysis.
    """
    m = fst.Lookup(lookup({"mcDonald": "1", "ab": "2", "Cd": "3", "ﬀ": "4", "éa-1": "5"}))
    words = ["McDonald", "AB", "Ab", "aB", "CD", "cd", "X", "ÉA-1"]
    assert [*m.lookup_batch(words)] == [[]] * len(words)
    expected = [["McDonald"], ["2"], ["2"], ["aB"], ["3"], ["cd"], ["X"], ["5"]]
    assert [*m.lookup_batch(words, case="fold", unknown="copy")] == expected
    assert [*m.lookup_batch([word.encode() for word in words], case="fold", unknown="copy")] == expected
    assert (m("AB", case="fold"), m("AB"), m(b"X", unknown="copy")) == (["2"], [], ["X"])


@pytest.mark.parametrize(("option", "value"), [("limit", 0), ("limit", True), ("limit", 5000), ("case", "lower"), ("unknown", "?")])
def test_wrong_option_is_refused(option: str, value: Any) -> None:
    """An option with an unknown value is refused with its name and the allowed values."""
    options: Any = {option: value}
    with pytest.raises(ValueError, match=f"{option}.*{value!r}"):
        fst.Lookup(lookup({"a": "b"})).lookup_batch(["a"], **options)


def test_one_direction_is_not_inverted() -> None:
    """A table that was compiled without `inverse=True` cannot be inverted, and the message contains the option."""
    with pytest.raises(fst.UnsupportedError, match="compile it with inverse=True"):
        fst.Lookup(lookup({"a": "b"})).inverted()


def test_columns_have_chunks_and_nulls() -> None:
    """A column of words becomes a column of lists of strings, with the same chunks and nulls."""
    pa = pytest.importorskip("pyarrow")
    m = fst.Lookup(lookup({"a": ["x", "yy"], "b": ["é"]}))
    column = pa.chunked_array([pa.array(["a", None, "B"]), pa.array(["b", "c"])])
    found = m.lookup_arrow(column, case="fold", limit=1)
    assert found.to_pylist() == [["x"], None, ["é"], ["é"], []]
    assert (found.type, found.num_chunks) == (pa.list_(pa.string()), 2)


def test_threads_give_equal_arrays() -> None:
    """Any number of threads gives the same arrays."""
    m = fst.Lookup(lookup({"a": ["x", "yy"], "b": ["é"]}))
    words = ["a", "b", "c"] * 100_000
    one, three = (m.lookup_batch(words, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.ids, three.ids)
    assert np.array_equal(one.row_splits, three.row_splits)
