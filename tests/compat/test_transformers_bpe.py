"""For byte-level BPE, the stand-in for the fast tokenizers of `transformers` gives the same results as `transformers`."""

from __future__ import annotations

import copy
import json
import pickle
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compat.transformers import ATTRIBUTES, CALLS, CHANGES, TEXTS, TRACES, Two, assert_same, known, library
from support.kept import bpe
from support.machines.documents import byte_level
from support.shared_data import REPOSITORY, SHARED, needs_shared
from support.tiers import sample
from tokenizers import ByteLevelBPETokenizer
from tokenizers.processors import ByteLevel, Sequence, TemplateProcessing

import fst
from fst.cli.commands.info import described, listed
from fst.machines.bpe.table import BpeTable
from fst.runtime.compat.transformers.bpe_document import merges

END, BEGIN = "<|endoftext|>", "<|begin|>"
MORE_TEXTS = [*TEXTS, f"{END}a  b{END} {BEGIN}", "  two  blanks \n\n", "naïve 😀😺 é", "it's 12345 o'clock", " "]
CHAT = (
    "{% for message in messages %}{{ '<|begin|>' + message['role'] + ': ' + message['content'] }}"
    "{% generation %} !{% endgeneration %}{% endfor %}"
)
MESSAGES = [{"role": "user", "content": "Wolfgang lives in Berlin"}, {"role": "assistant", "content": "naïve 世界"}]
KINDS = ("GPT2", "frame")

pytestmark = pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported
each_kind = pytest.mark.parametrize("kind", KINDS)


@cache
def trained() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Train the tokens and merges that the tests use."""
    learner = ByteLevelBPETokenizer()
    learner.train_from_iterator([*TEXTS, (REPOSITORY / "LICENSE").read_text("utf-8")], 700, show_progress=False)
    model = json.loads(learner._tokenizer.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write two tokenizers in the file format of `transformers`: GPT-2's, and a tokenizer that puts a token before each text, as Llama
    3's does.
    """
    transformers = library("transformers")
    vocabulary, pairs = trained()
    found = {kind: tmp_path_factory.mktemp(kind) for kind in KINDS}
    made = transformers.GPT2Tokenizer(vocab={**vocabulary, END: len(vocabulary)}, merges=pairs, pad_token=END, model_max_length=64)
    made.add_special_tokens({"additional_special_tokens": [BEGIN]})
    made.chat_template = CHAT
    made.save_pretrained(found["GPT2"])
    framed = transformers.PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, eos_token=END, pad_token=END, model_max_length=64)
    begun = TemplateProcessing(single=f"{BEGIN} $A", pair=f"{BEGIN} $A {BEGIN} $B:1", special_tokens=[(BEGIN, len(vocabulary) + 1)])
    framed._tokenizer.post_processor = Sequence([ByteLevel(add_prefix_space=False, trim_offsets=True), begun])
    framed.save_pretrained(found["frame"])
    return found


def two_of(folder: Path) -> Two:
    """Return the `transformers` tokenizer of a folder and its stand-in."""
    return Two(library("transformers").AutoTokenizer.from_pretrained(folder), fst.hf(fst.Tokenizer(bpe(folder))))


@pytest.fixture
def two(folders: dict[str, Path], kind: str) -> Two:
    """Return a `transformers` tokenizer and its stand-in; each test gets new objects, because tests may change their settings."""
    return two_of(folders[kind])


@each_kind
def test_attributes(two: Two) -> None:
    """The attributes of the stand-in equal those of the `transformers` tokenizer."""
    for name in (*ATTRIBUTES, "add_prefix_space"):
        if name != "name_or_path_is_text":
            two.same(getattr, name)
    two.same(len)
    two.same(lambda tokenizer: tokenizer.get_added_vocab())
    two.same(lambda tokenizer: [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)])
    two.same(lambda tokenizer: tokenizer._tokenizer.get_vocab_size(False))
    assert not two.other._tokenizer.model.continuing_subword_prefix


