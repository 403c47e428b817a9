"""The components of each tokenizer class in `transformers` compile exactly, as tested with a small vocabulary."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.sources.families import CLASSES, LINES, trained
from support.tiers import examples, sample, thinned
from tokenizers import Regex, models, normalizers
from tokenizers import Tokenizer as Reference

import fst
from fst.compile import bpe, tokenizer, unigram, wordpiece
from fst.compile.text.folding import WITH_PREPEND, components
from fst.compile.text.normalizer import normalizer
from fst.tables.live import exported_text
from fst.text.whitespace import NO_WHITESPACE

pytestmark = pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported

PARTS = [
    *"".join(LINES),
    *LINES[0].split(),
    "  ",
    "   ",
    "\n",
    "\t",
    "\r\n",
    " \n ",
    "▁",
    "``",
    "''",
    "…",
    "<s>",
    "</s>",
    "[MASK]",
    "<unk>",
]


def library(name: str) -> Any:
    """Import a library, or skip the test."""
    return pytest.importorskip(name)


def texts(count: int) -> Sequence[str]:
    """Draw texts of words, characters and whitespace of all kinds."""
    chance = random.Random(0)
    return ["", " ", *LINES, *("".join(chance.choices(PARTS, k=chance.randrange(1, 25))) for _ in range(count))]


@pytest.mark.parametrize("name", thinned(CLASSES, 40))
def test_family(name: str, tmp_path: Path) -> None:
    """For each class, the ids, offsets and decoded texts of any text equal those of `tokenizers`."""
    made = getattr(library("transformers"), f"{name}Tokenizer")()
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(trained(json.loads(made.backend_tokenizer.to_str()))), encoding="utf-8")
    own, other = Reference.from_file(str(path)), fst.Tokenizer(tokenizer(path))
    own.no_padding()
    own.no_truncation()
    rows = sample(texts(1000), 20)
    expected, found = own.encode_batch(rows), other.encode_batch(rows, offsets=True)
    assert found.offsets is not None
    assert [ids.tolist() for ids in found] == [encoding.ids for encoding in expected]
    assert [*map(tuple, found.offsets.tolist())] == [span for encoding in expected for span in encoding.offsets]
    assert other.decode_batch(found) == own.decode_batch([encoding.ids for encoding in expected])


@pytest.mark.slow
def test_nougat(tmp_path: Path) -> None:
    """A first split that removes a string after NFKC, and a split with a back-reference, cut texts as in `tokenizers`; a longer string as
    the pattern of a split, as Nougat's class makes one, is refused.
    """
    document = json.loads(library("transformers").NougatTokenizer().backend_tokenizer.to_str())
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(fst.UnsupportedError, match="more than one character decides whether a match begins"):
        tokenizer(path)
    splits = document["pre_tokenizer"]["pretokenizers"]
    splits[2]["pattern"] = {"Regex": splits[2]["pattern"]["String"]}
    path.write_text(json.dumps(trained(document)), encoding="utf-8")
    own, other = Reference.from_file(str(path)), fst.Tokenizer(tokenizer(path))
    own.no_padding()
    own.no_truncation()
    removed, draw = splits[0]["pattern"]["String"], random.Random(0)
    parts = [*PARTS, *[removed] * 20, removed[:11], removed[3:], "==", "##!", "((", "\u2126", "\u03a9", "12"]
    rows = ["".join(draw.choices(parts, k=draw.randrange(12))) for _ in range(300)]
    found = other.encode_batch(rows, offsets=True)
    assert found.offsets is not None
    expected = own.encode_batch(rows)
    assert [ids.tolist() for ids in found] == [encoding.ids for encoding in expected]
    assert [*map(tuple, found.offsets.tolist())] == [span for encoding in expected for span in encoding.offsets]


def test_live_tokenizer_is_not_changed() -> None:
    """A tokenizer in the mode of targets is compiled for source texts, as it reads them, and remains in its mode."""
    made = library("transformers").SeamlessM4TTokenizer()
    made._switch_to_target_mode()
    before, attributes = made.backend_tokenizer.to_str(), {**vars(made)}
    text, settings = exported_text(made)
    assert settings["tokenizer_class"].attributes["prefix_tokens"] != attributes["prefix_tokens"]
    assert made.backend_tokenizer.to_str() == before
    assert vars(made) == attributes
    made("")
    assert made.backend_tokenizer.to_str() == text != before


@pytest.mark.parametrize("name", thinned([name for name in CLASSES if not name.startswith("Layout") and name != "Udop"], 40))
def test_folder_and_live_tokenizer(name: str, tmp_path: Path) -> None:
    """A folder that names the class, and the tokenizer that AutoTokenizer makes from it, both compile with the same ids, names and
    settings.
    """
    transformers = library("transformers")
    made = getattr(transformers, f"{name}Tokenizer")()
    config = {"tokenizer_class": f"{name}Tokenizer", "model_max_length": 77, "extra_special_tokens": ["<x>"]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(trained(json.loads(made.backend_tokenizer.to_str()))), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    reference = transformers.AutoTokenizer.from_pretrained(tmp_path)
    folder: Any = tokenizer(tmp_path)
    live: Any = tokenizer(reference)
    assert live.metadata.settings == folder.metadata.settings
    assert folder.metadata.settings.model_max_length == 77
    rows = ["<x> and <x>", *texts(30)]
    for table in (folder, live):
        assert [ids.tolist() for ids in fst.Tokenizer(table).encode_batch(rows)] == reference(rows)["input_ids"]


def test_live_tokenizer_of_tokenizers() -> None:
    """A `tokenizers.Tokenizer` compiles like its saved file, and the function for another kind of model refuses it."""
    own = Reference.from_str(json.dumps(trained(json.loads(Reference(models.BPE()).to_str()))))
    rows = texts(30)
    assert [ids.tolist() for ids in fst.Tokenizer(bpe(own)).encode_batch(rows)] == [encoding.ids for encoding in own.encode_batch(rows)]
    with pytest.raises(fst.UnsupportedError, match="the tokenizer: model BPE"):
        wordpiece(own)
    with pytest.raises(fst.UnsupportedError, match="the tokenizer: model BPE"):
        unigram(own)


def test_tokenizer_in_python_is_refused(tmp_path: Path) -> None:
    """A tokenizer of a class that `transformers` implements in Python is refused, and so is a folder with this class."""
    transformers = library("transformers")
    (tmp_path / "vocab.json").write_text(json.dumps({"<pad>": 0, "</s>": 1, "<unk>": 2, "|": 3, "a": 4}), encoding="utf-8")
    live = transformers.Wav2Vec2CTCTokenizer(str(tmp_path / "vocab.json"))
    with pytest.raises(fst.UnsupportedError, match="Wav2Vec2CTCTokenizer, which transformers runs in Python"):
        tokenizer(live)


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("pattern", "content"),
    [
        *((r"\s{2,}|[\n\r\t]", " "), (r"[\n\r\t]", " "), (r"[ab]", "c"), (r"[ab]", ""), (r"a+|[bc]|d", "e"), (r"x", "yz"), (r"[ab]", "a")),
        *((r"[ab]", "ab"), (r"\p{L}", ""), (r"[^\w\s]", ""), (r"\d|[^a]", "ba")),
    ],
)
@given(text=some.text(some.sampled_from("abcdex \n\r\t\u3000"), max_size=12))
@examples(400)
def test_replace_of_a_choice(pattern: str, content: str, text: str) -> None:
    """A Replace whose pattern is a set of characters, or runs and single characters, gives the same result as in `tokenizers`."""
    part = {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
    by = normalizer(components(part, WITH_PREPEND), NO_WHITESPACE)
    assert by.normalized(text)[0] == normalizers.Replace(Regex(pattern), content).normalize_str(text)


@pytest.mark.parametrize(("pattern", "content"), [("ab|c", ""), ("[a-z]|[|]|x{2,3}", ""), (r"a+b", "")])
def test_other_choices_are_refused(pattern: str, content: str) -> None:
    """A Replace by a regular expression is refused if it replaces strings."""
    part = {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
    with pytest.raises(fst.UnsupportedError, match="normalizer Replace of "):
        normalizer(components(part, WITH_PREPEND), NO_WHITESPACE)
