"""Batches: long rows are read in parts, several threads divide many rows, and a faster path reads short texts, but ids are always the same.

Most tests shorten blocks, so that a row of some hundred characters is long.
"""

from __future__ import annotations

import functools
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.machines.documents import ADDED, PIECES, compiled
from support.tiers import examples, sample

import fst
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.rows import batch
from fst.tables.kernel_call import SHORT

BLOCK = 64
KINDS = {"ascii": "b un! ", "marked": "é 世b ", "astral": "𐐨 \U0001f600"}

each_kind = pytest.mark.parametrize("kind", [str, bytes], ids=["str", "bytes"])
each_filler = pytest.mark.parametrize("filler", KINDS.values(), ids=KINDS.keys())


@functools.cache
def tables(longest: int = 100) -> WordPieceTable:
    """Compile the vocabulary that the tests share."""
    return compiled(max_input_chars_per_word=longest)


@functools.cache
def run(text: str) -> list[int]:
    """The ids that the walk gives for a text."""
    return tables().run(text)


@functools.cache
def tokenizer(longest: int = 100) -> fst.Tokenizer:
    """Make the tokenizer that the tests share."""
    return fst.Tokenizer(tables(longest))


def around_a_text() -> tuple[list[int], list[int]]:
    """The ids of the special tokens before and after a text."""
    (before, _), _, (after, _) = tables().header["single"]
    return before, after


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten blocks, so that even short texts are divided among threads."""
    monkeypatch.setattr(batch, "BLOCK", BLOCK)
    monkeypatch.setattr(batch, "MIN_SHARE", 1)


def as_kind(texts: Sequence[str], kind: type) -> Any:
    """Convert texts to str or to bytes."""
    return list(texts) if kind is str else [text.encode("utf-8", "surrogatepass") for text in texts]


def ids(text: Any, longest: int = 100, **options: Any) -> list[int]:
    """Encode a text in a batch of one row, without special tokens around the text."""
    found: list[int] = tokenizer(longest).encode_batch([text], add_special_tokens=False, threads=1, **options).ids.tolist()
    return found


def in_whole(texts: Sequence[str], longest: int = 100) -> list[list[int]]:
    """Encode rows in blocks that are longer than any row."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "BLOCK", 1 << 17)
        return [ids(text, longest) for text in texts]


