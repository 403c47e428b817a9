"""Where ids come from: characters or bytes of a text, and words, are those of the reference and of the walk; texts that are cut; counts.

What cannot be compared with the reference, because it has no such thing, is compared with a definition in a line or two.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import random
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support import answers
from support.documents import ADDED, PIECES, TOKENS, compiled
from support.kept import wordpiece
from support.machines.wordpiece import (
    CASED,
    CONTEXTS,
    FLAGS,
    KEPT,
    OF_ALL_KINDS,
    PART,
    QUICK,
    SETTINGS,
    UNCASED,
    golden_texts,
    hostile,
    letters,
    mixed,
    pair_of,
    sentences,
    texts_of_all_kinds,
    ways,
    words_by_script,
)
from support.shared_data import SHARED, needs_shared
from support.text.components import (
    BERT,
    COMPOSING,
    DIGITS,
    LOWERCASE,
    NFC,
    NFD,
    NFKC,
    NFKD,
    NORMALIZERS,
    PRE_TOKENIZERS,
    STRIP,
    STRIP_ACCENTS,
    bert,
    document,
    mixtures,
    replaced,
    small_vocabulary,
)
from support.text.every_character import EVERY_CHARACTER, SWEPT_CHARACTERS
from support.tiers import examples, sample, thinned
from tokenizers import AddedToken, Tokenizer, normalizers

import fst
from fst.compile.text.characters import reference as characters
from fst.machines.wordpiece.table import Tables, Walk
from fst.runtime.rows import batch
from fst.tables import kernel_call
from fst.tables.header import CONTEXTUAL_FLAGS

pytestmark = pytest.mark.sampled

FILLERS = ("b un! ", "é 世b ", "𐐨 \U0001f600")
BLOCK = 64

each_piece = pytest.mark.parametrize("piece", PIECES, ids=lambda piece: f"{piece!a:.30}")
each_vocabulary = pytest.mark.parametrize("name", [UNCASED, CASED])


def in_both_kinds(texts: Sequence[str], *threads: int) -> Iterator[tuple[Any, int]]:
    """Texts as str and as bytes, each with several numbers of threads."""
    return itertools.product((list(texts), [text.encode() for text in texts]), threads)


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


def encoded(tokenizer: fst.Tokenizer, texts: Any, **options: Any) -> fst.Batch:
    """Encode texts with offsets, without special tokens around them."""
    return tokenizer.encode_batch(texts, **{"add_special_tokens": False, "offsets": True, **options})


def located(tokenizer: fst.Tokenizer, texts: Any, **options: Any) -> Rows:
    """Encode texts, and take the batch apart."""
    return rows_of(encoded(tokenizer, texts, **options))


def digest_of(found: fst.Batch) -> str:
    """The digest of all that a batch says."""
    assert found.offsets is not None
    assert found.words is not None
    return answers.digest(found.ids, found.offsets.ravel(), found.words, np.diff(found.row_splits))


def kept_digest(reference: Tokenizer, texts: Sequence[str], **options: Any) -> str:
    """The digest of all that the reference says, kept or asked."""

    def ask() -> str:
        rows = referred(reference, texts, **options)
        flat = [np.array(numbers, np.int32) for numbers in (rows.ids, rows.offsets, rows.words)]
        return answers.digest(*flat, np.array(rows.lengths, np.int64))

    return answers.answer(answers.question(f"{sorted(options.items())} {reference.to_str()}", texts), ask)


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
        expected = kept_digest(self.reference, texts, **options)
        for rows, threads in ways(texts):
            if digest_of(encoded(self.tokenizer, rows, threads=threads, **options)) != expected:
                self._show(rows, texts, threads=threads, **options)

    def _show(self, rows: Any, texts: Sequence[str], **options: Any) -> None:
        """Look for the first row that differs."""
        options.pop("threads")
        for row, text in zip(rows, texts, strict=True):
            wanted, given = referred(self.reference, [text], **options), located(self.tokenizer, [row], **options)
            if wanted != given:
                pytest.fail(f"{text!a:.200}:\nreference {wanted!a:.800}\npackage   {given!a:.800}")
        pytest.fail("texts differ in a batch that do not differ each by itself")


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
    monkeypatch.setattr(kernel_call, "CHUNK", 0)


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks short, and threads worth their while."""
    monkeypatch.setattr(batch, "BLOCK", BLOCK)
    monkeypatch.setattr(batch, "MIN_SHARE", 1)


