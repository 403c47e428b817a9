"""Suggestions of the nearest words of a dictionary of Hunspell."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.naive.nearest import Forms
from support.tables.damage import changed

import fst
from fst.compile import speller
from fst.compile.machines.speller.nearest import costs_of
from fst.compile.sources.transducers.hunspell.files import Dictionary, read_dictionary
from fst.machines.speller.nearest import BUDGETS, CELLS, Near, distance

AFFIXES = """SET UTF-8
KEY qwe|asd|zxc
MAP 2
MAP aä
MAP eéè
REP 3
REP f ph
REP ck k
REP sch sh
NOSUGGEST !
NEEDAFFIX n
PFX P Y 2
PFX P 0 un .
PFX P a re a
SFX S Y 3
SFX S 0 s [^sy]
SFX S y ies [^aeiou]y
SFX S 0 es s
SFX D N 2
SFX D e ed/S e
SFX D 0 er/S [^e]
"""
COMPOUNDS = """COMPOUNDMIN 2
COMPOUNDFLAG c
"""
WORDS = (
    *("able/PS", "phase/DS", "kid/SDc", "kidney/S", "bass/Sc", "aähn", "shop/PSc"),
    *("walk/DP", "Wales", "dux/!", "ab/nS", "was/c", "shy/S"),
)


def written(folder: Path, aff: str, words: tuple[str, ...] = WORDS) -> Path:
    """Write a dictionary; return its .aff file."""
    path = folder / "a.aff"
    path.write_text(aff, encoding="utf-8")
    path.with_suffix(".dic").write_text("\n".join([str(len(words)), *words, ""]), encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=[AFFIXES, AFFIXES + COMPOUNDS], ids=["affixes", "compounds"])
def dictionary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[fst.Speller, Dictionary]:
    """A speller and its dictionary."""
    path = written(tmp_path_factory.mktemp("near"), request.param)
    return fst.Speller(speller(path)), read_dictionary(path)


def misspellings(draw: random.Random, words: list[str], count: int) -> Iterator[str]:
    """Yield words after random edits."""
    for _ in range(count):
        letters = [*draw.choice(words)]
        for _ in range(draw.randrange(3)):
            at, kind = draw.randrange(len(letters) + 1), draw.randrange(4)
            letters[at : at + (kind != 0)] = draw.choice(("", *"abdefhkpsäwyž")) if kind < 3 else letters[at : at + 2][::-1]
        yield draw.choice((str, str.upper, str.capitalize))("".join(letters))


def test_suggestions_are_the_nearest_words(dictionary: tuple[fst.Speller, Dictionary]) -> None:
    """Suggestions are the correct words of least distance, among all forms of the dictionary, by the table of distances."""
    small, source = dictionary
    forms = Forms(source, small.check)
    costs = costs_of(source, {letter for word in forms.words for letter in word})
    pairs = [(each.found, each.correction) for each in source.options.replacements]
    for word in misspellings(random.Random(3), [*forms.words], 25):
        expected = [Near(*each) for each in forms.nearest(word, costs, pairs)]
        for limit in (1, 5):
            assert small._near_words.suggestions(word, limit) == expected[:limit], word


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("helo", "hello", 6),
        ("helllo", "hello", 6),
        ("hlelo", "hello", 7),
        ("fase", "phase", 5),
        ("sed", "séd", 3),
        ("able", "Able", 2),
        ("kod", "kid", 10),
        ("wqw", "www", 8),
        ("", "a", 10),
        ("aa", "", 16),
        ("fafa", "phapha", 10),
    ],
)
def test_costs_of_edits(dictionary: tuple[fst.Speller, Dictionary], word: str, other: str, expected: int) -> None:
    """Each kind of edit has its cost."""
    source = dictionary[1]
    pairs = [(each.found, each.correction) for each in source.options.replacements]
    assert distance(word, other, costs_of(source, {*word, *other}), pairs) == expected


def test_rows_of_the_kernel_are_distances(tmp_path: Path) -> None:
    """For every misspelling over a small alphabet, the distances of the words found are those of the table of distances."""
    words = tuple("".join(letters) for size in range(1, 5) for letters in product("aäb", repeat=size))
    path = written(tmp_path, "SET UTF-8\nKEY ab\nMAP 1\nMAP aä\nREP 2\nREP ab bä\nREP b aa\n", words)
    small, source = fst.Speller(speller(path)), read_dictionary(path)
    costs, pairs = costs_of(source, "aäb"), [("ab", "bä"), ("b", "aa")]
    for word in ("".join(letters) for size in range(1, 5) for letters in product("abx", repeat=size)):
        found = {near.text: near.distance for near in small._near_words._search(word, BUDGETS[-1]) or ()}
        every = {other: distance(word, other, costs, pairs) for other in words}
        assert found == {other: cost for other, cost in every.items() if cost <= BUDGETS[-1]}, word


def test_case_of_the_word_is_restored(tmp_path: Path) -> None:
    """A word with a capital, or in capitals, is compared in lower case, too, and its suggestions then get its case."""
    small = fst.Speller(speller(written(tmp_path, "SET UTF-8\n", ("hello", "Paris", "McDonald"))))
    words = ("helo", "Helo", "HELO", "paris", "Mcdonald", "pariss")
    expected = [["hello"], ["Hello", "hello"], ["HELLO"], ["Paris"], ["McDonald"], ["Paris"]]
    assert [small.suggest(word, limit=2) for word in words] == expected


def test_words_with_rare_characters_are_left_out(tmp_path: Path) -> None:
    """Words and affixes with characters after U+2FFFF are not suggested, and other words of the dictionary are."""
    aff = "SET UTF-8\nSFX S Y 1\nSFX S 0 \U00030000 .\nPFX P Y 1\nPFX P 0 \U000f0000 .\n"
    small = fst.Speller(speller(written(tmp_path, aff, ("hello/SP", "\U00030000", "a\U000e0100b", "a\U0002f800b"))))
    assert small.check_batch(["hello\U00030000", "\U000f0000hello", "\U00030000"]).all()
    assert small.suggest("helo") == ["hello"]
    assert small.suggest("ab") == ["a\U0002f800b"]


def test_suggestions_are_limited(tmp_path: Path) -> None:
    """A limit below 1, a word that is no text, and a table without suggestions raise an error; an empty word and a very long one have no
    suggestions.
    """
    path = written(tmp_path, "SET UTF-8\n", ("hello",))
    small = fst.Speller(speller(path))
    assert small.suggest("") == small.suggest("a" * 200) == []
    with pytest.raises(ValueError, match="limit is 0"):
        small.suggest("a", limit=0)
    with pytest.raises(fst.TextError, match="the text is int"):
        small.suggest(5)  # type: ignore[arg-type]
    with pytest.raises(fst.UnsupportedError, match="the table has no suggestions"):
        fst.Speller(speller(path, suggestions=False)).suggest("a")


def test_incomplete_search_keeps_nearer_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a search takes too many steps, only words of a smaller distance are suggested."""
    small = fst.Speller(speller(written(tmp_path, AFFIXES)))
    assert small.suggest("walkk") == ["walk", "walker"]
    monkeypatch.setattr("fst.runtime.machines.speller.suggest.nearest.MAX_STEPS", 40)
    assert small.suggest("walkk") == ["walk"]


