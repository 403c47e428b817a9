"""Tables of stops: every position where a character of the set or a string begins is a stop, and few others are."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from fst.text.stops import SECONDS, stops

CHARACTERS, STRINGS = "\n\u00a0é…\u3000界\U0001d400", ("  ", " ▁", "<s>", "</s>", "|")
OTHERS = "abz <é\u0431界字语\uac00\U0001f600\u2014"


def is_stop(table: np.ndarray, text: str) -> bool:
    """Return whether the first byte of a text, which has a second byte, is a stop."""
    first, second = text.encode()[:2]
    return bool(table[first] & table[SECONDS + second])


def made(characters: str, strings: tuple[str, ...]) -> np.ndarray:
    """Return the table for some characters and strings."""
    chosen = np.zeros(0x110000, np.bool_)
    chosen[[*map(ord, characters)]] = True
    return stops(chosen, map(str.encode, strings))


@pytest.mark.parametrize("before", ["", "ÀĀŀƀǀȀɀʀˀ̀πрٵ०ກ\u1e9aꚜ", "".join(map(chr, range(33, 127)))])
def test_all_are_found(before: str) -> None:
    """The first byte of each character of the set, and of each string, is a stop, also if channels are merged."""
    strings = (*STRINGS, *(one + other for one, other in pairwise(before)))
    table = made(CHARACTERS + before, strings)
    assert all(is_stop(table, one + other) for one, other in product(CHARACTERS + before, OTHERS))
    assert all(is_stop(table, string + "a") for string in strings)


def test_few_others_are_found() -> None:
    """With few characters and strings, a stop has the first two bytes of a character of the set, or of a string."""
    table, wanted = made(CHARACTERS, STRINGS), {text.encode()[:2] for text in (*CHARACTERS, *STRINGS)}
    pairs = [one + other for one, other in product(OTHERS, OTHERS)]
    assert not any(is_stop(table, pair) for pair in pairs if wanted.isdisjoint((pair.encode()[:1], pair.encode()[:2])))
