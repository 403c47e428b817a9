"""WordPiece ids decode to the same texts as in `tokenizers`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.sources.vocabularies import (
    TOKENS,
    X,
    Y,
    added,
    document,
)
from support.tiers import examples
from tokenizers import Tokenizer

import fst

DECODERS: dict[str, Any] = {
    "with cleanup": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "without cleanup": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    "of another prefix": {"type": "WordPiece", "prefix": "n", "cleanup": True},
    "of no prefix": {"type": "WordPiece", "prefix": "", "cleanup": True},
    "of a blank": {"type": "WordPiece", "prefix": " ", "cleanup": True},
    "of a token": {"type": "WordPiece", "prefix": "##n't", "cleanup": True},
    "of no prefix, without cleanup": {"type": "WordPiece", "prefix": "", "cleanup": False},
    "none": None,
}
SAID = [
    *TOKENS, "?", "n't", "'m", "'s", "'ve", "'re", "not.", '"', "##n't", "##'s", "##.", "..", " ", "", " do not", "a b", "\u0301",
]  # fmt: skip
SAYING = document(SAID, added_tokens=[*document()["added_tokens"], added(99, X), added(99, Y, False)])


@pytest.fixture(scope="module")
def decoding(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[fst.Tokenizer, Tokenizer]]:
    """For each decoder, make a tokenizer of this package and a tokenizer of `tokenizers`."""
    file = tmp_path_factory.mktemp("decoders") / "tokenizer.json"
    made = {}
    for name, decoder in DECODERS.items():
        file.write_text(json.dumps({**SAYING, "decoder": decoder}), encoding="utf-8")
        made[name] = fst.Tokenizer(wordpiece(file)), Tokenizer.from_file(str(file))
    return made


@pytest.mark.mostly_slow
@pytest.mark.parametrize("skip", [False, True], ids=["all tokens", "no special tokens"])
@pytest.mark.parametrize("name", DECODERS)
@given(ids=st.lists(st.integers(0, len(SAID) + 4), max_size=12))
@examples(400)
def test_any_ids_decode_as_the_reference_decodes_them(
    name: str, skip: bool, ids: list[int], decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]
) -> None:
    """Any ids, including ids without a token, decode to the same text as in `tokenizers`."""
    tokenizer, reference = decoding[name]
    assert tokenizer.decode(ids, skip_special_tokens=skip) == reference.decode(ids, skip_special_tokens=skip)


def test_ids_of_a_bare_vocabulary_decode_by_its_prefix() -> None:
    """If a vocabulary has no decoder, tokens are joined to words by the vocabulary's prefix for continuations."""
    tokenizer = fst.Tokenizer(wordpiece(["[UNK]", "un", "@able", "##able"], continuing_subword_prefix="@"))
    assert tokenizer.decode([1, 2, 3]) == "unable ##able"


def test_ids_decode_from_any_sequence(decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """Ids are decoded whether they are the array that `encode` returns, a list, or a tuple."""
    tokenizer, _ = decoding["with cleanup"]
    ids = tokenizer.encode("unaffable, ab!")
    assert tokenizer.decode(ids) == tokenizer.decode(ids.tolist()) == tokenizer.decode(tuple(ids.tolist())) == "unaffable, ab!"


@pytest.mark.parametrize("skip", [False, True])
def test_rows_of_ids_decode_as_the_reference_decodes_them(skip: bool, decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """`decode_batch` accepts a batch, lists and arrays, including ids without a token, and gives the same texts as `tokenizers`."""
    tokenizer, reference = decoding["with cleanup"]
    batch = tokenizer.encode_batch(["unaffable, ab!", "", "ab un"])
    for rows in (batch, [[1, 2], [], [9999, 1, (1 << 32) - 1]], np.array([[1, 2], [3, 9999]])):
        lists = [[int(number) for number in row] for row in rows]
        assert tokenizer.decode_batch(rows, skip_special_tokens=skip) == reference.decode_batch(lists, skip_special_tokens=skip)


@pytest.mark.parametrize("ids", [["a"], "ab", 5, None, [None], [1.0], [[1, 2]], [-1], [1, 1 << 32], [-100]], ids=str)
def test_what_is_no_row_of_ids_is_refused(ids: Any, decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """A value that `tokenizers` refuses as ids is refused with the same type of error, and the message has one line."""
    tokenizer, reference = decoding["with cleanup"]
    with pytest.raises((TypeError, OverflowError)) as refused:
        reference.decode(ids)
    with pytest.raises(refused.type, match=r"^decode: .*; (a row of ids is whole numbers|leave out)") as own:
        tokenizer.decode(ids)
    assert "\n" not in str(own.value)
    with pytest.raises(refused.type):
        tokenizer.decode_batch([ids])


def test_vocabulary_of_a_tokenizer(decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """`get_vocab`, `len` and `vocab_size` equal those of `tokenizers`, and `get_vocab` returns a copy."""
    tokenizer, reference = decoding["with cleanup"]
    vocabulary = tokenizer.get_vocab()
    assert vocabulary == reference.get_vocab()
    assert len(tokenizer) == tokenizer.vocab_size == reference.get_vocab_size()
    vocabulary.clear()
    assert tokenizer.get_vocab() == reference.get_vocab()
