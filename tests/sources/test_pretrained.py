"""Folders and names of models: compiled as one source, they give what transformers' AutoTokenizer gives with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.shared_data import SHARED, needs_shared
from support.sources.folders import Files, as_known, same_settings, write
from support.tiers import examples, thinned

import fst
from fst.compile.sources.pretrained import folder as pretrained

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TOKENS = (
    *BERT, "a", "##b", "B", "A", "é", "e", "世", "##界", "世界", "!", "<s>", "</s>", "<pad>", "<mask>", "<x>", "[x]", "##z", "z", "q",
)  # fmt: skip
TEXTS = (
    "ab Ab É 世界! [MASK] <mask> a",
    "a<x>b z1 z0 <img> y1 [x] q <pad> <m> zed",
    "a [PAD] b <s> ab </s> <foo> A<bar>",
    "",
)
LINES = "\n".join(TOKENS) + "\n"
Json = dict[str, Any]


def added(content: str, **flags: bool) -> Json:
    """Describe an added token as added_tokens_decoder has it."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **flags}
    return {"content": content, **flags}


def typed(content: str, **flags: bool) -> Json:
    """Describe an added token as it stands under a name."""
    return {"__type": "AddedToken", **added(content, **flags)}


def document(**parts: Any) -> Json:
    """Make a tokenizer.json, some of its parts replaced."""
    special = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in (("[CLS]", 2), ("[SEP]", 3))}
    text, cls, sep = ({"Sequence": {"id": "A", "type_id": 0}}, *({"SpecialToken": {"id": name, "type_id": 0}} for name in special))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, **added(token)} for number, token in enumerate(BERT)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [cls, text, sep],
            "pair": [cls, text, sep, {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": special,
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: number for number, token in enumerate(TOKENS)},
        },
        **parts,
    }


def bare(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """Describe a folder without a tokenizer.json."""
    return {"vocab.txt": LINES, "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", **config}, **files}


