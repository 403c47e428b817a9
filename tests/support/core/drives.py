"""The parts of the fuzzer that draw tokenizers, searchers and segmenters, and pass texts to all methods of these objects."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support.conformance.samples import JAPANESE_PARTS, japanese
from support.machines.documents import ADDED, PIECES, TOKENS, Merges, byte_level, over_characters, without_words

import fst
from fst.compile import keywords, lattice, maxmatch
from fst.compile import tokenizer as compile_any
from fst.compile.machines.unigram.compiler import assemble
from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources.sentencepiece.model_file import BYTES
from fst.compile.sources.templates import BARE
from fst.compile.text.edits.charsmaps import of_bytes
from fst.compile.text.edits.double_arrays import charsmap
from fst.compile.text.sentencepiece import WORD_CUTS
from fst.compile.text.source import NO_SETTINGS, Source, TextPipeline
from fst.machines.keywords.table import KINDS as MATCH_KINDS
from fst.machines.segmentation.jieba import MODES as JIEBA_MODES
from fst.machines.segmentation.maxmatch import DIRECTIONS, FORWARD
from fst.machines.segmentation.mecab import MecabTable
from fst.machines.unigram.viterbi import BYTE, NORMAL, TEXT_SCOPE, UNKNOWN, UNUSED, USER_DEFINED
from fst.runtime.decoder import TYPES
from fst.runtime.kernels.intrinsics import DISABLED
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer
from fst.runtime.machines.unigram.tokenizer import UnigramTokenizer
from fst.runtime.machines.wordpiece.normalizer import lacks_units
from fst.tables.header import AddedTokens
from fst.text.charsmap import KEEPING, MANNERS
from fst.text.edits import SPACES, Edit
from fst.text.normalizer import NOTHING

HAS_JIEBA = find_spec("jieba") is not None  # the model for unknown words is part of `jieba`, so it must be installed
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
    {"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap({"a\u0301": "", "世": "\u302eab", "e": "\u0301"})).decode()},
)
STRINGS = {"a": "", "\u0915": "x", "©": "y", "ab": "z", "b\u0301": "世", "世世": "b"}
CLUSTERED = ("a", "b", "\u0301", "\u0915", "\u094d", "©", "\u200d", "\u200c", "\u0600", "\r\n", "世", "ab", "\u1100\u1161")
PATTERNS = (GPT2, r"\p{L}+|[\s\S]", "[\\s\\S]+", "a+b|[\\s\\S]", r" ?(?:foo|[^\s])+|\s+")
KINDS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())


def vocabulary(draw: random.Random) -> dict[str, Any]:
    """Draw a tokenizer.json of WordPiece with added tokens of every kind."""
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
    """A template that puts [CLS] and [SEP] around texts."""
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
    """Draw merges that each make a new token. In half of the lists, the merges that make the parts of a merge come before it."""
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
        found["pre_tokenizer"]["pretokenizers"].insert(0, {"type": "WhitespaceSplit"})  # a pre-tokenizer that drops whitespace
    if draw.random() < 0.4 and not found["model"]["ignore_merges"]:
        lack(found, draw.choice(("q", "!x2", "È")), **draw.choice(({}, {"fuse_unk": True}, {"unk_token": None})))
    found["pre_tokenizer"]["pretokenizers"][-1]["add_prefix_space"] = draw.random() < 0.2
    return rewritten(found, draw) if draw.random() < 0.5 else found


def characterwise(draw: random.Random) -> dict[str, Any]:
    """Draw a tokenizer.json of BPE over characters."""
    characters = "▁abfotx!é世東"
    pairs = [tuple(draw.choices(characters, k=2)) for _ in range(12)]
    merges = [*dict.fromkeys((left, right) for left, right in pairs)]
    merges += [(left + right, draw.choice(characters)) for left, right in draw.sample(merges, 3)]
    has_bytes, affix = draw.random() < 0.6, draw.choice(({}, {}, {"end_of_word_suffix": "x"}))
    special = (*TOKENS[:5], *draw.sample(CONTENTS, draw.choice((0, 1, 3))))
    found = over_characters(merges, characters, special, has_bytes=has_bytes, fuse_unk=draw.random() < 0.5, **({} if has_bytes else affix))
    found["post_processor"] = framed({token["content"]: token["id"] for token in found["added_tokens"]})
    return rewritten(found, draw) if draw.random() < 0.4 else found


def lack(found: dict[str, Any], letters: str, **model: Any) -> None:
    """Remove the tokens of some bytes, and the merges with them, from a tokenizer.json. By default, these bytes then become [UNK]."""
    added = {token["content"]: token["id"] for token in found["added_tokens"]}  # the ids of added tokens depend on the size of the model
    left = {token: number for token, number in found["model"]["vocab"].items() if token not in [*letters]}
    merges = [merge for merge in found["model"]["merges"] if not {*letters} & {*"".join(merge)}]
    found["model"].update({"vocab": {**left, **added}, "merges": merges, "unk_token": "[UNK]", **model})


def rewritten(found: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Add normalizers to a tokenizer.json, and set random flags of added tokens, so that matches depend on adjacent characters."""
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    for token in found["added_tokens"]:
        token.update({flag: draw.random() < 0.3 for flag in flags})
    maps = [{"type": kind} for kind in draw.sample(("NFC", "NFKD", "Lowercase"), draw.choice((0, 1, 1, 2)))]
    normalizers = [*draw.sample(EDITS, draw.choice((0, 1, 3))), *maps]
    return {**found, "normalizer": {"type": "Sequence", "normalizers": normalizers}}


