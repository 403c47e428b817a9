"""Combine normalizers, added tokens and ``add_prefix_space`` into a `fst.text.normalizer.Normalizer`, for machines over bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS, WHITE_SPACE
from fst.compile.text.added_tokens import need_sound, runs
from fst.compile.text.alphabets import KEPT_PIPELINES
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import Ints, Map, counts, union
from fst.compile.text.components import Component
from fst.compile.text.compositions import firsts, images_of, seconds, step_of
from fst.compile.text.edits.components import edit_of, is_edit
from fst.compile.text.folding import Normalization, decomposition, normalization, strips
from fst.errors import UnsupportedError, listed
from fst.tables.header import AddedTokens, Context, ContextualToken
from fst.text.arguments import MAX_EXPANSION, expansion_bound
from fst.text.composition import HANGUL, SYLLABLES, Composition
from fst.text.edits import REPLACE, RUNS, Edit
from fst.text.normalizer import MAX_STEPS, NO_CUTS, NOTHING, Normalizer, NormalizerSteps, without_context
from fst.text.splitter import Splitter
from fst.text.whitespace import FIRST, NO_WHITESPACE, Whitespace

Parts = Sequence[Component]
MAX_EARLIER = 8  # maximum number of steps, because compiling a step takes up to half a second for each of its normalizers


def in_three(normalizers: Parts) -> tuple[Parts, Parts, Parts]:
    r"""Rearrange normalizers, without changing the result, into three parts: edits; normalizers that map characters or order marks; edits.

    A `Replace` of a string or of runs that lies between maps is moved after all later maps or before all earlier maps. It may be moved past
    maps that do not produce, change or drop the replaced text, if the maps change the new text in every context as they change it alone. So
    (NFC, ``\s+`` → ``_``, Lowercase) becomes (NFC, Lowercase, ``\s+`` → ``_``), because Lowercase does not change whitespace.

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
    if not isinstance(edit, Edit) or edit.kind not in (REPLACE, RUNS) or (edit.kind == RUNS and (edit.string or edit.left or edit.right)):
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
    """Whether characters never move or compose, so that the texts before and after them are normalized separately."""
    joined = reference.orders() > 0
    joined[firsts()] = joined[seconds()] = True
    return not joined[np.concatenate(codes)].any()


def normalizer(normalizers: Sequence[Component], whitespace: Whitespace) -> Normalizer:
    """Build the `Normalizer` of a text pipeline. `normalizers`: from `folding.components`. `whitespace`: how texts spell spaces.

    If one step cannot have the effect of all normalizers, each step has that of as many as possible.
    """
    with suppress(UnsupportedError):
        return _step(normalizers, whitespace)
    groups: list[list[Component]] = [[]]
    for part in normalizers:
        if not _is_one_step([*groups[-1], part]):
            groups.append([])
        groups[-1].append(part)
        if len(groups) > MAX_EARLIER:
            raise UnsupportedError(f"normalizers that take more than {MAX_EARLIER} steps one after the other")
    *earlier, last = filter(None, groups)
    if earlier and whitespace.prefix == FIRST:
        raise UnsupportedError(f"normalizer {last[0]['type']} in a second step, and prepend_scheme 'first'; expected another scheme")
    by = replace(_step(last, whitespace), earlier=[_step(group, NO_WHITESPACE) for group in earlier])
    _need_short(by)
    return by


def _is_one_step(normalizers: Sequence[Component]) -> bool:
    with suppress(UnsupportedError):
        _step(normalizers, NO_WHITESPACE)
        return True
    return False


def _step(normalizers: Sequence[Component], whitespace: Whitespace) -> Normalizer:
    """Build a `Normalizer` without earlier ones, or refuse normalizers with which one step does not suffice."""
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
    _need_short(by)
    return by


def _need_short(by: Normalizer) -> None:
    if expansion_bound(by) > MAX_EXPANSION:
        raise UnsupportedError(f"normalizers may make more than {MAX_EXPANSION} bytes of one; at most {MAX_EXPANSION} are possible")


def steps_of(normalizers: Sequence[Component], splitters: Sequence[Splitter] = ()) -> NormalizerSteps:
    """Group normalizers into the fewest steps, for a text pipeline that an alphabet cannot fully express. `splitters`: the splitters that
    cut the normalized text, one after the other.
    """
    steps = _steps(json.dumps([*normalizers])).normalizers
    if not splitters:
        return NormalizerSteps(steps)
    found = [*steps[:-1], *(replace(by, splitter=each) for by, each in zip(chain([steps[-1]], repeat(NOTHING)), splitters, strict=False))]
    if len(found) > MAX_STEPS:
        raise UnsupportedError(f"normalizers and splits take {len(found)} steps; at most {MAX_STEPS} are possible")
    return NormalizerSteps(found)


@lru_cache(maxsize=KEPT_PIPELINES)
def _steps(described: str) -> NormalizerSteps:
    groups: list[list[Component]] = [[]]
    for part in json.loads(described):
        if any(_must_follow(before, part) for before in groups[-1]):
            groups.append([])
        groups[-1].append(part)
    return NormalizerSteps([step for group in groups for step in normalizer(group, NO_WHITESPACE).steps])


def _must_follow(before: Component, part: Component) -> bool:
    """Whether two normalizers cannot share a step; `part` comes at some point after `before`."""
    strips_between = before["type"] == "Strip" and part["type"] != "Strip"
    return strips_between or (_orders(before) and _orders(part))


def _orders(part: Component) -> bool:
    return part["type"].startswith("NF") or strips(part)


def told_apart(added: AddedTokens, by: Normalizer, *, are_normal: bool = False) -> tuple[AddedTokens, Normalizer | None]:
    """Divide added tokens into tokens that are found in raw text and tokens that the `Normalizer` finds. `added`: the tokens. `by`: the
    `Normalizer` of the pipeline. `are_normal`: whether the tokens of normalized text are given in their normalized form. Returns the
    tokens; and `by`, or None if no text needs the normalizer.
    """
    contextual = {**added.contextual}
    if not are_normal:
        contextual = {content: replace(token, decoded=_decoded(by, content, token)) for content, token in contextual.items()}
    need_sound(contextual)
    free = without_context(replace(added, contextual=contextual))
    # A match of a token of normalized text may decide whether an adjacent token is found. So either all tokens of normalized text are
    # searched for in raw text, or none.
    are_raw = (
        by == NOTHING
        and _has_own_white_space(contextual)
        and all(content in free for content, token in contextual.items() if token.normalized)
    )
    raw = {content for content, token in contextual.items() if are_raw or not token.normalized}
    specials = {content: number for content, number in free.items() if content in raw or content in added.specials}
    left = {content: token for content, token in contextual.items() if content not in specials}
    context = _context() if any(token.single_word for token in left.values()) else None
    normalized = tuple(sorted(token.id for content, token in contextual.items() if token.normalized and content in specials))
    found = replace(added, specials=specials, contextual=left, context=context, normalized=normalized)
    return found, None if by == NOTHING and not left else by


def _decoded(by: Normalizer, content: str, token: ContextualToken) -> str:
    """The spelling that the search for a token uses."""
    return by.normalized(content)[0] if token.normalized else content


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
    """All characters that a normalizer changes if it orders marks or composes; and marks and second parts of composed characters, which may
    change the character before them.
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
    """Whether a character whose image begins with `first` changes next to some characters, or may change the character before it."""
    return first < 0 or bool(following[first]) or found.apply(chr(source))[0] != chr(source)
