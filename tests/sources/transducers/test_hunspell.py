"""Dictionaries of Hunspell: words have the stems of the slow definition and of spylls, and unsupported options are refused."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from random import Random
from shutil import which

import pytest
from support.naive.hunspell import random_dictionary
from support.tiers import sample

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import read_hunspell
from fst.errors import FstError, FstWarning, UnsupportedError, VocabularyError

SYSTEM = Path("/usr/share/hunspell")
SCRIPT = """
import json, sys
from spylls.hunspell import Dictionary

def stems(aff, dic, lookuper, word):
    if aff.FORBIDDENWORD and dic.has_flag(word, aff.FORBIDDENWORD, for_all=True):
        return []
    word = aff.ICONV(word) if aff.ICONV else word
    word = word.translate(aff.IGNORE.tr) if aff.IGNORE else word
    return [form.in_dictionary.stem for form in lookuper.good_forms(word, capitalization=False)]

found = []
for name, words in json.load(sys.stdin):
    read = Dictionary.from_files(name)
    found.append([stems(read.aff, read.dic, read.lookuper, word) for word in words])
print(json.dumps(found))
"""
WORDS = [*map("".join, (word for length in range(1, 6) for word in product("abc", repeat=length)))]
needs_spylls = pytest.mark.skipif(find_spec("spylls") is None, reason="spylls is not installed: nothing to compare with")


def written(folder: Path, aff: str | bytes, dic: str | bytes) -> Path:
    """The ``.aff`` file of a dictionary with these texts."""
    for ending, text in ((".aff", aff), (".dic", dic)):
        (folder / f"x{ending}").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder / "x.aff"


def stems_of(folder: Path, aff: str | bytes, dic: str | bytes, *words: str) -> list[list[str]]:
    """The stems of some words in a dictionary with these texts."""
    found = fst.Lookup(lookup(written(folder, aff, dic))).lookup_batch([*words])
    return [sorted(stems) for stems in found]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", sample(range(400), 20))
def test_definition(tmp_path: Path, seed: int) -> None:
    """For random dictionaries, each word has the stem of each entry from which it can be made with a prefix and two suffixes."""
    dictionary = random_dictionary(Random(seed))
    expected = dictionary.stems()
    words = [*dict.fromkeys([*expected, *WORDS])]
    found = fst.Lookup(lookup(written(tmp_path, dictionary.aff(), dictionary.dic()))).lookup_batch(words)
    assert {word: {*stems} for word, stems in zip(words, found, strict=True) if stems} == expected


def stems_of_spylls(words: dict[Path, list[str]]) -> list[list[set[str]]]:
    """The stems of words in dictionaries, as spylls finds them in a separate process."""
    jobs = [(str(path.with_suffix("")), some) for path, some in words.items()]
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    found = subprocess.run(command, check=True, capture_output=True, text=True, input=json.dumps(jobs)).stdout
    return [[{*stems} for stems in row] for row in json.loads(found)]


@needs_spylls
@pytest.mark.slow
def test_spylls_gives_the_same_stems(tmp_path: Path) -> None:
    """For random dictionaries, each word has the stems that spylls finds."""
    words: dict[Path, list[str]] = {}
    for seed in range(60):
        (tmp_path / str(seed)).mkdir()
        dictionary = random_dictionary(Random(seed), forbidden=False)
        path = written(tmp_path / str(seed), dictionary.aff(), dictionary.dic())
        words[path] = [*dict.fromkeys([*dictionary.stems(), *WORDS])]
    found = [[{*stems} for stems in fst.Lookup(lookup(path)).lookup_batch(some)] for path, some in words.items()]
    assert found == stems_of_spylls(words)


@needs_spylls
@pytest.mark.slow
@pytest.mark.parametrize("name", ["es_ES", "ru_RU", "cs_CZ", "en_ZA", "ca", "uk_UA"])
def test_installed_dictionaries_have_the_stems_of_spylls(name: str) -> None:
    """Words of a dictionary, and random changes of them, have the stems that spylls finds."""
    path = SYSTEM / f"{name}.aff"
    if not path.exists():
        pytest.skip(f"the dictionary {name} is not installed: nothing to compare with")
    random = Random(33)
    stems = sorted({stem for _, stem, _ in read_hunspell(path).paths(20_000)})
    words = random.sample(stems, min(len(stems), 2000))
    words += [word[:-1] + random.choice("aeiours") for word in words]
    found = [{*stems} for stems in fst.Lookup(lookup(path)).lookup_batch(words)]
    assert found == stems_of_spylls({path: words})[0]


@pytest.mark.parametrize("data", ["\tst:berja po:vrb", " po:vrb st:berja", "\t2"])
def test_stems_in_the_data(tmp_path: Path, data: str) -> None:
    """A stem in the data of an entry, written there or by an alias, is the analysis of all words of the entry; entries without data are
    their own stems.
    """
    aff = "SET UTF-8\nAM 2\nAM po:noun\nAM po:vrb st:berja\nPFX P Y 2\nPFX P ba ge ba\nPFX P 0 un [^b]\n"
    aff += "SFX S Y 2\nSFX S i ar/T i\nSFX S 0 s .\nSFX T Y 1\nSFX T r x r\n"
    dic = f"4\nbarði/PS{data}\nbarði/S\na/P{data}\nberja\tpo:vrb\n"
    words = ["barði", "barðar", "barðax", "barðis", "gerði", "gerðar", "una", "berja"]
    both = ["barði", "berja"]
    assert stems_of(tmp_path, aff, dic, *words) == [both, both, both, both, *[["berja"]] * 4]


CASES_AFF = "SET UTF-8\nKEEPCASE K\nFORBIDDENWORD F\nSFX S Y 1\nSFX S 0 s .\n"
CASES_DIC = "9\nmcDonald\nfoo/S\nOpenOffice\nParis/S\nkg/K\nijs\nIjs/F\nNASA\nbar/KS\n"
IN_CASES = {  # as hunspell 1.7.1 accepts them
    *("mcDonald", "foo", "Foo", "FOO", "foos", "Foos", "FOOS", "OpenOffice", "Paris", "PARIS", "PARISS", "kg", "ijs", "NASA", "bars"),
}
OTHER_CASES = {"McDonald", "fOO", "FOo", "openoffice", "Openoffice", "paris", "pARIS", "Kg", "KG", "Ijs", "IJS", "Nasa", "Bars", "BARS"}


def test_cases(tmp_path: Path) -> None:
    """case="fold" accepts the same other cases as Hunspell, but none of words with KEEPCASE, and no forbidden word in any case."""
    m = fst.Lookup(lookup(written(tmp_path, CASES_AFF, CASES_DIC), inverse=True))
    words = sorted(IN_CASES | OTHER_CASES)
    assert {word for word, stems in zip(words, m.lookup_batch(words, case="fold"), strict=True) if stems} == IN_CASES
    assert (m("PARISS", case="fold"), m.inverted()("bar")) == (["Paris"], ["bar", "bars"])


def test_words_with_two_entries_keep_the_other(tmp_path: Path) -> None:
    """In another case, a word has only the stems of its entries without KEEPCASE."""
    m = fst.Lookup(lookup(written(tmp_path, CASES_AFF, "2\nbar/KS\nbars\n")))
    assert (sorted(m("bars")), m("Bars", case="fold")) == (["bar", "bars"], ["bars"])


def test_hunspell_accepts_the_same_cases(tmp_path: Path) -> None:
    """If Hunspell is installed, it accepts the recorded words."""
    if not which("hunspell"):
        pytest.skip("hunspell is not installed: nothing to compare with")
    written(tmp_path, CASES_AFF, CASES_DIC)
    words = "".join(f"{word}\n" for word in sorted(IN_CASES | OTHER_CASES))
    command, utf_8 = ["hunspell", "-d", str(tmp_path / "x"), "-G"], {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, input=words, check=True, capture_output=True, text=True, env=utf_8)
    assert {*done.stdout.split()} == IN_CASES


def test_both_files_name_the_dictionary(tmp_path: Path) -> None:
    """A dictionary is read by the name of either file, possibly packed with gzip; the other file differs only in the ending."""
    aff = written(tmp_path, "SFX S Y 1\nSFX S 0 s .\n", "1\ncat/S\n")
    dic = tmp_path / "x.dic"
    (tmp_path / "x.dic.gz").write_bytes(gzip.compress(dic.read_bytes()))
    machines = [read_hunspell(aff), read_hunspell(dic), read_hunspell(tmp_path / "x.dic.gz")]
    dic.unlink()
    machines.append(read_hunspell(aff))
    assert [sorted(machine.paths()) for machine in machines] == [[("cat", "cat", 0.0), ("cats", "cat", 0.0)]] * 4
    (tmp_path / "x.dic.gz").unlink()
    with pytest.raises(VocabularyError, match=r"x\.dic is missing; expected the \.aff and the \.dic file"):
        read_hunspell(aff)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("aff", "dic", "word", "stem"),
    [
        ("FLAG long\nSFX Aa Y 1\nSFX Aa 0 s .\n", "1\ncat/BbAa\n", "cats", "cat"),
        ("FLAG num\nSFX 12 Y 1\nSFX 12 0 s .\n", "1\ncat/1,012\n", "cats", "cat"),
        ("FLAG UTF-8\nSFX é Y 1\nSFX é 0 é .\n", "1\nété/xé\n", "étéé", "été"),
        ("AF 2\nAF X\nAF S # some\nSFX S Y 1\nSFX S 0 s .\n", "1\ncat/2\n", "cats", "cat"),
        ("AF 1\nAF ST\nSFX S Y 1\nSFX S 0 0/1 .\nSFX T Y 1\nSFX T 0 t .\n", "1\ncat/1\n", "catt", "cat"),
        ("AM 1\nAM po:noun\nSFX S Y 1\nSFX S 0 s . 1\n", "2\ncat/S\t1\ndog/S po:noun\n", "dogs", "dog"),
        ("SFX S Y 2 # two\nSFX S y ies [^aeiou]y\nSFX S 0 s .  is:plural\n# end\n", "1\npony/S\n", "ponies", "pony"),
        ("SFX S Y 1\r\nSFX S 0 -s [-.]\r\n", "1\r\nx-/S\r\n", "x--s", "x-"),
        ("", "1\nand\\/or/S\n", "and/or", "and/or"),
        ("", "2\nNew York\tpo:name\n/etc\n", "New York", "New York"),
        ("PFX P Y 1\nPFX P a xx ab\nSFX S Y 1\nSFX S b bc .\n", "1\nab/PS\n", "xxbc", "ab"),
        ("PFX P Y 1\nPFX P ax y .\nSFX S Y 1\nSFX S b xc .\n", "1\nab/PS\n", "yc", "ab"),
        ("ICONV 2\nICONV ’ '\nICONV ﬁ fi\n", "1\nfi'x\n", "ﬁ’x", "fi'x"),
        ("ICONV 2\nICONV ab x\nICONV abc y\n", "2\nxbb\ny\n", "abbb", "xbb"),
        ("ICONV 1\nICONV abc y\n", "1\naby\n", "ababc", "aby"),
        ("ICONV 1\nICONV abc y\n", "1\nab\n", "ab", "ab"),
        ("IGNORE ´'\n", "1\nca't\n", "c´at", "cat"),
        ("TRY abc\nREP 1\nREP a b\nMAP 1\nMAP aá\nKEY ab\nPHONE 1\nPHONE A B\nBREAK 1\nBREAK -\nWORDCHARS '\n", "1\ncat\n", "cat", "cat"),
        ("KEEPCASE K\nSFX S Y 1\nSFX S 0 s .\n", "1\nCD/KS\n", "CDs", "CD"),
        ("COMPOUNDMIN 2\nLANG en\n", "1\ncat\n", "cat", "cat"),
        ("SFX S Y 1\nSFX S 0 \U0010ffff .\n", "1\n\U0010ffffa\U000f0000/S\n", "\U0010ffffa\U000f0000\U0010ffff", "\U0010ffffa\U000f0000"),
        ("A comment of any words\n SFX is no option\n", "1\ncat\n", "cat", "cat"),
        ("FLAG long\nSFX Aa Y 1\nSFX Aa 0 s .\n", "1\ncat/AaB\n", "cats", "cat"),
        ("FLAG num\nSFX 1 Y 1\nSFX 1 0 s .\n", "1\ncat/1,x\n", "cats", "cat"),
        ("SFX ST Y 1\nSFX ST 0 s .\n", "1\ncat/S\n", "cats", "cat"),
    ],
)
def test_options(tmp_path: Path, aff: str, dic: str, word: str, stem: str) -> None:
    """Options, formats of flags, aliases, data and comments have the same meaning as in Hunspell."""
    assert stems_of(tmp_path, f"SET UTF-8\n{aff}", dic, word) == [[stem]]


@pytest.mark.parametrize(
    ("name", "encoding"), [("ISO8859-2", "iso8859-2"), ("KOI8-R", "koi8-r"), ("microsoft-cp1251", "cp1251"), ("TIS620-2533", "tis-620")]
)
def test_encodings(tmp_path: Path, name: str, encoding: str) -> None:
    """Both files are read in the encoding that the option SET contains, under Hunspell's name of the encoding."""
    char = next(chr(code) for code in range(0xC0, 0xF000) if chr(code).isalpha() and chr(code).encode(encoding, "ignore"))
    aff = f"SET {name}\nSFX S Y 1\nSFX S {char} {char}{char} [{char}]\n".encode(encoding)
    assert stems_of(tmp_path, aff, f"1\na{char}/S\n".encode(encoding), f"a{char}{char}") == [[f"a{char}"]]


