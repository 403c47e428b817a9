"""Suggestions in the style of Hunspell: its lists, in its order."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.shared_data import TESTS
from support.sources.hunspell_library import Hunspell, library
from support.sources.hunspell_suite import SUITE, suite, words_of
from support.sources.random_suggestions import random_suggestion_files
from support.tables.damage import changed
from support.tiers import sample

import fst
from fst.compile import speller
from fst.compile.sources.transducers.hunspell.files import read_dictionary
from fst.machines.speller.hints import MAX_SIGNS
from fst.machines.speller.layout import ENTRY, MAX_BYTES
from fst.runtime.machines.speller.suggest.hunspell.edits import MAX_RELATED, with_similar
from fst.runtime.machines.speller.suggest.hunspell.ngrams import Stems, _scores_of
from fst.runtime.machines.speller.suggest.hunspell.scores import common_start, ngrams
from fst.runtime.machines.speller.suggest.hunspell.sounds import MAX_RULES, Sounds

ANSWERS = TESTS / "support" / "sources" / "suggestions.json"  # the suggestions of Hunspell 1.7.1 for random dictionaries
SOUNDS = ANSWERS.with_name("sounds.json")  # rules of PHONE; the sounds of words by the function phonet of Hunspell 1.7.1
WORDS = 12  # the number of words of a random dictionary whose answers are stored
LATER = {"gh1002", "ph", "rep", "timelimit"}  # cases whose lists differ in Hunspell 1.7.1: later versions, and a limit of time


def written(folder: Path, aff: str, dic: str, encoding: str = "utf-8") -> Path:
    """Write a dictionary; return its .aff file."""
    for ending, text in ((".aff", aff), (".dic", dic)):
        (folder / f"x{ending}").write_bytes(text.encode(encoding))
    return folder / "x.aff"


def random_case(folder: Path, seed: int) -> tuple[Path, str, list[str]]:
    """A random dictionary, its encoding, and words."""
    aff, dic, words = random_suggestion_files(seed)
    encoding = "iso8859-1" if "ISO8859-1" in aff else "utf-8"
    path = written(folder, aff, dic, encoding)
    return path, encoding, [word for word in words if word.encode(encoding, "ignore").decode(encoding) == word]


def lists(aff: Path, words: list[str]) -> list[list[str]]:
    """All suggestions for each word."""
    with warnings.catch_warnings(action="ignore", category=fst.FstWarning):
        ours = fst.Speller(speller(aff))
    return [ours.suggest(word, limit=1000, style="hunspell") for word in words]


@pytest.mark.parametrize("seed", range(20))
def test_recorded_suggestions(tmp_path: Path, seed: int) -> None:
    """For random dictionaries, suggestions are those of Hunspell, as recorded."""
    aff, _, words = random_case(tmp_path, seed)
    assert lists(aff, words[:WORDS]) == json.loads(ANSWERS.read_text(encoding="utf-8"))[seed]


@pytest.mark.skipif(library() is None, reason="Hunspell's library is not installed: nothing to compare with")
@pytest.mark.slow
@pytest.mark.parametrize("seed", sample(range(20, 1000), 50))
def test_hunspell_gives_the_same_suggestions(tmp_path: Path, seed: int) -> None:
    """For random dictionaries, suggestions are those of Hunspell's library."""
    aff, encoding, words = random_case(tmp_path, seed)
    hunspell = Hunspell(aff, encoding)
    assert lists(aff, words) == [hunspell.suggest(word) for word in words]
    hunspell.close()


@pytest.mark.skipif(not SUITE.exists(), reason="the cases of Hunspell are not there: nothing to compare with")
def test_suggestions_of_hunspells_cases(tmp_path: Path) -> None:
    """In the cases of Hunspell, wrong words have the lists of the case."""
    unlike, folder = set[str](), suite(tmp_path)
    for path in folder.glob("*.sug"):
        aff, encoding = path.with_suffix(".aff"), read_dictionary(path.with_suffix(".aff")).options.encoding
        wrong, expected = (words_of(path.with_suffix(ending), encoding, "\n") for ending in (".wrong", ".sug"))
        check = fst.Speller(speller(aff)).check
        found = [", ".join(some) for some in lists(aff, [word for word in wrong if not check(word)]) if some]
        unlike |= {path.stem} if found != expected else set()
    assert unlike == LATER


def test_scores_of_stems_are_their_definition() -> None:
    """The scores of all stems of a length are those of each stem by itself."""
    draw = Random(5)
    for _ in range(50):
        word, size = "".join(draw.choices("abc", k=draw.randint(1, 7))), draw.randint(1, 8)
        stems = ["".join(draw.choices("abcAB", k=size)) for _ in range(9)]
        units, lower = (np.array([[ord(char) for char in text] for text in some], np.uint16).T for some in (stems, map(str.lower, stems)))
        found = _scores_of(word, Stems(np.arange(9), units, lower, np.zeros(9, bool)))
        shorter = [max(abs(size - len(word)) - 2, 0) * (size < len(word)) for _ in stems]  # only longer stems are worse
        each = [ngrams(3, word, stem.lower()) + common_start(word, stem, stem[0].lower()) for stem in stems]
        assert found.tolist() == [score + more for score, more in zip(each, shorter, strict=True)]


def test_recorded_sounds() -> None:
    """With random rules of PHONE, the sounds of words are those of Hunspell, as recorded."""
    for rules, expected in json.loads(SOUNDS.read_text(encoding="utf-8")):
        sounds = Sounds(rules, "iso8859-1")
        assert {word: sounds.of(word) for word in expected} == expected


