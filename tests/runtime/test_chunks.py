"""Chunks: a kernel reads a text some thousand symbols at a time, and the ids do not depend on where chunks end.

Most tests shorten chunks, so that a text of a few hundred characters has several chunks, and tests can end them at any position.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.machines.documents import PIECES, TOKENS, compiled
from support.tiers import examples, sample, thinned

import fst
from fst.machines.wordpiece.table import Walk, WordPieceTable
from fst.tables import kernel_call

LIMITS = (1, 5, 12, 13, 100)
FILLERS = {"ascii": "b un! ", "marked": "é 世b ", "astral": "𐐨 \U0001f600"}

each_filler = pytest.mark.parametrize("filler", FILLERS.values(), ids=FILLERS.keys())


@functools.cache
def tables(longest: int = 100, layout: str = "auto") -> WordPieceTable:
    """Compile the vocabulary that the tests share."""
    return compiled(layout=layout, max_input_chars_per_word=longest)


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten chunks as much as the longest word permits."""
    monkeypatch.setattr(kernel_call, "CHUNK", 0)


def symbols_in_a_chunk(longest: int) -> int:
    """The number of symbols that a kernel reads before it encodes them."""
    return len(kernel_call.work_of(longest).symbols) - kernel_call.MARGIN


def ids(tokenizer: fst.Tokenizer, text: str | bytes) -> list[int]:
    """Encode a text without special tokens around it."""
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).tolist()
    return found


@functools.cache
def walked(of: WordPieceTable, text: str) -> list[int]:
    """Return the ids that the walk gives for a text, cached for all tests."""
    return of.run(text)


def check(tokenizer: fst.Tokenizer, of: WordPieceTable, texts: list[str]) -> None:
    """Check that the kernel and the walk give the same ids for texts, each alone and all in one batch."""
    expected = [walked(of, text) for text in texts]
    assert [ids(tokenizer, text) for text in texts] == expected
    assert [row.tolist() for row in tokenizer.encode_batch(texts, add_special_tokens=False)] == expected
    assert [row.tolist() for row in tokenizer.encode_batch([text.encode() for text in texts], add_special_tokens=False)] == expected


def paddings(filler: str, before: int, after: int) -> Iterator[str]:
    """Yield texts that nearly fill a chunk, each one symbol longer than the preceding text."""
    each = symbols(tables(), filler)
    times = before // each
    start = times * filler
    for more in range(before - times * each + after):
        yield start + "a" * more


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_chunks")
@each_filler
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: f"{piece!a:.30}")
def test_any_piece_straddles_a_cut(piece: str, filler: str) -> None:
    """A string gets the same ids whatever the position at which a chunk ends inside it."""
    limit = symbols_in_a_chunk(5)
    of = tables(5)
    texts = [padding + piece + "b" for padding in sample([*paddings(filler, limit - min(len(piece), 40) - 8, 12)], 8, piece)]
    check(fst.Tokenizer(of), of, texts)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("longest", LIMITS)
@given(pieces=st.lists(st.sampled_from((*PIECES, *FILLERS.values(), " ", "b", "a", "!")), min_size=4, max_size=60))
@examples(160)
def test_any_text_has_the_ids_of_the_walk(longest: int, pieces: list[str]) -> None:
    """Strings in any order, over several chunks, get the same ids from the kernel as from the walk, for any limit on word lengths."""
    check(made_short(longest), tables(longest), ["".join(pieces), "", "".join(reversed(pieces)), " ".join(pieces)])


@functools.cache
def made_short(longest: int) -> fst.Tokenizer:
    """Make the tokenizer that the examples share."""
    return fst.Tokenizer(tables(longest))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("other", ["", "é", "世", "𐐨", "[MAS"])
def test_special_token_among_characters_that_begin_one(other: str) -> None:
    """A special token is found at any position among characters with which special tokens begin, which the kernel reads 32 at a time."""
    of = tables()
    texts = ["[" * before + other + "[MASK]" + "[" * (66 - before) + "[MASK" for before in range(66)]
    check(fst.Tokenizer(of), of, texts)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("layout", ["compact", "linked"])