def check_walk(of: fst.Tokenizer, texts: Sequence[str], longest: int, threads: int = 1) -> None:
    """Hold what is known of texts, as str and as bytes, against the walk."""
    expected = walked(tables(longest), texts)
    assert located(of, list(texts), threads=threads) == located(of, [text.encode() for text in texts], threads=threads) == expected


@pytest.mark.usefixtures("short_chunks")
@each_piece
def test_any_piece_straddles_the_end_of_a_chunk(piece: str) -> None:
    """A piece comes from the same places wherever in it a chunk ends."""
    limit = short_chunked(5)._workspaces.take().symbols
    starts = [filler * (limit // len(filler) - 10) for filler in FILLERS]
    check_walk(short_chunked(5), [starts[more % 3] + "a" * more + piece + "b" for more in sample(range(70), 10, piece)], 5)


@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize("longest", [1, 5, 12, 13, 100])
@given(pieces=st.lists(st.sampled_from((*PIECES, *FILLERS, " ", "b", "a", "!")), min_size=4, max_size=60))
@examples(40)
def test_any_text_is_located_as_by_the_walk(longest: int, pieces: list[str]) -> None:
    """Pieces in any order, over several chunks, come from where the walk says, whatever the longest word is."""
    check_walk(short_chunked(longest), ["".join(pieces), "", "".join(reversed(pieces)), " ".join(pieces)], longest)


@pytest.mark.usefixtures("short_blocks")
@each_piece
def test_any_piece_straddles_the_end_of_a_block(piece: str) -> None:
    """A piece of a long row comes from the same places wherever in it what is read at a time ends."""
    starts = [filler * (2 * BLOCK // len(filler) + 1) for filler in FILLERS]
    places = sample(range(BLOCK + 2), 10, piece)
    texts = [starts[more % 3] + "a" * more + piece + " b" + starts[more % 3][: 40 - more % 40] for more in places]
    check_walk(tokenizer(), texts, 100)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("longest", [1, 12, 100])
@given(pieces=st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS, " ", "b", "a", "!", "[", "<")), min_size=20, max_size=60))
@examples(20)
def test_any_long_row_is_located_as_by_the_walk(longest: int, pieces: list[str]) -> None:
    """A long row of anything comes from where the walk says, alone and among others, with threads and without."""
    text = "".join(pieces)
    rows = [text[: 3 * BLOCK], text, "", text[::-1], "a"]
    for threads in (1, 3):
        check_walk(tokenizer(longest), rows, longest, threads)


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


@given(pieces=st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS, " ", "b", "a", "!", "[", "<")), max_size=30))
@examples(200)
def test_walk_locates_as_the_reference(pieces: list[str]) -> None:
    """The walk, which says what the kernel computes, says of ids, offsets and words what the reference says."""
    text = "".join(pieces)
    assert walked(tables(), [text]) == referred(machine_pair().reference, [text])
    machine_pair().check([text])


# The reference