def test_default_encoding_and_marks(tmp_path: Path) -> None:
    """Without the option SET the encoding is Windows-1252, and a byte-order mark before SET is ignored."""
    assert stems_of(tmp_path, b"", "1\ncafé\n".encode("cp1252"), "café") == [["café"]]
    assert stems_of(tmp_path, "\ufeffSET UTF-8\n", "\ufeff1\ncafé\n", "café", "1") == [["café"], []]


def test_affixes_outside_of_the_encoding(tmp_path: Path) -> None:
    """An affix with bytes that the encoding does not define, as in French, makes no words; such bytes may be flags."""
    aff = b"SET UTF-8\nSFX \xe9 Y 2\nSFX \xe9 0 \xe3 .\nSFX \xe9 0 s [^\xe3]\n"
    assert stems_of(tmp_path, aff, b"1\nchat/\xe9\n", "chat", "chats") == [["chat"], ["chat"]]


def test_forbidden_words(tmp_path: Path) -> None:
    """A word whose entries are all forbidden has no stems, even if affixes also make this word; a forbidden entry takes no affixes."""
    aff = "SET UTF-8\nFORBIDDENWORD !\nSFX S Y 2\nSFX S 0 s .\nSFX S 0 es .\n"
    dic = "5\ncat/S\ncats/!\ndog/S\ndog/!\ncatse/S\n"
    assert stems_of(tmp_path, aff, dic, "cat", "cats", "cates", "dog", "dogs", "catses") == [["cat"], [], ["cat"], ["dog"], [], ["catse"]]