def full(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """Describe a folder with a tokenizer.json, from which BERT's tokenizer is made anew."""
    return {"tokenizer.json": document(), **bare(files, **config)}


def standing(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """Describe a folder whose tokenizer.json counts as it stands."""
    return full(files, tokenizer_class="PreTrainedTokenizerFast", **config)


def same_ids(tokenizer: fst.Tokenizer, reference: Any) -> None:
    """Compare ids, with what stands around texts and pairs, and text from ids."""
    pair = tokenizer.about["pair"]
    backend = reference.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    for text in TEXTS:
        ids = backend.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == ids, text
        assert tokenizer.encode(text).tolist() == backend.encode(text).ids, text
        both = backend.encode(text, TEXTS[0])
        parts = {"A": ids, "B": tokenizer.encode(TEXTS[0], add_special_tokens=False).tolist()}
        expected = [(number, kind) for content, kind in pair for number in (parts[content] if isinstance(content, str) else content)]
        assert list(zip(both.ids, both.type_ids, strict=True)) == expected
        for skip in (False, True):
            assert tokenizer.decode(ids, skip_special_tokens=skip) == backend.decode(ids, skip_special_tokens=skip)
    vocabulary = reference.get_vocab()
    assert {token: tokenizer.token_to_id(token) for token in vocabulary} == vocabulary
    assert tokenizer.vocab_size == len(vocabulary)


@pytest.fixture(scope="module")
def auto() -> Any:
    """The reference for pretrained."""
    return pytest.importorskip("transformers", reason="the reference for folders").AutoTokenizer.from_pretrained


LEFT = {"direction": "Left", "max_length": 7, "strategy": "OnlyFirst", "stride": 2}
PADDED = {
    "strategy": {"Fixed": 8}, "direction": "Left", "pad_to_multiple_of": None, "pad_id": 17, "pad_type_id": 0, "pad_token": "<pad>",
}  # fmt: skip
CASED = {**document()["normalizer"], "lowercase": False}
OLDER = {"mask_token": {key: value for key, value in added("<m>", lstrip=True).items() if key != "special"}, "image_token": "<img>"}
PLAIN = ("[PAD]", "<x>", "q")
NUMBERED = {"0": added("[PAD]"), "50": added("q", special=False), "9": added("<x>", special=False)}

FOLDERS: dict[str, Json] = {
    "nothing but tokens and a class": bare(),
    "cased": bare(do_lower_case=False),
    "accents stay": bare(strip_accents=False),
    "accents go, case stays": bare(do_lower_case=False, strip_accents=True),
    "ideographs in words": bare(tokenize_chinese_chars=False),
    "harmless settings": bare(do_basic_tokenize=True, never_split=None, split_special_tokens=False, name_or_path="x", clean_text=False),
    "Fast": bare(tokenizer_class="BertTokenizerFast"),
    **{name: bare(tokenizer_class=name) for name in ("DistilBertTokenizer", "ElectraTokenizerFast", "MobileBertTokenizer")},
    **{name: bare(tokenizer_class=name) for name in ("ConvBertTokenizer", "SqueezeBertTokenizer", "LxmertTokenizer", "LayoutLMTokenizer")},
    "the class of config.json": {"vocab.txt": LINES, "config.json": {"tokenizer_class": "BertTokenizerFast", "model_type": "distilbert"}},
    "the type of a model": {"vocab.txt": LINES, "config.json": {"model_type": "distilbert"}},
    "both classes": bare({"config.json": {"model_type": "distilbert", "tokenizer_class": "MPNetTokenizer"}}),
    "a length": bare(model_max_length=512),
    "an older length": bare(max_len=128),
    "no length": bare(model_max_length=1e30),
    "sides": bare(padding_side="left", truncation_side="left"),
    "what a model takes": bare(model_input_names=["input_ids"], clean_up_tokenization_spaces=True),
    "other names": bare(pad_token="<pad>", cls_token="<s>", sep_token="</s>", mask_token=None),
    "new tokens under names": bare(pad_token="z0", bos_token="y1", image_token="<img>"),
    "typed tokens under names": bare(cls_token=typed("<x>"), zed_token=typed("zed"), foo_token="<foo>"),
    "extra tokens": bare(extra_special_tokens=["<x>", "y1", "[PAD]"]),
    "additional tokens": bare(additional_special_tokens=["<x>", "y1"], extra_special_tokens=[]),
    "extra tokens with names": bare(extra_special_tokens={"foo_token": "<foo>", "bar": "<bar>"}),
    "numbered tokens": bare(added_tokens_decoder=NUMBERED),
    "an older map": bare({"special_tokens_map.json": {"pad_token": "<pad>", "image_token": "<img>"}}, pad_token="[PAD]"),
    "an older map that does not count": bare({"special_tokens_map.json": {"pad_token": "<pad>"}}, added_tokens_decoder=NUMBERED),
    "older additional tokens": bare({"special_tokens_map.json": {"additional_special_tokens": ["y1"]}}),
    "older extra tokens": bare({"special_tokens_map.json": {"extra_special_tokens": ["y1", "z1"]}}, extra_special_tokens=["z1"]),
    "older extra tokens with names": bare({"special_tokens_map.json": {"extra_special_tokens": {"bar": "<bar>"}}}),
    "as saved": full(do_lower_case=True, model_max_length=512, added_tokens_decoder={str(n): added(t) for n, t in enumerate(BERT)}),
    "lower case although tokenizer.json says otherwise": full({"tokenizer.json": document(normalizer=CASED)}),
    "case although tokenizer.json says otherwise": full(do_lower_case=False),
    "no post-processor": full({"tokenizer.json": document(post_processor=None)}),
    "another unknown token": full({"tokenizer.json": document(model={**document()["model"], "unk_token": "q"})}),
    "another limit": full({"tokenizer.json": document(model={**document()["model"], "max_input_chars_per_word": 1})}),
    "older added tokens of tokenizer.json": full({"tokenizer.json": document(added_tokens=[{"id": 99, **added("<x>")}])}),
    "added tokens of tokenizer.json that do not count": full(
        {"tokenizer.json": document(added_tokens=[{"id": 99, **added("<x>")}])}, added_tokens_decoder=NUMBERED
    ),
    "truncation and padding": full({"tokenizer.json": document(truncation=LEFT, padding=PADDED)}),
    "truncation and padding, and sides": full(
        {"tokenizer.json": document(truncation=LEFT, padding=PADDED)}, padding_side="right", truncation_side="right"
    ),
    "as it stands": standing(),
    "as it stands, cased": standing({"tokenizer.json": document(normalizer=CASED)}, do_lower_case=True),
    "as it stands, with names": standing(pad_token="[PAD]", unk_token="[UNK]", image_token="<img>", extra_special_tokens=["y1"]),
    "as it stands, with names of plain tokens": standing(
        {"tokenizer.json": document(added_tokens=[{"id": TOKENS.index(name), **added(name, special=False)} for name in PLAIN])},
        pad_token="[PAD]",
        image_token="<x>",
        extra_special_tokens=["q"],
    ),
    "as it stands, with numbered tokens": standing(added_tokens_decoder=NUMBERED),
    "as it stands, with padding": standing({"tokenizer.json": document(truncation=LEFT, padding=PADDED)}),
    "as it stands, by the type of the model": full(
        {"tokenizer.json": document(normalizer=CASED), "config.json": {"model_type": "modernbert"}}
    ),
    "as it stands, the base class": full({"tokenizer.json": document(normalizer=CASED)}, tokenizer_class="TokenizersBackend"),
}


@pytest.mark.parametrize("files", FOLDERS.values(), ids=FOLDERS.keys())
def test_folder_is_what_the_reference_makes_of_it(files: Json, auto: Any, tmp_path: Path) -> None:
    """A folder gives the ids, the names and the settings that AutoTokenizer gives, before and after a file."""
    folder = write(tmp_path / "folder", files)
    reference = auto(folder)
    wordpiece(folder).save(tmp_path / "table.npz")
    tokenizer = fst.Tokenizer.load(tmp_path / "table.npz")
    same_ids(tokenizer, reference)
    same_settings(tokenizer, reference)


MINIMAL = {"version": "1.0", "model": document()["model"], "added_tokens": []}
UNLIKE_BERT = document(
    normalizer=CASED, decoder=None, post_processor=None, added_tokens=[], model={**document()["model"], "unk_token": "q"}
)
SAID = {"do_lower_case": False, "cls_token": "<s>", "pad_token": "<pad>", "extra_special_tokens": ["<x>"], "model_max_length": 1e30}


@pytest.mark.parametrize(
    ("name", "source", "config"),
    thinned(product([*pretrained.FAMILIES, *pretrained.AS_IT_STANDS[1:]], (MINIMAL, UNLIKE_BERT), ({}, SAID)), 3),
)
def test_class_takes_of_a_document_what_the_reference_s_takes(name: str, source: Json, config: Json, auto: Any, tmp_path: Path) -> None:
    """Each class takes the same parts of a tokenizer.json as in the reference, and makes the same of those that it does not have."""
    folder = write(tmp_path / "folder", {"tokenizer.json": source, "tokenizer_config.json": {"tokenizer_class": name, **config}})
    reference, tokenizer = auto(folder), fst.Tokenizer(wordpiece(folder))
    same_ids(tokenizer, reference)
    same_settings(tokenizer, reference)


@pytest.mark.parametrize("kind", pretrained.MODEL_TYPES)
def test_type_of_a_model_stands_for_the_reference_s_class(kind: str, auto: Any, tmp_path: Path) -> None:
    """A config.json that names a type of model, and no class, gives what AutoTokenizer gives."""
    folder = write(tmp_path / "folder", {"tokenizer.json": UNLIKE_BERT, "config.json": {"model_type": kind}})
    reference, tokenizer = auto(folder), fst.Tokenizer(wordpiece(folder))
    same_ids(tokenizer, reference)
    same_settings(tokenizer, reference)


STRINGS = st.sampled_from(["[PAD]", "[UNK]", "<x>", "z0", "y1", "a", "##b"])
ADDED = st.builds(lambda content, special: added(content, special=special), STRINGS, st.booleans())
EXTRAS = st.lists(STRINGS, max_size=3, unique=True)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "do_lower_case": st.booleans(),
        "strip_accents": st.none() | st.booleans(),
        "tokenize_chinese_chars": st.booleans(),
        "pad_token": st.none() | STRINGS | STRINGS.map(typed),
        "mask_token": st.none() | STRINGS | STRINGS.map(typed),
        "bos_token": STRINGS,
        "cls_token": STRINGS | STRINGS.map(typed),
        "sep_token": STRINGS,
        "image_token": STRINGS,
        "foo_token": STRINGS.map(typed),
        "extra_special_tokens": EXTRAS | st.dictionaries(st.sampled_from(["bar", "baz_token"]), STRINGS),
        "additional_special_tokens": EXTRAS,
        "added_tokens_decoder": st.dictionaries(st.integers(0, 30).map(str), ADDED, max_size=4),
        "model_max_length": st.integers(1, 10**10) | st.just(1e30),
        "padding_side": st.sampled_from(["left", "right"]),
        "truncation_side": st.sampled_from(["left", "right"]),
        "model_input_names": st.lists(st.sampled_from(["input_ids", "attention_mask", "token_type_ids"]), min_size=1, unique=True),
    },
)
OLDER_MAPS = st.fixed_dictionaries(
    {},
    optional={
        "pad_token": STRINGS | STRINGS.map(lambda content: {"content": content, "lstrip": False}),
        "mask_token": STRINGS,
        "zed_token": STRINGS,
        "additional_special_tokens": EXTRAS,
        "extra_special_tokens": EXTRAS,
    },
)
OLDER_ADDED = st.dictionaries(STRINGS, st.integers(0, 40), max_size=3)
CLASSES = st.sampled_from(["BertTokenizer", "ConvBertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast"])


