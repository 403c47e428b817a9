"""Lexicons of lexc have the same forms and analyses as in foma and HFST, and malformed lexicons are refused."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from support.naive.lexc import pairs, random_expression, random_lexicons, text_of
from support.tiers import sample

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import read_att, read_lexc
from fst.errors import FstError, FstWarning, UnsupportedError, VocabularyError

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
    ("LEXICON Root\na:X ;\n:X ;\nb:X%:Y ;\nLEXICON X\nc:d # ;\nLEXICON X%:Y\ne # ;", "ac d c d be e"),
    ("LEXICON Root\n< a | b:c > X ;\n  <[%<]> # ;\nLEXICON X\n%> # ;\n", "a> a> b> c> < <"),
]  # fmt: skip
# A definition and an expression, and the pairs of a symbol sequence; `_` is the empty string, `~` a space.
EXPRESSIONS = [
    ("Z = z ;", "a b", "ab ab"),
    ("Z = z ;", "abc", "abc abc"),
    ("Z = z ;", "a | b & b", "b b"),
    ("Z = z ;", "a - b c", "a a"),
    ("Z = z ;", "{a b}:{c}", "a~b c"),
    ("Z = z ;", "[a|b] : [c d]", "a cd b cd"),
    ("Z = z ;", '"+N" %+N "a b" f f %  f ! comment\n', "+N+Na~bff~f +N+Na~bff~f"),
    ("Z = z ;", '"\\x41\\u00e4\\"\\\\" 0 "0" %0 [] ""', 'Aä"\\00 Aä"\\00'),
    ("Z = z ;", "a (b:0)", "a a ab a"),
    ("Z = z ;", "a^2 b^1,2", "aab aab aabb aabb"),
    ("Z = z ;", "a^{1,2} | b^<2 | [c^>1 & {cc}]", "a a aa aa b b _ _ cc cc"),
    ("Z = z ;", "a b .x. c", "ab c"),
    ("Z = z ;", "a:b .o. b:c | a .o. a", ""),
    ("Z = z ;", "[a:b].i | [c:d].u | [e:f].l | [g h].r", "b a c c f f hg hg"),
    ("Z = z ;", "a.l.u %::%<", "a: a<"),
    ("Z = z ;", "[a|b]* & [{abba}|c]", "abba abba"),
    ("Z = z ;", "a:b+ .o. {bbb}", "aaa bbb"),
    ("V = [a|e] ; ! vowels\nW = V\n V ; W = W | b ;", "W - {aa}", "ae ae b b ea ea ee ee"),
    ("V = [a|e] ;", "V:b | b:V", "a b e b b a b e"),
    ("V = [] ;", "V V", "_ _"),
    ("Z = z ;", "[a:b | c] - c", "a b"),
    ("Z = z ;", "[a:b | c | {ab}:{b}] & [c | a:b b:0 | a:0]", "ab b c c"),
    ("Z = z ;", "[a:b | a:c | d] .P. [a:e | b] | b:f", "a b a c b b b f d d"),
    ("Z = z ;", "[a:b | d] .p. [e:b | f]", "a b d d f f"),
    ("Z = z ;", "[? | ? ?] & [a | {ba} | {abc}]", "a a ba ba"),
    ("V = [a|e] ;", "\\V & [a | b | e | c d]", "b b"),
    ("V = \\a ;", "[V | V b] & [{ab} | {cb} | a | b]", "b b cb cb"),
    ("Z = z ;", "~[a|b]* & [a | {ba} | {ac} | [d+ & d]]", "ac ac d d"),
    ("Z = z ;", "~$b a & [{aa} | {aba} | {bca} | a]", "a a aa aa"),
    ("Z = z ;", "[a|b] .o. [[?:?] - a:b] .o. [a|b]", "a a b a b b"),
    ("Z = z ;", "a ?:b & [{ab} | a c:b | a a:b]", "aa ab ab ab ac ab"),
    ("Z = z ;", "[$a:b - $c] .o. [b | {db} | {bc}]", "a b ac bc da db"),
]
OF_FOMA = [case for case, (text, _) in enumerate(LEXICONS) if "a:X" not in text]  # in foma, a:X without a space is a continuation
needs_foma = pytest.mark.skipif(shutil.which("foma") is None, reason="foma is not installed: nothing to compare with")
needs_hfst = pytest.mark.skipif(shutil.which("hfst-lexc") is None, reason="hfst-lexc is not installed: nothing to compare with")


def written(folder: Path, text: str) -> Path:
    """A file with the given text."""
    path = folder / "x.lexc"
    path.write_bytes(text.encode())
    return path


def of_expression(folder: Path, text: str, definitions: str = "Z = z ;") -> Path:
    """A lexicon with one regular expression."""
    return written(folder, f"Multichar_Symbols +N\nDefinitions {definitions}\nLEXICON Root\n< {text} > X ;\nLEXICON X\n# ;\n")


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


def test_definitions_without_use(tmp_path: Path) -> None:
    """Definitions have an effect in regular expressions only."""
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
@pytest.mark.parametrize("case", OF_FOMA)
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


@needs_hfst
@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case, (_, text, _) in enumerate(EXPRESSIONS) if not {*"0!"} & {*text}])
def test_hfst_reads_the_same_expressions(tmp_path: Path, case: int) -> None:
    """HFST reads the same pairs from each expression without comments, and without zeros, which its text form writes in another way."""
    definitions, text, _ = EXPRESSIONS[case]
    path = of_expression(tmp_path, text, definitions)
    assert relation(path) == of_hfst(path)


@needs_hfst
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_hfst_reads_random_expressions(tmp_path: Path, seed: int) -> None:
    """For random regular expressions that HFST reads, it reads the same pairs."""
    expression = random_expression(Random(seed), 2)
    if "%0" in expression.text:
        pytest.skip("AT&T text of HFST has the same label for a zero and for nothing")
    path = of_expression(tmp_path, expression.text)
    assert relation(path) == of_hfst(path)


@needs_foma
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_foma_reads_random_lexicons(tmp_path: Path, seed: int) -> None:
    """For random lexicons, foma reads the same pairs."""
    random = Random(seed)
    path = written(tmp_path, text_of(random_lexicons(random), random).partition("END\n")[0])
    assert relation(path) == of_foma(path)


@pytest.mark.parametrize(("definitions", "text", "columns"), EXPRESSIONS)
def test_expressions(tmp_path: Path, definitions: str, text: str, columns: str) -> None:
    """Entries in angle brackets are regular expressions as in HFST, with symbols, strings, pairs, operators and definitions."""
    words = [word.replace("_", "").replace("~", " ") for word in columns.split()]
    assert relation(of_expression(tmp_path, text, definitions)) == sorted(zip(words[1::2], words[::2], strict=True))


def test_any_symbol(tmp_path: Path) -> None:
    """Any symbol is every character and symbol, also those that only other entries or definitions name, but no flag diacritic."""
    text = "Multichar_Symbols +N @P.X.Y@\nDefinitions V = \\[a|e] ;\nLEXICON Root\n< V > X ;\nb+Nc # ;\nLEXICON X\n@P.X.Y@x # ;\n"
    words = read_lexc(written(tmp_path, text))
    for machine, others in ((words, ["@_IDENTITY_SYMBOL_@"]), (words.close("def"), ["d", "f"])):
        assert {form for form, _, _ in machine.paths()} == {"b+Nc", *(f"{first}@P.X.Y@x" for first in ["b", "c", "x", "+N", *others])}


@pytest.mark.parametrize("seed", sample(range(300), 40))
def test_expressions_by_their_definition(tmp_path: Path, seed: int) -> None:
    """Random regular expressions have the pairs that sets of strings give."""
    expression = random_expression(Random(seed), 3)
    found = read_lexc(of_expression(tmp_path, expression.text)).paths(1_000_000)
    expected = {("".join(lower), "".join(upper)) for upper, lower in expression.relation}
    assert {(form, analysis) for form, analysis, _ in found} == expected


def test_expressions_share_no_paths(tmp_path: Path) -> None:
    """An expression belongs to its lexicon, even if other lexicons have the same entries; paths may go through it again and again."""
    text = "LEXICON Root\nx A ;\ny B ;\nLEXICON A\na # ;\n< b* c > Root ;\nLEXICON B\na # ;\n"
    words = fst.Lookup(lookup(written(tmp_path, text)))
    assert [bool(words(word)) for word in ("xa", "ya", "xbbcya", "xcxbcxa", "ybcya", "xbc")] == [True, True, True, True, False, False]


def test_weights_of_expressions(tmp_path: Path) -> None:
    """A weight after two colons is added to all paths of a symbol or of brackets; the weight of the entry is added, too."""
    text = 'LEXICON Root\n< [a::1 | b:c::.5]::2 d > # "weight: 4" ;\n< e::1.5^3 > # ;\n'
    assert sorted(read_lexc(written(tmp_path, text)).paths()) == [("ad", "ad", 7.0), ("cd", "bd", 6.5), ("eee", "eee", 4.5)]


def test_missing_lexicons(tmp_path: Path) -> None:
    """As in HFST, entries that continue in a lexicon that does not exist are dropped; one warning names all such lexicons."""
    path = written(tmp_path, "LEXICON Root\na # ;\nb X ;\nc Y ;\n< d > X ;\n")
    with pytest.warns(FstWarning, match="x.lexc, line 3, column 3: no lexicon has the name X, Y; entries that continue there are dropped"):
        assert list(read_lexc(path).paths()) == [("a", "a", 0.0)]


def test_flags_without_declaration(tmp_path: Path) -> None:
    """As in HFST, a flag diacritic that is not declared is a sequence of characters, except in a regular expression."""
    path = written(tmp_path, 'LEXICON Root\n@P.X.Y@a # ;\n< "@P.X.Z@" b > # ;\n')
    with pytest.warns(FstWarning, match="line 2, column 1: Multichar_Symbols does not contain the flag diacritic @P.X.Y@; its characters"):
        words = fst.Lookup(lookup(path))
    assert [words("@P.X.Y@a"), words("a"), words("b")] == [["@P.X.Y@a"], [], ["b"]]


def test_several_files(tmp_path: Path) -> None:
    """Files are read in their order as one: symbols, definitions and lexicons are valid in all later files."""
    parts = {
        "root.lexc": "Multichar_Symbols +N +Pl\nDefinitions V = [a|e] ;\nLEXICON Root\nNouns ;\nEND\n",
        "nouns.lexc": "Multichar_Symbols +Sg\nLEXICON Nouns\ncat Number ;\n< V x > Number ;\n",
        "affixes.lexc": "LEXICON Number\n+N+Sg: # ;\n+N+Pl:s # ;\n",
    }
    for name, text in parts.items():
        (tmp_path / name).write_text(text)
    words = fst.Lookup(lookup([tmp_path / name for name in parts]))
    assert [words(word) for word in ("cats", "ax", "exs")] == [["cat+N+Pl"], ["ax+N+Sg"], ["ex+N+Pl"]]


def test_other_sections(tmp_path: Path) -> None:
    """Sections have the other names that HFST knows, too; lexicons after NOFLAGS have no effect."""
    text = "MULTICHAR_SYMBOLS +N\nNoFlags X Y ;\nDeclarations V = a ;\nLexicon Root\n< V > X ;\nLEXICON X\n+N:%> # ;\n"
    assert list(read_lexc(written(tmp_path, text)).paths()) == [("a>", "a+N", 0.0)]


@pytest.mark.parametrize(
    ("expression", "error", "found"),
    [
        ("a $?b", UnsupportedError, r"line 4, column 5: the regular expression has \$\?, which is not supported; compile the lexicon with"),
        ("a / b", UnsupportedError, "column 5: the regular expression has /, which"),
        (".#. a", UnsupportedError, r"column 3: the regular expression has .#., which"),
        ("a | ", VocabularyError, "column 8: the regular expression has an end; expected a symbol or brackets; write % before a special"),
        ("a:b:c", VocabularyError, r"column 6: the regular expression has ':'; expected an operator, or the end of the expression"),
        ("[a b", VocabularyError, "column 8: the regular expression has an end; expected ]"),
        ("(a]", VocabularyError, r"column 5: the regular expression has '\]'; expected \)"),
        ("a b ]", VocabularyError, r"column 7: the regular expression has '\]'; expected an operator"),
        ("a^3,2", VocabularyError, r"column 4: the regular expression has the counts \^3,2; expected the smaller number first"),
        ("[a:b] .x. c", VocabularyError, "column 9: a cross product has pairs of different symbols; expected expressions without pairs"),
        ("~[a:b]", VocabularyError, "column 3: a complement has pairs of different symbols; expected expressions without pairs"),
        ("~" * 101 + "a", UnsupportedError, "more than 100 operators"),
        ("[" * 51 + "a" + "]" * 51, VocabularyError, "expected at most 50 brackets in each other"),
        ("a" + ".i" * 101, UnsupportedError, "more than 100 operators other than repeats and the union; expected fewer; use definitions"),
        ("[a^1000]^2000", UnsupportedError, "the regular expression has more than 1,048,576 arcs; expected fewer; simplify the regular"),
        ("[a|b]* a [a|b]^20", UnsupportedError, "line 4, column 2: the determinization has .* expected at most 65,536 states; simplify"),
        ("a^" + "1" * 5000, UnsupportedError, "line 4, column 2: the regular expression has more than 1,048,576 arcs"),
        ("a::" + "1" * 400, VocabularyError, "line 4, column 4: the weight is '1111.*; expected a finite number"),
        ("a" * 70_000, VocabularyError, "column 2: the expression has 70,002 characters; expected at most 65,536"),
    ],
)  # fmt: skip
def test_expressions_are_refused(tmp_path: Path, expression: str, error: type[FstError], found: str) -> None:
    """The error for a regular expression contains line and column, the value and the expected value, or the operator's name."""
    with pytest.raises(error, match=found):
        read_lexc(of_expression(tmp_path, expression))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a # ;\nb", "line 3, column 1: the last entry has no end; expected a semicolon"),
        (";\n", "line 2, column 1: the entry has no continuation; expected a lexicon or #"),
        ("a #\nb # ;", "line 2, column 1: the entry has 4 words; expected a word and a continuation; write '% ' for a space"),
        ("a:b:c # ;", "line 2, column 1: the entry has two colons; expected one between analysis and form"),
        ("x <a> # ;", "line 2, column 3: the entry has <; expected %< for this character, strings only after the continuation"),
        ("<" + "a!b" * 40 + "\n# ;", "line 2, column 1: the entry has <; expected %<"),  # a comment is read once
        ("^<" * 4000, "line 2, column 202: more than 100 brackets < are not closed; expected > after each, or %<"),
        ("x a> # ;", "line 2, column 4: the entry has >; expected %> for this character"),
        ("x a<b # ;", "line 2, column 4: the entry has <; expected %<"),
        ('a"b # ;', "line 2, column 2: the entry has \"; expected %\" for this character"),
        ('a # "x\n" ;', "line 2, column 5: the entry has \""),
        ('a # "weight: 1.2.3" ;', "line 2, column 21: the weight is '1.2.3'; expected a finite number"),
        ('a # "weight: 1e39" ;', "line 2, column 20: the weight is '1e39'; expected a finite number"),
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


