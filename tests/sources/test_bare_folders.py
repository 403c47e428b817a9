"""Folders that do not name a tokenizer class, and folders of real models, give the same results as the tokenizers that `transformers`
makes from them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.kept import wordpiece
from support.shared_data import SHARED, needs_shared
from support.sources.folders import as_known, same_settings, write
from support.sources.pretrained import CASED, LINES, TOKENS, Json, bare, document, same_ids, typed

import fst


def test_folder_without_a_class_is_its_tokenizer_json(tmp_path: Path) -> None:
    """If no file of a folder names a tokenizer class, the tokenizer.json is compiled with the settings from tokenizer_config.json."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(document(normalizer=CASED)), encoding="utf-8")
    alone = wordpiece(tmp_path / "tokenizer.json")
    config = {"do_lower_case": True, "model_max_length": 512, "padding_side": "left", "pad_token": "<pad>"}
    folder = wordpiece(write(tmp_path / "folder", {"tokenizer.json": document(normalizer=CASED), "tokenizer_config.json": config}))
    assert folder.run("Ab A") == alone.run("Ab A")
    named = {**alone.header["named_tokens"], "pad_token": "<pad>"}
    expected = {"model_max_length": 512, "padding_side": "left", "named_tokens": named}
    assert {name: folder.header[name] for name in expected} == expected
    assert folder.header["model_input_names"] == alone.header["model_input_names"] == ["input_ids", "token_type_ids", "attention_mask"]


@pytest.mark.parametrize("config", [{}, {"do_lower_case": False, "strip_accents": True}], ids=["no settings", "settings"])
def test_folder_without_a_class_and_a_tokenizer_json_is_bert_s(config: Json, tmp_path: Path) -> None:
    """If a folder has a vocab.txt, and a tokenizer_config.json without a class, it compiles to BertTokenizer of `transformers` with
    these settings.
    """
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    folder = write(tmp_path / "folder", {"vocab.txt": LINES, "tokenizer_config.json": config})
    reference = transformers.BertTokenizer.from_pretrained(folder)
    tokenizer = fst.Tokenizer(wordpiece(folder))
    same_ids(tokenizer, reference)
    same_settings(tokenizer, reference)


