"""Folders and names of models: compiled as one source, they give what transformers' AutoTokenizer gives with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fst
from fst.compile import wordpiece

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
Files = Mapping[str, Any]


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


def write(folder: Path, files: Files) -> Path:
    """Write a folder: text as it is, anything else as JSON."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def bare(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """Describe a folder without a tokenizer.json."""
    return {"vocab.txt": LINES, "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", **config}, **files}


def full(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """Describe a folder with a tokenizer.json, from which BERT's tokenizer is made anew."""
    return {"tokenizer.json": document(), **bare(files, **config)}


def standing(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """Describe a folder whose tokenizer.json counts as it stands."""
    return full(files, tokenizer_class="PreTrainedTokenizerFast", **config)


def as_known(length: float) -> int | None:
    """A model's length, or None where transformers has a very large number."""
    return None if length > 10**9 else int(length)


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


def same_settings(tokenizer: fst.Tokenizer, reference: Any) -> None:
    """Compare what is kept beside what ids follow from."""
    about = tokenizer.about
    assert about["named_tokens"] == {name: str(token) for name, token in reference.special_tokens_map.items()}
    assert about["extra_special_tokens"] == [str(token) for token in reference.extra_special_tokens]
    assert about["model_max_length"] == as_known(reference.model_max_length)
    for name in ("model_input_names", "padding_side", "truncation_side", "clean_up_tokenization_spaces"):
        assert about[name] == getattr(reference, name), name


@pytest.fixture(scope="module")
def auto() -> Any:
    """The reference for folders."""
    return pytest.importorskip("transformers", reason="the reference for folders").AutoTokenizer.from_pretrained


LEFT = {"direction": "Left", "max_length": 7, "strategy": "OnlyFirst", "stride": 2}
PADDED = {
    "strategy": {"Fixed": 8}, "direction": "Left", "pad_to_multiple_of": None, "pad_id": 17, "pad_type_id": 0, "pad_token": "<pad>",
}  # fmt: skip
CASED = {**document()["normalizer"], "lowercase": False}
OLDER = {"mask_token": {key: value for key, value in added("<m>", lstrip=True).items() if key != "special"}, "image_token": "<img>"}
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
    tokenizer = fst.load(tmp_path / "table.npz")
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
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
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
