"""Normalizers that are edits (`fst.text.edits`) instead of maps of characters.

The edits are `Strip`, `Prepend`, `Replace` of strings and of runs, `Precompiled`, and the normalizers of SentencePiece models
(`fst.compile.text.sentencepiece`).
"""

from __future__ import annotations

from fst.compile.patterns import code_points, parser
from fst.compile.patterns.code_points import SURROGATES, members
from fst.compile.patterns.parser import END_OF_LINE, START_OF_LINE
from fst.compile.patterns.tree import Atomic, Characters, Node, Repeat, Sequence
from fst.compile.text import sentencepiece
from fst.compile.text.components import Component
from fst.compile.text.edits.charsmaps import of_component
from fst.compile.text.folding import characters_of
from fst.core.json_fields import is_text
from fst.errors import UnsupportedError, quoted
from fst.text.charsmap import Charsmap
from fst.text.edits import MAX_RUNS, MAX_STRING, PREPEND, REPLACE, RUNS, STRIP, Edit


def is_edit(part: Component) -> bool:
    """Whether a normalizer is an edit."""
    kinds = ("Strip", "Prepend", "Precompiled", *sentencepiece.KINDS)
    return part["type"] in kinds or (part["type"] == "Replace" and characters_of(part["pattern"]) is None)


def edit_of(part: Component) -> Edit | Charsmap:
    """Convert a normalizer to its edit."""
    if part["type"] in sentencepiece.KINDS:
        return sentencepiece.edit_of(part)
    if part["type"] == "Strip":
        return Edit(STRIP, left=part["strip_left"], right=part["strip_right"])
    if part["type"] == "Precompiled":
        return of_component(part)
    content = part["prepend"] if part["type"] == "Prepend" else part["content"]
    edit = Edit(PREPEND, content=content) if part["type"] == "Prepend" else _replacement(part)
    if not (is_text(edit.content) and is_text(edit.string)):
        raise UnsupportedError(f"normalizer {part['type']} with a surrogate, which is not a character; remove it")
    if max(len(edit.content.encode()), len(edit.string.encode())) > MAX_STRING:
        raise UnsupportedError(f"normalizer {part['type']} with a string of more than {MAX_STRING} bytes")
    return edit


def _replacement(part: Component) -> Edit:
    """Convert a Replace to an edit that replaces a string, or runs of characters of a set."""
    pattern, content = part["pattern"], part["content"]
    ((form, spelling),) = pattern.items() if len(pattern) == 1 else [("", None)]
    if form == "String" and isinstance(spelling, str) and spelling:
        return Edit(REPLACE, content=content, string=spelling)
    edit = _runs(parser.parse(spelling), content) if form == "Regex" and isinstance(spelling, str) else None
    if edit is None:
        expected = "expected a String, a set of characters, or a run of one set; write several normalizers"
        raise UnsupportedError(f"normalizer Replace of {quoted(pattern)}: {expected}")
    if len(edit.runs) > MAX_RUNS or edit.least > MAX_STRING or edit.triggers is None:
        raise UnsupportedError(f"normalizer Replace of {quoted(pattern)}, which are too many strings")
    return edit


def _runs(tree: Node, content: str) -> Edit | None:
    """The edit for a pattern that matches greedy runs of one set, with ``^`` before or ``$`` after them, or runs of whitespace and a string
    after them, such as ``^▁+$`` and `` +▁``; None for other patterns.
    """
    parts = tree.parts if isinstance(tree, Sequence) else (tree,)
    begins, ends = parts[:2] == START_OF_LINE.parts, parts[-1:] == (END_OF_LINE,)
    first, *others = parts[2 * begins : len(parts) - ends] or [tree]
    chars = [members(part.edges) for part in others if isinstance(part, Characters)]
    found = _run(first)
    if found is None or [len(codes) for codes in chars] != [1] * len(others):
        return None
    edges = code_points.difference(found[0], code_points.of_runs([SURROGATES]))
    runs = tuple((first, end - 1) for first, end in edges.reshape(-1, 2).tolist())
    string = "".join(chr(codes[0]) for codes in chars)
    edit = Edit(RUNS, begins, ends, content, string, runs, found[1])
    return edit if edit.is_apart else None


def _run(node: Node) -> tuple[code_points.Set, int] | None:
    """The characters and the minimum length of a run, if a pattern matches greedy runs of these characters; otherwise None."""
    if isinstance(node, Atomic):
        return _run(node.body)
    if isinstance(node, Sequence) and len(node.parts) == 1:
        return _run(node.parts[0])
    if isinstance(node, Repeat) and isinstance(node.body, Characters) and node.most is None and node.least and not node.lazy:
        return node.body.edges, node.least
    return None
