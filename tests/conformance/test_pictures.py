"""Pictures of tables contain the states that a text passes, the arcs between these states, and the path of the text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from support.commands import call, error_of
from support.conformance.samples import SAMPLES, each
from support.conformance.ways import table_of, texts_of

import fst
from fst.automata import dot
from fst.automata.picture import Automaton, Picture, Step
from fst.compile import best_path, keywords, lattice, lookup, maxmatch, rewrite, wordpiece
from fst.compile.algebra.machine import Fst
from fst.errors import UnsupportedError

WRITING = "wordpiece", "keywords", "overlapping-keywords"
CHINESE = [("研究", 30), ("研究生", 18), ("生命", 24), ("生", 3), ("命", 6)]
WEIGHTED: list[Any] = [(0, 1, "a", "x", 1), (0, 2, "a", "y", 0.5), (1, 3, "b", ""), (2, 3, "b", "z", 1), (2, 4, "c", "")]
# The edges of pictures, each written as state, label, state; a star marks edges on the path of the text.
CASES: Sequence[tuple[Callable[[], Any], str, Sequence[str]]] = [
    (  # the failure link of "una" is folded in
        lambda: wordpiece(["[UNK]", "un", "una", "##b"]),
        "unb",
        ["start u u*", "u (end):word=[UNK] start", "u n un*", "un (end):un start", "un b:un ##b*", "##b (end):##b start*", "##b b:##b ##b"],
    ),
    (lambda: table_of("bpe automaton"), "ab", ["start a a*", "a a a", "a b ab*"]),
    (lambda: table_of("bpe queue"), "aabc", ["a a b c merge 2 a ab c*", "a ab c merge 0 a abc*"]),
    (
        lambda: table_of("unigram"),
        "ab",
        ["0 ▁/-2.5 1", "0 ▁a/-2.75 2", "0 ▁ab/-5 3*", "1 a/-3 2", "1 ab/-5.5 3", "2 b/-3.5 3"],
    ),
    (
        lambda: keywords(["a", "abc"]),
        "aba",
        ["start b start", "start a a*", "a (end):a start*", "a a:a a", "a b ab*", "ab b:a, (end):a start", "ab a:a a*"],
    ),
    (
        lambda: keywords(["he", "she"], match_kind="overlapping"),
        "she",
        ["start e start", "start s s*", "s e start", "s s s", "s h sh*", "sh e:she he start*", "sh s s"],
    ),
    (lambda: maxmatch(["ab", "abc"]), "ab", ["start a a*", "a (end):a start", "a a:a a", "a b ab*", "ab (end):ab start*"]),
    (lambda: maxmatch(["ab", "bc"], "backward"), "abc", ["start a:a start*", "start c c*", "c a:c a, (end):c start", "c b:bc start*"]),
    (lambda: lattice.jieba(CHINESE), "研究生命", ["0 研究/-0.9933 2*", "0 研究生/-1.504 3", "2 生/-3.296 3", "2 生命/-1.216 4*"]),
    (lambda: table_of("mecab"), "ab", ["0 a letter/100 1", "0 ab pair/150 2*", "1 b letter/100 2"]),
    (lambda: lookup({"ab": ["x", "y"], "ac": "z"}), "ab", ["0 a:x 1*", "0 a:y 2*", "0 a:z 3", "1 b 4*", "2 b 5*"]),
    (lambda: lookup({"ab": ["x", "y"], "ac": "z"}), "ad", ["0 a:x 1", "0 a:y 2", "0 a:z 3"]),
    (lambda: best_path(Fst.from_arcs(WEIGHTED, {3: 0.25, 4: 0})), "ab", ["2 b:z/1 1/0.25", "3 b 1/0.25*", "4 a:y/0.5 2", "4 a:x/1 3*"]),
    (
        lambda: rewrite({"ch": "tʃ", "h": ""}),
        "ch",
        ["0←0 c:0 0←0", "0←0 h:1 0←1*", "0←1 c:2 0←0*", "0←1 h:1 0←1", "0→0 h₁:ε 0→0", "0→0 c₂:ε 0→1*", "0→1 h₁:tʃ 0→0*", "0→1 c₂:ε 0→1"],
    ),
]


def edges_of(picture: str) -> list[str]:
    """The edges of a picture in the form of `CASES`."""
    names = dict(re.findall(r'^(\d+) \[label="(.*?)"[],]', picture, re.MULTILINE))
    found = re.findall(r'^(\d+) -> (\d+) \[label="(.*?)"(, color)?', picture, re.MULTILINE)
    return [f"{names[source]} {label} {names[target]}{'*' * bool(color)}" for source, target, label, color in found]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("make", "text", "edges"), CASES)
def test_path_of_a_text(make: Callable[[], Any], text: str, edges: Sequence[str]) -> None:
    """Labels of arcs contain input and output, failure links are folded into arcs, and the arcs of the text are marked as its path."""
    found = edges_of(make().draw(text))
    assert [edge for edge in found if edge in edges] == [*edges]
    assert [edge for edge in found if edge.endswith("*")] == [edge for edge in edges if edge.endswith("*")]


@pytest.mark.mostly_slow
@each(SAMPLES, 9)
def test_every_table_is_drawn(name: str) -> None:
    """Around any text, or for a lexicon as a whole, the picture of any table has arcs only between states of the picture."""
    table, draw, is_lexicon = table_of(name), random.Random(name), SAMPLES[name].kind == "zhfst"
    for text in texts_of(SAMPLES[name], draw, 3):
        picture = table.draw(None if is_lexicon else text)
        numbers = {*re.findall(r"^(\d+) \[", picture, re.MULTILINE)}
        assert {number for pair in re.findall(r"^(\d+) -> (\d+) ", picture, re.MULTILINE) for number in pair} <= numbers
        assert "style=bold" in picture or not numbers


def written_by(automaton: Automaton, text: Sequence[Any]) -> list[str]:
    """The strings that an automaton writes; a label "word=…" replaces the strings of the current word."""
    state, found, word = automaton.start, list[str](), 0
    for step in (automaton.step(state, symbol) for symbol in text):
        if step is None:
            continue
        state = step.state
        for string in step.written:
            if string.startswith("word="):
                del found[word:]
            found.append(string.removeprefix("word="))
        word = len(found) if state == automaton.start else word
    return found


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if sample.kind in WRITING])
def test_automata_write_the_ids_of_the_walk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strings on the path of a text are the tokens of the ids that the slow walk gives."""
    table, draw, whole = table_of(name), random.Random(name), Automaton.around
    texts, found = texts_of(SAMPLES[name], draw, 6), list[list[str]]()

    def around(automaton: Automaton, runs: Sequence[Sequence[Any]]) -> Picture:
        found.extend(written_by(automaton, run) for run in runs)
        return whole(automaton, runs)

    monkeypatch.setattr(Automaton, "around", around)
    for text in texts:
        table.draw(text)
    names = dict(zip(table.token_ids.tolist(), table.tokens, strict=True)) if table.has_tokens else table.keywords
    longest = table.metadata.model.max_input_chars_per_word if table.has_tokens else 1 << 30
    for text, strings in zip(texts, found, strict=True):
        if max(map(len, text.split()), default=0) <= longest:  # pictures ignore this limit
            assert strings == [names[number] for number in table.run(text)]


