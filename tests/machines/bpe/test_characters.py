"""BPE over characters: the naive implementation, the walk, the kernels and `tokenizers` give the same ids for every text."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support import kept
from support.machines.bpe import CORPORA, HOSTILE, SCRIPTS, WORDS, corpus, hold_every_way, hold_in_pieces
from support.naive import models as naive
from support.shared_data import SHARED, needs_shared
from support.text.every_character import swept_characters
from support.tiers import ALL, examples, sample, thinned
from tokenizers import Tokenizer as Reference

import fst
from fst.compile.machines.bpe.compiler import assemble
from fst.compile.sources.tokenizer_json import of_document
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.table import BpeTable
from fst.pretokens.token_letters import fallback

Json = dict[str, Any]
VOCABULARIES = SHARED / "vocab_bpe"
ALPHABET = "abé東😺"
UNKNOWN = "cβ京😸\n"  # characters outside the alphabet; some begin with the same bytes as characters of the alphabet


def document(model: Json, **parts: Any) -> Json:
    """Make a tokenizer.json of BPE over characters."""
    bare = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", **bare, "added_tokens": [], "model": {"type": "BPE", **model}, **parts}


def compiled(source: Json) -> BpeTable:
    """Compile a tokenizer.json and check that its table passes the proof."""
    table = assemble(of_document(source, Path("tokenizer.json")), "auto")
    table.prove()
    return table


@some.composite
def models(draw: some.DrawFn) -> Json:
    """Draw a model with a few characters and merges, and with any handling of unknown characters."""
    prefix, suffix = draw(some.sampled_from(["", "", "", "##"])), draw(some.sampled_from(["", "", "", "</w>"]))
    has_bytes = not (prefix or suffix) and draw(some.booleans())
    known = draw(some.lists(some.sampled_from(ALPHABET), min_size=1, unique=True))
    befores, afters = ["", prefix] if prefix else [""], ["", suffix] if suffix else [""]
    tokens = [before + char + after for char in known for before in befores for after in afters]
    merges = list[tuple[str, str]]()
    for left, right in draw(some.lists(some.tuples(some.integers(0, 30), some.integers(0, 30)), max_size=8)):
        pair = tokens[left % len(tokens)], tokens[right % len(tokens)]
        made = pair[0] + pair[1][len(prefix) :]
        if pair[1].startswith(prefix) and not (suffix and pair[0].endswith(suffix)) and pair not in merges:
            merges.append(pair)
            tokens += [] if made in tokens else [made]
    tokens = draw(some.permutations(tokens)) if draw(some.booleans()) else tokens
    more = draw(some.sampled_from([[], ["<unk>"]]))
    bytes_of = {"all": range(256), "ASCII": range(128), "none": []}
    numbers = bytes_of[draw(some.sampled_from(sorted(bytes_of)))] if has_bytes else []
    names = [*more, *map(fallback, numbers), *tokens]
    return {
        "vocab": {name: number for number, name in enumerate(names)},
        "merges": [[*pair] for pair in merges],
        "unk_token": more[0] if more else None,
        "fuse_unk": draw(some.booleans()),
        "byte_fallback": has_bytes,
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
    }


def defined(model: Json, piece: str) -> list[int]:
    """The ids of a text by the naive implementation of BPE."""
    merges = [(left, right) for left, right in model["merges"]]
    flags: Json = {name: model[name] for name in ("unk_token", "fuse_unk", "byte_fallback")}
    affixes: Json = {"prefix": model["continuing_subword_prefix"] or "", "suffix": model["end_of_word_suffix"] or ""}
    return naive.character_bpe(piece, model["vocab"], merges, **flags, **affixes)


@given(model=models(), texts=some.lists(some.text(some.sampled_from(ALPHABET + UNKNOWN), max_size=12), min_size=1, max_size=8))
@examples(400, deadline=None)
def test_small_models(model: Json, texts: list[str]) -> None:
    """For small models, ids equal those of the naive implementation and of `tokenizers`, and so do offsets, unless this package refuses
    to compute them.
    """
    source = document(model)
    table, reference = compiled(source), Reference.from_str(json.dumps(source))
    tokenizer = fst.Tokenizer(table)
    found = reference.encode_batch(texts)
    assert [table.run(text) for text in texts] == [encoding.ids for encoding in found]
    assert [defined(model, text) for text in texts] == [encoding.ids for encoding in found]
    assert [ids.tolist() for ids in tokenizer.encode_batch(texts)] == [encoding.ids for encoding in found]
    assert tokenizer.get_vocab() == model["vocab"]
    if table.lost:
        with pytest.raises(fst.UnsupportedError, match="ids do not determine their positions"):
            tokenizer.encode_batch(texts, offsets=True)
    else:
        offsets = tokenizer.encode_batch(texts, offsets=True).offsets
        assert offsets is not None
        assert list(map(tuple, offsets.tolist())) == [span for encoding in found for span in encoding.offsets]


@given(model=models(), text=some.text(some.sampled_from(ALPHABET + UNKNOWN), max_size=12), probability=some.sampled_from([0.1, 0.5, 1.0]))
@examples(100, deadline=None)
def test_dropout(model: Json, text: str, probability: float) -> None:
    """With dropout, kernel and walk skip the same merges, and no character is split into bytes."""
    table = compiled(document(model))
    found = fst.Tokenizer(table).encode_batch([text, text], randomness=Dropout(probability, seed=3))
    assert [ids.tolist() for ids in found] == [table.run_dropping(text, Dropout(probability, seed=3), row) for row in range(2)]
    if probability == 1:
        assert found[0].tolist() == defined({**model, "merges": []}, text)


# Well-known normalizers and pre-tokenizers, combined with models like Mistral's.


def _replace(content: str) -> Json:
    return {"type": "Replace", "pattern": {"String": " "}, "content": content}


def _metaspace(scheme: str, *, split: bool) -> Json:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def _split(behavior: str) -> Json:
    return {"type": "Split", "pattern": {"String": " "}, "behavior": behavior, "invert": False}


PREPEND = {"type": "Prepend", "prepend": "▁"}
PARTS: Mapping[str, Json] = {
    "llama 2": {"normalizer": {"type": "Sequence", "normalizers": [PREPEND, _replace("▁")]}, "pre_tokenizer": None},
    "gemma": {"normalizer": _replace("▁"), "pre_tokenizer": _split("MergedWithPrevious")},
    "split": {"pre_tokenizer": _metaspace("always", split=True)},
    "never": {"pre_tokenizer": _metaspace("never", split=False)},
    "words": {"pre_tokenizer": {"type": "Whitespace"}},
    "whole": {"pre_tokenizer": None, "model": {"ignore_merges": True}},
    "unknown": {"model": {"byte_fallback": False}},
    "unknown alone": {"model": {"byte_fallback": False, "fuse_unk": False}},
    "vanish": {"model": {"byte_fallback": False, "unk_token": None}},
}
FILES = ("mistral01", "sqlpilot", "hw_doc_summarizer")


class Known(NamedTuple):
    """A vocabulary and the same vocabulary in the reference library, `tokenizers`."""

    table: BpeTable
    tokenizer: fst.Tokenizer
    reference: Reference


@cache
def known(name: str) -> Known:
    """Compile the vocabulary of a folder, or Mistral's vocabulary with other components."""
    path = VOCABULARIES / (name if name in FILES else "mistral01") / "tokenizer.json"
    source = json.loads(path.read_text(encoding="utf-8"))
    parts = PARTS.get(name, {})
    source = {**source, **parts, "model": {**source["model"], **parts.get("model", {})}}
    table = kept.assemble(of_document(source, path), "auto")
    return Known(table, fst.Tokenizer(table), Reference.from_str(json.dumps(source)))


