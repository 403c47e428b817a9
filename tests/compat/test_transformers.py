"""The stand-in for the fast tokenizers of `transformers` gives the same results as `transformers` when it is called, when it decodes,
and in saved folders.
"""

from __future__ import annotations

import copy
import importlib
import json
import logging
import logging.handlers
import pickle
import queue
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compat.tables import TOKENS
from support.compat.transformers import ATTRIBUTES, CALLS, CHANGES, TEXTS, TRACES, Two, assert_same, known, library
from support.kept import wordpiece
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned

import fst
from fst.machines.wordpiece.table import WordPieceTable

pytestmark = pytest.mark.filterwarnings("default")  # `transformers` and torch emit warnings when they are imported


# Attributes


OF_BERT = ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "vocab_files_names")  # not in a tokenizer.json


@pytest.mark.parametrize("name", [*ATTRIBUTES, *OF_BERT])
def test_attributes(two: Two, name: str) -> None:
    """The attributes of the stand-in equal those of the `transformers` tokenizer."""
    if name == "name_or_path_is_text":
        two.same(lambda tokenizer: type(tokenizer.name_or_path))
    else:
        two.same(getattr, name)


@needs_shared
@pytest.mark.parametrize(
    "name", thinned(["all-minilm-l6-v2", "bert-base-cased", "bert-base-multilingual-cased", "bert-base-chinese"], 8)
)
def test_attributes_of_public_models(name: str) -> None:
    """For public models, the attributes, lengths and added tokens of the stand-in equal those of the `transformers` tokenizer."""
    path = SHARED / "vocab" / name
    both = Two(library("transformers").BertTokenizerFast.from_pretrained(path), fst.hf(fst.Tokenizer(wordpiece(path))))
    for attribute in ATTRIBUTES[:-2]:
        both.same(getattr, attribute)
    both.same(len)
    both.same(lambda tokenizer: tokenizer.get_added_vocab())
    both.same(lambda tokenizer: {number: repr(token) for number, token in tokenizer.added_tokens_decoder.items()})


@pytest.mark.parametrize("stated", [None, 512, 512.0, 1e30, int(1e30)])
def test_length_is_the_folder_s(stated: float | None, folder: Path, tmp_path: Path) -> None:
    """`model_max_length` equals that of `transformers` and is an int; None becomes the large number that `transformers` uses for "no
    limit".
    """
    shutil.copytree(folder, tmp_path / "copy")
    path = tmp_path / "copy" / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "model_max_length": stated}), "utf-8")
    own = library("transformers").AutoTokenizer.from_pretrained(tmp_path / "copy").model_max_length
    other = fst.hf(fst.Tokenizer(wordpiece(tmp_path / "copy"))).model_max_length
    assert other == own
    assert type(other) is int


def test_it_is_a_tokenizer_of_transformers(two: Two) -> None:
    """The stand-in is an instance of PreTrainedTokenizerBase, as other libraries require."""
    assert isinstance(two.other, library("transformers").PreTrainedTokenizerBase)
    assert "Berlin" not in repr(two.other)
    assert "vocab_size=8000" in repr(two.other)


# The call


@pytest.mark.parametrize("call", range(len(CALLS)))
def test_calls(two: Two, call: int) -> None:
    """Calls return the same keys, types and values as in `transformers`, in the same order."""
    library("torch")
    two.same(CALLS[call])


@pytest.mark.parametrize("settings", [{"padding_side": "left", "truncation_side": "left", "model_max_length": 7}, {"pad_token": "[MASK]"},
                                      {"pad_token_id": 5}, {"model_input_names": ["input_ids"]}])  # fmt: skip
def test_settings_that_are_set_later(two: Two, settings: dict[str, Any]) -> None:
    """Changed attributes apply to later calls and to copies, but do not change the inner tokenizer."""
    before = two.other.fst(TEXTS, padding=True)
    behind = two.other.fst
    two.set(**settings)
    two.same(lambda tokenizer: tokenizer(TEXTS, padding=True, truncation=True))
    two.same(lambda tokenizer: copy.deepcopy(tokenizer)(TEXTS, padding=True, truncation=True))
    two.same(lambda tokenizer: pickle.loads(pickle.dumps(tokenizer))(TEXTS, padding=True, truncation=True))
    two.same(lambda tokenizer: tokenizer.pad({"input_ids": [[5, 6, 7], [8]]}))
    assert dict(behind(TEXTS, padding=True)) == dict(before)


