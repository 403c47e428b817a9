"""The charsmaps of SentencePiece's normalization rules have the same strings and texts as in `sentencepiece`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.text.generate_rules import charsmap
from support.tiers import examples, thinned

from fst.automata.double_array import HAS_VALUE, LABEL, VALUE, DoubleArray, base_of, read
from fst.compile.text.edits.rules import RULES, of_rule
from fst.text.charsmap import LONGEST, Charsmap

sentencepiece = pytest.importorskip("sentencepiece")

MAPS = RULES[:-1]  # all rules that have a charsmap
BITS = (
    *("a", "A", "É", "e\u0301", "\u0301", "\u0323", "\u0316", "\u0345", "Å", "ﬁ", "İ", "ς", "Ꭰ", "ꭰ", "①"),
    *("㌔", "～", "〜", "ｶ", "ﾞ", "カ", "\u3099"),
    *("ᄀ", "ᅡ", "ᆨ", "가", "ㄱ", "ㅏ", "ﾡ", "👨", "\u200d", "\u200c", "\u061c", "\ufeff", "▁", " "),
    *("\t", "\n", "\x00", "\x7f", "𝐀", "\U0001ccd6"),
    *("\U00016d63", "\U00016d67", "ꟲ", "\U0001e030"),
)


def strings_of(double_array: DoubleArray) -> Iterator[tuple[bytes, str]]:
    """Yield all strings of a charsmap, with their texts."""
    units = double_array.units.tolist()
    children = defaultdict[int, list[int]](list)
    for node, unit in enumerate(units):
        if unit < VALUE and unit & LABEL:
            children[node ^ unit & LABEL].append(node)
    waiting = [(0, b"")]
    while waiting:
        node, string = waiting.pop()
        base = base_of(units[node], node)
        if units[node] & HAS_VALUE:
            yield string, double_array.text(units[base] & ~VALUE)
        waiting += [(child, string + bytes([units[child] & 0xFF])) for child in children[base]]


def singles_of(data: bytes) -> dict[int, str]:
    """Return the characters that a charsmap changes, with their texts."""
    found = read(data)
    known = zip(found.characters.codes.tolist(), found.characters.values.tolist(), strict=True)
    return {code: text for code, value in known if value >= 0 and (text := found.text(value)) != chr(code)}


@cache
def normalizer_of_the_library(rule: str) -> Any:
    """The normalizer of `sentencepiece` with a rule alone, without rules for spaces."""
    spaces = dict.fromkeys(("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"), False)
    return sentencepiece.SentencePieceNormalizer(rule_name=rule, **spaces)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("rule", MAPS)
def test_characters_are_those_of_the_library(rule: str) -> None:
    """Each rule changes the same characters of all code points as in `sentencepiece`, to the same texts."""
    assert singles_of(of_rule(rule)) == singles_of(charsmap(rule))


def test_stored_rule_is_that_of_the_library() -> None:
    """The stored charsmap equals the charsmap of the rule nfkc in `sentencepiece`, byte for byte, and the rule identity has no charsmap."""
    assert of_rule("nfkc") == charsmap("nfkc")
    assert of_rule("identity") == charsmap("identity") == b""


@pytest.mark.slow
@pytest.mark.parametrize("rule", thinned(MAPS, 2))
def test_strings_are_those_of_the_library(rule: str) -> None:
    """Each rule has the strings and texts of the rule in `sentencepiece`, except strings that it replaces by themselves."""
    own, expected = dict(strings_of(read(of_rule(rule)))), dict(strings_of(read(charsmap(rule))))
    assert {string: text for string, text in own.items() if string.decode() != text or string in expected} == expected


@given(texts=some.lists(some.one_of(some.sampled_from(BITS), some.text(max_size=2)), max_size=12), rule=some.sampled_from(MAPS))
@examples(100)
def test_texts_are_normalized_as_in_the_library(texts: list[str], rule: str) -> None:
    """A rule normalizes any text as in `sentencepiece`."""
    text = "".join(texts)
    library = normalizer_of_the_library(rule)
    assert Charsmap(of_rule(rule), LONGEST).apply(text, [(0, 0)] * len(text))[0] == library.normalize(text)
