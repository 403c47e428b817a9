"""Normalizers and pre-tokenizers of a ``tokenizer.json``, alone and in sequences: words and ids are the reference's, or they are refused.

What components make of a text is compared as words, which needs no vocabulary; what the kernel makes of that, as ids.
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
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kept import wordpiece
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
from support.tiers import examples, sample, thinned
from tokenizers import Regex, Tokenizer
from tokenizers.pre_tokenizers import Split

import fst
from fst.automata.rows import ENTRY, NONE, pack
from fst.compile.machines.wordpiece.compiler import source_of
from fst.compile.text import folding, pre_tokenizers
from fst.compile.text.alphabets import alphabet
from fst.compile.text.characters import reference as characters
from fst.runtime.encoder import NO_FRAME
from fst.runtime.machines.wordpiece.fallback_composition import CompositionFallback
from fst.runtime.rows.texts import ONE_TEXT, ROOMS, rows_of
from fst.runtime.run import NO_SUSPECTS
from fst.text.alphabet import Alphabet
from fst.text.composition import Composition


def each(argument: str, components: dict[str, list[Part]], share: int) -> pytest.MarkDecorator:
    """A test of each of some components, one of `share` by default."""
    return pytest.mark.parametrize(argument, thinned([pytest.param(parts, id=name) for name, parts in components.items()], share))


def check_words(normalizer: Sequence[Part], pre_tokenizer: Sequence[Part], texts: Sequence[str]) -> None:
    """Find the words of all texts to be the reference's."""
    check_words_of(alphabet_of(normalizer, pre_tokenizer), normalizer, pre_tokenizer, texts)


def check_words_of(ours: Alphabet, normalizer: Sequence[Part], pre_tokenizer: Sequence[Part], texts: Sequence[str]) -> None:
    """The same where the alphabet is known."""
    reference = Tokenizer.from_str(json.dumps(document(normalizer, pre_tokenizer)))
    for text in texts:
        assert ours.run(text) == words_of(reference, text), ascii(text)


def alphabet_of(normalizer: Sequence[Part], pre_tokenizer: Sequence[Part]) -> Alphabet:
    """Compose components as they are read from a file."""
    return alphabet(
        folding.components(sequence(normalizer, "normalizers")),
        pre_tokenizers.components(sequence(pre_tokenizer, "pretokenizers")),
        {},
    )


CONTEXT = "{0} a{0}A \u1e9b\u0323{0}\u0301 \u302e{0}\u1b44{0}. 1{0}\u3099"


@functools.cache
def notable() -> list[str]:
    """Characters that any component treats differently from its neighbours, and of those in long runs some."""
    runs = [run for runs in characters.properties().values() for run in runs]
    edges = {edge for first, last, _ in runs for edge in (first - 1, first, last, last + 1)}
    codes = edges.union(range(0x3100), range(0, 0x110000, 1009), np.flatnonzero(characters.orders()).tolist())
    return [chr(code) for code in sorted(codes) if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000]


@functools.cache
def known() -> list[str]:
    """Characters that have any property, and of the others one of 37."""
    codes = {code for name in characters.properties() for code in characters.those(name).tolist()}
    return [char for char in EVERY_CHARACTER if ord(char) in codes or ord(char) % 37 == 0]


@pytest.mark.sampled
@each("normalizer", NORMALIZERS, 6)
def test_notable_characters(normalizer: list[Part]) -> None:
    """What each normalizer makes of a character, beside letters and between marks, is what the reference makes of it."""
    check_words(normalizer, [SPLIT], [CONTEXT.format(char) for char in sample(notable()[::13], 6, str(normalizer))])


@pytest.mark.sampled
@each("normalizer", COMPOSING, 5)
def test_notable_characters_composed(normalizer: list[Part]) -> None:
    """What normalizers that compose make of a character is what the reference makes of it."""
    chars = sample(notable()[::13], 12, str(normalizer))
    check_words(normalizer, [SPLIT], [context.format(char) for char in chars for context in (CONTEXT, "a{0}b", "e\u0301 {0}A")])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NORMALIZERS, *COMPOSING])
def test_every_character(name: str) -> None:
    """The same for one of sixteen code points of which there is anything to say, and others, from another one on for each."""
    chosen = known()[[*NORMALIZERS, *COMPOSING].index(name) % 16 :: 16]
    check_words((NORMALIZERS | COMPOSING)[name], [SPLIT], [CONTEXT.format(char) for char in chosen])


