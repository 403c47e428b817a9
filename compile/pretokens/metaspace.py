"""Pipelines as in SentencePiece, in which a symbol, usually ▁, represents a space and belongs to the word after it.

A pre-tokenizer Metaspace, or a Replace at the end of the normalizers, turns spaces into the symbol. The compiler does the reverse (see
`fst.text.whitespace`): it replaces the symbol by a space in tokens and texts, and splits after Metaspace treat spaces as the symbol. With
`keeps_symbol`, the compiler keeps the symbol, because the byte fallbacks of the symbol differ from those of a space.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.pretokens import splits
from fst.compile.pretokens.scripts import ROWS
from fst.compile.text import pattern_splits, sentencepiece
from fst.compile.text.components import FLAG_OR_NULL, STRING, STRING_OR_NULL, Component, Fields, flat
from fst.compile.text.pre_tokenizers import SCRIPTS
from fst.errors import UnsupportedError, not_one_of, quoted
from fst.tables.header import AddedTokens, ContextualToken
from fst.text.normalizer import Normalizer, normalized_tokens
from fst.text.splitter import Splitter
from fst.text.whitespace import ALWAYS, BREAK, BREAKS, FIRST, JOINS, KEEPS, NEVER, NO_WHITESPACE, PREFIXES, SPACE, Whitespace

METASPACE, WHITESPACE_SPLIT = "Metaspace", "WhitespaceSplit"
KNOWN: Fields = {
    **{kind: allowed for kind, allowed in splits.KNOWN.items() if kind != "ByteLevel"},
    METASPACE: {
        "replacement": STRING,
        "prepend_scheme": STRING_OR_NULL,
        "split": FLAG_OR_NULL,
        "add_prefix_space": FLAG_OR_NULL,
        "str_rep": STRING_OR_NULL,
    },
}
CUTS = {"type": "Split", "pattern": {"String": SPACE}, "behavior": "MergedWithNext", "invert": False}
KEPT_ANSWERS = 64  # number of cached results of `_has_gaps`, which is called several times for each vocabulary
DROPS = {"type": "Split", "pattern": {"String": BREAK}, "behavior": "Removed", "invert": False}

Parts = tuple[dict[str, Any], ...]


def components(component: Component | None) -> Parts:
    """The pre-tokenizers of a ``tokenizer.json``, which must not contain ByteLevel. Fields of older versions of Metaspace are converted to
    the current fields.

    Examples:
        >>> components({"type": "Metaspace", "replacement": "▁", "add_prefix_space": True})
        ({'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': 'always', 'split': True},)
    """
    parts = flat(component, "pre_tokenizer", "pretokenizers", KNOWN)
    return tuple(_metaspace(part) if part["type"] == METASPACE else part for part in parts)


def with_prefix(found: Parts, parts: Parts) -> tuple[Parts, Parts]:
    """Normalizers and pre-tokenizers with a Prepend, if they prepend the symbol to every text in the way of `transformers`.

    `transformers` converts a model of SentencePiece to a Replace that doubles the symbol at the start of a text, and to a Metaspace, which
    adds the symbol to all other texts. Together, they add one symbol to each text.
    """
    symbol = _replaced(found[:-1])
    doubled = {"type": "Replace", "pattern": {"Regex": rf"\A{symbol}"}, "content": symbol * 2}
    metaspace = {"type": METASPACE, "replacement": symbol, "prepend_scheme": ALWAYS, "split": False}
    if not symbol or (found[-1], *parts) != (doubled, metaspace):
        return found, parts
    return (*found[:-2], {"type": "Prepend", "prepend": symbol}, found[-2]), ()


def _metaspace(part: Component) -> dict[str, Any]:
    """Convert a Metaspace as `tokenizers` does; older files contain ``add_prefix_space`` instead of ``prepend_scheme``."""
    scheme = part["prepend_scheme"] or ALWAYS
    if len(part["replacement"]) != 1:
        raise ValueError(f"replacement of Metaspace is {quoted(part['replacement'])}; expected one character")
    if scheme not in PREFIXES:
        raise ValueError(not_one_of("prepend_scheme of Metaspace", scheme, PREFIXES))
    if part["add_prefix_space"] is False and scheme != NEVER:
        raise ValueError(f"pre_tokenizer Metaspace has add_prefix_space false and the prepend_scheme {scheme}; the reference refuses it")
    return {"type": METASPACE, "replacement": part["replacement"], "prepend_scheme": scheme, "split": part["split"] is not False}


def of_decoder(part: Component) -> dict[str, Any]:
    """Convert a decoder Metaspace as `tokenizers` does."""
    (found,) = flat(part, "decoder", "decoders", {METASPACE: KNOWN[METASPACE]})
    return _metaspace(found)


class Pipeline(NamedTuple):
    """The changes to a text before the model reads it.

    Attributes:
        normalizers: from `fst.compile.text.folding.components`.
        replaces: whether the last normalizer replaces spaces by the symbol and does nothing else.
        whitespace: the spelling of spaces.
        cuts: whether a text is cut before each space.
        splits: the splits after these cuts; in their patterns, a space represents the symbol.
        before: the splits before spaces become the symbol, or that need a splitter of their own. Each of their pre-tokens may get a leading
            symbol.
    """

    normalizers: Sequence[Component]
    replaces: bool
    whitespace: Whitespace
    cuts: bool
    splits: Sequence[Component]
    before: Sequence[Component] = ()

    def spelled(self, token: str) -> str | None:
        """The string that a token matches in texts; None if no text contains it, because the symbol replaces all spaces of texts."""
        symbol = self.whitespace.symbol
        if not symbol or symbol == SPACE:
            return token
        return None if SPACE in token else token.replace(symbol, SPACE)

    def normalizer(self, added: AddedTokens) -> tuple[AddedTokens, Normalizer | None]:
        """The added tokens, grouped by the search that finds them, and the `Normalizer` of texts; see
        `fst.compile.text.normalizer.told_apart`.

        Spaces are replaced by the symbol in the last step. `fst.text.whitespace` does this step, unless an added token of normalized text
        depends on spaces.
        """
        from fst.compile.text.normalizer import normalizer, told_apart

        if self.before:
            return self._cut_first(added)
        if self.replaces:
            added_before, by = told_apart(added, normalizer(self.normalizers[:-1], self.whitespace), are_normal=self._is_of_sentencepiece)
            if not any(map(self._is_of_spaces, normalized_tokens(added_before).items())):
                return added_before, by
        return told_apart(added, normalizer(self.normalizers, self.whitespace), are_normal=self._is_of_sentencepiece)

    def _cut_first(self, added: AddedTokens) -> tuple[AddedTokens, Normalizer | None]:
        """The added tokens and the `Normalizer` with the first splits. If there is a symbol, its last step turns the symbol into a space,
        before the splits, so the splits must treat both characters alike.
        """
        from fst.compile.pretokens.sequences import in_sequence, with_gaps
        from fst.compile.text.normalizer import normalizer, told_apart

        symbol = self.whitespace.symbol
        to_space = [{"type": "Replace", "pattern": {"String": symbol}, "content": SPACE}] * bool(symbol)
        steps = [step for part in self.before for step in splits.steps(part)]
        (split,) = (len(steps) == 1 and with_gaps(steps)) or [in_sequence(steps)]
        normalized = [(content, token) for content, token in added.contextual.items() if token.normalized and symbol]
        late = [content for content, token in normalized if self._is_of_spaces((content, token))]
        if late or split.classes[ord(symbol or SPACE)] != split.classes[ord(SPACE)]:
            reason = f"which tells apart {quoted(symbol)} and a space"
            what = f"and the added token {quoted(late[0])}, which depends on spaces" if late else reason
            raise UnsupportedError(f"pre_tokenizer {self.before[0]['type']} before Metaspace, {what}")
        by = normalizer((*self.normalizers, *to_space), self.whitespace)
        found_tokens, by_found = told_apart(added, by)
        return found_tokens, replace(by_found or by, splitter=split)

    @property
    def _is_of_sentencepiece(self) -> bool:
        """Whether this is the pipeline of a model of sentencepiece."""
        return any(part["type"] in sentencepiece.KINDS for part in self.normalizers)

    def _is_of_spaces(self, token: tuple[str, ContextualToken]) -> bool:
        """Whether an added token contains spaces or the symbol, or includes the spaces next to it."""
        return token[1].lstrip or token[1].rstrip or not {SPACE, self.whitespace.symbol}.isdisjoint(token[0])

    def splitter(self) -> Splitter:
        """The splitter of normalized texts."""
        from fst.compile.patterns.budget import Budget
        from fst.compile.pretokens.automata import at_edges
        from fst.compile.pretokens.gaps import total
        from fst.compile.pretokens.sequences import chained, split_of

        budget, cut = Budget(), {**CUTS, "pattern": {"String": self.whitespace.character}}
        before = [cut] * self.cuts + [DROPS] * (self.whitespace.separator == BREAKS)
        found = [at_edges()] * (len(self.before) > 0) + [total(split_of(step, (), budget), budget) for step in before]
        for step in (step for part in self.splits for step in splits.steps(part)):
            behind = total(split_of(step, (), budget), budget)
            found.append(replace(behind, classes=_symbol_for_space(behind.classes, self.whitespace.symbol)))
        return chained(found, budget)


def pipeline(found: Sequence[Component], parts: Sequence[Component], *, keeps_symbol: bool = False) -> Pipeline:
    """Build the pipeline of normalizers and pre-tokenizers. With `keeps_symbol`, texts keep the symbol, because it is not a token."""
    kinds = [part["type"] for part in parts]
    if METASPACE not in kinds:
        symbol = _replaced(found)
        if _has_gaps(json.dumps(parts[:1])):
            return Pipeline(found, False, NO_WHITESPACE, False, parts[1:], parts[:1])
        if SCRIPTS in kinds:
            halves = [step for part in parts for step in (splits.steps(part) if part["type"] == SCRIPTS else (part,))]
            count = 1 + halves.index(ROWS)
            return Pipeline(found, False, NO_WHITESPACE, False, halves[count:], halves[:count])
        replaces = symbol != "" and not keeps_symbol
        return Pipeline(found, replaces, Whitespace(symbol=symbol) if replaces else NO_WHITESPACE, False, parts)
    place = kinds.index(METASPACE)
    before, part, behind = kinds[:place], parts[place], parts[place + 1 :]
    prefix, cuts = part["prepend_scheme"], part["split"]
    others = [kind for kind in before if kind != WHITESPACE_SPLIT]
    if METASPACE in kinds[place + 1 :] or (others and (prefix == FIRST or keeps_symbol)):
        name, what = (others[0], f"with the prepend_scheme {prefix}") if others else (METASPACE, "of which only one is supported")
        raise UnsupportedError(f"pre_tokenizer {name} before Metaspace, {what}")
    if SCRIPTS in others:
        what = f"which adds {quoted(part['replacement'])} before each script of 'aα'"
        raise UnsupportedError(f"pre_tokenizer {SCRIPTS} before Metaspace, {what}")
    if others:
        return Pipeline(found, False, Whitespace(prefix, part["replacement"]), cuts, behind, parts[:place])
    separator = KEEPS if not before else JOINS if cuts and prefix == ALWAYS else BREAKS
    return Pipeline(found, False, Whitespace(prefix, part["replacement"], separator, keeps_symbol), cuts, behind)


@lru_cache(maxsize=KEPT_ANSWERS)
def _has_gaps(described: str) -> bool:
    """Whether the first split needs a splitter with gaps. `described`: a list of the split, as JSON."""
    from fst.compile.pretokens.sequences import with_gaps

    return any(pattern_splits.is_pattern(part) and with_gaps(splits.steps(part)) for part in json.loads(described))


def _replaced(found: Sequence[Component]) -> str:
    """The character by which the last normalizer replaces each space; "" if this normalizer does anything else."""
    if not found or found[-1]["type"] != "Replace" or found[-1]["pattern"] not in ({"String": SPACE}, {"Regex": SPACE}):
        return ""
    content: str = found[-1]["content"]
    return content if len(content) == 1 else ""


def _symbol_for_space(classes: NDArray[np.uint8], symbol: str) -> NDArray[np.uint8]:
    """The classes of code points; a space gets the class of the symbol."""
    classes = classes.copy()
    classes[ord(SPACE)] = classes[ord(symbol or SPACE)]
    return classes
