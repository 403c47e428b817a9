"""`encode_segments` finds added tokens only in parts that allow them, and gives the ids of `encode` otherwise."""

from __future__ import annotations

import json
import random
import re
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from support.conformance.samples import BYTES, SAMPLES, each
from support.conformance.ways import table_of
from support.tiers import ALL

import fst
from fst.compile import tokenizer
from fst.runtime.sessions.segments import FIRST_NAME, LEAD

NAMES = [name for name, sample in SAMPLES.items() if sample.kind in ("wordpiece", "bpe", "unigram")]


def drawn(draw: random.Random, parts: list[str]) -> list[str]:
    """Draw a text in parts of any size."""
    text = "".join(draw.choices(parts, k=draw.choice([1, 3, 8])))
    places = sorted(draw.randint(0, len(text)) for _ in range(3))
    return [text[begin:end] for begin, end in pairwise([0, *places, len(text)])]


@each(NAMES, 73)
def test_parts_of_one_kind(name: str) -> None:
    """If all parts allow added tokens, or the text contains none, the ids are those of the whole text."""
    tok, draw = fst.Tokenizer(table_of(name)), random.Random(name)
    added = tok._table.metadata.added_tokens.ids
    for _ in range(100 if ALL else 20):
        parts = drawn(draw, [*SAMPLES[name].parts, *added, LEAD, LEAD + chr(FIRST_NAME)])
        ids = tok.encode("".join(parts), add_special_tokens=False).tolist()
        assert tok.encode_segments([(part, True) for part in parts]).tolist() == ids
        if not {*ids} & {*added.values()}:
            assert tok.encode_segments([(part, False) for part in parts]).tolist() == ids


def compiled(folder: Path, contents: list[str]) -> Any:
    """Compile a tokenizer of byte-level BPE with some added tokens."""
    added = [{"id": 300 + number, "content": content, "special": True} for number, content in enumerate(contents)]
    (folder / "tokenizer.json").write_text(json.dumps({**BYTES, "added_tokens": added}), encoding="utf-8")
    return fst.Tokenizer(tokenizer(folder / "tokenizer.json"))


def test_added_tokens_are_found_where_they_are_allowed(tmp_path: Path) -> None:
    """A text is divided only at the added tokens in parts that allow them; the rest is encoded like text without added tokens."""
    contents = ["<s>", "<s>x", "x<"]
    tok, bare = compiled(tmp_path, contents), compiled(tmp_path, [])
    draw = random.Random(3)
    for _ in range(300):
        parts = [(part, draw.random() < 0.5) for part in drawn(draw, ["<s>", "<s>x", "x<", "<", "s>", "ab", " ", "abba"])]
        expected, stretch = list[int](), ""
        for allows, run in groupby(parts, lambda part: part[1]):
            text = "".join(part for part, _ in run)
            stretches = re.split("(<s>x|<s>|x<)", text) if allows else [text]
            for number, found in enumerate(stretches):
                if number % 2:
                    expected += [*bare.encode(stretch, add_special_tokens=False).tolist(), tok.token_to_id(found)]
                    stretch = ""
                else:
                    stretch += found
        expected += bare.encode(stretch, add_special_tokens=False).tolist()
        assert tok.encode_segments(parts).tolist() == expected, parts


def test_wordpiece_in_parts_of_strangers() -> None:
    """For WordPiece, an added token in a part that does not allow it becomes words."""
    tok = fst.Tokenizer(table_of("wordpiece added"))
    special = tok.token_to_id("</s>")
    for parts, count in (([("un </s>", False)], 0), ([("un </", True), ("s>", False)], 0), ([("un </", True), ("s>", True)], 1)):
        assert tok.encode_segments(parts).tolist().count(special) == count
    assert tok.encode_segments([]).tolist() == []


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (["ab"], "a part is 'ab'; expected a pair of a text and a flag that allows added tokens"),
        ([("ab",)], "expected a pair"),
        (3, "parts is 3; expected pairs of a text and a flag"),
        ([(b"ab", True)], "the text is bytes; expected str"),
        ([("\ud800", True)], "a lone surrogate"),
        ([("ab", "user")], "the flag of a part is 'user'; expected True or False"),
        ([("ab", 0)], "the flag of a part is 0; expected True or False"),
    ],
)
def test_errors(parts: Any, message: str) -> None:
    """Parts that are not pairs with a text are errors."""
    with pytest.raises(fst.TextError, match=message):
        fst.Tokenizer(table_of("bpe automaton")).encode_segments(parts)