@needs_shared
@each_vocabulary
def test_golden_offsets(name: str) -> None:
    """The package and the reference both give the offsets that were kept."""
    with gzip.open(SHARED / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
        lines = list(stream)
    assert len(lines) == len(golden_texts()) > 20_000
    rows = sample(range(len(lines)), 8)
    kept = [json.loads(lines[row])["offsets"] for row in rows]
    pair = located_pair(name)
    found = located(pair.tokenizer, [golden_texts()[row] for row in rows])
    assert found.lengths == [len(pairs) for pairs in kept]
    assert found.offsets == [place for pairs in kept for pair in pairs for place in pair]
    pair.check(sample(golden_texts()[::5], 4))


@functools.cache
def located_pair(name: str) -> Pair:
    """Load a vocabulary."""
    pair = pair_of(name)
    return Pair(pair.reference, pair.tokenizer)


@functools.lru_cache(maxsize=1)
def pair_of_letters(setting: str, reference: Callable[..., Tokenizer]) -> Pair:
    """Build the vocabulary of characters with one of the settings."""
    return Pair(reference(letters(), **SETTINGS[setting]), fst.Tokenizer(wordpiece(letters(), **SETTINGS[setting])))


@functools.cache
def some_code_points() -> list[str]:
    """The first 12,544 characters, all that a normalizer changes but ideographs and syllables, and of the rest one of 97."""
    changes = normalizers.BertNormalizer(handle_chinese_chars=False).normalize_str
    changed = {char for char in EVERY_CHARACTER if changes(char) != char and not 0xAC00 <= ord(char) < 0xD7A4 and ord(char) < 0xE0000}
    return sorted({*changed, *EVERY_CHARACTER[:0x3100], *EVERY_CHARACTER[::97]})


each_context = pytest.mark.parametrize(("setting", "context"), [*itertools.product(SETTINGS, CONTEXTS)])
each_quick_context = pytest.mark.parametrize(
    ("setting", "context"),
    [
        *QUICK,
        ("uncased", "between stripped marks"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (("cased", "alone"), ("lower case with accents", "before a letter"))),
    ],
)


def check_in_context(chars: Sequence[str], setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """Locate characters in a context as the reference does."""
    pair_of_letters(setting, reference).check([CONTEXTS[context].format(char) for char in chars])


@each_quick_context
def test_some_characters_in_context(setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """What a character becomes, if anything, comes from where the reference says, and so does what is beside it."""
    check_in_context(some_code_points()[::48], setting, context, reference)


@pytest.mark.slow
@each_context
def test_every_character_in_context(setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """What any code point becomes, if anything, comes from where the reference says, and so does what is beside it."""
    check_in_context(SWEPT_CHARACTERS, setting, context, reference)


@needs_shared
@each_vocabulary
def test_sentences_in_many_languages(name: str) -> None:
    """Sentences of 109 languages are located as by the reference."""
    located_pair(name).check(sentences()[::8])


@needs_shared
@each_vocabulary
def test_hostile_texts(name: str) -> None:
    """Texts that were made to break programs are located as by the reference."""
    located_pair(name).check(hostile())


MIXTURE = [  # what normalisation changes, drops, takes apart or isolates; what is cut out; and what only looks so
    *("ab", "e\u0301", "É", "İ", "ß", "ﬁ", "ﷺ", "½", "≠", "각", "한국", "\u1112\u1161", "\u0344", "\u0301", "\u0301\u0301", "\u1b44"),
    *("\u302e", "\U0001d165", "\U0001d15f", "か\u3099", "が", "中", "中文", "𠀀", "豈", "\u0901", "क्षि", "\u200d", "\u200b", "\0", "\x1f"),
    *("\ufffd", "\ue000", "\u0378", "\U0001f600", "\U0001f468\u200d\U0001f469", "𐐀", "\U0001e000", "\u2028", "\u3000", "\u00a0"),
    *(" ", "  ", "\t", "\n", ".", "..", "-", "'", "[MASK]", "[MASK", "[UNK]", "[CLS][SEP]", "##", "#", "ab" * 60, "é" * 101, "q"),
]
PREFIXES = ("##", "", "a", "é", "[MASK]", "\u0301", "▁")


@functools.lru_cache(maxsize=1)
def pair_of_options(reference: Callable[..., Tokenizer], **options: Any) -> Pair:
    """Build a vocabulary of all kinds of tokens with some options and another prefix."""
    prefix = options.get("continuing_subword_prefix", "##")
    tokens = [*dict.fromkeys(prefix + token[2:] if token[:2] == "##" else token for token in OF_ALL_KINDS)]
    return Pair(reference(tokens, **options), fst.Tokenizer(wordpiece(tokens, **options)))


def some_options(seed: int) -> dict[str, Any]:
    """Draw options, another prefix and another longest word."""
    rng = random.Random(seed)
    drawn = {name: rng.choice(values) for name, values in FLAGS.items()}
    return {**drawn, "continuing_subword_prefix": rng.choice(PREFIXES), "max_input_chars_per_word": rng.choice([1, 2, 7, 100])}


@pytest.mark.parametrize("seed", thinned(range(20), 3))
@given(texts=st.lists(st.lists(st.sampled_from(MIXTURE), max_size=12).map("".join), min_size=1, max_size=6))
@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_mixture(texts: list[str], seed: int, reference: Callable[..., Tokenizer]) -> None:
    """Any mixture of what is changed, dropped, taken apart, isolated or cut out is located as by the reference, with any options."""
    pair_of_options(reference, **some_options(seed)).check(texts)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "values"), [*enumerate(itertools.product(*FLAGS.values()))])
def test_options(number: int, values: Sequence[Any], reference: Callable[..., Tokenizer]) -> None:
    """Each combination of options, with one prefix or another, locates words of all kinds as the reference does."""
    options = dict(zip(FLAGS, values, strict=True))
    pair = pair_of_options(reference, **options, continuing_subword_prefix=PREFIXES[number % len(PREFIXES)])
    pair.check(texts_of_all_kinds())


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    thinned(
        [
            *(pytest.param(parts, [BERT, DIGITS], id=name) for name, parts in (NORMALIZERS | COMPOSING).items()),
            *(pytest.param(NORMALIZERS["the quick tour's"], parts, id=f"split at {name}") for name, parts in PRE_TOKENIZERS.items()),
        ],
        12,
    ),
)
def test_components(normalizer: Any, pre_tokenizer: Any, tmp_path: Path) -> None:
    """What other normalizers and pre-tokenizers make of a text is located as by the reference."""
    texts = mixtures(8, 400)
    pair_of_components(normalizer, pre_tokenizer, tmp_path).check([*texts, *map("[MASK]".join, itertools.pairwise(texts[:100]))])


IN_STEPS = (  # each of these orders marks twice, or makes marks of letters before it orders them
    *("composed after decomposed", "composed again", "BERT's twice", "BERT's with accents, decomposed", "cleaned between two orders"),
    *("a letter replaced by marks", "a letter replaced by a letter with an accent", "lower case first"),
)
MARKS = [  # marks of many places in canonical ordering, what they come from, and what composes
    *"\u0301\u0323\u0308\u0316\u0327\u0307\u0315\u0345\u0340\u0344\u1b44\u302e\u3099\u093c\u0e48\u05b0\u064b\u0651\u0f71\u0f74",
    *"\u0f80\u0f73\u0f81\u0130\u00e9\u1ed9\u01d5\u1ea5\u1e69\u1e9b\u00b4\uff9e\u1100\u1161\u11a8\uac00\u212b\u01d6\u30abaeio x\0\u4e2d",
]


def runs_of_marks(rng: random.Random, count: int) -> list[str]:
    """Make short texts of some marks and letters, so that most of them come several times."""
    return ["".join(rng.choices(rng.sample(MARKS, 8), k=rng.randint(2, 12))) for _ in range(count)]


@pytest.mark.parametrize("name", thinned(IN_STEPS, 3))
def test_marks_that_change_places_in_steps(name: str, tmp_path: Path) -> None:
    """Marks that are ordered twice, or come of letters, are located as by the reference, which takes one step after the other."""
    pair = pair_of_components((NORMALIZERS | COMPOSING)[name], [BERT], tmp_path)
    assert pair.tokenizer.about["placing"]
    pair.check([*mixtures(8, 500), *runs_of_marks(random.Random(9), 500)])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ("BERT's", "digits and white space") else pytest.mark.slow) for name in PRE_TOKENIZERS]
)
def test_words_of_marks_in_steps(name: str, tmp_path: Path) -> None:
    """However a text is split into words, what is left of marks in them is located step by step as by the reference."""
    pair = pair_of_components([replaced("x", "\u0301\u0323"), LOWERCASE, NFD, STRIP_ACCENTS, NFKD], PRE_TOKENIZERS[name], tmp_path)
    assert pair.tokenizer.about["placing"]
    pair.check(mixtures(9, 100))


