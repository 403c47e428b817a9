"""Rules that hold for every vocabulary and every text, tested on vocabularies of two or three letters, in which every special case is
frequent.

An automaton is built fast, so hundreds of vocabularies are tested with all short words. A complete table takes a quarter of a second, so
some dozens of vocabularies are compiled.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from support.kept import wordpiece
from support.naive import models as naive
from support.tiers import examples

import fst
from fst.automata.links import Failure, link
from fst.automata.rows import CODE_POINTS
from fst.automata.transducer import fold
from fst.automata.trie import NULL, ROOT
from fst.compile.machines.wordpiece.compiler import vocabulary_trie
from fst.machines.wordpiece.table import Walk, WordPieceTable

UNKNOWN = "[UNK]"
INDICATORS = ("##", "", "a", "ab", "▁", "#", "aba", "ba#")
LAYOUTS = ("compact", "linked")
LETTERS = ("ab", "abc", "a#", "ab▁", "ab.", "a b")
SIZES = {2: 7, 3: 5}  # number of letters → maximum length of tested words

each_layout = pytest.mark.parametrize("layout", LAYOUTS)


@dataclass(frozen=True)
class Case:
    """A vocabulary and the letters of which its words consist."""

    tokens: tuple[str, ...]
    indicator: str
    letters: str
    max_chars: int

    @property
    def vocabulary(self) -> dict[str, int]:
        """Map each token to its id."""
        return {token: number for number, token in enumerate(self.tokens)}

    def words(self, longest: int) -> list[str]:
        """All words up to a certain length, and some long words."""
        short = ["".join(word) for size in range(longest + 1) for word in itertools.product(self.letters, repeat=size)]
        return short + [word * 5 for word in short[-20:]]

    def segment(self, word: str) -> list[int] | None:
        """Segment a word by the naive implementation of MaxMatch; None means an unknown word."""
        ids = naive.max_match(word, self.vocabulary, unk_token=UNKNOWN, prefix=self.indicator, max_chars=self.max_chars)
        return None if ids == [0] and self.tokens[0] != word else ids


@st.composite
def cases(draw: DrawFn, letters: Sequence[str] = LETTERS) -> Case:
    """Draw a vocabulary of tokens with and without the prefix for continuations, including tokens that contain the prefix at another
    position.
    """
    indicator, chars = draw(st.sampled_from(INDICATORS)), draw(st.sampled_from(letters))
    singles = draw(st.sets(st.sampled_from([*chars, *(indicator + char for char in chars)])))  # enough to segment most words
    short = st.lists(st.sampled_from(chars), min_size=1, max_size=4).map("".join)
    odd = st.one_of(
        st.builds(lambda before, after: before + indicator + after, short, short),
        st.integers(0, len(indicator)).map(lambda end: indicator[:end]),
    )
    tokens = draw(st.sets(short | short.map(indicator.__add__) | short.map(indicator.__add__) | odd, min_size=1, max_size=10))
    max_chars = draw(st.sampled_from((100, 100, 100, 100, 3, 1, 0)))
    return Case((UNKNOWN, *sorted(singles | tokens)), indicator, chars, max_chars)


@functools.cache
def readable(chars: str) -> np.typing.NDArray[np.bool_]:
    """Return which characters an automaton can read: those in `chars`, or all characters if `chars` is empty."""
    found = np.full(CODE_POINTS, not chars)
    found[[ord(char) for char in chars]] = True
    return found


def linked(case: Case, chars: str = "") -> Failure:
    """Build the trie of a vocabulary and its failure links."""
    return link(vocabulary_trie(case.vocabulary, case.indicator, readable(chars), case.max_chars))


@examples(300)
@given(case=cases())
def test_automata_segment_by_the_definition(case: Case) -> None:
    """The trie, the failure links and the transducer segment every short word like the naive implementation, with any prefix for
    continuations.
    """
    failure = linked(case)
    transducer = fold(failure)
    for word in case.words(SIZES[len(case.letters)]):
        if len(word) <= case.max_chars:
            expected = case.segment(word)
            assert transducer.run(word) == expected, word
            assert failure.run(word) == expected, word
            assert failure.trie.run(word) == expected, word


@examples(300)
@given(case=cases())
def test_automata_need_no_unreadable_characters(case: Case) -> None:
    """An automaton may omit tokens with characters that it never reads, even if these characters occur in the prefix for continuations."""
    transducer = fold(linked(case, case.letters[0]))
    for size in range(min(case.max_chars, 12) + 1):
        assert transducer.run(case.letters[0] * size) == case.segment(case.letters[0] * size)


@examples(300)
@given(case=cases())
def test_links_lead_to_shorter_strings(case: Case) -> None:
    """A failure link that is not null leads to a node with a shorter string, and P(v) is F(v) followed by P(f(v))."""
    failure = linked(case)
    for node in range(len(failure.trie)):
        target = int(failure.link[node])
        if target == NULL:
            assert not failure.whole[node]
            continue
        assert failure.all_pops(node) == failure.link_pops(node) + failure.all_pops(target)
        assert failure.trie.level[target] < failure.trie.level[node]


@examples(150)
@given(case=cases())
def test_whole_nodes_are_words(case: Case) -> None:
    """A node below the root has the flag "whole" if and only if its string has a segmentation, and this segmentation is P(v)."""
    failure = linked(case)
    trie = failure.trie
    for word in case.words(SIZES[len(case.letters)]):
        node = ROOT
        for char in word:
            node = trie.child(node, char) if node != NULL else NULL
        if word and node not in (NULL, trie.suffix_root) and len(word) <= case.max_chars:
            expected = case.segment(word)
            assert failure.whole[node] == (expected is not None)
            assert expected is None or failure.all_pops(node) == expected


def ids_of_all_paths(tables: WordPieceTable, texts: list[str]) -> list[list[list[int]]]:
    """Encode texts by the walk, by the kernel in one batch of str, and by the kernel in one batch of bytes."""
    tok = fst.Tokenizer(tables)
    batches = (tok.encode_batch(rows, add_special_tokens=False) for rows in (texts, [text.encode() for text in texts]))
    return [[Walk(tables).run(text) for text in texts], *([ids.tolist() for ids in batch] for batch in batches)]


@examples(50)
@given(case=cases(("ab", "a#", "ab.", "a b", "aé")), pre_tokenizer=st.sampled_from(("bert", "none")))
def test_tables_segment_by_the_definition(case: Case, pre_tokenizer: str) -> None:
    """Compiled tables of every layout give the same ids as the naive implementation, both by the walk and by the kernel."""
    options: dict[str, Any] = {
        "continuing_subword_prefix": case.indicator,
        "max_input_chars_per_word": case.max_chars,
        "pre_tokenizer": pre_tokenizer,
    }
    texts = [*case.words(4), "".join(case.words(2)), " ".join(case.words(3)), "a.b#a ab▁a é"]
    expected = [naive.encode(text, case.vocabulary, special=[UNKNOWN], **options) for text in texts]
    for layout in LAYOUTS:
        for found in ids_of_all_paths(wordpiece(case.tokens, **options, layout=layout), texts):
            assert dict(zip(texts, found, strict=True)) == dict(zip(texts, expected, strict=True))


TOKENS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("a", "b", "e", "ab", "abc", "##a", "##b", "##c", "##e", "##abc", "##ba", ".", "=", "中"),
    *("\U0001d165", "##\U0001d165", "##\U0001e000", "##\u302e", "\u302e", "ᄀ", "##ᅡ", "##ᆨ", "i", "##i", "[", "##\ue000", "\ue000", " "),
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"lowercase": False, "max_input_chars_per_word": 5},
    {"clean_text": False, "strip_accents": True, "pre_tokenizer": "none"},
)
CHARS = "abceABC. 中각가éÉİ≠\u0301\u0344\u0901\U0001d165\U0001e000\u302e\u200b\u0000\ufffd\ue000\u0378\u2028[]"

texts: SearchStrategy[str] = st.one_of(
    st.text(max_size=40),
    st.text(st.sampled_from(CHARS), max_size=40),
    st.lists(st.sampled_from((*CHARS, "[MASK]", "[UNK]", "[CLS]")), max_size=20).map("".join),
)


@functools.cache
def tokenizer(layout: str, number: int) -> tuple[WordPieceTable, fst.Tokenizer]:
    """The table of `TOKENS` with one set of options, and the tokenizer of this table."""
    tables = wordpiece(TOKENS, **OPTIONS[number], layout=layout)
    return tables, fst.Tokenizer(tables)


each_options = pytest.mark.parametrize("number", range(len(OPTIONS)))


@each_options
@each_layout
@examples(300)
@given(rows=st.lists(texts, max_size=6))
def test_kernel_is_the_walk(layout: str, number: int, rows: list[str]) -> None:
    """The kernel gives every text the same ids as the walk, whatever other texts the batch contains."""
    walked, as_strings, as_bytes = ids_of_all_paths(tokenizer(layout, number)[0], rows)
    assert as_strings == as_bytes == walked


@each_options
@each_layout
@examples(300)
@given(text=texts)
def test_tables_follow_the_definition(layout: str, number: int, text: str) -> None:
    """The kernel gives the same ids as the naive implementation for every text."""
    vocabulary = {token: place for place, token in enumerate(TOKENS)}
    expected = naive.encode(text, vocabulary, special=TOKENS[:5], **OPTIONS[number])
    assert tokenizer(layout, number)[1].encode(text, add_special_tokens=False).tolist() == expected


@each_layout
@examples(300)
@given(before=texts, after=texts)
def test_a_blank_splits_a_text(layout: str, before: str, after: str) -> None:
    """If two texts are joined by a space, the result has the ids of the first text followed by those of the second."""
    _, tok = tokenizer(layout, 0)
    both, first, second = (tok.encode(text, add_special_tokens=False).tolist() for text in (f"{before} {after}", before, after))
    assert both == first + second


@each_options
@each_layout
@examples(300)
@given(text=texts)
def test_no_more_ids_than_bytes(layout: str, number: int, text: str) -> None:
    """A text never has more ids than bytes in UTF-8, so the sizes of buffers are bounded."""
    assert len(tokenizer(layout, number)[1].encode(text, add_special_tokens=False)) <= len(text.encode())
