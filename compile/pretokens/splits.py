"""Rewrite the pre-tokenizers of byte-level BPE as splits by patterns and a conversion of each pre-token to bytes.

The result is a list of these components:

- ``{"type": "Split", "pattern": {"Regex": …} or {"String": …}, "behavior": …, "invert": …}``, as in a ``tokenizer.json``. ``"dialect":
  "fancy-regex"`` marks the patterns of tiktoken; all other patterns are Oniguruma's.
- ``{"type": "UnicodeScripts", "half": …}``, see `fst.compile.pretokens.scripts`.
- ``{"type": "PrefixSpace"}``: each part of the text gets a leading space, unless it begins with a space or is empty. (This is ByteLevel's
  ``add_prefix_space``, which is applied before ByteLevel's pattern.)
- ``{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}``, a component of every list.
- After it, pre-tokenizers that split bytes: ``{"type": "Digits", "individual_digits": …}``, and Splits by ASCII characters.
"""

from __future__ import annotations

from typing import Any

from fst.compile.pretokens.scripts import COLUMNS, ROWS
from fst.compile.text import pattern_splits, pre_tokenizers
from fst.compile.text.characters import reference
from fst.compile.text.components import FLAG, FLAG_OR_NULL, Component, Fields, flat
from fst.compile.text.pre_tokenizers import FIXED, SCRIPTS
from fst.errors import UnsupportedError, quoted
from fst.pretokens.header import PREFIX_SPACE

KNOWN: Fields = {
    **pre_tokenizers.BY_PATTERNS,
    "ByteLevel": {"add_prefix_space": FLAG, "trim_offsets": FLAG, "use_regex": FLAG_OR_NULL},
}
Pattern = str

GPT2: Pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"  # ByteLevel's pattern in `tokenizers`
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}

Parts = tuple[dict[str, Any], ...]


def components(component: Component | None) -> Parts:
    """Rewrite the pre-tokenizers of a ``tokenizer.json`` in the form of this module.

    Examples:
        >>> [part["type"] for part in components({"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True})]
        ['PrefixSpace', 'Split', 'ByteLevel']
    """
    parts = flat(component, "pre_tokenizer", "pretokenizers", KNOWN)
    kinds = [part["type"] for part in parts]
    if "ByteLevel" not in kinds:
        raise UnsupportedError("model BPE without a pre_tokenizer ByteLevel: only byte-level BPE can be compiled")
    count = kinds.index("ByteLevel") + 1
    return (*(step for part in parts[:count] for step in steps(part)), *map(_of_bytes, parts[count:]))


def _of_bytes(part: Component) -> dict[str, Any]:
    """Rewrite a pre-tokenizer after ByteLevel in the form of this module."""
    if part["type"] == "Digits":
        return dict(part)
    if part["type"] != "Split":
        raise UnsupportedError(f"pre_tokenizer {part['type']} after ByteLevel, where it would split bytes: only Digits or Split may follow")
    return _checked(part)


def tiktoken_split(pattern: Pattern) -> dict[str, Any]:
    """The split of `tiktoken`: pre-tokens are the matches of a pattern."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True, "dialect": "fancy-regex"}


def steps(part: Component) -> Parts:
    """Rewrite one pre-tokenizer of a ``tokenizer.json`` in the form of this module."""
    kind = part["type"]
    if kind == "ByteLevel":
        prefixed = (PREFIX_SPACE,) if part["add_prefix_space"] else ()
        split = () if part["use_regex"] is False else (_split(GPT2),)
        return (*prefixed, *split, BYTES)
    if pattern_splits.is_pattern(part):
        return (_checked(part),)
    if kind == SCRIPTS:
        return ({**part},) if "half" in part else (ROWS, COLUMNS)
    if kind == FIXED:
        return (_split(f"{pattern_splits.EVERY}{{1,{_length(part)}}}"),)
    if kind == "Digits":
        return (_split(_class("numeric"), "Isolated" if part["individual_digits"] else "Contiguous"),)
    if kind == "Punctuation":
        return (_split(_class("punctuation"), _behavior(part)),)
    white = _split(_class("white"), "Removed")
    if kind == "Whitespace":
        return white, _split(_class("word"), "Contiguous")
    return (white, _split(_class("punctuation"))) if kind == "BertPreTokenizer" else (white,)


def _split(pattern: Pattern, behavior: str = "Isolated") -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}


def _checked(part: Component) -> dict[str, Any]:
    """Check the pattern and the behavior of a Split or CharDelimiterSplit, and return it as a Split."""
    split = pattern_splits.as_split(part)
    return {**split, "behavior": _behavior(split)}


def _length(part: Component) -> int:
    length: int = part["length"]
    if isinstance(length, bool) or length < 1:
        raise ValueError(f"length of pre_tokenizer FixedLength is {quoted(length)}; expected a positive integer")
    return length


def _behavior(part: Component) -> str:
    behavior = part["behavior"] or "Isolated"
    if behavior not in pre_tokenizers.BEHAVIORS:
        raise ValueError(f"pre_tokenizer {part['type']} has {quoted(behavior)} for its behavior")
    return behavior


def _class(name: str) -> Pattern:
    r"""A bracket expression of the characters with a property in `tokenizers`, whose Unicode version differs from that of ``\p{…}`` in
    patterns.
    """
    return "[" + "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last, _ in reference.properties()[name]) + "]"
