"""The automaton that lists the tokens that end at each byte of a text gives the same lists as its definition."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.naive.models import tokens_ending
from support.tiers import examples

from fst.automata.rows import ROOT
from fst.compile.machines.unigram.aho_corasick import Automaton, automaton, trie_of
from fst.machines.unigram.aho_corasick import listed, prove, sizes_of, step

LETTERS = "abcé世界\U0001f600"


def made(tokens: Sequence[str]) -> Automaton:
    """Build and prove the automaton of some tokens, whose ids are their indices."""
    spelled = [token.encode() for token in tokens]
    lengths = np.array([len(token) for token in spelled])
    symbols = np.frombuffer(b"".join(spelled), np.uint8)
    found = automaton(trie_of(symbols, np.cumsum(lengths) - lengths, lengths, np.arange(len(tokens))))
    prove(found.steps, found.lists, sizes_of(found.lists, lengths.astype(np.uint16)), len(tokens), int(lengths.max()))
    return found


def hold(tokens: Sequence[str], text: str) -> None:
    """Check that the automaton lists the same tokens at each byte of a text as the definition in `support.naive.models`."""
    found, state, data = made(tokens), ROOT, text.encode()
    for end, byte in enumerate(data, 1):
        state, number = step(found.steps, state, byte)
        assert listed(found.lists, number) == tokens_ending(tokens, data, end)


TOKENS = some.lists(some.text(LETTERS, min_size=1, max_size=5), min_size=1, max_size=30, unique=True)


@examples(400)
@given(TOKENS, some.text(LETTERS + "xß☃", max_size=40))
def test_any_tokens(tokens: list[str], text: str) -> None:
    """At each byte, the automaton lists the tokens that end there, and the last character if it is not a token."""
    hold(tokens, text)


@pytest.mark.parametrize("most", [2, 3, 4, 5, 8, 9, 13])
def test_long_lists(most: int) -> None:
    """Lists of any length are equal to those of the definition, even if a list spans several blocks."""
    for tokens in (["a" * size for size in range(1, most + 1)], ["a" * size for size in range(2, most + 1)]):
        hold(tokens, "ab" + "a" * (most + 3))


@pytest.mark.slow
def test_defaults() -> None:
    """If a state shares its transitions with the state of a shorter suffix, it still lists the tokens of the definition."""
    draw = random.Random(5)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(1, 6))) for _ in range(400)]
    hold([*dict.fromkeys(words)], "".join(draw.choices("abcdefghi", k=3_000)))
