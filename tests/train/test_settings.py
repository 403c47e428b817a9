"""Folders of trained vocabularies have the class, the roles of tokens, the chat template and the settings that `transformers` reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compat.classes import CLASSES, folder_of
from support.compat.transformers import library
from support.tiers import thinned

import fst
from fst import train
from fst.errors import UnsupportedError, VocabularyError
from fst.tables.header import TokenizerClass
from fst.train.result import Trained
from fst.train.settings import AS_THEY_ARE, FIXED, files_of, renumbered

TEXTS = ["The hugs of pugs are hugs, and puns are puns.", "Thé HUGGING pug hugged 12 bunnies in 2024!", "café über 世界 <mask> </s>"]
CHAT = "{% for message in messages %}{{ message['content'] }}{{ eos_token }}{% endfor %}"
WAYS: Mapping[str, Callable[[Any], Trained]] = {
    "extend": lambda old: train.extend(old, TEXTS, 3),
    "trim": lambda old: train.trim(old, TEXTS, len(fst.Tokenizer(fst.compile.tokenizer(old)).get_vocab()) - 2).trained,
    "like": lambda old: train.like(old, TEXTS * 2),
}


def loaded(folder: Path) -> Any:
    """The tokenizer that `transformers` makes from a folder."""
    return library("transformers").AutoTokenizer.from_pretrained(folder)


def settings_of(live: Any) -> dict[str, Any]:
    """The class, the roles and the settings of a tokenizer of `transformers`."""
    plain = {name: getattr(live, name) for name in (*AS_THEY_ARE, "chat_template")}
    named = {role: str(token) for role, token in live.special_tokens_map.items()}
    return {"class": type(live), "named": named, "extra": {*map(str, live.extra_special_tokens)}, **plain}


def check(new: Trained, old: Any, folder: Path, texts: Iterable[str] = TEXTS) -> None:
    """Check that a saved vocabulary has the settings of the base tokenizer, and the same ids in `transformers` as in this package."""
    new.save(folder)
    live, made = loaded(folder), [new.tokenizer(), fst.Tokenizer(fst.compile.tokenizer(folder))]
    expected = settings_of(old)
    if type(old).__name__ in FIXED:
        expected["class"] = library("transformers").PreTrainedTokenizerFast
    assert settings_of(live) == expected
    for text in texts:
        assert [tok.encode(text).tolist() for tok in made] == [live.encode(text)] * 2
    assert made[0]._metadata.settings.named_tokens == made[1]._metadata.settings.named_tokens


def folder_like(name: str, folder: Path) -> Path:
    """A folder with a tokenizer of a class, with roles, a chat template and a member that no library knows."""
    path = folder_of(name, folder)
    config = json.loads((path / "tokenizer_config.json").read_text("utf-8"))
    end = "[SEP]" if name == "Bert" else "<|endoftext|>"
    config |= {"eos_token": end, "bos_token": None, "chat_template": CHAT, "padding_side": "left", "own": [1.5, "x"]}
    (path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "way"),
    [pytest.param("Qwen2", "extend", marks=pytest.mark.slow), ("GPT2", "extend"), ("Bert", "trim"), ("Bert", "like")],
)
def test_folders_give_their_settings(name: str, way: str, tmp_path: Path) -> None:
    """A vocabulary made from a folder has the folder's class, roles, chat template, maximum length and unknown members of the
    configuration.
    """
    old = folder_like(name, tmp_path)
    check(WAYS[way](old), loaded(old), tmp_path / "new")
    members = json.loads((tmp_path / "new/tokenizer_config.json").read_text("utf-8"))
    assert members["own"] == [1.5, "x"]
    assert (tmp_path / "new/chat_template.jinja").read_text("utf-8") == CHAT


def test_trained_vocabularies_give_their_settings(tmp_path: Path) -> None:
    """A vocabulary made from a trained vocabulary, or from its saved folder, has the settings of the first base tokenizer."""
    old = folder_like("Bert", tmp_path)
    first = WAYS["like"](old)
    check(WAYS["extend"](first), loaded(old), tmp_path / "new")
    check(WAYS["like"](tmp_path / "new"), loaded(old), tmp_path / "again")


@pytest.mark.parametrize("way", ["trim", "like"])
@pytest.mark.parametrize("name", thinned(CLASSES, 40))
def test_live_tokenizers_give_their_settings(name: str, way: str, tmp_path: Path) -> None:
    """A vocabulary made from a tokenizer of `transformers` has the tokenizer's class, roles and settings, for every class that can be
    compiled.
    """
    folder = folder_of(name, tmp_path)
    live = loaded(folder)
    try:
        new = WAYS[way](live)
    except UnsupportedError as error:
        pytest.skip(f"{name}: {error}")
    check(new, live, tmp_path / "new")


def small() -> Trained:
    """A vocabulary that was trained without a base tokenizer."""
    options: Any = {"splitter": "gpt2", "special_tokens": ["<s>", "</s>", "<pad>", "<mask>"]}
    return train.bpe(TEXTS, vocab_size=300, **options)


def test_settings_of_users_are_saved(tmp_path: Path) -> None:
    """Settings that a user passes for a new vocabulary are saved in folder and table; other roles follow from usual spellings."""
    new = small().with_settings(eos_token="</s>", bos_token="<s>", cls_token=None, chat_template=CHAT, model_max_length=77)
    new.save(tmp_path / "new")
    live, settings = loaded(tmp_path / "new"), new.tokenizer()._metadata.settings
    expected = {"bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
    assert {role: str(token) for role, token in live.special_tokens_map.items()} == expected == settings.named_tokens
    assert (live.model_max_length, live.chat_template) == (77, CHAT)
    assert (settings.model_max_length, settings.chat_templates) == (77, {"default": CHAT})
    assert live.encode("hugs </s>") == new.tokenizer().encode("hugs </s>").tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"eos_token": "</t>"}, "eos_token is '</t>', which is not a token; expected a special token; add it to special_tokens"),
        ({"pad_token": 3}, "pad_token is 3, which is not a token"),
        ({"extra_special_tokens": ["<s>", "<t>"]}, "extra_special_tokens is '<t>', which is not a token"),
        ({"max_length": 3}, "the setting 'max_length' is unknown; expected roles of tokens and others: 'eos_token', "),
        ({"model_max_length": -1}, "model_max_length is -1; expected "),
        ({"padding_side": "up"}, "padding_side is 'up'; expected "),
        ({"chat_template": 3}, "chat_template is 3; expected text, or mappings with name and template"),
    ],
)
def test_settings_that_do_not_hold_are_refused(given: dict[str, Any], message: str) -> None:
    """A setting of a user is refused if it is unknown, has a wrong value or names no token."""
    with pytest.raises(VocabularyError) as error:
        small().with_settings(**given)
    assert message in str(error.value)


def test_members_that_do_not_hold_are_left_out() -> None:
    """Ids, paths and templates in the old configuration are left out, and the new one contains all chat templates of the vocabulary."""
    document = Trained("BPE", {"a": 0}, np.zeros(1, np.int64), "size").to_json()
    templates = {"default": CHAT, "rag": "{{ documents }}"}
    gone = {"added_tokens_decoder": {"0": {}}, "tokenizer_file": "/x", "chat_template": "old", "eos_token": "</s>"}
    files = files_of(document, {"chat_templates": templates}, {**gone, "unk_token": None, "own": 1})
    assert [*files] == ["tokenizer_config.json"]
    members = json.loads(files["tokenizer_config.json"])
    assert members.pop("chat_template") == [{"name": name, "template": text} for name, text in templates.items()]
    inputs = ["input_ids", "attention_mask"]
    assert members == {"model_input_names": inputs, "own": 1, "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": None}


def test_attributes_with_ids_do_not_hold_for_other_ids() -> None:
    """A class whose attributes contain numbers, which may be ids, is left out of a vocabulary with other ids."""
    plain, numbered = (TokenizerClass("A", attributes, {}) for attributes in ({"is_a": True}, {"ids": {"en": [7]}}))
    assert renumbered({"tokenizer_class": plain}) == {"tokenizer_class": plain}
    assert renumbered({"tokenizer_class": numbered, "padding_side": "left"}) == {"padding_side": "left"}