def test_unusual_rules_of_sounds() -> None:
    """A pattern with a sign that it cannot have, such as Ё, whose byte is ³ in Latin-1, or U+0000, fits no word; and only the first rules
    are read.
    """
    for encoding, pattern in [("koi8-r", "А-Ё"), ("iso8859-1", "A-²"), ("utf-8", "A\0"), ("utf-8", "A\0(b)"), ("utf-8", "A(\0)")]:
        assert Sounds([[pattern, "B"]], encoding).of(pattern[0]) == ""
    rules = [*([["A", ""]] * (MAX_RULES - 1)), ["B", "K"], ["C", "K"]]
    assert [Sounds(rules, "utf-8").of(word) for word in ("B", "C")] == ["K", ""]


def test_suggestions_by_sound(tmp_path: Path) -> None:
    """Stems with a similar sound are suggested after those with similar letters, also with a capital."""
    aff = "SET UTF-8\nPHONE 5\nPHONE PH F\nPHONE F F\nPHONE O O\nPHONE N N\nPHONE I _\n"
    words = "3\nPhonies\nfoam\nbones\n"
    assert lists(written(tmp_path, aff, words), ["fonis"]) == [["Phonies", "bones", "foam"]]


@pytest.mark.parametrize("option", ["LANG hu_HU", "COMPLEXPREFIXES"])
def test_dictionaries_that_the_style_does_not_support(tmp_path: Path, option: str) -> None:
    """Dictionaries with options that the style does not support are refused, with the option."""
    path = written(tmp_path, f"SET UTF-8\n{option}\n", "1\nhello\n")
    with pytest.raises(fst.UnsupportedError, match=f"the dictionary has {option.removesuffix('_HU')}"):
        lists(path, ["helo"])


def test_style_is_checked(tmp_path: Path) -> None:
    """An unknown style raises an error, and so does the style of Hunspell with a table without suggestions."""
    path = written(tmp_path, "SET UTF-8\n", "1\nhello\n")
    style: Any = "other"
    with pytest.raises(ValueError, match="style is 'other'; expected 'nearest' or 'hunspell'"):
        fst.Speller(speller(path)).suggest("helo", style=style)
    with pytest.raises(fst.UnsupportedError, match="the table has no suggestions"):
        fst.Speller(speller(path, suggestions=False)).suggest("helo", style="hunspell")


@pytest.mark.parametrize(
    ("name", "at", "value", "found"),
    [
        ("root_ends", 1, 0, "stem 0 for suggestions is empty"),
        ("root_ends", 0, 1, "root_ends does not partition root_units"),
        ("root_sets", 0, 99, "stem 0 for suggestions has the set 49"),
        ("affix_order", 0, 99, "affix 0 has the place 99 of 1"),
    ],
)
def test_damaged_stems_are_refused(tmp_path: Path, name: str, at: int, value: int, found: str) -> None:
    """A table with a wrong number in the arrays of stems is refused."""
    table = speller(written(tmp_path, "SET UTF-8\nSFX S Y 1\nSFX S 0 s .\n", "2\nhello/S\nworld\n"))
    with pytest.raises(fst.TableError, match=found):
        changed(table, name, at, value).prove()


def test_candidates_are_bounded(tmp_path: Path) -> None:
    """Candidates with similar strings are neither too many nor too long; of KEY and TRY, only some thousand characters are read."""
    found = with_similar("a" * 99, [["a", "b" * 10_000, "c"]])
    assert len(found) <= MAX_RELATED
    assert max(map(len, found)) == MAX_BYTES + 1
    small = fst.Speller(speller(written(tmp_path, f"SET UTF-8\nKEY {'a' * 5000}\nTRY {'b' * 5000}\n", "1\nhello\n")))
    hints = small._table.metadata.dictionary.hints
    assert hints is not None
    assert len(hints.keyboard) == len(hints.tried) == MAX_SIGNS
    assert small.suggest("helo", style="hunspell") == ["hello"]


def test_endless_affixes_are_refused(tmp_path: Path) -> None:
    """A table whose automaton of suffixes has cycles is refused when its affixes are read."""
    table = speller(written(tmp_path, "SET UTF-8\nSFX S Y 2\nSFX S 0 s .\nSFX S 0 t .\n", "1\nhello/S\n"))
    root, entries = int(table.named_options.suffix_root), table.entries.copy()
    for slot in (root + 1 + np.flatnonzero(ENTRY.labels_of(entries[root + 1 :]) == np.arange(len(entries) - root - 1))).tolist():
        entries[slot] = int(entries[slot]) & ~ENTRY.max_target | root
    forged = replace(table, entries=entries)
    forged.prove()
    with pytest.raises(fst.TableError, match="reads too many affixes; expected one for each of 2 lists"):
        fst.Speller(forged).suggest("hxxlo", style="hunspell")


def test_unknown_encoding_is_refused(tmp_path: Path) -> None:
    """A table with an encoding that no dictionary has is refused."""
    table = speller(written(tmp_path, "SET UTF-8\n", "1\nhello\n"))
    with pytest.raises(fst.TableError, match="encoding is 'hex'; expected 'utf-8' or"):
        type(table)({**table.header, "encoding": "hex"}, **table.arrays()).prove()


@pytest.mark.parametrize(
    "value",
    [
        {"faults": [["", "a", 0]]},
        {"similar": [[]]},
        {"similar": [["a", ""]]},
        {"most_similar": -1},
        {"outputs": [["a"]]},
        {"tried": 1},
        {"tried": "a" * 5000},
    ],
)
def test_damaged_options_are_refused(tmp_path: Path, value: dict[str, Any]) -> None:
    """A table with wrong options of suggestions is refused."""
    table = speller(written(tmp_path, "SET UTF-8\n", "1\nhello\n"))
    header = {**table.header, "hints": {**table.header["hints"], **value}}
    with pytest.raises(fst.TableError, match="hints is"):
        type(table)(header, **table.arrays()).prove()
