"""WordLevel, whose vocabulary consists of entire words, gives the same results as `tokenizers`."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.tiers import examples, thinned
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import fst
from fst.compile import tokenizer, wordpiece

SPLITS = {
    "whitespace": pre_tokenizers.Whitespace(),
    "blanks": pre_tokenizers.WhitespaceSplit(),
    "bert": pre_tokenizers.BertPreTokenizer(),
    "none": None,
}
PIECES = ["un", "unable", "##able", "##", "###", "#", "é", "E", "世", " ", "  ", ".", "[SEP]", "[UNK]", "\u0301", "a b"]
WORDS = some.sampled_from(PIECES)


def reference(words: list[str], split: str, *, is_lower: bool) -> Tokenizer:
    """Make a WordLevel model of `tokenizers`."""
    tokens = ["[UNK]", *dict.fromkeys(word for word in words if word not in ("", "[UNK]"))]
    made = Tokenizer(models.WordLevel({token: number for number, token in enumerate(tokens)}, unk_token="[UNK]"))
    if SPLITS[split]:
        made.pre_tokenizer = SPLITS[split]
    if is_lower:
        made.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    made.add_special_tokens([AddedToken("[SEP]", normalized=False)])
    return made


@pytest.mark.parametrize(("split", "is_lower"), thinned(product(SPLITS, (False, True)), 6))
@examples(200)
@given(words=some.lists(WORDS, max_size=8), texts=some.lists(some.lists(WORDS, max_size=9), max_size=4))
def test_ids_are_those_of_the_reference(split: str, is_lower: bool, words: list[str], texts: list[list[str]], scratch: Path) -> None:
    """With any words, ids, offsets and tokens equal those of `tokenizers`."""
    of = reference(words, split, is_lower=is_lower)
    of.save(str(scratch / "tokenizer.json"))
    tok = fst.Tokenizer(tokenizer(scratch / "tokenizer.json"))
    for text in map("".join, texts):
        answer = of.encode(text)
        batch = tok.encode_batch([text], offsets=True)
        assert batch.offsets is not None
        assert (batch.ids.tolist(), [*map(tuple, batch.offsets.tolist())]) == (answer.ids, answer.offsets)
        assert tok.tokenize(text) == answer.tokens


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose files the tests overwrite repeatedly."""
    return tmp_path_factory.mktemp("word_level")


@pytest.mark.slow
def test_long_words(scratch: Path) -> None:
    """A word that is in the vocabulary becomes a single token, whatever its length."""
    word = "".join(random.Random(0).choices("ab", k=10_000))
    of = reference([word, "a"], "blanks", is_lower=False)
    of.save(str(scratch / "tokenizer.json"))
    tok = fst.Tokenizer(tokenizer(scratch / "tokenizer.json"))
    for text in (word, f"a {word} a", word[1:], f"{word} {word}b"):
        assert tok.encode(text).tolist() == of.encode(text).ids


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"unk_token": "<unk>"}, fst.VocabularyError, "does not hold the unknown token '<unk>'"),
        ({"dropout": 0.1}, fst.UnsupportedError, "model has 'dropout'"),
        ({"vocab": []}, fst.VocabularyError, "vocab of the model"),
    ],
)
def test_models_that_are_refused(change: dict[str, Any], error: type[Exception], message: str, tmp_path: Path) -> None:
    """A model that is not in the format of `tokenizers` is refused, and the message contains the fault."""
    path = tmp_path / "tokenizer.json"
    reference(["a"], "blanks", is_lower=False).save(str(path))
    document = json.loads(path.read_text())
    document["model"].update(change)
    path.write_text(json.dumps(document))
    with pytest.raises(error, match=message):
        tokenizer(path)


def test_the_function_for_wordpiece_names_another(tmp_path: Path) -> None:
    """`fst.compile.wordpiece` refuses a WordLevel model, and the message contains the function that compiles it."""
    reference(["a"], "blanks", is_lower=False).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(fst.UnsupportedError, match=r"model WordLevel: .* takes only WordPiece; take fst\.compile\.tokenizer"):
        wordpiece(tmp_path / "tokenizer.json")