def test_entries_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lexicons with too many entries are refused at the first entry above the limit."""
    monkeypatch.setattr("fst.compile.sources.transducers.lexc.lexicon.MAX_ENTRIES", 2)
    with pytest.raises(UnsupportedError, match="line 4, column 1: the lexicons have more than 2 entries; expected fewer; split the source"):
        read_lexc(written(tmp_path, "LEXICON Root\na # ;\nb # ;\nc # ;\n"))


@pytest.mark.parametrize(
    ("limit", "entry", "found"),
    [
        ("algebra.build.paths.MAX_INSERTED", "< a b > # ;", "the regular expressions have more than 10 arcs together; expected fewer"),
        ("algebra.other.MAX_ARCS", "< ? > # ;", "the arcs for any other symbol become 12 arcs; expected at most 10; use a smaller"),
    ],
)
def test_regular_expressions_are_limited_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, entry: str, found: str
) -> None:
    """Many small regular expressions are refused if their arcs together are too many, also those of any symbol."""
    monkeypatch.setattr(f"fst.compile.{limit}", 10)
    assert read_lexc(written(tmp_path, "LEXICON Root\nxyz # ;\n" + f"{entry}\n" * 3)).states
    with pytest.raises(UnsupportedError, match=f"x.lexc: {found}"):
        read_lexc(written(tmp_path, "LEXICON Root\nxyz # ;\n" + f"{entry}\n" * 6))


def test_other_text_is_refused(tmp_path: Path) -> None:
    """A file that begins with other text, or has no lexicon, is refused; so are no files."""
    with pytest.raises(VocabularyError, match="there are no files; expected at least one"):
        read_lexc([])
    with pytest.raises(VocabularyError, match="line 1, column 1: the text is 'hello'; expected LEXICON"):
        read_lexc(written(tmp_path, "hello world"))
    with pytest.raises(VocabularyError, match="line 2, column 1: the text is 'V'; expected a definition"):
        read_lexc(written(tmp_path, "Definitions\nV = " + "a!b" * 40))
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
    with suppress(FstError, FstWarning):
        read_lexc(written(tmp_path, "".join(text)))
