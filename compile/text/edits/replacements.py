r"""Split a Replace of a pattern into several Replaces that the rest of the compiler supports.

A pattern of one character of a small set becomes a Replace for each of these characters. A choice of a run and small sets, such as
``\s{2,}|[\n\r\t]`` in tokenizers of ``transformers``, becomes a Replace of the run, followed by a Replace for each character of the sets.
The effect is the same, because the pattern also replaces the characters of runs that are too short one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fst.compile.patterns import parser
from fst.compile.patterns.code_points import members, union
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat

MOST = 64  # the maximum number of characters in the sets


def unfolded(part: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """The normalizers into which `part` is split; `part` alone if it cannot be split."""
    pattern = part["pattern"].get("Regex") if part["type"] == "Replace" else None
    if not isinstance(pattern, str):
        return [part]
    tree = parser.parse(pattern)
    choices = tree.parts if isinstance(tree, Choice) else (tree,)
    head = pattern.partition("|")[0] if isinstance(choices[0], Repeat) else ""
    if "(" in head or head.count("[") != head.count("]"):  # the first "|" is part of the run
        return [part]
    chars = _characters(choices[1:] if head else choices, part["content"])
    run = [{**part, "pattern": {"Regex": head}}] if head else []
    return [*run, *({**part, "pattern": {"String": char}} for char in chars)] if chars else [part]


def _characters(parts: Sequence[Node], content: str) -> Sequence[str]:
    """The characters of the sets, if each character may be replaced separately; otherwise empty."""
    sets = [part.edges for part in parts if isinstance(part, Characters)]
    if not sets or len(sets) < len(parts):
        return []
    found = members(union(*sets))
    chars = [char for char in map(chr, found[: MOST + 1].tolist()) if char != content]
    return chars if len(found) <= MOST and not {*chars} & {*content} else []
