"""Fold normalizers, the canonical ordering of marks, and pre-tokenizers into one alphabet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import Ints, Map, Symbols, closed_up, counts, union
from fst.compile.text.components import Component
from fst.compile.text.compositions import composition, seen_in_spans
from fst.compile.text.folding import Normalization, normalization, ordered
from fst.compile.text.pre_tokenizers import Splits
from fst.errors import UnsupportedError
from fst.text.alphabet import BREAK, ISOLATED, Alphabet
from fst.text.normalizer import EDGE
from fst.text.reading import MAX_LISTED

Ranks = NDArray[np.uint8]
KEPT_PIPELINES = 8  # number of cached results, a few MB each; most vocabularies have the same pipeline as an earlier vocabulary


class Folded(NamedTuple):
    """The combined effect of normalizers and pre-tokenizers."""

    normalization: Normalization  # the normalizers alone
    alphabet: Alphabet  # normalizers and pre-tokenizers together, without added tokens
    is_whole: bool = True  # whether the alphabet expresses any texts; otherwise all texts are normalized step by step


def alphabet(normalizers: Sequence[Component], pre_tokenizers: Sequence[Component], specials: Mapping[str, int]) -> Alphabet:
    """The alphabet of a pipeline, with the added tokens that are cut out of raw text.

    Examples:
        >>> list(alphabet([{"type": "NFD"}, {"type": "StripAccents"}], [{"type": "WhitespaceSplit"}], {}).run("déjà vu"))
        ['deja', 'vu']
    """
    return replace(folded(normalizers, pre_tokenizers).alphabet, specials=specials)


def folded(normalizers: Sequence[Component], pre_tokenizers: Sequence[Component], *, is_cut: bool = False) -> Folded:
    """Combine components into one map of code points. All vocabularies with the same components share the result. `normalizers`: from
    `fst.compile.text.folding.components`. `pre_tokenizers`: from `fst.compile.text.pre_tokenizers.components`. `is_cut`: whether splitters
    cut texts instead of the pre-tokenizers.

    A pipeline that no alphabet expresses gets the alphabet of its normalized text.
    """
    return _folded(json.dumps([[*normalizers], [*pre_tokenizers]]), is_cut)


@lru_cache(maxsize=KEPT_PIPELINES)
def _folded(described: str, is_cut: bool) -> Folded:
    normalizers, pre_tokenizers = json.loads(described)
    if not is_cut:
        with suppress(UnsupportedError):
            return _combined(normalizers, pre_tokenizers)
    return Folded(normalization(()), of_normalized(pre_tokenizers, is_cut=is_cut), is_whole=False)


def _combined(normalizers: Sequence[Component], pre_tokenizers: Sequence[Component]) -> Folded:
    normal, split = normalization(normalizers), Splits(pre_tokenizers).map()
    _need_splits_at_white_space(normal, split)
    first, last = normal.first, normal.second.then(split)
    composed = None
    if normal.composed:
        composed, first = composition(normal)
    codes = union(first.sources, last.sources, np.flatnonzero(reference.orders()))
    rows = first.apply(codes)
    ranks, passes = np.zeros(rows.shape, np.uint8), np.zeros(len(codes), bool)
    if normal.ordered:
        rows, ranks, passes = ordered(rows)
    dropped = counts(last.apply(rows[:, 0]) >= 0) == 0
    hidden = np.where(dropped, ranks[:, 0], 0)
    is_bare = dropped & (ranks[:, 0] == 0)
    rows, ranks = _mapped(rows, ranks, last)
    placed = seen_in_spans(normal, codes[is_bare & (ranks[:, 0] > 0)])
    rows, ranks = _settled(rows, ranks)
    ranks, hidden = _renumbered(ranks, hidden)
    rows = _isolated(rows)
    _need_capacity(codes, rows)
    return Folded(normal, Alphabet(codes, rows, ranks, passes & ranks.any(), hidden, {}, composed, placed))


def of_normalized(pre_tokenizers: Sequence[Component], *, is_cut: bool = False) -> Alphabet:
    """The alphabet of normalized text, which contains the effect of the pre-tokenizers only. The arguments are those of `folded`."""
    split = Map.to_lists({ord(EDGE): [BREAK]}) if is_cut else Splits(pre_tokenizers).map()
    rows, ranks = _settled(split.images, np.zeros(split.images.shape, np.uint8))
    none = np.zeros(len(rows), np.uint8)
    return Alphabet(split.sources, _isolated(rows), ranks, none.astype(bool), none)


def _need_splits_at_white_space(normal: Normalization, split: Map) -> None:
    """Refuse the normalizer Strip, unless words are split at all whitespace that it removes."""
    for since in normal.stripped:
        left = since.then(split).apply(reference.those("white"))
        if np.any((left >= 0) & (left != BREAK)):
            raise UnsupportedError("normalizer Strip without a pre_tokenizer that splits at all white space")


def _mapped(rows: Symbols, ranks: Ranks, by: Map) -> tuple[Symbols, Ranks]:
    """The images of symbols; in each image, all symbols get the rank of the source."""
    images = by.apply(rows)
    ranks = np.repeat(ranks, images.shape[2], axis=1)
    images, ranks = closed_up(images.reshape(ranks.shape), ranks)
    return images, ranks


def _settled(rows: Symbols, ranks: Ranks) -> tuple[Symbols, Ranks]:
    """Keep fences only at the ends of rows: inside a row, two equal adjacent fences cancel out, and all other fences become breaks."""
    fences = (rows > BREAK) & (rows < ISOLATED)
    if not fences.any():
        return rows, ranks
    meets = fences[:, 1:] & (rows[:, 1:] == rows[:, :-1])
    rows, ranks = closed_up(np.where(np.pad(meets, ((0, 0), (0, 1))) | np.pad(meets, ((0, 0), (1, 0))), -1, rows).astype(np.int32), ranks)
    present = rows >= 0
    inside = np.arange(rows.shape[1]) < counts(present)[:, None] - 1
    inside[:, 0] = False
    return np.where(inside & (rows > BREAK) & (rows < ISOLATED), BREAK, rows).astype(np.int32), ranks


def _renumbered(ranks: Ranks, hidden: Ranks) -> tuple[Ranks, Ranks]:
    """Number the ranks without gaps. All ranks become 0 if no symbol can move, which is true if all ranks are equal or no mark is left."""
    is_used = np.zeros(1 << 8, bool)
    is_used[0] = is_used[ranks] = is_used[hidden] = True
    used = np.flatnonzero(is_used)
    if len(used) < 3 or not ranks.any():
        return np.zeros_like(ranks), np.zeros_like(hidden)
    return np.searchsorted(used, ranks).astype(np.uint8), np.searchsorted(used, hidden).astype(np.uint8)


def _isolated(rows: Symbols) -> Symbols:
    """Write a character between two spaces as one isolated symbol, so that it takes one look-up."""
    if rows.shape[1] < 3:
        return rows
    first, inside, last, others = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:]
    alone = (first == BREAK) & (inside >= 0) & (inside < CODE_POINTS) & (last == BREAK) & (counts(others >= 0) == 0)
    isolated = np.full_like(rows, -1)
    isolated[:, 0] = inside + ISOLATED
    return np.where(alone[:, None], isolated, rows)


def _need_capacity(codes: Ints, rows: Symbols) -> None:
    """Refuse a character that becomes more symbols than a table allows."""
    symbols = counts(rows >= 0)
    if symbols.max(initial=0) > MAX_LISTED:
        code = int(codes[np.argmax(symbols)])
        raise UnsupportedError(f"U+{code:04X} becomes {symbols.max()} symbols: a table has room for {MAX_LISTED}")
