"""Offsets in characters or bytes, and word numbers, are the same as in `tokenizers` and from the walk, also in truncated texts.

Results that `tokenizers` does not compute are compared with a short definition in this file.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.machines.documents import ADDED, PIECES, TOKENS
from support.machines.wordpiece import (
    CONTEXTS,
    FLAGS,
    KEPT,
    QUICK,
    SETTINGS,
    golden_texts,
    hostile,
    letters,
    sentences,
)
from support.runtime.offsets import (
    BLOCK,
    FILLERS,
    PREFIXES,
    Pair,
    Rows,
    each_vocabulary,
    located,
    located_pair,
    pair_of_options,
    referred,
    tables,
    tokenizer,
)
from support.shared_data import SHARED, needs_shared
from support.text.every_character import EVERY_CHARACTER, swept_characters
from support.tiers import examples, sample, thinned
from tokenizers import AddedToken, Tokenizer, normalizers

import fst
from fst.compile.text.characters import reference as characters
from fst.machines.wordpiece.table import Walk, WordPieceTable
from fst.tables import kernel_call

each_piece = pytest.mark.parametrize("piece", PIECES, ids=lambda piece: f"{piece!a:.30}")


def walked(tables: WordPieceTable, texts: Iterable[str]) -> Rows:
    """The ids, offsets and words that the walk gives for texts."""
    rows = Rows([], [], [], [])
    for text in texts:
        walk = Walk(tables)
        rows.ids.extend(walk.run(text))
        rows.offsets.extend(itertools.chain.from_iterable(walk.offsets))
        rows.words.extend(walk.words)
        rows.lengths.append(len(walk.ids))
    return rows


# Kernel, walk and `tokenizers`


@functools.cache
def short_chunked(longest: int) -> fst.Tokenizer:
    """Make a tokenizer with short chunks, for tests with `short_chunks`."""
    return fst.Tokenizer(tables(longest))


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten chunks as much as the longest word permits."""
    monkeypatch.setattr(kernel_call, "CHUNK", 0)


def check_walk(of: fst.Tokenizer, texts: Sequence[str], longest: int, threads: int = 1) -> None:
    """Check that the kernel gives the same ids, offsets and words as the walk, for str and for bytes."""
    expected = walked(tables(longest), texts)
    assert located(of, list(texts), threads=threads) == located(of, [text.encode() for text in texts], threads=threads) == expected


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_chunks")
@each_piece
def test_any_piece_straddles_the_end_of_a_chunk(piece: str) -> None:
    """A string gets the same offsets whatever the position at which a chunk ends inside it."""
    limit = short_chunked(5)._workspaces.take().symbols
    starts = [filler * (limit // len(filler) - 10) for filler in FILLERS]
    check_walk(short_chunked(5), [starts[more % 3] + "a" * more + piece + "b" for more in sample(range(70), 20, piece)], 5)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("longest", [1, 5, 12, 13, 100])
@given(pieces=st.lists(st.sampled_from((*PIECES, *FILLERS, " ", "b", "a", "!")), min_size=4, max_size=60))
@examples(40)
def test_any_text_is_located_as_by_the_walk(longest: int, pieces: list[str]) -> None:
    """Strings in any order, over several chunks, get the same offsets from the kernel as from the walk, for any limit on word lengths."""
    check_walk(short_chunked(longest), ["".join(pieces), "", "".join(reversed(pieces)), " ".join(pieces)], longest)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@each_piece
def test_any_piece_straddles_the_end_of_a_block(piece: str) -> None:
    """A string in a long row gets the same offsets whatever the position at which a block ends inside it."""
    starts = [filler * (2 * BLOCK // len(filler) + 1) for filler in FILLERS]
    places = sample(range(BLOCK + 2), 20, piece)
    texts = [starts[more % 3] + "a" * more + piece + " b" + starts[more % 3][: 40 - more % 40] for more in places]
    check_walk(tokenizer(), texts, 100)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("longest", [1, 12, 100])
@given(pieces=st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS, " ", "b", "a", "!", "[", "<")), min_size=20, max_size=60))
@examples(20)
def test_any_long_row_is_located_as_by_the_walk(longest: int, pieces: list[str]) -> None:
    """A long row gets the same offsets from the kernel as from the walk, alone and between others, with and without threads."""
    text = "".join(pieces)
    rows = [text[: 3 * BLOCK], text, "", text[::-1], "a"]
    for threads in (1, 3):
        check_walk(tokenizer(longest), rows, longest, threads)


@functools.cache
def machine_pair() -> Pair:
    """Build a tokenizer of this package and one of `tokenizers` from the vocabulary that the tests share."""
    from tokenizers import models, pre_tokenizers

    vocabulary = {token: number for number, token in enumerate(TOKENS)}
    model: Any = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    reference = Tokenizer(model)
    reference.normalizer = normalizers.BertNormalizer()
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reference.add_special_tokens([*TOKENS[:5]])
    reference.add_tokens([AddedToken(token, normalized=False) for token in ADDED])
    return Pair(reference, tokenizer())


@given(pieces=st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS, " ", "b", "a", "!", "[", "<")), max_size=30))
@examples(200)
def test_walk_locates_as_the_reference(pieces: list[str]) -> None:
    """The walk gives the same ids, offsets and words as `tokenizers`."""
    text = "".join(pieces)
    assert walked(tables(), [text]) == referred(machine_pair().reference, [text])
    machine_pair().check([text])