def scored(draw: random.Random) -> dict[str, Any]:
    """Draw a tokenizer.json of Unigram."""
    drawn = ("".join(draw.choices("ab1é世▁\u302e", k=draw.randint(1, 14))) for _ in range(40))
    fallback = [f"<0x{byte:02X}>" for byte in range(256)] if draw.random() < 0.5 else []
    names = [*dict.fromkeys([*TOKENS[:5], "▁", *drawn, *fallback])]
    scheme, split = draw.choice(("always", "first", "never")), draw.random() < 0.5
    whitespace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}
    words = [{"type": "WhitespaceSplit"}] if draw.random() < 0.3 else []
    contents = dict.fromkeys((*TOKENS[:5], *draw.sample(CONTENTS, draw.choice((0, 1, 3, 8)))))
    numbers = {name: number for number, name in enumerate(names)}
    added = [{"id": numbers.get(content, len(names) + at), "content": content, "special": True} for at, content in enumerate(contents)]
    found = {
        "added_tokens": added,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*words, whitespace]},
        "post_processor": framed(numbers),
        "model": {
            "type": "Unigram",
            "unk_id": names.index("[UNK]"),
            "byte_fallback": bool(fallback),
            "vocab": [[name, draw.choice((-1.0, -2.0, -3.5))] for name in names],
        },
    }
    return rewritten(found, draw) if draw.random() < 0.5 else found


def tokenizer(draw: random.Random, draw_vocabulary: Callable[[random.Random], dict[str, Any]]) -> fst.Tokenizer:
    """Draw vocabularies until the compiler supports one, and compile it, sometimes with an empty table of words."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        while True:
            path.write_text(json.dumps(draw_vocabulary(draw)), encoding="utf-8")
            with suppress(fst.UnsupportedError):
                tables = compile_any(path, layout=draw.choice(("compact", "linked")))
                return fst.Tokenizer(without_words(tables) if draw.random() < 0.3 else tables)


def texts_of(draw: random.Random, size: int) -> list[str]:
    """Draw empty, short and long texts with the difficult cases of kernels."""
    short = ["".join(draw.choices(WORDS, k=draw.randint(0, 12))) for _ in range(8)]
    unit = "".join(draw.choices(WORDS, k=draw.randint(1, 5)))
    long = ["".join(draw.choices(WORDS, k=size // 8)), unit * (size // len(unit)), draw.choice("a \u302e世") * size]
    return ["", *short, *long, ""]


def ids_of(batch: fst.Batch) -> list[list[int]]:
    """The ids of each row of a batch, as lists."""
    return [row.tolist() for row in batch]


def drive_batches(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Encode texts alone and in batches, as str and as bytes, with offsets and on threads, and check that all ids are equal."""
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
    """Skip merges at random, and check that for one seed the ids do not depend on threads, types of texts or offsets."""
    if not isinstance(tok, BpeTokenizer):
        with pytest.raises(fst.UnsupportedError):
            tok.encode(texts[1], randomness=fst.Dropout(0.5))
        return
    by = fst.Dropout(draw.choice((0.1, 0.6, 0.99)), seed=draw.getrandbits(64))
    found = ids_of(tok.encode_batch(texts, randomness=by))
    assert ids_of(tok.encode_batch([text.encode() for text in texts], threads=2, offsets=True, randomness=by)) == found
    assert tok.encode_arrow(pa.array(texts, pa.string()), randomness=by).to_pylist() == found
    every = fst.Dropout(1)
    assert [tok.encode(text, randomness=every).tolist() for text in texts] == ids_of(tok.encode_batch(texts, randomness=every))


