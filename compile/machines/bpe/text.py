"""The text pipeline of BPE, in the form that a table contains: added tokens, normalizer and splitter."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from fst.automata.rows import WHITE_SPACE
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.patterns import code_points, parser
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.tree import Characters, LookAhead, LookBehind, walk
from fst.compile.pretokens import metaspace
from fst.compile.pretokens.automata import at_edges
from fst.compile.pretokens.forced_boundaries import between_bytes, between_merges
from fst.compile.pretokens.removed_strings import marked
from fst.compile.pretokens.sequences import chained, in_sequence, last_apart, with_gaps
from fst.compile.pretokens.splits import BYTES
from fst.compile.pretokens.whitespace_splits import makes_white_space, need_without_effect, splitter_and_cuts
from fst.compile.text.components import Component
from fst.compile.text.normalizer import normalizer, told_apart
from fst.compile.text.source import Source, TextPipeline
from fst.errors import UnsupportedError, quoted
from fst.pretokens.digit_cuts import DIGITS, are_apart, kinds_of_bytes
from fst.pretokens.header import PREFIX_SPACE
from fst.tables.header import AddedTokens
from fst.text.normalizer import NOTHING, Normalizer, flagged, normalized_tokens, raw_tokens
from fst.text.splitter import Splitter
from fst.text.whitespace import ALWAYS, BREAKS, NEVER, Whitespace

Text = tuple[AddedTokens, Normalizer | None, Splitter]
PRINTABLE, ASCII_DIGITS = range(0x21, 0x7F), np.arange(0x30, 0x3A)  # PRINTABLE: ASCII characters that ByteLevel does not replace


def _around_space(text: TextPipeline) -> tuple[Sequence[Component], bool, Sequence[Component]]:
    """Divide the splits into the splits before and after the step that adds a leading space.

    Returns the splits before the step, whether the step exists, and the splits after the step. If the step does not exist, all splits are
    in the last part.
    """
    parts = [*text.pre_tokenizers]
    count = parts.index(BYTES) if BYTES in parts else len(parts)
    splits = [*parts[:count], *_splits_of_text(parts[count + 1 :])]
    place = splits.index(PREFIX_SPACE) if PREFIX_SPACE in splits else -1
    return splits[: max(place, 0)], place >= 0, splits[place + 1 :]


def text_of(source: Source[BpeModel]) -> Text:
    """Compile the text pipeline of a source: added tokens, normalizer and splitter."""
    if not source.model.letters.are_bytes:
        return _text_of_characters(source)
    return text_of_bytes(source.text, source.added, source.model.vocabulary if source.model.longest_match else None)


def text_of_bytes(text: TextPipeline, added: AddedTokens, longest: Iterable[bytes] | None = None) -> Text:
    """Compile the text pipeline of a byte-level BPE; `longest`: the tokens of a longest match, which determine where texts are cut."""
    text = TextPipeline(*marked(text.normalizers, text.pre_tokenizers, added))
    if longest is not None:
        added, by, split = _text_by(text, added, text.normalizers)
        return added, by, between_bytes(longest) or split
    if any(map(makes_white_space, text.normalizers)):
        with suppress(UnsupportedError):
            return _without_white_space(text, added)
    return _text_by(text, added, text.normalizers)


def _text_of_characters(source: Source[BpeModel]) -> Text:
    """Compile the text pipeline of a BPE over characters. If the source does not split texts, the positions of cuts are derived from the
    tokens.
    """
    line = _line(source)
    added, by = line.normalizer(source.added)
    split = between_merges(source.model.made, source.model.characters) if is_cut_by_tokens(source) else line.splitter()
    return added, by, split


def _line(source: Source[BpeModel]) -> metaspace.Pipeline:
    """The text pipeline of a BPE over characters. If no token contains the symbol for spaces, texts keep this symbol."""
    return metaspace.pipeline(source.text.normalizers, source.text.pre_tokenizers, keeps_symbol=not source.model.letters.symbol)


def is_cut_by_tokens(source: Source[BpeModel]) -> bool:
    """Whether cuts are derived from the tokens: the source does not cut or split texts, and the model allows cuts."""
    if source.model.letters.are_bytes or not source.model.may_be_cut:
        return False
    line = _line(source)
    return not (line.cuts or line.splits or line.before or line.whitespace.separator == BREAKS)


def _without_white_space(text: TextPipeline, given: AddedTokens) -> Text:
    """The text pipeline without the normalizers that replace whitespace by other whitespace, if these normalizers do not change ids."""
    kept = [part for part in text.normalizers if not makes_white_space(part)]
    added, by, split = _text_by(text, given, kept)
    whole = by or NOTHING
    if whole.splitter:
        raise UnsupportedError("a normalizer that replaces white space by white space, together with splits before add_prefix_space")
    late = {whole.normalized(content)[0]: token for content, token in given.contextual.items() if token.normalized}
    for place, part in enumerate(text.normalizers):
        if part not in kept:
            after = [part for part in text.normalizers[place:] if part in kept]
            need_without_effect(part, normalizer(after, whole.whitespace), late, split)
    return added, by, split


def _text_by(text: TextPipeline, given: AddedTokens, normalizers: Sequence[Component]) -> Text:
    """The text pipeline, with `normalizers` instead of the source's normalizers."""
    before, adds_space, splits = _around_space(text)
    count = last_apart(splits)
    gaps = [] if before or adds_space or count else with_gaps(splits[:1])
    whole = normalizer(normalizers, Whitespace(ALWAYS if adds_space else NEVER))
    if count:
        if adds_space:
            raise UnsupportedError("a Split that counts characters, or UnicodeScripts, after add_prefix_space, which adds spaces before it")
        before, splits = splits[:count], splits[count:]
        whole = replace(whole, splitter=at_edges())
    elif gaps:
        whole, splits = replace(whole, splitter=at_edges()), splits[1:]
    added, by = told_apart(given, whole)
    if by is None:
        return added, None, in_sequence(splits, absent=[*added.specials])
    # Texts between added tokens contain no string of `absent`, but normalization may produce a string of `raw` again.
    kinds = normalized_tokens(added), raw_tokens(added)
    absent, raw = ([spelling for spelling, token in tokens.items() if not flagged(token)] for tokens in kinds)
    if before or gaps:
        first = gaps[0] if gaps else in_sequence(before, absent)
        return added, replace(by, splitter=first), chained([at_edges(), in_sequence(splits)], Budget())
    split, cuts = splitter_and_cuts(splits, absent, raw)
    return added, replace(by, cuts=cuts), split