@given(config=CONFIGS, kind=CLASSES, older=OLDER_MAPS, numbers=OLDER_ADDED, has_document=st.booleans(), lower=st.booleans())
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_folder_is_refused_or_what_the_reference_makes_of_it(
    config: Json, kind: str, older: Json, numbers: Json, has_document: bool, lower: bool, auto: Any, tmp_path: Path
) -> None:
    """Whatever the files say: a folder is refused in this package's own words, or gives what AutoTokenizer gives."""
    normalizer = {**document()["normalizer"], "lowercase": lower}
    files = bare({"special_tokens_map.json": older, "added_tokens.json": numbers}, **{"tokenizer_class": kind, **config})
    folder = write(tmp_path / "folder", files | ({"tokenizer.json": document(normalizer=normalizer)} if has_document else {}))
    try:
        tokenizer = fst.Tokenizer(wordpiece(folder))
    except fst.FstError:
        return
    reference = auto(folder)
    same_ids(tokenizer, reference)
    same_settings(tokenizer, reference)


FLAGGED: dict[str, Json] = {
    "MPNet's": bare(tokenizer_class="MPNetTokenizer"),
    "MPNet's, numbered": bare(tokenizer_class="MPNetTokenizer", added_tokens_decoder={"18": added("<mask>", normalized=True)}),
    "MPNet's, by the type of the model": {"vocab.txt": LINES, "config.json": {"model_type": "mpnet"}},
    "an older map": bare({"special_tokens_map.json": OLDER}),
    "older added tokens": bare({"added_tokens.json": {"z1": 99, "<img>": 98, "<x>": 97}}, image_token="<img>"),
    "numbered tokens": bare(added_tokens_decoder={"7": {"content": "q", "lstrip": True}, "3": {"content": "z0", "single_word": True}}),
    "tokens replaced": standing(added_tokens_decoder={"4": added("[MASK]", lstrip=True), "9": {"content": "z0", "rstrip": True}}),
    "named, typed": standing(pad_token={"__type": "AddedToken", "content": "<x>", "lstrip": True}),
}


