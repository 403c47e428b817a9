"""The part of the fuzzer that checks words and asks for suggestions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.machines.spellers import drawn_speller, looped_speller
from support.machines.spelling import ALPHABET, DICTIONARIES, RARE, written_to

import fst
from fst.compile import speller
from fst.compile.machines.speller.nearest import costs_of
from fst.compile.sources.transducers.hunspell.files import read_dictionary
from fst.machines.speller.nearest import BUDGETS, distance
from fst.runtime.machines.speller.zhfst.searching import Search

OPTIONS = "SET UTF-8\nMAP 1\nMAP ab\nREP 1\nREP ba bb\nCOMPOUNDFLAG c\nCOMPOUNDMIN 1\nSFX S N 1\nSFX S a ba/S a\n"


def drive_spellers(draw: random.Random, texts: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """Suggest words with random machines as the slow walk does, and words of a random dictionary by their distances."""
    for module in ("machines.speller.zhfst.walk", "runtime.machines.speller.zhfst.searching"):
        patch.setattr(f"fst.{module}.MAX_NODES", 1 << 9)  # some searches have no end
    words = [*filter(None, (text[:6] for text in texts[:6])), "abxa"]
    with suppress(fst.TextError):
        drawn = drawn_speller(draw)
        search = Search(drawn)
        assert [search.suggestions(word[:4], 2) for word in words] == [drawn.suggestions(word[:4], 2) for word in words]
    Search(looped_speller()).suggestions("", 3)
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.aff")
        path.write_text(OPTIONS)
        forms = {"".join(draw.choices("abx", k=draw.randint(1, 5))) for _ in range(5)}
        flagged = [form + draw.choice(("", "/S", "/Sc", "/c")) for form in sorted(forms)]
        path.with_suffix(".dic").write_text("\n".join([str(len(forms)), *flagged]))
        small, costs = fst.Speller(speller(path)), costs_of(read_dictionary(path), "abx")
        for word in words:
            with suppress(fst.TextError):
                small.suggest(word, style="hunspell")
            near = small._near_words._search(word, BUDGETS[-1]) or []
            assert all(distance(word, each.text, costs, [("ba", "bb")]) <= each.distance for each in near)
        check_words(draw, Path(folder))


def check_words(draw: random.Random, folder: Path) -> None:
    """Check words with dictionaries that use all options."""
    for dictionary in (*DICTIONARIES.values(), RARE):
        checked = fst.Speller(speller(written_to(folder, dictionary), suggestions=False))
        words = dictionary.drawn(draw, 600, ALPHABET)
        words += ["STRASSE", "Straße", "tabyes", "babyei", "BA'S", "x" * 99, "abtabye", "ai", "babt", "aabt"]
        checked.check_batch(words, threads=1)
        checked.check_text("’ ".join(words[:40]))
        checked.stem_batch(words, threads=1)