# Rows in parts


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@each_filler
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: f"{piece!a:.30}")
def test_cut_within_a_long_row_leaves_no_trace(piece: str, filler: str) -> None:
    """The ids of a long row do not depend on the positions at which its parts end."""
    start = filler * (2 * BLOCK // len(filler) + 1)
    texts = [start + "a" * more + piece + " b" + start[: 40 - more % 40] for more in sample(range(BLOCK + 2), 8, piece)]
    expected = in_whole(texts)
    assert expected[0] == tables().run(texts[0])
    for kind in (str, bytes):
        assert [ids(text) for text in as_kind(texts, kind)] == expected


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("longest", [1, 12, 100])
@given(pieces=st.lists(st.sampled_from((*PIECES, *ADDED, *KINDS.values(), " ", "b", "a", "!", "[", "<")), min_size=20, max_size=100))
@examples(240)
def test_any_long_row_has_the_ids_of_the_walk(longest: int, pieces: list[str]) -> None:
    """A long row gets the same ids from the kernels as from the walk, both as str and as bytes."""
    text = "".join(pieces)
    assert ids(text, longest) == ids(text.encode(), longest) == tables(longest).run(text)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@each_filler
@pytest.mark.parametrize(
    "length", [*range(BLOCK - 2, BLOCK + 3), *range(2 * BLOCK - 2, 2 * BLOCK + 3), *range(3 * BLOCK - 1, 3 * BLOCK + 2)]
)
def test_row_of_about_some_blocks_is_whole(length: int, filler: str) -> None:
    """A row whose length is near a multiple of the block size gets the same ids from the kernels as from the walk, alone and between
    others.
    """
    text = (filler * length)[:length]
    expected = tables().run(text)
    assert ids(text) == ids(text.encode()) == expected
    for rows in ([text, ""], ["", text], [text, text], ["b", text, "un", text], [text, "a" * 100, text]):
        for threads in (1, 3):
            found = tokenizer().encode_batch(rows, add_special_tokens=False, threads=threads)
            assert [row.tolist() for row in found] == [expected if row == text else tables().run(row) for row in rows]


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("special", ADDED, ids=ascii)
def test_special_token_straddles_a_cut(special: str) -> None:
    """A special token is found wherever a part ends inside it, and a special token without its last character is not found."""
    for text in (special, special * 3, special[:-1], special[:-1] + " " + special, special + special[:-1]):
        rows = ["b" * 3 + " " + "a " * BLOCK + "b " * (more // 2) + " " * (more % 2) + text + " b" for more in range(BLOCK + 2)]
        assert [ids(row) for row in rows] == in_whole(rows)


@pytest.mark.slow
@pytest.mark.usefixtures("short_blocks")
def test_special_token_of_surrogates_straddles_a_cut() -> None:
    """A special token of characters beyond U+FFFF, which are two units in UTF-16, is found wherever a part ends inside it."""
    special = "\U0001f600" * 8 + "!"
    of = compiled(added=(special,))
    tok = fst.Tokenizer(of)
    for more in range(BLOCK + 2):
        text = "a " * BLOCK + "b" * (more % 3) + " " * (more - more % 3) + special + " b" * 30
        assert tok.encode_batch([text], add_special_tokens=False).ids.tolist() == of.run(text)


@pytest.mark.slow
@pytest.mark.usefixtures("short_blocks")
def test_special_token_of_marks_straddles_a_cut() -> None:
    """A special token that begins with marks is found in a run of marks, wherever a part ends inside it."""
    of = compiled(added=("\u302ex", "\u1b44\u1b44ab", "\u302e\u1b44!"))
    tok = fst.Tokenizer(of)
    for piece in (
        "\u302e" * 9 + "\u1b44\u1b44ab",
        "\u302ex",
        "\u1b44\u302ex",
        "\u1b44\u1b44\u1b44ab",
        "\u302e\u1b44!\u1b44",
        "\u302e\u1b44\u302ex\u302e",
    ):
        for more in sample(range(BLOCK + 2), 12, piece):
            text = "a " * BLOCK + "b" * (more % 3) + " " * (more - more % 3) + piece + " b" * 30
            assert tok.encode_batch([text], add_special_tokens=False).ids.tolist() == of.run(text)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@each_kind
@pytest.mark.parametrize("run", ["a", "q", "\u0301", "\u302e\u1b44", "e\u0301", "\U00010400", "<", "[MASK", "\0", "한"], ids=ascii)
def test_long_row_of_one_thing(run: str, kind: type) -> None:
    """A word or a run of marks over many blocks, and the text after it, get the same ids as in a single block."""
    texts = [
        f"b {(run * 20 * BLOCK)[:length]}{end}"
        for length in (20 * BLOCK, 15 * BLOCK + 1, 3 * BLOCK - 2)
        for end in ("", "!", " b", "[MASK]")
    ]
    expected = in_whole(texts)
    assert expected[-1] == tables().run(texts[-1])
    assert [ids(text) for text in as_kind(texts, kind)] == expected


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("around", [False, True])
def test_long_row_has_special_tokens_around_it_once(around: bool) -> None:
    """A long row gets special tokens only at its beginning and its end, and so do the rows next to it."""
    rows = ["a", "un " * 300, "", "\u302e" * 300, "b! " * 100, ""]
    found = tokenizer().encode_batch(rows, add_special_tokens=around)
    special_ids = around_a_text() if around else ([], [])
    assert special_ids[0] or not around
    assert [row.tolist() for row in found] == [[*special_ids[0], *tables().run(row), *special_ids[1]] for row in rows]


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@each_filler
@pytest.mark.parametrize("position", [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 1, 5 * BLOCK, 399])
def test_what_is_no_text_in_a_long_row_is_named(position: int, filler: str) -> None:
    """For malformed text in any part of a long row, an error contains the row and the position, or the text is replaced on request."""
    text = (filler * 400)[:399]
    wrong = text[:position] + "\ud800" + text[position:]
    data = text[:position].encode() + b"\xff" + text[position:].encode()
    mended = text[:position] + "\ufffd" + text[position:]
    for rows, place in ((["a", "b " * 300, wrong], position), ([b"a", b"b " * 300, data], len(text[:position].encode()))):
        for threads in (1, 2):
            with pytest.raises(fst.TextError, match=rf"^row 2, position {place}: "):
                tokenizer().encode_batch(rows, threads=threads)
        found = tokenizer().encode_batch(rows, add_special_tokens=False, errors="replace")
        assert found[2].tolist() == tables().run(mended)
    assert ids(text) == tables().run(text)  # the refused row does not affect the next text


@pytest.mark.usefixtures("short_blocks")
@given(units=st.lists(st.sampled_from(["a", " ", "\ud800", "\udc00", "\U0001f600", "é", "b " * 20]), min_size=40, max_size=90))
@examples(240)
def test_any_surrogates_in_a_long_row_are_refused_or_replaced(units: list[str]) -> None:
    """In a long row, a surrogate pair may span two parts; for a lone surrogate, an error contains the position, or it is replaced on
    request.
    """
    text = "".join(units) + "b " * BLOCK
    mended = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert ids(text, errors="replace") == tables().run(mended)
    unfit = next((place for place, char in enumerate(text) if "\ud800" <= char <= "\udfff"), None)
    if unfit is None:
        assert ids(text) == tables().run(text)
    else:
        with pytest.raises(fst.TextError, match=f"^row 0, position {unfit}: a lone surrogate"):
            ids(text)


@each_filler
@each_kind
def test_row_of_true_blocks_is_whole(kind: type, filler: str) -> None:
    """If a row of more than two blocks of the default length consists of parts that end with spaces, its ids are those of the parts in
    turn.
    """
    part = filler + "unaffable [MASK] 한 a\u302e\u1b44 " + "x" * 101 + " "
    expected = tables().run(part)
    times = 2 * batch.BLOCK // len(part) + 40
    for shift in range(3):
        (text,) = as_kind(["! " * shift + part * times], kind)
        assert ids(text) == ids("! " * shift) + expected * times


# Threads


def uneven(seed: int) -> list[str]:
    """Make rows of very different lengths."""
    chance = random.Random(seed)
    sizes = [0] * 40 + [3] * 400 + [50] * 40 + [700, 2_000, 9_000]
    chance.shuffle(sizes)
    return ["".join(chance.choice((*PIECES, " ", " ")) for _ in range(size // 3))[: 4 * size] for size in sizes]


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@each_kind
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("around", [False, True])
def test_ids_do_not_depend_on_threads(seed: int, around: bool, kind: type) -> None:
    """Any number of threads gives the same ids and splits for rows of very different lengths."""
    rows = as_kind(uneven(seed), kind)
    expected = [tokenizer().encode(row, add_special_tokens=around) for row in rows]
    for threads in (1, 2, 5, None):
        found = tokenizer().encode_batch(rows, add_special_tokens=around, threads=threads)
        assert np.array_equal(found.ids, np.concatenate(expected))
        assert np.array_equal(found.row_splits, np.cumsum([0, *map(len, expected)]))


@each_kind
def test_ids_do_not_depend_on_threads_with_true_blocks(kind: type) -> None:
    """With blocks of the default length, any number of threads gives the same ids."""
    rows = as_kind(uneven(9) * 20, kind)
    one = tokenizer().encode_batch(rows, threads=1)
    for threads in (2, 5):
        found = tokenizer().encode_batch(rows, threads=threads)
        assert np.array_equal(found.ids, one.ids)
        assert np.array_equal(found.row_splits, one.row_splits)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("wrong", ["a\ud800", b"a\xff"], ids=["str", "bytes"])
def test_first_wrong_row_is_named_whatever_threads_find(wrong: Any) -> None:
    """If several rows are not text, the first is reported, whichever thread finishes first."""
    for first, others in ((0, [599]), (3, [4, 5]), (300, [301, 598]), (599, []), (10, range(11, 600))):
        rows = [wrong[:1] * (1 + 500 * (row % 97 == 5)) for row in range(600)]
        for row in (first, *others):
            rows[row] = wrong
        for threads in (1, 2, 5):
            with pytest.raises(fst.TextError, match=f"^row {first}, position 1: "):
                tokenizer().encode_batch(rows, threads=threads)


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize(
    ("good", "wrong", "found", "expected"),
    [
        ("a", b"a", "bytes", "str"),
        (b"a", "a", "str", "bytes"),
        ("a", None, "NoneType", "str"),
        ("a", ["a"], "list", "str"),
        (b"a", bytearray(b"a"), "bytearray", "bytes"),
    ],
)
@pytest.mark.parametrize("row", [1, 64, 1_023, 1_024, 2_570, 3_999])
@pytest.mark.parametrize("length", [1, 300])
def test_row_of_another_kind_is_named(row: int, length: int, good: Any, wrong: Any, found: str, expected: str) -> None:
    """If a row has another type than the first row, the error contains the number of this row, wherever it is."""
    for last in {row + 1, min(row + 200, 4_000)}:
        rows = [good] * 4_000
        rows[row:last] = [wrong if wrong is None else wrong * length] * (last - row)
        for threads in (1, 2):
            with pytest.raises(fst.TextError, match=f"^row {row} is {found}, not {expected}"):
                tokenizer().encode_batch(rows, threads=threads)


@pytest.mark.usefixtures("short_blocks")
def test_threads_share_a_tokenizer() -> None:
    """Threads that share a tokenizer get the same results as with separate tokenizers, also while other threads get errors."""
    shared = fst.Tokenizer(tables())
    batches = [uneven(seed)[:120] for seed in range(8)]
    alone = [[tokenizer().encode(row).tolist() for row in rows] for rows in batches]

    def work(turn: int) -> bool:
        rows = batches[turn % 8]
        if turn % 5 == 0:
            with pytest.raises(fst.TextError, match=r"^row 60, "):
                shared.encode_batch([*rows[:60], "a" * 300 + "\ud800", *rows[60:]], threads=1 + turn % 3)
        found = shared.encode_batch(rows, threads=1 + turn % 3)
        short = shared.encode(rows[turn]).tolist()
        return [row.tolist() for row in found] == alone[turn % 8] and short == alone[turn % 8][turn]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))


FORK = """
import multiprocessing, sys
import fst
from fst.runtime.rows import batch

batch.MIN_SHARE = 1
tokenizer = fst.load(sys.argv[1])
texts = ["unaffable ab! <s>x [MASK]", "b " * 5_000] * 400

def encode(threads):
    found = tokenizer.encode_batch(texts, threads=threads)
    return found.ids.tobytes(), found.row_splits.tobytes()

if __name__ == "__main__":
    expected = encode(2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        children = pool.map_async(encode, [2, 1, 5, 3])
        own = [encode(threads) for threads in (2, 3)]
        found = children.get(100)
    sys.exit(0 if all(one == expected for one in [*found, *own, encode(2)]) else 1)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_processes_of_a_pool_encode_with_threads(tmp_path: Path) -> None:
    """After a fork, both the child processes and the parent encode with threads, even if the parent used threads before."""
    tables().save(tmp_path / "table.npz")
    (tmp_path / "forks.py").write_text(FORK, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "forks.py"), str(tmp_path / "table.npz")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    notes = [line for line in done.stderr.splitlines() if not line.startswith("fst: compil")]  # printed if the process compiles a kernel
    assert (done.returncode, notes) == (0, [])


# Short texts


@pytest.mark.mostly_slow
@each_filler
@each_kind
@pytest.mark.parametrize("around", [False, True])
def test_one_text_is_the_row_of_a_batch(around: bool, kind: type, filler: str) -> None:
    """`encode` gives the same ids as `encode_batch`, also for lengths near the limit of the fast path for short texts."""
    for length in (0, 1, 2, 15, 16, 17, SHORT // 2, *range(SHORT - 3, SHORT + 4), 2 * SHORT, 3 * SHORT + 1):
        for text in ((filler * SHORT)[:length], "한" * length, "\u302e" * length, "!" * length, "x" * length, "\ufffd" * length):
            (row,) = as_kind([text], kind)
            found = tokenizer().encode(row, add_special_tokens=around).tolist()
            for rows in ([row], [row, row[:0], row]):
                assert tokenizer().encode_batch(rows, add_special_tokens=around)[-1].tolist() == found
        assert found[:1] == (around_a_text()[0] if around else found[:1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "filler", [KINDS["ascii"], *(pytest.param(KINDS[name], marks=pytest.mark.slow) for name in ("marked", "astral"))], ids=KINDS.keys()
)
def test_short_text_has_the_ids_of_the_walk(filler: str) -> None:
    """Texts of lengths near the limit of the fast path get the same ids from the kernels as from the walk."""
    for length in (SHORT - 1, SHORT, SHORT + 1):
        text = (filler * SHORT)[: length - 9] + "[MASK]한é\U0001f600"
        assert len(text) == length
        expected = run(text)
        for row in (text, text.encode()):
            assert tokenizer().encode(row, add_special_tokens=False).tolist() == ids(row) == expected


@pytest.mark.mostly_slow
@each_kind
@pytest.mark.parametrize("length", [0, 1, pytest.param(SHORT - 1, marks=pytest.mark.slow), SHORT, SHORT + 1])
def test_short_text_that_is_no_text_is_named(length: int, kind: type) -> None:
    """For malformed text, an error contains the position, or the text is replaced on request, whether or not it is on the fast path."""
    wrong: Any = "a" * length + "\ud800" if kind is str else b"a" * length + b"\xff"
    with pytest.raises(fst.TextError, match=f"^row 0, position {length}: "):
        tokenizer().encode(wrong)
    assert tokenizer().encode(wrong, add_special_tokens=False, errors="replace").tolist() == run("a" * length + "\ufffd")


def test_ids_of_a_text_stay() -> None:
    """The ids of a text do not change when other texts are encoded."""
    texts = ["un b", "[MASK]", "b " * 500, "x"]
    found = [tokenizer().encode(text) for text in texts] + [tokenizer().encode_batch([text]).ids for text in texts]
    copies = [own.copy() for own in found]
    for text in reversed(texts):
        tokenizer().encode(text)
        tokenizer().encode_batch([text] * 3)
    assert all(np.array_equal(own, copy) for own, copy in zip(found, copies, strict=True))


# Slices of batches

STEPS = (slice(None, None, 2), slice(None, None, -1))
SLICES = (slice(0, 2), slice(None), slice(1, None), slice(-2, None), slice(3, 1), slice(99, None), *STEPS)


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("rows", SLICES, ids=str)
def test_slice_of_a_batch_is_the_batch_of_its_rows(rows: slice, offsets: bool) -> None:
    """A slice of a batch is equal to a batch of the sliced texts, including row splits, offsets and words."""
    texts = ["a b", "", "un able a", " ", "b"]
    found, expected = (tokenizer().encode_batch(given, offsets=offsets) for given in (texts, texts[rows]))
    found = found[rows]
    assert isinstance(found, fst.Batch)
    for name in ("ids", "row_splits", "offsets", "words"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        assert one is None or (one.dtype == other.dtype and one.tolist() == other.tolist() and one.shape == other.shape)
    assert [row.tolist() for row in found] == [row.tolist() for row in expected]


def test_slice_without_a_step_copies_no_ids() -> None:
    """A slice of consecutive rows shares the memory of its batch."""
    found = tokenizer().encode_batch(["a b", "b", "a"], offsets=True)
    for name in ("ids", "offsets", "words"):
        assert np.shares_memory(getattr(found[1:3], name), getattr(found, name))


def test_row_that_is_not_there_is_named() -> None:
    """A row number beyond the batch is an IndexError that contains the number."""
    with pytest.raises(IndexError, match=r"^row 3 of 3$"):
        tokenizer().encode_batch(["a", "b", "a"])[3]
