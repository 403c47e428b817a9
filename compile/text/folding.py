"""Combine a sequence of normalizers into a map, one canonical ordering, and a second map.

Most normalizers are maps of characters, and maps can be composed. However, canonical ordering, which sorts the marks after each letter, and
composition depend on adjacent characters. Decomposition is a map followed by canonical ordering. By four rules, only one ordering remains:

- An ordering has no effect if another ordering follows, and the maps between them keep the position of each mark in canonical ordering,
  because the later stable sort sorts everything.
- Composition has no effect if an ordering follows and the maps in between treat each composed character like its parts. (The ordering puts
  the marks of the parts back in order.)
- Offsets depend on every ordering, even on an ordering that does not change the text, so `fst.text.normalizer.NormalizerSteps` applies all
  orderings in sequence.
- Strip has no effect if words are split at whitespace.

All other sequences are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.patterns import parser
from fst.compile.patterns.code_points import members, union
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat
from fst.compile.text.characters import llama_cpp, reference
from fst.compile.text.characters.maps import Map, Symbols, counts
from fst.compile.text.components import FLAG, FLAG_OR_NULL, MAPPING, STRING, Component, Fields, flat
from fst.errors import UnsupportedError, quoted
from fst.tables.header import LLAMA_CPP_BERT

KEPT_PATTERNS = 64  # number of patterns whose characters are kept: each pattern is asked for several times in a row
MOST = 64  # maximum number of characters in the sets of a pattern


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
    found = _members(parts)
    if found is None:
        return []
    chars = [char for char in map(chr, found[: MOST + 1].tolist()) if char != content]
    return chars if len(found) <= MOST and not {*chars} & {*content} else []


def _members(parts: Sequence[Node]) -> NDArray[np.int64] | None:
    """The characters of a choice of sets; None if some alternative is not a set."""
    sets = [part.edges for part in parts if isinstance(part, Characters)]
    return members(union(*sets)) if sets and len(sets) == len(parts) else None


KNOWN: Fields = {
    "BertNormalizer": {"lowercase": FLAG, "strip_accents": FLAG_OR_NULL, "clean_text": FLAG, "handle_chinese_chars": FLAG},
    "NFC": {},
    "NFD": {},
    "NFKC": {},
    "NFKD": {},
    "Nmt": {},
    "Lowercase": {},
    "StripAccents": {},
    "Strip": {"strip_left": FLAG, "strip_right": FLAG},
    "Replace": {"pattern": MAPPING, "content": STRING},
    LLAMA_CPP_BERT: {"lowercase": FLAG, "strip_accents": FLAG},  # only in documents of GGUF models
}
MAX_ORDERINGS = 16  # maximum number of normalizers that order marks, because compiling each takes up to half a second
# The types of normalizers for BPE and Unigram. Messages name unsupported uses of Prepend and Precompiled.
WITH_PREPEND: Fields = {**KNOWN, "Prepend": {"prepend": STRING}, "Precompiled": {"precompiled_charsmap": STRING}}


def components(component: Component | None, known: Fields = KNOWN) -> tuple[dict[str, Any], ...]:
    """The normalizers of a ``tokenizer.json``, or of None, in order. `known`: the supported types and their fields."""
    return tuple(chain.from_iterable(map(unfolded, flat(component, "normalizer", "normalizers", known))))


@dataclass(frozen=True, eq=False)
class Normalization:
    """The effect of normalizers on a text: the map `first`, canonical ordering if `ordered`, and the map `second`."""

    first: Map
    ordered: bool
    second: Map
    # the normalizer that composes the text after the ordering; None without composition, or if another ordering follows
    composed: str | None = None
    before: Map = field(default_factory=Map.identity)  # the map before this normalizer
    # for each ordering, even without effect: the map since the previous ordering, and the normalizer, NFC, NFD, NFKC or NFKD. The map after
    # the last ordering is `second`.
    steps: tuple[tuple[Map, str], ...] = ()
    stripped: tuple[Map, ...] = ()  # the map after each Strip

    def mapped(self, by: Map) -> Normalization:
        """Add a map after these normalizers."""
        stripped = tuple(since.then(by) for since in self.stripped)
        if self.ordered:
            return replace(self, second=self.second.then(by), stripped=stripped)
        return replace(self, first=self.first.then(by), stripped=stripped)

    def normalized(self, name: str) -> Normalization:
        """Add NFC, NFD, NFKC or NFKD after these normalizers."""
        if len(self.steps) == MAX_ORDERINGS:
            raise UnsupportedError(f"more than {MAX_ORDERINGS} normalizers that order marks, such as NFD")
        step = self._ordered(decomposition(name), (self.second if self.ordered else self.first, name))
        return replace(step, composed=name, before=self.first.then(self.second)) if name.endswith("C") else step

    def _ordered(self, by: Map, step: tuple[Map, str]) -> Normalization:
        ordered = replace(self.mapped(by), ordered=True, composed=None, steps=(*self.steps, step))
        if not self.ordered:
            return ordered
        self._need_same_places(ordered.second)
        if self.composed:
            self._need_same_composed(self.composed, ordered.second)
        return replace(ordered, first=self.first.then(ordered.second), second=Map.identity())

    def _need_same_places(self, since: Map) -> None:
        """Refuse maps between two orderings, unless the first ordering has no effect on the final text."""
        orders = reference.orders()
        marks = np.flatnonzero(orders)
        images = since.apply(marks)
        if np.any((images >= 0) & (orders[images] != orders[marks][:, None])):
            raise UnsupportedError("normalizers that order marks, then change them, and then order them again")

    def _need_same_composed(self, name: str, since: Map) -> None:
        """Refuse maps between a composition and an ordering, unless the composition has no effect on the final text."""
        decomposition = reference.canonical()
        whole, parts = since.apply(decomposition.sources), decomposition.then(since).apply(decomposition.sources)
        width = max(whole.shape[1], parts.shape[1])
        if not np.array_equal(_in_order(_padded(whole, width))[0], _in_order(_padded(parts, width))[0]):
            raise UnsupportedError(f"normalizer {name} before a normalizer that treats composed letters unlike their parts")


def decomposition(name: str) -> Map:
    """The decomposition of a normalizer, canonical or for compatibility."""
    return reference.compatible() if "K" in name else reference.canonical()


def _padded(rows: Symbols, width: int) -> Symbols:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=-1)


def normalization(parts: Sequence[Component]) -> Normalization:
    """The effect of a sequence of normalizers. `parts`: from `components`."""
    result = Normalization(Map.identity(), False, Map.identity())
    for part in parts:
        result = _then(result, part)
    return result


def _then(before: Normalization, part: Component) -> Normalization:
    kind = part["type"]
    if kind == "BertNormalizer":
        return _then_bert(before, part)
    if kind == "Strip":
        strip = part["strip_left"] or part["strip_right"]
        return replace(before, stripped=(*before.stripped, Map.identity())) if strip else before
    if kind == "Nmt":
        return before.mapped(reference.nmt())
    if kind == "Lowercase":
        return before.mapped(reference.lower())
    if kind == "StripAccents":
        return before.mapped(reference.dropped("combining"))
    if kind == "Replace":
        return before.mapped(_replacement(part))
    if kind in ("Prepend", "Precompiled"):
        raise UnsupportedError(f"normalizer {kind}: expected maps of characters, orderings and compositions")
    if kind == LLAMA_CPP_BERT:
        return before.mapped(llama_cpp.bert(part["lowercase"], part["strip_accents"]))
    return before.normalized(kind)


def strips(part: Component) -> bool:
    """Whether a BertNormalizer strips accents; by default, it does if it converts to lower case."""
    return part["type"] == "BertNormalizer" and bool(part["lowercase"] if part["strip_accents"] is None else part["strip_accents"])


def _then_bert(before: Normalization, part: Component) -> Normalization:
    result = before
    if part["clean_text"]:
        result = result.mapped(reference.clean())
    if part["handle_chinese_chars"]:
        result = result.mapped(reference.spaced())
    if strips(part):
        result = result.normalized("NFD").mapped(reference.dropped("nonspacing"))
    return result.mapped(reference.lower()) if part["lowercase"] else result


def _replacement(part: Component) -> Map:
    codes = characters_of(part["pattern"])
    if codes is None:
        raise UnsupportedError(f"normalizer Replace of {quoted(part['pattern'])}: only single characters can be replaced")
    return Map.constant(codes, [*map(ord, part["content"])])


def characters_of(pattern: Component) -> NDArray[np.int64] | None:
    r"""The code points that a `Replace` replaces one by one; None if its pattern is not a character or a set of characters.

    Examples:
        >>> characters_of({"String": "a"}), characters_of({"Regex": "[a-c]|\\d"})[:4], characters_of({"String": "ab"})
        (array([97]), array([48, 49, 50, 51]), None)
    """
    string, regex = pattern.get("String"), pattern.get("Regex")
    if isinstance(string, str) and len(string) == 1:
        return np.array([ord(string)], np.int64)
    return _characters_of_regex(regex) if isinstance(regex, str) else None


@lru_cache(maxsize=KEPT_PATTERNS)
def _characters_of_regex(regex: str) -> NDArray[np.int64] | None:
    tree = parser.parse(regex)
    found = _members(tree.parts if isinstance(tree, Choice) else (tree,))
    if found is not None:
        found.setflags(write=False)  # later calls return the same array
    return found


def ordered(rows: Symbols) -> tuple[Symbols, NDArray[np.uint8], NDArray[np.bool_]]:
    """Order the symbols of each character, as far as this order does not depend on adjacent characters. Returns the symbols; the rank of
    each symbol; and for each character, whether all its symbols may move, so that the character does not end a run of marks. The rank is a
    position in canonical ordering, or 0 if symbols of adjacent characters cannot move past the symbol.
    """
    rows, places, after = _in_order(rows)
    last = after.max(axis=1, keepdims=True)
    if np.any((places > 0) & (after == 0) & (last > 0)):
        raise UnsupportedError("a normalizer that replaces a character by marks, followed by something else")
    return rows, np.where(after == last, places, 0).astype(np.uint8), last[:, 0] == 0


def _in_order(rows: Symbols) -> tuple[Symbols, NDArray[np.uint8], NDArray[np.intp]]:
    """The rows after canonical ordering; the rank by which each symbol is sorted; and the number of letters up to each symbol."""
    present = rows >= 0
    places = np.where(present, reference.orders()[rows], 0)
    after = (present & (places == 0)).cumsum(axis=1)
    marked = np.flatnonzero(counts(places > 0))  # most rows contain no marks, so they are already in order
    keys = np.where(present[marked], after[marked] << 8 | places[marked], np.iinfo(np.intp).max)
    order = np.argsort(keys, axis=1, kind="stable")
    rows = rows.copy()
    for array in (rows, places, after):
        array[marked] = np.take_along_axis(array[marked], order, axis=1)
    return rows, places, after