def test_settings_in_place_of_those_of_the_table(tables: WordPieceTable) -> None:
    """Settings that are passed to `fst.hf` replace the settings in the table."""
    library("transformers")
    found = fst.hf(fst.Tokenizer(tables), model_max_length=5, padding_side="left", name_or_path="here", sep_token=None)
    assert (found.model_max_length, found.padding_side, found.name_or_path, found.sep_token) == (5, "left", "here", None)
    assert len(found(TEXTS[0], truncation=True)["input_ids"]) == 5


@pytest.mark.parametrize("trace", range(len(TRACES)))
def test_results_are_traced(two: Two, trace: int) -> None:
    """For texts and pairs, the mapping between tokens, characters and words equals that of a BatchEncoding in `transformers`."""
    for pair in (TEXTS[::-1], ["b"] * len(TEXTS)):
        two.same(lambda tokenizer, second: TRACES[trace](tokenizer(TEXTS, second, padding=True)), pair)
    two.same(lambda tokenizer: tokenizer(TEXTS[0]).word_ids())


@pytest.mark.parametrize(("change", "windows", "side"), thinned(product(CHANGES, (False, True), ("right", "left")), 8))
def test_rows_overflow_and_change(two: Two, change: Callable[[Any], Any], windows: bool, side: str) -> None:
    """Overflowing rows are returned without a special option, and rows can be padded and truncated, as in `tokenizers`."""
    two.set(truncation_side=side)

    def ask(tokenizer: Any, pair: Any, **options: Any) -> list[Any]:
        encoding = tokenizer(TEXTS[:6], pair, return_overflowing_tokens=windows, **options)
        for row in encoding.encodings:
            change(row)
        # An overflowing row contains other overflowing rows only in `tokenizers`, if both texts of a pair are truncated.
        samples = encoding.get("overflow_to_sample_mapping", range(6))
        firsts = [encoding[list(samples).index(sample)] for sample in range(6)]
        return [[known(row) for row in encoding.encodings], [[known(other) for other in row.overflowing] for row in firsts]]

    for pair in (None, TEXTS[1:7], ["b"] * 6):
        two.same(ask, pair)
        two.same(lambda tokenizer, pair: ask(tokenizer, pair, truncation=True, max_length=8, stride=1, padding=True), pair)
    two.same(lambda tokenizer: ask(tokenizer, ["b"] * 6, truncation="only_first", max_length=7, padding="max_length"))


def test_changes_that_cannot_be(two: Two) -> None:
    """A stride that would repeat the same window forever, for which `tokenizers` panics, is refused, and so is an unknown side."""
    row = two.other(TEXTS)[0]
    with pytest.raises(ValueError, match=r"^stride is 3; expected less than max_length, which is 3$"):
        row.truncate(3, stride=3)
    for change in (row.pad, row.truncate):
        with pytest.raises(ValueError, match=r"^direction is 'up'; expected 'right' or 'left'$"):
            change(3, direction="up")


def test_deprecated_words(two: Two) -> None:
    """`words` emits a warning and returns the same values as `word_ids`."""
    with pytest.warns(DeprecationWarning, match="word_ids"):
        two.same(lambda tokenizer: tokenizer(TEXTS)[0].words)


@pytest.mark.parametrize("words", [False, True])
def test_number_of_texts_in_a_row(two: Two, words: bool) -> None:
    """`n_sequences` is 1 for a text and 2 for a pair, whether texts are str or lists of words."""
    one: Any = ["un", "able"] if words else "unable"
    for text, pair in [(one, None), (one, one), ([one], None), ([one], [one]), ([(one, one)], None)]:
        found = two.same(lambda tokenizer, *given: tokenizer(*given, is_split_into_words=words).n_sequences, text, pair)
        assert found == 1 + (pair is not None or isinstance(text[0], tuple))


