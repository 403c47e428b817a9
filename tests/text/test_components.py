"""Normalizers and pre-tokenizers of a ``tokenizer.json``, alone and in sequences, give the same words and ids as `tokenizers`, or are
refused.

Components are tested without a vocabulary, by the words that they give; the kernel is tested by the ids that it gives.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shared_data import SHARED, needs_shared
from support.text.components import (
    BERT,
    COMPOSING,
    DIGITS,
    ISOLATE,
    LOWERCASE,
    MIXED,
    NFC,
    NFD,
    NFKC,
    NFKD,
    NMT,
    NORMALIZERS,
    PRE_TOKENIZERS,
    SPLIT,
    STRIP,
    STRIP_ACCENTS,
    WHITESPACE,
    Part,
    bert,
    document,
    mixtures,
    replaced,
    sequence,
    small_vocabulary,
    words_of,
)
from support.text.every_character import EVERY_CHARACTER
from support.text.words_of import Load, alphabet_of, each
from support.tiers import examples, sample, thinned
from tokenizers import Tokenizer

import fst
from fst.automata.rows import ENTRY, NONE, pack
from fst.compile.text import pre_tokenizers
from fst.compile.text.characters import reference as characters
from fst.runtime.rows.texts import rows_of
from fst.runtime.workspace import NO_SPECIAL_IDS
from fst.text.alphabet import Alphabet


def check_words(normalizer: Sequence[Part], pre_tokenizer: Sequence[Part], texts: Sequence[str]) -> None:
    """Check that the words of all texts equal those of `tokenizers`."""
    check_words_of(alphabet_of(normalizer, pre_tokenizer), normalizer, pre_tokenizer, texts)


def check_words_of(ours: Alphabet, normalizer: Sequence[Part], pre_tokenizer: Sequence[Part], texts: Sequence[str]) -> None:
    """Check that the words that an alphabet gives for all texts equal those of `tokenizers`."""
    reference = Tokenizer.from_str(json.dumps(document(normalizer, pre_tokenizer)))
    for text in texts:
        assert ours.run(text) == words_of(reference, text), ascii(text)


CONTEXT = "{0} a{0}A \u1e9b\u0323{0}\u0301 \u302e{0}\u1b44{0}. 1{0}\u3099"


@functools.cache
def notable() -> list[str]:
    """Return the characters that some component treats differently from an adjacent code point, and a few others."""
    runs = [run for runs in characters.properties().values() for run in runs]
    edges = {edge for first, last, _ in runs for edge in (first - 1, first, last, last + 1)}
    codes = edges.union(range(0x3100), range(0, 0x110000, 1009), np.flatnonzero(characters.orders()).tolist())
    return [chr(code) for code in sorted(codes) if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000]


@functools.cache
def known() -> list[str]:
    """Return the characters that have any property, and every 37th of the other characters."""
    codes = {code for name in characters.properties() for code in characters.those(name).tolist()}
    return [char for char in EVERY_CHARACTER if ord(char) in codes or ord(char) % 37 == 0]


@pytest.mark.mostly_slow
@each("normalizer", NORMALIZERS, 16)
def test_notable_characters(normalizer: list[Part]) -> None:
    """Each normalizer gives a character, next to letters and between marks, the same words as in `tokenizers`."""
    check_words(normalizer, [SPLIT], [CONTEXT.format(char) for char in sample(notable()[::13], 12, str(normalizer))])


@each("normalizer", COMPOSING, 10)
def test_notable_characters_composed(normalizer: list[Part]) -> None:
    """Each normalizer that composes gives a character, next to letters and between marks, the same words as in `tokenizers`."""
    chars = sample(notable()[::13], 24, str(normalizer))
    check_words(normalizer, [SPLIT], [context.format(char) for char in chars for context in (CONTEXT, "a{0}b", "e\u0301 {0}A")])


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned([*NORMALIZERS, *COMPOSING], 2))
def test_every_character(name: str) -> None:
    """Each normalizer gives a sample of every sixty-fourth character, starting at another character for each normalizer, the same words
    as in `tokenizers`.
    """
    chosen = sample(known()[[*NORMALIZERS, *COMPOSING].index(name) % 64 :: 64], 8, name)
    check_words((NORMALIZERS | COMPOSING)[name], [SPLIT], [CONTEXT.format(char) for char in chosen])


@pytest.mark.mostly_slow
@each("pre_tokenizer", PRE_TOKENIZERS, 8)
def test_notable_characters_split(pre_tokenizer: list[Part]) -> None:
    """Each pre-tokenizer splits a character from letters and from equal characters as in `tokenizers`."""
    chars = sample(notable()[::13], 12, str(pre_tokenizer))
    check_words([], pre_tokenizer, [f"a{char}b{char}{char}1.{char}" for char in chars])


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", pre_tokenizers.BEHAVIORS)
def test_empty_patterns_cut_at_each_character(behavior: str, invert: bool) -> None:
    """A Split by an empty string cuts at each character with every behavior, except that the text between matches may not be removed."""
    part = {"type": "Split", "pattern": {"String": ""}, "behavior": behavior, "invert": invert}
    if (behavior, invert) == ("Removed", True):
        with pytest.raises(fst.UnsupportedError, match="expected sets of characters"):
            alphabet_of([], [part])
        return
    check_words([], [part], ["", "a", "ab c", " é\u0301"])


@pytest.mark.slow
@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_every_character_splits(name: str) -> None:
    """Each pre-tokenizer splits a sample of every eighth character, starting at another character for each pre-tokenizer, as in
    `tokenizers`.
    """
    chosen = sample(known()[list(PRE_TOKENIZERS).index(name) % 8 :: 8], 16, name)
    check_words([], PRE_TOKENIZERS[name], [f"a{char}b{char}{char}1.{char}" for char in chosen])


def is_refused(normalizer: list[Part], pre_tokenizer: list[Part]) -> bool:
    """Whether a Strip has an effect, so that it must be refused."""
    splits_at_all = any(part["type"] in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit") for part in pre_tokenizer)
    return STRIP in normalizer and not splits_at_all


PAIRS = [
    (name, split, row % 32 == column)
    for row, name in enumerate(NORMALIZERS)
    for column, split in enumerate(list(PRE_TOKENIZERS)[::4])
    if (row + column) % 2 == 0
]


def mixed_pairs(*, by_default: bool) -> list[Any]:
    """The pairs of a normalizer and a pre-tokenizer that run by default, or the others, which are slow."""
    marks: Any = [] if by_default else pytest.mark.slow
    pairs = [(name, split) for name, split, is_default in PAIRS if is_default == by_default]
    return [pytest.param(NORMALIZERS[name], PRE_TOKENIZERS[split], id=f"{name}-{split}", marks=marks) for name, split in pairs]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), [*mixed_pairs(by_default=True), *thinned(mixed_pairs(by_default=False), 4)])
def test_mixtures(normalizer: list[Part], pre_tokenizer: list[Part]) -> None:
    """Normalizers and pre-tokenizers together give the same words as `tokenizers`."""
    if is_refused(normalizer, pre_tokenizer):
        with pytest.raises(fst.UnsupportedError, match="normalizer Strip"):
            alphabet_of(normalizer, pre_tokenizer)
    else:
        check_words(normalizer, pre_tokenizer, sample(mixtures(1, 150), 4))


@each("normalizer", COMPOSING, 10)
def test_mixtures_composed(normalizer: list[Part]) -> None:
    """Normalizers that compose give random texts the same words as `tokenizers`."""
    check_words(normalizer, [BERT], sample(mixtures(4, 1000), 20))


ANY_NORMALIZER = st.one_of(
    st.sampled_from([NFC, NFD, NFKC, NFKD, NMT, LOWERCASE, STRIP_ACCENTS, STRIP, {**STRIP, "strip_left": False}]),
    st.builds(
        bert,
        clean_text=st.booleans(),
        handle_chinese_chars=st.booleans(),
        strip_accents=st.none() | st.booleans(),
        lowercase=st.booleans(),
    ),
    st.builds(replaced, st.sampled_from(MIXED), st.text(st.sampled_from(MIXED), max_size=4)),
)
ANY_PRE_TOKENIZER = st.one_of(
    st.sampled_from([BERT, SPLIT, DIGITS, WHITESPACE, DIGITS | {"individual_digits": False}]),
    st.sampled_from(pre_tokenizers.BEHAVIORS).map(lambda behavior: {"type": "Punctuation", "behavior": behavior}),
)


@pytest.mark.slow
@examples(60)
@given(
    normalizer=st.lists(ANY_NORMALIZER, max_size=5),
    pre_tokenizer=st.lists(ANY_PRE_TOKENIZER, max_size=3),
    texts=st.lists(st.text(st.sampled_from(MIXED), max_size=12), max_size=40),
)
def test_any_sequence(normalizer: list[Part], pre_tokenizer: list[Part], texts: list[str]) -> None:
    """Any sequence of components gives the same words as `tokenizers`, or is refused."""
    try:
        ours = alphabet_of(normalizer, pre_tokenizer)
    except fst.UnsupportedError:
        return
    check_words_of(ours, normalizer, pre_tokenizer, texts)


@pytest.mark.slow
@examples(400)
@given(
    normalizer=st.lists(ANY_NORMALIZER, max_size=6),
    pre_tokenizer=st.lists(ANY_PRE_TOKENIZER, max_size=4),
    seed=st.integers(0, 1 << 20),
)
def test_any_sequence_at_length(normalizer: list[Part], pre_tokenizer: list[Part], seed: int) -> None:
    """In a longer run, more sequences give the same words as `tokenizers` for more texts, or are refused."""
    try:
        ours = alphabet_of(normalizer, pre_tokenizer)
    except fst.UnsupportedError:
        return
    check_words_of(ours, normalizer, pre_tokenizer, mixtures(seed, 200))


def check_ids(reference: Tokenizer, tokenizer: fst.Tokenizer, texts: Sequence[str]) -> None:
    """Check that the ids of all texts, as str and as bytes, equal those of `tokenizers`."""
    expected = [encoding.ids for encoding in reference.encode_batch_fast(list(texts), add_special_tokens=False)]
    rows: list[Any] = [list(texts), [text.encode() for text in texts]]
    for kind in rows:
        batch = tokenizer.encode_batch(kind, add_special_tokens=False)
        wrong = [(text, ids.tolist(), right) for text, ids, right in zip(texts, batch, expected, strict=True) if ids.tolist() != right]
        assert not wrong, f"{len(wrong)} of {len(texts)}, first {wrong[0]!a}"


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    thinned(
        [
            *(pytest.param([NFKD], parts, id=f"split at {name}") for name, parts in PRE_TOKENIZERS.items()),
            *(pytest.param(NORMALIZERS[name], [BERT, DIGITS], id=name) for name in NORMALIZERS),
        ],
        24,
    ),
)
def test_ids(normalizer: list[Part], pre_tokenizer: list[Part], load: Load) -> None:
    """With any components, the kernel gives the same ids as `tokenizers`, with and without special tokens in a text."""
    reference, tokenizer = load(document(normalizer, pre_tokenizer, small_vocabulary()))
    texts = mixtures(2, 500)
    check_ids(reference, tokenizer, [*texts, *map("[MASK]".join, itertools.pairwise(texts[:300])), "".join(texts)])


def test_walk(load: Load) -> None:
    """The walk gives the same ids as `tokenizers`."""
    source = document([NFKD], PRE_TOKENIZERS["punctuation both ways"], small_vocabulary())
    reference, tokenizer = load(source)
    for text in mixtures(3, 300):
        assert tokenizer._table.run(text) == reference.encode(text, add_special_tokens=False).ids, ascii(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["runs of punctuation", "words", "words and numbers"])
def test_fences_over_chunks(name: str, load: Load) -> None:
    """A run of characters of one kind is a single word that ends at a character of another kind, even if a chunk ends inside it."""
    reference, tokenizer = load(document([], PRE_TOKENIZERS[name], small_vocabulary()))
    rng = random.Random(8)
    runs = [*(char * length for char in ".a1½" for length in (1, 2, 99, 100, 101, 130)), " ", "[MASK]", "\u0301", ",!"]
    texts = [char * length for char in (".", "a", ".a", "..aa ", "1a.", "[MASK].") for length in (1, 99, 101, 1000, 4096, 9000)]
    check_ids(reference, tokenizer, sample(texts + ["".join(rng.choices(runs, k=rng.randint(1, 300))) for _ in range(200)], 8))
    long = "".join(rng.choices([".", "a", "..", "ab", " ", ",", "[MASK]"], k=400_000))
    check_ids(reference, tokenizer, [long])
    encoded = reference.encode(texts[-1] + long[:1000], add_special_tokens=False)
    batch = tokenizer._encode(rows_of([texts[-1] + long[:1000]]), special_ids=NO_SPECIAL_IDS, with_spans=True)
    assert batch.offsets is not None
    assert batch.words is not None
    assert list(map(tuple, batch.offsets.tolist())) == encoded.offsets
    assert batch.words.tolist() == encoded.word_ids


FENCE_PLACES: dict[str, tuple[int, Callable[[Any, int], int], str]] = {
    "in the middle": (2, lambda symbols, first: symbols[first + 1], "fence .* stands between other symbols"),
    "alone": (0, lambda _symbols, _first: 1, "fence .* stands alone or has a rank"),
    "that may move": (1, lambda symbols, first: symbols[first + 1] | 1 << 16, "fence .* stands alone or has a rank"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("place", "value", "message"), FENCE_PLACES.values(), ids=FENCE_PLACES)
def test_fence_out_of_place_is_refused(place: int, value: Any, message: str, tmp_path: Path, load: Load) -> None:
    """A table that contains a fence (the symbol for a boundary) at a wrong position is refused."""
    tables = load(document([], [WHITESPACE], small_vocabulary()))[1]._table
    first = int(ENTRY.targets_of(tables.classes[2 * tables.class_of(ord("."))]))
    symbols = tables.symbols.copy()
    symbols[first + place] = value(symbols, first)
    replace(tables, symbols=symbols).save(tmp_path / "wrong.npz")
    with pytest.raises(fst.TableError, match=message):
        fst.load(tmp_path / "wrong.npz")


@pytest.mark.slow
def test_fence_that_is_a_character_is_refused(tmp_path: Path, load: Load) -> None:
    """A table is refused if it uses a fence (the symbol for a boundary) as the symbol of a character."""
    tables = load(document([], [WHITESPACE], small_vocabulary()))[1]._table
    classes = tables.classes.copy()
    classes[2 * tables.class_of(ord(" "))] = pack(0, 0, 2, NONE)
    replace(tables, classes=classes).save(tmp_path / "wrong.npz")
    with pytest.raises(fst.TableError, match="is a fence outside of a list"):
        fst.load(tmp_path / "wrong.npz")


@pytest.mark.slow
def test_characters_of_many_symbols_have_room(load: Load) -> None:
    """The buffers have space for all ids of a text in which each character is replaced by eighteen symbols."""
    reference, tokenizer = load(document([NFKD], [], small_vocabulary()))
    check_ids(reference, tokenizer, ["\ufdfa", "\ufdfa" * 5, "\ufdfa " * 3000, "a" * 5000 + "\ufdfa" * 5000])
    reference, tokenizer = load(document([NFKD], [DIGITS, SPLIT, ISOLATE], small_vocabulary()))
    check_ids(reference, tokenizer, ["\ufdfa" * 10_000, "\u33a8" * 40_000])


@needs_shared
@pytest.mark.parametrize(
    "name", thinned(["the quick tour's", "decomposed", "compatibility before BERT's", "composed, lower case, decomposed"], 8)
)
@pytest.mark.slow
def test_ids_of_real_text(name: str, load: Load) -> None:
    """With a real vocabulary and other normalizers, sentences in 109 languages get the same ids as in `tokenizers`."""
    source = json.loads((SHARED / "vocab/bert-base-multilingual-cased/tokenizer.json").read_text(encoding="utf-8"))
    reference, tokenizer = load(source | {"normalizer": sequence(NORMALIZERS[name], "normalizers"), "truncation": None, "padding": None})
    lines = (SHARED / "corpora/multi_sentences_500.jsonl").read_text(encoding="utf-8").split("\n")[::20]
    check_ids(reference, tokenizer, [json.loads(line)["text"] for line in lines if line])


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("parts", "same"),
    [
        pytest.param([NFC, bert()], [bert()], id="composition before BERT's"),
        pytest.param([NFD, bert()], [bert()], id="decomposition before BERT's", marks=pytest.mark.slow),
        pytest.param([NFC, NFD], [NFD], id="composition before decomposition"),
        pytest.param([NFKC, NFD], [NFKD], id="composition for compatibility before decomposition", marks=pytest.mark.slow),
        pytest.param([LOWERCASE, LOWERCASE], [LOWERCASE], id="lower case twice"),
        pytest.param([STRIP, LOWERCASE], [LOWERCASE], id="strip"),
    ],
)
def test_what_is_not_seen_takes_nothing(parts: list[Part], same: list[Part]) -> None:
    """If a later component undoes a change of an earlier component, the change does not affect the alphabet."""
    ours, theirs = alphabet_of(parts, [BERT]), alphabet_of(same, [BERT])
    for name in ("symbols", "ranks", "passes", "hidden"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
