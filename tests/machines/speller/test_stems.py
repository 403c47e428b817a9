"""Stems of words: the entries of a dictionary from which affixes derive a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from support.machines.spellers import SMALL
from support.naive.hunspell import Dictionary, random_dictionary
from support.sources.hunspell_library import Hunspell, library

import fst
from fst.compile import speller

WORDS = ["".join(letters) for size in range(1, 6) for letters in product("abc", repeat=size)]
OPTIONS = """SET UTF-8
KEEPCASE K
FORBIDDENWORD F
COMPOUNDFLAG C
IGNORE x
ICONV 1
ICONV é e
PFX U Y 1
PFX U 0 un .
SFX S Y 2
SFX S y ies [^aeiou]y
SFX S 0 s [^y]
SFX D Y 1
SFX D 0 able .
"""
ENTRIES = ["pony/S", "lock/SUDC", "locks", "Ireland", "apple/K", "apples/K", "spam/S", "spams/F", "smile", "𞤢b/S", "key/C"]


def written(path: Path, options: str, entries: Sequence[str]) -> fst.Speller:
    """The speller of a dictionary."""
    path.write_text(options, encoding="utf-8")
    path.with_suffix(".dic").write_text("\n".join([str(len(entries)), *entries]), encoding="utf-8")
    return fst.Speller(speller(path, suggestions=False))


def speller_of(path: Path, dictionary: Dictionary) -> fst.Speller:
    """The speller of a random dictionary."""
    return written(path, dictionary.aff(), dictionary.dic().splitlines()[1:])


@pytest.mark.parametrize("seed", range(12))
def test_stems_are_the_entries_that_alone_accept_a_word(tmp_path: Path, seed: int) -> None:
    """A stem of a word is a word of the dictionary such that the dictionary without all other words accepts the word."""
    dictionary, path = random_dictionary(Random(seed), forbidden=False), tmp_path / "a.aff"
    found = speller_of(path, dictionary).stem_batch(WORDS)
    expected: list[list[str]] = [[] for _ in WORDS]
    for stem in sorted({stem for stem, _ in dictionary.entries}):
        alone = replace(dictionary, entries=[entry for entry in dictionary.entries if entry[0] == stem])
        for stems, is_right in zip(expected, speller_of(path, alone).check_batch(WORDS), strict=True):
            stems += [stem] * int(is_right)
    assert [sorted(stems) for stems in found] == expected


@pytest.mark.parametrize(
    ("word", "stems"),
    [
        ("locks", ["locks", "lock"]),
        ("Unlockable", ["lock"]),
        ("PONIES", ["pony"]),
        ("ireland", []),
        ("Ireland", ["Ireland"]),
        ("apples", ["apples"]),
        ("Apples", []),
        ("pxonies", ["pony"]),
        ("smilé", ["smile"]),
        ("𞤢bs", ["𞤢b"]),
        ("spams", []),
        ("keylock", []),
        ("pony-lock", []),
        ("12", []),
        ("", []),
        ("lock.", ["lock"]),
    ],
)
def test_forms_of_words(tmp_path: Path, word: str, stems: list[str]) -> None:
    """A word is read as in a check: in its case, converted, without ignored characters; other right words have no stems."""
    assert written(tmp_path / "a.aff", OPTIONS, ENTRIES).stem(word) == stems


def test_stems_of_reversed_words(tmp_path: Path) -> None:
    """The stems of a dictionary with COMPLEXPREFIXES are in reading order."""
    options = "SET UTF-8\nCOMPLEXPREFIXES\nPFX A Y 1\nPFX A 0 un/B .\nPFX B Y 1\nPFX B 0 re .\n"
    small = written(tmp_path / "a.aff", options, ["lock/A", "abc"])
    assert small.stem_batch(["reunlock", "unlock", "abc", "cba"]) == [["lock"], ["lock"], ["abc"], []]


def test_stems_leave_checks_as_they_are(tmp_path: Path) -> None:
    """After a search for stems, a speller checks words as before."""
    small = written(tmp_path / "a.aff", OPTIONS, ENTRIES)
    words = ["locks", "unlocks", "wrong", "keylock", "spams"] * 3
    before = small.check_batch(words, threads=1).tolist()
    small.stem_batch(words, threads=1)
    assert small.check_batch(words, threads=1).tolist() == before


@pytest.mark.skipif(library() is None, reason="hunspell is not installed: nothing to compare with")
def test_hunspell_has_the_same_stems(tmp_path: Path) -> None:
    """The stems of words without compounds are those of Hunspell."""
    words = ["locks", "lock", "unlock", "unlockable", "ponies", "pony", "smile", "Ponies", "wrong", "spam"]
    small = written(tmp_path / "a.aff", OPTIONS, ENTRIES)
    hunspell = Hunspell(tmp_path / "a.aff", "utf-8")
    assert [sorted(stems) for stems in small.stem_batch(words)] == [sorted(hunspell.stems(word)) for word in words]
    hunspell.close()


def test_archives_have_no_stems() -> None:
    """A speller of Giella refuses to give stems."""
    with pytest.raises(fst.UnsupportedError, match="which has no stems; expected a dictionary of Hunspell"):
        fst.Speller(speller(SMALL)).stem("a")