def test_long_text_is_warned_of_once(two: Two) -> None:
    """The first text with more ids than the model's maximum causes a warning, unless the call truncates texts or is not verbose."""
    # A queue instead of caplog: if the variable CI is set, transformers also passes its records to the root logger, so caplog would count
    # them twice.
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    handler = logging.handlers.QueueHandler(records)
    logger = library("transformers").utils.logging.get_logger("transformers")
    logger.addHandler(handler)
    try:
        two.other("a " * 62)
        two.other("a " * 100, max_length=200, truncation=True)
        two.other("a " * 100, verbose=False)
        assert records.empty()
        for texts in ("a " * 63, ["b", "a " * 90]):
            two.other(texts)
        assert "(65 > 64)" in records.get_nowait().getMessage()
        assert records.empty()
    finally:
        logger.removeHandler(handler)


@pytest.mark.parametrize("kind", [None, "np", "pt"])
def test_results_pickle(two: Two, kind: str | None) -> None:
    """An unpickled result has the same members, because data loaders pass results between processes."""
    library("torch")
    found = two.other(TEXTS, padding=True, return_tensors=kind)
    assert_same(found, pickle.loads(pickle.dumps(found)))


def test_threads_with_lengths_of_their_own(two: Two) -> None:
    """If threads call one tokenizer with different maximum lengths, each thread gets the same results as without other threads."""
    alone = [dict(two.other(TEXTS, truncation=True, max_length=3 + number, padding="max_length")) for number in range(32)]
    with ThreadPoolExecutor(32) as pool:
        found = pool.map(lambda number: two.other(TEXTS, truncation=True, max_length=3 + number, padding="max_length"), range(32))
        assert [dict(one) for one in found] == alone


# Decoding


def test_texts_from_ids(two: Two) -> None:
    """Ids decode to the same texts and tokens as in `transformers`, with and without special tokens."""
    chance = random.Random(1)
    rows = [[chance.randrange(len(TOKENS)) for _ in range(chance.randrange(9))] + [2, 3, 0, 0] for _ in range(40)]
    rows += two.other(TEXTS)["input_ids"]
    for skips in (False, True):
        two.same(lambda tokenizer, skips: tokenizer.batch_decode(rows, skip_special_tokens=skips), skips)
        two.same(lambda tokenizer, skips: tokenizer.decode(rows, skip_special_tokens=skips), skips)
        two.same(lambda tokenizer, skips: tokenizer.decode(np.array(rows[0]), skip_special_tokens=skips), skips)
        two.same(lambda tokenizer, skips: tokenizer.decode(rows[1], skip_special_tokens=skips, clean_up_tokenization_spaces=True), skips)
        two.same(lambda tokenizer, skips: tokenizer.convert_ids_to_tokens(rows[2], skip_special_tokens=skips), skips)
    two.same(lambda tokenizer: tokenizer.decode(17))
    two.same(lambda tokenizer: tokenizer.convert_ids_to_tokens(17))
    two.same(lambda tokenizer: tokenizer.convert_tokens_to_string(["un", "##able", ",", "don", "'", "t"]))


WORDS = {word: number for number, word in enumerate(["<unk>", "▁", "▁it", "▁,", "▁'", "▁s", "▁n't", "▁.", "▁!", "▁'s"])}
MODELS: dict[str, tuple[Any, ...]] = {
    "WordLevel": (WORDS, "<unk>"),
    "BPE": (WORDS, []),
    "Unigram": ([(word, -1.0) for word in WORDS], 0),
}


@pytest.mark.parametrize("kind", MODELS)
def test_spaces_are_cleaned_up_except_of_bpe(kind: str) -> None:
    """Decoding cleans up spaces if the argument (or, without an argument, the setting) requests it, but never for BPE, as in
    `transformers`.
    """
    reference = library("tokenizers")
    own = reference.Tokenizer(getattr(reference.models, kind)(*MODELS[kind]))
    if kind in ("BPE", "Unigram"):
        own.pre_tokenizer, own.decoder = reference.pre_tokenizers.Metaspace(), reference.decoders.Metaspace()
    for setting in (True, False):
        made = library("transformers").PreTrainedTokenizerFast(tokenizer_object=own, clean_up_tokenization_spaces=setting)
        two = Two(made, fst.hf(made))
        for asked in (None, True, False):
            two.same(lambda tokenizer, asked: tokenizer.decode([*range(2, 10), 2], clean_up_tokenization_spaces=asked), asked)


