"""After `fst.patch_transformers`, `from_pretrained` of `transformers` returns compiled tokenizers. Their results are compared with those of
`transformers` without the patch.
"""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.compat.classes import CLASSES, folder_of
from support.compat.patched import CHECKS, DIFFERENT, TEMPLATE, auto, both, is_compiled, outcome, patched, reloaded
from support.compat.tokenizers import KINDS, source, table
from support.compat.transformers import TEXTS, assert_same, library
from support.tiers import examples, thinned

import fst
from fst.compile import tokenizer as compiled

pytestmark = pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that contains a folder for each class."""
    library("transformers")
    return tmp_path_factory.mktemp("patched")


@pytest.mark.parametrize("name", thinned(CLASSES, 3))
def test_checks_of_transformers(name: str, folders: Path, tmp_path: Path) -> None:
    """A patched tokenizer is an object of the original class, and each check has the same result as without the patch, when the table is
    compiled and when it is read from the cache.
    """
    folder = folder_of(name, folders)
    for _ in range(2):
        two = both(folder)
        assert is_compiled(two.other)
        assert isinstance(two.other, type(two.own))
        assert_same(*(reloaded(tokenizer, tmp_path) for tokenizer in two))
        for check in CHECKS.keys() - DIFFERENT.get(name, ()):
            assert_same(*(outcome(CHECKS[check], tokenizer) for tokenizer in two))


SETTINGS: list[dict[str, Any]] = [
    {"padding_side": "left", "truncation_side": "left", "model_max_length": 9},
    {"pad_token": "[NEWPAD]", "extra_special_tokens": ["<x>", "b"]},
    {"add_bos_token": True, "bos_token": "<|endoftext|>"},
    {"chat_template": TEMPLATE, "clean_up_tokenization_spaces": True, "verbose": True},
    {"image_token": "<image>", "unknown_setting": [1, {"a": None}]},
    {"add_prefix_space": True, "model_input_names": ["input_ids"]},
    {"revision": "main", "cache_dir": "nowhere", "local_files_only": True, "trust_remote_code": True},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_arguments(settings: dict[str, Any], folders: Path) -> None:
    """Arguments of `from_pretrained` have the same effect as without the patch, and another table in the cache."""
    folder, texts = folder_of("Qwen2", folders), [*TEXTS, "a [NEWPAD] b<x>a<image>"]
    both(folder)
    two = both(folder, **settings)
    two.same(lambda tokenizer: tokenizer(texts, padding=True, truncation=True))
    two.same(lambda tokenizer: tokenizer.batch_decode(tokenizer(texts)["input_ids"], skip_special_tokens=True))
    two.same(lambda tokenizer: [tokenizer.special_tokens_map, tokenizer.all_special_ids, tokenizer.verbose, tokenizer.chat_template])
    two.same(lambda tokenizer: [str(tokenizer.init_kwargs[name]) for name in settings if name in two.own.init_kwargs])
    two.same(lambda tokenizer: getattr(tokenizer, "image_token", None))


FILES: dict[str, Any] = {
    "tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer", "pad_token": "a", "model_max_length": 7},
    "config.json": {"model_type": "qwen2"},
    "special_tokens_map.json": {"eos_token": "b"},
    "added_tokens.json": {"<added>": 900},
    "chat_template.jinja": TEMPLATE,
    "tokenizer.json": None,
}


def test_each_file_counts(folders: Path, tmp_path: Path) -> None:
    """After any file of a folder has changed, no table of the old files is used."""
    folder = shutil.copytree(folder_of("Qwen2", folders), tmp_path / "changing")
    both(folder)
    for name, content in FILES.items():
        if content is None:
            document = json.loads((folder / name).read_text("utf-8"))
            document["model"]["merges"] = document["model"]["merges"][:100]
            content = document
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        two = both(folder)
        two.same(lambda tokenizer: tokenizer([*TEXTS, "ab <added>"], padding=True, truncation=True))
        two.same(lambda tokenizer: [tokenizer.special_tokens_map, tokenizer.get_added_vocab(), tokenizer.chat_template])


def test_the_cache_replaces_the_library_s_tokenizer(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the cache contains the table, `transformers` makes no tokenizer of its own."""
    folder, made = folder_of("Bert", folders), library("transformers").BertTokenizer
    expected = both(folder).other(TEXTS)["input_ids"]
    monkeypatch.delattr(made, "__init__")
    monkeypatch.delattr(made.__base__, "__init__")
    with patched():
        assert auto(folder)(TEXTS)["input_ids"] == made.from_pretrained(folder)(TEXTS)["input_ids"] == expected


