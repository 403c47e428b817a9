"""WordPiece and WordLevel whose alphabet expresses no texts: normalizers and splitters are applied step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.sources.drawn_parts import CHARSMAP, digits, prepend, punctuation, replaced, split
from support.text.added_tokens import check
from support.text.components import (
    BERT,
    NFC,
    NFD,
    SPLIT,
    STRIP,
    STRIP_ACCENTS,
    WHITESPACE,
    Part,
    bert,
    document,
    mixtures,
    small_vocabulary,
)
from support.tiers import sample
from tokenizers import Tokenizer as Reference

import fst
from fst.compile import tokenizer
from fst.machines.wordpiece.table import Walk

CASES: dict[str, tuple[list[Part], list[Part]]] = {
    "composed after BERT's": ([bert(lowercase=False), NFC], [BERT]),
    "composed letters, unlike their parts": ([NFC, STRIP_ACCENTS, NFD], [BERT]),
    "ordered again": ([NFD, replaced("'", String="\u0301"), NFD], [BERT]),
    "marks before a letter": ([replaced("\u0301a", String="x"), NFD], [BERT]),
    "a long expansion": ([replaced("a" * 33, String="x")], [BERT]),
    "many orderings": ([NFD] * 17, [BERT]),
    "a string": ([replaced("c", String="ab"), bert()], [BERT]),
    "a run": ([replaced("b", Regex="a+")], [BERT]),
    "stripped": ([STRIP], []),
    "stripped, with spaces that stay": ([STRIP, replaced("_", String="\u3000")], [SPLIT]),
    "prepended": ([prepend("x"), STRIP], [WHITESPACE]),
    "a charsmap": ([CHARSMAP], [BERT, digits()]),
    "runs of two kinds": ([], [split(Regex=r"\w+|[^\w\s]+")]),
    "strings": ([], [split(Regex="ab+|[.]b")]),
    "merged": ([bert()], [split("MergedWithPrevious", Regex=r"\d+"), SPLIT]),
    "the rest": ([], [split("Removed", True, Regex="[a-c]+1?")]),
    "in turn": ([NFC], [split(Regex="ab|a"), split("MergedWithNext", Regex="[b.]+"), punctuation(), SPLIT]),
    "gaps": ([], [split(Regex=r"a[^1]+1|bc?|[.]")]),
    "gaps, inverted": ([], [split(Regex=r"a[^1]+1|b", invert=True), SPLIT]),
    "gaps that are split again": ([bert()], [split(Regex="a[^1]+1|b"), split(Regex="ab|a"), punctuation(), digits()]),
    "two characters": ([], [{"type": "CharDelimiterSplit", "delimiter": "a"}, split(String="ab")]),
}


def made(name: str, folder: Path) -> tuple[Reference, Any]:
    """The reference of a case, and its table."""
    of = document(*CASES[name], small_vocabulary())
    added = {"single_word": False, "lstrip": True, "rstrip": False, "normalized": True, "special": False}
    of["added_tokens"].append({"id": len(of["model"]["vocab"]), "content": "a1", **added})
    (folder / "tokenizer.json").write_text(json.dumps(of), encoding="utf-8")
    return Reference.from_file(str(folder / "tokenizer.json")), tokenizer(folder / "tokenizer.json")


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", CASES)
def test_steps(name: str, tmp_path: Path) -> None:
    """Ids, offsets and words equal those of `tokenizers`; a stream and the slow walk have the same ids."""
    reference, table = made(name, tmp_path)
    tok = fst.Tokenizer(table)
    texts = ["", " ", *sample(mixtures(0, 1000), 4)]
    check(reference, tok, texts)
    for text in texts[:20]:
        expected = tok.encode(text).tolist()
        assert Walk(table).run(text) == expected
        stream = tok.stream()
        for char in text:
            stream.write(char)
        assert stream.close().ids.tolist() == expected


@pytest.mark.slow
def test_too_many_steps_are_refused(tmp_path: Path) -> None:
    """A table contains at most 100 steps, so normalizers and splits that take more are refused."""
    of = document([NFD] * 100, [split(Regex="ab+|b[a1]"), split(Regex="[0-9]{1,3}")], small_vocabulary())
    (tmp_path / "tokenizer.json").write_text(json.dumps(of), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match="take 101 steps; at most 100 are possible"):
        tokenizer(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("name", ["in turn", "a run"])
def test_tables_are_kept(name: str, tmp_path: Path) -> None:
    """A table that is saved and loaded, or that gets more added tokens, has the same ids."""
    reference, table = made(name, tmp_path)
    table.save(tmp_path / "table.npz")
    tok = fst.load(tmp_path / "table.npz").with_added_tokens(["<x>"])
    reference.add_tokens(["<x>"])
    check(reference, tok, [f"{text}<x>{text}" for text in mixtures(1, 40)])