def test_whole_tables() -> None:
    """Small tables are drawn whole, and a class of characters is one arc."""
    rules = rewrite("r -> ɾ / V _ V", definitions={"V": "[ae]"})
    assert edges_of(rules.draw())[-3:] == ["0→0 ae₂ 0→1", "0→1 other₀, r₀, r₁:ɾ 0→0", "0→1 ae₂ 0→1"]
    assert edges_of(lookup({"a": "x"}).draw()) == ["0 a:x 1"]
    assert edges_of(best_path(Fst.from_strings([("a", "b")])).draw()) == ["1 a:b 0"]
    assert len(edges_of(keywords(["a", "abc"]).draw())) == 7
    assert "start a:[UNK] start" not in edges_of(wordpiece(["[UNK]", "a"]).draw())


def test_large_tables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture of more than 2,000 states (here 20), or a whole picture of a kind that needs a text, is refused with a remedy."""
    assert dot.MAX_DRAWN == 2_000
    monkeypatch.setattr(dot, "MAX_DRAWN", 20)
    for around in (None, "a" * 25):
        with pytest.raises(UnsupportedError, match=r"21 states .* around a short text"):
            keywords(["a" * 25]).draw(around)
    monkeypatch.undo()
    with pytest.raises(UnsupportedError, match="a table of jieba is drawn around a text only; name a text"):
        lattice.jieba(CHINESE).draw()
    ring = Automaton(0, lambda state, symbol: Step((state + symbol) % 1_000), lambda state, *_: str(state), str)
    with pytest.raises(UnsupportedError, match="pairs of a state and a symbol"):
        ring.around([range(1_000)])


def test_command(tmp_path: Path) -> None:
    """`fst draw` writes the text that `draw` returns, or a picture that graphviz makes from it."""
    table = keywords(["he", "she"])
    table.save(tmp_path / "a.npz")
    assert call("draw", tmp_path / "a.npz").stdout == table.draw()
    assert call("draw", tmp_path / "a.npz", "--around", "she").stdout == fst.load(tmp_path / "a.npz").draw("she") == table.draw("she")
    assert error_of(call("draw", tmp_path / "a.npz", "--around", "a" * 9, "-o", tmp_path / "no" / "a.dot", code=1))
    if which("dot"):
        for form, begin in (("svg", b"<?xml"), ("png", b"\x89PNG")):
            call("draw", tmp_path / "a.npz", "-o", tmp_path / f"a.{form}")
            assert (tmp_path / f"a.{form}").read_bytes().startswith(begin)


def test_labels() -> None:
    """Labels are escaped, and an edge with many labels shows some of them and the number of the others."""
    assert dot.dot([], [dot.Edge(0, 1, ['"', "\\"])]).splitlines()[-2] == '0 -> 1 [label="\\", \\\\"]'
    assert "l, … 2 more" in dot.dot([], [dot.Edge(0, 1, [*"abcdefghijklmn"])])