@pytest.mark.sampled
@each("pre_tokenizer", PRE_TOKENIZERS, 4)
def test_notable_characters_split(pre_tokenizer: list[Part]) -> None:
    """Where each pre-tokenizer splits, beside letters and beside its like, is where the reference splits."""
    chars = sample(notable()[::13], 6, str(pre_tokenizer))
    check_words([], pre_tokenizer, [f"a{char}b{char}{char}1.{char}" for char in chars])


@pytest.mark.slow
@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_every_character_splits(name: str) -> None:
    """The same for every eighth of the code points of which there is anything to say, and others, from another one on for each."""
    chosen = known()[list(PRE_TOKENIZERS).index(name) % 8 :: 8]
    check_words([], PRE_TOKENIZERS[name], [f"a{char}b{char}{char}1.{char}" for char in chosen])


def is_refused(normalizer: list[Part], pre_tokenizer: list[Part]) -> bool:
    """Say whether Strip is seen, which is to be refused."""
    splits_at_all = any(part["type"] in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit") for part in pre_tokenizer)
    return STRIP in normalizer and not splits_at_all


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        pytest.param(NORMALIZERS[name], PRE_TOKENIZERS[split], id=f"{name}-{split}", marks=[] if row % 32 == column else pytest.mark.slow)
        for row, name in enumerate(NORMALIZERS)
        for column, split in enumerate(list(PRE_TOKENIZERS)[::4])
        if (row + column) % 2 == 0
    ],
)
def test_mixtures(normalizer: list[Part], pre_tokenizer: list[Part]) -> None:
    """Normalizers and pre-tokenizers together make the words that the reference makes."""
    if is_refused(normalizer, pre_tokenizer):
        with pytest.raises(fst.UnsupportedError, match="normalizer Strip"):
            alphabet_of(normalizer, pre_tokenizer)
    else:
        check_words(normalizer, pre_tokenizer, sample(mixtures(1, 150), 2))


@pytest.mark.sampled
@each("normalizer", COMPOSING, 5)
def test_mixtures_composed(normalizer: list[Part]) -> None:
    """Normalizers that compose make the words that the reference makes of mixtures."""
    check_words(normalizer, [BERT], sample(mixtures(4, 1000), 10))


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


@examples(60)
@given(
    normalizer=st.lists(ANY_NORMALIZER, max_size=5),
    pre_tokenizer=st.lists(ANY_PRE_TOKENIZER, max_size=3),
    texts=st.lists(st.text(st.sampled_from(MIXED), max_size=12), max_size=40),
)
def test_any_sequence(normalizer: list[Part], pre_tokenizer: list[Part], texts: list[str]) -> None:
    """Any sequence of components makes the words that the reference makes, or is refused."""
    try:
        ours = alphabet_of(normalizer, pre_tokenizer)
    except fst.UnsupportedError:
        return
    check_words_of(ours, normalizer, pre_tokenizer, texts)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    normalizer=st.lists(ANY_NORMALIZER, max_size=6),
    pre_tokenizer=st.lists(ANY_PRE_TOKENIZER, max_size=4),
    seed=st.integers(0, 1 << 20),
)
def test_any_sequence_at_length(normalizer: list[Part], pre_tokenizer: list[Part], seed: int) -> None:
    """The same for more sequences and more texts."""
    try:
        ours = alphabet_of(normalizer, pre_tokenizer)
    except fst.UnsupportedError:
        return
    check_words_of(ours, normalizer, pre_tokenizer, mixtures(seed, 200))


Load = Callable[[dict[str, Any]], tuple[Tokenizer, fst.Tokenizer]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Make the reference and the package's tokenizer of a tokenizer.json."""

    def both(source: dict[str, Any]) -> tuple[Tokenizer, fst.Tokenizer]:
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(source), encoding="utf-8")
        tokenizer = fst.Tokenizer(wordpiece(path))  # first: it is to refuse what the reference may refuse, too
        return Tokenizer.from_str(json.dumps(source)), tokenizer

    return both


