"""Rewriting: the changes to a text before a splitter cuts it into pre-tokens. The slow walk here is the specification.

1. Find added tokens in the raw text, and codes at the start of the text and after these tokens (`LeadingCodes`).
2. Normalize each *stretch*, the text between two added tokens: apply the edits `before`, order marks, compose and map characters, apply the
   edits `after`.
3. Find added tokens in each normalized stretch. The text between two added tokens of either kind is a *part*.
4. Write the spaces of each part, see `fst.text.whitespace`. With ``add_prefix_space``, for example, a part gets a leading space. If splits
   come before ``add_prefix_space``, each pre-token of these splits gets a leading space, and an `EDGE` separates adjacent pre-tokens.
5. Add a space after each string of `Cuts`, so that the splitter restarts there.

The search for added tokens finds the longest token at each position and continues after it, like ``AddedVocabulary.find_matches`` of
``tokenizers``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import overlapping
from fst.automata.rows import WHITE_SPACE
from fst.core.lazy import Lazy
from fst.tables.header import AddedTokens, ContextualToken
from fst.tables.leading_codes import LeadingCodes
from fst.text.charsmap import Charsmap
from fst.text.composition import HANGUL, ITSELF, SYLLABLES, Composition, Images, Place
from fst.text.edits import Edits, applied, edits_from_stored
from fst.text.splitter import Splitter
from fst.text.whitespace import BREAKS, FIRST, NO_WHITESPACE, SPACE, Whitespace

RATIOS = 840  # a common multiple of 1 to 8, the possible byte lengths of one or two characters
OF_SYLLABLE = 3  # the expansion bound of a Hangul syllable, which has at most three parts, each with as many bytes as the syllable


def of_images(images: Images) -> Fraction:
    """The expansion bound of a mapping of characters, see `_most`. The first character of a run has the fewest bytes, and so decides."""
    return _most(([first], [first if part == ITSELF else part for part in image]) for first, _, *image in images.runs)


def of_composition(composition: Composition) -> Fraction:
    """The expansion bound of a composition: the product of the bounds of its steps: mapping, decomposition (Hangul last), composites."""
    parts = composition.decompositions.values()
    makes_syllables = any(HANGUL <= part < HANGUL + SYLLABLES for part in chain.from_iterable(parts))
    decomposed = _most(([code], parts) for code, parts in composition.decompositions.items())
    decomposed = decomposed * OF_SYLLABLE if makes_syllables else max(decomposed, Fraction(OF_SYLLABLE))
    return of_images(composition.first) * decomposed * _most((pair, [whole]) for pair, whole in composition.pairs.items())


def _most(changes: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Fraction:
    """The expansion bound of some changes: the maximum number of bytes after a change per byte before it. A change is a pair of strings of
    code points: the text before it and the text after it.

    The bound is at least 1, because text that a later change removes needs capacity until then.
    """
    listed = [*changes]
    if not listed:
        return Fraction(1)
    before, after = map(_sizes, zip(*listed, strict=True))
    return max(Fraction(int(np.max(after * RATIOS // before)), RATIOS), Fraction(1))


def _sizes(strings: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """The byte lengths of strings of code points."""
    codes, lengths = np.array([*chain.from_iterable(strings)], np.int64), np.array([*map(len, strings)])
    ends = np.cumsum(lengths)
    sums = np.cumsum(np.append(0, 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)))
    sizes: NDArray[np.int64] = sums[ends] - sums[ends - lengths]
    return sizes


MAX_STEPS = 100  # maximum number of steps of normalizers and splitters; a sequence of normalizers has at most as many components
KEYS = ["after", "before", "blanks", "composition", "cuts", "earlier", "last", "splitter"]
EDGE = "\ud800"  # a surrogate, which no text contains; the table's splitter drops it and restarts after it
MAX_ORDER, MAX_LISTS, MAX_CUTS = 255, (1 << 15) - 1, 1 << 14  # `MAX_LISTS`: numbers of lists are uint16; a decomposition may need two


class Stretch(NamedTuple):
    """A part of a rewritten text."""

    text: str  # the characters
    places: Sequence[Place]  # the span of each character in the raw text; for an added token, one span with the token's whitespace
    token: int | None  # the id of an added token; None for the text between two added tokens


@dataclass(frozen=True)
class Cuts:
    """Strings that become pre-tokens, although the automaton of the splitter ignores them.

    The pattern of a splitter may contain an added token. The search for added tokens removes such a token from the text, but normalizers
    may create it again: `Lowercase` creates CLIP's ``<|endoftext|>`` from ``<|EndOfText|>``. A space is added after each such string,
    because the splitter drops spaces and restarts after a space.

    Attributes:
        strings: the strings; no string is a prefix of another.
        inside: runs of code points, each given by the first and the last. A string after one of these characters is not a cut, because the
            pre-token continues there.
    """

    strings: Sequence[str]
    inside: Sequence[Sequence[int]]

    def stored(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"strings": self.strings, "inside": self.inside}

    @classmethod
    def from_stored(cls, stored: Any) -> Cuts:
        """Read the cuts from their JSON form."""
        if not isinstance(stored, dict) or sorted(stored) != ["inside", "strings"]:
            raise ValueError("cuts have other keys than 'inside' and 'strings'")
        strings, inside = stored["strings"], Images.from_stored(stored, "inside").runs
        if not isinstance(strings, list) or not all(isinstance(string, str) and any(map(str.isascii, string)) for string in strings):
            raise ValueError("a string of cuts has no ASCII character")
        if sum(map(len, strings)) > MAX_CUTS:
            raise ValueError(f"the strings of cuts have more than {MAX_CUTS} characters")
        if any(len(run) != 2 or run[0] > run[1] for run in inside):
            raise ValueError("a run of cuts is not a first and a last character")
        return cls(strings, inside)

    def ends(self, text: str) -> Iterator[int]:
        """The positions in a part where spaces are added."""
        at = begun = 0
        while at < len(text):
            string = next((string for string in self.strings if text.startswith(string, at)), "")
            if string and (at == begun or not self._is_inside(ord(text[at - 1]))):
                at = begun = at + len(string)
                yield at
            else:
                at += 1

    def _is_inside(self, code: int) -> bool:
        return any(first <= code <= last for first, last in self.inside)


NO_CUTS = Cuts([], [])


@dataclass(frozen=True)
class Normalizer:
    """The normalizer of the text around added tokens.

    Attributes:
        composition: the normalizers up to the normalizer that orders marks or composes; None if there is no such normalizer.
            `composition.suspects` contains all characters that `composition` may change, or that may change the characters before them.
        last: the mapping that is applied after `composition`.
        whitespace: the rules for writing spaces.
        cuts: the strings after which the splitter restarts.
        before, after: the edits before `composition` and after `last`.
        splitter: the splitter that cuts a part before spaces are written in each pre-token; None: spaces are written in the whole part.
        earlier: normalizers that change each stretch first, one after the other. They only normalize.
    """

    composition: Composition | None
    last: Images
    whitespace: Whitespace
    cuts: Cuts = NO_CUTS
    before: Edits = ()
    after: Edits = ()
    splitter: Splitter | None = None
    earlier: Sequence[Normalizer] = ()

    def stored(self) -> dict[str, Any]:
        """Return the JSON form."""
        edits = {name: [edit.stored() for edit in found] for name, found in (("before", self.before), ("after", self.after))}
        composition = self.composition.stored() if self.composition else None
        cut = {"cuts": self.cuts.stored(), **({"splitter": self.splitter.stored()} if self.splitter else {})}
        earlier = {"earlier": [by.stored() for by in self.earlier]} if self.earlier else {}
        return {"composition": composition, "last": self.last.runs, "blanks": self.whitespace.stored(), **cut, **edits, **earlier}

    @classmethod
    def from_stored(cls, stored: Any) -> Normalizer:
        """Read the normalizer from its JSON form."""
        if sorted({*stored, "splitter", "earlier"}) != KEYS:
            raise ValueError(f"normalizer has other keys than {', '.join(KEYS)}")
        composition = Composition.from_stored(stored["composition"]) if stored["composition"] is not None else None
        last = Images.from_stored(stored, "last")
        if composition and any(order > MAX_ORDER for order in composition.orders.values()):
            raise ValueError(f"a mark has a rank above {MAX_ORDER}")
        for images in (last, *([composition.first] if composition else ())):
            if any(one[1] >= other[0] for one, other in pairwise(images.runs)) or any(run[0] > run[1] for run in images.runs):
                raise ValueError("runs of characters do not ascend")
        if len(last.runs) > MAX_LISTS or (composition and len(composition.first.runs) + len(composition.decompositions) > MAX_LISTS):
            raise ValueError(f"there are more than {MAX_LISTS} runs and decompositions")
        before, after = (edits_from_stored(stored[name]) for name in ("before", "after"))
        if sum(isinstance(edit, Charsmap) for edit in (*before, *after)) > 1:
            raise ValueError("there are several charsmaps")
        whitespace, cuts = Whitespace.from_stored(stored["blanks"]), Cuts.from_stored(stored["cuts"])
        if whitespace.symbol and cuts != NO_CUTS:
            raise ValueError("normalizer has a symbol for blanks, and cuts")
        splitter = Splitter.from_stored(stored["splitter"]) if "splitter" in stored else None
        image = [*last.of(ord(whitespace.symbol))] if whitespace.symbol else [ord(SPACE)]
        keeps = whitespace.prefix == FIRST or whitespace.separator is not None or image != [ord(SPACE)]
        if splitter and (keeps or cuts != NO_CUTS):
            raise ValueError("normalizer has a splitter, and cuts or a symbol for blanks that it does not replace")
        if "earlier" not in stored:
            return cls(composition, last, whitespace, cuts, before, after, splitter)
        steps = stored["earlier"]
        if not isinstance(steps, list) or not 0 < len(steps) <= MAX_STEPS or any("earlier" in step for step in steps):
            raise ValueError(f"the earlier normalizers are not a list of 1 to {MAX_STEPS} normalizers")
        earlier = [*map(cls.from_stored, steps)]
        if whitespace.prefix == FIRST or not all(by.is_plain for by in earlier):
            raise ValueError("an earlier normalizer rewrites whitespace, or whitespace depends on positions before it")
        return cls(composition, last, whitespace, cuts, before, after, splitter, earlier)

    @property
    def edits(self) -> Edits:
        """All edits."""
        return (*self.before, *self.after)

    @property
    def is_plain(self) -> bool:
        """Whether the normalizer only normalizes stretches, in one step: it has no rules for spaces, no cuts and no splitter."""
        return self.whitespace == NO_WHITESPACE and self.cuts == NO_CUTS and self.splitter is None and not self.earlier

    @property
    def steps(self) -> Sequence[Normalizer]:
        """The normalizers that each change a stretch once: the earlier ones, and this one."""
        return (*self.earlier, replace(self, earlier=()))

    @Lazy
    def expansion_bound(self) -> Fraction:
        """The maximum number of output bytes for each byte of a stretch."""
        composed = of_composition(self.composition) if self.composition else Fraction(1)
        edited = prod(edit.expansion_bound for edit in self.edits) * prod(by.expansion_bound for by in self.earlier)
        return composed * of_images(self.last) * edited * spread(self)

    def normalized(self, text: str) -> tuple[str, Sequence[Place]]:
        """Normalize a stretch between added tokens; return the text and the span of each character."""
        if self.earlier:
            return NormalizerSteps(self.steps).normalized(text)
        size = len(text)
        text, places = applied(self.before, text, [(at, at + 1) for at in range(size)], size)
        if self.composition:
            text, own = self.composition.apply(text)
            places = [(places[first][0], places[last - 1][1]) for first, last in own]
        mapped = [(chr(code), place) for char, place in zip(text, places, strict=True) for code in self.last.of(ord(char))]
        return applied(self.after, "".join(char for char, _ in mapped), [place for _, place in mapped], size)

    def stretches(self, text: str, added: AddedTokens) -> Iterator[Stretch]:
        """The parts of a rewritten text, in order."""
        raw, normalized, word = raw_tokens(added), normalized_tokens(added), word_of(added)
        for begin, end, number in found(text, raw, word):
            if number is not None:
                yield Stretch(text[begin:end], [(begin, end)], number)
                continue
            if size := added.leading.size(text[begin:end]) if added.leading else 0:
                yield _code(text, begin, begin + size, added.leading)
                begin += size
            stretch, own = self.normalized(text[begin:end])
            places = [(begin + first, begin + last) for first, last in own]
            for first, last, inner in found(stretch, normalized, word):
                part, part_places = stretch[first:last], places[first:last]
                if inner is not None:
                    yield Stretch(part, [(part_places[0][0], part_places[-1][1])], inner)
                else:
                    yield self.part(part, part_places)

    def part(self, text: str, places: Sequence[Place]) -> Stretch:
        """Write the spaces of a part, the text between two added tokens, and the edges between the pre-tokens of the splitter."""
        if self.splitter:
            return self._in_pieces(text, places, self.splitter)
        text, places = self.whitespace.written(text, places)
        ends = [0, *self.cuts.ends(text), len(text)]
        parts = [text[begin:end] for begin, end in pairwise(ends)]
        parts_places = [place for begin, end in pairwise(ends) for place in (*places[begin:end], *places[max(end - 1, 0) :][:1])]
        return Stretch(SPACE.join(parts), parts_places[:-1], None)

    def _in_pieces(self, text: str, places: Sequence[Place], splitter: Splitter) -> Stretch:
        """Cut a part with a splitter, and write the spaces of each pre-token."""
        written = [self.whitespace.written(text[begin:end], places[begin:end]) for begin, end in splitter.pretokens(text)]
        own = [place for _, piece_places in written for place in (piece_places[0], *piece_places)]
        return Stretch(EDGE.join(pretoken for pretoken, _ in written), own[1:], None)


def _code(text: str, begin: int, end: int, codes: LeadingCodes | None) -> Stretch:
    """The code between two positions of a text."""
    assert codes is not None
    return Stretch(text[begin:end], [(begin, end)], codes.ids.get(text[begin:end], codes.unknown))


NOTHING = Normalizer(None, Images([]), NO_WHITESPACE)


@dataclass(frozen=True)
class NormalizerSteps:
    """Normalizers that change a text one after the other, for machines that fold the normalizers into an alphabet for most texts.

    A `Normalizer` orders marks once. Offsets depend on each ordering, so a sequence such as NFC, BertNormalizer needs a `Normalizer` for
    each step. Added tokens of raw text are found before the first step, added tokens of normalized text after the last step.
    """

    # The steps, at least one. No step rewrites whitespace. Splitters cut the normalized text: a step after one with a splitter has only a
    # splitter, which cuts the pre-tokens of the previous one.
    normalizers: Sequence[Normalizer]

    def stored(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"steps": [by.stored() for by in self.normalizers]}

    @classmethod
    def from_stored(cls, stored: Any) -> NormalizerSteps:
        """Read the steps from their JSON form."""
        if not isinstance(stored, dict) or stored.keys() != {"steps"}:
            raise ValueError("the normalizer has other keys than 'steps'")
        steps = stored["steps"]
        if not isinstance(steps, list) or not 0 < len(steps) <= MAX_STEPS or not all(isinstance(step, dict) for step in steps):
            raise ValueError(f"the steps of the normalizer are not a list of 1 to {MAX_STEPS} mappings")
        found = cls([Normalizer.from_stored(step) for step in steps])
        if not all(replace(by, splitter=None).is_plain for by in found.normalizers):
            raise ValueError("a step of the normalizer rewrites whitespace")
        if any(before.splitter and not by == replace(NOTHING, splitter=by.splitter) for before, by in pairwise(found.normalizers)):
            raise ValueError("a step of the normalizer after a splitter is not a splitter alone")
        return found

    def normalized(self, text: str) -> tuple[str, Sequence[Place]]:
        """Normalize a stretch between added tokens; return the text and the span of each character."""
        places: Sequence[Place] = [(at, at + 1) for at in range(len(text))]
        for by in self.normalizers:
            text, own = by.normalized(text)
            places = [(places[first][0], places[last - 1][1]) for first, last in own]
        return text, places

    def stretches(self, text: str, added: AddedTokens) -> Iterator[Stretch]:
        """The parts of a normalized text, in order."""
        raw, normalized, word = raw_tokens(added), normalized_tokens(added), word_of(added)
        for begin, end, number in found(text, raw, word):
            if number is not None:
                yield Stretch(text[begin:end], [(begin, end)], number)
                continue
            stretch, own = self.normalized(text[begin:end])
            places = [(begin + first, begin + last) for first, last in own]
            for first, last, inner in found(stretch, normalized, word):
                part = places[first:last]
                if inner is not None:
                    yield Stretch(stretch[first:last], [(part[0][0], part[-1][1])], inner)
                else:
                    yield self._cut(Stretch(stretch[first:last], part, None))

    def _cut(self, stretch: Stretch) -> Stretch:
        """Cut a stretch by the splitters."""
        for by in self.normalizers:
            stretch = by.part(stretch.text, stretch.places) if by.splitter else stretch
        return stretch


def found(text: str, tokens: Mapping[str, ContextualToken], word: frozenset[int]) -> Iterator[tuple[int, int, int | None]]:
    """The start, end and id of each added token in a text. Each stretch between two added tokens is included, with None as its id. `text`:
    raw or normalized text. `tokens`: the tokens by their spelling. `word`: the code points of word characters; a token with ``single_word``
    next to a word character is ignored.
    """
    # `at`: where the search continues; `begun`: the end of the last token, where the stretch begins; `white`: the end of the whitespace
    # that the last token includes
    at = begun = white = 0
    while at < len(text):
        spelling = max((token for token in tokens if text.startswith(token, at)), key=len, default="")
        first, at = at, at + (len(spelling) or 1)
        if not spelling:
            continue
        last, token = at, tokens[spelling]
        if token.single_word and any(ord(char) in word for char in (*text[:first][-1:], *text[last : last + 1])):
            continue
        while token.lstrip and first > begun and text[first - 1] in WHITE_SPACE:
            first -= 1
        if token.rstrip:
            last = max(last, white)
            while last < len(text) and text[last] in WHITE_SPACE:
                last += 1
            white = last
        if begun < first:
            yield begun, first, None
        yield first, last, token.id
        begun = last
    if begun < len(text):
        yield begun, len(text), None


def spread(by: Normalizer) -> int:
    """Upper bound on the number of output bytes per byte of a part, after spaces and cuts are written."""
    if by.splitter:
        return len(f"{EDGE}{SPACE}.".encode(errors="surrogatepass"))
    breaks = len(by.cuts.strings) > 0 or by.whitespace.separator == BREAKS
    return (2 if breaks else 1) * (1 + len(by.whitespace.symbol.encode()) if by.whitespace.keeps_symbol else 1)


def without_context(added: AddedTokens) -> dict[str, int]:
    """The spellings and ids of the tokens that a search without rewriting also finds, if rewriting does not change the text.

    These tokens have no flags. Among them, tokens of normalized text cannot overlap with tokens of raw text.
    """
    raw = raw_tokens(added)
    shared = {*overlapping(normalized_tokens(added), raw)}
    apart = {spelling: token for spelling, token in normalized_tokens(added).items() if spelling not in shared}
    return {spelling: token.id for spelling, token in (*raw.items(), *apart.items()) if not flagged(token)}


def raw_tokens(added: AddedTokens) -> dict[str, ContextualToken]:
    """The tokens of raw text by their spelling."""
    plain = {content: ContextualToken(number, False, False, False, False, content) for content, number in added.specials.items()}
    return {**plain, **{content: token for content, token in added.contextual.items() if not token.normalized}}


def normalized_tokens(added: AddedTokens) -> dict[str, ContextualToken]:
    """The tokens of normalized text by their normalized spelling."""
    return {token.decoded: token for token in added.contextual.values() if token.normalized}


def flagged(token: ContextualToken) -> bool:
    """Whether a token has flags, so that the characters next to it decide whether it is found, and how much whitespace it includes."""
    return token.single_word or token.lstrip or token.rstrip


def word_of(added: AddedTokens) -> frozenset[int]:
    """The code points next to which a token with ``single_word`` is ignored."""
    return _code_points(tuple(added.context.word)) if added.context else frozenset()


@lru_cache(maxsize=8)  # one result for each set of letters among the loaded tables, because walks need it in each text
def _code_points(runs: tuple[int, ...]) -> frozenset[int]:
    return frozenset(code for first, last in zip(runs[0::2], runs[1::2], strict=True) for code in range(first, last + 1))