@pytest.mark.parametrize(
    ("aff", "found"),
    [
        ("COMPOUNDFLAG c\n", r"x\.aff: the option is COMPOUNDFLAG, and look-up does not read compounds; use fst.compile.speller"),
        ("COMPOUNDRULE 1\nCOMPOUNDRULE ab\n", "the option is COMPOUNDRULE"),
        ("COMPOUNDBEGIN c\n", "the option is COMPOUNDBEGIN"),
        ("COMPLEXPREFIXES\n", "the option is COMPLEXPREFIXES; expected words with at most one prefix"),
        ("ICONV 1\nICONV aaaaaaaaaaaaaaaaa b\n", r"a conversion \(ICONV\) has 17 characters; expected at most 16"),
        ("ICONV 1\nICONV _a b\n", "ICONV has a replacement of 'a' for the beginning or the end of words"),
    ],
)
def test_unsupported_options_are_refused(tmp_path: Path, aff: str, found: str) -> None:
    """An option that is not supported is refused, and the message contains its name and line."""
    with pytest.raises(UnsupportedError, match=found):
        read_hunspell(written(tmp_path, f"SET UTF-8\n{aff}", "1\ncat\n"))


def test_unknown_encoding_is_refused(tmp_path: Path) -> None:
    """An encoding that Hunspell does not support is refused, and the message contains its name."""
    with pytest.raises(UnsupportedError, match="line 2: the encoding is 'ISCII-DEVANAGARI'; convert both files to UTF-8"):
        read_hunspell(written(tmp_path, "# first\nSET ISCII-DEVANAGARI\n", "1\ncat\n"))


