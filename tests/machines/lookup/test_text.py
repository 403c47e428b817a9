"""Look-up over running text: kernel and slow walk give the same tokens, and the streams of lt-proc."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.lookup import machines
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import Fst
from fst.machines.lookup.layout import SECTIONS
from fst.machines.lookup.text_walk import tokens
from fst.runtime.machines.lookup.streams import stream_of
from fst.runtime.rows.texts import rows_of

MORPHOLOGY = SHARED / "oracles" / "morphology"
KINDS = {
    "hin": ("inconditional", "standard"),
    "eng": ("preblank", "inconditional", "standard", "standard"),
    "spa": ("inconditional", "standard", "standard"),
}
TEXT_LABELS = ("a", "b", "A", " ", "-", "<n>", "", "@P.A.X@", "@D.A@", "\U0001f600", "𝜊")
MORPHOLOGY_OF_WORDS = {
    "New York": "New York<np>", "new": "new<adj>", "in": "in<pr>", "re-": "re<pre>", "ab": ["ab<n>", "AB<x>"], "'s": "be<v>",
}  # fmt: skip


def walked(table: Any, text: str) -> list[int]:
    """The ids of the tokens of a text, by the slow walk."""
    return [number for token in tokens(table, text) for number in token]


def found(m: fst.Lookup, texts: list[str], threads: int | None = 1) -> list[list[int]]:
    """The ids of the tokens of texts, by the kernel."""
    return [row.tolist() for row in m._text_encoder.analyse(rows_of(texts), threads, "strict")]


@given(machines(TEXT_LABELS), some.lists(some.text("aAbB -\U0001f600éx𝜊", max_size=12), min_size=3, max_size=6))
@examples(400)
def test_slow_walk(machine: Fst, texts: list[str]) -> None:
    """For small transducers, the kernel gives the tokens of the slow walk."""
    table = lookup(machine)
    table.prove()
    assert found(fst.Lookup(table), texts) == [walked(table, text) for text in texts]


@given(machines(TEXT_LABELS), machines(TEXT_LABELS), some.lists(some.text("aabB -\U0001f600x", max_size=12), min_size=3, max_size=6))
@examples(200)
def test_slow_walk_with_sections(words: Fst, signs: Fst, texts: list[str]) -> None:
    """For small transducers with a section whose tokens end anywhere, even inside words, the kernel gives the tokens of the slow walk."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "both.att"
        words.write_att(path)
        first = path.read_text(encoding="utf-8")
        signs.write_att(path)
        path.write_text(f"{first}--\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
        table = lookup(path, sections=("standard", "inconditional"))
    assert found(fst.Lookup(table), texts) == [walked(table, text) for text in texts]


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text that is read a few units at a time, on several threads, has the same tokens as a text that is read at once."""
    table = lookup(MORPHOLOGY_OF_WORDS)
    texts = ["In New York re-new \U0001f600 AB's " * 40, "", "abab New  York"]
    expected = [walked(table, text) for text in texts]
    monkeypatch.setattr("fst.runtime.rows.batch.BLOCK", 7)
    for threads in (1, 3):
        assert found(fst.Lookup(table), texts, threads) == expected


@needs_shared
@pytest.mark.parametrize("language", ["hin", pytest.param("eng", marks=pytest.mark.slow), pytest.param("spa", marks=pytest.mark.slow)])
def test_streams_of_lt_proc(language: str) -> None:
    """For all recorded texts the kernel writes the stream of lt-proc, and for a sample the slow walk gives the same tokens."""
    with gzip.open(MORPHOLOGY / f"{language}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["op"] == "lt-proc"]
    table = lookup(MORPHOLOGY / f"{language}.att.gz", sections=KINDS[language])
    m = fst.Lookup(table)
    texts = [row["text"] for row in rows]
    assert m.to_apertium(texts) == [row["stream"] for row in rows]
    assert [*map(stream_of, texts, m.analyze_batch(texts))] == [row["stream"] for row in rows]
    some_texts = [row["text"] for row in rows[::20]]
    assert found(m, some_texts) == [walked(table, text) for text in some_texts]


def test_tokens() -> None:
    """The longest word is a token, unknown words have no analyses, and analyses have the case of the word."""
    m = fst.Lookup(lookup(MORPHOLOGY_OF_WORDS))
    text = "In NEW york, New York: AB inn."
    assert [(text[token.start : token.end], token.analyses, token.section) for token in m.analyze_text(text)] == [
        ("In", ["In<pr>"], "standard"),
        ("NEW", ["NEW<adj>"], "standard"),
        ("york", [], None),
        ("New York", ["New York<np>"], "standard"),
        ("AB", ["AB<n>", "AB<x>"], "standard"),
        ("inn", [], None),
    ]
    assert m.analyze_text(b"ab", limit=1)[0].analyses == ["ab<n>"]


DIX = """<dictionary><alphabet>abcdefghijklmnopqrstuvwxyzNY𝜊</alphabet><sdefs><sdef n="n"/></sdefs><section id="main" type="standard">
<e><p><l>house</l><r>house<s n="n"/></r></p></e><e><p><l>New<b/>York</l><r>New<b/>York<s n="n"/></r></p></e>
<e><p><l>𝜊</l><r>o<s n="n"/></r></p></e></section></dictionary>"""
DEFORMATTED = {  # text of a deformatter → the stream of lt-proc 3.7.1
    "𝜊𝜊 𝜊 x": "^𝜊𝜊/*𝜊𝜊$ ^𝜊/o<n>$ ^x/*x$",
    "hou\u00adse hou\u00ad": "^house/house<n>$ ^hou/*hou$",
    "\u00adhouse\u00ad. \u00ad": "^house/house<n>$. ",
    "[<b>]house[</b>] hou[x]se": "[<b>]^house/house<n>$[</b>] ^hou/*hou$[x]^se/*se$",
    "New[ ]York [a\\]b]house": "^New York/New York<n>$[ ] [a\\]b]^house/house<n>$",
    "New [<b>]York": "^New/*New$ [<b>]^York/*York$",
    "\\[house\\]": "\\[^house/house<n>$\\]",
    "[a\u00adb]house[c]": "[a\u00adb]^house/house<n>$[c]",
    "[[t:b:123]]house[[/]]": "[[t:b:123]]^house/house<n>$[[/]]",
}


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dictionary of Apertium."""
    path = tmp_path_factory.mktemp("dix") / "houses.dix"
    path.write_text(DIX, encoding="utf-8")
    return path


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("text", "stream"), DEFORMATTED.items())
def test_texts_of_deformatters(text: str, stream: str, houses: Path) -> None:
    """Superblanks are copied, escaped characters keep their backslash, soft hyphens are left out, and letters may be beyond U+FFFF."""
    m = fst.Lookup(lookup(houses))
    assert m.to_apertium([text], deformatted=True) == m.to_apertium([text.encode()], deformatted=True) == [stream]
    assert m.to_apertium(["house", text, "house"], deformatted=True)[1] == stream