def drive_sampling(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Sample segmentations, and check that for one seed the ids do not depend on threads, types of texts or offsets; list the n best."""
    if not isinstance(tok, UnigramTokenizer):
        with pytest.raises(fst.UnsupportedError):
            tok.encode(texts[1], randomness=fst.Sampling())
        return
    alpha, seed = draw.choice((0, 0.1, 1, -0.3, 400)), draw.getrandbits(64)
    for rows, size in ((texts, -1), ([text[:200] for text in texts], draw.choice((2, 20)))):
        by = fst.Sampling(alpha, nbest_size=size, seed=seed)
        found = ids_of(tok.encode_batch(rows, randomness=by))
        data = [text.encode() for text in rows]
        assert ids_of(tok.encode_batch(data, threads=2, offsets=True, randomness=by)) == found
        assert tok.encode_arrow(pa.array(rows, pa.string()), randomness=by).to_pylist() == found
    for text in texts[:9]:
        found = tok.nbest(text[:200], draw.choice((1, 2, 30)))[0].ids.tolist()
        assert tok._table.has_text_scope or found == tok.encode(text[:200]).tolist()


def drive_long(tok: fst.Tokenizer, draw: random.Random) -> None:
    """Encode a pre-token that is so long that the kernel reads it separately from other pre-tokens."""
    if isinstance(tok, UnigramTokenizer) and not DISABLED:
        text = "".join(draw.choices("ab", k=40_000))
        assert tok.encode_batch([text.encode()], offsets=True).ids.tolist() == tok.encode(text).tolist()


def drive_charsmaps(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Normalize texts by a charsmap, also grapheme clusters whose ends depend on more than adjacent characters; then escape spaces."""
    if isinstance(tok, BpeTokenizer):
        manner = draw.choice(MANNERS)
        strings = {string: string for string in STRINGS} if manner == KEEPING else STRINGS
        content = draw.choice(("", " "))
        whitespace = [Edit(SPACES, draw.random() < 0.5, draw.random() < 0.5, content, string="世")] * draw.randrange(2)
        by = replace(NOTHING, after=(of_bytes(charsmap(strings), manner), *whitespace))
        table: Any = replace(tok._table, header={**tok._table.header, "rewriting": by.stored()})
        mixed = ["".join(draw.choices([*CLUSTERED, " "], k=draw.randint(0, 12))) for _ in range(8)]
        changed = fst.Tokenizer(table)
        batch = changed.encode_batch([*mixed, *texts], offsets=True, add_special_tokens=False)
        assert [row.tolist() for row in [*batch][: len(mixed)]] == [table.run(text) for text in mixed]
        drive_streams(changed, mixed, draw)


def drive_units(texts: list[str]) -> None:
    """Search texts for a unit."""
    units, text = np.zeros(1 << 16, np.bool_), "".join(texts)
    units[ord("b")] = True
    data = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    assert lacks_units.call(data, np.array([0, len(data)]), units) == ("b" not in text)


def drive_sums(draw: random.Random, texts: list[str]) -> None:
    """Sum Unigram scores over entire texts, also beyond the limit of sums, and check that every method returns the same ids."""
    scale = draw.choice((1, 3_000, 60_000))
    listed = {word: draw.choice((1, scale)) * -draw.random() * len(word) for word in draw.sample(WORDS, 30) if word}
    types = [UNKNOWN, *draw.choices((NORMAL, NORMAL, USER_DEFINED, UNUSED), k=len(listed))]
    model = UnigramModel(["<unk>", *listed], [0.0, *map(float, map(np.float32, listed.values()))], 0, scope=TEXT_SCOPE, types=types)
    source = Source(model, TextPipeline([], []), AddedTokens({}, {}, None, (), ()), BARE, NO_SETTINGS)
    with suppress(fst.VocabularyError):  # raised if no token can occur in a text
        tok, texts = fst.Tokenizer(assemble(source, "auto")), [*texts, " ".join(listed)]
        drive_batches(tok, texts, draw)
        drive_sampling(tok, texts, draw)


def drive_words(draw: random.Random, texts: list[str]) -> None:
    """Look up entire words in the vocabulary, and check that every method returns the same ids, also for runs of unknown words."""
    tok = words(draw.sample(WORDS, 30), byte_fallback=draw.random() < 0.5)
    drive_batches(tok, texts, draw)
    drive_streams(tok, texts, draw)


def words(known: Collection[str], *, byte_fallback: bool) -> fst.Tokenizer:
    """A tokenizer whose tokens are words."""
    listed = {f"▁{word}" for word in known}
    names = ["<unk>", *sorted(listed), *(BYTES if byte_fallback else ())]
    types = [UNKNOWN, *[NORMAL] * len(listed), *[BYTE] * 256][: len(names)]
    model = UnigramModel(names, [0.0] * len(names), 0, byte_fallback, TEXT_SCOPE, types, is_word_type=True)
    to_symbol = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    source = Source(model, TextPipeline([to_symbol], [WORD_CUTS]), AddedTokens({}, {}, None, (), ()), BARE, NO_SETTINGS)
    return fst.Tokenizer(assemble(source, "auto"))


def drive_search(draw: random.Random, texts: list[str]) -> None:
    """Search for keywords, and check that str, bytes, threads and streams give the same matches."""
    listed = [word for word in draw.sample(WORDS, 12) if word.strip()]
    kind = draw.choice(MATCH_KINDS)
    options: dict[str, Any] = {name: draw.random() < 0.4 for name in ("ignore_case", "whole_words", "allow_empty")}
    normalizer = draw.choice((None, None, {"type": "NFC"}, {"type": "Lowercase"}))
    searcher = fst.Searcher(keywords(listed + [""] * options["allow_empty"], match_kind=kind, normalizer=normalizer, **options))
    found = searcher.find_batch(texts)
    assert [*searcher.find_batch(texts, threads=2)] == [*found]
    assert [[*searcher.find_iter(text)] for text in texts] == [*found]
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
    stream = fst.Searcher(keywords(["aba"], ignore_case=True)).stream()
    for part in ("xÀaB", "A"):  # a keyword may begin at the end of the first part
        stream.write(part)
        found = stream.read()
    assert [match[1:] for match in found[0]] == [(2, 5)]


def drive_segmentation(draw: random.Random, texts: list[str]) -> None:
    """Segment by MaxMatch, and check that the tokens join to the text, and that threads, columns and streams give the same tokens."""
    listed, direction = [word for word in draw.sample(WORDS, 12) if word.strip()], draw.choice(DIRECTIONS)
    segmenter, texts = fst.Segmenter(maxmatch([*listed, "qqqq"], direction, {"qqqq": "qq|qq"})), [*texts, "qqqq qqq" * 40]
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


def drive_lattices(draw: random.Random, texts: list[str]) -> None:
    """Segment by the best path, as `jieba` and MeCab do, and check that bytes, threads, columns and streams give the same tokens."""
    listed = [word for word in draw.sample(WORDS, 12) if word.strip()]
    entries = [(word, draw.randint(0, 9)) for word in listed]
    tables = [*(lattice.jieba([*entries, ("a", 1)]).with_mode(mode) for mode in JIEBA_MODES), mecab(draw, listed)]
    if HAS_JIEBA:
        tables.append(lattice.jieba([*entries, ("a", 1)], user=[("世世", 0)], hmm=True))
    for table in tables:
        segmenter = fst.Segmenter(table)
        found = [*segmenter.segment_batch(texts, offsets=True)]
        assert [*segmenter.segment_batch([text.encode() for text in texts], threads=2)] == found
        assert segmenter.count(texts).tolist() == [*map(len, found)]
        assert segmenter.segment_arrow(pa.array(texts, pa.string())).to_pylist() == found
        if table.streams:
            stream = segmenter.stream()
            stream.write(texts[1][:3])
            tokens = stream.read()
            stream.write(texts[1][3:])
            assert [*tokens, *stream.close()] == found[1]


def mecab(draw: random.Random, listed: list[str]) -> MecabTable:
    """Draw a dictionary for MeCab."""
    ids = draw.randint(1, 5)

    def entry(surface: str) -> str:
        return f'"{surface}",{draw.randrange(ids)},{draw.randrange(ids)},{draw.randint(-99, 99)},x\n'

    categories = [f"{name} {draw.randint(0, 1)} {draw.randint(0, 1)} {draw.randint(0, 3)}\n" for name in ("DEFAULT", "SPACE", "ALPHA")]
    files = {
        "words.csv": "".join(entry(word) for word in listed if "\n" not in word),
        "unk.def": "".join(entry(name) for name in ("DEFAULT", "SPACE", "ALPHA")),
        "matrix.def": f"{ids} {ids}\n" + "".join(f"{right} {left} {draw.randint(-9, 9)}\n" for right in range(ids) for left in range(ids)),
        "char.def": "".join(categories) + "0x0020 SPACE\n0x0061..0x0079 ALPHA\n0x4E16 ALPHA DEFAULT\n",
    }
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_text(content, encoding="utf-8", newline="")
        return lattice.mecab(folder, max_grouping_size=draw.choice((1, 24, 300)))


def drive_japanese(draw: random.Random, texts: list[str]) -> None:
    """Encode with MeCab's words and WordPiece, and check that the ids are those of the walk, in every way of encoding."""
    settings: dict[str, Any] = draw.choice([{}, {"do_lower_case": True, "never_split": ["A"]}, {"subword_tokenizer_type": "character"}])
    with TemporaryDirectory() as folder:
        tok = fst.Tokenizer(compile_any(japanese(Path(folder), **settings), dictionary=folder))
    rows = [text[:40] for text in [*texts, "".join(draw.choices(JAPANESE_PARTS, k=30))]]
    found = [tok._table.run(text) for text in rows]
    assert ids_of(tok.encode_batch(rows, offsets=True, add_special_tokens=False)) == found
    assert ids_of(tok.encode_batch([text.encode() for text in rows], threads=2, add_special_tokens=False)) == found


def drive_errors(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Pass invalid arguments to batches and calls, and check that each raises an error of the package."""
    wrong = [*texts[:3], draw.choice((None, 3, b"a", "\ud800")), *texts[3:]]
    with pytest.raises(fst.TextError):
        tok.encode_batch(wrong)  # type: ignore[arg-type]
    with pytest.raises(fst.TextError):
        tok.encode_batch([b"a", draw.choice((b"\x80", b"a\xe4\xb8"))])
    for strategy in ("only_first", "only_second", "longest_first"):
        with suppress(ValueError):
            tok(texts[:4], texts[4:8], truncation=strategy, max_length=draw.randint(0, 9), stride=draw.randint(0, 9))


def drive_columns(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Encode a slice of a column of a random type with nulls, and check that each row gets the same ids as its text alone."""
    column = pa.array([*texts, None], pa.string()).cast(draw.choice(KINDS))
    first = draw.randrange(3)
    assert tok.encode_arrow(column[first:]).to_pylist() == [*([*map(int, tok.encode(text))] for text in texts[first:]), None]
    tok.encode_arrow(column, max_length=7, padding=True)


def drive_calls(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Call the tokenizer with truncation, windows, pairs, padding and split words."""
    options: dict[str, Any] = {"return_tensors": "np", "padding": True, "return_overflowing_tokens": draw.random() < 0.7}
    sides: dict[str, Any] = {"padding_side": draw.choice(("left", "right")), "truncation_side": draw.choice(("left", "right"))}
    short = texts[:9]
    for strategy in (True, "only_first"):
        options["truncation"] = strategy
        found = tok(short, max_length=draw.randint(4, 12), stride=draw.randint(0, 1), return_offsets_mapping=True, **options, **sides)
        assert found["input_ids"].shape == found["attention_mask"].shape
    options |= {**sides, "truncation": True, "return_token_type_ids": True}
    pairs = tok(short, short[::-1], max_length=draw.randint(9, 30), stride=draw.randint(0, 2), **options)
    assert pairs["input_ids"].shape == pairs["token_type_ids"].shape
    words = [[word for word in text.split(" ") if word] for text in short]
    assert len(tok(words, is_split_into_words=True)["input_ids"]) == len(short)
    assert tok(texts[1], texts[2])["input_ids"][:1] == tok(texts[1])["input_ids"][:1]
    tok(texts, padding="max_length", max_length=40, truncation=True, pad_to_multiple_of=8)


def drive_streams(tok: fst.Tokenizer, texts: list[str], draw: random.Random) -> None:
    """Write texts to a stream in parts, and check that the ids are the same as for the entire texts."""
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
    """Decode ids and other numbers, and check that a batch gives the same texts as single rows, and that bytes equal the bytes of the
    tokens.
    """
    ids = [*tok.encode(texts[1]).tolist(), *(draw.randint(0, tok.vocab_size + 3) for _ in range(40))]
    numbers = np.array(ids, draw.choice(TYPES))
    assert tok.decode_batch([ids, numbers[:7], []]) == [tok.decode(numbers), tok.decode(ids[:7]), ""]
    if isinstance(tok, BpeTokenizer):
        assert tok.decode_bytes(numbers, skip_special_tokens=False) == b"".join(tok.token_bytes(number) or b"" for number in ids)