@pytest.mark.parametrize("files", FLAGGED.values(), ids=FLAGGED.keys())
def test_added_tokens_of_a_folder_are_the_reference_s(files: Json, auto: Any, tmp_path: Path) -> None:
    """The added tokens of a folder have the ids and the settings that AutoTokenizer gives them, whatever is made of these settings."""
    folder = write(tmp_path / "folder", files)
    read, _ = pretrained.read(folder)
    expected = json.loads(auto(folder).backend_tokenizer.to_str())
    assert {part["id"]: part for part in read["added_tokens"]} == {part["id"]: part for part in expected["added_tokens"]}


# What is refused


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (full(tokenizer_class="RobertaTokenizerFast"), "model WordPiece, of which tokenizer_class RobertaTokenizer makes BPE; to"),
        (bare(tokenizer_class="PreTrainedTokenizerFast"), r"tokenizer_class PreTrainedTokenizerFast without a tokenizer\.json"),
        (bare(word_tokenizer_type="mecab"), "tokenizer_config.json asks for word_tokenizer_type 'mecab'; to compile the tokenizer.json or"),
        (bare(subword_tokenizer_type="character"), "asks for subword_tokenizer_type 'character'"),
        (bare(do_basic_tokenize=False), "asks for do_basic_tokenize False"),
        (bare(never_split=["a"]), r"asks for never_split \['a'\]"),
        (full(split_special_tokens=True), "asks for split_special_tokens True"),
        (full(init_inputs=["x"]), r"asks for init_inputs \['x'\]"),
        (full(fast_tokenizer_files=["tokenizer.4.0.json"]), "asks for fast_tokenizer_files"),
        (full(auto_map={"AutoTokenizer": ["x.Y", None]}), "needs its own code, as auto_map"),
        (full(auto_map=["x.Y", None]), "needs its own code, as auto_map"),
        (full({"tokenizer.json": document(model={"type": "BPE", "vocab": {}, "merges": []})}), "model BPE"),
        (full({"tokenizer.json": document(model={"vocab": {}, "merges": []})}), "model BPE"),
        (standing({"tokenizer.json": document(model={"type": "Other", "vocab": []})}), "model Other"),
        ({"tokenizer.json": document(model={"type": "Other", "unk_id": 0, "vocab": []})}, "model Other: only WordPiece"),
    ],
)
def test_folder_that_asks_for_more_is_refused_by_name(files: Json, message: str, tmp_path: Path) -> None:
    """What a folder asks for and is not supported is refused by its name."""
    with pytest.raises(fst.UnsupportedError, match=message):
        wordpiece(write(tmp_path / "folder", files))


