"""Combine normalizers, added tokens and ``add_prefix_space`` into a `fst.text.normalizer.Normalizer`, for machines over bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS, WHITE_SPACE
from fst.compile.text.added_tokens import runs
from fst.compile.text.alphabets import KEPT_PIPELINES
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import Ints, Map, union
from fst.compile.text.components import Component
from fst.compile.text.compositions import images_of, seconds, step_of
from fst.compile.text.edits.components import edit_of
from fst.compile.text.edits.order import in_three
from fst.compile.text.folding import Normalization, decomposition, normalization, strips
from fst.errors import UnsupportedError, listed, quoted
from fst.tables.header import AddedTokens, Context, ContextualToken
from fst.text.arguments import MAX_EXPANSION, expansion_bound
from fst.text.composition import HANGUL, SYLLABLES, Composition
from fst.text.normalizer import NO_CUTS, NOTHING, Normalizer, NormalizerSteps, without_context
from fst.text.whitespace import NO_WHITESPACE, Whitespace


def normalizer(normalizers: Sequence[Component], whitespace: Whitespace) -> Normalizer:
    """Build the `Normalizer` of a text pipeline.

    Args:
        normalizers: from `fst.compile.text.folding.components`.
        whitespace: how texts spell spaces, for example as ▁.
    """
    if sum(part["type"] == "Precompiled" for part in normalizers) > 1:
        raise UnsupportedError("several normalizers Precompiled")
    before, maps, after = in_three(normalizers)
    normal = normalization(maps)
    if len(normal.steps) > 1:
        names = [part["type"] for part in maps if _orders(part)]
        raise UnsupportedError(f"normalizers {listed(names)}, each of which orders marks; one is supported")
    last = images_of(normal.second if normal.steps else normal.first)
    composition = _composition(normal) if normal.steps else None
    by = Normalizer(composition, last, whitespace, NO_CUTS, tuple(map(edit_of, before)), tuple(map(edit_of, after)))
    if expansion_bound(by) > MAX_EXPANSION:
        raise UnsupportedError(f"normalizers may make more than {MAX_EXPANSION} bytes of one; at most {MAX_EXPANSION} are possible")
    return by


def steps_of(normalizers: Sequence[Component]) -> NormalizerSteps:
    """Group normalizers into the fewest steps, for a text pipeline that an alphabet cannot fully express."""
    return _steps(json.dumps([*normalizers]))


@lru_cache(maxsize=KEPT_PIPELINES)
def _steps(described: str) -> NormalizerSteps:
    groups: list[list[Component]] = [[]]
    for part in json.loads(described):
        if any(_must_follow(before, part) for before in groups[-1]):
            groups.append([])
        groups[-1].append(part)
    return NormalizerSteps([normalizer(group, NO_WHITESPACE) for group in groups])


def _must_follow(before: Component, part: Component) -> bool:
    """Whether two normalizers cannot share a step; `part` comes at some point after `before`."""
    strips_between = before["type"] == "Strip" and part["type"] != "Strip"
    return strips_between or (_orders(before) and _orders(part))


def _orders(part: Component) -> bool:
    """Whether a normalizer orders marks."""
    return part["type"].startswith("NF") or strips(part)


def told_apart(added: AddedTokens, by: Normalizer, *, are_normal: bool = False) -> tuple[AddedTokens, Normalizer | None]:
    """Divide added tokens into those that are found in raw text and those that the `Normalizer` finds.

    Args:
        added: the tokens.
        by: the `Normalizer` of the pipeline.
        are_normal: whether the tokens of normalized text are given in their normalized form.

    Returns:
        The tokens; and `by`, or None if texts need no normalizer.
    """
    contextual = {**added.contextual}
    if not are_normal:
        contextual = {content: replace(token, decoded=_decoded(by, content, token)) for content, token in contextual.items()}
    _need_different(contextual)
    _need_own_white_space(contextual)
    free = without_context(replace(added, contextual=contextual))
    # A match of a token of normalized text may decide whether an adjacent token is found. So either all tokens of normalized text are
    # searched for in raw text, or none.
    are_early = (
        by == NOTHING
        and _has_own_white_space(contextual)
        and all(content in free for content, token in contextual.items() if token.normalized)
    )
    raw = {content for content, token in contextual.items() if are_early or not token.normalized}
    specials = {content: number for content, number in free.items() if content in raw or content in added.specials}
    left = {content: token for content, token in contextual.items() if content not in specials}
    context = _context() if any(token.single_word for token in left.values()) else None
    normalized = tuple(sorted(token.id for content, token in contextual.items() if token.normalized and content in specials))
    found = replace(added, specials=specials, contextual=left, context=context, normalized=normalized)
    return found, None if by == NOTHING and not left else by


def _decoded(by: Normalizer, content: str, token: ContextualToken) -> str:
    """The spelling that the search for a token uses."""
    spelling, _ = by.normalized(content) if token.normalized else (content, [])
    if not spelling:
        raise UnsupportedError(f"added token {quoted(content)}: nothing is left of it in normalised text")
    return spelling


def _need_different(contextual: Mapping[str, ContextualToken]) -> None:
    """Refuse two tokens that are equal after normalization, because `tokenizers` finds one of the two at random."""
    first: dict[str, str] = {}
    for content, token in contextual.items():
        if token.normalized and first.setdefault(token.decoded, content) != content:
            both = f"{quoted(first[token.decoded])} and {quoted(content)}"
            raise UnsupportedError(f"added tokens {both}, which are equal once normalised: leave one out")


def _need_own_white_space(contextual: Mapping[str, ContextualToken]) -> None:
    """Refuse added tokens that may both include the same whitespace: one token has ``rstrip``; the other has ``lstrip`` and begins with
    whitespace.
    """
    takes = {token.normalized for token in contextual.values() if token.rstrip}
    for content, token in contextual.items():
        if token.lstrip and token.normalized in takes and token.decoded[0] in WHITE_SPACE:
            what = f"added token {quoted(content)} has lstrip and begins with whitespace"
            raise UnsupportedError(f"{what}, which a token with rstrip may include")


def _has_own_white_space(contextual: Mapping[str, ContextualToken]) -> bool:
    """Whether tokens of raw text can never include whitespace that begins or ends a token of normalized text."""
    raw, normalized = ([token for token in contextual.values() if token.normalized is flag] for flag in (False, True))
    is_before = any(token.lstrip for token in raw) and any(token.decoded[-1] in WHITE_SPACE for token in normalized)
    is_behind = any(token.rstrip for token in raw) and any(token.decoded[0] in WHITE_SPACE for token in normalized)
    return not is_before and not is_behind


def _context() -> Context:
    """The context of tokens: the characters that are parts of words."""
    is_word = np.zeros(CODE_POINTS, bool)
    is_word[reference.those("word")] = True
    return Context(word=runs(is_word), begins_word=[], ends_word=[], spaced=[], mixed=[])


def _composition(normal: Normalization) -> Composition:
    """The normalizers up to the normalizer that orders marks or composes."""
    ((before, name),) = normal.steps
    suspects = union(before.sources, _suspects(name))
    return replace(step_of(before, name), suspects=frozenset(suspects[(suspects < 0xD800) | (suspects >= 0xE000)].tolist()))


@cache
def _suspects(name: str) -> Ints:
    """All characters that a normalizer which orders marks or composes changes, and all characters that may change the character before
    them: marks, and second parts of composed characters.
    """
    alone, parts = step_of(Map.to_lists({}), name), decomposition(name)
    marks = np.flatnonzero(reference.orders())
    if not alone.pairs:
        return union(marks, parts.sources)
    follow = union(marks, seconds())
    following = np.zeros(CODE_POINTS + 1, bool)
    following[follow] = True
    # Syllables of Hangul compose again after they are decomposed. They are 11,172 of the 13,232 characters that decompose.
    sources = np.setdiff1d(parts.sources, np.arange(HANGUL, HANGUL + SYLLABLES))
    images = zip(sources.tolist(), parts.apply(sources)[:, 0].tolist(), strict=True)
    changed = [source for source, first in images if _changes(alone, source, first, following)]
    return union(follow, np.array(changed, np.int64))


def _changes(found: Composition, source: int, first: int, following: NDArray[np.bool_]) -> bool:
    """Whether a character whose image begins with `first` changes even without characters next to it, or may change the character before
    it.
    """
    return first < 0 or bool(following[first]) or found.apply(chr(source))[0] != chr(source)