def need_clear_spaces(added: AddedTokens, names: Collection[str]) -> None:
    """Refuse added tokens whose spans cannot be trimmed, because the id does not determine the whitespace at the ends of the token.

    The id does not determine the whitespace if a token of the model has the same id and different whitespace, or if an added token that
    begins or ends with whitespace also strips the whitespace next to the token.
    """
    for content in added.ids:
        if content.strip("Ġ") != content:
            raise UnsupportedError(f"added token {quoted(content)} with trim_offsets, which takes Ġ for white space: leave it out")
    for content, token in added.contextual.items():
        (left, right), others = (_spaces(text) for text in (token.decoded, content))
        if content in names and (left, right) != others:
            what = f"added token {quoted(content)}, which is {quoted(token.decoded)} in normalised text"
            raise UnsupportedError(f"{what}, with trim_offsets: the vocabulary has a token of this name without this white space")
        if (left and token.lstrip) or (right and token.rstrip):
            raise UnsupportedError(f"added token {quoted(content)} with trim_offsets: it takes white space beside that of its own")


def _spaces(text: str) -> tuple[int, int]:
    """The number of whitespace characters at the start of a text, and at its end."""
    return len(text) - len(text.lstrip(WHITE_SPACE)), len(text) - len(text.rstrip(WHITE_SPACE))


def without_cuts(model: BpeModel, parts: Sequence[Component]) -> BpeModel:
    """The model without merges across the positions where pre-tokenizers after ``ByteLevel`` split texts. `parts` are in the form of
    `fst.compile.pretokens.splits`.
    """
    kinds = kinds_of_bytes(parts)
    if not len(kinds):
        return model
    others = {"ignore_merges": model.ignore_merges, "affixes": bool(model.affixes), "missing bytes": bool(model.missing)}
    found = [name for name, is_there in others.items() if is_there]
    if found:
        raise UnsupportedError(f"pre_tokenizer Digits after ByteLevel, where it splits bytes, and {' and '.join(found)}")
    merges = [(left, right) for left, right in model.merges or () if not are_apart(kinds[left[-1]], kinds[right[0]])]
    return replace(model, merges=merges)


def _splits_of_text(parts: Sequence[Component]) -> Iterator[Component]:
    """Convert splits of the letters by which ``ByteLevel`` represents bytes to splits of the text, with the same result. `parts` are
    the pre-tokenizers after ``ByteLevel``, in the form of `fst.compile.pretokens.splits`.
    """
    has_cuts = False
    for part in parts:
        if part["type"] == DIGITS:
            has_cuts = True
            continue
        ((form, pattern),) = part["pattern"].items()
        nodes = [*walk(parser.literal(pattern) if form == "String" else parser.parse(pattern, "oniguruma"))]
        sets = [node.edges for node in nodes if isinstance(node, Characters)]
        is_same = all(len(edges) and edges[0] >= PRINTABLE.start and edges[-1] <= PRINTABLE.stop for edges in sets)
        if not is_same or any(isinstance(node, LookAhead | LookBehind) for node in nodes):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(pattern)} after ByteLevel, unless it is of ASCII characters alone")
        has_digits, has_others = (any(map(find, sets)) for find in (_has_digits, _has_others))
        if has_cuts and (part["behavior"] == "Removed" or (has_digits and has_others)):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(pattern)} after Digits after ByteLevel: its matches may be cut")
        yield part


def _has_digits(edges: code_points.Set) -> bool:
    return bool(code_points.has(edges, ASCII_DIGITS).any())


def _has_others(edges: code_points.Set) -> bool:
    return bool(edges[0] < ASCII_DIGITS[0] or edges[-1] > ASCII_DIGITS[-1] + 1)