OTHER_CLASSES = [
    (bare(tokenizer_class="BertJapaneseTokenizer"), "tokenizer_class BertJapaneseTokenizer: supported are BertTokenizer, Electra"),
    (full(tokenizer_class="LlamaTokenizerFast"), "tokenizer_class LlamaTokenizerFast: supported are"),
    ({"tokenizer.json": document(), "config.json": {"model_type": "t5"}}, "config.json names the type of model 't5', and no file a"),
]


@pytest.mark.parametrize(("files", "message"), OTHER_CLASSES)
def test_class_that_only_transformers_knows(files: Json, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder of a class that the compiler does not know is refused by name where transformers is not installed."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(fst.UnsupportedError, match=f"{message}.*; or install transformers"):
        wordpiece(write(tmp_path / "folder", files))


def test_class_that_transformers_cannot_make(auto: Any, tmp_path: Path) -> None:  # noqa: ARG001 - skips without transformers
    """A folder of which transformers makes nothing, or a tokenizer in Python, is refused with the reason."""
    with pytest.raises(fst.UnsupportedError, match="BertJapaneseTokenizer, which transformers runs in Python"):
        wordpiece(write(tmp_path / "python", OTHER_CLASSES[0][0]))
    with pytest.raises(fst.UnsupportedError, match=r"'t5', and no file a.*; transformers cannot make it, either: "):
        wordpiece(write(tmp_path / "t5", OTHER_CLASSES[2][0]))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds neither a tokenizer.json nor a vocab.txt"),
        (
            {"tokenizer_config.json": {}, "tokenizer.bin": ""},
            "nor a tekken.json, a file of tiktoken or a .model, but 'tokenizer.bin', 'tokenizer_config.json'; only WordPiece",
        ),
        (dict.fromkeys("abcde", ""), "but 'a', 'b', 'c' and 2 more; only WordPiece"),
        (full({"tokenizer_config.json": "version https://git-lfs.github.com/spec/v1\noid"}), "tokenizer_config.json is a Git LFS pointer"),
        (bare({"vocab.txt": "<!DOCTYPE html>\n<html>"}), "vocab.txt is an HTML or XML page"),
        ({"vocab.txt": LINES, "tokenizer_config.json": "["}, "tokenizer_config.json is not JSON"),
        ({"vocab.txt": LINES, "tokenizer_config.json": "[" * 100_000}, "tokenizer_config.json is not JSON"),
        ({"vocab.txt": LINES, "tokenizer_config.json": []}, "tokenizer_config.json is no JSON object"),
        ({"vocab.txt": LINES, "special_tokens_map.json": "1"}, "special_tokens_map.json is no JSON object"),
        ({"vocab.txt": LINES, "added_tokens.json": "null"}, "added_tokens.json is no JSON object"),
        ({"tokenizer.json": "[]"}, "tokenizer.json is no JSON object"),
        ({"tokenizer.json": {}}, "it has no 'model'"),
        (full({"tokenizer.json": {"model": 1}}), "not laid out"),
        (full({"tokenizer.json": document(added_tokens=[1])}), "not laid out"),
        (full({"tokenizer.json": document(padding=1)}), "padding is 1; it is null or a mapping"),
        (standing({"tokenizer.json": document(padding=1)}), "not laid out"),
        (bare({"vocab.txt": ""}), "not laid out|empty"),
        (bare({"vocab.txt": "a\n"}), r"does not hold the unknown token '\[UNK\]'"),
        (bare(unk_token="<unk>"), "does not hold the unknown token '<unk>'"),
        (bare(unk_token=None), "unk_token is null, and a tokenizer of this class needs one"),
        (bare(cls_token=None), "cls_token is null, and a tokenizer of this class needs one"),
        (bare(pad_token=1), "1 stands for a special token; it is a string, or a mapping of the type AddedToken"),
        (bare(pad_token={"content": "[PAD]"}), "stands for a special token"),
        (bare(pad_token={"__type": "AddedToken"}), "not laid out"),
        (bare(pad_token=typed("[PAD]") | {"more": 1}), "not laid out"),
        (bare(pad_token=typed("[PAD]") | {"lstrip": 1}), "its content is a string, and its settings are true or false"),
        (bare(extra_special_tokens=1), "not laid out"),
        (bare(extra_special_tokens=[1]), "1 stands for a special token"),
        (bare(extra_special_tokens={"x": None}), "None stands for a special token"),
        (bare(added_tokens_decoder=[]), "not laid out"),
        (bare(added_tokens_decoder={"x": added("a")}), "not laid out"),
        (bare(added_tokens_decoder={"1": "a"}), "not laid out"),
        (bare(added_tokens_decoder={"1": {"content": 1}}), "its content is a string"),
        (bare({"added_tokens.json": {"z0": "x", "z1": 1}}), "not laid out"),
        (bare(do_lower_case="no"), "lowercase is 'no'; it is true or false"),
        (bare(tokenize_chinese_chars=None), "handle_chinese_chars is None; it is true or false"),
        (bare(model_max_length="512"), "model_max_length '512' is no number"),
        (bare(model_max_length=True), "model_max_length True is no number"),
        (bare(model_max_length=0), "model_max_length is 0; it is null or a whole number from 1"),
        (bare(model_max_length=-1), "model_max_length is -1"),
        (bare(model_input_names=[1]), r"model_input_names is \[1\]; it is a list of strings"),
        (bare(model_input_names="input_ids"), "model_input_names is 'input_ids'; it must be a list"),
        (bare(padding_side="top"), "padding_side is 'top'; it is 'right' or 'left'"),
        (bare(truncation_side=None), "truncation_side is None"),
        (bare(clean_up_tokenization_spaces=1), "clean_up_tokenization_spaces is 1; it is true or false"),
        (bare(image_token="\ud800"), r"'\\ud800'.* not text|named_tokens is"),
    ],
)
def test_folder_that_is_not_laid_out_as_one_is_refused(files: Json, message: str, tmp_path: Path) -> None:
    """A file that is not what it should be is refused, and the message names the folder."""
    folder = write(tmp_path / "folder", files)
    with pytest.raises(fst.VocabularyError, match=message) as error:
        wordpiece(folder)
    assert str(folder) in str(error.value)


