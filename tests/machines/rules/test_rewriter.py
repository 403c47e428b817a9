"""A rewriter rewrites long texts, many rows and streams like the walk."""

from __future__ import annotations

import random
from typing import Any

import pytest

import fst
from fst.compile import cascade, keywords, rewrite
from fst.machines.rules.table import RulesTable
from fst.runtime.rewriting.rewriter import CHUNK, MIN_SHARE

TABLE = cascade(rewrite({"ch": "tʃ", "é": ""}), rewrite("a -> <é> / _ b", direction="rtl"), rewrite("x+ -> y / [^x] _"))


def walked(table: RulesTable, text: str) -> str:
    """The text of the walk."""
    return "".join(map(chr, table.run(text)))


def drawn(size: int) -> str:
    """A random text."""
    return "".join(random.Random(size).choices(["a", "b", "ch", "é", "x", "世", " "], k=size))


@pytest.mark.slow
def test_rows_on_several_threads() -> None:
    """Many rows, some longer than a chunk, give the same texts on one thread and on several."""
    long, rows = drawn(CHUNK.longest + 9), [drawn(size) for size in range(900)]
    texts = [*rows, long, *rows]
    assert sum(map(len, texts)) > 2 * MIN_SHARE
    rewriter = fst.Rewriter(TABLE)
    alone = rewriter.apply_batch(texts, threads=1)
    assert rewriter.apply_batch(texts, threads=3) == alone
    assert alone[900] == walked(TABLE, long)


def test_output_that_grows() -> None:
    """A text that becomes much longer is written whole, with its spans."""
    rewriter = fst.Rewriter(cascade(*[rewrite({"a": "a" * 30, "": "b"})] * 2))
    found = rewriter.align_batch(["a" * 50, ""])
    assert found.texts == ["a" * 30 * 30 * 50 + "bbb", "bbb"]
    assert len(found) == 2
    assert len(found.offsets) == sum(map(len, found.texts))
    assert not found.offsets[found.row_splits[1] :].any()


@pytest.mark.parametrize("last", [rewrite("x -> y / q _", direction="rtl"), rewrite({f"k{n}": "v" for n in range(99)}, direction="rtl")])
def test_stage_from_right_to_left_that_changes_nothing(last: RulesTable) -> None:
    """A stage from right to left that changes nothing does not change the new text of the stage before it."""
    texts = ["a c d", "aé世", "a" * 40, ""]
    found = fst.Rewriter(cascade(rewrite("a -> bé"), last)).apply_batch(texts)
    assert found == [text.replace("a", "bé") for text in texts]


def test_stream_stores_no_more_than_it_needs() -> None:
    """A stream returns all text before a character that no rule contains; with a rule that reads every character, it returns all text at
    the end.
    """
    stream = fst.Rewriter(TABLE).stream()
    stream.write("ab b a")
    assert stream.read() == "<é>b b "
    assert stream.close() == "a"
    stream = fst.Rewriter(rewrite("a -> b / _ [^x]*$")).stream()
    stream.write("a.a.")
    assert stream.read() == ""
    assert stream.close() == "b.b."


def test_malformed_streams_are_refused() -> None:
    """Malformed text closes a stream with its position, pieces of another type are refused, and a closed stream accepts nothing."""
    for pieces, message in ((["é", "a\ud800"], "position 2 of the stream: a lone surrogate"), ([b"\xc3", b"(a"], "position 0 .*not UTF-8")):
        stream = fst.Rewriter(TABLE).stream()
        stream.write(pieces[0])
        with pytest.raises(fst.TextError, match=message):
            stream.write(pieces[1])
        with pytest.raises(ValueError, match="closed"):
            stream.read()
    stream = fst.Rewriter(TABLE).stream(errors="replace")
    stream.write(b"a\xff")
    with pytest.raises(fst.TextError, match="a piece is str"):
        stream.write("a")
    assert stream.close() == "a\ufffd"


def test_texts_of_another_type_are_refused() -> None:
    """A text that is neither str nor bytes, and a wrong argument, are refused."""
    rewriter = fst.Rewriter(TABLE)
    with pytest.raises(fst.TextError, match="the text is int"):
        rewriter.apply(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="errors"):
        rewriter.apply("a", errors="ignore")
    with pytest.raises(ValueError, match="errors"):
        rewriter.stream(errors="ignore")
    table: Any = keywords(["a"])
    with pytest.raises(fst.UnsupportedError, match="expected a table of Rewriter"):
        fst.Rewriter(table)


def test_its_repr_counts_stages_and_rules() -> None:
    """The repr of a rewriter contains the numbers of stages and rules, each followed by the noun."""
    assert repr(fst.Rewriter(rewrite("a -> b"))) == "<fst.Rewriter of rules: 1 stage, 1 rule>"
    assert repr(fst.Rewriter(rewrite(["a -> b", "c -> d"]))) == "<fst.Rewriter of rules: 1 stage, 2 rules>"
