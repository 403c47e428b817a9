"""Where ids come from: characters or bytes of a text, and words, are those of the reference and of the walk; texts that are cut; counts.

What cannot be compared with the reference, because it has no such thing, is compared with a definition in a line or two.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import ADDED, PIECES, TOKENS, compiled
from shared_data import SHARED, needs_shared
from test_reference import (
    CASED,
    CODE_POINTS,
    CONTEXTS,
    KEPT,
    PART,
    SETTINGS,
    UNCASED,
    golden_texts,
    hostile,
    letters,
    pair_of,
    sentences,
)
from tokenizers import AddedToken, Tokenizer, normalizers

import fst
from fst.compile import wordpiece
from fst.runtime import batch, machine
from fst.tables import Tables, Walk

FILLERS = {"ascii": "b un! ", "marked": "é 世b ", "astral": "𐐨 \U0001f600"}
BLOCK = 64

each_filler = pytest.mark.parametrize("filler", FILLERS.values(), ids=FILLERS.keys())
each_piece = pytest.mark.parametrize("piece", PIECES, ids=lambda piece: f"{piece!a:.30}")
each_vocabulary = pytest.mark.parametrize("name", [UNCASED, CASED])


@dataclass(frozen=True)
class Rows:
    """What is known of the ids of texts: the ids, their offsets, their words, and how many there are of each text."""

    ids: list[int]
    offsets: list[int]
    words: list[int]
    lengths: list[int]


def rows_of(found: fst.Batch) -> Rows:
    """Take a batch apart."""
    assert found.offsets is not None
    assert found.words is not None
    return Rows(found.ids.tolist(), found.offsets.ravel().tolist(), found.words.tolist(), np.diff(found.row_splits).tolist())


def located(tokenizer: fst.Tokenizer, texts: Any, **options: Any) -> Rows:
    """Encode texts without special tokens around them."""
    return rows_of(tokenizer.encode_batch(texts, **{"add_special_tokens": False, "offsets": True, **options}))


def walked(tables: Tables, texts: Iterable[str]) -> Rows:
    """Walk over texts."""
    rows = Rows([], [], [], [])
    for text in texts:
        walk = Walk(tables)
        rows.ids.extend(walk.run(text))
        rows.offsets.extend(itertools.chain.from_iterable(walk.offsets))
        rows.words.extend(walk.words)
        rows.lengths.append(len(walk.ids))
    return rows


def referred(reference: Tokenizer, texts: Sequence[str], **options: Any) -> Rows:
    """Ask the reference."""
    rows = Rows([], [], [], [])
    # In small parts: Python's garbage collector takes longer than the reference where there are many lists at a time.
    for first in range(0, len(texts), PART):
        for encoding in reference.encode_batch(list(texts[first : first + PART]), **{"add_special_tokens": False, **options}):
            rows.ids.extend(encoding.ids)
            rows.offsets.extend(itertools.chain.from_iterable(encoding.offsets))
            rows.words.extend(-1 if word is None else word for word in encoding.word_ids)
            rows.lengths.append(len(encoding.ids))
    return rows


@dataclass(frozen=True, eq=False)
class Pair:
    """The reference and the package, with the same vocabulary and options."""

    reference: Tokenizer
    tokenizer: fst.Tokenizer

    def check(self, texts: Sequence[str], **options: Any) -> None:
        """Find all texts to be located as the reference does it, as strings and as bytes, with one thread and two, or show a text."""
        expected = referred(self.reference, texts, **options)
        kinds: tuple[list[str] | list[bytes], ...] = (list(texts), [text.encode() for text in texts])
        for rows, threads in itertools.product(kinds, (1, 2)):
            if located(self.tokenizer, rows, threads=threads, **options) != expected:
                self._show(rows, texts, threads=threads, **options)

    def _show(self, rows: Any, texts: Sequence[str], **options: Any) -> None:
        """Look for the first row that differs."""
        options.pop("threads")
        for row, text in zip(rows, texts, strict=True):
            wanted, given = referred(self.reference, [text], **options), located(self.tokenizer, [row], **options)
            if wanted != given:
                pytest.fail(f"{text!a:.200}:\nreference {wanted!a:.800}\npackage   {given!a:.800}")
        pytest.fail("texts differ in a batch that do not differ each by itself")


def swaps(text: str) -> bool:
    """Whether canonical ordering moves marks of a text that are kept.

    There, the reference gives each mark the place of the one that stood there before.
    """
    clean = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    decompose = normalizers.NFD().normalize_str
    if MARKS.isdisjoint(text):
        return False
    cleaned = clean.normalize_str(text)
    return decompose(cleaned) != "".join(map(decompose, cleaned))


MARKS = frozenset(KEPT)

# The kernel, the walk and the reference


@functools.cache
def tables(longest: int = 100, layout: str = "auto") -> Tables:
    """Compile the tokens that all tests share."""
    return compiled(layout=layout, max_input_chars_per_word=longest)


@functools.cache
def tokenizer(longest: int = 100) -> fst.Tokenizer:
    """Make the tokenizer that all tests share."""
    return fst.Tokenizer(tables(longest))


@functools.cache
def short_chunked(longest: int) -> fst.Tokenizer:
    """Make a tokenizer with short chunks, for tests that ask for them."""
    return fst.Tokenizer(tables(longest))


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make chunks as short as the longest word lets them be."""
    monkeypatch.setattr(machine, "CHUNK", 0)


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks short, and threads worth their while."""
    monkeypatch.setattr(batch, "BLOCK", BLOCK)
    monkeypatch.setattr(batch, "LEAST", 1)


def check_walk(of: fst.Tokenizer, texts: Sequence[str], longest: int, threads: int = 1) -> None:
    """Hold what is known of texts, as str and as bytes, against the walk."""
    expected = walked(tables(longest), texts)
    assert located(of, list(texts), threads=threads) == located(of, [text.encode() for text in texts], threads=threads) == expected


@pytest.mark.usefixtures("short_chunks")
@each_filler
@each_piece
def test_any_piece_straddles_the_end_of_a_chunk(piece: str, filler: str) -> None:
    """A piece comes from the same places wherever in it a chunk ends."""
    limit = short_chunked(5)._workspaces.take().room
    start = filler * (limit // len(filler) - 10)
    check_walk(short_chunked(5), [start + "a" * more + piece + "b" for more in range(70)], 5)


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("longest", [1, 5, 12, 13, 100])
@given(pieces=st.lists(st.sampled_from((*PIECES, *FILLERS.values(), " ", "b", "a", "!")), min_size=4, max_size=60))
@settings(max_examples=40)
def test_any_text_is_located_as_by_the_walk(longest: int, pieces: list[str]) -> None:
    """Pieces in any order, over several chunks, come from where the walk says, whatever the longest word is."""
    check_walk(short_chunked(longest), ["".join(pieces), "", "".join(reversed(pieces)), " ".join(pieces)], longest)


@pytest.mark.usefixtures("short_blocks")
@each_filler
@each_piece
def test_any_piece_straddles_the_end_of_a_block(piece: str, filler: str) -> None:
    """A piece of a long row comes from the same places wherever in it what is read at a time ends."""
    start = filler * (2 * BLOCK // len(filler) + 1)
    check_walk(tokenizer(), [start + "a" * more + piece + " b" + start[: 40 - more % 40] for more in range(BLOCK + 2)], 100)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("longest", [1, 12, 100])
@given(pieces=st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS.values(), " ", "b", "a", "!", "[", "<")), min_size=20, max_size=100))
@settings(max_examples=40)
def test_any_long_row_is_located_as_by_the_walk(longest: int, pieces: list[str]) -> None:
    """A long row of anything comes from where the walk says, alone and among others, with threads and without."""
    text = "".join(pieces)
    rows = [text[: 3 * BLOCK], text, "", text[::-1], "a"]
    check_walk(tokenizer(longest), rows, longest)
    check_walk(tokenizer(longest), rows * 3, longest, threads=3)


@functools.cache
def machine_pair() -> Pair:
    """Build the reference for the machine that all tests share."""
    from tokenizers import models, pre_tokenizers

    vocabulary = {token: number for number, token in enumerate(TOKENS)}
    model: Any = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    reference = Tokenizer(model)
    reference.normalizer = normalizers.BertNormalizer()
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reference.add_special_tokens([*TOKENS[:5]])
    reference.add_tokens([AddedToken(token, normalized=False) for token in ADDED])
    return Pair(reference, tokenizer())


@given(pieces=st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS.values(), " ", "b", "a", "!", "[", "<")), max_size=30))
@settings(max_examples=200)
def test_walk_locates_as_the_reference(pieces: list[str]) -> None:
    """The walk, which says what the kernel computes, says of ids, offsets and words what the reference says."""
    text = "".join(pieces)
    if not swaps(text):
        assert walked(tables(), [text]) == referred(machine_pair().reference, [text])
        machine_pair().check([text])


# The reference


@needs_shared
@each_vocabulary
def test_golden_offsets(name: str) -> None:
    """The package and the reference both give the offsets that were kept."""
    with gzip.open(SHARED / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        kept = [json.loads(line)["offsets"] for line in lines]
    pair = located_pair(name)
    found = located(pair.tokenizer, golden_texts())
    assert len(kept) > 20_000
    assert found.lengths == [len(pairs) for pairs in kept]
    assert found.offsets == [place for pairs in kept for pair in pairs for place in pair]
    pair.check(golden_texts())


@functools.cache
def located_pair(name: str) -> Pair:
    """Load a vocabulary."""
    pair = pair_of(name)
    return Pair(pair.reference, pair.tokenizer)


@functools.lru_cache(maxsize=1)
def pair_of_letters(setting: str, reference: Callable[..., Tokenizer]) -> Pair:
    """Build the vocabulary of characters with one of the settings."""
    return Pair(reference(letters(), **SETTINGS[setting]), fst.Tokenizer(wordpiece(letters(), **SETTINGS[setting])))


def some_code_points() -> list[str]:
    """The first 12,544 characters, all that a normalizer changes but ideographs and syllables, and of the rest one of 97."""
    changes = normalizers.BertNormalizer(handle_chinese_chars=False).normalize_str
    changed = {char for char in CODE_POINTS if changes(char) != char and not 0xAC00 <= ord(char) < 0xD7A4 and ord(char) < 0xE0000}
    return sorted({*changed, *CODE_POINTS[:0x3100], *CODE_POINTS[::97]})


each_context = pytest.mark.parametrize(
    ("setting", "context"), [pytest.param(*case, id="-".join(case)) for case in itertools.product(SETTINGS, CONTEXTS)]
)


def check_in_context(chars: Sequence[str], setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """Locate characters in a context as the reference does, but for those that let marks change places."""
    texts = [CONTEXTS[context].format(char) for char in chars]
    strips = setting in ("uncased", "upper case without accents")
    pair_of_letters(setting, reference).check([text for text in texts if not (strips and swaps(text))])


@each_context
def test_some_characters_in_context(setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """What a character becomes, if anything, comes from where the reference says, and so does what is beside it."""
    check_in_context(some_code_points(), setting, context, reference)


@pytest.mark.slow
@each_context
def test_every_character_in_context(setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """What any code point becomes, if anything, comes from where the reference says, and so does what is beside it."""
    check_in_context(CODE_POINTS, setting, context, reference)


@needs_shared
@each_vocabulary
def test_sentences_in_many_languages(name: str) -> None:
    """Sentences of 109 languages are located as by the reference."""
    located_pair(name).check(sentences())


@needs_shared
@each_vocabulary
def test_hostile_texts(name: str) -> None:
    """Texts that were made to break programs are located as by the reference."""
    located_pair(name).check([text for text in hostile() if name == CASED or not swaps(text)])