def check_ids(reference: Tokenizer, tokenizer: fst.Tokenizer, texts: Sequence[str]) -> None:
    """Find the ids of all texts to be the reference's, as strings and as bytes."""
    expected = [encoding.ids for encoding in reference.encode_batch_fast(list(texts), add_special_tokens=False)]
    rows: list[Any] = [list(texts), [text.encode() for text in texts]]
    for kind in rows:
        batch = tokenizer.encode_batch(kind, add_special_tokens=False)
        wrong = [(text, ids.tolist(), right) for text, ids, right in zip(texts, batch, expected, strict=True) if ids.tolist() != right]
        assert not wrong, f"{len(wrong)} of {len(texts)}, first {wrong[0]!a}"


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    thinned(
        [
            *(pytest.param([NFKD], parts, id=f"split at {name}") for name, parts in PRE_TOKENIZERS.items()),
            *(pytest.param(NORMALIZERS[name], [BERT, DIGITS], id=name) for name in NORMALIZERS),
        ],
        8,
    ),
)
def test_ids(normalizer: list[Part], pre_tokenizer: list[Part], load: Load) -> None:
    """The kernel makes the reference's ids of what components make of a text, special tokens in it or not."""
    reference, tokenizer = load(document(normalizer, pre_tokenizer, small_vocabulary()))
    texts = mixtures(2, 500)
    check_ids(reference, tokenizer, [*texts, *map("[MASK]".join, itertools.pairwise(texts[:300])), "".join(texts)])


def test_walk(load: Load) -> None:
    """The slow walk makes the same ids."""
    source = document([NFKD], PRE_TOKENIZERS["punctuation both ways"], small_vocabulary())
    reference, tokenizer = load(source)
    for text in mixtures(3, 300):
        assert tokenizer._table.run(text) == reference.encode(text, add_special_tokens=False).ids, ascii(text)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", ["runs of punctuation", *(pytest.param(name, marks=pytest.mark.slow) for name in ("words", "words and numbers"))]
)
def test_fences_over_chunks(name: str, load: Load) -> None:
    """Runs of one kind of characters are one word where a chunk ends in them, too, and end where the other kind begins."""
    reference, tokenizer = load(document([], PRE_TOKENIZERS[name], small_vocabulary()))
    rng = random.Random(8)
    runs = [*(char * length for char in ".a1½" for length in (1, 2, 99, 100, 101, 130)), " ", "[MASK]", "\u0301", ",!"]
    texts = [char * length for char in (".", "a", ".a", "..aa ", "1a.", "[MASK].") for length in (1, 99, 101, 1000, 4096, 9000)]
    check_ids(reference, tokenizer, sample(texts + ["".join(rng.choices(runs, k=rng.randint(1, 300))) for _ in range(200)], 4))
    long = "".join(rng.choices([".", "a", "..", "ab", " ", ",", "[MASK]"], k=400_000))
    check_ids(reference, tokenizer, [long])
    encoded = reference.encode(texts[-1] + long[:1000], add_special_tokens=False)
    batch = tokenizer._encode(rows_of([texts[-1] + long[:1000]]), frame=NO_FRAME, with_spans=True)
    assert batch.offsets is not None
    assert batch.words is not None
    assert list(map(tuple, batch.offsets.tolist())) == encoded.offsets
    assert batch.words.tolist() == encoded.word_ids


FENCE_PLACES: dict[str, tuple[int, Callable[[Any, int], int], str]] = {
    "in the middle": (2, lambda symbols, first: symbols[first + 1], "fence .* stands between other symbols"),
    "alone": (0, lambda _symbols, _first: 1, "fence .* stands alone or has a rank"),
    "that may move": (1, lambda symbols, first: symbols[first + 1] | 1 << 16, "fence .* stands alone or has a rank"),
}


@pytest.mark.parametrize(("place", "value", "message"), FENCE_PLACES.values(), ids=FENCE_PLACES)
def test_fence_out_of_place_is_refused(place: int, value: Any, message: str, tmp_path: Path, load: Load) -> None:
    """A table from a stranger has fences where the kernel and the walk take them for the same."""
    tables = load(document([], [WHITESPACE], small_vocabulary()))[1]._table
    first = int(ENTRY.targets_of(tables.classes[2 * tables.class_of(ord("."))]))
    symbols = tables.symbols.copy()
    symbols[first + place] = value(symbols, first)
    replace(tables, symbols=symbols).save(tmp_path / "wrong.npz")
    with pytest.raises(fst.TableError, match=message):
        fst.load(tmp_path / "wrong.npz")