@each_kind
@pytest.mark.parametrize("call", CALLS)
def test_calls(two: Two, call: Callable[[Any], Any]) -> None:
    """Calls return the same keys, types and values as in `transformers`, in the same order."""
    try:
        call(two.own)
    except ImportError as error:
        pytest.skip(f"{error!s:.80}")
    two.same(call)


@each_kind
@pytest.mark.parametrize("options", [{}, {"padding": True, "truncation": True, "max_length": 9}, {"add_special_tokens": False}], ids=str)
def test_texts_of_bytes(two: Two, options: dict[str, Any]) -> None:
    """Ids, offsets, words and tokens equal those of `transformers`, even if a character that is split into several tokens is next to a
    space or a special token.
    """
    asked = {**options, "return_offsets_mapping": True, "return_special_tokens_mask": True, "return_length": True}
    two.same(lambda tokenizer: tokenizer(MORE_TEXTS, **asked))
    two.same(lambda tokenizer: tokenizer(MORE_TEXTS, MORE_TEXTS[::-1], **asked))
    two.same(lambda tokenizer: [[known(row) for row in tokenizer(MORE_TEXTS, **asked).encodings]])
    two.same(lambda tokenizer: list(map(tokenizer.tokenize, MORE_TEXTS)))


@each_kind
def test_results_are_traced(two: Two) -> None:
    """For texts and pairs, the mapping between tokens, characters and words equals that of `transformers`."""
    for trace in TRACES:
        two.same(lambda tokenizer, trace: trace(tokenizer(TEXTS, TEXTS[::-1], padding=True)), trace)


@each_kind
def test_rows_overflow_and_change(two: Two, kind: str) -> None:
    """Overflowing rows equal those of `transformers`, and rows can be padded and truncated as in `tokenizers`."""

    def ask(tokenizer: Any, change: Any, side: str) -> list[Any]:
        tokenizer.truncation_side = side
        encoding = tokenizer(TEXTS[:6], truncation=True, max_length=8, stride=1, return_overflowing_tokens=True)
        for row in encoding.encodings:
            change(row)
        return [encoding["input_ids"], [known(row) for row in encoding.encodings]]

    for change in sample(CHANGES, 6, kind):
        two.same(ask, change, "left")
        two.same(ask, change, "right")


@each_kind
@pytest.mark.parametrize("settings", [{"padding_side": "left", "truncation_side": "left", "model_max_length": 7}, {"pad_token": BEGIN}])
def test_settings_that_are_set_later(two: Two, settings: dict[str, Any]) -> None:
    """Changed attributes apply to later calls, copies and pickles."""
    two.set(**settings)
    for copied in (lambda tokenizer: tokenizer, copy.deepcopy, lambda tokenizer: pickle.loads(pickle.dumps(tokenizer))):
        two.same(lambda tokenizer, copied: copied(tokenizer)(TEXTS, padding=True, truncation=True), copied)
    two.same(lambda tokenizer: tokenizer.pad({"input_ids": [[5, 6, 7], [8]]}))


@each_kind
def test_texts_from_ids(two: Two) -> None:
    """Any ids decode to the same texts and tokens as in `transformers`, including parts of characters, special tokens, and numbers
    without a token.
    """
    chance = random.Random(1)
    rows = [[chance.randrange(len(two.own)) for _ in range(chance.randrange(9))] for _ in range(60)]
    rows += [*two.other(MORE_TEXTS)["input_ids"], [len(two.own) + 5, 70]]
    for skips in (False, True):
        two.same(lambda tokenizer, skips: tokenizer.batch_decode(rows, skip_special_tokens=skips), skips)
        two.same(lambda tokenizer, skips: tokenizer.decode(rows, skip_special_tokens=skips), skips)
        two.same(lambda tokenizer, skips: tokenizer.decode(np.array(rows[1]), skip_special_tokens=skips), skips)
        two.same(lambda tokenizer, skips: [tokenizer.convert_ids_to_tokens(row, skip_special_tokens=skips) for row in rows[:-1]], skips)
    two.same(lambda tokenizer: tokenizer.decode(17))
    text = " a , b . don 't"
    two.same(lambda tokenizer: tokenizer.decode(tokenizer.encode(text), clean_up_tokenization_spaces=True))
    two.set(clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output=True)
    assert " ," not in two.same(lambda tokenizer: tokenizer.decode(tokenizer.encode(text), clean_up_tokenization_spaces=True))