def test_ids_from_tokens(two: Two) -> None:
    """Tokens are converted to the same ids as in `transformers`, and an unknown token to the id of the model's unknown token."""
    two.same(lambda tokenizer: tokenizer.convert_tokens_to_ids(["the", "##s", "[MASK]", "no such token", ""]))
    two.same(lambda tokenizer: [tokenizer.convert_tokens_to_ids(token) for token in ("the", "[PAD]", "no such token")])
    two.same(lambda tokenizer: [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)])
    two.same(lambda tokenizer: tokenizer.get_special_tokens_mask([2, 9, 3, 0, 4], already_has_special_tokens=True))


# Unsupported calls


def test_special_tokens_are_always_found(two: Two) -> None:
    """An option that would treat special tokens as ordinary text is refused, and the message contains its name."""
    with pytest.raises(fst.UnsupportedError, match=r"^split_special_tokens is True; expected False: .*encode_segments"):
        two.other(TEXTS, split_special_tokens=True)
    with pytest.raises(fst.UnsupportedError, match=r"^sanitize_control_tokens is True; expected False: .*encode_segments"):
        two.other(TEXTS, sanitize_control_tokens=True)


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda other: fst.hf(other.fst, do_lower_case=False), "the table has True, and does not change; compile it again"),
        (lambda other: fst.hf(other.fst, split_special_tokens=True)(TEXTS), "expected False"),
    ],
    ids=["settings", "split"],
)
def test_what_tables_cannot_do_is_refused(two: Two, ask: Callable[[Any], Any], what: str) -> None:
    """A method that would change the table or the state is refused, and the message contains a remedy."""
    with pytest.raises(fst.UnsupportedError, match=what):
        ask(two.other)


def test_settings_of_the_inner_tokenizer(two: Two) -> None:
    """`set_truncation_and_padding` changes the rows of `backend_tokenizer`, as in `transformers`."""
    utils = library("transformers.utils")
    base = library("transformers.tokenization_utils_base")

    def asked(tokenizer: Any) -> list[Any]:
        strategies = utils.PaddingStrategy.MAX_LENGTH, base.TruncationStrategy.ONLY_FIRST
        tokenizer.set_truncation_and_padding(*strategies, 5, 1, None, "left")
        return [row.ids for row in tokenizer.backend_tokenizer.encode_batch(TEXTS)]

    two.same(asked)


def test_there_is_no_tokenizer_behind_it(two: Two) -> None:
    """`_tokenizer` has the members that programs commonly use; access to any other member raises an AttributeError that contains a
    replacement.
    """
    for asked in ((), (True,), (False,)):
        two.same(lambda tokenizer, *asked: tokenizer._tokenizer.get_vocab_size(*asked), *asked)
    for name in ("normalizer", "pre_tokenizer", "decoder"):
        two.same(lambda tokenizer, name: json.loads(getattr(tokenizer._tokenizer, name).__getstate__()), name)
    assert not hasattr(two.other._tokenizer, "train")
    with pytest.raises(AttributeError, match=r"^'train': .*save\(path\)"):
        two.other._tokenizer.train  # noqa: B018


def test_decoder_and_vocabulary_files(two: Two, tmp_path: Path) -> None:
    """The decoder and the saved vocab.txt equal those of `transformers`, and a vocabulary with tokens that a line cannot contain is
    refused.
    """
    two.same(lambda tokenizer: type(tokenizer.decoder))
    two.same(lambda tokenizer: tokenizer.decoder.decode(["un", "##able", "!"]))
    for prefix in (None, "x"):
        (expected,) = two.own._tokenizer.model.save(str(tmp_path), *[prefix] * bool(prefix))
        right = Path(expected).read_bytes()
        assert two.other.save_vocabulary(tmp_path, prefix) == (expected,)
        assert Path(expected).read_bytes() == right
    path = tmp_path / "tokenizer.json"
    made = json.loads(two.own._tokenizer.to_str())
    made["model"]["vocab"]["beyond"] = 9000
    path.write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match=r"lines of a vocab.txt cannot represent these ids"):
        fst.hf(fst.Tokenizer(wordpiece(path))).save_vocabulary(tmp_path)


