"""The table of words contains only the most useful words, with the same ids as the automaton gives."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.machines.documents import PIECES, TOKENS, compiled, without_words
from support.shared_data import EXAMPLES, SHARED, needs_shared
from support.tiers import examples, thinned

import fst
from fst.automata.rows import ENTRY, MULTIPLIERS, OTHER, WORD_SYMBOLS, field_kind
from fst.compile import wordpiece as compile_anew
from fst.machines.wordpiece.table import Walk, WordPieceTable

EXAMPLE = EXAMPLES / "english-uncased-8000.txt"
REAL = ("bert-base-uncased", "bert-base-cased", "bert-base-multilingual-cased", "bert-base-chinese", "KR-BERT")
MOST = 400  # maximum number of words that are checked in a real vocabulary

Key = tuple[int, ...]


@functools.cache
def example() -> WordPieceTable:
    """Compile the vocabulary of the example."""
    return wordpiece(EXAMPLE)


@functools.cache
def real(name: str) -> WordPieceTable:
    """Compile a real vocabulary."""
    folder = SHARED / "vocab" / name
    return wordpiece(folder / "tokenizer.json" if (folder / "tokenizer.json").exists() else folder / "vocab.txt")


def held(tables: WordPieceTable) -> dict[Key, list[int]]:
    """Return the entries of a table of words: the classes of each word and its ids."""
    slots = tables.words.reshape(-1, 4)
    keys = np.ascontiguousarray(slots[:, :3]).view(np.uint16)
    return {
        tuple(number for number in key if number): [int(value) & 0xFFFFFFFF] * (int(value) >> 32)
        for key, value in zip(keys.tolist(), slots[:, 3].tolist(), strict=True)
    }


def looked_up(tables: WordPieceTable, key: Key) -> list[int] | None:
    """Return the ids of a word, looked up as in the kernel, with integers of any size."""
    padded = np.zeros(WORD_SYMBOLS, np.uint16)
    padded[: len(key)] = key
    first, second, third = padded.view(np.uint64).tolist()
    hashed = sum(part * factor for part, factor in zip((first, second, third), MULTIPLIERS, strict=True)) % (1 << 64)
    slots, shift = len(tables.words) // 4, 64 - (len(tables.displacements) - 1).bit_length()
    slot = (hashed >> (shift - (slots - 1).bit_length()) ^ int(tables.displacements[hashed >> shift])) % slots
    *found, value = tables.words[4 * slot : 4 * slot + 4].tolist()
    return [value & 0xFFFFFFFF] * (value >> 32) if found == [first, second, third] else None


def walked(without: WordPieceTable, key: Key) -> list[int]:
    """Return the ids of a word from the transducer of a table without words."""
    walk = Walk(without)
    for number in key:
        walk._step_class(number)
    walk._end_word()
    return walk.ids


class Spelling(Walk):
    """A walk that records the class of the character in each step."""

    def __init__(self, tables: WordPieceTable) -> None:
        super().__init__(tables)
        self.classes: list[int] = []

    def _step_class(self, number: int) -> None:
        self.classes.append(number)
        super()._step_class(number)


def words_of(tables: WordPieceTable, most: int | None = None) -> Iterator[tuple[str, Key]]:
    """Yield the tokens that are words of up to twelve symbols, with their classes; from a large vocabulary, only a fixed sample."""
    a = tables.classes[0::2]
    part = (ENTRY.labels_of(a) > 0) | (field_kind(a) == OTHER)
    tokens = list(zip(tables.tokens, tables.token_ids.tolist(), strict=True))
    if most is not None:
        tokens = random.Random(1).sample(tokens, min(most, len(tokens)))
    for token, number in tokens:
        spelling = Spelling(tables)
        if spelling.run(token) == [number] and all(part[spelling.classes]) and len(spelling.classes) <= WORD_SYMBOLS:
            yield token, tuple(spelling.classes)


def check_all(tables: WordPieceTable, most: int | None) -> None:
    """Check that the words of a table, or a sample of them, have the same ids as the walk gives."""
    words = sorted(held(tables).items())
    if most is not None:
        words = random.Random(2).sample(words, min(most, len(words)))
    without = without_words(tables)
    for key, ids in words:
        assert walked(without, key) == ids == looked_up(tables, key)


def share_held(tables: WordPieceTable, most: int | None) -> float:
    """Return the fraction of single-token words that the table of words contains."""
    found = [looked_up(tables, key) is not None for _, key in words_of(tables, most)]
    assert len(found) > 50
    return sum(found) / len(found)


@pytest.mark.slow
def test_words_have_the_ids_of_the_walk() -> None:
    """Each word in the table of words is found, and has the same ids as the transducer gives."""
    check_all(example(), None)
    check_all(compiled(), None)


@pytest.mark.slow
def test_words_of_one_token_are_held() -> None:
    """At least 97% of the tokens that are words of up to twelve symbols are in the table of words."""
    assert share_held(example(), None) >= 0.97


@needs_shared
@pytest.mark.parametrize("name", thinned(REAL, 6))
def test_words_of_real_vocabularies(name: str) -> None:
    """With real vocabularies, words have the same ids as the walk gives, and at least 97% of the single-token words are in the table of
    words.
    """
    tables = real(name)
    check_all(tables, MOST)
    assert share_held(tables, 3_000) >= 0.97


def test_no_word_is_held_twice() -> None:
    """The used slots contain different words with different ids, except for the slot of the empty word."""
    tables = example()
    used = tables.words.reshape(-1, 4)[:, 3] > 0
    words = held(tables)
    assert len(words) == np.count_nonzero(used) + 1
    ids = [ids for key, ids in words.items() if key]
    assert all(len(own) == 1 for own in ids)
    assert len({own[0] for own in ids}) == len(ids)


@pytest.mark.parametrize("layout", ["compact", "linked"])
def test_words_do_not_depend_on_the_layout(layout: str) -> None:
    """The table of words contains the same words with every layout."""
    one, other = compiled(layout=layout), compiled()
    if one.header["layout"] == other.header["layout"]:
        assert one.words.tobytes() == other.words.tobytes()
        assert one.displacements.tobytes() == other.displacements.tobytes()
    assert sorted(ids for ids in held(one).values() if ids) == sorted(ids for ids in held(other).values() if ids)


@pytest.mark.slow
def test_words_are_the_same_bytes_each_time() -> None:
    """A vocabulary always compiles to the same bytes of the table of words."""
    first, again = (compile_anew(EXAMPLE) for _ in range(2))
    assert first.words.tobytes() == again.words.tobytes()
    assert first.displacements.tobytes() == again.displacements.tobytes()


LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONG = (
    "[UNK]",
    LETTERS[:11],
    LETTERS[:12],
    LETTERS[:13],
    LETTERS[:14],
    LETTERS[:12] + "zz",
    LETTERS[:12] + "yy",
    "##" + LETTERS[11],
    "##m",
    "##n",
)


def test_words_of_twelve_symbols_are_the_longest() -> None:
    """A word of twelve symbols is in the table of words, but a word of thirteen is not."""
    tables = wordpiece(LONG)
    keys = {len(key) for key in held(tables)}
    assert max(keys) == WORD_SYMBOLS == 12
    assert len(list(words_of(tables))) == len(held(tables)) - 1 == 2


@pytest.mark.parametrize("table", [wordpiece, lambda tokens: without_words(wordpiece(tokens))], ids=["words", "no words"])
def test_words_with_the_same_beginning_are_told_apart(table: functools.partial[WordPieceTable]) -> None:
    """Words with the same first twelve letters, and shorter and longer words, each get the correct ids."""
    tables = table(LONG)
    words = [LETTERS[:length] + end for length in range(15) for end in ("", "m", "n", "zz", "yy", "zzz", "\u0301", LETTERS[:12])]
    tok = fst.Tokenizer(tables)
    for text in (*words, " ".join(words), "!".join(words)):
        assert tok.encode(text, add_special_tokens=False).tolist() == tables.run(text)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("tokens", [TOKENS, LONG, ("[UNK]",), ("[UNK]", "##a", "##ab"), ("[UNK]", ".", "世", "##世")], ids=len)
def test_the_empty_word_has_no_ids(tokens: tuple[str, ...]) -> None:
    """The empty word has no ids, whether the table of words has entries or not."""
    tables = wordpiece(tokens)
    assert held(tables)[()] == []
    tok = fst.Tokenizer(tables)
    for text in (
        "",
        " ",
        "   ",
        ".",
        "..",
        " . ",
        "世世",
        "a",
        "  a  ",
        "a.",
        ".a",
        "\0",
        "\0.\0",
        "ab  ab",
        "." * 50,
        " " * 50,
        "世 " * 50,
    ):
        assert tok.encode(text, add_special_tokens=False).tolist() == tables.run(text)


@pytest.mark.parametrize("tokens", [("[UNK]",), ("[UNK]", "##a", "##ab"), ("[UNK]", ".", "世", "a" * 13)], ids=len)
def test_vocabulary_without_words_has_a_table(tokens: tuple[str, ...]) -> None:
    """If a vocabulary has no words for the table of words, this table contains only the empty word, and the file can be loaded."""
    tables = wordpiece(tokens, unk_token="[UNK]")
    assert {key for key in held(tables) if key} == set()
    assert len(tables.displacements) >= 2


@given(
    words=st.lists(st.one_of(st.sampled_from(PIECES), st.text(st.sampled_from("abcdefghijklmxuns\u302e"), max_size=14)), max_size=12),
    between=st.sampled_from(("", " ", "!", "世")),
)
@examples(1600)
def test_words_say_nothing_else(words: list[str], between: str) -> None:
    """A text gets the same ids with a table of words as without."""
    text = between.join(words)
    with_table, without = tokenizers()
    assert with_table.encode(text).tolist() == without.encode(text).tolist()


@functools.cache
def tokenizers() -> tuple[fst.Tokenizer, fst.Tokenizer]:
    """Make a tokenizer with a table of words and a tokenizer without."""
    return fst.Tokenizer(compiled()), fst.Tokenizer(without_words(compiled()))


@needs_shared
def test_words_of_real_text_say_nothing_else() -> None:
    """Pages of a book get the same ids with a table of words as without."""
    tables = real("bert-base-uncased")
    with (SHARED / "corpora/en_books_20MB.txt").open(encoding="utf-8") as books:
        text = books.read(1 << 20)
    assert np.array_equal(fst.Tokenizer(tables).encode(text), fst.Tokenizer(without_words(tables)).encode(text))
