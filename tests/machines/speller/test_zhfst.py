"""Spellers of a lexicon and an error model."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.machines.spellers import ANSWERS, SMALL, drawn_machine, drawn_speller, looped_speller
from support.tables.damage import changed

import fst
from fst.compile import files, speller
from fst.compile.machines.speller.zhfst.archive import Archive
from fst.compile.machines.speller.zhfst.compiler import table_of
from fst.runtime.machines.speller.zhfst.searching import Search

LIMIT = 5


@pytest.fixture(scope="module")
def table() -> Any:
    """The small speller."""
    return speller(SMALL)


def test_answers_are_those_of_hfst_ospell(table: Any) -> None:
    """Words are right, and have the suggestions with the weights that hfst-ospell 0.5.3 prints, with flag diacritics, a symbol of two
    characters, and a symbol for other characters; suggestions of equal weight are in the order of code points.
    """
    search, small = Search(table), fst.Speller(table)
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        word, is_right, *expected = line.split("\t")
        texts, weights = zip(*(each.rsplit(" ", 1) for each in expected[:LIMIT]), strict=True) if expected else ((), ())
        assert small.check(word) == (is_right == "1"), word
        assert small.suggest(word, limit=LIMIT) == [*texts], word
        np.testing.assert_allclose([found.weight for found in search.suggestions(word, LIMIT)], [*map(float, weights)], rtol=1e-5)


@pytest.mark.parametrize("seed", range(30))
def test_kernel_has_the_results_of_the_walk(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel finds the suggestions of the slow walk, with equal weights, for random machines with cycles, flags and equal weights; if
    there are too few suggestions, a search may be endless.
    """
    for module in ("machines.speller.zhfst.walk", "runtime.machines.speller.zhfst.searching"):
        monkeypatch.setattr(f"fst.{module}.MAX_NODES", 1 << 12)
    draw = random.Random(seed)
    drawn = drawn_speller(draw)
    drawn.prove()
    search = Search(drawn)
    for _ in range(8):
        word = "".join(draw.choice("abcx") for _ in range(draw.randrange(5)))
        with suppress(fst.TextError):
            assert search.suggestions(word, LIMIT) == drawn.suggestions(word, LIMIT)
        assert [int(search.is_right(word))] == drawn.run(word)


