"""Normalizers and pre-tokenizers of SentencePiece-like tokenizers give the same pre-tokens and spans as in `tokenizers`."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.text.metaspace import TO_SYMBOL, WHITESPACE, Json, cut_by, spaced
from support.text.normalizers import LATE, LOWER, NFC, RAW, STRIPS, in_turn, replaced, token
from support.tiers import examples, sample, thinned
from tokenizers import Tokenizer

from fst.compile.pretokens import metaspace
from fst.compile.pretokens.metaspace import Pipeline
from fst.compile.text import folding
from fst.compile.text.added_tokens import added_tokens
from fst.errors import UnsupportedError
from fst.runtime.front_end import TextBuffers
from fst.runtime.text.normalizer import TextNormalizer
from fst.tables.header import AddedTokens
from fst.tables.kernel_call import State
from fst.text.character_expansion import CharacterExpansion
from fst.text.composition import Images
from fst.text.marks import marks
from fst.text.normalizer import NOTHING, Normalizer
from fst.text.whitespace import NO_WHITESPACE, SEPARATORS, Whitespace

Piece = tuple[str, tuple[int, int]]

CHARS = " \n\t▁aAbé.1\u3000" + "Å" + "e\u0301"
DIGITS = {"type": "Digits", "individual_digits": True}
PUNCTUATION = {"type": "Punctuation", "behavior": "Isolated"}
SPLIT = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}


SCHEMES = [spaced(*case) for case in product(("always", "first", "never"), (True, False))]
PRE_TOKENIZERS: list[Json | None] = [
    *SCHEMES,
    *(cut_by(WHITESPACE, part) for part in SCHEMES),
    spaced(replacement="a"),
    cut_by(spaced(), DIGITS),
    cut_by(spaced("first", False), PUNCTUATION, DIGITS),
    cut_by(WHITESPACE, spaced("never"), PUNCTUATION),
    cut_by(spaced(replacement="."), PUNCTUATION),
    cut_by(spaced(), WHITESPACE),
    None,
    SPLIT,
]
NORMALIZERS: list[Json | None] = [
    None,
    in_turn(NFC, LOWER),
    {"type": "Strip", "strip_left": True, "strip_right": True},
    in_turn({"type": "Prepend", "prepend": "▁"}, TO_SYMBOL),
    in_turn({"type": "Strip", "strip_left": False, "strip_right": True}, replaced("▁", " {2,}")),
    TO_SYMBOL,
]
ADDED: dict[str, tuple[Json, ...]] = {
    "none": (),
    "raw": RAW,
    "all": (*RAW, *(part for part in LATE if part["content"] != "  "), *STRIPS),
    "late": (token("1", "normalized"), token("bb", "normalized")),
    "symbol": (token("▁b", "normalized"), token("1▁", "normalized", "rstrip")),
}
CASES = [
    (normalizer, pre_tokenizer, added, keeps_symbol)
    for normalizer, pre_tokenizer, added, keeps_symbol in product(range(len(NORMALIZERS)), range(len(PRE_TOKENIZERS)), ADDED, (False, True))
    if (normalizer + pre_tokenizer) % (2 if pre_tokenizer < len(SCHEMES) else 3) == 0 and (added == "all" or not keeps_symbol)
]
some_cases = pytest.mark.parametrize("case", thinned([pytest.param(case, id="-".join(map(str, case))) for case in CASES], 60))
Case = tuple[int, int, str, bool]


class Stage:
    """The text components of a case, and the same components in `tokenizers`.

    Attributes:
        line: the pipeline of normalizers and pre-tokenizers.
        names: the content of each added token by its id.
        added, by, splitter: the added tokens, the normalizer and the splitter that are compiled from the pipeline.
    """

    def __init__(self, case: Case) -> None:
        normalizer, pre_tokenizer, added = NORMALIZERS[case[0]], PRE_TOKENIZERS[case[1]], ADDED[case[2]]
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        self.names = {place: part["content"] for place, part in enumerate(added, 1)}
        tokens = [{"id": place, **flags, **part} for place, part in enumerate(added, 1)]
        before, parts = folding.components(normalizer, folding.WITH_PREPEND), metaspace.components(pre_tokenizer)
        self.line = metaspace.pipeline(before, parts, keeps_symbol=case[3])
        self.added, by = self.line.normalizer(added_tokens(tokens, {"<unk>": 0}))
        self.by, self.splitter = by or NOTHING, self.line.splitter()
        self._document = {"version": "1.0", "added_tokens": tokens, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}

    def pretokens(self, text: str) -> list[Piece]:
        """Return the pre-tokens of a text and their spans, computed by the walks."""
        found = []
        for stretch in self.by.stretches(text, self.added):
            if stretch.token is not None:
                found.append((self.names[stretch.token], (stretch.places[0][0], stretch.places[0][1])))
                continue
            for begin, end in self.splitter.pretokens(stretch.text):
                span = stretch.places[begin][0], stretch.places[end - 1][1]
                found.append((stretch.text[begin:end].replace(" ", self.line.whitespace.symbol or " "), span))
        return found

    def expected(self, text: str, pretokens: Sequence[Piece]) -> list[Piece]:
        """Return the pre-tokens of a text and their spans, computed by `tokenizers` with a vocabulary of the words in `pretokens`."""
        known = {"<unk>": 0, **{pretoken: place for place, (pretoken, _) in enumerate(pretokens, 1000)}}
        model = {"type": "WordLevel", "unk_token": "<unk>", "vocab": known}
        reference = Tokenizer.from_str(json.dumps({**self._document, "model": model}))
        found = reference.encode(text)
        added = {number: token.content for number, token in reference.get_added_tokens_decoder().items()}
        names = (added.get(number, token) for number, token in zip(found.ids, found.tokens, strict=True))
        return [*zip(names, found.offsets, strict=True)]


@lru_cache(maxsize=20)  # each stage takes some megabytes of memory
def stage(case: Case) -> Stage:
    """Return the text components of a case."""
    return Stage(case)


def texts(count: int, most: int = 12) -> list[str]:
    """Draw random texts."""
    chance = random.Random(17)
    parts = [*CHARS, "<s>", "<mask>", "<both>", "<r>", "word", "late", "[L]", "[R]", "one", "bb", "▁b", "1▁", "<s"]
    return ["".join(chance.choices(parts, k=chance.randrange(most))) for _ in range(count)]


TEXTS = texts(32)


@some_cases
def test_pieces_are_those_of_the_reference(case: Case) -> None:
    """Pre-tokens and spans equal those of `tokenizers`."""
    found = stage(case)
    for text in sample(TEXTS, 8):
        pretokens = found.pretokens(text)
        assert pretokens == found.expected(text, pretokens), text


def by_kernel(by: Normalizer, added: AddedTokens, rows: Sequence[str], cut: bool = False) -> tuple[list[bytes], list[Any]]:
    """Return texts and spans as normalized by the kernel; with `cut`, a single text is normalized in two steps."""
    way, state, buffers = TextNormalizer(None, by, added, None), State(), TextBuffers()
    data, starts = np.frombuffer("".join(rows).encode() + bytes(40), np.uint8), np.cumsum([0, *(len(row.encode()) for row in rows)])
    steps = [(starts, False)]
    if cut:
        border = way.border(data[: starts[1]], starts, np.zeros(3, np.uint64))
        steps = [(np.array([0, border]), False), (np.array([border, starts[1]]), border > 0)]
    written, places = list[bytes](), list[list[tuple[int, int]]]()
    for edges, is_inside in steps:
        state.before = len(rows[0].encode()[: edges[0]].decode()) if is_inside else 0
        result = way.rewrite(data[: edges[-1]], edges, state, buffers, is_inside=is_inside, with_spans=True)
        written += [result.text[begin:end].tobytes() for begin, end in pairwise(result.starts.tolist())]
        spans = [(place & (1 << 32) - 1, place >> 32) for place in result.places.tolist()]
        places += [spans[begin:end] for begin, end in pairwise(result.firsts.tolist())]
    return (written, places) if not cut else ([b"".join(written)], [[span for part in places for span in part]])


def by_walk(by: Normalizer, added: AddedTokens, text: str) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text and its spans as normalized by the walk."""
    named = {number: mark for mark, number in marks(added).items()}
    stretches = [*by.stretches(text, added)]
    written = (stretch.text.encode() if stretch.token is None else named[stretch.token] for stretch in stretches)
    return b"".join(written), [(first, last) for stretch in stretches for first, last in stretch.places]


