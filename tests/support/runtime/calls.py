"""Texts and options for calls of tokenizers."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from support.kept import wordpiece
from support.shared_data import SHARED

import fst

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", "##x", "!"]
STRATEGIES = ("do_not_truncate", "longest_first", "only_first", "only_second")


@functools.cache
def lines() -> list[str]:
    """Hostile texts and texts in many languages, shortened so that a test can run many of them."""
    hostile = json.loads((SHARED / "hostile" / "blns.json").read_text(encoding="utf-8"))
    records = (SHARED / "corpora" / "multi_sentences_500.jsonl").read_text(encoding="utf-8").split("\n")[::997]
    found = [*hostile, *(json.loads(record)["text"] for record in records if record)]
    return ["", " ", "[MASK]", "a [SEP] b", "un[MASK]able", *(line[:60] for line in found)]


def texts() -> st.SearchStrategy[str]:
    """Draw texts of the tests' words, of the shared data, and of random characters."""
    words = st.lists(st.sampled_from(["a", "unaffable", "Éa", "中文", "x!", "[MASK]", "ﷺ"]), max_size=8).map(" ".join)
    return words | st.sampled_from(lines()) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def pieces(template: str) -> list[dict[str, Any]]:
    """The JSON form of a template such as "[CLS]:0 A:0"."""
    found = (piece.split(":") for piece in template.split())
    return [{"Sequence" if name in "AB" else "SpecialToken": {"id": name, "type_id": int(number)}} for name, number in found]


def tok(**more: Any) -> fst.Tokenizer:
    """Make a tokenizer with a few letters; the id of a is 5, the id of b is 6, and so on."""
    tables = wordpiece(TOKENS)
    return fst.Tokenizer(replace(tables, header={**tables.header, **more}))


def ids(*arguments: Any, **options: Any) -> Any:
    """Call the tokenizer, and return only the ids of the result."""
    return tok()(*arguments, **options)["input_ids"]
