"""Folders of pretrained models give the same ids, names and settings as AutoTokenizer in `transformers`."""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.sources.folders import Files, same_settings, write
from support.sources.pretrained import BERT, CASED, LINES, TOKENS, Json, added, bare, document, full, same_ids, typed
from support.tiers import examples, thinned

import fst
from fst.compile.sources.inputs import FILES
from fst.compile.sources.pretrained import folder as pretrained


def standing(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """Return the files of a folder whose tokenizer.json is used unchanged."""
    return full(files, tokenizer_class="PreTrainedTokenizerFast", **config)


LEFT = {"direction": "Left", "max_length": 7, "strategy": "OnlyFirst", "stride": 2}
PADDED = {
    "strategy": {"Fixed": 8}, "direction": "Left", "pad_to_multiple_of": None, "pad_id": 17, "pad_type_id": 0, "pad_token": "<pad>",
}  # fmt: skip
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
    **{name: bare(tokenizer_class=name) for name in ("SqueezeBertTokenizer", "LxmertTokenizer", "LayoutLMTokenizer")},
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
    """A folder gives the same ids, names and settings as AutoTokenizer, even after its table is saved and loaded."""
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
    thinned(product([*pretrained.FAMILIES, *pretrained.AS_IT_STANDS[1:]], (MINIMAL, UNLIKE_BERT), ({}, SAID)), 6),
)
def test_class_takes_of_a_document_what_the_reference_s_takes(name: str, source: Json, config: Json, auto: Any, tmp_path: Path) -> None:
    """Each class uses the same parts of a tokenizer.json as in `transformers`, and has the same defaults for missing parts."""
    folder = write(tmp_path / "folder", {"tokenizer.json": source, "tokenizer_config.json": {"tokenizer_class": name, **config}})
    reference, tokenizer = auto(folder), fst.Tokenizer(wordpiece(folder))
    same_ids(tokenizer, reference)
    same_settings(tokenizer, reference)


@pytest.mark.parametrize("kind", pretrained.MODEL_TYPES)
def test_type_of_a_model_stands_for_the_reference_s_class(kind: str, auto: Any, tmp_path: Path) -> None:
    """If config.json names a model type and no file names a class, the class is the one that AutoTokenizer uses for this type."""
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
CLASSES = st.sampled_from(["BertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast"])


@given(config=CONFIGS, kind=CLASSES, older=OLDER_MAPS, numbers=OLDER_ADDED, has_document=st.booleans(), lower=st.booleans())
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_folder_is_refused_or_what_the_reference_makes_of_it(
    config: Json, kind: str, older: Json, numbers: Json, has_document: bool, lower: bool, auto: Any, tmp_path: Path
) -> None:
    """A folder that contains any files gives the same results as AutoTokenizer, or is refused with an error of this package."""
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
    """The added tokens of a folder have the same ids and flags as in AutoTokenizer."""
    folder = write(tmp_path / "folder", files)
    read, _ = pretrained.read(folder)
    expected = json.loads(auto(folder).backend_tokenizer.to_str())
    assert {part["id"]: part for part in read["added_tokens"]} == {part["id"]: part for part in expected["added_tokens"]}


# Refused sources


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
    """A folder that needs an unsupported feature is refused, and the message contains the name of the feature."""
    with pytest.raises(fst.UnsupportedError, match=message):
        wordpiece(write(tmp_path / "folder", files))


OTHER_CLASSES = [
    (bare(tokenizer_class="PerceiverTokenizer"), "tokenizer_class PerceiverTokenizer: supported are BertTokenizer, Electra"),
    (full(tokenizer_class="LlamaTokenizerFast"), "tokenizer_class LlamaTokenizerFast: supported are"),
    ({"tokenizer.json": document(), "config.json": {"model_type": "t5"}}, "config.json names the type of model 't5', and no file a"),
]


@pytest.mark.parametrize(("files", "message"), OTHER_CLASSES)
def test_class_that_only_transformers_knows(files: Json, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If `transformers` is not installed, a folder with an unknown class is refused, and the message contains the name of the class."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(fst.UnsupportedError, match=f"{message}.*; or install transformers"):
        wordpiece(write(tmp_path / "folder", files))


def test_class_that_transformers_cannot_make(auto: Any, tmp_path: Path) -> None:  # noqa: ARG001 - skips without transformers
    """A folder is refused if `transformers` fails to load it, or loads a tokenizer that runs in Python, and the message gives the
    reason.
    """
    with pytest.raises(fst.UnsupportedError, match="PerceiverTokenizer, which transformers runs in Python"):
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
        ({"vocab.txt": LINES, "tokenizer_config.json": []}, "tokenizer_config.json is not a JSON object"),
        ({"vocab.txt": LINES, "special_tokens_map.json": "1"}, "special_tokens_map.json is not a JSON object"),
        ({"vocab.txt": LINES, "added_tokens.json": "null"}, "added_tokens.json is not a JSON object"),
        ({"tokenizer.json": "[]"}, "tokenizer.json is not a JSON object"),
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
        (bare(model_max_length="512"), "model_max_length '512' is not a number"),
        (bare(model_max_length=True), "model_max_length True is not a number"),
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
    """A folder with a malformed file is refused, and the message contains the path of the folder."""
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


@given(config=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3), other=JSON, name=st.sampled_from(FILES))
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_values_are_read_or_refused(config: Json, other: Any, name: str, tmp_path: Path) -> None:
    """A folder whose files have any content is compiled, or refused with an error of this package."""
    content = json.dumps(other) if name.endswith(".json") else LINES
    files = {"vocab.txt": LINES, "tokenizer_config.json": config, name: content}
    try:
        tokenizer = fst.Tokenizer(wordpiece(write(tmp_path / "folder", files)))
    except (fst.VocabularyError, fst.UnsupportedError):
        return
    assert tokenizer.encode("a", add_special_tokens=False).tolist() == [5]
