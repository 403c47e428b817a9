"""Some normalizers and pre-tokenizers are refused, simplified, or stored in tables."""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.text.components import (
    BERT,
    COMPOSING,
    DIGITS,
    LOWERCASE,
    MIXED,
    NFD,
    SPLIT,
    STRIP,
    STRIP_ACCENTS,
    Part,
    bert,
    document,
    mixtures,
    replaced,
    small_vocabulary,
)
from support.text.words_of import Load, alphabet_of, each
from support.tiers import examples
from tokenizers import Regex, Tokenizer
from tokenizers.pre_tokenizers import Split

import fst
from fst.compile.machines.wordpiece.compiler import source_of
from fst.compile.text import folding
from fst.runtime.rows.texts import CAPACITY, ONE_TEXT, rows_of
from fst.text.composition import Composition

RUNS = "|".join(f"{chr(code)}+" for code in range(0x4E00, 0x6000))
MANY_RUNS = {"type": "Split", "pattern": {"Regex": RUNS}, "behavior": "Isolated", "invert": False}


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "message"),
    [
        ([replaced("a", "aa")] * 100, [BERT], "normalizers that take more than 8 steps one after the other"),
        (
            [{"type": "Replace", "pattern": {"Regex": r"[^\w\s]"}, "content": "b" * 62}],
            [BERT],
            "up to 62 symbols of each of 969,422 characters; at most 8 are possible",
        ),
        ([replaced("a", "b" * 10**6)], [BERT], r"normalizers make 1,000,000 symbols of U\+0061; at most 62 are possible"),
        ([{"type": "Replace", "pattern": {"Regex": "[^a]"}, "content": "b" * 10**6}], [BERT], "normalizers make 1,000,000 symbols"),
        ([replaced("", "c")], [BERT], "normalizer Replace of {'String': ''}"),
        ([{"type": "Replace", "pattern": {"Regex": "a+b"}, "content": "b"}], [BERT], "normalizer Replace of {'Regex': 'a.+b'}"),
        ([{"type": "ByteLevel"}], [BERT], "normalizer ByteLevel"),
        ([LOWERCASE | {"extra": 1}], [BERT], "normalizer Lowercase has 'extra'"),
        ([], [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}], "pre_tokenizer ByteLevel"),
        ([], [{"type": "Split", "pattern": {"Regex": "ab+c|b"}, "behavior": "Removed", "invert": False}], "a Split that leaves text"),
        ([], [{"type": "Split", "pattern": {"String": ""}, "behavior": "Removed", "invert": True}], "the pattern can match nothing"),
        pytest.param([], [MANY_RUNS], "steps to compile", marks=pytest.mark.slow),
        ([], [{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}], "pre_tokenizer Metaspace"),
    ],
)
def test_refused_by_name(normalizer: list[Part], pre_tokenizer: list[Part], message: str, load: Load) -> None:
    """A sequence of components that cannot be compiled exactly is refused, and the message contains its name."""
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
        ([], [{"type": "CharDelimiterSplit", "delimiter": "ab"}], "delimiter of .* is 'ab'; expected one character"),
        ([], [{"type": "Split", "pattern": {}, "behavior": "Removed", "invert": False}], "Split has {} for its pattern"),
    ],
)
def test_malformed_component_is_refused(normalizer: list[Part], pre_tokenizer: list[Part], message: str, load: Load) -> None:
    """A component with invalid fields raises a VocabularyError."""
    with pytest.raises(fst.VocabularyError, match=message):
        load(document(normalizer, pre_tokenizer))


def test_sequences_in_sequences_are_flat() -> None:
    """A sequence inside a sequence, at any depth, has the same effect as a flat sequence of all components."""
    nested: Part = {"type": "Sequence", "normalizers": [NFD, {"type": "Sequence", "normalizers": [LOWERCASE]}, STRIP_ACCENTS]}
    for _ in range(500):
        nested = {"type": "Sequence", "normalizers": [nested]}
    assert folding.components(nested) == (NFD, LOWERCASE, STRIP_ACCENTS)


def test_too_many_components_are_refused() -> None:
    """A sequence of more than 100 components is refused, because its compilation would take long."""
    with pytest.raises(fst.UnsupportedError, match="normalizer of more than 100 components"):
        folding.components({"type": "Sequence", "normalizers": [LOWERCASE] * 101})