@some_cases
def test_kernel_rewrites_as_the_walk(case: Case) -> None:
    """The kernel normalizes texts like the walk, in one step or in two, and skips a text only if normalization does not change it."""
    found = stage(case)
    rows = sample(TEXTS, 8)
    expected = [by_walk(found.by, found.added, row) for row in rows]
    written, places = by_kernel(found.by, found.added, rows)
    assert written == [text for text, _ in expected]
    assert places == [spans for _, spans in expected]
    way = TextNormalizer(None, found.by, found.added, None)
    for row, (text, own) in zip(rows, expected, strict=True):
        data = np.frombuffer(row.encode() + bytes(40), np.uint8)
        leaves = way.leaves(data, np.array([0, len(row.encode())]), State(), np.zeros(3, np.uint64))
        assert not leaves or b"\xff" in text or text == row.encode(), row
        assert by_kernel(found.by, found.added, [row], cut=True) == ([text], [own]), row


@pytest.mark.parametrize("separator", SEPARATORS)
def test_capacity_for_symbols(separator: str | None) -> None:
    """The buffer of a text has space for the bytes of the symbols that replace spaces and of the symbols that are inserted before words."""
    by = Normalizer(None, Images([]), Whitespace("always", "▁", separator, keeps_symbol=True))
    for text in (1000 * "a ", 1000 * " "):
        written, _ = by_walk(by, added_tokens([], {}), text)
        assert len(written) <= CharacterExpansion(by, [], [], 0).bytes_of(text.encode())