def test_option_overrides_a_folder(tmp_path: Path) -> None:
    """Options replace the settings of a folder, including the unknown token."""
    folder = write(tmp_path / "folder", bare(do_lower_case=False))
    tables = wordpiece(folder, lowercase=True, unk_token="q", layout="linked")
    assert tables.run("B") == [TOKENS.index("q")]
    assert tables.header["named_tokens"]["unk_token"] == "q"
    assert tables.header["layout"] == "linked"


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("config", "options", "warned"),
    [
        ({"do_lower_case": False}, {}, "do_lower_case False"),
        ({"do_lower_case": False, "strip_accents": False}, {}, "do_lower_case False, strip_accents False"),
        ({"do_lower_case": False, "strip_accents": False}, {"lowercase": False}, None),
        ({"do_lower_case": False, "strip_accents": True}, {"lowercase": False}, "strip_accents True"),
        ({"strip_accents": False}, {}, "strip_accents False"),
        ({"strip_accents": False}, {"strip_accents": False}, None),
        ({"strip_accents": True, "do_lower_case": True}, {}, None),
        ({"do_lower_case": False}, {"lowercase": True}, None),
        ({"tokenize_chinese_chars": False}, {}, "tokenize_chinese_chars False"),
        ({"tokenize_chinese_chars": False}, {"handle_chinese_chars": False}, None),
        ({"unk_token": "q"}, {}, "unk_token 'q'"),
        ({"unk_token": "q"}, {"unk_token": "q"}, None),
        ({"cls_token": typed("<s>"), "pad_token": typed("[PAD]")}, {}, "cls_token '<s>'"),
        ({"tokenizer_class": "MPNetTokenizer"}, {}, "tokenizer_class 'MPNetTokenizer'"),
        ({"tokenizer_class": "GPT2TokenizerFast"}, {}, "tokenizer_class 'GPT2Tokenizer'"),
        ({"tokenizer_class": "DistilBertTokenizerFast", "do_lower_case": True, "model_max_length": 512}, {}, None),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, {}, None),
        ({}, {}, None),
        ("[", {}, None),
        (None, {}, None),
    ],
)
def test_vocabulary_alone_is_warned_of_what_its_folder_says(
    config: Any, options: Json, warned: str | None, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """If a vocab.txt is compiled alone, a single warning reports other settings in the tokenizer_config.json next to it, unless options
    replace these.
    """
    folder = write(tmp_path / "folder", {"vocab.txt": LINES, **({} if config is None else {"tokenizer_config.json": config})})
    wordpiece(folder / "vocab.txt", **options)
    reason = f"which has {warned}: compile {folder} instead"
    assert [reason in message for message in caplog.messages] == ([] if warned is None else [True])


@pytest.mark.parametrize(
    ("config", "warned"),
    [
        ({"word_tokenizer_type": "mecab"}, "so that ids differ: tokenizer_config.json asks for word_tokenizer_type 'mecab'"),
        ({"tokenizer_class": "BertJapaneseTokenizer"}, "so that ids differ: tokenizer_class BertJapaneseTokenizer: supported are"),
    ],
)
def test_vocabulary_of_a_tokenizer_that_is_refused_is_warned_of(
    config: Json, warned: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """If a vocab.txt is compiled alone but its folder would be refused, a warning explains that the ids differ."""
    folder = write(tmp_path / "folder", {"vocab.txt": LINES, "tokenizer_config.json": config})
    wordpiece(folder / "vocab.txt")
    (message,) = caplog.messages
    assert warned in message


def test_other_files_are_not_warned_of(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """No warning is emitted for a folder with a tokenizer_config.json, or for a file of tokens that is not named vocab.txt."""
    folder = write(tmp_path / "folder", {"words.txt": LINES, **bare(do_lower_case=False)})
    for source in (folder, folder / "words.txt"):
        wordpiece(source)
    assert not caplog.messages


FOLDER_NAMES = ("all-minilm-l6-v2", "bert-base-cased", pytest.param("bert-base-multilingual-cased", marks=pytest.mark.slow))
SENTENCES = ("Hello, World! naïve café", "東京 is in Japan, isn't it? [MASK]", "Привет мир", "über-straße")


@needs_shared
@pytest.mark.parametrize("name", FOLDER_NAMES)
def test_real_folder_is_what_the_reference_makes_of_it(name: str, auto: Any) -> None:
    """The folders of widely used models give the same ids as AutoTokenizer, and the same ids as their tokenizer.json alone."""
    folder = SHARED / "vocab" / name
    tables, reference = wordpiece(folder), auto(folder)
    tokenizer = fst.Tokenizer(tables)
    for text in SENTENCES:
        assert tokenizer.encode(text).tolist() == reference(text)["input_ids"]
    assert tables.run(SENTENCES[0]) == wordpiece(folder / "tokenizer.json").run(SENTENCES[0])
    assert tables.header["model_max_length"] == as_known(reference.model_max_length)
    assert tables.header["named_tokens"] == {f"{use}_token": f"[{use.upper()}]" for use in ("pad", "unk", "cls", "sep", "mask")}


@needs_shared
def test_real_folder_without_a_tokenizer_json() -> None:
    """The folder of KR-BERT, which has a vocab.txt and one setting, gives the same ids as BertTokenizer."""
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    folder = SHARED / "vocab" / "KR-BERT"
    tokenizer, reference = fst.Tokenizer(wordpiece(folder)), transformers.BertTokenizer.from_pretrained(folder)
    for text in ("안녕하세요 세계 Hello", "대한민국은 [MASK] 이다."):
        assert tokenizer.encode(text).tolist() == reference(text)["input_ids"]


@needs_shared
def test_japanese_words_are_refused_by_name() -> None:
    """The folder of bert-base-japanese is refused because it splits words with MeCab, but the vocab.txt alone is compiled."""
    folder = SHARED / "vocab" / "bert-base-japanese"
    with pytest.raises(fst.UnsupportedError, match="word_tokenizer_type 'mecab'"):
        wordpiece(folder)
    assert wordpiece(folder / "vocab.txt").header["named_tokens"]["pad_token"] == "[PAD]"