@each_kind
def test_tokens(two: Two) -> None:
    """Tokens are converted to the same ids and texts as in `transformers`, including unknown tokens and tokens that are not spelled in
    ByteLevel's letters.
    """
    tokens = [*two.own.tokenize(MORE_TEXTS[2]), "no such token", "", END]
    two.same(lambda tokenizer: tokenizer.convert_tokens_to_ids(tokens))
    two.same(lambda tokenizer: tokenizer.convert_tokens_to_string(tokens))
    two.same(lambda tokenizer: tokenizer.convert_tokens_to_string(["Ġnot", " of", "bytes", "世", "Ã"]))
    two.same(lambda tokenizer: tokenizer.decoder.decode(tokens))


@each_kind
def test_generated_ids(two: Two, capsys: pytest.CaptureFixture[str]) -> None:
    """If ids are generated one by one, the ids so far decode to the same text as in `transformers` at each step, and the streamer of
    `transformers` prints the same text.
    """

    def printed(tokenizer: Any) -> str:
        streamer = library("transformers").TextStreamer(tokenizer)
        for number in ids:
            streamer.put(np.array([number]))
        streamer.end()
        return capsys.readouterr().out

    ids = two.own(MORE_TEXTS[2] + MORE_TEXTS[-3])["input_ids"]
    two.same(lambda tokenizer: [tokenizer.decode(ids[:count], skip_special_tokens=True) for count in range(len(ids))])
    assert "naïve 😀😺" in two.same(printed)


def test_chats(folders: dict[str, Path]) -> None:
    """A chat template that is passed to `fst.hf` gives the same texts, ids and masks as in `transformers`."""
    library("jinja2")
    own = library("transformers").AutoTokenizer.from_pretrained(folders["GPT2"])
    two = Two(own, fst.hf(fst.Tokenizer(bpe(folders["GPT2"])), chat_template=own.chat_template))
    two.same(lambda tokenizer: tokenizer.apply_chat_template(MESSAGES, tokenize=False))
    two.same(lambda tokenizer: tokenizer.apply_chat_template([MESSAGES, MESSAGES[:1]], padding=True))
    asked = {"return_dict": True, "return_assistant_tokens_mask": True}
    masked = two.same(lambda tokenizer: tokenizer.apply_chat_template(MESSAGES, **asked))
    assert sum(masked["assistant_masks"]) > 0
    assert pickle.loads(pickle.dumps(two.other)).chat_template == CHAT


@each_kind
def test_saved_tokenizer(two: Two, tmp_path: Path) -> None:
    """AutoTokenizer loads a saved stand-in and gives the same results, and the saved stand-in compiles to the same bytes as the original
    table.
    """
    two.other.save_pretrained(tmp_path)
    again = Two(two.own, library("transformers").AutoTokenizer.from_pretrained(tmp_path))
    again.same(lambda tokenizer: tokenizer(MORE_TEXTS, MORE_TEXTS[::-1], padding=True, truncation=True, return_offsets_mapping=True))
    again.same(lambda tokenizer: tokenizer.batch_decode(tokenizer(MORE_TEXTS)["input_ids"]))
    for name in ATTRIBUTES[:-2]:
        again.same(getattr, name)
    assert pickle.dumps(bpe(tmp_path)) == pickle.dumps(two.other.fst._table)