def test_fence_that_is_a_character_is_refused(tmp_path: Path, load: Load) -> None:
    """A fence is always part of what a character becomes."""
    tables = load(document([], [WHITESPACE], small_vocabulary()))[1]._table
    classes = tables.classes.copy()
    classes[2 * tables.class_of(ord(" "))] = pack(0, 0, 2, NONE)
    replace(tables, classes=classes).save(tmp_path / "wrong.npz")
    with pytest.raises(fst.TableError, match="is a fence outside of a list"):
        fst.load(tmp_path / "wrong.npz")


def test_characters_of_many_symbols_have_room(load: Load) -> None:
    """A text of nothing but characters that become eighteen has all of its ids."""
    reference, tokenizer = load(document([NFKD], [], small_vocabulary()))
    check_ids(reference, tokenizer, ["\ufdfa", "\ufdfa" * 5, "\ufdfa " * 3000, "a" * 5000 + "\ufdfa" * 5000])
    reference, tokenizer = load(document([NFKD], [DIGITS, SPLIT, ISOLATE], small_vocabulary()))
    check_ids(reference, tokenizer, ["\ufdfa" * 10_000, "\u33a8" * 40_000])


@needs_shared
@pytest.mark.parametrize(
    "name", thinned(["the quick tour's", "decomposed", "compatibility before BERT's", "composed, lower case, decomposed"], 4)
)
def test_ids_of_real_text(name: str, load: Load) -> None:
    """With a real vocabulary, sentences in 109 languages have the reference's ids."""
    source = json.loads((SHARED / "vocab/bert-base-multilingual-cased/tokenizer.json").read_text(encoding="utf-8"))
    reference, tokenizer = load(source | {"normalizer": sequence(NORMALIZERS[name], "normalizers"), "truncation": None, "padding": None})
    lines = (SHARED / "corpora/multi_sentences_500.jsonl").read_text(encoding="utf-8").split("\n")[::20]
    check_ids(reference, tokenizer, [json.loads(line)["text"] for line in lines if line])