@pytest.mark.parametrize(
    ("aff", "dic", "found"),
    [
        ("SFX S Y 1\nSFX S 0 s [a\n", "", r"x\.aff, line 3, column 11: the condition is '\[a'; expected at most"),
        ("SFX S Y 1\nSFX S 0 s [^]\n", "", r"x\.aff, line 3, column 11: the condition is '\[\^\]'"),
        ("PFX S Y 1\nPFX S 0 s " + "[a" * 100_000 + "\n", "", r"x\.aff, line 3, column 11: the condition is '\[a\[a"),
        (f"MAP 1\nMAP {'(' * 200_000}\nICONV 1\nICONV a\n", "", "line 5: the line of ICONV has 1 values; expected at least 2"),
        ("FLAG log\n", "", "line 2, column 6: format of flags is 'log'; expected 'long'"),
        ("AF 1\nAF S\n", "1\ncat/2\n", r"x\.dic, line 2, column 5: the alias of flags is '2'; expected 1 to 1"),
        ("ICONV 1\nICONV a\n", "", "line 3: the line of ICONV has 1 values; expected at least 2"),
        ("BREAK 2\nBREAK a\n", "", "line 4: the line is no line of BREAK; expected 1 more lines of the table in line 2"),
        ("", "cat\n", r"x\.dic, line 1: the number of words is 'cat'; expected a decimal number"),
        ("", f"1\n{'a' * 1001}\n", "line 2: the word has 1,001 characters; expected at most 1,000"),
        ("", f"1\na{' ' * 200_000}b\n", "line 2: the word has 200,002 characters; expected at most 1,000"),
        ("", b"1\n\xff\n", r"x\.dic, line 2: the word is .*; expected utf-8; save the file"),
    ],
)
def test_malformed_lines_are_refused(tmp_path: Path, aff: str | bytes, dic: str | bytes, found: str) -> None:
    """The error for a malformed line contains file, line, the value and what is expected."""
    with pytest.raises(VocabularyError, match=found):
        read_hunspell(written(tmp_path, b"SET UTF-8\n" + (aff.encode() if isinstance(aff, str) else aff), dic))


