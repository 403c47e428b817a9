"""The constants that several modules share agree."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from support.text import generate_characters
from support.tiers import whole

from fst.automata import rows
from fst.machines.wordpiece.arguments import KEY_MASKS
from fst.runtime.kernels import constants
from fst.runtime.text.kernels import reading
from fst.tables import kernel_call
from fst.text import alphabet
from fst.text import reading as reading_table


def test_constants_that_kernels_derive() -> None:
    """Constants of kernels (kinds, ranks, classes, the size of a page) equal the constants of other modules."""
    kinds = {kind for kind in range(4) if kind << rows.KIND_SHIFT & int(constants.RARE)}
    assert kinds == {rows.MANY, rows.FAIL} == {rows.OTHER, rows.LIST}
    assert reading_table.MAX_RANK < 64
    assert int(reading.CLASS) + 1 == 1 << int(reading.RANK_SHIFT)
    assert int(reading.CLASS) >= rows.MAX_LABEL
    assert int(constants.LOW_7) + 1 == 1 << rows.PAGE_BITS == 1 << int(constants.U7)


def test_multipliers_of_words_are_odd() -> None:
    """The multipliers of the hash of words are odd and use all bits, and every four symbols of a word have a separate multiplier."""
    assert all(number % 2 and number.bit_length() > 60 for number in rows.MULTIPLIERS)
    assert 4 * len(rows.MULTIPLIERS) == rows.WORD_SYMBOLS


def test_masks_of_words_keep_their_symbols() -> None:
    """The mask for a word length keeps this number of symbols of a key, and the mask for longer words makes a key that no word has."""
    masks = KEY_MASKS.reshape(-1, 4)
    assert len(masks) == rows.WORD_SYMBOLS + 2
    for length, mask in enumerate(masks[:-1]):
        assert mask[:3].view(np.uint16).tolist() == [0xFFFF] * length + [0] * (rows.WORD_SYMBOLS - length)
        assert mask[3] == 0
    assert masks[-1].tolist() == [0, 0, 0, 2**64 - 1]
    assert rows.MAX_LABEL <= 0xFFFF  # no class is 0xFFFF


@pytest.mark.parametrize("longest", [0, 1, 12, 13, 100, 10_000, 10_001])
def test_chunks_have_room(longest: int) -> None:
    """The capacity of a chunk is enough for the longest word, the symbols before it, and the symbols that a kernel reads beyond the end."""
    work = kernel_call.work_of(longest)
    capacity = len(work.symbols)
    assert capacity - kernel_call.MARGIN >= longest + 2 + kernel_call.CHUNK
    assert capacity == 32 * len(work.masks)
    assert {len(getattr(work, name)) for name in ("begins", "stops", "results", "slots", "spans")} == {capacity}
    assert {len(getattr(work, name)) for name in ("scratch", "pending", "active", "tokens", "pieces")} == {2 * capacity}
    assert [len(work.memo), len(work.symbol_memo)] == [3, 3]
    assert kernel_call.MARGIN >= 64 + reading_table.MAX_LISTED + rows.WORD_SYMBOLS


def test_symbols_are_told_apart() -> None:
    """The symbol of an isolated character, such as a punctuation mark, is not a valid code point."""
    assert alphabet.ISOLATED >= rows.CODE_POINTS


@whole
def test_characters_are_those_of_the_reference() -> None:
    """The file characters.tsv is the same as one that is generated from the installed `tokenizers`."""
    kept = files("fst.compile.text.characters").joinpath("characters.tsv").read_text("ascii").splitlines()
    assert kept == list(generate_characters.lines())
