"""Spell checking: the kernel accepts the words that the definition accepts, and that Hunspell accepts."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest
from support.machines.spelling import ALPHABET, DICTIONARIES, PAIRS, RARE, definition, written_to
from support.sources.random_spelling import random_case, recorded
from support.tiers import sample

import fst
from fst.compile import speller


@pytest.mark.parametrize("name", [*DICTIONARIES, "rare cases"])
def test_dictionaries_with_all_options(name: str, tmp_path: Path) -> None:
    """With dictionaries that use all options, the kernel accepts the words that the definition accepts."""
    dictionary = DICTIONARIES.get(name, RARE)
    aff, draw = written_to(tmp_path, dictionary), Random(name)
    words = dictionary.drawn(draw, 1500, [part for part in ALPHABET if part <= "\uffff"])
    words += [word.capitalize() for word in words[:100]] + [word.upper() for word in words[100:200]]
    check = definition(aff).check
    assert fst.Speller(speller(aff)).check_batch(words).tolist() == [*map(check, words)]


def test_characters_of_two_units(tmp_path: Path) -> None:
    """With affixes and conditions of characters after U+FFFF, the kernel accepts the words that the definition accepts."""
    aff, letters = written_to(tmp_path, PAIRS), ["a", "b", "s", "t", "é", "𞤢", "𞤣", "😀", "😁"]
    words = [affix + word + ending for word in PAIRS.drawn(Random(1), 500, letters) for affix in ("", "𞤢") for ending in ("", "𞤢s", "t")]
    check = definition(aff).check
    found = fst.Speller(speller(aff)).check_batch(words).tolist()
    assert (found == [*map(check, words)], any(found)) == (True, True)


def test_flag_of_two_options(tmp_path: Path) -> None:
    """A flag that two options name has both meanings: a forbidden homonym that needs an affix is not accepted."""
    aff = tmp_path / "x.aff"
    aff.write_text("SET UTF-8\nNEEDAFFIX x\nONLYINCOMPOUND o\nFORBIDDENWORD x\nSFX A Y 1\nSFX A 0 s/x .\n", encoding="utf-8")
    aff.with_suffix(".dic").write_text("4\nab/o\nab/x\ncd/A\nef\n", encoding="utf-8")
    words, expected = ["ab", "abs", "cd", "cds", "ef"], [False, False, True, False, True]
    assert fst.Speller(speller(aff)).check_batch(words).tolist() == [*map(definition(aff).check, words)] == expected


@pytest.mark.parametrize("seed", range(40))
def test_recorded_answers(tmp_path: Path, seed: int) -> None:
    """With random dictionaries, the kernel accepts the words that Hunspell accepts, as recorded."""
    aff, _, words = random_case(tmp_path, seed)
    found = fst.Speller(speller(aff)).check_batch(words, threads=1).tolist()
    expected = {*recorded(seed)}
    assert found == [word in expected for word in words]


@pytest.mark.slow
@pytest.mark.parametrize("seed", sample(range(40, 2000), 100))
def test_random_dictionaries(tmp_path: Path, seed: int) -> None:
    """With random dictionaries, the kernel accepts the words that the definition accepts."""
    aff, _, words = random_case(tmp_path, seed)
    check = definition(aff).check
    assert fst.Speller(speller(aff)).check_batch(words, threads=1).tolist() == [*map(check, words)]


def test_words_that_occur_again(tmp_path: Path) -> None:
    """Words that occur again have their own answers, also if the memo has fewer slots, or if words have equal beginnings."""
    draw, few = Random(1), ("a", "b", "ä", "\U0001f600")
    words = ["".join(letters) for size in range(1, 13) for letters in product("ab", repeat=size)] + [*few, "ab\0", "ab\0\0"]
    stems = {*draw.sample(words[:-2], len(words) // 2)}
    (tmp_path / "x.aff").write_text("SET UTF-8\nSFX S Y 1\nSFX S 0 s .\n", encoding="utf-8")
    (tmp_path / "x.dic").write_text("\n".join([str(len(stems)), *(f"{stem}/S" for stem in sorted(stems))]), encoding="utf-8")
    asked = draw.choices(words, k=3 * len(words))
    asked = [word + draw.choice(("", "s", "s", "x")) for word in asked]
    found = fst.Speller(speller(tmp_path / "x.aff", suggestions=False)).check_batch(asked * 2, threads=1).tolist()
    assert found == [word in stems or (word[-1] == "s" and word[:-1] in stems) for word in asked] * 2


def test_long_words_end(tmp_path: Path) -> None:
    """A word with exponentially many compounds and breaks takes a bounded number of steps, and a word that is too long is wrong."""
    options = "SET UTF-8\nCOMPOUNDFLAG x\nCOMPOUNDMIN 1\nCHECKCOMPOUNDREP\nREP 1\nREP a b\nBREAK 2\nBREAK -\nBREAK a\n"
    (tmp_path / "x.aff").write_text(options, encoding="utf-8")
    (tmp_path / "x.dic").write_text("3\na/x\naa/x\naaa/x\n", encoding="utf-8")
    found = fst.Speller(speller(tmp_path / "x.aff")).check_batch(["a" * 200 + "c", "a" * 255, "a" * 256, "é" * 128, "aaaaaaaa"])
    assert not found[[0, 2, 3]].any()
    assert found[4]


def test_running_text(tmp_path: Path) -> None:
    """Words of running text are letters and the characters of WORDCHARS; spans count characters, also after characters beyond U+FFFF;
    a curly apostrophe is read as a straight one.
    """
    (tmp_path / "x.aff").write_text("SET UTF-8\nWORDCHARS 1\n", encoding="utf-8")
    (tmp_path / "x.dic").write_text("3\nword\nisn't\nb1\n", encoding="utf-8")
    words = fst.Speller(speller(tmp_path / "x.aff"))
    text = "\U0001f600 wörd, 'word' isn't—isn’t izn’t wrd b1 1.5 x'"
    assert [text[span.start : span.end] for span in words.check_text(text)] == ["wörd", "izn’t", "wrd", "x"]
    assert words.check_texts(["", text, "word"]) == [[], words.check_text(text), []]
    assert words.check_text(text.encode()) == words.check_text(text)


@pytest.mark.parametrize(("options", "word"), [("", "isn’t"), ("ICONV 1\nICONV ’ '\n", "isn't")])
def test_curly_apostrophe_of_the_dictionary(tmp_path: Path, options: str, word: str) -> None:
    """A dictionary that contains the curly apostrophe, in a word or in an option, decides how it is read."""
    (tmp_path / "x.aff").write_text("SET UTF-8\n" + options, encoding="utf-8")
    (tmp_path / "x.dic").write_text(f"1\n{word}\n", encoding="utf-8")
    words = fst.Speller(speller(tmp_path / "x.aff"))
    assert [len(words.check_text(text)) for text in ("isn’t", "isn't")] == [0, not options]


@pytest.mark.parametrize("line", ["BREAK 1\nBREAK", "IGNORE", "ICONV 1\nICONV a", "SFX A Y 1\nSFX A 0 s", "KEY", "OCONV 1\nOCONV a"])
def test_bytes_outside_of_the_encoding(tmp_path: Path, line: str) -> None:
    """Bytes of an option that are outside of the encoding are refused."""
    (tmp_path / "x.aff").write_bytes(f"SET UTF-8\n{line} ".encode() + b"\xff\n")
    (tmp_path / "x.dic").write_text("1\nword\n", encoding="utf-8")
    with pytest.raises(fst.VocabularyError, match=r"is '.*\\udcff'; expected utf-8; save both files"):
        speller(tmp_path / "x.aff")


def test_too_many_parts_of_conditions(tmp_path: Path) -> None:
    """Conditions with more different sets than a table has numbers for are refused."""
    sets = [f"[{chr(0x400 + number % 256)}{chr(0x4E00 + number // 256)}]" for number in range((1 << 16) + 1)]
    rows = ["".join(sets[first : first + 25]) for first in range(0, len(sets), 25)]
    lines = [f"SFX A 0 s {row}" for row in rows]
    (tmp_path / "x.aff").write_text("\n".join(["SET UTF-8", f"SFX A Y {len(rows)}", *lines]), encoding="utf-8")
    (tmp_path / "x.dic").write_text("1\nword\n", encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match="expected at most 65,536; split"):
        speller(tmp_path / "x.aff")


def test_files_of_dictionaries(tmp_path: Path) -> None:
    """Either file names the dictionary, and other files are refused."""
    aff = written_to(tmp_path, DICTIONARIES["rules"])
    assert speller(aff).dumps() == speller(aff.with_suffix(".dic")).dumps() == speller(str(aff)).dumps()
    with pytest.raises(fst.VocabularyError, match=r"expected a file \.aff, \.dic or"):
        speller(tmp_path / "words.txt")