# Tokenizers that are not compiled


def test_use_fast(folders: Path) -> None:
    """With `use_fast=False`, the result is that of `transformers`, and the next call is patched again."""
    folder = folder_of("Bert", folders)
    with patched():
        for load in (auto, library("transformers").BertTokenizer.from_pretrained):
            assert not is_compiled(load(folder, use_fast=False))
            assert is_compiled(load(folder, use_fast=True))
        with pytest.raises(OSError, match="nowhere"):
            auto(folders / "nowhere", use_fast=False)
        assert is_compiled(auto(folder))


def test_other_classes(folders: Path) -> None:
    """Objects of a class outside `transformers` are not compiled, and a warning contains the class's module."""

    class Shouting(library("transformers").GPT2Tokenizer):  # type: ignore[misc]
        pass

    with patched(), pytest.warns(fst.FstWarning, match=r"^Shouting \(.*\) stays a tokenizer of transformers: its class is in .*test_patch"):
        assert type(Shouting.from_pretrained(folder_of("GPT2", folders))) is Shouting


def test_what_cannot_be_compiled(folders: Path, tmp_path: Path) -> None:
    """If a tokenizer cannot be compiled, the result is that of `transformers`, with one warning, which contains the component; `fst.hf`
    raises an error.
    """
    folder = shutil.copytree(folder_of("GPTNeoX", folders), tmp_path / "splitting")
    with patched():
        with pytest.warns(fst.FstWarning, match=r"stays a tokenizer of transformers: split_special_tokens is True") as found:
            tok = auto(folder, split_special_tokens=True)
        assert len(found) == 1
        assert tok("<|endoftext|>")["input_ids"] != auto(folder)("<|endoftext|>")["input_ids"]
        document = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        parts = [{"type": "UnicodeScripts"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}]
        document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": parts}
        (folder / "tokenizer.json").write_text(json.dumps(document), "utf-8")
        config = {"tokenizer_class": "PreTrainedTokenizerFast"}
        (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
        with pytest.warns(fst.FstWarning, match=r"stays a tokenizer of transformers: .*UnicodeScripts"):
            assert not is_compiled(auto(folder))
    for live in (tok, tok.backend_tokenizer):
        with pytest.raises(fst.UnsupportedError, match=r"^split_special_tokens is True; expected False"):
            fst.hf(live)


# The patch


def members() -> list[dict[str, Any]]:
    """The members of everything that the patch changes."""
    decoders = library("tokenizers").decoders
    return [dict(vars(owner)) for owner in (library("transformers").TokenizersBackend, library("transformers").AutoTokenizer, decoders)]


def test_it_is_undone() -> None:
    """A second patch does nothing, and one call undoes all patches."""
    before = members()
    fst.unpatch_transformers()
    fst.patch_transformers()
    during = members()
    fst.patch_transformers()
    assert members() == during != before
    fst.unpatch_transformers()
    assert members() == before


def test_threads_load_one_class(folders: Path) -> None:
    """If threads load tokenizers at the same time, all objects have the same class, and can be pickled."""
    folder = folder_of("XGLM", folders)
    with patched(), ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: auto(folder), range(16))]
    assert len({type(tok) for tok in found}) == 1
    assert pickle.loads(pickle.dumps(found[0]))(TEXTS) == found[1](TEXTS)


@pytest.mark.slow
def test_other_processes(folders: Path, tmp_path: Path) -> None:
    """A process without the patch can unpickle a patched tokenizer; its own calls of `from_pretrained` are not changed."""
    folder = folder_of("Bert", folders)
    two = both(folder)
    (tmp_path / "tok").write_bytes(pickle.dumps(two.other))
    code = f"""
import pickle, transformers
from pathlib import Path
tok = pickle.loads(Path({str(tmp_path / "tok")!r}).read_bytes())
own = transformers.AutoTokenizer.from_pretrained({str(folder)!r})
print(hasattr(own, "fst"), tok({TEXTS[0]!r})["input_ids"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"False {two.own(TEXTS[0])['input_ids']}"


def test_stand_ins_load_stand_ins(folders: Path, tmp_path: Path) -> None:
    """`from_pretrained` of a stand-in's class returns stand-ins, also without the patch."""
    made = fst.hf(auto(folder_of("T5", folders)), model_max_length=30)
    made.save_pretrained(tmp_path)
    again = type(made).from_pretrained(tmp_path, padding_side="left")
    assert type(again) is type(made)
    assert (again.model_max_length, again.padding_side, again(TEXTS)) == (30, "left", made(TEXTS))