def test_sequence_of_one_is_that_one(load: Load) -> None:
    """A sequence of a single BertNormalizer is read as this normalizer, so that options may replace its settings."""
    source = document([bert(lowercase=False)], [BERT])
    source["normalizer"] = {"type": "Sequence", "normalizers": [source["normalizer"]]}
    source["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [source["pre_tokenizer"]]}
    header = load(source)[1].header
    assert (header["lowercase"], header["clean_text"], header["pre_tokenizer"]) == (False, True, "bert")
    assert header["normalizer_parts"] is header["pre_tokenizer_parts"] is None


def test_tables_say_what_they_were_made_from(load: Load) -> None:
    """A table contains the components of its source and a short description of their effect."""
    tables = load(document([NFD, LOWERCASE, STRIP_ACCENTS], [SPLIT, DIGITS]))[1]._table
    header = tables.header
    assert {name: header[name] for name in ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars", "pre_tokenizer")} == {
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
    """If a source has other normalizers, an option of BertNormalizer is refused, but an option may replace the pre-tokenizers."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document([NFD, LOWERCASE], [SPLIT])))
    with pytest.raises(fst.UnsupportedError, match="lowercase: the source does not use one BertNormalizer for it"):
        wordpiece(path, lowercase=False)
    with pytest.raises(fst.UnsupportedError, match="pre_tokenizer is 'whitespace'; expected 'bert' or 'none'"):
        wordpiece(path, pre_tokenizer="whitespace")
    assert wordpiece(path, pre_tokenizer="bert").header["pre_tokenizer"] == "bert"


COMPOSED_TEXTS = [
    *("", "e\u0301", "[MASK]", "\uff3bMASK\uff3d", "e[MASK]\u0301", "e\u0301[MASK]\u0301 e\u0301\u0323[MASK]"),
    "\u1100\u1161\u11a8" * 2000,
]


@pytest.mark.slow
@each("normalizer", COMPOSING, 20)
def test_second_reading(normalizer: list[Part], tmp_path: Path) -> None:
    """A text is read a second time if and only if some of its characters may compose, and all texts get the same ids as in `tokenizers`."""
    source = document(normalizer, [BERT], small_vocabulary())
    (tmp_path / "tokenizer.json").write_text(json.dumps(source), encoding="utf-8")
    tokenizer = fst.Tokenizer(wordpiece(tmp_path / "tokenizer.json"))
    texts = [*COMPOSED_TEXTS, *mixtures(6, 1000), *map("[MASK]".join, itertools.pairwise(mixtures(7, 300)))]
    rows = rows_of(texts)
    gathered = rows.gather(0, len(rows), ONE_TEXT, np.empty(CAPACITY["utf-16"], np.uint16), "strict")
    front_end = tokenizer._ids_runner.front_end
    assert front_end
    changed = front_end.changed(*gathered).tolist()
    assert 0 < sum(changed) < len(texts)
    batch = tokenizer.encode_batch(texts, add_special_tokens=False, offsets=True)
    assert batch.offsets is not None
    encodings = Tokenizer.from_str(json.dumps(source)).encode_batch(texts, add_special_tokens=False)
    for row, (again, right) in enumerate(zip(changed, encodings, strict=True)):
        ids = slice(batch.row_splits[row], batch.row_splits[row + 1])
        assert batch.ids[ids].tolist() == right.ids, ascii(texts[row])
        if again:
            assert list(map(tuple, batch.offsets[ids].tolist())) == right.offsets, ascii(texts[row])


@pytest.mark.slow
@given(text=st.text(st.sampled_from([*MIXED, *"\u0300\u0306\u0327\u0338aeoAO\u01d5\u1ed9\u1ea1\u1111\u1171\u11b6"]), max_size=12))
@examples(400)
def test_composition(text: str) -> None:
    """The composition of characters, and the mapping from composed to source characters, equal those of `tokenizers`."""
    for kind in ("NFC", "NFKC"):
        source = document([{"type": kind}], [])
        composed, places = composition_of(kind).apply(text)
        reference = Tokenizer.from_str(json.dumps(source))
        reference.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
        assert composed == reference.normalizer.normalize_str(text)
        assert places == [offsets for _, offsets in words_and_places(reference, text)]


def words_and_places(reference: Tokenizer, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the words that `tokenizers` finds in a text, one per character, with their positions."""
    unknown = reference.encode(text, add_special_tokens=False)
    return list(zip(unknown.tokens, unknown.offsets, strict=True))


@functools.cache
def composition_of(kind: str) -> Composition:
    """Store and load the table of a normalizer, and return its composition."""
    found = alphabet_of([{"type": kind}], []).composition
    assert found
    again = Composition.from_stored(json.loads(json.dumps(found.stored())))
    assert again == found
    return again