def test_words_of_the_small_speller_have_the_results_of_the_walk(table: Any) -> None:
    """The kernel and the slow walk find the same suggestions in the small speller."""
    search = Search(table)
    words = [line.split("\t")[0] for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
    for word in random.Random(1).sample(words, 12):
        assert search.suggestions(word, LIMIT) == table.suggestions(word, LIMIT)


def test_running_text(table: Any) -> None:
    """Wrong words of texts have their positions; hyphens and apostrophes between letters belong to words."""
    small = fst.Speller(table)
    assert small.check_texts(["guolli, 7 beana-x!", ""]) == [[fst.Misspelling(10, 17)], []]
    assert small.check_text(b"guolli") == []
    with pytest.raises(fst.UnsupportedError, match="call check_texts"):
        small.check_arrow(None)


def test_saved_speller_is_loaded(table: Any, tmp_path: Path) -> None:
    """A table file is loaded as a speller, which has its language in its summary, and draws its lexicon."""
    table.save(tmp_path / "se.npz")
    loaded = fst.Speller.load(tmp_path / "se.npz")
    assert repr(loaded) == "<fst.Speller se of 89 states>"
    assert loaded.suggest("guoli", limit=1) == ["guolli"]
    assert table.summary["title"] == "A small speller"
    assert loaded.draw().count("->") == len(table.lexicon_labels)
    with pytest.raises(fst.UnsupportedError, match="draw the whole lexicon"):
        loaded.draw("a")


@pytest.mark.parametrize(
    ("word", "limit", "error", "found"),
    [
        ("a", 0, ValueError, "limit is 0; expected at least 1"),
        ("a", "5", ValueError, "limit is '5'; expected at least 1"),
        (None, 1, fst.TextError, "the text is NoneType; expected str or bytes"),
        ("a" * 600, 1, fst.TextError, "the word has 600 symbols; expected at most 512"),
    ],
)
def test_wrong_arguments_are_refused(table: Any, word: Any, limit: Any, error: type[Exception], found: str) -> None:
    """A word that is too long or no text, and a wrong limit raise an error; a long word is wrong, and a high limit allowed."""
    with pytest.raises(error, match=found):
        fst.Speller(table).suggest(word, limit=limit)
    assert fst.Speller(table).check_text("a" * 600) == [fst.Misspelling(0, 600)]
    assert fst.Speller(table).suggest("guoli", limit=1 << 60)


def test_too_many_features_are_refused() -> None:
    """A lexicon with more features than a table may have is refused when it is compiled."""
    names = ("", *(f"@P.{number}.X@" for number in range(1025)))
    with pytest.raises(fst.UnsupportedError, match="the flag diacritics have 1,025 features; expected at most 1,024"):
        table_of(Archive(drawn_machine(random.Random(1), names, 5), drawn_machine(random.Random(2), ("", "a"), 5), {}))


def test_too_many_symbols_of_the_error_model_are_refused(table: Any) -> None:
    """A table whose error model has more labels than 16 bits is refused."""
    text = "".join(map(chr, range(0x20000, 0x2FFFF))).encode()
    forged = replace(table, model_bytes=np.frombuffer(text, np.uint8), model_ends=np.arange(4, len(text) + 1, 4))
    with pytest.raises(fst.TableError, match="the error model has 65537 labels; expected at most 65536"):
        forged.prove()


def test_long_search_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search with more nodes than allowed raises an error."""
    monkeypatch.setattr("fst.runtime.machines.speller.zhfst.searching.MAX_NODES", 1 << 12)
    with pytest.raises(fst.TextError, match="ask for fewer suggestions with limit"):
        fst.Speller(looped_speller()).suggest("", limit=5000)


def archive(folder: Path, **members: bytes) -> Path:
    """An archive of the small speller with other members; a member without content is left out."""
    path = folder / "a.zhfst"
    with zipfile.ZipFile(SMALL) as small, zipfile.ZipFile(path, "w") as file:
        contents = {name: small.read(name) for name in small.namelist()} | {name.replace("_", "."): data for name, data in members.items()}
        for name, data in contents.items():
            if data:
                file.writestr(name, data)
    return path


def test_archive_without_error_model_has_no_suggestions(tmp_path: Path) -> None:
    """A speller without an error model and an index checks words, and suggests nothing."""
    small = fst.Speller(speller(archive(tmp_path, errmodel_default_hfst=b"", index_xml=b"")))
    assert small.check("guolli")
    assert small.suggest("guoli") == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda folder: archive(folder, acceptor_default_hfst=b""), "has no member acceptor.NAME.hfst"),
        (lambda folder: archive(folder, acceptor_default_hfst=b"HFST"), "acceptor.default.hfst, byte"),
        (lambda folder: archive(folder, index_xml=b"<a"), "index.xml, line 1"),
        (lambda folder: _written(folder, b"no zip"), "is no zip file, or is damaged"),
        (lambda folder: _written(folder, SMALL.read_bytes()[:3000]), "is no zip file, or is damaged"),
    ],
)
def test_damaged_archive_is_refused(tmp_path: Path, change: Callable[[Path], Path], found: str) -> None:
    """An archive with a missing or damaged member, and a file that is no archive, raise an error that names the member."""
    with pytest.raises(fst.VocabularyError, match=found):
        speller(change(tmp_path))


def _written(folder: Path, data: bytes) -> Path:
    path = folder / "a.zhfst"
    path.write_bytes(data)
    return path


def test_large_member_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that is unpacked to more than the limit is refused before all of it is unpacked."""
    path = archive(tmp_path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("acceptor.default.hfst", bytes(1 << 20))
    monkeypatch.setattr("fst.compile.machines.speller.zhfst.archive.MAX_SOURCE_BYTES", files.MAX_SOURCE_BYTES >> 10)
    with pytest.raises(fst.VocabularyError, match="is larger than 0 MiB"):
        speller(path)


@pytest.mark.parametrize(
    ("name", "at", "value", "found"),
    [
        ("lexicon_targets", 0, 89, "arc 0 of the lexicon leads to state 89 of 89"),
        ("lexicon_labels", 0, 60_000, "arc 0 of the lexicon reads the label 60000"),
        ("lexicon_weights", 3, -1, "arc 3 of the lexicon has the weight -1"),
        ("lexicon_finals", 0, np.nan, "state 0 of the lexicon has the final weight nan"),
        ("lexicon_distances", 0, np.nan, "state 0 of the lexicon has the distance nan"),
        ("lexicon_starts", 0, 1, "the states of the lexicon do not partition its arcs"),
        ("lexicon_starts", 1, 10_000, "the arcs of state 1 of the lexicon end before they begin"),
        ("operations", 1, 7, "operation 1 has the kind 7"),
        ("operations", 1, 5000 << 3, "operation 1 has the feature 5000"),
        ("model_writes", -1, 60_000, "writes the label 60000"),
        ("model_reads", 0, 26, "of the model is not in the order of labels"),
        ("symbol_ends", 0, 0, "symbol 0 is empty"),
        ("model_ends", -1, 9999, "the last of the error symbols ends at byte 9999"),
    ],
)
def test_damaged_table_is_refused(table: Any, name: str, at: int, value: Any, found: str) -> None:
    """A table with a wrong number is refused with its place."""
    with pytest.raises(fst.TableError, match=found):
        changed(table, name, at, value).prove()