def test_lt_proc_gives_the_same_streams(houses: Path, tmp_path: Path) -> None:
    """If lttoolbox is installed, it gives the recorded streams."""
    if not (which("lt-comp") and which("lt-proc")):
        pytest.skip("lttoolbox is not installed: nothing to compare with")
    binary, utf_8 = tmp_path / "houses.bin", {**os.environ, "LC_ALL": "C.UTF-8"}
    subprocess.run(["lt-comp", "lr", houses, binary], check=True, capture_output=True, env=utf_8)
    for text, stream in DEFORMATTED.items():
        done = subprocess.run(["lt-proc", binary], input=f"{text}\n".encode(), check=True, capture_output=True, env=utf_8)
        assert done.stdout.decode() == f"{stream}\n"


def test_superblanks_of_plain_text(houses: Path) -> None:
    """In plain text, brackets have no meaning, and the stream has a backslash before them."""
    assert fst.Lookup(lookup(houses)).to_apertium(["[house]"]) == ["\\[^house/house<n>$\\]"]


@pytest.mark.parametrize(("errors", "text"), [("strict", "x hou\u00adse\u00ad 𝜊"), ("replace", "\ud800 hou\u00adse\u00ad 𝜊")])
def test_positions_with_soft_hyphens(errors: str, text: str, houses: Path) -> None:
    """Positions count soft hyphens, and a soft hyphen belongs to a token only if it is inside the token."""
    found = fst.Lookup(lookup(houses)).analyze_text(text, errors=errors)
    assert [(token.start, token.end, token.analyses) for token in found][-2:] == [(2, 8, ["house<n>"]), (10, 11, ["o<n>"])]