def hold(name: str, texts: Sequence[str]) -> None:
    """Check that the ids, offsets and words of texts equal those of `tokenizers`."""
    found, expected = known(name).tokenizer.encode_batch(texts), known(name).reference.encode_batch([*texts])
    for text, ids, encoding in zip(texts, found, expected, strict=True):
        assert ids.tolist() == encoding.ids, text[:200]
    if not known(name).table.lost:
        batch = known(name).tokenizer.encode_batch(texts, offsets=True)
        np.testing.assert_array_equal(batch.offsets, [span for encoding in expected for span in encoding.offsets] or np.empty((0, 2)))
        words = [-1 if word is None else word for encoding in expected for word in encoding.word_ids]
        np.testing.assert_array_equal(batch.words, words)


every_file = pytest.mark.parametrize("name", FILES)
every_pipeline = pytest.mark.parametrize("name", thinned([*FILES, *PARTS], 12))


def mixed(name: str, draw: random.Random, count: int) -> str:
    """Draw a text that consists of tokens, parts of tokens, words and letters of all scripts."""
    tokens = known(name).table.tokens

    def part() -> str:
        kind = draw.randrange(8)
        if kind < 3:
            token = draw.choice(tokens)
            return token if kind else token[draw.randint(0, len(token)) :]
        if kind == 3:
            return draw.choice("▁ \n\t") * draw.choice((1, 1, 2, 3, 30))
        return draw.choice(WORDS) if kind < 6 else "".join(draw.choices(draw.choice(SCRIPTS), k=draw.randint(1, 6)))

    return "".join(part() for _ in range(count))


@needs_shared
@every_pipeline
def test_reference_on_mixed_text(name: str) -> None:
    """Texts that consist of tokens, words and letters get the same ids and offsets as in `tokenizers`."""
    draw = random.Random(name)
    hold(name, ["", *(mixed(name, draw, draw.randint(1, 15)) for _ in sample(range(12_000), 480))])


