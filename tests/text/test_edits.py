"""Normalizers that are edits (`Strip`, `Prepend`, `Replace` of strings and of runs), before byte-level BPE, give the same results as
`tokenizers`.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.bpe import hold_in_pieces
from support.text.edits import BOTH, LEFT, RIGHT, Json, document, prepend
from support.text.normalizers import LATE, LOWER, NFC, NFKC, NFKD, RAW, STRIPS, Machine, built, hold, in_turn, replaced, to, token
from support.tiers import examples, sample, thinned

import fst
from fst.errors import TableError, UnsupportedError
from fst.runtime.rows.texts import ONE_TEXT
from fst.runtime.workspace import NO_SPECIAL_IDS

ADDED = {"raw": RAW, "all": (*RAW, *(late for late in LATE if late["content"] != "  "), *STRIPS, token("xab", "normalized"))}
CASES: dict[str, tuple[Json, str, bool, bool]] = {
    "strip": (BOTH, "all", False, True),
    "strip left": (in_turn(LEFT, NFC), "raw", True, False),
    "strip right": (RIGHT, "all", False, False),
    "prepend": (prepend("_é"), "all", False, True),
    "prepend stripped": (in_turn(LEFT, prepend(" x"), LOWER, BOTH), "all", True, True),
    "strings": (in_turn(to("x", "ab"), to("abab", "xe")), "all", False, False),
    "strings composed": (in_turn(to("e", "ab"), NFC, to("", "é!b"), to("  ", "xe")), "all", False, True),
    "string of blanks": (in_turn(to("\t", "  "), BOTH), "raw", False, False),
    "blanks": (replaced(" ", " {2,}"), "all", False, True),
    "white space": (in_turn(LOWER, replaced(" ", r"\s+"), to("_", "a ")), "all", False, False),
    "between": (in_turn(NFC, replaced(" ", r"\s+"), LOWER), "all", False, True),
    "both ways": (in_turn(LOWER, replaced("_", "[ \t]{2,}"), NFC, replaced("", "!+"), to("X", "世世"), LOWER), "raw", False, False),
    "stripped between": (in_turn(to("", "a"), BOTH, LOWER), "all", False, True),
    "composed twice": (in_turn(NFKC, replaced("", r"\s+"), NFC, prepend("_")), "all", True, False),
    "ordered twice": (in_turn(NFKD, replaced(" ", r"\s+"), {"type": "StripAccents"}, NFC), "all", False, True),
    "runs": (in_turn(replaced("b", "[ab]{2,}"), LOWER, replaced("", "x++"), replaced("<>", "e+")), "all", True, False),
    "strings after spaces": (in_turn(NFKC, RIGHT, replaced("a", " +a"), replaced("", "^a+$"), replaced("_", " {2,}")), "all", False, False),
    "edges of lines": (in_turn(replaced("<>", "^[ x]+"), replaced("", "[ab]{2,}$"), LOWER), "raw", True, False),
    "strings after whitespace": (in_turn(LEFT, replaced("<>", "[ \t]{2,}xe"), replaced("", "\u3000+世")), "all", False, True),
}
each_case = pytest.mark.parametrize("name", thinned(CASES, 8))
BITS = (
    *("a", "b", "ab", "aba", "x", "e", "xe", "é", "e\u0301", "\u0301", "E", "A", "_", "!", " ", "  ", "   ", "\n", "\t", "\u00a0"),
    *("\u3000", "\x1c", "world", "the ", "<s>", "<mask>", "<both>", "<r>", "word", "late", "é!", "<s", "[L]", "[R]", "one"),
    *("xab", "世", "😀"),
)


@cache
def machine(name: str) -> Machine:
    """Return the table, the tokenizer and the reference tokenizer of a case."""
    normalizer, added, adds_space, trims = CASES[name]
    return built(document(normalizer, *ADDED[added], adds_space=adds_space, trims=trims))


def mixed(draw: random.Random, most: int) -> str:
    """Draw a text that consists of random parts."""
    return "".join(draw.choices(BITS, k=draw.randint(0, most)))


@each_case
def test_encodings_are_those_of_the_reference(name: str) -> None:
    """With any edits, ids, offsets and words equal those of `tokenizers`."""
    draw = random.Random(name)
    hold(machine(name), ["", *BITS, *(mixed(draw, 10) for _ in sample(range(150), 20))])


@pytest.mark.slow
@given(some.sampled_from([*CASES]), some.lists(some.text(some.sampled_from("".join({*"".join(BITS)})), max_size=20), max_size=5))
@examples(40)
def test_any_text_is_edited_as_by_the_reference(name: str, texts: list[str]) -> None:
    """With any edits, random texts get the same ids and offsets as in `tokenizers`."""
    hold(machine(name), texts)


@each_case
def test_long_texts_are_read_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is read in parts gets the same ids, offsets and words as a text that is read at once."""
    _, tokenizer, _ = machine(name)
    draw = random.Random(name)
    for _ in sample(range(100), 16):
        text = "".join(mixed(draw, 12) + "worldly" * draw.randint(0, 9) for _ in range(9))
        hold_in_pieces(tokenizer, text, draw.choice((4, 16, 64)), monkeypatch)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("normalizer", "message"),
    [
        (replaced("", "ab|c"), "expected a String, a set"),
        (replaced("", "a*"), "expected a String, a set"),
        (replaced("", "a{2,3}"), "expected a String, a set"),
        (replaced("", "(?:ab)+"), "expected a String, a set"),
        (replaced("", r"\w{2,}"), "too many strings"),
        (replaced("", "a+b"), "expected a String, a set"),
        (replaced("", r"^\s+"), "expected a String, a set"),
        (replaced("", "x+$b"), "expected a String, a set"),
        (replaced("", " +\ud800"), "Replace with a surrogate, which is not a character"),
        (to("\ud800", "ab"), "Replace with a surrogate, which is not a character"),
        ({"type": "Replace", "pattern": {"Regex": 5}, "content": " "}, "expected a String, a set"),
        (to("", ""), "expected a String, a set"),
        (prepend("x" * 257), "more than 256 bytes"),
        (in_turn(*[to("aaaaa", "bc")] * 9), "bytes of one"),
    ],
)
def test_refusals(normalizer: Json, message: str) -> None:
    """A sequence of edits that cannot be compiled exactly is refused, and the message contains their names."""
    with pytest.raises(UnsupportedError, match=message):
        built(document(normalizer))


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ([{**token("!", "normalized"), "id": 33}], "added token '!', which is ' x!' in normalised text, with trim_offsets"),
        ([token("[L]", "normalized", "lstrip")], r"added token '\[L\]' with trim_offsets: it takes white space"),
        ([token("[L]", "normalized", "lstrip"), token("[R]", "normalized", "rstrip")], "which a token with rstrip may include"),
    ],
)
def test_tokens_with_white_space_of_their_own(added: list[Json], message: str) -> None:
    """An added token is refused if another token may include its whitespace, or if its trimmed span depends on its neighbours."""
    with pytest.raises(UnsupportedError, match=message):
        built(document(prepend(" x"), *added, trims=True))