# Tokenizers


@needs_shared
@each_vocabulary
def test_golden_offsets(name: str) -> None:
    """Both this package and `tokenizers` give the recorded offsets."""
    with gzip.open(SHARED / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
        lines = list(stream)
    assert len(lines) == len(golden_texts()) > 20_000
    rows = sample(range(len(lines)), 16)
    kept = [json.loads(lines[row])["offsets"] for row in rows]
    pair = located_pair(name)
    found = located(pair.tokenizer, [golden_texts()[row] for row in rows])
    assert found.lengths == [len(pairs) for pairs in kept]
    assert found.offsets == [place for pairs in kept for pair in pairs for place in pair]
    pair.check(sample(golden_texts()[::5], 8))


@functools.lru_cache(maxsize=1)
def pair_of_letters(setting: str, reference: Callable[..., Tokenizer]) -> Pair:
    """A tokenizer of this package and one of `tokenizers`, with a vocabulary of single characters and the same options."""
    return Pair(reference(letters(), **SETTINGS[setting]), fst.Tokenizer(wordpiece(letters(), **SETTINGS[setting])))


@functools.cache
def some_code_points() -> list[str]:
    """The first 12,544 characters, all that a normalizer changes except ideographs and syllables, and every 97th of the others."""
    changes = normalizers.BertNormalizer(handle_chinese_chars=False).normalize_str
    changed = {char for char in EVERY_CHARACTER if changes(char) != char and not 0xAC00 <= ord(char) < 0xD7A4 and ord(char) < 0xE0000}
    return sorted({*changed, *EVERY_CHARACTER[:0x3100], *EVERY_CHARACTER[::97]})


each_context = pytest.mark.parametrize(("setting", "context"), thinned(itertools.product(SETTINGS, CONTEXTS), 2))
each_quick_context = pytest.mark.parametrize(
    ("setting", "context"),
    [
        *QUICK,
        ("uncased", "between stripped marks"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (("cased", "alone"), ("lower case with accents", "before a letter"))),
    ],
)


def check_in_context(chars: Sequence[str], setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """Check that characters in a context get the same offsets as in `tokenizers`."""
    pair_of_letters(setting, reference).check([CONTEXTS[context].format(char) for char in chars])


@pytest.mark.slow
@each_quick_context
def test_some_characters_in_context(setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """Some characters and their neighbours get the same offsets as in `tokenizers`."""
    check_in_context(some_code_points()[::96], setting, context, reference)


@pytest.mark.slow
@each_context
def test_every_character_in_context(setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """Every character and its neighbours get the same offsets as in `tokenizers`."""
    check_in_context(swept_characters(), setting, context, reference)


@needs_shared
@each_vocabulary
def test_sentences_in_many_languages(name: str) -> None:
    """Sentences in 109 languages get the same offsets as in `tokenizers`."""
    located_pair(name).check(sentences()[::8])


@needs_shared
@each_vocabulary
def test_hostile_texts(name: str) -> None:
    """Texts made to break programs get the same offsets as in `tokenizers`."""
    located_pair(name).check(hostile())


MIXTURE = [  # text that normalization changes, drops, splits or isolates; special tokens; strings that resemble them
    *("ab", "e\u0301", "É", "İ", "ß", "ﬁ", "ﷺ", "½", "≠", "각", "한국", "\u1112\u1161", "\u0344", "\u0301", "\u0301\u0301", "\u1b44"),
    *("\u302e", "\U0001d165", "\U0001d15f", "か\u3099", "が", "中", "中文", "𠀀", "豈", "\u0901", "क्षि", "\u200d", "\u200b", "\0", "\x1f"),
    *("\ufffd", "\ue000", "\u0378", "\U0001f600", "\U0001f468\u200d\U0001f469", "𐐀", "\U0001e000", "\u2028", "\u3000", "\u00a0"),
    *(" ", "  ", "\t", "\n", ".", "..", "-", "'", "[MASK]", "[MASK", "[UNK]", "[CLS][SEP]", "##", "#", "ab" * 60, "é" * 101, "q"),
]


def some_options(seed: int) -> dict[str, Any]:
    """Draw options, a prefix for continuations and a maximum length of words."""
    rng = random.Random(seed)
    drawn = {name: rng.choice(values) for name, values in FLAGS.items()}
    return {**drawn, "continuing_subword_prefix": rng.choice(PREFIXES), "max_input_chars_per_word": rng.choice([1, 2, 7, 100])}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", thinned(range(20), 6))
@given(texts=st.lists(st.lists(st.sampled_from(MIXTURE), max_size=12).map("".join), min_size=1, max_size=6))
@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_mixture(texts: list[str], seed: int, reference: Callable[..., Tokenizer]) -> None:
    """Any mixture of text that normalization changes, drops, splits or isolates gets the same offsets as in `tokenizers`."""
    pair_of_options(reference, **some_options(seed)).check(texts)


LONG = pytest.mark.parametrize("char", ["a", "É", "한", "\U0001f600", "a\0", "q"], ids=ascii)


@functools.cache
def long_words(longest: int) -> WordPieceTable:
    """Compile a vocabulary for long words."""
    return wordpiece(SYLLABLES, max_input_chars_per_word=longest)


SYLLABLES = [
    "[UNK]",
    *(prefix + piece for prefix in ("", "##") for piece in ("a", "aaa", "e", "ee", "\u1112\u1161", "\u11ab", "\U0001f600")),
]


@pytest.mark.mostly_slow
@LONG
@pytest.mark.parametrize("longest", [99, 300])
def test_long_words(char: str, longest: int, reference: Callable[..., Tokenizer]) -> None:
    """Words of up to thousands of characters, segmented or too long, anywhere in a chunk, get the same offsets as in `tokenizers`."""
    pair = Pair(reference(SYLLABLES, max_input_chars_per_word=longest), fst.Tokenizer(long_words(longest)))
    words = [(char * size)[:size] for size in (1, 99, 100, 101, 299, 300, 301, 4_095, 4_096, 4_097, 20_000)]
    pair.check([*words, " ".join(words * 9), "." + "[UNK]".join(words), "中".join(reversed(words))])


@pytest.mark.slow
@pytest.mark.parametrize("char", ["a", "한", "a\0"], ids=ascii)
def test_words_over_several_chunks(char: str) -> None:
    """Words of thousands of characters, which `tokenizers` would segment for minutes, get the same offsets from the kernel as from the
    walk.
    """
    words = [(char * size)[:size] for size in (4_095, 4_097, 5_000, 5_001)]
    texts = [" ".join(words), "." + "[UNK]".join(words)]
    assert located(fst.Tokenizer(long_words(5_000)), texts) == walked(long_words(5_000), texts)


def texts_of_marks() -> list[str]:
    """Random runs of marks, and of characters that decompose to marks."""
    rng = random.Random(10)
    chars = [*KEPT, "\u0301", "\u0323", "\u0344", "\u0f73", "\U0001d15f", "é", "a", "\0", "\u1112\u1161", "각"]
    return ["".join(rng.choices(chars, k=rng.randint(2, 12))) for _ in range(300)]


def marks_by_definition(text: str) -> list[tuple[str, int]]:
    """The characters of a text without accents, and their positions, computed by the method of `tokenizers`.

    Each character is decomposed, and the characters in each run of marks are put in order. In this order, the first character of each
    decomposition gets the next position in the text, and every other character gets the position of the character before it, even if the
    two come from different characters.
    """
    clean = normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=False, lowercase=False).normalize_str
    strip = normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=True, lowercase=False).normalize_str
    kept = [(place, char) for place, char in enumerate(text) if clean(char)]
    parts = [(ORDERS[ord(part)], part, at == 0) for _, char in kept for at, part in enumerate(normalizers.NFD().normalize_str(char))]
    ordered: list[tuple[int, str, bool]] = []
    for rank, part, begins in parts:
        at = len(ordered)
        while rank and at and ordered[at - 1][0] > rank:
            at -= 1
        ordered.insert(at, (rank, part, begins))
    begun = itertools.accumulate(begins for _, _, begins in ordered)
    return [(part, kept[number - 1][0]) for (_, part, _), number in zip(ordered, begun, strict=True) if strip(part)]


ORDERS = characters.orders().tolist()


def test_marks_by_definition(reference: Callable[..., Tokenizer]) -> None:
    """In a run of marks, the nth mark in canonical order has the position of the nth mark in the text, as in `tokenizers`."""
    for text in texts_of_marks():
        expected = marks_by_definition(text)
        tokens = [*dict.fromkeys(prefix + char for char, _ in expected for prefix in ("", "##"))]
        found = reference(["[UNK]", *tokens], lowercase=False, strip_accents=True, pre_tokenizer="none").encode(text)
        assert [token.removeprefix("##") for token in found.tokens] == [char for char, _ in expected]
        assert found.offsets == [(place, place + 1) for _, place in expected]


@pytest.mark.slow
def test_marks_that_change_places(reference: Callable[..., Tokenizer]) -> None:
    """Runs of marks get the same offsets as in `tokenizers`."""
    pair_of_letters("uncased", reference).check(texts_of_marks())


def test_ids_of_two_lengths_are_not_located() -> None:
    """If tokens of different lengths share an id, offsets are refused with the name of a token, but ids are returned."""
    several = replace(tables(), token_ids=np.where(tables().token_ids == TOKENS.index("un"), TOKENS.index("a"), tables().token_ids))
    tok = fst.Tokenizer(several)
    with pytest.raises(fst.UnsupportedError, match="offsets: token 'a' shares its id with a token of another length"):
        tok.encode_batch(["a"], offsets=True)
    assert tok.encode_batch(["a"]).ids.tolist() == tokenizer().encode("a").tolist()


def test_offsets_are_made_only_when_asked_for() -> None:
    """A batch has offsets and words only on request, and its ids do not depend on the request."""
    plain, both = (tokenizer().encode_batch(list(PIECES), offsets=asked) for asked in (False, True))
    assert plain.offsets is plain.words is None
    assert np.array_equal(plain.ids, both.ids)
    assert np.array_equal(plain.row_splits, both.row_splits)
    assert both.offsets is not None
    assert both.words is not None
    assert both.offsets.dtype == both.words.dtype == np.int32
    assert both.offsets.shape == (len(both.ids), 2)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_special_tokens_around_a_text_come_from_nowhere(texts: list[str]) -> None:
    """The special tokens around a text have the offsets (0, 0) and the word -1, also around an empty text."""
    for asked in (True, "chars", "bytes"):
        found = located(tokenizer(), texts, add_special_tokens=True, offsets=asked)
        assert found == Rows([2, 3] * len(texts), [0, 0, 0, 0] * len(texts), [-1, -1] * len(texts), [2] * len(texts))


# Bytes


def bytes_before(data: bytes, count: int) -> int:
    """The byte offset of a character: the position that cuts the bytes into two parts which decode to the text before it and after it."""
    text = data.decode("utf-8", "replace")
    parts = ((at, data[:at].decode("utf-8", "replace"), data[at:].decode("utf-8", "replace")) for at in range(len(data) + 1))
    return next(at for at, before, after in parts if (before, after) == (text[:count], text[count:]))


def in_bytes(rows: Rows, texts: Sequence[bytes]) -> Rows:
    """Convert character offsets to byte offsets, one by one."""
    owners = [text for text, count in zip(texts, rows.lengths, strict=True) for _ in range(2 * count)]
    return replace(rows, offsets=[bytes_before(text, count) for text, count in zip(owners, rows.offsets, strict=True)])


@given(
    texts=st.lists(st.lists(st.sampled_from([*MIXTURE, "a", "b "]), max_size=6).map("".join), max_size=4),
    cut=st.sampled_from([None, 2, 4, 7]),
    around=st.booleans(),
)
@examples(200)
def test_offsets_in_bytes(texts: list[str], cut: int | None, around: bool) -> None:
    """A byte offset is the number of UTF-8 bytes before the character at the character offset, for str and for bytes."""
    options: dict[str, Any] = {"add_special_tokens": around, "max_length": cut}
    data = [text.encode() for text in texts]
    expected = in_bytes(located(tokenizer(), texts, **options), data)
    assert located(tokenizer(), texts, offsets="bytes", **options) == expected
    assert located(tokenizer(), data, offsets="bytes", **options) == expected


@given(
    texts=st.lists(
        st.lists(st.sampled_from([b"a", b"b ", b"\xc3", b"\xa9", b"\xe4\xb8", b"\xad", b"\xf0\x9f\x98", b"\x80", b"\xff", b"\xed\xa0\x80"]))
        .map(b"".join),
        max_size=4,
    ),
    cut=st.sampled_from([None, 3, 5]),
)
@examples(300)
def test_offsets_in_bytes_that_are_not_utf_8(texts: list[bytes], cut: int | None) -> None:
    """If invalid bytes are replaced, offsets in bytes are positions in the bytes before replacement."""
    options: dict[str, Any] = {"errors": "replace", "max_length": cut}
    assert located(fallible(), texts, offsets="bytes", **options) == in_bytes(located(fallible(), texts, **options), texts)


@functools.cache
def fallible() -> fst.Tokenizer:
    """Make a tokenizer that does not drop U+FFFD."""
    return fst.Tokenizer(wordpiece([*TOKENS, "\ufffd", "##\ufffd"], clean_text=False))


def test_offsets_in_bytes_of_surrogates() -> None:
    """If surrogates are replaced, offsets are positions in the text after replacement."""
    for asked, expected in (("chars", [0, 1, 1, 2, 3, 4]), ("bytes", [0, 3, 3, 7, 8, 9])):
        found = located(fallible(), ["\ud800\ud83d\ude00 b"], offsets=asked, errors="replace")
        assert found.offsets == expected, fallible().tokenize("\ufffd\U0001f600 b")


@pytest.mark.parametrize("asked", ["utf-8", "characters", "", None, 2, ["bytes"]])
def test_other_offsets_are_refused(asked: Any) -> None:
    """A value of `offsets` other than False, True, 'chars' and 'bytes' is refused."""
    with pytest.raises(ValueError, match=r"^offsets is .*; expected False, True, 'chars' or 'bytes'$"):
        tokenizer().encode_batch(["a"], offsets=asked)
