"""Convert the normalizer of a SentencePiece model to components: a charsmap, and the rules for spaces.

User-defined pieces are found in raw text and are not normalized, so the charsmap maps each piece to itself. At the start of a
user-defined piece, no other string is replaced. The models find these pieces again in normalized text.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from fst.compile.text.components import Component
from fst.compile.text.edits.charsmaps import of_bytes
from fst.compile.text.edits.double_arrays import charsmap
from fst.errors import UnsupportedError, quoted
from fst.text.charsmap import KEEPING, LONGEST, PIECEWISE, Charsmap
from fst.text.edits import SPACES as SPACES_EDIT
from fst.text.edits import Edit
from fst.text.whitespace import SPACE

SYMBOL = "▁"
CHARSMAP, SPACES = KINDS = "SentencePieceCharsmap", "SentencePieceSpaces"
WORD_CUTS = {"type": "Split", "pattern": {"String": SYMBOL}, "behavior": "MergedWithNext", "invert": False}  # for models of the kind word
DEFAULTS = {"add_dummy_prefix": True, "remove_extra_whitespaces": True, "escape_whitespaces": True, "is_suffix": False}  # of ``spm_train``
MAX_PREFIXES = 64  # `sentencepiece` finds at most this number of user-defined pieces at a position


def components(
    data: bytes,
    own: Sequence[str],
    *,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    is_suffix: bool,
    are_found: bool,
) -> tuple[dict[str, Any], ...]:
    """The components that are equivalent to the normalizer of a model.

    Args:
        data: the bytes of the charsmap; empty if the model has no charsmap.
        own: the user-defined pieces.
        add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces, is_suffix: as in the model.
        are_found: whether the model finds user-defined pieces anywhere in normalized text.
    """
    _need_findable(own)
    given = of_bytes(data, LONGEST) if data else None
    if remove_extra_whitespaces:
        _need_single_spaces(own, given)
    parts: list[dict[str, Any]] = []
    found = _with_own(given, own, are_found)
    if found:
        parts.append({"type": CHARSMAP, "precompiled_charsmap": b64encode(found.data).decode(), "manner": found.manner})
    if add_dummy_prefix or remove_extra_whitespaces or found:
        behind = {"is_suffix": True} if is_suffix else {}
        flags = {"add_dummy_prefix": add_dummy_prefix, "remove_extra_whitespaces": remove_extra_whitespaces, **behind}
        parts.append({"type": SPACES, **flags, "symbol": SYMBOL if escape_whitespaces else SPACE})
    if escape_whitespaces:
        parts.append({"type": "Replace", "pattern": {"String": SPACE}, "content": SYMBOL})
    return tuple(parts)


def edit_of(part: Component) -> Edit | Charsmap:
    """The edit of a component; its type is one of `KINDS`."""
    if part["type"] == CHARSMAP:
        return of_bytes(b64decode(part["precompiled_charsmap"]), part["manner"])
    adds, is_suffix = part["add_dummy_prefix"], part.get("is_suffix", False)
    content = SPACE if adds and is_suffix else ""
    return Edit(SPACES_EDIT, left=adds and not is_suffix, right=part["remove_extra_whitespaces"], content=content, string=part["symbol"])


def _need_findable(own: Sequence[str]) -> None:
    """Refuse user-defined pieces if too many of them are prefixes of each other, because `sentencepiece` would find one at random."""
    begun: list[str] = []
    for piece in sorted(own):
        begun = [*takewhile(piece.startswith, begun), piece]
        if len(begun) > MAX_PREFIXES:
            raise UnsupportedError(f"more than {MAX_PREFIXES} user-defined pieces begin each other, the last with {quoted(piece)}")


def _need_single_spaces(own: Sequence[str], by: Charsmap | None) -> None:
    """Refuse two adjacent spaces in a piece or in the charsmap, because `sentencepiece` would keep both."""
    reason = "with remove_extra_whitespaces: of these sentencepiece keeps both"
    for piece in own:
        if SPACE * 2 in piece:
            raise UnsupportedError(f"the user-defined piece {quoted(piece)} has two adjacent spaces, {reason}")
    if by and (SPACE * 2).encode() in by.strings.texts:
        raise UnsupportedError(f"the charsmap has a text with two adjacent spaces, {reason}")


def _with_own(given: Charsmap | None, own: Sequence[str], are_found: bool) -> Charsmap | None:
    """A charsmap that does not change user-defined pieces; None if no charsmap is needed.

    Most user-defined pieces overlap no string of the charsmap, and the model finds them again in normalized text, so these pieces need no
    entry in the charsmap. A piece of one character has the same span with and without the charsmap.
    """
    chars, longer = {*"".join(own)}, [piece for piece in own if len(piece) > 1]
    firsts = {chr(code) for code in given.strings.characters.codes.tolist()} if given else set[str]()
    may_move = {SYMBOL, SPACE, *(given.strings.texts.decode() if given else "")}
    are_same = are_found and may_move.isdisjoint("".join(longer))
    if firsts.isdisjoint(chars) and (not longer or are_same):
        return replace(given, manner=PIECEWISE) if given else None
    kept = {piece: piece for piece in own}
    if not given:
        are_apart = all(may_move.isdisjoint(piece) or {*piece} == {SYMBOL} for piece in longer)
        return of_bytes(charsmap(kept), KEEPING if are_found and are_apart else PIECEWISE)
    try:
        return of_bytes(charsmap(kept, given.strings), PIECEWISE)
    except ValueError as error:
        raise UnsupportedError(f"user-defined pieces, such as {quoted(own[0])}, beside {error}") from None
