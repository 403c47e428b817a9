"""Words that Hunspell accepts: the definition of `support.naive.spelling` gives the answers of Hunspell's own cases, and of its library."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.machines.spelling import definition
from support.sources.hunspell_library import Hunspell, library
from support.sources.hunspell_suite import SUITE, suite, words_of
from support.sources.random_spelling import random_case, recorded
from support.tiers import sample

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


@pytest.mark.skipif(not SUITE.exists(), reason="the cases of Hunspell are not there: nothing to compare with")
@pytest.mark.filterwarnings("ignore::fst.FstWarning")
def test_cases_of_hunspell(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In the cases of Hunspell, right words are accepted and wrong words are not."""
    folder = suite(tmp_path_factory.mktemp("suite"))
    names = {path.stem for ending in ("good", "wrong") for path in folder.glob(f"*.{ending}")} - CRASHES
    found: dict[str, set[str]] = {}
    for name in sorted(names):
        speller = definition(folder / f"{name}.aff")
        for ending in ("good", "wrong"):
            words = words_of(folder / f"{name}.{ending}", speller.options.encoding)
            unlike = {word for word in words if speller.check(word) != (ending == "good")}
            if unlike:
                found[name] = found.get(name, set()) | unlike
    assert len(names) > 120
    assert found == LATER


@pytest.mark.parametrize("seed", range(40))
def test_recorded_answers(tmp_path: Path, seed: int) -> None:
    """In random dictionaries, the words are accepted that Hunspell accepts, as recorded."""
    aff, _, words = random_case(tmp_path, seed)
    check = definition(aff).check
    assert [word for word in words if check(word)] == recorded(seed)


@pytest.mark.skipif(library() is None, reason="Hunspell's library is not installed: nothing to compare with")
@pytest.mark.slow
@pytest.mark.parametrize("seed", sample(range(40, 2000), 200))
def test_hunspell_accepts_the_same_words(tmp_path: Path, seed: int) -> None:
    """In random dictionaries, the words are accepted that Hunspell's library accepts."""
    aff, encoding, words = random_case(tmp_path, seed)
    hunspell, check = Hunspell(aff, encoding), definition(aff).check
    assert [word for word in words if check(word)] == [word for word in words if hunspell.check(word)]
    hunspell.close()