def test_folders_that_the_compiler_reads_with_transformers(folders: Path) -> None:
    """The compiler reads folders of some classes with `transformers`; it makes the same table with the patch."""
    folder = folder_of("Reformer", folders)
    expected = compiled(folder)
    with patched():
        found = compiled(folder)
    assert pickle.dumps(found) == pickle.dumps(expected)


# Decoders of streams


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed")
@given(some.data())
@examples(100)
def test_streams(data: Any) -> None:
    """A `DecodeStream` returns the same texts for a stand-in and for the tokenizer of `tokenizers`; its copies are independent of it."""
    kind = data.draw(some.sampled_from([*KINDS]))
    own, other = source(kind), fst.tokenizers(table(kind))
    number = some.integers(0, own.get_vocab_size() - 1)
    ids = some.lists(number, max_size=12)
    skips, start, rows = data.draw(some.booleans()), data.draw(some.none() | ids), data.draw(some.lists(ids | number, max_size=20))
    with patched():
        streams = [(tok, library("tokenizers").decoders.DecodeStream(start, skip_special_tokens=skips)) for tok in (own, other)]
        for row in rows:
            expected, found = (outcome(stream.step, tok, row) for tok, stream in streams)
            assert found == expected
            streams = [(tok, copy.deepcopy(stream)) for tok, stream in streams]


# The class of all fast tokenizers

# Members that work unchanged, with the inner tokenizer or with members of the stand-in.
WORKING = {
    *("_add_tokens", "_convert_encoding", "_convert_id_to_token", "_convert_token_to_id_with_added_voc", "add_bos_token", "add_eos_token"),
    *("added_tokens_decoder", "added_tokens_encoder", "_added_tokens_decoder", "_added_tokens_encoder", "backend_tokenizer", "decoder"),
    *("can_save_slow_tokenizer", "convert_ids_to_tokens", "get_added_vocab", "get_vocab", "is_fast", "num_special_tokens_to_add"),
    *("save_pretrained", "set_truncation_and_padding", "tokenize", "update_post_processor", "vocab", "vocab_files_names", "vocab_size"),
    "__bool__",
}
OVERRIDDEN = {
    *("__init__", "__len__", "_decode", "_encode_plus", "_encode_without_added_tokens", "_save_pretrained", "_tokenizer"),
    *("convert_tokens_to_string", "save_vocabulary", "train_new_from_iterator"),
}
# Members that make tokenizers from files.
LOADING = {
    *("convert_to_native_format", "_convert_from_sentencepiece", "_convert_from_tiktoken", "_patch_mistral_regex", "_post_init", "model"),
    "_tokenizer_json_has_byte_level",
}
# Members that Python adds to a class; `copyreg` adds the last one when the first object is copied or pickled.
OF_PYTHON = {"__module__", "__doc__", "__annotations__", "__firstlineno__", "__static_attributes__", "__slotnames__"}


def test_every_member_is_known(folders: Path) -> None:
    """Every member of the class of all fast tokenizers works with a stand-in, is overridden, or only makes tokenizers from files."""
    base, made = library("transformers").TokenizersBackend, fst.hf(auto(folder_of("Bert", folders)))
    assert vars(base).keys() - OF_PYTHON <= WORKING | OVERRIDDEN | LOADING
    stand_in = {*vars(made), *(name for one in type(made).__mro__ if one.__module__.startswith("fst.") for name in vars(one))}
    assert stand_in >= OVERRIDDEN
    assert not stand_in & WORKING
    assert made._convert_encoding(made.backend_tokenizer.encode("a"))[0].keys() == {"input_ids", "token_type_ids", "attention_mask"}
    assert bool(made)
    assert made.can_save_slow_tokenizer


@pytest.mark.parametrize("name", ["GPT2", "Llama", "Bert", "T5"])
def test_libraries_of_guides_read_the_backend(name: str, folders: Path) -> None:
    """The libraries xgrammar and llguidance make the same vocabulary from a patched tokenizer as from the tokenizer of `transformers`."""
    xgrammar, llguidance = library("xgrammar"), library("llguidance.hf")
    two = both(folder_of(name, folders))
    two.same(lambda tokenizer: json.loads(xgrammar.TokenizerInfo.from_huggingface(tokenizer).serialize_json()))
    two.same(lambda tokenizer: outcome(lambda tok: llguidance.from_tokenizer(tok).tokenize_str(TEXTS[0]), tokenizer))
