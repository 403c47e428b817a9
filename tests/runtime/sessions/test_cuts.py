"""`cut` returns the longest beginning and the longest end of a text with a limited number of ids, compared with all beginnings and ends."""

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from support import kept
from support.conformance.samples import SAMPLES, each
from support.conformance.ways import table_of
from support.shared_data import SHARED, needs_shared
from support.tiers import ALL

import fst
from fst.runtime.sessions import cuts, edits, reading

NAMES = [name for name, sample in SAMPLES.items() if sample.kind in ("wordpiece", "bpe", "unigram")]


@functools.cache
def gpt2() -> Any:
    """Make the tokenizer of GPT-2."""
    return fst.Tokenizer(kept.tokenizer(SHARED / "vocab_bpe/gpt2/tokenizer.json"))


def longest(tok: Any, parts: list[str], most: int) -> tuple[str, int]:
    """The first of some parts of a text with at most `most` ids, and their number."""
    counts = ((part, len(tok.encode(part, add_special_tokens=False))) for part in parts if part or not most)
    return next((found for found in counts if found[1] <= most), ("", 0)) if most else ("", 0)


@each(NAMES, 72)
def test_all_beginnings_and_ends(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No longer beginning, and no longer end, has at most as many ids as allowed."""
    monkeypatch.setattr(cuts, "SMALLEST", 3)
    monkeypatch.setattr(cuts, "LARGEST", 30)
    monkeypatch.setattr(edits, "BLOCK", 16)
    monkeypatch.setattr(reading, "TRIED", 6)
    tok, draw = fst.Tokenizer(table_of(name)), random.Random(name)
    for _ in range(30 if ALL else 6):
        text = "".join(draw.choices(SAMPLES[name].parts, k=draw.choice([1, 3, 20, 60])))[:150]
        count = len(tok.encode(text, add_special_tokens=False))
        for most in {0, 1, 2, draw.randint(0, count), count, max(count - 1, 0)}:
            beginnings, ends = [text[:end] for end in range(len(text), 0, -1)], [text[begin:] for begin in range(len(text))]
            assert tok.cut(text, tokens=most) == longest(tok, beginnings, most)
            assert tok.cut(text, tokens=most, side="right") == longest(tok, ends, most)


@needs_shared
@pytest.mark.parametrize("file", ["en_books_20MB.txt", "docs_zh.md"])
@pytest.mark.parametrize("most", [1, 1000, 100_000])
def test_long_texts(file: str, most: int) -> None:
    """In a long text, a cut has at most as many ids as allowed, and one more character has too many."""
    tok = gpt2()
    text = (SHARED / "corpora" / file).read_text("utf-8")[:500_000]
    for side in ("left", "right"):
        found, count = tok.cut(text, tokens=most, side=side)
        size = len(found)
        longer = [text[: size + 1] if side == "left" else text[-size - 1 :]] if size < len(text) else []
        assert found == (text[:size] if side == "left" else text[len(text) - size :])
        counts = tok.count_tokens([found, *longer], add_special_tokens=False).tolist()
        assert counts[0] == count <= most
        assert all(other > most for other in counts[1:])


def test_a_long_word() -> None:
    """The time to cut a word that has no certain ids before its end grows linearly with its length."""
    tok = fst.Tokenizer(table_of("bpe automaton"))
    text = "世" * 20_000
    assert tok.cut(text, tokens=3 * 20_000) == (text, 3 * 20_000)


@pytest.mark.parametrize(
    ("text", "arguments", "error", "message"),
    [
        ("a", {"tokens": -1}, ValueError, "tokens is -1; expected at least 0"),
        ("a", {"tokens": 1, "side": "end"}, ValueError, "side is 'end'; expected 'left' or 'right'"),
        ("a", {"tokens": 1.5}, TypeError, "tokens is 1.5; expected a whole number"),
        (b"a", {"tokens": 1}, fst.TextError, "the text is bytes; expected str"),
        ("ab\ud800", {"tokens": 9}, fst.TextError, "position 2 of the given text: a lone surrogate"),
        ("ab" * 999 + "\ud800", {"tokens": 9999}, fst.TextError, "a lone surrogate"),
    ],
)
@pytest.mark.parametrize("side", ["left", "right"])
def test_errors(text: Any, arguments: Any, error: type[Exception], message: str, side: str) -> None:
    """Wrong arguments and malformed texts are errors."""
    tok = fst.Tokenizer(table_of("bpe automaton"))
    with pytest.raises(error, match=message):
        tok.cut(text, **{"side": side, **arguments})
