"""Bounds: one fuzzer drives every kernel, with numba's checks of every index where `NUMBA_BOUNDSCHECK=1` asks for them.

`drive` draws a vocabulary and texts and uses them in every way that the public API has.
"""

from __future__ import annotations

import ast
import json
import pkgutil
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pytest
from interpreted import printed
from machines import ADDED, PIECES, TOKENS, Merges, byte_level, without_words
from tiers import sample

import fst
from fst.compile import keywords, maxmatch
from fst.compile import tokenizer as compile_any
from fst.compile.text.splits import GPT2
from fst.jit import SETTINGS
from fst.machines import kernel_call
from fst.machines.keywords import KINDS as MATCH_KINDS
from fst.machines.maxmatch import DIRECTIONS, FORWARD
from fst.runtime import kernels
from fst.runtime.bpe import BpeTokenizer
from fst.runtime.decoding import TYPES
from fst.runtime.kernels import pieces
from fst.runtime.kernels.intrinsics import DISABLED

CHECKED = bool(vars(numba.config)["BOUNDSCHECK"])
SEEDS = 60
DECORATORS = {"kernel", "object_kernel", "part", "inlined"}

BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
STEPS = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "NFD"}, {"type": "StripAccents"}]}
DIGITS = {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": False}]}
SPLIT = {"type": "BertPreTokenizer"}
COMPONENTS: tuple[tuple[dict[str, Any], dict[str, Any] | None], ...] = (
    *((BERT, SPLIT), (BERT, SPLIT), (STEPS, SPLIT), ({"type": "NFD"}, SPLIT), ({"type": "Lowercase"}, None)),
    *((BERT, DIGITS), ({"type": "NFC"}, SPLIT), ({"type": "NFKC"}, {"type": "Whitespace"})),
)
CONTENTS = (*ADDED, "ab", "abab", "b a", "foo", "bfoo", "éa", "aÉ", "1a", "_", "-b-", "é", "世", "\u1b44", "[[[", "a\u0301", "ﬁ")
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
WORDS = (
    *PIECES,
    *CONTENTS,
    *(" ", "  ", "\n", "\t", "b", "a", "!", "é", "e\u0301", "A\u0308\u0323", "\u0130\u0323", "한", "\u1112\u1161\u11ab", "東京", "👩‍👩‍👧"),
    *("\u302e", "\u1b44", "\u0301", "\0", "\x85", "\u200b", "\ufeff", "\ufffd", "ß", "½", "ﷺ", "\U0001d15e", "q" * 99, "12", "²"),
    *("foobfoo", "[MAS", "<s", "aaaaaaaaaaaaaaaaaaaaaaaa", "foobfoo" * 5, "unaffableunaffable", "_a_", "FOO", "ÉA", "x-b-x", "a1a22!!b"),
)
EDITS = (
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Prepend", "prepend": "_"},
    {"type": "Replace", "pattern": {"String": "foo"}, "content": "o"},
    {"type": "Replace", "pattern": {"Regex": "a{2,}"}, "content": "ab"},
)
PATTERNS = (GPT2, r"\p{L}+|[\s\S]", "[\\s\\S]+", "a+b|[\\s\\S]", r" ?(?:foo|[^\s])+|\s+")
KINDS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())


def vocabulary(draw: random.Random) -> dict[str, Any]:
    """Draw a tokenizer.json: a vocabulary with added tokens of every kind."""
    drawn = {"".join(draw.choices("ab1é世\u302e", k=draw.randint(1, 14))) for _ in range(40)}
    tokens = list(dict.fromkeys([*TOKENS, *(draw.choice(("", "##")) + token for token in sorted(drawn))]))
    contents = (*draw.sample(CONTENTS, draw.choice((0, 1, 3, 8))), *draw.choices(("a" * 600,), k=draw.random() < 0.2))
    flagged = draw.choice((0, 0.2, 0.5))
    added: list[dict[str, Any]] = [{"content": token, "special": True} for token in TOKENS[:5]]
    added += [{"content": content, **{flag: draw.random() < flagged for flag in FLAGS}} for content in contents]
    normalizer, pre_tokenizer = draw.choice(COMPONENTS)
    ids = {token: number for number, token in enumerate(tokens)}
    return {
        "added_tokens": [{"id": ids.get(token["content"], len(ids) + at), **token} for at, token in enumerate(added)],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": framed(ids),
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": draw.choice((5, 13, 100)),
            "vocab": ids,
        },
    }


