"""Budgets of tokens: masks with only the tokens after which a text can be completed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.conformance.ways import table_of

import fst
from fst.compile import guide, wordpiece
from fst.errors import UnsupportedError

LETTERS = 'abc{}[]":, 12'
TOKENS = ["[UNK]", "[SEP]", *LETTERS, *map("##{}".format, [*LETTERS, "ab", '":', "[[", "]]", '"}', '",', "bc"]), '{"']
NAMES = {"a": {"const": 1}, "b": {"const": "c"}, "c": {}}
TEXTS: dict[str, dict[str, Any]] = {
    "pattern": {"regex": "a(bc|ab){2,5}c|b"},
    "counts": {"regex": "(ab?){7,9}c"},
    "recursion": {"grammar": 'start: "[" start "]" | "[" start "," start "]" | "a"', "syntax": "lark"},
    "two ways": {"grammar": 'start: x "c" | y "b"\nx: "a" x "a" | "b"\ny: "a" y | "c"', "syntax": "lark"},
    "schema": {"schema": {"type": "object", "properties": NAMES, "required": ["b"], "additionalProperties": False}},
    "any order": {"schema": {"type": "object", "properties": NAMES, "required": ["b"], "additionalProperties": False}, "order": "any"},
}


def shortest(found: fst.Guide, state: int) -> int:
    """The smallest number of tokens to the end of a text, by a search through all states, breadth first."""
    states, seen, count = [state], {state}, 0
    while not any(found.is_final(each) for each in states):
        count += 1
        after = {found.step(each, number) for each in states for number in found.allowed(each).tolist()} - seen
        seen |= after
        states = [*after]
        assert count < 40
    return count


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_always_completed(name: str) -> None:
    """A text that is written with masks of a budget ends within the budget, whatever allowed tokens are chosen."""
    tok, draw = fst.Tokenizer(wordpiece(TOKENS)), np.random.default_rng(3)
    found = fst.Guide(tok, end_id=1, **TEXTS[name])
    least = shortest(found, found.start) + 1
    for budget in [*range(least, least + 12)] * 4:
        state, left = found.start, budget
        while state != found.step(state, 1):
            bits = np.unpackbits(found.mask(state, max_tokens=left).view(np.uint8), bitorder="little")
            state, left = found.step(state, int(draw.choice(np.flatnonzero(bits)))), left - 1
            assert left >= 0
            assert state >= 0


@pytest.mark.parametrize("name", TEXTS)
def test_too_small_a_budget(name: str) -> None:
    """A budget below the shortest text is refused with the number that is needed, and this number is enough."""
    found = fst.Guide(fst.Tokenizer(wordpiece(TOKENS)), end_id=1, **TEXTS[name])
    least = shortest(found, found.start) + 1
    with pytest.raises(ValueError, match=f"max_tokens is {least - 1}; expected at least {least}, the number of tokens"):
        found.mask(found.start, max_tokens=least - 1)
    assert found.mask(found.start, max_tokens=least).any()
    assert (found.mask(found.start, max_tokens=1 << 20) == found.mask(found.start)).all()


def test_masks_have_budgets_of_their_own() -> None:
    """Each state of a batch has its budget, in bits and in bytes; after the end, a budget changes nothing."""
    found = fst.Guide(fst.Tokenizer(wordpiece(TOKENS)), end_id=1, regex="a{1,9}")
    state = found.step(found.start, TOKENS.index("a"))
    ended = found.step(state, 1)
    rows = found.masks([state, state, ended, -1], max_tokens=[1, 2, 1, 1])
    expected = [found.mask(state, 1), found.mask(state), found.mask(ended), np.zeros(found.words, np.uint32)]
    assert (rows == np.array(expected)).all()
    out = found.masks([state, state], out=np.empty((2, found.size + 5), np.bool_), max_tokens=1)
    assert [np.flatnonzero(row).tolist() for row in out] == [[1], [1]]
    assert (found.masks([state], out=np.ones((1, found.words + 2), np.uint32), max_tokens=2)[0, found.words :] == 0).all()


def test_budgets_that_are_refused() -> None:
    """Tables have no budgets; a vocabulary without the characters of the shortest text is refused."""
    stored = fst.Guide(guide(fst.Tokenizer(table_of("bpe automaton")), regex="ab"))
    with pytest.raises(UnsupportedError, match="max_tokens is given to a guide of a table"):
        stored.mask(stored.start, max_tokens=3)
    few = fst.Guide(fst.Tokenizer(wordpiece(["[UNK]", "a", "##b"])), regex="ab|ac")
    assert few.mask(few.start, max_tokens=2).any()
    none = fst.Guide(fst.Tokenizer(wordpiece(["[UNK]", "a", "##b"])), regex="a(bc|d)")
    with pytest.raises(ValueError, match="the vocabulary cannot write the shortest text"):
        none.mask(none.start, max_tokens=9)