@needs_shared
@pytest.mark.parametrize("context", ["{}", "a{}b", " {} ", "1{0}\n▁{0}"])
@every_file
def test_reference_on_every_code_point(name: str, context: str) -> None:
    """Every character, alone and in contexts, gets the same ids and offsets as in `tokenizers`."""
    texts = [context.format(char) for char in sample(swept_characters(), 120, context)]
    for begin in range(0, len(texts), 100_000):
        hold(name, texts[begin : begin + 100_000])


@needs_shared
@pytest.mark.parametrize("file", CORPORA)
@pytest.mark.parametrize("name", ["mistral01", pytest.param("llama 2", marks=pytest.mark.slow)])
def test_reference_on_corpora(file: str, name: str) -> None:
    """The texts of the corpora get the same ids and offsets as in `tokenizers`."""
    texts = [*corpus(file)][::2]
    hold(name, sample(texts, max(len(texts) // 10, 1), name))


@needs_shared
@pytest.mark.parametrize("file", HOSTILE)
@every_file
def test_reference_on_hostile_text(name: str, file: str) -> None:
    """Texts that were collected because they break programs get the same ids and offsets as in `tokenizers`."""
    lines = (SHARED / "hostile" / file).read_text(encoding="utf-8").splitlines(keepends=True)
    hold(name, sample(lines, max(len(lines) // 100, 1), name))


@needs_shared
@pytest.mark.parametrize("name", ["mistral01", "unknown"])
def test_reference_on_long_runs(name: str) -> None:
    """A run of a character or a string without spaces gets the same ids as in `tokenizers`, whatever its length."""
    for size in (1_000, 100_000 if ALL else 20_000):
        hold(name, [unit * size for unit in (" ", "a", "\n", "é", "▁", "東", "😸", "ab")])


@needs_shared
@every_pipeline
def test_walk(name: str) -> None:
    """The walk gives the same ids as `tokenizers`."""
    draw, found = random.Random(name), known(name)
    texts = [mixed(name, draw, 6) for _ in range(40)]
    assert [found.table.run(text) for text in texts] == [found.reference.encode(text, add_special_tokens=False).ids for text in texts]


@needs_shared
@pytest.mark.parametrize("name", thinned(["mistral01", "llama 2", "sqlpilot", "gemma", "split", "unknown"], 6))
def test_every_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method that encodes gives the same ids as `tokenizers`, even if a text is read in parts."""
    draw, found = random.Random(name), known(name)
    texts = ["", *(mixed(name, draw, 12) for _ in range(9)), ""]
    hold_every_way(found.tokenizer, texts, [encoding.ids for encoding in found.reference.encode_batch(texts)], draw)
    for size in (100, 999):
        hold_in_pieces(found.tokenizer, mixed(name, draw, 400), size, monkeypatch)


def test_whole_pieces_that_spell_bytes() -> None:
    """With `ignore_merges`, a text that equals the name of a byte token becomes this token, as in `tokenizers`."""
    names = ["<unk>", *map(fallback, range(256)), *"<0xA>a", "ab"]
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(names))}
    source = document({"vocab": vocabulary, "merges": [], "ignore_merges": True, "byte_fallback": True})
    tokenizer, reference = fst.Tokenizer(compiled(source)), Reference.from_str(json.dumps(source))
    texts = ["<0x0A>", "<0x61>", "<0x0A>a", "a", "ab", "<unk>", "\n"]
    batch = tokenizer.encode_batch(texts, offsets=True)
    found = reference.encode_batch(texts)
    assert [ids.tolist() for ids in batch] == [encoding.ids for encoding in found]
    assert batch.offsets is not None
    assert [tuple(span) for span in batch.offsets.tolist()] == [span for encoding in found for span in encoding.offsets]


WITHOUT_SYMBOL: Mapping[str, Json] = {
    **{name: {"pre_tokenizer": None, **PARTS[name]} for name in ("llama 2", "gemma", "split", "never")},
    "first": {"pre_tokenizer": _metaspace("first", split=False)},
    "joined": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, _metaspace("always", split=True)]}},
    "letter": {"pre_tokenizer": {**_metaspace("always", split=True), "replacement": "X"}},
}


@pytest.mark.parametrize("bytes_of", thinned([(range(256),), (range(128),), ((0x20,),), ("▁".encode(),)], 4), ids=str)
@pytest.mark.parametrize("name", thinned(WITHOUT_SYMBOL, 4))
def test_fallbacks_of_a_symbol_that_is_no_token(name: str, bytes_of: Sequence[int]) -> None:
    """If the symbol for spaces is not a token, a space becomes the byte tokens of this symbol, and not the byte token of a space."""
    names = ["<unk>", *map(fallback, bytes_of), *"ab", "ab", "é", "▁a"]
    model = {"vocab": {token: number for number, token in enumerate(names)}, "merges": [["a", "b"]], "unk_token": "<unk>"}
    source = document({**model, "byte_fallback": True}, **WITHOUT_SYMBOL[name])
    table, reference = compiled(source), Reference.from_str(json.dumps(source))
    texts = ["", "a b", " ab", "▁", "a ▁b", "  ", "aXb X", "é 世", "ab  ab ", "a▁▁ b\n", *mixed_spaces(random.Random(name), 20)]
    found, tokenizer = reference.encode_batch(texts), fst.Tokenizer(table)
    assert [table.run(text) for text in texts] == [encoding.ids for encoding in found]
    assert [ids.tolist() for ids in tokenizer.encode_batch(texts)] == [encoding.ids for encoding in found]
    if not table.lost:
        offsets = tokenizer.encode_batch(texts, offsets=True).offsets
        assert offsets is not None
        assert list(map(tuple, offsets.tolist())) == [span for encoding in found for span in encoding.offsets]


def mixed_spaces(draw: random.Random, count: int) -> list[str]:
    """Draw texts of spaces, symbols for spaces, and letters."""
    return ["".join(draw.choices(" ▁abXé世\n", k=draw.randint(1, 20))) for _ in range(count)]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"vocab": {"a": 0}, "merges": [], "unk_token": "<unk>"}, "unk_token '<unk>' is not a token either"),
        ({"vocab": {"a": 0, "?": 1}, "merges": [], "unk_token": "?"}, "unk_token '?' is a character or part of a merge"),
        ({"vocab": {"a": 0, "<unk>": 1}, "merges": [], "unk_token": "<unk>", "ignore_merges": True}, "may also be a whole piece"),
        ({"vocab": {"a": 0, "<0x41>": 1, "a<0x41>": 2}, "merges": ["a <0x41>"], "byte_fallback": True}, "one of its tokens is a byte"),
        ({"vocab": {"a##": 0, "<0x41>": 1}, "merges": [], "byte_fallback": True, "end_of_word_suffix": "##"}, "byte_fallback and affixes"),
    ],
)
def test_models_that_are_refused(model: Json, message: str, tmp_path: Path) -> None:
    """A model is refused if it does not determine the ids of unknown characters."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document(model)), encoding="utf-8")
    with pytest.raises(fst.FstError) as error:
        kept.bpe(path)
    assert message in str(error.value)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"post_processor": BYTE_LEVEL}, "^x: post_processor with trim_offsets without a pre_tokenizer ByteLevel"),
        ({"model": UNIGRAM, "decoder": BYTE_LEVEL}, "^x: decoder ByteLevel without a pre_tokenizer ByteLevel"),
        ({"model": UNIGRAM, "pre_tokenizer": BYTE_LEVEL}, "^x: pre_tokenizer ByteLevel: supported are BertPreTokenizer"),
    ],
)
def test_letters_for_bytes_are_refused(parts: Json, what: str) -> None:
    """If tokens are over characters, components that read letters as bytes are refused."""
    with pytest.raises(fst.UnsupportedError, match=what):
        of_document({**document({"vocab": {"a": 0}, "merges": []}), **parts}, Path("x"))


LETTERS = {name: number for number, name in enumerate(["<unk>", "a", "é", "Ġ", "▁", "漢", "Ã", "©", "aé", "<0xC3>", "", "é漢"])}


@given(some.lists(some.sampled_from([*LETTERS.values(), len(LETTERS)]), max_size=12), some.booleans())
@examples(2_000)
def test_decoder_of_bytes_over_characters(ids: list[int], skip: bool) -> None:
    """If tokens consist of characters and the decoder is ByteLevel, a token of letters for bytes decodes to these bytes."""
    ours, theirs = over_characters()
    assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)
    stream = ours.decode_stream(skip_special_tokens=skip)
    assert "".join([*(stream.write([number]) for number in ids), stream.close()]) == theirs.decode(ids, skip_special_tokens=skip)


@cache
def over_characters() -> tuple[fst.Tokenizer, Reference]:
    """A BPE over characters with the decoder ByteLevel and an added token, and the reference."""
    model = {"vocab": LETTERS, "merges": [["a", "é"], ["é", "漢"]], "unk_token": "<unk>"}
    flags = dict.fromkeys(("normalized", "single_word", "lstrip", "rstrip"), False)
    added = {"id": len(LETTERS), "content": "Ãx", "special": True, **flags}
    source = {**document(model, decoder=BYTE_LEVEL), "added_tokens": [added]}
    return fst.Tokenizer(compiled(source)), Reference.from_str(json.dumps(source))
