"""Convert a split that removes a string of several characters to a normalizer and a split that removes one character.

A kernel drops the pre-tokens that begin with certain characters, so it cannot drop a string. But a normalizer can replace the string by a
*marker*, a character that no normalized text contains. Ω (U+2126) is such a character after NFC, NFD, NFKC and NFKD, which turn it into the
Greek letter. Nougat's tokenizer removes ``SPL1T-TH1S-Pl3A5E`` after NFKC.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from fst.compile.text.components import Component
from fst.tables.header import AddedTokens

MARKER = "\u2126"
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
KEEP_APART = (*FORMS, "Lowercase", "StripAccents", "Strip")  # normalizers that never produce the marker

Parts = Sequence[Component]


def marked(normalizers: Parts, splits: Parts, added: AddedTokens) -> tuple[Parts, Parts]:
    """The normalizers and the splits with a marker in place of the string that the first split removes; both as they are if the split is
    another one, if normalized texts may contain the marker, or if added tokens of normalized text may contain a part of the string.

    Examples:
        >>> from fst.tables.header import AddedTokens
        >>> split = {"type": "Split", "pattern": {"String": "ab"}, "behavior": "Removed", "invert": False}
        >>> found, splits = marked([{"type": "NFC"}], [split], AddedTokens({}, {}, None, [], []))
        >>> found[1]["pattern"], found[1]["content"] == splits[0]["pattern"]["String"] == MARKER
        ({'String': 'ab'}, True)
    """
    string = _removed(splits[0]) if splits else ""
    late = [*takewhile(lambda part: part["type"] in KEEP_APART, reversed(normalizers))]
    is_free = any(part["type"] in FORMS for part in late)
    if not string or not is_free or any(token.normalized for token in added.contextual.values()):
        return normalizers, splits
    marker = {"type": "Replace", "pattern": {"String": string}, "content": MARKER}
    return [*normalizers, marker], [{**splits[0], "pattern": {"String": MARKER}}, *splits[1:]]


def _removed(split: Component) -> str:
    """The string of several characters that a split removes; "" for other splits."""
    string = split.get("pattern", {}).get("String", "")
    is_removed = split["type"] == "Split" and split["behavior"] == "Removed" and not split["invert"]
    return string if is_removed and len(string) > 1 else ""