@pytest.mark.parametrize(
    ("aff", "found"),
    [
        ("SFX S Y\n", r"x\.aff, line 2: the line has too few values; expected the flag"),
        ("SFX S Y many\n", r"x\.aff, line 2, column 9: the number of lines is 'many'; expected a decimal number"),
        ("SFX S Y 2\nSFX S 0 s .\n", r"x\.aff, line 4: the line is not an affix of line 2; expected 1 more"),
        ("SFX S Y 2\nSFX S 0 s .\nSFX T Y 1\n", r"x\.aff, line 4: the line is not an affix of line 2; expected 1 more"),
        ("NEEDAFFIX\n", "line 2: the option NEEDAFFIX has no value; expected one"),
        ("NEEDAFFIX X\nNEEDAFFIX Y\n", "line 3: the option needs_affix is defined again; expected one line"),
        ("AF 2\nAF S\n\n", r"line 4: the line is no line of AF; expected 1 more .*; as in Hunspell, options of words after it"),
    ],
)
def test_hunspell_stops_at_damaged_lines(tmp_path: Path, aff: str, found: str) -> None:
    """As in Hunspell, a damaged line and all lines after it are ignored, with a warning."""
    with pytest.warns(FstWarning, match=found):
        assert stems_of(tmp_path, f"SET UTF-8\n{aff}\nSFX S Y 1\nSFX S 0 s .\n", "1\ncat/S\n", "cat")[0] == ["cat"]


