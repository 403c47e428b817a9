"""Words that Hunspell accepts: the definition of `support.naive.spelling` gives the answers of Hunspell's own cases, and of its library."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from support.naive.spelling.check import Speller
from support.shared_data import TESTS
from support.sources.hunspell_library import Hunspell, library
from support.sources.hunspell_suite import SUITE, suite, words_of
from support.sources.random_spelling import random_files, random_words
from support.tiers import sample

from fst.compile.sources.transducers.hunspell.casing import Casing
from fst.compile.sources.transducers.hunspell.files import read_dictionary

ANSWERS = TESTS / "support" / "sources" / "spelling.json"  # the words of random dictionaries that Hunspell 1.7.1 accepts
CRASHES = {f"1748408-{number}" for number in range(1, 5)}  # not dictionaries: the number of words is missing, and there are no words
LATER = {  # words that Hunspell 1.7.1 answers otherwise than the cases, which are those of a later version
    "checkcompoundpattern5": {"xxfoobaryy"},
    "checkcompoundpattern6": {"sUryOdayaM"},
    "checkcompoundpattern7": {"psUryOdayaM"},
    "checksharpsutf2": {"STRAẞE", "AUẞENMAẞE", "GROẞMANN"},
    "gh106": {"ULinda", "NoLinda"},
    "gh1060": {"legnagy"},
    "gh1122": {"/AB", "/foo", "/fooa", "/foob", "/b"},
    "gh353": {"۱۲۳", "۰۱۲۳۴۵۶۷۸۹", "٠١٢٣٤٥٦٧٨٩"},
    "gh749": {"áix"},
    "iconv3": {"abcd"},
    "pfxdot": {"unabc"},
    "trace_circumfix": {"prefixstem"},
}


def speller_of(aff: Path) -> Speller:
    """The definition for a dictionary."""
    dictionary = read_dictionary(aff)
    return Speller(dictionary, Casing(dictionary.options.encoding, dictionary.options.language))


@pytest.mark.skipif(not SUITE.exists(), reason="the cases of Hunspell are not there: nothing to compare with")
@pytest.mark.filterwarnings("ignore::fst.FstWarning")
def test_cases_of_hunspell(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In the cases of Hunspell, right words are accepted and wrong words are not."""
    folder = suite(tmp_path_factory.mktemp("suite"))
    names = {path.stem for ending in ("good", "wrong") for path in folder.glob(f"*.{ending}")} - CRASHES
    found: dict[str, set[str]] = {}
    for name in sorted(names):
        speller = speller_of(folder / f"{name}.aff")
        for ending in ("good", "wrong"):
            words = words_of(folder / f"{name}.{ending}", speller.options.encoding)
            unlike = {word for word in words if speller.check(word) != (ending == "good")}
            if unlike:
                found[name] = found.get(name, set()) | unlike
    assert len(names) > 120
    assert found == LATER


def random_case(folder: Path, seed: int) -> tuple[Path, str, list[str]]:
    """A random dictionary, its encoding, and words."""
    random = Random(seed)
    aff, dic = random_files(random)
    encoding = "iso8859-1" if "ISO8859-1" in aff else "utf-8"
    for ending, text in ((".aff", aff), (".dic", dic)):
        (folder / f"x{ending}").write_bytes(text.encode(encoding))
    words = random_words(random, dic, 150)
    return folder / "x.aff", encoding, [word for word in words if word.encode(encoding, "ignore").decode(encoding) == word]


@pytest.mark.parametrize("seed", range(40))
def test_recorded_answers(tmp_path: Path, seed: int) -> None:
    """In random dictionaries, the words are accepted that Hunspell accepts, as recorded."""
    aff, _, words = random_case(tmp_path, seed)
    check = speller_of(aff).check
    assert [word for word in words if check(word)] == json.loads(ANSWERS.read_text(encoding="utf-8"))[seed]


@pytest.mark.skipif(library() is None, reason="Hunspell's library is not installed: nothing to compare with")
@pytest.mark.slow
@pytest.mark.parametrize("seed", sample(range(40, 2000), 200))
def test_hunspell_accepts_the_same_words(tmp_path: Path, seed: int) -> None:
    """In random dictionaries, the words are accepted that Hunspell's library accepts."""
    aff, encoding, words = random_case(tmp_path, seed)
    hunspell, check = Hunspell(aff, encoding), speller_of(aff).check
    assert [word for word in words if check(word)] == [word for word in words if hunspell.check(word)]
    hunspell.close()
