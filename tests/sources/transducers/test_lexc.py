"""Lexicons of lexc have the same forms and analyses as in foma and HFST, and malformed lexicons are refused."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from support.naive.lexc import pairs, random_lexicons, text_of
from support.tiers import sample

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import read_att, read_lexc
from fst.errors import FstError, UnsupportedError, VocabularyError

# A lexicon, and its pairs of an analysis and a form.
LEXICONS = [
    (
        "Multichar_Symbols +N +Pl\nLEXICON Root\ncat N ;\ndog:dog N ;\nLEXICON N\n+N: # ;\n+N+Pl:s # ;\nEND\nmore text",
        "cat+N cat cat+N+Pl cats dog+N dog dog+N+Pl dogs",
    ),
    ("LEXICON A\na B ;\nLEXICON B\nb # ;\n", "ab ab"),
    ("LEXICON Root\na0b:0c # ;\n%0:x # ;\n100%0:1%0%0 # ;\nd:0 # ; 0:e # ;", "ab c 0 x 10 100 d _ _ e"),
    ("LEXICON Root\na%!%%%;%:%<%>%\" # ; ! comment ; x\nc # \"info ; ! string\" ;\n", 'a!%;:<>" a!%;:<>" c c'),
    ("LEXICON Root\n# ;\na: # ;\n:b # ;\nX ;\nLEXICON X\n: # ;\n x # ;", "_ _ a _ _ b x x"),
    ("LEXICON Root a # ; b # ; LEXICON X c # ;", "a a b b"),
    ("Multichar_Symbols ab abc b ! cd\n%+N%^ cd\nLEXICON Root\nabcab:abb # ;\nabcd%+N%^:x # ;", "abcab abb abcd+N^ x"),
    ("LEXICON Root\n## # ;\na#b # ;\nc #;\n?[d]{e}(f)\\ # ;", "## ## a#b a#b c c ?[d]{e}(f)\\ ?[d]{e}(f)\\"),
    ("LEXICON Root\r\n\ta\tEND ;\r\nLEXICON END\r\nc # ;\r\n", "ac ac"),
    ("LEXICON Root\nENDING # ;\nLEXICONS # ;\n", "ENDING ENDING LEXICONS LEXICONS"),
    ("Multichar_Symbols %<num%> %{A%} %> %-\n\nLEXICON Root\n5%<num%>:5%-%{A%}% %> # ; ! \"five\"\n", "5<num> 5-{A}~>"),
    ("Multichar_Symbols @P.X.Y@ @R.X.Y@\nLEXICON Root\n@P.X.Y@a B ;\nc:d B ;\nLEXICON B\n@R.X.Y@b # ;\nf # ;", "ab ab af af cf df"),
    ("LEXICON Root\na X ; 0 Root ;\nLEXICON X\nb # ;\n", "ab ab"),
]  # fmt: skip
needs_foma = pytest.mark.skipif(shutil.which("foma") is None, reason="foma is not installed: nothing to compare with")
needs_hfst = pytest.mark.skipif(shutil.which("hfst-lexc") is None, reason="hfst-lexc is not installed: nothing to compare with")


def written(folder: Path, text: str) -> Path:
    """A file with the given text."""
    path = folder / "x.lexc"
    path.write_bytes(text.encode())
    return path


def expected_of(columns: str) -> dict[str, list[str]]:
    """The analyses of each form; ``_`` is the empty string, ``~`` a space."""
    found: dict[str, list[str]] = {}
    words = [word.replace("_", "").replace("~", " ") for word in columns.split()]
    for analysis, form in zip(words[::2], words[1::2], strict=True):
        found.setdefault(form, []).append(analysis)
    return {form: sorted(analyses) for form, analyses in found.items()}


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("text", "columns"), LEXICONS)
def test_lexicons(tmp_path: Path, text: str, columns: str) -> None:
    """Symbols, both sides of an entry, zeros, escapes, comments, strings and flag diacritics have the same meaning as in foma and HFST."""
    expected = expected_of(columns)
    found = fst.Lookup(lookup(written(tmp_path, text))).lookup_batch([*expected, "cb", "aa"])
    assert [sorted(analyses) for analyses in found] == [*expected.values(), [], []]


def test_forms_are_read(tmp_path: Path) -> None:
    """The machine reads forms and writes analyses; with `inverse`, the table generates forms."""
    path = written(tmp_path, "Multichar_Symbols +Pl\nLEXICON Root\ncat+Pl:cats # ;\n")
    assert list(read_lexc(path).paths()) == [("cats", "cat+Pl", 0.0)]
    assert fst.Lookup(lookup(path, inverse=True)).inverted()("cat+Pl") == ["cats"]


def test_cycles_read_something(tmp_path: Path) -> None:
    """A lexicon that continues with itself makes words of any length; a lexicon with a cycle that only writes is refused for look-up."""
    words = fst.Lookup(lookup(written(tmp_path, "LEXICON Root\nab Root ;\nc # ;\n")))
    assert words("ababababc") == ["ababababc"]
    with pytest.raises(UnsupportedError, match="reads nothing and writes 'a'"):
        lookup(written(tmp_path, "LEXICON Root\na:0 Root ;\nc # ;\n"))


def test_weights(tmp_path: Path) -> None:
    """As in HFST, a gloss with "weight:" contains the weight of the entry, and of equal entries the smallest weight is used."""
    text = 'LEXICON Root\na X "gloss weight: 2.5" ;\na X "weight: 1";\nb:a X "no weight" ;\nLEXICON X\n# "weight: 0.25" ;\n'
    assert list(read_lexc(written(tmp_path, text)).paths()) == [("a", "b", 0.25), ("a", "a", 1.25)]


def test_lexicon_defined_twice(tmp_path: Path) -> None:
    """As in foma, a lexicon that is defined twice has the entries of both definitions, and Root is the start wherever it is defined."""
    text = "LEXICON X\nb # ;\nLEXICON Root\na X ;\nLEXICON X\nc # ;\n"
    assert sorted(read_lexc(written(tmp_path, text)).paths()) == [("ab", "ab", 0.0), ("ac", "ac", 0.0)]


def test_definitions_are_skipped(tmp_path: Path) -> None:
    """Definitions, which only regular expressions use, have no effect."""
    text = "Multichar_Symbols +N\nDefinitions\nV = [a | e] ;\nLEXICON Root\na+N # ;\n"
    assert list(read_lexc(written(tmp_path, text)).paths()) == [("a+N", "a+N", 0.0)]


@pytest.mark.parametrize("seed", sample(range(300), 20))
def test_definition(tmp_path: Path, seed: int) -> None:
    """Random lexicons have the pairs of all paths through their entries."""
    random = Random(seed)
    lexicons = random_lexicons(random)
    machine = read_lexc(written(tmp_path, text_of(lexicons, random)))
    assert {(form, analysis) for form, analysis, _ in machine.paths(100_000)} == pairs(lexicons)


def relation(path: Path, *, inverse: bool = False) -> list[tuple[str, str]]:
    """The pairs of a machine that a file describes."""
    machine = read_att(path) if path.suffix == ".att" else read_lexc(path)
    return sorted({(read, written) for read, written, _ in (machine.invert() if inverse else machine).paths(200)})


def of_foma(path: Path) -> list[tuple[str, str]]:
    """The pairs that foma reads."""
    found = path.with_name("foma.att")
    command = ["foma", "-e", f"read lexc {path.name}", "-e", f"write att {found.name}", "-s"]
    subprocess.run(command, check=True, capture_output=True, cwd=path.parent)
    return relation(found, inverse=True)


def of_hfst(path: Path) -> list[tuple[str, str]]:
    """The pairs that hfst-lexc reads."""
    compiled, found = path.with_name("x.hfst"), path.with_name("hfst.att")
    subprocess.run(["hfst-lexc", path, "-o", compiled], check=True, capture_output=True)
    subprocess.run(["hfst-fst2txt", compiled, "-o", found], check=True, capture_output=True)
    return relation(found, inverse=True)


@needs_foma
@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(LEXICONS)))
def test_foma_reads_the_same_pairs(tmp_path: Path, case: int) -> None:
    """From each lexicon, foma reads the same pairs as this package; from a lexicon with END, foma gets only the part before END."""
    path = written(tmp_path, LEXICONS[case][0].partition("END\nmore text")[0])
    assert relation(path) == of_foma(path)


@needs_hfst
@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in range(len(LEXICONS)) if "% " not in LEXICONS[case][0]])
def test_hfst_reads_the_same_pairs(tmp_path: Path, case: int) -> None:
    """From each lexicon without spaces, which its text form writes in another way, hfst-lexc reads the same pairs."""
    path = written(tmp_path, LEXICONS[case][0])
    assert relation(path) == of_hfst(path)


@needs_foma
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_foma_reads_random_lexicons(tmp_path: Path, seed: int) -> None:
    """For random lexicons, foma reads the same pairs."""
    random = Random(seed)
    path = written(tmp_path, text_of(random_lexicons(random), random).partition("END\n")[0])
    assert relation(path) == of_foma(path)


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ("< a b* > # ;", "line 2, column 1: the entry '<' is a regular expression; expected characters; write %< for"),
        ("  <V> # ;", "line 2, column 3: the entry '<V>' is a regular expression"),
    ],
)
def test_regular_expressions_are_refused(tmp_path: Path, entry: str, found: str) -> None:
    """An entry in angle brackets is refused, and the message contains the position."""
    with pytest.raises(UnsupportedError, match=found):
        read_lexc(written(tmp_path, f"LEXICON Root\n{entry}\n"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a X ;", "line 2, column 3: the lexicon 'X' is not defined; expected one of this file; add LEXICON X"),
        ("a # ;\nb", "line 3, column 1: the last entry has no end; expected a semicolon"),
        ("a ;\n", "line 2, column 1: the lexicon 'a' is not defined"),
        (";\n", "line 2, column 1: the entry has no continuation; expected a lexicon or #"),
        ("a #\nb # ;", "line 2, column 1: the entry has 4 words; expected a word and a continuation; write '% ' for a space"),
        ("a:b:c # ;", "line 2, column 1: the entry has two colons; expected one between analysis and form"),
        ("x a> # ;", "line 2, column 3: the entry has >; expected %> for this character"),
        ('a"b # ;', "line 2, column 2: the entry has \"; expected %\" for this character"),
        ('a # "x\n" ;', "line 2, column 5: the entry has \""),
        ('a # "weight: 1.2.3" ;', "line 2, column 21: the weight is '1.2.3'; expected a finite number"),
        ("@P.X.Y@a # ;", "line 2, column 1: the flag diacritic @P.X.Y@ is not declared; .* add it to Multichar_Symbols"),
        ("a" * 10_001 + " # ;", "line 2, column 1: the entry has a word of 10,001 characters; expected at most 10,000"),
        ("LEXICON", "line 2, column 1: the lexicon has no name; expected LEXICON and its name"),
        ("LEXICON ;", "line 2, column 9: the lexicon has no name"),
        ("a # ;\nMultichar_Symbols ab\n", "line 3, column 1: the text is 'Multichar_Symbols'; expected LEXICON"),
    ],
)  # fmt: skip
def test_malformed_entries_are_refused(tmp_path: Path, text: str, found: str) -> None:
    """The error for a malformed entry contains line, column, the value and the expected value."""
    with pytest.raises(VocabularyError, match=found):
        read_lexc(written(tmp_path, f"LEXICON Root\n{text}"))


def test_other_text_is_refused(tmp_path: Path) -> None:
    """A file that begins with other text, or has no lexicon, is refused."""
    with pytest.raises(VocabularyError, match="line 1, column 1: the text is 'hello'; expected LEXICON"):
        read_lexc(written(tmp_path, "hello world"))
    with pytest.raises(VocabularyError, match="has no lexicon; expected LEXICON Root and its entries"):
        read_lexc(written(tmp_path, "! nothing\nMultichar_Symbols +N\n"))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(100))
def test_damaged_lexicons_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    """A file with random changes is read, or refused with an error of this package."""
    random = Random(seed)
    text = [*text_of(random_lexicons(random), random)]
    for place in random.choices(range(len(text)), k=4):
        text[place] = random.choice(["\t", "\n", " ", "0", "%", ":", ";", "!", '"', "", "\0", "<"])
    with suppress(FstError):
        read_lexc(written(tmp_path, "".join(text)))