def test_vocabulary_files(folders: dict[str, Path], tmp_path: Path) -> None:
    """The saved vocab.json and merges.txt contain the same tokens and merges as the source."""
    two = two_of(folders["GPT2"])
    two.same(getattr, "vocab_files_names")
    paths = two.other.save_vocabulary(tmp_path, "x")
    assert [Path(path).name for path in paths] == ["x-vocab.json", "x-merges.txt"]
    expected = [Path(path).read_text("utf-8").splitlines() for path in two.own._tokenizer.model.save(str(tmp_path))]
    assert json.loads(Path(paths[0]).read_text("utf-8")) == json.loads(expected[0][0])
    assert Path(paths[1]).read_text("utf-8").splitlines() == expected[1]


def test_merges_in_any_order_of_ids(tmp_path: Path) -> None:
    """`merges` returns all merges of a table in the order of their ranks, whatever the order of the ids, including merges that never
    apply.
    """
    pairs = [(b"b", b"c"), (b"a", b"b"), (b"a", b"bc"), (b"ab", b"c"), (b" ", b"abc")]  # the last but one, "ab" + "c", never applies
    parts = byte_level(r"\s?\w+|\W", pairs, [b"zz"], ignore_merges=True)
    tokens = [*parts["model"]["vocab"]]
    parts["model"]["vocab"] = {token: number for number, token in enumerate(reversed(tokens))}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(parts), "utf-8")
    table: BpeTable = bpe(path)
    assert merges(table) == pairs