JSON = st.recursive(
    st.sampled_from([None, True, 0, 1, -1, 1.5, "", "a", "[PAD]", "BertTokenizer", "\ud800"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["content", "__type", "0", "a"]), inner, max_size=2),
    max_leaves=3,
)
KEYS = (
    "tokenizer_class", "do_lower_case", "strip_accents", "pad_token", "unk_token", "foo_token", "extra_special_tokens",
    "additional_special_tokens", "added_tokens_decoder", "model_max_length", "max_len", "model_input_names", "padding_side", "auto_map",
)  # fmt: skip


@given(config=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3), other=JSON, name=st.sampled_from(pretrained.FILES))
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_values_are_read_or_refused(config: Json, other: Any, name: str, tmp_path: Path) -> None:
    """Whatever stands in the files of a folder, it is read, or refused in this package's own words."""
    content = json.dumps(other) if name.endswith(".json") else LINES
    files = {"vocab.txt": LINES, "tokenizer_config.json": config, name: content}
    try:
        tokenizer = fst.Tokenizer(wordpiece(write(tmp_path / "folder", files)))
    except (fst.VocabularyError, fst.UnsupportedError):
        return
    assert tokenizer.encode("a", add_special_tokens=False).tolist() == [5]


# Where no file names a class


def test_folder_without_a_class_is_its_tokenizer_json(tmp_path: Path) -> None:
    """Where no file names a class, a folder is its tokenizer.json, with the settings that tokenizer_config.json states."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(document(normalizer=CASED)), encoding="utf-8")
    alone = wordpiece(tmp_path / "tokenizer.json")
    config = {"do_lower_case": True, "model_max_length": 512, "padding_side": "left", "pad_token": "<pad>"}
    folder = wordpiece(write(tmp_path / "folder", {"tokenizer.json": document(normalizer=CASED), "tokenizer_config.json": config}))
    assert folder.run("Ab A") == alone.run("Ab A")
    named = {**alone.about["named_tokens"], "pad_token": "<pad>"}
    expected = {"model_max_length": 512, "padding_side": "left", "named_tokens": named}
    assert {name: folder.about[name] for name in expected} == expected
    assert folder.about["model_input_names"] == alone.about["model_input_names"] == ["input_ids", "token_type_ids", "attention_mask"]


@pytest.mark.parametrize("config", [{}, {"do_lower_case": False, "strip_accents": True}], ids=["nothing said", "settings"])
def test_folder_without_a_class_and_a_tokenizer_json_is_bert_s(config: Json, tmp_path: Path) -> None:
    """A vocab.txt with a tokenizer_config.json that names no class is made BERT's tokenizer, by its settings."""
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    folder = write(tmp_path / "folder", {"vocab.txt": LINES, "tokenizer_config.json": config})
    reference = transformers.BertTokenizer.from_pretrained(folder)
    tokenizer = fst.Tokenizer(wordpiece(folder))
    same_ids(tokenizer, reference)
    same_settings(tokenizer, reference)


