"""Texts: valid texts are accepted and invalid objects refused, and a batch has the documented layout."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runtime.gathering import ids, made
from support.tiers import examples, thinned
from tokenizers import Tokenizer

import fst
from fst import Searcher, Segmenter
from fst.compile import keywords, maxmatch


@pytest.fixture(scope="module")
def raw(folder: Path) -> fst.Tokenizer:
    """A tokenizer that drops no character, so the U+FFFD that replaces malformed text is visible in the ids."""
    return made(folder, "raw", clean_text=False, lowercase=False)[0]


# Valid texts


@pytest.mark.mostly_slow
@pytest.mark.parametrize("errors", ["strict", "replace"])
@given(text=st.text(max_size=30))
def test_bytes_are_their_string(text: str, errors: str, tokenizer: fst.Tokenizer) -> None:
    """A str and its UTF-8 bytes get the same ids, with either value of `errors`."""
    assert ids(tokenizer, text, errors=errors) == ids(tokenizer, text.encode(), errors=errors) == ids(tokenizer, text)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("\ud800", "\ufffd"),
        ("\udfff", "\ufffd"),  # noqa: PT014 - the linter takes all lone surrogates for one
        ("a\ud800", "a\ufffd"),
        ("\udc00b", "\ufffdb"),
        ("a\ud800b\udc00a", "a\ufffdb\ufffda"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\ud800\ud800\ud800", "\ufffd\ufffd\ufffd"),
        ("\ud800 \udc00", "\ufffd \ufffd"),
        ("a\ud83d\ude00", "a\U0001f600"),
        ("\ud83d\ud83d\ude00\ude00", "\ufffd\U0001f600\ufffd"),
        ("\ufeff\ud800", "\ufeff\ufffd"),
        ("\U0001f600\ud800", "\U0001f600\ufffd"),
    ],
    ids=ascii,
)
def test_lone_surrogate_is_refused_or_replaced(text: str, mended: str, raw: fst.Tokenizer) -> None:
    """A lone surrogate in a str is refused, or replaced with U+FFFD on request; a surrogate pair is one character."""
    with pytest.raises(fst.TextError, match=r"row 0, position \d: a lone surrogate; mend the text, or pass errors='replace'"):
        raw.encode(text)
    assert ids(raw, text, errors="replace") == ids(raw, mended)


@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"\x80", 0),
        (b"a\xff", 1),
        (b"\xc3", 0),
        (b"ab\xe4\xb8", 2),
        (b"a\xf0\x9f\x98b", 1),
        (b"\xc0\x80", 0),
        (b"\xc1\xbf", 0),
        (b"\xe0\x80\x80", 0),
        (b"\xf0\x80\x80\x80", 0),
        (b"a\xed\xa0\x80", 1),
        (b"\xed\xbf\xbf", 0),
        (b"\xf4\x90\x80\x80", 0),
        (b"\xf8\x88\x80\x80\x80", 0),
        (b"\xff\xfea\x00", 0),
        (b"a\x80\x80\x80b\xe4b\xf0\x9f", 1),
    ],
    ids=repr,
)
def test_byte_that_is_no_text_is_refused_or_replaced(data: bytes, position: int, raw: fst.Tokenizer) -> None:
    """For bytes that are not UTF-8, an error contains their position, or they are replaced as by `bytes.decode`."""
    with pytest.raises(fst.TextError, match=f"row 0, position {position}: not UTF-8; mend the text, or pass errors='replace'"):
        raw.encode(data)
    assert ids(raw, data, errors="replace") == ids(raw, data.decode(errors="replace"))


@examples(200)
@given(
    rows=st.lists(
        st.lists(st.sampled_from([b"a", b" ", b"\x80", b"\xc3", b"\xa9", b"\xe4", b"\xb8", b"\x96", b"\xf0", b"\x9f", b"\xed"])).map(
            b"".join
        ),
        max_size=4,
    )
)
def test_any_bytes_are_refused_or_replaced_row_by_row(rows: list[bytes], raw: fst.Tokenizer) -> None:
    """Whether a row of bytes is valid does not depend on other rows, because no character continues in the next row."""
    mended = raw.encode_batch([row.decode(errors="replace") for row in rows])
    batch = raw.encode_batch(rows, errors="replace")
    assert batch.ids.tolist() == mended.ids.tolist()
    assert batch.row_splits.tolist() == mended.row_splits.tolist()
    unfit = [row for row, data in enumerate(rows) if data.decode(errors="ignore").encode() != data]
    if unfit:
        with pytest.raises(fst.TextError, match=f"^row {unfit[0]}, position"):
            raw.encode_batch(rows)
    else:
        assert raw.encode_batch(rows).ids.tolist() == mended.ids.tolist()


@examples(200)
@given(rows=st.lists(st.text(st.sampled_from("a \ud83d\ude00\ud800\U0001f600世"), max_size=4), max_size=4))
def test_any_surrogates_are_refused_or_replaced_row_by_row(rows: list[str], raw: fst.Tokenizer) -> None:
    """Whether a row of str is valid does not depend on other rows, because two surrogates in different rows never form a character."""
    mended = [row.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for row in rows]
    assert raw.encode_batch(rows, errors="replace").ids.tolist() == raw.encode_batch(mended).ids.tolist()
    unfit = [row for row, text in enumerate(rows) if any("\ud800" <= char <= "\udfff" for char in text)]
    if unfit:
        with pytest.raises(fst.TextError, match=f"^row {unfit[0]}, position"):
            raw.encode_batch(rows)
    else:
        assert raw.encode_batch(rows).ids.tolist() == raw.encode_batch(mended).ids.tolist()


@pytest.mark.slow
def test_row_that_is_no_text_is_named_wherever_it_is(raw: fst.Tokenizer) -> None:
    """If a row is malformed, the message contains the row number in the batch, for any number of threads."""
    for unfit in ("a\ud800", b"a\xff"):
        rows = [unfit[:1]] * 200_000
        rows[150_000] = unfit
        for threads in (1, 2, 3):
            with pytest.raises(fst.TextError, match="row 150000, position 1"):
                raw.encode_batch(rows, threads=threads)  # type: ignore[arg-type]
            assert len(raw.encode_batch(rows, threads=threads, errors="replace")) == len(rows)  # type: ignore[arg-type]


def test_nul_is_a_character(uncased: tuple[fst.Tokenizer, Tokenizer], raw: fst.Tokenizer) -> None:
    """U+0000 does not end a text; unless cleaning removes it, it is an ordinary character."""
    tokenizer, reference = uncased
    for text in ("\0", "a\0b", "un\0aff\0able \0 b", "[MA\0SK]"):
        assert ids(tokenizer, text) == ids(tokenizer, text.encode()) == reference.encode(text, add_special_tokens=False).ids
    assert ids(raw, "a\0b") == ids(raw, b"a\0b") == [1]
    assert ids(raw, "\0 a") == [1, 5]


@pytest.mark.parametrize(
    "text", [None, 3, 1.5, ["a"], ("a",), bytearray(b"a"), memoryview(b"a"), np.array(["a"]), {}], ids=lambda text: type(text).__name__
)
def test_what_is_no_text_is_refused_by_its_type(text: Any, tokenizer: fst.Tokenizer) -> None:
    """An object that is neither str nor bytes is refused, and the message contains the type of the object."""
    with pytest.raises(fst.TextError, match=f"the text is {type(text).__name__}; expected str or bytes"):
        tokenizer.encode(text)
    with pytest.raises(fst.TextError, match=f"the text is {type(text).__name__}; expected str or bytes"):
        tokenizer.tokenize(text)


@pytest.mark.parametrize(
    ("texts", "remedy"),
    [
        ("ab", "as in [text]"),
        (b"ab", "as in [text]"),
        (memoryview(b"ab"), "as in [text]"),
        (None, "pass a list"),
        (3, "pass a list"),
        ({"a": 0}, "pass one column"),
        (np.array([["a"]]), "pass one column"),
        (np.array("a"), "pass one column"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_batch_is_refused_by_its_type(texts: Any, remedy: str, tokenizer: fst.Tokenizer) -> None:
    """An object that is not a batch is refused, and the message contains the type of the object and a remedy."""
    message = f"a batch is {type(texts).__name__}; expected a list or another iterable of str or of bytes; .*{re.escape(remedy)}"
    for read in (tokenizer.encode_batch, tokenizer.count_tokens, Searcher(keywords(["a"])).find_batch):
        with pytest.raises(fst.TextError, match=message):
            read(texts)


ROWS = ["una", "", "\U00010428 unaffable", "x\u0301\0x"]
BATCHES: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "generator": lambda rows: (row for row in rows),
    "map": lambda rows: map(type(rows[0]), rows),
    "keys": lambda rows: dict.fromkeys(rows).keys(),
    "deque": deque,
    "array of objects": lambda rows: np.array(rows, object),
    "array of strings": np.array,
    "pandas": lambda rows: pytest.importorskip("pandas").Series(rows),
    "pandas index": lambda rows: pytest.importorskip("pandas").Index(rows),
    "pandas category": lambda rows: pytest.importorskip("pandas").Series(rows, dtype="category"),
    "polars": lambda rows: pytest.importorskip("polars").Series(rows),
    "pyarrow": pa.array,
    "chunks": lambda rows: pa.chunked_array([rows[:1], rows[1:]]),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", [str, bytes], ids=["str", "bytes"])
@pytest.mark.parametrize("name", BATCHES)
def test_batches_of_any_type(name: str, kind: type, tokenizer: fst.Tokenizer) -> None:
    """Any iterable of str or of bytes gives the same batch as a list of the same rows."""
    rows: Any = ROWS if kind is str else [row.encode() for row in ROWS]
    made, listed = BATCHES[name], tokenizer.encode_batch(rows, offsets="bytes")
    found = tokenizer.encode_batch(made(rows), offsets="bytes")
    assert found.ids.tolist() == listed.ids.tolist()
    assert found.offsets is not None
    assert listed.offsets is not None
    assert found.offsets.tolist() == listed.offsets.tolist()
    assert tokenizer.count_tokens(made(rows)).tolist() == np.diff(listed.row_splits).tolist()
    searcher, segmenter = Searcher(keywords(["un"])), Segmenter(maxmatch(["un"]))
    assert searcher.find_batch(made(rows)).starts.tolist() == searcher.find_batch(rows).starts.tolist()
    assert [*segmenter.segment_batch(made(rows))] == [*segmenter.segment_batch(rows)]
    if kind is str:
        assert searcher.replace(made(rows), "x") == searcher.replace(rows, "x")
        assert [row.ids for row in fst.tokenizers(tokenizer).encode_batch(made(rows))] == [row.tolist() for row in listed]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_no_batches(library: str, tokenizer: fst.Tokenizer) -> None:
    """A data frame is refused, although it is iterable, because its items are names or columns."""
    frame = pytest.importorskip(library).DataFrame({"a": ["un"]})
    with pytest.raises(fst.TextError, match=r"pass one column|row 0 is Series, not str"):
        tokenizer.encode_batch(frame)


def test_errors_of_a_generator_are_its_own(tokenizer: fst.Tokenizer) -> None:
    """An error that a generator of texts raises reaches the caller."""
    with pytest.raises(TypeError, match="can only concatenate"):
        tokenizer.encode_batch("a" + number for number in range(3))  # type: ignore[operator]


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize(
    ("texts", "row", "found", "expected"),
    [
        (["a", b"b"], 1, "bytes", "str"),
        ([b"a", "b"], 1, "str", "bytes"),
        (["a", "b", None], 2, "NoneType", "str"),
        ([None], 0, "NoneType", "str"),
        ([3, "a"], 0, "int", "str"),
        ([b"a", None], 1, "NoneType", "bytes"),
        (["a", ["b"]], 1, "list", "str"),
        ([("a", "b")], 0, "tuple", "str"),
        ([b"a", bytearray(b"b")], 1, "bytearray", "bytes"),
        ([b"a", memoryview(b"b")], 1, "memoryview", "bytes"),
        ([b"a", np.arange(3)], 1, "ndarray", "bytes"),
        (["\ud800", b"a"], 1, "bytes", "str"),
        (["\ud800", None], 1, "NoneType", "str"),
        ([b"\xff", "a"], 1, "str", "bytes"),
        ([b"\xff", memoryview(b"a")], 1, "memoryview", "bytes"),
        (["a" * 70_000, "a", b"a" * 70_000], 2, "bytes", "str"),
        ([b"a" * 70_000] * 3 + ["a" * 70_000] * 3, 3, "str", "bytes"),
        ([b"a" * 70_000, b"a", bytearray(70_000)], 2, "bytearray", "bytes"),
    ],
    ids=lambda value: "-".join(type(text).__name__ for text in value) if isinstance(value, list) else str(value),
)
def test_mixed_batch_is_refused_by_its_first_other_row(
    texts: Any, row: int, found: str, expected: str, errors: str, tokenizer: fst.Tokenizer
) -> None:
    """If a row has another type than the first row, the error contains the number of this row, wherever it is."""
    with pytest.raises(fst.TextError, match=f"row {row} is {found}, not {expected}; a batch is all str or all bytes"):
        tokenizer.encode_batch(texts, errors=errors)


class Subclass(str):
    """A subclass of str."""

    __slots__ = ()


class BytesSubclass(bytes):
    """A subclass of bytes."""


@pytest.mark.parametrize(
    ("texts", "plain"),
    [
        (["ab", Subclass("un")], ["ab", "un"]),
        ([Subclass("ab"), "un"], ["ab", "un"]),
        ([b"ab", BytesSubclass(b"un")], ["ab", "un"]),
        ([np.str_("ab"), "un"], ["ab", "un"]),
    ],
)
def test_kinds_of_str_and_bytes_are_texts(texts: Any, plain: list[str], tokenizer: fst.Tokenizer) -> None:
    """Subclasses of str and of bytes are accepted as texts."""
    assert tokenizer.encode_batch(texts).ids.tolist() == tokenizer.encode_batch(plain).ids.tolist()


@pytest.mark.parametrize("errors", ["ignore", "", None, "STRICT"])
def test_unknown_treatment_of_errors_is_refused(errors: Any, tokenizer: fst.Tokenizer) -> None:
    """A value of `errors` other than 'strict' and 'replace' is refused, also for valid text."""
    with pytest.raises(ValueError, match="expected 'strict' or 'replace'"):
        tokenizer.encode("a", errors=errors)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
def test_no_threads_are_refused(threads: Any, tokenizer: fst.Tokenizer) -> None:
    """A number of threads that is not an integer of at least 1 is refused, also for a text too short for threads."""
    for encode in (tokenizer.encode_batch, tokenizer.count_tokens, tokenizer):
        with pytest.raises(ValueError, match=f"^threads is {threads!r}; expected a whole number of at least 1$"):
            encode(["a"], threads=threads)


# Batches


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("texts", [[], (), [""], [b""], ["", ""], [b"", b""], ["", "a", ""], ("ab", "", "", "un")], ids=repr)
def test_empty_texts_have_rows(texts: Any, around: bool, uncased: tuple[fst.Tokenizer, Tokenizer]) -> None:
    """An empty text has a row with only the ids around a text, and an empty batch has no rows."""
    tokenizer, reference = uncased
    batch = tokenizer.encode_batch(texts, add_special_tokens=around)
    expected = [reference.encode(text if isinstance(text, str) else text.decode(), add_special_tokens=around).ids for text in texts]
    assert [row.tolist() for row in batch] == expected
    assert len(batch) == len(texts)


def test_batch_is_a_sequence_of_rows(tokenizer: fst.Tokenizer) -> None:
    """A batch has a length, can be indexed from either end, and can be iterated."""
    texts = ["unaffable ab", "", "a", "[MASK] ab!"]
    batch = tokenizer.encode_batch(texts)
    expected = [tokenizer.encode(text).tolist() for text in texts]
    assert len(batch) == 4
    assert [row.tolist() for row in batch] == expected
    assert [batch[row].tolist() for row in range(-4, 4)] == expected * 2
    for row in (4, -5, 1 << 40):
        with pytest.raises(IndexError, match=f"row {row} of 4"):
            batch[row]
    with pytest.raises(IndexError, match="row 0 of 0"):
        tokenizer.encode_batch([])[0]


@pytest.mark.parametrize("texts", [[], ["", ""], ["ab un"], ["ab un"] * 50_000], ids=["none", "empty", "one", "many"])
@pytest.mark.parametrize("threads", [1, 2])
def test_ids_and_splits_have_their_types(texts: list[str], threads: int, tokenizer: fst.Tokenizer) -> None:
    """Ids are int32, and row splits are int64, from 0 to the number of ids, with one more element than rows."""
    batch = tokenizer.encode_batch(texts, threads=threads)
    assert batch.ids.dtype == np.int32
    assert batch.row_splits.dtype == np.int64
    assert batch.row_splits.shape == (len(texts) + 1,)
    assert batch.row_splits[0] == 0
    assert batch.row_splits[-1] == len(batch.ids)
    assert np.all(np.diff(batch.row_splits) >= 0)
    assert tokenizer.encode("ab").dtype == np.int32


def test_list_and_tuple_are_alike(tokenizer: fst.Tokenizer) -> None:
    """A tuple gives the same batch as a list."""
    texts = ["ab", "", "unaffable"]
    assert tokenizer.encode_batch(tuple(texts)).ids.tolist() == tokenizer.encode_batch(texts).ids.tolist()


PIECES = (
    "a",
    "ab",
    " ",
    "unaffable",
    "[MASK]",
    "<s>",
    "<s>x",
    "[",
    "é",
    "E\u0301",
    "한",
    "世",
    "\U0001f600",
    "\u302e\u1b44",
    "\0",
    "x" * 101,
    "ab!",
)


@pytest.mark.mostly_slow
@examples(25)
@pytest.mark.parametrize("kind", [str, bytes], ids=["str", "bytes"])
@given(
    texts=st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), min_size=1, max_size=12),
    long=st.integers(0, 12),
    length=st.integers(1, 150_000),
    around=st.booleans(),
)
def test_batch_is_its_rows(texts: list[str], long: int, length: int, around: bool, kind: type, tokenizer: fst.Tokenizer) -> None:
    """Each row of a batch has the same ids as its text alone, for any division of rows among threads."""
    texts = [*texts[:long], "ab un " * (length // 6), *texts[long:]]
    rows: Any = texts if kind is str else [text.encode() for text in texts]
    alone = [tokenizer.encode(text, add_special_tokens=around) for text in rows]
    times = 3 + min(400_000 // (1 + sum(map(len, texts))), 2_000)
    expected, splits = np.concatenate(alone * times), np.cumsum([0, *[len(row) for row in alone] * times])
    for threads in (1, 2, 3, None):
        batch = tokenizer.encode_batch(rows * times, add_special_tokens=around, threads=threads)
        assert np.array_equal(batch.ids, expected)
        assert np.array_equal(batch.row_splits, splits)


@pytest.mark.slow
@pytest.mark.parametrize(("char", "kind"), thinned(product(("a ", "é ", "世", "\U0001f600 "), (str, bytes)), 8))
def test_batch_of_any_size_near_a_block_is_its_rows(char: str, kind: type, tokenizer: fst.Tokenizer) -> None:
    """A row that ends near the end of a block gets the same ids as in a batch of one row."""
    for size in (65_535, 65_536, 65_537, 131_072, 131_073):
        text = (char * size)[:size]
        for texts in ([text], [text, ""], ["", text], [text, text], [text[:-1], text[:1], text], ["a"] * size):
            rows: Any = texts if kind is str else [row.encode() for row in texts]
            expected = [tokenizer.encode(row) for row in rows] if len(rows) < 9 else [tokenizer.encode("a")] * size
            for threads in (1, 3):
                batch = tokenizer.encode_batch(rows, threads=threads)
                assert np.array_equal(batch.ids, np.concatenate(expected))
                assert np.array_equal(batch.row_splits, np.cumsum([0, *map(len, expected)]))


@pytest.mark.slow
def test_tokenizer_serves_many_threads(folder: Path, uncased: tuple[fst.Tokenizer, Tokenizer]) -> None:
    """Eight threads that share a new tokenizer get the same results as one thread."""
    texts = ["".join(PIECES[number % (2 + row) % len(PIECES)] for number in range(20_000)) for row in range(16)]
    alone = [uncased[0].encode(text).tolist() for text in texts]
    shared = fst.Tokenizer.load(folder / "uncased.npz")

    def work(turn: int) -> list[list[int]]:
        order = [(turn + row) % len(texts) for row in range(len(texts))]
        batch = shared.encode_batch([texts[row] for row in order], threads=1 + turn % 3)
        return [batch[order.index(row)].tolist() for row in range(len(texts))]

    with ThreadPoolExecutor(8) as pool:
        assert all(result == alone for result in pool.map(work, range(16)))


FORK = """
import os, sys
import fst
tokenizer = fst.load(sys.argv[1])
texts = ["unaffable ab! <s>x [MASK]"] * 20_000
expected = tokenizer.encode_batch(texts, threads=2).ids.tolist()
child = os.fork()
if not child:
    found = [tokenizer.encode_batch(texts, threads=threads).ids.tolist() for threads in (2, 1, 3)]
    fresh = fst.load(sys.argv[1]).encode_batch(texts, threads=2).ids.tolist()
    os._exit(7 if all(ids == expected for ids in [*found, fresh]) else 1)
_, status = os.waitpid(child, 0)
same = tokenizer.encode_batch(texts, threads=2).ids.tolist() == expected
sys.exit(0 if os.waitstatus_to_exitcode(status) == 7 and same else 1)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system does not fork")
@pytest.mark.usefixtures("uncased")
def test_forked_process_encodes(folder: Path) -> None:
    """After a fork, the child and the parent encode as before, with and without threads."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORK, str(folder / "uncased.npz")], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
