"""Dictionaries of Apertium are read or refused, and the machines equal those of lt-comp."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from contextlib import suppress
from math import inf
from pathlib import Path
from shutil import which
from typing import Any, Literal

import numpy as np
import pytest
from support.shared_data import SHARED, needs_shared

import fst
from fst.compile import lookup
from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.machine import Fst, read_att, read_dix
from fst.compile.algebra.rational import without_weights
from fst.compile.sources.transducers.dix import entries
from fst.compile.sources.transducers.dix.dictionary import joined, read
from fst.compile.sources.transducers.dix.regex import MAX_LENGTH
from fst.errors import FstError, UnsupportedError, VocabularyError

MORPHOLOGY = SHARED / "oracles" / "morphology"
HEAD = '<dictionary>\n<alphabet>abc</alphabet>\n<sdefs><sdef n="n"/><sdef n="v" c="verb"/></sdefs>\n'
PARADIGMS = """<pardefs>
<pardef n="noun"><e><p><l></l><r><s n="n"/></r></p></e><e r="LR"><p><l>s</l><r><s n="v"/></r></p></e></pardef>
<pardef n="analysed"><e r="LR"><i>x</i></e></pardef>
<pardef n="nested"><e><i>o</i><par n="noun"/></e><e w="2"><i>u</i></e></pardef>
<pardef n="loop"><e><re>b*</re></e></pardef>
</pardefs>"""
NESTED = {("qo", "q<n>o<n>", 0), ("qos", "q<n>o<v>", 0), ("qso", "q<v>o<n>", 0), ("qsos", "q<v>o<v>", 0)}
needs_lt_comp = pytest.mark.skipif(which("lt-comp") is None, reason="lt-comp is not installed: nothing to compare with")
Paths = set[tuple[str, str, float]]


def dictionary(folder: Path, body: str, paradigms: str = PARADIGMS) -> Path:
    """A dictionary with the given entries in a section."""
    path = folder / "a.dix"
    path.write_text(f'{HEAD}{paradigms}\n<section id="main" type="standard">\n{body}</section></dictionary>', encoding="utf-8")
    return path


def same(arcs: Arcs) -> list[tuple[Any, ...]]:
    """The arcs and finals of the minimal machine, with states in the order of a breadth-first search: equal for equal machines.

    Weights are left out, because lt-comp loses the weight of an entry that begins like an earlier entry.
    """
    machine = Fst.of(without_weights(arcs)).optimize()
    order, rows = {machine.start: 0} if machine.states else {}, list[tuple[Any, ...]]()
    for state in (queue := [*order]):
        arcs_of = ((machine.text_of([label]), machine.text_of([written]), to) for label, written, to, _ in machine.arcs_of(state))
        for label, written, target in sorted(arcs_of):
            if target not in order:
                order[target] = len(order)
                queue.append(target)
            rows.append((order[state], order[target], label, written))
        if machine.final[state] < inf:
            rows.append((order[state],))
    return rows


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ('<e lm="ab"><i>ab</i><p><l>c</l><r>d<s n="n"/></r></p></e>', {("abc", "abd<n>", 0)}),
        ('<e><i>a<b/>b<j/>c<a/>d<g>e<b/>f</g><s n="n"/></i></e>', {("a b+c~d#e f<n>", "a b+c~d#e f<n>", 0)}),
        ("<e><p><l>a<m/>b<g/></l><r>&lt;&#x263a;</r></p></e>", {("ab#", "<☺", 0)}),
        ("<e><ig>a<b/>b</ig></e>", {("a b", "#a b", 0)}),
        ('<e><i>a</i><par n="noun"/></e>', {("a", "a<n>", 0), ("as", "a<v>", 0)}),
        ('<e><i>a</i><par n="nested"/></e>', {("ao", "ao<n>", 0), ("aos", "ao<v>", 0), ("au", "au", 2)}),
        ('<e><i>q</i><par n="noun"/><i>z</i></e>', {("qz", "q<n>z", 0), ("qsz", "q<v>z", 0)}),
        ('<e><i>q</i><par n="noun"/><par n="nested"/></e>', {("qu", "q<n>u", 2), ("qsu", "q<v>u", 2), *NESTED}),
        ('<e><i>x</i><par n="analysed"/></e>', {("xx", "xx", 0)}),
        ('<e r="RL"><i>a</i></e><e r="LR"><i>b</i></e><e r=""><i>c</i></e><e r="lr"><i>d</i></e>', {("b", "b", 0), ("c", "c", 0)}),
        ('<e i="yes"><i>a</i></e><e i="no" a="who" c="why" slr="1"><i>b</i></e>', {("b", "b", 0)}),
        ('<e alt="x"><i>a</i></e><e v="x"><i>b</i></e><e vl="x"><i>c</i></e><e vr="x"><i>d</i></e>', {("b", "b", 0), ("c", "c", 0)}),
        ('<e w="0.5"><i>a</i><p><l>b</l><r/></p><p><l/><r/></p></e>', {("ab", "a", 1)}),
        ('<e w="7"><re>m</re></e>', {("m", "m", 0)}),
        (r"<e><re>a?(b|c\+)[d-e\]]</re></e>", {(a + b + c,) * 2 + (0,) for a in ("", "a") for b in ("b", "c+") for c in "de]"}),
        ("<e><re>a.$</re></e>", {("a.$", "a.$", 0)}),
        ("<e><i>a</i></e><e><i>a</i></e><!-- a comment -->", {("a", "a", 0)}),
        ('stray text<e>\n<i>a</i> <!-- a comment --> <par n="noun"/>\n</e>', {("a", "a<n>", 0), ("as", "a<v>", 0)}),
        ("", set()),
    ],
)  # fmt: skip
def test_elements(tmp_path: Path, body: str, paths: Paths) -> None:
    """Each element and attribute gives the same strings as in lt-comp."""
    assert {*read_dix(dictionary(tmp_path, body)).paths()} == paths


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ("<e><p><l>ab</l><r>c</r></p></e>", {("c", "ab", 0)}),
        ('<e><i>a</i><par n="noun"/></e>', {("a<n>", "a", 0)}),
        ('<e><i>x</i><par n="analysed"/></e>', set()),
        ('<e r="RL"><i>a</i></e><e r="LR"><i>b</i></e>', {("a", "a", 0)}),
        ('<e alt="x"><i>a</i></e><e v="x"><i>b</i></e><e vl="x"><i>c</i></e><e vr="x"><i>d</i></e>', {("b", "b", 0), ("d", "d", 0)}),
    ],
)
def test_generation(tmp_path: Path, body: str, paths: Paths) -> None:
    """From right to left, right strings are read; entries for the other direction, and entries with an empty paradigm, are left out."""
    assert {*read_dix(dictionary(tmp_path, body), "rl").paths()} == paths


def test_negated_set_contains_latin_1_and_nothing(tmp_path: Path) -> None:
    """A negated set contains the other characters up to U+00FF, and matches the empty string, as in lt-comp."""
    m = fst.Lookup(lookup(dictionary(tmp_path, "<e><i>p</i><re>[^a-c]</re></e>")))
    assert [*map(bool, m.lookup_batch(["p", "pa", "pd", "p\xff", "p\u0100"]))] == [True, False, True, True, False]


def test_paradigms_do_not_leak(tmp_path: Path) -> None:
    """If one entry begins like another entry that continues with a paradigm, the first entry gets no string of the paradigm."""
    body = '<e><i>xa</i><par n="loop"/><i>q</i></e><e><i>xac</i></e><e><par n="loop"/><i>z</i></e><e><i>bc</i></e>'
    m = fst.Lookup(lookup(dictionary(tmp_path, body)))
    assert [*map(bool, m.lookup_batch(["xaq", "xabbq", "xac", "xabc", "bz", "bc", "bbc", "z"]))] == [1, 1, 1, 0, 1, 1, 0, 1]


def test_second_definition_adds_entries(tmp_path: Path) -> None:
    """A paradigm that is defined twice has the entries of both definitions."""
    twice = '<pardefs><pardef n="p"><e><i>a</i></e></pardef><pardef n="p"><e><i>b</i></e></pardef></pardefs>'
    assert {*read_dix(dictionary(tmp_path, '<e><i>x</i><par n="p"/></e>', twice)).paths()} == {("xa", "xa", 0), ("xb", "xb", 0)}


@pytest.mark.parametrize(
    ("body", "error", "found"),
    [
        ("<e><i>a</i>", VocabularyError, "line 11, column 14: the XML is malformed: mismatched tag"),
        ('<e>\n<par n="verb"/></e>', VocabularyError, "line 12, column 1: the paradigm 'verb' is used without a definition before it"),
        ('<e><i>a<s n="sg"/></i></e>', VocabularyError, "line 11, column 8: the symbol 'sg' has no definition; expected an <sdef>"),
        ("<e><i>a</i></e><e><p><l/><r>b</r></p></e>", VocabularyError, "column 38: the left side of the entry may be empty"),
        ("<e/>", VocabularyError, "the left side of the entry may be empty"),
        ("<e><i> a</i></e>", VocabularyError, "the entry begins with whitespace"),
        ("<e>a<i>a</i></e>", VocabularyError, "column 5: the text in <e> is 'a'; expected none"),
        ("<e><b/></e>", VocabularyError, "the element in <e> is <b>; expected <i>, <ig>, <p>, <par>, <re>; move or remove it"),
        ("<e><i>a<t/></i></e>", UnsupportedError, "the element in <i> is <t>; expected <s>, <b>, <j>, <a>, <g>, <m>; remove it"),
        ("<e><i>a<g>b<g/></g></i></e>", VocabularyError, "the element in <g> is <g>"),
        ("<e><i>a<b>c</b></i></e>", VocabularyError, "the text in <b> is 'c'; expected none"),
        ("<e><p><r>a</r><l>b</l></p></e>", VocabularyError, "the pair has <r> here; expected one <l>, then one <r>"),
        ("<e><p><l>a</l></p></e>", VocabularyError, "the pair has 1 strings; expected"),
        ("<e><p><l>a</l><r/><r/></p></e>", VocabularyError, "the pair has <r> here"),
        ('<e w="x"><i>a</i></e>', VocabularyError, "the weight is 'x'; expected a decimal number"),
        ('<e w="inf"><i>a</i></e>', VocabularyError, "the weight is 'inf'; expected a decimal number"),
        ("<e><i>a</i><par/></e>", VocabularyError, "<par> has no attribute n"),
        ("<e><i>a</i><re>a*)</re></e>", VocabularyError, r"'a\*\)' has '\)' at position 3; expected an end of the expression"),
        ("<e><i>a</i><re>a**</re></e>", VocabularyError, r"has '\*' at position 3; expected a character"),
        ("<e><i>a</i><re>(a</re></e>", VocabularyError, r"has the end at position 3; expected '\)'"),
        ("<e><i>a</i><re>[b-a]</re></e>", VocabularyError, "expected a range with 'b' before 'a'"),
        ("<e><i>a</i><re>[]</re></e>", VocabularyError, "expected a set with a character"),
        (r"<e><i>a</i><re>\a</re></e>", VocabularyError, r"has 'a' at position 2; expected a special character"),
        ("<e><i>a</i><re></re></e>", VocabularyError, "has the end at position 1; expected a character"),
        ('</section><section id="x" type="final">', VocabularyError, "the type of the section is 'final'; expected 'standard'"),
        ('</section><section id="x">', VocabularyError, "<section> has no attribute type"),
        ("<e><i>a&b;</i></e>", VocabularyError, "the XML is malformed: undefined entity"),
    ],
)
def test_malformed_dictionary_is_refused(tmp_path: Path, body: str, error: type[FstError], found: str) -> None:
    """A malformed dictionary is refused, and the message contains line, column, fault and remedy."""
    with pytest.raises(error, match=found):
        read_dix(dictionary(tmp_path, body))


@pytest.mark.parametrize(
    ("text", "error", "found"),
    [
        ("", VocabularyError, "line 1, column 1: the XML is malformed: no element found"),
        ("0\t1\ta\tb\n", VocabularyError, "the XML is malformed: syntax error"),
        ("<html/>", UnsupportedError, "the element at the top is <html>; expected <dictionary>"),
        ('<dictionary type="separable"/>', UnsupportedError, "the dictionary is of type 'separable'; expected 'standard'"),
        ('<?xml version="1.0" encoding="UTF8-1"?><dictionary/>', UnsupportedError, "the encoding is 'UTF8-1'; expected UTF-8"),
        ('<?xml version="1.0" encoding="shift_jis"?><dictionary/>', UnsupportedError, "the encoding is 'shift_jis'; expected UTF-8"),
        ('<!DOCTYPE d [<!ENTITY a "b">]><dictionary/>', UnsupportedError, "line 1, column 25: the entity 'a' is declared"),
        ('<!DOCTYPE d [<!ENTITY a SYSTEM "/etc/passwd">]><dictionary/>', UnsupportedError, "the entity 'a' is declared"),
        ('<!DOCTYPE d [<!ENTITY % a "b">]><dictionary/>', UnsupportedError, "the entity 'a' is declared"),
        ('<!DOCTYPE d SYSTEM "d.dtd"><dictionary>&a;</dictionary>', UnsupportedError, "the entity 'a' is declared in another file"),
    ],
)
def test_hostile_document_is_refused(tmp_path: Path, text: str, error: type[FstError], found: str) -> None:
    """A document that is not a dictionary, or that defines entities, is refused before an entity is expanded or a file is opened."""
    (tmp_path / "a.dix").write_text(text)
    with pytest.raises(error, match=found):
        read_dix(tmp_path / "a.dix")


def test_document_may_name_its_type(tmp_path: Path) -> None:
    """A DOCTYPE without declarations, another encoding and a byte-order mark are accepted."""
    text = '<?xml version="1.0" encoding="{}"?><!DOCTYPE dictionary SYSTEM "dix.dtd"><dictionary>{}</dictionary>'
    section = '<section id="a" type="standard"><e><i>é</i></e></section>'
    for name in ("utf-8", "utf-8-sig", "utf-16", "iso-8859-1"):
        (tmp_path / "a.dix").write_text(text.format(name.removesuffix("-sig"), section), encoding=name)
        assert [*read_dix(tmp_path / "a.dix").paths()] == [("é", "é", 0.0)]


HUGE = '<pardefs><pardef n="p0"><e><i>a</i></e><e><i>b</i></e></pardef>{}</pardefs>'.format(
    "".join(f'<pardef n="p{level + 1}"><e><par n="p{level}"/><par n="p{level}"/></e></pardef>' for level in range(40))
)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("paradigms", "body", "found"),
    [
        (HUGE, "", r"the dictionary has more than 100,000 arcs"),
        ('<pardefs><pardef n="p"><e><i>a</i><par n="p"/></e></pardef></pardefs>', "", "'p' is used inside of its own definition"),
        ('<pardefs><pardef n="p"><e><par n="q"/></e></pardef><pardef n="q"><e><par n="p"/></e></pardef></pardefs>', "", "'q' is used with"),
        ("", "<e><i>" + "<g>" * 10_000, "the element in <g> is <g>"),
        ("", f"<e><i>{'a' * 70_000}</i></e>", "the string in <i> has more than 65,536 characters"),
        ("", f"<e><i>a</i><re>{'(' * 10_000}", "the XML is malformed"),
        ("", f"<e><i>a</i><re>{'(' * 10_000}</re></e>", "expected at most 50 groups in each other"),
        ("", f"<e><i>a</i><re>{'a' * (MAX_LENGTH + 1)}</re></e>", "has 65,537 characters; expected at most 65,536"),
        ("", "<e><i>a</i><re>[\x09-\U0002ffff]</re></e>", r"line 6, .*: the dictionary has more than 100,000 arcs"),
    ],
)  # fmt: skip
def test_explosions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paradigms: str, body: str, found: str) -> None:
    """Paradigms that contain each other in a cycle or double at each level, deep nesting and huge expressions are refused quickly."""
    monkeypatch.setattr(entries, "MAX_ARCS", 100_000)
    with pytest.raises(FstError, match=found):
        read_dix(dictionary(tmp_path, body, paradigms))


def test_unknown_direction_is_refused(tmp_path: Path) -> None:
    """A direction other than "lr" and "rl" is refused."""
    direction: Any = "LR"
    with pytest.raises(ValueError, match="direction is 'LR'; expected 'lr' or 'rl'"):
        read_dix(dictionary(tmp_path, "<e><i>a</i></e>"), direction)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(200))
def test_damaged_dictionary_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    """A dictionary with random changes is read, or refused with an error of this package."""
    random = np.random.default_rng(seed)
    path = dictionary(tmp_path, '<e w="1"><i>a<b/></i><par n="noun"/></e><e><re>[a-c]+(d|e)?</re><p><l>x</l><r>y</r></p></e>\n')
    text = [*path.read_text()]
    for place in random.integers(len(text), size=2):
        text[place] = str(random.choice([*"<>/&;\"'[](-*|a "]))
    path.write_text("".join(text))
    with suppress(FstError):
        read_dix(path)


def test_sections_have_their_kinds(tmp_path: Path) -> None:
    """Sections of one kind are one machine, and tokens of running text have the kind of their section."""
    sections = {"standard": "a", "inconditional": ";", "preblank": "!", "postblank": "("}
    section = '<section id="{1}" type="{0}"><e><i>{1}</i></e></section>'
    body = "".join(section.format(*each) for each in [*sections.items(), ("standard", "b")])
    (tmp_path / "a.dix").write_text(f"<dictionary>{body}</dictionary>")
    assert [*read(tmp_path / "a.dix").sections] == [*sections]
    m = fst.Lookup(lookup(tmp_path / "a.dix", inverse=True))
    assert [token.section for token in m.analyze_text("a;b!(")] == ["standard", "inconditional", "standard", "preblank", "postblank"]
    with pytest.raises(VocabularyError, match="other formats contain the kinds, or have no sections"):
        lookup(tmp_path / "a.dix", sections=["standard"])


def test_alphabet_has_letters(tmp_path: Path) -> None:
    """Characters of the alphabet are letters, so no word ends before or after such a character inside a longer word."""
    text = '<dictionary><alphabet>ab\' -</alphabet><section id="a" type="standard"><e><i>ab</i></e></section></dictionary>'
    for alphabet, tokens in ((text, ["ab'", "x-ab", "ab"]), (text.replace("' -", ""), ["ab", "x", "ab", "ab"])):
        (tmp_path / "a.dix").write_text(alphabet)
        found = fst.Lookup(lookup(tmp_path / "a.dix")).analyze_text("ab' x-ab ab")
        assert ["ab' x-ab ab"[token.start : token.end] for token in found] == tokens


def test_both_directions_are_looked_up(tmp_path: Path) -> None:
    """A look-up with generation uses no entries for generation when it analyses, and no entries for analysis when it generates."""
    body = '<e><i>a</i>{0}</e><e r="LR"><p><l>o</l><r>a</r></p>{0}</e><e r="RL"><p><l>e</l><r>a</r></p>{0}</e>'.format('<par n="noun"/>')
    m = fst.Lookup(lookup(dictionary(tmp_path, body), inverse=True))
    assert [*m.lookup_batch(["a", "o", "e", "as"])] == [["a<n>"], ["a<n>"], [], ["a<v>"]]
    assert [*m.inverted().lookup_batch(["a<n>", "a<v>"])] == [["a", "e"], []]


@needs_shared
@pytest.mark.slow
def test_hindi_is_that_of_lt_comp() -> None:
    """A real dictionary has the numbers of states and arcs that lt-comp prints, and the recorded paths that need no equivalent letters."""
    found, recorded = read(MORPHOLOGY / "hin.dix"), read_att(MORPHOLOGY / "hin.att.gz")
    sizes = [(kind, machine.states, machine.arcs) for kind, machine in found.sections.items()]
    assert sizes == [("standard", 29_331, 66_516), ("inconditional", 17, 119)]
    # lt-comp made the recorded machine with a file of equivalent characters, so ॊ is read for other letters, too
    kept = (recorded.ilabel != ord("ॊ")) | (recorded.olabel == ord("ॊ"))
    source, read_, written, target = (column[kept] for column in (recorded.sources, recorded.ilabel, recorded.olabel, recorded.target))
    assert same(joined(found)) == same(make(source, read_, written, target, None, recorded.final, recorded.start, recorded.symbols))


@needs_shared
def test_hindi_has_its_recorded_answers() -> None:
    """All recorded words and texts have the analyses of HFST and the streams of lt-proc, with the kinds of sections from the dictionary."""
    with gzip.open(MORPHOLOGY / "hin.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [*map(json.loads, lines)]
    words, texts = ([row for row in rows if row["op"] == operation] for operation in ("analyse", "lt-proc"))
    m = fst.Lookup(lookup(MORPHOLOGY / "hin.dix"))
    assert [*map(sorted, m.lookup_batch([row["word"] for row in words]))] == [row["outputs"] for row in words]
    assert m.to_apertium([row["text"] for row in texts]) == [row["stream"] for row in texts]


def generated(seed: int) -> str:
    """A random dictionary, with paradigms that contain each other."""
    random = np.random.default_rng(seed)

    def some(*choices: str) -> str:
        return str(random.choice(choices))

    def string() -> str:
        parts = ("a", "b", "c", "é", "<b/>", "<j/>", '<s n="n"/>', '<s n="v"/>', "<g>a</g>", "")
        return "".join(some(*parts) for _ in range(random.integers(3)))

    def item(level: int) -> str:
        if level and random.random() < 0.4:
            return f'<par n="p{random.integers(level)}"/>'
        pattern = some("a*", "b+", "(a|bc)?", "[abc]", "[a-c]+d", "a|b", "(ab|c)*", r"\+?")
        return some(f"<i>{string()}</i>", f"<p><l>{string()}</l><r>{string()}</r></p>", f"<ig>{string()}</ig>", f"<re>{pattern}</re>")

    def entry(level: int, first: str) -> str:
        attributes = some("", "", ' r="LR"', ' r="RL"', ' w="1"', ' w="0.25"', ' v="x"', ' vr="x"', ' alt="x"', ' i="yes"')
        return f"<e{attributes}>{first}{''.join(item(level) for _ in range(random.integers(1, 4)))}</e>"

    paradigms = "".join(
        f'<pardef n="p{level}"><e><i>{string()}</i></e>{"".join(entry(level, "") for _ in range(random.integers(1, 4)))}</pardef>'
        for level in range(4)
    )
    kinds = ("standard", "inconditional", "preblank", "postblank")
    sections = "".join(
        f'<section id="s{at}" type="{kinds[at]}">{"".join(entry(4, some("<i>a</i>", "<i>b</i>", "<i>é</i>")) for _ in range(8))}</section>'
        for at in range(random.integers(1, 4))
    )
    return f"{HEAD}<pardefs>{paradigms}</pardefs>{sections}</dictionary>"


@needs_lt_comp
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["lr", "rl"])
def test_random_dictionaries_are_those_of_lt_comp(tmp_path: Path, direction: Literal["lr", "rl"]) -> None:
    """The machine of a random dictionary is the one that lt-comp makes and lt-print prints."""
    for seed in range(40):
        (tmp_path / "a.dix").write_text(generated(seed), encoding="utf-8")
        subprocess.run(["lt-comp", direction, tmp_path / "a.dix", tmp_path / "a.bin"], check=True, capture_output=True)
        subprocess.run(["lt-print", "-H", tmp_path / "a.bin", tmp_path / "a.att"], check=True)
        assert same(read_dix(tmp_path / "a.dix", direction)) == same(read_att(tmp_path / "a.att")), seed


@needs_lt_comp
@pytest.mark.slow
def test_streams_are_those_of_lt_proc(tmp_path: Path) -> None:
    """Random texts have the stream of lt-proc with random dictionaries without weights, also in the order of analyses."""
    random = np.random.default_rng(5)
    for seed in range(15):
        text = re.sub(r' w="[^"]*"', "", generated(seed)).replace("<j/>", "x").replace("<g>a</g>", "a").replace("preblank", "inconditional")
        (tmp_path / "a.dix").write_text(text, encoding="utf-8")
        subprocess.run(["lt-comp", "lr", tmp_path / "a.dix", tmp_path / "a.bin"], check=True, capture_output=True)
        texts = ["".join(random.choice([*"abcéabcé x.d"], 30)) for _ in range(20)]
        lines = "".join(f"{each}\n" for each in texts)
        streams = subprocess.run(["lt-proc", tmp_path / "a.bin"], input=lines, capture_output=True, text=True, check=True).stdout
        assert fst.Lookup(lookup(tmp_path / "a.dix")).to_apertium(texts) == streams.split("\n")[:-1], seed