@needs_shared
@pytest.mark.slow
def test_gpt2(tmp_path: Path) -> None:
    """The stand-in for GPT-2's tokenizer gives the same results as `transformers`, and is saved with all merges of GPT-2."""
    shutil.copy(SHARED / "vocab_bpe" / "gpt2" / "tokenizer.json", tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer", "pad_token": END}), "utf-8")
    two = two_of(tmp_path)
    two.same(lambda tokenizer: tokenizer(MORE_TEXTS, padding=True, return_offsets_mapping=True, return_tensors="np"))
    two.same(lambda tokenizer: tokenizer.batch_decode(tokenizer(MORE_TEXTS)["input_ids"], skip_special_tokens=True))
    two.same(lambda tokenizer: tokenizer.get_vocab())
    stated = [tuple(pair) for pair in json.loads(two.own._tokenizer.to_str())["model"]["merges"]]
    two.other.save_pretrained(tmp_path / "saved")
    saved = json.loads((tmp_path / "saved" / "tokenizer.json").read_text("utf-8"))
    assert [tuple(pair) for pair in saved["model"]["merges"]] == stated


@each_kind
def test_tokens_are_added(two: Two, tmp_path: Path) -> None:
    """After tokens for padding, chats and new words are added, calls, decoding, copies and saved folders give the same results as in
    `transformers`.
    """
    from tokenizers import AddedToken

    table = two.other.fst
    two.same(lambda tokenizer: tokenizer.add_special_tokens({"pad_token": "[PAD]", "extra_special_tokens": ["<|im_start|>", "<|im_end|>"]}))
    two.same(lambda tokenizer: tokenizer.add_tokens(["naïve", AddedToken("world", lstrip=True)]))
    two.same(lambda tokenizer: tokenizer.add_tokens("naïve"))
    texts = ["<|im_start|>a naïve  world<|im_end|>", "hello", *MORE_TEXTS]
    for made in (two, Two(two.own, pickle.loads(pickle.dumps(two.other)))):
        for ask in (len, lambda tokenizer: tokenizer.get_added_vocab(), lambda tokenizer: tokenizer.pad_token_id):
            made.same(ask)
        made.same(lambda tokenizer: tokenizer(texts, padding=True, return_offsets_mapping=True, return_tensors="np"))
        made.same(lambda tokenizer: tokenizer.batch_decode(tokenizer(texts)["input_ids"], skip_special_tokens=True))
        made.same(lambda tokenizer: repr(tokenizer.added_tokens_decoder))
    two.other.save_pretrained(tmp_path)
    again = Two(two.own, library("transformers").AutoTokenizer.from_pretrained(tmp_path))
    again.same(lambda tokenizer: tokenizer(texts, padding=True, return_tensors="np"))
    again.same(lambda tokenizer: repr(tokenizer.added_tokens_decoder))
    assert "<|im_start|>" not in table.get_vocab()


TOOLS = "{% for tool in tools %}{{ tool['function']['name'] }} {% endfor %}{{ messages[0]['content'] }}"
TOOL = {"type": "function", "function": {"name": "look_up", "description": "Look up.", "parameters": {"type": "object", "properties": {}}}}


@pytest.mark.parametrize("form", ["files", "one file", "config", "list"])
def test_chat_templates_of_a_folder(folders: dict[str, Path], form: str, tmp_path: Path) -> None:
    """Tables and saved folders contain the chat templates of their source folder, in each format that `transformers` supports."""
    folder = shutil.copytree(folders["GPT2"], tmp_path / "own")
    (folder / "chat_template.jinja").unlink()
    named = {"default": CHAT, "tool_use": TOOLS} if form in ("files", "list") else {"default": CHAT}
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    config["chat_template"] = [{"name": name, "template": text} for name, text in named.items()] if form == "list" else CHAT
    if form in ("files", "one file"):
        config["chat_template"] = "ignored"
        (folder / "chat_template.jinja").write_bytes(CHAT.encode() + b"\r\n!")
    if form == "files":
        (folder / "additional_chat_templates").mkdir()
        (folder / "additional_chat_templates" / "tool_use.jinja").write_text(TOOLS, "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    bpe(folder).save(tmp_path / "chat.npz")
    two = Two(library("transformers").AutoTokenizer.from_pretrained(folder), fst.hf(fst.load(tmp_path / "chat.npz")))
    two.other.save_pretrained(tmp_path / "saved")
    for made in (two, Two(two.own, fst.hf(fst.Tokenizer(bpe(tmp_path / "saved"))))):
        made.same(lambda tokenizer: tokenizer.chat_template)
        made.same(lambda tokenizer: tokenizer.apply_chat_template(MESSAGES, tokenize=False, tools=[TOOL]))
        made.same(lambda tokenizer: tokenizer.apply_chat_template(MESSAGES, chat_template="default" if len(named) > 1 else None))
    assert fst.hf(two.own).fst.header["chat_templates"] == two.other.fst.header["chat_templates"]


def test_chat_templates_are_shown(folders: dict[str, Path]) -> None:
    """`fst info` prints the names and sizes of chat templates, and its JSON output contains their content."""
    description = described(bpe(folders["GPT2"]), "a.npz", 1)
    assert f"default ({len(CHAT)} characters)" in "\n".join(listed(description))
    assert description["chat_templates"] == {"default": CHAT}


@pytest.mark.parametrize("template", [3, {"a": 1}, [{"name": "a"}], ["x"], "x" * ((1 << 20) + 1)], ids=lambda template: str(template)[:12])
def test_chat_templates_that_are_none(folders: dict[str, Path], template: Any, tmp_path: Path) -> None:
    """A chat template that is not text, or that is longer than the limit for tables, is refused, and the message contains the field."""
    folder = shutil.copytree(folders["frame"], tmp_path / "own")
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": template}), "utf-8")
    with pytest.raises(fst.VocabularyError, match="chat_template"):
        bpe(folder)


def test_what_cannot_be(folders: dict[str, Path], tmp_path: Path) -> None:
    """A setting that contradicts the table is refused, and so is a tokenizer.json with a pattern that `tokenizers` would read
    differently.
    """
    tok = fst.Tokenizer(bpe(folders["GPT2"]))
    with pytest.raises(fst.UnsupportedError, match=r"^add_prefix_space=True: the table has False, and does not change"):
        fst.hf(tok, add_prefix_space=True)
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=r"\s+|\S+", mergeable_ranks=ranks, special_tokens={})
    made = fst.hf(fst.Tokenizer(bpe(encoding)))
    assert made.decode(made.encode("naïve 😀")) == "naïve 😀"
    assert_same(made(["ab"])["input_ids"], [[97, 98]])
    with pytest.raises(fst.UnsupportedError, match=r"^a tokenizer.json with the pattern of tiktoken, which tokenizers reads differently:"):
        made.save_pretrained(tmp_path)