@each_filler
def test_pieces_straddle_the_cut_of_a_true_chunk(filler: str, layout: str) -> None:
    """With the default length of chunks, ids do not depend on where a chunk ends."""
    of, short = tables(100, layout), tables(100)
    limit = symbols_in_a_chunk(100)
    tokenizer = fst.Tokenizer(of)
    start = filler * ((limit - 60) // symbols(short, filler))  # the text ends with a space
    start += " " * (limit - 60 - symbols(short, start))
    before = walked(short, start)
    for piece in ("unaffable", "[MASK]<s>x", "\U00010400\U0001f600é", "a\u302e\u1b44\u302e\u1b44[MASK]", "한한世", "x" * 101):
        for more in sample(range(71), 8, piece):
            text = "a" * more + piece + " b"
            assert ids(tokenizer, start + text) == before + walked(short, text)


@functools.cache
def symbols(of: WordPieceTable, text: str) -> int:
    """The number of symbols of a text."""
    walk = Walk(of)
    walk.run(text)
    return walk.symbols - 1


@pytest.mark.parametrize("filler", ["a", "aé", "aa\U00010400"], ids=ascii)
@pytest.mark.parametrize("length", [4_090, 4_096, 4_200, 4_352, 4_353, 4_453, 4_480, 8_704, 20_000])
def test_one_word_over_many_chunks(filler: str, length: int) -> None:
    """A word that is longer than a chunk is one unknown token, and the words next to it get the same ids as elsewhere."""
    tokenizer = fst.Tokenizer(tables())
    word = (filler * length)[:length]
    unk = TOKENS.index("[UNK]")
    b, dot = TOKENS.index("b"), TOKENS.index("!")
    assert ids(tokenizer, f"b {word}!b") == [b, unk, dot, b]
    assert ids(tokenizer, word) == [unk]


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize(("longest", "char"), thinned(product(LIMITS, ("a", "q", "é", "\U00010400", "한", "a\u302e\u1b44")), 6))
def test_longest_word_is_that_of_the_walk(longest: int, char: str) -> None:
    """Words with lengths near the maximum get the same ids from the kernel as from the walk, anywhere in a chunk."""
    of = tables(longest)
    words = [char * times for times in {1, 2, 4, 5, 6, 11, 12, 13, 14, 33, 34, 99, 100, 101, longest, longest + 1, 2 * longest + 1}]
    tokenizer, several = fst.Tokenizer(of), " ".join(words)
    check(tokenizer, of, [*words, several, "!".join(words), "[MASK]".join(words)])
    for shift in sample(range(7, 60, 7), 8, char):
        assert ids(tokenizer, "b " * shift + several) == [TOKENS.index("b")] * shift + walked(of, several)


@pytest.mark.parametrize(("char", "token"), [("a", "a"), ("é", "e"), ("\U00010400", "𐐨")], ids=ascii)
def test_longest_word_is_longer_than_a_chunk(char: str, token: str) -> None:
    """Words of up to the maximum length, here 10,000 characters, are segmented, and longer words are unknown."""
    tokenizer = fst.Tokenizer(tables(10_000))

    def word(length: int) -> list[int]:
        first, other = TOKENS.index(token), TOKENS.index(f"##{token}")
        return [first, *[other] * (length - 1)] if length <= 10_000 else [TOKENS.index("[UNK]")]

    b, mark = TOKENS.index("b"), TOKENS.index("!")
    for length in (4_096, 10_000, 10_001, 24_300):
        assert ids(tokenizer, f"b {char * length}! b") == [b, *word(length), mark, b]
    lengths = (9_000, 10_000, 10_001, 1)
    assert ids(tokenizer, " ".join(char * length for length in lengths)) == [number for length in lengths for number in word(length)]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("longest", [0, 1, 12, 13])
def test_whole_words_are_no_longer_than_what_is_looked_up(longest: int) -> None:
    """A word of the vocabulary that is longer than the maximum length is unknown."""
    of = tables(longest)
    words = ["a", "b", "un", "abab", "abcdefghijkl", "abcdefghijklm", "世", "!"]
    check(fst.Tokenizer(of), of, [*words, " ".join(words * 40)])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("other", ["é", "e\u0301", "世", "[MASK]", "[", "\U0001f600", "\0", "\x7f", "\x80", "\ufffd"], ids=ascii)
def test_any_unit_of_those_read_at_once_may_be_another(other: str) -> None:
    """Among 32 characters that the kernel reads at a time, one or two may be outside ASCII or become no symbol or several, at
    any position.
    """
    of = tables()
    ascii_ = "".join(map(chr, range(1, 127)))
    texts = [ascii_[:place] + other + ascii_[place:] for place in range(70)]
    check(fst.Tokenizer(of), of, [*sample(texts, 8), *(text[:40] + other + text[40:] for text in sample(texts, 14))])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("before", ["", "b", "!", "\u302e"], ids=ascii)
def test_blanks_that_end_nothing_leave_no_trace(before: str) -> None:
    """Any number of spaces after a space, after punctuation or at the start of a text changes nothing."""
    of = tables()
    begun = ["a" * shift + before + " " * whitespace for shift in range(55, 66) for whitespace in (1, 2, 63, 64, 130)]
    texts = [begin + after for begin in begun for after in ("b", "!", "")]
    check(fst.Tokenizer(of), of, [*sample(texts, 8), *(text * 9 for text in sample(texts, 38))])


@pytest.mark.usefixtures("short_chunks")
def test_rows_end_at_any_place_of_a_chunk() -> None:
    """The ids of a row and its special tokens do not depend on the positions in a chunk at which the row begins and ends."""
    of = tables(5)
    tokenizer = fst.Tokenizer(of)
    rows = ["", "a", "unaffable", "", "", "x" * 9, "a\u302e", "\u1b44[MASK]", "[MASK", "]", "\U0001f600", "", "!"]
    start, end = TOKENS.index("[CLS]"), TOKENS.index("[SEP]")
    expected = [[start, *of.run(row), end] for row in rows]
    for shift in range(140):
        batch = tokenizer.encode_batch(["b" * 3] * (shift // 4) + ["b " * (shift % 4)] + rows * 9)
        assert [row.tolist() for row in batch][shift // 4 + 1 :] == expected * 9
        assert np.all(np.diff(batch.row_splits) >= 2)
