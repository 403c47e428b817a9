r"""Rearrange normalizers in three parts, as `fst.text.normalizer.Normalizer` requires: edits, maps of characters, and further edits.

A `Replace` of a string or of runs that is between maps is moved after all later maps, or before all earlier maps. It may be moved past maps
that do not produce, change or drop the replaced text, if they map the new content in every context as they map it alone.

Example: (NFC, ``\s+`` → ``_``, Lowercase) has the same effect as (NFC, Lowercase, ``\s+`` → ``_``), because Lowercase does not change
    whitespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import Map, counts
from fst.compile.text.components import Component
from fst.compile.text.compositions import firsts, seconds
from fst.compile.text.edits.components import edit_of, is_edit
from fst.compile.text.folding import normalization
from fst.errors import UnsupportedError
from fst.text.edits import REPLACE, RUNS, Edit

Parts = Sequence[Component]


def in_three(normalizers: Parts) -> tuple[Parts, Parts, Parts]:
    """Rearrange normalizers, without changing the result, into three parts: edits; normalizers that map characters or order marks; edits.

    Examples:
        >>> spaces = {"type": "Replace", "pattern": {"Regex": " +"}, "content": "A"}
        >>> before, maps, after = in_three([{"type": "NFC"}, spaces, {"type": "Lowercase"}])
        >>> len(before), [part["type"] for part in maps], [part["content"] for part in after]
        (0, ['NFC', 'Lowercase'], ['a'])
    """
    maps, before, after = [part for part in normalizers if not is_edit(part)], list[Component](), list[Component]()
    preceding = len(maps)  # the number of maps before the part
    for part in reversed(normalizers):
        if not is_edit(part):
            preceding -= 1
        elif (preceding or not maps) and not before and (moved := _passing(part, maps[preceding:], goes_after=True)):
            after.insert(0, moved)
        elif moved := _passing(part, maps[:preceding], goes_after=False):
            before.insert(0, moved)
        else:
            neighbours = f"{maps[preceding - 1]['type']} and {maps[preceding]['type']}"
            raise UnsupportedError(f"normalizer {part['type']} between {neighbours}, where the order of the three counts")
    return before, maps, after


def _passing(part: Component, maps: Parts, *, goes_after: bool) -> Component | None:
    """Move an edit from one side of some maps to the other. Return the edit that is equivalent after the move; None if there is none."""
    if not maps:
        return part
    edit, normal = edit_of(part), normalization(maps)
    if not isinstance(edit, Edit) or edit.kind not in (REPLACE, RUNS):
        return None
    taken, content = _taken(edit), np.array([*map(ord, edit.content)], np.int64)
    decomposed = _present(normal.first.apply(content))
    mapped = _present(normal.second.apply(decomposed))
    leave = all(_leaves(by, taken, is_string=edit.kind == REPLACE) for by in (normal.first, normal.second))
    if not leave or (normal.ordered and not (len(content) and _are_apart(content, decomposed, np.flatnonzero(taken)))):
        return None
    if goes_after:
        return {**part, "content": "".join(map(chr, mapped.tolist()))}
    return part if np.array_equal(mapped, content) else None


def _taken(edit: Edit) -> NDArray[np.bool_]:
    """bool[0x110000], whether an edit may replace the character."""
    taken = np.zeros(CODE_POINTS, np.bool_)
    taken[[*map(ord, edit.string)]] = True
    for first, last in edit.runs:
        taken[first : last + 1] = True
    return taken


def _leaves(by: Map, taken: NDArray[np.bool_], *, is_string: bool) -> bool:
    """Whether a map keeps `taken` characters, which an edit may replace, separate from all other characters.

    The map must turn each taken character into one taken character (for a string: into itself), and each other character into one or more
    characters that are not taken.
    """
    are_taken, sizes = taken[by.sources], counts(by.images >= 0)
    makes = counts((by.images >= 0) & taken[by.images]) > 0
    keep = (sizes == 1) & ((by.images[:, 0] == by.sources) | (makes & (not is_string)))
    return bool(np.where(are_taken, keep, (sizes > 0) & ~makes).all())


def _present(images: NDArray[Any]) -> NDArray[np.int64]:
    """The symbols of images, without padding."""
    return images[images >= 0].astype(np.int64)


def _are_apart(*codes: NDArray[np.int64]) -> bool:
    """Whether ordering never moves the characters and they never compose, so that the texts before and after them are normalized
    separately.
    """
    joined = reference.orders() > 0
    joined[firsts()] = joined[seconds()] = True
    return not joined[np.concatenate(codes)].any()
