"""Sequences of the pre-tokenizer `Split`, and characters for texts that test them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as some

from fst.compile.pretokens.splitter import splitter
from fst.text.splitter import BEHAVIORS

Json = dict[str, Any]


def split(pattern: str, behavior: str = "Isolated", invert: bool = False, form: str = "Regex") -> Json:
    """A pre-tokenizer `Split` in the format of a tokenizer.json."""
    return {"type": "Split", "pattern": {form: pattern}, "behavior": behavior, "invert": invert}


def byte_level_last(*parts: Json, use_regex: bool = False, add_prefix_space: bool = False) -> Json:
    """A sequence of pre-tokenizers with ByteLevel at the end."""
    last = {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "Sequence", "pretokenizers": [*parts, last]}


ATOMS = ["a", "b", "c", "[ab]", "[^a]", "[^ab]", "[bc]"]
words = some.lists(
    some.builds(str.__add__, some.sampled_from([*ATOMS, "(?:ab)", "(?:ba|c)"]), some.sampled_from(["", "+", "*", "?", "{1,2}"])),
    min_size=1,
    max_size=2,
)
# A single character usually determines whether an alternative of the pattern matches.
alternatives = some.builds(
    "{}{}(?:{}{}){}".format,
    some.sampled_from(ATOMS),
    some.sampled_from(["", "+", "{1,2}", "{1,3}"]),
    words.map("".join),
    some.sampled_from(["", "", "(?=a)", "(?!b)", "(?![ab])", "$"]),
    some.sampled_from(["?", "?", "?", "?", "{0,2}", ""]),
)
splitters = some.builds(
    lambda parts, behavior, invert: splitter("|".join(parts), behavior, invert),
    some.lists(alternatives, min_size=1, max_size=2),
    some.sampled_from([*BEHAVIORS, "isolated", "isolated"]),
    some.booleans(),
)
small_texts = some.lists(some.text("abcd", max_size=9), min_size=10, max_size=10)