@pytest.mark.parametrize("seed", thinned(range(6), 3))
def test_any_sequence_of_normalizers(seed: int, tmp_path: Path) -> None:
    """What any sequence of normalizers makes of marks is located as by the reference, or it is refused when it is compiled."""
    check_any_sequence(seed, 300, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_sequences_of_normalizers(seed: int, tmp_path: Path) -> None:
    """The same for more sequences and more texts."""
    check_any_sequence(seed, 1200, tmp_path)


def check_any_sequence(seed: int, count: int, folder: Path) -> None:
    """Draw normalizers and texts, and find these to be located as by the reference."""
    rng = random.Random(seed)
    try:
        pair = pair_of_components(some_normalizers(rng), [BERT], folder)
    except fst.UnsupportedError:
        return
    pair.check([*runs_of_marks(rng, count), *mixtures(seed, count // 3)])


def some_normalizers(rng: random.Random) -> list[Any]:
    """Draw normalizers, half of which order marks."""
    others: list[Callable[[], Any]] = [
        lambda: LOWERCASE,
        lambda: STRIP_ACCENTS,
        lambda: {**STRIP, "strip_left": rng.random() < 0.5},
        lambda: bert(strip_accents=rng.choice([None, True, False]), lowercase=rng.random() < 0.5, clean_text=rng.random() < 0.5),
        lambda: replaced(rng.choice(MARKS), "".join(rng.choices(MARKS, k=rng.randint(0, 3)))),
    ]
    return [rng.choice([NFC, NFD, NFKC, NFKD]) if rng.random() < 0.5 else rng.choice(others)() for _ in range(rng.randint(1, 5))]


def test_streams_do_not_locate_in_steps(tmp_path: Path) -> None:
    """A text that comes in pieces is not located where marks are ordered in several steps; that is refused by name, and ids are as ever."""
    tok = pair_of_components(NORMALIZERS["lower case first"], [BERT], tmp_path).tokenizer
    with pytest.raises(fst.UnsupportedError, match="streams with normalisation that orders marks in several steps: encode"):
        tok.stream(offsets=True)
    stream = tok.stream()
    stream.write("\u0130\u0323 a")
    assert stream.close().ids.tolist() == tok.encode("\u0130\u0323 a").tolist()


@pytest.mark.parametrize("name", thinned(["BERT's twice", "lower case first", "composed before BERT's"], 3))
def test_added_tokens_among_marks_in_steps(name: str, tmp_path: Path) -> None:
    """Added tokens in normalised text, and what is beside them, are located as by the reference where marks are ordered in steps."""
    tokens = small_vocabulary()
    source = document(NORMALIZERS[name], [BERT], tokens)
    plain, word, stripping = ["normalized"], ["normalized", "single_word"], ["lstrip", "rstrip"]
    kinds = {"ab": plain, "b1": word, "<x>": stripping, "xo": ["single_word"], "1.b": plain}
    source["added_tokens"] += [
        {"id": number, "content": content, "special": False, **{flag: flag in flags for flag in CONTEXTUAL_FLAGS}}
        for number, (content, flags) in enumerate(kinds.items(), len(tokens))
    ]
    rng = random.Random(5)
    texts = ["".join(rng.choices([*rng.sample(MARKS, 8), *kinds, *kinds], k=rng.randint(1, 12))) for _ in range(1500)]
    pair = pair_of_source(source, tmp_path)
    assert pair.tokenizer.about["placing"]
    assert pair.tokenizer.about["late"].keys() == kinds.keys()
    pair.check(texts)


def pair_of_components(normalizer: Any, pre_tokenizer: Any, folder: Path) -> Pair:
    """Build a vocabulary of single characters with some components."""
    return pair_of_source(document(normalizer, pre_tokenizer, small_vocabulary()), folder)


def pair_of_source(source: Any, folder: Path) -> Pair:
    """Build the reference and the package's tokenizer from a tokenizer.json."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(source), encoding="utf-8")
    return Pair(Tokenizer.from_file(str(path)), fst.Tokenizer(wordpiece(path)))


@needs_shared
@each_vocabulary
def test_mixed_scripts(name: str) -> None:
    """Random words of random scripts, side by side, are located as by the reference."""
    rng = random.Random(6)
    located_pair(name).check([*mixed(words_by_script(rng), rng, 10_000)])


LONG = pytest.mark.parametrize("char", ["a", "É", "한", "\U0001f600", "a\0", "q"], ids=ascii)


@functools.cache
def long_words(longest: int) -> Tables:
    """Compile a vocabulary that long words are made of."""
    return wordpiece(SYLLABLES, max_input_chars_per_word=longest)


SYLLABLES = [
    "[UNK]",
    *(prefix + piece for prefix in ("", "##") for piece in ("a", "aaa", "e", "ee", "\u1112\u1161", "\u11ab", "\U0001f600")),
]


@LONG
@pytest.mark.parametrize("longest", [99, 300])
def test_long_words(char: str, longest: int, reference: Callable[..., Tokenizer]) -> None:
    """Words of hundreds and thousands of characters, known or too long, at any place of a chunk, are located as by the reference."""
    pair = Pair(reference(SYLLABLES, max_input_chars_per_word=longest), fst.Tokenizer(long_words(longest)))
    words = [(char * size)[:size] for size in (1, 99, 100, 101, 299, 300, 301, 4_095, 4_096, 4_097, 20_000)]
    pair.check([*words, " ".join(words * 9), "." + "[UNK]".join(words), "中".join(reversed(words))])


@pytest.mark.parametrize("char", ["a", *(pytest.param(char, marks=pytest.mark.slow) for char in ("한", "a\0"))], ids=ascii)
def test_words_over_several_chunks(char: str) -> None:
    """Words of thousands of characters that are segmented are located as by the walk; the reference takes minutes for one of them."""
    words = [(char * size)[:size] for size in (4_095, 4_097, 5_000, 5_001, 9_000)]
    texts = [" ".join(words), "." + "[UNK]".join(words)]
    assert located(fst.Tokenizer(long_words(5_000)), texts) == walked(long_words(5_000), texts)


def texts_of_marks() -> list[str]:
    """Random runs of marks, those that are kept and others, and of what they come from."""
    rng = random.Random(10)
    chars = [*KEPT, "\u0301", "\u0323", "\u0344", "\u0f73", "\U0001d15f", "é", "a", "\0", "\u1112\u1161", "각"]
    return ["".join(rng.choices(chars, k=rng.randint(2, 12))) for _ in range(300)]


def marks_by_definition(text: str) -> list[tuple[str, int]]:
    """The characters of a text without accents, and the place of each: what the reference does with marks, a step after the other.

    Each character is taken apart, what comes of it in runs of marks is put in order, and then what was the first of its character has
    the next place of the text, and what was not the place of what is before it, whichever character it comes from.
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
    """In a run of marks, what comes first in canonical order has the place of what stood first, and so on."""
    for text in texts_of_marks():
        expected = marks_by_definition(text)
        tokens = [*dict.fromkeys(prefix + char for char, _ in expected for prefix in ("", "##"))]
        found = reference(["[UNK]", *tokens], lowercase=False, strip_accents=True, pre_tokenizer="none").encode(text)
        assert [token.removeprefix("##") for token in found.tokens] == [char for char, _ in expected]
        assert found.offsets == [(place, place + 1) for _, place in expected]


def test_marks_that_change_places(reference: Callable[..., Tokenizer]) -> None:
    """Runs of marks are located as by the reference."""
    pair_of_letters("uncased", reference).check(texts_of_marks())


def test_ids_of_two_lengths_are_not_located() -> None:
    """Where two tokens of different lengths have one id, its offsets are refused by a token's name, and ids are as ever."""
    several = replace(tables(), token_ids=np.where(tables().token_ids == TOKENS.index("un"), TOKENS.index("a"), tables().token_ids))
    tok = fst.Tokenizer(several)
    with pytest.raises(fst.UnsupportedError, match="offsets: token 'a' shares its id with a token of another length"):
        tok.encode_batch(["a"], offsets=True)
    assert tok.encode_batch(["a"]).ids.tolist() == tokenizer().encode("a").tolist()


def test_offsets_are_made_only_when_asked_for() -> None:
    """A batch has no offsets and no words unless they are asked for, and its ids do not depend on it."""
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
    """Ids that are put around a text have the offsets (0, 0) and the word -1, also around nothing."""
    for asked in (True, "chars", "bytes"):
        found = located(tokenizer(), texts, add_special_tokens=True, offsets=asked)
        assert found == Rows([2, 3] * len(texts), [0, 0, 0, 0] * len(texts), [-1, -1] * len(texts), [2] * len(texts))


# Bytes


def bytes_before(data: bytes, count: int) -> int:
    """How many bytes the first characters of some bytes are, by definition: what is before and what is behind decode to what they are."""
    text = data.decode("utf-8", "replace")
    parts = ((at, data[:at].decode("utf-8", "replace"), data[at:].decode("utf-8", "replace")) for at in range(len(data) + 1))
    return next(at for at, before, after in parts if (before, after) == (text[:count], text[count:]))


def in_bytes(rows: Rows, texts: Sequence[bytes]) -> Rows:
    """Turn offsets in characters into offsets in bytes, one by one."""
    owners = [text for text, count in zip(texts, rows.lengths, strict=True) for _ in range(2 * count)]
    return replace(rows, offsets=[bytes_before(text, count) for text, count in zip(owners, rows.offsets, strict=True)])


@given(
    texts=st.lists(st.lists(st.sampled_from([*MIXTURE, "a", "b "]), max_size=6).map("".join), max_size=4),
    cut=st.sampled_from([None, 2, 4, 7]),
    around=st.booleans(),
)
@examples(200)
def test_offsets_in_bytes(texts: list[str], cut: int | None, around: bool) -> None:
    """Offsets in bytes are those in characters, each mapped to the bytes of UTF-8 before it, for str and for bytes."""
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
    """Where bytes that are not UTF-8 are replaced, offsets in bytes are those of the bytes that were given."""
    options: dict[str, Any] = {"errors": "replace", "max_length": cut}
    assert located(fallible(), texts, offsets="bytes", **options) == in_bytes(located(fallible(), texts, **options), texts)


@functools.cache
def fallible() -> fst.Tokenizer:
    """Make a tokenizer that does not drop U+FFFD."""
    return fst.Tokenizer(wordpiece([*TOKENS, "\ufffd", "##\ufffd"], clean_text=False))


def test_offsets_in_bytes_of_surrogates() -> None:
    """Where surrogates are replaced, offsets are those in the text with U+FFFD, or with the character that two of them make."""
    for asked, expected in (("chars", [0, 1, 1, 2, 3, 4]), ("bytes", [0, 3, 3, 7, 8, 9])):
        found = located(fallible(), ["\ud800\ud83d\ude00 b"], offsets=asked, errors="replace")
        assert found.offsets == expected, fallible().tokenize("\ufffd\U0001f600 b")


@pytest.mark.parametrize("asked", ["utf-8", "characters", "", None, 2, ["bytes"]])
def test_other_offsets_are_refused(asked: Any) -> None:
    """Offsets are none, in characters or in bytes; whatever else is asked for is refused by its name."""
    with pytest.raises(ValueError, match=r"^offsets=.*: there are False, True or 'chars', and 'bytes'$"):
        tokenizer().encode_batch(["a"], offsets=asked)


# Rows that are cut


@functools.cache
def truncating(name: str, max_length: int) -> Tokenizer:
    """Load a vocabulary for the reference that truncates."""
    reference = Tokenizer.from_str(pair_of(name).reference.to_str())
    reference.enable_truncation(max_length)
    return reference


@needs_shared
@each_vocabulary
@pytest.mark.parametrize(("max_length", "around"), thinned(itertools.product((2, 3, 7, 128), (True, False)), 4))
def test_rows_are_cut_as_by_the_reference(name: str, max_length: int, around: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of at most so many ids, special tokens included, are the reference's, whether or not long texts are read to their end."""
    texts = [*golden_texts()[::7], *("\n".join(sentences()[first : first + 40]) for first in range(0, 2_000, 40))]
    expected = kept_digest(truncating(name, max_length), texts, add_special_tokens=around)
    for few in (1 << 14, 0):
        monkeypatch.setattr(batch, "FEW_CHARACTERS", few)
        monkeypatch.setattr(batch, "MIN_PIECE", few // 8 or 1)
        for rows, threads in in_both_kinds(texts, 1, 2):
            options: dict[str, Any] = {"max_length": max_length, "add_special_tokens": around, "threads": threads}
            found = encoded(pair_of(name).tokenizer, rows, **options)
            assert digest_of(found) == expected
            assert np.array_equal(pair_of(name).tokenizer.encode_batch(rows, **options).ids, found.ids)


@pytest.mark.usefixtures("short_blocks")
@given(
    texts=st.lists(st.lists(st.sampled_from((*PIECES, *FILLERS, " ", "b", "a", "!")), max_size=30).map("".join), max_size=5),
    max_length=st.integers(2, 80),
    around=st.booleans(),
    threads=st.sampled_from([1, 3]),
)
@examples(300)
def test_cut_rows_begin_as_whole_ones(texts: list[str], max_length: int, around: bool, threads: int) -> None:
    """A cut row begins as the whole one does, and ends with what stands after a text, however few of its characters are read at a time."""
    options: dict[str, Any] = {"add_special_tokens": around}
    after = 1 if around else 0
    whole = tokenizer().encode_batch(texts, offsets=True, **options)
    for rows in (texts, [text.encode() for text in texts]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batch, "FEW_CHARACTERS", 0)
            patch.setattr(batch, "MIN_PIECE", 1)
            found = tokenizer().encode_batch(rows, offsets=True, max_length=max_length, threads=threads, **options)
        for row, given_whole in enumerate(whole):
            begin, end = whole.row_splits[row : row + 2].tolist()
            kept = slice(begin, begin + min(end - begin, max_length) - after)
            last = slice(end - after, end)
            own = slice(*found.row_splits[row : row + 2].tolist())
            for part, of_whole in ((found.ids, whole.ids), (found.offsets, whole.offsets), (found.words, whole.words)):
                assert part is not None
                assert of_whole is not None
                assert part[own].tolist() == [*of_whole[kept].tolist(), *of_whole[last].tolist()], given_whole


@pytest.mark.parametrize("kind", [str, bytes])
def test_long_text_is_not_read_to_its_end(kind: type) -> None:
    """What stands far behind the last id of a cut row is not read: it may even be no text."""
    text: Any = "b " * 100_000 + "\ud800" if kind is str else b"b " * 100_000 + b"\xff"
    assert tokenizer().encode_batch([text, text], max_length=5).ids.tolist() == [2, 7, 7, 7, 3] * 2
    with pytest.raises(fst.TextError, match=r"^row 0, position 200000: "):
        tokenizer().encode_batch([text, text], max_length=150_000)


@pytest.mark.parametrize("max_length", [1, 0, -1])
def test_length_without_room_for_special_tokens_is_refused(max_length: int) -> None:
    """A row that special tokens alone would fill and more is refused; without them any length will do that is one."""
    with pytest.raises(ValueError, match=f"^max_length={max_length}: a row has 2 special tokens, and at least as many ids$"):
        tokenizer().encode_batch(["a"], max_length=max_length)
    if max_length >= 0:
        assert tokenizer().encode_batch(["a a a"], max_length=max_length, add_special_tokens=False).ids.tolist() == [5] * max_length
    else:
        with pytest.raises(ValueError, match="max_length=-1"):
            tokenizer().encode_batch(["a"], max_length=max_length, add_special_tokens=False)


@pytest.mark.parametrize("max_length", [1.0, 5.5, "5", [5]])
def test_length_that_is_no_number_is_refused(max_length: Any) -> None:
    """A length is a whole number, of Python's or numpy's; whatever else is given is refused by its name."""
    with pytest.raises(ValueError, match=r"^max_length=.* is not a whole number$"):
        tokenizer().encode_batch(["a"], max_length=max_length)
    length: Any = np.int64(3)
    assert tokenizer().encode_batch(["a a"], max_length=length).ids.tolist() == [2, 5, 3]


# Counts


@pytest.mark.usefixtures("short_blocks")
@given(
    texts=st.lists(st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS, " ", "b")), max_size=60).map("".join), max_size=5),
    times=st.sampled_from([1, 30]),
    around=st.booleans(),
)
@examples(100)
def test_counts_are_the_lengths_of_rows(texts: list[str], times: int, around: bool) -> None:
    """A text has as many tokens as it has ids, whichever threads count and however long it is."""
    expected = np.diff(tokenizer().encode_batch(texts * times, add_special_tokens=around).row_splits).tolist()
    for rows, threads in in_both_kinds(texts * times, 1, 3):
        counts = tokenizer().count_tokens(rows, add_special_tokens=around, threads=threads)
        assert counts.dtype == np.int64
        assert counts.tolist() == expected


@pytest.mark.parametrize("kind", [str, bytes])
@pytest.mark.parametrize("rows", [1, 100])
def test_counting_takes_no_more_memory_for_more_text(rows: int, kind: type) -> None:
    """Ids that are counted are not kept: more text takes no more memory, be it one text or many."""
    peaks = []
    for size in (1_000_000, 8_000_000):
        text: Any = ("un b " if kind is str else b"un b ") * (size // rows // 5)
        texts = [text] * rows
        tokenizer().count_tokens(texts, threads=1)
        tracemalloc.start()
        counts = tokenizer().count_tokens(texts, threads=1, add_special_tokens=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert counts.tolist() == [size // rows // 5 * 2] * rows
    assert peaks[1] < 1.5 * peaks[0]