def test_option_overrides_a_folder(tmp_path: Path) -> None:
    """An option counts, whatever a folder says, and the unknown token is then the one that has the name."""
    folder = write(tmp_path / "folder", bare(do_lower_case=False))
    tables = wordpiece(folder, lowercase=True, unk_token="q", layout="dense")
    assert tables.run("B") == [TOKENS.index("q")]
    assert tables.about["named_tokens"]["unk_token"] == "q"
    assert tables.about["layout"] == "dense"


# A vocab.txt that is named alone


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
    """Who names a vocab.txt is told once what the tokenizer_config.json beside it says otherwise, unless an option settles it."""
    folder = write(tmp_path / "folder", {"vocab.txt": LINES, **({} if config is None else {"tokenizer_config.json": config})})
    wordpiece(folder / "vocab.txt", **options)
    said = f"which says {warned}: compile {folder} instead"
    assert [said in message for message in caplog.messages] == ([] if warned is None else [True])


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
    """Who names the vocab.txt of a tokenizer that is refused as a folder is told that its ids are others."""
    folder = write(tmp_path / "folder", {"vocab.txt": LINES, "tokenizer_config.json": config})
    wordpiece(folder / "vocab.txt")
    (message,) = caplog.messages
    assert warned in message


def test_other_files_are_not_warned_of(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """A folder, and lines of another name, have no tokenizer_config.json beside them that would be passed over."""
    folder = write(tmp_path / "folder", {"words.txt": LINES, **bare(do_lower_case=False)})
    for source in (folder, folder / "words.txt"):
        wordpiece(source)
    assert not caplog.messages


# Real ones

FOLDER_NAMES = ("all-minilm-l6-v2", "bert-base-cased", pytest.param("bert-base-multilingual-cased", marks=pytest.mark.slow))
SENTENCES = ("Hello, World! naïve café", "東京 is in Japan, isn't it? [MASK]", "Привет мир", "über-straße")


@needs_shared
@pytest.mark.parametrize("name", FOLDER_NAMES)
def test_real_folder_is_what_the_reference_makes_of_it(name: str, auto: Any) -> None:
    """Folders of models in use have the ids that AutoTokenizer gives, and those of their tokenizer.json."""
    folder = SHARED / "vocab" / name
    tables, reference = wordpiece(folder), auto(folder)
    tokenizer = fst.Tokenizer(tables)
    for text in SENTENCES:
        assert tokenizer.encode(text).tolist() == reference(text)["input_ids"]
    assert tables.run(SENTENCES[0]) == wordpiece(folder / "tokenizer.json").run(SENTENCES[0])
    assert tables.about["model_max_length"] == as_known(reference.model_max_length)
    assert tables.about["named_tokens"] == {f"{use}_token": f"[{use.upper()}]" for use in ("pad", "unk", "cls", "sep", "mask")}


@needs_shared
def test_real_folder_without_a_tokenizer_json() -> None:
    """KR-BERT's folder, a vocab.txt and a setting, is BERT's tokenizer with that setting."""
    transformers = pytest.importorskip("transformers", reason="the reference for folders")
    folder = SHARED / "vocab" / "KR-BERT"
    tokenizer, reference = fst.Tokenizer(wordpiece(folder)), transformers.BertTokenizer.from_pretrained(folder)
    for text in ("안녕하세요 세계 Hello", "대한민국은 [MASK] 이다."):
        assert tokenizer.encode(text).tolist() == reference(text)["input_ids"]


@needs_shared
def test_japanese_words_are_refused_by_name() -> None:
    """bert-base-japanese splits words with MeCab, which is refused; its vocab.txt alone is not."""
    folder = SHARED / "vocab" / "bert-base-japanese"
    with pytest.raises(fst.UnsupportedError, match="word_tokenizer_type 'mecab'"):
        wordpiece(folder)
    assert wordpiece(folder / "vocab.txt").about["named_tokens"]["pad_token"] == "[PAD]"


# Names on the Hub

NAME = "some-owner/some-model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
# What a user runs, in a process of its own: huggingface_hub looks at its variables once.
COMPILE = "from fst.cli.main import main; main(prog_name='fst')"
WITHOUT = "import sys; sys.modules['huggingface_hub'] = None; " + COMPILE


def run(code: str, source: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Compile a source in a process with a home of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment = {**inherited, "HF_HOME": str(home / "hf"), "HF_HUB_DISABLE_TELEMETRY": "1", "NO_PROXY": "127.0.0.1", **variables}
    command = [sys.executable, "-W", "error", "-c", code, "compile", source, "-o", str(home / "table.npz")]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=300, check=False)


def cache(home: Path, files: Files, name: str = NAME) -> None:
    """Lay files out as huggingface_hub does in its cache."""
    place = home / "hf" / "hub" / ("models--" + name.replace("/", "--"))
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    (place / "snapshots").mkdir()
    write(place / "snapshots" / COMMIT, files)


@pytest.fixture(scope="module")
def hub() -> None:
    """The library that knows the Hub."""
    pytest.importorskip("huggingface_hub", reason="names on the Hub are its business")


@pytest.fixture
def answer() -> Iterator[Callable[[int, str], str]]:
    """A Hub that gives one answer to everything."""
    servers = []

    def serve(status: int, code: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("X-Error-Code", code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.usefixtures("hub")
def test_name_in_the_cache_is_its_folder(tmp_path: Path) -> None:
    """A model that is in the cache compiles without a network, into the bytes that its folder compiles into."""
    cache(tmp_path, full(do_lower_case=False))
    done = run(COMPILE, NAME, tmp_path, HF_HUB_OFFLINE="1")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    wordpiece(write(tmp_path / "folder", full(do_lower_case=False))).save(tmp_path / "other.npz")
    assert (tmp_path / "table.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


@pytest.mark.usefixtures("hub")
def test_files_come_before_names(tmp_path: Path) -> None:
    """Where there is a folder of that name, the Hub is not asked."""
    (tmp_path / "some-owner").mkdir()
    write(tmp_path / NAME, bare())
    assert run(WITHOUT, NAME, tmp_path).returncode == 0


NO_FILE = "Error: there is no file or folder 'some-owner/some-model'"
UNASKED = f"{NO_FILE}, and no model of that name in the cache; the Hugging Face Hub is out of reach"


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("code", "name", "variables", "message"),
    thinned(
        [
            (WITHOUT, NAME, {}, f"{NO_FILE}; to fetch it from the Hugging Face Hub: pip install huggingface_hub tokenizers"),
            (COMPILE, NAME, {"HF_HUB_OFFLINE": "1"}, f"{UNASKED}: Cannot"),
            (COMPILE, NAME, {"HF_ENDPOINT": "http://127.0.0.1:9"}, f"{UNASKED}: "),
            (COMPILE, "a--b", {}, "Error: there is no file or folder 'a--b', and it is no name of a model on the Hugging Face Hub either"),
            (COMPILE, "missing/vocab.txt", {}, "Error: missing/vocab.txt: No such file or directory; check the name"),
            (COMPILE, "missing.json", {}, "Error: missing.json: No such file or directory; check the name"),
            (COMPILE, "missing.tiktoken", {}, "Error: missing.tiktoken: No such file or directory; check the name"),
            (COMPILE, "a/b/c", {}, "Error: a/b/c: No such file or directory; check the name"),
            (COMPILE, "./missing", {}, "Error: missing: No such file or directory; check the name"),
        ],
        4,
    ),
)
def test_source_that_cannot_be_had_is_told(code: str, name: str, variables: dict[str, str], message: str, tmp_path: Path) -> None:
    """A source that is no file, and that cannot be had from the Hub, fails with one line that says why, and what to do."""
    done = run(code, name, tmp_path, **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "table.npz").exists()


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("status", "code", "message"),
    thinned(
        [
            (404, "RepoNotFound", f"{NO_FILE}, nor a model of that name on the Hugging Face Hub; if it is private: `hf auth login`"),
            (403, "GatedRepo", f"Error: '{NAME}' on the Hugging Face Hub has restricted access; request it there, then run `hf auth"),
            (400, "", f"{UNASKED}: Bad request\n"),
        ],
        3,
    ),
)
def test_answer_of_the_hub_is_told(status: int, code: str, message: str, answer: Callable[[int, str], str], tmp_path: Path) -> None:
    """What the Hub answers where it does not give a model is told in one line."""
    done = run(COMPILE, NAME, tmp_path, HF_ENDPOINT=answer(status, code))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(message), done.stderr


@pytest.mark.usefixtures("hub")
def test_cached_model_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    """A model in the cache that has no files of a tokenizer is refused."""
    cache(tmp_path, {"config.json": {"model_type": "bert"}})
    done = run(COMPILE, NAME, tmp_path, HF_HUB_OFFLINE="1")
    assert "holds neither a tokenizer.json nor a vocab.txt" in done.stderr
