"""The stand-in for `tokenizers.Tokenizer` accepts arrays and post-processors, and has asynchronous calls."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import numpy as np
import pytest
from support.compat.tokenizers import KINDS, source, table
from support.compat.transformers import known
from tokenizers import Tokenizer, processors

import fst

BITS = ["a", "ab ba", "  ", "é", "日本", "1.", "<s> b", "<mask>"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def pair_of(kind: str) -> tuple[Any, Any]:
    """Return a `tokenizers.Tokenizer` and its stand-in; both are new, because tests change their state."""
    return Tokenizer.from_str(source(kind).to_str()), fst.tokenizers(table(kind))


def fields_of(row: Any) -> list[Any]:
    """Return all members of a row and of its overflowing rows."""
    return [known(row), len(row), [known(other) for other in row.overflowing]]


ARRAYS = (
    (np.array(["ab a", "b 1."]), False),
    (np.array([["ab a", "b"], ["1.", "a b"]]), False),
    (np.array([["ab", "a"], ["b", "1."]], dtype=object), True),
    (np.array([(["ab", "a"], ["b"]), (["b", "1."], ["a"])], dtype=object), True),
)


@pytest.mark.mostly_slow
@each_kind
@pytest.mark.parametrize(("batch", "words"), ARRAYS)
def test_arrays_are_batches(kind: str, batch: Any, words: bool) -> None:
    """Arrays of NumPy are batches of texts, pairs or words, as in `tokenizers`."""
    theirs, ours = pair_of(kind)
    assert [row.ids for row in ours.encode_batch(batch, words)] == [row.ids for row in theirs.encode_batch(batch, words)]
    assert [row.ids for row in ours.encode_batch_fast(batch, words)] == [row.ids for row in theirs.encode_batch_fast(batch, words)]


def test_asynchronous_calls() -> None:
    """Asynchronous calls give the results and the errors of the other calls."""
    # The asynchronous calls of `tokenizers` are not made, because they may abort the process when it ends.
    _, ours = pair_of("wordpiece")
    batch, words = ["ab", ("a", "b")], [["ab", "a"]]

    async def asked() -> tuple[Any, ...]:
        calls = (
            ours.async_encode("ab a", "b"),
            ours.async_encode_batch(batch),
            ours.async_encode_batch_fast(words, is_pretokenized=True, add_special_tokens=False),
            ours.async_decode_batch([[5, 6], [2]], skip_special_tokens=False),
        )
        return tuple(await asyncio.gather(*calls))

    row, rows, fast, texts = asyncio.run(asked())
    assert fields_of(row) == fields_of(ours.encode("ab a", "b"))
    assert [fields_of(one) for one in rows] == [fields_of(one) for one in ours.encode_batch(batch)]
    assert [one.ids for one in fast] == [one.ids for one in ours.encode_batch_fast(words, True, False)]
    assert texts == ours.decode_batch([[5, 6], [2]], False)
    with pytest.raises(fst.TextError, match=r"^row 1 is int"):
        asyncio.run(ours.async_encode_batch(["a", 1]))


def test_rows_are_processed_later() -> None:
    """`post_process` truncates, frames and pads rows as `tokenizers` does with its own rows."""
    theirs, ours = pair_of("wordpiece")
    for tok in (theirs, ours):
        tok.enable_truncation(5)
        tok.enable_padding(length=8)
    for second, special in itertools.product((None, "b 1 a"), (True, False)):
        found = []
        for tok in (theirs, ours):
            one, other = (text and tok.encode(text, add_special_tokens=False) for text in ("ab a b", second))
            row = tok.post_process(one, other, special)
            found.append([fields_of(row), [fields_of(more) for more in row.overflowing]])
        assert found[0] == found[1]


TEMPLATE = processors.TemplateProcessing(single="</s> $A", pair="$B:1 <s>:2 $A", special_tokens=[("<s>", 1), ("</s>", 2)])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("part", [None, TEMPLATE, processors.BertProcessing(("[UNK]", 0), ("<s>", 1))])
def test_post_processors_are_assigned(part: Any) -> None:
    """A post-processor that is assigned adds its special tokens in later calls, but does not change other users of the table."""
    theirs, ours = pair_of("wordpiece")
    before = ours.fst
    for tok in (theirs, ours):
        tok.encode("a")
        tok.post_processor = part
    for text, second in itertools.product(BITS, (None, "a")):
        assert fields_of(ours.encode(text, second)) == fields_of(theirs.encode(text, second))
    assert ours.num_special_tokens_to_add(True) == theirs.num_special_tokens_to_add(True)
    assert before.encode("a").tolist() == table("wordpiece").encode("a").tolist()
    assert Tokenizer.from_str(ours.to_str()).encode("a", "b").ids == theirs.encode("a", "b").ids
    ours.post_processor = ours.post_processor
    assert ours.encode("a", "b").ids == theirs.encode("a", "b").ids


def test_unknown_ids_are_not_added() -> None:
    """A post-processor with an id that no token has is refused, and the other special tokens remain."""
    _, ours = pair_of("wordpiece")
    expected = ours.encode("a").ids
    with pytest.raises(fst.VocabularyError, match=r"^the post-processor adds the id 999, which no token has"):
        ours.post_processor = processors.BertProcessing(("x", 999), ("<s>", 1))
    assert ours.encode("a").ids == expected