def framed(ids: Mapping[str, int]) -> dict[str, Any]:
    """Templates with [CLS] and [SEP] around texts."""
    known = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    around = [{"SpecialToken": {"id": name, "type_id": 0}} for name in known]
    text, other = ({"Sequence": {"id": name, "type_id": number}} for number, name in enumerate("AB"))
    return {
        "type": "TemplateProcessing",
        "single": [around[0], text, around[1]],
        "pair": [around[0], text, around[1], other, around[1]],
        "special_tokens": known,
    }


def merges_of(draw: random.Random) -> Merges:
    """Draw merges. Tokens are made once, and in half of the lists after those that they are made of."""
    tokens, merges = [bytes([byte]) for byte in dict.fromkeys("abfor1 é世\u302e".encode())], list[tuple[bytes, bytes]]()
    for _ in range(draw.choice((0, 5, 60))):
        pair = draw.choice(tokens), draw.choice(tokens)
        if b"".join(pair) not in tokens:
            merges.append(pair)
            tokens.append(b"".join(pair))
    return merges if draw.random() < 0.5 else draw.sample(merges, len(merges))


def bytewise(draw: random.Random) -> dict[str, Any]:
    """Draw a tokenizer.json of byte-level BPE."""
    special = (*TOKENS[:5], *draw.sample(CONTENTS, draw.choice((0, 1, 3, 8))))
    more = (b"foo", b"bfoo", b"a" * 24 + b"b", b"foobfoo" * 5)
    found = byte_level(draw.choice(PATTERNS), merges_of(draw), more, special, ignore_merges=draw.random() < 0.3)
    found["post_processor"] = framed({token["content"]: token["id"] for token in found["added_tokens"]})
    if draw.random() < 0.3:
        found["pre_tokenizer"]["pretokenizers"].insert(0, {"type": "WhitespaceSplit"})  # drops white space
    if draw.random() < 0.2 and not found["model"]["ignore_merges"]:
        lack(found, draw.choice(("q", "!x2", "È")), fuse_unk=draw.random() < 0.5)
    return rewritten(found, draw) if draw.random() < 0.5 else found


def lack(found: dict[str, Any], letters: str, **model: Any) -> None:
    """Take the tokens of some bytes, and the merges of these, out of a tokenizer.json, and let [UNK] stand for them."""
    added = {token["content"]: token["id"] for token in found["added_tokens"]}  # ids of added tokens alone depend on the number of others
    left = {token: number for token, number in found["model"]["vocab"].items() if token not in [*letters]}
    merges = [merge for merge in found["model"]["merges"] if not {*letters} & {*"".join(merge)}]
    found["model"].update({"vocab": {**left, **added}, "merges": merges, "unk_token": "[UNK]", **model})