@pytest.mark.mostly_slow
@pytest.mark.filterwarnings("ignore::fst.FstWarning")
@pytest.mark.parametrize("seed", range(100))
def test_damaged_files_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    """Files with random changes are read, or refused with an error of this package."""
    random = Random(seed)
    dictionary = random_dictionary(random)
    texts = [*map(list, (f"AF 1\nAF AB\nICONV 1\nICONV a b\n{dictionary.aff()}", dictionary.dic()))]
    for text in texts:
        for place in random.choices(range(len(text)), k=3):
            text[place] = random.choice(["\t", "\n", " ", "9", "/", "[", "]", "", "\0", "A"])
    with suppress(FstError):
        read_hunspell(written(tmp_path, *map("".join, texts)))


LIMITS = {
    "sources.transducers.hunspell.files.MAX_CONDITIONS": "x.aff, line 6: the conditions have more than 1 characters",
    "sources.transducers.hunspell.flags.MAX_FLAGS": "x.dic, line 3: different sets have more than 1 flags together",
    "sources.transducers.hunspell.words.MAX_WORDS": "x.dic, line 3: the file has more than 1 words; expected fewer",
    "sources.transducers.hunspell.endings.MAX_STEPS": "x.aff: the flags and affixes of the words take more than 1 steps; expected fewer",
    "sources.transducers.hunspell.endings.MAX_ENDINGS": "x.aff: the words have more than 1 endings; expected fewer",
    "sources.transducers.hunspell.dictionary.MAX_READ": "x.aff: the forbidden words pass more than 262,144 states or 1 arcs",
    "sources.transducers.hunspell.dictionary.MAX_STATES": "x.aff: the words and affixes have",
    "sources.transducers.hunspell.dictionary.MAX_ARCS": "x.aff: the conversions (ICONV) take more than 1 arcs; expected fewer",
    "algebra.build.paths.MAX_PATHS": "x.aff: the words and endings have more than 1 parts",
    "algebra.build.paths.MAX_NODES": "x.aff: the words and endings have more than 1 states",
}


