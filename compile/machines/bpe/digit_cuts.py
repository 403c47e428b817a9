"""Pre-tokenizers after ``ByteLevel``: they become a list of merges that join nothing across cuts, or splits of text.

`fst.pretokens.digit_cuts` defines the cuts of Digits. Without the merges across cuts, BPE gives a whole piece the tokens of its parts.
A Split of printable ASCII has the same matches in the text as in the letters for its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.patterns import code_points, parser
from fst.compile.patterns.tree import Characters, LookAhead, LookBehind, walk
from fst.compile.text.components import Component
from fst.errors import UnsupportedError, quoted
from fst.pretokens.digit_cuts import DIGITS, are_apart, kinds_of_bytes

PRINTABLE, ASCII_DIGITS = range(0x21, 0x7F), np.arange(0x30, 0x3A)  # PRINTABLE: characters that are their own letters


def without_cuts(model: BpeModel, parts: Sequence[Component]) -> BpeModel:
    """A model without the merges that join tokens across a cut.

    Args:
        model: the model.
        parts: the pre-tokenizers, in the form of `fst.compile.pretokens.splits`.

    Raises:
        UnsupportedError: the tokens of a piece do not depend on merges alone.
    """
    kinds = kinds_of_bytes(parts)
    if not len(kinds):
        return model
    beside = {"ignore_merges": model.ignore_merges, "affixes": bool(model.affixes), "missing bytes": bool(model.missing)}
    found = [name for name, is_there in beside.items() if is_there]
    if found:
        raise UnsupportedError(f"pre_tokenizer Digits after ByteLevel, where it splits bytes, and {' and '.join(found)}")
    merges = [(left, right) for left, right in model.merges or () if not are_apart(kinds[left[-1]], kinds[right[0]])]
    return replace(model, merges=merges)


def splits_of_text(parts: Sequence[Component]) -> Iterator[Component]:
    """The splits of text that are equal to splits of the letters for its bytes.

    Args:
        parts: the pre-tokenizers after ``ByteLevel``, in the form of `fst.compile.pretokens.splits`.

    Raises:
        UnsupportedError: a Split may find other matches in the text.
    """
    has_cuts = False
    for part in parts:
        if part["type"] == DIGITS:
            has_cuts = True
            continue
        ((form, pattern),) = part["pattern"].items()
        nodes = [*walk(parser.literal(pattern) if form == "String" else parser.parse(pattern, "oniguruma"))]
        sets = [node.edges for node in nodes if isinstance(node, Characters)]
        is_same = all(len(edges) and edges[0] >= PRINTABLE.start and edges[-1] <= PRINTABLE.stop for edges in sets)
        if not is_same or any(isinstance(node, LookAhead | LookBehind) for node in nodes):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(pattern)} after ByteLevel, unless it is of ASCII characters alone")
        has_digits, has_others = (any(map(find, sets)) for find in (_has_digits, _has_others))
        if has_cuts and (part["behavior"] == "Removed" or (has_digits and has_others)):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(pattern)} after Digits after ByteLevel: its matches may be cut")
        yield part


def _has_digits(edges: code_points.Set) -> bool:
    return bool(code_points.has(edges, ASCII_DIGITS).any())


def _has_others(edges: code_points.Set) -> bool:
    return bool(edges[0] < ASCII_DIGITS[0] or edges[-1] > ASCII_DIGITS[-1] + 1)
