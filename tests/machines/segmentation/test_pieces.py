"""Japanese BERT: the kernel, the walk, the naive definition and `transformers` give the same tokens."""

from __future__ import annotations

import json
import random
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compat.transformers import library
from support.conformance.samples import JAPANESE, JAPANESE_PARTS, MECAB, japanese
from support.machines.compiled_mecab import written_compiled
from support.machines.lattices import refused
from support.naive.japanese import Japanese

import fst
from fst.compile import lattice, tokenizer
from fst.machines.segmentation.pieces import CONTINUES, WHITESPACE, MecabPieceTable

SPECIALS = JAPANESE[:5]
SETTINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"do_lower_case": True, "never_split": ["AB"]}, {"lowercase": True, "never_split": ["AB"]}),
    ({"subword_tokenizer_type": "character"}, {"subword": "character"}),
    ({"mecab_kwargs": {"mecab_dic": None, "normalize_text": False}}, {"is_normalized": False}),
]
each_setting = pytest.mark.parametrize(("config", "naive"), SETTINGS)


def texts(seed: int, count: int = 80) -> list[str]:
    """Random texts of characters that this version of Python assigns."""
    draw = random.Random(seed)
    drawn = ("".join(draw.choices([*JAPANESE_PARTS, "[MASK", "'", "a\u0323\u0307", "ﾊﾟ", "𐐀"], k=draw.randint(0, 12))) for _ in range(count))
    return ["", *drawn, "世" * 99, "z" * 99, "z" * 100, "z" * 101]


def made(folder: Path, config: dict[str, Any]) -> fst.Tokenizer:
    """A tokenizer of a folder."""
    return fst.Tokenizer(tokenizer(japanese(folder, **config), dictionary=folder))


@each_setting
def test_definition(config: dict[str, Any], naive: dict[str, Any], tmp_path: Path) -> None:
    """The walk gives the ids of the definition, and the kernel gives the ids, spans and words of the walk."""
    tok = made(tmp_path, config)
    words = fst.Segmenter(lattice.mecab(tmp_path)).segment
    vocabulary = {token: number for number, token in enumerate(JAPANESE)}
    definition = Japanese(words, vocabulary, SPECIALS, **naive)
    rows = texts(1)
    batch = tok.encode_batch(rows, offsets=True, add_special_tokens=False)
    assert batch.offsets is not None
    assert batch.words is not None
    for row, text in enumerate(rows):
        part = slice(batch.row_splits[row], batch.row_splits[row + 1])
        walk = [*tok._table.walk(text)]
        assert [token.id for token in walk] == definition.ids(text), text
        found = zip(batch.ids[part].tolist(), batch.offsets[part].tolist(), batch.words[part].tolist(), strict=True)
        assert [(number, [*span], word) for number, span, word in found] == [(one.id, [one.start, one.end], one.word) for one in walk], text


@each_setting
def test_reference(config: dict[str, Any], naive: dict[str, Any], tmp_path: Path) -> None:  # noqa: ARG001
    """A tokenizer gives the ids, the decoded texts and the vocabulary of `transformers`."""
    transformers = library("transformers")
    pytest.importorskip("fugashi")
    compiled = written_compiled(tmp_path / "compiled", MECAB)
    own = {**config.get("mecab_kwargs", {}), "mecab_dic": None, "mecab_option": f'-d "{compiled}" -r "{compiled}/mecabrc"'}
    folder = tmp_path / "folder"
    folder.mkdir()
    reference = transformers.BertJapaneseTokenizer.from_pretrained(japanese(folder, **{**config, "mecab_kwargs": own}))
    tok = fst.Tokenizer(tokenizer(folder))
    rows = texts(2)
    wanted = [reference(text)["input_ids"] for text in rows]
    assert [ids.tolist() for ids in tok.encode_batch(rows)] == wanted
    for skips in (False, True):
        assert tok.decode_batch(wanted, skips) == [reference.decode(ids, skip_special_tokens=skips) for ids in wanted]
    assert tok.get_vocab() == reference.get_vocab()
    assert {**tok("ab", "あ世")} == {**reference("ab", "あ世")}