def rewritten(found: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """The tokenizer.json with normalizers, and with added tokens that depend on their neighbours."""
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    for token in found["added_tokens"]:
        token.update({flag: draw.random() < 0.3 for flag in flags})
    maps = [{"type": kind} for kind in draw.sample(("NFC", "NFKD", "Lowercase"), draw.choice((0, 1, 1, 2)))]
    normalizers = [*draw.sample(EDITS, draw.choice((0, 1, 3))), *maps]
    return {**found, "normalizer": {"type": "Sequence", "normalizers": normalizers}}


def tokenizer(draw: random.Random, draw_vocabulary: Callable[[random.Random], dict[str, Any]]) -> fst.Tokenizer:
    """Draw vocabularies until one is supported, and compile it; empty its table of words now and then."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        while True:
            path.write_text(json.dumps(draw_vocabulary(draw)), encoding="utf-8")
            with suppress(fst.UnsupportedError):
                tables = compile_any(path, layout=draw.choice(("dense", "compact")))
                return fst.Tokenizer(without_words(tables) if draw.random() < 0.3 else tables)


def texts_of(draw: random.Random, size: int) -> list[str]:
    """Draw texts: empty ones, short ones and long ones, of what a kernel has to look at twice."""
    short = ["".join(draw.choices(WORDS, k=draw.randint(0, 12))) for _ in range(8)]
    unit = "".join(draw.choices(WORDS, k=draw.randint(1, 5)))
    long = ["".join(draw.choices(WORDS, k=size // 8)), unit * (size // len(unit)), draw.choice("a \u302e世") * size]
    return ["", *short, *long, ""]


def ids_of(batch: fst.runtime.batch.Batch) -> list[list[int]]:
    """The ids of each row."""
    return [row.tolist() for row in batch]


def drive_batches(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Encode texts one by one and together, as strings and as bytes, with offsets and in threads: the ids are the same."""
    found = [tok.encode(text).tolist() for text in texts]
    data = [text.encode() for text in texts]
    assert [tok.encode(text).tolist() for text in data] == found
    assert tok.count_tokens(texts).tolist() == list(map(len, found))
    for rows in (texts, data):
        assert ids_of(tok.encode_batch(rows)) == found
        assert ids_of(tok.encode_batch(rows, threads=2)) == found
        assert [len(row) for row in tok.encode_batch(rows, max_length=5)] == [min(len(row), 5) for row in found]
        assert ids_of(tok.encode_batch(rows, offsets=True)) == found
    wrong = [draw.choice((b"\x80", b"\xe4\xb8", b"\xf0\x9f", b"\xed\xa0\x80")).join((text, text)) for text in data[:6]]
    assert ids_of(tok.encode_batch(wrong, errors="replace")) == [tok.encode(text.decode(errors="replace")).tolist() for text in wrong]
    lone = [f"{text}\ud83d{text}" for text in texts[:4]]
    assert ids_of(tok.encode_batch(lone, errors="replace")) == [tok.encode(text.replace("\ud83d", "\ufffd")).tolist() for text in lone]


def drive_dropout(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Skip merges at random: threads, other rows and offsets change nothing."""
    if not isinstance(tok, BpeTokenizer):
        with pytest.raises(fst.UnsupportedError):
            tok.encode(texts[1], dropout=0.5)
        return
    options: dict[str, Any] = {"dropout": draw.choice((0.1, 0.6, 0.99)), "seed": draw.getrandbits(64)}
    found = ids_of(tok.encode_batch(texts, **options))
    assert ids_of(tok.encode_batch([text.encode() for text in texts], threads=2, offsets=True, **options)) == found
    assert tok.encode_arrow(pa.array(texts, pa.string()), **options).to_pylist() == found
    assert [tok.encode(text, dropout=1).tolist() for text in texts] == [row.tolist() for row in tok.encode_batch(texts, dropout=1)]


def drive_search(draw: random.Random, texts: list[str]) -> None:
    """Search for keywords of each kind: str and bytes, threads and streams find the same."""
    listed = [word for word in draw.sample(WORDS, 12) if word.strip()]
    kind = draw.choice(MATCH_KINDS)
    options: dict[str, Any] = {name: draw.random() < 0.4 for name in ("ignore_case", "whole_words", "allow_empty")}
    normalizer = draw.choice((None, None, {"type": "NFC"}, {"type": "Lowercase"}))
    searcher = fst.Searcher(keywords(listed + [""] * options["allow_empty"], match_kind=kind, normalizer=normalizer, **options))
    found = searcher.find_batch(texts)
    assert [*searcher.find_batch(texts, threads=2)] == [*found]
    assert searcher.count([text.encode() for text in texts]).tolist() == np.diff(found.row_splits).tolist()
    for by in () if kind == "overlapping" else (searcher.keywords, "", "\u4e16" * 9):
        new = searcher.replace(texts, by)
        assert new == [searcher.replace(text, {word: by if isinstance(by, str) else word for word in searcher.keywords}) for text in texts]
        assert searcher.replace_arrow(pa.array([*texts, None], draw.choice(KINDS[:3])), by).to_pylist() == [*new, None]
    stream = searcher.stream()
    stream.write(texts[1][:3])
    first = stream.read()[0]
    stream.write(texts[1][3:])
    assert [*first, *stream.close()[0]] == found[1]


def drive_segmentation(draw: random.Random, texts: list[str]) -> None:
    """Segment in both directions: the tokens spell the text, and are those of threads, columns, streams and other forms."""
    listed, direction = [word for word in draw.sample(WORDS, 12) if word.strip()], draw.choice(DIRECTIONS)
    segmenter = fst.Segmenter(maxmatch(listed, direction))
    found = [*segmenter.segment_batch(texts, offsets=True)]
    assert ["".join(tokens) for tokens in found] == texts
    assert [*segmenter.segment_batch([text.encode() for text in texts], threads=2)] == found
    assert segmenter.count(texts).tolist() == [*map(len, found)]
    assert segmenter.segment_arrow(pa.array(texts, pa.string())).to_pylist() == found
    if direction == FORWARD:
        stream = segmenter.stream()
        stream.write(texts[1][:3])
        tokens = stream.read()
        stream.write(texts[1][3:])
        assert [*tokens, *stream.close()] == found[1]


def drive_errors(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Give batches and calls that are refused: the error is the package's own."""
    wrong = [*texts[:3], draw.choice((None, 3, b"a", "\ud800")), *texts[3:]]
    with pytest.raises(fst.TextError):
        tok.encode_batch(wrong)  # type: ignore[arg-type]
    with pytest.raises(fst.TextError):
        tok.encode_batch([b"a", draw.choice((b"\x80", b"a\xe4\xb8"))])
    for strategy in ("only_first", "only_second", "longest_first"):
        with suppress(ValueError):
            tok(texts[:4], texts[4:8], truncation=strategy, max_length=draw.randint(0, 9), stride=draw.randint(0, 9))


def drive_columns(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Encode a column of any kind, sliced, with nulls: the rows have the ids of their texts."""
    column = pa.array([*texts, None], pa.string()).cast(draw.choice(KINDS))
    first = draw.randrange(3)
    assert tok.encode_arrow(column[first:]).to_pylist() == [*([*map(int, tok.encode(text))] for text in texts[first:]), None]
    tok.encode_arrow(column, max_length=7, padding=True)


def drive_calls(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Call with truncation, windows, pairs, padding and split words."""
    options: dict[str, Any] = {"return_tensors": "np", "padding": True, "return_overflowing_tokens": draw.random() < 0.7}
    sides: dict[str, Any] = {"padding_side": draw.choice(("left", "right")), "truncation_side": draw.choice(("left", "right"))}
    short = texts[:9]
    for strategy in (True, "only_first"):
        options["truncation"] = strategy
        found = tok(short, max_length=draw.randint(4, 12), stride=draw.randint(0, 1), return_offsets_mapping=True, **options, **sides)
        assert found["input_ids"].shape == found["attention_mask"].shape
    pairs = tok(short, short[::-1], max_length=draw.randint(9, 30), stride=draw.randint(0, 2), **{**options, **sides, "truncation": True})
    assert pairs["input_ids"].shape == pairs["token_type_ids"].shape
    words = [[word for word in text.split(" ") if word] for text in short]
    assert len(tok(words, is_split_into_words=True)["input_ids"]) == len(short)
    assert tok(texts[1], texts[2])["input_ids"][:1] == tok(texts[1])["input_ids"][:1]
    tok(texts, padding="max_length", max_length=40, truncation=True, pad_to_multiple_of=8)


def drive_streams(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Write texts in pieces: the ids are those of the whole."""
    for text in (texts[1], texts[-2], texts[-4], texts[-3]):
        data: str | bytes = draw.choice((text, text.encode()))
        places = sorted(draw.randint(0, len(data)) for _ in range(draw.randint(0, 9)))
        for located in (False, True):
            try:
                stream = tok.stream(offsets=located)
            except fst.UnsupportedError:
                continue
            parts = []
            for begin, end in pairwise([0, *places, len(data)]):
                stream.write(data[begin:end])
                parts.append(stream.read().ids)
            assert np.concatenate([*parts, stream.close().ids]).tolist() == tok.encode(text).tolist()


def drive_decoding(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Decode ids of tokens and other numbers, in arrays and in batches: the texts are those of one row, the bytes those of each token."""
    ids = [*tok.encode(texts[1]).tolist(), *(draw.randint(0, tok.vocab_size + 3) for _ in range(40))]
    numbers = np.array(ids, draw.choice(TYPES))
    assert tok.decode_batch([ids, numbers[:7], []]) == [tok.decode(numbers), tok.decode(ids[:7]), ""]
    if isinstance(tok, BpeTokenizer):
        assert tok.decode_bytes(numbers, skip_special_tokens=False) == b"".join(tok.token_bytes(number) or b"" for number in ids)


def drive(seed: int, size: int) -> None:
    """Draw a vocabulary and texts of some length, and use them in every way."""
    draw = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        if seed % 2:
            patch.setattr(kernel_call, "CHUNK", 0)
        if DISABLED:
            patch.setattr(pieces, "CHUNK", np.uint64(16))  # so that short texts have pieces longer than a chunk
        tok, texts = tokenizer(draw, vocabulary if seed % 3 == 1 else bytewise), texts_of(draw, size)
        for use in (drive_batches, drive_dropout, drive_errors, drive_columns, drive_calls, drive_streams, drive_decoding):
            use(tok, texts, draw)
        drive_search(draw, texts)
        drive_segmentation(draw, texts)


@pytest.mark.sampled
def test_no_index_is_out_of_bounds() -> None:
    """Every use of a vocabulary gives the ids that it should, and no index is out of bounds where numba checks them."""
    for seed in range(SEEDS) if CHECKED else sample(range(SEEDS), 20):
        drive(seed, 1_000 if seed % 5 else 10_000)


@pytest.mark.skipif(not CHECKED, reason="for NUMBA_BOUNDSCHECK=1")
def test_indices_are_checked() -> None:
    """Numba checks indices in functions that are compiled as kernels are."""
    compiled: Any = numba.njit(**SETTINGS)(lambda array, at: array[at])
    with pytest.raises(IndexError):
        compiled(np.zeros(3), 3)


@pytest.mark.slow
def test_every_kernel_is_driven() -> None:
    """The fuzzer calls each function in the files of kernels: a new one that nothing drives fails here."""
    assert not printed(trace)


def kernels_in_files() -> Iterator[tuple[str, str]]:
    """The file and the name of each function that `fst.jit` compiles, in all of `fst.runtime.kernels` and in `fst.compile.displacement`."""
    for name in (*(found.name for found in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.")), "fst.compile.displacement"):
        path = str(import_module(name).__file__)
        for function in ast.parse(Path(path).read_text(encoding="utf-8")).body:
            decorators = {ast.unparse(each).split("(")[0] for each in getattr(function, "decorator_list", ())}
            if isinstance(function, ast.FunctionDef) and decorators & DECORATORS:
                yield path, function.name


def trace() -> None:
    """Drive kernels that are not compiled until each was called, and print those that were not."""
    missing = {*kernels_in_files()}
    assert missing

    def watch(frame: FrameType, _event: str, _argument: Any) -> None:
        missing.discard((frame.f_code.co_filename, frame.f_code.co_name))

    threading.settrace(watch)
    for seed in range(SEEDS):
        sys.settrace(watch)
        drive(seed, 40)
        sys.settrace(None)
        if not missing:
            return
    for path, name in sorted(missing):
        print(f"{path}: {name}")
