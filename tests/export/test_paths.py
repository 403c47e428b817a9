"""Paths of exported programs: kernels write the states and tokens of the slow walks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

import fst
from fst.automata.rows import LAST_OUTPUT, MANY, ONE, ROOT, field_kind, field_output
from fst.machines.bpe import automaton
from fst.machines.unigram import aho_corasick
from fst.machines.wordpiece.table import Walk
from fst.runtime.exporting.calls import MOST_STEPS, calls

pytestmark = [pytest.mark.slow, needs_shared]

Steps = Iterator[tuple[int, int, int]]


def of_bpe(table: Any, text: str) -> Steps:
    """Each byte, the state after it, and the token that this state determines."""
    state = ROOT
    for byte in text.encode():
        state = automaton.step(table.entries, state, byte)
        yield byte, state, automaton.ENTRY.unpack(table.entries[state]).target


def of_unigram(table: Any, text: str) -> Steps:
    """Each byte of a text without normalization, the state after it, and the longest token that ends there."""
    state = ROOT
    for byte in text.encode():
        state, number = aho_corasick.step(table.steps, state, byte)
        yield byte, state, int(table.lists[aho_corasick.BLOCK * number]) & ~aho_corasick.GOES_ON if number else aho_corasick.NONE


def of_wordpiece(table: Any, text: str) -> Steps:
    """The character of each symbol, the state after it, and the token that would be last if the word ended there."""
    walk = Walk(table)
    for number, (first, _) in table.read(text):
        walk._step_class(number)
        of_class, entry = table.classes[2 * number], table.entries[walk.state]
        is_alone = not walk.word_classes
        kind, output = (field_kind(of_class), int(field_output(of_class))) if is_alone else (field_kind(entry), int(field_output(entry)))
        while kind == MANY and table.pool[output] < LAST_OUTPUT:
            output += 1
        last = int(table.pool[output]) & (LAST_OUTPUT - 1) if kind == MANY else output
        yield first, 0 if is_alone else walk.state, last if kind in ((ONE,) if is_alone else (ONE, MANY)) else -1


KINDS = {"vocab_bpe/gpt2": of_bpe, "vocab_unigram/t5": of_unigram, "vocab/bert-base-uncased": of_wordpiece}


@pytest.mark.parametrize(("source", "walk"), KINDS.items())
def test_paths_are_those_of_slow_walks(source: str, walk: Callable[[Any, str], Steps]) -> None:
    """For words and lines of all corpora, the path has the states of the slow walk, up to its maximum number of steps."""
    tok = fst.Tokenizer(tokenizer(SHARED / source))
    made = calls(tok, 1 << 13)
    text, path, call = made.arrays["text"], made.arrays["path"], made.calls["path"]
    assert call is not None
    lines = [line for file in sorted((SHARED / "corpora").iterdir()) for line in file.read_text(errors="replace").split("\n")]
    for line in ["", "x" * (2 * MOST_STEPS), *sample(random.Random(3).sample(lines, 300), 5)]:
        line = line[:2000]
        units = np.frombuffer(line.encode("utf-8" if text.itemsize == 1 else "utf-16-le"), text.dtype)
        text[: len(units)], made.arrays["starts"][1] = units, len(units)
        made.arrays["state"].fill(0)
        count = int(call.kernel.call(*call.arguments))
        assert path[: 3 * count].reshape(-1, 3).tolist() == [[*step] for step in walk(tok._table, line)][:MOST_STEPS]