@pytest.mark.parametrize(("limit", "found"), LIMITS.items())
def test_large_dictionaries_are_refused(tmp_path: Path, limit: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary that is too large is refused with the file, the cause and a remedy."""
    aff = "FORBIDDENWORD F\nICONV 1\nICONV ab c\nSFX S Y 2\nSFX S 0 s .\nSFX S 0 t .\nPFX P Y 1\nPFX P 0 x aaa\n"
    monkeypatch.setattr(f"fst.compile.{limit}", 1)
    with pytest.raises(UnsupportedError, match=f"{re.escape(found)}.*; (split the|remove some)"):
        read_hunspell(written(tmp_path, aff, "2\na/S\nb/SP\nas/F\n"))


def affixes_of(kind: str, flag: str, rows: list[str]) -> str:
    """The lines of an ``.aff`` file for the affixes with a flag."""
    return f"{kind} {flag} Y {len(rows)}\n" + "".join(f"{kind} {flag} {row}\n" for row in rows)


MANY = [f"{number:03}" for number in range(400)]
FORGED = {
    "words": ("", "\n".join(f"a{one}{two}" for one in MANY[:40] for two in MANY[:40])),
    "flags of an alias": (f"FLAG UTF-8\nAF 1\nAF {''.join(map(chr, range(0x4E00, 0x6000)))}\n", "a/1"),
    "suffixes": (affixes_of("SFX", "S", [f"0 {one} ." for one in MANY]), "a/S"),
    "conditions": (affixes_of("SFX", "S", [f"0 s [{one}]{'a' * 8}" for one in MANY]), "aaaaaaaaa/S"),
    "second suffixes": (affixes_of("SFX", "S", ["0 s/T ."]) + affixes_of("SFX", "T", [f"0 {one} ." for one in MANY * 2]), "a/S"),
    "second suffixes that strip": (affixes_of("SFX", "S", ["0 s/T ."]) + affixes_of("SFX", "T", [f"as {one} ." for one in MANY]), "a/S"),
    "prefixes": (affixes_of("PFX", "P", [f"0 {one} a" for one in MANY * 4]), "a/P"),
    "prefixes of short words": (
        affixes_of("PFX", "P", [f"0 {one} aa" for one in MANY[:40]]) + affixes_of("SFX", "S", [f"0 a{one} ." for one in MANY[:40]]),
        "a/PS",
    ),
    "stems": ("", "\n".join(f"a{one}\tst:{'b' * 50}" for one in MANY)),
}


@pytest.mark.parametrize("kind", FORGED)
def test_all_work_is_counted(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every operation that could take long in a forged dictionary counts as steps."""
    aff, dic = FORGED[kind]
    monkeypatch.setattr("fst.compile.sources.transducers.hunspell.endings.MAX_STEPS", 1500)
    with pytest.raises(UnsupportedError, match=r"x\.aff: the flags and affixes .* take more than 1,500 steps; expected fewer; split"):
        read_hunspell(written(tmp_path, "SET UTF-8\n" + aff, f"1\n{dic}\n"))


def test_long_chains_are_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Second suffixes are found once for all first suffixes, so that n · m pairs of suffixes take n + m steps and endings."""
    monkeypatch.setattr("fst.compile.sources.transducers.hunspell.endings.MAX_STEPS", 24_000)
    first, second = ([f"0 {side}{one}{flags} ." for one in MANY] for side, flags in (("a", "/2"), ("b", "")))
    path = written(tmp_path, "FLAG num\n" + affixes_of("SFX", "1", first) + affixes_of("SFX", "2", second), "1\nx/1\n")
    m = fst.Lookup(lookup(path))
    assert [m(word) for word in ("xa399b399", "xa000", "xb000", "xa399b400")] == [["x"], ["x"], [], []]


def test_many_converted_words_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If conversions make many more arcs of a few words, the error names the conversions."""
    monkeypatch.setattr("fst.compile.sources.transducers.hunspell.dictionary.MAX_TARGETS", 100)
    conversions = "ICONV 200\n" + "".join(f"ICONV {chr(0x4E00 + place)} a\n" for place in range(200))
    with pytest.raises(UnsupportedError, match=r"x\.aff: the words with conversions \(ICONV, IGNORE\) have 5 states and 404 arcs"):
        read_hunspell(written(tmp_path, "SET UTF-8\n" + conversions, "1\naa\n"))


def test_conditions_of_dots_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A condition with dots, which is read in many ways, counts as all of them."""
    monkeypatch.setattr("fst.compile.sources.transducers.hunspell.files.MAX_CONDITIONS", 100)
    read_hunspell(written(tmp_path, "SET UTF-8\n" + affixes_of("SFX", "S", ["0 s aaaaaa"] * 2), "1\na/S\n"))
    with pytest.raises(UnsupportedError, match=r"x\.aff, line 3: the conditions have more than 100 characters together"):
        read_hunspell(written(tmp_path, "SET UTF-8\n" + affixes_of("SFX", "S", ["0 s a....."] * 2), "1\na/S\n"))


def test_hostile_conversions_are_refused(tmp_path: Path) -> None:
    """A small file whose conversions would take very long is refused with the file, the cause and a remedy."""
    strings = (f"{number:016}"[::-1] for number in range(2000))
    conversions = "ICONV 2000\n" + "".join(f"ICONV {one} x\n" for one in strings)
    with pytest.raises(UnsupportedError, match=r"x\.aff: .*take more than 131,072 arcs; expected fewer; "):
        read_hunspell(written(tmp_path, "SET UTF-8\n" + conversions, "1\na/1\n"))