def test_search_with_too_long_replacements_is_incomplete(tmp_path: Path) -> None:
    """If a row is too long for the working arrays, because of replacements at many places, nothing is searched."""
    replacements = "".join(f"REP a {'b' * size}\n" for size in range(400, 415))
    small = fst.Speller(speller(written(tmp_path, f"SET UTF-8\nREP 15\n{replacements}", ("ab", "b"))))
    assert small.suggest("aa") == ["ab", "b"]
    assert small._near_words._search("a" * 100, BUDGETS[0]) is None
    assert len(small._near_words._word("a" * 100).rule_labels) == 100 * sum(range(400, 415))


def test_labels_of_replacements_are_bounded(tmp_path: Path) -> None:
    """If replacements write more labels than rows have room for, later ones are not made."""
    replacements = "".join(f"REP a {'b' * 450}{'ab'[number // 50]}{'b' * (number % 50)}\n" for number in range(60))
    small = fst.Speller(speller(written(tmp_path, f"SET UTF-8\nREP 60\n{replacements}", ("ab", "b"))))
    assert len(small._near_words._word("a" * 100).rule_labels) <= CELLS + 512
    assert small._near_words._search("a" * 100, BUDGETS[0]) is None


@pytest.mark.parametrize("more", ["", COMPOUNDS], ids=["affixes", "compounds"])
def test_parts_of_flags_have_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    """If the suffixes of each flag are a part of their own, suggestions are the same as if those of several flags are one part."""
    monkeypatch.setattr("fst.compile.machines.speller.nearest.MOST_TOGETHER", 0)
    apart = fst.Speller(speller(written(tmp_path, AFFIXES + more)))
    monkeypatch.undo()
    small = fst.Speller(speller(written(tmp_path, AFFIXES + more)))
    assert apart._table.near_starts.tolist() != small._table.near_starts.tolist()
    for word in misspellings(random.Random(4), ["phased", "shopers", "unwalkers", "kidney"], 25):
        assert apart._near_words.suggestions(word, 9) == small._near_words.suggestions(word, 9), word


def test_too_many_words_give_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary with too many combinations of affixes is compiled without suggestions, with a warning."""
    monkeypatch.setattr("fst.compile.machines.speller.nearest.MAX_SUFFIXES", 3)
    with pytest.warns(fst.FstWarning, match="more than 3 suffixes; expected fewer; the table has only the suggestions of style='hunspell'"):
        table = speller(written(tmp_path, AFFIXES))
    assert not len(table.near_finals)


def test_too_many_characters_give_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary with more characters than labels is compiled without near words, with a warning."""
    monkeypatch.setattr("fst.compile.machines.speller.nearest.END", 9)
    with pytest.warns(fst.FstWarning, match="the words have 8 different characters; expected at most 7"):
        table = speller(written(tmp_path, "SET UTF-8\n", ("abcd", "efgh")))
    assert not len(table.near_finals)


@pytest.mark.parametrize(
    ("name", "at", "value", "found"),
    [
        ("near_targets", 0, 1 << 20, "transition 0 of near words leads to state"),
        ("near_labels", 0, 999, "transition 0 of near words has the label 999"),
        ("near_starts", 1, 9999, "the transitions of state 1 of near words end before they begin"),
        ("near_starts", 0, 1, "near_starts does not partition the transitions"),
        ("near_root", 0, 1 << 20, "near_root is not the number of a state"),
        ("near_letters", 0, 0xD800, "near_letters has 55296, which is no character"),
        ("near_pairs", 0, -1, "pair 0 of near words has a label that is not below"),
        ("near_pairs", 2, 0, "pair 0 of near words has the cost 0"),
        ("near_pairs", 0, 9, "pair 1 of near words is not in the order of labels"),
        ("near_ends", 0, 0, "string 0 of replacements is empty"),
    ],
)
def test_damaged_table_is_refused(tmp_path: Path, name: str, at: int, value: Any, found: str) -> None:
    """A table with a wrong number in the automaton of words is refused."""
    table = speller(written(tmp_path, AFFIXES))
    with pytest.raises(fst.TableError, match=found):
        changed(table, name, at, value).prove()