HARM: list[tuple[Json, str]] = [
    ({"kind": "none"}, "unknown kind"),
    ({"more": 1}, "unknown keys"),
    ({"left": 1}, "not true or false"),
    ({"string": 5}, "not a string"),
    ({"content": "x" * 257}, "at most 256 bytes"),
    ({"content": "\ud800"}, "surrogates not allowed"),
    ({"string": ""}, "replaces nothing"),
    ({"kind": "runs", "runs": [[97, 97]], "string": "b"}, "may contain a line break"),
    ({"kind": "runs", "runs": [[32, 32]], "string": " a"}, "may contain a line break"),
    ({"kind": "runs", "runs": [[9, 10]], "right": True, "string": ""}, "may contain a line break"),
    ({"runs": [[5, 4]]}, "other than runs"),
    ({"runs": [[0, 0x110000]]}, "other than runs"),
    ({"runs": [[0xD800, 0xD900]]}, "other than runs"),
    ({"runs": [[1, 1]] * 1_025}, "more than 1024"),
    ({"least": 0}, "at least 1"),
    ({"kind": "runs", "runs": [[0, 500]], "least": 2}, "shortest strings"),
    ({"kind": "spaces", "content": "x"}, "not a space"),
    ({"kind": "replace", "string": "a", "content": "x" * 256}, "bytes of one; at most"),
]


@pytest.mark.parametrize(("harm", "message"), HARM)
def test_hostile_tables_are_refused(harm: Json, message: str, tmp_path: Path) -> None:
    """A table with invalid edits is refused when it is loaded."""
    table, _, _ = machine("string of blanks")
    stored = table.header["rewriting"]
    wrong = replace(table, header={**table.header, "rewriting": {**stored, "after": [{**stored["after"][0], **harm}] * 2}})
    wrong.save(tmp_path / "wrong.npz")
    with pytest.raises(TableError, match=message):
        fst.load(tmp_path / "wrong.npz")


def test_texts_that_edits_leave_are_read_where_they_lie() -> None:
    """A text that the edits do not change is not copied before it is read."""
    for name, plain, others in [
        ("strip", "all things", [" all things", "all things\n", "all <s> things"]),
        ("blanks", "all things ", ["all  things"]),
        ("string of blanks", "all things", ["all  things"]),
        ("runs", "x", ["x"]),
    ]:
        _, tokenizer, _ = machine(name)
        assert (tokenizer._ids_runner.encode_texts([plain], ONE_TEXT, NO_SPECIAL_IDS) is not None) is (name != "runs")
        assert all(tokenizer._ids_runner.encode_texts([other], ONE_TEXT, NO_SPECIAL_IDS) is None for other in others)