def test_spans(tmp_path: Path) -> None:
    """The span of a token is that of its characters before normalization; spaces before a word belong to no token."""
    tok = made(tmp_path, {})
    batch = tok.encode_batch([" Ａ ①①[MASK]\u3000㋿世界"], offsets=True, add_special_tokens=False)
    assert tok.tokenize(" ａ ①①[MASK]世界") == ["a", "1", "##1", "[MASK]", "世", "##界"]
    assert batch.offsets is not None
    assert batch.offsets.tolist() == [[1, 2], [3, 4], [4, 5], [5, 11], [12, 15]]
    assert batch.words is not None
    assert batch.words.tolist() == [0, 1, 1, 2, 3]


def test_whole_text(tmp_path: Path) -> None:
    """A long text, a stream and a session give the ids of the text as a whole; the part after U+0000 is empty."""
    tok = made(tmp_path, {})
    text = "abあ 世界" * 40_000 + "\0" + "a" * 100
    ids = tok.encode(text)
    assert ids.tolist()[-3:] == [*tok.encode("世界", add_special_tokens=False).tolist(), 3]
    stream = tok.stream()
    for at in range(0, len(text), 50_000):
        stream.write(text[at : at + 50_000])
        assert not len(stream.read().ids)
    assert stream.close().ids.tolist() == ids.tolist()
    assert tok.encode(text.encode()).tolist() == ids.tolist()
    assert tok.encode_segments([("ab[MASK]z", False), ("[SEP]", True)]).tolist()[-3:] == [4, 30, 3]  # "##z" is 30


def test_whitespace() -> None:
    """The whitespace of the machine is that of `str.isspace`."""
    assert {char for char in map(chr, range(0x110000)) if char.isspace()} == {*WHITESPACE}


def test_lower_case(tmp_path: Path) -> None:
    """The lower case of each word is that of Python, also for Σ at the end of a word, in every context of case."""
    table = made(tmp_path, {"do_lower_case": True})._table
    assert isinstance(table, MecabPieceTable)
    draw = random.Random(3)
    letters = [*"ΣσςaA1 '.:·^`\xad\u0301\u0345ªʰㅎ\u180e𐐀𝒜ǅİ", *map(chr, range(0x20, 0x600))]
    for _ in range(4_000):
        word = "".join(draw.choices(letters, k=draw.randint(1, 5))) if draw.random() < 0.5 else "".join(draw.choices(letters[:20], k=4))
        known = all(unicodedata.category(char) != "Cn" for char in word)
        assert not known or "".join(char for char, _ in table.lowered(word)) == word.lower(), word


def test_features_that_need_other_tables(tmp_path: Path) -> None:
    """Exports, stand-ins, canonical masks, further tokens and training are refused, and the message gives a remedy."""
    tok = made(tmp_path, {})
    with pytest.raises(fst.UnsupportedError, match=r"not available for mecab-wordpiece tables; use tok\(\.\.\.\)"):
        fst.tokenizers(tok)
    with pytest.raises(fst.UnsupportedError, match="use canonical=False"):
        fst.Guide(tok, regex="a", canonical=True)
    with pytest.raises(fst.UnsupportedError, match=r"add them to tokenizer_config\.json, and compile the folder again"):
        tok.with_added_tokens(["<x>"])
    with pytest.raises(fst.UnsupportedError, match="not available for mecab-wordpiece tables; name a tokenizer of another kind"):
        fst.train.like(tok, ["a"], 50)
    from fst.runtime.exporting.export import export_of

    with pytest.raises(fst.UnsupportedError, match="export the dictionary alone"):
        export_of(tok)


def test_damaged_tables(tmp_path: Path) -> None:
    """A table with ids that no token has, or with a damaged lower case, is refused."""
    table = made(tmp_path, {"do_lower_case": True})._table
    places = np.flatnonzero(table.entries >> np.uint64(25) & np.uint64((1 << 22) - 1))
    refused(table, "entries", places[0], table.entries[places[0]] | np.uint64(1 << 46), "has the id")
    refused(table, "lowers", (0, 0), 1 << 20, "row 1 of lowers does not ascend")
    refused(table, "lowers", (5, 1), 0xD800, "row 5 of lowers is not text")
    refused(table, "lowers", (5, 2), 0x61, "makes two characters of one byte")
    refused(table, "unknowns", 0, 99, "category 0 has the words at 99")
    with pytest.raises(fst.TableError, match="case has 0 elements"):
        replace(table, case=table.case[:0]).prove()
    with pytest.raises(fst.TableError, match="unk_id or an added token: no token has the id 77"):
        replace(table, header={**table.header, "unk_id": 77}).prove()
    assert json.dumps(table.header)
    assert int(table.units[CONTINUES])