@pytest.mark.parametrize(
    ("parts", "same"),
    [
        pytest.param([NFC, bert()], [bert()], id="composition before BERT's"),
        pytest.param([NFD, bert()], [bert()], id="decomposition before BERT's"),
        pytest.param([NFC, NFD], [NFD], id="composition before decomposition"),
        pytest.param([NFKC, NFD], [NFKD], id="composition for compatibility before decomposition"),
        pytest.param([LOWERCASE, LOWERCASE], [LOWERCASE], id="lower case twice"),
        pytest.param([STRIP, LOWERCASE], [LOWERCASE], id="strip"),
    ],
)
def test_what_is_not_seen_takes_nothing(parts: list[Part], same: list[Part]) -> None:
    """What a later component undoes leaves no trace in the alphabet."""
    ours, theirs = alphabet_of(parts, [BERT]), alphabet_of(same, [BERT])
    for name in ("symbols", "ranks", "passes", "hidden"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "message"),
    [
        ([bert(lowercase=False), NFC], [BERT], "normalizer NFC and those before it change their own result if it is normalised again"),
        ([NFC, STRIP_ACCENTS, NFD], [BERT], "normalizer NFC before a normalizer that treats composed letters"),
        ([NFD, replaced("\u0301", "'"), NFD], [BERT], "normalizers that order marks, then change them"),
        ([replaced("x", "\u0301a"), NFD], [BERT], "replaces a character by marks, followed by something else"),
        ([replaced("x", "a" * 33)], [BERT], "U\\+0078 becomes 33 symbols"),
        ([replaced("a", "aa")] * 100, [BERT], r"normalizers make 64 symbols of U\+0061; at most 62 are possible"),
        ([replaced("a", "b" * 10**6)], [BERT], r"normalizers make 1,000,000 symbols of U\+0061; at most 62 are possible"),
        ([NFD] * 17, [BERT], "more than 16 normalizers that order marks"),
        ([replaced("ab", "c")], [BERT], "normalizer Replace of {'String': 'ab'}"),
        ([replaced("", "c")], [BERT], "normalizer Replace of {'String': ''}"),
        ([{"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}], [BERT], "normalizer Replace of {'Regex': 'a.+'}"),
        ([STRIP], [], "normalizer Strip without a pre_tokenizer that splits at all white space"),
        ([STRIP, replaced("\u3000", "_")], [SPLIT], "normalizer Strip without"),
        ([{"type": "Prepend", "prepend": "x"}], [BERT], "normalizer Prepend"),
        ([{"type": "Precompiled", "precompiled_charsmap": ""}], [BERT], "normalizer Precompiled"),
        ([{"type": "ByteLevel"}], [BERT], "normalizer ByteLevel"),
        ([LOWERCASE | {"extra": 1}], [BERT], "normalizer Lowercase has 'extra'"),
        ([], [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}], "pre_tokenizer ByteLevel"),
        ([], [{"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False}], "pre_tokenizer Split"),
        ([], [{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}], "pre_tokenizer Metaspace"),
    ],
)
def test_refused_by_name(normalizer: list[Part], pre_tokenizer: list[Part], message: str, load: Load) -> None:
    """What cannot be exact is refused when it is compiled, and the message says which component it is."""
    with pytest.raises(fst.UnsupportedError, match=message):
        load(document(normalizer, pre_tokenizer))


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "message"),
    [
        ([STRIP | {"strip_left": 1}], [], "strip_left is 1; it is true or false"),
        ([{"type": "Strip", "strip_left": True}], [], "normalizer Strip has no 'strip_right'"),
        ([{"type": "Replace", "pattern": "a", "content": "b"}], [], "pattern is 'a'; it is a mapping"),
        ([{"type": "Replace", "pattern": {"String": "a"}, "content": None}], [], "content is None; it is a string"),
        ([{"type": "Sequence", "normalizers": [None]}], [], "is not laid out as a tokenizer.json"),
        ([{"type": "Sequence"}], [], "normalizer Sequence has no 'normalizers'"),
        ([], [{"type": "Digits"}], "pre_tokenizer Digits has no 'individual_digits'"),
        ([], [{"type": "Punctuation", "behavior": "isolated"}], "Punctuation has 'isolated' for its behavior"),
        ([], [{"type": "Punctuation", "behavior": 1}], "behavior is 1; it is a string or null"),
    ],
)
def test_malformed_component_is_refused(normalizer: list[Part], pre_tokenizer: list[Part], message: str, load: Load) -> None:
    """A component whose fields are not what they should be is an error of the vocabulary, not of the package."""
    with pytest.raises(fst.VocabularyError, match=message):
        load(document(normalizer, pre_tokenizer))


def test_sequences_in_sequences_are_flat() -> None:
    """A sequence of sequences is the sequence of what is in them, however deep."""
    nested: Part = {"type": "Sequence", "normalizers": [NFD, {"type": "Sequence", "normalizers": [LOWERCASE]}, STRIP_ACCENTS]}
    for _ in range(500):
        nested = {"type": "Sequence", "normalizers": [nested]}
    assert folding.components(nested) == (NFD, LOWERCASE, STRIP_ACCENTS)


def test_too_many_components_are_refused() -> None:
    """A sequence that would take long to compile is refused."""
    with pytest.raises(fst.UnsupportedError, match="normalizer of more than 100 components"):
        folding.components({"type": "Sequence", "normalizers": [LOWERCASE] * 101})


def test_sequence_of_one_is_that_one(load: Load) -> None:
    """A BertNormalizer in a sequence of its own is a BertNormalizer, whose settings options may replace."""
    source = document([bert(lowercase=False)], [BERT])
    source["normalizer"] = {"type": "Sequence", "normalizers": [source["normalizer"]]}
    source["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [source["pre_tokenizer"]]}
    about = load(source)[1].about
    assert (about["lowercase"], about["clean_text"], about["pre_tokenizer"]) == (False, True, "bert")
    assert about["normalizer_parts"] is about["pre_tokenizer_parts"] is None


def test_tables_say_what_they_were_made_from(load: Load) -> None:
    """Tables have the components that they were compiled from, and in short what these do."""
    tables = load(document([NFD, LOWERCASE, STRIP_ACCENTS], [SPLIT, DIGITS]))[1]._table
    assert {name: tables.about[name] for name in ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars", "pre_tokenizer")} == {
        "lowercase": True,
        "strip_accents": True,
        "clean_text": False,
        "handle_chinese_chars": False,
        "pre_tokenizer": "other",
    }
    text = source_of(tables).text
    assert text.normalizers == (NFD, LOWERCASE, STRIP_ACCENTS)
    assert text.pre_tokenizers == (SPLIT, DIGITS)


def test_option_that_a_sequence_has_no_place_for_is_refused(tmp_path: Path) -> None:
    """An option of BertNormalizer is refused where the source has other normalizers; one that replaces the pre-tokenizers is not."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document([NFD, LOWERCASE], [SPLIT])))
    with pytest.raises(fst.UnsupportedError, match="lowercase: the source does not use one BertNormalizer for it"):
        wordpiece(path, lowercase=False)
    with pytest.raises(fst.UnsupportedError, match="pre_tokenizer 'whitespace': there are 'bert' and 'none'"):
        wordpiece(path, pre_tokenizer="whitespace")
    assert wordpiece(path, pre_tokenizer="bert").about["pre_tokenizer"] == "bert"


COMPOSED_TEXTS = [
    *("", "e\u0301", "[MASK]", "\uff3bMASK\uff3d", "e[MASK]\u0301", "e\u0301[MASK]\u0301 e\u0301\u0323[MASK]"),
    "\u1100\u1161\u11a8" * 2000,
]


@each("normalizer", COMPOSING, 10)
def test_second_reading(normalizer: list[Part], tmp_path: Path) -> None:
    """A text in which something may compose has the reference's ids by its second reading, and every other by its first."""
    source = document(normalizer, [BERT], small_vocabulary())
    (tmp_path / "tokenizer.json").write_text(json.dumps(source), encoding="utf-8")
    tokenizer = fst.Tokenizer(wordpiece(tmp_path / "tokenizer.json"))
    texts = [*COMPOSED_TEXTS, *mixtures(6, 1000), *map("[MASK]".join, itertools.pairwise(mixtures(7, 300)))]
    rows = rows_of(texts)
    gathered = rows.gather(0, len(rows), ONE_TEXT, np.empty(ROOMS["utf-16"], np.uint16), "strict")
    reader = tokenizer._ids_runner.arguments.reader
    before = CompositionFallback(tokenizer._table, reader, Composition.from_stored(tokenizer.about["composition"]))
    suspected = before.suspected(*gathered, NO_SUSPECTS).tolist()
    assert 0 < sum(suspected) < len(texts)
    batch = tokenizer.encode_batch(texts, add_special_tokens=False, offsets=True)
    assert batch.offsets is not None
    encodings = Tokenizer.from_str(json.dumps(source)).encode_batch(texts, add_special_tokens=False)
    for row, (again, right) in enumerate(zip(suspected, encodings, strict=True)):
        ids = slice(batch.row_splits[row], batch.row_splits[row + 1])
        assert batch.ids[ids].tolist() == right.ids, ascii(texts[row])
        if again:
            assert list(map(tuple, batch.offsets[ids].tolist())) == right.offsets, ascii(texts[row])


@given(text=st.text(st.sampled_from([*MIXED, *"\u0300\u0306\u0327\u0338aeoAO\u01d5\u1ed9\u1ea1\u1111\u1171\u11b6"]), max_size=12))
@examples(400)
def test_composition(text: str) -> None:
    """Composition is the reference's, and it says where characters come from as the reference does."""
    for kind in ("NFC", "NFKC"):
        source = document([{"type": kind}], [])
        composed, places = composition_of(kind).apply(text)
        reference = Tokenizer.from_str(json.dumps(source))
        reference.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
        assert composed == reference.normalizer.normalize_str(text)
        assert places == [offsets for _, offsets in words_and_places(reference, text)]


def words_and_places(reference: Tokenizer, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Ask the reference for the words of a text, each a character, and where they come from."""
    unknown = reference.encode(text, add_special_tokens=False)
    return list(zip(unknown.tokens, unknown.offsets, strict=True))


@functools.cache
def composition_of(kind: str) -> Composition:
    """The composition of a normalizer, by way of what a file keeps of it."""
    found = alphabet_of([{"type": kind}], []).composition
    assert found
    again = Composition.from_stored(json.loads(json.dumps(found.stored())))
    assert again == found
    return again