def test_wrong_texts_with_soft_hyphens(houses: Path) -> None:
    """The error for a text that is malformed contains the position in the given text."""
    with pytest.raises(fst.TextError, match="row 0, position 2: not UTF-8"):
        fst.Lookup(lookup(houses)).analyze_text(b"\xc2\xad\xff")


def test_words_inside_of_words() -> None:
    """A match at the beginning of a longer word is dropped, but is kept after a hyphen inside the longest path."""
    m = fst.Lookup(lookup({"a": "A", "a-b": "AB", "a-bcd": "ABCD"}))
    assert [(token.start, token.end, token.analyses) for token in m.analyze_text("ax a-bc a-")] == [
        (0, 2, []), (3, 4, ["A"]), (5, 7, []), (8, 9, ["A"]),
    ]  # fmt: skip


def test_hostile_texts_are_walked() -> None:
    """A text on which the kernel takes too many steps has the tokens of the slow walk, and other rows have the tokens of the kernel."""
    dead = [(0, 0, "a", ""), (0, 1, "a", ""), (1, 0, "a", ""), (1, 1, "a", ""), (0, 2, "b", "x"), (1, 2, "b", "y")]
    table = lookup(Fst.from_arcs(dead, final=[2]))
    texts = ["ab", "a" * 20 + "b b", "b c"]
    assert [[token.analyses for token in row] for row in fst.Lookup(table).analyze_batch(texts)][::2] == [[["x", "y"]], [["x"], []]]
    assert found(fst.Lookup(table), texts) == [walked(table, text) for text in texts]


def test_stream_format() -> None:
    """Characters with a meaning in Apertium's stream format are escaped, and sections put blanks next to tokens."""
    kinds = [fst.Lookup(lookup({"'s": "be<v>"})).analyze_text("it's")[1]._replace(section=section) for section in SECTIONS]
    assert [stream_of("it's", [token]) for token in kinds] == ["it^'s/be<v>$", "it ^'s/be<v>$", "it^'s/be<v>$ ", "it^'s/be<v>$"]
    assert stream_of("[x^y]", []) == r"\[x\^y\]"


STREAMED = {"ab": ["ab<Tag>x", "AB<Tag>x"], "éa": "ß<n>", "a-b": "\u0131\u0250<a<b", "\U0001f600a": "x/y", "'s": ""}


@pytest.mark.slow
@given(some.lists(some.sampled_from([*"aAbBéÉ -[^<'s\u0130\U0001f600", "ab", "AB", "éa", "a-b", "A-B"]), max_size=20).map("".join))
@examples(1200)
def test_streams_from_the_kernel(text: str) -> None:
    """For any text, the kernel writes the stream that is specified, with one weight or none."""
    for weights in ((), (0.5,)):
        entries = [(word, one, *weights) for word, some in STREAMED.items() for one in ([some] if isinstance(some, str) else some)]
        m = fst.Lookup(lookup(entries))
        assert m.to_apertium([text, "", text * 20]) == [stream_of(each, m.analyze_text(each)) for each in (text, "", text * 20)]


def test_sections_are_checked(tmp_path: Path) -> None:
    """The argument `sections` needs AT&T text with as many sections, and known kinds."""
    Fst.from_strings(["a"]).write_att(tmp_path / "a.att")
    assert fst.Lookup(lookup(tmp_path / "a.att", sections=["inconditional"])).analyze_text("aab")[1].section == "inconditional"
    with pytest.raises(fst.VocabularyError, match=r"a.att: there are 1 sections; expected 2"):
        lookup(tmp_path / "a.att", sections=["standard", "standard"])
    with pytest.raises(fst.VocabularyError, match="expected AT&T text: other formats"):
        lookup({"a": "b"}, sections=["standard"])
    with pytest.raises(ValueError, match="section is 'main'; expected 'standard'"):
        lookup(tmp_path / "a.att", sections=["main"])


def test_generation_reads_no_text() -> None:
    """A look-up that generates refuses running text."""
    with pytest.raises(fst.UnsupportedError, match="this look-up generates"):
        fst.Lookup(lookup({"a": "b"}, inverse=True)).inverted().analyze_text("b")