@examples(100)
@given(some.data())
def test_any_text(data: Any) -> None:
    """The pre-tokens of any text equal those of `tokenizers`."""
    found = stage(data.draw(some.sampled_from(CASES)))
    text = data.draw(some.text(some.one_of(some.sampled_from(CHARS), some.characters(codec="utf-8"))))
    pretokens = found.pretokens(text)
    assert pretokens == found.expected(text, pretokens)


@pytest.mark.parametrize("part", [{"add_prefix_space": True}, {"add_prefix_space": False, "prepend_scheme": "never"}, {"str_rep": "x"}])
def test_older_forms(part: Json) -> None:
    """Older forms of Metaspace in a tokenizer.json have the same meaning as in `tokenizers`."""
    part = {"type": "Metaspace", "replacement": "▁", **part}
    document = {"version": "1.0", "added_tokens": [], "model": {"type": "WordLevel", "vocab": {}, "unk_token": ""}, "pre_tokenizer": part}
    read = json.loads(Tokenizer.from_str(json.dumps(document)).to_str())
    assert [*metaspace.components(part)] == [read["pre_tokenizer"]]


@pytest.mark.parametrize(
    ("part", "error", "message"),
    [
        ({"type": "Metaspace", "replacement": "ab"}, ValueError, "replacement of Metaspace is 'ab'; expected one character"),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "last"}, ValueError, "prepend_scheme of Metaspace is 'last'"),
        ({"type": "Metaspace", "replacement": "▁", "add_prefix_space": False}, ValueError, "the reference refuses it"),
        (cut_by(DIGITS, {**spaced(), "prepend_scheme": "first"}), UnsupportedError, "Digits before Metaspace, with the prepend"),
        (cut_by(spaced(), spaced()), UnsupportedError, "Metaspace before Metaspace"),
    ],
)
def test_refusals(part: Json, error: type[Exception], message: str) -> None:
    """Components that cannot be compiled exactly are refused, and the message gives the reason."""
    with pytest.raises(error, match=message):
        metaspace.pipeline([], metaspace.components(part))


def test_tokens_have_blanks() -> None:
    """In the tokens of a table, a space replaces the symbol for spaces, and a token that contains a space in its source has no bytes."""
    line = metaspace.pipeline([], metaspace.components(spaced()))
    assert [*map(line.spelled, ("▁a", "a b", "▁▁"))] == [" a", None, "  "]
    assert Pipeline([], False, NO_WHITESPACE, False, []).spelled("▁a b") == "▁a b"


def test_stored_blanks_are_checked() -> None:
    """A table is refused if any part of its stored handling of spaces is invalid."""
    stored = Whitespace("first", "▁", "\n").stored()
    assert Whitespace.from_stored(stored) == Whitespace("first", "▁", "\n")
    wrongs = ({"prefix": "last"}, {"symbol": "ab"}, {"separator": "x"}, {"symbol": ""}, {"keeps_symbol": 1})
    for wrong in ({}, {**NO_WHITESPACE.stored(), "keeps_symbol": True}, *({**stored, **wrong} for wrong in wrongs)):
        with pytest.raises(ValueError, match="blanks have"):
            Whitespace.from_stored(wrong)