def test_settings_of_its_class_are_known(two: Two) -> None:
    """`init_kwargs` contains the same values as in `transformers`."""
    made = two.other.init_kwargs
    assert {"do_lower_case", "strip_accents", "tokenize_chinese_chars", "model_max_length", "cls_token", "padding_side"} <= made.keys()
    assert {name: str(made[name]) for name in made if name in two.own.init_kwargs} == {
        name: str(value) for name, value in two.own.init_kwargs.items() if name in made
    }


@pytest.mark.parametrize("asked", [1, 3])
def test_threads(two: Two, asked: int, helpers: Callable[..., int], tmp_path: Path) -> None:
    """The `threads` of a stand-in are the default for its calls; they are copied and pickled, but not saved in folders."""
    texts = ["un hello! " * 100_000] * 4
    made = fst.hf(two.other.fst, threads=asked)
    for one in (made, copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert helpers(one, texts, return_tensors="np", verbose=False) == asked - 1
    assert helpers(made, texts, return_tensors="np", verbose=False, threads=4 - asked) == 3 - asked
    made.save_pretrained(tmp_path)
    assert "threads" not in (tmp_path / "tokenizer_config.json").read_text()
    with pytest.raises(ValueError, match=r"^threads is 0; expected a whole number of at least 1"):
        fst.hf(two.other.fst, threads=0)


@pytest.mark.slow
def test_transformers_may_be_missing() -> None:
    """If `transformers` is not installed, `fst.hf` explains what to install, and the rest of this package works."""
    code = """
import sys
sys.modules["transformers"] = None
import fst
from fst.compile import wordpiece
assert callable(fst.hf) and set(fst.__all__) <= {*dir(fst), *fst.__all__}
try:
    fst.hf(fst.Tokenizer(wordpiece(["[UNK]", "a"])))
except ImportError as error:
    sys.exit(str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "fst.hf is a tokenizer of transformers, which is not installed: pip install transformers\n"


def test_older_transformers_is_refused(tables: WordPieceTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the installed version of `transformers` is lower than 5, the stand-in raises an error that contains the version."""
    monkeypatch.setattr(library("transformers"), "__version__", "4.57.1")
    monkeypatch.setattr(importlib.import_module("fst.runtime.compat.transformers.hf"), "_CLASSES", {})
    with pytest.raises(fst.UnsupportedError, match=r"^transformers 4.57.1: fst.hf needs version 5 or later; the call, tok"):
        fst.hf(fst.Tokenizer(tables))


# Saved stand-ins, loaded by `transformers` and by this package


def test_saved_tokenizer_is_loaded_by_transformers(two: Two, tmp_path: Path) -> None:
    """AutoTokenizer can load a saved stand-in, and the loaded tokenizer gives the same results with the changed settings."""
    two.set(padding_side="left", model_max_length=11)
    files = two.other.save_pretrained(tmp_path)
    assert sorted(Path(file).name for file in files) == sorted(path.name for path in tmp_path.iterdir())
    again = Two(two.own, library("transformers").AutoTokenizer.from_pretrained(tmp_path))
    again.same(lambda tokenizer: tokenizer(TEXTS, TEXTS[::-1], padding=True, truncation=True, return_offsets_mapping=True))
    again.same(lambda tokenizer: tokenizer.batch_decode(tokenizer(TEXTS)["input_ids"]))
    for name in ATTRIBUTES[:-2]:
        again.same(getattr, name)


def test_saved_tokenizer_compiles_to_equal_tables(tables: WordPieceTable, tmp_path: Path) -> None:
    """A saved stand-in compiles to the same bytes as its original table, whatever the names of its files."""
    library("transformers")
    fst.hf(fst.Tokenizer(tables)).save_pretrained(tmp_path)
    assert pickle.dumps(wordpiece(tmp_path)) == pickle.dumps(tables)
    fst.hf(fst.Tokenizer(tables)).save_pretrained(tmp_path, filename_prefix="old")
    assert (tmp_path / "old-tokenizer.json").read_bytes() == (tmp_path / "tokenizer.json").read_bytes()
